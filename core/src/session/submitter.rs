//! Whose Enter the shell is about to answer: the region that it begins is that agent's.

use std::time::Duration;

use crate::log::LogEvent;
use crate::time::Now;

/// A shell at its prompt answers an Enter within milliseconds. One that has not done so after this long has taken it
/// for something else (a search, a quoted key), and is at its prompt.
const ANSWER_DUE: Duration = Duration::from_secs(1);

/// The agent that pressed Enter last, until the shell's next prompt.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Submitter {
    actor: Option<String>,
    /// Prompts until every line is answered.
    left: u32,
    /// When Enter was pressed at a prompt whose answer has not come.
    asked: Option<Now>,
}

impl Submitter {
    /// Enter was pressed, once or several times. `at_prompt` tells when, if a shell takes it; what a program takes
    /// is over with the next prompt, whatever it was.
    pub(crate) fn submitted(&mut self, actor: &str, times: u32, at_prompt: Option<Now>) {
        let left = if at_prompt.is_some() { times } else { 1 };
        *self = Self { actor: Some(actor.to_owned()), left, asked: at_prompt };
    }

    /// The terminal has taken it.
    pub(crate) fn typed(&mut self, now: Now) {
        self.asked = self.asked.map(|_| now);
    }

    /// Nothing was submitted after all.
    pub(crate) fn withdraw(&mut self) {
        *self = Self::default();
    }

    /// Who began what begins now; none is a person.
    pub(crate) fn actor(&self) -> Option<&str> {
        self.actor.as_deref()
    }

    /// Takes one event of the log. Ask [`Self::actor`] after it.
    pub(crate) fn on(&mut self, event: &LogEvent) {
        match event {
            LogEvent::Opened(_) | LogEvent::NotRun { .. } | LogEvent::Continuation => self.asked = None,
            LogEvent::Prompt => {
                self.asked = None;
                self.left = self.left.saturating_sub(1);
                if self.left == 0 {
                    self.actor = None;
                }
            }
            _ => {}
        }
    }

    /// Until when a prompt that is shown is not to be believed: a line was just given to it.
    pub(crate) fn answer_due(&self, now: Now) -> Option<Now> {
        self.asked.map(|asked| asked + ANSWER_DUE).filter(|due| *due > now)
    }
}
