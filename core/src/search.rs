//! Regular expressions over a log, line by line: the total, and the first hits with what stands around them.

use std::collections::VecDeque;
use std::ops::ControlFlow;

use crate::lines::Lines;
use crate::pattern::Pattern;
use crate::text::clip::{Budget, clip_line};

/// One line that matched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    /// Its number in the session.
    pub line: u64,
    /// Its text, clipped.
    pub text: String,
    /// The lines before it, with their numbers; those of an earlier hit are not given again.
    pub before: Vec<(u64, String)>,
    /// The lines behind it, with their numbers, up to the next hit.
    pub after: Vec<(u64, String)>,
}

/// What a search found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Found {
    /// Lines that match, also those past `hits`.
    pub total: u64,
    /// The first of them.
    pub hits: Vec<Hit>,
    /// Lines looked at.
    pub looked: u64,
}

/// Looks for `pattern` in the lines `from..=to`, keeping the first `max_hits` with `context` lines around each.
///
/// # Errors
/// Says in words why the log cannot be read, or that the pattern is too costly: never taken for "no match".
pub fn search(
    lines: &dyn Lines,
    pattern: &Pattern,
    from: u64,
    to: u64,
    context: usize,
    max_hits: usize,
) -> Result<Found, String> {
    let mut found = Found::default();
    let mut before: VecDeque<(u64, String)> = VecDeque::with_capacity(context + 1);
    let mut after = 0usize;
    let mut broken = None;
    lines.visit(from, to, &mut |number, line| {
        found.looked += 1;
        match pattern.is_match(line) {
            Err(costly) => {
                broken = Some(costly.to_string());
                return ControlFlow::Break(());
            }
            Ok(true) => {
                found.total += 1;
                after = 0;
                if found.hits.len() < max_hits {
                    let text = short(line);
                    found.hits.push(Hit { line: number, text, before: before.drain(..).collect(), after: Vec::new() });
                    after = context;
                }
                before.clear();
            }
            Ok(false) if after > 0 => {
                after -= 1;
                if let Some(hit) = found.hits.last_mut() {
                    hit.after.push((number, short(line)));
                }
            }
            Ok(false) if context > 0 && found.hits.len() < max_hits => {
                before.push_back((number, short(line)));
                if before.len() > context {
                    before.pop_front();
                }
            }
            Ok(false) => {}
        }
        ControlFlow::Continue(())
    })?;
    broken.map_or(Ok(found), Err)
}

fn short(line: &str) -> String {
    clip_line(line, Budget::default().line_chars).into_owned()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed case is a failed test")]
    use super::*;
    use crate::lines::MemoryLines;

    #[test]
    fn counts_all_and_keeps_the_first_with_their_surroundings() {
        let lines = MemoryLines((1..=100).map(|n| format!("n{n}")).collect());
        let found = search(&lines, &Pattern::new("0$").unwrap(), 1, 100, 1, 2).unwrap();
        assert_eq!((found.total, found.hits.len(), found.looked), (10, 2, 100));
        assert_eq!(found.hits[0].before, [(9, "n9".to_owned())]);
        assert_eq!(found.hits[0].after, [(11, "n11".to_owned())]);
        assert_eq!(found.hits[1].line, 20);
    }

    #[test]
    fn a_costly_pattern_is_an_error() {
        let lines = MemoryLines(vec!["a".repeat(4000)]);
        let pattern = Pattern::new(r"(a+)+\1b").unwrap();
        assert!(search(&lines, &pattern, 1, 1, 0, 1).unwrap_err().contains("backtracking"));
    }
}
