//! `meta.json`: what a session is, and which tmux server its pane lives in.

use serde::{Deserialize, Serialize};

/// The tmux server that a pane belongs to. Pane ids start again at `%0` in a new server, so they mean nothing
/// without it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Default)]
pub struct ServerIdentity {
    /// The server's process.
    pub pid: u32,
    /// When that process started, Unix seconds as tmux tells it.
    pub start: u64,
}

/// The contents of `meta.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Meta {
    /// The version of this format; 1.
    pub v: u32,
    /// The session's name.
    pub name: String,
    /// The host it runs on.
    pub host: String,
    /// The tmux socket's name.
    pub socket: String,
    /// The tmux socket's path, where it is known.
    #[serde(default)]
    pub socket_path: Option<String>,
    /// The tmux server.
    #[serde(default)]
    pub server: ServerIdentity,
    /// The pane's id in that server; none until the pane stands.
    #[serde(default)]
    pub pane: Option<String>,
    /// What runs in it, as it was asked for; none is bash with the integration.
    #[serde(default)]
    pub command: Option<String>,
    /// Where it started.
    #[serde(default)]
    pub cwd: Option<String>,
    /// Columns it was made with.
    pub cols: u16,
    /// Rows it was made with.
    pub rows: u16,
    /// What a prompt looks like there.
    #[serde(default)]
    pub prompt_pattern: Option<String>,
    /// The agent that made it.
    pub actor: String,
    /// When it was made, Unix milliseconds.
    pub created: u64,
    /// When it was closed, Unix milliseconds; none while it is open.
    #[serde(default)]
    pub closed: Option<u64>,
    /// Why its pane went, in words, where nobody closed the session; none in files of a server that did not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// The exit status of its program, where it ended by itself.
    #[serde(default)]
    pub exit: Option<i32>,
    /// The width rules of the tmux server the stream was shown by, as `major.minor`.
    #[serde(default)]
    pub tmux: Option<String>,
}

impl Meta {
    /// The version of this format.
    pub const VERSION: u32 = 1;

    /// Whether the session's program is a shell that was started with the shell integration.
    #[must_use]
    pub fn is_integrated(&self) -> bool {
        matches!(self.command.as_deref(), None | Some("zsh" | "fish"))
    }

    /// Reads the file's text; none where it is torn or of another version.
    #[must_use]
    pub fn read(text: &str) -> Option<Self> {
        serde_json::from_str::<Self>(text).ok().filter(|meta| meta.v == Self::VERSION)
    }
}
