//! The session as a machine: it is told events, and asked for effects and for the time it wants to be woken.
//!
//! It routes and holds no policy. What a line came to is judged in [`crate::call`], what a marker means in
//! [`crate::log`], what is said to the model in [`crate::reply`].

mod agents;
mod cut_off;
mod event;
mod follow;
mod jobs;
mod line;
mod lines;
mod looking;
mod readers;
mod recover;
mod sight;
mod signalling;
mod stepping;
mod submitter;
mod told;
mod typing;
mod waiters;

use std::collections::VecDeque;
use std::time::Duration;

pub use event::{Effect, Event, NotTyped, Part, Signalled, Signalling, Typing};
pub(crate) use line::unsubmitted::Leaves;
pub use line::unsubmitted::{Owner, Unsubmitted};
pub use looking::glance::Doing;
pub use recover::{Inherited, Recovery};

use crate::call::{CallId, ExpectCall, IntegrateCall, Outcome, Resting, RunCall, Seen, SendCall, WaitCall, Waiting};
use crate::log::{Log, ShellState};
use crate::pattern::Pattern;
use crate::record::StateRecord;
use crate::region::{Kind, Place, Region, State};
use crate::time::{Now, Wall};
use submitter::Submitter;
use waiters::{Call, CallKind};

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
    /// When a line was typed that nothing has come of yet, not even its echo.
    unechoed: Option<Now>,
    /// A moment on both clocks.
    wall: (Now, Wall),
    submitter: Submitter,
    input: Option<Input>,
    /// Lines that were printed behind the prompt before this command was typed there: the region, first and last line.
    printed_before: Option<(u32, u64, u64)>,
    /// The command of the last line that was typed at the shell's prompt and not shown there.
    unshown: Option<u32>,
    /// The last primary prompt of the program in the foreground.
    last_prompt: Option<String>,
    /// The process that was seen to wait behind it.
    prompted_by: Option<u32>,
    /// What the program in the foreground has shown of the line that it reads.
    reads: line::far_editor::Reads,
    /// What an agent's last `send` has left on the line, until that shows.
    sent: Option<line::unsubmitted::Sent>,
    screen_since: Option<Now>,
    looking: looking::Looking,
    jobs: jobs::Jobs,
    rivals: looking::rivals::Rivals,
    stop_notice: Option<looking::stopped::Notice>,
    /// When an attached person last pressed a key, as far as it was told.
    person: Option<Wall>,
    /// How much of the log there was when that was told.
    person_told: Option<u64>,
    person_asked: Option<u64>,
    /// The call between the trial of a line editor and its line.
    trying: Option<CallId>,
    left_trial: line::left_trial::LeftTrial,
    typeahead: line::typeahead::Typeahead,
    unread: line::unread::Unread,
    grown: line::grown::Grown,
    buried: Option<line::buried::Buried>,
    stood: Option<line::buried::Standing>,
    /// Whether the terminal and the cooked view saw the last prompt differently.
    misread: bool,
    began: Now,
    start: looking::starting::Start,
    /// What an agent's keys at the prompt that stands have led to, and when.
    midway: Option<(Now, line::editor::Midway)>,
    ended: Option<Option<i32>>,
    closed: Option<String>,
    wake: Option<Now>,
    readers: readers::Readers,
    cut_off: Option<cut_off::CutOff>,
    /// Since when somebody wants to know what it does.
    glance: Option<Now>,
}

