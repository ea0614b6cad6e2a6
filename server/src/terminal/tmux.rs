//! The terminal as tmux does it.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use async_trait::async_trait;
use dtmcp_core::cooked::Size;
use dtmcp_core::time::Wall;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tokio::sync::Mutex;
use tokio::time::timeout;

use super::answers::{self, ListedPane, first_line, identity, scrubbed_names, strange};
use super::control::{Block, Control, Shape};
use super::server::{self, ServerRecord};
use super::{
    Attached, NewPane, Only, OurPane, PaneId, PaneState, Part, Screen, ServerId, Terminal, TerminalError, Version,
    argv, below, screen,
};
use crate::store::files;

/// The longest that anything may take, connecting included.
const DEADLINE: Duration = Duration::from_secs(5);

/// A line is typed only if tmux gets to it this long after it was asked to: less than what we wait for the answer, so
/// that one that was given up is not typed later.
const TYPING_DEADLINE: Duration = Duration::from_secs(3);

/// A server that is just ending takes its socket away a moment later; until then a new one cannot start.
const START_PATIENCE: Duration = Duration::from_secs(2);
const START_STEP: Duration = Duration::from_millis(50);

/// How long a tmux that turns everybody away may take to be gone: one that ends in order takes some milliseconds.
const LEAVING_PATIENCE: Duration = Duration::from_secs(1);

/// What a tmux server that we start reads in place of the person's configuration, which may destroy sessions that
/// nobody watches, take over panes, or crash the server. The history is as long as tmux has it by itself: ten times as
/// much costs every line printed a fifth more of tmux's time, and the log has all of it anyway. tmux would keep the last
/// thousand commands as messages, and what is typed is part of one: it keeps none.
const CONFIGURATION: &str = "\
# Written by dtmcp for the tmux server that it starts, and overwritten by it.
set -g history-limit 2000
set -g remain-on-exit off
set -g allow-rename off
set -s set-clipboard external
set -s message-limit 0
";

/// How to reach tmux.
#[derive(Debug, Clone)]
pub struct TmuxConfig {
    /// The name of the socket (`tmux -L`).
    pub socket: String,
    /// The state directory; `tmux.conf` and `tmux.json` are kept there.
    pub home: PathBuf,
    /// The environment of this process. PATH and `TMUX_TMPDIR` count, and a server that is started gets all of it but
    /// what [`super::SCRUBBED`] names.
    pub env: Vec<(OsString, OsString)>,
}

/// tmux. Nothing is started before it is needed.
#[derive(Debug)]
pub struct Tmux {
    config: TmuxConfig,
    link: Mutex<Option<Arc<Link>>>,
    lifeline: OnceLock<server::Lifeline>,
}

/// A connection and what is known of the server behind it.
#[derive(Debug)]
struct Link {
    control: Control,
    server: ServerId,
    version: Option<Version>,
}

impl Link {
    async fn ask(&self, line: Vec<u8>) -> Result<Vec<Block>, TerminalError> {
        self.control.request(line, Shape::Plain).await
    }
}

/// Whether a server may be started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Start {
    IfNeeded,
    /// As [`Self::IfNeeded`], outside the control group of the service that we are.
    InScope,
    Never,
}

impl Tmux {
    /// The tmux that is meant; it is looked for when it is first needed.
    #[must_use]
    pub fn new(config: TmuxConfig) -> Self {
        Self { config, link: Mutex::new(None), lifeline: OnceLock::new() }
    }

    /// Where its socket stands.
    #[must_use]
    pub fn socket_path(&self) -> PathBuf {
        server::socket_path(&self.config.env, &self.config.socket)
    }

    async fn link(&self, start: Start) -> Result<Arc<Link>, TerminalError> {
        let mut link = self.link.lock().await;
        if let Some(open) = link.as_ref().filter(|link| link.control.is_open()) {
            return Ok(Arc::clone(open));
        }
        *link = None;
        let fresh = Arc::new(self.connect(start).await?);
        *link = Some(Arc::clone(&fresh));
        drop(link);
        // Outside the lock, which every other call waits for.
        self.adopt_sessions(&fresh).await?;
        Ok(fresh)
    }

