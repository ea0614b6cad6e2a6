//! Control and invisible characters spelled out, so that a reply shows what is there and steers no terminal.
//!
//! A model cannot see a character that has no picture, and text that only looks harmless is a way to steer it. What
//! stays, of the characters without one of their own, are joiners and variation selectors where writing needs them:
//! a joiner between two visible characters, and one selector behind a visible character.

use std::borrow::Cow;
use std::fmt::Write as _;

/// What a character is for the purpose of showing it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sort {
    Visible,
    Blank,
    /// C0 but line feed and tab, DEL, and C1.
    Control,
    /// No picture of its own, and no place in honest text: bidirectional controls, invisible and tag characters.
    Hidden,
    Joiner,
    Selector,
}

fn sort(c: char) -> Sort {
    match u32::from(c) {
        0x09 | 0x0a => Sort::Blank,
        0x00..=0x1f | 0x7f..=0x9f => Sort::Control,
        0x200c | 0x200d => Sort::Joiner,
        0xfe00..=0xfe0f | 0x180b..=0x180d | 0x180f | 0xe0100..=0xe01ef => Sort::Selector,
        // Soft hyphen; Arabic letter mark; Mongolian vowel separator.
        0xad | 0x061c | 0x180e
        // Zero width space, direction marks, line and paragraph separators, embeddings and overrides, word joiner,
        // invisible operators, isolates, deprecated format controls.
        | 0x200b | 0x200e | 0x200f | 0x2028..=0x202e | 0x2060..=0x206f
        // Hangul fillers, byte order mark, annotations, musical format controls, tags.
        | 0x3164 | 0xffa0 | 0xfeff | 0xfff9..=0xfffb | 0x1d173..=0x1d17a | 0xe0000..=0xe007f => Sort::Hidden,
        _ if c.is_whitespace() => Sort::Blank,
        _ => Sort::Visible,
    }
}

/// The text with every character that a reader would not see spelled out: control characters as `\x1b`, others as
/// `<U+202E>`. Line feeds and tabs stay. Spelling out twice changes nothing more.
#[must_use]
pub fn spell_out(text: &str) -> Cow<'_, str> {
    if text.bytes().all(|b| matches!(b, b' '..=b'~' | b'\n' | b'\t')) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut before = Sort::Blank;
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        let this = sort(c);
        let stays = match this {
            Sort::Visible | Sort::Blank => true,
            Sort::Control | Sort::Hidden => false,
            // A selector after a selector carries no meaning and can carry bytes.
            Sort::Selector => before == Sort::Visible,
            Sort::Joiner => {
                let after = rest.clone().next().map_or(Sort::Blank, sort);
                matches!(before, Sort::Visible | Sort::Selector) && after == Sort::Visible
            }
        };
        if stays {
            out.push(c);
            before = this;
        } else {
            push_spelled(&mut out, c, this);
            before = Sort::Blank;
        }
    }
    if out == text { Cow::Borrowed(text) } else { Cow::Owned(out) }
}

fn push_spelled(out: &mut String, c: char, sort: Sort) {
    let code = u32::from(c);
    // Writing to a String cannot fail.
    let _ = if sort == Sort::Control { write!(out, "\\x{code:02x}") } else { write!(out, "<U+{code:04X}>") };
}

/// Text in double quotes, as a sentence shows a name, a prompt or a command: what is visible as it is, in every script;
/// quotes, backslashes and control characters as a string of most languages has them, on one line.
#[must_use]
pub fn quoted(text: &str) -> String {
    let mut inside = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() || matches!(c, '"' | '\\') { inside.extend(c.escape_debug()) } else { inside.push(c) }
    }
    format!("\"{}\"", spell_out(&inside))
}

