//! Getting to a tmux server: which binary, which socket, and what to do where the socket is gone.

use std::ffi::OsString;
use std::fs::File;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{FileTypeExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::sys::stat::Mode;
use nix::unistd::{Pid, geteuid};
use serde::{Deserialize, Serialize};
use tokio::process::Command;

use super::scrub::scrub;
use super::{TerminalError, TmuxConfig, Version};
use crate::store::files;

/// Where a variable's value stands in an environment.
pub(super) fn variable<'a>(env: &'a [(OsString, OsString)], name: &str) -> Option<&'a OsString> {
    env.iter().find(|(key, _)| key == name).map(|(_, value)| value).filter(|value| !value.is_empty())
}

/// The `tmux` on PATH, where there is one.
pub(super) fn find(env: &[(OsString, OsString)]) -> Option<PathBuf> {
    on_path(env, "tmux")
}

fn on_path(env: &[(OsString, OsString)], program: &str) -> Option<PathBuf> {
    let path = variable(env, "PATH")?;
    std::env::split_paths(path).map(|dir| dir.join(program)).find(|file| nix::unistd::access(file, EXECUTABLE).is_ok())
}

const EXECUTABLE: nix::unistd::AccessFlags = nix::unistd::AccessFlags::X_OK;

/// The socket that tmux uses for a name: `$TMUX_TMPDIR` or /tmp, a directory for the user, the name.
pub(super) fn socket_path(env: &[(OsString, OsString)], name: &str) -> PathBuf {
    let base = variable(env, "TMUX_TMPDIR").map_or_else(|| PathBuf::from("/tmp"), PathBuf::from);
    let base = base.canonicalize().unwrap_or(base);
    base.join(format!("tmux-{}", geteuid())).join(name)
}

/// A command of the tmux at `program`, in an environment without what our client put there for itself.
pub(super) fn command(program: &Path, env: &[(OsString, OsString)]) -> Command {
    let mut command = Command::new(program);
    command.env_clear().envs(scrub(env.iter().cloned()));
    command
}

/// A command that may start a tmux server, whose sessions get the limit of open files that we were started with. It
/// becomes the program in the end, so its streams and its process are the program's.
pub(super) fn starting(program: &Path, env: &[(OsString, OsString)]) -> Command {
    let Some(limit) = crate::descriptors::before() else { return command(program, env) };
    let mut command = command(Path::new("/bin/sh"), env);
    command.arg("-c").arg("ulimit -S -n \"$0\" 2>/dev/null; exec \"$@\"").arg(limit.to_string()).arg(program);
    command
}

/// The command of a tmux server that systemd puts into a scope of its own; none where there is no `systemd-run`. It becomes
/// tmux in the end, so its streams and its process are tmux's.
pub(super) fn scope(config: &TmuxConfig, program: &Path) -> Option<Command> {
    let mut command = starting(&on_path(&config.env, "systemd-run")?, &config.env);
    command.args(["--user", "--scope", "--quiet", "--collect"]);
    command.arg(format!("--unit=docent-terminal-mcp-tmux-{}", unit_name(&config.socket))).arg("--").arg(program);
    Some(command)
}

/// A socket's name in the characters that a unit's name may have.
fn unit_name(socket: &str) -> String {
    socket.chars().map(|c| if c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-') { c } else { '_' }).collect()
}

/// Asks the tmux at `program` for its version.
///
/// # Errors
/// [`TerminalError::TooOld`], and where it cannot be run.
pub(super) async fn check_version(program: &Path, env: &[(OsString, OsString)]) -> Result<(), TerminalError> {
    let output = command(program, env).arg("-V").stdin(std::process::Stdio::null()).kill_on_drop(true).output().await?;
    let text = String::from_utf8_lossy(&output.stdout);
    match Version::parse(&text) {
        Some(version) if version < Version::OLDEST => Err(TerminalError::TooOld(text.trim().to_owned())),
        // Before 1.4 tmux had no -V.
        None if text.trim().is_empty() => Err(TerminalError::TooOld("a tmux that does not tell its version".into())),
        _ => Ok(()),
    }
}

/// `HOME/tmux.json`: the server that holds our sessions, so that it can be found when its socket cannot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ServerRecord {
    /// Version of the format, 1.
    v: u32,
    /// Its process id.
    pub(super) pid: u32,
    /// When the kernel started that process, in clock ticks since boot: tells it from a later one of the same id.
    ticks: u64,
    /// Its socket.
    socket: PathBuf,
    /// Our control client, by its process id and start; none in a record of an earlier version.
    #[serde(default)]
    client: Option<(u32, u64)>,
}

