//! Whether what is typed goes where it was meant to.
//!
//! A pane shows what a person types before we have read it. So what is typed at a shell's prompt says where the cursor
//! has to be, and the terminal takes it only there. Elsewhere the call looks again in a moment: what was in the way has
//! been read by then. Where it is not, the terminal and the cooked view differ in how they see the prompt, which is
//! to stop nobody from working.

use std::time::Duration;

use super::line::tried::Trial;
use super::waiters::Call;
use super::{NotTyped, Session};
use crate::call::REST_AT_PROMPT;
use crate::log::ShellState;
use crate::time::Now;

/// How soon typing is tried again: bytes take less than that from the pane to here.
const LOOK: Duration = Duration::from_millis(10);

/// How long at most: a machine with nothing left to give may take seconds to get bytes from the pane to here.
const PATIENCE: Duration = Duration::from_secs(2);

/// The same in a session whose prompt was seen differently the time before, and most likely is again.
const PATIENCE_IF_MISREAD: Duration = Duration::from_millis(100);

/// A call that the terminal took nothing of, for its cursor was elsewhere.
#[derive(Debug, Clone, Copy)]
pub(super) struct Moved {
    since: Now,
    /// When typing is tried again.
    pub(super) again: Now,
    /// Whether it is then typed wherever the cursor is.
    given_up: bool,
}

impl Session {
    /// Where the cursor has to be for a call that types at a shell's prompt.
    pub(super) fn expected_cursor(&self, moved: Option<Moved>) -> Option<(u16, u16)> {
        let at_shell = matches!(self.log.shell(), ShellState::AtPrompt { .. } | ShellState::Continuation);
        (at_shell && !moved.is_some_and(|moved| moved.given_up)).then(|| self.log.cooked.cursor())
    }

    /// The same at a prompt that no marker tells: a person may type there as well.
    pub(super) fn expected_there(&self, moved: Option<Moved>) -> Option<(u16, u16)> {
        (!moved.is_some_and(|moved| moved.given_up)).then(|| self.log.cooked.cursor())
    }

    /// The same at a program's line, where it rests: one that prints moves its cursor before that is read.
    pub(super) fn expected_at_rest(&self, now: Now, moved: Option<Moved>) -> Option<(u16, u16)> {
        let takes_lines = matches!(self.log.shell(), ShellState::Running(_) | ShellState::NoShell);
        let rests = self.screen_since.is_none() && now - self.last_activity >= REST_AT_PROMPT;
        (takes_lines && rests).then(|| self.expected_there(moved)).flatten()
    }

    /// What becomes of a call whose typing is over: the words for the model where it was refused, nothing where it is
    /// tried again.
    pub(super) fn typed_or_held(
        &mut self,
        now: Now,
        call: &mut Call,
        result: Result<(), NotTyped>,
    ) -> Option<Result<(), String>> {
        match result {
            Ok(()) => {
                self.misread = call.moved.take().is_some_and(|moved| moved.given_up);
                Some(Ok(()))
            }
            Err(NotTyped::Refused(why)) => Some(Err(why)),
            Err(NotTyped::Pressed) => {
                call.trial = Trial::Due;
                call.take_back(now);
                None
            }
            Err(NotTyped::Moved) => {
                if matches!(call.trial, Trial::Typing(_)) {
                    call.trial = Trial::Due;
                }
                let since = call.moved.map_or(now, |moved| moved.since);
                let patience = if self.misread { PATIENCE_IF_MISREAD } else { PATIENCE };
                call.moved = Some(Moved { since, again: now + LOOK, given_up: now - since >= patience });
                call.take_back(now);
                None
            }
        }
    }
}
