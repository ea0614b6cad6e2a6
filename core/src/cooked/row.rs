//! One row of the screen, and the cells it is made of.
//!
//! A row of plain output is kept as its bytes, because that is nearly every row and bytes can be copied in bulk; it
//! becomes a row of cells when something else is written to it: a wide character, an accent, a prompt.

use serde::{Deserialize, Serialize};

use super::Tag;
use super::above::RowAbove;

/// `Row::from` of a row that has nothing to hand out.
pub(super) const SETTLED: u16 = u16::MAX;
/// Bytes of one character with all that is combined into it, as in tmux (`UTF8_SIZE`); more is dropped.
const MAX_CLUSTER: usize = 32;

const PADDING: u32 = 1 << 21;
const CLUSTER: u32 = 1 << 22;
const WIDE: u32 = 1 << 23;
const TAG_SHIFT: u32 = 24;
const VALUE: u32 = PADDING - 1;

/// One cell: a character (or the number of a cluster kept beside the row), its width and what it is part of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Cell(u32);

impl Cell {
    /// A cell that nothing was written to.
    pub(super) const BLANK: Self = Self(b' ' as u32);

    #[inline]
    pub(super) fn new(character: char, wide: bool, tag: Tag) -> Self {
        Self(u32::from(character) | if wide { WIDE } else { 0 } | (tag_bits(tag) << TAG_SHIFT))
    }

    /// The second cell of a wide character.
    #[inline]
    pub(super) fn padding(tag: Tag) -> Self {
        Self(PADDING | (tag_bits(tag) << TAG_SHIFT))
    }

    #[inline]
    pub(super) fn is_padding(self) -> bool {
        self.0 & PADDING != 0
    }

    #[inline]
    pub(super) fn is_wide(self) -> bool {
        self.0 & WIDE != 0
    }

    pub(super) fn tag(self) -> Tag {
        match self.0 >> TAG_SHIFT {
            1 => Tag::Prompt,
            2 => Tag::Input,
            _ => Tag::Output,
        }
    }
}

/// A continuation byte of UTF-8, with the lowest six bits.
fn continuation(value: u32) -> u8 {
    0x80 | (low_byte(value) & 0x3f)
}

fn low_byte(value: u32) -> u8 {
    value.to_le_bytes()[0]
}

fn tag_bits(tag: Tag) -> u32 {
    match tag {
        Tag::Output => 0,
        Tag::Prompt => 1,
        Tag::Input => 2,
    }
}

/// One row of the screen.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Row {
    /// The cells, while all are one-cell ASCII output.
    ascii: Vec<u8>,
    /// The cells otherwise; then `ascii` is empty.
    cells: Vec<Cell>,
    /// The text of the cells that hold more than one character.
    clusters: Vec<Box<str>>,
    /// Whether the line goes on in the row below.
    pub(super) wrapped: bool,
    /// The column from which on the row is still to be handed out; [`SETTLED`] where nothing is.
    pub(super) from: u16,
    /// Whether a new line begins at `from`, whatever the row above says.
    pub(super) fresh: bool,
    /// Whether the row was pulled back from above by a taller screen: passed over as if it were still there.
    pub(super) past: bool,
    /// The series of paintings that last wrote here.
    pub(super) painting: u32,
    /// Whether what stands in the row has been handed out as a line.
    #[serde(default)]
    handed: bool,
    /// What the row said when it was handed out, once it is painted over: the same again is no new line.
    #[serde(default)]
    said: Option<Box<str>>,
}

impl Row {
    /// A blank row whose part in the log begins at column `from`.
    pub(super) fn blank(from: u16) -> Self {
        Self { from, ..Self::default() }
    }

    /// A row that was above the screen: as long as it was, though its text is gone.
    pub(super) fn past(row: RowAbove) -> Self {
        let ascii = vec![b' '; usize::from(row.used)];
        Self { ascii, from: SETTLED, past: true, wrapped: row.wrapped, ..Self::default() }
    }

    /// Makes it a blank row of the log, keeping its memory.
    pub(super) fn reset(&mut self, from: u16) {
        self.handed = false;
        self.clear();
        self.from = from;
        self.fresh = false;
        self.past = false;
        self.painting = 0;
        self.said = None;
    }

    /// Keeps what the row says, where it has been handed out and is about to be painted over or erased.
    #[inline]
    pub(super) fn keep_said(&mut self) {
        if std::mem::take(&mut self.handed) && self.used() > 0 && !self.wrapped {
            let mut text = String::new();
            self.text(0, self.used(), &mut text);
            text.truncate(text.trim_end_matches(' ').len());
            self.said = Some(text.into_boxed_str()).filter(|said| !said.is_empty());
        }
    }

