//! `dtmcp ancestor SOCKET -- TMUX...`: a process that starts the tmux server and stays its ancestor, because an
//! ancestor may look.
//!
//! Where Yama's `ptrace_scope` is 1, a process may read the calls of its descendants' threads, and of nobody else's.
//! tmux leaves whoever started it; a process that has taken over the orphans among its descendants
//! (`PR_SET_CHILD_SUBREAPER`) becomes its parent then, and so an ancestor of all that runs in panes. It has to be a
//! process of its own: the server comes and goes. This one starts tmux, answers which call a thread sleeps in over a
//! Unix socket in the state directory, takes care of the remains of orphans, and ends with tmux.
//!
//! Nothing depends on it. Where it is not there or was killed, the server sees as much as it may by itself, and tmux
//! goes on.

mod asking;
mod clients;
mod protocol;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use dtmcp_core::inspect::{FdProbe as _, ProcessId};
use dtmcp_linux_proc::is_below;
use dtmcp_ptrace_fds::PtraceFds;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

pub use asking::Attended;
use clients::Clients;
use protocol::{Answer, Request};

/// What it prints once it serves. Anything else that it prints is why it does not.
pub(crate) const READY: &str = "ready";

/// How many processes are remembered as descendants: once one, they stay that. One that is forgotten is only looked up
/// again.
const REMEMBERED_MAX: usize = 256;

/// How long it does nothing after it could not wait for news or take somebody in, so that it does not spin.
const TROUBLED: Duration = Duration::from_millis(100);

/// The socket of the ancestor of the tmux server on this tmux socket.
#[must_use]
pub fn socket_path(home: &Path, tmux_socket: &str) -> PathBuf {
    home.join(format!("ancestor-{tmux_socket}.sock"))
}

/// Starts tmux and serves until it has ended.
///
/// `args` are SOCKET, `--` and the command that starts tmux in the background and prints the server's process id.
#[must_use]
pub fn main(args: &[OsString]) -> ExitCode {
    let [socket, dashes, command @ ..] = args else { return complain("usage: dtmcp ancestor SOCKET -- TMUX...") };
    if dashes != "--" || command.is_empty() {
        return complain("usage: dtmcp ancestor SOCKET -- TMUX...");
    }
    close_inherited();
    let mut ancestor = match Ancestor::begin(Path::new(socket), command) {
        Ok(ancestor) => ancestor,
        Err(error) => return complain(&error),
    };
    // The server may be gone by now.
    drop(writeln!(io::stdout(), "{READY}"));
    leave_streams();
    ancestor.run();
    ExitCode::SUCCESS
}

fn complain(what: &str) -> ExitCode {
    drop(writeln!(io::stderr(), "{what}"));
    ExitCode::FAILURE
}

/// Closes what was left open by whoever started the server, for us and so for tmux: whoever reads such a pipe to its
/// end would wait for as long as we live.
fn close_inherited() {
    let open: Vec<i32> = std::fs::read_dir("/proc/self/fd")
        .map(|entries| entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect())
        .unwrap_or_default();
    for fd in open.into_iter().filter(|fd| *fd > 2) {
        // The directory's own is closed already. Nothing of ours is open yet.
        let _ = nix::unistd::close(fd);
    }
}

/// Lets go of the streams we were started with, for the same reason.
fn leave_streams() {
    if let Ok(null) = File::options().read(true).write(true).open("/dev/null") {
        let _ = nix::unistd::dup2_stdin(&null);
        let _ = nix::unistd::dup2_stdout(&null);
        let _ = nix::unistd::dup2_stderr(&null);
    }
    // No file system is held that somebody may want to take away.
    drop(std::env::set_current_dir("/"));
}

#[derive(Debug)]
struct Ancestor {
    tmux: Pid,
    signals: SignalFd,
    listener: Listening,
    clients: Clients,
    probe: PtraceFds,
    /// Descendants, as far as they were asked for.
    known: BTreeSet<ProcessId>,
}

impl Ancestor {
    /// Starts tmux as a descendant.
    ///
    /// # Errors
    /// In words. tmux may run all the same, and is then nobody's descendant.
    fn begin(socket: &Path, command: &[OsString]) -> Result<Self, String> {
        // Whatever ends the process group of the server leaves us alone. Where we lead a group of our own already, as
        // when a person tries the command, that is so.
        let _ = nix::unistd::setsid();
        nix::sys::prctl::set_child_subreaper(true)
            .map_err(|error| format!("orphans cannot be taken over: {}", error.desc()))?;
        let listener = Listening::on(socket).map_err(|error| format!("{}: {error}", socket.display()))?;
        let tmux = start(command)?;
        // From here on, and not before: what we start would inherit it.
        let mask = SigSet::from(Signal::SIGCHLD);
        let signals = mask
            .thread_block()
            .and_then(|()| SignalFd::with_flags(&mask, SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC))
            .map_err(|error| format!("ended processes cannot be waited for: {}", error.desc()))?;
        let (clients, probe, known) = (Clients::default(), PtraceFds::new(), BTreeSet::new());
        Ok(Self { tmux, signals, listener, clients, probe, known })
    }

