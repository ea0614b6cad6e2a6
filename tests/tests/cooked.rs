//! The cooked view against real programs' streams and other projects' screens.
//!
//! `cases/recordings`: what programs wrote to a pane, and the text a person saw. `NAME.cooked` is given; for the
//! recordings where the text is a matter of choice, `NAME.decided` holds ours (see `cases/README.md`).
//! `cases/screens`: streams from the tests of other terminals with the screen they leave.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed expectation is a failed test")]
#![allow(clippy::print_stdout, reason = "a test's output holds the seed to try it again")]

use std::path::{Path, PathBuf};

use dtmcp_core::cooked::{Cooked, Size};
use dtmcp_core::text::width::Widths;
use serde_json::Value;

fn cases() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("cases")
}

/// A recording: its bytes, its first size, and the sizes it took on later, by raw offset.
struct Recording {
    name: String,
    bytes: Vec<u8>,
    size: Size,
    resizes: Vec<(usize, Size)>,
    expected: String,
}

fn size(cols: &Value, rows: &Value) -> Size {
    Size { cols: cols.as_u64().unwrap().try_into().unwrap(), rows: rows.as_u64().unwrap().try_into().unwrap() }
}

fn recordings() -> Vec<Recording> {
    let folder = cases().join("recordings");
    let index: Value = serde_json::from_slice(&std::fs::read(folder.join("INDEX.json")).unwrap()).unwrap();
    let read = |entry: &Value| {
        let name = entry["name"].as_str().unwrap().to_owned();
        let kind = entry["kind"].as_str().unwrap();
        let about: Value =
            serde_json::from_slice(&std::fs::read(folder.join(format!("{name}.json"))).unwrap()).unwrap();
        let extension = if kind == "exact" { "cooked" } else { "decided" };
        let resizes = about["events"].as_array().unwrap().iter().map(|event| {
            let at = usize::try_from(event["offset"].as_u64().unwrap()).unwrap();
            (at, size(&event["resize"][0], &event["resize"][1]))
        });
        Recording {
            bytes: std::fs::read(folder.join(format!("{name}.raw"))).unwrap(),
            size: size(&about["cols"], &about["rows"]),
            resizes: resizes.collect(),
            expected: std::fs::read_to_string(folder.join(format!("{name}.{extension}"))).unwrap_or_default(),
            name,
        }
    };
    index.as_array().unwrap().iter().map(read).collect()
}

/// The whole text after feeding a recording in pieces of the sizes that `piece` gives.
fn cooked(recording: &Recording, mut piece: impl FnMut() -> usize) -> String {
    let mut view = Cooked::new(recording.size, Widths::tmux(3, 7));
    let mut resizes = recording.resizes.iter().peekable();
    let mut text = Vec::new();
    let mut at = 0;
    while at < recording.bytes.len() {
        if let Some((_, size)) = resizes.next_if(|(offset, _)| *offset <= at) {
            view.resize(*size);
            continue;
        }
        let limit = resizes.peek().map_or(recording.bytes.len(), |(offset, _)| *offset);
        let end = at.saturating_add(piece().max(1)).min(limit);
        let fed = view.feed(&recording.bytes[at..end]);
        at += fed.consumed;
        assert_eq!(view.offset(), at as u64);
        view.take_settled(&mut text);
    }
    whole(&view, text)
}

fn whole(view: &Cooked, settled: Vec<u8>) -> String {
    let mut text = String::from_utf8(settled).unwrap();
    let live = view.live();
    for line in &live.lines {
        text.push_str(line);
        text.push('\n');
    }
    if live.continues && live.lines.is_empty() {
        text.push('\n');
    }
    let end = text.trim_end_matches('\n').len();
    text.truncate(end);
    text
}

#[test]
fn recordings_come_out_as_they_were_seen() {
    let mut wrong = Vec::new();
    for recording in recordings() {
        let text = cooked(&recording, || usize::MAX);
        if std::env::var_os("UPDATE").is_some() {
            let path = cases().join("recordings").join(format!("{}.decided", recording.name));
            if path.exists() || recording.expected.is_empty() {
                std::fs::write(path, format!("{text}\n")).unwrap();
            }
        }
        if text != recording.expected.trim_end_matches('\n') {
            wrong.push(format!("== {}\n{text}\n-- expected\n{}", recording.name, recording.expected));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn recordings_come_out_the_same_byte_by_byte() {
    for recording in recordings() {
        assert_eq!(cooked(&recording, || 1), cooked(&recording, || usize::MAX), "{}", recording.name);
    }
}

#[test]
fn recordings_come_out_the_same_in_random_pieces() {
    let seed = std::env::var("SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(20_26_u64);
    println!("SEED={seed}");
    for recording in recordings() {
        let expected = cooked(&recording, || usize::MAX);
        for round in 0..10 {
            let mut random = Random(seed.wrapping_add(round));
            assert_eq!(cooked(&recording, || random.below(60)), expected, "{} in round {round}", recording.name);
        }
    }
}

/// xorshift64*: enough for cutting streams, and the same everywhere.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33).unwrap() % limit
    }
}

#[test]
fn screens_are_those_that_tmux_shows() {
    let list = std::fs::read_to_string(cases().join("screens/cases.jsonl")).unwrap();
    let agreed = std::fs::read_to_string(cases().join("screens/agreed.txt")).unwrap_or_default();
    let mut wrong = Vec::new();
    let mut tried = 0;
    for line in list.lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let name = format!("{}/{}", case["set"].as_str().unwrap(), case["name"].as_str().unwrap());
        let agrees = case["tmux_agrees"].as_bool();
        if agrees == Some(false) || (agrees.is_none() && !agreed.lines().any(|line| line == name)) {
            continue;
        }
        tried += 1;
        let mut view = Cooked::new(size(&case["cols"], &case["rows"]), Widths::tmux(3, 7));
        let bytes = hex(case["input_hex"].as_str().unwrap());
        let mut at = 0;
        while at < bytes.len() {
            at += view.feed(&bytes[at..]).consumed;
        }
        let expected: Vec<&str> =
            case["rows_expected"].as_array().unwrap().iter().map(|row| row.as_str().unwrap()).collect();
        let rows = view.screen_rows();
        let same = if case["set"] == "vt100" {
            squeezed(&rows) == squeezed(&expected)
        } else {
            rows.iter().map(|row| row.trim_end()).eq(expected
                .iter()
                .copied()
                .chain(std::iter::repeat(""))
                .take(rows.len()))
        };
        if !same {
            wrong.push(format!("== {name}\n{}\n-- expected\n{}", rows.join("\n"), expected.join("\n")));
        }
    }
    println!("{tried} screens");
    assert!(tried > 40);
    assert!(wrong.is_empty(), "{} of {tried}\n{}", wrong.len(), wrong.join("\n"));
}

fn squeezed<T: AsRef<str>>(rows: &[T]) -> String {
    rows.iter().flat_map(|row| row.as_ref().chars()).filter(|character| !character.is_whitespace()).collect()
}

fn hex(digits: &str) -> Vec<u8> {
    digits
        .as_bytes()
        .chunks(2)
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect()
}