    /// Whether the row was painted anew and says what it said when it was handed out: editors of several lines draw all
    /// of them again for every key.
    pub(super) fn is_said_again(&self) -> bool {
        let Some(said) = self.said.as_deref().filter(|_| self.is_live() && !self.wrapped) else { return false };
        let mut text = String::new();
        self.text(0, self.used(), &mut text);
        text.trim_end_matches(' ') == said
    }

    /// It has been handed out, and whatever comes is compared with what it says now.
    pub(super) fn settle(&mut self) {
        self.from = SETTLED;
        self.handed = true;
        self.said = None;
    }

    /// Cells written so far, counted from the left edge.
    #[inline]
    pub(super) fn used(&self) -> usize {
        self.ascii.len() + self.cells.len()
    }

    /// Whether something of it is still to be handed out.
    pub(super) fn is_live(&self) -> bool {
        self.from != SETTLED
    }

    /// Whether the row is part of the line that the row above, if `wrapped`, left unfinished.
    pub(super) fn continues(&self) -> bool {
        self.is_live() && !self.fresh
    }

    /// The cells still to be handed out are all blank.
    pub(super) fn is_blank(&self) -> bool {
        self.is_blank_from(usize::from(self.from))
    }

    /// Whether all cells from `column` on are blank.
    pub(super) fn is_blank_from(&self, column: usize) -> bool {
        self.ascii.iter().skip(column).all(|byte| *byte == b' ')
            && self.cells.iter().skip(column).all(|cell| self.is_blank_cell(*cell))
    }

    /// Whether all cells from `start` up to `end` are blank.
    pub(super) fn is_blank_within(&self, start: usize, end: usize) -> bool {
        let bytes = self.ascii.iter().take(end).skip(start);
        bytes.into_iter().all(|byte| *byte == b' ') && self.is_blank_between(start, end)
    }

    /// Whether all cells from `start` up to `end` are blank, in a row that is not ASCII.
    pub(super) fn is_blank_between(&self, start: usize, end: usize) -> bool {
        self.cells.iter().take(end).skip(start).all(|cell| self.is_blank_cell(*cell))
    }

    fn is_blank_cell(&self, cell: Cell) -> bool {
        if cell.0 & CLUSTER != 0 {
            self.clusters.get((cell.0 & VALUE) as usize).is_none_or(|text| text.trim_matches(' ').is_empty())
        } else {
            cell.is_padding() || cell.0 & VALUE == u32::from(b' ')
        }
    }

    /// Erases everything, as if the row had never been written to.
    pub(super) fn clear(&mut self) {
        self.keep_said();
        self.ascii.clear();
        self.cells.clear();
        self.clusters.clear();
        self.wrapped = false;
    }

    /// Its cells, as such.
    #[inline]
    pub(super) fn as_cells(&mut self) -> &mut Vec<Cell> {
        self.expand();
        &mut self.cells
    }

    #[inline]
    fn expand(&mut self) {
        if !self.ascii.is_empty() {
            self.cells.extend(self.ascii.iter().map(|byte| Cell(u32::from(*byte))));
            self.ascii.clear();
        }
    }

    /// Whether it is a row of bytes, or an empty one, which can become one.
    #[inline]
    fn is_ascii(&self) -> bool {
        self.cells.is_empty()
    }

    /// Writes printable ASCII from `column` on. The caller has seen to wide characters under it.
    #[inline]
    pub(super) fn write_ascii(&mut self, column: usize, text: &[u8], tag: Tag) {
        if self.is_ascii() && tag == Tag::Output {
            let end = column + text.len();
            if column == self.ascii.len() {
                self.ascii.extend_from_slice(text);
                return;
            }
            if self.ascii.len() < end {
                self.ascii.resize(end, b' ');
            }
            if let Some(target) = self.ascii.get_mut(column..end) {
                target.copy_from_slice(text);
            }
            return;
        }
        self.expand();
        let bits = tag_bits(tag) << TAG_SHIFT;
        let end = column + text.len();
        if self.cells.len() < end {
            self.cells.resize(end, Cell::BLANK);
        }
        if let Some(target) = self.cells.get_mut(column..end) {
            for (cell, byte) in target.iter_mut().zip(text) {
                *cell = Cell(u32::from(*byte) | bits);
            }
        }
    }

    /// Puts a cell at `column`, blank cells before it where there are none yet.
    #[inline]
    pub(super) fn set(&mut self, column: usize, cell: Cell) {
        self.expand();
        match self.cells.get_mut(column) {
            Some(place) => *place = cell,
            None => {
                self.cells.resize(column, Cell::BLANK);
                self.cells.push(cell);
            }
        }
    }

    /// The cell at `column`; a blank one where nothing was written.
    #[inline]
    pub(super) fn get(&self, column: usize) -> Cell {
        match self.cells.get(column) {
            Some(cell) => *cell,
            None => self.ascii.get(column).map_or(Cell::BLANK, |byte| Cell(u32::from(*byte))),
        }
    }

