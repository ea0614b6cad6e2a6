//! The session as a machine: it is told events, and asked for effects and for the time it wants to be woken.
//!
//! It routes and holds no policy. What a line came to is judged in [`crate::call`], what a marker means in
//! [`crate::log`], what is said to the model in [`crate::reply`].

mod agents;
mod event;
mod recover;
mod typing;

use std::collections::VecDeque;
use std::time::Duration;

pub use event::{Effect, Event, Part, Typing};
pub use recover::Recovery;

use crate::call::{CallId, Outcome, Resting, RunCall, Seen, SendCall, Status, WaitCall, Waiting};
use crate::call::{QUIET, REST, SCREEN_BUSY, SCREEN_REST, Step};
use crate::log::{Log, LogEvent, ShellState};
use crate::pattern::Pattern;
use crate::prompt;
use crate::record::StateRecord;
use crate::region::{Kind, Place, Region, State};
use crate::reply::advice;
use crate::time::{Now, Wall};

/// Calls of one session that wait at the same time; one more is refused. Far above what clients do, and a bound.
pub const CALLS_MAX: usize = 64;

/// What a session is from its beginning.
#[derive(Debug, Clone)]
pub struct Setting {
    /// Its name.
    pub name: String,
    /// Whether its program is a shell with the integration.
    pub integrated: bool,
    /// What a prompt looks like there, beside the usual.
    pub prompt_pattern: Option<Pattern>,
    /// The server's own host and user: places that are this one are not mentioned.
    pub home: Place,
}

/// A session.
#[derive(Debug)]
pub struct Session {
    log: Log,
    setting: Setting,
    calls: Vec<Call>,
    effects: VecDeque<Effect>,
    agents: agents::Agents,
    /// When bytes last came or went.
    last_activity: Now,
    /// A moment on both clocks.
    wall: (Now, Wall),
    /// The agent whose Enter the shell has not answered yet, and how many.
    submitter: Option<(String, u32)>,
    /// The open input region, and the number of the line that echoes its input until it has been read.
    input: Option<(u32, Option<u64>)>,
    /// The last primary prompt of the program in the foreground.
    last_prompt: Option<String>,
    screen_since: Option<Now>,
    /// When an attached person last pressed a key, as far as it was told.
    person: Option<Wall>,
    began: Now,
    first_prompt: Option<Duration>,
    ended: Option<Option<i32>>,
    closed: Option<String>,
    wake: Option<Now>,
}

#[derive(Debug)]
struct Call {
    id: CallId,
    actor: String,
    began: Now,
    kind: CallKind,
}

#[derive(Debug)]
enum CallKind {
    Run(Box<RunCall>),
    Send(Box<SendCall>),
    Wait(Box<WaitCall>),
}

impl Session {
    /// A session over a log, which is empty or has been replayed.
    #[must_use]
    pub fn new(now: Now, wall: Wall, log: Log, setting: Setting, state: StateRecord) -> Self {
        let mut session = Self {
            log,
            setting,
            calls: Vec::new(),
            effects: VecDeque::new(),
            agents: agents::Agents::new(state),
            last_activity: now,
            wall: (now, wall),
            submitter: None,
            input: None,
            last_prompt: None,
            screen_since: None,
            person: None,
            began: now,
            first_prompt: None,
            ended: None,
            closed: None,
            wake: None,
        };
        if session.log.open_region().is_some_and(|region| region.kind == Kind::Input) {
            session.input = session.log.open_region().map(|region| (region.id, None));
        }
        if session.log.shell() == ShellState::Ended {
            session.ended = Some(session.log.program_exit());
        }
        session
    }

    /// Regions that ended or began while no server ran, and the agents to be told of them.
    pub fn owe(&mut self, owed: Vec<(String, u32)>) {
        for (actor, region) in owed {
            self.agents.owes(&actor, region);
            self.effects.push_back(Effect::Remember);
        }
    }

    /// The log.
    #[must_use]
    pub fn log(&self) -> &Log {
        &self.log
    }

    /// What the session is.
    #[must_use]
    pub fn setting(&self) -> &Setting {
        &self.setting
    }

    /// The agents' state, as it belongs on disk.
    #[must_use]
    pub fn state(&self) -> &StateRecord {
        self.agents.record()
    }

    /// Whether the session's program has ended, with its status where it is known.
    #[must_use]
    pub fn ended(&self) -> Option<Option<i32>> {
        self.ended
    }

