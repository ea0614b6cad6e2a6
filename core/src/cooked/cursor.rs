//! Moving the cursor.

use super::screen::Screen;

/// Columns from one tab stop to the next, unless a program has set its own.
const TAB: usize = 8;

impl Screen {
    /// The last column that text can stand in.
    pub(super) fn last_column(&self) -> usize {
        self.columns - 1
    }

    pub(super) fn cursor_up(&mut self, count: usize) {
        let room = if self.row < self.top { self.row } else { self.row - self.top };
        self.column = self.column.min(self.last_column());
        self.row -= count.min(room);
    }

    pub(super) fn cursor_down(&mut self, count: usize) {
        let end = if self.row > self.bottom { self.height() - 1 } else { self.bottom };
        self.column = self.column.min(self.last_column());
        self.row += count.min(end - self.row);
    }

    pub(super) fn cursor_right(&mut self, count: usize) {
        self.column = self.column.saturating_add(count).min(self.last_column());
    }

    pub(super) fn cursor_left(&mut self, count: usize) {
        self.column = self.column.saturating_sub(count);
    }

    /// One to the left, and from the first column of a wrapped line's row up to the end of the row above.
    pub(super) fn backspace(&mut self) {
        if self.column > 0 {
            self.column -= 1;
        } else if self.row > 0 && self.rows.get(self.row - 1).is_some_and(|above| above.wrapped) {
            self.row -= 1;
            self.column = self.last_column();
        }
    }

    /// To a column, a row or both, counted from 0; rows from the top of the scroll region in origin mode.
    pub(super) fn cursor_to(&mut self, column: Option<usize>, row: Option<usize>) {
        if let Some(column) = column {
            self.column = column.min(self.last_column());
        }
        if let Some(row) = row {
            let row = if !self.modes.origin {
                row
            } else if row > self.bottom - self.top {
                self.bottom
            } else {
                row + self.top
            };
            self.row = row.min(self.height() - 1);
        }
    }

    /// Chooses the rows that scroll, counted from 0, and sends the cursor home. One row is not enough.
    pub(super) fn set_region(&mut self, top: usize, bottom: usize) {
        let last = self.height() - 1;
        let (top, bottom) = (top.min(last), bottom.min(last));
        if top < bottom {
            (self.top, self.bottom) = (top, bottom);
            (self.column, self.row) = (0, 0);
        }
    }

    pub(super) fn line_feed(&mut self) {
        if self.row == self.bottom {
            self.scroll_up();
        } else if self.row + 1 < self.height() {
            self.row += 1;
        }
    }

    pub(super) fn reverse_index(&mut self) {
        if self.row == self.top {
            self.scroll_down(1);
        } else {
            self.row = self.row.saturating_sub(1);
        }
    }

    /// To the next tab stop, at most to the last column.
    pub(super) fn tab(&mut self) {
        let (column, last) = (self.column, self.last_column());
        if column >= last {
            return;
        }
        let next = self.tabs.iter().skip(column + 1).position(|stop| *stop).map(|distance| column + 1 + distance);
        self.column = next.unwrap_or(last);
        if next.is_none() && self.widths.keeps_tabs && column >= last / TAB * TAB {
            self.tab_at_margin(column);
        }
    }

    /// A tab that the margin has cut short is as wide as any other in the text, though not on the screen: newer
    /// versions of tmux keep the tab itself (`GRID_FLAG_TAB`), and that is what a copy of the line holds.
    fn tab_at_margin(&mut self, column: usize) {
        let blanks = (column / TAB + 1) * TAB - self.last_column() + 1;
        if blanks > 1 && self.rows.get(self.row).is_some_and(|row| row.is_blank_from(column)) {
            self.touch(column);
            let tag = self.tag;
            if let Some(row) = self.rows.get_mut(self.row) {
                row.set_blanks(column, blanks, tag);
            }
        }
    }

    /// Back by `count` tab stops.
    pub(super) fn back_tab(&mut self, count: usize) {
        let mut column = self.column.min(self.last_column());
        for _ in 0..count.min(self.columns) {
            let before = self.tabs.iter().take(column);
            column = before.clone().rposition(|stop| *stop).unwrap_or(0);
        }
        self.column = column;
    }
}
