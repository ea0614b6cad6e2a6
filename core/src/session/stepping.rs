//! Stepping the calls that wait: each says after every event whether it can be answered, wants to type, or goes on.

use std::time::Duration;

use super::line::tried::Trial;
use super::waiters::{Call, CallKind};
use super::{CALLS_MAX, Session};
use crate::call::{Outcome, Step, prompt_due};
use crate::log::ShellState;
use crate::time::Now;

/// What a `send` presses while a shell starts or paints its prompt can go astray: fish breaks its prompt off at a
/// ctrl+c. So the prompt is waited for; this long, because some frameworks leave out the mark that it is complete.
const PAINTED: Duration = Duration::from_secs(1);

/// readline takes a key that follows Escape within half a second for a part of its sequence, ctrl+c among them
/// (`keyseq-timeout` in its manual), and vi's modes are left waiting.
const SEQUENCE: Duration = Duration::from_millis(600);

impl Session {
    /// Steps every call until none has anything more to do now.
    pub(super) fn advance(&mut self, now: Now) {
        self.note_start(now);
        self.wonder();
        let left = self.take_trial_back(now);
        // Each round types a line or concludes a call; lines are typed only after events, so a few rounds do.
        for _ in 0..2 * CALLS_MAX {
            self.close_answered_input(now);
            let moved = self.step_calls(now);
            // A line typed to a program opens a region, which the call that typed it has to hear of.
            self.drain(now);
            if !moved {
                break;
            }
        }
        let resting = self.resting(now, None);
        let again = self.input.is_some() || self.readers.watch || self.glance.is_some();
        let input = resting.again.filter(|_| again);
        let calls = self.calls.iter().filter_map(|call| call.deadline().filter(|at| *at > now)).min();
        let glance = self.end_glance(now);
        self.wonder();
        let rivals = self.look_for_rivals(now);
        let look = self.look(now);
        self.tell_readers(now);
        self.wake =
            [self.wake, input, calls, glance, look, rivals, left].into_iter().flatten().filter(|at| *at > now).min();
    }

    fn step_calls(&mut self, now: Now) -> bool {
        let mut calls = std::mem::take(&mut self.calls);
        let mut moved = false;
        let mut kept = Vec::with_capacity(calls.len());
        let mut runs_before = false;
        self.wake = None;
        for mut call in calls.drain(..) {
            let is_run = matches!(call.kind, CallKind::Run(_) | CallKind::Expect(_) | CallKind::Integrate(_));
            let step = if is_run && runs_before { call.queued(now) } else { self.step(now, &mut call) };
            match step {
                Step::Wait(at) => {
                    self.wake = [self.wake, at].into_iter().flatten().min();
                    runs_before |= is_run;
                    kept.push(call);
                }
                Step::Again => {
                    moved = true;
                    kept.push(call);
                }
                Step::Line(target, line) => {
                    let tried = matches!(call.trial, Trial::Stands(_));
                    if !tried && (self.asks_who_typed() || self.asks_who_pressed(now, target)) {
                        call.take_back(now);
                        runs_before = true;
                        kept.push(call);
                        continue;
                    }
                    let held = if tried { Ok(None) } else { self.held_for_typeahead(now, &call, target) };
                    if let Ok(Some(until)) = held {
                        call.take_back(now);
                        self.wake = [self.wake, until].into_iter().flatten().min();
                        runs_before = true;
                        kept.push(call);
                        continue;
                    }
                    moved = true;
                    let typed = held
                        .and_then(|_| self.tries(now, &mut call, target, &line))
                        .and_then(|tries| if tries { Ok(()) } else { self.type_line(now, &mut call, target, &line) });
                    match typed {
                        Ok(()) => {
                            runs_before |= is_run;
                            kept.push(call);
                        }
                        Err(text) => {
                            let outcome = self.untyped(now, &call, &text);
                            self.conclude(now, &call, outcome);
                        }
                    }
                }
                Step::Answer(answer) => {
                    moved = true;
                    match self.is_in_no_search(None).and_then(|()| self.make_room(now, &call.actor)) {
                        Ok(_) => {
                            self.type_answer(now, &mut call, &answer);
                            runs_before = true;
                            kept.push(call);
                        }
                        Err(text) => self.leave_unanswered(now, &mut call, &text),
                    }
                }
                Step::Done(outcome) => {
                    moved = true;
                    self.conclude(now, &call, *outcome);
                }
            }
        }
        self.calls = kept;
        moved
    }