    /// Whether the pane is gone, and why.
    #[must_use]
    pub fn closed(&self) -> Option<&str> {
        self.closed.as_deref()
    }

    /// The first line that an agent's `wait until` looks at, and the last that there is.
    #[must_use]
    pub fn unseen(&self, actor: &str) -> (u64, u64) {
        (self.agents.get(actor).seen_line + 1, self.total_lines())
    }

    /// Lines so far, the unsettled ones among them.
    #[must_use]
    pub fn total_lines(&self) -> u64 {
        self.log.cooked.settled_lines() + self.log.cooked.live().lines.len() as u64
    }

    /// Whether something stands on the shell's line that no agent typed, so that a person's last key matters: the
    /// driver then tells it before it hands over a call.
    #[must_use]
    pub fn wonders_who_typed(&self) -> bool {
        let text = self.log.cooked.input();
        matches!(self.log.shell(), ShellState::AtPrompt { .. })
            && !text.trim().is_empty()
            && self.agents.owner_of(&text).is_none()
    }

    /// Whether any call waits.
    #[must_use]
    pub fn is_waited_for(&self) -> bool {
        !self.calls.is_empty()
    }

    /// When the session wants [`Event::Tick`], if nothing happens before.
    #[must_use]
    pub fn deadline(&self) -> Option<Now> {
        self.wake
    }

    /// The next thing to be done.
    pub fn poll_effect(&mut self) -> Option<Effect> {
        self.effects.pop_front()
    }

    /// Takes one event. Never blocks, never fails, never looks at a clock.
    pub fn handle(&mut self, now: Now, event: Event<'_>) {
        match event {
            Event::Output { bytes, wall } => {
                self.wall = (now, wall);
                self.last_activity = now;
                self.log.feed(bytes, wall);
                for call in &mut self.calls {
                    if let CallKind::Send(send) = &mut call.kind {
                        send.output(now);
                    }
                }
                self.screen_since = self.log.cooked.fullscreen().map(|_| self.screen_since.unwrap_or(now));
            }
            Event::Resized(size) => self.log.resize(size),
            Event::Call { id, actor, request, matched, wall } => {
                self.wall = (now, wall);
                self.begin(now, id, actor, *request, matched);
            }
            Event::Typed { id, result } => {
                self.last_activity = now;
                self.typed(now, id, result);
            }
            Event::Gone(id) => self.calls.retain(|call| call.id != id),
            Event::Person(last) => self.person = last,
            Event::Closed(why) => self.closed = Some(why),
            Event::Tick => {}
        }
        self.drain(now);
        self.advance(now);
    }

    /// What finished since this agent's last reply, for calls that do not wait. Tells each once.
    pub fn take_finished(&mut self, actor: &str) -> Vec<String> {
        let notes = self.finished_notes(actor, None);
        if !notes.is_empty() {
            self.effects.push_back(Effect::Remember);
        }
        notes
    }

    /// What a region looks like from outside while it runs: `lines` counts those there are.
    #[must_use]
    pub fn region_so_far(&self, region: &Region) -> Region {
        let mut region = region.clone();
        if region.state == State::Running {
            region.lines = (self.total_lines() + 1).saturating_sub(region.first_line);
        }
        region
    }

    fn begin(&mut self, now: Now, id: CallId, actor: String, request: Waiting, matched: Option<u64>) {
        if self.calls.len() >= CALLS_MAX {
            let text = format!(
                "{CALLS_MAX} calls wait in this session already; nothing was typed. Wait for one of them to return"
            );
            self.effects.push_back(Effect::Conclude(id, Box::new(Outcome::error(text))));
            return;
        }
        let kind = match request {
            Waiting::Run(run) => CallKind::Run(Box::new(RunCall::begin(now, run))),
            Waiting::Send(send) => CallKind::Send(Box::new(SendCall::begin(send))),
            Waiting::Wait(wait) => {
                let mut call = WaitCall::begin(now, wait, self.agents.get(&actor).seen_line);
                if let Some(line) = matched {
                    call.matched(line);
                }
                CallKind::Wait(Box::new(call))
            }
        };
        self.calls.push(Call { id, actor, began: now, kind });
    }

