//! The rows that the cursor can still reach, and how they are handed out as lines.
//!
//! Every rule here is tmux's (`grid.c`, `grid-view.c`), down to when the link between the rows of a wrapped line is
//! lost, because only so do lines come out as the person's scrollback has them.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::above::Above;
use super::fullscreen::{Hidden, Painting};
use super::modes::Modes;
use super::row::{Row, SETTLED};
use super::settled::Settled;
use super::typed::Typed;
use super::{Size, Tag};
use crate::text::width::Widths;

/// A cursor that was put aside by `ESC 7`, with what tmux keeps along with it.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub(super) struct SavedCursor {
    pub(super) column: usize,
    pub(super) row: usize,
    pub(super) origin: bool,
    pub(super) charset: Charset,
}

/// Which of the two character sets is chosen, and which of them is line drawing.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub(super) struct Charset {
    pub(super) shifted: bool,
    pub(super) g0_lines: bool,
    pub(super) g1_lines: bool,
}

impl Charset {
    pub(super) fn is_line_drawing(self) -> bool {
        if self.shifted { self.g1_lines } else { self.g0_lines }
    }
}

/// The screen, and the log it leaves behind.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Screen {
    pub(super) columns: usize,
    pub(super) rows: VecDeque<Row>,
    /// The cursor's column; equal to `columns` while a wrap is pending.
    pub(super) column: usize,
    /// The cursor's row.
    pub(super) row: usize,
    /// First row of the scroll region.
    pub(super) top: usize,
    /// Last row of the scroll region.
    pub(super) bottom: usize,
    pub(super) modes: Modes,
    pub(super) charset: Charset,
    pub(super) saved_cursor: SavedCursor,
    pub(super) tabs: Vec<bool>,
    /// The character that `CSI b` repeats.
    pub(super) last: Option<char>,
    pub(super) tag: Tag,
    pub(super) widths: Widths,
    pub(super) settled: Settled,
    /// The normal screen while the alternate one is shown.
    pub(super) hidden: Option<Box<Hidden>>,
    /// Where the cursor was when the alternate screen was entered.
    pub(super) alternate_cursor: Option<(usize, usize)>,
    pub(super) painting: Painting,
    /// Whether what is printed is kept out of the log, since a full-screen program prints it.
    pub(super) unlogged: bool,
    pub(super) above: Above,
    pub(super) typed: Typed,
    /// Whether something was printed that a terminal answers, since this was last forgotten.
    #[serde(default)]
    pub(super) queried: bool,
    /// Whether a line editor has begun since this was last forgotten.
    pub(super) edited: bool,
    /// How often bracketed paste was asked for or given up.
    #[serde(default)]
    pub(super) paste_switches: u32,
}

impl Screen {
    pub(super) fn new(size: Size, widths: Widths) -> Self {
        let (columns, rows) = clamp(size);
        Self {
            columns,
            rows: std::iter::repeat_with(Row::default).take(rows).collect(),
            column: 0,
            row: 0,
            top: 0,
            bottom: rows - 1,
            modes: Modes::default(),
            charset: Charset::default(),
            saved_cursor: SavedCursor::default(),
            tabs: default_tabs(columns),
            last: None,
            tag: Tag::Output,
            widths,
            settled: Settled::default(),
            hidden: None,
            alternate_cursor: None,
            painting: Painting::default(),
            unlogged: false,
            above: Above::default(),
            typed: Typed::default(),
            queried: false,
            edited: false,
            paste_switches: 0,
        }
    }

    pub(super) fn height(&self) -> usize {
        self.rows.len()
    }

    pub(super) fn is_alternate(&self) -> bool {
        self.hidden.is_some()
    }

    /// The first column of the log in a row that begins blank.
    #[inline]
    pub(super) fn blank_from(&self) -> u16 {
        if self.unlogged { SETTLED } else { 0 }
    }

    pub(super) fn blank_row(&self) -> Row {
        Row::blank(self.blank_from())
    }

    /// Moves everything in the scroll region up by one row; the row that leaves it goes to the log, wherever the
    /// region begins.
    pub(super) fn scroll_up(&mut self) {
        if self.is_alternate() {
            self.move_rows(self.top, self.top + 1, self.bottom - self.top);
            return;
        }
        self.painting_scrolled();
        self.push_out(self.top, self.bottom);
    }

    /// Takes the row at `top` off the screen and puts a blank one in at `bottom`.
    fn push_out(&mut self, top: usize, bottom: usize) {
        let whole = top == 0 && bottom + 1 == self.height();
        let Some(mut row) = (if whole { self.rows.pop_front() } else { self.rows.remove(top) }) else { return };
        self.hand_out(&row);
        if self.typed.any {
            self.typed.scrolled_off(&row);
        }
        self.above.push(row.used(), row.wrapped);
        row.reset(self.blank_from());
        if whole {
            self.rows.push_back(row);
        } else {
            self.rows.insert(bottom, row);
        }
        self.close_if_cut_off();
    }

    /// Ends the unfinished line if what follows on the screen is not its continuation.
    pub(super) fn close_if_cut_off(&mut self) {
        if self.settled.open && !self.rows.iter().find(|row| !row.past).is_some_and(Row::continues) {
            self.settled.close();
        }
    }

    /// Adds what is live in `row` to the log.
    fn hand_out(&mut self, row: &Row) {
        if row.past {
            return;
        }
        if !row.is_live() || row.is_said_again() {
            self.settled.close_open();
            return;
        }
        if row.fresh {
            self.settled.close_open();
        }
        self.settled.push(row, usize::from(row.from), row.used());
        if !row.wrapped {
            self.settled.close();
        }
    }

