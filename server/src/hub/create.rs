//! `session_create` and `session_close`.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use dtmcp_core::call::{Command, Create, Shape, Wait, Waiting};
use dtmcp_core::cooked::Size;
use dtmcp_core::log::Log;
use dtmcp_core::pattern::Pattern;
use dtmcp_core::record::{Meta, StateRecord};
use dtmcp_core::remote::word;
use dtmcp_core::reply::Reply;
use dtmcp_core::session::{Session, Setting};
use dtmcp_core::text::visible::quoted;
use dtmcp_core::text::width::Widths;
use dtmcp_core::vt::marker::Nonce;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::pick::look;
use super::region_files::RegionFiles;
use super::{Handle, Hub, SESSIONS_MAX, recover};
use crate::driver::files::SessionFiles;
use crate::driver::{Clock, Driver, MAILBOX};
use crate::feed::Follower;
use crate::store::missing::Missing;
use crate::store::{files, is_session_name, shell};
use crate::terminal::{NewPane, PaneId, Version};

/// How long `session_create` waits for a shell's first prompt: most are there in a tenth of a second, and the first
/// `run` waits for a slow one anyway.
const FIRST_PROMPT: Duration = Duration::from_secs(3);

/// How long `session_create` waits for a program's first prompt or screen.
const FIRST_SCREEN: Duration = Duration::from_secs(5);

impl Hub {
    pub(super) async fn create(&self, actor: &str, create: Create, cancel: CancellationToken) -> Reply {
        let name = match self.make(actor, &create).await {
            Ok(handle) => handle.name.clone(),
            Err(text) => return Reply::error(None, &text),
        };
        let is_shell = !matches!(create.command, Command::Shell(_));
        let timeout = if is_shell { FIRST_PROMPT } else { FIRST_SCREEN };
        let wait = Wait { session: Some(name.clone()), timeout, until: None, shape: Shape::default() };
        let first = self.wait_for(actor, Waiting::Wait(wait), cancel).await;
        let Some(handle) = self.handle(&name) else {
            return Reply::error(Some(&name), "the session was closed while it was being made");
        };
        self.welcome(&handle, &create, is_shell, first)
    }

    /// What `session_create` answers: how the session stands, how a person watches it, where its log is.
    fn welcome(&self, handle: &Handle, create: &Create, is_shell: bool, first: Reply) -> Reply {
        let attach = self.attach(&handle.name);
        let command = super::pick::command(&handle.meta);
        let waits = first.meta.get("status").and_then(serde_json::Value::as_str).unwrap_or("ok").to_owned();
        let ended = waits == "ended";
        let state = if ended { "ended" } else { "open" };
        let status = format!("[{} {state} · {command} · {}x{}]", handle.name, create.cols, create.rows);
        let dir = handle.dir.display().to_string();
        // A shell that has ended at once has something to say about it, as a program has.
        let is_shell = is_shell && !ended;
        let mut notes = Vec::new();
        if !ended {
            let attach = self.attach_line(&handle.name);
            notes.push(format!("tell the user: {attach} shows this session, and they can type in it"));
        }
        notes.push(format!("its log directory is {dir}"));
        let mut output = Vec::new();
        if is_shell {
            if waits == "running" {
                notes.push("its shell is still reading its startup files; run waits for the first prompt".to_owned());
            } else if waits.starts_with("waiting") {
                notes.push(format!("its startup files: {}", first.text.lines().next().unwrap_or_default()));
            }
            if first.meta.contains_key("prompt") {
                notes.extend(own_notes(&first));
            }
        } else {
            let (words, text) = first.text.split_once("\n---\n").unwrap_or((&first.text, ""));
            // Of one that has come to a shell with the integration there is nothing to tell but that.
            if waits != "ok" {
                notes.push(format!("the program: {}", words.lines().next().unwrap_or_default()));
            }
            // Many are given once, and this was the time.
            notes.extend(own_notes(&first));
            output = text.lines().map(str::to_owned).collect();
        }
        let mut reply = Reply::ok(Some(&handle.name), &status, &notes, &output);
        if !is_shell || waits.starts_with("waiting") {
            for (field, value) in first.meta {
                if field != "notes" && field != "session" {
                    reply.meta.insert(field, value);
                }
            }
        }
        reply.with("attach", attach).with("log_dir", dir)
    }

    /// The words that attach a person's terminal to a session.
    pub(super) fn attach(&self, name: &str) -> Vec<String> {
        let tmux = ["tmux", "-L", &self.config.socket, "attach", "-t", name].map(str::to_owned);
        self.config.attach_prefix.iter().cloned().chain(tmux).collect()
    }

    /// The line that does so at a shell's prompt.
    pub(super) fn attach_line(&self, name: &str) -> String {
        let words = self.attach(name);
        words.iter().map(|each| word(each)).collect::<Vec<_>>().join(" ")
    }

