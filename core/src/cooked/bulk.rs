//! Text in bulk: nearly all of a long output is lines that scroll away as they were printed.
//!
//! What is taken here would come out the same by way of the screen, only slower.

use memchr::memrchr;

use super::row::{Cell, Row};
use super::screen::Screen;
use super::{Cooked, Tag};
use crate::text::width;
use crate::vt::utf8::{Decoded, decode};

const LOW_BITS: u64 = 0x0101_0101_0101_0101;
const HIGH_BITS: u64 = 0x8080_8080_8080_8080;

/// Bytes to wait before lines are tried again where there were too few, so that looking costs little.
const PAUSE: u64 = 2048;

/// Bytes of printable ASCII at the beginning, eight at a time.
#[inline]
pub(super) fn printable(bytes: &[u8]) -> usize {
    let mut words = bytes.chunks_exact(8);
    let mut at = 0;
    for word in words.by_ref() {
        let word = u64::from_le_bytes(word.try_into().unwrap_or_default());
        // The high bit of each byte below 0x20, above 0x7e, or not ASCII. Carries run upwards only, so that the lowest
        // of them is right.
        let below = word.wrapping_sub(LOW_BITS * 0x20) & !word;
        let above = word.wrapping_add(LOW_BITS) | word;
        let stops = (below | above) & HIGH_BITS;
        if stops != 0 {
            return at + stops.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    let tail = words.remainder();
    at + tail.iter().position(|byte| !(0x20..=0x7e).contains(byte)).unwrap_or(tail.len())
}

/// Adds the line at the beginning to `out`, if it is one that does nothing on its way: characters that stand alone in
/// one or two cells, colours, CR LF. Says how many bytes it takes and how many cells it fills.
#[inline]
fn plain_line(bytes: &[u8], out: &mut Vec<u8>) -> Option<(usize, usize)> {
    let begin = out.len();
    let mut at = 0;
    let mut cells = 0;
    loop {
        let rest = bytes.get(at..)?;
        let length = printable(rest);
        cells += length;
        copy(rest, length, out);
        at += length;
        let next = *rest.get(length)?;
        if next == b'\r' {
            if rest.get(length + 1) != Some(&b'\n') {
                return None;
            }
            while out.len() > begin && out.last() == Some(&b' ') {
                out.pop();
            }
            out.push(b'\n');
            return Some((at + 2, cells));
        }
        at += match next {
            0x1b => colour(bytes.get(at..)?)?,
            0x80.. => {
                let (length, width) = character(bytes.get(at..)?, out)?;
                cells += width;
                length
            }
            _ => return None,
        };
    }
}

/// Adds the first `length` bytes to `out`. Short ones are copied as a block of fixed size, which takes no call.
#[inline]
fn copy(bytes: &[u8], length: usize, out: &mut Vec<u8>) {
    match bytes.first_chunk::<16>() {
        Some(block) if length <= block.len() => {
            out.extend_from_slice(block);
            out.truncate(out.len() - block.len() + length);
        }
        _ => out.extend_from_slice(bytes.get(..length).unwrap_or_default()),
    }
}

/// The length of the sequence at the beginning, if it only sets colours.
#[inline]
fn colour(bytes: &[u8]) -> Option<usize> {
    let parameters = bytes.strip_prefix(b"\x1b[")?;
    let length = parameters.iter().position(|byte| !matches!(byte, b'0'..=b';'))?;
    (parameters.get(length) == Some(&b'm')).then_some(length + 3)
}

/// Adds the character at the beginning to `out`, if it stands alone; says how many bytes and cells it takes.
#[inline]
fn character(bytes: &[u8], out: &mut Vec<u8>) -> Option<(usize, usize)> {
    match decode(bytes) {
        Decoded::Char(character, length) => {
            let cells = alone(character)?;
            out.extend_from_slice(bytes.get(..length)?);
            Some((length, cells))
        }
        Decoded::Bad(length) => {
            out.extend_from_slice("\u{fffd}".as_bytes());
            Some((length, 1))
        }
        Decoded::Partial => None,
    }
}

/// The cells of a character that does not depend on the ones around it.
#[inline]
fn alone(character: char) -> Option<usize> {
    let cells = width::cells(character).filter(|cells| *cells > 0)?;
    (!width::is_modifier(character) && !width::is_regional(character)).then_some(usize::from(cells))
}

/// Lines that were taken at once.
#[derive(Debug, Clone, Default)]
pub(super) struct Lines {
    /// Their text, each ended by a line break.
    text: Vec<u8>,
    /// Cells that each of them fills.
    cells: Vec<usize>,
}

impl Cooked {
    /// Takes whole lines, if many plain ones come next and the screen is ready for them; says how many bytes. Where
    /// there are too few, `next_try` is set behind them: before that it is not worth trying again.
    #[inline]
    pub(super) fn bulk_lines(&mut self, bytes: &[u8], next_try: &mut u64) -> usize {
        if self.offset < *next_try || !self.screen.is_clean() {
            return 0;
        }
        let lines = &mut self.bulk;
        lines.text.clear();
        lines.cells.clear();
        let mut at = 0;
        while let Some(rest) = bytes.get(at..) {
            let before = lines.text.len();
            let Some((length, cells)) = plain_line(rest, &mut lines.text) else {
                lines.text.truncate(before);
                break;
            };
            lines.cells.push(cells);
            at += length;
        }
        if lines.cells.len() < 2 * self.screen.height() {
            *next_try = self.offset + at as u64 + PAUSE;
            return 0;
        }
        self.screen.scroll_through(lines);
        at
    }
}

impl Screen {
    /// Whether a line printed now would be the lowest of the screen, push the uppermost away and do nothing else.
    fn is_clean(&self) -> bool {
        let lowest = self.height() - 1;
        self.column == 0
            && self.row == lowest
            && self.top == 0
            && self.bottom == lowest
            // A wide character is dropped where there is one column.
            && self.columns > 1
            && self.is_plain()
            && !self.unlogged
            && !self.painting.series_on
            && self.tag == Tag::Output
            && self.rows.back().is_some_and(|row| row.used() == 0 && row.from == 0)
            && !self.is_joined(lowest)
            && !(lowest == 0 && self.settled.open)
    }

    /// Whether text goes to the screen as it is.
    #[inline]
    pub(super) fn is_plain(&self) -> bool {
        self.modes.wrap && !self.modes.insert && !self.charset.is_line_drawing()
    }

    /// Scrolls lines through, of which there must be more than the screen has rows.
    fn scroll_through(&mut self, lines: &Lines) {
        let kept = self.height() - 1;
        self.settle_rows(kept);
        self.settled.close_open();
        for row in self.rows.iter().take(kept) {
            self.above.push(row.used(), row.wrapped);
            if self.typed.any {
                self.typed.scrolled_off(row);
            }
        }
        // The rows that stay on the screen, the lowest first, and the lines that leave it as a whole.
        let mut rows: Vec<Row> = Vec::with_capacity(kept);
        let mut gone = lines.cells.len();
        let mut end = lines.text.len();
        while rows.len() < kept && gone > 0 {
            gone -= 1;
            let text = lines.text.get(..end.saturating_sub(1)).unwrap_or_default();
            let start = memrchr(b'\n', text).map_or(0, |at| at + 1);
            let cells = lines.cells.get(gone).copied().unwrap_or(0);
            lay_out(text.get(start..).unwrap_or_default(), cells, self.columns, &mut rows);
            end = start;
        }
        let text = lines.text.get(..end).unwrap_or_default();
        self.count_above(text, lines.cells.get(..gone).unwrap_or_default());
        self.settled.push_lines(text, gone);
        // Of the uppermost line the first rows may be gone already.
        for row in rows.drain(kept.min(rows.len())..).rev() {
            self.settled.push(&row, 0, row.used());
            self.above.push(row.used(), true);
        }
        for (place, row) in self.rows.iter_mut().rev().skip(1).zip(rows) {
            *place = row;
        }
        if let Some(row) = self.rows.back_mut() {
            row.reset(0);
        }
        self.last = None;
    }

    /// Counts lines, given by their text and their cells, among the rows above the screen.
    fn count_above(&mut self, text: &[u8], cells: &[usize]) {
        if !self.above.is_known() {
            return self.above.push_unknown(cells.len());
        }
        for (line, cells) in text.split(|byte| *byte == b'\n').zip(cells) {
            if *cells <= self.columns {
                self.above.push(*cells, false);
            } else {
                let mut rows = Vec::new();
                lay_out(line, *cells, self.columns, &mut rows);
                for row in rows.iter().rev() {
                    self.above.push(row.used(), row.wrapped);
                }
            }
        }
    }

    /// Prints text in any script at the end of what is written in the cursor's row, up to the first byte that needs a
    /// closer look; says how many bytes.
    #[inline]
    pub(super) fn append(&mut self, bytes: &[u8]) -> usize {
        if !self.is_plain() || self.last == Some(width::ZERO_WIDTH_JOINER) || self.column >= self.columns {
            return 0;
        }
        let (columns, tag) = (self.columns, self.tag);
        self.touch(self.column);
        let Some(row) = self.rows.get_mut(self.row) else { return 0 };
        let Some(cells) = row.cells_to_append(self.column) else { return 0 };
        let mut at = 0;
        while let Some(byte) = bytes.get(at)
            && cells.len() < columns
        {
            if (0x20..=0x7e).contains(byte) {
                cells.push(Cell::new(char::from(*byte), false, tag));
                self.last = Some(char::from(*byte));
                at += 1;
                continue;
            }
            if *byte < 0x80 {
                break;
            }
            let (character, length) = match decode(bytes.get(at..).unwrap_or_default()) {
                Decoded::Char(character, length) => (character, length),
                Decoded::Bad(length) => (char::REPLACEMENT_CHARACTER, length),
                Decoded::Partial => break,
            };
            match alone(character) {
                Some(1) => cells.push(Cell::new(character, false, tag)),
                Some(2) if cells.len() + 2 <= columns => {
                    cells.push(Cell::new(character, true, tag));
                    cells.push(Cell::padding(tag));
                }
                _ => break,
            }
            self.last = Some(character);
            at += length;
        }
        self.column = row.used();
        at
    }
}

impl Row {
    /// The cells of the row, if `column` is just behind the last one.
    #[inline]
    fn cells_to_append(&mut self, column: usize) -> Option<&mut Vec<Cell>> {
        if self.used() == column { Some(self.as_cells()) } else { None }
    }
}

/// Lays out a line of text that fills so many cells, blanks at its end included; the rows are added the lowest first.
fn lay_out(text: &[u8], cells: usize, columns: usize, rows: &mut Vec<Row>) {
    let first = rows.len();
    let mut row = Row::default();
    let mut placed = 0;
    let wrap = |row: &mut Row, rows: &mut Vec<Row>| {
        row.wrapped = true;
        rows.push(std::mem::take(row));
    };
    if text.is_ascii() {
        for piece in text.chunks(columns) {
            if row.used() > 0 {
                wrap(&mut row, rows);
            }
            row.write_ascii(0, piece, Tag::Output);
        }
        placed = text.len();
    } else {
        for character in std::str::from_utf8(text).unwrap_or_default().chars() {
            let wide = width::cells(character) == Some(2);
            let width = 1 + usize::from(wide);
            if row.used() + width > columns {
                wrap(&mut row, rows);
            }
            let target = row.as_cells();
            target.push(Cell::new(character, wide, Tag::Output));
            if wide {
                target.push(Cell::padding(Tag::Output));
            }
            placed += width;
        }
    }
    while placed < cells {
        if row.used() == columns {
            wrap(&mut row, rows);
        }
        let blanks = (cells - placed).min(columns - row.used());
        row.pad(row.used() + blanks);
        placed += blanks;
    }
    rows.push(row);
    if let Some(rows) = rows.get_mut(first..) {
        rows.reverse();
    }
}
