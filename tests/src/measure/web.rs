//! A client of MCP over HTTP on one connection that stays open, as bare as a client can be.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;

use serde_json::{Value, json};

use super::words;
use crate::serving::MCP;

/// The revision whose life cycle has sessions, and the one whose has none.
const WITH_SESSIONS: &str = "2025-06-18";
const WITHOUT_SESSIONS: &str = "2026-07-28";

/// The client.
#[derive(Debug)]
pub struct Web {
    stream: BufReader<TcpStream>,
    /// What every request says of itself, each line ended.
    head: String,
    /// Whether each request introduces its client, because nothing remembers it.
    stateless: bool,
    next: u64,
}

impl Web {
    /// Connects to a port, with the token, as this agent, in the life cycle that begins with `initialize`.
    ///
    /// # Errors
    /// Where nothing answers there, or not as MCP does.
    pub fn with_session(port: u16, token: &str, actor: &str) -> Result<Self, String> {
        let mut web = Self::open(port, token, actor, WITH_SESSIONS, false)?;
        let info = json!({ "name": "bench", "version": "1" });
        let params = json!({ "protocolVersion": WITH_SESSIONS, "capabilities": {}, "clientInfo": info });
        let (head, _) = web.exchange("initialize", "", Some(&params))?;
        let session = head.lines().find_map(|line| line.strip_prefix("mcp-session-id: ")).ok_or("no session")?;
        web.head.push_str("mcp-session-id: ");
        web.head.push_str(session);
        web.head.push_str("\r\n");
        web.exchange("notifications/initialized", "", None)?;
        Ok(web)
    }

    /// Connects to a port, with the token, as this agent, in the life cycle in which every request stands alone.
    ///
    /// # Errors
    /// As [`Self::with_session`].
    pub fn stateless(port: u16, token: &str, actor: &str) -> Result<Self, String> {
        Self::open(port, token, actor, WITHOUT_SESSIONS, true)
    }

    fn open(port: u16, token: &str, actor: &str, version: &str, stateless: bool) -> Result<Self, String> {
        let stream = TcpStream::connect(("127.0.0.1", port)).map_err(words)?;
        stream.set_nodelay(true).map_err(words)?;
        let mut head = format!(
            "authorization: Bearer {token}\r\nmcp-protocol-version: {version}\r\nx-terminal-actor: {actor}\r\n"
        );
        for (name, value) in MCP {
            head.push_str(&format_args!("{name}: {value}\r\n").to_string());
        }
        Ok(Self { stream: BufReader::new(stream), head, stateless, next: 1 })
    }

    /// Calls a tool; gives its result.
    ///
    /// # Errors
    /// Where the connection breaks, or the answer holds none.
    pub fn call(&mut self, tool: &str, arguments: &Value) -> Result<Value, String> {
        let mut params = json!({ "name": tool, "arguments": arguments });
        let mut more = String::new();
        if self.stateless {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": WITHOUT_SESSIONS,
                "io.modelcontextprotocol/clientInfo": { "name": "bench", "version": "1" },
                "io.modelcontextprotocol/clientCapabilities": {},
            });
            more = format!("mcp-method: tools/call\r\nmcp-name: {tool}\r\n");
        }
        let (_, body) = self.exchange("tools/call", &more, Some(&params))?;
        // One JSON text, or events of which the last with data is the answer.
        let mut texts = body.lines().filter_map(|line| line.strip_prefix("data:")).filter(|data| data.len() > 1);
        let text = texts.next_back().unwrap_or(&body);
        let mut answer: Value = serde_json::from_str(text).map_err(|error| format!("{error}: {body}"))?;
        answer.get_mut("result").map(Value::take).ok_or(body)
    }

    /// Sends a request, or without `params` a notification; gives the head of the answer, in lower case, and its body.
    fn exchange(&mut self, method: &str, more: &str, params: Option<&Value>) -> Result<(String, String), String> {
        let mut message = json!({ "jsonrpc": "2.0", "method": method });
        if let Some(params) = params {
            message["id"] = json!(self.next);
            message["params"] = params.clone();
            self.next += 1;
        }
        let body = message.to_string();
        let request = format!(
            "POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\n{}{more}content-length: {}\r\n\r\n{body}",
            self.head,
            body.len()
        );
        self.stream.get_mut().write_all(request.as_bytes()).map_err(words)?;
        let head = self.head_of_answer()?;
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
        let body = match length {
            Some(length) => self.bytes(length)?,
            None if head.contains("transfer-encoding: chunked") => self.chunks()?,
            None => Vec::new(),
        };
        let body = String::from_utf8(body).map_err(words)?;
        if head.starts_with("http/1.1 2") { Ok((head, body)) } else { Err(format!("{head}{body}")) }
    }

    fn head_of_answer(&mut self) -> Result<String, String> {
        let mut head = String::new();
        loop {
            let begin = head.len();
            if self.stream.read_line(&mut head).map_err(words)? == 0 {
                return Err(format!("the connection was closed: {head}"));
            }
            if head.get(begin..).is_some_and(|line| line.trim().is_empty()) {
                return Ok(head.to_lowercase());
            }
        }
    }

    fn bytes(&mut self, length: usize) -> Result<Vec<u8>, String> {
        let mut bytes = vec![0; length];
        self.stream.read_exact(&mut bytes).map_err(words)?;
        Ok(bytes)
    }

    fn chunks(&mut self) -> Result<Vec<u8>, String> {
        let mut body = Vec::new();
        loop {
            let mut line = String::new();
            self.stream.read_line(&mut line).map_err(words)?;
            let length = usize::from_str_radix(line.trim(), 16).map_err(words)?;
            // The break after a chunk; behind the last one, which is empty, the one that ends the body.
            body.extend_from_slice(&self.bytes(length)?);
            self.bytes(2)?;
            if length == 0 {
                return Ok(body);
            }
        }
    }
}
