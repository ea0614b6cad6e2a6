//! The calls that wait in a session: one of five kinds, asked the same questions.

use super::Session;
use super::line::tried::Trial;
use super::sight::Moved;
use crate::call::{CallId, ExpectCall, IntegrateCall, Outcome, RunCall, SendCall, Step, WaitCall};
use crate::log::{Log, ShellState};
use crate::pattern::Pattern;
use crate::region::State;
use crate::time::Now;

#[derive(Debug)]
pub(super) struct Call {
    pub(super) id: CallId,
    pub(super) actor: String,
    pub(super) began: Now,
    pub(super) kind: CallKind,
    /// What held up its typing, if anything did.
    pub(super) moved: Option<Moved>,
    /// What is known of the line editor that its line is for.
    pub(super) trial: Trial,
}

#[derive(Debug)]
pub(super) enum CallKind {
    Run(Box<RunCall>),
    Expect(Box<ExpectCall>),
    Send(Box<SendCall>),
    Wait(Box<WaitCall>),
    Integrate(Box<IntegrateCall>),
}

impl Session {
    /// Whose call has the keyboard, and the tool's name: no other call types a line before it is answered.
    #[must_use]
    pub fn typing_now(&self) -> Option<(&str, &'static str)> {
        self.calls.iter().find_map(|call| {
            let tool = match &call.kind {
                CallKind::Run(_) => "run",
                CallKind::Expect(_) => "expect",
                CallKind::Send(_) => "send",
                CallKind::Integrate(_) => "shell_integrate",
                CallKind::Wait(_) => return None,
            };
            Some((call.actor.as_str(), tool))
        })
    }
}

impl Call {
    pub(super) fn deadline(&self) -> Option<Now> {
        match &self.kind {
            CallKind::Run(run) => Some(run.deadline()),
            CallKind::Expect(expect) => Some(expect.run.deadline()),
            CallKind::Send(send) => send.deadline(),
            CallKind::Wait(wait) => Some(wait.deadline()),
            CallKind::Integrate(integrate) => Some(integrate.deadline()),
        }
    }

    /// A `run` or an `expect` behind another: nothing is typed before the other is answered.
    pub(super) fn queued(&self, now: Now) -> Step {
        let deadline = match &self.kind {
            CallKind::Run(run) => Some(run.deadline()),
            CallKind::Expect(expect) => Some(expect.run.deadline()),
            CallKind::Integrate(integrate) => Some(integrate.deadline()),
            CallKind::Send(_) | CallKind::Wait(_) => None,
        };
        match deadline {
            Some(deadline) if now >= deadline => {
                let text = "nothing was typed: another call's line was still running in this session when the time ran out. wait waits for it";
                Step::Done(Box::new(Outcome::error(text)))
            }
            _ => Step::Wait(None),
        }
    }

    /// Since when a shell has not begun the line that it was given.
    pub(super) fn unbegun_since(&self) -> Option<Now> {
        match &self.kind {
            CallKind::Run(run) => run.unbegun_since(),
            CallKind::Expect(expect) => expect.run.unbegun_since(),
            CallKind::Send(_) | CallKind::Wait(_) | CallKind::Integrate(_) => None,
        }
    }

    /// Whether it has a line to type that waits for a prompt.
    pub(super) fn waits_for_prompt(&self) -> bool {
        match &self.kind {
            CallKind::Run(run) => run.waits_for_prompt(),
            CallKind::Expect(expect) => expect.run.waits_for_prompt(),
            CallKind::Send(_) | CallKind::Wait(_) | CallKind::Integrate(_) => false,
        }
    }

    pub(super) fn wants_lines(&self) -> bool {
        match &self.kind {
            CallKind::Run(run) => run.wants_lines(),
            CallKind::Wait(wait) => wait.wants_lines(),
            CallKind::Expect(_) => true,
            CallKind::Integrate(integrate) => integrate.wants_lines(),
            CallKind::Send(_) => false,
        }
    }

