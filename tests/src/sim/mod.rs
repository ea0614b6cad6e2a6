//! A session's machine without a terminal or a clock: a scripted bash prints, people and agents type, and time passes
//! only when a test says so. What has to hold of every session is checked at every event.

mod bash;
mod chance;
mod disk;
mod keys;
mod program;
mod requests;

use std::collections::BTreeMap;
use std::time::Duration;

use dtmcp_core::call::{CallId, Outcome, Signal, Waiting};
use dtmcp_core::cooked::Size;
use dtmcp_core::inspect::{Inspection, Known, Why};
use dtmcp_core::log::Log;
use dtmcp_core::pattern::Pattern;
use dtmcp_core::record::StateRecord;
use dtmcp_core::region::{Place, Region, State};
use dtmcp_core::session::{Doing, Effect, Event, NotTyped, Session, Setting, Signalled, Signalling, Typing};
use dtmcp_core::text::width::Widths;
use dtmcp_core::time::{Now, Wall};
use dtmcp_core::vt::marker::Nonce;

pub use bash::{Bash, NONCE, Start};
pub use chance::{Chance, seeds};
pub use disk::Disk;
pub use keys::Keys;
pub use requests::{run, run_for, send, signal, wait};

/// The size of every scripted terminal: small, so that lines settle.
pub const SIZE: Size = Size { cols: 60, rows: 12 };

/// When the wall clock began, in Unix milliseconds.
const EPOCH: u64 = 1_750_000_000_000;

/// The monotonic clock does not begin at zero, as no driver's does for long.
const BEGAN: Now = Now(1_000_000);

/// Most effects that one event may have: a record and a line settled for each region there can be, and every call
/// concluded. A handful in practice.
const EFFECTS_MAX: usize = 400;

/// `send` has no timeout: this much after it was typed it has been answered.
const SEND_MAX: Duration = Duration::from_secs(10);

/// What the machine may be late by: the step of its own clock.
const TICK: Duration = Duration::from_millis(1);

/// How often typing is tried again where the terminal has not taken it: its call is answered between two tries.
const AGAIN: Duration = Duration::from_millis(10);

/// How the terminal takes what is typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Typist {
    /// At once.
    Prompt,
    /// Not at all.
    Refuses(String),
    /// Not so many times, for somebody is attached and the cursor is elsewhere.
    Moved(u32),
    /// When it is told to, with [`Sim::take_typing`].
    Waits,
}

/// A call under way.
#[derive(Debug, Clone)]
struct Call {
    actor: String,
    /// When it has to be answered; none while that depends on the terminal.
    due: Option<Now>,
    settle: Option<Duration>,
}

/// The machine, what it talks to, and what came of its calls.
#[derive(Debug)]
pub struct Sim {
    /// The machine.
    pub session: Session,
    /// What it works in.
    pub bash: Bash,
    /// What was written.
    pub disk: Disk,
    /// How typing goes.
    pub typist: Typist,
    /// Output is handed over in pieces, cut by this.
    pub cut: Option<Chance>,
    /// What the host sees at the terminal; nothing, where it cannot look.
    pub host: Inspection,
    /// Whether looks never come to an end, as on a machine that is out of breath.
    pub blind: bool,
    /// When it was looked at.
    pub looks: Vec<Now>,
    /// What readers were told of.
    pub told_readers: Vec<Option<u32>>,
    now: Now,
    setting: Setting,
    calls: BTreeMap<CallId, Call>,
    answers: BTreeMap<CallId, Outcome>,
    untaken: Vec<Typing>,
    typed: Vec<u8>,
    next_call: CallId,
    /// When a person last pressed a key.
    person: Option<Wall>,
    glanced: bool,
}

impl Sim {
    /// A session whose bash has the integration and is at its first prompt.
    #[must_use]
    pub fn bash() -> Self {
        let mut sim = Self::starting(&Start::Bash(Duration::from_millis(20)));
        sim.pass(0.5);
        sim
    }

    /// A session that has just begun.
    #[must_use]
    pub fn starting(start: &Start) -> Self {
        let setting = Setting {
            name: "t1".to_owned(),
            integrated: matches!(start, Start::Bash(_) | Start::Startup(_)),
            prompt_pattern: None,
            home: Place { host: "vm".to_owned(), user: "me".to_owned(), container: None },
        };
        let log = Log::new(SIZE, Widths::default(), Nonce::new(NONCE));
        let session = Session::new(BEGAN, wall(BEGAN), log, setting.clone(), StateRecord::default());
        Self {
            session,
            bash: Bash::start(BEGAN, start),
            disk: Disk::default(),
            typist: Typist::Prompt,
            cut: None,
            host: Inspection::unknown(Why::NobodyLooks),
            blind: false,
            looks: Vec::new(),
            told_readers: Vec::new(),
            now: BEGAN,
            setting,
            calls: BTreeMap::new(),
            answers: BTreeMap::new(),
            untaken: Vec::new(),
            typed: Vec::new(),
            next_call: 1,
            person: None,
            glanced: false,
        }
    }

