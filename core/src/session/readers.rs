//! What somebody sees who reads the session as it stands, and when readers are told that it changed.
//!
//! A reader is a client that shows or watches a session, and no agent at work in it: nothing counts as told to anybody
//! by it. It sees what a `wait` would say that begins and ends this moment, and is told when a `wait` would return that
//! did not before, or when what was waited for goes on: never because of output alone.

use super::line::grown::{cursor_line, cursors_text};
use super::line::tried::Trial;
use super::waiters::{Call, CallKind};
use super::{Effect, Session};
use crate::call::{Outcome, Status, Step, Told, Wait, WaitCall};
use crate::log::ShellState;
use crate::region::State;
use crate::time::Now;

/// How the session stands, as far as readers are told when it changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Standing {
    /// Nothing runs.
    #[default]
    Idle,
    /// Something runs.
    Works,
    /// What runs waits for somebody, by all that can be told.
    Asks,
    /// The program has ended, or the pane is gone.
    Over,
}

/// Whether anybody reads along, and what they know.
#[derive(Debug, Default)]
pub(super) struct Readers {
    pub(super) watch: bool,
    knows: (Option<u32>, Standing),
    /// The line at which they were told that somebody is asked, by its number and what it showed.
    asked: (u64, String),
}

impl Session {
    /// What a reader sees of a region, or else of the session: of what runs now, or ran last. None where the log does
    /// not have the region (any more).
    #[must_use]
    pub fn reading(&self, now: Now, region: Option<u32>) -> Option<Outcome> {
        let open = self.log.open_region().map(|region| region.id);
        let mut outcome = match region {
            Some(id) if Some(id) != open => {
                let region = self.log.region(id)?.clone();
                let status = if region.state == State::Running { Status::Running } else { Status::Finished };
                Outcome { region: Some(region), ..Outcome::new(status) }
            }
            _ => self.waited_for(now),
        };
        let wait = WaitCall::begin(now, Wait::default(), 0, Told::default());
        let call = Call {
            id: 0,
            actor: String::new(),
            began: now,
            kind: CallKind::Wait(Box::new(wait)),
            moved: None,
            trial: Trial::default(),
        };
        self.measure(now, &call, &mut outcome);
        Some(outcome)
    }

    fn waited_for(&self, now: Now) -> Outcome {
        let resting = self.resting(now, None);
        match WaitCall::begin(now, Wait::default(), 0, Told::default()).step(&self.seen(now, &resting)) {
            // That nothing else runs is no news to somebody who did not ask for more.
            Step::Done(outcome) => Outcome { notes: Vec::new(), ..*outcome },
            Step::Wait(_) | Step::Again | Step::Line(..) | Step::Answer(_) => Outcome::new(Status::Running),
        }
    }

    /// From now on, or no longer, somebody is to be told of changes.
    pub(super) fn watched(&mut self, now: Now, watch: bool) {
        let knows = self.stands(now);
        self.readers = Readers { watch, knows, asked: self.asked_at() };
    }

    /// A region is over.
    pub(super) fn tell_of_end(&mut self, region: u32) {
        if self.readers.watch {
            self.effects.push_back(Effect::Changed { region: Some(region) });
        }
    }

    /// Tells readers where what runs has come to wait, or goes on, or is over.
    pub(super) fn tell_readers(&mut self, now: Now) {
        if !self.readers.watch {
            return;
        }
        let stands = self.stands(now);
        let knew = std::mem::replace(&mut self.readers.knows, stands);
        if knew != stands {
            self.readers.asked = self.asked_at();
        }
        let told = match (knew, stands) {
            (knew, stands) if knew == stands => [None, None],
            // It goes on, and so does whatever it was asked in.
            ((before, Standing::Asks), (region, Standing::Works)) => [Some(before), Some(region)],
            (_, (region, Standing::Asks)) => [Some(region), None],
            (_, (_, Standing::Over)) => [Some(None), None],
            // That something begins or ended is told by its region, if at all.
            (_, (_, Standing::Idle | Standing::Works)) => [None, None],
        };
        let same = told[0] == told[1];
        for region in told.into_iter().take(if same { 1 } else { 2 }).flatten() {
            self.effects.push_back(Effect::Changed { region });
        }
    }

    fn stands(&self, now: Now) -> (Option<u32>, Standing) {
        let region = self.log.open_region().map(|region| region.id);
        if self.ended.is_some() || self.closed.is_some() {
            return (None, Standing::Over);
        }
        let standing = match self.shell(now) {
            ShellState::AtPrompt { .. } | ShellState::Starting => Standing::Idle,
            ShellState::Continuation => Standing::Asks,
            ShellState::Ended => Standing::Over,
            ShellState::Running(_) | ShellState::NoShell => {
                let resting = self.resting(now, None);
                // A full-screen program that has shown its screen stays where it is, whatever it paints.
                let stays = self.screen_since.is_some() && self.readers.knows == (region, Standing::Asks);
                let asks = resting.prompt.is_some() || resting.asks.is_some() || resting.screen || resting.quiet;
                if asks || stays || self.is_typed_at(region) { Standing::Asks } else { Standing::Works }
            }
        };
        (region, standing)
    }

    /// Whether somebody types at what asks, as each key shows: nothing has been answered by it.
    fn is_typed_at(&self, region: Option<u32>) -> bool {
        let (line, shows) = self.asked_at();
        let (asked, showed) = &self.readers.asked;
        let same = self.readers.knows == (region, Standing::Asks) && line == *asked;
        same && shows.starts_with(showed.as_str()) && !self.looking.is_at_work()
    }

    fn asked_at(&self) -> (u64, String) {
        (cursor_line(&self.log), cursors_text(&self.log))
    }
}