    /// Erases `count` cells from `column` on, without making the row longer.
    pub(super) fn erase(&mut self, column: usize, count: usize) {
        self.keep_said();
        let end = (column + count).min(self.used());
        if let Some(range) = self.ascii.get_mut(column.min(end)..end) {
            range.fill(b' ');
        }
        if let Some(range) = self.cells.get_mut(column.min(end)..end) {
            range.fill(Cell::BLANK);
        }
    }

    /// Moves the cells from `column` on to the right by `count`; `columns` is the row's width. As in tmux only the cells
    /// that moved leave blanks behind, nothing happens where none is left to move, and the row counts as written up to
    /// its end afterwards.
    pub(super) fn insert(&mut self, column: usize, count: usize, columns: usize) {
        if column + 1 >= columns {
            self.erase(column, 1);
            return;
        }
        if column + count >= columns {
            return;
        }
        let moved = columns - column - count;
        self.expand();
        self.cells.resize(columns, Cell::BLANK);
        self.cells.copy_within(column..column + moved, column + count);
        if let Some(left) = self.cells.get_mut(column..column + moved.min(count)) {
            left.fill(Cell::BLANK);
        }
    }

    /// Removes `count` cells at `column` and moves the rest to the left; `columns` is the row's width.
    pub(super) fn delete(&mut self, column: usize, count: usize, columns: usize) {
        if column + count >= columns {
            self.erase(column, columns);
            return;
        }
        let used = self.used().max(columns - count);
        self.expand();
        self.cells.resize(columns, Cell::BLANK);
        if let Some(tail) = self.cells.get_mut(column..) {
            tail.rotate_left(count);
        }
        if let Some(gap) = self.cells.get_mut(columns - count..) {
            gap.fill(Cell::BLANK);
        }
        self.cells.truncate(used);
    }

    /// Adds blanks up to `columns`.
    pub(super) fn pad(&mut self, columns: usize) {
        if self.used() < columns {
            if self.is_ascii() {
                self.ascii.resize(columns, b' ');
            } else {
                self.cells.resize(columns, Cell::BLANK);
            }
        }
    }

    /// Cuts the row off at `columns`.
    pub(super) fn truncate(&mut self, columns: usize) {
        self.ascii.truncate(columns);
        self.cells.truncate(columns);
    }

    /// Puts `count` blanks into the one cell at `column`.
    pub(super) fn set_blanks(&mut self, column: usize, count: usize, tag: Tag) {
        self.drop_unused_clusters();
        let at = u32::try_from(self.clusters.len()).unwrap_or(0);
        self.clusters.push(" ".repeat(count).into_boxed_str());
        self.set(column, Cell(CLUSTER | at | (tag_bits(tag) << TAG_SHIFT)));
    }

    /// Adds a character to the one in the cell at `column`, unless that would be too long.
    pub(super) fn combine(&mut self, column: usize, character: char) -> bool {
        self.expand();
        if self.cells.len() <= column {
            self.cells.resize(column + 1, Cell::BLANK);
        }
        let cell = self.get(column);
        let mut text = String::new();
        self.push_cell(cell, &mut text);
        if text.len() + character.len_utf8() > MAX_CLUSTER {
            return false;
        }
        text.push(character);
        let at = if cell.0 & CLUSTER != 0 {
            (cell.0 & VALUE) as usize
        } else {
            self.drop_unused_clusters();
            self.clusters.push(Box::default());
            self.clusters.len() - 1
        };
        if let Some(place) = self.clusters.get_mut(at) {
            *place = text.into_boxed_str();
        }
        let value = u32::try_from(at).unwrap_or(0) & VALUE;
        self.set(column, Cell((cell.0 & !VALUE) | CLUSTER | value));
        true
    }

    /// Clusters that were overwritten stay behind; a row that is rewritten for ever must not grow for ever.
    fn drop_unused_clusters(&mut self) {
        if self.clusters.len() <= 2 * self.cells.len() {
            return;
        }
        let old = std::mem::take(&mut self.clusters);
        for cell in &mut self.cells {
            if cell.0 & CLUSTER != 0 {
                let text = old.get((cell.0 & VALUE) as usize).cloned().unwrap_or_default();
                *cell = Cell((cell.0 & !VALUE) | u32::try_from(self.clusters.len()).unwrap_or(0));
                self.clusters.push(text);
            }
        }
    }

    /// Makes the character at `column` two cells wide.
    pub(super) fn widen(&mut self, column: usize) {
        let cell = self.get(column);
        self.set(column, Cell(cell.0 | WIDE));
        self.set(column + 1, Cell::padding(cell.tag()));
    }

