//! What a session is told and what it wants: the whole vocabulary between the machine and its driver.

use crate::call::{CallId, Outcome, Signal, Waiting};
use crate::cooked::Size;
use crate::inspect::{Inspection, Look};
use crate::record::Intent;
use crate::region::Region;
use crate::time::Wall;

/// Something that happened.
#[derive(Debug)]
pub enum Event<'a> {
    /// The raw log grew by these bytes.
    Output {
        /// The bytes, in the order of the log.
        bytes: &'a [u8],
        /// When they were recorded.
        wall: Wall,
    },
    /// From this point of the stream on, the pane has this size.
    Resized(Size),
    /// A client calls.
    Call {
        /// Names the call until it is concluded.
        id: CallId,
        /// The agent.
        actor: String,
        /// What it asks for.
        request: Box<Waiting>,
        /// The line that a `wait`'s `until` matches already, looked up by the driver: the machine keeps no lines.
        matched: Option<u64>,
        /// The wall clock, for the records.
        wall: Wall,
    },
    /// What [`Effect::Type`] asked for is typed, or why it is not.
    Typed {
        /// The call.
        id: CallId,
        /// Why nothing was typed.
        result: Result<(), NotTyped>,
    },
    /// What came of [`Effect::Signal`].
    Signalled {
        /// The call.
        id: CallId,
        /// Who was given the signal, or why nobody was, in words for the model.
        result: Result<Signalled, String>,
    },
    /// The client of a call went away or cancelled it; what was typed stays typed.
    Gone(CallId),
    /// What [`Effect::Inspect`] asked for.
    Inspected(Box<Inspection>),
    /// When a person last pressed a key in this session; none where nobody is attached.
    Person(Option<Wall>),
    /// An agent has been shown the screen.
    Shown {
        /// The agent.
        actor: String,
        /// Its rows, each by [`crate::record::row_mark`].
        rows: Vec<u32>,
    },
    /// Somebody reads along, and wants [`Effect::Changed`]; or nobody does any more.
    Watched(bool),
    /// Somebody looks at all sessions, and wants [`Effect::Glanced`] once [`super::Session::doing`] tells what a `wait`
    /// would, or when that takes longer than a look at all sessions may.
    Glance,
    /// The pane is gone: nothing more will come. With the reason, in words.
    Closed(String),
    /// The deadline came.
    Tick,
}

/// Something the session wants done. Effects are carried out in order, so a reply never precedes its record.
#[derive(Debug)]
pub enum Effect {
    /// Append to `session.txt`: text that never changes again.
    Settle(Vec<u8>),
    /// Append to `regions.jsonl`.
    Record(Box<Region>),
    /// The agents' state changed: write `state.json`.
    Remember,
    /// Ask when a person last pressed a key; answered by [`Event::Person`].
    AskPerson,
    /// Type into the pane; answered by [`Event::Typed`].
    Type(Typing),
    /// Give the foreground job a signal; answered by [`Event::Signalled`].
    Signal(Signalling),
    /// Look at what runs at the terminal; answered by [`Event::Inspected`].
    Inspect(Look),
    /// Tell readers that the session looks different: what ran has ended, waits for somebody, or goes on after that.
    Changed {
        /// The region that does, where there is one.
        region: Option<u32>,
    },
    /// Answer those who have asked by [`Event::Glance`].
    Glanced,
    /// Answer a call.
    Conclude(CallId, Box<Outcome>),
}

/// A signal for the foreground job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signalling {
    /// The call it is for.
    pub call: CallId,
    /// The signal.
    pub signal: Signal,
    /// Whether the session's program is a shell with the integration, which is no job.
    pub shell: bool,
    /// Process ids of the shells that wait for a command, which are none either.
    pub shells: Vec<u32>,
    /// Whether a program has the alternate screen: then what is inside of it is its own business.
    pub alternate: bool,
}

/// Who was given a signal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signalled {
    /// What the kernel calls its processes.
    pub name: String,
    /// The same of those that run as another user, whom this one may not signal: they got nothing.
    pub refused: Option<String>,
    /// Whether it only leads to a far place, where the program that the user sees got nothing.
    pub carries: bool,
}

/// What is to be typed, in pieces that each go in by themselves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Typing {
    /// The call it is for.
    pub call: CallId,
    /// The pieces.
    pub parts: Vec<Part>,
    /// The column and the row, from 0, that the cursor has to be at where somebody is attached: elsewhere it is
    /// only if the pane shows what has not been read yet, and nothing is to be typed into that.
    pub at: Option<(u16, u16)>,
    /// Where a person was ever attached, the second that their last key has to be before: what they have pressed since may
    /// have changed what the line editor takes keys for.
    pub keys_before: Option<Wall>,
    /// What is written before the first byte is typed.
    pub intent: Intent,
}

/// Why nothing was typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotTyped {
    /// Somebody is attached, and the cursor was not at [`Typing::at`].
    Moved,
    /// A person has pressed a key in the second of [`Typing::keys_before`] or later.
    Pressed,
    /// In words for the model.
    Refused(String),
}

/// One piece of typing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// Whether the program may be told that this is pasted text, if it asked to be.
    pub bracketed: bool,
}
