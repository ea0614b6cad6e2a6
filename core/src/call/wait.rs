//! `wait`: goes on waiting for what already runs.

use super::run::{Step, asked, taker};
use super::watch::{Seen, Verdict, Watch, by_looks, prompt_text};
use super::{Outcome, Shape, Status, Wait};
use crate::log::{LogEvent, ShellState};
use crate::pattern::Pattern;
use crate::prompt::Shape as PromptShape;
use crate::region::{Kind, Region, State};
use crate::time::Now;

/// A `wait` under way.
#[derive(Debug)]
pub(crate) struct WaitCall {
    watch: Option<Watch>,
    begun: bool,
    /// How much had been printed when it began, and whether nothing had been for a while where nothing else can tell.
    printed: u64,
    was_quiet: bool,
    pub(crate) until: Option<Pattern>,
    shape: Shape,
    deadline: Now,
    /// The first line this agent has not been shown.
    from_line: u64,
}

impl WaitCall {
    pub(crate) fn begin(now: Now, wait: Wait, seen_line: u64) -> Self {
        Self {
            watch: None,
            begun: false,
            printed: 0,
            was_quiet: false,
            until: wait.until,
            shape: wait.shape,
            deadline: now + wait.timeout,
            from_line: seen_line + 1,
        }
    }

    pub(crate) fn deadline(&self) -> Now {
        self.deadline
    }

    pub(crate) fn region(&self) -> Option<u32> {
        self.watch.as_ref().and_then(|watch| watch.region)
    }

    pub(crate) fn wants_lines(&self) -> bool {
        self.until.is_some() && self.watch.as_ref().is_none_or(|watch| watch.matched.is_none())
    }

    /// The first line that `until` looks at.
    pub(crate) fn first_unseen(&self) -> u64 {
        self.from_line
    }

    pub(crate) fn matched(&mut self, line: u64) {
        self.watch.get_or_insert_default().matched.get_or_insert(line);
    }

    pub(crate) fn on(&mut self, now: Now, event: &LogEvent) {
        if let Some(watch) = &mut self.watch {
            watch.on(now, event);
        }
    }

    pub(crate) fn step(&mut self, view: &Seen<'_>) -> Step {
        if !self.begun {
            self.begun = true;
            self.printed = view.log.cooked.offset();
            self.was_quiet = view.resting.quiet;
            let open = view.log.open_region();
            // A line that was typed and has not begun yet is what is waited for.
            let mut watch = open.map_or_else(Watch::default, |region| Watch::of(region.id));
            watch.matched = self.watch.take().and_then(|watch| watch.matched);
            self.watch = Some(watch);
        }
        let matched = self.watch.as_ref().and_then(|watch| watch.matched);
        if self.region().is_none() {
            if matched.is_some() {
                return Step::Done(Box::new(self.outcome(view, Status::Matched, None)));
            }
            return self.nothing_runs(view);
        }
        let Some(watch) = &self.watch else { return Step::Wait(None) };
        match watch.verdict(view, self.until.is_some()) {
            Some(Verdict::At(status, _)) if self.goes_on(view, status) => Step::Wait(watch.again(view)),
            Some(Verdict::Closed) => Step::Done(Box::new(self.closed(view))),
            Some(Verdict::Ended) => Step::Done(Box::new(self.outcome(view, Status::Ended, None))),
            Some(Verdict::At(status, prompt)) => Step::Done(Box::new(self.outcome(view, status, prompt))),
            Some(Verdict::NotRun(..)) => Step::Wait(None),
            None if view.now >= self.deadline => Step::Done(Box::new(self.outcome(view, Status::Running, None))),
            None => Step::Wait(watch.again(view)),
        }
    }

    /// Whether this is as it was when the call began, and what is waited for is that it changes: only a person can answer a
    /// hidden question, and of what was silent before it was told that it may be at work.
    fn goes_on(&self, view: &Seen<'_>, status: Status) -> bool {
        let stands = status == Status::WaitingHidden || status == Status::Quiet && self.was_quiet;
        stands && view.log.cooked.offset() == self.printed && view.now < self.deadline
    }

