//! The task of one session: owns the machine, its files and its place in the log, and carries out effects in order.

mod clock;
pub mod ending;
pub mod files;
pub mod render;
mod replies;
mod signal;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use dtmcp_core::call::{CallId, Waiting};
use dtmcp_core::inspect::{Inspection, Inspector, Known, Look as Reach, PaneTerminal, Why};
use dtmcp_core::log::ShellState;
use dtmcp_core::region::{Place, Region, State};
use dtmcp_core::reply::Reply;
use dtmcp_core::session::{Effect, Event, NotTyped, Session, Typing};
use dtmcp_core::time::Wall;
use tokio::sync::{Notify, mpsc, oneshot};

use crate::feed::{CHUNK, Follower, Piece};
use crate::hub::region_files::RegionFiles;
use crate::store::lines::LogLines;
use crate::store::missing::Missing;
use crate::terminal::{Only, PaneId, Part, Terminal, TerminalError};
use crate::updates::Updates;
pub use clock::Clock;
use ending::Parted;
use files::SessionFiles;
pub use render::Shown;

/// Messages that wait for a session's task; a client that sends more waits itself.
pub const MAILBOX: usize = 64;

/// Chunks of output taken before calls are looked at again.
const CHUNKS_AT_ONCE: usize = 4;

/// What Linux's terminals keep of a line that is being typed, less its line break (`N_TTY_BUF_SIZE`).
const CANONICAL_MAX: usize = 4095;

/// What a session's task is told.
#[derive(Debug)]
pub enum Message {
    /// A waiting call.
    Call {
        /// Names it.
        id: CallId,
        /// The agent.
        actor: String,
        /// What it asks for.
        request: Box<Waiting>,
        /// Where its reply goes.
        reply: oneshot::Sender<Reply>,
    },
    /// The client of a call went away or cancelled it.
    Gone(CallId),
    /// A look at the session as it stands.
    Look {
        /// The agent that looks, which is then told what has finished.
        actor: Option<String>,
        /// Where the look goes.
        reply: oneshot::Sender<Look>,
    },
    /// The same of all sessions, with what runs there looked at first, for a moment.
    Glance {
        /// As with a look.
        actor: Option<String>,
        /// When a person last pressed a key in the session, where that is known.
        last_key: Option<Wall>,
        /// Where the look goes.
        reply: oneshot::Sender<Look>,
    },
    /// What a reader sees, who is no agent at work here.
    Reading {
        /// The region; none is what runs now, or ran last.
        region: Option<u32>,
        /// Where it goes; none where the log does not have the region in memory.
        reply: oneshot::Sender<Option<Reply>>,
    },
    /// End the session: hang up, let the rest arrive, kill.
    Close {
        /// Told when the pane is gone and the files are complete.
        done: oneshot::Sender<Closed>,
    },
}

