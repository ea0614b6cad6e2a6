//! The documents against the code: tables, lists, links.

use std::collections::BTreeSet;
use std::process::Command;

use dtmcp_core::guide::tools::TOOLS;
use regex::Regex;

use super::none;
use super::tree::{all, text, top};

/// The names in backticks in the first column of the table whose header begins with `head`.
fn column(document: &str, head: &str) -> BTreeSet<String> {
    let start = format!("| {head} |");
    let rows = document.lines().skip_while(|line| !line.starts_with(&start)).skip(2);
    let name = Regex::new("`([^`]+)`").unwrap();
    let mut names = BTreeSet::new();
    for row in rows.take_while(|line| line.starts_with('|')) {
        let first = row.trim_start_matches('|').split('|').next().unwrap_or_default();
        names.extend(name.captures_iter(first).map(|found| found[1].to_owned()));
    }
    names
}

/// The part of a document under a heading, up to the next one of any level.
fn section(document: &str, heading: &str) -> String {
    let lines = document.lines().skip_while(|line| line.trim_start_matches('#').trim() != heading).skip(1);
    lines.take_while(|line| !line.starts_with('#')).collect::<Vec<_>>().join("\n")
}

fn set<'a>(names: impl IntoIterator<Item = &'a str>) -> BTreeSet<String> {
    names.into_iter().map(str::to_owned).collect()
}

#[test]
fn the_table_of_tools_is_the_tools() {
    assert_eq!(column(&text("README.md"), "tool"), set(TOOLS.iter().map(|tool| tool.name)));
}

#[test]
fn the_table_of_variables_is_what_is_read() {
    let config = text("server/src/config.rs");
    let name = Regex::new(r#"^pub const \w+: &str = "(DOCENT_\w+)";"#).unwrap();
    let read = config.lines().filter_map(|line| Some(name.captures(line)?.get(1)?.as_str()));
    assert_eq!(column(&text("README.md"), "variable"), set(read));
}

#[test]
fn the_scrubbed_variables_are_listed() {
    let listed = section(&text("README.md"), "What the sessions' environment holds");
    let name = Regex::new(r"`([A-Z_]+\*?)`").unwrap();
    let listed: BTreeSet<String> = name.captures_iter(&listed).map(|found| found[1].to_owned()).collect();
    let code = dtmcp::terminal::SCRUBBED.iter().chain(dtmcp::terminal::KEPT).copied();
    assert_eq!(listed, set(code));
}

#[test]
fn the_table_of_commands_is_the_command_line() {
    let help = Command::new(env!("CARGO_BIN_EXE_dtmcp-under-test")).arg("--help").output().unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    let commands = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let mut real: BTreeSet<String> = commands
        .take_while(|line| line.starts_with("  "))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|word| *word != "help")
        .map(|word| format!("dtmcp {word}"))
        .collect();
    // The server over stdio, and the modes that panes run, which the parser of arguments never sees.
    real.insert("dtmcp".to_owned());
    let mode = Regex::new(r#"mode == "(\w+)""#).unwrap();
    real.extend(mode.captures_iter(&text("server/src/lib.rs")).map(|found| format!("dtmcp {}", &found[1])));
    assert_eq!(column(&text("README.md"), "command"), real);
}

#[test]
fn links_lead_somewhere() {
    let link = Regex::new(r"\]\(([^)#:]+)(#[^)]*)?\)").unwrap();
    let mut broken = Vec::new();
    for document in all().into_iter().filter(|source| source.path.ends_with(".md")) {
        let folder = top().join(&document.path);
        for found in link.captures_iter(&document.text) {
            if !folder.with_file_name(&found[1]).exists() {
                broken.push(format!("{}: {}", document.path, &found[1]));
            }
        }
    }
    none("links", &broken);
}

/// What the server lays out for a session is what the document lists.
#[test]
fn every_file_on_disk_is_listed() {
    let listed = section(&text("README.md"), "On disk");
    for file in ["meta.json", "raw.log", "timing", "session.txt", "regions.jsonl", "regions/NNNN.txt", "state.json"] {
        assert!(listed.contains(&format!("`{file}`")), "{file}");
    }
}

#[test]
fn every_listed_case_names_tests_that_are_there() {
    let sources = all();
    let is_there = |test: &str| {
        let suite = test.split("::").next().unwrap_or_default();
        let name = test.rsplit("::").next().unwrap_or_default();
        let (of, row) = match suite {
            "core" => ("core/src/".to_owned(), format!("fn {name}(")),
            _ => (format!("tests/tests/{suite}"), format!("\"{name}\"")),
        };
        sources.iter().any(|source| source.path.starts_with(&of) && source.text.contains(&row))
    };
    for table in ["tests/cases/reported.tsv", "tests/cases/shells.tsv", "tests/cases/truths.tsv"] {
        let table = text(table);
        let rows = table.lines().skip(1).map(|row| row.rsplit('\t').next().unwrap_or_default());
        // `-: WHY` where nothing here is concerned.
        let missing: Vec<String> = rows
            .filter(|tests| !tests.starts_with("-: "))
            .flat_map(|tests| tests.split(' ').map(str::to_owned).collect::<Vec<_>>())
            .filter(|test| !is_there(test))
            .collect();
        none("no such test", &missing);
    }
}
