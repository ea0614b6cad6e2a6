//! The sessions behind the front: names to tasks, and the calls that need no waiting.

mod close;
mod create;
mod integrate;
mod list;
mod looks;
mod pick;
mod raw;
mod recover;
pub mod region_files;
mod resources;
pub mod save;
mod waiting;

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use async_trait::async_trait;
use dtmcp_core::call::{Request, Waiting};
use dtmcp_core::inspect::Inspector;
use dtmcp_core::record::Meta;
use dtmcp_core::region::Place;
use dtmcp_core::reply::{Reply, seconds};
use dtmcp_core::resource::Address;
use dtmcp_core::text::visible::quoted;
use tokio::sync::{Notify, mpsc, watch};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::ancestor;
use crate::config::Config;
use crate::driver::ending::Parted;
use crate::driver::{Clock, Message};
use crate::feed::Watcher;
use crate::host;
use crate::mcp::desk::{Desk, Page, Unreadable};
use crate::store::lock::Lock;
use crate::store::{Home, bin};
use crate::terminal::{PaneId, Terminal, Tmux, TmuxConfig};
use crate::updates::Updates;
use close::Closer;
use pick::Readable;

/// Sessions that may be open at once: each holds a few file descriptors and a shell.
pub const SESSIONS_MAX: usize = 200;

/// Why no calls can be taken; the text is for the person who started the server, and for the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenError(String);

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for OpenError {}

/// An open session, as the hub knows it.
#[derive(Debug)]
pub(crate) struct Handle {
    pub(crate) name: String,
    pub(crate) mailbox: mpsc::Sender<Message>,
    pub(crate) meta: Meta,
    pub(crate) pane: PaneId,
    pub(crate) dir: PathBuf,
    pub(crate) region_files: region_files::RegionFiles,
    /// Wakes its task when its log grows.
    notify: Arc<Notify>,
    /// Fires when the hub no longer has it.
    removed: CancellationToken,
}

/// The sessions of one state directory.
#[derive(Debug)]
pub struct Hub {
    /// For tasks that outlive a call, and must not keep the hub.
    me: Weak<Self>,
    pub(crate) config: Config,
    pub(crate) home: Home,
    pub(crate) terminal: Arc<dyn Terminal>,
    pub(crate) inspector: Arc<dyn Inspector>,
    pub(crate) watcher: Watcher,
    sessions: Mutex<BTreeMap<String, Arc<Handle>>>,
    next_call: AtomicU64,
    /// Becomes true once the sessions of an earlier server have been taken over.
    recovered: watch::Receiver<bool>,
    /// One session is made or closed at a time, so that a name means one session.
    changing: tokio::sync::Mutex<()>,
    lock: Mutex<Option<Lock>>,
    pub(crate) place: Place,
    /// Where the tmux socket stands: another TMUX_TMPDIR is another tmux.
    pub(crate) socket_path: Option<String>,
    /// The program that panes run, once it stands in the state directory.
    program: watch::Sender<Option<Result<PathBuf, String>>>,
    /// Whether people can reach this server by `dtmcp close`.
    shared: AtomicBool,
    /// Who is told of changes.
    updates: Arc<Updates>,
    /// The sessions whose panes went away without anybody closing them here, the last ones.
    gone: Mutex<VecDeque<String>>,
    /// The sessions that could not be taken over, and why.
    not_taken: Mutex<BTreeMap<String, String>>,
}

/// As many of them as are told of.
const GONE_MAX: usize = 5;

/// Takes the state directory for this process, and begins to take over the sessions that are open in it.
///
/// # Errors
/// Where the directory cannot be had, or another server has it.
pub fn open(config: &Config) -> Result<Arc<Hub>, OpenError> {
    let terminal = Tmux::new(TmuxConfig {
        socket: config.socket.clone(),
        home: config.home.clone(),
        env: std::env::vars_os().collect(),
    });
    let socket_path = terminal.socket_path().display().to_string();
    open_with(config, Arc::new(terminal), Some(socket_path))
}

