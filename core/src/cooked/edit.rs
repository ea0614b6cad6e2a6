//! Erasing, inserting and deleting.

use super::row::{Row, SETTLED};
use super::screen::Screen;

impl Screen {
    fn with_row(&mut self, change: impl FnOnce(&mut Row)) {
        if let Some(row) = self.rows.get_mut(self.row) {
            change(row);
        }
    }

    pub(super) fn insert_cells(&mut self, count: usize) {
        let (column, columns) = (self.column, self.columns);
        if column >= columns {
            return;
        }
        let count = count.min(columns - column);
        self.with_row(|row| {
            row.insert(column, count, columns);
            if row.is_live() && usize::from(row.from) > column {
                row.from = u16::try_from((usize::from(row.from) + count).min(columns)).unwrap_or(SETTLED);
            }
        });
    }

    pub(super) fn delete_cells(&mut self, count: usize) {
        let (column, columns) = (self.column, self.columns);
        if column >= columns {
            return;
        }
        let count = count.min(columns - column);
        if count == columns {
            // For tmux that is an empty row, which is no part of the line above it any more.
            return self.clear_rows(self.row, 1);
        }
        self.with_row(|row| {
            row.delete(column, count, columns);
            if row.is_live() && usize::from(row.from) > column {
                row.from = u16::try_from(usize::from(row.from).saturating_sub(count).max(column)).unwrap_or(SETTLED);
            }
        });
    }

    pub(super) fn erase_cells(&mut self, count: usize) {
        let count = count.min(self.columns.saturating_sub(self.column));
        if count == self.columns {
            self.clear_rows(self.row, 1);
        } else {
            let column = self.column;
            self.with_row(|row| row.erase(column, count));
        }
    }

    /// Erases the row. tmux leaves one alone that nothing was written to, and so its link to the row above.
    pub(super) fn erase_line(&mut self) {
        if self.rows.get(self.row).is_some_and(|row| row.used() > 0) {
            self.clear_rows(self.row, 1);
        }
    }

    pub(super) fn erase_line_right(&mut self) {
        let column = self.column;
        if column == 0 {
            self.erase_line();
        } else if column < self.columns {
            let count = self.columns - column;
            self.with_row(|row| row.erase(column, count));
        }
    }

    pub(super) fn erase_line_left(&mut self) {
        if self.column >= self.last_column() {
            self.erase_line();
        } else {
            let count = self.column + 1;
            self.with_row(|row| row.erase(0, count));
        }
    }

    pub(super) fn erase_below(&mut self) {
        if self.column == 0 && self.row == 0 && !self.is_alternate() {
            self.clear_into_history();
            return;
        }
        if self.column == 0 {
            self.clear_rows(self.row, 1);
        } else {
            let (column, count) = (self.column, self.columns.saturating_sub(self.column));
            self.with_row(|row| row.erase(column, count));
        }
        self.clear_rows(self.row + 1, signed(self.height() - self.row - 1));
    }

    pub(super) fn erase_above(&mut self) {
        self.clear_rows(0, signed(self.row));
        if self.column >= self.last_column() {
            self.clear_rows(self.row, 1);
        } else {
            let count = self.column + 1;
            self.with_row(|row| row.erase(0, count));
        }
    }

    pub(super) fn erase_screen(&mut self) {
        if self.is_alternate() {
            self.clear_rows(0, signed(self.height()));
        } else {
            self.clear_into_history();
        }
    }

    pub(super) fn insert_lines(&mut self, count: usize) {
        let (at, height) = (self.row, self.height());
        if at < self.top || at > self.bottom {
            let count = count.min(height - at);
            self.move_rows(at + count, at, height - at - count);
            return;
        }
        let count = count.min(self.bottom + 1 - at);
        let kept = self.bottom + 1 - at - count;
        self.move_rows(self.bottom + 1 - kept, at, kept);
        self.clear_rows(at + kept, signed(count) - signed(kept));
    }

    pub(super) fn delete_lines(&mut self, count: usize) {
        let (at, height) = (self.row, self.height());
        if at < self.top || at > self.bottom {
            let count = count.min(height - at);
            self.move_rows(at, at + count, height - at - count);
            self.clear_rows(height - count, signed(at + 2 * count) - signed(height));
            return;
        }
        let count = count.min(self.bottom + 1 - at);
        let kept = self.bottom + 1 - at - count;
        self.move_rows(at, at + count, kept);
        self.clear_rows(at + kept, signed(count) - signed(kept));
    }

    pub(super) fn scroll_lines_up(&mut self, count: usize) {
        for _ in 0..count.min(self.bottom - self.top + 1) {
            self.scroll_up();
        }
    }

    pub(super) fn scroll_down(&mut self, count: usize) {
        for _ in 0..count.min(self.bottom - self.top + 1) {
            self.move_rows(self.top + 1, self.top, self.bottom - self.top);
        }
    }

    /// Fills the screen with `E`. It is a picture and no text: what stood there before goes to the log, it does not.
    pub(super) fn alignment_test(&mut self) {
        if !self.unlogged {
            self.settle_screen();
        }
        let line = vec![b'E'; self.columns];
        for row in &mut self.rows {
            let wrapped = row.wrapped;
            row.clear();
            row.wrapped = wrapped;
            row.write_ascii(0, &line, super::Tag::Output);
        }
        (self.column, self.row) = (0, 0);
        (self.top, self.bottom) = (0, self.height() - 1);
    }
}

/// A number of rows that may go below zero; screens have at most 10,000.
fn signed(count: usize) -> isize {
    isize::try_from(count).unwrap_or(isize::MAX)
}
