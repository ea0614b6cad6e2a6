//! What a person has typed while something ran, and the shell shows only behind its next prompt.
//!
//! The prompt's marker comes before the line editor has read what was typed ahead. A line that has waited for that
//! prompt would go in between: it would erase a person's text, or become one line with it. So it is asked first when a
//! person last pressed a key; where that was while something ran, the editor is given a moment to show it.

use std::time::Duration;

use crate::call::Target;
use crate::log::ShellState;
use crate::session::waiters::{Call, CallKind};
use crate::session::{Effect, Session};
use crate::time::Now;

/// How long a line editor is given to show what was typed ahead, where a person has typed. readline, zsh and fish read
/// the terminal within milliseconds of their prompt; a loaded machine takes longer.
const SHOWN_DUE: Duration = Duration::from_millis(500);

/// Where the call has no time left to wait for that.
const NOT_SHOWN_YET: &str = "nothing was typed: someone at the terminal has typed while the command before ran, and the shell has not shown it yet. read shows the line; then run it again";

/// What is known of a person's last key at the prompt that stands.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::session) struct Typeahead {
    /// When the prompt came.
    prompt: Option<Now>,
    asked: bool,
    told: Option<Now>,
}

impl Typeahead {
    /// The shell shows a prompt: what was typed until now may come to stand behind it.
    pub(in crate::session) fn prompt(&mut self, now: Now) {
        *self = Self { prompt: Some(now), ..Self::default() };
    }

    /// When the prompt came that stands, if this server saw it come.
    pub(in crate::session) fn prompted(&self) -> Option<Now> {
        self.prompt
    }

    /// It is told when a person last pressed a key.
    pub(in crate::session) fn told(&mut self, now: Now) {
        if self.asked {
            self.told.get_or_insert(now);
        }
    }
}

impl Session {
    /// Until when a line that has waited for this prompt is not typed yet; the inner none is until
    /// [`crate::session::Event::Person`].
    ///
    /// # Errors
    /// Where the call's time is over by then.
    pub(in crate::session) fn held_for_typeahead(
        &mut self,
        now: Now,
        call: &Call,
        target: Target,
    ) -> Result<Option<Option<Now>>, String> {
        if target == Target::Program {
            return self.held_at_program(now, call);
        }
        if let Some(until) = self.held_for_unread(now, call, target)? {
            return Ok(Some(Some(until)));
        }
        let Some(prompt) = self.typeahead.prompt.filter(|prompt| call.began < *prompt) else { return Ok(None) };
        if target != Target::Shell || !matches!(self.log.shell(), ShellState::AtPrompt { .. }) {
            return Ok(None);
        }
        let until = match self.typeahead.told {
            Some(_) if !self.person_typed_since_last_line() || !self.log.cooked.input().trim().is_empty() => {
                return Ok(None);
            }
            Some(told) => Some(told.max(prompt) + SHOWN_DUE),
            None => None,
        };
        if until.is_some_and(|until| until <= now) {
            return Ok(None);
        }
        if call.deadline().is_some_and(|deadline| deadline <= now) {
            return Err(NOT_SHOWN_YET.to_owned());
        }
        if !std::mem::replace(&mut self.typeahead.asked, true) {
            self.effects.push_back(Effect::AskPerson);
        }
        Ok(Some(until))
    }

    /// The same at a program's prompt, which comes before its line editor has read what was typed ahead, too.
    fn held_at_program(&mut self, now: Now, call: &Call) -> Result<Option<Option<Now>>, String> {
        let until = self.last_activity + SHOWN_DUE;
        if until <= now || self.unechoed.is_some() || self.behind_prompt().is_some() || self.grown().is_some() {
            return Ok(None);
        }
        if self.person_told != Some(self.log.cooked.offset()) {
            self.ask_who_typed();
            return Ok(Some(None));
        }
        if !self.person_typed_since_last_line() {
            return Ok(None);
        }
        match call.deadline() {
            Some(deadline) if deadline <= now => Err(NOT_SHOWN_YET.to_owned()),
            _ => Ok(Some(Some(until))),
        }
    }

    /// Whether something stands on the shell's line that no agent typed, so that a person's last key matters: the
    /// driver then tells it before it hands over a call.
    #[must_use]
    pub fn wonders_who_typed(&self) -> bool {
        let text = self.log.cooked.input();
        match self.log.shell() {
            ShellState::AtPrompt { .. } => !text.trim().is_empty() && self.agents.owner_of(&text).is_none(),
            ShellState::Continuation => self.agents.continuing().is_none(),
            ShellState::Running(_) | ShellState::NoShell => {
                self.buried.is_some()
                    || self.behind_prompt().is_some()
                    || self.grown().is_some()
                    || self.is_hidden_question()
                    || self.reads_unshown()
                    || self.was_answered() && self.wants_the_rest()
            }
            ShellState::Starting | ShellState::Ended => false,
        }
    }

    /// Whether what stands on the line may be a person's, and it is not known yet when they last pressed a key: that is
    /// asked for then, and whoever is to type waits for [`crate::session::Event::Person`].
    pub(in crate::session) fn asks_who_typed(&mut self) -> bool {
        let program = matches!(self.log.shell(), ShellState::Running(_) | ShellState::NoShell);
        let told = self.person_told == Some(self.log.cooked.offset());
        let asks = program && !told && self.wonders_who_typed();
        if asks {
            self.ask_who_typed();
        }
        asks
    }

    pub(in crate::session) fn ask_who_typed(&mut self) {
        let offset = self.log.cooked.offset();
        if self.person_asked.replace(offset) != Some(offset) {
            self.effects.push_back(Effect::AskPerson);
        }
    }
}

impl Call {
    /// Its line was not given to the terminal, and is to be tried again.
    pub(in crate::session) fn take_back(&mut self, now: Now) {
        match &mut self.kind {
            CallKind::Run(run) => run.take_back(now),
            CallKind::Expect(expect) => expect.run.take_back(now),
            CallKind::Send(send) => send.take_back(),
            CallKind::Integrate(integrate) => integrate.take_back(now),
            CallKind::Wait(_) => {}
        }
    }
}
