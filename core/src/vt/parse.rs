//! The parser of escape sequences, state for state as tmux has it.
//!
//! It is ours rather than `vte`'s because the cooked view needs four things that `vte` does not give: to see when a
//! sequence is over (so that text can be taken in bulk), strings that never grow, a state that can be written down
//! for a restart, and tmux's own rules (`ESC k` titles, C1 ignored). It never sees plain text: the caller
//! hands over one byte at a time from an ESC on, for as long as [`Parser::is_ground`] is false.

use serde::{Deserialize, Serialize};

/// Bytes of parameters that tmux keeps (`input_ctx.param_buf`); a longer sequence has no effect.
const MAX_PARAM_BYTES: usize = 63;
/// Parameters that tmux takes (`input_ctx.param_list`); a sequence with more has no effect.
const MAX_PARAMS: usize = 23;
/// Intermediate bytes that tmux keeps (`input_ctx.interm_buf`).
const MAX_INTERMEDIATES: usize = 3;
/// The longest payload of an OSC 133 string that is handed out; our own markers are a fraction of it.
const MAX_MARK: usize = 16 * 1024;
/// After so many bytes a string that never ended is given up and what follows is text again. Far above any picture
/// or clipboard a program sends in one string, since what is swallowed costs no memory.
const MAX_STRING: u32 = 16 * 1024 * 1024;

/// Where the parser stands; the names are those of the VT500 diagram, which tmux follows too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum State {
    Ground,
    Escape,
    EscapeIntermediate,
    CsiEntry,
    CsiParam,
    CsiIntermediate,
    CsiIgnore,
    Dcs,
    Osc,
    OscEscape,
    /// APC, PM, SOS and the title of `ESC k`: swallowed up to ST.
    Swallow,
}

/// What a byte amounts to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Nothing yet, or nothing at all.
    None,
    /// A control character inside or at the end of a sequence.
    Execute(u8),
    /// An escape sequence is complete; its final byte.
    Escape(u8),
    /// A control sequence is complete; its final byte.
    Csi(u8),
    /// An OSC string begins with the last ESC.
    StringBegins,
    /// An OSC 133 string is complete; its payload is in [`Parser::mark`].
    Mark,
}

/// The parser of everything that begins with ESC.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Parser {
    state: State,
    params: Vec<u8>,
    intermediates: Vec<u8>,
    /// Whether the sequence is too long to have an effect.
    overlong: bool,
    /// What an OSC string has brought so far; cut off where it can no longer be a mark.
    osc: Vec<u8>,
    /// Whether the OSC string can still be a mark.
    osc_is_mark: bool,
    /// Bytes of the string at hand.
    string_length: u32,
}

impl Default for Parser {
    fn default() -> Self {
        Self {
            state: State::Ground,
            params: Vec::with_capacity(MAX_PARAM_BYTES),
            intermediates: Vec::with_capacity(MAX_INTERMEDIATES),
            overlong: false,
            osc: Vec::new(),
            osc_is_mark: false,
            string_length: 0,
        }
    }
}

impl Parser {
    /// Whether the next byte is text or a control character rather than part of a sequence.
    #[must_use]
    pub fn is_ground(&self) -> bool {
        self.state == State::Ground
    }

    /// The payload of the mark that was just completed: what stands behind `133;`.
    #[must_use]
    pub fn mark(&self) -> &[u8] {
        self.osc.get(MARK_PREFIX.len() + 1..).unwrap_or_default()
    }

    /// The intermediate bytes of the sequence at hand, private markers (`?`, `>`) included.
    #[must_use]
    pub fn intermediates(&self) -> &[u8] {
        &self.intermediates
    }

    /// The parameters of the control sequence that was just completed; none where tmux would drop the sequence.
    #[must_use]
    pub fn params(&self) -> Option<Params> {
        if self.overlong { None } else { Params::parse(&self.params) }
    }

    /// Begins a sequence: the caller has seen ESC in plain text.
    pub fn escape(&mut self) {
        self.state = State::Escape;
        self.params.clear();
        self.intermediates.clear();
        self.overlong = false;
    }

    /// Takes the next byte of a sequence.
    pub fn advance(&mut self, byte: u8) -> Action {
        match self.state {
            State::Osc | State::OscEscape | State::Swallow | State::Dcs => return self.string(byte),
            _ => {}
        }
        match byte {
            0x18 | 0x1a => {
                self.state = State::Ground;
                return Action::None;
            }
            0x1b => {
                self.escape();
                return Action::None;
            }
            0..=0x1f => return Action::Execute(byte),
            0x7f..=0xff => return Action::None,
            _ => {}
        }
        match self.state {
            State::Escape => self.after_escape(byte),
            State::EscapeIntermediate => match byte {
                0x20..=0x2f => self.intermediate(byte),
                _ => self.complete_escape(byte),
            },
            State::CsiEntry | State::CsiParam | State::CsiIntermediate => self.control_sequence(byte),
            // Only CsiIgnore is left; ground is the caller's.
            _ => {
                if (0x40..=0x7e).contains(&byte) {
                    self.state = State::Ground;
                }
                Action::None
            }
        }
    }

