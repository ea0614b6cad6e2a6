//! Clipping in the middle: the start of an output and its end are what a reader needs, and the rest can be read.

use std::borrow::Cow;
use std::ops::Range;

/// How much of an output a reply shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// Lines, with the one that stands in the gap.
    pub lines: usize,
    /// Characters, line breaks counted, the gap's line not.
    pub chars: usize,
    /// Characters of one line.
    pub line_chars: usize,
}

impl Default for Budget {
    /// What the tool contract gives a reply: 80 lines, 6,000 characters, 400 characters a line.
    fn default() -> Self {
        Self { lines: 80, chars: 6000, line_chars: 400 }
    }
}

/// An output as far as it is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Clipped {
    /// Lines from the start; all of them where nothing was left out.
    pub head: Vec<String>,
    /// Which lines were left out, counted from 0; empty where none were.
    pub gap: Range<u64>,
    /// Lines from the end, behind the gap.
    pub tail: Vec<String>,
    /// How many of the shown lines were clipped in their own middle.
    pub shortened: usize,
}

impl Clipped {
    /// Whether anything is missing, be it whole lines or the middle of one.
    #[must_use]
    pub fn is_clipped(&self) -> bool {
        !self.gap.is_empty() || self.shortened > 0
    }
}

/// Clips an output of `total` lines, of which `line` gives any by its number from 0.
///
/// Only lines that are shown are asked for, and at most one more from each side, so that the size of the output
/// does not matter. Start and end share the budget evenly; what one side leaves, the other takes.
pub fn clip<S: AsRef<str>>(total: u64, budget: Budget, mut line: impl FnMut(u64) -> S) -> Clipped {
    let whole = u64::try_from(budget.lines).unwrap_or(u64::MAX).max(1);
    let mut side = Sides { head: Vec::new(), tail: Vec::new(), shortened: 0, chars: 0 };
    // A line in the gap takes the place of one of the output's.
    let room = if total <= whole { total } else { whole - 1 };
    let (mut front, mut back) = (0, total);
    let (mut front_open, mut back_open) = (true, true);
    while front < back && front + (total - back) < room && (front_open || back_open) {
        // The end goes first: where only one line fits, it is the one that tells how things went.
        let from_end = back_open && (!front_open || total - back <= front);
        let at = if from_end { back - 1 } else { front };
        let fits = side.take(line(at).as_ref(), from_end, budget);
        match (fits, from_end) {
            (true, true) => back = at,
            (true, false) => front += 1,
            (false, true) => back_open = false,
            (false, false) => front_open = false,
        }
    }
    side.tail.reverse();
    if front == back {
        side.head.append(&mut side.tail);
    }
    Clipped { head: side.head, gap: front..back, tail: side.tail, shortened: side.shortened }
}

struct Sides {
    head: Vec<String>,
    tail: Vec<String>,
    shortened: usize,
    chars: usize,
}

impl Sides {
    /// Takes the line where the budget allows. The first line of an output's end is taken whatever its length, so
    /// that a reply always shows something.
    fn take(&mut self, line: &str, from_end: bool, budget: Budget) -> bool {
        let short = clip_line(line, budget.line_chars);
        let length = short.chars().count() + 1;
        let first = self.head.is_empty() && self.tail.is_empty();
        if !first && self.chars + length > budget.chars {
            return false;
        }
        self.chars += length;
        self.shortened += usize::from(matches!(short, Cow::Owned(_)));
        if from_end {
            self.tail.push(short.into_owned());
        } else {
            self.head.push(short.into_owned());
        }
        true
    }
}

