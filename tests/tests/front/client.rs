//! An MCP client that speaks line by line over in-memory pipes, so that a test sees exactly what goes over the wire.

use dtmcp::calls::CallLog;
use dtmcp::mcp::serve::serve_client;
use serde_json::{Value, json};
use std::sync::Arc;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::desk::{PATIENCE, Recorder};

/// Every revision with an `initialize`.
pub(crate) const LEGACY: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

/// Which of the two life cycles a client lives in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Era {
    Initialize,
    Stateless,
}

impl Era {
    pub(crate) const BOTH: [Self; 2] = [Self::Initialize, Self::Stateless];
}

/// The name the client gives, and what is left of it as an agent's name is `drive.client`.
const NAME: &str = "\u{1b}drive.client\n";

/// The result of a tool call.
pub(crate) struct Called {
    pub(crate) text: String,
    pub(crate) is_error: bool,
    pub(crate) reply: Value,
    pub(crate) result: Value,
}

pub(crate) struct Client {
    pub(crate) desk: Recorder,
    era: Era,
    write: DuplexStream,
    read: Lines<BufReader<DuplexStream>>,
    ids: i64,
    home: tempfile::TempDir,
    stop: Option<oneshot::Sender<()>>,
    server: JoinHandle<()>,
}

impl Client {
    /// A client that has said nothing yet.
    pub(crate) fn silent() -> Self {
        let (write, server_read) = tokio::io::duplex(4096);
        let (server_write, read) = tokio::io::duplex(4096);
        let desk = Recorder::default();
        let home = tempfile::tempdir().unwrap();
        let log = CallLog::new(home.path().join("calls.log"));
        let (stop, stopped) = oneshot::channel();
        let stopped = async move { drop(stopped.await) };
        let served = serve_client(server_read, server_write, Arc::new(desk.clone()), log, stopped);
        let server = tokio::spawn(served);
        let read = BufReader::new(read).lines();
        Self { desk, era: Era::Initialize, write, read, ids: 0, home, stop: Some(stop), server }
    }

    /// A client whose life cycle has begun.
    pub(crate) async fn new(era: Era) -> Self {
        let mut client = Self::silent();
        client.era = era;
        if era == Era::Initialize {
            client.initialize("2025-11-25").await;
            client.notify("notifications/initialized", json!({})).await;
        }
        client
    }

    pub(crate) async fn initialize(&mut self, version: &str) -> Value {
        let info = json!({"name": NAME, "version": "1"});
        let params = json!({"protocolVersion": version, "capabilities": {}, "clientInfo": info});
        self.request("initialize", params).await
    }

    pub(crate) async fn bytes(&mut self, bytes: &[u8]) {
        self.write.write_all(bytes).await.unwrap();
    }

    pub(crate) async fn line(&mut self, line: &str) {
        self.bytes(format!("{line}\n").as_bytes()).await;
    }

    pub(crate) async fn notify(&mut self, method: &str, params: Value) {
        self.line(&json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string()).await;
    }

    /// Sends a request and gives its id.
    pub(crate) async fn begin(&mut self, method: &str, mut params: Value) -> Value {
        self.ids += 1;
        if self.era == Era::Stateless {
            params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
            params["_meta"]["io.modelcontextprotocol/clientInfo"] = json!({"name": NAME, "version": "1"});
            params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({});
        }
        let request = json!({"jsonrpc": "2.0", "id": self.ids, "method": method, "params": params});
        self.line(&request.to_string()).await;
        json!(self.ids)
    }

    /// The next message, whatever it is.
    pub(crate) async fn next(&mut self) -> Value {
        let line = tokio::time::timeout(PATIENCE, self.read.next_line()).await.expect("the server says nothing");
        serde_json::from_str(&line.unwrap().expect("the server is gone")).unwrap()
    }

    pub(crate) async fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params).await;
        let answer = self.next().await;
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    pub(crate) async fn call(&mut self, tool: &str, arguments: Value) -> Called {
        let answer = self.request("tools/call", json!({"name": tool, "arguments": arguments})).await;
        let result = answer["result"].clone();
        assert_eq!(result["content"].as_array().map(Vec::len), Some(1), "{answer}");
        Called {
            text: result["content"][0]["text"].as_str().unwrap().to_owned(),
            is_error: result["isError"] == true,
            reply: result["_meta"]["dtmcp/reply"].clone(),
            result,
        }
    }

    pub(crate) async fn close_input(&mut self) {
        self.write.shutdown().await.unwrap();
    }

    /// Goes, and waits until the server has ended.
    pub(crate) async fn leave(self) -> Recorder {
        drop((self.write, self.read));
        ended(self.server, self.desk).await
    }

    /// Stops the server while the client stays.
    pub(crate) async fn stop(mut self) -> Recorder {
        self.stop.take().unwrap().send(()).unwrap();
        ended(self.server, self.desk).await
    }

    pub(crate) fn calls_log(&self) -> String {
        std::fs::read_to_string(self.home.path().join("calls.log")).unwrap()
    }
}

async fn ended(server: JoinHandle<()>, desk: Recorder) -> Recorder {
    tokio::time::timeout(PATIENCE, server).await.expect("the server does not end").unwrap();
    desk
}