    async fn connect(&self, start: Start) -> Result<Link, TerminalError> {
        let found = server::find(&self.config.env).ok_or(TerminalError::Missing)?;
        server::check_version(&found, &self.config.env).await?;
        let record = ServerRecord::load(&self.record_path()).filter(ServerRecord::is_alive);
        if let Some(record) = &record {
            record.mend_socket(&self.socket_path()).await;
            let sessions = [argv::OWN_SESSION.to_owned(), self.other_session()];
            server::see_off_clients(&found, &self.config, &sessions).await;
        }
        let mut program = found;
        let mut session = argv::OWN_SESSION.to_owned();
        let mut way = Start::Never;
        let mut alone = false;
        let mut begin = tokio::time::Instant::now();
        loop {
            let error = match self.connect_once(&program, way, &session).await {
                Ok(link) => return Ok(link),
                Err(error) => error,
            };
            if matches!(error, TerminalError::Died)
                && begin.elapsed() >= LEAVING_PATIENCE
                && record.as_ref().is_some_and(ServerRecord::end_client)
            {
                begin = tokio::time::Instant::now();
            }
            match (&error, &record) {
                // tmux was upgraded under a running server, whose own binary still speaks its language.
                (TerminalError::Skew(_), Some(record)) if !program.starts_with("/proc") => {
                    program = Path::new("/proc").join(record.pid.to_string()).join("exe");
                }
                (TerminalError::NameTaken(taken), _) if *taken == argv::OWN_SESSION => session = self.other_session(),
                // Below a process that may look at what runs in it, or, where that does not go, without.
                (TerminalError::NoServer, _) if !alone && way == Start::Never && way != start => {
                    alone = true;
                    self.start_below(&program, start).await;
                }
                // Outside a service's control group, or, where that does not go, inside it.
                (TerminalError::NoServer, _) if way == Start::Never && way != start => way = self.first_way(start),
                (_, _) if way == Start::InScope => way = Start::IfNeeded,
                (TerminalError::Died | TerminalError::NoServer, _)
                    if start == Start::IfNeeded && begin.elapsed() < START_PATIENCE =>
                {
                    tokio::time::sleep(START_STEP).await;
                }
                // We attached to the session of an earlier server of ours just as tmux, which saw that one go, took
                // it away.
                (error, record) if own_session_went(error, record.as_ref()) && begin.elapsed() < START_PATIENCE => {
                    tokio::time::sleep(START_STEP).await;
                }
                _ => return Err(error),
            }
        }
    }

    /// How a server is started at first: a service's own in a scope of its own, because the service manager ends
    /// everything in the service's control group when it restarts the service.
    fn first_way(&self, start: Start) -> Start {
        let is_service = server::variable(&self.config.env, "INVOCATION_ID").is_some();
        if start == Start::IfNeeded && is_service { Start::InScope } else { start }
    }

    /// Starts a server as [`below::Beginning::start`] does. Where that fails nothing is lost but what it would have seen.
    async fn start_below(&self, program: &Path, start: Start) {
        let started = async {
            let (configuration, lifeline) = (self.configuration()?, self.lifeline()?.path());
            let beginning = below::Beginning { program, config: &self.config, configuration, lifeline };
            let apart = self.first_way(start) == Start::InScope;
            let failed = match beginning.start(apart).await {
                Err(_) if apart => beginning.start(false).await.err(),
                started => started.err(),
            };
            Ok::<_, TerminalError>(failed)
        };
        let failed = started.await.unwrap_or_else(|error| Some(error.to_string()));
        if let Some(why) = failed {
            tracing::warn!("tmux is started without a process that may see what programs in it wait for: {why}");
        }
    }

    /// The configuration of a server that we start, as a file.
    fn configuration(&self) -> Result<PathBuf, TerminalError> {
        let path = self.config.home.join("tmux.conf");
        if files::read(&path).ok().as_deref() != Some(CONFIGURATION.as_bytes()) {
            files::replace(&path, CONFIGURATION.as_bytes())?;
        }
        Ok(path)
    }