/// A line of at most `max` characters: a longer one is clipped in its middle, with the number of characters that
/// were left out. Below 40 characters there is no room for that, and the line is cut at its end.
#[must_use]
pub fn clip_line(line: &str, max: usize) -> Cow<'_, str> {
    // A character has at least one byte.
    if line.len() <= max {
        return Cow::Borrowed(line);
    }
    let total = line.chars().count();
    if total <= max {
        return Cow::Borrowed(line);
    }
    if max < 40 {
        return Cow::Owned(line.chars().take(max).collect());
    }
    let words = format!("…({} characters left out)…", total - max).chars().count() + 2;
    let shown = max.saturating_sub(words);
    let head = shown.div_ceil(2);
    let tail = shown - head;
    let left = total - head - tail;
    let start = line.char_indices().nth(head).map_or(line.len(), |(at, _)| at);
    let end = match tail.checked_sub(1) {
        Some(back) => line.char_indices().nth_back(back).map_or(0, |(at, _)| at),
        None => line.len(),
    };
    let before = line.get(..start).unwrap_or_default();
    let after = line.get(end..).unwrap_or_default();
    Cow::Owned(format!("{before}…({left} characters left out)…{after}"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

    use super::{Budget, Clipped, clip, clip_line};

    fn of(lines: &[String], budget: Budget) -> Clipped {
        clip(lines.len() as u64, budget, |at| lines.get(usize::try_from(at).unwrap()).unwrap().clone())
    }

    fn numbered(count: usize) -> Vec<String> {
        (0..count).map(|n| n.to_string()).collect()
    }

    #[test]
    fn what_fits_is_whole() {
        for count in [0, 1, 2, 79, 80] {
            let clipped = of(&numbered(count), Budget::default());
            assert_eq!(clipped.head, numbered(count));
            assert!(clipped.tail.is_empty() && clipped.gap.is_empty() && !clipped.is_clipped(), "{count}");
        }
    }

    #[test]
    fn too_many_lines_leave_their_middle_out() {
        let clipped = of(&numbered(1000), Budget::default());
        assert_eq!(clipped.head.len() + clipped.tail.len() + 1, 80);
        assert_eq!(clipped.head.first().unwrap(), "0");
        assert_eq!(clipped.tail.last().unwrap(), "999");
        assert_eq!(clipped.gap.start, clipped.head.len() as u64);
        assert_eq!(1000 - clipped.gap.end, clipped.tail.len() as u64);
        assert!(clipped.is_clipped());
        assert_eq!(of(&numbered(81), Budget::default()).gap.clone().count(), 2);
    }

    #[test]
    fn too_many_characters_leave_the_middle_out() {
        let lines: Vec<String> = (0..60).map(|n| format!("{n:0>300}")).collect();
        let clipped = of(&lines, Budget::default());
        let shown: usize = clipped.head.iter().chain(&clipped.tail).map(|l| l.chars().count() + 1).sum();
        assert!(shown <= 6000 && shown > 5600, "{shown}");
        assert!(clipped.head.len().abs_diff(clipped.tail.len()) <= 1);
        assert_eq!(clipped.shortened, 0);
    }

    #[test]
    fn one_long_side_leaves_its_room_to_the_other() {
        let budget = Budget { lines: 80, chars: 100, line_chars: 400 };
        let mut lines = vec!["x".repeat(200)];
        lines.extend(numbered(10));
        let clipped = of(&lines, budget);
        assert!(clipped.head.is_empty());
        assert_eq!(clipped.tail, numbered(10));
        assert_eq!(clipped.gap, 0..1);
    }

    #[test]
    fn a_single_line_is_always_shown() {
        let budget = Budget { lines: 1, chars: 1, line_chars: 400 };
        let clipped = of(&["y".repeat(1000)], budget);
        assert_eq!(clipped.head.len(), 1);
        assert_eq!(clipped.shortened, 1);
        assert!(clipped.is_clipped());
    }

    #[test]
    fn a_budget_of_one_line_shows_the_gap_alone_or_the_line() {
        let budget = Budget { lines: 1, ..Budget::default() };
        let clipped = of(&numbered(5), budget);
        assert_eq!((clipped.head.len(), clipped.tail.len(), clipped.gap), (0, 0, 0..5));
    }

    #[test]
    fn a_huge_output_is_asked_for_only_where_it_is_shown() {
        let mut asked = 0;
        let clipped = clip(3_000_000_000, Budget::default(), |at| {
            asked += 1;
            at.to_string()
        });
        assert!(asked <= 82, "{asked}");
        assert_eq!(clipped.tail.last().unwrap(), "2999999999");
    }

    #[test]
    fn a_long_line_is_clipped_in_its_middle() {
        let line: String = ('a'..='z').cycle().take(1000).collect();
        let short = clip_line(&line, 400);
        assert!((390..=400).contains(&short.chars().count()));
        assert!(short.starts_with("abc") && short.ends_with(line.get(990..).unwrap()));
        let left: usize = short.split(['(', ' ']).nth(1).unwrap().parse().unwrap();
        let marks = format!("…({left} characters left out)…").chars().count();
        assert_eq!(left + short.chars().count() - marks, 1000);
    }

    #[test]
    fn characters_are_counted_and_never_split() {
        let line = "日".repeat(401);
        let short = clip_line(&line, 400);
        assert!(short.chars().count() <= 400);
        assert_eq!(clip_line(&"日".repeat(400), 400).chars().count(), 400);
        assert!(clip_line(&line, 10) == "日".repeat(10));
        for max in 0..60 {
            assert!(clip_line(&line, max).chars().count() <= max, "{max}");
        }
    }
}
