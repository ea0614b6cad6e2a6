//! `send`: types text, presses keys, and shows what appeared once the output rests.

use std::time::Duration;

use super::refusal::describe;
use super::run::Step;
use super::watch::{Asks, Seen, prompt_text};
use super::{Outcome, Send, Signal, Status};
use crate::log::{LogEvent, ShellState};
use crate::prompt::is_caret_echo;
use crate::region::{Kind, Region, State};
use crate::session::{Leaves, Signalled};
use crate::text::visible::quoted;
use crate::time::Now;

/// A program that never stops printing is not waited for longer than this: the reply then says it goes on.
const SETTLE_MAX: Duration = Duration::from_secs(10);

/// A job that was interrupted gets this long to end before the reply says that it goes on: programs that clean up
/// take some tenths of a second.
const ENDS: Duration = Duration::from_secs(1);

/// How long the output must be quiet before the reply where nothing is asked for; the contract's number.
pub const SETTLE: Duration = Duration::from_millis(300);

/// Whether the program asks something is told with the reply, and takes two looks or three; on a machine so busy that it
/// takes longer than this, the reply says nothing of it.
const LOOKED: Duration = Duration::from_secs(1);

/// A shell that was interrupted at its line gets this long to show a new prompt: what is typed before that can go the
/// way of the line that was discarded. Prompts that take longer are seldom, and the reply is then late for nothing.
const NEW_PROMPT: Duration = Duration::from_secs(2);

/// bash can take a ctrl+c that comes just before it reads only with the next key, which it drops. So a ctrl+c alone is
/// pressed again where the shell shows no sign of it for this long,
const NUDGE: Duration = Duration::from_millis(250);

/// and so many times: fish never shows one at an empty line.
const NUDGES: u8 = 2;

/// The keys at which a terminal sends a signal: ctrl+c and ctrl+\, as bytes.
const INTERRUPTS: [&[u8]; 2] = [b"\x03", b"\x1c"];

/// Why another user's process got no signal, and what reaches it.
pub const REFUSED: &str =
    "another user's process may not be signalled from here. keys=[\"ctrl+c\"] goes through the terminal and reaches it";

/// The key at which a terminal stops its output, where its flow control is on, as a byte.
const STOPS_OUTPUT: &[u8] = b"\x13";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Begin,
    Typing,
    Signalling,
    Settling(Now),
}

/// A `send` under way.
#[derive(Debug)]
pub(crate) struct SendCall {
    pub(crate) send: Send,
    phase: Phase,
    /// The regions that it began, the first and the last.
    region: Option<u32>,
    last: Option<u32>,
    from_line: u64,
    last_output: Now,
    /// Whether Enter is among what is pressed.
    submits: bool,
    /// What it does to the text on the line.
    pub(crate) leaves: Leaves,
    /// The agent whose text stands on the shell's line afterwards: another's, if it stood there before; none, if a
    /// person's did.
    pub(crate) line_of: Option<String>,
    /// The command that ran when it began.
    beside: Option<u32>,
    /// The line that its program worked on then.
    inside: Option<u32>,
    /// Whether it discards the shell's line, and the shell has not said yet that it has.
    discards: bool,
    /// Whether something stood on that line.
    discards_text: bool,
    /// How often it has been pressed again.
    nudges: u8,
    /// Who got the signal.
    signalled: Option<Signalled>,
}

impl SendCall {
    pub(crate) fn begin(send: Send) -> Self {
        Self {
            send,
            phase: Phase::Begin,
            region: None,
            last: None,
            from_line: 1,
            last_output: Now::default(),
            submits: false,
            leaves: Leaves::Alone,
            line_of: None,
            beside: None,
            inside: None,
            discards: false,
            discards_text: false,
            nudges: 0,
            signalled: None,
        }
    }

    pub(crate) fn deadline(&self) -> Option<Now> {
        match self.phase {
            Phase::Settling(since) => Some(since + SETTLE_MAX.max(self.send.settle)),
            Phase::Begin | Phase::Typing | Phase::Signalling => None,
        }
    }

