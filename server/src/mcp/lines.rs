//! Newline-delimited JSON-RPC over a pair of byte streams.
//!
//! rmcp's own transport drops a line that is no JSON without a word, and a client that waits for an answer would wait
//! for ever. This one answers it (-32700), and one that is too long, and goes on. It also says the moment the client
//! is gone, because calls in flight must not go on acting once another server may start.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::model::{
    ClientNotification, ClientRequest, ErrorCode, ErrorData, GetExtensions as _, GetMeta as _, JsonRpcMessage,
    RequestId,
};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::sync::Mutex;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::turns::Turns;

/// The longest line, in bytes; what rmcp's own transports take. The largest call, a text of 1,000,000 bytes, is below
/// that even with every byte escaped.
const LINE_MAX: usize = 16 * 1024 * 1024;

/// A line's buffer is given back when it has grown beyond this, in bytes.
const LINE_KEEP: usize = 64 * 1024;

/// How long the last answers may take to be written once the service is over.
const CLOSE_WAIT: std::time::Duration = std::time::Duration::from_secs(1);

type Incoming = RxJsonRpcMessage<RoleServer>;

/// A client at the other end of two byte streams.
#[derive(Debug)]
pub struct LineTransport<R, W> {
    read: BufReader<R>,
    /// The line so far. It outlives a dropped [`Transport::receive`], which happens whenever an answer is sent.
    line: Vec<u8>,
    /// Whether what comes is the rest of a line that was too long.
    discarding: bool,
    write: Arc<Mutex<W>>,
    /// An answer of the transport's own that is being written.
    refusal: Option<JoinHandle<io::Result<()>>>,
    /// Messages of a batch that have not been handed on.
    batch: VecDeque<Value>,
    /// Whether a life cycle has begun. Before it rmcp takes any notification for the end of the session.
    begun: bool,
    /// Keeps the calls in the order of their lines.
    turns: Turns,
    gone: CancellationToken,
}

impl<R: AsyncRead + Unpin, W> LineTransport<R, W> {
    /// A transport over two streams. `gone` fires when the client closes its end.
    pub fn new(read: R, write: W, gone: CancellationToken) -> Self {
        Self {
            read: BufReader::new(read),
            line: Vec::new(),
            discarding: false,
            write: Arc::new(Mutex::new(write)),
            refusal: None,
            batch: VecDeque::new(),
            begun: false,
            turns: Turns::default(),
            gone,
        }
    }

    /// Reads up to the next line break. Nothing is lost where the future is dropped: bytes are taken from the reader
    /// and put into the line without waiting in between.
    async fn next_line(&mut self) -> io::Result<Read> {
        loop {
            let available = self.read.fill_buf().await?;
            if available.is_empty() {
                // A last line without its line break is a line all the same.
                return Ok(if self.line.is_empty() { Read::End } else { Read::Line });
            }
            let end = memchr::memchr(b'\n', available);
            let taken = end.map_or(available.len(), |at| at + 1);
            let fits = self.line.len() + taken <= LINE_MAX;
            if !self.discarding && fits {
                self.line.extend_from_slice(available.get(..taken).unwrap_or_default());
            }
            self.read.consume(taken);
            match (self.discarding, fits, end.is_some()) {
                (true, _, ended) => self.discarding = !ended,
                (false, true, true) => return Ok(Read::Line),
                (false, true, false) => {}
                (false, false, ended) => {
                    self.discarding = !ended;
                    self.line = Vec::new();
                    return Ok(Read::TooLong);
                }
            }
        }
    }

