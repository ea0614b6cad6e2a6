//! `run`: types lines one at a time, each once the one before has been answered.

use std::collections::VecDeque;
use std::time::Duration;

use super::gone::{Left, Took, taker};
use super::refusal::{NOT_TYPED, REST_NOT_TYPED, ends_it, left_untyped, reads_too, refusal};
use super::watch::{Asks, Flow, QUIET, REST, Seen, Verdict, Watch, prompt_due, prompt_shown, prompt_text, question};
use super::{Answer, Outcome, Run, Shape, Status};
use crate::log::{LogEvent, ShellState};
use crate::pattern::Pattern;
use crate::prompt::Shape as PromptShape;
use crate::region::{Kind, Region, State};
use crate::time::Now;
use crate::waiting::Judgement;

/// A program that keeps printing, or is seen at work, while a line is waiting to be typed is refused the line after this
/// long: one that comes up, or is about to be done, is ready by then.
const BUSY: Duration = Duration::from_millis(600);

/// What no looks and no silence have settled after this long stays open: the looks disagree, or do not come back.
const UNSETTLED: Duration = QUIET.saturating_add(BUSY);

/// A shell begins a line within milliseconds; one that has not after this long has taken it for something else.
const UNTAKEN: Duration = Duration::from_secs(5);

/// What a step of a call asks for.
#[derive(Debug)]
pub(crate) enum Step {
    /// Nothing yet; look again at that time even if nothing happens.
    Wait(Option<Now>),
    /// Press again what a `send` presses.
    Again,
    /// Type this line.
    Line(Target, String),
    /// Type this answer to what the program asks.
    Answer(Answer),
    /// The call is done.
    Done(Box<Outcome>),
}

/// What takes a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Target {
    /// A shell whose markers tell when the line is done.
    Shell,
    /// A program, or a shell without markers.
    Program,
    /// A shell without markers, which is told something of ours: no region is made of it.
    Unmarked,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Phase {
    /// Until the place is ready for a line; since when.
    Ready(Now),
    /// Until the terminal has taken the line.
    Typing,
    /// Until something can be said of the line.
    Watching,
}

/// A `run` under way.
#[derive(Debug)]
pub(crate) struct RunCall {
    lines: VecDeque<String>,
    /// The line that was given out last, and who takes it.
    at_hand: Option<String>,
    taken_by: Took,
    several: bool,
    phase: Phase,
    watch: Watch,
    ran: Vec<u32>,
    /// How many lines the terminal has taken.
    taken: usize,
    /// What each of those led to that the line behind it answered.
    led_to: Vec<(u32, String)>,
    pub(crate) until: Option<Pattern>,
    pub(crate) prompt_pattern: Option<Pattern>,
    shape: Shape,
    deadline: Now,
    /// When the terminal took the line at hand, or what is to come before it last went on.
    pub(crate) typed_at: Now,
    /// Whether what takes it shows by itself what is typed, as was seen before.
    echoed: bool,
    /// The first line that a call of one line may show, where no region tells.
    from_line: u64,
    /// Whether rules answer what is asked: a question is not given the next line then.
    ruled: bool,
    /// Whether the shell was still coming up when it was looked at, so that the line is meant for its prompt.
    early: bool,
}

impl RunCall {
    pub(crate) fn begin(now: Now, run: Run) -> Self {
        Self {
            several: run.lines.len() > 1,
            lines: run.lines.into(),
            at_hand: None,
            taken_by: Took::Program,
            phase: Phase::Ready(now),
            watch: Watch::default(),
            ran: Vec::new(),
            taken: 0,
            led_to: Vec::new(),
            until: run.until,
            prompt_pattern: run.prompt_pattern,
            shape: run.shape,
            deadline: now + run.timeout,
            typed_at: now,
            echoed: false,
            from_line: 1,
            ruled: false,
            early: false,
        }
    }

