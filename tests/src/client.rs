//! An MCP client over the standard input and output of the real command, as a model's harness is one.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use serde_json::{Value, json};

use crate::users::Users;
use crate::{binary, person};

/// An answer that has not come by then never will.
const PATIENCE: Duration = Duration::from_secs(90);

/// A state directory, a home and a tmux socket of a test's own.
#[derive(Debug)]
pub struct World {
    root: tempfile::TempDir,
    /// Variables that the server gets beside the usual.
    pub env: Vec<(String, String)>,
}

impl World {
    /// Makes one; nothing runs yet.
    ///
    /// # Errors
    /// Where no directory can be made.
    pub fn new() -> Result<Self, String> {
        let root = tempfile::Builder::new().prefix("dtmcp-").tempdir().map_err(|error| error.to_string())?;
        std::fs::create_dir(root.path().join("user")).map_err(|error| error.to_string())?;
        Ok(Self { root, env: Vec::new() })
    }

    /// A directory for what the test needs, and where the tmux socket is.
    #[must_use]
    pub fn root(&self) -> &Path {
        self.root.path()
    }

    /// The person's home directory.
    #[must_use]
    pub fn user_home(&self) -> PathBuf {
        self.root.path().join("user")
    }

    /// The state directory.
    #[must_use]
    pub fn state(&self) -> PathBuf {
        self.root.path().join("state")
    }

    /// Writes a file of the person's, such as `.bashrc`.
    ///
    /// # Errors
    /// Where it cannot be written.
    pub fn dot_file(&self, name: &str, text: &str) -> Result<(), String> {
        std::fs::write(self.user_home().join(name), text).map_err(|error| error.to_string())
    }

    /// A command in this world's environment.
    #[must_use]
    pub fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command.env_clear();
        for name in ["PATH", "LD_LIBRARY_PATH", "CARGO", "CARGO_HOME", "RUSTUP_HOME", "USER"] {
            if let Some(value) = std::env::var_os(name) {
                command.env(name, value);
            }
        }
        command
            .env("HOME", self.user_home())
            .env("LANG", "C.UTF-8")
            .env("TERM", "xterm-256color")
            .env("TMUX_TMPDIR", self.root())
            .env("DOCENT_TERMINAL_MCP_HOME", self.state())
            .env("DOCENT_TERMINAL_MCP_SOCKET", "world")
            .current_dir(self.user_home());
        for (name, value) in &self.env {
            command.env(name, value);
        }
        command
    }

    /// Runs tmux on this world's socket, as a person would.
    ///
    /// # Errors
    /// Where there is no tmux.
    pub fn tmux(&self, args: &[&str]) -> Result<String, String> {
        let output =
            self.command("tmux").args(["-L", "world"]).args(args).output().map_err(|error| error.to_string())?;
        if output.status.success() {
            Ok(String::from_utf8_lossy(&output.stdout).into_owned())
        } else {
            Err(String::from_utf8_lossy(&output.stderr).into_owned())
        }
    }

    /// Starts the server as a client does.
    ///
    /// # Errors
    /// Where it cannot be built or started, or does not answer.
    pub fn client(&self) -> Result<Client, String> {
        self.client_named("tester")
    }

    /// As [`Self::client`], where the system has these users.
    ///
    /// # Errors
    /// As [`Self::client`].
    pub fn client_among(&self, users: &Users) -> Result<Client, String> {
        let words = users.among();
        let (program, rest) = words.split_first().ok_or("no words")?;
        let mut command = self.command(program);
        command.args(rest).arg(binary::dtmcp()?);
        let mut client = Client::start(command)?;
        client.initialize("tester")?;
        Ok(client)
    }

    /// As [`Self::client`], under a name of its own.
    ///
    /// # Errors
    /// As [`Self::client`].
    pub fn client_named(&self, name: &str) -> Result<Client, String> {
        let mut client = Client::start(self.command(binary::dtmcp()?))?;
        client.initialize(name)?;
        Ok(client)
    }
}

impl Drop for World {
    fn drop(&mut self) {
        person::end_tmux(|args| self.tmux(args).ok());
        person::remove(self.root.path());
    }
}

/// What a call answered.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The text a model reads.
    pub text: String,
    /// `_meta["dtmcp/reply"]`.
    pub meta: Value,
    /// Whether it is an error.
    pub is_error: bool,
}

impl Answer {
    /// What the result of a call says.
    #[must_use]
    pub fn of(result: &Value) -> Self {
        Self {
            text: result.pointer("/content/0/text").and_then(Value::as_str).unwrap_or_default().to_owned(),
            meta: result.pointer("/_meta/dtmcp~1reply").cloned().unwrap_or(Value::Null),
            is_error: result.get("isError").and_then(Value::as_bool).unwrap_or(false),
        }
    }

    /// The status word.
    #[must_use]
    pub fn status(&self) -> &str {
        self.meta.get("status").and_then(Value::as_str).unwrap_or_default()
    }

    /// The exit status.
    #[must_use]
    pub fn exit(&self) -> Option<i64> {
        self.meta.get("exit").and_then(Value::as_i64)
    }

    /// The region.
    #[must_use]
    pub fn region(&self) -> Option<i64> {
        self.meta.get("region").and_then(Value::as_i64)
    }

    /// What stands behind the `---`.
    #[must_use]
    pub fn output(&self) -> &str {
        self.text.split_once("\n---\n").map_or("", |(_, output)| output)
    }

    /// What stands before it.
    #[must_use]
    pub fn words(&self) -> &str {
        self.text.split_once("\n---\n").map_or(&self.text, |(words, _)| words)
    }
}