    /// Copies a cell with its cluster from another row.
    pub(super) fn push_from(&mut self, other: &Self, column: usize) {
        let cell = other.get(column);
        self.expand();
        if cell.0 & CLUSTER == 0 {
            self.cells.push(cell);
            return;
        }
        let text = other.clusters.get((cell.0 & VALUE) as usize).cloned().unwrap_or_default();
        self.cells.push(Cell((cell.0 & !VALUE) | u32::try_from(self.clusters.len()).unwrap_or(0)));
        self.clusters.push(text);
    }

    /// What stands in the cell.
    pub(super) fn cluster_text(&self, column: usize) -> String {
        let mut text = String::new();
        self.push_cell(self.get(column), &mut text);
        text
    }

    #[inline]
    fn push_cell(&self, cell: Cell, out: &mut String) {
        if cell.is_padding() {
            return;
        }
        if cell.0 & CLUSTER != 0 {
            out.push_str(self.clusters.get((cell.0 & VALUE) as usize).map_or("", |text| text));
        } else {
            out.push(char::from_u32(cell.0 & VALUE).unwrap_or(' '));
        }
    }

    /// Adds the text of the cells from `start` up to `end` to `out`, cells that were never written left out.
    pub(super) fn text(&self, start: usize, end: usize, out: &mut String) {
        let end = end.min(self.used());
        let start = start.min(end);
        if let Some(bytes) = self.ascii.get(start..end) {
            out.push_str(std::str::from_utf8(bytes).unwrap_or_default());
        }
        for cell in self.cells.get(start..end).unwrap_or_default() {
            self.push_cell(*cell, out);
        }
    }

    /// The bytes of the row, if it is a row of bytes.
    #[inline]
    pub(super) fn as_ascii(&self) -> Option<&[u8]> {
        if self.is_ascii() { Some(&self.ascii) } else { None }
    }

    /// Adds the cells from `start` up to `end` to `out` as UTF-8, without the blanks at their end; says how many those
    /// are.
    pub(super) fn encode(&self, start: usize, end: usize, out: &mut Vec<u8>) -> usize {
        let end = end.min(self.cells.len());
        let cells = self.cells.get(start.min(end)..end).unwrap_or_default();
        let kept = cells.iter().rposition(|cell| !self.is_blank_cell(*cell)).map_or(0, |last| last + 1);
        out.reserve(3 * kept);
        for cell in cells.get(..kept).unwrap_or_default() {
            let value = cell.0 & (VALUE | PADDING | CLUSTER);
            match value {
                0..=0x7f => out.push(low_byte(value)),
                0x80..=0x7ff => out.extend_from_slice(&[0xc0 | low_byte(value >> 6), continuation(value)]),
                0x800..=0xffff => {
                    let first = 0xe0 | low_byte(value >> 12);
                    out.extend_from_slice(&[first, continuation(value >> 6), continuation(value)]);
                }
                _ => {
                    let mut text = String::new();
                    self.push_cell(*cell, &mut text);
                    out.extend_from_slice(text.as_bytes());
                }
            }
        }
        let blanks = cells.get(kept..).unwrap_or_default().iter();
        blanks.map(|cell| if cell.is_padding() { 0 } else { self.blank_width(*cell) }).sum()
    }

    /// The blanks that a blank cell holds: more than one where it stands for a tab.
    fn blank_width(&self, cell: Cell) -> usize {
        if cell.0 & CLUSTER == 0 {
            1
        } else {
            self.clusters.get((cell.0 & VALUE) as usize).map_or(1, |text| text.len())
        }
    }

    /// Whether something in the row is part of what was typed.
    pub(super) fn has(&self, tag: Tag) -> bool {
        self.cells.iter().any(|cell| cell.tag() == tag)
    }

    /// Makes what was typed ordinary output.
    pub(super) fn untag_input(&mut self) {
        self.untag_input_before(usize::MAX);
    }

    /// The same of what stands left of a column.
    pub(super) fn untag_input_before(&mut self, column: usize) {
        for cell in self.cells.iter_mut().take(column) {
            if cell.tag() == Tag::Input {
                cell.0 &= (1 << TAG_SHIFT) - 1;
            }
        }
    }

    /// Adds what was typed to `out`: the cells from the first to the last one that belongs to it, without those of
    /// prompts in between.
    pub(super) fn typed(&self, out: &mut String) {
        let is_input = |cell: &Cell| cell.tag() == Tag::Input;
        let Some(first) = self.cells.iter().position(is_input) else { return };
        let last = self.cells.iter().rposition(is_input).unwrap_or(first);
        for cell in self.cells.get(first..=last).unwrap_or_default() {
            if cell.tag() != Tag::Prompt {
                self.push_cell(*cell, out);
            }
        }
    }
}
