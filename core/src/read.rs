//! The cooked view that `read` gives: a range of lines, bounded, each behind its number.

use std::ops::{ControlFlow, Range};

use crate::lines::Lines;
use crate::text::clip::clip_line;

/// Characters that one `read` gives at most: under what the strictest client passes on whole.
pub const READ_CHARS: usize = 20_000;

/// A line longer than this is shown in pieces by `read`, in characters: it must stay possible to see all of it.
const READ_LINE_CHARS: usize = 4_000;

/// What a `read` gives.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Page {
    /// The text, one line each, numbered where asked.
    pub lines: Vec<String>,
    /// The numbers given, end exclusive.
    pub given: Range<u64>,
    /// Whether lines of the asked range were left out.
    pub clipped: bool,
}

/// Which end of a range stays when it is longer than what may be given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// The first lines: a reader goes on from there.
    First,
    /// The last lines.
    Last,
}

/// Reads the lines `from..=to`, at most `max_lines` of them and at most [`READ_CHARS`] characters.
///
/// # Errors
/// Says in words why the log cannot be read.
pub fn page(
    lines: &dyn Lines,
    from: u64,
    to: u64,
    max_lines: usize,
    numbers: bool,
    keep: Keep,
) -> Result<Page, String> {
    let (mut from, mut to) = (from.max(1), to.min(lines.last()));
    if to < from {
        return Ok(Page { given: from..from, ..Page::default() });
    }
    let asked = to + 1 - from;
    let count = asked.min(max_lines as u64);
    match keep {
        Keep::First => to = from + count - 1,
        Keep::Last => from = to + 1 - count,
    }
    let width = to.to_string().len();
    let mut texts: Vec<(u64, String)> = Vec::new();
    let mut chars = 0;
    lines.visit(from, to, &mut |number, line| {
        let line = clip_line(line, READ_LINE_CHARS).into_owned();
        chars += line.chars().count() + 1;
        texts.push((number, if numbers { format!("{number:>width$}  {line}") } else { line }));
        let full = chars > READ_CHARS && keep == Keep::First && texts.len() > 1;
        if full {
            texts.pop();
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    })?;
    if keep == Keep::Last {
        let mut budget = READ_CHARS;
        let fit = texts.iter().rev().take_while(|(_, line)| {
            let cost = line.chars().count() + 1;
            let fits = cost <= budget;
            budget = budget.saturating_sub(cost);
            fits
        });
        let fit = fit.count().max(1).min(texts.len());
        texts.drain(..texts.len() - fit);
    }
    let given = match (texts.first(), texts.last()) {
        (Some((first, _)), Some((last, _))) => *first..*last + 1,
        _ => from..from,
    };
    let clipped = given.end - given.start < asked;
    Ok(Page { lines: texts.into_iter().map(|(_, line)| line).collect(), given, clipped })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed case is a failed test")]
    use super::*;
    use crate::lines::MemoryLines;

    #[test]
    fn a_page_is_bounded_and_says_so() {
        let lines = MemoryLines((1..=1000).map(|n| format!("n{n}")).collect());
        let read = page(&lines, 5, 1000, 3, true, Keep::First).unwrap();
        assert_eq!(read.lines, ["5  n5", "6  n6", "7  n7"]);
        assert_eq!((read.given, read.clipped), (5..8, true));
        let read = page(&lines, 1, u64::MAX, 2, false, Keep::Last).unwrap();
        assert_eq!(read.lines, ["n999", "n1000"]);
    }

    #[test]
    fn long_lines_fill_a_page_and_the_last_one_is_always_given() {
        let lines = MemoryLines((0..20).map(|_| "z".repeat(9_000)).collect());
        for keep in [Keep::First, Keep::Last] {
            let read = page(&lines, 1, 20, 200, false, keep).unwrap();
            assert!(read.clipped && !read.lines.is_empty());
            assert!(read.lines.iter().map(|line| line.chars().count() + 1).sum::<usize>() <= READ_CHARS);
        }
    }

    #[test]
    fn nothing_there_is_an_empty_page() {
        let read = page(&MemoryLines::default(), 1, 10, 10, true, Keep::First).unwrap();
        assert!(read.lines.is_empty() && !read.clipped);
    }
}
