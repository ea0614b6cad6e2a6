//! The cooked view: the raw stream interpreted into unbounded lines.
//!
//! A [`Cooked`] is told the bytes that a pane prints and keeps the screen they make, with tmux's rules rather than
//! xterm's. A row that leaves the screen is *settled*: it becomes part of a line that never changes again and is
//! handed out by [`Cooked::take_settled`]. The rows that the cursor can still reach are told by [`Cooked::live`].

mod above;
mod bulk;
mod checkpoint;
mod cursor;
mod dispatch;
mod edit;
mod fullscreen;
mod live;
mod modes;
mod print;
mod resize;
mod row;
mod screen;
mod settled;
mod typed;

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;

pub use checkpoint::{Checkpoint, CheckpointError};
pub use live::{CursorLine, Live};
pub use modes::Modes;

use self::screen::Screen;
use crate::text::width::Widths;
use crate::vt::parse::{Action, Parser};
use crate::vt::utf8::{Decoded, decode};

/// The line that stands in the log for what a full-screen program showed.
pub const FULL_SCREEN_PLACEHOLDER: &str = settled::PLACEHOLDER;

/// A pane's size in cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// Columns.
    pub cols: u16,
    /// Rows.
    pub rows: u16,
}

/// What is being printed, as the shell's markers say; cells remember it, so that the typed command can be read
/// off the screen after any editing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
pub enum Tag {
    /// A program's output.
    #[default]
    Output,
    /// A prompt, also a continuation prompt.
    Prompt,
    /// What is typed behind a prompt.
    Input,
}

/// An OSC 133 string found in the stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
    /// What stands behind `133;`.
    pub payload: Vec<u8>,
    /// Raw offset of its ESC.
    pub start: u64,
    /// Raw offset just past its terminator.
    pub end: u64,
}

/// How far one call of `feed` came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fed {
    /// Bytes taken from the slice.
    pub consumed: usize,
    /// The OSC 133 string that stopped it; none where the slice is used up.
    pub mark: Option<Mark>,
}

/// How a full-screen program has the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FullScreen {
    /// On the alternate screen.
    AlternateScreen,
    /// On the normal screen, which it keeps painting over from the top.
    Painted,
}

/// The cooked view of one pane.
#[derive(Debug, Clone)]
pub struct Cooked {
    parser: Parser,
    screen: Screen,
    /// Raw bytes taken so far.
    offset: u64,
    /// Raw offset of the last ESC.
    escape_at: u64,
    /// Raw offset of the ESC that began the OSC string at hand.
    string_at: u64,
    /// The beginning of a character whose other bytes are still to come.
    partial: Vec<u8>,
    /// Where lines are put together that are taken at once; empty in between.
    bulk: bulk::Lines,
}

impl Cooked {
    /// An empty pane.
    ///
    /// `size` is taken as at least one cell and at most 10,000 either way, which is tmux's own limit.
    #[must_use]
    pub fn new(size: Size, widths: Widths) -> Self {
        Self {
            parser: Parser::default(),
            screen: Screen::new(size, widths),
            offset: 0,
            escape_at: 0,
            string_at: 0,
            partial: Vec::with_capacity(4),
            bulk: bulk::Lines::default(),
        }
    }