    /// Makes a call, as the driver hands it over.
    pub fn call(&mut self, actor: &str, request: Waiting) -> CallId {
        let id = self.next_call;
        self.next_call += 1;
        let (due, settle) = match &request {
            Waiting::Run(run) => (Some(self.now + run.timeout), None),
            Waiting::Expect(expect) => (Some(self.now + expect.timeout), None),
            Waiting::Wait(wait) => (Some(self.now + wait.timeout), None),
            Waiting::Send(send) => (None, Some(send.settle)),
            // Half a minute, whatever comes of it.
            Waiting::Integrate(_) => (Some(self.now + Duration::from_secs(30)), None),
        };
        self.calls.insert(id, Call { actor: actor.to_owned(), due, settle });
        if self.session.wonders_who_typed() {
            self.handle(Event::Person(self.person));
        }
        let matched = match &request {
            Waiting::Wait(wait) => wait.until.as_ref().and_then(|until| self.already_matched(actor, until)),
            _ => None,
        };
        self.handle(Event::Call {
            id,
            actor: actor.to_owned(),
            request: Box::new(request),
            matched,
            wall: self.wall(),
        });
        id
    }

    fn already_matched(&self, actor: &str, until: &Pattern) -> Option<u64> {
        let (first, last) = self.session.unseen(actor)?;
        (first..=last).find(|line| until.is_match(&self.line(*line)).unwrap_or(false))
    }

    /// Somebody begins to read along, or stops.
    pub fn watch(&mut self, watch: bool) {
        self.handle(Event::Watched(watch));
    }

    /// One line, or several, for `run`.
    pub fn run(&mut self, actor: &str, line: &str) -> CallId {
        self.call(actor, run(line, |_| {}))
    }

    /// As [`Self::run`], to the end of the call.
    pub fn ran(&mut self, actor: &str, line: &str) -> Outcome {
        let id = self.run(actor, line);
        self.answer(id)
    }

    /// Text for `send`.
    pub fn send(&mut self, actor: &str, text: &str) -> CallId {
        self.call(actor, send(text, &[]))
    }

    /// As [`Self::send`], with keys, to the end of the call.
    pub fn sent(&mut self, actor: &str, text: &str, keys: &[&str]) -> Outcome {
        let id = self.call(actor, send(text, keys));
        self.answer(id)
    }

    /// `wait`, to its end.
    pub fn waited(&mut self, actor: &str, timeout: f64) -> Outcome {
        let id = self.call(actor, wait(timeout, None));
        self.answer(id)
    }

    /// The client of a call goes away.
    pub fn gone(&mut self, id: CallId) {
        self.calls.remove(&id);
        self.handle(Event::Gone(id));
    }

    /// A person types.
    pub fn person(&mut self, keys: &str) {
        // tmux tells whole seconds.
        self.person = Some(Wall(self.wall().0 / 1000 * 1000));
        self.bash.keys(self.now, keys.as_bytes());
    }

    /// The person leaves their terminal.
    pub fn detach(&mut self) {
        self.person = None;
    }

    /// The pane takes another size.
    pub fn resize(&mut self, size: Size) {
        self.disk.size(size, self.wall());
        self.handle(Event::Resized(size));
    }

    /// Something else happens.
    pub fn handle(&mut self, event: Event<'_>) {
        self.session.handle(self.now, event);
        self.effects();
        assert!(self.session.deadline().is_none_or(|at| at > self.now), "a deadline in the past");
    }

    /// The answer to a call, however long that takes.
    ///
    /// # Panics
    /// Where nothing more happens and the call is not answered.
    pub fn answer(&mut self, id: CallId) -> Outcome {
        while !self.answers.contains_key(&id) {
            assert!(self.next().is_some(), "nothing happens any more, and call {id} has no answer: {:?}", self.session);
            self.step();
        }
        self.answers.remove(&id).unwrap_or_else(|| Outcome::error("none"))
    }

    /// The answer to a call, if it is there.
    pub fn answered(&mut self, id: CallId) -> Option<Outcome> {
        self.answers.remove(&id)
    }

    /// Whether any call waits for its answer.
    #[must_use]
    pub fn waits(&self) -> bool {
        !self.calls.is_empty()
    }

    /// The call that waits longest.
    #[must_use]
    pub fn oldest(&self) -> Option<CallId> {
        self.calls.keys().next().copied()
    }

    /// Lets that many seconds pass.
    pub fn pass(&mut self, seconds: f64) {
        let until = self.now + Duration::from_secs_f64(seconds);
        while self.next().is_some_and(|next| next <= until) {
            self.step();
        }
        self.now = until;
    }

