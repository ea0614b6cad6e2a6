//! `dtmcp pane DIR -- COMMAND...`: the program of every pane.
//!
//! It has the pane recorded before the command prints its first byte, runs the command as its child, and stays until
//! the last byte is in the log: tmux before 3.7 throws away what it has not read when a pane's program ends, and
//! sometimes the exit status too. No server takes part, so all of this holds while none runs. Whatever goes wrong
//! with the recording, the command is run: a person's terminal has to work.
//!
//! The command stays in this process's group, as it would be without us, so that a stop signal from the keyboard is
//! as harmless to a program that is alone in its pane as it is anywhere.

mod attach;
mod end;

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::libc::pid_t;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{SigSet, Signal, kill, killpg};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::{Pid, getpgrp, tcgetpgrp};

use attach::{Pipe, Recording};
use end::End;
pub use end::ExitRecord;

/// The variable that carries the nonce to the pane's shell.
pub const NONCE_VARIABLE: &str = "__DTMCP_NONCE";

/// The variable that tells the pane's shell where this program is, for the end of its startup files.
const BIN_VARIABLE: &str = "__DTMCP_BIN";

/// A recorder that dies is replaced, but not more often than this.
const REPLACE_STEP: Duration = Duration::from_secs(1);

/// What a shell answers for a command that is not there, and for one that cannot be run.
const NOT_FOUND: u8 = 127;
const NOT_RUNNABLE: u8 = 126;

/// The first argument of the step between this process and the command.
const EXEC: &str = "--exec";

/// Runs a pane's command and gives its exit status (128 and the signal, where one ended it).
///
/// `args` are DIR, `--` and the command with its arguments.
#[must_use]
pub fn main(args: &[OsString]) -> ExitCode {
    match args {
        [exec, program, arguments @ ..] if exec == EXEC => become_command(program, arguments),
        [dir, dashes, program, arguments @ ..] if dashes == "--" => run(Path::new(dir), program, arguments),
        _ => {
            say("usage: dtmcp pane DIR -- COMMAND [ARGUMENT...]");
            ExitCode::from(2)
        }
    }
}

fn run(dir: &Path, program: &OsStr, arguments: &[OsString]) -> ExitCode {
    let signals = match Signals::take_over() {
        Ok(signals) => signals,
        Err(error) => {
            say(&format!("{error}"));
            return ExitCode::from(NOT_RUNNABLE);
        }
    };
    let mut recording = match Recording::begin(dir) {
        Ok(recording) => Some(recording),
        Err(error) => {
            say(&format!("this terminal is not recorded: {error}"));
            None
        }
    };
    let nonce = recording.as_ref().map(|recording| recording.nonce().to_owned());
    let end = match start(dir, program, arguments, nonce.as_deref()) {
        Ok(child) => watch(child, &signals, recording.as_mut()),
        Err(error) => End::Exited(i32::from(cannot_run(program, &error))),
    };
    if let Some(recording) = recording {
        recording.finish(end, || signals.hung_up());
    }
    ExitCode::from(end.status())
}

/// Tells the person at the terminal.
fn say(what: &str) {
    drop(writeln!(io::stderr(), "dtmcp: {what}"));
}

fn cannot_run(program: &OsStr, error: &io::Error) -> u8 {
    say(&format!("cannot run {}: {error}", program.display()));
    if error.kind() == io::ErrorKind::NotFound { NOT_FOUND } else { NOT_RUNNABLE }
}

/// Starts the command as our child, by way of [`become_command`].
fn start(dir: &Path, program: &OsStr, arguments: &[OsString], nonce: Option<&str>) -> io::Result<Pid> {
    // Our own file, whatever its name is by now.
    let mut command = Command::new("/proc/self/exe");
    command.args(["pane", EXEC]).arg(program).args(arguments);
    match nonce {
        Some(nonce) => command.env(NONCE_VARIABLE, nonce),
        None => command.env_remove(NONCE_VARIABLE),
    };
    // `dtmcp ssh` and `dtmcp into` are for whoever types in the session. A startup file may set PATH anew, so the shell
    // is told too.
    if let Ok(bin) = dir.join("../../bin").canonicalize() {
        let mut path = bin.clone().into_os_string();
        if let Some(inherited) = crate::config::path().filter(|path| !path.is_empty()) {
            path.push(":");
            path.push(inherited);
        }
        command.env("PATH", path).env(BIN_VARIABLE, bin);
    }
    let child = command.spawn()?;
    pid_t::try_from(child.id()).map(Pid::from_raw).map_err(io::Error::other)
}

/// Turns this process into the command, with an empty signal mask.
///
/// A child inherits the mask, and its parent must not open its own even for the moment of starting it: a key pressed
/// then would end the pane. The dispositions need nothing: ours were never changed.
fn become_command(program: &OsStr, arguments: &[OsString]) -> ExitCode {
    let error = match SigSet::empty().thread_set_mask() {
        Ok(()) => Command::new(program).args(arguments).exec(),
        Err(error) => error.into(),
    };
    ExitCode::from(cannot_run(program, &error))
}

