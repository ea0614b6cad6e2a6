//! A tmux of a test's own: a state directory, a socket nobody else uses, and an end.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Arc;
use std::time::Duration;

use dtmcp::store::files;
use dtmcp::terminal::{NewPane, PaneId, Terminal as _, TerminalError, Tmux, TmuxConfig};
use dtmcp_core::cooked::Size;

use crate::{binary, person};

/// The name of the socket; its directory is the test's own.
const SOCKET: &str = "stage";

/// How often a state that is waited for is looked at.
const LOOK: Duration = Duration::from_millis(5);

/// A state that has not come by then never will.
const PATIENCE: Duration = Duration::from_secs(60);

/// A state directory and a tmux server.
#[derive(Debug)]
pub struct Stage {
    root: tempfile::TempDir,
    /// The terminal under test.
    pub tmux: Arc<Tmux>,
}

impl Stage {
    /// Sets one up; nothing runs yet.
    ///
    /// # Errors
    /// Where no directory can be made.
    pub fn new() -> Result<Self, String> {
        let root = tempfile::Builder::new().prefix("dtmcp-").tempdir().map_err(|error| error.to_string())?;
        for dir in [root.path().join("home"), root.path().join("home/sessions")] {
            files::make_dir(&dir).map_err(|error| error.to_string())?;
        }
        let tmux = Arc::new(Tmux::new(Self::config(root.path(), &[])));
        Ok(Self { root, tmux })
    }

    fn config(root: &Path, env: &[(&str, &str)]) -> TmuxConfig {
        let mut all: Vec<(OsString, OsString)> = std::env::vars_os()
            .filter(|(name, _)| name != "TMUX_TMPDIR" && env.iter().all(|(ours, _)| name != *ours))
            .collect();
        all.push(("TMUX_TMPDIR".into(), root.into()));
        all.extend(env.iter().map(|(name, value)| (name.into(), value.into())));
        TmuxConfig { socket: SOCKET.to_owned(), home: root.join("home"), env: all }
    }

    /// Another server's view of the same state directory, with these variables changed.
    #[must_use]
    pub fn second(&self, env: &[(&str, &str)]) -> Tmux {
        Tmux::new(Self::config(self.root.path(), env))
    }

    /// The server of another state directory, with the same tmux.
    ///
    /// # Errors
    /// Where its directory cannot be made.
    pub fn neighbour(&self) -> Result<Tmux, String> {
        let home = self.root.path().join("neighbour");
        files::make_dir(&home).map_err(|error| error.to_string())?;
        Ok(Tmux::new(TmuxConfig { home, ..Self::config(self.root.path(), &[]) }))
    }

    /// A directory for what the test needs, and where the sockets are.
    #[must_use]
    pub fn root(&self) -> &Path {
        self.root.path()
    }

    /// A session's directory.
    #[must_use]
    pub fn dir(&self, session: &str) -> PathBuf {
        self.root.path().join("home/sessions").join(session)
    }

    /// What a session has printed.
    #[must_use]
    pub fn raw(&self, session: &str) -> Vec<u8> {
        files::read(&self.dir(session).join("raw.log")).unwrap_or_default()
    }

    /// Makes a recorded session that runs a program.
    ///
    /// # Errors
    /// As [`dtmcp::terminal::Terminal::create`], and where the command cannot be built.
    pub async fn create(&self, session: &str, argv: &[&str], size: Size) -> Result<PaneId, String> {
        files::make_dir(&self.dir(session)).map_err(|error| error.to_string())?;
        let binary = binary::dtmcp()?.to_string_lossy().into_owned();
        let dir = self.dir(session).to_string_lossy().into_owned();
        let shim = [binary, "pane".to_owned(), dir, "--".to_owned()];
        let new =
            self.pane(session, shim.into_iter().chain(argv.iter().map(|word| (*word).to_owned())).collect(), size);
        self.tmux.create(new).await.map_err(|error| error.to_string())
    }