/// A running server, and its client's end.
#[derive(Debug)]
pub struct Client {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<Value>,
    next: u64,
    early: Vec<Value>,
}

impl Client {
    /// Starts a command that speaks MCP.
    ///
    /// # Errors
    /// Where it cannot be started.
    pub fn start(mut command: Command) -> Result<Self, String> {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .map_err(|error| error.to_string())?;
        let input = child.stdin.take();
        let output = child.stdout.take().ok_or("no standard output")?;
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                let value = serde_json::from_str(&line).unwrap_or_else(|_| json!({ "not json": line }));
                if sender.send(value).is_err() {
                    break;
                }
            }
        });
        Ok(Self { child, input, lines, next: 1, early: Vec::new() })
    }

    /// Says hello in the life cycle with `initialize`.
    ///
    /// # Errors
    /// Where there is no answer.
    pub fn initialize(&mut self, name: &str) -> Result<Value, String> {
        let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": name, "version": "1" } });
        let answer = self.request("initialize", params)?;
        // A server that refuses is gone by now.
        if answer.get("error").is_none() {
            self.write(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))?;
        }
        Ok(answer)
    }

    /// The server's process.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Sends a message.
    ///
    /// # Errors
    /// Where the server is gone.
    pub fn write(&mut self, message: &Value) -> Result<(), String> {
        let input = self.input.as_mut().ok_or("the input is closed")?;
        input
            .write_all(format!("{message}\n").as_bytes())
            .and_then(|()| input.flush())
            .map_err(|error| error.to_string())
    }

    /// Sends a request without waiting; gives its id.
    ///
    /// # Errors
    /// Where the server is gone.
    #[expect(clippy::needless_pass_by_value, reason = "json!() is written at the call")]
    pub fn ask(&mut self, method: &str, params: Value) -> Result<u64, String> {
        let id = self.next;
        self.next += 1;
        self.write(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))?;
        Ok(id)
    }

    /// Waits for the answer to a request.
    ///
    /// # Errors
    /// Where none comes.
    pub fn answer(&mut self, id: u64) -> Result<Value, String> {
        if let Some(at) = self.early.iter().position(|message| message.get("id") == Some(&json!(id))) {
            return Ok(self.early.remove(at));
        }
        loop {
            match self.lines.recv_timeout(PATIENCE) {
                Ok(message) if message.get("id") == Some(&json!(id)) && message.get("method").is_none() => {
                    return Ok(message);
                }
                Ok(message) => self.early.push(message),
                Err(RecvTimeoutError::Timeout) => return Err(format!("no answer to request {id}")),
                Err(RecvTimeoutError::Disconnected) => return Err("the server went away".to_owned()),
            }
        }
    }

    /// The messages that have come so far and that nobody waited for.
    pub fn messages(&mut self) -> Vec<Value> {
        while let Ok(message) = self.lines.try_recv() {
            self.early.push(message);
        }
        self.early.clone()
    }

    /// The notifications among them.
    pub fn notifications(&mut self) -> Vec<Value> {
        self.messages().into_iter().filter(|message| message.get("method").is_some()).collect()
    }

    /// Sends a request and waits.
    ///
    /// # Errors
    /// As [`Self::answer`].
    pub fn request(&mut self, method: &str, params: Value) -> Result<Value, String> {
        let id = self.ask(method, params)?;
        self.answer(id)
    }

    /// Begins a tool call without waiting.
    ///
    /// # Errors
    /// As [`Self::ask`].
    #[expect(clippy::needless_pass_by_value, reason = "json!() is written at the call")]
    pub fn begin(&mut self, tool: &str, arguments: Value) -> Result<u64, String> {
        self.ask("tools/call", json!({ "name": tool, "arguments": arguments }))
    }

    /// Waits for a tool call that was begun.
    ///
    /// # Errors
    /// As [`Self::answer`], and for a protocol error.
    pub fn finish(&mut self, id: u64) -> Result<Answer, String> {
        let message = self.answer(id)?;
        let result = message.get("result").ok_or_else(|| format!("protocol error: {message}"))?;
        Ok(Answer::of(result))
    }

    /// Calls a tool.
    ///
    /// # Errors
    /// As [`Self::finish`].
    pub fn call(&mut self, tool: &str, arguments: Value) -> Result<Answer, String> {
        let id = self.begin(tool, arguments)?;
        self.finish(id)
    }

    /// Runs a line in the only session.
    ///
    /// # Errors
    /// As [`Self::finish`].
    pub fn run(&mut self, line: &str) -> Result<Answer, String> {
        self.call("run", json!({ "line": line }))
    }

    /// Whether the server has ended, and with which code, while this end is open.
    ///
    /// # Errors
    /// Where that cannot be told.
    pub fn ended(&mut self) -> Result<Option<Option<i32>>, String> {
        let ended = self.child.try_wait().map_err(|error| error.to_string())?;
        Ok(ended.map(|status| status.code()))
    }

    /// Kills the server at once.
    ///
    /// # Errors
    /// Where it cannot be killed.
    pub fn kill(mut self) -> Result<(), String> {
        self.child.kill().and_then(|()| self.child.wait()).map(|_| ()).map_err(|error| error.to_string())
    }

    /// Closes the client's end and waits for the server to end by itself; gives its exit code.
    ///
    /// # Errors
    /// Where it does not end.
    pub fn leave(mut self) -> Result<Option<i32>, String> {
        self.input = None;
        self.child.wait().map(|status| status.code()).map_err(|error| error.to_string())
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.input = None;
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
