//! A terminal without tmux: its panes are scripted shells that live in real time and write their own logs, and it can
//! be told to refuse, to take its time, and to lose a pane.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use async_trait::async_trait;
use dtmcp::record::timing::HEADER;
use dtmcp::terminal::{
    Attached, NewPane, Only, OurPane, PaneId, PaneState, Part, Screen, ServerId, Terminal, TerminalError, Version,
};
use dtmcp_core::cooked::Size;
use dtmcp_core::time::Now;
use tokio::sync::{Notify, watch};
use tokio::time::Instant;

use crate::sim::{Bash, Start};

/// The one run of the server that there is.
const SERVER: ServerId = ServerId { pid: 4711, start: 1_750_000_000 };

#[derive(Debug)]
struct Pane {
    name: String,
    bash: Bash,
    raw: File,
    timing: File,
    written: u64,
    size: Size,
    gone: bool,
    /// Its program was killed and told nothing.
    dead: bool,
    woken: Arc<Notify>,
}

impl Pane {
    fn write(&mut self, bytes: &[u8]) {
        if bytes.is_empty() || self.gone || self.dead {
            return;
        }
        let entry = format!("{} {}\n", self.written, milliseconds());
        self.timing.write_all(entry.as_bytes()).expect("the times can be written");
        self.raw.write_all(bytes).expect("the log can be written");
        self.written += bytes.len() as u64;
    }

    /// The recorder's pipe is closed.
    fn end(&mut self) {
        if !std::mem::replace(&mut self.gone, true) {
            let entry = format!("{} {} end\n", self.written, milliseconds());
            self.timing.write_all(entry.as_bytes()).expect("the times can be written");
        }
        self.woken.notify_one();
    }
}

fn milliseconds() -> u128 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis()
}

#[derive(Debug, Default)]
struct State {
    panes: BTreeMap<u32, Pane>,
    people: Vec<Attached>,
    /// What everything is answered with.
    refuses: Option<TerminalError>,
    typed: Vec<String>,
}

/// The terminal.
#[derive(Debug)]
pub struct FakeTerminal {
    state: Arc<Mutex<State>>,
    /// While this says so, typing into the sessions of these names is not answered.
    held: watch::Sender<Vec<String>>,
    began: Instant,
}

impl Default for FakeTerminal {
    fn default() -> Self {
        Self { state: Arc::default(), held: watch::channel(Vec::new()).0, began: Instant::now() }
    }
}

impl FakeTerminal {
    fn with<T>(&self, look: impl FnOnce(&mut State) -> T) -> T {
        look(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn now(&self) -> Now {
        now(self.began)
    }

    /// Answers everything with this from now on; with none, as before.
    pub fn refuse(&self, error: Option<TerminalError>) {
        self.with(|state| state.refuses = error);
    }

    /// Lets typing into these sessions wait, until this is said again.
    pub fn hold(&self, sessions: &[&str]) {
        self.held.send_replace(sessions.iter().map(|name| (*name).to_owned()).collect());
    }

    /// The people that are attached.
    pub fn attach(&self, people: Vec<Attached>) {
        self.with(|state| state.people = people);
    }

    /// Takes a session's pane away, as a person does with `kill-pane`.
    pub fn lose(&self, session: &str) {
        self.with(|state| state.panes.values_mut().filter(|pane| pane.name == session).for_each(Pane::end));
    }

    /// Kills a session's program with all that would tell of its end, and keeps the pane.
    pub fn strike_dead(&self, session: &str) {
        self.with(|state| {
            state.panes.values_mut().filter(|pane| pane.name == session).for_each(|pane| pane.dead = true);
        });
    }

    /// A person types.
    pub fn person(&self, session: &str, keys: &str) {
        let now = self.now();
        self.with(|state| {
            for pane in state.panes.values_mut().filter(|pane| pane.name == session && !pane.gone) {
                pane.bash.keys(now, keys.as_bytes());
                pane.woken.notify_one();
            }
        });
    }

    /// What was typed by the server, in order.
    #[must_use]
    pub fn typed(&self) -> String {
        self.with(|state| state.typed.concat())
    }

    fn pane<T>(&self, pane: PaneId, look: impl FnOnce(&mut Pane) -> T) -> Result<T, TerminalError> {
        self.with(|state| {
            if let Some(error) = &state.refuses {
                return Err(error.clone());
            }
            let pane = state.panes.get_mut(&pane.pane).filter(|pane| !pane.gone);
            pane.map(look).ok_or(TerminalError::Gone)
        })
    }
}

fn now(began: Instant) -> Now {
    Now(u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX))
}

/// Lets a pane live until it is gone.
async fn live(state: Arc<Mutex<State>>, id: u32, began: Instant, woken: Arc<Notify>) {
    loop {
        let next = {
            let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
            let Some(pane) = state.panes.get_mut(&id).filter(|pane| !pane.gone) else { return };
            while pane.bash.next().is_some_and(|at| at <= now(began)) {
                let bytes = pane.bash.step(now(began));
                pane.write(&bytes);
            }
            pane.bash.next()
        };
        let at = next.map(|at| began + Duration::from_micros(at.0));
        let at = at.unwrap_or_else(|| Instant::now() + Duration::from_secs(3600));
        // Either way there is something to look at.
        drop(tokio::time::timeout_at(at, woken.notified()).await);
    }
}

fn open(path: &Path) -> Result<File, TerminalError> {
    Ok(OpenOptions::new().append(true).create(true).mode(0o600).open(path)?)
}

#[async_trait]
impl Terminal for FakeTerminal {
    async fn create(&self, new: NewPane) -> Result<PaneId, TerminalError> {
        if let Some(error) = self.with(|state| state.refuses.clone()) {
            return Err(error);
        }
        // As the server lays it out: the shim, its directory, and what it starts.
        let (dir, command) = match new.argv.as_slice() {
            [_, _, dir, _, rest @ ..] => (PathBuf::from(dir), rest.to_vec()),
            _ => return Err(TerminalError::Refused("no shim".to_owned())),
        };
        let start = match command.as_slice() {
            [bash, ..] if bash == "bash" => Start::Bash(Duration::from_millis(20)),
            [.., text] => Start::Program(text.clone()),
            [] => Start::Plain,
        };
        let nonce = std::fs::read_to_string(dir.join("nonce"))?;
        let (raw, mut timing) = (open(&dir.join("raw.log"))?, open(&dir.join("timing"))?);
        let size = new.size;
        writeln!(timing, "{HEADER}\n0 {} {}x{}", milliseconds(), size.cols, size.rows)?;
        let bash = Bash::with_nonce(self.now(), &start, nonce.trim());
        let woken = Arc::new(Notify::new());
        let pane = Pane {
            name: new.session,
            bash,
            raw,
            timing,
            written: 0,
            size,
            gone: false,
            dead: false,
            woken: Arc::clone(&woken),
        };
        let id = self.with(|state| {
            let id = u32::try_from(state.panes.len()).unwrap_or(u32::MAX);
            state.panes.insert(id, pane);
            id
        });
        tokio::spawn(live(Arc::clone(&self.state), id, self.began, woken));
        Ok(PaneId { server: SERVER, pane: id })
    }