/// The signals that are ours to see: those of the keyboard, which are the command's business and not ours, those that
/// are passed on, and the one that tells of the child.
#[derive(Debug)]
struct Signals {
    fd: SignalFd,
}

impl Signals {
    fn take_over() -> io::Result<Self> {
        let mask = SigSet::from_iter([
            Signal::SIGINT,
            Signal::SIGQUIT,
            Signal::SIGTSTP,
            Signal::SIGTTIN,
            Signal::SIGTTOU,
            Signal::SIGHUP,
            Signal::SIGTERM,
            Signal::SIGCHLD,
        ]);
        mask.thread_block()?;
        Ok(Self { fd: SignalFd::with_flags(&mask, SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC)? })
    }

    /// The next one that has arrived, and who sent it.
    fn next(&self) -> Option<(Signal, Pid)> {
        let info = self.fd.read_signal().ok().flatten()?;
        let signal = Signal::try_from(i32::try_from(info.ssi_signo).ok()?).ok()?;
        Some((signal, Pid::from_raw(i32::try_from(info.ssi_pid).unwrap_or_default())))
    }

    /// Whether the terminal was hung up since this was last asked.
    fn hung_up(&self) -> bool {
        std::iter::from_fn(|| self.next()).any(|(signal, _)| signal == Signal::SIGHUP)
    }
}

/// Stays with the child until it ends.
fn watch(child: Pid, signals: &Signals, mut recording: Option<&mut Recording>) -> End {
    let mut replace_at: Option<Instant> = None;
    let mut replaced: Option<Instant> = None;
    loop {
        let timeout = replace_at.map_or(PollTimeout::NONE, |at| {
            let left = at.saturating_duration_since(Instant::now()).as_millis();
            PollTimeout::try_from(left).unwrap_or(PollTimeout::MAX)
        });
        wait_for_news(signals, recording.as_deref().and_then(Recording::fifo), timeout);
        while let Some((signal, sender)) = signals.next() {
            match signal {
                // Our own, sent to the whole group below.
                Signal::SIGHUP if sender == Pid::this() => {}
                Signal::SIGHUP => hang_up(child),
                Signal::SIGTERM => kill(child, Signal::SIGTERM).unwrap_or_default(),
                _ => {}
            }
        }
        if let Some(end) = reap(child) {
            return end;
        }
        let Some(recording) = recording.as_mut() else { continue };
        if recording.recorder_died() {
            replace_at = Some(replaced.map_or_else(Instant::now, |last| last + REPLACE_STEP));
        }
        if replace_at.is_some_and(|at| at <= Instant::now()) {
            replace_at = None;
            replaced = Some(Instant::now());
            // Nobody to tell but the log, and that is what is missing; the server sees that the pipe is gone.
            drop(recording.attach(Pipe::InPlaceOfADeadOne));
        }
    }
}

fn wait_for_news(signals: &Signals, fifo: Option<&File>, timeout: PollTimeout) {
    let signal_fd = PollFd::new(signals.fd.as_fd(), PollFlags::POLLIN);
    let _ = match fifo {
        Some(fifo) => poll(&mut [signal_fd, PollFd::new(fifo.as_fd(), PollFlags::POLLIN)], timeout),
        None => poll(&mut [signal_fd], timeout),
    };
}

/// Passes a hang-up on to the child and to whatever has the terminal, stopped or not.
fn hang_up(child: Pid) {
    let foreground = tcgetpgrp(io::stdin()).ok();
    for signal in [Signal::SIGHUP, Signal::SIGCONT] {
        let _ = kill(child, signal);
        if let Some(group) = foreground {
            let _ = killpg(group, signal);
        }
    }
}

/// The child's end, where it has ended.
fn reap(child: Pid) -> Option<End> {
    loop {
        match waitpid(child, Some(WaitPidFlag::WNOHANG | WaitPidFlag::WUNTRACED)) {
            Ok(WaitStatus::Exited(_, status)) => return Some(End::Exited(status)),
            Ok(WaitStatus::Signaled(_, signal, _)) => return Some(End::Killed(signal as i32)),
            // A program that took the shell's place (`exec vim`) is in a group of its own, which without us would
            // have no parent in this session: the keyboard could not stop it, and nothing here could wake it.
            Ok(WaitStatus::Stopped(_, Signal::SIGTSTP)) => killpg(group_of(child), Signal::SIGCONT).unwrap_or_default(),
            Ok(WaitStatus::StillAlive) => return None,
            Ok(_) | Err(Errno::EINTR) => {}
            // Not our child any more: nothing is known about how it ended.
            Err(_) => return Some(End::Exited(i32::from(NOT_RUNNABLE))),
        }
    }
}

fn group_of(child: Pid) -> Pid {
    nix::unistd::getpgid(Some(child)).unwrap_or_else(|_| getpgrp())
}
