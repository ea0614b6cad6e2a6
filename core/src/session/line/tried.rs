//! A trial of the line editor before a line is given to it, where a person has pressed keys at the prompt that stands.
//!
//! A key may leave nothing to be seen and change what the next ones do: after Escape vi's editors take letters for commands,
//! and `echo rm x` would become `rm x`. So two letters are typed first. As text they stand on the line as they are; of
//! vi's commands the first begins to insert, and the second stands there alone; an unfinished key takes the first. In each
//! case the editor takes text from then on, and the two are cleared with the line that follows. Where neither comes to
//! stand there, nothing more is typed.

use std::time::Duration;

use super::grown::KEY_MS;
use super::unsubmitted::{DISCARD_LINE, rubbing_out};
use crate::call::{CallId, Outcome, Resting, Step, Target};
use crate::log::ShellState;
use crate::session::typing::{Before, Typed};
use crate::session::waiters::{Call, CallKind};
use crate::session::{Effect, NotTyped, Part, Session};
use crate::time::{Now, Wall};

/// Inserts, in vi's command mode, and then is text; elsewhere both are.
pub(super) const TRIAL: &str = "ix";

/// What is left of it behind a key that has taken the first.
pub(super) const LAST: &str = "x";

/// How long the trial may take to show: an editor echoes within milliseconds, one on a busy machine or at the far end of a
/// slow line within a second or two.
pub(super) const SHOWN_DUE: Duration = Duration::from_secs(4);

/// Where the trial did not come to stand.
const NOT_TEXT: &str = "nothing was typed: someone at the terminal has pressed keys at this prompt, and two letters that were tried first do not stand on the line as they were typed: the editor may take what is typed for commands of its own. Ask them, or read view=\"screen\" to see it; send keys=[\"ctrl+c\"] gives a fresh prompt, then run it again";

/// Where somebody has typed behind the trial.
const TYPED_ON: &str = "nothing was typed: someone at the terminal has just begun to type on this line. Wait until they have submitted it, or ask them, then run it again";

/// What is known of the line editor that a call's line is for.
#[derive(Debug, Default)]
pub(in crate::session) enum Trial {
    /// Nobody is known to have pressed a key there.
    #[default]
    Unneeded,
    /// Somebody has: it is to be tried.
    Due,
    /// Until the terminal has taken the trial.
    Typing(Tried),
    /// Until it shows, or that time.
    Shows(Tried, Now),
    /// The editor takes text, and the trial is to be cleared.
    Stands(Tried),
}

/// A line whose editor is tried first.
#[derive(Debug)]
pub(in crate::session) struct Tried {
    target: Target,
    line: String,
    /// What stood on the cursor's line before.
    pub(in crate::session) before: Before,
    /// What stood behind the shell's prompt that is nobody's: a job in the background has printed it.
    noise: String,
    /// What of the trial has come to stand there.
    shown: Option<&'static str>,
    /// Whether nothing but a program's prompt stood before it.
    bare: bool,
}

impl Tried {
    /// Whether the line is for a program.
    pub(in crate::session) fn is_for_program(&self) -> bool {
        self.target == Target::Program
    }

    /// What clears the line of the trial. A shell that is known by its markers is known to clear its line.
    pub(in crate::session) fn clearing(&self) -> Vec<u8> {
        let shown = self.shown.unwrap_or_default();
        match self.target {
            Target::Program => rubbing_out(shown.len(), self.bare && !shown.is_empty()),
            Target::Shell | Target::Unmarked => DISCARD_LINE.to_vec(),
        }
    }
}

impl Session {
    /// When a person's last key has to be before for a line to be typed at the shell's prompt without a trial.
    pub(in crate::session) fn keys_before(&self, call: &Call, target: Target) -> Option<Wall> {
        if target != Target::Shell || matches!(call.trial, Trial::Stands(_)) {
            return None;
        }
        Some(Wall(self.line_begun().0.saturating_sub(KEY_MS)))
    }

    /// Whether the line editor is tried before this line.
    fn is_to_be_tried(&self, now: Now, call: &Call, target: Target) -> bool {
        match (target, &call.trial) {
            (_, Trial::Due) => true,
            (Target::Program, Trial::Unneeded) => self.may_edit(now) && self.has_pressed_since(),
            _ => false,
        }
    }

