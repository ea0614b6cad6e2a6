//! `session_close`, and a person's way to close what is in use.

use std::sync::atomic::Ordering;

use dtmcp_core::log::ShellState;
use dtmcp_core::record::Meta;
use dtmcp_core::region::{Region, State};
use dtmcp_core::reply::Reply;
use dtmcp_core::text::visible::quoted;
use tokio::sync::oneshot;

use super::create::write_meta;
use super::pick::{look, running};
use super::{Handle, Hub};
use crate::driver::{Clock, Look, Message};
use crate::mcp::desk::Desk as _;
use crate::terminal::TerminalError;

/// Who wants a session closed.
#[derive(Debug, Clone, Copy)]
pub(super) enum Closer<'a> {
    /// An agent, which may not take a terminal from someone who uses it.
    Agent(&'a str),
    /// A person; with `force` also one that is in use.
    Person { force: bool },
}

/// That somebody uses a session.
struct Use {
    /// Who does, and how.
    why: String,
    /// How that comes to an end.
    ends: &'static str,
}

impl Hub {
    /// Closes a session for a person; with `force` also one that someone uses.
    pub async fn close_for_person(&self, name: &str, force: bool) -> Reply {
        self.ready().await;
        self.close(Closer::Person { force }, Some(name)).await
    }

    /// Ends a session's program and makes it a closed one.
    pub(super) async fn close(&self, closer: Closer<'_>, session: Option<&str>) -> Reply {
        let handle = match self.pick(session).await {
            Ok(handle) => handle,
            Err(reply) => return *reply,
        };
        let _one_at_a_time = self.changing.lock().await;
        match self.used(&handle, closer).await {
            Ok(None) => {}
            Ok(Some(Use { why, ends })) => {
                let how = self.how_to_close(&handle.name, closer, ends);
                return Reply::error(Some(&handle.name), &format!("{why}, so the session was not closed. {how}"));
            }
            // Each further question would wait as long again.
            Err(error) => {
                return Reply::error(Some(&handle.name), &format!("the session could not be closed: {error}"));
            }
        }
        let (done, closed) = oneshot::channel();
        if handle.mailbox.send(Message::Close { done }).await.is_err() {
            // Whoever watches over the task retires the session or starts it anew.
            return super::pick::no_task(&handle.name);
        }
        let closed = closed.await.unwrap_or_default();
        if let Some(trouble) = closed.trouble {
            return Reply::error(Some(&handle.name), &format!("the session could not be closed: {trouble}"));
        }
        self.remove(&handle.name);
        let meta = Meta { closed: Some(Clock::wall().0), exit: closed.exit, ..handle.meta.clone() };
        let mut notes = Vec::new();
        if let Err(error) = write_meta(&handle.dir, &meta) {
            notes.push(error);
        }
        if closed.killed {
            notes.push("its program did not end when its terminal was hung up, and was killed".to_owned());
        }
        notes.push(format!("its log stays: read, search and regions with session=\"{}\" show it", handle.name));
        let exit = closed.exit.map_or_else(String::new, |exit| format!(" · its program had ended with {exit}"));
        Reply::ok(Some(&handle.name), &format!("[{} closed{exit}]", handle.name), &notes, &[])
    }

    /// Why a session is not to be closed by this one: someone uses it.
    ///
    /// # Errors
    /// Where the terminal does not answer. One that cannot be reached holds no session any more.
    async fn used(&self, handle: &Handle, closer: Closer<'_>) -> Result<Option<Use>, TerminalError> {
        let people = match self.terminal.clients().await {
            Err(error @ TerminalError::NoAnswer) => return Err(error),
            Err(_) => Vec::new(),
            Ok(people) => people,
        };
        if matches!(closer, Closer::Person { force: true }) {
            return Ok(None);
        }
        if people.iter().any(|client| client.session == handle.name) {
            let why = "a person is attached to this session".to_owned();
            return Ok(Some(Use { why, ends: "Ask them to detach (ctrl+b d)" }));
        }
        let me = match closer {
            Closer::Agent(name) => Some(name),
            Closer::Person { .. } => None,
        };
        let why = look(handle, None).await.and_then(|look| others_command(&look, handle, me));
        Ok(why.map(|why| Use { why, ends: "Ask them to end it, or wait for its end" }))
    }

    fn how_to_close(&self, name: &str, closer: Closer<'_>, ends: &str) -> String {
        if matches!(closer, Closer::Person { .. }) {
            return format!(
                "`dtmcp close --force {name}` closes it all the same, as does {{\"force\": true}} over HTTP"
            );
        }
        let command = if self.shared.load(Ordering::Relaxed) {
            format!("dtmcp close --force {name}")
        } else {
            format!("tmux -L {} kill-session -t ={name}", self.config.socket)
        };
        format!("{ends}; session_close closes it then. A person can close it at once: {command}")
    }
}

/// What runs in a session that is not `me`'s, in words.
fn others_command(look: &Look, handle: &Handle, me: Option<&str>) -> Option<String> {
    if look.closed.is_some() || look.ended.is_some() {
        return None;
    }
    match (&look.shell, running(look)) {
        (ShellState::NoShell, None) if me != Some(&handle.meta.actor) => {
            let command = super::pick::command(&handle.meta);
            Some(format!(
                "{command}, which {} started, runs in this session",
                handle.meta.actor,
                command = quoted(&command)
            ))
        }
        // Regions are nested: a command of mine may have been begun inside another's shell.
        (ShellState::Running(_) | ShellState::NoShell, Some(_)) => {
            let open = look.regions.iter().rev().filter(|region| region.state == State::Running);
            open.into_iter().find_map(|region| others(region, me))
        }
        _ => None,
    }
}

fn others(region: &Region, me: Option<&str>) -> Option<String> {
    let actor = region.actor.as_deref().unwrap_or("human");
    if me == Some(actor) {
        return None;
    }
    let who = if actor == "human" { "a person" } else { actor };
    Some(format!("{}, which {who} started, runs in this session", region.named(60)))
}