    async fn make(&self, actor: &str, create: &Create) -> Result<Arc<Handle>, String> {
        let _one_at_a_time = self.changing.lock().await;
        self.parted().await;
        if self.handles().len() >= SESSIONS_MAX {
            return Err(format!("{SESSIONS_MAX} sessions are open, which is the limit: session_close one first"));
        }
        let name = self.name_for(create.name.as_deref()).await?;
        let cwd = self.cwd_for(create.cwd.as_deref())?;
        let home = self
            .config
            .user_home
            .clone()
            .ok_or("no session was made: HOME is not set, and the shell integration goes there")?;
        let program = self.program().await.map_err(|error| format!("no session was made: {error}"))?;
        let shell_dir =
            shell::lay_out(&home).map_err(|error| format!("the shell integration cannot be laid out: {error}"))?;
        let dir = self.home.create_session(&name).map_err(|error| format!("no session was made: {error}"))?;
        let dir = dir.path().to_owned();
        let meta = self.new_meta(actor, &name, create, &cwd);
        write_meta(&dir, &meta)?;
        draw_nonce(&dir).map_err(|error| format!("no session was made: {error}"))?;
        // The recorder's files, so that they can be watched from the beginning.
        for file in ["raw.log", "timing"] {
            files::append(&dir.join(file)).map_err(|error| format!("no session was made: {error}"))?;
        }
        let new = NewPane {
            session: name.clone(),
            cwd,
            env: create.env.clone(),
            size: Size { cols: create.cols, rows: create.rows },
            argv: argv(&program, &dir, &create.command, &shell_dir),
        };
        let pane = match self.terminal.create(new).await {
            Ok(pane) => pane,
            Err(error) => {
                // Nothing ran in it: it is no session that anyone would want to read.
                drop(std::fs::remove_dir_all(&dir));
                return Err(format!("no session was made: {error}"));
            }
        };
        let tmux = self.terminal.version().await.map(|version| version.to_string());
        let meta = Meta { pane: Some(pane.to_string()), server: recover::identity(pane), tmux, ..meta };
        write_meta(&dir, &meta)?;
        let log = self.new_log(&meta, &dir);
        let session = self.session(&meta, log, &dir);
        self.start(meta, pane, dir, session)
    }

    async fn name_for(&self, asked: Option<&str>) -> Result<String, String> {
        if let Some(name) = asked {
            if !is_session_name(name) {
                return Err(format!(
                    "name={name}: a session's name is 1 to 64 letters, digits, - and _, and does not begin with -",
                    name = quoted(name)
                ));
            }
            if let Some(handle) = self.handle(name) {
                let open = self.open_sessions().await;
                let ended = look(&handle, None).await.is_some_and(|look| look.ended.is_some());
                return Err(if ended {
                    format!(
                        "a session {name} is open already, though its program has ended: session_close session=\"{name}\" frees the name. {open}",
                        name = quoted(name)
                    )
                } else {
                    format!(
                        "no session was opened: {name} is open already. Leave out name for the next free one, or give another. {open}",
                        name = quoted(name)
                    )
                });
            }
            return Ok(name.to_owned());
        }
        // A closed session's name is not taken again by itself: its log would have to move.
        (1..)
            .map(|n: u32| format!("t{n}"))
            .find(|name| self.handle(name).is_none() && !self.home.session(name).is_some_and(|dir| dir.path().exists()))
            .ok_or_else(String::new)
    }

    fn cwd_for(&self, asked: Option<&str>) -> Result<String, String> {
        let here = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"));
        let path = match asked {
            None => here,
            Some(text) if text == "~" || text.starts_with("~/") => {
                let home = self.config.user_home.clone().ok_or("cwd: there is no home directory")?;
                home.join(text.trim_start_matches('~').trim_start_matches('/'))
            }
            Some(text) => here.join(text),
        };
        if path.is_dir() {
            Ok(path.to_string_lossy().into_owned())
        } else {
            let path = quoted(&path.display().to_string());
            Err(format!("no session was opened: cwd={path} is no directory. Give one that exists, or leave it out"))
        }
    }

    fn new_meta(&self, actor: &str, name: &str, create: &Create, cwd: &str) -> Meta {
        Meta {
            v: Meta::VERSION,
            name: name.to_owned(),
            host: self.place.host.clone(),
            socket: self.config.socket.clone(),
            socket_path: self.socket_path.clone(),
            server: dtmcp_core::record::ServerIdentity::default(),
            pane: None,
            command: match &create.command {
                Command::Bash => None,
                Command::Zsh => Some("zsh".to_owned()),
                Command::Fish => Some("fish".to_owned()),
                Command::Shell(command) => Some(command.clone()),
            },
            cwd: Some(cwd.to_owned()),
            cols: create.cols,
            rows: create.rows,
            prompt_pattern: create.prompt_pattern.as_ref().map(|pattern| pattern.source().to_owned()),
            actor: actor.to_owned(),
            created: Clock::wall().0,
            closed: None,
            why: None,
            exit: None,
            tmux: None,
        }
    }

    /// An empty log for a session.
    pub(super) fn new_log(&self, meta: &Meta, dir: &Path) -> Log {
        let mut log = Log::new(Size { cols: meta.cols, rows: meta.rows }, widths(meta), nonce(dir));
        if let Some(command) = meta.command.clone().filter(|_| !meta.is_integrated()) {
            log.runs(command, self.place.clone());
        }
        log
    }

