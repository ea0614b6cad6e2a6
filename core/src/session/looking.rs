//! When the host is asked what runs at the terminal, and what its answers come to.
//!
//! Only while a call waits, only where neither a marker nor a prompt's looks tell, and only while the output rests; a
//! judgement that holds is not asked for again until something is printed or typed.

use std::time::Duration;

use super::{Effect, Session};
use crate::call::{Asks, REST};
use crate::inspect::{Inspection, Look};
use crate::log::ShellState;
use crate::time::Now;
use crate::waiting::{Judgement, Output, Steady, Step, judge};

/// A program at work is looked at again after this long, and after [`LATER`] once it has worked for [`LONG`].
const SOON: Duration = Duration::from_millis(250);
const LATER: Duration = Duration::from_secs(1);
const LONG: Duration = Duration::from_secs(10);

/// The whole machine is looked at only once the output has rested for this long: it costs milliseconds.
const EVERYWHERE: Duration = Duration::from_secs(1);

/// What is known from looking.
#[derive(Debug, Default)]
pub(super) struct Looking {
    steady: Steady,
    /// The judgement that holds since something was last printed or typed.
    pub(super) holds: Option<Judgement>,
    /// Whether the terminal echoes, as of the last look; none where that was not to be seen.
    pub(super) echoes: Option<bool>,
    /// When to look, if not as soon as the output rests.
    next: Option<Now>,
    /// A look is under way, asked for then.
    asked: Option<Now>,
}

impl Looking {
    /// Something was printed or typed: what was seen may hold no more.
    pub(super) fn forget(&mut self) {
        self.steady.begin();
        self.holds = None;
        self.echoes = None;
        self.next = None;
    }
}

impl Looking {
    /// What the foreground job was seen to want of the terminal.
    pub(super) fn asks(&self) -> Option<Asks> {
        match &self.holds {
            Some(Judgement::Waits(_)) => Some(Asks::Shown),
            Some(Judgement::WaitsHidden(_)) => Some(Asks::Hidden),
            Some(Judgement::Stopped { .. }) => Some(Asks::Stopped),
            Some(Judgement::Busy(_) | Judgement::Works | Judgement::Carrier(_) | Judgement::Unknown(_)) | None => None,
        }
    }
}

impl Session {
    /// Asks for a look where one is due; gives when one will be.
    pub(super) fn look(&mut self, now: Now) -> Option<Now> {
        let waits = self.calls.iter().any(super::Call::is_told_by_looking);
        let shell = self.shell(now);
        let unmarked = matches!(shell, ShellState::Running(_) | ShellState::NoShell);
        let decided = matches!(
            self.looking.holds,
            Some(Judgement::Waits(_) | Judgement::WaitsHidden(_) | Judgement::Stopped { .. })
        );
        let resting = self.resting(now, None);
        let wanted = self.calls.iter().any(super::Call::wants_look);
        if !waits || !unmarked || decided || self.screen_since.is_some() || (resting.prompt.is_some() && !wanted) {
            return None;
        }
        if self.ended.is_some() || self.closed.is_some() || self.looking.asked.is_some() {
            return None;
        }
        let due = self.looking.next.unwrap_or(self.last_activity + REST).max(self.last_activity + REST);
        if now < due {
            return Some(due);
        }
        let look = if now - self.last_activity >= EVERYWHERE { Look::Everywhere } else { Look::Near };
        self.looking.asked = Some(now);
        self.effects.push_back(Effect::Inspect(look));
        None
    }

    /// Takes what was seen.
    pub(super) fn looked(&mut self, now: Now, inspection: &Inspection) {
        let Some(asked) = self.looking.asked.take() else { return };
        if self.last_activity >= asked {
            return;
        }
        let quiet = now - self.last_activity;
        self.looking.echoes = inspection.modes.known().map(|modes| modes.echo);
        let alternate = self.log.cooked.modes().alternate;
        let judgement = judge(inspection, Output { quiet, alternate });
        match self.looking.steady.look(now, judgement, inspection) {
            Step::Holds(judgement) => {
                self.looking.next = Some(now + if quiet < LONG { SOON } else { LATER });
                self.looking.holds = Some(judgement);
            }
            Step::Again(at) => self.looking.next = Some(at),
        }
    }
}
