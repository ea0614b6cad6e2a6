//! Who else reads the terminal while a shell is at its prompt, and would take keys of a line.
//!
//! A program in a session of its own reads on whatever happens to the job that started it: the `pinentry` of a `gpg` that
//! was interrupted, `setsid cat &`. To see it takes a look at the whole machine, which costs milliseconds, so it is made
//! only where there is a reason: the last command was ended by a signal, or a shell does nothing with its line.

use std::time::Duration;

use crate::call::Rival;
use crate::inspect::{Inspection, Look};
use crate::log::ShellState;
use crate::region::{Kind, Region};
use crate::session::{Effect, Session};
use crate::time::Now;
use crate::waiting::reads_beside;

/// What a shell gives as the status of a command that a signal ended: 128 and the signal's number, of which Linux has 64
/// (signal(7)).
const SIGNALLED: std::ops::RangeInclusive<i32> = 129..=192;

/// Two looks have to agree that lie this far apart: whoever was started by what a signal ended may end just then.
const AGAIN: Duration = Duration::from_millis(300);

/// A line is held back this long at most for one look.
const LOOK_WAIT: Duration = Duration::from_secs(1);

/// A shell begins a line within milliseconds. Where it has not after this long, it is looked who may have taken it.
const UNBEGUN: Duration = Duration::from_secs(1);

/// What is known of others who read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::session) enum Rivals {
    /// There is no reason to look.
    #[default]
    Unasked,
    /// There is.
    Due,
    /// A look is under way since then; it may be the second at this one.
    Asked(Now, Option<Rival>),
    /// One was seen then, which may be a moment.
    Seen(Rival, Now),
    /// One reads.
    Reads(Rival),
    /// It was looked, and nobody does.
    Nobody,
}

impl Session {
    /// A command has ended: by a signal, what it had started may live on.
    pub(in crate::session) fn wonder_who_reads(&mut self, region: &Region) {
        if region.kind == Kind::Command && region.exit.is_some_and(|exit| SIGNALLED.contains(&exit)) {
            self.rivals = Rivals::Due;
        }
    }

    /// Until when a line is held back at a shell's prompt for a look.
    pub(in crate::session) fn rivals_due(&self, now: Now) -> Option<Now> {
        match &self.rivals {
            // Another look may be under way that never comes to an end.
            Rivals::Due => Some(self.looking.is_asked().unwrap_or(now) + LOOK_WAIT).filter(|until| *until > now),
            Rivals::Asked(since, _) => Some(*since + LOOK_WAIT).filter(|until| *until > now),
            Rivals::Seen(_, at) => Some(*at + AGAIN + LOOK_WAIT).filter(|until| *until > now),
            Rivals::Unasked | Rivals::Reads(_) | Rivals::Nobody => None,
        }
    }

    /// Who else reads the terminal.
    pub(in crate::session) fn rival(&self) -> Option<&Rival> {
        match &self.rivals {
            Rivals::Reads(rival) => Some(rival),
            _ => None,
        }
    }

    /// Another call begins: who read when the last one was refused may be gone.
    pub(in crate::session) fn wonder_again(&mut self) {
        if self.rival().is_some() {
            self.rivals = Rivals::Due;
        }
    }

    /// A line is typed: what was seen before says nothing of it.
    pub(in crate::session) fn forget_rivals(&mut self) {
        self.rivals = Rivals::Unasked;
    }

    /// Looks for others who read where a line waits for that; gives when to look, if not now.
    pub(in crate::session) fn look_for_rivals(&mut self, now: Now) -> Option<Now> {
        if !matches!(self.log.shell(), ShellState::AtPrompt { .. }) || self.looking.is_asked().is_some() {
            return None;
        }
        let unbegun = self.calls.iter().filter_map(crate::session::Call::unbegun_since).min();
        let waits = self.calls.iter().any(crate::session::Call::waits_for_prompt);
        let (at, before) = match &self.rivals {
            Rivals::Due if waits || unbegun.is_some() => (now, None),
            Rivals::Unasked => (unbegun? + UNBEGUN, None),
            Rivals::Seen(rival, at) if waits || unbegun.is_some() => (*at + AGAIN, Some(rival.clone())),
            _ => return None,
        };
        if now < at {
            return Some(at);
        }
        self.rivals = Rivals::Asked(now, before);
        self.looking.is_asked_for(now);
        self.effects.push_back(Effect::Inspect(Look::Beside));
        None
    }

    /// Takes what such a look has seen; false where it was another look.
    pub(in crate::session) fn looked_for_rivals(&mut self, now: Now, inspection: &Inspection) -> bool {
        let Rivals::Asked(_, before) = &self.rivals else { return false };
        let found = reads_beside(inspection).map(|(name, pid)| Rival { name, pid });
        self.rivals = match found {
            Some(rival) if before.as_ref() == Some(&rival) => Rivals::Reads(rival),
            Some(rival) => Rivals::Seen(rival, now),
            None => Rivals::Nobody,
        };
        true
    }
}