    fn after_escape(&mut self, byte: u8) -> Action {
        match byte {
            0x20..=0x2f => {
                self.state = State::EscapeIntermediate;
                self.intermediate(byte)
            }
            b'[' => {
                self.state = State::CsiEntry;
                Action::None
            }
            b']' => {
                self.state = State::Osc;
                self.string_length = 0;
                self.osc.clear();
                self.osc_is_mark = true;
                Action::StringBegins
            }
            b'P' => {
                self.state = State::Dcs;
                self.string_length = 0;
                Action::None
            }
            b'X' | b'^' | b'_' | b'k' => {
                self.state = State::Swallow;
                self.string_length = 0;
                Action::None
            }
            _ => self.complete_escape(byte),
        }
    }

    fn complete_escape(&mut self, byte: u8) -> Action {
        self.state = State::Ground;
        if self.overlong { Action::None } else { Action::Escape(byte) }
    }

    fn control_sequence(&mut self, byte: u8) -> Action {
        match byte {
            0x20..=0x2f => {
                self.state = State::CsiIntermediate;
                self.intermediate(byte)
            }
            0x30..=0x3f if self.state == State::CsiIntermediate => {
                self.state = State::CsiIgnore;
                Action::None
            }
            0x30..=0x3b => {
                self.state = State::CsiParam;
                if self.params.len() == MAX_PARAM_BYTES {
                    self.overlong = true;
                } else {
                    self.params.push(byte);
                }
                Action::None
            }
            0x3c..=0x3f if self.state == State::CsiEntry => {
                self.state = State::CsiParam;
                self.intermediate(byte)
            }
            0x3c..=0x3f => {
                self.state = State::CsiIgnore;
                Action::None
            }
            _ => {
                self.state = State::Ground;
                if self.overlong { Action::None } else { Action::Csi(byte) }
            }
        }
    }

    fn intermediate(&mut self, byte: u8) -> Action {
        if self.intermediates.len() == MAX_INTERMEDIATES {
            self.overlong = true;
        } else {
            self.intermediates.push(byte);
        }
        Action::None
    }

    /// A byte inside a string. ESC always ends one: tmux lets a DCS string run on, which only its clock heals, and a
    /// replay has none. For the same reason a line break ends every string but a DCS one, whose pictures may be laid
    /// out in lines.
    fn string(&mut self, byte: u8) -> Action {
        if self.state == State::OscEscape {
            self.escape();
            if byte == b'\\' {
                self.state = State::Ground;
                return self.osc_end();
            }
            return self.advance(byte);
        }
        match byte {
            0x1b if self.state == State::Osc => {
                self.state = State::OscEscape;
                return Action::None;
            }
            0x1b => {
                self.escape();
                return Action::None;
            }
            0x18 | 0x1a => {
                self.state = State::Ground;
                return Action::None;
            }
            0x07 if self.state == State::Osc => {
                self.state = State::Ground;
                return self.osc_end();
            }
            b'\r' | b'\n' if self.state != State::Dcs => {
                self.state = State::Ground;
                return Action::Execute(byte);
            }
            _ => {}
        }
        if self.state == State::Osc && byte >= 0x20 {
            self.osc_put(byte);
        }
        self.string_length += 1;
        if self.string_length >= MAX_STRING {
            self.state = State::Ground;
        }
        Action::None
    }

    fn osc_put(&mut self, byte: u8) {
        if !self.osc_is_mark {
            return;
        }
        let at = self.osc.len();
        let fits = match at.cmp(&MARK_PREFIX.len()) {
            std::cmp::Ordering::Less => MARK_PREFIX.get(at) == Some(&byte),
            std::cmp::Ordering::Equal => byte == b';',
            std::cmp::Ordering::Greater => at <= MARK_PREFIX.len() + MAX_MARK,
        };
        if fits {
            self.osc.push(byte);
        } else {
            self.osc_is_mark = false;
            self.osc = Vec::new();
        }
    }

    fn osc_end(&mut self) -> Action {
        if self.osc_is_mark && self.osc.len() >= MARK_PREFIX.len() { Action::Mark } else { Action::None }
    }
}