    /// The same, for rules that answer what is asked.
    pub(crate) fn answering(mut self) -> Self {
        self.ruled = true;
        self
    }

    /// Watches what runs already, whose output of interest begins on that line.
    pub(crate) fn attach(&mut self, region: Option<u32>, line: u64) {
        self.watch = region.map_or_else(Watch::default, Watch::of);
        self.phase = Phase::Watching;
        self.from_line = line;
    }

    /// An answer is about to be typed. A line that a program took has its end there, and the answer's region is
    /// watched in its place.
    pub(crate) fn answers(&mut self, view: &Seen<'_>) {
        let command = self.watch.region.and_then(|id| view.log.region(id)).is_some_and(|it| it.kind == Kind::Command);
        let matched = self.watch.matched;
        self.watch = self.watch.region.filter(|_| command).map_or_else(Watch::default, Watch::of);
        self.watch.matched = matched;
        self.phase = Phase::Typing;
    }

    /// The outcome where a rule ends the call.
    pub(crate) fn stopped(&self, view: &Seen<'_>, rule: usize) -> Outcome {
        let mut outcome = self.outcome(view, Status::StoppedRule, None);
        outcome.matched = Some(rule as u64);
        outcome
    }

    /// The outcome where what is asked is not answered.
    pub(crate) fn asked(&self, view: &Seen<'_>) -> Outcome {
        let hidden = view.resting.asks == Some(Asks::Hidden);
        let status = if hidden { Status::WaitingHidden } else { Status::Waiting };
        self.outcome(view, status, Some(prompt_text(view)))
    }

    /// Whether the line at hand has been typed, and what comes of it is watched.
    pub(crate) fn is_watching(&self) -> bool {
        self.phase == Phase::Watching
    }

    /// How many lines have not been given out.
    pub(crate) fn lines_left(&self) -> usize {
        self.lines.len()
    }

    /// Whether a line was given to the terminal.
    pub(crate) fn is_begun(&self) -> bool {
        !matches!(self.phase, Phase::Ready(_)) || !self.ran.is_empty()
    }

    pub(crate) fn deadline(&self) -> Now {
        self.deadline
    }

    /// The region being watched.
    pub(crate) fn region(&self) -> Option<u32> {
        self.watch.region
    }

    /// Whether `until` is looked for now: it holds for the last line only.
    pub(crate) fn wants_lines(&self) -> bool {
        self.until.is_some() && self.lines.is_empty() && self.phase == Phase::Watching && self.watch.matched.is_none()
    }

    pub(crate) fn matched(&mut self, line: u64) {
        self.watch.matched.get_or_insert(line);
    }

    pub(crate) fn on(&mut self, now: Now, event: &LogEvent) {
        if let Phase::Ready(since) = &mut self.phase {
            if matches!(event, LogEvent::Opened(_)) {
                // What another has begun meanwhile has its own time to come to an end.
                *since = now;
            }
            return;
        }
        self.watch.on(now, event);
        if let (LogEvent::Opened(id) | LogEvent::Begun { command: id, .. }, Some(bound)) = (event, self.watch.region)
            && *id == bound
            && !self.ran.contains(id)
        {
            self.ran.push(*id);
        }
    }

    /// The terminal has taken the line, or not.
    pub(crate) fn typed(&mut self, result: Result<(), String>, view: &Seen<'_>) -> Option<Outcome> {
        self.phase = Phase::Watching;
        self.typed_at = view.now;
        match result {
            Ok(()) => self.taken += 1,
            Err(why) => return Some(self.untyped(&why, view)),
        }
        None
    }

    /// The terminal has not taken the line, and it is to be given out again.
    pub(crate) fn take_back(&mut self, now: Now) {
        self.phase = Phase::Ready(now);
        if let Some(line) = self.at_hand.take() {
            self.lines.push_front(line);
        }
    }