    /// With nothing running the answer is the last region, at once; a shell that starts, or a program that no line
    /// was sent to, is waited for.
    fn nothing_runs(&mut self, view: &Seen<'_>) -> Step {
        if view.over() {
            return Step::Done(Box::new(self.outcome(view, Status::Ended, None)));
        }
        let late = view.now >= self.deadline;
        match view.shell {
            ShellState::AtPrompt { .. } | ShellState::Continuation if view.answer_due.is_some() => {
                if late {
                    Step::Done(Box::new(self.outcome(view, Status::Running, None)))
                } else {
                    Step::Wait(view.answer_due)
                }
            }
            ShellState::AtPrompt { .. } => Step::Done(Box::new(self.last(view))),
            ShellState::Continuation => {
                Step::Done(Box::new(self.outcome(view, Status::Continuation, Some(prompt_text(view)))))
            }
            ShellState::Ended => Step::Done(Box::new(self.outcome(view, Status::Ended, None))),
            ShellState::Starting | ShellState::NoShell | ShellState::Running(_) => {
                if let Some(Verdict::At(status, prompt)) = by_looks(view, self.until.is_some()) {
                    if self.goes_on(view, status) {
                        return Step::Wait(view.resting.again);
                    }
                    return Step::Done(Box::new(self.outcome(view, status, prompt)));
                }
                if late {
                    return Step::Done(Box::new(self.outcome(view, Status::Running, None)));
                }
                Step::Wait(view.resting.again)
            }
        }
    }

    fn last(&self, view: &Seen<'_>) -> Outcome {
        let Some(region) = view.log.regions().last() else {
            let mut outcome = Outcome::new(Status::Ok);
            outcome.notes.push("nothing runs, and nothing has run yet".to_owned());
            return outcome;
        };
        let mut outcome = Outcome { shape: self.shape.clone(), ..Outcome::new(Status::Finished) };
        // What was typed into a command came after it began, and ended before it.
        let taker = Some(region).filter(|region| region.kind == Kind::Input).and_then(|input| taker(view, input));
        outcome.region = Some(taker.unwrap_or(region).clone());
        outcome.notes.push("nothing runs: this is the last command".to_owned());
        outcome
    }

    fn closed(&self, view: &Seen<'_>) -> Outcome {
        let region = self.region().and_then(|id| view.log.region(id));
        let ended_itself = |region: &Region| {
            region.kind == Kind::Command && region.state == State::Finished && view.log.ended_by() != Some(region.id)
        };
        if view.over() && !region.is_some_and(ended_itself) {
            return self.outcome(view, Status::Ended, None);
        }
        let input = region.filter(|region| region.kind == Kind::Input);
        if let Some(ended) = input.and_then(|input| taker(view, input)).filter(|it| it.state == State::Finished) {
            return Outcome { region: Some(ended.clone()), ..self.outcome(view, Status::Finished, None) };
        }
        if input.is_some() && !matches!(view.shell, ShellState::AtPrompt { .. }) {
            return match &view.resting.prompt {
                Some((text, PromptShape::Primary)) => self.outcome(view, Status::Prompt, Some(text.clone())),
                Some((text, PromptShape::Continuation)) => self.outcome(view, Status::Continuation, Some(text.clone())),
                None => self.outcome(view, asked(view), Some(prompt_text(view)).filter(|text| !text.is_empty())),
            };
        }
        self.outcome(view, Status::Finished, None)
    }

    fn outcome(&self, view: &Seen<'_>, status: Status, prompt: Option<String>) -> Outcome {
        let mut outcome = Outcome { prompt, shape: self.shape.clone(), ..Outcome::new(status) };
        outcome.region = self.region().and_then(|id| view.log.region(id)).cloned();
        outcome.matched = self.watch.as_ref().and_then(|watch| watch.matched);
        outcome.program_exit = view.ended.flatten();
        if outcome.region.is_none() {
            outcome.output = Some((self.from_line, u64::MAX));
        }
        outcome
    }
}