/// As [`spell_out`], for bytes that need not be UTF-8: a byte that belongs to no character is spelled `\xff`.
#[must_use]
pub fn spell_out_bytes(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        out.push_str(&spell_out(chunk.valid()));
        for byte in chunk.invalid() {
            let _ = write!(out, "\\x{byte:02x}");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{Cow, quoted, spell_out, spell_out_bytes};

    #[test]
    fn plain_text_is_handed_back_as_it_is() {
        for text in ["", "ls -l\tx\n", "日本語 Ünïcode", "👩‍👩‍👧 ❤️‍🔥 1️⃣", "می‌خواهم", "क्‍ष", "葛󠄀"]
        {
            assert!(matches!(spell_out(text), Cow::Borrowed(_)), "{text}");
        }
    }

    #[test]
    fn what_is_quoted_stays_as_it_is_typed() {
        for (text, expected) in [
            ("C:\\> say \"hi\"", r#""C:\\> say \"hi\"""#),
            ("👩‍👩‍👧 ❤️ สวัสดี नमस्ते e\u{301} \u{e0b0}", "\"👩‍👩‍👧 ❤️ สวัสดี नमस्ते e\u{301} \u{e0b0}\""),
            ("a\tb\nc\x1b[m", r#""a\tb\nc\u{1b}[m""#),
            ("\u{202e}x\u{200d}", "\"<U+202E>x<U+200D>\""),
        ] {
            assert_eq!(quoted(text), expected);
        }
    }

    #[test]
    fn control_characters_are_spelled() {
        for (text, expected) in [
            ("\x1b[31mred\x1b[0m", "\\x1b[31mred\\x1b[0m"),
            ("a\0b\x07\x08\r\n", "a\\x00b\\x07\\x08\\x0d\n"),
            ("\x7f", "\\x7f"),
            ("\u{9b}31m\u{85}", "\\x9b31m\\x85"),
        ] {
            assert_eq!(spell_out(text), expected);
        }
    }

    #[test]
    fn hidden_characters_are_spelled() {
        for (text, expected) in [
            ("a\u{202e}b", "a<U+202E>b"),
            ("\u{2066}x\u{2069}", "<U+2066>x<U+2069>"),
            ("\u{200b}\u{2060}\u{feff}", "<U+200B><U+2060><U+FEFF>"),
            ("\u{200e}\u{200f}\u{61c}", "<U+200E><U+200F><U+061C>"),
            ("x\u{e0041}\u{e007f}", "x<U+E0041><U+E007F>"),
            ("\u{2028}\u{2029}", "<U+2028><U+2029>"),
        ] {
            assert_eq!(spell_out(text), expected);
        }
    }

    #[test]
    fn joiners_and_selectors_stay_only_where_writing_needs_them() {
        for (text, expected) in [
            ("\u{200d}a", "<U+200D>a"),
            ("a\u{200d}", "a<U+200D>"),
            ("a\u{200c}\u{200d}b", "a<U+200C><U+200D>b"),
            (" \u{fe0f}", " <U+FE0F>"),
            ("a\u{fe01}\u{fe02}\u{fe03}", "a\u{fe01}<U+FE02><U+FE03>"),
            ("a\u{e0101}\u{e0102}", "a\u{e0101}<U+E0102>"),
        ] {
            assert_eq!(spell_out(text), expected);
        }
    }

    #[test]
    fn bytes_outside_utf8_are_spelled() {
        assert_eq!(spell_out_bytes(b"a\xff\xfeb\xc3"), "a\\xff\\xfeb\\xc3");
        assert_eq!(spell_out_bytes("é\u{1b}".as_bytes()), "é\\x1b");
    }

    #[test]
    fn every_character_comes_out_visible_or_spelled_and_stays_so() {
        for c in (0..=0x10_ffff_u32).filter_map(char::from_u32) {
            let mut buffer = [0; 4];
            let text: &str = c.encode_utf8(&mut buffer);
            let once = spell_out(text);
            assert!(!once.chars().any(|c| c.is_control() && c != '\n' && c != '\t'), "{c:?}");
            assert_eq!(spell_out(&once), once, "{c:?}");
        }
    }
}
