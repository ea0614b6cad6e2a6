//! `session_list` and `session_resize`.

use std::time::Duration;

use dtmcp_core::call::Resize;
use dtmcp_core::cooked::Size;
use dtmcp_core::place::differs;
use dtmcp_core::record::Meta;
use dtmcp_core::region::Place;
use dtmcp_core::reply::{Reply, span};
use dtmcp_core::time::Wall;
use serde_json::{Map, Value, json};

use super::pick::{Readable, command, glance, no_session};
use super::{Handle, Hub, ended};
use crate::driver::render::mask;
use crate::driver::{Clock, Look};
use crate::mcp::desk::Desk as _;
use crate::terminal::{Attached, PaneState};

impl Hub {
    /// Every session's state as programs read it, for people: nobody's news are taken by it.
    pub async fn overview(&self, closed: bool) -> Value {
        self.ready().await;
        let mut meta = self.list(None, None, closed).await.meta;
        json!({ "sessions": meta.remove("sessions").unwrap_or_else(|| json!([])) })
    }

    pub(super) async fn list(&self, actor: Option<&str>, session: Option<&str>, closed: bool) -> Reply {
        let mut lines = Vec::new();
        let mut entries = Vec::new();
        let mut notes = Vec::new();
        let mut nonces = Vec::new();
        let people = self.terminal.clients().await;
        self.parted().await;
        let clients = match &people {
            Ok(clients) => clients.as_slice(),
            Err(error) if self.handles().is_empty() => {
                tracing::debug!("{error}");
                &[]
            }
            Err(error) => {
                notes.push(error.to_string());
                &[]
            }
        };
        let mut states = Vec::new();
        let mut asked = Vec::new();
        for handle in self.handles().into_iter().filter(|handle| session.is_none_or(|name| name == handle.name)) {
            let state = if people.is_ok() { self.terminal.state(handle.pane).await.ok() } else { None };
            asked.push((handle, state.as_ref().and_then(|state| state.last_key)));
            states.push(state);
        }
        for ((handle, look), state) in glance(asked.into_iter(), actor).await.into_iter().zip(states) {
            let Some(look) = look else { continue };
            nonces.extend(look.nonce.clone());
            notes.extend(look.notes.iter().map(|note| format!("{}: {note}", handle.name)));
            lines.push(self.line(&handle, &look, state.as_ref(), clients));
            entries.push(self.entry(&handle, &look, state.as_ref(), clients));
        }
        let named_closed = session.filter(|_| entries.is_empty()).and_then(|name| self.closed(name));
        if let Some(Readable::Closed { name, meta, dir }) = named_closed {
            lines.push(closed_line(&name, &meta));
            entries.push(closed_entry(&name, &meta, &dir));
        } else if let Some(name) = session.filter(|_| entries.is_empty()) {
            let open = self.open_sessions().await;
            return Reply::error(None, &no_session(name, &open));
        } else if closed && session.is_none() {
            for name in self.home.sessions().unwrap_or_default() {
                if let Some(Readable::Closed { name, meta, dir }) =
                    self.closed(&name).filter(|_| self.handle(&name).is_none())
                {
                    lines.push(closed_line(&name, &meta));
                    entries.push(closed_entry(&name, &meta, &dir));
                }
            }
        }
        if entries.is_empty() {
            notes.push("session_create opens one".to_owned());
        }
        if session.is_none() && !closed {
            notes.extend(self.gone_lately());
        }
        let status = format!("[{} {}]", entries.len(), if entries.len() == 1 { "session" } else { "sessions" });
        let mut reply = Reply::ok(session, &status, &notes, &lines).with("sessions", entries);
        for nonce in nonces {
            reply = mask(reply, Some(&nonce));
        }
        reply
    }

    fn line(&self, handle: &Handle, look: &Look, state: Option<&PaneState>, clients: &[Attached]) -> String {
        let people = clients.iter().filter(|client| client.session == handle.name).count();
        let size = state.map_or_else(String::new, |state| format!(" · {}x{}", state.size.cols, state.size.rows));
        let people = match people {
            0 => String::new(),
            1 => " · a person is attached".to_owned(),
            more => format!(" · {more} people are attached"),
        };
        let cwd = cwd(handle, look).map_or_else(String::new, |cwd| format!(" · in {cwd}"));
        let place = look.place.as_ref().and_then(|place| differs(place, &self.place));
        let place = place.map_or_else(String::new, |place| format!(" · {place}"));
        format!(
            "{}: {} · {} · for {}{place}{cwd}{size}{people} · {}",
            handle.name,
            command(&handle.meta),
            look.runs,
            span(Duration::from_millis(Clock::wall().0.saturating_sub(not_before(handle, look.since)))),
            self.attach_line(&handle.name)
        )
    }

