//! What goes into the terminal for a line, a text or keys, and whether it may.

use super::line::begun::OWN_UNSHOWN;
use super::line::left_trial::NO_CALL;
use super::line::searching::LEAVES;
use super::line::tried::{Trial, Tried};
use super::line::unsubmitted::{DISCARD_LINE, Leaves};
use super::submitter::LINES_MAX;
use super::{Call, CallKind, Effect, Input, NotTyped, Part, Session, Typing};
use crate::call::{Answer, Asks, CallId, Outcome, Resting, Send, Since, Target};
use crate::log::ShellState;
use crate::pattern::Pattern;
use crate::prompt::{self, Shape};
use crate::record::{Intent, IntentState};
use crate::region::NO_LABEL;
use crate::time::{Now, Wall};

/// The keys that give up what stands on a line: ctrl+c, ctrl+u and ctrl+\, as bytes.
const GIVES_UP: [&[u8]; 3] = [b"\x03", DISCARD_LINE, b"\x1c"];

const ENTER: &[u8] = b"\r";

/// Whether a key changes nothing of another's text on the shell's line, or is one of those that give it up, which a
/// refusal names: ctrl+c and ctrl+u, left, right, home, end, ctrl+l, Escape alone, and what stops jobs and output.
fn leaves_text_alone(key: &[u8]) -> bool {
    const KEYS: [&[u8]; 12] = [
        b"\x03", b"\x15", b"\x1b[D", b"\x1b[C", b"\x1b[H", b"\x1b[F", b"\x0c", b"\x1b", b"\x11", b"\x13", b"\x1a",
        b"\x1c",
    ];
    KEYS.contains(&key)
}

/// What stands there before a line is typed.
#[derive(Debug)]
pub(super) struct Before {
    /// The cursor's line, up to the cursor.
    pub(super) line: String,
    /// The prompt on it, where its looks tell one.
    prompt: Option<(String, Shape)>,
    /// What stands before that on its line, in bytes.
    bytes: usize,
}

/// What an intent tells of what is typed.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Typed {
    pub(super) enters: u32,
    /// Characters of the command, where it is one line for a shell.
    pub(super) length: Option<u64>,
    /// Lines of the same call that are to follow.
    pub(super) left: u32,
}

impl Session {
    /// Types one line of a `run`.
    ///
    /// # Errors
    /// Says why nothing was typed, and what to do.
    pub(super) fn type_line(&mut self, now: Now, call: &mut Call, target: Target, line: &str) -> Result<(), String> {
        if line.contains('\0') {
            return Err("nothing was typed: the line holds a NUL, which no terminal takes".to_owned());
        }
        self.is_where_left(&call.actor)?;
        self.agents.leaves(&call.actor, false);
        self.forget_rivals();
        let keys_before = self.keys_before(call, target);
        let tried = match std::mem::take(&mut call.trial) {
            Trial::Stands(tried) => Some(tried),
            _ => None,
        };
        let mut parts = Vec::new();
        let was_tried = tried.is_some();
        if let Some(tried) = &tried {
            parts.push(Part { bytes: tried.clearing(), bracketed: false });
        } else {
            self.takes_text(&call.actor, target)?;
            parts.extend(self.make_room(now, &call.actor)?);
        }
        let stands = tried.map_or_else(|| self.before(now, call.prompt_pattern()), |tried| tried.before);
        // The line is indented as it is meant to be; an editor's own blanks before it would come on top.
        let indents = || prompt::indented_by(&stands.line, self.last_prompt.as_deref()).is_some();
        if target == Target::Program && !was_tried && indents() {
            parts.push(Part { bytes: DISCARD_LINE.to_vec(), bracketed: false });
        }
        if !line.is_empty() {
            parts.push(Part { bytes: without_paste_end(line), bracketed: line.contains(['\n', '\t']) });
        }
        parts.push(Part { bytes: ENTER.to_vec(), bracketed: false });
        let from = self.cursor_line() + 1;
        match &mut call.kind {
            CallKind::Run(run) => run.typing_at(from),
            CallKind::Expect(expect) => expect.run.typing_at(from),
            CallKind::Integrate(integrate) => integrate.typing_at(from),
            CallKind::Send(_) | CallKind::Wait(_) => {}
        }
        let at_prompt = (target == Target::Shell).then_some(now);
        self.sent = None;
        // The rest of a command is not its text.
        let begins = at_prompt.filter(|_| self.log.shell() != ShellState::Continuation);
        let text = begins.map(|_| line.to_owned());
        self.submitter.submitted(Some(call.id), &call.actor, vec![text], at_prompt, self.log.prompt_stands());
        if target == Target::Program {
            self.open_input(now, (call.id, &call.actor), stands);
        }
        let length = begins.filter(|_| !line.contains('\n')).map(|_| line.trim().chars().count() as u64);
        let typed = Typed { enters: 1, length, left: call.lines_left() };
        let at = match target {
            Target::Shell => self.expected_cursor(call.moved),
            Target::Unmarked => self.expected_there(call.moved),
            Target::Program if was_tried => self.expected_there(call.moved),
            Target::Program => self.expected_at_rest(now, call.moved),
        };
        self.push_typing(now, (call.id, &call.actor), parts, typed, (at, keys_before));
        Ok(())
    }

