//! Lines by number: what readers of a log are given, wherever it is kept.

use std::ops::ControlFlow;

/// A session's lines, numbered from 1. An implementation is a snapshot: while one is read, no line changes.
pub trait Lines: std::fmt::Debug {
    /// The number of the last line; 0 where there is none.
    fn last(&self) -> u64;

    /// Hands over the lines `from..=to` in order, as far as they exist, until `visit` breaks.
    ///
    /// # Errors
    /// Says in words why the log cannot be read.
    fn visit(&self, from: u64, to: u64, visit: &mut dyn FnMut(u64, &str) -> ControlFlow<()>) -> Result<(), String>;

    /// About where a line begins, in bytes from the first: not behind it, and at most 63 lines before it. For a line
    /// past the last it is the end.
    fn offset(&self, line: u64) -> u64;

    /// The lines `from..=to`, as far as they exist. Only for ranges that the caller has bounded.
    ///
    /// # Errors
    /// As [`Self::visit`].
    fn collect(&self, from: u64, to: u64) -> Result<Vec<String>, String> {
        let mut lines = Vec::new();
        self.visit(from, to, &mut |_, line| {
            lines.push(line.to_owned());
            ControlFlow::Continue(())
        })?;
        Ok(lines)
    }
}

/// Lines held in memory: for short texts, and for tests.
#[derive(Debug, Clone, Default)]
pub struct MemoryLines(pub Vec<String>);

impl Lines for MemoryLines {
    fn last(&self) -> u64 {
        self.0.len() as u64
    }

    fn offset(&self, line: u64) -> u64 {
        let before = usize::try_from(line.saturating_sub(1)).unwrap_or(usize::MAX);
        self.0.iter().take(before).map(|line| line.len() as u64 + 1).sum()
    }

    fn visit(&self, from: u64, to: u64, visit: &mut dyn FnMut(u64, &str) -> ControlFlow<()>) -> Result<(), String> {
        let mut number = from.max(1);
        while number <= to {
            let Some(line) = usize::try_from(number - 1).ok().and_then(|at| self.0.get(at)) else { break };
            if visit(number, line).is_break() {
                break;
            }
            number += 1;
        }
        Ok(())
    }
}

/// How many lines share one entry of a [`LineTable`]: 3,000,000 lines take 375 KB, and finding one reads at most
/// 64 lines, which was measured to cost the same as an entry for every line.
pub const LINES_PER_ENTRY: u64 = 64;

/// Where lines begin in a file that only grows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineTable {
    /// Byte offset of line `1 + 64 n`.
    entries: Vec<u64>,
    /// Complete lines seen.
    lines: u64,
    /// Bytes seen.
    bytes: u64,
}

impl Default for LineTable {
    fn default() -> Self {
        Self { entries: vec![0], lines: 0, bytes: 0 }
    }
}

impl LineTable {
    /// Takes what was appended to the file.
    pub fn extend(&mut self, appended: &[u8]) {
        for at in memchr::memchr_iter(b'\n', appended) {
            self.lines += 1;
            if self.lines.is_multiple_of(LINES_PER_ENTRY) {
                self.entries.push(self.bytes + at as u64 + 1);
            }
        }
        self.bytes += appended.len() as u64;
    }

    /// Complete lines so far.
    #[must_use]
    pub fn lines(&self) -> u64 {
        self.lines
    }

    /// Bytes so far.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Where to begin reading for a line, and how many lines to pass over from there.
    #[must_use]
    pub fn locate(&self, line: u64) -> (u64, u64) {
        let index = line.saturating_sub(1);
        let entry = usize::try_from(index / LINES_PER_ENTRY).unwrap_or(usize::MAX);
        match self.entries.get(entry) {
            Some(offset) => (*offset, index % LINES_PER_ENTRY),
            None => (self.bytes, 0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_finds_every_line_wherever_the_text_is_cut() {
        let text: String = (1..=300).map(|n| format!("line {n}\n")).collect();
        for piece in [1, 7, 64, 5000] {
            let mut table = LineTable::default();
            for part in text.as_bytes().chunks(piece) {
                table.extend(part);
            }
            assert_eq!(table.lines(), 300);
            for line in [1, 2, 63, 64, 65, 128, 129, 300] {
                let (offset, skip) = table.locate(line);
                let rest = text.get(usize::try_from(offset).unwrap_or(0)..).unwrap_or_default();
                let found = rest.lines().nth(usize::try_from(skip).unwrap_or(0));
                assert_eq!(found, Some(format!("line {line}").as_str()));
            }
        }
    }

    #[test]
    fn a_line_past_the_end_is_at_the_end() {
        let mut table = LineTable::default();
        table.extend(b"a\nb\n");
        assert_eq!(table.locate(1000), (4, 0));
    }
}
