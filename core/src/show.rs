//! What of an output a reply shows: all of it, its ends, its last lines, or the lines that match.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::ops::ControlFlow;

use crate::call::Shape;
use crate::lines::Lines;
use crate::summary::{self, Allowance, Summary, Wanted};
use crate::text::clip::{Budget, clip, clip_line};
use crate::text::visible::quoted;

/// Lines that `show` or `last_lines` may bring at most.
const ASKED_LINES: usize = 1_000;
/// Characters that `show` or `last_lines` may bring at most: under what the strictest client passes on whole.
const ASKED_CHARS: usize = 20_000;

/// The output part of a reply.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Body {
    /// The lines, the gap line among them.
    pub lines: Vec<String>,
    /// Whether anything was left out.
    pub clipped: bool,
    /// The range that was left out of the middle, first and last line.
    pub gap: Option<(u64, u64)>,
}

/// Whose lines they are, and how a reply tells the reader to see the rest.
#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    /// The session's name.
    pub session: &'a str,
    /// The region, where the lines are one's.
    pub region: Option<u32>,
    /// Whether the summary lines of what is left out are looked for.
    pub summaries: bool,
}

impl Source<'_> {
    fn region(self) -> String {
        self.region.map_or_else(String::new, |id| format!(" region={id}"))
    }

    fn search_call(self, summary: &Summary, from: u64, to: u64) -> String {
        format!(
            "search session=\"{}\"{} pattern={} from={from} to={to}",
            self.session,
            self.region(),
            quoted(&summary.search)
        )
    }

    fn gap_line(self, from: u64, to: u64) -> String {
        let count = to + 1 - from;
        let region = self.region();
        format!(
            "[... {count} {} left out: read session=\"{}\"{region} from={from} to={to} ...]",
            if count == 1 { "line" } else { "lines" },
            self.session
        )
    }
}

/// The output part of a reply over the `count` lines that begin at `first`.
///
/// # Errors
/// Says in words why the log cannot be read, or that the `show` pattern is too costly.
pub fn body(lines: &dyn Lines, first: u64, count: u64, shape: &Shape, source: Source<'_>) -> Result<Body, String> {
    if count == 0 {
        return Ok(Body::default());
    }
    let last = first + count - 1;
    if let Some(pattern) = &shape.show {
        return matching(lines, first, last, pattern, shape);
    }
    if let Some(wanted) = shape.last_lines {
        let wanted = wanted.min(ASKED_LINES) as u64;
        let from = if wanted >= count { first } else { last + 1 - wanted };
        let mut body = tail(lines.collect(from, last)?, from, source, ASKED_CHARS);
        body.clipped |= from > first;
        return Ok(body);
    }
    ends(lines, first, last, source)
}

/// Head and tail, with one line in the gap, behind the summary lines that the gap holds.
fn ends(lines: &dyn Lines, first: u64, last: u64, source: Source<'_>) -> Result<Body, String> {
    let whole = Budget::default();
    let plain = clipped_ends(lines, first, last, whole, source)?;
    let Some(inner) = plain.gap.filter(|_| source.summaries) else { return Ok(plain) };
    let allowance = Allowance::default();
    let less = |lines, chars| Budget { lines: whole.lines - lines, chars: whole.chars - chars, ..whole };
    let mut narrow = clipped_ends(lines, first, last, less(allowance.lines, allowance.chars), source)?;
    let range = narrow.gap.unwrap_or(inner);
    let Some(found) = summary::find(lines, &Wanted { output: (first, last), range, inner, allowance })? else {
        return Ok(plain);
    };
    if found.more == 0 {
        // What the summary leaves of its allowance goes back to the ends.
        let chars = found.lines.iter().map(|(_, text)| text.chars().count() + 3).sum::<usize>();
        let used = less(found.lines.len().min(allowance.lines), chars.min(allowance.chars));
        narrow = clipped_ends(lines, first, last, used, source)?;
    }
    let gap = narrow.gap.unwrap_or(inner);
    let summary = behind_marks(&found, gap, &narrow.lines, source);
    if summary.is_empty() {
        return Ok(plain);
    }
    narrow.lines.splice(0..0, summary);
    Ok(narrow)
}

