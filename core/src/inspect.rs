//! What can be known of the processes at a pane's terminal, and who finds it out.
//!
//! An inspection never fails: each part is known, or unknown with the reason. What follows from it is decided in
//! [`crate::waiting`], not here.

/// A part of an inspection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Known<T> {
    /// It was found out.
    Known(T),
    /// It was not, and why.
    Unknown(Why),
}

/// Why something is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// Nobody looked: this platform has no inspector.
    NobodyLooks,
    /// The operating system does not let us look.
    Refused,
    /// It went away while we looked.
    Gone,
}

/// The terminal of a pane, and the process that the pane was started with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PaneTerminal {
    /// The path of the terminal's device.
    pub tty: String,
    /// The process id of the pane's own program.
    pub pid: u32,
}

/// How a terminal treats what is typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TerminalModes {
    /// Line by line (`ICANON`), not key by key.
    pub canonical: bool,
    /// Typed characters are shown (`ECHO`).
    pub echo: bool,
}

/// What was found out at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inspection {
    /// How the terminal treats what is typed.
    pub modes: Known<TerminalModes>,
    /// Whether a process that has the terminal sleeps until something is typed.
    pub awaits_input: Known<bool>,
}

/// Finds out what runs at a pane's terminal.
pub trait Inspector: std::fmt::Debug + Send + Sync {
    /// Looks once. May take a millisecond; is never called from a session's task.
    fn inspect(&self, terminal: &PaneTerminal) -> Inspection;
}

/// The inspector where there is none: nothing is known, and everything goes by markers, prompts and silence.
#[derive(Debug, Clone, Copy, Default)]
pub struct Blind;

impl Inspector for Blind {
    fn inspect(&self, _terminal: &PaneTerminal) -> Inspection {
        Inspection { modes: Known::Unknown(Why::NobodyLooks), awaits_input: Known::Unknown(Why::NobodyLooks) }
    }
}