    /// Hands out the rows before `end` that still are to be, and keeps them on the screen. Says whether there were any.
    pub(super) fn settle_rows(&mut self, end: usize) -> bool {
        let mut any = false;
        for at in 0..end {
            let Some(row) = self.rows.get_mut(at) else { break };
            if row.past {
                continue;
            }
            let mut row = std::mem::take(row);
            any |= row.is_live();
            self.hand_out(&row);
            row.settle();
            if let Some(place) = self.rows.get_mut(at) {
                *place = row;
            }
        }
        any
    }

    /// Hands out all that is live, but not the blank tail.
    pub(super) fn settle_screen(&mut self) {
        let end = self.rows.iter().rposition(|row| row.is_live() && !row.is_blank()).map_or(0, |last| last + 1);
        self.settle_rows(end);
        self.settled.close_open();
        for row in &mut self.rows {
            row.settle();
        }
    }

    /// Hands out everything before the cursor; what follows on its row begins a new line.
    pub(super) fn cut(&mut self) {
        if self.is_alternate() {
            return;
        }
        self.log_again(self.row);
        self.settle_rows(self.row);
        let (at, column, columns) = (self.row, self.column, self.columns);
        let Some(row) = self.rows.get_mut(at) else { return };
        if row.is_live() {
            let mut row = std::mem::take(row);
            let from = usize::from(row.from);
            if row.fresh {
                self.settled.close_open();
            }
            if column > from && (row.used() > from || self.settled.open) {
                self.settled.push(&row, from, column.min(row.used()));
            }
            row.from = if column >= columns { SETTLED } else { u16::try_from(column.max(from)).unwrap_or(SETTLED) };
            row.fresh = true;
            if let Some(place) = self.rows.get_mut(at) {
                *place = row;
            }
        }
        self.settled.close_open();
    }

    /// Hands out the complete lines above the one that the cursor is on.
    pub(super) fn settle_above(&mut self) {
        if self.unlogged {
            return;
        }
        if self.settle_rows(self.line_start()) {
            self.settled.close_open();
        }
    }

    /// The first row of the line that the cursor is on.
    pub(super) fn line_start(&self) -> usize {
        let mut at = self.row;
        while at > 0 && self.is_joined(at) {
            at -= 1;
        }
        at
    }

    /// Whether the row at `at` is part of the same line as the one above it.
    pub(super) fn is_joined(&self, at: usize) -> bool {
        let above = at.checked_sub(1).and_then(|above| self.rows.get(above));
        above.is_some_and(|above| above.wrapped && above.is_live()) && self.rows.get(at).is_some_and(Row::continues)
    }

    /// Removes the link that makes the row at `at` part of the line above it.
    pub(super) fn unlink(&mut self, at: usize) {
        let Some(above) = at.checked_sub(1) else {
            if !self.is_alternate() {
                self.settled.close_open();
                self.above.unlink();
            }
            return;
        };
        if let Some(above) = self.rows.get_mut(above) {
            above.wrapped = false;
            if above.past {
                self.settled.close_open();
            }
        }
    }

    /// Empties `count` rows from `at` on. As in tmux a count below zero empties none but still removes the link.
    pub(super) fn clear_rows(&mut self, at: usize, count: isize) {
        if count == 0 {
            return;
        }
        for row in self.rows.iter_mut().skip(at).take(usize::try_from(count).unwrap_or(0)) {
            row.clear();
        }
        self.unlink(at);
    }

    /// Moves `count` rows from `source` to `target`; those that are left behind become blank.
    pub(super) fn move_rows(&mut self, target: usize, source: usize, count: usize) {
        if count == 0 || target == source || source.max(target) + count > self.height() {
            return;
        }
        self.unlink(target);
        let blank = self.blank_row();
        let moved: Vec<Row> = (source..source + count)
            .filter_map(|at| self.rows.get_mut(at).map(|row| std::mem::replace(row, blank.clone())))
            .collect();
        for (row, place) in moved.into_iter().zip(self.rows.iter_mut().skip(target)) {
            *place = row;
        }
        if source < target || source >= target + count {
            self.unlink(source);
        }
    }

    /// Moves all that is on the screen above it, as tmux does where a program clears the whole screen.
    pub(super) fn clear_into_history(&mut self) {
        self.painting.begins_clear();
        let height = self.height();
        let used = self.rows.iter().rposition(|row| row.used() > 0).map_or(0, |last| last + 1);
        for _ in 0..used {
            self.push_out(0, height - 1);
        }
        if used > 0 {
            self.above.scrolled = 0;
        }
        let from = self.blank_from();
        for row in self.rows.iter_mut().take(height - used) {
            row.reset(from);
        }
        if used < height {
            self.unlink(0);
        }
    }

    /// Makes `column` of the cursor's row, and what follows it, part of the log again, for it is about to be written.
    #[inline]
    pub(super) fn touch(&mut self, column: usize) {
        let painting = self.painting.series_on;
        let series = self.painting.series;
        let unlogged = self.unlogged;
        let Some(row) = self.rows.get_mut(self.row) else { return };
        if usize::from(row.from) > column {
            row.keep_said();
        }
        if usize::from(row.from) > column && !unlogged {
            row.from = if row.used() == 0 { 0 } else { u16::try_from(column).unwrap_or(0) };
            row.fresh = true;
            row.past = false;
        }
        if painting {
            row.painting = series;
            self.painting.printed = true;
        }
    }
}

/// A size that every part of the screen can deal with: tmux itself allows no more than 10,000 either way.
pub(super) fn clamp(size: Size) -> (usize, usize) {
    (usize::from(size.cols.clamp(1, 10_000)), usize::from(size.rows.clamp(1, 10_000)))
}

/// A tab stop every eight columns.
pub(super) fn default_tabs(columns: usize) -> Vec<bool> {
    (0..columns).map(|column| column > 0 && column % 8 == 0).collect()
}
