//! The modes that programs set.

use serde::{Deserialize, Serialize};

/// What the program at hand asked the terminal for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "each is a mode of the terminal, set and reset by itself")]
pub struct Modes {
    /// Pasted text is to be bracketed (2004): a line editor is at work.
    pub bracketed_paste: bool,
    /// The cursor keys are to send their application codes (DECCKM).
    pub application_cursor: bool,
    /// The keypad is to send its application codes (DECKPAM).
    pub application_keypad: bool,
    /// The alternate screen is shown.
    pub alternate: bool,
    /// The cursor is shown (DECTCEM).
    pub cursor_visible: bool,
    /// The mouse is reported.
    pub mouse: bool,
    /// Text wraps at the right margin (DECAWM).
    pub wrap: bool,
    /// What is printed moves the rest of the row to the right (IRM).
    pub insert: bool,
    /// Rows are counted from the top of the scroll region (DECOM).
    pub origin: bool,
}

impl Default for Modes {
    fn default() -> Self {
        Self {
            bracketed_paste: false,
            application_cursor: false,
            application_keypad: false,
            alternate: false,
            cursor_visible: true,
            mouse: false,
            wrap: true,
            insert: false,
            origin: false,
        }
    }
}
