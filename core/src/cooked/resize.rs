//! A pane of another size: what tmux does with the rows it has (`screen.c`, `grid_reflow`).
//!
//! tmux lays out its whole history anew; here the rows above the screen are gone, and only their number is known. Where
//! some of them come back into view they come back blank, as rows that are past.

use std::collections::VecDeque;

use super::row::{Cell, Row, SETTLED};
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
            self.drop_top_row();
        }
        self.row -= excess;
        (self.top, self.bottom) = (0, height - 1);
    }

    fn drop_top_row(&mut self) {
        if self.is_alternate() {
            self.rows.pop_front();
            return;
        }
        self.settle_rows(1);
        if let Some(row) = self.rows.pop_front()
            && self.typed.any
        {
            self.typed.scrolled_off(&row);
        }
        self.history += 1;
        self.scrolled += 1;
    }

    /// More rows: those that scrolled away come back first, then blank ones are added at the bottom.
    fn lengthen(&mut self, height: usize) {
        let missing = height - self.height();
        let back = if self.is_alternate() { 0 } else { missing.min(usize::try_from(self.scrolled).unwrap_or(missing)) };
        self.pull_back(back);
        self.scrolled -= back as u64;
        while self.rows.len() < height {
            self.rows.push_back(self.blank_row());
        }
        (self.top, self.bottom) = (0, height - 1);
    }

    fn pull_back(&mut self, count: usize) {
        for at in 0..count {
            self.rows.push_front(Row::past(at == 0 && self.settled.open));
        }
        self.history = self.history.saturating_sub(count as u64);
        self.row += count;
    }

    /// Lays out the lines on the screen in rows of another width.
    fn reflow(&mut self, columns: usize) {
        let height = self.height();
        let place = self.place();
        self.columns = columns;
        let old = std::mem::take(&mut self.rows);
        let mut rows: VecDeque<Row> = VecDeque::with_capacity(height);
        let mut cursor = (0, 0);
        let mut line = Vec::new();
        let mut number = 0;
        // The cells of a line that are already above the screen still decide where its rows break.
        let mut lead = usize::try_from(self.settled.open_cells % columns as u64).unwrap_or(0);
        if !self.settled.open || old.front().is_some_and(|row| row.past) {
            lead = 0;
        }
        for row in old {
            let ends = !row.wrapped;
            line.push(row);
            if ends {
                let first = rows.len();
                let ends_of_rows = lay_out(&line, columns, std::mem::take(&mut lead), &mut rows);
                if number == place.line {
                    cursor = find(&place, first, &ends_of_rows, &rows);
                }
                line.clear();
                number += 1;
            }
        }
        if !line.is_empty() {
            let first = rows.len();
            let ends_of_rows = lay_out(&line, columns, lead, &mut rows);
            if let Some(last) = rows.back_mut() {
                last.wrapped = true;
            }
            if number == place.line {
                cursor = find(&place, first, &ends_of_rows, &rows);
            }
        }
        self.rows = rows;
        (self.column, self.row) = cursor;
        self.fit(height);
    }

    /// Lets rows leave at the top, or come back, until there are `height` of them.
    fn fit(&mut self, height: usize) {
        while self.rows.len() > height {
            self.drop_top_row();
            if self.row == 0 {
                self.column = 0;
            }
            self.row = self.row.saturating_sub(1);
        }
        let missing = height - self.rows.len();
        self.pull_back(missing.min(usize::try_from(self.history).unwrap_or(missing)));
        self.scrolled = self.scrolled.min(self.history);
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

/// Lays out one line, given by its old rows, behind `lead` cells that are already gone; says after how many of its
/// cells each new row ends.
fn lay_out(line: &[Row], columns: usize, lead: usize, rows: &mut VecDeque<Row>) -> Vec<usize> {
    let mut ends = Vec::new();
    let mut taken = 0;
    let past = line.iter().take_while(|row| row.past).count();
    let (past, line) = line.split_at(past);
    for row in past {
        rows.push_back(row.clone());
        ends.push(taken);
    }
    let Some(first) = line.first() else { return ends };
    let mut row = begin(first, lead);
    for old in line {
        if row.is_live() && row.used() > lead && !old.is_live() {
            // What is settled must not become part of a line that is not.
            ends.push(taken);
            rows.push_back(std::mem::replace(&mut row, Row::blank(SETTLED)));
        }
        for column in 0..old.used() {
            let cell = old.get(column);
            let width = if cell.is_padding() { 0 } else { 1 + usize::from(cell.is_wide()) };
            if row.used() + width > columns && row.used() > 0 {
                row.wrapped = true;
                let from = if row.is_live() { 0 } else { SETTLED };
                ends.push(taken);
                rows.push_back(std::mem::replace(&mut row, Row::blank(from)));
            }
            if !row.is_live() && column == usize::from(old.from) {
                row.from = u16::try_from(row.used()).unwrap_or(SETTLED);
                row.fresh = true;
            }
            row.push_from(old, column);
            taken += 1;
        }
    }
    ends.push(taken);
    rows.push_back(row);
    ends
}

/// The first row of a line, set up after its first old one.
fn begin(first: &Row, lead: usize) -> Row {
    let mut row = Row::blank(SETTLED);
    row.painting = first.painting;
    if first.from == 0 {
        row.from = 0;
        row.fresh = first.fresh;
    }
    if lead > 0 && first.continues() {
        row.set(lead - 1, Cell::BLANK);
        row.from = u16::try_from(lead).unwrap_or(SETTLED);
    }
    row
}