    /// The machine of a session, over a log that is empty or has been replayed.
    pub(super) fn session(&self, meta: &Meta, log: Log, dir: &Path) -> Begin {
        let clock = Clock::start();
        let setting = Setting {
            name: meta.name.clone(),
            integrated: meta.is_integrated(),
            prompt_pattern: meta.prompt_pattern.as_deref().and_then(|source| Pattern::new(source).ok()),
            home: self.place.clone(),
        };
        let state = files::read(&dir.join("state.json")).map(|text| StateRecord::read(&String::from_utf8_lossy(&text)));
        let session = Session::new(clock.now(), Clock::wall(), log, setting, state.unwrap_or_default());
        Begin { session, clock, replayed: None }
    }

    /// Starts a session's task.
    pub(super) fn start(&self, meta: Meta, pane: PaneId, dir: PathBuf, begin: Begin) -> Result<Arc<Handle>, String> {
        let unreadable = |error: std::io::Error| format!("{}: {error}", dir.display());
        let notify = self.watcher.watch(&dir);
        let (files, follower) = match begin.replayed {
            Some(replayed) => replayed,
            None => (SessionFiles::open(&dir).map_err(unreadable)?, Follower::open(&dir).map_err(unreadable)?),
        };
        let region_files = RegionFiles::start(&dir);
        let (mailbox, messages) = mpsc::channel(MAILBOX);
        let driver = Driver {
            session: begin.session,
            files,
            follower,
            notify: Arc::clone(&notify),
            terminal: Arc::clone(&self.terminal),
            inspector: Arc::clone(&self.inspector),
            pane,
            mailbox: messages,
            clock: begin.clock,
            nonce: nonce(&dir).map(|nonce| nonce.as_str().to_owned()),
            summaries: self.config.summaries,
            dir: dir.clone(),
            region_files: region_files.clone(),
            updates: Arc::clone(&self.updates),
            missing: Missing::of(self.home.path()),
        };
        let handle = self.insert(Handle {
            name: meta.name.clone(),
            mailbox,
            meta,
            pane,
            dir,
            region_files,
            notify,
            removed: CancellationToken::new(),
        });
        self.supervise(&handle, tokio::spawn(driver.run()));
        Ok(handle)
    }
}

/// What a reply says beside how things stand.
fn own_notes(reply: &Reply) -> Vec<String> {
    let own = reply.meta.get("notes").and_then(serde_json::Value::as_array);
    own.into_iter().flatten().filter_map(|note| Some(note.as_str()?.to_owned())).collect()
}

/// The pane's program: the shim, and behind it what was asked for.
fn argv(program: &Path, dir: &Path, command: &Command, shell_dir: &Path) -> Vec<String> {
    let mut argv = vec![program.display().to_string(), "pane".into(), dir.display().to_string(), "--".into()];
    match command {
        Command::Bash => {
            let bashrc = shell_dir.join("bashrc").display().to_string();
            argv.extend(["bash".into(), "--rcfile".into(), bashrc, "-i".into()]);
        }
        Command::Zsh | Command::Fish => {
            let start = shell_dir.join("start").display().to_string();
            let shell = if *command == Command::Zsh { "zsh" } else { "fish" };
            argv.extend(["sh".into(), start, shell.into(), shell.into()]);
        }
        Command::Shell(text) => argv.extend(["sh".into(), "-c".into(), text.clone()]),
    }
    argv
}

/// How a session's task begins.
#[derive(Debug)]
pub(super) struct Begin {
    /// The machine.
    pub(super) session: Session,
    /// The clock it was made with.
    pub(super) clock: Clock,
    /// The files and the place in the log, where the log has been replayed.
    pub(super) replayed: Option<(SessionFiles, Follower)>,
}

/// Writes `meta.json`.
///
/// # Errors
/// In words.
pub(super) fn write_meta(dir: &Path, meta: &Meta) -> Result<(), String> {
    let text = serde_json::to_string_pretty(meta).map_err(|error| error.to_string())?;
    files::replace(&dir.join("meta.json"), text.as_bytes()).map_err(|error| error.to_string())
}

/// The width rules of the tmux server that shows the session; those of 3.3 where it does not tell its version.
fn widths(meta: &Meta) -> Widths {
    let version = meta.tmux.as_deref().and_then(Version::parse);
    version.map_or_else(|| Widths::tmux(3, 3), |version| Widths::tmux(version.major, version.minor))
}

/// Draws the session's nonce; the pane's shim takes the one that is there.
fn draw_nonce(dir: &Path) -> std::io::Result<()> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(std::io::Error::other)?;
    let text: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    files::create_new(&dir.join("nonce"))?.write_all(text.as_bytes())
}

/// The session's nonce.
pub(super) fn nonce(dir: &Path) -> Option<Nonce> {
    let text = files::read(&dir.join("nonce")).ok()?;
    Nonce::new(String::from_utf8_lossy(&text).trim())
}
