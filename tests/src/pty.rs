//! A shell on a bare pseudo-terminal: no tmux, no server, only what a program at a terminal sees.

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use dtmcp_core::cooked::{Cooked, Size};
use dtmcp_core::inspect::{Inspector as _, Look, PaneTerminal};
use dtmcp_core::prompt;
use dtmcp_core::text::width::Widths;
use dtmcp_core::waiting::Output;
use dtmcp_linux_proc::LinuxProc;
use nix::fcntl::OFlag;
use nix::pty::{grantpt, posix_openpt, ptsname_r, unlockpt};
use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::Pid;
use rustix::termios::{Winsize, tcsetwinsize};

/// What the terminal was told, and when it last was.
#[derive(Debug)]
struct Seen {
    bytes: Vec<u8>,
    view: Cooked,
    last: Instant,
}

/// A shell on a terminal of its own.
#[derive(Debug)]
pub struct Pty {
    child: Child,
    keyboard: File,
    seen: Arc<Mutex<Seen>>,
    /// The terminal, as an inspector is told of it.
    pub pane: PaneTerminal,
}

impl Pty {
    /// Starts bash, without anybody's configuration, in a directory and with variables of the test's own.
    /// Its home is `home` in there: as root, programs would make one wherever it is said to be, and leave it.
    ///
    /// # Errors
    /// Where no pty is to be had, or bash cannot be started.
    pub fn bash(dir: &Path, variables: &[(&str, &str)]) -> Result<Self, String> {
        // Not to be inherited: a program that holds the other side of terminals is taken for one that made them.
        let flags = OFlag::O_RDWR | OFlag::O_NOCTTY | OFlag::O_CLOEXEC;
        let master = posix_openpt(flags).map_err(|error| error.to_string())?;
        grantpt(&master).and_then(|()| unlockpt(&master)).map_err(|error| error.to_string())?;
        let tty = ptsname_r(&master).map_err(|error| error.to_string())?;
        let master: OwnedFd = master.into();
        let size = Winsize { ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&master, size).map_err(|error| error.to_string())?;
        let slave = OpenOptions::new().read(true).write(true).custom_flags(libc::O_NOCTTY).open(&tty);
        let slave = OwnedFd::from(slave.map_err(|error| error.to_string())?);
        let stdio = |fd: &OwnedFd| fd.try_clone().map(Stdio::from).map_err(|error| error.to_string());
        // setsid makes the pty the shell's controlling terminal, and becomes the shell. What this process happens to
        // have open without wanting to would look like something that a program polls.
        let home = dir.join("home");
        std::fs::create_dir_all(&home).map_err(|error| error.to_string())?;
        let script = "for it in /proc/self/fd/*; do it=${it##*/}; [ $it -le 2 ] || eval \"exec $it>&-\"; done
            exec env 'PS1=$ ' bash --norc --noprofile -i";
        let child = Command::new("setsid")
            .args(["--ctty", "bash", "-c", script])
            .current_dir(dir)
            .env_clear()
            .envs([("TERM", "xterm"), ("SHELL", "/bin/sh"), ("HISTFILE", ""), ("LANG", "C.UTF-8")])
            .env("HOME", &home)
            .envs(std::env::var_os("PATH").map(|path| ("PATH", path)))
            .envs(variables.iter().copied())
            .stdin(stdio(&slave)?)
            .stdout(stdio(&slave)?)
            .stderr(stdio(&slave)?)
            .spawn()
            .map_err(|error| error.to_string())?;
        drop(slave);
        let seen = Arc::new(Mutex::new(Seen {
            bytes: Vec::new(),
            view: Cooked::new(Size { cols: 80, rows: 24 }, Widths::default()),
            last: Instant::now(),
        }));
        let keyboard = File::from(master);
        let mut screen = keyboard.try_clone().map_err(|error| error.to_string())?;
        let into = Arc::clone(&seen);
        std::thread::spawn(move || {
            let (mut buffer, mut settled) = ([0; 4096], Vec::new());
            while let Ok(read @ 1..) = screen.read(&mut buffer) {
                let mut seen = into.lock().unwrap_or_else(PoisonError::into_inner);
                seen.bytes.extend_from_slice(buffer.get(..read).unwrap_or_default());
                let mut rest = buffer.get(..read).unwrap_or_default();
                while !rest.is_empty() {
                    let fed = seen.view.feed(rest);
                    rest = rest.get(fed.consumed..).unwrap_or_default();
                }
                seen.view.take_settled(&mut settled);
                settled.clear();
                seen.last = Instant::now();
            }
        });
        let pane = PaneTerminal { tty, pid: child.id() };
        Ok(Self { child, keyboard, seen, pane })
    }

    /// Types.
    ///
    /// # Errors
    /// Where the terminal is gone.
    pub fn types(&mut self, text: &str) -> Result<(), String> {
        self.keyboard.write_all(text.as_bytes()).map_err(|error| error.to_string())
    }

    /// Hangs up, as the kernel does when the connection of a terminal breaks: the session's leader and the foreground
    /// are told.
    ///
    /// # Errors
    /// Where the foreground cannot be told.
    pub fn hangs_up(&self) -> Result<(), String> {
        let front = rustix::termios::tcgetpgrp(&self.keyboard).map_err(|error| error.to_string())?;
        let leader = i32::try_from(self.child.id()).map_err(|error| error.to_string())?;
        for group in [Pid::from_raw(leader), Pid::from_raw(front.as_raw_nonzero().get())] {
            killpg(group, Signal::SIGHUP).map_err(|error| error.to_string())?;
        }
        Ok(())
    }

    /// How many times a text has been shown.
    #[must_use]
    pub fn shown(&self, text: &str) -> usize {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        memchr::memmem::find_iter(&seen.bytes, text).count()
    }

    /// All that was shown, for a message.
    #[must_use]
    pub fn screen(&self) -> String {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).bytes.escape_ascii().to_string()
    }

    /// What a judgement needs of the output.
    #[must_use]
    pub fn output(&self) -> Output {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let quiet = seen.last.elapsed();
        let asks = prompt::looks_like(&seen.view.line_at_cursor().text).is_some();
        Output { quiet, alternate: seen.view.modes().alternate, column: seen.view.cursor().0, asks }
    }
}

impl Drop for Pty {
    /// What left its session or ignores a hang-up would stay behind, so everything is ended by its number.
    fn drop(&mut self) {
        let inspection = LinuxProc::new().inspect(&self.pane, Look::Everywhere);
        let pids = inspection.processes().filter_map(|process| i32::try_from(process.id.pid).ok());
        for pid in pids.filter(|pid| i32::try_from(std::process::id()) != Ok(*pid)) {
            kill(Pid::from_raw(pid), Signal::SIGKILL).ok();
        }
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
