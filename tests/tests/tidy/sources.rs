//! Rules about single files.

use std::collections::BTreeMap;

use regex::Regex;

use super::none;
use super::tree::{Source, all, rust, text, top};

const CRATES: &[&str] = &["core", "linux-proc", "ptrace-fds", "server", "tests"];

/// Files may be about this long; one that is longer does two things.
const LINES_MAX: usize = 550;

/// Files that are longer, and how long they may be meanwhile. The list only gets shorter.
const LONGER: &[(&str, usize)] = &[];

/// Where the environment is read by name outside `config.rs`, and why.
const ENVIRONMENT: &[(&str, &str)] = &[
    ("server/src/config.rs", "the one place for what a person can set"),
    ("server/src/hub/mod.rs", "all of it, unread: the tmux server inherits it, scrubbed"),
    ("server/src/pane/attach.rs", "TMUX and TMUX_PANE: how tmux tells a pane's process which pane it is in"),
];

/// Where the harness waits for a moment before it looks again; everything else waits for a state through it.
const SLEEPS: &[&str] = &[
    "tests/src/stage.rs",
    "tests/src/person.rs",
    // A call of 17 seconds, on a clock that stands still.
    "tests/tests/front/desk.rs",
    // What is measured happens by itself, or is that nothing does.
    "tests/src/measure.rs",
];

/// Where the core may derive serde: what is written to disk, and what a checkpoint is made of.
const STORED: &[&str] = &["core/src/record/", "core/src/cooked/", "core/src/text/width.rs", "core/src/vt/"];

fn pattern(text: &str) -> Regex {
    Regex::new(text).unwrap()
}

fn finds(sources: &[Source], what: &str, allowed: impl Fn(&str) -> bool) -> Vec<String> {
    let what = pattern(what);
    sources.iter().filter(|source| !allowed(&source.path)).flat_map(|source| source.finds(&what)).collect()
}

#[test]
fn every_file_says_what_it_is_for() {
    let sources = rust(CRATES);
    let silent = sources.iter().filter(|source| !source.text.starts_with("//! "));
    none("begin with //!", &silent.map(|source| source.path.clone()).collect::<Vec<_>>());
}

#[test]
fn files_stay_short() {
    let mut found = Vec::new();
    let longer: BTreeMap<&str, usize> = LONGER.iter().copied().collect();
    for source in rust(CRATES) {
        let lines = source.text.lines().count();
        match longer.get(source.path.as_str()) {
            Some(_) if lines <= LINES_MAX => found.push(format!("{} is short again: off the list", source.path)),
            Some(most) if lines <= *most => {}
            None if lines <= LINES_MAX => {}
            _ => found.push(format!("{}: {lines} lines", source.path)),
        }
    }
    none("too long", &found);
}

#[test]
fn names_say_something() {
    let sources = rust(CRATES);
    none("modules", &finds(&sources, r"\bmod (utils?|helpers?|common|misc)\b", |_| false));
    let types = r"\b(struct|enum|trait|type) \w*(Manager|Helper|Utils?)\b";
    none("types", &finds(&sources, types, |_| false));
}

#[test]
fn the_protocol_is_known_in_one_place() {
    let server = rust(&["server"]);
    let front = |path: &str| path.starts_with("server/src/mcp/") || path.starts_with("server/src/cli/");
    none("only server/src/mcp and server/src/cli know rmcp", &finds(&server, r"\brmcp::", front));
    none("the core does not", &finds(&rust(&["core"]), r"\brmcp\b", |_| false));
}

#[test]
fn the_environment_is_read_in_one_place() {
    let server = rust(&["server", "core"]);
    let known = |path: &str| ENVIRONMENT.iter().any(|(file, _)| *file == path);
    none("reads the environment", &finds(&server, r"\benv::vars?(_os)?\(", known));
    for (file, why) in ENVIRONMENT {
        assert!(
            !finds(&server, r"\benv::vars?(_os)?\(", |path| path != *file).is_empty(),
            "{file}: not any more {why}"
        );
    }
}

#[test]
fn the_core_is_pure() {
    let core = rust(&["core"]);
    let system =
        r"\bstd::(fs|env|net|process|thread|os|path)\b|\b(Instant|SystemTime)\b|\bstd::io::(stdin|stdout|stderr)";
    none("the core", &finds(&core, system, |_| false));
    none("the order of a hash", &finds(&core, r"\bHash(Map|Set)\b", |_| false));
    let stored = |path: &str| STORED.iter().any(|place| path.starts_with(place));
    none("serde", &finds(&core, r"\b(Des|S)erialize\b", stored));
}

#[test]
fn tests_wait_for_a_state() {
    let sources = rust(&["tests"]);
    let harness = |path: &str| SLEEPS.contains(&path);
    none("sleeps", &finds(&sources, r"\b(thread|time)::sleep\(", harness));
    for file in SLEEPS.iter().filter(|file| top().join(file).exists()) {
        let sleeps = finds(&sources, r"\b(thread|time)::sleep\(", |path| path != *file);
        assert!(sleeps.len() <= 1, "one place to wait in: {sleeps:?}");
    }
}

/// A suite with a `main` of its own runs only if the manifest says so.
#[test]
fn every_suite_runs() {
    let manifest = text("tests/Cargo.toml");
    let declared: Vec<&str> = manifest
        .split("[[test]]")
        .skip(1)
        .filter(|part| part.lines().take(4).any(|line| line.trim() == "harness = false"))
        .filter_map(|part| part.lines().find_map(|line| line.strip_prefix("name = \"")?.strip_suffix('"')))
        .collect();
    let mut found = Vec::new();
    let in_tests = pattern(r"^tests/tests/(\w+)(\.rs|/main\.rs)$");
    let main = pattern(r"^fn main\(\)");
    for source in rust(&["tests"]) {
        let Some(name) = in_tests.captures(&source.path).map(|found| found[1].to_owned()) else { continue };
        let own = !source.finds(&main).is_empty();
        if own != declared.contains(&name.as_str()) {
            found.push(format!(
                "{}: has a main: {own}; `harness = false` in tests/Cargo.toml says otherwise",
                source.path
            ));
        }
    }
    none("suites", &found);
}

#[test]
fn nothing_names_the_place_it_was_made_in() {
    // Put together here, so that this file does not hold them.
    let home = ["/ro", "ot/"].concat();
    let work = ["/wo", "rk/"].concat();
    let found = all().into_iter().filter(|source| !source.path.starts_with("tests/cases/")).flat_map(|source| {
        let lines = source.text.lines().enumerate();
        let named = lines.filter(|(_, line)| line.contains(&home) || line.contains(&work));
        named.map(|(at, line)| format!("{}:{}: {line}", source.path, at + 1)).collect::<Vec<_>>()
    });
    none("paths of one machine", &found.collect::<Vec<_>>());
}
