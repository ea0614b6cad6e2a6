//! One character at a time out of bytes that may be UTF-8.

/// What stands at the beginning of some bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decoded {
    /// A character and the bytes it takes.
    Char(char, usize),
    /// So many bytes that are no character; they are shown as one U+FFFD.
    Bad(usize),
    /// A character that may still be completed: the bytes end too early.
    Partial,
}

/// Decodes the first character of `bytes`, which must not be empty.
///
/// Ill-formed input is cut as the Unicode standard recommends (the longest beginning of a character that could have
/// become one is replaced as a whole), which is also what tmux 3.7 does.
#[inline]
#[must_use]
pub fn decode(bytes: &[u8]) -> Decoded {
    let Some(&first) = bytes.first() else { return Decoded::Partial };
    // The range of the second byte, and the length: table 3-7 of the Unicode standard.
    let (low, high, length) = match first {
        0..=0x7f => return Decoded::Char(char::from(first), 1),
        0xc2..=0xdf => (0x80, 0xbf, 2),
        0xe0 => (0xa0, 0xbf, 3),
        0xe1..=0xec | 0xee | 0xef => (0x80, 0xbf, 3),
        0xed => (0x80, 0x9f, 3),
        0xf0 => (0x90, 0xbf, 4),
        0xf1..=0xf3 => (0x80, 0xbf, 4),
        0xf4 => (0x80, 0x8f, 4),
        _ => return Decoded::Bad(1),
    };
    let Some(&second) = bytes.get(1) else { return Decoded::Partial };
    if second < low || second > high {
        return Decoded::Bad(1);
    }
    let mut value = (u32::from(first) & (0x7f >> length)) << 6 | (u32::from(second) & 0x3f);
    for at in 2..length {
        let Some(&next) = bytes.get(at) else { return Decoded::Partial };
        if next & 0xc0 != 0x80 {
            return Decoded::Bad(at);
        }
        value = value << 6 | (u32::from(next) & 0x3f);
    }
    match char::from_u32(value) {
        Some(character) => Decoded::Char(character, length),
        None => Decoded::Bad(length),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lossy(bytes: &[u8]) -> String {
        let mut out = String::new();
        let mut at = 0;
        while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
            match decode(rest) {
                Decoded::Char(character, length) => {
                    out.push(character);
                    at += length;
                }
                Decoded::Bad(length) => {
                    out.push(char::REPLACEMENT_CHARACTER);
                    at += length;
                }
                Decoded::Partial => {
                    out.push(char::REPLACEMENT_CHARACTER);
                    break;
                }
            }
        }
        out
    }

    proptest::proptest! {
        #[test]
        fn agrees_with_the_standard_library(bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..40)) {
            proptest::prop_assert_eq!(lossy(&bytes), String::from_utf8_lossy(&bytes).into_owned());
        }

        #[test]
        fn decodes_every_character(text in ".*") {
            proptest::prop_assert_eq!(lossy(text.as_bytes()), text);
        }
    }
}