/// A session as it stands.
#[derive(Debug)]
pub struct Look {
    /// Its lines.
    pub lines: LogLines,
    /// Its regions, oldest first; a running one has the lines there are so far.
    pub regions: Vec<Region>,
    /// What it does, in a few words.
    pub runs: String,
    /// Since when, Unix milliseconds.
    pub since: Wall,
    /// What its shell does.
    pub shell: ShellState,
    /// The directory of its innermost shell, as the last prompt told it; none where that has led to another place.
    pub cwd: Option<String>,
    /// Whether its program ended, and with what.
    pub ended: Option<Option<i32>>,
    /// Why its pane is gone, if it is.
    pub closed: Option<String>,
    /// Notes on what has finished.
    pub notes: Vec<String>,
    /// When its last output came, Unix milliseconds.
    pub last_output: Wall,
    /// When each agent last typed here, as far as this server saw it.
    pub typed: BTreeMap<String, Wall>,
    /// The agent whose call has the keyboard now, and the tool.
    pub typing_now: Option<(String, &'static str)>,
    /// Where the next line runs, where that is not the server's own place.
    pub place: Option<Place>,
    /// The nonce, for masking.
    pub nonce: Option<String>,
}

/// How a session ended.
#[derive(Debug, Clone, Default)]
pub struct Closed {
    /// The exit status of its program, where it is known.
    pub exit: Option<i32>,
    /// Whether the program had to be killed.
    pub killed: bool,
    /// What went wrong on the way, in words.
    pub trouble: Option<String>,
}

/// Agents whose last typing is remembered.
const TYPISTS_MAX: usize = 64;

/// What a driver is made of.
#[derive(Debug)]
pub struct Driver {
    /// The machine.
    pub session: Session,
    /// Its files.
    pub files: SessionFiles,
    /// Its place in the log.
    pub follower: Follower,
    /// Wakes it when the log grows.
    pub notify: Arc<Notify>,
    /// The terminal.
    pub terminal: Arc<dyn Terminal>,
    /// Who looks at what runs there.
    pub inspector: Arc<dyn Inspector>,
    /// Its pane.
    pub pane: PaneId,
    /// Its messages.
    pub mailbox: mpsc::Receiver<Message>,
    /// The clock its machine was made with.
    pub clock: Clock,
    /// Its directory.
    pub dir: PathBuf,
    /// The nonce, for masking.
    pub nonce: Option<String>,
    /// Whether clipped replies show summary lines.
    pub summaries: bool,
    /// The files of single regions.
    pub region_files: RegionFiles,
    /// Who is told of changes.
    pub updates: Arc<Updates>,
    /// Where the integration was found missing, for all sessions.
    pub missing: Missing,
}

/// What the task keeps while it runs.
#[derive(Debug)]
struct Running {
    driver: Driver,
    replies: BTreeMap<CallId, (String, oneshot::Sender<Reply>)>,
    /// Who looks at all sessions and waits for this one.
    glances: Vec<(Option<String>, oneshot::Sender<Look>)>,
    /// Those who are to be shown it now.
    shows: Vec<(Option<String>, oneshot::Sender<Look>)>,
    /// What agents have been shown of the screen.
    shown: (mpsc::UnboundedSender<Shown>, mpsc::UnboundedReceiver<Shown>),
    buffer: Vec<u8>,
    last_output: Wall,
    typed: BTreeMap<String, Wall>,
    stream_checked: bool,
    /// What the host is asked about, once it is known.
    place: Option<PaneTerminal>,
    /// What it answers; one answer at a time is under way.
    seen: (mpsc::UnboundedSender<Box<Inspection>>, mpsc::UnboundedReceiver<Box<Inspection>>),
    /// Whether the pane refused text as if it were gone.
    doubted: bool,
    /// Why the pane is gone, once it is.
    pane_gone: Option<&'static str>,
    /// Replies that are held back while the session parts from its pane.
    parting: Option<Vec<(render::Job, oneshot::Sender<Reply>)>>,
}

impl Driver {
    /// Runs until the session is closed or the hub is gone, or until its pane is: then what it leaves is given back.
    pub async fn run(self) -> Option<Parted> {
        let mut running = Running {
            last_output: Clock::wall(),
            typed: BTreeMap::new(),
            driver: self,
            replies: BTreeMap::new(),
            glances: Vec::new(),
            shows: Vec::new(),
            shown: mpsc::unbounded_channel(),
            buffer: vec![0; CHUNK],
            stream_checked: false,
            place: None,
            seen: mpsc::unbounded_channel(),
            doubted: false,
            pane_gone: None,
            parting: None,
        };
        running.serve().await
    }
}

impl Running {
    async fn serve(&mut self) -> Option<Parted> {
        self.effects().await;
        let mut watched = self.driver.updates.watched();
        watched.mark_changed();
        loop {
            let more = self.follow().await;
            for (actor, reply) in std::mem::take(&mut self.shows) {
                self.show(actor, reply).await;
            }
            if std::mem::take(&mut self.doubted) {
                self.look_again().await;
            }
            if let Some(why) = self.pane_gone {
                return Some(self.part(why).await);
            }
            let wake = self.driver.session.deadline().map(|at| self.driver.clock.instant(at));
            let notify = Arc::clone(&self.driver.notify);
            tokio::select! {
                biased;
                // Before the agent's next call, which may ask for what changed since.
                Some(Shown { actor, rows, kept }) = self.shown.1.recv() => {
                    self.handle(Event::Shown { actor, rows }).await;
                    let _the_reply_may_be_gone = kept.send(());
                }
                message = self.driver.mailbox.recv() => match message {
                    Some(Message::Close { done }) => {
                        let closed = self.close().await;
                        let failed = closed.trouble.is_some();
                        // The hub gave up waiting; the session is closed all the same.
                        drop(done.send(closed));
                        if !failed {
                            return None;
                        }
                    }
                    Some(message) => self.message(message).await,
                    None => return None,
                },
                () = std::future::ready(()), if more => {}
                () = notify.notified() => {}
                Ok(()) = watched.changed() => {
                    let watch = watched.borrow_and_update().contains(&self.driver.session.setting().name);
                    self.handle(Event::Watched(watch)).await;
                }
                Some(inspection) = self.seen.1.recv() => self.handle(Event::Inspected(inspection)).await,
                () = sleep_until(wake) => self.handle(Event::Tick).await,
            }
        }
    }

