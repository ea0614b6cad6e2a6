//! What control characters and sequences do; the table is tmux's (`input.c`).

use super::above::Above;
use super::fullscreen::Descent;
use super::modes::Modes;
use super::screen::{Charset, SavedCursor, Screen, default_tabs};
use crate::vt::parse::Params;

impl Screen {
    /// A control character. Those that tmux does not know do nothing.
    #[inline]
    pub(super) fn control(&mut self, byte: u8) {
        self.last = None;
        match byte {
            0x08 => self.backspace(),
            b'\t' => self.tab(),
            b'\n' | 0x0b | 0x0c => self.line_feed(),
            b'\r' => self.column = 0,
            0x0e => self.charset.shifted = true,
            0x0f => self.charset.shifted = false,
            _ => {}
        }
    }

    /// An escape sequence.
    pub(super) fn escape(&mut self, intermediates: &[u8], byte: u8) {
        match (intermediates, byte) {
            (b"(", b'0') => self.charset.g0_lines = true,
            (b"(", b'B') => self.charset.g0_lines = false,
            (b")", b'0') => self.charset.g1_lines = true,
            (b")", b'B') => self.charset.g1_lines = false,
            (b"#", b'8') => self.alignment_test(),
            (b"", b'7') => self.save_cursor(),
            (b"", b'8') => self.restore_cursor(),
            (b"", b'=') => self.modes.application_keypad = true,
            (b"", b'>') => self.modes.application_keypad = false,
            (b"", b'D') => self.line_feed(),
            (b"", b'E') => {
                self.column = 0;
                self.line_feed();
            }
            (b"", b'H') => self.set_tab(true),
            (b"", b'M') => self.reverse_index(),
            (b"", b'c') => self.reset(),
            (b"", b'\\') => {}
            _ => return,
        }
        self.last = None;
    }

    fn set_tab(&mut self, stop: bool) {
        if let Some(place) = self.tabs.get_mut(self.column) {
            *place = stop;
        }
    }

    fn save_cursor(&mut self) {
        self.saved_cursor =
            SavedCursor { column: self.column, row: self.row, origin: self.modes.origin, charset: self.charset };
    }

    fn restore_cursor(&mut self) {
        let saved = self.saved_cursor;
        self.charset = saved.charset;
        self.modes.origin = saved.origin;
        self.column = saved.column.min(self.last_column());
        self.row = saved.row.min(self.height() - 1);
    }

    /// RIS. Like tmux it stays on the alternate screen; what was on the normal one goes up into the log.
    fn reset(&mut self) {
        self.tabs = default_tabs(self.columns);
        self.charset = Charset::default();
        // tmux forgets where the saved cursor was, but not how its rows were counted.
        self.saved_cursor = SavedCursor { origin: self.saved_cursor.origin, ..SavedCursor::default() };
        (self.top, self.bottom) = (0, self.height() - 1);
        self.modes = Modes { alternate: self.modes.alternate, ..Modes::default() };
        self.erase_screen();
        self.region_reset();
        (self.column, self.row) = (0, 0);
    }

    /// A control sequence.
    pub(super) fn control_sequence(&mut self, intermediates: &[u8], params: &Params, byte: u8) {
        // What the terminal is, and where its cursor is: the answer is typed into whatever reads next.
        self.queried |= matches!((intermediates, byte), (b"" | b">" | b"=", b'c') | (b"" | b"?", b'n'));
        match intermediates {
            b"" if self.plain_sequence(params, byte).is_some() => self.last = None,
            b"?" => match byte {
                b'h' => self.private_modes(params, true),
                b'l' => self.private_modes(params, false),
                _ => {}
            },
            _ => {}
        }
    }

