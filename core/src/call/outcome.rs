//! What a waiting call came to: the decision, without the text of any line, so that the machine decides without
//! reading the log and a large reply is rendered off its task.

use std::time::Duration;

use super::{Asks, ScreenView, Shape};
use crate::record::MissingEntry;
use crate::region::Region;
use crate::waiting::Prints;

/// The status words of the contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// A command ended.
    Finished,
    /// A program, or a plain shell, shows its next prompt.
    Prompt,
    /// The foreground job waits for input at no known prompt.
    Waiting,
    /// The same, and what is typed is not shown. The word is the same.
    WaitingHidden,
    /// The job was stopped by a signal.
    Suspended,
    /// The shell or program wants the rest of what was typed.
    Continuation,
    /// A full-screen program has drawn and settled.
    Screen,
    /// `until` was seen.
    Matched,
    /// Neither markers nor inspection can tell, and nothing was printed for a while.
    Quiet,
    /// The session's program ended.
    Ended,
    /// Time ran out; nothing was killed.
    Running,
    /// A rule ended the call.
    StoppedRule,
    /// The program asks what no rule answers.
    Unanswered,
    /// The same, and what is typed is not shown. The word is the same.
    UnansweredHidden,
    /// What was asked was typed or pressed.
    Sent,
    /// Anything else that went well.
    Ok,
    /// The call failed.
    Error,
}

impl Status {
    /// The word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Finished => "finished",
            Self::Prompt => "prompt",
            Self::Waiting | Self::WaitingHidden => "waiting",
            Self::Suspended => "suspended",
            Self::Continuation => "continuation",
            Self::Screen => "screen",
            Self::Matched => "matched",
            Self::Quiet => "quiet",
            Self::Ended => "ended",
            Self::Running => "running",
            Self::StoppedRule => "stopped_rule",
            Self::Unanswered | Self::UnansweredHidden => "unanswered",
            Self::Sent => "sent",
            Self::Ok => "ok",
            Self::Error => "error",
        }
    }
}

/// What the host and the shell told of what runs, beside the status.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Observed {
    /// Who waits for input and prints where it is not seen.
    pub hides: Option<Reader>,
    /// The job was seen to work, and this long nothing was printed.
    pub silent: Option<Duration>,
    /// The terminal takes no output: somebody pressed ctrl+s.
    pub held: bool,
    /// The program that leads to a far place, and the place: what works or waits there is not to be seen.
    pub far: Option<(&'static str, String)>,
    /// Nothing has come from a far place since a line was typed there, not even its echo.
    pub unanswered: bool,
    /// Background jobs of the shell's that ended.
    pub jobs: Vec<JobEnd>,
    /// What the program in the foreground wants of the terminal after a `send`, at no prompt that is known.
    pub asks: Option<Asks>,
    /// That is a pager which waits for a key on the normal screen.
    pub pages: bool,
    /// The shell called the region's job stopped: it has not ended, though its line has. With the status that it gave
    /// for that, which is 0 in fish.
    pub stopped: Option<i32>,
    /// The shell's editor did not show the line that was typed.
    pub unshown: bool,
    /// The name of the process that would take a line, as the kernel keeps it, where it was seen.
    pub taker: Option<String>,
    /// What is known of the prompt that is told, where it is an integrated shell's.
    pub marks: Option<Marks>,
}

/// What became of the marks of an integrated shell's prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Marks {
    /// They are there: a command has started this shell.
    Stand,
    /// It prints them from its first command on: its startup file has set `PROMPT_COMMAND` anew.
    Later,
    /// The command took them away, and the next brings them back.
    Lost,
}

/// A process that reads the terminal while what it prints goes elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reader {
    /// What the kernel calls it.
    pub name: String,
    /// Its process id.
    pub pid: u32,
    /// Where what it prints goes.
    pub prints: Prints,
}

/// A background job that ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobEnd {
    /// Its number at the shell.
    pub number: u32,
    /// How it ended, in the shell's words: `Done`, `Exit 3`, `Killed`.
    pub how: String,
    /// Its command.
    pub command: String,
}

/// What a call came to.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// The status.
    pub status: Status,
    /// The region the reply is about, as it stands; of a running one, `lines` counts what there is so far.
    pub region: Option<Region>,
    /// The output the reply shows, where it is not the region's: first line and count.
    pub output: Option<(u64, u64)>,
    /// With several lines: the regions made, in order.
    pub ran: Vec<Region>,
    /// What took the lines is gone: a note tells which were not typed.
    pub gone: bool,
    /// With several lines: the question or the prompt that a region of `ran` led to, and that the next line answered;
    /// empty where its program waited without a word.
    pub led_to: Vec<(u32, String)>,
    /// With several lines: how many were not typed; none where the call had one line.
    pub unsent: Option<usize>,
    /// How long the call, or its region, took.
    pub elapsed: Duration,
    /// The prompt it waits at.
    pub prompt: Option<String>,
    /// How many bytes of output without a line end stand before the prompt on its line, which is shown with the output.
    pub glued: usize,
    /// The line that `until` matched, or the rule that ended the call, from 0.
    pub matched: Option<u64>,
    /// The exit status of the session's program, where that is what ended.
    pub program_exit: Option<i32>,
    /// Notes, without their `note: `.
    pub notes: Vec<String>,
    /// What of the screen is wanted beside the output.
    pub screen: ScreenView,
    /// What of the output is shown.
    pub shape: Shape,
    /// What else was seen of what runs.
    pub observed: Observed,
    /// What is wrong and what to do next, for [`Status::Error`].
    pub error: Option<String>,
    /// The plain shell whose prompt it shows.
    pub plain: Option<Plain>,
    /// What is to be remembered for all sessions.
    pub learned: Option<Learned>,
}

/// A shell without the integration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plain {
    /// Tells its place from others; empty for the server's own.
    pub place: String,
    /// Its name, where its process is to be seen.
    pub shell: Option<String>,
    /// How it was reached.
    pub way: Way,
}

/// How a shell was reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// It runs on the server's own host.
    Here,
    /// It runs there as another user, through `su` or `sudo`.
    User,
    /// Through a connection to another host.
    Host,
    /// Through the command that enters a container or a sandbox.
    Container,
    /// From an integrated shell elsewhere.
    There,
}

/// What a call has found out that is worth more than its own session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Learned {
    /// The integration's files are missing there.
    Missing(MissingEntry),
    /// They are there.
    Present {
        /// The place, as [`MissingEntry::place`] has it.
        place: String,
        /// `user@host` as the shell there told.
        who: String,
    },
}

impl Outcome {
    /// An outcome with this status and nothing else.
    #[must_use]
    pub fn new(status: Status) -> Self {
        Self {
            status,
            region: None,
            output: None,
            ran: Vec::new(),
            gone: false,
            led_to: Vec::new(),
            unsent: None,
            elapsed: Duration::ZERO,
            prompt: None,
            glued: 0,
            matched: None,
            program_exit: None,
            notes: Vec::new(),
            screen: ScreenView::None,
            shape: Shape::default(),
            observed: Observed::default(),
            error: None,
            plain: None,
            learned: None,
        }
    }

    /// A failed call.
    #[must_use]
    pub fn error(text: impl Into<String>) -> Self {
        Self { error: Some(text.into()), ..Self::new(Status::Error) }
    }
}
