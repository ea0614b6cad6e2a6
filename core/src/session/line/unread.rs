//! Lines that agents have submitted while something ran, and that the shell may read behind its next prompt.
//!
//! The prompt's marker comes before the line editor has read what was typed ahead. A `run` that has waited for that prompt
//! would go behind the first of those lines, and take the answer of another one for its own. What ran may as well have
//! read them all. So the terminal is asked how much of its input nobody has read, which takes a millisecond; where it
//! cannot tell, because its input goes on to a terminal elsewhere, the editor is given a moment.

use std::time::Duration;

use crate::call::Target;
use crate::inspect::{Inspection, Known, Look};
use crate::log::ShellState;
use crate::session::waiters::Call;
use crate::session::{Effect, Session};
use crate::time::Now;

/// How long behind its prompt a line editor is given to read what was typed ahead, where the terminal does not tell that
/// nothing is left.
const READ_DUE: Duration = Duration::from_millis(500);

/// The same where the terminal tells that something is.
const LEFT_DUE: Duration = Duration::from_secs(5);

/// An editor reads a line within milliseconds; then it is looked again.
const AGAIN: Duration = Duration::from_millis(20);

/// Where the call has no time left to wait for that.
const STILL_UNREAD: &str = "nothing was typed: the shell has not read yet what was sent while the command before ran. wait waits for it, regions lists what has come of it; then run it again";

/// What is known of it at the prompt that stands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::session) enum Unread {
    /// Nobody has looked.
    #[default]
    Unasked,
    /// A look is under way.
    Asked,
    /// Something was left then.
    Left(Now),
    /// The editor did not have the terminal yet.
    Early(Now),
    /// It cannot be told.
    Untold,
    /// Nothing is left.
    Nothing,
}

impl Session {
    /// Until when a line for the shell is not typed yet, because lines that were typed ahead may come before it.
    ///
    /// # Errors
    /// Where the call's time is over by then, and they do.
    pub(in crate::session) fn held_for_unread(
        &mut self,
        now: Now,
        call: &Call,
        target: Target,
    ) -> Result<Option<Now>, String> {
        let at_prompt = target == Target::Shell && matches!(self.log.shell(), ShellState::AtPrompt { .. });
        let Some(prompt) = self.typeahead.prompted().filter(|_| at_prompt && self.submitter.has_ahead()) else {
            return Ok(None);
        };
        let left = matches!(self.unread, Unread::Left(_));
        let due = prompt + if left { LEFT_DUE } else { READ_DUE };
        let late = call.deadline().is_some_and(|deadline| deadline <= now);
        if left && late {
            return Err(STILL_UNREAD.to_owned());
        }
        if now >= due || late {
            return Ok(None);
        }
        let again = match self.unread {
            Unread::Nothing => return Ok(None),
            Unread::Asked | Unread::Untold => return Ok(Some(due)),
            Unread::Unasked => now,
            Unread::Left(at) | Unread::Early(at) => at + AGAIN,
        };
        if again > now {
            return Ok(Some(again));
        }
        // Another look that is under way may have begun before the prompt came.
        if self.looking.is_asked().is_none() {
            self.unread = Unread::Asked;
            self.looking.is_asked_for(now);
            self.effects.push_back(Effect::Inspect(Look::Near));
        }
        Ok(Some(due))
    }

    /// Takes what such a look has seen; false where it was another look.
    pub(in crate::session) fn looked_for_unread(&mut self, now: Now, inspection: &Inspection) -> bool {
        if self.unread != Unread::Asked {
            return false;
        }
        let far = inspection.processes().any(|process| process.carrier.is_some()) || !inspection.inner.is_empty();
        let edits = inspection.modes.known().is_some_and(|modes| !modes.canonical);
        self.unread = match inspection.unread {
            Known::Known(0) if !far && edits => Unread::Nothing,
            // While a terminal goes over to keys, what it says of lines is not to be relied upon.
            Known::Known(0) if !far => Unread::Early(now),
            Known::Known(1..) => Unread::Left(now),
            Known::Known(0) | Known::Unknown(_) => Unread::Untold,
        };
        true
    }
}