    /// Whether a person may have pressed a key at a program's prompt.
    pub(in crate::session) fn has_pressed_since(&self) -> bool {
        self.person.is_some_and(|last| last.0 + KEY_MS > self.line_begun().0)
    }

    /// Whether a program's prompt stands there, and an editor may read behind it. The kernel's keeps no modes.
    fn may_edit(&self, now: Now) -> bool {
        self.looking.canonical != Some(true) && self.resting(now, None).prompt.is_some()
    }

    /// Whether it is asked first when a person last pressed a key, before a line is given to a program.
    pub(in crate::session) fn asks_who_pressed(&mut self, now: Now, target: Target) -> bool {
        let told = self.person_told == Some(self.log.cooked.offset());
        let asks = target == Target::Program && !told && self.may_edit(now);
        if asks {
            self.ask_who_typed();
        }
        asks
    }

    /// Tries the line editor that this line is for, where that is to be.
    ///
    /// # Errors
    /// Where nothing may be typed there.
    pub(in crate::session) fn tries(
        &mut self,
        now: Now,
        call: &mut Call,
        target: Target,
        line: &str,
    ) -> Result<bool, String> {
        if !self.is_to_be_tried(now, call, target) {
            return Ok(false);
        }
        self.takes_text(&call.actor, target)?;
        let room = self.make_room(now, &call.actor)?;
        let mut before = self.before(now, call.prompt_pattern());
        if let Some(bare) = self.without_half_typed(&before.line).filter(|_| room.is_some()) {
            before.line = bare;
        }
        let mut parts: Vec<Part> = room.into_iter().collect();
        parts.push(Part { bytes: TRIAL.as_bytes().to_vec(), bracketed: false });
        let at = self.expected_there(call.moved);
        self.trying = Some(call.id);
        let noise = self.log.cooked.input().trim().to_owned();
        let bare = self.last_prompt.as_deref() == Some(before.line.as_str());
        call.trial = Trial::Typing(Tried { target, line: line.to_owned(), before, noise, shown: None, bare });
        self.sent = None;
        // It is this agent's, if anything keeps the line from following.
        self.agents.line_is_empty();
        let agent = self.agents.entry(&call.actor);
        (agent.half_typed, agent.tries) = (TRIAL.to_owned(), true);
        self.effects.push_back(Effect::Remember);
        self.push_typing(
            now,
            (call.id, &call.actor),
            parts,
            Typed { left: call.lines_left() + 1, ..Typed::default() },
            (at, None),
        );
        Ok(true)
    }

    /// What takes the line that a `send` types, where that begins one: text with an Enter behind it, on a line that is empty.
    pub(in crate::session) fn sends_line_to(&self, now: Now, call: &Call) -> Option<Target> {
        let CallKind::Send(send) = &call.kind else { return None };
        let (text, keys) = (&send.send.text, &send.send.keys);
        let submits = text.contains('\n') || keys.iter().any(|key| key.encode(false) == b"\r");
        let begins = text.chars().next().is_some_and(|first| !first.is_control());
        if !submits || !begins || self.midway.is_some() || self.unsubmitted().is_some() {
            return None;
        }
        match self.log.shell() {
            ShellState::AtPrompt { .. } => Some(Target::Shell),
            ShellState::Running(_) | ShellState::NoShell => self.may_edit(now).then_some(Target::Program),
            ShellState::Continuation | ShellState::Starting | ShellState::Ended => None,
        }
    }

    /// Tries the line editor before a `send` types a line; none where the line may be typed.
    pub(in crate::session) fn try_before_send(&mut self, now: Now, call: &mut Call) -> Option<Step> {
        if matches!(call.trial, Trial::Stands(_)) {
            return None;
        }
        let target = self.sends_line_to(now, call)?;
        if self.asks_who_pressed(now, target) {
            return Some(Step::Wait(None));
        }
        match self.tries(now, call, target, "") {
            Ok(true) => Some(Step::Wait(None)),
            Ok(false) => None,
            Err(text) => Some(Step::Done(Box::new(Outcome::error(text)))),
        }
    }

