//! What a session does in a few words, for whoever looks at all of them, by the judgement that a `wait` goes by.
//!
//! What was seen when the last call returned may be over: a program that worked may ask by now. So what runs is looked at
//! first, for a moment: a session about which more cannot be told in that time shows what is known.

use std::time::Duration;

use crate::call::{Outcome, Status};
use crate::log::ShellState;
use crate::region::State;
use crate::reply::headline;
use crate::session::{Effect, Session};
use crate::time::{Now, Wall};

/// How long a look at all sessions may take: output rests after a tenth of a second, and two looks at who waits lie half of
/// that apart.
const PATIENCE: Duration = Duration::from_millis(200);

/// Characters of a command that are shown.
const LABEL_CHARS: usize = 60;

/// What a session does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Doing {
    /// In a few words: how it stands first, then whose text is on its line, then what runs.
    pub words: String,
    /// Since when: a command that works, or a full-screen program, since it was begun, a shell's prompt since it came.
    /// None where that is when it last printed something: a question, a program's prompt, its end.
    pub since: Option<Wall>,
}

impl Session {
    /// Somebody wants to know what it does.
    pub(in crate::session) fn glance(&mut self, now: Now) {
        self.glance = Some(now);
        self.looking.hurry();
    }

    /// Tells those who look once it is known what there is to know; gives when it is told at the latest.
    pub(in crate::session) fn end_glance(&mut self, now: Now) -> Option<Now> {
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

    /// What it does, and since when.
    #[must_use]
    pub fn doing(&self, now: Now) -> Doing {
        if let Some(why) = &self.closed {
            return Doing { words: why.clone(), since: None };
        }
        if let Some(exit) = self.ended {
            let words = exit.map_or_else(|| "ended".to_owned(), |exit| format!("ended with {exit}"));
            return Doing { words, since: None };
        }
        let (stands, since) = match self.shell(now) {
            // Where a command's end was told and the prompt has not come yet, that is as good as now.
            ShellState::AtPrompt { since, .. } => ("at its prompt", Some(since).filter(|since| *since != Wall(0))),
            ShellState::Continuation => ("at a continuation prompt", None),
            ShellState::Starting => ("starting", None),
            ShellState::Ended => ("ended", None),
            ShellState::Running(_) | ShellState::NoShell => return self.what_runs(now),
        };
        let words = [Some(stands.to_owned()), self.on_the_line()];
        Doing { words: words.into_iter().flatten().collect::<Vec<_>>().join(" · "), since }
    }

    fn what_runs(&self, now: Now) -> Doing {
        let running = self.log.regions().rev().find(|region| region.state == State::Running);
        let label = running.map(|region| region.named(LABEL_CHARS));
        let mut outcome = self.reading(now, None).unwrap_or_else(|| Outcome::new(Status::Running));
        if self.log.cooked.fullscreen().is_some() {
            outcome.status = Status::Screen;
        }
        let works = matches!(outcome.status, Status::Running | Status::Finished | Status::Screen);
        let since = running.filter(|_| works).map(|region| region.started);
        let words = match outcome.status {
            Status::Running | Status::Finished => {
                let running = label.map_or_else(|| "running".to_owned(), |label| format!("running {label}"));
                [Some(running), self.on_the_line(), None]
            }
            Status::Screen => [Some(headline(&outcome)), None, label],
            _ => [Some(headline(&outcome)), self.on_the_line(), label],
        };
        Doing { words: words.into_iter().flatten().collect::<Vec<_>>().join(" · "), since }
    }

    /// Whose text stands on the line. What has not been echoed yet may never be.
    fn on_the_line(&self) -> Option<String> {
        if let Some(searches) = self.search_brief() {
            return Some(searches);
        }
        let mut unsubmitted = self.unsubmitted()?;
        if self.unechoed.is_some() {
            unsubmitted.text = None;
        }
        unsubmitted.brief()
    }
}
