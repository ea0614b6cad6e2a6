//! `wait`: goes on waiting for what already runs.

use super::gone::taker;
use super::run::{Step, asked};
use super::watch::{Seen, Verdict, Watch, by_looks, prompt_text, question};
use super::{Outcome, Shape, Status, Wait};
use crate::log::{LogEvent, ShellState};
use crate::pattern::Pattern;
use crate::prompt::Shape as PromptShape;
use crate::record::row_mark;
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
    told: Told,
}

/// What an agent has been told of how the session stands.
#[derive(Debug, Clone, Default)]
pub(crate) struct Told {
    /// The full-screen program that it was shown, by when that came up.
    pub(crate) screen: Option<Now>,
    /// Whether it was told of the prompt or the question that stands there.
    pub(crate) stands: bool,
    /// The marks of the screen's rows as it was last shown them.
    pub(crate) rows: Vec<u32>,
}

impl WaitCall {
    pub(crate) fn begin(now: Now, wait: Wait, seen_line: u64, told: Told) -> Self {
        Self {
            watch: None,
            begun: false,
            printed: 0,
            was_quiet: false,
            until: wait.until,
            shape: wait.shape,
            deadline: now + wait.timeout,
            from_line: seen_line + 1,
            told,
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
        if let Some(step) = self.on_screen(view) {
            return step;
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
            Some(Verdict::At(status, _)) if self.stays(view, status) => Step::Wait(watch.again(view)),
            Some(Verdict::Closed) => Step::Done(Box::new(self.closed(view))),
            Some(Verdict::Ended) => Step::Done(Box::new(self.outcome(view, Status::Ended, None))),
            Some(Verdict::At(status, prompt)) => Step::Done(Box::new(self.stands(view, status, prompt))),
            Some(Verdict::NotRun(..)) => Step::Wait(None),
            None if view.now >= self.deadline => Step::Done(Box::new(self.outcome(view, Status::Running, None))),
            None => Step::Wait(watch.again(view)),
        }
    }

    /// Whether what stands there is no answer yet, because this agent knows it and waits for what comes after it.
    fn stays(&self, view: &Seen<'_>, status: Status) -> bool {
        let unchanged = view.log.cooked.offset() == self.printed;
        let stays = match status {
            // Only the person can answer, and that is what is waited for.
            Status::WaitingHidden => unchanged,
            // Of what was silent before it was told that it may be at work.
            Status::Quiet => unchanged && self.was_quiet,
            Status::Screen if view.paints() => view.screen_since == self.told.screen,
            Status::Screen => unchanged && self.told.stands,
            // A program at its prompt may print all the same: a server's log, another thread.
            Status::Prompt | Status::Waiting | Status::Continuation => self.until.is_some() && self.told.stands,
            _ => false,
        };
        stays && view.now < self.deadline
    }

    /// What `until` finds on a full-screen program's screen, which is in no line of the log.
    fn on_screen(&self, view: &Seen<'_>) -> Option<Step> {
        let until = self.until.as_ref().filter(|_| view.paints() && view.screen_since == self.told.screen)?;
        for (row, number) in view.log.cooked.screen_rows().iter().zip(1_u32..) {
            // What this agent has seen there is not what it waits for.
            if self.told.rows.contains(&row_mark(row)) {
                continue;
            }
            match until.is_match(row) {
                Ok(true) => {
                    let mut outcome = self.outcome(view, Status::Matched, None);
                    outcome.notes.push(format!("until matches row {number} of the screen"));
                    return Some(Step::Done(Box::new(outcome)));
                }
                Ok(false) => {}
                Err(costly) => return Some(Step::Done(Box::new(Outcome::error(costly.to_string())))),
            }
        }
        None
    }

    /// The outcome where a program stands at a prompt or a question, or has the screen.
    fn stands(&self, view: &Seen<'_>, status: Status, prompt: Option<String>) -> Outcome {
        let mut outcome = self.outcome(view, status, prompt);
        if status == Status::Screen && view.now >= self.deadline && view.paints() {
            outcome.notes.push("the full-screen program is still open: wait goes on until it ends, or until a pattern is seen on its screen".to_owned());
        }
        let asks = matches!(status, Status::Prompt | Status::Continuation);
        if !asks && !matches!(status, Status::Waiting | Status::Quiet) {
            return outcome;
        }
        let open = self.region().and_then(|id| view.log.region(id));
        if open.is_some_and(|region| region.kind == Kind::Input) {
            return outcome;
        }
        // The program runs since long ago, and what was typed into it last is what has run last.
        let inside = |region: &&Region| region.kind == Kind::Input && open.is_none_or(|open| region.id > open.id);
        let last = view.log.regions().rev().find(inside);
        let total = view.log.cooked.settled_lines() + view.log.cooked.live().lines.len() as u64;
        let end = total - u64::from(asks).min(total);
        let first = last.or(open).map_or(1, |region| region.first_line).max(self.from_line);
        if last.is_none() && first <= end {
            return outcome;
        }
        outcome.region = last.or(open).cloned();
        outcome.output = Some((first, (end + 1).saturating_sub(first)));
        // Where nothing has been shown yet, nothing is missing from the reply that read could show again.
        let again = if self.from_line > 1 { ": read shows again what was shown before" } else { "" };
        if first > end && (self.until.is_some() || !again.is_empty()) {
            let seen = if self.until.is_some() { ", and until was not seen" } else { "" };
            outcome.notes.push(format!("nothing new was printed{seen}{again}"));
        }
        outcome
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
                    if self.stays(view, status) {
                        return Step::Wait(view.resting.again);
                    }
                    return Step::Done(Box::new(self.stands(view, status, prompt)));
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
            outcome.notes.push(
                "nothing has run yet: a shell with the integration is at its prompt, and run gives it lines, with exact ends and exit statuses"
                    .to_owned(),
            );
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
                None => self.outcome(view, asked(view), question(view)),
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
