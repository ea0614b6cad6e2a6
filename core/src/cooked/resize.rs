//! A pane of another size: what tmux does with the rows it has (`screen.c`, `grid_reflow`).
//!
//! tmux lays out its whole history anew; here the text above the screen is gone, and only how long its rows were is
//! known. Where some of them come back into view they come back blank, as rows that are past.

use std::collections::VecDeque;

use super::above::{Above, RowAbove};
use super::row::{Row, SETTLED};
use super::screen::{Screen, default_tabs};

/// Where the cursor is, in terms that a new layout does not change.
struct Place {
    /// Number of the line on the screen.
    line: usize,
    /// Cells of the line before the cursor; none behind its last cell.
    cells: Option<usize>,
}

impl Screen {
    /// Takes on a new size.
    pub(super) fn resize_to(&mut self, columns: usize, height: usize) {
        let narrower_or_wider = columns != self.columns;
        if narrower_or_wider {
            self.tabs = default_tabs(columns);
        }
        if height < self.height() {
            self.shorten(height);
        } else if height > self.height() {
            self.lengthen(height);
        }
        if narrower_or_wider {
            if self.is_alternate() {
                self.columns = columns;
                self.rows.iter_mut().for_each(|row| row.truncate(columns));
            } else {
                self.reflow(columns);
            }
        }
        self.column = self.column.min(self.columns);
        self.row = self.row.min(self.height() - 1);
        self.close_if_cut_off();
    }

    /// Fewer rows: those below the cursor go first, then the uppermost ones leave the screen.
    fn shorten(&mut self, height: usize) {
        let mut excess = self.height() - height;
        let below = (self.height() - 1 - self.row).min(excess);
        self.rows.truncate(self.height() - below);
        excess -= below;
        for _ in 0..excess {
            self.drop_top_row(Above::push);
        }
        self.row -= excess;
        (self.top, self.bottom) = (0, height - 1);
    }

    /// Lets the top row leave the screen; `push` says how it is counted above it.
    fn drop_top_row(&mut self, push: fn(&mut Above, usize, bool)) {
        if self.is_alternate() {
            self.rows.pop_front();
            return;
        }
        self.settle_rows(1);
        if let Some(row) = self.rows.pop_front() {
            if self.typed.any {
                self.typed.scrolled_off(&row);
            }
            push(&mut self.above, row.used(), row.wrapped);
        }
    }

    /// More rows: those that scrolled away come back first, then blank ones are added at the bottom.
    fn lengthen(&mut self, height: usize) {
        let missing = height - self.height();
        if !self.is_alternate() {
            let back = missing.min(self.above.scrolled);
            self.pull_back(back);
            self.above.scrolled -= back;
        }
        while self.rows.len() < height {
            self.rows.push_back(self.blank_row());
        }
        (self.top, self.bottom) = (0, height - 1);
    }

    /// Brings up to `count` rows back to the top of the screen.
    fn pull_back(&mut self, count: usize) {
        for _ in 0..count {
            let Some(row) = self.above.pop() else { return };
            self.rows.push_front(Row::past(row));
            self.row += 1;
        }
    }

    /// Lays out the lines on the screen in rows of another width.
    fn reflow(&mut self, columns: usize) {
        let height = self.height();
        self.bring_down_line(columns);
        let first_old = self.above.len();
        self.above.reflow(columns);
        let first_new = self.above.len();
        let place = self.place();
        self.columns = columns;
        let mut rows: VecDeque<Row> = VecDeque::with_capacity(height);
        let mut cursor = (0, 0);
        let mut line = Vec::new();
        let mut number = 0;
        let mut taken = 0;
        let mut old = std::mem::take(&mut self.rows).into_iter().peekable();
        while let Some(row) = old.next() {
            let wrapped = row.wrapped;
            line.push(row);
            if wrapped && old.peek().is_some() {
                continue;
            }
            let first = rows.len();
            let ends = lay_out(&line, columns, &mut rows);
            if let Some(last) = rows.back_mut() {
                last.wrapped = wrapped;
            }
            if number == place.line {
                cursor = find(&place, first, &ends, &rows);
            }
            let (at, target) = (first_old.saturating_add(taken), first_new.saturating_add(first));
            self.above.laid_out(at, line.len(), target, rows.len() - first);
            taken += line.len();
            line.clear();
            number += 1;
        }
        self.rows = rows;
        (self.column, self.row) = cursor;
        self.fit(height);
    }