    /// Reads what the log has grown by; says whether there is more.
    async fn follow(&mut self) -> bool {
        let mut buffer = std::mem::take(&mut self.buffer);
        let mut more = true;
        for _ in 0..CHUNKS_AT_ONCE {
            let pieces = match self.driver.follower.read(&mut buffer) {
                Ok(pieces) => pieces,
                Err(error) => {
                    tracing::warn!("{}: {error}", self.driver.dir.display());
                    Vec::new()
                }
            };
            more = !pieces.is_empty();
            if !more {
                break;
            }
            for piece in pieces {
                match piece {
                    Piece::Size(size) => self.handle(Event::Resized(size)).await,
                    Piece::Bytes(range, wall) => {
                        self.last_output = wall;
                        let bytes = buffer.get(range).unwrap_or_default();
                        let now = self.driver.clock.now();
                        self.driver.session.handle(now, Event::Output { bytes, wall });
                        self.effects().await;
                    }
                }
            }
        }
        self.buffer = buffer;
        if !more && self.driver.follower.ended() && !self.stream_checked {
            self.look_at_pane().await;
        }
        more
    }

    async fn message(&mut self, message: Message) {
        match message {
            Message::Call { id, actor, request, reply } => {
                if self.driver.session.wonders_who_typed() {
                    self.ask_for_people().await;
                }
                let matched = self.already_matched(&actor, &request);
                self.replies.insert(id, (actor.clone(), reply));
                match matched {
                    Ok(matched) => self.handle(Event::Call { id, actor, request, matched, wall: Clock::wall() }).await,
                    Err(why) => self.answer(id, Reply::error(Some(&self.driver.session.setting().name), &why)),
                }
            }
            Message::Gone(id) => {
                self.replies.remove(&id);
                self.handle(Event::Gone(id)).await;
            }
            Message::Look { actor, reply } => self.show(actor, reply).await,
            Message::Glance { actor, last_key, reply } => {
                self.glances.push((actor, reply));
                self.handle(Event::Person(last_key)).await;
                self.handle(Event::Glance).await;
            }
            Message::Reading { region, reply } => self.reading(region, reply),
            Message::Close { .. } => {}
        }
    }

    async fn ask_for_people(&mut self) {
        let last = self.last_key().await;
        self.handle(Event::Person(last)).await;
    }

    /// When a person last pressed a key here, whether they are still attached or have left what they typed.
    async fn last_key(&self) -> Option<Wall> {
        // Where it cannot be told, a person's text is not to be touched.
        self.driver.terminal.state(self.driver.pane).await.map_or_else(|_| Some(Clock::wall()), |state| state.last_key)
    }

    /// The line that a `wait`'s `until` matches already, in what this agent has not been shown.
    fn already_matched(&self, actor: &str, request: &Waiting) -> Result<Option<u64>, String> {
        let Waiting::Wait(wait) = request else { return Ok(None) };
        let Some(pattern) = &wait.until else { return Ok(None) };
        let session = &self.driver.session;
        let Some((first, last)) = session.unseen(actor) else { return Ok(None) };
        let lines = self.driver.files.snapshot(session.log().cooked.live());
        let found = dtmcp_core::search::search(&lines, pattern, first, last, 0, 1)?;
        Ok(found.hits.first().map(|hit| hit.line))
    }

    async fn handle(&mut self, event: Event<'_>) {
        let now = self.driver.clock.now();
        self.driver.session.handle(now, event);
        self.effects().await;
    }

    async fn effects(&mut self) {
        while let Some(effect) = self.driver.session.poll_effect() {
            match effect {
                Effect::Settle(text) => self.driver.files.settle(&text),
                Effect::Record(region) => {
                    self.driver.files.record(&region);
                    if region.state != State::Running {
                        let lines = self.driver.files.snapshot(self.driver.session.log().cooked.live());
                        self.driver.region_files.write(*region, lines);
                    }
                }
                Effect::Remember => self.driver.files.remember(self.driver.session.state()),
                Effect::AskPerson => {
                    let last = self.last_key().await;
                    self.driver.session.handle(self.driver.clock.now(), Event::Person(last));
                }
                Effect::Type(typing) => {
                    let result = self.type_in(&typing).await;
                    if matches!(result, Err(NotTyped::Moved | NotTyped::Pressed)) {
                        // Somebody is there, and what they type is theirs.
                        let last = self.last_key().await;
                        self.driver.session.handle(self.driver.clock.now(), Event::Person(last));
                    }
                    let now = self.driver.clock.now();
                    self.driver.session.handle(now, Event::Typed { id: typing.call, result });
                }
                Effect::Signal(signalling) => {
                    let event = self.signal(signalling).await;
                    self.driver.session.handle(self.driver.clock.now(), event);
                }
                Effect::Inspect(look) => self.inspect(look).await,
                Effect::Changed { region } => {
                    self.driver.updates.changed(&self.driver.session.setting().name, region);
                }
                Effect::Glanced => self.shows.append(&mut self.glances),
                Effect::Conclude(id, outcome) => self.conclude(id, *outcome),
            }
        }
    }