    /// Types what a rule answers, as an input region of its own.
    pub(super) fn type_answer(&mut self, now: Now, call: &mut Call, answer: &Answer) {
        let mut parts = Vec::new();
        let text = answer.text.replace("\r\n", "\n");
        if !text.is_empty() {
            parts.push(Part { bytes: without_paste_end(&text.replace('\n', "\r")), bracketed: false });
        }
        let application = self.log.cooked.modes().application_cursor;
        let pressed: Vec<u8> = answer.keys.iter().flat_map(|key| key.encode(application)).collect();
        if !pressed.is_empty() {
            parts.push(Part { bytes: pressed, bracketed: false });
        }
        let enters = parts.iter().flat_map(|part| &part.bytes).filter(|byte| **byte == b'\r').count();
        let before = self.log.cooked.line_at_cursor().text;
        self.submitter.submitted(Some(call.id), &call.actor, vec![None], None, false);
        self.open_input(now, (call.id, &call.actor), self.before(now, None));
        if let (CallKind::Expect(expect), Some(input)) = (&mut call.kind, self.input) {
            self.input = Some(Input { echo: input.echo.filter(|_| !answer.secret), ..input });
            let line = self.log.cooked.settled_lines() + 1;
            expect.answering(Since { line, before, typed: text.trim_end_matches('\n').to_owned() }, input.region);
        }
        let enters = u32::try_from(enters).unwrap_or(u32::MAX);
        let typed = Typed { enters, length: None, left: call.lines_left() };
        self.push_typing(now, (call.id, &call.actor), parts, typed, (None, None));
    }