    /// The fields that `/api/sessions` names.
    fn entry(&self, handle: &Handle, look: &Look, state: Option<&PaneState>, clients: &[Attached]) -> Value {
        let mut entry = Map::new();
        let mut put = |field: &str, value: Value| entry.insert(field.to_owned(), value);
        put("name", handle.name.as_str().into());
        put("state", if look.closed.is_some() || look.ended.is_some() { "ended" } else { "open" }.into());
        put("runs", look.runs.as_str().into());
        put("since", json!(seconds(not_before(handle, look.since))));
        put("exit", json!(look.ended.flatten()));
        put("command", command(&handle.meta).into());
        put("cwd", json!(cwd(handle, look)));
        let size = state.map_or((handle.meta.cols, handle.meta.rows), |state| (state.size.cols, state.size.rows));
        put("cols", size.0.into());
        put("rows", size.1.into());
        put("actor", handle.meta.actor.as_str().into());
        put("created", json!(seconds(handle.meta.created)));
        put("last_output", json!(seconds(not_before(handle, look.last_output))));
        let mine: Vec<&Attached> = clients.iter().filter(|client| client.session == handle.name).collect();
        put("attached", mine.len().into());
        let last_key = state.and_then(|state| state.last_key).map(|last| last.0);
        put("human_input", json!(mine.iter().map(|client| client.activity.0).chain(last_key).max().map(seconds)));
        put("log_dir", handle.dir.display().to_string().into());
        put("attach", self.attach(&handle.name).into());
        put("pane_id", handle.pane.to_string().into());
        put("integrated", handle.meta.is_integrated().into());
        let typed = look.typed.iter().map(|(agent, at)| (agent.clone(), json!(seconds(at.0)))).collect();
        put("agents_typed", Value::Object(typed));
        put("typing_now", json!(look.typing_now.as_ref().map(|(agent, tool)| json!({"agent": agent, "tool": tool}))));
        // A session has a window with one pane to itself, and logs are kept.
        put("window", handle.name.as_str().into());
        put("parent", Value::Null);
        put("index", 0.into());
        put("active", true.into());
        put("adopted", false.into());
        let place = |place: &Place| json!({"host": place.host, "user": place.user, "container": place.container});
        put("place", look.place.as_ref().map_or(Value::Null, place));
        put("keep", true.into());
        put("delete_on_close", false.into());
        put("expires", Value::Null);
        Value::Object(entry)
    }

    pub(super) async fn resize(&self, session: Option<&str>, how: Resize) -> Reply {
        let handle = match self.pick(session).await {
            Ok(handle) => handle,
            Err(reply) => return *reply,
        };
        let done = match how {
            Resize::Follow => {
                self.terminal.follow(handle.pane).await.map(|()| "its size follows attached clients again".to_owned())
            }
            Resize::To { cols, rows } => match self.terminal.state(handle.pane).await {
                Ok(state) => {
                    let size = Size { cols: cols.unwrap_or(state.size.cols), rows: rows.unwrap_or(state.size.rows) };
                    let resized = self.terminal.resize(handle.pane, size).await;
                    if resized.is_ok() {
                        reaches_programs(&state.tty, size).await;
                    }
                    resized.map(|()| format!("{}x{}, whoever attaches", size.cols, size.rows))
                }
                Err(error) => Err(error),
            },
        };
        match done {
            Ok(words) => Reply::ok(Some(&handle.name), &format!("[{} {words}]", handle.name), &[], &[]),
            Err(error) => Reply::error(Some(&handle.name), &format!("the size was not changed: {error}")),
        }
    }
}

/// Waits until the programs in a pane are told its new size: tmux puts a second change off by a quarter of a second.
async fn reaches_programs(tty: &std::path::Path, size: Size) {
    for _ in 0..RESIZE_LOOKS {
        if crate::record::pane_size(tty) == Some(size) {
            return;
        }
        tokio::time::sleep(RESIZE_LOOK).await;
    }
}

/// How often a pane's size is looked at after a change, and how many times: half a second in all.
const RESIZE_LOOK: Duration = Duration::from_millis(10);
const RESIZE_LOOKS: u32 = 50;

/// A moment of a session's, in milliseconds since 1970. Where the record of times is lost, it is that of the beginning.
fn not_before(handle: &Handle, at: Wall) -> u64 {
    at.0.max(handle.meta.created)
}

/// The directory, where it is known: that in which the session began says nothing of another place.
fn cwd(handle: &Handle, look: &Look) -> Option<String> {
    look.cwd.clone().or_else(|| handle.meta.cwd.clone().filter(|_| look.place.is_none()))
}

fn closed_line(name: &str, meta: &Meta) -> String {
    let exit = meta.exit.map_or_else(String::new, |exit| format!(" · exit {exit}"));
    let state = match (ended(meta), meta.closed) {
        (Some(ended), _) => ended,
        (None, Some(_)) => "closed".to_owned(),
        (None, None) => "not reachable from this server".to_owned(),
    };
    format!("{name}: {} · {state}{exit}", command(meta))
}

fn closed_entry(name: &str, meta: &Meta, dir: &std::path::Path) -> Value {
    let mut entry = Map::new();
    entry.insert("name".into(), name.into());
    entry.insert("state".into(), if meta.closed.is_some() { "closed" } else { "elsewhere" }.into());
    if let Some(exit) = meta.exit {
        entry.insert("exit".into(), exit.into());
    }
    entry.insert("command".into(), command(meta).into());
    entry.insert("actor".into(), meta.actor.as_str().into());
    entry.insert("created".into(), json!(seconds(meta.created)));
    if let Some(closed) = meta.closed {
        entry.insert("closed".into(), json!(seconds(closed)));
    }
    entry.insert("log_dir".into(), dir.display().to_string().into());
    Value::Object(entry)
}

/// Unix seconds with fractions.
#[expect(clippy::cast_precision_loss, reason = "milliseconds since 1970 are far below 2^53")]
fn seconds(milliseconds: u64) -> f64 {
    milliseconds as f64 / 1000.0
}