    /// The outcome where the line at hand could not be typed, and why.
    pub(crate) fn untyped(&self, why: &str, view: &Seen<'_>) -> Outcome {
        let why = if self.taken == 0 { why.to_owned() } else { why.replacen(NOT_TYPED, REST_NOT_TYPED, 1) };
        let left: Vec<&str> = self.at_hand.iter().chain(&self.lines).map(String::as_str).collect();
        self.cut_short(why, &left, view)
    }

    pub(crate) fn step(&mut self, view: &Seen<'_>) -> Step {
        match self.phase.clone() {
            Phase::Ready(since) => self.ready(view, since),
            Phase::Typing => Step::Wait(None),
            Phase::Watching if self.is_unread(view) => Step::Wait(self.watch.may_be_read_until(view)),
            Phase::Watching => match self.watch.verdict(view, self.until.is_some() || self.ruled) {
                Some(verdict) => self.judged(view, &verdict),
                None if self.is_untaken(view) => Step::Done(Box::new(self.untaken(view))),
                None if view.now >= self.deadline => Step::Done(Box::new(self.outcome(view, Status::Running, None))),
                None => {
                    let taken_by = (self.watch.region.is_none()).then(|| self.typed_at + UNTAKEN);
                    Step::Wait(
                        [self.watch.again(view), taken_by].into_iter().flatten().filter(|at| *at > view.now).min(),
                    )
                }
            },
        }
    }

    /// Whether a shell may still come to read the line, whose taker has ended. One that showed what was typed by
    /// itself has read it. A shell that has read it runs it as its own command, which is followed.
    fn is_unread(&mut self, view: &Seen<'_>) -> bool {
        let Some(line) = self.at_hand.as_deref() else { return false };
        if let Some(command) = self.watch.follow(view, line) {
            self.ran.push(command);
        }
        let at_prompt = matches!(view.shell, ShellState::AtPrompt { .. });
        at_prompt && !self.echoed && view.now < self.deadline && self.watch.may_be_read_until(view).is_some()
    }

    /// Since when a shell has not begun the line that it was given, if it has not.
    pub(crate) fn unbegun_since(&self) -> Option<Now> {
        (self.phase == Phase::Watching && self.watch.region.is_none()).then_some(self.typed_at)
    }

    /// Whether there is a line that waits to be typed.
    pub(crate) fn waits_for_prompt(&self) -> bool {
        matches!(self.phase, Phase::Ready(_))
    }

    /// Whether a shell that showed its prompt has done nothing with the line.
    fn is_untaken(&self, view: &Seen<'_>) -> bool {
        let at_prompt = matches!(view.shell, ShellState::AtPrompt { .. });
        at_prompt && self.watch.region.is_none() && {
            view.now >= self.typed_at + UNTAKEN || view.flow == Flow::Held || view.rival.is_some()
        }
    }

    fn untaken(&self, view: &Seen<'_>) -> Outcome {
        let mut outcome = self.outcome(view, Status::Running, None);
        if view.flow == Flow::Held {
            return outcome;
        }
        if let Some(rival) = view.rival {
            outcome.notes.push(format!(
                "{}: how much of the line the shell has is not known. read view=\"screen\" shows it; {}, and send keys=[\"ctrl+c\"] then gives a fresh prompt",
                reads_too(rival),
                ends_it(rival)
            ));
            return outcome;
        }
        outcome.notes.push(
            "the shell has not begun the line: it may be in a search, or wait for a key. read view=\"screen\" shows it; send keys=[\"ctrl+c\"] gives it up, then run it again"
                .to_owned(),
        );
        outcome
    }

