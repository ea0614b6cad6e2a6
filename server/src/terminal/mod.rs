//! The terminal: panes that a person can watch, made, typed into, looked at and ended.
//!
//! [`Terminal`] is what the rest of the server knows of it; [`Tmux`] is the one there is. Bytes that a pane prints do
//! not come this way: they go to the pane's recorder.

mod answers;
mod argv;
mod below;
mod control;
mod error;
mod screen;
mod scrub;
mod server;
mod tmux;
mod version;

use std::fmt::Debug;
use std::path::PathBuf;

use async_trait::async_trait;
use dtmcp_core::cooked::Size;
use dtmcp_core::time::Wall;
use serde::{Deserialize, Serialize};

pub use error::TerminalError;
pub use screen::Screen;
pub use scrub::{KEPT, SCRUBBED, scrub};
pub(crate) use server::start_ticks;
pub use tmux::{Tmux, TmuxConfig};
pub use version::Version;

/// One run of a tmux server. Pane ids start again from 0 in the next one, so an id means nothing without it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ServerId {
    /// Its process id.
    pub pid: u32,
    /// When it started, in seconds since the Unix epoch, as it says itself.
    pub start: u64,
}

/// A pane, for as long as its tmux server runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PaneId {
    /// The server it is in.
    pub server: ServerId,
    /// tmux's number for it.
    pub pane: u32,
}

impl std::fmt::Display for PaneId {
    /// As tmux writes it: `%5`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "%{}", self.pane)
    }
}

/// What a new pane is made of. It is the one pane of the one window of a tmux session of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewPane {
    /// The session's name, by the rule of [`crate::store::is_session_name`].
    pub session: String,
    /// An existing directory to start in.
    pub cwd: String,
    /// Variables set in the session beside the tmux server's own.
    pub env: Vec<(String, String)>,
    /// The size it is born with, whoever is attached to what.
    pub size: Size,
    /// The program and its arguments, run without a shell between.
    pub argv: Vec<String>,
}

/// How a pane stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PaneState {
    /// Its program has ended; the screen is still there.
    pub dead: bool,
    /// A person scrolls back in it, or has another of tmux's modes up.
    pub in_mode: bool,
    /// What is typed in a pane of its window goes to all of them (`synchronize-panes`).
    pub synchronized: bool,
    /// Its size in cells.
    pub size: Size,
    /// The alternate screen is up.
    pub alternate: bool,
    /// Its output goes to a pipe: the recorder's, or that of whoever took it.
    pub pipe: bool,
    /// The process id of its program; none where that has ended and tmux tells it no more, as 3.8 does.
    pub pid: Option<u32>,
    /// Its terminal's device.
    pub tty: PathBuf,
    /// How many people's clients are attached to its session.
    pub people: u32,
    /// When a person last pressed a key or attached there, whether they still are; none where nobody ever was. tmux gives
    /// whole seconds.
    pub last_key: Option<Wall>,
}

/// Text to type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// The bytes; any, also such as are not UTF-8.
    pub bytes: Vec<u8>,
    /// To be marked as a paste where the program asked for that.
    pub bracketed: bool,
}

/// What has to hold of a pane for text to be typed there.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Only {
    /// Where anyone is attached, the cursor's column and row, from 0.
    pub cursor: Option<(u16, u16)>,
    /// Where anyone ever was, the second that a person's last key has to be before.
    pub keys_before: Option<Wall>,
}

/// A pane of ours that is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OurPane {
    /// The session's name as it was created, whatever a person may have renamed it to.
    pub session: String,
    /// The pane.
    pub pane: PaneId,
    /// Its program has ended.
    pub dead: bool,
}

/// A person's client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attached {
    /// The session of ours that it watches.
    pub session: String,
    /// When it last had a key, a click or a focus report from the person; tmux gives whole seconds.
    pub activity: Wall,
    /// It can only watch.
    pub read_only: bool,
}

/// Panes that a person can watch.
///
/// Every call answers within ten seconds, also while the terminal's server is stopped.
#[async_trait]
pub trait Terminal: Send + Sync + Debug {
    /// Makes a session with one pane; starts the tmux server where none runs.
    async fn create(&self, new: NewPane) -> Result<PaneId, TerminalError>;
    /// How a pane stands.
    async fn state(&self, pane: PaneId) -> Result<PaneState, TerminalError>;
    /// Types, in one go that nobody's keys can come between. Works while a person scrolls back.
    ///
    /// What does not hold is told by [`TerminalError::Pressed`], else by [`TerminalError::Moved`].
    ///
    /// # Errors
    /// Nothing has been typed, and nothing will be, whatever the error.
    async fn paste(&self, pane: PaneId, parts: Vec<Part>, only: Only) -> Result<(), TerminalError>;
    /// What a person who looks at the pane sees.
    async fn capture(&self, pane: PaneId) -> Result<Screen, TerminalError>;
    /// Pins the pane's window to a size.
    async fn resize(&self, pane: PaneId, size: Size) -> Result<(), TerminalError>;
    /// Lets the pane's window take the size of whoever attaches.
    async fn follow(&self, pane: PaneId) -> Result<(), TerminalError>;
    /// Hangs up: the pane's program gets SIGHUP and passes it on. Its last output still arrives.
    async fn hangup(&self, pane: PaneId) -> Result<(), TerminalError>;
    /// Takes the pane's session away, at once. A pane that is gone already is no error.
    async fn kill(&self, pane: PaneId) -> Result<(), TerminalError>;
    /// The panes of this state directory that are there. No server is no panes.
    async fn panes(&self) -> Result<Vec<OurPane>, TerminalError>;
    /// The people attached to sessions of this state directory.
    async fn clients(&self) -> Result<Vec<Attached>, TerminalError>;
    /// The version of the server that runs, as far as it tells: how wide characters are drawn depends on it.
    async fn version(&self) -> Option<Version>;
    /// The server that runs, if one does.
    async fn server(&self) -> Result<Option<ServerId>, TerminalError>;
}
