//! A bash on a pty of its own, seen through the log, and typed at as a person would.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use dtmcp_core::cooked::Size;
use dtmcp_core::log::{Log, LogEvent, ShellState};
use dtmcp_core::text::width::Widths;
use dtmcp_core::time::Wall;
use dtmcp_core::vt::marker::Nonce;
use libtest_mimic::Failed;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use tempfile::TempDir;

/// The nonce of every shell here and in the recorded streams.
pub(crate) const NONCE: &str = "0123456789abcdef";

/// The size of every terminal here.
pub(crate) const SIZE: Size = Size { cols: 80, rows: 24 };

/// After this long without the awaited state a test has failed; no shell here needs a hundredth of it.
const GIVE_UP: Duration = Duration::from_secs(60);

/// Where the project's shell files are.
pub(crate) fn shell_dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../shell")
}

/// Which shell, started as a session starts it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shell {
    Bash,
    Zsh,
    Fish,
}

impl Shell {
    fn command(self) -> Command {
        let dir = shell_dir();
        let mut command = Command::new("setsid");
        command.arg("--ctty");
        match self {
            Self::Bash => {
                let bash = std::env::var_os("DTMCP_TEST_BASH").unwrap_or_else(|| "bash".into());
                command.arg(bash).arg("--rcfile").arg(dir.join("bashrc")).arg("-i");
            }
            Self::Zsh => {
                let zsh = std::env::var_os("DTMCP_TEST_ZSH").unwrap_or_else(|| "zsh".into());
                command.arg("sh").arg(dir.join("start")).arg("zsh").arg(zsh);
            }
            Self::Fish => {
                let fish = std::env::var_os("DTMCP_TEST_FISH").unwrap_or_else(|| "fish".into());
                command.arg("sh").arg(dir.join("start")).arg("fish").arg(fish);
            }
        }
        command
    }
}

/// What to wait for after typing.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Wait {
    /// A further complete prompt of an integrated shell.
    Prompt,
    /// So many of them.
    Prompts(usize),
    /// A further end marker; for shells whose prompt carries no marks.
    End,
    /// A continuation prompt.
    Continuation,
    /// A further region.
    Opened,
    /// The running command shows the shell's continuation prompt.
    WantsMore,
    /// This text, anew in the raw stream.
    Text(&'static str),
    /// Another program than the shell has the terminal.
    Foreground,
    /// The shell has ended; then the end marker of a pane is appended, as the pane's own process does.
    Gone,
}