/// The first parameter of the OSC strings that mark prompts and commands.
const MARK_PREFIX: &[u8] = b"133";

/// The parameters of a control sequence.
#[derive(Debug, Clone, Copy)]
pub struct Params {
    values: [Param; MAX_PARAMS],
    length: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Param {
    Missing,
    Number(u32),
    /// One with sub-parameters (colons), which only colours use.
    Compound,
}

impl Params {
    /// Reads them as tmux does; none where a number is malformed or there are too many.
    fn parse(bytes: &[u8]) -> Option<Self> {
        let mut params = Self { values: [Param::Missing; MAX_PARAMS], length: 0 };
        if bytes.is_empty() {
            return Some(params);
        }
        for field in bytes.split(|byte| *byte == b';') {
            let value = if field.is_empty() {
                Param::Missing
            } else if field.contains(&b':') {
                Param::Compound
            } else {
                let mut number: u32 = 0;
                for digit in field {
                    number = number.checked_mul(10)?.checked_add(u32::from(digit - b'0'))?;
                }
                if number > i32::MAX.unsigned_abs() {
                    return None;
                }
                Param::Number(number)
            };
            *params.values.get_mut(params.length)? = value;
            params.length += 1;
        }
        Some(params)
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.length
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// The parameter at `index`, at least `minimum`; `default` where it is missing, and none where it is compound,
    /// which makes tmux drop the operation.
    #[must_use]
    pub fn get(&self, index: usize, minimum: u32, default: u32) -> Option<u32> {
        match self.values.get(index) {
            Some(Param::Number(number)) => Some((*number).max(minimum)),
            Some(Param::Compound) => None,
            Some(Param::Missing) | None => Some(default),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic, reason = "a failed expectation is a failed test")]

    use super::*;

    fn actions(bytes: &[u8]) -> Vec<Action> {
        let mut parser = Parser::default();
        let mut out = Vec::new();
        for byte in bytes {
            if parser.is_ground() {
                if *byte == 0x1b {
                    parser.escape();
                } else {
                    out.push(Action::Execute(*byte));
                }
            } else {
                out.push(parser.advance(*byte));
            }
        }
        out.retain(|action| !matches!(action, Action::None | Action::StringBegins));
        out
    }

    #[test]
    fn a_mark_ends_with_bel_or_with_st_and_with_nothing_else() {
        assert_eq!(actions(b"\x1b]133;A\x07"), [Action::Mark]);
        assert_eq!(actions(b"\x1b]133;A\x1b\\"), [Action::Mark]);
        assert_eq!(actions(b"\x1b]133\x07"), [Action::Mark]);
        assert_eq!(actions(b"\x1b]133;A\x1bM"), [Action::Escape(b'M')]);
        assert_eq!(actions(b"\x1b]133;A\x18"), []);
        assert_eq!(actions(b"\x1b]1337;A\x07"), []);
        assert_eq!(actions(b"\x1b]13;3\x07"), []);
    }

    #[test]
    fn a_payload_is_kept_whole_up_to_its_limit() {
        for (length, found) in [(MAX_MARK, true), (MAX_MARK + 1, false)] {
            let mut bytes = b"\x1b]133;".to_vec();
            bytes.extend(std::iter::repeat_n(b'x', length));
            bytes.push(7);
            assert_eq!(actions(&bytes).len(), usize::from(found), "{length}");
        }
    }

    #[test]
    fn a_line_break_ends_a_string_that_was_left_open() {
        assert_eq!(actions(b"\x1b]0;title\r\n"), [Action::Execute(b'\r'), Action::Execute(b'\n')]);
        assert_eq!(actions(b"\x1bPq#0\n#1\x1b\\"), [Action::Escape(b'\\')]);
    }

    #[test]
    fn titles_and_strings_are_swallowed() {
        assert_eq!(actions(b"\x1bktitle\x1b\\"), [Action::Escape(b'\\')]);
        assert_eq!(actions(b"\x1b_apc\x1b\\"), [Action::Escape(b'\\')]);
    }

    #[test]
    fn parameters_are_read_as_tmux_reads_them() {
        let read = |bytes: &[u8]| Params::parse(bytes);
        assert_eq!(read(b"").unwrap().get(0, 1, 1), Some(1));
        assert_eq!(read(b"0").unwrap().get(0, 1, 1), Some(1));
        assert_eq!(read(b";5").unwrap().get(1, 1, 1), Some(5));
        assert_eq!(read(b"4:3").unwrap().get(0, 0, 0), None);
        assert!(read(b"99999999999").is_none());
        assert!(read(&b"1;".repeat(MAX_PARAMS + 1)).is_none());
    }
}