impl ServerRecord {
    /// The record of a running server, and of our control client's process.
    pub(super) fn of(pid: u32, socket: PathBuf, client: u32) -> Option<Self> {
        let client = start_ticks(client).map(|ticks| (client, ticks));
        Some(Self { v: 1, pid, ticks: start_ticks(pid)?, socket, client })
    }

    /// Ends the control client of an earlier server where it is still there; true if it was.
    ///
    /// tmux that is to end waits until each client has been told so, and for one whose reader has gone with its server
    /// it waits for ever. Until then it keeps its socket, turns everybody away, and no other can take its place.
    pub(super) fn end_client(&self) -> bool {
        let Some((pid, ticks)) = self.client else { return false };
        let is_there = start_ticks(pid) == Some(ticks);
        if is_there {
            end_stale_clients(&[pid.to_string().into_bytes()], 0);
        }
        is_there
    }

    /// Reads it; a record that is missing or torn is none.
    pub(super) fn load(path: &Path) -> Option<Self> {
        serde_json::from_slice(&files::read(path).ok()?).ok()
    }

    /// Writes it, unless it stands there already.
    pub(super) fn save(&self, path: &Path) {
        if Self::load(path).as_ref() != Some(self)
            && let Ok(json) = serde_json::to_vec(self)
        {
            // Without it only a removed socket cannot be mended.
            drop(files::replace(path, &json));
        }
    }

    /// Whether that very process still runs.
    pub(super) fn is_alive(&self) -> bool {
        start_ticks(self.pid) == Some(self.ticks)
    }

    /// Has the server make its socket anew where somebody removed it: a cleaner of /tmp, mostly. Connecting would
    /// otherwise start a second server and leave every session behind, out of reach.
    pub(super) async fn mend_socket(&self, socket: &Path) {
        let is_socket = || std::fs::symlink_metadata(socket).is_ok_and(|meta| meta.file_type().is_socket());
        if self.socket != socket || is_socket() || !self.is_alive() {
            return;
        }
        let Ok(pid) = i32::try_from(self.pid) else { return };
        // The directory may be gone as well, and the server makes only the socket.
        if let Some(dir) = socket.parent() {
            drop(files::make_dir(dir));
        }
        if kill(Pid::from_raw(pid), Signal::SIGUSR1).is_err() {
            return;
        }
        for _ in 0..MEND_LOOKS {
            if is_socket() {
                return;
            }
            tokio::time::sleep(MEND_STEP).await;
        }
    }
}

/// How often, and how many times, the socket is looked for; in all one second.
const MEND_STEP: Duration = Duration::from_millis(10);
const MEND_LOOKS: u32 = 100;

/// When a process was started, in clock ticks since boot; `None` where there is none, or only its remains.
pub(crate) fn start_ticks(pid: u32) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The command's name comes second, in parentheses, and may hold anything.
    let mut fields = stat.get(stat.rfind(')')? + 2..)?.split(' ');
    let state = fields.next()?;
    // The 22nd field; the state was the third.
    let ticks = fields.nth(18)?.parse().ok()?;
    (state != "Z" && state != "X").then_some(ticks)
}

/// A FIFO in the state directory that is open for as long as we live.
#[derive(Debug)]
pub(super) struct Lifeline {
    path: PathBuf,
    _held: File,
}

impl Lifeline {
    /// Opens it, and makes it where there is none.
    pub(super) fn open(home: &Path) -> std::io::Result<Self> {
        let path = home.join(".lifeline");
        match nix::unistd::mkfifo(&path, Mode::S_IRUSR | Mode::S_IWUSR) {
            Ok(()) | Err(nix::errno::Errno::EEXIST) => {}
            Err(error) => return Err(files::at(&path, &error.into())),
        }
        // For reading as well: with a writer alone, opening it would wait for a reader.
        let flags = libc::O_NONBLOCK | libc::O_NOFOLLOW | libc::O_CLOEXEC;
        let held = File::options().read(true).write(true).custom_flags(flags).open(&path)?;
        if !held.metadata()?.file_type().is_fifo() {
            return Err(std::io::Error::other(format!("{} is no FIFO", path.display())));
        }
        Ok(Self { path, _held: held })
    }