    fn ready(&mut self, view: &Seen<'_>, since: Now) -> Step {
        if view.over() {
            return Step::Done(Box::new(self.refused(view, "ended")));
        }
        let late = view.now >= self.deadline;
        match view.shell {
            ShellState::AtPrompt { .. } | ShellState::Continuation if view.answer_due.is_some() => {
                if late {
                    Step::Done(Box::new(self.refused(view, "busy")))
                } else {
                    Step::Wait(view.answer_due)
                }
            }
            ShellState::AtPrompt { .. } if view.rival.is_some() => Step::Done(Box::new(self.refused(view, "rival"))),
            ShellState::AtPrompt { .. } if view.rival_due.is_some() && !late => Step::Wait(view.rival_due),
            ShellState::AtPrompt { .. } if view.unbegun.is_some() => self.behind_unbegun(view, late),
            ShellState::AtPrompt { ready, .. } => {
                let due = since + prompt_due(view.log);
                if ready || late || view.now >= due {
                    self.type_next(Target::Shell, view)
                } else {
                    Step::Wait(Some(due))
                }
            }
            ShellState::Continuation => self.type_next(Target::Shell, view),
            ShellState::Starting if late => Step::Done(Box::new(self.refused(view, "late"))),
            ShellState::Starting => {
                self.early = true;
                Step::Wait(view.resting.again)
            }
            ShellState::Ended => Step::Done(Box::new(self.refused(view, "ended"))),
            ShellState::Running(_) | ShellState::NoShell => self.ready_unmarked(view, since, late),
        }
    }

    /// Behind a line that the shell has not begun, nothing is typed: it would become a part of whatever that is in.
    fn behind_unbegun(&self, view: &Seen<'_>, late: bool) -> Step {
        let due = view.unbegun.map_or(view.now, |(since, _)| since + UNTAKEN);
        if view.now < due && view.flow != Flow::Held && !late {
            return Step::Wait(Some(due));
        }
        Step::Done(Box::new(self.refused(view, "unbegun")))
    }

    /// The same where no marker tells: a program has the terminal, or a shell without the integration.
    fn ready_unmarked(&mut self, view: &Seen<'_>, since: Now, late: bool) -> Step {
        if view.resting.screen || view.resting.pages || (late && view.paints()) {
            return Step::Done(Box::new(self.refused(view, "screen")));
        }
        if view.paints() {
            // It has not drawn all of it yet, and takes a line for keys all the same.
            return Step::Wait(view.resting.again);
        }
        if view.resting.prompt.is_some() {
            return self.type_next(Target::Program, view);
        }
        match view.resting.asks {
            Some(Asks::Shown) if self.early => return Step::Done(Box::new(self.refused(view, "startup"))),
            Some(Asks::Shown) => return self.type_next(Target::Program, view),
            Some(Asks::Hidden) => return Step::Done(Box::new(self.refused(view, "hidden"))),
            Some(Asks::Stopped) => return Step::Done(Box::new(self.refused(view, "stopped"))),
            None => {}
        }
        if let Some(why) = view.others.as_deref().filter(|_| view.quiet >= REST) {
            let typed = if self.taken == 0 { NOT_TYPED } else { REST_NOT_TYPED };
            let left: Vec<&str> = self.lines.iter().map(String::as_str).collect();
            return Step::Done(Box::new(self.cut_short(why.replacen(NOT_TYPED, typed, 1), &left, view)));
        }
        let rests = view.resting.again.is_none_or(|at| at > view.now + REST);
        let unmarked = view.shell == ShellState::NoShell;
        // The session's own program may have a prompt that nobody knows: it is given the line where it was looked at,
        // and was not seen to do something else than to wait for one.
        let own = unmarked && rests && view.log.open_region().is_none();
        let idle = matches!(view.judgement, Some(Judgement::Busy(_) | Judgement::Carrier(_) | Judgement::Unknown(_)));
        if (own && idle) || (view.resting.quiet && view.looked.is_some()) {
            return self.type_next(Target::Program, view);
        }
        // What was seen before the call may have come to an end since, or come up.
        let told = view.looked.is_some_and(|at| at >= since) || view.quiet < REST;
        // What only silence tells is waited for: a server that has just begun has heard none.
        let patience = if view.resting.quietens { UNSETTLED } else { BUSY };
        let waited = view.now - since;
        if late || (waited >= patience && told) || waited >= UNSETTLED {
            return Step::Done(Box::new(self.refused(view, "busy")));
        }
        let due = [Some(since + BUSY), Some(since + UNSETTLED), view.resting.again];
        Step::Wait(due.into_iter().flatten().filter(|at| *at > view.now).min())
    }

