//! What a session does in a few words, for whoever looks at all of them, by the judgement that a `wait` goes by.
//!
//! What was seen when the last call returned may be over: a program that worked may ask by now. So what runs is looked at
//! first, for a moment: a session about which more cannot be told in that time shows what is known.

use std::time::Duration;

use super::{Effect, Session};
use crate::call::{Outcome, Status};
use crate::log::ShellState;
use crate::region::State;
use crate::reply::headline;
use crate::time::Now;

/// How long a look at all sessions may take: output rests after a tenth of a second, and two looks at who waits lie half of
/// that apart.
const PATIENCE: Duration = Duration::from_millis(200);

/// Characters of a command that are shown.
const LABEL_CHARS: usize = 60;

impl Session {
    /// Somebody wants to know what it does.
    pub(super) fn glance(&mut self, now: Now) {
        self.glance = Some(now);
        self.looking.hurry();
    }

    /// Tells those who look once it is known what there is to know; gives when it is told at the latest.
    pub(super) fn end_glance(&mut self, now: Now) -> Option<Now> {
        let since = self.glance?;
        if now < since + PATIENCE && !self.is_known(now, since) {
            return Some(since + PATIENCE);
        }
        self.glance = None;
        self.effects.push_back(Effect::Glanced);
        None
    }

    fn is_known(&self, now: Now, since: Now) -> bool {
        let over = self.ended.is_some() || self.closed.is_some();
        let unmarked = matches!(self.shell(now), ShellState::Running(_) | ShellState::NoShell);
        let at_prompt = || self.resting(now, None).prompt.is_some();
        over || !unmarked || self.screen_since.is_some() || self.looking.holds_since(since) || at_prompt()
    }

    /// What it does, in a few words: how it stands first, then whose text is on its line, then what runs.
    #[must_use]
    pub fn doing(&self, now: Now) -> String {
        if let Some(why) = &self.closed {
            return why.clone();
        }
        if let Some(exit) = self.ended {
            return exit.map_or_else(|| "ended".to_owned(), |exit| format!("ended with {exit}"));
        }
        let stands = match self.shell(now) {
            ShellState::AtPrompt { .. } => "at its prompt".to_owned(),
            ShellState::Continuation => "at a continuation prompt".to_owned(),
            ShellState::Starting => "starting".to_owned(),
            ShellState::Ended => "ended".to_owned(),
            ShellState::Running(_) | ShellState::NoShell => return self.what_runs(now),
        };
        [Some(stands), self.on_the_line()].into_iter().flatten().collect::<Vec<_>>().join(" · ")
    }

    fn what_runs(&self, now: Now) -> String {
        let label = self
            .log
            .regions()
            .rev()
            .find(|region| region.state == State::Running)
            .map(|region| region.named(LABEL_CHARS));
        let mut outcome = self.reading(now, None).unwrap_or_else(|| Outcome::new(Status::Running));
        if self.log.cooked.fullscreen().is_some() {
            outcome.status = Status::Screen;
        }
        let words = match outcome.status {
            Status::Running | Status::Finished => {
                let running = label.map_or_else(|| "running".to_owned(), |label| format!("running {label}"));
                [Some(running), self.on_the_line(), None]
            }
            Status::Screen => [Some(headline(&outcome)), None, label],
            _ => [Some(headline(&outcome)), self.on_the_line(), label],
        };
        words.into_iter().flatten().collect::<Vec<_>>().join(" · ")
    }

    /// Whose text stands on the line. What has not been echoed yet may never be.
    fn on_the_line(&self) -> Option<String> {
        let mut unsubmitted = self.unsubmitted()?;
        if self.unechoed.is_some() {
            unsubmitted.text = None;
        }
        unsubmitted.brief()
    }
}