    /// The command that runs as it begins, and the line that its program works on.
    pub(crate) fn begins_beside(&mut self, region: Option<u32>, inside: Option<u32>) {
        (self.beside, self.inside) = (region, inside);
    }

    /// A shell with the integration is at its line, and shows a new prompt after a ctrl+c.
    pub(crate) fn begins_at_line(&mut self, text: bool) {
        self.discards_text |= text;
        self.discards = self.send.keys.last().is_some_and(|key| INTERRUPTS[0] == key.encode(false));
    }

    /// The signal is on its way.
    pub(crate) fn signals(&mut self) {
        self.phase = Phase::Signalling;
    }

    /// The signal was given.
    pub(crate) fn was_signalled(&mut self, now: Now, to: Signalled) {
        self.phase = Phase::Settling(now);
        self.last_output = now;
        self.signalled = Some(to);
    }

    /// The command that was running and is meant to end by what was sent.
    fn interrupted(&self) -> Option<u32> {
        let pressed = self.send.keys.iter().any(|key| INTERRUPTS.contains(&key.encode(false).as_slice()));
        let ends = pressed || self.send.signal.is_some();
        self.beside.filter(|_| ends)
    }

    /// The command that was running, where what was sent can only have been one answer to it: then nothing follows the
    /// prompt behind it, which need not be seen to rest. A longer rest that was asked for is kept to.
    fn answered(&self) -> Option<u32> {
        let Send { text, keys, settle, .. } = &self.send;
        let enters = text.matches(['\n', '\r']).count();
        let one = match (text.is_empty(), keys.len()) {
            (true, keys) => keys == 1,
            // One letter is one key, as `q` is to a pager.
            (false, 0) => text.chars().count() == 1 || enters == 1 && text.ends_with(['\n', '\r']),
            (false, 1) => enters == 0,
            (false, _) => false,
        };
        self.beside.filter(|_| one && *settle <= SETTLE)
    }

    /// Until when the reply is held back for an interrupted command to end.
    fn patience(&self, since: Now) -> Now {
        match self.send.signal {
            // Nothing refuses it.
            Some(Signal::Kill) => since + SETTLE_MAX,
            Some(signal) if !signal.ends() => since + self.send.settle,
            _ => since + ENDS.max(self.send.settle),
        }
    }

    pub(crate) fn on(&mut self, event: &LogEvent) {
        let anew = matches!(event, LogEvent::Prompt | LogEvent::NotRun { .. });
        if anew && self.phase != Phase::Begin {
            self.discards = false;
        }
        if let LogEvent::Opened(id) = event
            && self.phase != Phase::Begin
            && self.submits
        {
            self.region.get_or_insert(*id);
            self.last = Some(*id);
        }
    }

    pub(crate) fn output(&mut self, now: Now) {
        self.last_output = now;
    }

    /// The first region that it began.
    pub(crate) fn region(&self) -> Option<u32> {
        self.region
    }

    /// Where what appears begins.
    pub(crate) fn typing_at(&mut self, line: u64, submits: bool, leaves: Leaves) {
        self.from_line = line;
        self.submits = submits;
        self.leaves = leaves;
        self.phase = Phase::Typing;
    }

    /// Whether nothing has been typed yet.
    pub(crate) fn is_new(&self) -> bool {
        self.phase == Phase::Begin
    }

    /// The terminal has not taken it, and it is to be typed again.
    pub(crate) fn take_back(&mut self) {
        self.phase = Phase::Begin;
    }

    pub(crate) fn typed(&mut self, now: Now, result: Result<(), String>) -> Option<Outcome> {
        self.phase = Phase::Settling(now);
        self.last_output = now;
        result.err().map(Outcome::error)
    }

    /// Whether it has pressed ctrl+s, which may have stopped the terminal's output: that has to be looked at.
    pub(crate) fn may_stop_output(&self) -> bool {
        let stops = || self.send.keys.iter().any(|key| key.encode(false) == STOPS_OUTPUT);
        matches!(self.phase, Phase::Settling(_)) && stops()
    }

