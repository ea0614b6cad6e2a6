//! The letters of a trial whose line does not follow: its call is gone with its client or with the server before, or
//! somebody has typed behind them. They are nobody's text, and whoever types next would have them in front of theirs. So
//! they are taken back as soon as they show, and what a person has typed behind them is typed again.

use std::time::Duration;

use super::tried::{LAST, SHOWN_DUE, TRIAL};
use super::unsubmitted::DISCARD_LINE;
use crate::call::CallId;
use crate::log::ShellState;
use crate::session::typing::Typed;
use crate::session::{Effect, NotTyped, Part, Session};
use crate::time::Now;

/// Stands for the session itself where parts are typed for no call: calls are counted from 1.
pub(in crate::session) const NO_CALL: CallId = 0;

/// How soon it is tried again, where the terminal has seen keys that were not read yet.
const AGAIN: Duration = Duration::from_millis(20);

/// How long nothing has to have been printed before: what somebody types is shown within milliseconds, and is not to be
/// on its way while the line is cleared.
const QUIET: Duration = Duration::from_millis(60);

/// How long a line that was typed just before the server ended may take to be begun, on a busy machine.
const UNDER_WAY: Duration = Duration::from_millis(400);

/// How long they may show once the terminal has what takes them back: an editor is done within milliseconds, one on a busy
/// machine within a second.
const CLEARED_DUE: Duration = Duration::from_secs(1);

/// What is known of letters that were left.
#[derive(Debug, Default, Clone, Copy)]
pub(in crate::session) enum LeftTrial {
    /// There are none.
    #[default]
    None,
    /// They may come to show until that time; not looked for before the other.
    Shows { until: Now, again: Now },
    /// What takes them back is on its way to the terminal.
    Taking { until: Now },
    /// The terminal has it; they may show until that time.
    Taken { until: Now },
}

impl Session {
    /// The letters of a trial are left, if they were typed at all.
    pub(in crate::session) fn leave_trial(&mut self, now: Now) {
        if self.agents.trying().is_some() {
            self.left_trial = LeftTrial::Shows { until: now + SHOWN_DUE, again: now };
        }
    }

    /// As the server before has left them. A line that was typed then takes them along.
    pub(in crate::session) fn inherit_trial(&mut self, now: Now, submitted: bool) {
        self.leave_trial(now);
        if let LeftTrial::Shows { again, .. } = &mut self.left_trial
            && submitted
        {
            *again = now + UNDER_WAY;
        }
    }

    /// Until when nothing is typed for anybody, because such letters may stand there.
    pub(in crate::session) fn left_trial_until(&self) -> Option<Now> {
        match self.left_trial {
            LeftTrial::None => None,
            LeftTrial::Shows { until, .. } | LeftTrial::Taking { until } | LeftTrial::Taken { until } => Some(until),
        }
    }

    /// Takes them back where they show; gives when it is to be looked again.
    pub(in crate::session) fn take_trial_back(&mut self, now: Now) -> Option<Now> {
        let (until, again) = match self.left_trial {
            LeftTrial::None | LeftTrial::Taking { .. } => return None,
            LeftTrial::Shows { until, again } => (until, again),
            LeftTrial::Taken { until } => {
                if now < until && self.behind_trial().is_some() {
                    return Some(until);
                }
                self.trial_is_over();
                return None;
            }
        };
        let over = self.ended.is_some() || self.closed.is_some();
        // Whoever has submitted or given up the line has taken them along.
        let Some(actor) = self.agents.trying().filter(|_| !over).map(str::to_owned) else {
            self.left_trial = LeftTrial::None;
            return None;
        };
        let again = again.max(self.last_activity + QUIET);
        if now < again {
            return Some(again);
        }
        if let Some(behind) = self.behind_trial() {
            let bytes = [DISCARD_LINE.to_vec(), behind.into_bytes()].concat();
            self.left_trial = LeftTrial::Taking { until };
            let at = self.expected_there(None);
            let parts = vec![Part { bytes, bracketed: false }];
            self.push_typing(now, (NO_CALL, &actor), parts, Typed::default(), (at, None));
            return None;
        }
        if now < until {
            return Some(until);
        }
        self.trial_is_over();
        None
    }

    /// The terminal has taken what takes them back, or not.
    pub(in crate::session) fn trial_taken_back(&mut self, now: Now, result: &Result<(), NotTyped>) {
        let LeftTrial::Taking { until } = self.left_trial else { return };
        match result {
            Ok(()) => self.left_trial = LeftTrial::Taken { until: now + CLEARED_DUE },
            Err(NotTyped::Moved | NotTyped::Pressed) => {
                self.unechoed = None;
                self.left_trial = LeftTrial::Shows { until, again: now + AGAIN };
            }
            Err(NotTyped::Refused(_)) => self.left_trial = LeftTrial::None,
        }
    }

    fn trial_is_over(&mut self) {
        self.left_trial = LeftTrial::None;
        if self.agents.line_is_empty() {
            self.effects.push_back(Effect::Remember);
        }
    }

    /// What stands between a trial's letters and the cursor; none where they do not show.
    pub(in crate::session) fn behind_trial(&self) -> Option<String> {
        let line = self.log.cooked.line_at_cursor().text;
        let input = match self.log.shell() {
            ShellState::AtPrompt { .. } => Some(self.log.cooked.input()),
            _ => self.behind_prompt(),
        };
        let input = input.as_deref().map(str::trim_start).unwrap_or_default();
        // One letter with more behind it may be somebody's word.
        if line.ends_with(TRIAL) || input.trim_end() == LAST && line.ends_with(LAST) {
            return Some(String::new());
        }
        if !input.starts_with(TRIAL) || input.contains('\n') {
            return None;
        }
        // The prompt may hold the same letters.
        let typed = line.match_indices(TRIAL).filter_map(|(at, _)| line.get(at..));
        let mut typed = typed.filter(|typed| input.starts_with(typed.trim_end()));
        typed.next()?.strip_prefix(TRIAL).map(str::to_owned)
    }
}
