//! What a client can ask for. A [`Request`] is always valid: patterns are compiled, keys parsed, ranges checked
//! before one exists, so nothing behind it has to refuse for a reason that the client could have been told at once.

mod expect;
mod gone;
mod integrate;
mod outcome;
mod refusal;
mod run;
mod send;
mod signal;
mod wait;
mod watch;

use std::time::Duration;

pub use expect::{Action, Answer, Expect, Rule, TIMES, TIMES_SECRET};
pub(crate) use expect::{ExpectCall, Since};
pub(crate) use gone::leaves;
pub(crate) use integrate::IntegrateCall;
pub use outcome::{JobEnd, Learned, Marks, Observed, Outcome, Plain, Reader, Status, Way};
pub(crate) use run::{RunCall, Step, Target};
pub(crate) use send::SendCall;
pub use send::{REFUSED, SETTLE};
pub use signal::Signal;
pub(crate) use wait::{Told, WaitCall};
pub use watch::{Asks, Rival};
pub(crate) use watch::{Flow, QUIET, REST, REST_AT_PROMPT, Resting, SCREEN_BUSY, SCREEN_REST, Seen, prompt_due};

use crate::keys::Key;
use crate::pattern::Pattern;
use crate::record::MissingEntry;

/// Names a call until it is concluded.
pub type CallId = u64;

/// The calls that take time: each is a machine of its own inside the session's.
#[derive(Debug, Clone)]
pub enum Waiting {
    /// `run`.
    Run(Run),
    /// `expect`.
    Expect(Expect),
    /// `send`.
    Send(Send),
    /// `wait`.
    Wait(Wait),
    /// `shell_integrate`.
    Integrate(Integrate),
}

/// One tool call, as the session or the hub carries it out.
#[derive(Debug, Clone)]
pub enum Request {
    /// `session_create`.
    Create(Create),
    /// `session_list`.
    List {
        /// One session only.
        session: Option<String>,
        /// Closed sessions too.
        closed: bool,
    },
    /// `session_close`.
    Close {
        /// The session.
        session: Option<String>,
    },
    /// `session_resize`.
    Resize {
        /// The session.
        session: Option<String>,
        /// What size.
        how: Resize,
    },
    /// `run`.
    Run(Run),
    /// `expect`.
    Expect(Expect),
    /// `send`.
    Send(Send),
    /// `wait`.
    Wait(Wait),
    /// `read`.
    Read(Read),
    /// `search`.
    Search(Search),
    /// `shell_integrate`.
    Integrate {
        /// The session.
        session: Option<String>,
    },
    /// `regions`.
    Regions {
        /// The session.
        session: Option<String>,
        /// How many, the newest.
        last: usize,
        /// Only those with this status word.
        status: Option<String>,
        /// Only those whose label matches.
        pattern: Option<Pattern>,
    },
}

/// The arguments of `session_create`.
#[derive(Debug, Clone)]
pub struct Create {
    /// The name asked for; none takes the next free `tN`.
    pub name: Option<String>,
    /// What runs in it.
    pub command: Command,
    /// Where it starts; none is the server's own directory.
    pub cwd: Option<String>,
    /// Variables set in it, in the order given.
    pub env: Vec<(String, String)>,
    /// Columns.
    pub cols: u16,
    /// Rows.
    pub rows: u16,
    /// What a prompt looks like there.
    pub prompt_pattern: Option<Pattern>,
}

/// What runs in a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// bash with the shell integration.
    Bash,
    /// zsh with the shell integration.
    Zsh,
    /// fish with the shell integration.
    Fish,
    /// Anything else, given to `sh -c`.
    Shell(String),
}

/// How a session's size is set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resize {
    /// To this size, pinned against attaching clients. A dimension left out stays as it is.
    To {
        /// Columns.
        cols: Option<u16>,
        /// Rows.
        rows: Option<u16>,
    },
    /// Attached clients decide again.
    Follow,
}