    /// Types the text and the keys of a `send`.
    ///
    /// # Errors
    /// As [`Self::type_line`].
    pub(super) fn type_send(&mut self, now: Now, call: &mut Call) -> Result<(), String> {
        let keys_before = self.sends_line_to(now, call).and_then(|target| self.keys_before(call, target));
        let tried = match std::mem::take(&mut call.trial) {
            Trial::Stands(tried) => Some(tried),
            _ => None,
        };
        let CallKind::Send(send) = &mut call.kind else { return Ok(()) };
        let (id, actor) = (call.id, call.actor.as_str());
        if self.ended.is_some() || self.closed.is_some() {
            return Err(format!("nothing was typed: {}", self.over()));
        }
        if send.send.text.contains('\0') {
            return Err(
                "nothing was typed: the text holds a NUL, which no terminal takes; keys=[\"ctrl+@\"] presses it"
                    .to_owned(),
            );
        }
        let text = send.send.text.replace("\r\n", "\n");
        // Behind a line that the shell is about to begin, text is typed ahead of whatever that runs.
        let ahead = self.submitter.answer_due(now).is_some();
        let (mut parts, submits) = self.parts_of(&send.send, &text, ahead);
        if let Some(tried) = &tried {
            parts.insert(0, Part { bytes: tried.clearing(), bracketed: false });
        }
        let at_line = matches!(self.log.shell(), ShellState::AtPrompt { .. } | ShellState::Continuation) && !ahead;
        self.note_midway(now, at_line, &send.send);
        let mut at = None;
        let pressed: Vec<Vec<u8>> = send.send.keys.iter().map(|key| key.encode(false)).collect();
        let edits = self.edits(&text, &pressed);
        if submits > 0 || edits {
            // An agent's own text may grow and be submitted; another's may not.
            self.may_send(now, actor, submits > 0)?;
            self.may_search(actor, &pressed);
            at = self.expected_cursor(call.moved).or_else(|| self.expected_at_rest(now, call.moved));
        }
        if parts.is_empty() {
            return Err("nothing was typed: give text, keys, or both; read view=\"screen\" only looks".to_owned());
        }
        let gives_up = pressed.iter().any(|key| GIVES_UP.contains(&key.as_slice()));
        let leaves = match edits {
            _ if submits > 0 || gives_up => Leaves::Nothing,
            true => Leaves::More,
            false => Leaves::Alone,
        };
        send.typing_at(self.cursor_line(), submits > 0, leaves);
        send.line_of = self.line_of(actor);
        if submits > 0 {
            let begins = self.log.shell() != ShellState::Continuation;
            let half = if tried.is_some() { String::new() } else { self.own_half(actor) };
            let lines = submitted_lines(&format!("{half}{text}"), submits, begins);
            self.submitter.submitted(Some(id), actor, lines, at_line.then_some(now), self.log.prompt_stands());
            let program = tried.as_ref().is_some_and(Tried::is_for_program);
            if program || self.takes_line(now) {
                let before = tried.map_or_else(|| self.before(now, None), |tried| tried.before);
                self.open_input(now, (id, actor), before);
            }
        }
        if leaves == Leaves::More {
            self.sends(now, (id, actor), &text);
        }
        self.push_typing(now, (id, actor), parts, Typed { enters: submits, ..Typed::default() }, (at, keys_before));
        Ok(())
    }

    /// What goes into the terminal for a `send`, `ahead` of what is to read it or not, and how many Enters that are.
    fn parts_of(&self, send: &Send, text: &str, ahead: bool) -> (Vec<Part>, u32) {
        let modes = self.log.cooked.modes();
        let mut parts = Vec::new();
        let body = text.trim_end_matches('\n');
        let mut submits = 0;
        if body.contains('\n') && modes.bracketed_paste && !ahead {
            // The program asked for bracketed paste, so a text of several lines stays one piece; a last line break
            // is an Enter of its own.
            parts.push(Part { bytes: without_paste_end(&body.replace('\n', "\r")), bracketed: true });
            for _ in 0..text.len() - body.len() {
                parts.push(Part { bytes: ENTER.to_vec(), bracketed: false });
                submits = 1;
            }
        } else if !text.is_empty() {
            submits += u32::try_from(text.matches('\n').count()).unwrap_or(u32::MAX);
            parts.push(Part { bytes: without_paste_end(&text.replace('\n', "\r")), bracketed: false });
        }
        let mut pressed = Vec::new();
        for key in &send.keys {
            let bytes = key.encode(modes.application_cursor);
            submits += u32::from(bytes == ENTER);
            pressed.extend(bytes);
        }
        if !pressed.is_empty() {
            parts.push(Part { bytes: pressed, bracketed: false });
        }
        (parts, submits)
    }

    /// That what a `send` does to the line harms nobody.
    ///
    /// # Errors
    /// As [`Self::make_room`], and where the session is no longer where a line is meant for.
    fn may_send(&mut self, now: Now, actor: &str, submits: bool) -> Result<(), String> {
        self.make_room(now, actor)?;
        if submits {
            self.is_where_left(actor)?;
        }
        self.agents.leaves(actor, true);
        Ok(())
    }