    /// Whether what it sent is there, and what comes of it is watched.
    pub(crate) fn is_settling(&self) -> bool {
        matches!(self.phase, Phase::Settling(_))
    }

    /// Whether the key is to be pressed again.
    fn is_unheard(&self) -> bool {
        self.discards && self.nudges < NUDGES && self.send.text.is_empty() && self.send.keys.len() == 1
    }

    pub(crate) fn step(&mut self, view: &Seen<'_>) -> Step {
        let Phase::Settling(since) = self.phase else { return Step::Wait(None) };
        let over = view.over();
        // A shell that has not begun what was submitted still shows the prompt that it was typed at, which says nothing.
        let at_line = matches!(view.shell, ShellState::AtPrompt { .. } | ShellState::Continuation);
        if let Some(due) = view.answer_due.filter(|_| !over && self.submits && at_line) {
            return Step::Wait(Some(due));
        }
        let rests_at = self.last_output + self.send.settle;
        let late = view.now >= since + SETTLE_MAX.max(self.send.settle);
        let job = self.interrupted().and_then(|id| view.log.region(id));
        let runs = job.filter(|job| job.state == State::Running);
        let answered = self.answered().and_then(|id| view.log.region(id)).filter(|job| job.state != State::Running);
        let at_prompt = matches!(view.shell, ShellState::AtPrompt { ready: true, .. });
        let ended = at_prompt && (answered.is_some() || job.is_some() && runs.is_none());
        if !over && self.is_unheard() {
            if view.now < since + NUDGE {
                return Step::Wait(Some(since + NUDGE));
            }
            self.nudges += 1;
            self.take_back();
            return Step::Again;
        }
        if !over && self.discards && self.discards_text && view.now < since + NEW_PROMPT {
            return Step::Wait(Some(since + NEW_PROMPT));
        }
        if !over && !ended && !late && self.may_stop_output() && view.flow.is_open() && !view.paints() {
            return Step::Wait(Some(since + SETTLE_MAX));
        }
        if !over && !ended && !late {
            let resting = view.resting;
            let shows = resting.prompt.is_some() || resting.screen || resting.asks.is_some();
            let until = if job.is_some() && !shows { rests_at.max(self.patience(since)) } else { rests_at };
            let until = if view.wonders && !shows { until.max(rests_at + LOOKED) } else { until };
            if view.now < until {
                let again = resting.again.filter(|_| job.is_some());
                return Step::Wait([Some(until), again].into_iter().flatten().filter(|at| *at > view.now).min());
            }
        }
        let status = if over { Status::Ended } else { Status::Sent };
        let mut outcome = Outcome::new(status);
        let begun = self.begun(view, at_prompt);
        // What ran before and has ended is what the keys have led to, however many they were.
        let beside = || self.beside.and_then(|id| view.log.region(id)).filter(|job| job.state != State::Running);
        outcome.region = begun.or(answered).or_else(beside).cloned();
        outcome.output = Some((self.from_line, u64::MAX));
        outcome.elapsed = view.now - since;
        outcome.screen = self.send.screen;
        outcome.program_exit = view.ended.flatten();
        outcome.prompt = match view.shell {
            ShellState::AtPrompt { .. } | ShellState::Continuation => Some(prompt_text(view)),
            _ => view.resting.prompt.as_ref().map(|(text, _)| text.clone()),
        };
        outcome.observed.pages = view.resting.pages && !over;
        if outcome.prompt.is_none() && !over && !view.resting.pages {
            outcome.observed.asks = view.resting.asks;
            outcome.prompt = self.question(view);
        }
        if let Some(signalled) = &self.signalled {
            outcome.notes.push(self.told_of(signalled, runs.is_none() && job.is_some()));
        }
        if let Some(job) = runs {
            outcome.notes.push(self.still_in_front(job, &outcome, view));
        }
        if late && view.now < rests_at && !ended {
            outcome.notes.push("the output has not come to rest; read or wait shows more".to_owned());
        }
        Step::Done(Box::new(outcome))
    }