    /// Brings the beginning of a line that goes on on the screen down from above, for a new layout begins with it.
    fn bring_down_line(&mut self, columns: usize) {
        if self.above.is_known() {
            while self.above.is_wrapped() {
                self.pull_back(1);
            }
        } else if self.settled.open {
            let used = u16::try_from(self.settled.open_cells % columns as u64).unwrap_or(0);
            self.rows.push_front(Row::past(RowAbove { used, wrapped: true }));
            self.row += 1;
        }
    }

    /// Lets rows leave at the top, or come back, until there are `height` of them.
    fn fit(&mut self, height: usize) {
        while self.rows.len() > height {
            self.drop_top_row(Above::push_laid_out);
            if self.row == 0 {
                self.column = 0;
            }
            self.row = self.row.saturating_sub(1);
        }
        self.pull_back(height - self.rows.len());
        self.above.limit_scrolled();
        while self.rows.len() < height {
            self.rows.push_back(self.blank_row());
        }
    }

    fn place(&self) -> Place {
        let mut place = Place { line: 0, cells: Some(0) };
        let mut before = 0;
        for (at, row) in self.rows.iter().enumerate() {
            if at == self.row {
                place.cells = if self.column >= row.used() { None } else { Some(before + self.column) };
                break;
            }
            if row.wrapped {
                before += row.used();
            } else {
                before = 0;
                place.line += 1;
            }
        }
        place
    }
}

/// The cursor's column and row, in a line whose rows begin at `first` and end after so many of its cells.
fn find(place: &Place, first: usize, ends: &[usize], rows: &VecDeque<Row>) -> (usize, usize) {
    let last = first + ends.len().saturating_sub(1);
    let Some(cells) = place.cells else {
        return (rows.get(last).map_or(0, Row::used), last);
    };
    let mut start = 0;
    for (at, end) in ends.iter().enumerate() {
        if cells < *end {
            return (cells - start, first + at);
        }
        start = *end;
    }
    (rows.get(last).map_or(0, Row::used), last)
}

/// Lays out one line, given by its old rows; says after how many of its cells each new row ends.
fn lay_out(line: &[Row], columns: usize, rows: &mut VecDeque<Row>) -> Vec<usize> {
    let mut ends = Vec::new();
    let mut taken = 0;
    let Some(first) = line.first() else { return ends };
    let mut row = Row::blank(if first.from == 0 { 0 } else { SETTLED });
    row.fresh = first.fresh;
    row.past = first.past || (first.from > 0 && first.continues());
    row.painting = first.painting;
    for old in line {
        if row.is_live() && row.used() > 0 && !old.is_live() {
            // What is settled must not become part of a line that is not.
            ends.push(taken);
            rows.push_back(std::mem::replace(&mut row, Row::blank(SETTLED)));
        }
        if row.past && !old.past && (old.from == 0 || !old.continues()) {
            // Here the line comes out of what is gone.
            row.past = false;
            if old.from == 0 {
                row.from = u16::try_from(row.used()).unwrap_or(SETTLED);
                row.fresh = old.fresh;
            }
        }
        for column in 0..old.used() {
            let cell = old.get(column);
            let width = if cell.is_padding() { 0 } else { 1 + usize::from(cell.is_wide()) };
            if row.used() + width > columns && row.used() > 0 {
                row.wrapped = true;
                let mut next = Row::blank(if row.is_live() { 0 } else { SETTLED });
                next.past = row.past;
                ends.push(taken);
                rows.push_back(std::mem::replace(&mut row, next));
            }
            if !row.is_live() && column == usize::from(old.from) {
                row.from = u16::try_from(row.used()).unwrap_or(SETTLED);
                row.fresh = old.fresh || !row.past;
                row.past = false;
            }
            row.push_from(old, column);
            taken += 1;
        }
    }
    ends.push(taken);
    rows.push_back(row);
    ends
}