    /// Whether a `send` does anything to text that stands on the line, or to a search.
    fn edits(&self, text: &str, pressed: &[Vec<u8>]) -> bool {
        let searches = self.search_shown().is_some();
        let alone = |key: &[u8]| leaves_text_alone(key) || searches && key == LEAVES;
        !text.is_empty() || pressed.iter().any(|key| !alone(key))
    }

    /// Whether a program, or a shell without markers, was seen to wait for a line.
    fn takes_line(&self, now: Now) -> bool {
        let resting = self.resting(now, None);
        let asks = matches!(resting.asks, Some(Asks::Shown | Asks::Hidden)) && !resting.pages;
        (resting.prompt.is_some() || asks) && matches!(self.log.shell(), ShellState::Running(_) | ShellState::NoShell)
    }

    /// That no editor is in the middle of something, as far as that shows, and nothing that this agent has sent stands
    /// unseen where the line would come behind it.
    ///
    /// # Errors
    /// Says what it is in the middle of, and what to do.
    pub(super) fn takes_text(&self, actor: &str, target: Target) -> Result<(), String> {
        if target == Target::Shell {
            self.editor_is_free()?;
        }
        if target == Target::Program && self.agents.hiding() == Some(actor) {
            return Err(OWN_UNSHOWN.to_owned());
        }
        self.is_in_no_search(None)
    }

    /// What stands there now; a prompt may look as `pattern` says.
    pub(super) fn before(&self, now: Now, pattern: Option<&Pattern>) -> Before {
        let line = self.log.cooked.line_at_cursor().text;
        Before { line, prompt: self.resting(now, pattern).prompt, bytes: self.bytes_before_prompt() }
    }

    /// Has parts typed for a call, if the cursor is there and no person has pressed a key since.
    pub(super) fn push_typing(
        &mut self,
        now: Now,
        (call, actor): (CallId, &str),
        parts: Vec<Part>,
        typed: Typed,
        (at, keys_before): (Option<(u16, u16)>, Option<Wall>),
    ) {
        let bytes = parts.iter().map(|part| part.bytes.len() as u64).sum();
        let Typed { enters, length, left } = typed;
        let intent = Intent {
            v: Intent::VERSION,
            call,
            actor: actor.to_owned(),
            offset: self.log.cooked.offset(),
            bytes,
            submits: enters > 0,
            enters,
            length,
            left,
            state: IntentState::Typing,
        };
        // What stands there now is not the answer to what is typed now.
        self.last_activity = now;
        self.unechoed = Some(now);
        self.looking.forget();
        if enters > 0 {
            self.looking.submitted();
        }
        self.looking.place_due |= enters > 0;
        self.effects.push_back(Effect::Type(Typing { call, parts, at, keys_before, intent }));
    }

    /// Opens an input region for the line about to be typed; an open one that was never answered ends here.
    fn open_input(&mut self, now: Now, (call, actor): (CallId, &str), stands: Before) {
        let wall = self.wall_at(now);
        let Before { line, prompt: at_prompt, bytes: before } = stands;
        let known = at_prompt.is_some();
        self.reads.taken_at = Some(line.clone()).filter(|text| !text.trim().is_empty());
        if !matches!(at_prompt, Some((_, Shape::Continuation))) {
            self.reads.began_at = self.reads.taken_at.clone();
        }
        match at_prompt {
            Some((text, Shape::Primary)) => self.prompted(text),
            // Whatever takes this line, it is not what showed the last prompt.
            None if self.is_carried() => self.last_prompt = None,
            Some((_, Shape::Continuation)) | None => {}
        }
        (self.reads.prompted, self.reads.unwitnessed) = (false, false);
        self.reads.editor = self.editor_at_work();
        if self.input.is_some() {
            self.log.close_input(wall, before > 0);
        }
        let prompt = line.get(before..).unwrap_or_default();
        let label = if prompt.trim().is_empty() { NO_LABEL } else { prompt.trim_end() };
        let id = self.log.open_input(label.to_owned(), wall);
        self.log.set_actor(id, actor.to_owned());
        if let Some(place) = self.elsewhere().cloned() {
            self.log.set_place(id, place);
        }
        // Of an answer that is not shown there will be no echo: what comes to stand there is the program's.
        let hidden = self.looking.asks() == Some(Asks::Hidden);
        let echo = (!hidden).then(|| self.log.cooked.settled_lines() + 1);
        self.input = Some(Input { region: id, echo, call: Some(call), known, before });
    }

