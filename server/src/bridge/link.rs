//! The connection to the shared server: one request that turns it into lines both ways.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufRead, AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::UnixStream;
use tokio::net::unix::OwnedWriteHalf;
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::AHEAD;
use crate::http::{BRIDGE_PATH, BRIDGE_PROTOCOL, CONNECTION_HEADER, TOOLS_HEADER};
use crate::mcp::agent::ACTOR_HEADER;

/// How long a server that has taken the connection may take to answer the upgrade.
const UPGRADE_MAX: Duration = Duration::from_secs(10);

/// The longest answer to it, in bytes.
const HEAD_MAX: u64 = 16 * 1024;

/// The longest piece of a server's line that is read at once. Replies are far shorter.
const SERVER_LINE: u64 = 64 * 1024 * 1024;

/// Why there is no connection.
#[derive(Debug)]
pub(super) enum LinkError {
    /// Nobody is there, or not yet.
    Away(String),
    /// A server is there and has no room or no time now.
    Busy(String),
    /// A server is there and does not want this.
    Refused(String),
}

/// A connection that has become a bridge's.
#[derive(Debug)]
pub(super) struct Link {
    write: OwnedWriteHalf,
    /// What the server says.
    pub(super) lines: mpsc::Receiver<Vec<u8>>,
    /// The number that the server gave the connection.
    pub(super) number: Option<u64>,
    /// Tells the server's tools from another's.
    pub(super) tools: Option<String>,
}

impl Link {
    /// Connects and upgrades.
    pub(super) async fn open(socket: &Path, actor: Option<&str>, number: Option<u64>) -> Result<Self, LinkError> {
        let away = |error: std::io::Error| LinkError::Away(error.to_string());
        let stream = UnixStream::connect(socket).await.map_err(away)?;
        let (read, mut write) = stream.into_split();
        let actor = actor.map_or_else(String::new, |actor| format!("{ACTOR_HEADER}: {actor}\r\n"));
        let number = number.map_or_else(String::new, |number| format!("{CONNECTION_HEADER}: {number}\r\n"));
        let head = format!(
            "GET {BRIDGE_PATH} HTTP/1.1\r\nhost: dtmcp\r\nconnection: upgrade\r\nupgrade: {BRIDGE_PROTOCOL}\r\n\
             {actor}{number}\r\n"
        );
        write.write_all(head.as_bytes()).await.map_err(away)?;
        let mut read = BufReader::new(read);
        let answer = match timeout(UPGRADE_MAX, answer_head(&mut read)).await {
            Ok(answer) => answer.map_err(away)?,
            Err(_) => return Err(LinkError::Busy("it takes connections and does not answer".to_owned())),
        };
        let mut lines = answer.lines();
        let status = lines.next().unwrap_or_default();
        if status.split(' ').nth(1) != Some("101") {
            if status.is_empty() {
                return Err(LinkError::Away("it closed the connection".to_owned()));
            }
            if status.split(' ').nth(1) == Some("503") {
                return Err(LinkError::Busy("it has as many connections as it takes".to_owned()));
            }
            return Err(LinkError::Refused(format!(
                "what listens at {} is no dtmcp server: {status}",
                socket.display()
            )));
        }
        let headers: Vec<(&str, &str)> = lines.filter_map(|line| line.split_once(':')).collect();
        let header =
            |name: &str| headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, it)| it.trim());
        let number = header(CONNECTION_HEADER).and_then(|text| text.parse().ok());
        let tools = header(TOOLS_HEADER).map(str::to_owned);
        let (sender, lines) = mpsc::channel(AHEAD);
        tokio::spawn(read_lines(read, sender, SERVER_LINE, Torn::Dropped));
        Ok(Self { write, lines, number, tools })
    }

    /// Sends whole lines.
    pub(super) async fn write(&mut self, lines: &[u8]) -> Result<(), String> {
        self.write.write_all(lines).await.map_err(|error| error.to_string())
    }

    /// Nothing more comes from here.
    pub(super) async fn finish(&mut self) {
        drop(self.write.shutdown().await);
    }
}

/// The head of an answer, up to its empty line.
async fn answer_head(read: &mut (impl AsyncBufRead + Unpin)) -> std::io::Result<String> {
    let mut head = String::new();
    let mut limited = read.take(HEAD_MAX);
    while limited.read_line(&mut head).await? > 0 {
        if head.ends_with("\r\n\r\n") {
            break;
        }
    }
    Ok(head)
}

/// What becomes of a last line without its line break.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Torn {
    /// It is a line all the same: whoever wrote it has closed its end.
    Kept,
    /// Whoever wrote it went away in the middle, and what comes behind it is not to be taken for its rest.
    Dropped,
}

/// Hands lines on, each with its line break, a longer one in pieces; ends when there are no more.
pub(super) async fn read_lines(
    mut read: impl AsyncBufRead + Unpin,
    sender: mpsc::Sender<Vec<u8>>,
    longest: u64,
    torn: Torn,
) {
    loop {
        let mut line = Vec::new();
        match (&mut read).take(longest).read_until(b'\n', &mut line).await {
            Ok(length @ 1..) if torn == Torn::Dropped && line.last() != Some(&b'\n') && (length as u64) < longest => {
                return;
            }
            Ok(1..) => {
                if sender.send(line).await.is_err() {
                    return;
                }
            }
            Ok(0) | Err(_) => return,
        }
    }
}

/// The answers to the requests of a line where there is no server.
pub(super) fn refusal(line: &[u8], why: &str) -> Vec<u8> {
    let why = dtmcp_core::text::visible::spell_out(why);
    let Ok(value) = serde_json::from_slice::<Value>(line) else { return Vec::new() };
    let Some(id) = value.get("id").filter(|_| value.get("method").is_some()) else { return Vec::new() };
    let answer = json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32000, "message": why}});
    format!("{answer}\n").into_bytes()
}
