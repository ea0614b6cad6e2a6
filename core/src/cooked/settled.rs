//! Lines that are settled: they never change again, and wait here until they are taken.

use serde::{Deserialize, Serialize};

use super::row::Row;

/// Blanks at the end of an unfinished line are held back, for they may turn out to be its end; beyond this many they
/// are let go as they are, so that a line of a billion blanks cannot come back as one.
const MAX_BLANKS: usize = 64 * 1024;

/// Settled lines, and the line that is still being handed out in pieces.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Settled {
    /// UTF-8.
    out: Vec<u8>,
    /// Blanks held back at the end of the unfinished line.
    blanks: usize,
    /// Whether the last line is unfinished: its next row is still on the screen.
    pub(super) open: bool,
    /// Cells of the unfinished line handed out so far.
    pub(super) open_cells: u64,
    /// Complete lines since the start.
    pub(super) lines: u64,
    /// Whether the last complete line is the one that stands for a full-screen program.
    placeholder_last: bool,
}

/// What stands in the log for what a full-screen program showed.
pub(super) const PLACEHOLDER: &str = "[full-screen program]";

impl Settled {
    /// Adds the cells of `row` from `start` up to `end` to the unfinished line.
    pub(super) fn push(&mut self, row: &Row, start: usize, end: usize) {
        self.open = true;
        self.open_cells += end.saturating_sub(start) as u64;
        if let Some(ascii) = row.as_ascii() {
            let end = end.min(ascii.len());
            self.push_text(ascii.get(start.min(end)..end).unwrap_or_default());
            return;
        }
        if row.is_blank_between(start, end) {
            self.add_blanks(end.saturating_sub(start));
            return;
        }
        if self.blanks > 0 {
            self.release_blanks();
        }
        self.blanks = row.encode(start, end, &mut self.out);
    }

    fn add_blanks(&mut self, count: usize) {
        self.blanks += count;
        if self.blanks > MAX_BLANKS {
            self.release_blanks();
        }
    }

    #[inline]
    fn push_text(&mut self, text: &[u8]) {
        let Some(last) = text.iter().rposition(|byte| *byte != b' ') else {
            self.add_blanks(text.len());
            return;
        };
        if self.blanks > 0 {
            self.release_blanks();
        }
        self.blanks = text.len() - last - 1;
        self.out.extend_from_slice(text.get(..=last).unwrap_or_default());
    }

    fn release_blanks(&mut self) {
        self.out.resize(self.out.len() + self.blanks, b' ');
        self.blanks = 0;
    }

    /// Ends the line.
    #[inline]
    pub(super) fn close(&mut self) {
        self.blanks = 0;
        self.open = false;
        self.open_cells = 0;
        self.out.push(b'\n');
        self.lines += 1;
        self.placeholder_last = false;
    }

    /// Ends the line if there is an unfinished one.
    pub(super) fn close_open(&mut self) {
        if self.open {
            self.close();
        }
    }

    /// Adds `count` complete lines, given with their line breaks and without trailing blanks.
    pub(super) fn push_lines(&mut self, text: &[u8], count: usize) {
        self.out.extend_from_slice(text);
        self.lines += count as u64;
        self.placeholder_last &= count == 0;
    }

    /// Adds the line that stands for a full-screen program, unless it would directly follow another.
    pub(super) fn placeholder(&mut self) {
        self.close_open();
        if !self.placeholder_last {
            self.out.extend_from_slice(PLACEHOLDER.as_bytes());
            self.close();
            self.placeholder_last = true;
        }
    }

    /// The blanks held back at the end of the unfinished line.
    pub(super) fn blanks(&self) -> usize {
        if self.open { self.blanks } else { 0 }
    }

    /// Moves what waits to the end of `out`.
    pub(super) fn take(&mut self, out: &mut Vec<u8>) {
        if out.is_empty() {
            std::mem::swap(out, &mut self.out);
        } else {
            out.append(&mut self.out);
        }
    }
}
