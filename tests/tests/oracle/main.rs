//! The same bytes to a tmux pane and to the cooked view: they must agree.
//!
//! Streams are made from seeds over a bounded grammar (`soup`). `ORACLE_SEED` is the first seed (default 1),
//! `ORACLE_COUNT` how many of each kind (default 60). A difference prints its seed and the stream.
//!
//! The tmux at hand decides. What is left out of the grammar, because tmux versions disagree or ours is meant to differ:
//! bad UTF-8 (3.3a drops it, newer ones show U+FFFD), line drawing (`capture-pane` shows the letters), a full screen of
//! `E` (not text for us), colours of the background, lines without wrapping (there tmux does not count a blank as
//! written, depending on its colour), and in 3.3a a character written over the second half of a wide
//! one in the first column (it leaves the first half standing).

#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed expectation is a failed test")]
#![allow(clippy::print_stdout, reason = "a test that is skipped has to say so")]

mod pane;
mod soup;

use std::process::ExitCode;

use dtmcp_core::cooked::{Cooked, FULL_SCREEN_PLACEHOLDER};
use dtmcp_core::text::width::Widths;
use libtest_mimic::{Arguments, Failed, Trial};

use pane::{Shown, Tmux};
use soup::{Kind, Soup};

/// Streams given to one tmux server at a time.
const BATCH: u64 = 20;

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let required = std::env::var("DTMCP_TEST_REQUIRE").is_ok_and(|value| value == "all");
    let Some(version) = pane::version() else {
        for kind in Kind::ALL {
            println!("SKIP oracle::{}: needs tmux", kind.name());
        }
        return ExitCode::from(u8::from(required));
    };
    let first = number("ORACLE_SEED", 1);
    let count = number("ORACLE_COUNT", 60);
    let trials = Kind::ALL.into_iter().map(|kind| {
        Trial::test(format!("agrees_with_tmux::{}", kind.name()), move || agree(kind, first, count, version))
    });
    libtest_mimic::run(&arguments, trials.collect()).exit_code()
}

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
}

fn agree(kind: Kind, first: u64, count: u64, version: (u16, u16)) -> Result<(), Failed> {
    let tmux = Tmux::start();
    let mut differences = Vec::new();
    let mut seed = first;
    while seed < first + count {
        let end = (seed + BATCH).min(first + count);
        let soups: Vec<Soup> = (seed..end).map(|seed| Soup::new(kind, seed)).collect();
        for (soup, shown) in soups.iter().zip(tmux.show(&soups)) {
            let ours = ours(soup, Widths::tmux(version.0, version.1));
            if compare(kind, &shown, &ours).is_some() {
                differences.push(shortest(kind, &tmux, soup, version));
            }
        }
        seed = end;
    }
    match differences.first() {
        None => Ok(()),
        Some(one) => Err(format!("{} of {count} differ, {} seeds: {one}", differences.len(), kind.name()).into()),
    }
}

/// Describes the shortest beginning of a stream on which the two differ.
fn shortest(kind: Kind, tmux: &Tmux, soup: &Soup, version: (u16, u16)) -> String {
    let widths = Widths::tmux(version.0, version.1);
    for ends in soup.ends.chunks(usize::try_from(BATCH).unwrap()) {
        let beginnings: Vec<Soup> = ends.iter().map(|end| soup.up_to(*end)).collect();
        for (beginning, shown) in beginnings.iter().zip(tmux.show(&beginnings)) {
            if let Some(difference) = compare(kind, &shown, &ours(beginning, widths)) {
                return format!("seed {}: {difference}\n{}", soup.seed, beginning.describe());
            }
        }
    }
    format!("seed {}: not seen again", soup.seed)
}

fn ours(soup: &Soup, widths: Widths) -> Shown {
    let mut view = Cooked::new(soup.size, widths);
    let mut settled = Vec::new();
    let mut at = 0;
    for (end, resize) in soup.pieces() {
        while at < end {
            at += view.feed(&soup.bytes[at..end]).consumed;
            view.take_settled(&mut settled);
        }
        if let Some(size) = resize {
            view.resize(size);
        }
    }
    view.take_settled(&mut settled);
    let mut joined = String::from_utf8(settled).unwrap();
    for line in view.live().lines {
        joined.push_str(&line);
        joined.push('\n');
    }
    Shown { rows: view.screen_rows(), joined: joined.lines().map(str::to_owned).collect(), cursor: view.cursor() }
}

fn compare(kind: Kind, tmux: &Shown, ours: &Shown) -> Option<String> {
    let trimmed = |lines: &[String]| -> Vec<String> {
        let mut lines: Vec<String> = lines.iter().map(|line| line.trim_end_matches(' ').to_owned()).collect();
        while lines.last().is_some_and(String::is_empty) {
            lines.pop();
        }
        lines
    };
    if tmux.cursor != ours.cursor {
        return Some(format!("cursor {:?}, ours {:?}", tmux.cursor, ours.cursor));
    }
    let (theirs, mine) = (trimmed(&tmux.rows), trimmed(&ours.rows));
    if theirs != mine && !(kind == Kind::Resize && is_part(&mine, &theirs)) {
        return Some(format!("screen\n{}\n-- ours\n{}", theirs.join("\n"), mine.join("\n")));
    }
    let (theirs, mine) = (trimmed(&tmux.joined), trimmed(&ours.joined));
    // What we take for a picture has no lines of ours.
    if !kind.has_lines() || mine.iter().any(|line| line == FULL_SCREEN_PLACEHOLDER) {
        return None;
    }
    if theirs != mine {
        let at = theirs.iter().zip(&mine).take_while(|(one, other)| one == other).count();
        return Some(format!("line {at}\n{}\n-- ours\n{}", theirs.join("\n"), mine.join("\n")));
    }
    None
}

/// Whether what we show is part of what tmux shows: rows that a taller pane brings back are blank for us.
fn is_part(ours: &[String], theirs: &[String]) -> bool {
    ours.len() <= theirs.len()
        && ours.iter().zip(theirs).all(|(mine, their)| {
            mine.chars().zip(their.chars().chain(std::iter::repeat(' '))).all(|(one, other)| one == ' ' || one == other)
        })
}