    /// Takes what the log has to say, after what it has settled: a record never speaks of lines that are not there.
    fn drain(&mut self, now: Now) {
        let first = self.log.cooked.settled_lines();
        let mut settled = Vec::new();
        self.log.cooked.take_settled(&mut settled);
        let settled_before = first.saturating_sub(memchr::memchr_iter(b'\n', &settled).count() as u64);
        let mut later = VecDeque::new();
        std::mem::swap(&mut later, &mut self.effects);
        // Before the events: a region that has closed meanwhile is recorded under its name.
        self.read_echo(&settled, settled_before);
        while let Some(event) = self.log.poll() {
            self.on_log(now, &event);
        }
        self.look_for_until(&settled, settled_before);
        std::mem::swap(&mut later, &mut self.effects);
        if !settled.is_empty() {
            self.effects.push_back(Effect::Settle(settled));
        }
        self.effects.append(&mut later);
    }

    fn on_log(&mut self, now: Now, event: &LogEvent) {
        match event {
            LogEvent::Opened(id) => {
                let actor = self.submitter.as_ref().map(|(actor, _)| actor.clone());
                if let Some(actor) = &actor {
                    self.agents.owes(actor, *id);
                }
                let changed = self.agents.line_is_empty();
                self.log.set_actor(*id, actor.unwrap_or_else(|| HUMAN.to_owned()));
                self.record(*id);
                if self.log.region(*id).is_some_and(|region| region.kind == Kind::Command) {
                    self.last_prompt = None;
                }
                if changed || self.submitter.is_some() {
                    self.effects.push_back(Effect::Remember);
                }
            }
            LogEvent::Closed(id) => {
                if self.input.is_some_and(|(input, _)| input == *id) {
                    self.input = None;
                }
                self.record(*id);
            }
            LogEvent::Prompt => {
                self.first_prompt.get_or_insert(now - self.began);
                self.submitter =
                    self.submitter.take().filter(|(_, left)| *left > 1).map(|(actor, left)| (actor, left - 1));
            }
            LogEvent::Ended { status } => self.ended = Some(*status),
            _ => {}
        }
        for call in &mut self.calls {
            match &mut call.kind {
                CallKind::Run(run) => run.on(now, event),
                CallKind::Send(send) => send.on(event),
                CallKind::Wait(wait) => wait.on(now, event),
            }
        }
    }

    fn record(&mut self, id: u32) {
        if let Some(region) = self.log.region(id) {
            self.effects.push_back(Effect::Record(Box::new(region.clone())));
        }
    }

    /// Names an open input region after what was echoed, never after what was typed: a line that the program hid
    /// reaches no record.
    fn read_echo(&mut self, settled: &[u8], settled_before: u64) {
        let Some((id, Some(line))) = self.input else { return };
        let cooked = &self.log.cooked;
        let live = cooked.live();
        let index = |from: u64| usize::try_from(line.checked_sub(from + 1)?).ok();
        let text = if line <= cooked.settled_lines() {
            index(settled_before)
                .and_then(|at| settled.split(|byte| *byte == b'\n').nth(at))
                .map(String::from_utf8_lossy)
        } else {
            // The last unsettled line may still be in the middle of its echo.
            let at = index(cooked.settled_lines());
            at.filter(|at| at + 1 < live.lines.len()).and_then(|at| live.lines.get(at)).map(|text| text.as_str().into())
        };
        let Some(text) = text else { return };
        let label: String = text.trim_end().chars().take(LABEL_CHARS).collect();
        self.log.set_label(id, label);
        self.input = Some((id, None));
        self.record(id);
    }

    fn look_for_until(&mut self, settled: &[u8], settled_before: u64) {
        if !self.calls.iter().any(Call::wants_lines) {
            return;
        }
        let live = self.log.cooked.live();
        let first_live = self.log.cooked.settled_lines() + 1;
        let settled = String::from_utf8_lossy(settled);
        let numbered = || {
            let old = settled.split_terminator('\n').zip(settled_before + 1..);
            old.chain(live.lines.iter().map(String::as_str).zip(first_live..))
        };
        let mut failed = Vec::new();
        for call in self.calls.iter_mut().filter(|call| call.wants_lines()) {
            let Some((first, last)) = call.until_range(&self.log) else { continue };
            let Some(pattern) = call.until().cloned() else { continue };
            for (text, number) in numbered().filter(|(_, number)| (first..=last).contains(number)) {
                match pattern.is_match(text) {
                    Ok(true) => {
                        call.set_matched(number);
                        break;
                    }
                    Ok(false) => {}
                    Err(costly) => {
                        failed.push((call.id, costly.to_string()));
                        break;
                    }
                }
            }
        }
        for (id, why) in failed {
            self.calls.retain(|call| call.id != id);
            let text = format!("{why}. What was typed stays typed: wait goes on waiting");
            self.effects.push_back(Effect::Conclude(id, Box::new(Outcome::error(text))));
        }
    }