    fn run(&mut self) {
        while self.tends() {
            let now = Instant::now();
            let waited = self.await_news(now);
            let now = Instant::now();
            let accepted = self.clients.accept(&self.listener.socket, now);
            if waited.is_err() || accepted.is_err() {
                std::thread::sleep(TROUBLED);
            }
            let (probe, known) = (&self.probe, &mut self.known);
            self.clients.serve(now, |request| answer(probe, known, request));
        }
    }

    /// Takes care of all that have ended; false once tmux has.
    fn tends(&self) -> bool {
        while let Ok(Some(_)) = self.signals.read_signal() {}
        loop {
            match waitpid(None, Some(WaitPidFlag::WNOHANG)) {
                Ok(WaitStatus::StillAlive) => return true,
                Ok(WaitStatus::Exited(pid, _) | WaitStatus::Signaled(pid, _, _)) if pid == self.tmux => return false,
                Ok(_) | Err(Errno::EINTR) => {}
                // There is nobody left to wait for, tmux included.
                Err(_) => return false,
            }
        }
    }

    fn await_news(&mut self, now: Instant) -> nix::Result<()> {
        let patience = self.clients.patience();
        let mut fds = vec![
            PollFd::new(self.signals.as_fd(), PollFlags::POLLIN),
            PollFd::new(self.listener.socket.as_fd(), PollFlags::POLLIN),
        ];
        let clients = self.clients.listened_to(now);
        fds.extend(clients.into_iter().map(|client| PollFd::new(client, PollFlags::POLLIN)));
        // Rounded up: half a millisecond would come to none.
        let timeout = patience.map_or(PollTimeout::NONE, |time| {
            PollTimeout::try_from(time.as_micros().div_ceil(1000)).unwrap_or(PollTimeout::MAX)
        });
        match poll(&mut fds, timeout) {
            Ok(_) | Err(Errno::EINTR) => Ok(()),
            Err(error) => Err(error),
        }
    }
}

/// Which call a thread sleeps in, where its process is a descendant.
///
/// Others are not even tried. What the kernel would say to an ancestor of nobody's it says to the asker as well, and
/// each try of that kind is written to the kernel's log, under our name.
fn answer(probe: &PtraceFds, known: &mut BTreeSet<ProcessId>, request: Request) -> Answer {
    if !known.contains(&request.process) {
        if !is_below(request.process, std::process::id()) {
            return Answer::Stranger;
        }
        if known.len() >= REMEMBERED_MAX {
            known.pop_first();
        }
        known.insert(request.process);
    }
    let call = probe.call(request.process, request.tid);
    probe.refusal().map_or(Answer::Call(call), Answer::Kept)
}

/// Starts tmux in the background and gives its server's process.
fn start(command: &[OsString]) -> Result<Pid, String> {
    let Some((program, arguments)) = command.split_first() else { return Err("nothing to start".to_owned()) };
    let started = Command::new(program).args(arguments).stdin(Stdio::null()).output();
    let started = started.map_err(|error| format!("{}: {error}", program.display()))?;
    let said = String::from_utf8_lossy(if started.status.success() { &started.stdout } else { &started.stderr });
    let said = said.trim();
    let pid: u32 = said.parse().map_err(|_| format!("tmux was not started: {said}"))?;
    let pid_and_start = |pid| Some(ProcessId { pid, start: crate::terminal::start_ticks(pid)? });
    if !pid_and_start(pid).is_some_and(|server| is_below(server, std::process::id())) {
        return Err(format!("the tmux server, process {pid}, was started by somebody else"));
    }
    i32::try_from(pid).map(Pid::from_raw).map_err(|_| format!("tmux was not started: {said}"))
}

/// A socket that is listened on, and taken away in the end unless another one has its name by then.
#[derive(Debug)]
struct Listening {
    socket: UnixListener,
    path: PathBuf,
    inode: u64,
}

impl Listening {
    /// In place of one that a killed ancestor left, or one whose tmux has another socket directory.
    fn on(path: &Path) -> io::Result<Self> {
        let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
        crate::store::files::check_dir(dir)?;
        let name = path.file_name().ok_or_else(|| io::Error::other("no name for a socket"))?;
        // Bound under another name first, so that nobody ever sees it with wider modes, and by way of the open
        // directory: a socket's path may have 107 bytes, and a state directory may be anywhere.
        let dir = File::open(dir)?;
        let short = near(&dir, format!(".{}.new", std::process::id()).as_ref());
        drop(std::fs::remove_file(&short));
        let socket = UnixListener::bind(&short)?;
        std::fs::set_permissions(&short, std::fs::Permissions::from_mode(0o600))?;
        let inode = std::fs::symlink_metadata(&short)?.ino();
        std::fs::rename(&short, near(&dir, name))?;
        socket.set_nonblocking(true)?;
        Ok(Self { socket, path: path.to_owned(), inode })
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        if std::fs::symlink_metadata(&self.path).is_ok_and(|meta| meta.ino() == self.inode) {
            drop(std::fs::remove_file(&self.path));
        }
    }
}

/// A file in an open directory, by a path that is always short.
fn near(dir: &File, name: &std::ffi::OsStr) -> PathBuf {
    use std::os::fd::AsRawFd as _;
    Path::new("/proc/self/fd").join(dir.as_raw_fd().to_string()).join(std::ffi::OsStr::from_bytes(name.as_bytes()))
}