    /// Lets the next thing happen, and time pass until then; false where nothing will ever happen.
    pub fn step(&mut self) -> bool {
        let Some(next) = self.next() else { return false };
        self.now = self.now.max(next);
        if self.bash.next().is_some_and(|at| at <= self.now) {
            let bytes = self.bash.step(self.now);
            self.output(&bytes);
        } else {
            self.handle(Event::Tick);
        }
        true
    }

    /// When something happens next by itself.
    #[must_use]
    pub fn next(&self) -> Option<Now> {
        [self.bash.next(), self.session.deadline()].into_iter().flatten().min()
    }

    fn output(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        while !rest.is_empty() {
            let size = self.cut.as_mut().map_or(rest.len(), |cut| 1 + cut.below(rest.len().min(40)));
            let (piece, more) = rest.split_at(size.min(rest.len()));
            rest = more;
            let wall = self.wall();
            self.disk.output(piece, wall);
            self.handle(Event::Output { bytes: piece, wall });
        }
    }

    /// What was to be typed and has not been taken yet: takes it, or says why not.
    pub fn take_typing(&mut self, result: Result<(), String>) -> bool {
        if self.untaken.is_empty() {
            return false;
        }
        let typing = self.untaken.remove(0);
        self.type_in(&typing, result.map_err(NotTyped::Refused));
        true
    }

    fn type_in(&mut self, typing: &Typing, result: Result<(), NotTyped>) {
        if let Some(call) = self.calls.get_mut(&typing.call) {
            call.due = match call.settle {
                Some(settle) => Some(self.now + SEND_MAX.max(settle)),
                None => call.due.max(Some(self.now)),
            };
        }
        if result.is_ok() {
            for part in &typing.parts {
                self.typed.extend_from_slice(&part.bytes);
                self.bash.keys(self.now, &part.bytes);
            }
        }
        self.disk.typed(&typing.intent, result.is_ok());
        self.handle(Event::Typed { id: typing.call, result });
    }

    fn effects(&mut self) {
        let (mut typings, mut looks, mut signals, mut asks) = (Vec::new(), 0, Vec::new(), false);
        let mut count = 0;
        while let Some(effect) = self.session.poll_effect() {
            count += 1;
            assert!(count < EFFECTS_MAX, "one event has no end of effects");
            match effect {
                Effect::Settle(text) => self.disk.settle(&text),
                Effect::Record(region) => self.disk.record(&region),
                Effect::Remember => self.disk.remember(self.session.state()),
                Effect::Type(typing) => {
                    self.disk.intend(&typing.intent);
                    typings.push(typing);
                }
                Effect::AskPerson => asks = true,
                Effect::Inspect(_) => looks += 1,
                Effect::Signal(signalling) => signals.push(signalling),
                Effect::Changed { region } => self.told_readers.push(region),
                Effect::Glanced => self.glanced = true,
                Effect::Conclude(id, outcome) => self.conclude(id, *outcome),
            }
        }
        if asks {
            self.handle(Event::Person(self.person));
        }
        for _ in 0..looks {
            self.looks.push(self.now);
            if self.blind {
                continue;
            }
            let mut host = self.host.clone();
            if let Known::Known(unread) = &mut host.unread {
                *unread += self.bash.ahead.len() as u64;
            }
            self.handle(Event::Inspected(Box::new(host)));
        }
        for signalling in signals {
            self.signal(&signalling);
        }
        for typing in typings {
            // As tmux compares them.
            let second = |wall: Wall| wall.0 / 1000;
            let pressed = |before: Wall| self.person.is_some_and(|last| second(last) >= second(before));
            if typing.keys_before.is_some_and(pressed) {
                self.handle(Event::Person(self.person));
                self.type_in(&typing, Err(NotTyped::Pressed));
                continue;
            }
            match self.typist.clone() {
                Typist::Prompt => self.type_in(&typing, Ok(())),
                Typist::Refuses(why) => self.type_in(&typing, Err(NotTyped::Refused(why))),
                Typist::Moved(times) if times > 0 && typing.at.is_some() => {
                    self.typist = Typist::Moved(times - 1);
                    self.type_in(&typing, Err(NotTyped::Moved));
                }
                Typist::Moved(_) => self.type_in(&typing, Ok(())),
                Typist::Waits => self.untaken.push(typing),
            }
        }
    }

    /// The scripted jobs know one signal, the keyboard's.
    fn signal(&mut self, signalling: &Signalling) {
        if let Some(call) = self.calls.get_mut(&signalling.call) {
            call.due = Some(self.now + SEND_MAX);
        }
        let result = if signalling.signal == Signal::Int {
            self.bash.keys(self.now, b"\x03");
            Ok(Signalled { name: "job".to_owned(), refused: None, carries: false })
        } else {
            Err("no signal was sent: it is refused".to_owned())
        };
        self.handle(Event::Signalled { id: signalling.call, result });
    }