    fn type_next(&mut self, target: Target, view: &Seen<'_>) -> Step {
        let Some(line) = self.lines.pop_front() else { return Step::Wait(None) };
        self.echoed = view.echoes == Some(false);
        self.watch = Watch::default();
        self.phase = Phase::Typing;
        self.at_hand = Some(line.clone());
        self.taken_by = Took::by(view, target);
        Step::Line(target, line)
    }

    /// Tells where the output of a line begins that makes no region.
    pub(crate) fn typing_at(&mut self, line: u64) {
        self.from_line = line;
    }

    fn judged(&mut self, view: &Seen<'_>, verdict: &Verdict) -> Step {
        let takes_more = match verdict {
            // A question is not answered by the line behind it where rules are there to answer.
            _ if self.ruled && is_question(view) => false,
            // A line that the shell wants corrected has most likely not come to its end: the others are none of their own.
            Verdict::Closed if view.log.leftover().is_some() => false,
            Verdict::Closed => view.resting.asks != Some(Asks::Hidden),
            Verdict::NotRun(..) => true,
            Verdict::At(status, _) => matches!(status, Status::Prompt | Status::Continuation | Status::Waiting),
            Verdict::Ended => false,
        } && !view.over();
        let gone = self.is_gone(view).filter(|_| takes_more && !self.lines.is_empty());
        if takes_more && gone.is_none() && !self.lines.is_empty() && view.now < self.deadline {
            let unmarked = matches!(view.shell, ShellState::Running(_) | ShellState::NoShell);
            self.led_to.extend(self.watch.region.filter(|_| unmarked).map(|id| (id, prompt_shown(view))));
            self.phase = Phase::Ready(view.now);
            return self.ready(view, view.now);
        }
        let mut outcome = match verdict {
            Verdict::Closed => self.closed(view),
            Verdict::NotRun(first, lines) => {
                let mut outcome = self.outcome(view, Status::Finished, None);
                outcome.output = (*lines > 0).then_some((*first, *lines));
                outcome
            }
            Verdict::At(status, prompt) => self.outcome(view, *status, prompt.clone()),
            Verdict::Ended => self.outcome(view, Status::Ended, None),
        };
        outcome.gone = gone.is_some();
        outcome.notes.extend(gone);
        Step::Done(Box::new(outcome))
    }

    /// Why the lines that are left are not typed although what comes next would take one.
    fn is_gone(&self, view: &Seen<'_>) -> Option<String> {
        let line = self.at_hand.as_deref()?;
        let left: Vec<&str> = self.lines.iter().map(String::as_str).collect();
        let left = Left { lines: &left, of: self.taken + left.len() };
        self.taken_by.is_gone(view, self.watch.region.and_then(|id| view.log.region(id)), line, left)
    }

    fn closed(&self, view: &Seen<'_>) -> Outcome {
        let region = self.watch.region.and_then(|id| view.log.region(id));
        let ended_itself = |region: &Region| region.state == State::Finished && view.log.ended_by() != Some(region.id);
        if view.over() && !region.is_some_and(ended_itself) {
            return self.outcome(view, Status::Ended, None);
        }
        match region.map(|region| region.kind) {
            Some(Kind::Input) => {
                // What closes an input region is the taker's next prompt, or the end of the taker.
                if view.over() {
                    return self.outcome(view, Status::Ended, None);
                }
                let ended = |input| taker(view, input).is_some_and(|taker| taker.state == State::Finished);
                if matches!(view.shell, ShellState::AtPrompt { .. }) || region.is_some_and(ended) {
                    return self.taker_ended(view);
                }
                match &view.resting.prompt {
                    Some((text, PromptShape::Primary)) => self.outcome(view, Status::Prompt, Some(text.clone())),
                    Some((text, PromptShape::Continuation)) => {
                        self.outcome(view, Status::Continuation, Some(text.clone()))
                    }
                    None => self.outcome(view, asked(view), question(view)),
                }
            }
            // The program that its shell was started from has the terminal again.
            _ => match (&view.shell, &view.resting.prompt) {
                (ShellState::Running(_) | ShellState::NoShell, Some((text, PromptShape::Primary))) => {
                    self.outcome(view, Status::Prompt, Some(text.clone()))
                }
                _ => self.outcome(view, Status::Finished, None),
            },
        }
    }