    /// Takes the line just read: a message to hand on, an answer of our own, or nothing.
    fn take_line(&mut self) -> Taken {
        let line = std::mem::take(&mut self.line);
        let text = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&line).trim_ascii();
        let taken = if text.is_empty() { Taken::Nothing } else { self.parse(text) };
        if line.capacity() <= LINE_KEEP {
            self.line = line;
            self.line.clear();
        }
        taken
    }

    fn parse(&mut self, text: &[u8]) -> Taken {
        if let Ok(message) = serde_json::from_slice::<Incoming>(text) {
            return self.admit(message);
        }
        match serde_json::from_slice::<Value>(text) {
            Err(error) => refuse(None, ErrorCode::PARSE_ERROR, format!("this line is no JSON: {error}")),
            // Revision 2025-03-26 has batches; each message is answered on a line of its own.
            Ok(Value::Array(messages)) if !messages.is_empty() => {
                self.batch = messages.into();
                Taken::Nothing
            }
            Ok(value) => not_a_message(&value),
        }
    }

    fn admit(&mut self, mut message: Incoming) -> Taken {
        match &mut message {
            JsonRpcMessage::Request(request) => {
                self.begun |= begins(&request.request);
                if request.request.method() == "tools/call" {
                    request.request.extensions_mut().insert(self.turns.take());
                }
            }
            // Only these two notifications matter to rmcp, and unknown ones must not trouble it either.
            JsonRpcMessage::Notification(notification) => {
                let known = !matches!(notification.notification, ClientNotification::CustomNotification(_));
                if !self.begun || !known {
                    return Taken::Nothing;
                }
            }
            JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) if !self.begun => return Taken::Nothing,
            JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => {}
        }
        Taken::Message(Box::new(message))
    }
}

enum Read {
    Line,
    TooLong,
    End,
}

enum Taken {
    Message(Box<Incoming>),
    Refuse(Vec<u8>),
    Nothing,
}

/// Whether rmcp takes this request for the beginning of a life cycle.
fn begins(request: &ClientRequest) -> bool {
    match request {
        ClientRequest::InitializeRequest(_) => true,
        ClientRequest::PingRequest(_) | ClientRequest::DiscoverRequest(_) => false,
        other => other.get_meta().protocol_version().is_some(),
    }
}

/// JSON that is no message: notifications of unknown shape are passed over, anything else is answered.
fn not_a_message(value: &Value) -> Taken {
    if value.get("method").is_some() && value.get("id").is_none() {
        return Taken::Nothing;
    }
    let id = value.get("id").and_then(|id| serde_json::from_value::<RequestId>(id.clone()).ok());
    refuse(id, ErrorCode::INVALID_REQUEST, "this is no JSON-RPC request of MCP".to_owned())
}

fn refuse(id: Option<RequestId>, code: ErrorCode, message: String) -> Taken {
    let answer = TxJsonRpcMessage::<RoleServer>::error(ErrorData::new(code, message, None), id);
    match serde_json::to_value(&answer) {
        Ok(Value::Object(mut object)) => {
            // JSON-RPC wants the id of an answer to an unreadable request to be there, and null.
            object.entry("id").or_insert(Value::Null);
            Taken::Refuse(Value::Object(object).to_string().into_bytes())
        }
        _ => Taken::Nothing,
    }
}

async fn write_line<W: AsyncWrite + Unpin>(write: Arc<Mutex<W>>, mut line: Vec<u8>) -> io::Result<()> {
    line.push(b'\n');
    let mut write = write.lock().await;
    write.write_all(&line).await?;
    write.flush().await
}

impl<R, W> Transport<RoleServer> for LineTransport<R, W>
where
    R: AsyncRead + Unpin + Send,
    W: AsyncWrite + Unpin + Send + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let write = Arc::clone(&self.write);
        let line = serde_json::to_vec(&item);
        async move { write_line(write, line?).await }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            // One refusal at a time: a client that sends only nonsense and reads nothing gets no further.
            if let Some(writing) = self.refusal.as_mut() {
                let written = writing.await;
                self.refusal = None;
                if !matches!(written, Ok(Ok(()))) {
                    self.gone.cancel();
                    return None;
                }
            }
            let taken = match self.batch.pop_front() {
                Some(value) => match serde_json::from_value::<Incoming>(value.clone()) {
                    Ok(message) => self.admit(message),
                    Err(_) => not_a_message(&value),
                },
                None => match self.next_line().await {
                    Ok(Read::Line) => self.take_line(),
                    Ok(Read::TooLong) => {
                        let why = format!("a line may be {LINE_MAX} bytes long");
                        refuse(None, ErrorCode::INVALID_REQUEST, why)
                    }
                    Ok(Read::End) | Err(_) => {
                        self.gone.cancel();
                        return None;
                    }
                },
            };
            match taken {
                Taken::Message(message) => return Some(*message),
                Taken::Refuse(line) => self.refusal = Some(tokio::spawn(write_line(Arc::clone(&self.write), line))),
                Taken::Nothing => {}
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        let closing = async { self.write.lock().await.shutdown().await };
        // A client that no longer reads must not keep the server.
        tokio::time::timeout(CLOSE_WAIT, closing).await.unwrap_or(Ok(()))
    }
}
