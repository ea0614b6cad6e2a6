//! Lines of a call that a server did not come to type, because it ended amid them.

use super::waiters::{Call, CallKind};
use super::{Effect, Session};
use crate::record::{Intent, IntentState};

/// Whose lines they are, and how many.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CutOff {
    actor: String,
    lines: u32,
    /// The raw log's length when the line before them was to be typed.
    offset: u64,
}

impl CutOff {
    /// What the last intent of a server that ended tells of it; none where no line was to follow.
    pub(super) fn by(intent: &Intent) -> Option<Self> {
        // One that the terminal has not taken was not typed either.
        let refused = u32::from(intent.state == IntentState::Refused);
        (intent.left > 0).then(|| Self {
            actor: intent.actor.clone(),
            lines: intent.left.saturating_add(refused),
            offset: intent.offset,
        })
    }
}

impl Call {
    /// How many lines are to follow what is typed now.
    pub(super) fn lines_left(&self) -> u32 {
        let left = match &self.kind {
            CallKind::Run(run) => run.lines_left(),
            CallKind::Expect(expect) => expect.run.lines_left(),
            CallKind::Send(_) | CallKind::Wait(_) | CallKind::Integrate(_) => 0,
        };
        u32::try_from(left).unwrap_or(u32::MAX)
    }
}

impl Session {
    /// Takes over what another server did not come to, unless its agent has been told.
    pub(super) fn inherit_cut_off(&mut self, cut_off: Option<CutOff>) {
        self.cut_off = cut_off.filter(|it| self.agents.get(&it.actor).told_left.is_none_or(|told| told < it.offset));
    }

    /// A call ends: what it has not come to is told with its reply, or is wanted no more.
    pub(super) fn leaves_lines(&mut self, call: &Call) {
        if call.lines_left() > 0 {
            let offset = self.log.cooked.offset();
            self.agents.entry(&call.actor).told_left = Some(offset);
            self.effects.push_back(Effect::Remember);
        }
    }

    /// The note on lines that a server before did not come to, once.
    pub(super) fn cut_off_note(&mut self, actor: &str) -> Option<String> {
        let cut_off = self.cut_off.take_if(|it| it.actor == actor)?;
        let offset = self.log.cooked.offset();
        self.agents.entry(actor).told_left = Some(offset);
        let lines = match cut_off.lines {
            1 => "the last line was".to_owned(),
            count => format!("the last {count} lines were"),
        };
        Some(format!(
            "the server ended while it typed the lines of your call: {lines} never typed, and will not be. See what the others came to (regions), then run what is still wanted"
        ))
    }
}