    /// The program that took the line has ended with it: the reply is about the command that ran it.
    fn taker_ended(&self, view: &Seen<'_>) -> Outcome {
        let mut outcome = self.outcome(view, Status::Finished, None);
        let input = outcome.region.as_ref();
        let taker = input.and_then(|input| taker(view, input));
        if let (Some(taker), Some(input)) = (taker, input) {
            outcome.output = Some((input.first_line, input.lines));
            outcome.region = Some(taker.clone());
        }
        outcome
    }

    fn outcome(&self, view: &Seen<'_>, status: Status, prompt: Option<String>) -> Outcome {
        let mut outcome = Outcome { prompt, ..Outcome::new(status) };
        self.fill(&mut outcome, view);
        outcome
    }

    fn fill(&self, outcome: &mut Outcome, view: &Seen<'_>) {
        outcome.region = self.watch.region.and_then(|id| view.log.region(id)).cloned();
        outcome.matched = self.watch.matched;
        outcome.shape = self.shape.clone();
        outcome.program_exit = view.ended.flatten();
        if outcome.region.is_none() && outcome.status != Status::Finished {
            outcome.output = Some((self.from_line, u64::MAX));
        }
        if self.several {
            outcome.ran = self.ran.iter().filter_map(|id| view.log.region(*id)).cloned().collect();
            outcome.led_to.clone_from(&self.led_to);
            outcome.unsent = Some(self.lines.len());
        }
    }

    fn refused(&self, view: &Seen<'_>, why: &str) -> Outcome {
        let typed = if self.taken == 0 { NOT_TYPED } else { REST_NOT_TYPED };
        let left: Vec<&str> = self.lines.iter().map(String::as_str).collect();
        self.cut_short(refusal(view, typed, why), &left, view)
    }

    /// The error that ends the call before these lines. Where lines before them were typed, it tells what came of those
    /// and which were not: who only heard of the error would run them twice.
    fn cut_short(&self, why: String, left: &[&str], view: &Seen<'_>) -> Outcome {
        let mut outcome = Outcome::error(why);
        if self.several {
            self.fill(&mut outcome, view);
            outcome.region = outcome.ran.last().cloned();
            outcome.output = None;
            outcome.unsent = Some(left.len());
            if self.taken > 0 {
                outcome.notes.push(left_untyped(view, left, self.taken + left.len()));
            }
        }
        outcome
    }
}

/// What closed an input region at no known prompt: the host saw its taker wait, or nothing could tell.
pub(super) fn asked(view: &Seen<'_>) -> Status {
    match view.resting.asks {
        Some(Asks::Shown) => Status::Waiting,
        Some(Asks::Hidden) => Status::WaitingHidden,
        Some(Asks::Stopped) => Status::Suspended,
        None if view.resting.quiet => Status::Quiet,
        None => Status::Running,
    }
}

/// Whether the program was seen to ask something, at no prompt that is known.
fn is_question(view: &Seen<'_>) -> bool {
    let asks = matches!(view.resting.asks, Some(Asks::Shown | Asks::Hidden));
    asks && view.resting.prompt.is_none() && !prompt_text(view).trim().is_empty()
}
