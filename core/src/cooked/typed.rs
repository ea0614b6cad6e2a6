//! What was typed behind the prompt, read off the cells that remember it.

use serde::{Deserialize, Serialize};

use super::Tag;
use super::row::Row;
use super::screen::Screen;

/// The most that is kept of input that has left the screen; no shell takes a longer line from a person.
const MAX_SCROLLED: usize = 64 * 1024;

/// Input that is no longer on the screen.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Typed {
    /// Whether anything was printed as input since it was last forgotten.
    pub(super) any: bool,
    scrolled: String,
    /// Whether the last row of `scrolled` goes on in the next one.
    wrapped: bool,
}

impl Typed {
    /// Keeps the input in a row that leaves the screen.
    pub(super) fn scrolled_off(&mut self, row: &Row) {
        if row.has(Tag::Input) && self.scrolled.len() < MAX_SCROLLED {
            if !self.scrolled.is_empty() && !self.wrapped {
                self.scrolled.push('\n');
            }
            row.typed(&mut self.scrolled);
            self.wrapped = row.wrapped;
        }
    }
}

impl Screen {
    /// All input since it was last forgotten, one line for each that was typed.
    pub(super) fn input(&self) -> String {
        let mut text = self.typed.scrolled.clone();
        let mut started = !text.is_empty();
        let mut wrapped = self.typed.wrapped;
        // A line with a prompt and nothing behind it was typed too, if another follows.
        let mut empty_lines = 0;
        for row in &self.rows {
            if row.has(Tag::Input) {
                if started && !wrapped {
                    text.extend(std::iter::repeat_n('\n', empty_lines + 1));
                }
                empty_lines = 0;
                row.typed(&mut text);
                started = true;
            } else if started && !wrapped && row.has(Tag::Prompt) {
                empty_lines += 1;
            }
            wrapped = row.wrapped;
        }
        text.truncate(text.trim_end_matches(' ').len());
        text
    }

    pub(super) fn input_above(&self) -> usize {
        let Some(first) = self.rows.iter().position(|row| row.has(Tag::Input)) else { return 0 };
        let shown = (first + 1..=self.row).filter(|&at| !self.is_joined(at)).count();
        shown + self.typed.scrolled.lines().count()
    }

    pub(super) fn untag_to_cursor(&mut self) {
        let (row, column) = (self.row, self.column);
        if let Some(row) = self.rows.get_mut(row) {
            row.untag_input_before(column);
        }
    }

    pub(super) fn clear_input(&mut self) {
        if self.typed.any {
            self.typed = Typed::default();
            self.rows.iter_mut().for_each(Row::untag_input);
        }
    }
}