/// The summary lines of a gap as a reply shows them; what is shown anyway is not said twice.
fn behind_marks(found: &Summary, gap: (u64, u64), shown: &[String], source: Source<'_>) -> Vec<String> {
    let left_out = |number: u64| (gap.0..=gap.1).contains(&number);
    let new = found.lines.iter().filter(|(number, text)| left_out(*number) && !shown.contains(text));
    let mut lines: Vec<String> = new.map(|(_, text)| format!("> {text}")).collect();
    if lines.is_empty() {
        return lines;
    }
    if found.more > 0 {
        let call = source.search_call(found, gap.0, gap.1);
        lines.push(format!(
            "> [... {} more such {}: {call} ...]",
            found.more,
            if found.more == 1 { "line" } else { "lines" }
        ));
    }
    if let Some((from, to)) = found.unread {
        let call = source.search_call(found, from, to);
        lines.push(format!("> [... lines {from}-{to} were not looked at, the output is too large: {call} ...]"));
    }
    lines
}

/// The summary lines of what stands before an output's last lines, at most `allowance`.
///
/// # Errors
/// As [`body`].
pub fn summary_before(
    lines: &dyn Lines,
    output: (u64, u64),
    shown_from: u64,
    allowance: Allowance,
    source: Source<'_>,
) -> Result<Vec<String>, String> {
    let gap = (output.0, shown_from.saturating_sub(1));
    if !source.summaries || gap.1 < gap.0 {
        return Ok(Vec::new());
    }
    let found = summary::find(lines, &Wanted { output, range: gap, inner: gap, allowance })?;
    let shown = lines.collect(shown_from, output.1)?;
    Ok(found.map_or_else(Vec::new, |found| behind_marks(&found, gap, &shown, source)))
}

/// Head and tail as far as a budget goes.
fn clipped_ends(lines: &dyn Lines, first: u64, last: u64, budget: Budget, source: Source<'_>) -> Result<Body, String> {
    let count = last + 1 - first;
    // Clipping asks for at most this many lines from either end.
    let reach = (budget.lines as u64 + 1).min(count);
    let head = lines.collect(first, first + reach - 1)?;
    let tail = lines.collect(last + 1 - reach, last)?;
    let clipped = clip(count, budget, |at| {
        let from_end = count - 1 - at;
        let text = match usize::try_from(at).ok().and_then(|at| head.get(at)) {
            Some(text) => Some(text),
            None => {
                usize::try_from(from_end).ok().and_then(|at| tail.len().checked_sub(at + 1)).and_then(|at| tail.get(at))
            }
        };
        text.map_or("", String::as_str)
    });
    let is_clipped = clipped.is_clipped();
    let gap = (!clipped.gap.is_empty()).then(|| (first + clipped.gap.start, first + clipped.gap.end - 1));
    let mut shown = clipped.head;
    if let Some((from, to)) = gap {
        shown.push(source.gap_line(from, to));
    }
    shown.extend(clipped.tail);
    Ok(Body { lines: shown, clipped: is_clipped, gap })
}

/// As many of the last lines as fit.
fn tail(all: Vec<String>, from: u64, source: Source<'_>, chars_max: usize) -> Body {
    let (mut kept, mut clipped) = clip_lines(all);
    let mut budget = chars_max;
    let keep = kept.iter().rev().take_while(|line| take(&mut budget, line)).count();
    let dropped = kept.len() - keep;
    kept.drain(..dropped);
    let gap = (dropped > 0).then(|| (from, from + dropped as u64 - 1));
    if let Some((first, last)) = gap {
        clipped = true;
        kept.insert(0, source.gap_line(first, last));
    }
    Body { lines: kept, clipped, gap }
}

/// Only the lines that match, each with what follows it; groups stand apart.
fn matching(
    lines: &dyn Lines,
    first: u64,
    last: u64,
    pattern: &crate::pattern::Pattern,
    shape: &Shape,
) -> Result<Body, String> {
    let limit = shape.last_lines.unwrap_or(ASKED_LINES).min(ASKED_LINES);
    // Each line with whether it stands apart from the one before it.
    let mut kept: VecDeque<(bool, String)> = VecDeque::new();
    let (mut after, mut skipped, mut hits, mut dropped, mut broken) = (0usize, false, 0u64, 0u64, None);
    lines.visit(first, last, &mut |_, line| {
        match pattern.is_match(line) {
            Err(costly) => {
                broken = Some(costly.to_string());
                return ControlFlow::Break(());
            }
            Ok(true) => {
                hits += 1;
                after = shape.show_after + 1;
            }
            Ok(false) => {}
        }
        if after > 0 {
            after -= 1;
            let apart = skipped && shape.show_after > 0;
            skipped = false;
            kept.push_back((apart, clip_line(line, Budget::default().line_chars).into_owned()));
        } else {
            skipped = true;
        }
        while kept.len() > limit {
            kept.pop_front();
            dropped += 1;
        }
        ControlFlow::Continue(())
    })?;
    if let Some(why) = broken {
        return Err(why);
    }
    let count = last + 1 - first;
    let mut budget = ASKED_CHARS;
    let keep = kept.iter().rev().take_while(|(_, line)| take(&mut budget, line)).count();
    dropped += (kept.len() - keep) as u64;
    let shown = keep as u64;
    let mut out = Vec::with_capacity(keep + 1);
    if dropped > 0 && (shape.last_lines.is_none() || keep < kept.len()) {
        out.push(format!("[... {dropped} earlier shown lines left out ...]"));
    }
    for (apart, line) in kept.into_iter().rev().take(keep).rev() {
        if apart && !out.is_empty() {
            out.push("...".to_owned());
        }
        out.push(line);
    }
    if hits == 0 {
        out.push(format!("[no line of {count} matches show={}]", quoted(pattern.source())));
    }
    Ok(Body { clipped: shown < count || hits == 0, lines: out, gap: None })
}