    async fn state(&self, pane: PaneId) -> Result<PaneState, TerminalError> {
        let people = self.with(|state| state.people.clone());
        self.pane(pane, |pane| PaneState {
            last_key: people.iter().filter(|client| client.session == pane.name).map(|client| client.activity).max(),
            dead: pane.bash.ended() || pane.dead,
            in_mode: false,
            synchronized: false,
            size: pane.size,
            alternate: false,
            pipe: !pane.gone,
            pid: Some(1),
            tty: PathBuf::from("/dev/null"),
            people: 0,
        })
    }

    async fn paste(&self, pane: PaneId, parts: Vec<Part>, _: Only) -> Result<(), TerminalError> {
        let name = self.pane(pane, |pane| pane.name.clone())?;
        let mut held = self.held.subscribe();
        drop(held.wait_for(|held| !held.contains(&name)).await);
        let now = self.now();
        let bytes = parts.into_iter().map(|part| part.bytes).collect::<Vec<_>>().concat();
        self.pane(pane, |pane| {
            if pane.bash.ended() || pane.dead {
                return Err(TerminalError::Dead);
            }
            pane.bash.keys(now, &bytes);
            pane.woken.notify_one();
            Ok(())
        })??;
        self.with(|state| state.typed.push(String::from_utf8_lossy(&bytes).into_owned()));
        Ok(())
    }

    async fn capture(&self, pane: PaneId) -> Result<Screen, TerminalError> {
        self.pane(pane, |pane| Screen {
            rows: vec!["a row".to_owned(), String::new()],
            cols: pane.size.cols,
            cursor: (0, 1),
            alternate: false,
        })
    }

    async fn resize(&self, pane: PaneId, size: Size) -> Result<(), TerminalError> {
        self.pane(pane, |pane| {
            pane.size = size;
            let entry = format!("{} {} {}x{}\n", pane.written, milliseconds(), size.cols, size.rows);
            pane.timing.write_all(entry.as_bytes())
        })?
        .map_err(TerminalError::from)
    }

    async fn follow(&self, pane: PaneId) -> Result<(), TerminalError> {
        self.pane(pane, |_| ())
    }

    async fn hangup(&self, pane: PaneId) -> Result<(), TerminalError> {
        let now = self.now();
        self.pane(pane, |pane| {
            pane.bash.hang_up(now);
            pane.woken.notify_one();
        })
    }

    async fn kill(&self, pane: PaneId) -> Result<(), TerminalError> {
        match self.pane(pane, Pane::end) {
            Err(TerminalError::Gone) => Ok(()),
            done => done,
        }
    }

    async fn panes(&self) -> Result<Vec<OurPane>, TerminalError> {
        self.with(|state| match &state.refuses {
            Some(error) => Err(error.clone()),
            None => Ok(state
                .panes
                .iter()
                .filter(|(_, pane)| !pane.gone)
                .map(|(id, pane)| OurPane {
                    session: pane.name.clone(),
                    pane: PaneId { server: SERVER, pane: *id },
                    dead: pane.bash.ended() || pane.dead,
                })
                .collect()),
        })
    }

    async fn clients(&self) -> Result<Vec<Attached>, TerminalError> {
        self.with(|state| state.refuses.clone().map_or_else(|| Ok(state.people.clone()), Err))
    }

    async fn version(&self) -> Option<Version> {
        Version::parse("3.3a")
    }

    async fn server(&self) -> Result<Option<ServerId>, TerminalError> {
        Ok(Some(SERVER))
    }
}
