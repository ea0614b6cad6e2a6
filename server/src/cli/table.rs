//! The sessions of a server as a table for a person, as wide as their terminal.

use std::time::Duration;

use dtmcp_core::reply::span;
use dtmcp_core::text::visible::spell_out;
use serde_json::Value;
use unicode_width::UnicodeWidthStr as _;

/// Columns between two of the table's.
const GAP: usize = 2;

/// The widest a session's name, and an agent's, may make their column where the terminal is narrow.
const NAME_MAX: usize = 16;

/// What is left for what runs and where, however narrow the terminal.
const REST_MIN: usize = 24;

/// Where the directory's column is.
const WHERE: usize = 4;

const HEADS: [&str; 6] = ["session", "what", "since", "last output", "where", "who"];

/// The table, a line for each session; `now` is in Unix seconds, and `width` none where there is no terminal.
pub(super) fn table(sessions: &[Value], now: f64, width: Option<usize>) -> String {
    let mut rows = vec![HEADS.map(str::to_owned)];
    rows.extend(sessions.iter().map(|session| row(session, now)));
    let wide = |at: usize| rows.iter().filter_map(|row| row.get(at)).map(|cell| cell.width()).max().unwrap_or(0);
    let mut widths: [usize; HEADS.len()] = std::array::from_fn(wide);
    if let Some(width) = width {
        let [name, what, since, last, place, who] = &mut widths;
        *name = (*name).min(NAME_MAX);
        *who = (*who).min(NAME_MAX);
        let rest = width.saturating_sub(*name + *since + *last + *who + GAP * (HEADS.len() - 1)).max(REST_MIN);
        if *what + *place > rest {
            // Half each, and what one does not need is the other's.
            *place = (*place).min((rest / 2).max(rest.saturating_sub(*what)));
            *what = (*what).min(rest - *place);
        }
    }
    let lines = rows.iter().map(|row| {
        let cells = row.iter().zip(widths).enumerate().map(|(at, (cell, width))| {
            // A path says most at its end.
            let cell = if at == WHERE { keep_end(cell, width) } else { keep_start(cell, width) };
            let padding = width.saturating_sub(cell.width());
            format!("{cell}{}", " ".repeat(padding + GAP))
        });
        cells.collect::<String>().trim_end().to_owned()
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn row(session: &Value, now: f64) -> [String; HEADS.len()] {
    let text = |field: &str| session.get(field).and_then(Value::as_str).unwrap_or_default();
    let what = if text("runs").is_empty() { text("state") } else { text("runs") };
    let typing = session.pointer("/typing_now/agent").and_then(Value::as_str);
    let people = match session.get("attached").and_then(Value::as_u64) {
        None | Some(0) => String::new(),
        Some(1) => " + a person".to_owned(),
        Some(more) => format!(" + {more} people"),
    };
    let far =
        session.pointer("/place/host").and_then(Value::as_str).map_or_else(String::new, |host| format!("{host}:"));
    let passed = |field: &str| {
        let seconds = now - session.get(field)?.as_f64()?;
        Some(span(Duration::try_from_secs_f64(seconds).unwrap_or_default()))
    };
    let cells = [
        text("name").to_owned(),
        what.to_owned(),
        passed("since").or_else(|| passed("closed")).unwrap_or_default(),
        passed("last_output").map_or_else(String::new, |span| format!("{span} ago")),
        format!("{far}{}", text("cwd")),
        format!("{}{people}", typing.unwrap_or_else(|| text("actor"))),
    ];
    // A name, a directory or a command may hold anything.
    cells.map(|cell| spell_out(&cell).replace(['\n', '\t'], " "))
}

fn keep_start(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    format!("{}…", fitting(text.chars(), width))
}

fn keep_end(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    format!("…{}", fitting(text.chars().rev(), width).chars().rev().collect::<String>())
}

/// As many characters as leave room for an ellipsis.
fn fitting(characters: impl Iterator<Item = char>, width: usize) -> String {
    let mut kept = String::new();
    for character in characters {
        if kept.width() + character.to_string().width() + 1 > width {
            break;
        }
        kept.push(character);
    }
    kept
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

    use serde_json::json;

    use super::*;

    fn session(name: &str, runs: &str, cwd: &str) -> Value {
        json!({"name": name, "runs": runs, "cwd": cwd, "actor": "claude-code#2", "since": 400.0,
            "last_output": 1000.0, "attached": 0})
    }

    #[test]
    fn a_session_is_a_line_under_the_heads() {
        let shown = table(&[session("t1", "at its prompt", "/home/me")], 1005.0, Some(80));
        assert_eq!(
            shown,
            "session  what           since   last output  where     who\n\
             t1       at its prompt  10 min  5 s ago      /home/me  claude-code#2"
        );
    }

    #[test]
    fn no_line_is_wider_than_the_terminal() {
        let long = format!("running #12 {:?}", "make -j8 ".repeat(20));
        let deep = format!("/home/me/{}src", "very/deep/".repeat(20));
        let mut sessions: Vec<Value> = (1..=30).map(|at| session(&format!("t{at}"), &long, &deep)).collect();
        sessions.push(session(&"name".repeat(16), "at its prompt", "/"));
        sessions.push(session(
            "漢字",
            "running #1 \"漢字漢字漢字漢字漢字漢字漢字漢字\"",
            "/漢字/漢字/漢字/漢字/漢字/漢字",
        ));
        sessions.push(session("odd", "\u{1b}[2J\nline", "/\u{202e}x"));
        for width in [80, 100, 200] {
            let shown = table(&sessions, 1005.0, Some(width));
            assert_eq!(shown.lines().count(), 34);
            for line in shown.lines() {
                assert!(line.width() <= width, "{} > {width}: {line}", line.width());
                assert!(!line.contains(['\u{1b}', '\u{202e}']), "{line:?}");
            }
            assert!(shown.contains("/deep/src  "), "a path keeps its end: {shown}");
        }
        let all = table(&sessions, 1005.0, None);
        assert!(all.contains(&deep) && all.contains(&long), "nothing is left out where nobody looks");
    }

    #[test]
    fn who_is_there_and_since_when() {
        let mut one = session("t1", "running #1 \"make\"", "/srv");
        one["attached"] = json!(1);
        one["typing_now"] = json!({"agent": "codex", "tool": "run"});
        one["place"] = json!({"host": "build7", "user": "root", "container": null});
        let shown = table(&[one], 1000.0 + 3.0 * 3600.0, None);
        assert!(
            shown.contains("3 h ago") && shown.contains("build7:/srv") && shown.ends_with("codex + a person"),
            "{shown}"
        );
        for (seconds, words) in [(0.0, "  0 s  "), (119.5, "  119 s  "), (719.0, "  11 min  "), (1e6, "  11 days  ")] {
            let shown = table(&[session("t1", "x", "/")], 400.0 + seconds, None);
            assert!(shown.contains(words), "{shown}");
        }
        let closed = json!({"name": "t2", "state": "closed", "closed": 400.0, "actor": "codex", "command": "bash"});
        let shown = table(&[closed], 1000.0, Some(80));
        assert!(shown.contains("t2       closed  10 min"), "{shown}");
    }
}
