//! The recognisers of summary lines against what real tools printed, and against texts that are no tool's.
//!
//! `cases/summary/NAME.log` is a tool's output, `NAME.expect` the tools that are recognised in it and the lines that
//! are found, with their numbers. `cases/summary/ordinary` holds output in which nothing may be found.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed expectation is a failed test")]

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use dtmcp_core::lines::MemoryLines;
use dtmcp_core::pattern::Pattern;
use dtmcp_core::summary::{Allowance, RECOGNISERS, Summary, Wanted, find};

fn cases() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("cases/summary")
}

/// The logs of a folder, by name.
fn logs(folder: &Path) -> Vec<(String, MemoryLines)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "log") {
            let text = std::fs::read_to_string(&path).unwrap();
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            found.push((name, MemoryLines(text.lines().map(str::to_owned).collect())));
        }
    }
    found.sort_by(|one, other| one.0.cmp(&other.0));
    found
}

/// All that is found, without a limit on how much is shown.
fn all(lines: &MemoryLines) -> Summary {
    let last = lines.0.len() as u64;
    let allowance = Allowance { lines: 1_000, chars: 1_000_000 };
    let wanted = Wanted { output: (1, last), range: (1, last), inner: (1, last), allowance };
    find(lines, &wanted).unwrap().unwrap_or_default()
}

fn written(summary: &Summary) -> String {
    let mut text = format!("tools: {}\n", summary.tools.join(", "));
    for (number, line) in &summary.lines {
        writeln!(text, "{number}: {line}").unwrap();
    }
    text
}

/// `UPDATE=1` writes what is found now, to be read before it is kept.
#[test]
fn every_tool_is_recognised_by_its_own_lines_alone() {
    let (mut seen, mut wrong) = (BTreeSet::new(), String::new());
    for (name, lines) in logs(&cases()) {
        let found = written(&all(&lines));
        let file = cases().join(format!("{name}.expect"));
        if std::env::var_os("UPDATE").is_some() {
            std::fs::write(&file, &found).unwrap();
        }
        let expected = std::fs::read_to_string(&file).unwrap_or_default();
        if found != expected {
            writeln!(wrong, "{name}:\n{found}instead of\n{expected}").unwrap();
        }
        seen.extend(all(&lines).tools);
    }
    assert!(wrong.is_empty(), "{wrong}");
    // Each has a bit of 64, and so has the one for unknown programs.
    assert!(RECOGNISERS.len() < 64);
    for recogniser in RECOGNISERS {
        assert!(seen.contains(recogniser.name), "no case shows what {} prints", recogniser.name);
    }
}

#[test]
fn nothing_is_found_in_what_is_no_tools_output() {
    let logs = logs(&cases().join("ordinary"));
    assert!(logs.len() >= 6, "{}", logs.len());
    for (name, lines) in logs {
        assert_eq!(all(&lines), Summary::default(), "{name}");
    }
}

/// A log that quotes another log shows each line with something before it.
#[test]
fn a_tools_lines_behind_a_prefix_are_not_its_lines() {
    let mut wrong = String::new();
    for (name, MemoryLines(lines)) in logs(&cases()) {
        for prefix in ["build.log:", "build.log:17:", "+", "| ", "# ", "2026-01-01 12:00:00 INFO "] {
            let quoted = MemoryLines(lines.iter().map(|line| format!("{prefix}{line}")).collect());
            let found = all(&quoted);
            if found != Summary::default() {
                writeln!(wrong, "{name} behind {prefix:?}:\n{}", written(&found)).unwrap();
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn the_search_that_is_named_finds_every_line() {
    let mut wrong = String::new();
    for (name, lines) in logs(&cases()) {
        let found = all(&lines);
        let pattern = Pattern::new(&found.search).unwrap();
        let hits = lines.0.iter().filter(|line| pattern.is_match(line).unwrap()).count();
        let problems = found.lines.iter().filter(|(_, line)| pattern.is_match(line).unwrap()).count();
        if problems == 0 || hits < problems {
            writeln!(wrong, "{name}: {hits} hits, {problems} lines by {:?}", found.search).unwrap();
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// Lines that stand elsewhere in an output show whose it is; only those of the range are given.
#[test]
fn only_lines_of_the_range_are_given() {
    for (name, lines) in logs(&cases()) {
        let whole = all(&lines);
        let last = lines.0.len() as u64;
        for (number, text) in &whole.lines {
            let range = (*number, *number);
            let wanted = Wanted { output: (1, last), range, inner: range, allowance: Allowance::default() };
            let Some(part) = find(&lines, &wanted).unwrap() else { continue };
            assert_eq!(part.lines, [(*number, text.clone())], "{name}");
        }
    }
}