/// What of an output a reply shows.
#[derive(Debug, Clone, Default)]
pub struct Shape {
    /// Only lines that match, each with `show_after` lines behind it.
    pub show: Option<Pattern>,
    /// Lines shown after each match.
    pub show_after: usize,
    /// Only the last lines.
    pub last_lines: Option<usize>,
    /// Where the whole output is copied to.
    pub save_to: Option<String>,
}

/// The arguments of `run`.
#[derive(Debug, Clone)]
pub struct Run {
    /// The session.
    pub session: Option<String>,
    /// The lines to type, each without its line break; at least one.
    pub lines: Vec<String>,
    /// How long the call waits.
    pub timeout: Duration,
    /// Ends the call when seen in the output.
    pub until: Option<Pattern>,
    /// What the reply shows.
    pub shape: Shape,
    /// What a prompt looks like, for this call.
    pub prompt_pattern: Option<Pattern>,
}

/// The arguments of `send`.
#[derive(Debug, Clone)]
pub struct Send {
    /// The session.
    pub session: Option<String>,
    /// Text typed first, as it is; a line break is Enter.
    pub text: String,
    /// Keys pressed after the text.
    pub keys: Vec<Key>,
    /// The signal that the foreground job is given after that.
    pub signal: Option<Signal>,
    /// What of the screen the reply shows.
    pub screen: ScreenView,
    /// How long the output must be quiet before the reply.
    pub settle: Duration,
}

/// What of the screen a reply shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ScreenView {
    /// Nothing, save where a full-screen program is up.
    #[default]
    None,
    /// Every row.
    Full,
    /// The rows that changed since this agent last saw the screen.
    Changes,
    /// The row of the cursor.
    Cursor,
}

/// The arguments of `wait`.
#[derive(Debug, Clone, Default)]
pub struct Wait {
    /// The session.
    pub session: Option<String>,
    /// How long the call waits.
    pub timeout: Duration,
    /// Ends the call when seen in the output since this agent's last reply.
    pub until: Option<Pattern>,
    /// What the reply shows; `save_to` relative only.
    pub shape: Shape,
}

/// The arguments of `shell_integrate`, and what the host knows for it.
#[derive(Debug, Clone)]
pub struct Integrate {
    /// The session.
    pub session: Option<String>,
    /// Where the integration's files are.
    pub files: Files,
    /// Places where they were missing, and are not looked for again yet.
    pub missing: Vec<MissingEntry>,
}

/// Where the integration's files are, as a shell is to name them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Files {
    /// The server's own, on its host.
    pub here: String,
    /// Whether every user of that host may read these.
    pub for_all: bool,
    /// Where they are installed everywhere else.
    pub elsewhere: String,
}

/// The arguments of `read`.
#[derive(Debug, Clone)]
pub struct Read {
    /// The session, open, closed or archived.
    pub session: Option<String>,
    /// Which view.
    pub view: View,
    /// Only this region.
    pub region: Option<u32>,
    /// First line, numbered in the session.
    pub from: Option<u64>,
    /// Last line, numbered in the session.
    pub to: Option<u64>,
    /// Only the last lines.
    pub last_lines: Option<usize>,
    /// At most this many lines.
    pub max_lines: usize,
    /// Each line behind its number.
    pub numbers: bool,
}

/// Which view `read` gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum View {
    /// Lines of the cooked log.
    #[default]
    Cooked,
    /// Literal rows of the screen.
    Screen,
    /// The raw stream with its codes spelled out.
    Raw,
}

/// The arguments of `search`.
#[derive(Debug, Clone)]
pub struct Search {
    /// The session.
    pub session: Option<String>,
    /// Every session.
    pub all: bool,
    /// What is looked for, in each line by itself.
    pub pattern: Pattern,
    /// Only in this region.
    pub region: Option<u32>,
    /// Lines shown around each hit.
    pub context: usize,
    /// Hits shown at most.
    pub max_hits: usize,
    /// First line looked at.
    pub from: Option<u64>,
    /// Last line looked at.
    pub to: Option<u64>,
}
