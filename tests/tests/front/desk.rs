//! A desk that writes down what it is asked and answers by the line it is given.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use dtmcp::mcp::desk::{Desk, Listed, Page, Unreadable};
use dtmcp::updates::Updates;
use dtmcp_core::call::Request;
use dtmcp_core::reply::Reply;
use dtmcp_core::resource::Address;
use serde_json::json;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// How long a state is waited for before the test gives up.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

#[derive(Debug, Default)]
struct Seen {
    calls: Vec<String>,
    waiting: usize,
    cancelled: usize,
    released: usize,
}

/// Hands on what it saw; a clone looks at the same desk.
#[derive(Debug, Clone, Default)]
pub(crate) struct Recorder {
    seen: Arc<Mutex<Seen>>,
    changed: Arc<Notify>,
    pub(crate) updates: Arc<Updates>,
}

impl Recorder {
    fn note(&self, change: impl FnOnce(&mut Seen)) {
        change(&mut self.seen.lock().unwrap());
        self.changed.notify_waiters();
    }

    fn look<T>(&self, look: impl FnOnce(&Seen) -> T) -> T {
        look(&self.seen.lock().unwrap())
    }

    pub(crate) fn calls(&self) -> Vec<String> {
        self.look(|seen| seen.calls.clone())
    }

    pub(crate) fn waiting(&self) -> usize {
        self.look(|seen| seen.waiting)
    }

    pub(crate) fn cancelled(&self) -> usize {
        self.look(|seen| seen.cancelled)
    }

    pub(crate) fn released(&self) -> usize {
        self.look(|seen| seen.released)
    }

    /// Waits until the desk has seen something.
    pub(crate) async fn until(&self, what: &str, holds: impl Fn(&Self) -> bool) {
        let reached = async {
            loop {
                let changed = self.changed.notified();
                tokio::pin!(changed);
                changed.as_mut().enable();
                if holds(self) {
                    return;
                }
                changed.await;
            }
        };
        assert!(tokio::time::timeout(PATIENCE, reached).await.is_ok(), "never seen: {what}");
    }
}

#[async_trait]
impl Desk for Recorder {
    async fn call(&self, actor: &str, request: Request, cancel: CancellationToken) -> Reply {
        let Request::Run(run) = request else {
            return Reply { text: "[ok]".to_owned(), meta: serde_json::Map::new(), is_error: false };
        };
        let session = run.session.unwrap_or_else(|| "t1".to_owned());
        let timeout = run.timeout.as_secs_f64();
        self.note(|seen| seen.calls.push(format!("{actor}: run {session} {:?} {timeout}s", run.lines)));
        let line = run.lines.join("\n");
        match line.as_str() {
            "wait" => {
                self.note(|seen| seen.waiting += 1);
                cancel.cancelled().await;
                self.note(|seen| seen.cancelled += 1);
            }
            "sleep 17" => tokio::time::sleep(Duration::from_secs(17)).await,
            "panic" => panic!("as the test asks"),
            _ => {}
        }
        let output = if line == "escapes" { "\u{1b}[2J\u{202e}\n\ttail".to_owned() } else { line };
        let meta = json!({"session": session, "status": "finished", "prompt": "\u{1b}]0;x\u{7}"});
        Reply { text: format!("[{session}] {output}"), meta: meta.as_object().unwrap().clone(), is_error: false }
    }

    async fn resources(&self, after: Option<&Address>) -> Page {
        let all = ["t1", "t2", "t3"].map(Address::session);
        let rest: Vec<&Address> = all.iter().filter(|one| after.is_none_or(|after| one.is_behind(after))).collect();
        let entry = |address: &Address| Listed {
            address: address.clone(),
            title: "bash".to_owned(),
            description: "at its prompt".to_owned(),
        };
        // A page of two.
        Page { entries: rest.iter().take(2).map(|address| entry(address)).collect(), more: rest.len() > 2 }
    }

    async fn resource(&self, address: &Address) -> Result<Reply, Unreadable> {
        match address.session.as_str() {
            "t1" => Ok(Reply { text: "[t1] \u{1b}[2J".to_owned(), meta: serde_json::Map::new(), is_error: false }),
            "broken" => Err(Unreadable::Trouble("it is broken".to_owned())),
            _ => Err(Unreadable::Unknown("there is no such session".to_owned())),
        }
    }

    async fn knows(&self, address: &Address) -> Result<(), String> {
        if address.session == "t1" { Ok(()) } else { Err("there is no such session".to_owned()) }
    }

    fn updates(&self) -> Arc<Updates> {
        Arc::clone(&self.updates)
    }

    fn release(&self) {
        self.note(|seen| seen.released += 1);
    }
}