    /// A control sequence without intermediates; none where tmux does not know it, or drops it for its parameters.
    fn plain_sequence(&mut self, params: &Params, byte: u8) -> Option<()> {
        let count = || params.get(0, 1, 1).map(|count| count as usize);
        let selector = || params.get(0, 0, 0);
        match byte {
            b'@' => self.insert_cells(count()?),
            b'A' => self.cursor_up(count()?),
            b'B' => self.step_down(count()?),
            b'C' => self.cursor_right(count()?),
            b'D' => self.cursor_left(count()?),
            b'E' => {
                let count = count()?;
                self.column = 0;
                self.step_down(count);
            }
            b'F' => {
                let count = count()?;
                self.column = 0;
                self.cursor_up(count);
            }
            b'G' | b'`' => self.cursor_to(Some(count()? - 1), None),
            b'd' => {
                let above = self.row;
                self.cursor_to(None, Some(count()? - 1));
                self.came_from(above, Descent::To);
            }
            b'H' | b'f' => {
                let column = params.get(1, 1, 1)? as usize;
                let above = self.row;
                self.cursor_to(Some(column - 1), Some(count()? - 1));
                self.came_from(above, Descent::To);
                if self.column == 0 && self.row == 0 {
                    self.went_home();
                }
            }
            b'J' => self.erase_in_display(params)?,
            b'K' => match selector()? {
                0 => self.erase_line_right(),
                1 => self.erase_line_left(),
                2 => self.erase_line(),
                _ => {}
            },
            b'L' => self.insert_lines(count()?),
            b'M' => self.delete_lines(count()?),
            b'P' => self.delete_cells(count()?),
            b'S' => self.scroll_lines_up(count()?),
            b'T' => self.scroll_down(count()?),
            b'X' => self.erase_cells(count()?),
            b'Z' => self.back_tab(count()?),
            b'b' => self.repeat(count()?),
            b'g' => match selector()? {
                0 => self.set_tab(false),
                3 => self.tabs.fill(false),
                _ => {}
            },
            b'h' => self.ansi_modes(params, true),
            b'l' => self.ansi_modes(params, false),
            b'r' => {
                let bottom = params.get(1, 1, u32::try_from(self.height()).unwrap_or(u32::MAX))? as usize;
                self.set_region(count()? - 1, bottom - 1);
                self.region_set();
            }
            b's' => self.save_cursor(),
            b'u' => self.restore_cursor(),
            // Colours, queries and window operations: nothing that text depends on.
            b'm' | b'c' | b'n' | b't' => {}
            _ => return None,
        }
        Some(())
    }

    fn step_down(&mut self, count: usize) {
        let above = self.row;
        self.cursor_down(count);
        self.came_from(above, Descent::By);
    }

    fn came_from(&mut self, row: usize, how: Descent) {
        if self.row > row {
            self.descended(how);
        } else if self.row < row && how == Descent::To {
            self.ascended();
        }
    }

    fn erase_in_display(&mut self, params: &Params) -> Option<()> {
        match params.get(0, 0, 0)? {
            0 => self.erase_below(),
            1 => self.erase_above(),
            2 => self.erase_screen(),
            // tmux forgets its history; the log keeps it.
            3 if params.get(1, 0, 0) == Some(0) => self.above = Above::default(),
            _ => {}
        }
        Some(())
    }

    fn ansi_modes(&mut self, params: &Params, on: bool) {
        for at in 0..params.len() {
            if params.get(at, 0, 0) == Some(4) {
                self.modes.insert = on;
            }
        }
    }

    fn private_modes(&mut self, params: &Params, on: bool) {
        self.last = None;
        for at in 0..params.len() {
            match params.get(at, 0, 0).unwrap_or(0) {
                1 => self.take_cursor_keys(on),
                // tmux does not change its width, but clears as if it had.
                3 => {
                    self.cursor_to(Some(0), Some(0));
                    self.erase_screen();
                }
                6 => {
                    self.modes.origin = on;
                    self.cursor_to(Some(0), Some(0));
                }
                7 => self.modes.wrap = on,
                25 => self.modes.cursor_visible = on,
                1000..=1003 => self.modes.mouse = on,
                47 | 1047 if on => self.enter_alternate(false),
                47 | 1047 => self.leave_alternate(false),
                1049 if on => self.enter_alternate(true),
                1049 => self.leave_alternate(true),
                2004 => {
                    self.modes.bracketed_paste = on;
                    self.edited |= on;
                    self.paste_switches = self.paste_switches.wrapping_add(1);
                }
                _ => {}
            }
        }
    }
}
