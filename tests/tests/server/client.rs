//! A state directory, a scripted terminal, and clients of servers over them.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use dtmcp::calls::CallLog;
use dtmcp::config::Config;
use dtmcp::hub::open_with;
use dtmcp::mcp::serve::serve_client;
use dtmcp_tests::fake::FakeTerminal;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines};
use tokio::task::JoinHandle;

/// A state that has not come by then never will.
const PATIENCE: Duration = Duration::from_secs(60);

/// How often a state that only files show is looked at.
const LOOK: Duration = Duration::from_millis(5);

/// What servers come and go over.
pub(crate) struct World {
    pub(crate) terminal: Arc<FakeTerminal>,
    root: tempfile::TempDir,
}

impl World {
    pub(crate) fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        std::fs::set_permissions(root.path(), PermissionsExt::from_mode(0o700)).unwrap();
        Self { terminal: Arc::default(), root }
    }

    fn config(&self) -> Config {
        Config {
            home: self.root.path().join("state"),
            user_home: Some(self.root.path().to_owned()),
            socket: "scripted".to_owned(),
            attach_prefix: vec!["ssh".to_owned(), "vm".to_owned()],
            summaries: true,
            runtime_dir: None,
            socket_path: None,
            notify_socket: None,
            tmux_tmpdir: None,
            path: None,
        }
    }

    pub(crate) fn dir(&self, session: &str) -> PathBuf {
        self.root.path().join("state/sessions").join(session)
    }

    pub(crate) fn file(&self, session: &str, name: &str) -> String {
        std::fs::read_to_string(self.dir(session).join(name)).unwrap_or_default()
    }

    /// A JSON file of a session.
    pub(crate) fn json(&self, session: &str, name: &str) -> Value {
        serde_json::from_str(&self.file(session, name)).unwrap_or_default()
    }

    /// The regions on disk, the last record of each.
    pub(crate) fn regions(&self, session: &str) -> Vec<Value> {
        let text = self.file(session, "regions.jsonl");
        let records = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let last: BTreeMap<u64, Value> = records.map(|record| (record["id"].as_u64().unwrap(), record)).collect();
        last.into_values().collect()
    }

    /// A server, and a client of that name whose life cycle has begun.
    pub(crate) async fn client(&self, name: &str) -> Client {
        let (write, server_read) = tokio::io::duplex(4096);
        let (server_write, read) = tokio::io::duplex(4096);
        let terminal = Arc::clone(&self.terminal);
        let hub = open_with(&self.config(), terminal, Some("/scripted".to_owned())).unwrap();
        let log = CallLog::new(self.root.path().join("state/calls.log"));
        let server = tokio::spawn(serve_client(server_read, server_write, hub, log, std::future::pending()));
        let mut client = Client { write, read: BufReader::new(read).lines(), ids: 0, answers: BTreeMap::new(), server };
        let info = json!({ "name": name, "version": "1" });
        let hello = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info });
        let id = client.begin("initialize", hello).await;
        client.answer(id).await;
        client.notify("notifications/initialized", json!({})).await;
        client
    }
}

/// The result of a tool call.
#[derive(Debug)]
pub(crate) struct Called {
    pub(crate) text: String,
    pub(crate) is_error: bool,
    pub(crate) meta: Value,
}

impl Called {
    pub(crate) fn status(&self) -> &str {
        self.meta["status"].as_str().unwrap_or_default()
    }

    /// What stands behind the words of the server.
    pub(crate) fn output(&self) -> &str {
        self.text.split_once("\n---\n").map_or("", |(_, output)| output)
    }

    #[track_caller]
    pub(crate) fn error(&self) -> &str {
        assert!(self.is_error, "{}", self.text);
        assert_eq!(self.status(), "error", "{}", self.meta);
        self.text.strip_prefix("error: ").unwrap()
    }
}

pub(crate) struct Client {
    write: DuplexStream,
    read: Lines<BufReader<DuplexStream>>,
    ids: u64,
    /// Answers that came while another was waited for.
    answers: BTreeMap<u64, Value>,
    server: JoinHandle<()>,
}

impl Client {
    async fn line(&mut self, message: Value) {
        self.write.write_all(format!("{message}\n").as_bytes()).await.unwrap();
    }

    async fn notify(&mut self, method: &str, params: Value) {
        self.line(json!({ "jsonrpc": "2.0", "method": method, "params": params })).await;
    }

    async fn begin(&mut self, method: &str, params: Value) -> u64 {
        self.ids += 1;
        self.line(json!({ "jsonrpc": "2.0", "id": self.ids, "method": method, "params": params })).await;
        self.ids
    }

    async fn answer(&mut self, id: u64) -> Value {
        loop {
            if let Some(answer) = self.answers.remove(&id) {
                return answer;
            }
            let line = tokio::time::timeout(PATIENCE, self.read.next_line()).await.expect("the server says nothing");
            let message: Value = serde_json::from_str(&line.unwrap().expect("the server is gone")).unwrap();
            if let Some(id) = message["id"].as_u64().filter(|_| message.get("method").is_none()) {
                self.answers.insert(id, message);
            }
        }
    }

    /// Begins a call.
    pub(crate) async fn start(&mut self, tool: &str, arguments: Value) -> u64 {
        self.begin("tools/call", json!({ "name": tool, "arguments": arguments })).await
    }

    /// The result of a call that was begun.
    pub(crate) async fn finish(&mut self, id: u64) -> Called {
        let answer = self.answer(id).await;
        let result = &answer["result"];
        Called {
            text: result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned(),
            is_error: result["isError"] == true,
            meta: result["_meta"]["dtmcp/reply"].clone(),
        }
    }

    pub(crate) async fn call(&mut self, tool: &str, arguments: Value) -> Called {
        let id = self.start(tool, arguments).await;
        self.finish(id).await
    }

    pub(crate) async fn run(&mut self, session: &str, line: &str) -> Called {
        self.call("run", json!({ "session": session, "line": line })).await
    }

    pub(crate) async fn create(&mut self, name: &str) {
        let made = self.call("session_create", json!({ "name": name })).await;
        assert!(!made.is_error, "{}", made.text);
    }

    pub(crate) async fn cancel(&mut self, id: u64) {
        self.notify("notifications/cancelled", json!({ "requestId": id })).await;
    }

    /// Goes, and waits until the server has ended.
    pub(crate) async fn leave(self) {
        drop((self.write, self.read));
        tokio::time::timeout(PATIENCE, self.server).await.expect("the server does not end").unwrap();
    }
}

/// Waits for a state.
pub(crate) async fn until(what: &str, holds: impl Fn() -> bool) {
    let seen = tokio::time::timeout(PATIENCE, async {
        let mut look = tokio::time::interval(LOOK);
        while !holds() {
            look.tick().await;
        }
    });
    seen.await.unwrap_or_else(|_| panic!("it never came: {what}"));
}
