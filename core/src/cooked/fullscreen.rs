//! Programs that paint the whole screen: the alternate screen, and those that do it on the normal one.
//!
//! What such a program shows is a picture, not lines; one line stands for it in the log. On the normal screen a
//! program is taken for one when
//!
//! - it keeps going home to the top left corner and painting over what it painted before, without a line ever scrolling
//!   away, from the third picture on;
//! - it goes home with the cursor keys taken over (`CSI ? 1 h`), as `top` and `vi` do on terminals that have no
//!   alternate screen. A line editor does so too where it clears the screen, but asks for bracketed paste, or shows the
//!   cursor;
//! - it has cleared the screen and then puts the cursor into rows further down, before anything has scrolled, with the
//!   cursor keys taken over or the scroll region set, as everything does that is made with curses. With no more than the
//!   cursor hidden, only a row named by its number counts: what shows progress goes up and down by counting;
//! - it has cleared the screen, set the scroll region, painted line by line, and goes up again to a row named by its
//!   number, as joe does.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::FullScreen;
use super::modes::Modes;
use super::row::{Row, SETTLED};
use super::screen::{Charset, Screen};

/// Pictures that were painted over before their program counts as a full-screen one.
const FRAMES: u8 = 2;

/// The normal screen while the alternate one is shown.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Hidden {
    pub(super) rows: VecDeque<Row>,
    pub(super) columns: usize,
}

/// How far the normal screen is on its way to be taken for a picture.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Painting {
    /// A full-screen program paints.
    pub(super) on: bool,
    /// The cursor went home and nothing has scrolled since.
    pub(super) series_on: bool,
    /// Number of the series; rows remember the one that wrote to them.
    pub(super) series: u32,
    /// Pictures completed in the series.
    frames: u8,
    /// Whether anything was printed since the cursor last went home.
    pub(super) printed: bool,
    /// The screen was cleared, and nothing has scrolled since.
    #[serde(default)]
    cleared: bool,
    /// The program has set the scroll region, be it to all of the screen.
    #[serde(default)]
    region: bool,
}

/// How the cursor came to a row further down without a line feed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Descent {
    /// By the row's number.
    To,
    /// By so many rows.
    By,
}

impl Painting {
    /// Forgets the series.
    pub(super) fn reset(&mut self) {
        self.series_on = false;
        self.frames = 0;
        self.printed = false;
        self.cleared = false;
    }

    /// The screen was cleared: what is painted from here on may be a picture.
    pub(super) fn begins_clear(&mut self) {
        self.begins();
        self.cleared = true;
    }

    fn begins(&mut self) {
        self.reset();
        self.series_on = true;
        self.series = self.series.wrapping_add(1).max(1);
    }
}

impl Screen {
    pub(super) fn fullscreen(&self) -> Option<FullScreen> {
        if self.is_alternate() {
            Some(FullScreen::AlternateScreen)
        } else if self.painting.on {
            Some(FullScreen::Painted)
        } else {
            None
        }
    }

    pub(super) fn set_unlogged(&mut self) {
        self.unlogged = self.is_alternate() || self.painting.on;
    }

    /// The cursor was sent to the top left corner.
    pub(super) fn went_home(&mut self) {
        if self.unlogged {
            return;
        }
        if self.modes.application_cursor && !(self.modes.cursor_visible && self.modes.bracketed_paste) {
            self.paint();
            return;
        }
        if !self.painting.series_on {
            self.painting.begins();
        } else if self.painting.printed {
            self.painting.frames += 1;
            if self.painting.frames >= FRAMES {
                self.paint();
            }
        }
        self.painting.printed = false;
    }

    /// The cursor was put into a row further down.
    pub(super) fn descended(&mut self, how: Descent) {
        if self.unlogged || !self.painting.cleared {
            return;
        }
        let took_over = self.modes.application_cursor || self.painting.region;
        if took_over || how == Descent::To && !self.modes.cursor_visible {
            self.paint();
        }
    }

    /// The cursor was put into a row further up, by the row's number.
    pub(super) fn ascended(&mut self) {
        if !self.unlogged && self.painting.cleared && self.painting.region && self.painting.printed {
            self.paint();
        }
    }

    /// The scroll region was set.
    pub(super) fn region_set(&mut self) {
        self.painting.region = true;
    }

    /// The terminal was reset, by whoever is done with it or begins anew.
    pub(super) fn region_reset(&mut self) {
        self.painting.region = false;
    }

    /// The cursor keys are taken over or given back, which a program does that paints when it leaves.
    pub(super) fn take_cursor_keys(&mut self, on: bool) {
        if self.modes.application_cursor && !on && !self.is_alternate() {
            self.log_again(self.height());
        }
        self.modes.application_cursor = on;
    }

    /// From here on a full-screen program paints: what it has painted already is no part of the log.
    fn paint(&mut self) {
        if self.painting.series_on {
            let series = self.painting.series;
            for row in &mut self.rows {
                if row.painting == series {
                    row.from = SETTLED;
                }
            }
        }
        self.settle_screen();
        self.settled.placeholder();
        self.painting.reset();
        self.painting.on = true;
        self.set_unlogged();
    }

    /// A line scrolled away: no picture does that.
    #[inline]
    pub(super) fn painting_scrolled(&mut self) {
        if self.painting.on || self.painting.series_on {
            self.log_again(self.height());
        }
    }

    /// Ends a painted picture. What it left on the screen stays out of the log, blank rows from `first` on excepted.
    pub(super) fn log_again(&mut self, first: usize) {
        self.painting.reset();
        if !self.painting.on {
            return;
        }
        self.painting.on = false;
        self.set_unlogged();
        for row in self.rows.iter_mut().skip(first) {
            if row.used() == 0 {
                row.from = 0;
                row.fresh = false;
            }
        }
    }

    pub(super) fn enter_alternate(&mut self, save_cursor: bool) {
        if self.is_alternate() {
            return;
        }
        self.cut();
        self.settled.placeholder();
        let blank = Row::blank(SETTLED);
        let height = self.height();
        let rows = std::mem::replace(&mut self.rows, std::iter::repeat_n(blank, height).collect());
        self.hidden = Some(Box::new(Hidden { rows, columns: self.columns }));
        if save_cursor {
            self.alternate_cursor = Some((self.column, self.row));
        }
        self.modes.alternate = true;
        self.set_unlogged();
    }

    pub(super) fn leave_alternate(&mut self, restore_cursor: bool) {
        if restore_cursor && let Some((column, row)) = self.alternate_cursor {
            (self.column, self.row) = (column, row);
        }
        if let Some(hidden) = self.hidden.take() {
            let (columns, height) = (self.columns, self.height());
            self.rows = hidden.rows;
            self.columns = hidden.columns;
            self.modes.alternate = false;
            self.set_unlogged();
            self.column = self.column.min(self.columns);
            self.row = self.row.min(self.height() - 1);
            let (top, bottom) = (self.top, self.bottom);
            self.resize_to(columns, height);
            (self.top, self.bottom) = (top, bottom);
        }
        self.column = self.column.min(self.columns - 1);
        self.row = self.row.min(self.height() - 1);
    }

    /// Undoes what a full-screen program left behind when it was killed.
    pub(super) fn end_fullscreen(&mut self) {
        if self.is_alternate() {
            self.leave_alternate(true);
        }
        self.log_again(self.row);
        self.painting.region = false;
        self.alternate_cursor = None;
        self.top = 0;
        self.bottom = self.height() - 1;
        self.charset = Charset::default();
        self.modes = Modes::default();
    }
}
