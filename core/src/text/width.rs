//! How many cells a character takes.
//!
//! There is no one answer: tmux changed its mind with every version, and the cooked view must agree with the tmux at
//! hand, or it wraps lines in other places than the person saw. What differs is a [`Widths`] policy; underneath lies
//! the `unicode-width` crate, which agrees with every tmux on CJK, plain emoji and combining characters.

use serde::{Deserialize, Serialize};
use unicode_width::UnicodeWidthChar as _;

/// U+FE0F, which asks for the emoji form of the character before it.
pub const VARIATION_SELECTOR_16: char = '\u{fe0f}';
/// U+200D, which joins the characters around it into one.
pub const ZERO_WIDTH_JOINER: char = '\u{200d}';

/// What becomes of regional indicators, two of which make a flag.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Regional {
    /// Each stands by itself, in a cell of its own.
    Apart,
    /// Two make one character of two cells.
    Pairs,
    /// Any number of them make one character of two cells.
    Run,
}

/// How the tmux at hand counts cells where versions differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Widths {
    /// U+FE0F makes the character before it two cells wide.
    pub vs16_widens: bool,
    /// A character behind U+200D becomes part of the one before it.
    pub zwj_joins: bool,
    /// A skin tone becomes part of the character before it.
    pub modifiers_join: bool,
    /// What becomes of flags.
    pub regional: Regional,
    /// A tab that the right margin cuts short is kept as a tab, and as wide as any other in the text.
    pub keeps_tabs: bool,
}

impl Default for Widths {
    /// The newest tmux known here.
    fn default() -> Self {
        Self::tmux(3, 7)
    }
}

impl Widths {
    /// The policy of a tmux version, as measured with 3.3a, 3.4, 3.6 and 3.7b by printing to a pane and asking for the
    /// cursor's column. A version in between counts as the one before it, an older one as 3.3.
    #[must_use]
    pub fn tmux(major: u16, minor: u16) -> Self {
        let (vs16_widens, modifiers_join, regional, keeps_tabs) = match (major, minor) {
            (0..=2, _) | (3, 0..=3) => (false, false, Regional::Apart, false),
            (3, 4 | 5) => (true, true, Regional::Run, false),
            (3, 6) => (true, false, Regional::Run, true),
            _ => (true, true, Regional::Pairs, true),
        };
        Self { vs16_widens, zwj_joins: true, modifiers_join, regional, keeps_tabs }
    }
}

/// The cells that a character takes by itself: 0 for one that combines with the one before it, none for a control
/// character, which is not shown at all.
#[inline]
#[must_use]
pub fn cells(character: char) -> Option<u8> {
    match character {
        ' '..='~' => Some(1),
        // The ranges that make up nearly all CJK text, without the table.
        '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}' | '\u{30a1}'..='\u{30fa}' | '\u{3041}'..='\u{3096}' => {
            Some(2)
        }
        // Latin, symbols and box drawing, and what stands for bytes that are no text.
        '\u{a0}'..='\u{ac}' | '\u{ae}'..='\u{2ff}' | '\u{2500}'..='\u{259f}' | char::REPLACEMENT_CHARACTER => Some(1),
        // Every tmux shows the soft hyphen as a hyphen; Unicode would rather have it invisible.
        '\u{ad}' => Some(1),
        // One Khmer sign is three wide by Unicode, which no terminal follows.
        _ => character.width().map(|width| u8::try_from(width).ok().filter(|width| *width <= 2).unwrap_or(1)),
    }
}

/// Whether it is one of the five skin tones.
#[must_use]
pub fn is_modifier(character: char) -> bool {
    matches!(character, '\u{1f3fb}'..='\u{1f3ff}')
}

/// Whether it is one of the letters of which two make a flag.
#[must_use]
pub fn is_regional(character: char) -> bool {
    matches!(character, '\u{1f1e6}'..='\u{1f1ff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_cuts_agree_with_the_table() {
        for character in '\u{20}'..='\u{ffff}' {
            if !matches!(character, '\u{ad}' | '\u{17d8}') {
                assert_eq!(cells(character).map(usize::from), character.width(), "{character:?}");
            }
        }
    }
}
