//! `save_to`: copies a region's whole output to a file of the client's choice.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write as _};
use std::ops::ControlFlow;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Component, Path, PathBuf};

use dtmcp_core::lines::Lines;
use dtmcp_core::text::visible::quoted;

use crate::store::files;

/// Files that were saved, one JSON line each: what stands here may be replaced.
const LIST: &str = "saved.jsonl";

/// Where a `save_to` would go, and whether it may.
///
/// # Errors
/// In words, with what to do.
pub(crate) fn check(dir: &Path, path: &str, absolute_allowed: bool) -> Result<PathBuf, String> {
    if path.is_empty() || path.contains(['\0', '\n']) || path.chars().any(char::is_control) {
        return Err("save_to is empty or holds control characters".to_owned());
    }
    let given = Path::new(path);
    let target = if given.is_absolute() {
        if !absolute_allowed {
            return Err(
                "save_to of wait takes a relative path only; it goes under the session's log directory".to_owned()
            );
        }
        given.to_owned()
    } else {
        if !given.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir)) {
            return Err(format!(
                "save_to={path} leaves the session's log directory; give a path without .., or an absolute one",
                path = quoted(path)
            ));
        }
        dir.join("saved").join(given)
    };
    if given.file_name().is_none() || path.ends_with('/') {
        return Err(format!("save_to={path} names no file", path = quoted(path)));
    }
    match fs::symlink_metadata(&target) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(format!("save_to={path}: {error}", path = quoted(path))),
        Ok(meta) if !meta.is_file() => {
            return Err(format!(
                "save_to={path} is there and is no plain file; choose another name",
                path = quoted(path)
            ));
        }
        Ok(meta) => {
            if !is_ours(dir, &target, &meta) {
                return Err(format!(
                    "save_to={path} is there already and was not written by this session; choose another name",
                    path = quoted(path)
                ));
            }
        }
    }
    if given.is_absolute() && !target.parent().is_some_and(Path::is_dir) {
        return Err(format!("save_to={path}: its directory is not there", path = quoted(path)));
    }
    Ok(target)
}

fn is_ours(dir: &Path, target: &Path, meta: &fs::Metadata) -> bool {
    let Ok(list) = files::read(&dir.join(LIST)) else { return false };
    let entry = entry(target, meta);
    String::from_utf8_lossy(&list).lines().any(|line| line == entry)
}

fn entry(target: &Path, meta: &fs::Metadata) -> String {
    serde_json::json!({ "v": 1, "dev": meta.dev(), "inode": meta.ino(), "path": target.to_string_lossy() }).to_string()
}

/// Writes the lines to the file, each range of them by its first line and their number, by rename, readable only for the user; gives the real path.
///
/// # Errors
/// In words.
pub(crate) fn save(
    dir: &Path,
    path: &str,
    absolute_allowed: bool,
    lines: &dyn Lines,
    ranges: &[(u64, u64)],
) -> Result<PathBuf, String> {
    let target = check(dir, path, absolute_allowed)?;
    write(dir, &target, lines, ranges).map_err(|error| format!("{}: {error}", target.display()))
}

fn write(dir: &Path, target: &Path, lines: &dyn Lines, ranges: &[(u64, u64)]) -> io::Result<PathBuf> {
    let parent = target.parent().unwrap_or(Path::new("/"));
    if target.starts_with(dir) {
        make_dirs(dir, parent)?;
    }
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    let temporary = parent.join(format!(".{name}.dtmcp-{}", std::process::id()));
    // One that an earlier server left half-written.
    drop(fs::remove_file(&temporary));
    let mut options = fs::OpenOptions::new();
    let file = options.write(true).create_new(true).mode(0o600).open(&temporary)?;
    let filled = ranges.iter().try_for_each(|(first, count)| fill(&file, lines, *first, *count));
    let result = filled.and_then(|()| fs::rename(&temporary, target));
    if let Err(error) = result {
        drop(fs::remove_file(&temporary));
        return Err(error);
    }
    let meta = file.metadata()?;
    let mut list = files::append(&dir.join(LIST))?;
    list.write_all(format!("{}\n", entry(target, &meta)).as_bytes())?;
    Ok(fs::canonicalize(target).unwrap_or_else(|_| target.to_owned()))
}

/// Makes the directories below the session's own, one by one, so that none is a link.
fn make_dirs(dir: &Path, parent: &Path) -> io::Result<()> {
    let mut path = dir.to_owned();
    for part in parent.strip_prefix(dir).into_iter().flat_map(Path::components) {
        path.push(part);
        files::make_dir(&path)?;
    }
    Ok(())
}

/// Writes lines, each with its line break.
pub(crate) fn fill(file: &File, lines: &dyn Lines, first: u64, count: u64) -> io::Result<()> {
    let mut writer = BufWriter::new(file);
    let mut failed = Ok(());
    if count > 0 {
        lines
            .visit(first, first + count - 1, &mut |_, line| {
                failed = writer.write_all(line.as_bytes()).and_then(|()| writer.write_all(b"\n"));
                if failed.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            })
            .map_err(io::Error::other)?;
    }
    failed.and_then(|()| writer.flush())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use dtmcp_core::lines::MemoryLines;

    #[test]
    fn only_what_was_saved_here_is_replaced() {
        let dir = tempfile::tempdir().unwrap();
        fs::set_permissions(dir.path(), std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
        let lines = MemoryLines(vec!["a".into(), "b".into()]);
        let path = save(dir.path(), "out/x.txt", false, &lines, &[(1, 2)]).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "a\nb\n");
        save(dir.path(), "out/x.txt", false, &lines, &[(2, 1), (1, 1)]).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "b\na\n");
        let foreign = dir.path().join("mine.txt");
        fs::write(&foreign, "precious").unwrap();
        assert!(save(dir.path(), foreign.to_str().unwrap(), true, &lines, &[(1, 2)]).is_err());
        assert_eq!(fs::read_to_string(&foreign).unwrap(), "precious");
    }

    #[test]
    fn nothing_leaves_its_place() {
        let dir = tempfile::tempdir().unwrap();
        for path in ["", "../x", "a/../../x", "a\0b", "x/", "."] {
            assert!(check(dir.path(), path, true).is_err(), "{path:?}");
        }
        assert!(check(dir.path(), "/tmp/x", false).is_err());
        assert!(check(dir.path(), "/dev/null", true).is_err());
        let link = dir.path().join("link");
        std::os::unix::fs::symlink("/tmp/victim-of-a-link", &link).unwrap();
        assert!(check(dir.path(), link.to_str().unwrap(), true).is_err());
    }
}