    /// The region of what it submitted. An answer that ended the command that asked makes way for that, or for the
    /// line behind it.
    fn begun<'a>(&self, view: &Seen<'a>, at_prompt: bool) -> Option<&'a Region> {
        let begun = self.region.and_then(|id| view.log.region(id))?;
        let command = |id| view.log.region(id).filter(|region| region.kind == Kind::Command);
        let ended = || self.beside.and_then(command).filter(|job| job.state != State::Running);
        let instead = || self.last.and_then(command).or_else(ended);
        Some(Some(begun).filter(|begun| !at_prompt || begun.kind == Kind::Command).or_else(instead).unwrap_or(begun))
    }

    /// The question that the program shows, without what was typed behind it and not submitted.
    fn question(&self, view: &Seen<'_>) -> Option<String> {
        view.resting.asks.filter(|asks| *asks != Asks::Stopped)?;
        let line = prompt_text(view);
        let typed = if self.submits { "" } else { self.send.text.as_str() };
        let line = line.strip_suffix(typed).unwrap_or(&line);
        (!line.trim().is_empty() && !is_caret_echo(line)).then(|| line.to_owned())
    }

    /// Who got the signal. Where its command has ended by it, the status line says so.
    fn told_of(&self, signalled: &Signalled, ended: bool) -> String {
        let signal = self.send.signal.map_or("", Signal::word);
        let name = &signalled.name;
        if signalled.carries && !ended {
            return format!(
                "SIG{signal} went to {name}, which only carries the terminal: the program at its far end got nothing; keys=[\"ctrl+c\"] reach it"
            );
        }
        if let Some(refused) = &signalled.refused {
            return format!("SIG{signal} went to {name}, and not to {refused}: {REFUSED}");
        }
        format!("SIG{signal} went to {name}")
    }

    /// Names the job that has not ended.
    fn still_in_front(&self, job: &Region, outcome: &Outcome, view: &Seen<'_>) -> String {
        // What runs inside of it is meant, where that is known.
        let inside = view.log.open_region().filter(|inside| inside.id != job.id && outcome.prompt.is_none());
        let inside = inside.map_or_else(String::new, |inside| format!("{} in ", describe(inside)));
        let what = format!("still in the foreground: {inside}{}", describe(job));
        let asks = outcome.observed.asks;
        if outcome.prompt.is_some() || matches!(asks, Some(Asks::Shown | Asks::Hidden)) {
            // Who asks on has swallowed the signal; a known prompt behind INT is what was wanted.
            // What was to end is what it worked on, and has.
            let ended = self.inside.and_then(|id| view.log.region(id)).is_some_and(|it| it.state != State::Running);
            let next = match (self.send.signal.filter(|_| !ended), asks) {
                (Some(Signal::Int), Some(_)) => {
                    ", not ended by that. Answer it; signal=\"TERM\" ends it, and \"KILL\" if it refuses that"
                }
                (Some(Signal::Term | Signal::Hup | Signal::Quit), _) => {
                    ", not ended by that. Answer it; signal=\"KILL\" ends it whatever it does"
                }
                _ => "",
            };
            let at = match (&outcome.prompt, asks) {
                (None, _) => "waiting for input".to_owned(),
                (Some(prompt), Some(_)) => format!("asking {}", quoted(prompt)),
                (Some(prompt), None) => format!("at its prompt {}", quoted(prompt)),
            };
            return format!("{what}, {at}{next}");
        }
        if view.resting.screen || view.paints() {
            return format!("{what}, with its screen");
        }
        let harder = match self.send.signal {
            Some(Signal::Cont | Signal::Usr1 | Signal::Usr2) => return what,
            Some(Signal::Kill) => "it cannot be killed while the system is busy for it: wait waits for it",
            Some(Signal::Term) => "wait if it is still ending, or signal=\"KILL\" ends it whatever it does",
            _ => "wait if it is still ending, or signal=\"TERM\" ends it, and \"KILL\" if it refuses that",
        };
        format!("{what}: {harder}")
    }
}
