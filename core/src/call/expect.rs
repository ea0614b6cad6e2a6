//! `expect`: a `run` whose program asks questions, answered by rules.
//!
//! A rule is tried against what is new since the last answer, never against the echo of that answer, and its answer is
//! typed once the program reads: what is typed before may be thrown away, or be shown where it must not be.

use std::time::Duration;

use super::refusal::NOT_TYPED;
use super::run::{RunCall, Step};
use super::watch::{Asks, Seen};
use super::{Outcome, Run, Shape, Status};
use crate::keys::Key;
use crate::log::{Log, LogEvent, ShellState};
use crate::pattern::{Pattern, TooCostly};
use crate::region::{Kind, State};
use crate::time::Now;
use crate::waiting::Judgement;

/// How often a rule answers when not told: enough for an installer's questions, and an end to a program that asks the
/// same for ever.
pub const TIMES: u32 = 20;

/// The same for a secret: a wrong password that is given again locks accounts.
pub const TIMES_SECRET: u32 = 1;

/// A program that is seen to work is taken to read all the same when its question has stood for this long: a few poll
/// the terminal between other things. Until then what is typed may be thrown away, by whatever turns the echo off first.
const STOOD: Duration = Duration::from_secs(5);

/// The arguments of `expect`.
#[derive(Debug, Clone)]
pub struct Expect {
    /// The session.
    pub session: Option<String>,
    /// The lines to type first, each without its line break; none answers what runs already.
    pub lines: Vec<String>,
    /// How long the call waits.
    pub timeout: Duration,
    /// The rules, in the order in which they are tried.
    pub rules: Vec<Rule>,
    /// Ends the call when seen in the output.
    pub until: Option<Pattern>,
    /// What the reply shows.
    pub shape: Shape,
}

/// One rule.
#[derive(Debug, Clone)]
pub struct Rule {
    /// What is looked for, in each line by itself.
    pub pattern: Pattern,
    /// What is done about it.
    pub action: Action,
    /// How often at most.
    pub times: u32,
}

/// What a rule does.
#[derive(Debug, Clone)]
pub enum Action {
    /// Types an answer.
    Answer(Answer),
    /// Ends the call.
    Stop,
}

/// What a rule types.
#[derive(Clone, Default)]
pub struct Answer {
    /// Text, typed as it is; a line break is Enter.
    pub text: String,
    /// Keys pressed after the text.
    pub keys: Vec<Key>,
    /// Whether it may be typed only where it is not shown.
    pub secret: bool,
}

impl std::fmt::Debug for Answer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // An answer is printed nowhere, whatever prints the call that it belongs to.
        f.debug_struct("Answer").field("secret", &self.secret).finish_non_exhaustive()
    }
}

/// A rule under way.
#[derive(Debug)]
struct Tried {
    rule: Rule,
    left: u32,
    /// The last line that matched since the last answer.
    hit: Option<u64>,
}

/// From where on output is new.
#[derive(Default)]
pub(crate) struct Since {
    /// The line that the last answer was typed on.
    pub(crate) line: u64,
    /// What stood on it before.
    pub(crate) before: String,
    /// What was typed, which the terminal may echo.
    pub(crate) typed: String,
}

impl std::fmt::Debug for Since {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Since").field("line", &self.line).finish_non_exhaustive()
    }
}

/// Whether an answer may be typed now.
enum Reads {
    Yes,
    No,
    /// Not before this, if nothing happens.
    From(Now),
    /// It would be shown.
    Shows,
}

/// An `expect` under way.
#[derive(Debug)]
pub(crate) struct ExpectCall {
    pub(crate) run: RunCall,
    rules: Vec<Tried>,
    since: Since,
    /// The last line with text that was looked at.
    last: u64,
    /// The region that the first line made, or that was running.
    first: Option<u32>,
    /// The answers so far: rule, and region.
    answers: Vec<(usize, u32)>,
    /// Whether the call began without a line.
    attached: bool,
}