    /// A pane that runs `argv` as it is.
    #[must_use]
    pub fn pane(&self, session: &str, argv: Vec<String>, size: Size) -> NewPane {
        NewPane {
            session: session.to_owned(),
            cwd: self.root.path().to_string_lossy().into_owned(),
            env: vec![("PS1".to_owned(), "P> ".to_owned())],
            size,
            argv,
        }
    }

    /// Runs tmux's command as a person would.
    ///
    /// # Errors
    /// Where there is no tmux.
    pub fn person(&self, args: &[&str]) -> Result<Output, String> {
        Command::new("tmux")
            .args(["-L", SOCKET])
            .args(args)
            .env("TMUX_TMPDIR", self.root.path())
            .env_remove("TMUX")
            .output()
            .map_err(|error| error.to_string())
    }

    /// A started tmux command with its input open: a client that stays.
    ///
    /// # Errors
    /// Where there is no tmux.
    pub fn client(&self, args: &[&str]) -> Result<std::process::Child, String> {
        Command::new("tmux")
            .args(["-L", SOCKET])
            .args(args)
            .env("TMUX_TMPDIR", self.root.path())
            .env_remove("TMUX")
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::null())
            .spawn()
            .map_err(|error| error.to_string())
    }

    /// A client attached to a session whose terminal says that it has this size.
    ///
    /// # Errors
    /// Where there is no tmux, or the client is not attached.
    pub async fn sized_client(&self, session: &str, cols: u16, rows: u16) -> Result<std::process::Child, String> {
        let target = format!("={session}:");
        let mut client = self.client(&["-C", "attach", "-t", &target])?;
        let pid = client.id().to_string();
        // tmux reads a command that comes before the client is attached, and refuses it for want of one.
        until("the client is attached", async || {
            let pids = self.person(&["list-clients", "-t", &target, "-F", "#{client_pid}"]);
            pids.is_ok_and(|pids| String::from_utf8_lossy(&pids.stdout).lines().any(|line| line == pid))
        })
        .await?;
        let command = format!("refresh-client -C {cols}x{rows}\n");
        let input = client.stdin.as_mut().ok_or("the client has no input")?;
        std::io::Write::write_all(input, command.as_bytes()).map_err(|error| error.to_string())?;
        Ok(client)
    }

    /// Waits until the program of a pane has ended and all it printed is there.
    ///
    /// # Errors
    /// Where the pane cannot be asked.
    pub async fn ended(&self, pane: PaneId) -> Result<(), String> {
        until("the pane's end", async || match self.tmux.state(pane).await {
            Ok(state) => state.dead,
            Err(error) => error == TerminalError::Gone,
        })
        .await
    }

    /// Waits until a session has printed `text`.
    ///
    /// # Errors
    /// Where it does not; with what it has printed.
    pub async fn printed(&self, session: &str, text: &str) -> Result<(), String> {
        let found = until(text, async || memchr::memmem::find(&self.raw(session), text.as_bytes()).is_some()).await;
        found.map_err(|error| format!("{error}; printed: {:?}", String::from_utf8_lossy(&self.raw(session))))
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        person::end_tmux(|args| {
            self.person(args).ok().map(|output| String::from_utf8_lossy(&output.stdout).into_owned())
        });
        person::remove(self.root.path());
    }
}

/// Waits for a state.
///
/// # Errors
/// Where it has not come in a time in which it must have.
pub async fn until(what: &str, mut holds: impl AsyncFnMut() -> bool) -> Result<(), String> {
    let begin = tokio::time::Instant::now();
    while !holds().await {
        if begin.elapsed() > PATIENCE {
            return Err(format!("never came: {what}"));
        }
        tokio::time::sleep(LOOK).await;
    }
    Ok(())
}

/// Runs a test that waits.
///
/// # Errors
/// The test's own.
pub fn block_on(test: impl Future<Output = Result<(), String>>) -> Result<(), libtest_mimic::Failed> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(test).map_err(Into::into)
}