    fn conclude(&mut self, id: CallId, outcome: Outcome) {
        let call = self.calls.remove(&id);
        assert!(call.is_some(), "call {id} is answered, and nobody waits for it");
        let due = call.and_then(|call| call.due);
        let untaken = self.untaken.iter().any(|typing| typing.call == id);
        assert!(
            untaken || due.is_none_or(|due| self.now <= due + AGAIN + TICK),
            "call {id} is answered late, at {:?} and not {due:?}: {outcome:?}",
            self.now
        );
        for region in outcome.region.iter().chain(&outcome.ran) {
            let recorded = self.disk.region(region.id).expect("a reply about a region that is not recorded");
            if region.state != State::Running {
                assert_eq!(&recorded, region, "the reply says what its record does not");
            }
            let total = self.session.total_lines();
            assert!(region.lines == 0 || region.first_line + region.lines - 1 <= total, "{region:?} of {total} lines");
        }
        if let Some((first, count)) = outcome.output {
            assert!(count == 0 || first + count - 1 <= self.session.total_lines(), "{outcome:?}");
        }
        self.answers.insert(id, outcome);
    }

    /// The server dies and another takes its place: calls are lost, the terminal goes on.
    pub fn crash(&mut self) {
        let log = Log::new(SIZE, Widths::default(), Nonce::new(NONCE));
        let rebuilt = self.disk.rebuild(log, self.cut.as_mut());
        self.session = Session::new(self.now, self.wall(), rebuilt.log, self.setting.clone(), rebuilt.state);
        self.session.take_over(self.now, rebuilt.inherited);
        self.calls.clear();
        self.answers.clear();
        self.untaken.clear();
        self.effects();
    }

    /// The same, with no server for that many seconds.
    pub fn dies_for(&mut self, seconds: f64) {
        let until = self.now + Duration::from_secs_f64(seconds);
        while let Some(next) = self.bash.next().filter(|next| *next <= until) {
            self.now = self.now.max(next);
            let bytes = self.bash.step(self.now);
            self.disk.output(&bytes, self.wall());
        }
        self.now = until;
        self.crash();
    }

    /// The text of a line that is there.
    #[must_use]
    pub fn line(&self, number: u64) -> String {
        let settled = self.session.log().cooked.settled_lines();
        if number <= settled {
            return self.disk.line(number);
        }
        let at = usize::try_from(number - settled - 1).unwrap_or(usize::MAX);
        let live = self.session.log().cooked.live();
        let begun = if at == 0 && live.continues { self.disk.line(number) } else { String::new() };
        begun + live.lines.get(at).map_or("", String::as_str)
    }

    /// The output that a reply is about.
    #[must_use]
    pub fn shown(&self, outcome: &Outcome) -> Vec<String> {
        let (first, count) = match (&outcome.region, outcome.output) {
            (_, Some(range)) => range,
            (Some(region), None) => (region.first_line, region.lines),
            (None, None) => (1, 0),
        };
        (first..first + count).map(|line| self.line(line)).collect()
    }

    /// All regions that are known.
    #[must_use]
    pub fn regions(&self) -> Vec<Region> {
        self.session.log().regions().cloned().collect()
    }

    /// Everything that was typed by calls.
    #[must_use]
    pub fn typed(&self) -> String {
        String::from_utf8_lossy(&self.typed).into_owned()
    }

    /// The agent of a call that waits.
    #[must_use]
    pub fn actor(&self, id: CallId) -> Option<&str> {
        self.calls.get(&id).map(|call| call.actor.as_str())
    }

    /// What whoever looks at all sessions sees of this one.
    pub fn glance(&mut self) -> String {
        self.glanced = false;
        self.handle(Event::Person(self.person));
        self.handle(Event::Glance);
        while !self.glanced && self.step() {}
        self.doing().words
    }

    /// What is known of it now, without a look.
    #[must_use]
    pub fn doing(&self) -> Doing {
        self.session.doing(self.now)
    }

    /// What a reader sees of a region, or else of the session.
    #[must_use]
    pub fn reading(&self, region: Option<u32>) -> Option<Outcome> {
        self.session.reading(self.now, region)
    }

    /// The wall clock.
    #[must_use]
    pub fn wall(&self) -> Wall {
        wall(self.now)
    }

    /// The monotonic clock, in seconds since the session began.
    #[must_use]
    pub fn seconds(&self) -> f64 {
        (self.now - BEGAN).as_secs_f64()
    }
}

fn wall(now: Now) -> Wall {
    Wall(EPOCH + now.0 / 1000)
}
