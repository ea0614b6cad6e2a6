//! Starting a tmux server below a process of ours that may then look at what runs in it; see [`crate::ancestor`].

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader};
use tokio::process::Command;
use tokio::time::{Instant, sleep, timeout_at};

use super::{TerminalError, TmuxConfig, argv, server};
use crate::ancestor;

/// How long it may take: as much is left of a connection's time for the way without it.
const PATIENCE: Duration = Duration::from_secs(3);

/// A server that is just ending takes its socket away a moment later; until then a new one cannot start.
const STEP: Duration = Duration::from_millis(50);

/// As much as is read of what it says: one word, or why it failed.
const SAID_BYTES: u64 = 4096;

/// What a server is started with.
#[derive(Debug)]
pub(super) struct Beginning<'a> {
    pub(super) program: &'a Path,
    pub(super) config: &'a TmuxConfig,
    pub(super) configuration: PathBuf,
    pub(super) lifeline: &'a Path,
}

impl Beginning<'_> {
    /// Starts a tmux server with our own session in it, which is what a control client finds then.
    ///
    /// # Errors
    /// In words; a server may have been started all the same, by somebody else just then.
    pub(super) async fn start(&self, in_scope: bool) -> Result<(), String> {
        let ours = self.config.home.join("bin/dtmcp");
        if !ours.is_file() {
            return Err(format!("{} is not there", ours.display()));
        }
        let deadline = Instant::now() + PATIENCE;
        loop {
            let started = timeout_at(deadline, ready(self.command(&ours, in_scope))).await;
            let said = match started {
                Ok(Ok(())) => return Ok(()),
                Ok(Err(said)) => said,
                Err(_) => return Err(format!("it was not ready after {PATIENCE:?}")),
            };
            let ends = matches!(TerminalError::from_client(&said), TerminalError::Died | TerminalError::NoServer);
            if !ends || Instant::now() + STEP >= deadline {
                return Err(said);
            }
            sleep(STEP).await;
        }
    }

    fn command(&self, ours: &Path, in_scope: bool) -> Command {
        let config = self.config;
        let mut command = match server::scope(config, ours) {
            Some(command) if in_scope => command,
            _ => server::starting(ours, &config.env),
        };
        command.arg("ancestor").arg(ancestor::socket_path(&config.home, &config.socket)).arg("--").arg(self.program);
        command.args(["-u", "-L", &config.socket, "-f"]).arg(&self.configuration);
        command.args(["new-session", "-d", "-P", "-F", "#{pid}", "-s", argv::OWN_SESSION, "-x", "80", "-y", "24"]);
        command.arg("--").args(argv::OWN_PROGRAM).arg(self.lifeline);
        command
    }
}

/// Runs it until it says that it serves. It is left alone then: it outlives us.
async fn ready(mut command: Command) -> Result<(), String> {
    let started = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = started.map_err(|error| error.to_string())?;
    let (Some(output), Some(complaint)) = (child.stdout.take(), child.stderr.take()) else {
        return Err("no pipe to it".to_owned());
    };
    let mut line = String::new();
    let read = BufReader::new(output.take(SAID_BYTES)).read_line(&mut line).await;
    if read.is_ok() && line.trim_end() == ancestor::READY {
        return Ok(());
    }
    let mut said = Vec::new();
    drop(complaint.take(SAID_BYTES).read_to_end(&mut said).await);
    Err(String::from_utf8_lossy(&said).trim().to_owned())
}