    /// Somebody's text stands where a rule's answer was to go in: the question is left as it is.
    fn leave_unanswered(&mut self, now: Now, call: &mut Call, why: &str) {
        let resting = self.resting(now, None);
        let outcome = match &mut call.kind {
            CallKind::Expect(expect) => expect.unanswered(&self.seen(now, &resting), why),
            CallKind::Run(_) | CallKind::Send(_) | CallKind::Wait(_) | CallKind::Integrate(_) => Outcome::error(why),
        };
        self.conclude(now, call, outcome);
    }

    fn step(&mut self, now: Now, call: &mut Call) -> Step {
        // Where the session is over nothing is waited for any more.
        let over = self.ended.is_some() || self.closed.is_some();
        if let Some(moved) = call.moved.filter(|moved| moved.again > now && !over) {
            return Step::Wait(Some(moved.again));
        }
        if let Some(step) = self.step_trial(now, call) {
            return step;
        }
        let due = call.deadline().is_some_and(|deadline| now >= deadline);
        if let Some(by) = self.left_by(now, call.began).filter(|_| !over && !due) {
            return Step::Wait(Some(by));
        }
        let types = !matches!(call.kind, CallKind::Wait(_));
        if let Some(until) = self.left_trial_until().filter(|_| types && !over && !due) {
            return Step::Wait(Some(until));
        }
        if matches!(&call.kind, CallKind::Send(send) if send.is_new()) {
            let paints = matches!(self.shell(now), ShellState::AtPrompt { ready: false, .. } | ShellState::Starting);
            let painted = call.began + PAINTED.min(prompt_due(&self.log));
            if paints && !over && now < painted {
                return Step::Wait(Some(painted));
            }
            if let Some(escaped) = self.escaped().map(|at| at + SEQUENCE).filter(|at| now < *at && !over) {
                return Step::Wait(Some(escaped));
            }
            if self.is_trying() && !over {
                return Step::Wait(None);
            }
            if let Some(step) = Some(()).filter(|()| !over).and_then(|()| self.try_before_send(now, call)) {
                return step;
            }
            return match self.begin_send(now, call) {
                Ok(()) => Step::Wait(None),
                Err(text) => Step::Done(Box::new(Outcome::error(text))),
            };
        }
        let resting = self.resting(now, call.prompt_pattern());
        let wonders = resting.prompt.is_some() && call.is_told_by_looking();
        if (wonders || call.begins_at_any_prompt()) && !due && self.awaits_place(now) {
            return Step::Wait(Some(self.place_by(now)));
        }
        let answers = matches!(&call.kind, CallKind::Expect(expect) if expect.may_answer());
        // Whose what stands behind a question is, the reply tells.
        let tells = resting.asks.is_some() && !matches!(call.kind, CallKind::Send(_));
        if (answers || tells) && !due && self.asks_who_typed() {
            return Step::Wait(None);
        }
        let mut view = self.seen(now, &resting);
        view.others = self.others_line(&resting, &call.actor);
        match &mut call.kind {
            CallKind::Run(run) => run.step(&view),
            CallKind::Expect(expect) => expect.step(&view),
            CallKind::Send(send) => send.step(&view),
            CallKind::Wait(wait) => wait.step(&view),
            CallKind::Integrate(integrate) => integrate.step(&view),
        }
    }
}
