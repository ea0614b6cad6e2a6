//! Taking over the sessions of an earlier server: those whose pane still stands go on, the others are closed.

use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, Weak};
use std::time::Duration;

use dtmcp_core::log::{Log, LogEvent};
use dtmcp_core::record::{Intent, Meta, RegionRecord, ServerIdentity};
use dtmcp_core::region::{Place, Region};
use dtmcp_core::session::{Inherited, Recovery};
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::Hub;
use super::create::write_meta;
use super::pick::Readable;
use crate::driver::Clock;
use crate::driver::files::SessionFiles;
use crate::feed::{CHUNK, Follower, Piece};
use crate::store::files;
use crate::terminal::{OurPane, PaneId, TerminalError};

/// Takes over what is open, then says so: calls wait until then.
pub(super) async fn take_over(hub: Arc<Hub>, done: watch::Sender<bool>) {
    let names = hub.home.sessions().unwrap_or_else(|error| {
        tracing::warn!("sessions cannot be taken over: {error}");
        Vec::new()
    });
    let open = names.into_iter().filter_map(|name| {
        let dir = hub.home.session(&name)?.path().to_owned();
        let text = files::read(&dir.join("meta.json")).ok()?;
        let meta = Meta::read(&String::from_utf8_lossy(&text))?;
        (meta.closed.is_none() && meta.name == name).then_some((meta, dir))
    });
    let mut open: Vec<_> = open.collect();
    if !open.is_empty()
        && let Err(error) = try_all(&hub, &mut open).await
    {
        tracing::warn!("{} sessions are not taken over yet: {error}", open.len());
        tokio::spawn(try_again(Arc::downgrade(&hub), open));
    }
    done.send_replace(true);
}

/// How long until tmux is asked again, where it did not answer.
const AGAIN: Duration = Duration::from_secs(3);

/// Takes over what can be; the rest once tmux answers, however long that takes.
async fn try_again(hub: Weak<Hub>, mut open: Vec<(Meta, PathBuf)>) {
    loop {
        tokio::time::sleep(AGAIN).await;
        let Some(hub) = hub.upgrade() else { return };
        if try_all(&hub, &mut open).await.is_ok() {
            return;
        }
    }
}

async fn try_all(hub: &Arc<Hub>, open: &mut Vec<(Meta, PathBuf)>) -> Result<(), TerminalError> {
    let panes = hub.terminal.panes().await?;
    take_all(hub, std::mem::take(open), panes.into()).await;
    Ok(())
}

/// Takes over a session whose task of this very server failed.
pub(super) async fn take_again(hub: &Arc<Hub>, name: &str) {
    let Some(Readable::Closed { dir, meta, .. }) = hub.closed(name) else { return };
    match hub.terminal.panes().await {
        Ok(panes) => take(hub, *meta, &dir, &panes).await,
        Err(error) => tracing::warn!("{name} is not taken over: {error}"),
    }
}

/// Takes sessions over side by side: a long log holds up no other.
async fn take_all(hub: &Arc<Hub>, open: Vec<(Meta, PathBuf)>, panes: Arc<[OurPane]>) {
    let mut taking = JoinSet::new();
    // What is another host's, or another tmux socket's, only the server that made it may call closed.
    for (meta, dir) in open.into_iter().filter(|(meta, _)| is_here(hub, meta)) {
        let (hub, panes) = (Arc::clone(hub), Arc::clone(&panes));
        taking.spawn(async move { take(&hub, meta, &dir, &panes).await });
    }
    taking.join_all().await;
}

fn is_here(hub: &Hub, meta: &Meta) -> bool {
    meta.host == hub.place.host
        && meta.socket == hub.config.socket
        && (meta.socket_path.is_none() || meta.socket_path == hub.socket_path)
}