fn take(budget: &mut usize, line: &str) -> bool {
    let cost = line.chars().count() + 1;
    let fits = cost <= *budget;
    *budget = budget.saturating_sub(cost);
    fits
}

fn clip_lines(lines: Vec<String>) -> (Vec<String>, bool) {
    let mut clipped = false;
    let lines = lines
        .into_iter()
        .map(|line| {
            let short = clip_line(&line, Budget::default().line_chars);
            clipped |= matches!(short, Cow::Owned(_));
            short.into_owned()
        })
        .collect();
    (lines, clipped)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed case is a failed test")]
    use super::*;
    use crate::lines::MemoryLines;
    use crate::pattern::Pattern;

    const SOURCE: Source<'static> = Source { session: "t1", region: Some(3), summaries: true };

    fn numbered(count: u64) -> MemoryLines {
        MemoryLines((1..=count).map(|n| format!("line {n}")).collect())
    }

    #[test]
    fn a_short_output_is_shown_whole() {
        let body = body(&numbered(80), 1, 80, &Shape::default(), SOURCE).unwrap();
        assert_eq!((body.lines.len(), body.clipped), (80, false));
    }

    #[test]
    fn a_long_output_shows_its_ends_and_names_the_gap() {
        let body = body(&numbered(1482), 1, 1482, &Shape::default(), SOURCE).unwrap();
        assert!(body.clipped);
        let (from, to) = body.gap.unwrap();
        assert_eq!((body.lines.len() as u64 - 1) + (to + 1 - from), 1482);
        assert!(body.lines.contains(&format!(
            "[... {} lines left out: read session=\"t1\" region=3 from={from} to={to} ...]",
            to + 1 - from
        )));
        assert_eq!(body.lines.last().unwrap(), "line 1482");
    }

    #[test]
    fn characters_are_bounded_too() {
        let lines = MemoryLines((0..60).map(|n| format!("{n} {}", "x".repeat(390))).collect());
        let body = body(&lines, 1, 60, &Shape::default(), SOURCE).unwrap();
        assert!(body.clipped && body.lines.iter().map(String::len).sum::<usize>() < 6_200);
        assert!(body.lines.last().unwrap().starts_with("59 "));
        assert!(body.lines[0].starts_with("0 "));
        let (from, to) = body.gap.unwrap();
        assert_eq!(body.lines.len() as u64 - 1 + (to + 1 - from), 60);
    }

    #[test]
    fn one_endless_line_is_clipped_in_its_middle() {
        let lines = MemoryLines(vec!["y".repeat(5_000_000)]);
        let body = body(&lines, 1, 1, &Shape::default(), SOURCE).unwrap();
        assert!(body.clipped && body.lines.iter().map(String::len).sum::<usize>() < 500);
    }

    #[test]
    fn last_lines_and_show() {
        let shape = Shape { last_lines: Some(2), ..Shape::default() };
        assert_eq!(body(&numbered(9), 1, 9, &shape, SOURCE).unwrap().lines, ["line 8", "line 9"]);
        let shape = Shape { show: Some(Pattern::new("[37]$").unwrap()), show_after: 1, ..Shape::default() };
        let shown = body(&numbered(9), 1, 9, &shape, SOURCE).unwrap();
        assert_eq!(shown.lines, ["line 3", "line 4", "...", "line 7", "line 8"]);
        let shape = Shape { show: Some(Pattern::new("nothing").unwrap()), ..Shape::default() };
        assert_eq!(
            body(&numbered(9), 1, 9, &shape, SOURCE).unwrap().lines,
            ["[no line of 9 matches show=\"nothing\"]"]
        );
    }

    #[test]
    fn only_the_asked_range_is_read() {
        let body = body(&numbered(20), 5, 3, &Shape::default(), SOURCE).unwrap();
        assert_eq!(body.lines, ["line 5", "line 6", "line 7"]);
    }
}
