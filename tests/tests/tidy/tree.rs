//! The files of the tree, and their lines.

use std::path::{Path, PathBuf};

use regex::Regex;

/// One file.
pub(crate) struct Source {
    /// Its path from the top, with `/`.
    pub(crate) path: String,
    /// Its text; bytes that are not UTF-8 are replaced.
    pub(crate) text: String,
}

impl Source {
    /// The lines that are no comments, with their numbers.
    pub(crate) fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        let lines = self.text.lines().enumerate().map(|(at, line)| (at + 1, line));
        lines.filter(|(_, line)| !line.trim_start().starts_with("//"))
    }

    /// Where the pattern stands outside comments, as `path:line: text`.
    pub(crate) fn finds(&self, pattern: &Regex) -> Vec<String> {
        let found = self.code().filter(|(_, line)| pattern.is_match(line));
        found.map(|(at, line)| format!("{}:{at}: {}", self.path, line.trim())).collect()
    }
}

/// The top of the tree.
pub(crate) fn top() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// Every file, but what is built or is git's.
pub(crate) fn all() -> Vec<Source> {
    let mut files = Vec::new();
    walk(top(), &mut files);
    files.sort();
    let read = |path: PathBuf| {
        let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
        Source { path: path.strip_prefix(top()).unwrap().to_string_lossy().into_owned(), text }
    };
    files.into_iter().map(read).collect()
}

/// Every Rust file under one of these folders.
pub(crate) fn rust(folders: &[&str]) -> Vec<Source> {
    let inside = |path: &str| folders.iter().any(|folder| path.starts_with(&format!("{folder}/")));
    all().into_iter().filter(|source| source.path.ends_with(".rs") && inside(&source.path)).collect()
}

/// One file's text.
pub(crate) fn text(path: &str) -> String {
    std::fs::read_to_string(top().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn walk(dir: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name();
        if name == ".git" || name == "target" {
            continue;
        }
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            walk(&entry.path(), files);
        } else if kind.is_file() {
            files.push(entry.path());
        }
    }
}