    /// Takes bytes up to the end of the slice, or just past the next OSC 133 string.
    ///
    /// Any split of a stream gives the same lines, marks and offsets. Settled text waits in memory until
    /// [`Cooked::take_settled`] is called, so feed a long stream in pieces (64 KiB is a good size) and take in between.
    pub fn feed(&mut self, bytes: &[u8]) -> Fed {
        let mut at = 0;
        let mut next_bulk = 0;
        while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
            let taken = if !self.parser.is_ground() {
                let (taken, marked) = self.sequence(rest);
                if marked {
                    self.offset += taken as u64;
                    let mark = Mark { payload: self.parser.mark().to_vec(), start: self.string_at, end: self.offset };
                    return Fed { consumed: at + taken, mark: Some(mark) };
                }
                taken
            } else if self.partial.is_empty() {
                self.plain(rest, &mut next_bulk)
            } else {
                self.rest_of_character(rest)
            };
            at += taken;
            self.offset += taken as u64;
        }
        Fed { consumed: bytes.len(), mark: None }
    }

    /// Takes bytes of a sequence up to its end, or to the end of the slice; says how many, and whether it was a mark.
    fn sequence(&mut self, bytes: &[u8]) -> (usize, bool) {
        for (at, byte) in bytes.iter().enumerate() {
            if *byte == 0x1b {
                self.escape_at = self.offset + at as u64;
            }
            match self.parser.advance(*byte) {
                Action::None => {}
                Action::StringBegins => self.string_at = self.escape_at,
                Action::Mark => return (at + 1, true),
                Action::Execute(byte) => self.screen.control(byte),
                Action::Escape(byte) => self.screen.escape(self.parser.intermediates(), byte),
                Action::Csi(byte) => {
                    if let Some(params) = self.parser.params() {
                        self.screen.control_sequence(self.parser.intermediates(), &params, byte);
                    }
                }
            }
            if self.parser.is_ground() {
                return (at + 1, false);
            }
        }
        (bytes.len(), false)
    }

    /// Takes what comes next in plain text; says how many bytes. `next_bulk` is the offset before which there are not
    /// enough lines to be taken at once.
    #[inline]
    fn plain(&mut self, bytes: &[u8], next_bulk: &mut u64) -> usize {
        let taken = if self.screen.column == 0 { self.bulk_lines(bytes, next_bulk) } else { 0 };
        if taken > 0 {
            return taken;
        }
        match bytes.first().copied().unwrap_or(0x7f) {
            0x1b => {
                self.escape_at = self.offset;
                self.parser.escape();
                1
            }
            byte @ 0..=0x1f => {
                self.screen.control(byte);
                1
            }
            0x20..=0x7e => {
                let end = bulk::printable(bytes);
                self.screen.print_ascii(bytes.get(..end).unwrap_or_default());
                end
            }
            0x7f => 1,
            _ => match self.screen.append(bytes) {
                0 => self.character(bytes),
                taken => taken,
            },
        }
    }

    /// Takes one character, or what stands in its place; says how many bytes.
    fn character(&mut self, bytes: &[u8]) -> usize {
        match decode(bytes) {
            Decoded::Char(character, length) => {
                self.screen.print(character);
                length
            }
            Decoded::Bad(length) => {
                self.screen.print(char::REPLACEMENT_CHARACTER);
                length
            }
            Decoded::Partial => {
                self.partial.extend_from_slice(bytes);
                bytes.len()
            }
        }
    }

    /// Takes the missing bytes of a character that an earlier slice began.
    fn rest_of_character(&mut self, bytes: &[u8]) -> usize {
        let known = self.partial.len();
        self.partial.extend(bytes.iter().take(4 - known.min(4)));
        let (character, length) = match decode(&self.partial) {
            Decoded::Char(character, length) => (character, length),
            Decoded::Bad(length) => (char::REPLACEMENT_CHARACTER, length),
            Decoded::Partial => return self.partial.len() - known,
        };
        self.screen.print(character);
        self.partial.clear();
        length.saturating_sub(known)
    }

    /// Raw bytes taken so far.
    #[must_use]
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Takes on a new size, with the lines laid out again as tmux does it.
    pub fn resize(&mut self, size: Size) {
        let (columns, rows) = screen::clamp(size);
        self.screen.resize_to(columns, rows);
    }

    /// Settles everything up to the cursor: all lines above its own, and the part of its own line before it; what
    /// follows on that row is a new line that begins at that column. Ends a painted full-screen picture. On the
    /// alternate screen it does nothing.
    ///
    /// Returns the number of lines settled since the start, which is the number of the line that begins here.
    pub fn cut(&mut self) -> u64 {
        self.screen.cut();
        self.settled_lines()
    }

    /// Settles all complete lines above the one that the cursor is on.
    ///
    /// Returns the number of lines settled since the start.
    pub fn settle_above(&mut self) -> u64 {
        self.screen.settle_above();
        self.settled_lines()
    }

    /// Complete lines settled since the start, whether taken or not.
    #[must_use]
    pub fn settled_lines(&self) -> u64 {
        self.screen.settled.lines
    }

    /// Moves the settled text that was not taken yet to the end of `out`: UTF-8, each line ended by `\n`, without
    /// trailing blanks. A line that scrolls away while it is still being printed comes in pieces, so the last one may
    /// be unfinished.
    pub fn take_settled(&mut self, out: &mut Vec<u8>) {
        self.screen.settled.take(out);
    }

    /// The cursor's column and row, from 0. The column equals the number of columns while a wrap is pending.
    #[must_use]
    pub fn cursor(&self) -> (u16, u16) {
        let narrow = |value: usize| u16::try_from(value).unwrap_or(u16::MAX);
        (narrow(self.screen.column), narrow(self.screen.row))
    }

    /// The pane's size.
    #[must_use]
    pub fn size(&self) -> Size {
        let narrow = |value: usize| u16::try_from(value).unwrap_or(u16::MAX);
        Size { cols: narrow(self.screen.columns), rows: narrow(self.screen.height()) }
    }

    /// Says what is printed from now on.
    pub fn tag(&mut self, tag: Tag) {
        self.screen.tag = tag;
        self.screen.typed.any |= tag == Tag::Input;
    }

    /// What was printed as input since [`Cooked::clear_input`] and still stands, after any editing: its lines joined
    /// by `\n`, prompts left out, trailing blanks removed. Of what has scrolled away at least 64 KiB are kept.
    #[must_use]
    pub fn input(&self) -> String {
        self.screen.input()
    }

    /// How many lines of input stand above the cursor's.
    #[must_use]
    pub fn input_above(&self) -> usize {
        self.screen.input_above()
    }

    /// Forgets the input so far.
    pub fn clear_input(&mut self) {
        self.screen.clear_input();
        self.screen.typed.any = self.screen.tag == Tag::Input;
    }

    /// What stands left of the cursor on its row is no input: a shell has painted it before its prompt.
    pub fn untag_to_cursor(&mut self) {
        self.screen.untag_to_cursor();
    }

    /// Whether a terminal's answer may be on its way: something asked for it since this was last forgotten.
    #[must_use]
    pub fn queried(&self) -> bool {
        self.screen.queried
    }

    /// Whatever was asked for has been answered.
    pub fn forget_query(&mut self) {
        self.screen.queried = false;
    }

    /// Whether a line editor has begun to read a line since this was last forgotten.
    #[must_use]
    pub fn edited(&self) -> bool {
        self.screen.edited
    }

    /// How often bracketed paste was asked for or given up, modulo its type: as long as it stays the same with
    /// [`Modes::bracketed_paste`] on, one line editor reads one line, or several as one text.
    #[must_use]
    pub fn paste_switches(&self) -> u32 {
        self.screen.paste_switches
    }

    /// What a line editor reads from now on is another matter.
    pub fn forget_edited(&mut self) {
        self.screen.edited = false;
    }

    /// How a full-screen program has the screen; none if none has.
    #[must_use]
    pub fn fullscreen(&self) -> Option<FullScreen> {
        self.screen.fullscreen()
    }

    /// What the program at hand asked the terminal for.
    #[must_use]
    pub fn modes(&self) -> Modes {
        self.screen.modes
    }

    /// Undoes, in this view, what a full-screen program may have left behind when it was killed: leaves the alternate
    /// screen, takes the whole screen as scroll region, and resets character sets and modes.
    pub fn end_fullscreen(&mut self) {
        self.screen.end_fullscreen();
    }
}