    /// What is to be done about a trial that is under way; none where none is.
    pub(in crate::session) fn step_trial(&mut self, now: Now, call: &mut Call) -> Option<Step> {
        let (mut tried, until) = match std::mem::take(&mut call.trial) {
            Trial::Shows(tried, until) => (tried, until),
            other => {
                let waits = matches!(other, Trial::Typing(_));
                call.trial = other;
                return waits.then_some(Step::Wait(None));
            }
        };
        if let Some(shown) = self.shows_trial(&tried) {
            let (target, line) = (tried.target, tried.line.clone());
            let agent = self.agents.entry(&call.actor);
            shown.clone_into(&mut agent.half_typed);
            agent.prompted = target == Target::Program;
            self.trying = None;
            tried.shown = Some(shown);
            call.trial = Trial::Stands(tried);
            let sends = matches!(call.kind, CallKind::Send(_));
            return (!sends).then_some(Step::Line(target, line));
        }
        let typed_on = self.behind_trial().is_some_and(|behind| !behind.trim().is_empty());
        let until = call.deadline().map_or(until, |deadline| deadline.min(until));
        if until > now && !typed_on && self.ended.is_none() && self.closed.is_none() {
            call.trial = Trial::Shows(tried, until);
            return Some(Step::Wait(Some(until)));
        }
        self.trying = None;
        if self.behind_trial().is_some() {
            self.leave_trial(now);
        } else {
            self.agents.line_is_empty();
            self.effects.push_back(Effect::Remember);
        }
        let why = if typed_on { TYPED_ON } else { NOT_TEXT };
        Some(Step::Done(Box::new(self.untyped(now, call, why))))
    }

    /// The terminal has taken what a trial typed, or not; the call goes on unless an outcome is given.
    pub(in crate::session) fn trial_typed(
        &mut self,
        now: Now,
        call: &mut Call,
        result: Result<(), NotTyped>,
    ) -> Option<Outcome> {
        let typed = self.typed_or_held(now, call, result);
        if !matches!(typed, Some(Ok(()))) {
            self.trying = None;
        }
        match typed? {
            Err(why) => return Some(self.untyped(now, call, &why)),
            Ok(()) => {
                if let Trial::Typing(tried) = std::mem::take(&mut call.trial) {
                    call.trial = Trial::Shows(tried, now + SHOWN_DUE);
                }
            }
        }
        None
    }

    /// Whether a call is between its trial and its line, which nobody else's text is to come between.
    pub(in crate::session) fn is_trying(&self) -> bool {
        self.trying.is_some()
    }

    /// The client of a call is gone: nobody waits for its trial to show.
    pub(in crate::session) fn forget_trial(&mut self, now: Now, call: CallId) {
        if self.trying.take_if(|trying| *trying == call).is_some() {
            self.leave_trial(now);
        }
    }

    /// What of the trial stands on the line, where the editor has taken it for text.
    fn shows_trial(&self, tried: &Tried) -> Option<&'static str> {
        let stands = self.log.cooked.line_at_cursor().text;
        let line = stands.trim_end();
        let at_shell = matches!(self.log.shell(), ShellState::AtPrompt { .. });
        // A mode that the prompt tells has changed, and what an editor proposes stands behind the cursor.
        let input = at_shell.then(|| self.log.cooked.input());
        // What a job in the background prints there may hide it, or end its line. The editor inserts by now all the same.
        let hidden = input.as_ref().is_some_and(|input| !tried.noise.is_empty() || input.trim_end().contains('\n'));
        if hidden {
            return Some(TRIAL);
        }
        let is = |text: &&'static str| {
            line.strip_suffix(*text).is_some_and(|before| match &input {
                Some(input) => input.trim_start().starts_with(*text),
                None => before.trim_end() == tried.before.line.trim_end(),
            })
        };
        [TRIAL, LAST].into_iter().find(is)
    }

    /// The outcome of a call whose line is not typed.
    pub(in crate::session) fn untyped(&self, now: Now, call: &Call, why: &str) -> Outcome {
        let resting = Resting::default();
        match &call.kind {
            CallKind::Run(run) => run.untyped(why, &self.seen(now, &resting)),
            CallKind::Expect(expect) => expect.run.untyped(why, &self.seen(now, &resting)),
            CallKind::Send(_) | CallKind::Wait(_) | CallKind::Integrate(_) => Outcome::error(why.to_owned()),
        }
    }
}
