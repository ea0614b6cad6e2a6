//! A shared server of a test's own, and bare HTTP to it.

use std::io::{BufRead as _, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};

use crate::client::{Client, World};
use crate::{binary, person};

/// An answer that has not come by then never will.
const PATIENCE: Duration = Duration::from_secs(60);

/// A running `dtmcp serve`.
#[derive(Debug)]
pub struct Serving {
    child: Child,
    socket: PathBuf,
    said: Arc<Mutex<String>>,
}

/// An answer over HTTP.
#[derive(Debug, Clone)]
pub struct Http {
    /// The status code; 0 where nothing that can be read came.
    pub status: u16,
    /// The head, in lower case.
    pub head: String,
    /// The body.
    pub body: String,
}

impl Http {
    /// The body as JSON.
    #[must_use]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or(Value::Null)
    }

    /// A header's value.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| line.strip_prefix(&format!("{name}: ")))
    }
}

/// A world in which a shared server can be found.
///
/// # Errors
/// As [`World::new`].
pub fn world() -> Result<World, String> {
    let mut world = World::new()?;
    let runtime = world.root().display().to_string();
    world.env.push(("XDG_RUNTIME_DIR".to_owned(), runtime));
    Ok(world)
}

impl Serving {
    /// Starts a server and waits until it serves.
    ///
    /// # Errors
    /// Where it ends before it does, with what it said.
    pub fn start(world: &World, args: &[&str]) -> Result<Self, String> {
        let mut command = world.command(binary::dtmcp()?);
        command.arg("serve").args(args);
        Self::spawn(command, world.root().join("docent-terminal-mcp/server.sock"))
    }

    /// Starts this command and waits until it serves the socket.
    ///
    /// # Errors
    /// As [`Self::start`].
    pub fn spawn(mut command: Command, socket: PathBuf) -> Result<Self, String> {
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| error.to_string())?;
        let said = Arc::new(Mutex::new(String::new()));
        let errors = child.stderr.take().ok_or("no standard error")?;
        let heard = Arc::clone(&said);
        std::thread::spawn(move || {
            for line in BufReader::new(errors).lines().map_while(Result::ok) {
                let mut said = heard.lock().unwrap_or_else(PoisonError::into_inner);
                said.push_str(&line);
                said.push('\n');
            }
        });
        let mut serving = Self { child, socket, said };
        person::wait_until("the server serves", || serving.has_ended() || serving.health().status == 200)?;
        if serving.has_ended() {
            // The thread has all of it a moment after the end.
            drop(person::wait_until("it says why", || !serving.said().is_empty()));
            return Err(serving.said());
        }
        Ok(serving)
    }

    /// As [`Self::start`] where it is to be refused: waits for its end, not for whoever else answers on the socket.
    ///
    /// # Errors
    /// What it said when it was refused.
    pub fn start_only(world: &World, args: &[&str]) -> Result<(), String> {
        let output = world
            .command(binary::dtmcp()?)
            .arg("serve")
            .args(args)
            .stdin(Stdio::null())
            .output()
            .map_err(|error| error.to_string())?;
        if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&output.stderr).into_owned()) }
    }

    /// Whether its process has ended.
    pub fn has_ended(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }

    /// What it has written to standard error.
    #[must_use]
    pub fn said(&self) -> String {
        self.said.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Where it listens.
    #[must_use]
    pub fn socket(&self) -> &std::path::Path {
        &self.socket
    }

    /// Its process.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The port it serves.
    ///
    /// # Errors
    /// Where it says none.
    pub fn port(&self) -> Result<u16, String> {
        let port = || self.said().split("serving http://127.0.0.1:").nth(1)?.split('/').next()?.parse().ok();
        person::wait_until("the server names its port", || port().is_some())?;
        port().ok_or_else(|| "no port".to_owned())
    }

    /// Asks it to stop, and waits; gives its exit code.
    ///
    /// # Errors
    /// Where it does not stop.
    pub fn stop(mut self) -> Result<Option<i32>, String> {
        let pid = i32::try_from(self.child.id()).map_err(|error| error.to_string())?;
        nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid), nix::sys::signal::Signal::SIGTERM)
            .map_err(|error| error.to_string())?;
        self.child.wait().map(|status| status.code()).map_err(|error| error.to_string())
    }

    /// Kills it at once.
    ///
    /// # Errors
    /// Where it cannot be killed.
    pub fn kill(mut self) -> Result<(), String> {
        self.child.kill().and_then(|()| self.child.wait()).map(|_| ()).map_err(|error| error.to_string())
    }

    /// `GET /health` through the socket.
    #[must_use]
    pub fn health(&self) -> Http {
        self.ask("GET", "/health", &[], "")
    }

    /// A request through the socket.
    #[must_use]
    pub fn ask(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Http {
        let Ok(stream) = UnixStream::connect(&self.socket) else { return nothing() };
        drop(stream.set_read_timeout(Some(PATIENCE)));
        exchange(stream, &request(method, path, "x", headers, body))
    }

    /// A request through the port, under the host's name that is given.
    #[must_use]
    pub fn ask_port(&self, port: u16, host: &str, what: (&str, &str), headers: &[(&str, &str)], body: &str) -> Http {
        raw_port(port, &request(what.0, what.1, host, headers, body))
    }

    /// A client through the bridge; without a name it says it is `tester`.
    ///
    /// # Errors
    /// Where it cannot be reached.
    pub fn client(world: &World, actor: Option<&str>) -> Result<Client, String> {
        let mut command = world.command(binary::dtmcp()?);
        command.arg("connect");
        if let Some(actor) = actor {
            command.args(["--actor", actor]);
        }
        let mut client = Client::start(command)?;
        client.initialize("tester")?;
        Ok(client)
    }
}

