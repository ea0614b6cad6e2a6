//! The rows above the screen, as far as a change of size needs them.
//!
//! Their text is settled and gone, but tmux brings rows back when the screen becomes taller, and lays its whole
//! history out anew when it becomes wider or narrower. Where the rows on the screen end up after that depends on what
//! is above only while there is little of it.

use serde::{Deserialize, Serialize};

/// Rows that are told apart. Where there are more, a screen finds as many above it as it can take, however wide it is.
const MAX_KNOWN: usize = 1024;

/// What is known of one row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct RowAbove {
    /// Cells written to.
    pub(super) used: u16,
    /// Whether the line goes on in the next row.
    pub(super) wrapped: bool,
}

/// The rows above the screen.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Above {
    /// All of them, uppermost first; none where there are too many to be told apart.
    rows: Option<Vec<RowAbove>>,
    /// Those that a taller screen brings back: tmux leaves out what a program cleared away.
    pub(super) scrolled: usize,
}

impl Default for Above {
    fn default() -> Self {
        Self { rows: Some(Vec::new()), scrolled: 0 }
    }
}

impl Above {
    /// A row has left the screen.
    #[inline]
    pub(super) fn push(&mut self, used: usize, wrapped: bool) {
        self.scrolled = self.scrolled.saturating_add(1);
        if let Some(rows) = &mut self.rows {
            if rows.len() < MAX_KNOWN {
                rows.push(RowAbove { used: u16::try_from(used).unwrap_or(u16::MAX), wrapped });
            } else {
                self.rows = None;
            }
        }
    }

    /// So many rows have left the screen, where there are too many to be told apart.
    pub(super) fn push_unknown(&mut self, count: usize) {
        self.scrolled = self.scrolled.saturating_add(count);
    }

    /// A row was moved above the screen by a new layout, from where a taller screen does not bring it back.
    pub(super) fn push_laid_out(&mut self, used: usize, wrapped: bool) {
        let scrolled = self.scrolled;
        self.push(used, wrapped);
        self.scrolled = scrolled;
    }

    /// Takes the lowest row back; none where there is none.
    pub(super) fn pop(&mut self) -> Option<RowAbove> {
        match &mut self.rows {
            Some(rows) => rows.pop(),
            None => Some(RowAbove { used: 0, wrapped: false }),
        }
    }

    /// Whether the rows are told apart.
    pub(super) fn is_known(&self) -> bool {
        self.rows.is_some()
    }

    /// Whether the lowest row goes on on the screen.
    pub(super) fn is_wrapped(&self) -> bool {
        self.rows.as_ref().and_then(|rows| rows.last()).is_some_and(|row| row.wrapped)
    }

    /// What is on the screen is no continuation of the lowest row any more.
    pub(super) fn unlink(&mut self) {
        if let Some(row) = self.rows.as_mut().and_then(|rows| rows.last_mut()) {
            row.wrapped = false;
        }
    }

    /// How many there are; a very large number where they are not told apart.
    pub(super) fn len(&self) -> usize {
        self.rows.as_ref().map_or(usize::MAX, Vec::len)
    }

    /// No more rows come back than there are.
    pub(super) fn limit_scrolled(&mut self) {
        self.scrolled = self.scrolled.min(self.len());
    }

    /// A new layout has made `new` rows out of the `old` ones that began at number `at` and now begin at `target`,
    /// counted from the uppermost row of all. How many rows a taller screen brings back afterwards is tmux's reckoning.
    pub(super) fn laid_out(&mut self, at: usize, old: usize, target: usize, new: usize) {
        if new > old && at <= self.scrolled {
            self.scrolled = self.scrolled.saturating_add(new - old);
        } else if new < old {
            let joined = old - new;
            if self.scrolled > target.saturating_add(joined) {
                self.scrolled -= joined;
            } else {
                self.scrolled = self.scrolled.min(target);
            }
        }
    }

    /// Lays them out for another width. The lowest row must end a line.
    pub(super) fn reflow(&mut self, columns: usize) {
        let Some(old) = self.rows.take() else { return };
        let mut rows: Vec<RowAbove> = Vec::with_capacity(old.len());
        let (mut cells, mut first) = (0, 0);
        for (at, row) in old.iter().enumerate() {
            cells += usize::from(row.used);
            if row.wrapped {
                continue;
            }
            let target = rows.len();
            while cells > columns {
                rows.push(RowAbove { used: u16::try_from(columns).unwrap_or(u16::MAX), wrapped: true });
                cells -= columns;
            }
            rows.push(RowAbove { used: u16::try_from(cells).unwrap_or(u16::MAX), wrapped: false });
            self.laid_out(first, at + 1 - first, target, rows.len() - target);
            cells = 0;
            first = at + 1;
        }
        self.rows = Some(rows);
    }
}