    /// Its name.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

/// The part of an environment that a client needs which starts no server: what tmux copies into new sessions, and what
/// it runs by. The less it has to send, the shorter the time in which tmux 3.3a crashes over whatever happens to a
/// window meanwhile.
pub(super) fn client_environment(env: &[(OsString, OsString)]) -> Vec<(OsString, OsString)> {
    let needed = |name: &OsString| name.to_str().is_some_and(|name| CLIENT_ENVIRONMENT.contains(&name));
    env.iter().filter(|(name, _)| needed(name)).cloned().collect()
}

const CLIENT_ENVIRONMENT: &[&str] = &[
    // The default of `update-environment`.
    "DISPLAY",
    "KRB5CCNAME",
    "MSYSTEM",
    "SSH_ASKPASS",
    "SSH_AUTH_SOCK",
    "SSH_AGENT_PID",
    "SSH_CONNECTION",
    "WINDOWID",
    "XAUTHORITY",
    "HOME",
    "PATH",
    "TERM",
    "TMUX_TMPDIR",
];

/// How often, and how many times, a client of an earlier server is waited for; in all half a second. One that has not
/// left after [`LEAVING_PATIENCE`] looks is not going to by itself.
const LEAVING_STEP: Duration = Duration::from_millis(5);
const LEAVING_LOOKS: u32 = 100;
const LEAVING_PATIENCE: u32 = 20;

/// A tmux that has not answered by then is stopped or hung, which connecting finds out and tells.
const LEAVING_ANSWER: Duration = Duration::from_secs(2);

/// Waits until the control clients of earlier servers of the same state directory have left `sessions`, which hold
/// nothing else.
///
/// tmux 3.3a tells every control client that a client left, and crashes, with every session, where one is just
/// connecting. So we ask by a plain command, which is told nothing, and connect only when ours have gone: whoever
/// restarts a server connects just as the killed one leaves.
pub(super) async fn see_off_clients(program: &Path, config: &TmuxConfig, sessions: &[String]) {
    let format =
        format!("#{{client_pid}} #{{client_control_mode}} #{{session_name}} #{{{}}}", super::argv::HOME_OPTION);
    let home = config.home.as_os_str().as_bytes();
    let tails: Vec<Vec<u8>> = sessions.iter().map(|name| [format!("1 {name} ").as_bytes(), home].concat()).collect();
    for look in 0..LEAVING_LOOKS {
        let mut list = command(program, &client_environment(&config.env));
        list.args(["-N", "-L", &config.socket, "list-clients", "-F", &format]);
        // Where tmux cannot be asked, connecting says why.
        let asked = list.stdin(std::process::Stdio::null()).kill_on_drop(true).output();
        let Ok(Ok(listed)) = tokio::time::timeout(LEAVING_ANSWER, asked).await else { return };
        let words = listed.stdout.split(|byte| *byte == b'\n').filter_map(|line| {
            let (pid, tail) = line.split_at_checked(line.iter().position(|byte| *byte == b' ')?)?;
            tails.iter().any(|known| tail.get(1..) == Some(known)).then(|| pid.to_vec())
        });
        let left: Vec<Vec<u8>> = words.collect();
        if left.is_empty() {
            return;
        }
        if look == LEAVING_PATIENCE {
            end_stale_clients(&left, 0);
        }
        tokio::time::sleep(LEAVING_STEP).await;
    }
}

/// Ends clients that a killed server left attached to its session: tmux waits for ever to tell them something. Only
/// `own` is ours.
pub(super) fn end_stale_clients(clients: &[Vec<u8>], own: u32) {
    for pid in clients.iter().filter_map(|line| std::str::from_utf8(line).ok()?.parse::<u32>().ok()) {
        let is_tmux = std::fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|name| name.starts_with("tmux"));
        if pid != own
            && is_tmux
            && let Ok(pid) = i32::try_from(pid)
        {
            // One that is gone by now is just as well.
            kill(Pid::from_raw(pid), Signal::SIGKILL).unwrap_or_default();
        }
    }
}