    /// Whether what the host sees at the terminal can be the answer to it.
    pub(super) fn is_told_by_looking(&self) -> bool {
        !matches!(self.kind, CallKind::Send(_))
    }

    /// Whether its reply says what the host sees at the terminal.
    pub(super) fn tells_of_looking(&self) -> bool {
        self.is_told_by_looking() || matches!(&self.kind, CallKind::Send(send) if send.is_settling())
    }

    /// Whether it has pressed what may have stopped the terminal's output.
    pub(super) fn may_stop_output(&self) -> bool {
        matches!(&self.kind, CallKind::Send(send) if send.may_stop_output())
    }

    /// Whether it has to know what the terminal does with what is typed, whatever the terminal looks like.
    pub(super) fn wants_look(&self) -> bool {
        match &self.kind {
            CallKind::Expect(expect) => expect.wants_look(),
            CallKind::Integrate(_) => self.begins_at_any_prompt(),
            CallKind::Run(_) | CallKind::Send(_) | CallKind::Wait(_) => false,
        }
    }

    /// Whether it has to know first who would take a line, whatever the terminal looks like.
    pub(super) fn begins_at_any_prompt(&self) -> bool {
        matches!(&self.kind, CallKind::Integrate(integrate) if integrate.is_new())
    }

    /// What a prompt looks like there, where it says so.
    pub(super) fn prompt_pattern(&self) -> Option<&Pattern> {
        match &self.kind {
            CallKind::Run(run) => run.prompt_pattern.as_ref(),
            CallKind::Expect(_) | CallKind::Send(_) | CallKind::Wait(_) | CallKind::Integrate(_) => None,
        }
    }

    /// The region of the line that it typed or waits for.
    pub(super) fn region(&self) -> Option<u32> {
        match &self.kind {
            CallKind::Run(run) => run.region(),
            CallKind::Expect(expect) => expect.run.region(),
            CallKind::Wait(wait) => wait.region(),
            CallKind::Send(send) => send.region(),
            CallKind::Integrate(_) => None,
        }
    }

    pub(super) fn until(&self) -> Option<&Pattern> {
        match &self.kind {
            CallKind::Run(run) => run.until.as_ref(),
            CallKind::Wait(wait) => wait.until.as_ref(),
            CallKind::Expect(_) | CallKind::Send(_) | CallKind::Integrate(_) => None,
        }
    }

    /// The lines that `until` looks at: output, never the echo of what was typed.
    pub(super) fn until_range(&self, log: &Log) -> Option<(u64, u64)> {
        let region = match &self.kind {
            CallKind::Run(run) => log.region(run.region()?)?,
            CallKind::Expect(expect) => return expect.range(log),
            CallKind::Wait(wait) => match wait.region().and_then(|id| log.region(id)).or_else(|| log.open_region()) {
                Some(region) => region,
                // A program that no line is under way to prints what it likes.
                None if log.shell() == ShellState::NoShell => return Some((wait.first_unseen(), u64::MAX)),
                None => return None,
            },
            CallKind::Integrate(integrate) => return Some((integrate.first_line(), u64::MAX)),
            CallKind::Send(_) => return None,
        };
        let last = if region.state == State::Running {
            u64::MAX
        } else {
            (region.first_line + region.lines).saturating_sub(1)
        };
        let first = match &self.kind {
            CallKind::Wait(wait) => region.first_line.max(wait.first_unseen()),
            CallKind::Run(_) | CallKind::Expect(_) | CallKind::Send(_) | CallKind::Integrate(_) => region.first_line,
        };
        Some((first, last))
    }

    pub(super) fn set_matched(&mut self, line: u64) {
        match &mut self.kind {
            CallKind::Run(run) => run.matched(line),
            CallKind::Wait(wait) => wait.matched(line),
            CallKind::Expect(_) | CallKind::Send(_) | CallKind::Integrate(_) => {}
        }
    }
}