    /// Refuses a line that its taker would get without its end: a terminal that takes line by line keeps no more than
    /// [`CANONICAL_MAX`] bytes of one, and says nothing of the rest.
    async fn fits(&mut self, typing: &Typing) -> Result<(), String> {
        let bytes: Vec<u8> = typing.parts.iter().flat_map(|part| part.bytes.iter().copied()).collect();
        let longest = bytes.split(|byte| matches!(byte, b'\r' | b'\n')).map(<[u8]>::len).max().unwrap_or(0);
        if longest <= CANONICAL_MAX {
            return Ok(());
        }
        let Some(place) = self.find_place().await else { return Ok(()) };
        let inspector = Arc::clone(&self.driver.inspector);
        let looked = tokio::task::spawn_blocking(move || inspector.inspect(&place, Reach::Near)).await;
        match looked.map(|inspection| inspection.modes) {
            Ok(Known::Known(modes)) if modes.canonical => Err(format!(
                "nothing was typed: the program takes its input line by line, and a terminal keeps no more than {CANONICAL_MAX} bytes of a line: this one has {longest}. Give it shorter lines, or a file"
            )),
            _ => Ok(()),
        }
    }

    /// The pane's terminal, asked for once.
    async fn find_place(&mut self) -> Option<PaneTerminal> {
        if self.place.is_none() {
            let state = self.driver.terminal.state(self.driver.pane).await.ok()?;
            self.place = Some(PaneTerminal { tty: state.tty.display().to_string(), pid: state.pid? });
        }
        self.place.clone()
    }

    /// Has the host looked at, on a thread of its own; the answer comes as an event.
    async fn inspect(&mut self, look: Reach) {
        let place = self.find_place().await;
        let (inspector, seen) = (Arc::clone(&self.driver.inspector), self.seen.0.clone());
        tokio::task::spawn_blocking(move || {
            let inspection =
                place.map_or_else(|| Inspection::unknown(Why::Gone), |place| inspector.inspect(&place, look));
            // The session may be closed by now.
            drop(seen.send(Box::new(inspection)));
        });
    }

    /// Types, with the intent on disk before the first byte.
    async fn type_in(&mut self, typing: &Typing) -> Result<(), NotTyped> {
        self.fits(typing).await.map_err(NotTyped::Refused)?;
        self.driver.files.intend(&typing.intent).map_err(|error| {
            NotTyped::Refused(format!("nothing was typed: {}: intent.json cannot be written ({error}), and without it a restarted server could type a line twice. Free some space and try again", self.driver.dir.display()))
        })?;
        let parts =
            typing.parts.iter().map(|part| Part { bytes: part.bytes.clone(), bracketed: part.bracketed }).collect();
        let only = Only { cursor: typing.at, keys_before: typing.keys_before };
        let result = self.driver.terminal.paste(self.driver.pane, parts, only).await;
        self.driver.files.typed(&typing.intent, result.is_ok());
        if result.is_ok()
            && let Some((actor, _)) = self.replies.get(&typing.call)
        {
            self.typed.insert(actor.clone(), Clock::wall());
            // As many as the session keeps anything for; who typed longest ago says the least.
            if self.typed.len() > TYPISTS_MAX
                && let Some(out) = self.typed.iter().min_by_key(|(_, at)| at.0).map(|(name, _)| name.clone())
            {
                self.typed.remove(&out);
            }
        }
        self.doubted |= result.as_ref().is_err_and(|error| error.is_gone() || *error == TerminalError::Dead);
        result.map_err(|error| match error {
            TerminalError::Moved => NotTyped::Moved,
            TerminalError::Pressed => NotTyped::Pressed,
            error => NotTyped::Refused(error.to_string()),
        })
    }
}

async fn sleep_until(at: Option<tokio::time::Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}
