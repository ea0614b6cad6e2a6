//! `send`: types text, presses keys, and shows what appeared once the output rests.

use std::time::Duration;

use super::run::Step;
use super::watch::{Seen, prompt_text};
use super::{Outcome, Send, Status};
use crate::log::{LogEvent, ShellState};
use crate::time::Now;

/// A program that never stops printing is not waited for longer than this: the reply then says it goes on.
const SETTLE_MAX: Duration = Duration::from_secs(10);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Begin,
    Typing,
    Settling(Now),
}

/// A `send` under way.
#[derive(Debug)]
pub(crate) struct SendCall {
    pub(crate) send: Send,
    phase: Phase,
    region: Option<u32>,
    from_line: u64,
    last_output: Now,
    /// Whether Enter is among what is pressed.
    submits: bool,
    /// The agent whose text stands on the shell's line afterwards: another's, if it stood there before; none, if a
    /// person's did.
    pub(crate) line_of: Option<String>,
}

impl SendCall {
    pub(crate) fn begin(send: Send) -> Self {
        Self {
            send,
            phase: Phase::Begin,
            region: None,
            from_line: 1,
            last_output: Now::default(),
            submits: false,
            line_of: None,
        }
    }

    pub(crate) fn deadline(&self) -> Option<Now> {
        match self.phase {
            Phase::Settling(since) => Some(since + SETTLE_MAX.max(self.send.settle)),
            Phase::Begin | Phase::Typing => None,
        }
    }

    pub(crate) fn on(&mut self, event: &LogEvent) {
        if let LogEvent::Opened(id) = event
            && self.phase != Phase::Begin
            && self.submits
        {
            self.region.get_or_insert(*id);
        }
    }

    pub(crate) fn output(&mut self, now: Now) {
        self.last_output = now;
    }

    /// Where what appears begins.
    pub(crate) fn typing_at(&mut self, line: u64, submits: bool) {
        self.from_line = line;
        self.submits = submits;
        self.phase = Phase::Typing;
    }

    /// Whether nothing has been typed yet.
    pub(crate) fn is_new(&self) -> bool {
        self.phase == Phase::Begin
    }

    /// The terminal has not taken it, and it is to be typed again.
    pub(crate) fn take_back(&mut self) {
        self.phase = Phase::Begin;
    }

    pub(crate) fn typed(&mut self, now: Now, result: Result<(), String>) -> Option<Outcome> {
        self.phase = Phase::Settling(now);
        self.last_output = now;
        result.err().map(Outcome::error)
    }

    pub(crate) fn step(&self, view: &Seen<'_>) -> Step {
        let Phase::Settling(since) = self.phase else { return Step::Wait(None) };
        let over = view.over();
        let rests_at = self.last_output + self.send.settle;
        let late = view.now >= since + SETTLE_MAX.max(self.send.settle);
        if !over && view.now < rests_at && !late {
            return Step::Wait(Some(rests_at));
        }
        let status = if over { Status::Ended } else { Status::Sent };
        let mut outcome = Outcome::new(status);
        outcome.region = self.region.and_then(|id| view.log.region(id)).cloned();
        outcome.output = Some((self.from_line, u64::MAX));
        outcome.elapsed = view.now - since;
        outcome.screen = self.send.screen;
        outcome.program_exit = view.ended.flatten();
        outcome.prompt = match view.shell {
            ShellState::AtPrompt { .. } | ShellState::Continuation => Some(prompt_text(view)),
            _ => view.resting.prompt.as_ref().map(|(text, _)| text.clone()),
        };
        if late && view.now < rests_at {
            outcome.notes.push("the output has not come to rest; read or wait shows more".to_owned());
        }
        Step::Done(Box::new(outcome))
    }
}