    /// The name of our own session where another state directory has the usual one.
    fn other_session(&self) -> String {
        // FNV-1a: any hash does, so long as it is the same next time.
        let step = |hash: u32, byte: &u8| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193);
        let hash = self.config.home.as_os_str().as_bytes().iter().fold(0x811c_9dc5, step);
        format!("{}-{hash:08x}", argv::OWN_SESSION)
    }

    fn lifeline(&self) -> Result<&server::Lifeline, TerminalError> {
        if let Some(open) = self.lifeline.get() {
            return Ok(open);
        }
        let fresh = server::Lifeline::open(&self.config.home)?;
        Ok(self.lifeline.get_or_init(|| fresh))
    }

    async fn connect_once(&self, program: &Path, start: Start, session: &str) -> Result<Link, TerminalError> {
        let mut command = match start {
            Start::Never => {
                let mut command = server::command(program, &server::client_environment(&self.config.env));
                command.arg("-N");
                command
            }
            Start::IfNeeded | Start::InScope => match server::scope(&self.config, program) {
                Some(command) if start == Start::InScope => command,
                _ => server::starting(program, &self.config.env),
            },
        };
        // -u: text that is not ASCII comes as it is, whatever the locale that our client runs us in.
        command.args(["-u", "-L", &self.config.socket, "-f"]).arg(self.configuration()?);
        command.args(["-C", "new-session", "-A", "-s", session, "-f", "no-output,ignore-size", "-x", "80", "-y", "24"]);
        command.arg("--").args(argv::OWN_PROGRAM).arg(self.lifeline()?.path());
        let mut random = [0; 8];
        getrandom::fill(&mut random).map_err(|error| TerminalError::Io(error.to_string()))?;
        let token = format!("dtmcp-{:016x}", u64::from_ne_bytes(random));
        let control = Control::start(command, &token).await?;
        self.take_own_session(&control, session).await?;

        let greeting = control.request(argv::connected(), Shape::Plain).await?;
        let (server, version) = greeting.last().and_then(identity).ok_or_else(|| strange("its identity"))?;
        if let Some(record) = ServerRecord::of(server.pid, self.socket_path(), control.pid()) {
            record.save(&self.record_path());
        }
        let environment = control.request(b"show-environment -g".to_vec(), Shape::Plain).await?;
        let names = scrubbed_names(environment.first().map_or(&[], Vec::as_slice));
        if !names.is_empty() {
            control.request(argv::unset(&names), Shape::Plain).await?;
        }
        Ok(Link { control, server, version })
    }

    /// Makes sure that the session of the control client is for our state directory, and that we are alone in it.
    async fn take_own_session(&self, control: &Control, session: &str) -> Result<(), TerminalError> {
        let home = self.config.home.as_os_str().as_bytes();
        let answer = control.request(argv::own_home(session), Shape::Plain).await?;
        match answer.first().map(|lines| lines.join(&b'\n')) {
            Some(taken) if !taken.is_empty() && taken != home => {
                return Err(TerminalError::NameTaken(session.to_owned()));
            }
            Some(taken) if taken == home => {}
            _ => drop(control.request(argv::take_own_session(session, home), Shape::Plain).await?),
        }
        let clients = control.request(argv::own_clients(session), Shape::Plain).await?;
        server::end_stale_clients(clients.first().map_or(&[], Vec::as_slice), control.pid());
        Ok(())
    }

    /// Sets our options in the sessions of ours that are there: a person's configuration may have come since.
    async fn adopt_sessions(&self, link: &Link) -> Result<(), TerminalError> {
        for (pane, _) in self.our_panes(link).await? {
            match link.ask(argv::adopt(pane.pane.pane)).await {
                Ok(_) | Err(TerminalError::Gone | TerminalError::Refused(_)) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn record_path(&self) -> PathBuf {
        self.config.home.join("tmux.json")
    }

    /// The connection to the very server that `pane` is in.
    async fn link_to(&self, pane: PaneId) -> Result<Arc<Link>, TerminalError> {
        match self.link(Start::Never).await {
            Ok(link) if link.server == pane.server => Ok(link),
            Ok(_) | Err(TerminalError::NoServer) => Err(TerminalError::Gone),
            Err(error) => Err(error),
        }
    }

    async fn ask(&self, pane: PaneId, line: Vec<u8>) -> Result<Vec<Block>, TerminalError> {
        self.link_to(pane).await?.ask(line).await
    }

    /// Whether a pane is in a session that was made for it, and no other of ours is in there.
    async fn is_at_home(&self, link: &Link, pane: PaneId) -> Result<bool, TerminalError> {
        let panes = self.our_panes(link).await?;
        let Some((_, session)) = panes.iter().find(|(our, _)| our.pane == pane) else { return Ok(false) };
        let alone = panes.iter().filter(|(_, other)| other == session).count() == 1;
        let made_for = link.ask(argv::session_home(pane)).await?;
        let ours = self.config.home.as_os_str().as_bytes();
        Ok(alone && made_for.first().is_some_and(|home| home.join(&b'\n') == ours))
    }

    /// Our panes, each with the number of tmux's session that it is in.
    async fn our_panes(&self, link: &Link) -> Result<Vec<(OurPane, String)>, TerminalError> {
        let answer = link.ask(argv::panes()).await?;
        let mut ours = Vec::new();
        for line in answer.iter().flatten() {
            let Some(listed) = ListedPane::parse(&String::from_utf8_lossy(line)) else { continue };
            // A path may hold anything, so it is asked for alone.
            let home = link.ask(argv::value(listed.pane, &format!("#{{{}}}", argv::HOME_OPTION))).await?;
            if home.first().is_some_and(|home| home.join(&b'\n') == self.config.home.as_os_str().as_bytes()) {
                let pane = PaneId { server: link.server, pane: listed.pane };
                ours.push((OurPane { session: listed.name, pane, dead: listed.dead }, listed.session));
            }
        }
        Ok(ours)
    }
}

/// Whether tmux is there, and only the session that our client stays in is not.
fn own_session_went(error: &TerminalError, record: Option<&ServerRecord>) -> bool {
    match error {
        TerminalError::Refused(said) => said.contains(argv::OWN_SESSION),
        TerminalError::Died => record.is_some_and(ServerRecord::is_alive),
        _ => false,
    }
}

/// Gives up in time, whatever waits.
async fn in_time<T>(answer: impl Future<Output = Result<T, TerminalError>>) -> Result<T, TerminalError> {
    timeout(DEADLINE, answer).await.unwrap_or(Err(TerminalError::NoAnswer))
}

#[async_trait]
impl Terminal for Tmux {
    async fn create(&self, new: NewPane) -> Result<PaneId, TerminalError> {
        if !Path::new(&new.cwd).is_dir() {
            return Err(TerminalError::NoDirectory(new.cwd));
        }
        in_time(async {
            let link = self.link(Start::IfNeeded).await?;
            // Our connection outlives the socket, but what the pane runs first has to connect by itself.
            if let Some(record) = ServerRecord::load(&self.record_path()) {
                record.mend_socket(&self.socket_path()).await;
            }
            let answer = link.ask(argv::create(&new, self.config.home.as_os_str().as_bytes())).await?;
            let pane = first_line(&answer).strip_prefix('%').and_then(|id| id.parse().ok());
            Ok(PaneId { server: link.server, pane: pane.ok_or_else(|| strange("the new pane"))? })
        })
        .await
    }

    async fn state(&self, pane: PaneId) -> Result<PaneState, TerminalError> {
        let answer = in_time(self.ask(pane, argv::state(pane))).await?;
        let line = first_line(&answer);
        if !line.starts_with(&format!("{pane} ")) {
            return Err(TerminalError::Gone);
        }
        let people = answer.get(1).map_or(0, |clients| clients.iter().filter(|client| *client == b"0").count());
        answers::state(&line, u32::try_from(people).unwrap_or(u32::MAX)).ok_or_else(|| strange("the state of a pane"))
    }

    async fn paste(&self, pane: PaneId, parts: Vec<Part>, only: Only) -> Result<(), TerminalError> {
        if parts.iter().all(|part| part.bytes.is_empty()) {
            return Ok(());
        }
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let deadline = (now + TYPING_DEADLINE).as_secs() + 1;
        let answer = in_time(async {
            let link = self.link_to(pane).await?;
            let buffer = format!("dtmcp-{}", std::process::id());
            link.ask(argv::paste(argv::Aim { pane, deadline, only }, &parts, &buffer, link.version)).await
        })
        .await;
        let Err(TerminalError::Refused(said)) = &answer else { return answer.map(drop) };
        let Some((_, why)) = said.split_once("refused ") else { return answer.map(drop) };
        Err(match why.strip_prefix(&format!("{pane} ")) {
            Some("0 0 0" | "0 0 1") => TerminalError::NoAnswer,
            Some("0 1 0") => TerminalError::Pressed,
            Some("0 1 1") => TerminalError::Moved,
            Some(_) => TerminalError::Dead,
            None => TerminalError::Gone,
        })
    }

    async fn capture(&self, pane: PaneId) -> Result<Screen, TerminalError> {
        let answer =
            in_time(async { self.link_to(pane).await?.control.request(argv::capture(pane), Shape::Screen).await })
                .await?;
        let head = first_line(&answer);
        let mut numbers = head.split(' ').skip(1).map(|word| word.parse::<u16>().unwrap_or(0));
        let mut number = || numbers.next().unwrap_or(0);
        Ok(Screen {
            cols: number(),
            cursor: (number(), number()),
            alternate: number() == 1,
            rows: screen::rows(answer.get(1).map_or(&[], Vec::as_slice)),
        })
    }

    async fn resize(&self, pane: PaneId, size: Size) -> Result<(), TerminalError> {
        in_time(self.ask(pane, argv::resize(pane, size.cols, size.rows))).await.map(drop)
    }

    async fn follow(&self, pane: PaneId) -> Result<(), TerminalError> {
        in_time(self.ask(pane, argv::follow(pane))).await.map(drop)
    }

    async fn hangup(&self, pane: PaneId) -> Result<(), TerminalError> {
        let state = self.state(pane).await?;
        if state.dead {
            return Err(TerminalError::Dead);
        }
        let pid = state.pid.and_then(|pid| i32::try_from(pid).ok()).ok_or_else(|| strange("the pane's process"))?;
        kill(Pid::from_raw(pid), Signal::SIGHUP).map_err(|error| TerminalError::Io(error.to_string()))
    }

    async fn kill(&self, pane: PaneId) -> Result<(), TerminalError> {
        let killed = in_time(async {
            let link = self.link_to(pane).await?;
            // A pane that a person has moved into another session does not take that along.
            let what = if self.is_at_home(&link, pane).await? { "kill-session" } else { "kill-pane" };
            link.ask(format!("{what} -t {pane}").into_bytes()).await
        })
        .await;
        match killed {
            // The last session takes the server with it, sometimes before the answer.
            Ok(_) | Err(TerminalError::Gone | TerminalError::Died) => Ok(()),
            Err(error) => Err(error),
        }
    }

    async fn panes(&self) -> Result<Vec<OurPane>, TerminalError> {
        in_time(async {
            match self.link(Start::Never).await {
                Ok(link) => Ok(self.our_panes(&link).await?.into_iter().map(|(pane, _)| pane).collect()),
                Err(TerminalError::NoServer) => Ok(Vec::new()),
                Err(error) => Err(error),
            }
        })
        .await
    }

    async fn clients(&self) -> Result<Vec<Attached>, TerminalError> {
        in_time(async {
            let link = match self.link(Start::Never).await {
                Ok(link) => link,
                Err(TerminalError::NoServer) => return Ok(Vec::new()),
                Err(error) => return Err(error),
            };
            let panes = self.our_panes(&link).await?;
            let mut attached = Vec::new();
            for line in link.ask(argv::clients()).await?.iter().flatten() {
                let line = String::from_utf8_lossy(line).into_owned();
                let words: Vec<&str> = line.split(' ').collect();
                let ["0", read_only, activity, session] = words.as_slice() else { continue };
                let Some((pane, _)) = panes.iter().find(|(_, in_session)| in_session == session) else { continue };
                attached.push(Attached {
                    session: pane.session.clone(),
                    activity: Wall(activity.parse::<u64>().unwrap_or(0).saturating_mul(1000)),
                    read_only: *read_only == "1",
                });
            }
            Ok(attached)
        })
        .await
    }

    async fn version(&self) -> Option<Version> {
        in_time(async { self.link(Start::Never).await }).await.ok().and_then(|link| link.version)
    }

    async fn server(&self) -> Result<Option<ServerId>, TerminalError> {
        match in_time(self.link(Start::Never)).await {
            Ok(link) => Ok(Some(link.server)),
            Err(TerminalError::NoServer) => Ok(None),
            Err(error) => Err(error),
        }
    }
}
