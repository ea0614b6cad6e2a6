//! Names of keys, in both notations, and the bytes they send.
//!
//! A key stays symbolic until it is pressed: the arrows send other bytes while a program has asked for application
//! cursor keys, and only the terminal knows that. The bytes are those of terminfo's `tmux-256color`, and for keys
//! with modifiers those of xterm, which is what tmux itself sends into a pane.

use std::fmt;

use crate::text::near::nearest;
use crate::text::visible::quoted;

/// How often one name may be repeated (`down*1000`). More presses than a long list has entries are a slip, and
/// every press is typed on its own.
pub const REPEAT_MAX: usize = 1000;

/// One key press.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Key {
    base: Base,
    ctrl: bool,
    alt: bool,
    shift: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Base {
    /// A character, as its key prints it.
    Char(char),
    /// A key that ends in one letter: `CSI letter`, after `SS3` in application mode.
    Arrow { name: &'static str, letter: char },
    /// A key that ends in a tilde, `CSI number ~`.
    Tilde { name: &'static str, number: u8 },
    /// Home and End: a tilde when plain, a letter with modifiers.
    Edge { name: &'static str, number: u8, letter: char },
    /// F1 to F4: `SS3 letter` when plain, `CSI 1 ; m letter` with modifiers.
    Pf { name: &'static str, letter: char },
    /// A key with a control character of its own.
    Byte { name: &'static str, byte: u8 },
}

/// A name that is no key, with what it may have meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadKey {
    /// The name that was given, shortened.
    pub name: String,
    /// What is wrong with it.
    pub why: String,
}

impl fmt::Display for BadKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no key {}: {}", quoted(&self.name), self.why)
    }
}

impl std::error::Error for BadKey {}

/// Every named key, its own name first and others that are in use for it after it.
const NAMED: &[(&[&str], Base)] = &[
    (&["enter", "return", "cr", "kpenter"], Base::Byte { name: "enter", byte: b'\r' }),
    (&["escape", "esc"], Base::Byte { name: "escape", byte: 0x1b }),
    (&["tab"], Base::Byte { name: "tab", byte: b'\t' }),
    (&["backspace", "bspace", "bs"], Base::Byte { name: "backspace", byte: 0x7f }),
    (&["space", "spc"], Base::Char(' ')),
    (&["up", "arrowup", "uparrow"], Base::Arrow { name: "up", letter: 'A' }),
    (&["down", "arrowdown", "downarrow"], Base::Arrow { name: "down", letter: 'B' }),
    (&["right", "arrowright", "rightarrow"], Base::Arrow { name: "right", letter: 'C' }),
    (&["left", "arrowleft", "leftarrow"], Base::Arrow { name: "left", letter: 'D' }),
    (&["home"], Base::Edge { name: "home", number: 1, letter: 'H' }),
    (&["end"], Base::Edge { name: "end", number: 4, letter: 'F' }),
    (&["insert", "ins", "ic"], Base::Tilde { name: "insert", number: 2 }),
    (&["delete", "del", "dc"], Base::Tilde { name: "delete", number: 3 }),
    (&["pageup", "pgup", "ppage", "prior"], Base::Tilde { name: "pageup", number: 5 }),
    (&["pagedown", "pgdn", "pgdown", "npage", "next"], Base::Tilde { name: "pagedown", number: 6 }),
    (&["f1"], Base::Pf { name: "f1", letter: 'P' }),
    (&["f2"], Base::Pf { name: "f2", letter: 'Q' }),
    (&["f3"], Base::Pf { name: "f3", letter: 'R' }),
    (&["f4"], Base::Pf { name: "f4", letter: 'S' }),
    (&["f5"], Base::Tilde { name: "f5", number: 15 }),
    (&["f6"], Base::Tilde { name: "f6", number: 17 }),
    (&["f7"], Base::Tilde { name: "f7", number: 18 }),
    (&["f8"], Base::Tilde { name: "f8", number: 19 }),
    (&["f9"], Base::Tilde { name: "f9", number: 20 }),
    (&["f10"], Base::Tilde { name: "f10", number: 21 }),
    (&["f11"], Base::Tilde { name: "f11", number: 23 }),
    (&["f12"], Base::Tilde { name: "f12", number: 24 }),
];

impl Key {
    /// A key without modifiers that sends this character.
    #[must_use]
    pub fn character(c: char) -> Self {
        Self::plain(Base::Char(c))
    }

    /// Enter.
    #[must_use]
    pub fn enter() -> Self {
        Self::plain(Base::Byte { name: "enter", byte: b'\r' })
    }

    fn plain(base: Base) -> Self {
        Self { base, ctrl: false, alt: false, shift: false }
    }

    /// Reads one name: `ctrl+c` or `C-c` or `^C`, `alt+x` or `M-x`, `shift+tab` or `BTab`, `up`, `pageup`, `f5`, one
    /// character, and any of them with a count, `down*5`. Names are read whatever their case.
    ///
    /// # Errors
    /// [`BadKey`] for a name that is none, for a combination that no terminal has bytes for, and for a count that
    /// is not 1 to [`REPEAT_MAX`].
    pub fn parse(name: &str) -> Result<Vec<Self>, BadKey> {
        if let Some((single, count)) = name.rsplit_once('*').filter(|(single, count)| {
            !single.is_empty() && !count.is_empty() && count.bytes().all(|b| b.is_ascii_digit())
        }) {
            let times = count.parse().unwrap_or(usize::MAX);
            if !(1..=REPEAT_MAX).contains(&times) {
                return Err(bad(name, format!("a key is repeated 1 to {REPEAT_MAX} times")));
            }
            return Ok(vec![Self::single(single)?; times]);
        }
        Ok(vec![Self::single(name)?])
    }

    fn single(name: &str) -> Result<Self, BadKey> {
        let mut key = Self::plain(Base::Char(' '));
        let mut rest = name;
        while let Some((modifier, tail)) = split_modifier(rest) {
            match modifier {
                Modifier::Ctrl => key.ctrl = true,
                Modifier::Alt => key.alt = true,
                Modifier::Shift => key.shift = true,
            }
            rest = tail;
        }
        key.base = base(rest, &mut key).ok_or_else(|| unknown(name, rest))?;
        key.settle_shift(name)?;
        if key.ctrl && matches!(key.base, Base::Char(_) | Base::Byte { .. }) && key.control_byte().is_none() {
            return Err(bad(name, "a terminal has no code for it".to_owned()));
        }
        Ok(key)
    }

    /// Shift on a letter is its capital; on a key whose bytes can carry a modifier it stays; elsewhere a terminal
    /// cannot tell it.
    fn settle_shift(&mut self, name: &str) -> Result<(), BadKey> {
        if !self.shift {
            return Ok(());
        }
        match self.base {
            Base::Char(' ') => self.shift = false,
            Base::Char(c) if c.is_alphabetic() => {
                let mut upper = c.to_uppercase();
                if let (Some(capital), None) = (upper.next(), upper.next()) {
                    self.base = Base::Char(capital);
                }
                self.shift = false;
            }
            Base::Byte { byte: b'\t', .. } if !self.ctrl => {}
            Base::Char(_) => {
                let why = "which character shift makes of it depends on the keyboard; give that character".to_owned();
                return Err(bad(name, why));
            }
            Base::Byte { .. } => return Err(bad(name, "a terminal has no code for it".to_owned())),
            Base::Arrow { .. } | Base::Tilde { .. } | Base::Edge { .. } | Base::Pf { .. } => {}
        }
        Ok(())
    }

    /// The control character of ctrl with this key, where there is one.
    fn control_byte(self) -> Option<u8> {
        match self.base {
            Base::Char(c) => match c.to_ascii_lowercase() {
                c @ 'a'..='z' => u8::try_from(c).ok().map(|b| b & 0x1f),
                '@' | ' ' | '2' => Some(0),
                '[' | '3' => Some(0x1b),
                '\\' | '4' => Some(0x1c),
                ']' | '5' => Some(0x1d),
                '^' | '6' | '~' => Some(0x1e),
                '_' | '7' | '/' | '-' => Some(0x1f),
                '?' | '8' => Some(0x7f),
                _ => None,
            },
            Base::Byte { byte: 0x7f, .. } => Some(0x08),
            Base::Byte { byte: 0x1b, .. } => Some(0x1b),
            _ => None,
        }
    }

    /// The bytes this key sends. `application_cursor` is the mode that a program sets with `CSI ? 1 h`; it changes
    /// the arrows without modifiers.
    #[must_use]
    pub fn encode(&self, application_cursor: bool) -> Vec<u8> {
        let modifiers = u8::from(self.shift) + 2 * u8::from(self.alt) + 4 * u8::from(self.ctrl);
        let code = 1 + modifiers;
        let sequence = match self.base {
            Base::Char(_) | Base::Byte { .. } => return self.encode_plain(),
            Base::Arrow { letter, .. } if modifiers == 0 && application_cursor => format!("\x1bO{letter}"),
            Base::Arrow { letter, .. } if modifiers == 0 => format!("\x1b[{letter}"),
            Base::Pf { letter, .. } if modifiers == 0 => format!("\x1bO{letter}"),
            Base::Edge { number, .. } | Base::Tilde { number, .. } if modifiers == 0 => format!("\x1b[{number}~"),
            Base::Tilde { number, .. } => format!("\x1b[{number};{code}~"),
            Base::Arrow { letter, .. } | Base::Pf { letter, .. } | Base::Edge { letter, .. } => {
                format!("\x1b[1;{code}{letter}")
            }
        };
        sequence.into_bytes()
    }

    /// A key that is a character: alt puts ESC before it, as every terminal does.
    fn encode_plain(self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(5);
        if self.alt {
            bytes.push(0x1b);
        }
        match self.base {
            Base::Byte { byte: b'\t', .. } if self.shift => bytes.extend_from_slice(b"\x1b[Z"),
            _ if self.ctrl => bytes.extend(self.control_byte()),
            Base::Byte { byte, .. } => bytes.push(byte),
            Base::Char(c) => bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
            _ => {}
        }
        bytes
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (set, name) in [(self.ctrl, "ctrl+"), (self.alt, "alt+"), (self.shift, "shift+")] {
            if set {
                f.write_str(name)?;
            }
        }
        match self.base {
            Base::Char(' ') => f.write_str("space"),
            Base::Char(c) => write!(f, "{c}"),
            Base::Arrow { name, .. }
            | Base::Tilde { name, .. }
            | Base::Edge { name, .. }
            | Base::Pf { name, .. }
            | Base::Byte { name, .. } => f.write_str(name),
        }
    }
}

#[derive(Clone, Copy)]
enum Modifier {
    Ctrl,
    Alt,
    Shift,
}

/// Takes one modifier off the front. A single letter is one only before `-`, and nothing is one where no key
/// follows, so that `c`, `-` and `+` stay keys.
fn split_modifier(name: &str) -> Option<(Modifier, &str)> {
    let at = name.find(['+', '-'])?;
    let (word, tail) = name.split_at_checked(at)?;
    let short = tail.starts_with('-');
    let tail = tail.get(1..)?;
    if tail.is_empty() {
        return None;
    }
    let modifier = match word.to_ascii_lowercase().as_str() {
        "ctrl" | "control" | "ctl" => Modifier::Ctrl,
        "alt" | "meta" | "option" => Modifier::Alt,
        "shift" => Modifier::Shift,
        "c" if short => Modifier::Ctrl,
        "m" if short => Modifier::Alt,
        "s" if short => Modifier::Shift,
        _ => return None,
    };
    Some((modifier, tail))
}

/// The key behind the modifiers; caret notation, the back tab and control characters bring modifiers of their own.
fn base(name: &str, key: &mut Key) -> Option<Base> {
    let mut chars = name.chars();
    if let (Some(c), None) = (chars.next(), chars.next()) {
        return match u8::try_from(c) {
            Ok(byte @ (b'\r' | b'\n')) => {
                Some(Base::Byte { name: if byte == b'\r' { "enter" } else { "ctrl+j" }, byte })
            }
            Ok(b'\t') => Some(Base::Byte { name: "tab", byte: b'\t' }),
            Ok(0x1b) => Some(Base::Byte { name: "escape", byte: 0x1b }),
            Ok(0x7f) => Some(Base::Byte { name: "backspace", byte: 0x7f }),
            Ok(byte @ 0..0x20) => {
                key.ctrl = true;
                Some(Base::Char(char::from(byte | 0x40).to_ascii_lowercase()))
            }
            _ if c.is_control() => None,
            _ => Some(Base::Char(c)),
        };
    }
    let lower = name.to_lowercase();
    if let Some((_, base)) = NAMED.iter().find(|(names, _)| names.contains(&lower.as_str())) {
        return Some(*base);
    }
    if matches!(lower.as_str(), "btab" | "backtab") {
        key.shift = true;
        return Some(Base::Byte { name: "tab", byte: b'\t' });
    }
    // F13 to F24 are shift with F1 to F12: so tmux-256color has them.
    if let Some(number) = lower.strip_prefix('f').and_then(|n| n.parse::<u8>().ok()).filter(|n| (13..=24).contains(n)) {
        key.shift = true;
        let unshifted = format!("f{}", number - 12);
        return NAMED.iter().find(|(names, _)| names.contains(&unshifted.as_str())).map(|(_, base)| *base);
    }
    let mut caret = lower.strip_prefix('^')?.chars();
    if let (Some(c), None) = (caret.next(), caret.next()) {
        key.ctrl = true;
        return Some(Base::Char(c));
    }
    None
}

fn unknown(name: &str, rest: &str) -> BadKey {
    let near = nearest(rest, NAMED.iter().flat_map(|(names, _)| names.iter().copied()), 3);
    let meant = if near.is_empty() { String::new() } else { format!("did you mean {}? ", near.join(" or ")) };
    let why = format!(
        "{meant}keys are ctrl+c or C-c, alt+x or M-x, shift+tab, up, down, left, right, home, end, pageup, pagedown, \
         enter, escape, tab, space, backspace, delete, insert, f1 to f24, or one character, each also as down*5; \
         longer text goes into `text`"
    );
    bad(name, why)
}

fn bad(name: &str, why: String) -> BadKey {
    // The name comes from the client, and the error goes into a reply.
    BadKey { name: name.chars().take(40).collect(), why }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic, reason = "a test may stop at what it did not expect")]

    use super::{Key, NAMED, REPEAT_MAX};

    fn bytes(name: &str) -> Vec<u8> {
        Key::parse(name).unwrap().iter().flat_map(|key| key.encode(false)).collect()
    }

    #[test]
    fn both_notations_send_the_same() {
        let table: &[(&[&str], &[u8])] = &[
            (&["ctrl+c", "C-c", "^C", "^c", "Ctrl-C", "CTRL+C", "control+c", "c-c", "\u{3}"], b"\x03"),
            (&["alt+x", "M-x", "meta+x", "Alt-x"], b"\x1bx"),
            (&["alt+X", "M-X", "alt+shift+x", "S-M-x"], b"\x1bX"),
            (&["ctrl+alt+x", "C-M-x", "M-C-x"], b"\x1b\x18"),
            (&["enter", "Enter", "return", "\r"], b"\r"),
            (&["escape", "Escape", "esc", "\u{1b}", "ctrl+["], b"\x1b"),
            (&["tab", "Tab", "\t", "ctrl+i"], b"\t"),
            (&["shift+tab", "BTab", "S-Tab", "backtab"], b"\x1b[Z"),
            (&["space", "Space", " ", "shift+space"], b" "),
            (&["ctrl+space", "C-Space", "C-@", "ctrl+@"], b"\0"),
            (&["backspace", "BSpace"], b"\x7f"),
            (&["ctrl+backspace", "C-BSpace"], b"\x08"),
            (&["alt+backspace", "M-BSpace"], b"\x1b\x7f"),
            (&["delete", "DC", "del"], b"\x1b[3~"),
            (&["insert", "IC"], b"\x1b[2~"),
            (&["pageup", "PPage", "PgUp", "PageUp"], b"\x1b[5~"),
            (&["pagedown", "NPage", "PgDn", "PageDown"], b"\x1b[6~"),
            (&["home", "Home"], b"\x1b[1~"),
            (&["end", "End"], b"\x1b[4~"),
            (&["up", "Up", "ArrowUp"], b"\x1b[A"),
            (&["left", "Left"], b"\x1b[D"),
            (&["ctrl+up", "C-Up"], b"\x1b[1;5A"),
            (&["shift+home", "S-Home"], b"\x1b[1;2H"),
            (&["ctrl+pageup", "C-PPage"], b"\x1b[5;5~"),
            (&["alt+delete", "M-DC"], b"\x1b[3;3~"),
            (&["f1", "F1"], b"\x1bOP"),
            (&["ctrl+f1"], b"\x1b[1;5P"),
            (&["f5", "F5"], b"\x1b[15~"),
            (&["f12", "F12"], b"\x1b[24~"),
            (&["shift+f5", "f17", "S-F5"], b"\x1b[15;2~"),
            (&["f13"], b"\x1b[1;2P"),
            (&["q"], b"q"),
            (&["Q", "shift+q", "S-q"], b"Q"),
            (&["\u{e9}"], "\u{e9}".as_bytes()),
            (&["-"], b"-"),
            (&["+"], b"+"),
            (&["*"], b"*"),
            (&["^"], b"^"),
            (&["c"], b"c"),
            (&["ctrl+-", "C--", "ctrl+_", "C-/"], b"\x1f"),
            (&["alt++", "M-+"], b"\x1b+"),
            (&["ctrl+\\", "C-\\", "^\\"], b"\x1c"),
            (&["ctrl+]", "^]"], b"\x1d"),
            (&["ctrl+j", "\n"], b"\n"),
            (&["alt+enter", "M-Enter"], b"\x1b\r"),
        ];
        for (names, expected) in table {
            for name in *names {
                assert_eq!(bytes(name), *expected, "{name:?}");
            }
        }
    }

    #[test]
    fn arrows_follow_the_cursor_mode_unless_modified() {
        let key = Key::parse("up").unwrap();
        assert_eq!(key.first().unwrap().encode(true), b"\x1bOA");
        let key = Key::parse("ctrl+up").unwrap();
        assert_eq!(key.first().unwrap().encode(true), b"\x1b[1;5A");
        let key = Key::parse("home").unwrap();
        assert_eq!(key.first().unwrap().encode(true), b"\x1b[1~");
    }

    #[test]
    fn a_count_repeats_and_has_a_limit() {
        assert_eq!(Key::parse("down*5").unwrap().len(), 5);
        assert_eq!(bytes("**3"), b"***");
        assert_eq!(bytes("C-n*2"), b"\x0e\x0e");
        assert_eq!(Key::parse(&format!("x*{REPEAT_MAX}")).unwrap().len(), REPEAT_MAX);
        for name in ["down*0", "down*1001", "down*99999999999999999999"] {
            assert!(Key::parse(name).unwrap_err().why.contains("1 to 1000"), "{name}");
        }
    }

    #[test]
    fn what_is_no_key_is_refused_with_near_names() {
        let error = Key::parse("pagdown").unwrap_err().to_string();
        assert!(error.contains("did you mean pagedown"), "{error}");
        assert!(error.contains("ctrl+c or C-c"), "{error}");
        for name in ["", "hello", "ctrl+", "ctrl+foo", "*5", "f25", "f0", "ctrl+c enter", "\u{9b}", "down*", "down*x"] {
            assert!(Key::parse(name).is_err(), "{name:?}");
        }
        let long = Key::parse(&"x".repeat(5000)).unwrap_err();
        assert!(long.to_string().len() < 600);
    }

    #[test]
    fn what_no_terminal_can_send_is_refused() {
        for name in ["ctrl+enter", "shift+enter", "ctrl+tab", "ctrl+shift+tab", "shift+1", "ctrl+1", "shift+escape"] {
            assert!(Key::parse(name).is_err(), "{name:?}");
        }
    }

    #[test]
    fn a_key_reads_back_from_what_it_is_called() {
        let modified = NAMED.iter().flat_map(|(names, _)| {
            ["", "ctrl+", "alt+", "shift+", "ctrl+alt+shift+"].map(|m| format!("{m}{}", names.first().unwrap()))
        });
        for name in modified.chain((0x20_u8..0x7f).map(|b| char::from(b).to_string())) {
            let Ok(keys) = Key::parse(&name) else { continue };
            let key = keys.first().unwrap();
            let again = Key::parse(&key.to_string()).unwrap();
            assert_eq!(again.first().unwrap().encode(false), key.encode(false), "{name:?} as {key}");
        }
    }
}