/// As [`open`], over any terminal.
///
/// # Errors
/// As [`open`].
pub fn open_with(
    config: &Config,
    terminal: Arc<dyn Terminal>,
    socket_path: Option<String>,
) -> Result<Arc<Hub>, OpenError> {
    let home = Home::open(&config.home).map_err(|error| {
        OpenError(format!(
            "the state directory cannot be used: {error}. Set DOCENT_TERMINAL_MCP_HOME to a directory that only you can write to"
        ))
    })?;
    let lock = Lock::take(&home.lock()).map_err(|error| OpenError(error.to_string()))?;
    let (done, recovered) = watch::channel(false);
    let hub = Arc::new_cyclic(|me| Hub {
        me: me.clone(),
        config: config.clone(),
        home,
        terminal,
        inspector: host::inspector(ancestor::socket_path(&config.home, &config.socket)),
        watcher: Watcher::new(),
        sessions: Mutex::default(),
        next_call: AtomicU64::new(1),
        recovered,
        changing: tokio::sync::Mutex::default(),
        lock: Mutex::new(Some(lock)),
        place: recover::place(),
        socket_path,
        program: watch::channel(None).0,
        shared: AtomicBool::new(false),
        updates: Arc::default(),
        gone: Mutex::default(),
        not_taken: Mutex::default(),
    });
    // The panes run the program from the state directory, so that it may be rebuilt or moved while they live.
    let bin = hub.home.bin_dir();
    let program = tokio::task::spawn_blocking(move || bin::install(&bin).map_err(|error| error.to_string()));
    tokio::spawn(recover::take_over(Arc::clone(&hub), done));
    tokio::spawn({
        let hub = Arc::clone(&hub);
        async move {
            let installed = program.await.unwrap_or_else(|error| Err(error.to_string()));
            hub.program.send_replace(Some(installed));
        }
    });
    Ok(hub)
}

impl Hub {
    /// This server is to be reached through a socket, and by people too.
    pub fn serve_people(&self) {
        self.shared.store(true, Ordering::Relaxed);
    }

    /// Whether a session of this name is open.
    #[must_use]
    pub fn has_open(&self, name: &str) -> bool {
        self.handle(name).is_some()
    }