    /// Steps every call until none has anything more to do now.
    fn advance(&mut self, now: Now) {
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
        let input = self.input.and(resting.again);
        let calls = self.calls.iter().filter_map(|call| call.deadline().filter(|at| *at > now)).min();
        self.wake = [self.wake, input, calls].into_iter().flatten().filter(|at| *at > now).min();
    }

    fn step_calls(&mut self, now: Now) -> bool {
        let mut calls = std::mem::take(&mut self.calls);
        let mut moved = false;
        let mut kept = Vec::with_capacity(calls.len());
        let mut runs_before = false;
        self.wake = None;
        for mut call in calls.drain(..) {
            let is_run = matches!(call.kind, CallKind::Run(_));
            let step = if is_run && runs_before { call.queued(now) } else { self.step(now, &mut call) };
            match step {
                Step::Wait(at) => {
                    self.wake = [self.wake, at].into_iter().flatten().min();
                    runs_before |= is_run;
                    kept.push(call);
                }
                Step::Line(target, line) => {
                    moved = true;
                    match self.type_line(now, &mut call, target, &line) {
                        Ok(()) => {
                            runs_before |= is_run;
                            kept.push(call);
                        }
                        Err(text) => self.conclude(now, &call, Outcome::error(text)),
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

    fn step(&mut self, now: Now, call: &mut Call) -> Step {
        if let CallKind::Send(send) = &mut call.kind
            && send.is_new()
        {
            return match self.type_send(call.id, &call.actor, send, now) {
                Ok(()) => Step::Wait(None),
                Err(text) => Step::Done(Box::new(Outcome::error(text))),
            };
        }
        let pattern = match &call.kind {
            CallKind::Run(run) => run.prompt_pattern.as_ref(),
            CallKind::Send(_) | CallKind::Wait(_) => None,
        };
        let resting = self.resting(now, pattern);
        let view = Seen {
            now,
            log: &self.log,
            shell: self.shell(now),
            resting: &resting,
            ended: self.ended,
            closed: self.closed.as_deref(),
        };
        match &mut call.kind {
            CallKind::Run(run) => run.step(&view),
            CallKind::Send(send) => send.step(&view),
            CallKind::Wait(wait) => wait.step(&view),
        }
    }

    fn typed(&mut self, now: Now, id: CallId, result: Result<(), String>) {
        let Some(at) = self.calls.iter().position(|call| call.id == id) else { return };
        let mut call = self.calls.remove(at);
        if result.is_err() {
            self.submitter = None;
        }
        let resting = Resting::default();
        let view = Seen {
            now,
            log: &self.log,
            shell: self.shell(now),
            resting: &resting,
            ended: self.ended,
            closed: self.closed.as_deref(),
        };
        let failed = match &mut call.kind {
            CallKind::Run(run) => run.typed(result, &view),
            CallKind::Send(send) => send.typed(now, result),
            CallKind::Wait(_) => None,
        };
        match failed {
            Some(outcome) => self.conclude(now, &call, outcome),
            None => self.calls.insert(at, call),
        }
    }

    /// Closes an input region whose taker shows its next prompt, also where no call waits for it.
    fn close_answered_input(&mut self, now: Now) {
        if self.input.is_none() {
            return;
        }
        let pattern = self.calls.iter().find_map(|call| match &call.kind {
            CallKind::Run(run) if run.region() == self.input.map(|(id, _)| id) => run.prompt_pattern.clone(),
            _ => None,
        });
        let resting = self.resting(now, pattern.as_ref());
        if let Some((text, prompt::Shape::Primary)) = resting.prompt {
            self.log.close_input(self.wall_at(now));
            self.drain(now);
            self.last_prompt = Some(text);
        }
    }

    /// What can be said of the terminal by its looks.
    fn resting(&self, now: Now, pattern: Option<&Pattern>) -> Resting {
        let shell = self.shell(now);
        if shell == ShellState::Starting {
            // A shell that never shows a marker (a startup file that becomes another shell) is told by its prompt.
            let due = self.last_activity + UNMARKED;
            return Resting { again: (now < due).then_some(due), ..Resting::default() };
        }
        if !matches!(shell, ShellState::Running(_) | ShellState::NoShell) || self.ended.is_some() {
            return Resting::default();
        }
        let quiet = now - self.last_activity;
        if let Some(since) = self.screen_since {
            let screen = quiet >= SCREEN_REST || now - since >= SCREEN_BUSY;
            let again = (self.last_activity + SCREEN_REST).min(since + SCREEN_BUSY);
            return Resting { screen, again: (!screen).then_some(again), ..Resting::default() };
        }
        if quiet < REST {
            return Resting { again: Some(self.last_activity + REST), ..Resting::default() };
        }
        let setting = if shell == ShellState::NoShell { prompt::Setting::Plain } else { prompt::Setting::Integrated };
        let line = self.log.cooked.line_at_cursor();
        let pattern = pattern.or(self.setting.prompt_pattern.as_ref());
        let shape = if line.text.is_empty() || line.more {
            None
        } else {
            prompt::matches(&line.text, pattern, setting, self.last_prompt.as_deref())
        };
        if let Some(shape) = shape {
            return Resting { prompt: Some((line.text, shape)), ..Resting::default() };
        }
        // The marker of a command in an integrated shell will come; that of a line sent to a program will not.
        if shell == ShellState::NoShell || self.input.is_some() {
            let due = self.last_activity + QUIET;
            return Resting { quiet: now >= due, again: (now < due).then_some(due), ..Resting::default() };
        }
        Resting::default()
    }

    /// What the shell does. An integrated shell that has shown no marker yet is starting, until it rests at what
    /// looks like the prompt of another.
    fn shell(&self, now: Now) -> ShellState {
        let shell = self.log.shell();
        if shell != ShellState::NoShell || !self.setting.integrated {
            return shell;
        }
        let line = self.log.cooked.line_at_cursor();
        let is_prompt = || {
            prompt::matches(&line.text, self.setting.prompt_pattern.as_ref(), prompt::Setting::Plain, None).is_some()
        };
        if now - self.last_activity >= UNMARKED && !line.text.is_empty() && is_prompt() {
            ShellState::NoShell
        } else {
            ShellState::Starting
        }
    }

    fn wall_at(&self, now: Now) -> Wall {
        let passed = u64::try_from((now - self.wall.0).as_millis()).unwrap_or(u64::MAX);
        Wall(self.wall.1.0.saturating_add(passed))
    }

    fn conclude(&mut self, now: Now, call: &Call, mut outcome: Outcome) {
        if let Some(region) = &outcome.region {
            let mut region = self.region_so_far(region);
            if matches!(outcome.status, Status::Prompt | Status::Continuation) && region.state == State::Running {
                // The line the prompt stands on is no output.
                region.lines = region.lines.saturating_sub(1);
            }
            let ended = region.ended.unwrap_or_else(|| self.wall_at(now));
            outcome.elapsed = Duration::from_millis(ended.0.saturating_sub(region.started.0));
            outcome.region = Some(region);
        } else if outcome.elapsed.is_zero() {
            outcome.elapsed = now - call.began;
        }
        if let Some((first, count)) = outcome.output {
            let mut there = (self.total_lines() + 1).saturating_sub(first);
            if matches!(outcome.status, Status::Prompt | Status::Continuation) {
                there = there.saturating_sub(1);
            }
            outcome.output = Some((first, count.min(there)));
        }
        let told = outcome.region.as_ref().map(|region| region.id);
        if let Some(own) =
            call.region().filter(|id| self.log.region(*id).is_some_and(|region| region.state != State::Running))
        {
            // Where the line's taker ended with it, the reply is about the taker and tells this too.
            self.agents.entry(&call.actor).untold.remove(&own);
        }
        let mut notes = std::mem::take(&mut outcome.notes);
        if let CallKind::Run(_) = call.kind
            && let Some(late) =
                self.first_prompt.filter(|late| *late >= SLOW_START && self.agents.once(&call.actor, "slow-start"))
        {
            notes.push(format!(
                "the shell took {:.1} s to show its first prompt: its startup files are slow",
                late.as_secs_f64()
            ));
        }
        let agents = &mut self.agents;
        notes.extend(advice::notes(&outcome, &self.setting, &mut |key| agents.once(&call.actor, key)));
        notes.extend(self.finished_notes(&call.actor, Some((told, &outcome.ran))));
        outcome.notes = notes;
        let total = self.total_lines();
        let half = match self.log.shell() {
            ShellState::AtPrompt { .. } if matches!(call.kind, CallKind::Send(_)) => Some(self.log.cooked.input()),
            _ => None,
        };
        let agent = self.agents.entry(&call.actor);
        agent.seen_line = total;
        if let Some(half) = half {
            agent.half_typed = half.trim_end().to_owned();
        }
        if let Some(id) = told.filter(|_| outcome.region.as_ref().is_some_and(|region| region.state != State::Running))
        {
            agent.untold.remove(&id);
        }
        self.effects.push_back(Effect::Remember);
        self.effects.push_back(Effect::Conclude(call.id, Box::new(outcome)));
    }

    /// Notes on the regions that ended since the agent was last told, but for those the reply shows itself.
    fn finished_notes(&mut self, actor: &str, shown: Option<(Option<u32>, &[Region])>) -> Vec<String> {
        let untold = self.agents.get(actor).untold;
        let mut notes = Vec::new();
        for id in untold {
            let Some(region) = self.log.region(id) else {
                self.agents.entry(actor).untold.remove(&id);
                continue;
            };
            if region.state == State::Running {
                continue;
            }
            let is_shown =
                shown.is_some_and(|(told, ran)| told == Some(id) || ran.iter().any(|region| region.id == id));
            if !is_shown {
                notes.push(advice::finished_since(region));
            }
            self.agents.entry(actor).untold.remove(&id);
        }
        notes
    }
}

/// The actor of regions that no agent's line began.
pub const HUMAN: &str = "human";

/// A shell whose markers are due and that rests at a prompt for this long is taken for one without markers.
const UNMARKED: Duration = Duration::from_secs(2);

/// Startup files that take longer than this are worth a word.
const SLOW_START: Duration = Duration::from_secs(2);

/// Characters of an input region's label.
const LABEL_CHARS: usize = 400;

impl Call {
    fn deadline(&self) -> Option<Now> {
        match &self.kind {
            CallKind::Run(run) => Some(run.deadline()),
            CallKind::Send(send) => send.deadline(),
            CallKind::Wait(wait) => Some(wait.deadline()),
        }
    }

    /// A `run` behind another: nothing is typed before the other is answered.
    fn queued(&self, now: Now) -> Step {
        match &self.kind {
            CallKind::Run(run) if now >= run.deadline() => {
                let text = "nothing was typed: another call's line was still running in this session when the time ran out. wait waits for it";
                Step::Done(Box::new(Outcome::error(text)))
            }
            _ => Step::Wait(None),
        }
    }

    fn wants_lines(&self) -> bool {
        match &self.kind {
            CallKind::Run(run) => run.wants_lines(),
            CallKind::Wait(wait) => wait.wants_lines(),
            CallKind::Send(_) => false,
        }
    }

    fn region(&self) -> Option<u32> {
        match &self.kind {
            CallKind::Run(run) => run.region(),
            CallKind::Wait(wait) => wait.region(),
            CallKind::Send(_) => None,
        }
    }

    fn until(&self) -> Option<&Pattern> {
        match &self.kind {
            CallKind::Run(run) => run.until.as_ref(),
            CallKind::Wait(wait) => wait.until.as_ref(),
            CallKind::Send(_) => None,
        }
    }

    /// The lines that `until` looks at: output, never the echo of what was typed.
    fn until_range(&self, log: &Log) -> Option<(u64, u64)> {
        let region = match &self.kind {
            CallKind::Run(run) => log.region(run.region()?)?,
            CallKind::Wait(wait) => wait.region().and_then(|id| log.region(id)).or_else(|| log.open_region())?,
            CallKind::Send(_) => return None,
        };
        let last = if region.state == State::Running {
            u64::MAX
        } else {
            (region.first_line + region.lines).saturating_sub(1)
        };
        let first = match &self.kind {
            CallKind::Wait(wait) => region.first_line.max(wait.first_unseen()),
            CallKind::Run(_) | CallKind::Send(_) => region.first_line,
        };
        Some((first, last))
    }

    fn set_matched(&mut self, line: u64) {
        match &mut self.kind {
            CallKind::Run(run) => run.matched(line),
            CallKind::Wait(wait) => wait.matched(line),
            CallKind::Send(_) => {}
        }
    }
}
