//! Regions: the output of one command, or of one line sent to a program.
//!
//! A region holds output only. The command that made it is its label.

pub mod shells;
pub mod stages;
pub mod store;

use crate::text::visible::quoted;
use crate::time::Wall;

/// The longest label, in bytes; a longer command is told by its beginning.
pub const LABEL_MAX: usize = 8 * 1024;

/// What made a region.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A command line of an integrated shell; its boundaries come from the shell's markers.
    Command,
    /// A line sent to a program, or to a shell without the integration; its end was told by its looks.
    Input,
}

/// How far a region has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Its end has not been seen yet.
    Running,
    /// It ended.
    Finished,
    /// Its shell went away before it said that the command ended (`exit`, `exec`, a shell that was killed).
    Lost,
}

/// Where a shell runs, as its own markers say, or as the processes that lead there tell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The host's name.
    pub host: String,
    /// The user's name.
    pub user: String,
    /// The container or sandbox on that host, where one was entered with a command that names it.
    pub container: Option<String>,
}

/// Which shell a command was given to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShellId {
    /// The host it runs on, as its markers say; empty where they do not.
    pub host: String,
    /// Its process id there.
    pub pid: u32,
}

/// A shell that a program started, and that has gone without a marker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Left {
    /// Raw offset at which that was seen.
    pub at: u64,
    /// The shell's process id.
    pub pid: u32,
    /// When it was seen.
    pub wall: Wall,
}

/// One region.
///
/// Its output is exactly the lines `first_line` to `first_line + lines - 1` of the session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Region {
    /// Its number in the session, from 1, in the order in which regions began.
    pub id: u32,
    /// What made it.
    pub kind: Kind,
    /// The command line, or the line sent; at most [`LABEL_MAX`] bytes. Empty where it is not known.
    pub label: String,
    /// How far it has come.
    pub state: State,
    /// The exit status, where the shell told it.
    pub exit: Option<i32>,
    /// Every stage's status of the pipeline that ended it; empty where it was a single command or is not known.
    pub pipestatus: Vec<i32>,
    /// The number of its first output line in the session, from 1; where it has no output, the line that would be.
    pub first_line: u64,
    /// Lines of output; 0 until it is closed, and where there is none.
    pub lines: u64,
    /// The shells inside it that have gone without a marker, as was seen from the host.
    pub left: Vec<Left>,
    /// Raw offset at which its output begins. For a line that the shell refused, that of the typed line's echo.
    pub raw_start: u64,
    /// Raw offset at which its output ends. An input region that a marker ended includes the marker.
    pub raw_end: Option<u64>,
    /// The working directory the command was given in.
    pub cwd: Option<String>,
    /// Where it ran; none for input regions on the host and as the user of their shell.
    pub place: Option<Place>,
    /// The shell it was given to; none for input regions.
    pub shell: Option<ShellId>,
    /// How many open regions it began inside of.
    pub depth: u32,
    /// When it began.
    pub started: Wall,
    /// When it was closed.
    pub ended: Option<Wall>,
    /// Who gave the command; not known here, the session sets it.
    pub actor: Option<String>,
}

/// What stands for the label of a line that was typed and not shown.
pub const NO_LABEL: &str = "(not shown)";

impl Region {
    /// It as a sentence names it: its number and, in quotes, the first line of its label up to this many characters.
    #[must_use]
    pub fn named(&self, chars: usize) -> String {
        if self.label.is_empty() {
            return format!("#{} {NO_LABEL}", self.id);
        }
        let label: String = self.label.lines().next().unwrap_or_default().chars().take(chars).collect();
        format!("#{} {label}", self.id, label = quoted(&label))
    }
}

/// A label as it is kept: cut to [`LABEL_MAX`] bytes.
#[must_use]
pub fn label(mut text: String) -> String {
    text.truncate(text.floor_char_boundary(LABEL_MAX));
    text
}