/// Something typed, and what it leads to.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Step {
    /// A line and Enter, up to the next prompt.
    Line(&'static str),
    /// Exactly these characters.
    Type(&'static str, Wait),
    /// Ctrl-C, and again each second until the shell shows a prompt anew. fish looks for an interrupt and then waits
    /// for a key, and drops one that comes between the two; a person presses again. A further prompt may follow late,
    /// so what comes next must not count prompts.
    Interrupt,
}

#[derive(Debug, Clone, Copy, Default)]
struct Seen {
    prompts: usize,
    ends: usize,
    continuations: usize,
    opened: usize,
    raw: usize,
}

/// A shell on its pty.
pub(crate) struct Terminal {
    pub(crate) log: Log,
    pub(crate) events: Vec<LogEvent>,
    pub(crate) raw: Vec<u8>,
    pub(crate) home: TempDir,
    pub(crate) child: Child,
    settled: Vec<u8>,
    master: File,
    seen: Seen,
    gone: bool,
}

impl Terminal {
    /// Starts a shell as a session does, with these files in a home of its own, and waits for its first prompt, or
    /// its first end marker where `wait` is [`Wait::End`].
    pub(crate) fn start(shell: Shell, files: &[(&str, &str)], wait: Wait) -> Result<Self, Failed> {
        let home = tempfile::tempdir()?;
        // A fish that finds none reads every manual page of the system in the background.
        std::fs::create_dir_all(home.path().join(".local/share/fish/generated_completions"))?;
        for (name, text) in files {
            let path = home.path().join(name);
            path.parent().map_or(Ok(()), std::fs::create_dir_all)?;
            std::fs::write(path, text)?;
        }
        let pty = nix::pty::openpty(
            &nix::pty::Winsize { ws_row: SIZE.rows, ws_col: SIZE.cols, ws_xpixel: 0, ws_ypixel: 0 },
            None,
        )?;
        let slave = || pty.slave.try_clone().map(Stdio::from);
        let mut command = shell.command();
        command.env_clear().envs([("TERM", "xterm-256color"), ("LANG", "C.UTF-8"), ("__DTMCP_NONCE", NONCE)]);
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default()).env("HOME", home.path());
        command.current_dir(home.path()).stdin(slave()?).stdout(slave()?).stderr(slave()?);
        let child = command.spawn()?;
        drop(command);
        drop(pty.slave);
        let log = Log::new(SIZE, Widths::default(), Nonce::new(NONCE));
        let (events, raw, settled) = (Vec::new(), Vec::new(), Vec::new());
        let master = File::from(pty.master);
        let mut terminal = Self { log, events, raw, home, child, settled, master, seen: Seen::default(), gone: false };
        terminal.wait(wait, Seen::default())?;
        Ok(terminal)
    }

    /// Types, and waits for what it leads to.
    pub(crate) fn step(&mut self, step: Step) -> Result<(), Failed> {
        self.rest()?;
        let before = self.seen;
        match step {
            Step::Line(line) => {
                self.master.write_all(format!("{line}\r").as_bytes())?;
                self.wait(Wait::Prompt, before)
            }
            Step::Type(text, wait) => {
                self.master.write_all(text.as_bytes())?;
                self.wait(wait, before)
            }
            Step::Interrupt => {
                let deadline = Instant::now() + GIVE_UP;
                while self.seen.prompts == before.prompts && Instant::now() < deadline {
                    self.master.write_all(b"\x03")?;
                    let again = Instant::now() + Duration::from_secs(1);
                    while self.seen.prompts == before.prompts && Instant::now() < again {
                        self.read()?;
                    }
                }
                self.wait(Wait::Prompt, before)
            }
        }
    }

    /// Waits until the shell at its prompt sleeps. bash loses an interrupt that comes after it has written the prompt
    /// and before it reads: it then acts on it with the next key.
    fn rest(&mut self) -> Result<(), Failed> {
        let stat = format!("/proc/{}/stat", self.child.id());
        while matches!(self.log.shell(), ShellState::AtPrompt { .. } | ShellState::Continuation) && !self.gone {
            let stat = std::fs::read_to_string(&stat)?;
            if stat.rsplit_once(") ").is_some_and(|(_, fields)| fields.starts_with('S')) {
                break;
            }
            self.read()?;
        }
        Ok(())
    }

    fn wait(&mut self, wait: Wait, before: Seen) -> Result<(), Failed> {
        let deadline = Instant::now() + GIVE_UP;
        while !self.holds(wait, before)? {
            if Instant::now() > deadline || (self.gone && !matches!(wait, Wait::Gone)) {
                return Err(format!("{wait:?} never came; the shell printed {}", self.shown()).into());
            }
            self.read()?;
        }
        Ok(())
    }

    fn holds(&self, wait: Wait, before: Seen) -> Result<bool, Failed> {
        Ok(match wait {
            Wait::Prompt => self.seen.prompts > before.prompts,
            Wait::Prompts(count) => self.seen.prompts >= before.prompts + count,
            Wait::End => self.seen.ends > before.ends,
            Wait::Continuation => self.seen.continuations > before.continuations,
            Wait::Opened => self.seen.opened > before.opened,
            Wait::WantsMore => self.log.wants_more(),
            Wait::Text(text) => {
                let new = self.raw.get(before.raw..).unwrap_or_default();
                memchr::memmem::find(new, text.as_bytes()).is_some()
            }
            Wait::Foreground => {
                let owner = nix::unistd::tcgetpgrp(self.master.as_fd())?.as_raw();
                // Between its fork and its exec a child still handles signals as the shell does.
                let program = |pid: i64| std::fs::read_link(format!("/proc/{pid}/exe")).ok();
                let shell = i64::from(self.child.id());
                // A key that sends a signal makes the kernel drop what was not read yet.
                let running = matches!(self.log.shell(), ShellState::Running(_));
                running
                    && i64::from(owner) != shell
                    && program(owner.into()).is_some_and(|it| Some(it) != program(shell))
            }
            Wait::Gone => self.gone,
        })
    }

    /// Reads what there is, or waits a moment for it: states of the kernel's are not announced.
    fn read(&mut self) -> Result<(), Failed> {
        let mut ready = [PollFd::new(self.master.as_fd(), PollFlags::POLLIN)];
        if poll(&mut ready, PollTimeout::from(20_u8))? == 0 {
            return Ok(());
        }
        let mut piece = [0; 65536];
        // A pty whose last other end was closed answers EIO.
        let count = self.master.read(&mut piece).unwrap_or(0);
        self.raw.extend_from_slice(&piece[..count]);
        if count == 0 && !self.gone {
            self.gone = true;
            let status = self.child.wait()?.code().unwrap_or(128);
            let marker = format!("\x1b]133;E;{status};dt={NONCE}\x1b\\");
            self.raw.extend_from_slice(marker.as_bytes());
        }
        let at = usize::try_from(self.log.cooked.offset())?;
        self.log.feed(&self.raw[at..], Wall(0));
        self.log.cooked.take_settled(&mut self.settled);
        self.seen.raw = self.raw.len();
        self.answer(piece.get(..count).unwrap_or_default())?;
        while let Some(event) = self.log.poll() {
            match event {
                LogEvent::Prompt => self.seen.prompts += 1,
                LogEvent::PromptEnd => self.seen.ends += 1,
                LogEvent::Continuation => self.seen.continuations += 1,
                LogEvent::Opened(_) => self.seen.opened += 1,
                _ => {}
            }
            self.events.push(event);
        }
        Ok(())
    }

    /// Answers as a terminal does what it is and where its cursor stands. fish 4 asks at each prompt, and waits.
    fn answer(&mut self, piece: &[u8]) -> Result<(), Failed> {
        let asks = |question: &[u8]| memchr::memmem::find(piece, question).is_some();
        if asks(b"\x1b[6n") {
            let (column, row) = self.log.cooked.cursor();
            self.master.write_all(format!("\x1b[{};{}R", row + 1, column + 1).as_bytes())?;
        }
        if asks(b"\x1b[0c") {
            self.master.write_all(b"\x1b[?1;2c")?;
        }
        Ok(())
    }

    /// All lines so far.
    pub(crate) fn lines(&self) -> Vec<String> {
        all_lines(&self.log, &self.settled)
    }

    /// The raw stream in a form fit for a failure's message.
    pub(crate) fn shown(&self) -> String {
        self.raw.escape_ascii().to_string().replace("\\n", "\\n\n    ")
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        if !self.gone {
            // Whatever the test left in the foreground or stopped goes with its terminal; the shell for certain.
            self.child.kill().and_then(|()| self.child.wait()).ok();
        }
    }
}

/// All lines of a log: those that were taken out of it, and those in it.
pub(crate) fn all_lines(log: &Log, taken: &[u8]) -> Vec<String> {
    let mut settled = taken.to_vec();
    log.clone().cooked.take_settled(&mut settled);
    let mut lines: Vec<String> = String::from_utf8_lossy(&settled).lines().map(str::to_owned).collect();
    let live = log.cooked.live();
    let mut rest = live.lines.into_iter();
    if live.continues
        && let (Some(last), Some(first)) = (lines.last_mut(), rest.next())
    {
        last.push_str(&first);
    }
    lines.extend(rest);
    lines
}
