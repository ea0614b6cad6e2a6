//! `intent.json`: the last line that a server set out to type. It is on disk before the first byte is typed, so
//! that a server that takes over never types it again and can say what became of it.

use serde::{Deserialize, Serialize};

/// How far the typing came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum IntentState {
    /// About to be typed, or being typed.
    Typing,
    /// The terminal took all of it.
    Typed,
    /// The terminal took none of it, and never will.
    Refused,
}

/// One line to be typed; never its text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Intent {
    /// The version of this format; 1.
    pub v: u32,
    /// The call, counted by the server that wrote this.
    pub call: u64,
    /// The agent.
    pub actor: String,
    /// The raw log's length when it was decided.
    pub offset: u64,
    /// How many bytes.
    pub bytes: u64,
    /// Whether Enter is among them.
    pub submits: bool,
    /// How often; 0 in files of a server that did not count.
    #[serde(default)]
    pub enters: u32,
    /// Characters of the command, where it is one line for a shell: what the shell shows of a line that may never have
    /// been typed is told from another's by that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub length: Option<u64>,
    /// How many lines of the same call were to follow it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub left: u32,
    /// How far it came.
    pub state: IntentState,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

impl Intent {
    /// The version of this format.
    pub const VERSION: u32 = 1;

    /// Reads the file's text; none where it is torn or of another version.
    #[must_use]
    pub fn read(text: &str) -> Option<Self> {
        serde_json::from_str::<Self>(text).ok().filter(|intent| intent.v == Self::VERSION)
    }
}