    pub(crate) fn handle(&self, name: &str) -> Option<Arc<Handle>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner).get(name).cloned()
    }

    pub(crate) fn handles(&self) -> Vec<Arc<Handle>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner).values().cloned().collect()
    }

    /// Waits until every session whose task has ended is out of the list: each is about to be closed, or started anew.
    /// Returns at once where there is none.
    pub(crate) async fn parted(&self) {
        for handle in self.handles().into_iter().filter(|handle| handle.mailbox.is_closed()) {
            handle.removed.cancelled().await;
        }
    }

    pub(crate) fn insert(&self, handle: Handle) -> Arc<Handle> {
        let handle = Arc::new(handle);
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner).insert(handle.name.clone(), Arc::clone(&handle));
        self.updates.list_changed();
        handle
    }

    pub(crate) fn remove(&self, name: &str) {
        let removed = self.sessions.lock().unwrap_or_else(PoisonError::into_inner).remove(name);
        if let Some(handle) = removed {
            self.watcher.forget(&handle.notify);
            handle.removed.cancel();
            self.updates.changed(name, None);
            self.updates.list_changed();
        }
    }

    /// The program that panes run.
    ///
    /// # Errors
    /// Where it could not be put into the state directory.
    pub(crate) async fn program(&self) -> Result<PathBuf, String> {
        let mut program = self.program.subscribe();
        match program.wait_for(Option::is_some).await {
            Ok(installed) => installed.clone().unwrap_or_else(|| Err("the program is not there".to_owned())),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Watches over a session's task. One that panics is a fault of ours, and its session goes on: it is rebuilt from
    /// its files, as after a restart. One whose pane is gone is retired.
    fn supervise(&self, handle: &Arc<Handle>, task: JoinHandle<Option<Parted>>) {
        // Its task ends with the last handle, so this must not be one.
        let (hub, handle, name) = (Weak::clone(&self.me), Arc::downgrade(handle), handle.name.clone());
        tokio::spawn(async move {
            match task.await {
                Ok(None) => {}
                Ok(Some(parted)) => {
                    if let (Some(hub), Some(handle)) = (hub.upgrade(), handle.upgrade()) {
                        hub.retire(&handle, &parted);
                    }
                    parted.tell();
                }
                Err(error) => {
                    tracing::error!("{name}: its task failed and is started anew: {error}");
                    if let Some(hub) = hub.upgrade() {
                        hub.remove(&name);
                        recover::take_again(&hub, &name).await;
                    }
                }
            }
        });
    }

    /// Makes an open session a closed one. Its record says so before its name is free: whoever takes the name moves
    /// the record away.
    fn retire(&self, handle: &Handle, parted: &Parted) {
        let why = parted.why.clone();
        let meta = Meta { closed: Some(Clock::wall().0), exit: parted.exit, why, ..handle.meta.clone() };
        if let Err(error) = create::write_meta(&handle.dir, &meta) {
            tracing::warn!("{}: {error}", handle.name);
        }
        if parted.why.is_some() {
            let mut gone = self.gone.lock().unwrap_or_else(PoisonError::into_inner);
            gone.retain(|name| *name != handle.name);
            gone.push_back(handle.name.clone());
            let surplus = gone.len().saturating_sub(GONE_MAX);
            gone.drain(..surplus);
        }
        self.remove(&handle.name);
    }

    /// The sessions whose panes went away lately without anybody closing them here, each in a sentence.
    pub(crate) fn gone_lately(&self) -> Vec<String> {
        let gone = self.gone.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let told = |name: &String| match self.closed(name)? {
            Readable::Closed { meta, dir, .. } if self.handle(name).is_none() => {
                Some(format!("session {name} {}; its log is in {}", ended(&meta)?, dir.display(), name = quoted(name)))
            }
            _ => None,
        };
        gone.iter().filter_map(told).collect()
    }
}

/// When and why a session's pane went away, where that is known and nobody closed it here.
pub(crate) fn ended(meta: &Meta) -> Option<String> {
    let (why, at) = (meta.why.as_deref()?, meta.closed?);
    let ago = seconds(Duration::from_millis(Clock::wall().0.saturating_sub(at)));
    Some(format!("ended {ago} ago: {why}"))
}

#[async_trait]
impl Desk for Hub {
    /// Waits until the sessions of an earlier server are there.
    async fn ready(&self) {
        let mut recovered = self.recovered.clone();
        // The sender is dropped only once it has said true.
        drop(recovered.wait_for(|done| *done).await);
    }

    async fn call(&self, actor: &str, request: Request, cancel: CancellationToken) -> Reply {
        self.ready().await;
        match request {
            Request::Create(create) => self.create(actor, create, cancel).await,
            Request::List { session, closed } => self.list(Some(actor), session.as_deref(), closed).await,
            Request::Close { session } => self.close(Closer::Agent(actor), session.as_deref()).await,
            Request::Resize { session, how } => self.resize(session.as_deref(), how).await,
            Request::Run(run) => self.wait_for(actor, Waiting::Run(run), cancel).await,
            Request::Expect(expect) => self.wait_for(actor, Waiting::Expect(expect), cancel).await,
            Request::Send(send) => self.wait_for(actor, Waiting::Send(send), cancel).await,
            Request::Wait(wait) => self.wait_for(actor, Waiting::Wait(wait), cancel).await,
            Request::Integrate { session } => self.integrate(actor, session, cancel).await,
            Request::Read(read) => self.read(actor, read).await,
            Request::Search(search) => self.search(actor, search).await,
            Request::Regions { session, last, status, pattern } => {
                self.regions(actor, session.as_deref(), last, status.as_deref(), pattern.as_ref()).await
            }
        }
    }

    async fn resources(&self, after: Option<&Address>) -> Page {
        self.ready().await;
        self.list_resources(after).await
    }

    async fn resource(&self, address: &Address) -> Result<Reply, Unreadable> {
        self.ready().await;
        self.read_resource(address).await
    }

    async fn knows(&self, address: &Address) -> Result<(), String> {
        self.ready().await;
        self.find_resource(address).await
    }

    fn updates(&self) -> Arc<Updates> {
        Arc::clone(&self.updates)
    }

    fn release(&self) {
        self.lock.lock().unwrap_or_else(PoisonError::into_inner).take();
    }
}
