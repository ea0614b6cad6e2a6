//! Which session a call means.

use std::path::PathBuf;
use std::sync::{Arc, PoisonError};

use dtmcp_core::record::Meta;
use dtmcp_core::region::{Region, State};
use dtmcp_core::reply::Reply;
use dtmcp_core::text::visible::quoted;
use dtmcp_core::time::Wall;
use tokio::sync::oneshot;

use super::{Handle, Hub, ended};
use crate::driver::{Look, Message};
use crate::store::files;

/// A session that can be read.
#[derive(Debug)]
pub(super) enum Readable {
    /// It is open.
    Open(Arc<Handle>),
    /// Only its files are there.
    Closed { name: String, dir: PathBuf, meta: Box<Meta> },
}

impl Readable {
    pub(super) fn name(&self) -> &str {
        match self {
            Self::Open(handle) => &handle.name,
            Self::Closed { name, .. } => name,
        }
    }
}

/// The error for a name that no session has or had.
pub(super) fn no_session(name: &str, open: &str) -> String {
    let name = quoted(name);
    format!("there is no session {name}. {open}; session_list closed=true names the closed ones")
}

impl Hub {
    /// The open session that a call means.
    ///
    /// # Errors
    /// The reply that says which sessions there are.
    pub(super) async fn pick(&self, session: Option<&str>) -> Result<Arc<Handle>, Box<Reply>> {
        self.parted().await;
        if let Some(name) = session {
            return match self.handle(name) {
                Some(handle) => Ok(handle),
                None if self.closed(name).is_some() => Err(Box::new(self.not_open(name))),
                None => {
                    let open = self.open_sessions().await;
                    Err(Box::new(Reply::error(None, &no_session(name, &open))))
                }
            };
        }
        let mut handles = self.handles();
        match (handles.pop(), handles.is_empty()) {
            (Some(only), true) => Ok(only),
            (None, _) => {
                let gone: String = self.gone_lately().iter().map(|gone| format!(". {gone}")).collect();
                Err(Box::new(Reply::error(None, &format!("no session is open. session_create opens one{gone}"))))
            }
            (Some(_), false) => {
                let open = self.open_sessions().await;
                Err(Box::new(Reply::error(None, &format!("several sessions are open: give session. {open}"))))
            }
        }
    }

    /// The reply for a session that is there and not open.
    fn not_open(&self, name: &str) -> Reply {
        let meta = match self.closed(name) {
            Some(Readable::Closed { meta, .. }) if meta.closed.is_some() => Some(meta),
            _ => None,
        };
        let why = match meta.map(|meta| ended(&meta)) {
            Some(Some(ended)) => format!("is closed: it {ended}. session_create opens a new session"),
            Some(None) => "is closed; session_create opens a new session".to_owned(),
            None => self.why_not_taken(name).map_or_else(
                || "is not reachable: it was made on another host or tmux socket, or tmux does not answer yet. Try again in a moment".to_owned(),
                |why| format!("is there, and this server could not take it over: {why}. Once that is mended, the next server does"),
            ),
        };
        Reply::error(
            Some(name),
            &format!("session {name} {why}. read, search and regions still show its log", name = quoted(name)),
        )
    }

    /// Why this server could not take over the session of this name.
    fn why_not_taken(&self, name: &str) -> Option<String> {
        self.not_taken.lock().unwrap_or_else(PoisonError::into_inner).get(name).cloned()
    }

    /// As [`Self::pick`], a closed session or an archived generation too.
    pub(super) async fn readable(&self, session: Option<&str>) -> Result<Readable, Box<Reply>> {
        self.parted().await;
        if let Some(name) = session
            && self.handle(name).is_none()
            && let Some(closed) = self.closed(name)
        {
            return Ok(closed);
        }
        self.pick(session).await.map(Readable::Open)
    }

    /// A closed session or archived generation of this name.
    pub(super) fn closed(&self, name: &str) -> Option<Readable> {
        let dir = self.home.session(name)?.path().to_owned();
        let text = files::read(&dir.join("meta.json")).ok()?;
        let meta = Meta::read(&String::from_utf8_lossy(&text))?;
        Some(Readable::Closed { name: name.to_owned(), dir, meta: Box::new(meta) })
    }

    /// The open sessions with what each runs, in a sentence.
    pub(super) async fn open_sessions(&self) -> String {
        let mut parts = Vec::new();
        for (handle, look) in glance(self.handles().into_iter().map(|handle| (handle, None)), None).await {
            let runs = look.map_or_else(|| "not answering".to_owned(), |look| look.runs);
            parts.push(format!("{} ({}, {runs})", handle.name, command(&handle.meta)));
        }
        if parts.is_empty() {
            "No session is open: session_create opens one".to_owned()
        } else {
            format!("Open are: {}", parts.join(", "))
        }
    }
}

/// Looks at an open session.
pub(super) async fn look(handle: &Handle, actor: Option<&str>) -> Option<Look> {
    let (reply, answer) = oneshot::channel();
    handle.mailbox.send(Message::Look { actor: actor.map(str::to_owned), reply }).await.ok()?;
    answer.await.ok()
}

/// Looks at several open sessions at once, each with when a person last pressed a key in it, where that is known.
pub(super) async fn glance(
    sessions: impl Iterator<Item = (Arc<Handle>, Option<Wall>)>,
    actor: Option<&str>,
) -> Vec<(Arc<Handle>, Option<Look>)> {
    let mut asked = Vec::new();
    for (handle, last_key) in sessions {
        let (reply, answer) = oneshot::channel();
        let actor = actor.map(str::to_owned);
        let sent = handle.mailbox.send(Message::Glance { actor, last_key, reply }).await;
        asked.push((handle, sent.is_ok().then_some(answer)));
    }
    let mut looks = Vec::new();
    for (handle, answer) in asked {
        let look = match answer {
            Some(answer) => answer.await.ok(),
            None => None,
        };
        looks.push((handle, look));
    }
    looks
}

/// The reply where a session's task is gone.
pub(super) fn no_task(name: &str) -> Reply {
    Reply::error(
        Some(name),
        "the session's task has ended, because the session was closed or failed. session_list shows what is open; the log can still be read",
    )
}

/// What was asked to run in a session.
pub(super) fn command(meta: &Meta) -> String {
    meta.command.as_deref().unwrap_or("bash").chars().take(80).collect()
}

/// The innermost region that runs.
pub(super) fn running(look: &Look) -> Option<&Region> {
    look.regions.iter().rev().find(|region| region.state == State::Running)
}