async fn take(hub: &Arc<Hub>, meta: Meta, dir: &Path, panes: &[OurPane]) {
    let pane = panes.iter().find(|pane| pane.session == meta.name && identity(pane.pane) == meta.server);
    let log = hub.new_log(&meta, dir);
    let replay_dir = dir.to_owned();
    let replayed = tokio::task::spawn_blocking(move || replay(&replay_dir, log)).await;
    let replayed = match replayed {
        Ok(Ok(replayed)) => replayed,
        Ok(Err(error)) => return not_taken(hub, &meta.name, &error),
        Err(error) => return not_taken(hub, &meta.name, &error),
    };
    let Some(pane) = pane else {
        let exit = replayed.log.program_exit();
        let lost = "its pane was gone when the server came back: it was closed at the terminal, or tmux ended";
        let why = exit.is_none().then(|| lost.to_owned());
        let closed = Meta { closed: Some(Clock::wall().0), exit, why, ..meta };
        abandon(replayed);
        if let Err(error) = write_meta(dir, &closed) {
            tracing::warn!("{error}");
        }
        return;
    };
    let mut begin = hub.session(&meta, replayed.log, dir);
    begin.session.take_over(begin.clock.now(), replayed.inherited);
    begin.replayed = Some((replayed.files, replayed.follower));
    let name = meta.name.clone();
    if let Err(error) = hub.start(meta, pane.pane, dir.to_owned(), begin) {
        not_taken(hub, &name, &error);
    }
}

/// Remembers what a call to this session is to be told.
fn not_taken(hub: &Hub, name: &str, error: &dyn std::fmt::Display) {
    tracing::warn!("{name} is not taken over: {error}");
    hub.not_taken.lock().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned(), error.to_string());
}

/// Ends the files of a session whose pane is gone: what ran in it is lost.
fn abandon(replayed: Replayed) {
    let Replayed { mut log, mut files, .. } = replayed;
    log.abandon(Clock::wall());
    let mut settled = Vec::new();
    log.cooked.take_settled(&mut settled);
    files.settle(&settled);
    while let Some(event) = log.poll() {
        if let LogEvent::Closed(id) = event
            && let Some(region) = log.region(id)
        {
            files.record(region);
        }
    }
    files.write_tail(&log.cooked.live());
}

/// A session rebuilt from its files.
struct Replayed {
    log: Log,
    files: SessionFiles,
    follower: Follower,
    inherited: Inherited,
}

/// Replays a session's stream from its beginning.
fn replay(dir: &Path, log: Log) -> std::io::Result<Replayed> {
    let known = read_regions(dir);
    let intent =
        files::read(&dir.join("intent.json")).ok().and_then(|text| Intent::read(String::from_utf8_lossy(&text).trim()));
    let mut files = SessionFiles::open(dir)?;
    let mut follower = Follower::open(dir)?;
    let mut recovery = Recovery::new(log, known, intent);
    let mut buffer = vec![0; CHUNK];
    let mut settled = Vec::new();
    loop {
        let pieces = follower.read(&mut buffer)?;
        if pieces.is_empty() {
            break;
        }
        for piece in pieces {
            match piece {
                Piece::Size(size) => recovery.log().resize(size),
                Piece::Bytes(range, wall) => recovery.feed(buffer.get(range).unwrap_or_default(), wall),
            }
            recovery.log().cooked.take_settled(&mut settled);
            files.settle(&settled);
            settled.clear();
        }
    }
    let (log, changed, inherited) = recovery.finish();
    for region in &changed {
        files.record(region);
    }
    Ok(Replayed { log, files, follower, inherited })
}

/// The regions on disk.
pub(super) fn read_regions(dir: &Path) -> Vec<Region> {
    let text = files::read(&dir.join("regions.jsonl")).unwrap_or_default();
    RegionRecord::read_all(&String::from_utf8_lossy(&text))
}

/// A pane's server, as records keep it.
pub(super) fn identity(pane: PaneId) -> ServerIdentity {
    ServerIdentity { pid: pane.server.pid, start: pane.server.start }
}

/// This server's own host and user.
pub(super) fn place() -> Place {
    let host = nix::unistd::gethostname().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let uid = nix::unistd::geteuid();
    let user = nix::unistd::User::from_uid(uid).ok().flatten().map_or_else(|| uid.to_string(), |user| user.name);
    Place { host, user, container: None }
}
