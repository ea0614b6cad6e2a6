//! `state.json`: what a session keeps for each agent, so that a restarted server goes on where the last one was.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

/// The contents of `state.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StateRecord {
    /// The version of this format; 1.
    pub v: u32,
    /// By the agent's name.
    #[serde(default)]
    pub agents: BTreeMap<String, AgentRecord>,
}

/// What is kept for one agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Default)]
pub struct AgentRecord {
    /// Text it typed and left unsubmitted, as the line shows it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub half_typed: String,
    /// That is two letters that try a line editor, and nobody's text.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub tries: bool,
    /// That stands behind a program's prompt, which is shown anew once it is gone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub prompted: bool,
    /// That was typed while a program was at work, which reads it once it asks.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ahead: bool,
    /// It began to answer a question that hides what is typed, and left that unsubmitted: what, is not kept.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub hides: bool,
    /// It began the command that the shell wants the rest of.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub continues: bool,
    /// Regions it started and has not been told the end of.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub untold: BTreeSet<u32>,
    /// The raw log's length when it was last told that lines of a call of its own were left untyped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub told_left: Option<u64>,
    /// Notes about habits it has been given.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub notes: BTreeSet<String>,
    /// The last line of the session that it has been shown or told of.
    #[serde(default)]
    pub seen_line: u64,
    /// Where it was last told the session is, as `user@host`; empty is the server's own.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub place: String,
    /// Marks of the screen's rows as it was last shown them; what stood in them is not kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub screen: Vec<u32>,
}

impl AgentRecord {
    /// Whether what it has behind a program's prompt, or ahead of one, is this text, or the beginning of it.
    #[must_use]
    pub(crate) fn stands_behind_prompt(&self, text: &str) -> bool {
        (self.prompted || self.ahead) && !self.half_typed.is_empty() && text.starts_with(&self.half_typed)
    }
}

/// Tells a row of the screen from another: an FNV-1a hash. Where two rows have the same, one change of a row in four
/// thousand million is not shown.
#[must_use]
pub fn row_mark(row: &str) -> u32 {
    row.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

impl StateRecord {
    /// The version of this format.
    pub const VERSION: u32 = 1;

    /// Reads the file's text; an empty state where it is torn or of another version.
    #[must_use]
    pub fn read(text: &str) -> Self {
        serde_json::from_str::<Self>(text).ok().filter(|state| state.v == Self::VERSION).unwrap_or_default()
    }
}

impl Default for StateRecord {
    fn default() -> Self {
        Self { v: Self::VERSION, agents: BTreeMap::new() }
    }
}