/// The open input region.
#[derive(Debug, Clone, Copy)]
struct Input {
    region: u32,
    /// The number of the line that echoes its input, until it has been read.
    echo: Option<u64>,
    /// The call that typed it, if this server did.
    call: Option<CallId>,
    /// Whether it was typed at a prompt that is known by its looks, so that the next one will be known too.
    known: bool,
    /// Bytes of output that stand before the prompt on the line that echoes its input.
    before: usize,
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
            unechoed: None,
            wall: (now, wall),
            submitter: Submitter::default(),
            input: None,
            printed_before: None,
            unshown: None,
            last_prompt: None,
            prompted_by: None,
            reads: line::far_editor::Reads::default(),
            sent: None,
            screen_since: None,
            looking: looking::Looking::default(),
            jobs: jobs::Jobs::default(),
            rivals: looking::rivals::Rivals::default(),
            stop_notice: None,
            person: None,
            person_told: None,
            person_asked: None,
            trying: None,
            left_trial: line::left_trial::LeftTrial::default(),
            typeahead: line::typeahead::Typeahead::default(),
            unread: line::unread::Unread::default(),
            grown: line::grown::Grown::default(),
            buried: None,
            stood: None,
            misread: false,
            began: now,
            start: looking::starting::Start::default(),
            midway: None,
            ended: None,
            closed: None,
            wake: None,
            readers: readers::Readers::default(),
            cut_off: None,
            glance: None,
        };
        if session.log.open_region().is_some_and(|region| region.kind == Kind::Input) {
            session.input = session.log.open_region().map(|region| Input {
                region: region.id,
                echo: Some(region.first_line.saturating_sub(1)),
                call: None,
                known: true,
                before: 0,
            });
        }
        session.last_prompt = looking::resting::last_prompt(&session.log);
        session.screen_since = session.log.cooked.fullscreen().map(|_| now);
        // How long the first prompt took is known only to who waited for it.
        let waited = session.setting.integrated && session.log.shell() == ShellState::NoShell;
        session.start.took = (!waited).then_some(Duration::ZERO);
        for region in session.log.regions() {
            session.jobs.begins(region);
        }
        if session.log.shell() == ShellState::Ended {
            session.ended = Some(session.log.program_exit());
        }
        session
    }

    /// Goes on where the session that was rebuilt had stopped: agents are told of what began and ended meanwhile.
    pub fn take_over(&mut self, now: Now, inherited: Inherited) {
        for (actor, region) in inherited.owed {
            self.agents.owes(&actor, region);
            self.effects.push_back(Effect::Remember);
        }
        self.submitter = inherited.submitter;
        self.grown = inherited.grown;
        self.inherit_cut_off(inherited.cut_off);
        self.take_over_prompts(inherited.prompts);
        // Where what runs leads to is nowhere in the log.
        self.looking.place_due = true;
        if self.log.shell() == ShellState::Continuation && self.agents.continuing().is_none() {
            let owner = self.submitter.actor().map(str::to_owned);
            self.continued(owner.as_deref());
        } else if self.log.shell() != ShellState::Continuation {
            self.continued(None);
        }
        self.inherit_trial(now, inherited.submitted);
        // Who would take a line, and where, is known to nobody yet.
        self.look_anew(now);
        self.advance(now);
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

    /// Why nothing goes in there any more, and what to do.
    fn over(&self) -> String {
        let why = self.closed.as_deref().unwrap_or("the session's program has ended");
        format!("{why}. session_create opens a new session; read still shows this one's log")
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

    /// The lines that an agent's `wait until` looks at, of those there are; none where it looks at none.
    ///
    /// They are output that this agent has not been shown, of what runs, or else of what ran last.
    #[must_use]
    pub fn unseen(&self, actor: &str) -> Option<(u64, u64)> {
        let unseen = self.agents.get(actor).seen_line + 1;
        let total = self.total_lines();
        let (first, last) = match self.log.open_region().or_else(|| self.log.regions().last()) {
            Some(region) if region.state == State::Running => (region.first_line, total),
            Some(region) if self.log.shell() != ShellState::NoShell => {
                (region.first_line, (region.first_line + region.lines).saturating_sub(1))
            }
            None if self.log.shell() != ShellState::NoShell => return None,
            // A program that no line is under way to prints what it likes.
            _ => (1, total),
        };
        Some((first.max(unseen), last))
    }

    /// Lines so far, the unsettled ones among them.
    #[must_use]
    pub fn total_lines(&self) -> u64 {
        self.log.cooked.settled_lines() + self.log.cooked.live().lines.len() as u64
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
                self.remember_prompt(now);
                let standing = self.standing(wall);
                self.note_rest(wall, bytes);
                self.see_typed_behind();
                self.wall = (now, wall);
                self.last_activity = now;
                self.unechoed = None;
                self.looking.forget();
                self.feed(standing, bytes, wall);
                self.see_sent(bytes);
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
            Event::Inspected(inspection) => self.looked(now, &inspection),
            Event::Typed { id, result } => {
                self.last_activity = now;
                self.looking.forget();
                self.typed(now, id, result);
            }
            Event::Signalled { id, result } => self.signalled(now, id, result),
            Event::Gone(id) => {
                if let Some(at) = self.calls.iter().position(|call| call.id == id) {
                    let call = self.calls.remove(at);
                    self.leaves_lines(&call);
                }
                self.forget_trial(now, id);
            }
            // Whoever has gone may have left text on the line.
            Event::Person(last) => {
                self.person = self.person.max(last);
                self.person_told = Some(self.log.cooked.offset());
                self.typeahead.told(now);
                self.judge_buried(true);
            }
            Event::Watched(watch) => self.watched(now, watch),
            Event::Glance => self.glance(now),
            Event::Shown { actor, rows } => {
                self.agents.entry(&actor).screen = rows;
                self.effects.push_back(Effect::Remember);
            }
            Event::Closed(why) => {
                self.closed = Some(why);
                self.log.abandon(self.wall_at(now));
            }
            Event::Tick => {}
        }
        self.drain(now);
        self.advance(now);
    }

    /// What finished since this agent's last reply, for calls that do not wait. Tells each once.
    pub fn take_finished(&mut self, actor: &str) -> Vec<String> {
        let mut notes: Vec<String> = self.cut_off_note(actor).into_iter().collect();
        notes.extend(self.finished_notes(actor, None));
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
        self.jobs.meets(&actor);
        self.wonder_again();
        self.looking.hurry();
        let kind = match request {
            Waiting::Run(run) => CallKind::Run(Box::new(RunCall::begin(now, run))),
            Waiting::Expect(expect) => CallKind::Expect(Box::new(ExpectCall::begin(now, expect, &self.log))),
            Waiting::Send(send) => CallKind::Send(Box::new(SendCall::begin(send))),
            Waiting::Wait(wait) => {
                let mut call = WaitCall::begin(now, wait, self.agents.get(&actor).seen_line, self.told(&actor));
                if let Some(line) = matched {
                    call.matched(line);
                }
                CallKind::Wait(Box::new(call))
            }
            Waiting::Integrate(integrate) => {
                // Who takes what is typed has to be seen first.
                self.looking.place_due = true;
                CallKind::Integrate(Box::new(IntegrateCall::begin(now, integrate)))
            }
        };
        self.calls.push(Call { id, actor, began: now, kind, moved: None, trial: line::tried::Trial::default() });
    }

    /// Remembers whose command the shell wants the rest of.
    fn continued(&mut self, owner: Option<&str>) {
        if let Some(owner) = owner {
            self.agents.entry(owner);
        }
        if self.agents.continues(owner) {
            self.effects.push_back(Effect::Remember);
        }
    }

    fn record(&mut self, id: u32) {
        if let Some(region) = self.log.region(id) {
            self.effects.push_back(Effect::Record(Box::new(region.clone())));
        }
    }

    fn seen<'a>(&'a self, now: Now, resting: &'a Resting) -> Seen<'a> {
        Seen {
            now,
            wall: self.wall_at(now),
            log: &self.log,
            shell: self.shell(now),
            looked: self.looking.settled_at(),
            judgement: self.looking.holds.as_ref(),
            wonders: self.wonders(now),
            echoes: self.looking.echoes,
            flow: self.looking.flow,
            quiet: now - self.last_activity,
            resting,
            asked: resting.asks.and_then(|_| self.bare_question()),
            answer_due: self.submitter.answer_due(now),
            unbegun: self.submitter.unbegun(),
            ended: self.ended,
            closed: self.closed.as_deref(),
            place: self.place(),
            home: &self.setting.home,
            screen_since: self.screen_since,
            taker: self.looking.taker.as_ref(),
            others: None,
            rival_due: self.rivals_due(now),
            rival: self.rival(),
        }
    }

    fn wall_at(&self, now: Now) -> Wall {
        let passed = u64::try_from((now - self.wall.0).as_millis()).unwrap_or(u64::MAX);
        Wall(self.wall.1.0.saturating_add(passed))
    }
}

/// The actor of regions that no agent's line began.
pub const HUMAN: &str = "human";