impl ExpectCall {
    pub(crate) fn begin(now: Now, expect: Expect, log: &Log) -> Self {
        let attached = expect.lines.is_empty();
        let open = log.open_region().filter(|_| attached);
        let from = open.map_or_else(
            || asked_from(log),
            |region| {
                // What was asked and answered before stands above the last input.
                let inside = log.regions().rev().find(|last| last.kind == Kind::Input && last.id > region.id);
                inside.map_or(region.first_line, |input| input.first_line + input.lines)
            },
        );
        let first = open.map(|region| region.id);
        let run = Run {
            session: None,
            lines: expect.lines,
            timeout: expect.timeout,
            until: expect.until,
            shape: expect.shape,
            prompt_pattern: None,
        };
        let mut run = RunCall::begin(now, run).answering();
        if attached {
            run.attach(first, from);
        }
        let rules = expect.rules.into_iter().map(|rule| Tried { left: rule.times, rule, hit: None }).collect();
        let since = Since { line: if attached { from } else { 0 }, ..Since::default() };
        Self { run, rules, since, last: 0, first, answers: Vec::new(), attached }
    }

    pub(crate) fn on(&mut self, now: Now, event: &LogEvent) {
        self.run.on(now, event);
        if self.first.is_none() {
            self.first = self.run.region();
        }
    }

    /// The lines that rules and `until` look at.
    pub(crate) fn range(&self, log: &Log) -> Option<(u64, u64)> {
        if !self.run.is_begun() {
            return None;
        }
        let Some(first) = self.first.and_then(|id| log.region(id)) else {
            return (self.attached && log.shell() == ShellState::NoShell).then_some((self.since.line, u64::MAX));
        };
        let ended = first.kind == Kind::Command && first.state != State::Running;
        let last = if ended { (first.first_line + first.lines).saturating_sub(1) } else { u64::MAX };
        Some((first.first_line.max(self.since.line), last))
    }

    /// The regions of its answers.
    pub(crate) fn answered(&self) -> impl Iterator<Item = u32> {
        self.answers.iter().map(|(_, region)| *region)
    }

    /// Takes a line of output; `whole` is it with the blanks before the cursor, if the cursor stands on it.
    ///
    /// # Errors
    /// Where a pattern is too costly.
    pub(crate) fn look(&mut self, number: u64, text: &str, whole: Option<&str>) -> Result<(), TooCostly> {
        let Some(fresh) = self.fresh(number, text) else { return Ok(()) };
        let (fresh, whole) = (fresh.to_owned(), whole.and_then(|whole| self.fresh(number, whole)).map(str::to_owned));
        if !fresh.trim().is_empty() {
            self.last = self.last.max(number);
        }
        let found = |pattern: &Pattern| -> Result<bool, TooCostly> {
            Ok(pattern.is_match(&fresh)? || whole.as_deref().map_or(Ok(false), |whole| pattern.is_match(whole))?)
        };
        for tried in &mut self.rules {
            if tried.hit < Some(number) && found(&tried.rule.pattern)? {
                tried.hit = Some(number);
            }
        }
        if self.run.wants_lines()
            && let Some(until) = &self.run.until
            && found(until)?
        {
            self.run.matched(number);
        }
        Ok(())
    }

    /// A program that hides its input may show no question for it (`read -s`). Only a pattern that matches the empty
    /// text is meant for that.
    fn look_at_nothing(&mut self) {
        if self.last > 0 {
            return;
        }
        let line = self.since.line;
        for tried in &mut self.rules {
            // One that is too costly has not matched, and says so with the next line there is.
            if tried.hit.is_none() && tried.rule.pattern.is_match("").unwrap_or(false) {
                tried.hit = Some(line);
            }
        }
    }