/// An answer that goes on, such as a stream of events: what has come of it so far.
#[derive(Debug)]
pub struct Stream {
    /// Shut down to hang up; the thread that reads has the other.
    stream: UnixStream,
    heard: Arc<Mutex<String>>,
}

impl Stream {
    /// All of it so far, its head in front.
    #[must_use]
    pub fn heard(&self) -> String {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The messages so far that are no answers, from the events' data.
    #[must_use]
    pub fn notifications(&self) -> Vec<Value> {
        let heard = self.heard();
        let data = heard.lines().filter_map(|line| line.strip_prefix("data:"));
        let messages = data.filter_map(|data| serde_json::from_str::<Value>(data.trim()).ok());
        messages.filter(|message| message.get("method").is_some()).collect()
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        drop(self.stream.shutdown(std::net::Shutdown::Both));
    }
}

impl Serving {
    /// Begins a request through the socket whose answer goes on.
    ///
    /// # Errors
    /// Where nobody listens.
    pub fn stream(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Result<Stream, String> {
        let stream = UnixStream::connect(&self.socket).map_err(|error| error.to_string())?;
        let mut reads = stream.try_clone().map_err(|error| error.to_string())?;
        (&stream).write_all(&request(method, path, "x", headers, body)).map_err(|error| error.to_string())?;
        let heard = Arc::new(Mutex::new(String::new()));
        let hears = Arc::clone(&heard);
        std::thread::spawn(move || {
            let mut piece = [0; 4096];
            while let Ok(length @ 1..) = reads.read(&mut piece) {
                let text = String::from_utf8_lossy(piece.get(..length).unwrap_or_default()).into_owned();
                hears.lock().unwrap_or_else(PoisonError::into_inner).push_str(&text);
            }
        });
        Ok(Stream { stream, heard })
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Bytes to a port, and what is answered until the connection is closed.
#[must_use]
pub fn raw_port(port: u16, bytes: &[u8]) -> Http {
    let Ok(stream) = TcpStream::connect(("127.0.0.1", port)) else { return nothing() };
    drop(stream.set_read_timeout(Some(PATIENCE)));
    exchange(stream, bytes)
}

fn nothing() -> Http {
    Http { status: 0, head: String::new(), body: String::new() }
}

fn request(method: &str, path: &str, host: &str, headers: &[(&str, &str)], body: &str) -> Vec<u8> {
    let mut text = format!("{method} {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n");
    for (name, value) in headers {
        text.push_str(name);
        text.push_str(": ");
        text.push_str(value);
        text.push_str("\r\n");
    }
    text.push_str("content-length: ");
    text.push_str(&body.len().to_string());
    text.push_str("\r\n\r\n");
    text.push_str(body);
    text.into_bytes()
}

fn exchange(mut stream: impl Read + Write, bytes: &[u8]) -> Http {
    // A server that refuses a long body need not have read it.
    drop(stream.write_all(bytes));
    let mut answer = Vec::new();
    let mut piece = [0; 4096];
    // What came before the connection broke off counts.
    while let Ok(length @ 1..) = stream.read(&mut piece) {
        answer.extend_from_slice(piece.get(..length).unwrap_or_default());
    }
    let answer = String::from_utf8_lossy(&answer).into_owned();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
    Http { status, head: head.to_lowercase(), body: body.to_owned() }
}

/// The headers that MCP over HTTP needs.
pub const MCP: [(&str, &str); 2] =
    [("content-type", "application/json"), ("accept", "application/json, text/event-stream")];

/// A client's introduction in the older life cycle.
#[must_use]
pub fn hello(name: &str) -> String {
    let params =
        json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": name, "version": "1"}});
    json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}).to_string()
}
