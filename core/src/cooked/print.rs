//! Putting text on the screen.

use super::row::{Cell, Row};
use super::screen::Screen;
use crate::text::width::{self, Regional, VARIATION_SELECTOR_16, ZERO_WIDTH_JOINER};
use crate::vt::charset;

impl Screen {
    /// Prints printable ASCII.
    #[inline]
    pub(super) fn print_ascii(&mut self, mut text: &[u8]) {
        if !self.is_plain() {
            return self.print_ascii_slowly(text);
        }
        self.last = text.last().map(|byte| char::from(*byte));
        while !text.is_empty() {
            if self.column >= self.columns {
                self.wrap();
            }
            let (now, later) = text.split_at(text.len().min(self.columns - self.column));
            self.touch(self.column);
            let (column, columns, tag) = (self.column, self.columns, self.tag);
            if let Some(row) = self.rows.get_mut(self.row) {
                clear_around(row, column, column + now.len(), columns, false);
                row.write_ascii(column, now, tag);
            }
            self.column += now.len();
            text = later;
        }
    }

    fn print_ascii_slowly(&mut self, text: &[u8]) {
        for byte in text {
            let character =
                if self.charset.is_line_drawing() { charset::line_drawing(*byte) } else { char::from(*byte) };
            self.put(character, 1);
            // tmux repeats what was sent, in the character set of the moment.
            self.last = Some(char::from(*byte));
        }
    }

    /// Prints any character; control characters are not shown.
    #[inline]
    pub(super) fn print(&mut self, character: char) {
        let Some(cells) = width::cells(character) else { return };
        if !self.combines(character, cells) {
            self.put(character, usize::from(cells));
        }
        self.last = Some(character);
    }

    /// Repeats the last character, at most to the end of the row.
    pub(super) fn repeat(&mut self, count: usize) {
        let Some(character) = self.last else { return };
        for _ in 0..count.min(self.columns - self.column) {
            if character.is_ascii() {
                self.print_ascii(&[u8::try_from(character).unwrap_or(b' ')]);
            } else {
                self.print(character);
            }
        }
    }

    /// Goes on at the beginning of the next row, as part of the same line.
    fn wrap(&mut self) {
        let columns = self.columns;
        let mut continues = false;
        if let Some(row) = self.rows.get_mut(self.row) {
            row.wrapped = true;
            continues = row.is_live() && usize::from(row.from) < columns;
        }
        self.line_feed();
        self.column = 0;
        if continues
            && !self.unlogged
            && let Some(row) = self.rows.get_mut(self.row)
        {
            row.from = 0;
            row.fresh = false;
            row.past = false;
        }
    }

    /// Puts a character that takes `cells` cells of its own at the cursor.
    #[inline]
    fn put(&mut self, character: char, cells: usize) {
        let columns = self.columns;
        if !self.modes.wrap
            && cells > 1
            && (cells > columns || (self.column != columns && self.column > columns - cells))
        {
            return;
        }
        if self.modes.insert {
            self.insert_cells(cells);
        }
        if cells > columns {
            return;
        }
        if self.column > columns - cells {
            if !self.modes.wrap {
                return;
            }
            self.wrap();
        }
        let (column, tag) = (self.column, self.tag);
        self.touch(column);
        if let Some(row) = self.rows.get_mut(self.row) {
            clear_around(row, column, column + cells, columns, true);
            row.set(column, Cell::new(character, cells > 1, tag));
            for padding in column + 1..column + cells {
                row.set(padding, Cell::padding(tag));
            }
        }
        let last = columns - usize::from(!self.modes.wrap);
        self.column = if column + cells <= last { column + cells } else { last };
    }

    /// Makes `character` part of the one before the cursor, if it is one that combines. One that has nothing to
    /// combine with is dropped.
    #[inline]
    fn combines(&mut self, character: char, cells: u8) -> bool {
        if cells > 0 && (self.column == 0 || !self.may_join(character)) {
            return false;
        }
        let Some(at) = self.column_before() else { return true };
        let columns = self.columns;
        let Some(row) = self.rows.get_mut(self.row) else { return true };
        let mut widen = character == VARIATION_SELECTOR_16 && self.widths.vs16_widens;
        if cells > 0 {
            let before = row.cluster_text(at);
            if self.widths.zwj_joins && self.last == Some(ZERO_WIDTH_JOINER) {
                // What is joined keeps the width of its first character.
            } else if joins(self.widths.modifiers_join, self.widths.regional, &before, character) {
                widen = true;
            } else {
                return false;
            }
        }
        if row.combine(at, character) && widen && !row.get(at).is_wide() && at + 2 <= columns {
            row.widen(at);
            self.column = self.column.max(at + 2);
        }
        true
    }

    /// A quick look whether a character that has a width of its own could be part of the one before it.
    #[inline]
    fn may_join(&self, character: char) -> bool {
        self.last == Some(ZERO_WIDTH_JOINER) || width::is_modifier(character) || width::is_regional(character)
    }

    /// The column of the character before the cursor.
    fn column_before(&self) -> Option<usize> {
        let row = self.rows.get(self.row)?;
        (0..self.column).rev().find(|column| !row.get(*column).is_padding())
    }
}

/// Whether a skin tone or half a flag becomes part of what stands before it.
fn joins(modifiers: bool, regional: Regional, before: &str, character: char) -> bool {
    if width::is_modifier(character) {
        return modifiers && !before.is_ascii();
    }
    let mut halves = before.chars();
    let after_half = halves.next().is_some_and(width::is_regional);
    width::is_regional(character)
        && after_half
        && match regional {
            Regional::Apart => false,
            Regional::Pairs => halves.next().is_none(),
            Regional::Run => true,
        }
}

/// Blanks what is left of wide characters of which only one half is about to be overwritten, in the cells from `start`
/// up to `end`. `any` also blanks what is no wide character in front of a stray second half, as tmux does where it
/// writes a single cell.
#[inline]
fn clear_around(row: &mut Row, start: usize, end: usize, columns: usize, any: bool) {
    if row.as_ascii().is_some() {
        return;
    }
    if row.get(start).is_padding() {
        let mut at = start;
        while at > 0 && row.get(at).is_padding() {
            row.set(at, Cell::BLANK);
            at -= 1;
        }
        if any || row.get(at).is_wide() {
            row.set(at, Cell::BLANK);
        }
    }
    let mut at = end;
    while at < columns && row.get(at).is_padding() {
        row.set(at, Cell::BLANK);
        at += 1;
    }
}