    /// What of a line is new; none where nothing is.
    fn fresh<'a>(&self, number: u64, text: &'a str) -> Option<&'a str> {
        if number != self.since.line || self.since.before.is_empty() && self.since.typed.is_empty() {
            return (number >= self.since.line).then_some(text);
        }
        let before = self.since.before.as_str();
        // Where the line was drawn anew, what was typed may stand anywhere in it.
        let rest = text.strip_prefix(before).or_else(|| text.strip_prefix(before.trim_end()))?;
        let typed = self.since.typed.as_str();
        if typed.starts_with(rest.trim_end()) {
            return None;
        }
        Some(rest.strip_prefix(typed).unwrap_or(rest))
    }

    /// Whether a secret waits to be typed: whether the terminal echoes has to be seen first, whatever the line looks
    /// like.
    pub(crate) fn wants_look(&self) -> bool {
        self.run.is_watching() && self.rules.iter().any(|tried| tried.hit.is_some() && tried.is_secret())
    }

    /// Whether a rule has found what it answers.
    pub(crate) fn may_answer(&self) -> bool {
        self.run.is_watching() && self.rules.iter().any(|tried| tried.hit.is_some() && tried.left > 0)
    }

    /// The outcome where the answer that was given out last may not be typed, and why.
    pub(crate) fn unanswered(&mut self, view: &Seen<'_>, why: &str) -> Outcome {
        let rule = self.answers.pop().map_or(0, |(rule, _)| rule);
        if let Some(tried) = self.rules.get_mut(rule) {
            tried.left += 1;
        }
        let mut outcome = self.run.asked(view);
        outcome.notes.push(why.replacen(NOT_TYPED, &format!("the answer of rule {rule} was not typed"), 1));
        self.finish(view, outcome)
    }

    pub(crate) fn step(&mut self, view: &Seen<'_>) -> Step {
        let mut due = None;
        if self.run.is_watching() && !view.over() {
            if self.attached && self.first.is_none() && self.answers.is_empty() && is_idle(view.shell) {
                return Step::Done(Box::new(Outcome::error(
                    "nothing was typed: nothing runs in the session that could ask. Give line, or use run",
                )));
            }
            match self.next(view) {
                Ok(at) => due = at,
                Err(step) => return *step,
            }
        }
        match self.run.step(view) {
            Step::Done(outcome) => Step::Done(Box::new(self.finish(view, *outcome))),
            Step::Wait(at) => Step::Wait([at, due].into_iter().flatten().filter(|at| *at > view.now).min()),
            other => {
                self.last = 0;
                other
            }
        }
    }

    /// What the rules want done now, else when to try them again.
    fn next(&mut self, view: &Seen<'_>) -> Result<Option<Now>, Box<Step>> {
        let hidden = view.resting.asks == Some(Asks::Hidden);
        if hidden {
            self.look_at_nothing();
        }
        let last = self.last;
        // A question that hides its answer is answered only by a rule that was meant for it.
        let meant = |tried: &Tried| tried.hit.is_some_and(|hit| !hidden || hit >= last || tried.stops());
        // Nobody knows what was asked and answered before the call came: what stands last is asked now.
        let asked_last = |tried: &Tried| self.attached && self.answers.is_empty() && tried.hit >= Some(last);
        let by = |meant: &dyn Fn(&Tried) -> bool| self.rules.iter().position(|tried| tried.left > 0 && meant(tried));
        let last_first = by(&|tried| meant(tried) && asked_last(tried));
        let Some(at) = last_first.or_else(|| by(&meant)) else { return Ok(None) };
        let Some(tried) = self.rules.get(at) else { return Ok(None) };
        let ended = self
            .first
            .and_then(|id| view.log.region(id))
            .is_some_and(|region| region.kind == Kind::Command && region.state != State::Running);
        let Action::Answer(answer) = &tried.rule.action else {
            if ended {
                self.run.matched(at as u64);
                return Ok(None);
            }
            let mut outcome = self.run.stopped(view, at);
            outcome = self.finish(view, outcome);
            return Err(Box::new(Step::Done(Box::new(outcome))));
        };
        if ended || !matches!(view.shell, ShellState::Running(_) | ShellState::NoShell) {
            return Ok(None);
        }
        match reads(view, answer.secret, tried.hit >= Some(last)) {
            Reads::No => Ok(None),
            Reads::From(at) => Ok(Some(at)),
            Reads::Shows => {
                let mut outcome = self.run.asked(view);
                outcome.notes.push(format!(
                    "rule {at} has a secret answer, and what is typed here is shown and kept: it was not typed. Ask the user to type it in the attached terminal"
                ));
                Err(Box::new(Step::Done(Box::new(self.finish(view, outcome)))))
            }
            Reads::Yes => {
                let answer = answer.clone();
                if let Some(tried) = self.rules.get_mut(at) {
                    tried.left -= 1;
                }
                for tried in &mut self.rules {
                    tried.hit = None;
                }
                self.answers.push((at, 0));
                self.run.answers(view);
                Err(Box::new(Step::Answer(answer)))
            }
        }
    }

    /// The answer goes in there, as that region.
    pub(crate) fn answering(&mut self, since: Since, region: u32) {
        self.last = 0;
        self.since = since;
        if let Some(last) = self.answers.last_mut() {
            last.1 = region;
        }
    }

    /// Makes of a `run`'s outcome the call's own.
    fn finish(&self, view: &Seen<'_>, mut outcome: Outcome) -> Outcome {
        if outcome.status == Status::Error {
            return outcome;
        }
        outcome.status = match outcome.status {
            Status::Waiting => Status::Unanswered,
            Status::WaitingHidden => Status::UnansweredHidden,
            other => other,
        };
        if matches!(outcome.status, Status::Unanswered | Status::UnansweredHidden) {
            outcome.prompt = outcome.prompt.filter(|prompt| !prompt.trim().is_empty()).or_else(|| question(view));
            let used = self.rules.iter().enumerate().filter(|(_, tried)| tried.left == 0 && tried.hit.is_some());
            outcome.notes.extend(used.map(|(at, tried)| match tried.rule.times {
                1 => format!("rule {at} has answered once, which is all its `times` allows"),
                times => format!("rule {at} has answered {times} times, which is all its `times` allows"),
            }));
        }
        if let Some(first) = self.first.and_then(|id| view.log.region(id))
            && !self.answers.is_empty()
            && outcome.ran.len() < 2
        {
            // The answers stand in regions of their own; the reply is about all that came since the line.
            let end = match (&outcome.region, outcome.output) {
                (_, Some((from, lines))) => from.saturating_add(lines),
                (Some(region), None) if region.state == State::Running => u64::MAX,
                (Some(region), None) => region.first_line + region.lines,
                (None, None) => u64::MAX,
            };
            let count = end.saturating_sub(first.first_line);
            if first.kind == Kind::Input || outcome.region.as_ref().is_none_or(|region| region.id != first.id) {
                outcome.output = Some((first.first_line, count));
            }
            if outcome.region.as_ref().is_none_or(|region| region.kind == Kind::Input) {
                outcome.region = Some(first.clone());
            }
        }
        if !self.answers.is_empty() {
            let told: Vec<String> =
                self.answers.iter().take(12).map(|(rule, region)| format!("#{region} by rule {rule}")).collect();
            let more = if self.answers.len() > told.len() { ", ..." } else { "" };
            outcome.notes.push(format!("answered: {}{more}", told.join(", ")));
        }
        outcome
    }
}