    /// The terminal has taken what was to be typed, or not.
    pub(super) fn typed(&mut self, now: Now, id: CallId, result: Result<(), NotTyped>) {
        if id == NO_CALL {
            return self.trial_taken_back(now, &result);
        }
        match result {
            Ok(()) => self.submitter.typed(id, now),
            Err(_) => self.untype(now, id),
        }
        let Some(place) = self.calls.iter().position(|call| call.id == id) else { return };
        let mut call = self.calls.remove(place);
        if matches!(call.trial, Trial::Typing(_)) {
            match self.trial_typed(now, &mut call, result) {
                Some(outcome) => self.conclude(now, &call, outcome),
                None => self.calls.insert(place, call),
            }
            return;
        }
        let result = self.typed_or_held(now, &mut call, result);
        let resting = Resting::default();
        let failed = match (&mut call.kind, result) {
            (CallKind::Run(run), Some(result)) => run.typed(result, &self.seen(now, &resting)),
            (CallKind::Expect(expect), Some(result)) => expect.run.typed(result, &self.seen(now, &resting)),
            (CallKind::Send(send), Some(result)) => {
                let failed = send.typed(now, result);
                if failed.is_none() {
                    self.has_sent(now, send.leaves, send.line_of.as_deref(), &send.send.text);
                }
                let signals = if failed.is_none() { self.signal_after(call.id, send) } else { Ok(()) };
                failed.or_else(|| signals.err().map(Outcome::error))
            }
            (CallKind::Integrate(integrate), Some(result)) => integrate.typed(result),
            (CallKind::Wait(_), _) | (_, None) => None,
        };
        match failed {
            Some(outcome) => self.conclude(now, &call, outcome),
            None => self.calls.insert(place, call),
        }
    }

    /// The terminal did not take what was to be typed: whoever comes next finds the session as it was.
    fn untype(&mut self, now: Now, id: CallId) {
        self.submitter.withdraw(id);
        self.unsend(id);
        self.unechoed = None;
        if let Some(input) = self.input.filter(|input| input.call == Some(id)) {
            self.log.close_input(self.wall_at(now), false);
            self.agents.forget(input.region);
            self.drain(now);
        }
    }

    /// The number of the line the cursor is on, as far as it can be told while it is unsettled.
    pub(super) fn cursor_line(&self) -> u64 {
        let total = self.total_lines();
        if self.log.cooked.line_at_cursor().text.is_empty() { total + 1 } else { total.max(1) }
    }
}

/// What each Enter submits, as far as it is known: the last ones may be keys of their own, and the first may submit the
/// rest of a command, which has begun before.
fn submitted_lines(text: &str, submits: u32, begins: bool) -> Vec<Option<String>> {
    let submits = usize::try_from(submits).unwrap_or(usize::MAX).min(LINES_MAX);
    let known = |at: usize, line: &str| (at > 0 || begins) && !line.trim().is_empty();
    let lines = text.split('\n').enumerate().map(|(at, line)| known(at, line).then(|| line.to_owned()));
    lines.chain(std::iter::repeat(None)).take(submits).collect()
}

/// Takes out what would end a bracketed paste early: the rest of the text would be taken for keys.
fn without_paste_end(text: &str) -> Vec<u8> {
    text.replace("\x1b[201~", "").into_bytes()
}