impl Tried {
    fn is_secret(&self) -> bool {
        matches!(&self.rule.action, Action::Answer(answer) if answer.secret)
    }

    fn stops(&self) -> bool {
        matches!(self.rule.action, Action::Stop)
    }
}

/// Whether an answer may be typed: `stands` says that what matched is the last that was printed.
fn reads(view: &Seen<'_>, secret: bool, stands: bool) -> Reads {
    let resting = view.resting;
    if resting.screen || view.quiet < super::REST {
        return Reads::No;
    }
    match (resting.asks, view.judgement) {
        (Some(Asks::Hidden), _) => return Reads::Yes,
        (Some(Asks::Shown), _) if secret => return Reads::Shows,
        (Some(Asks::Shown), _) => return Reads::Yes,
        (Some(Asks::Stopped), _) => return Reads::No,
        // The host has to be asked first whether the terminal shows what is typed.
        (None, None) if secret => return Reads::No,
        _ => {}
    }
    match view.judgement {
        _ if secret && view.echoes == Some(true) && !matches!(view.judgement, Some(Judgement::Works)) => Reads::Shows,
        _ if resting.prompt.is_some() && !secret => Reads::Yes,
        Some(Judgement::Busy(_)) if secret => Reads::Shows,
        Some(Judgement::Busy(_) | Judgement::Carrier(_) | Judgement::Unknown(_)) => Reads::Yes,
        Some(Judgement::Works) if secret || !stands => Reads::No,
        Some(Judgement::Works) if view.quiet >= STOOD => Reads::Yes,
        Some(Judgement::Works) => Reads::From(view.now + (STOOD - view.quiet)),
        _ => Reads::No,
    }
}

/// Where a question stands that was asked before the call: the last line with text.
fn asked_from(log: &Log) -> u64 {
    (log.cooked.settled_lines() + log.cooked.live().lines.len() as u64).max(1)
}

/// The last line with text, where the cursor's line has none.
fn question(view: &Seen<'_>) -> Option<String> {
    let live = view.log.cooked.live();
    let line = live.lines.iter().rev().find(|line| !line.trim().is_empty())?;
    let skip = line.chars().count().saturating_sub(80);
    Some(line.chars().skip(skip).collect())
}

fn is_idle(shell: ShellState) -> bool {
    matches!(shell, ShellState::AtPrompt { .. } | ShellState::Continuation)
}
