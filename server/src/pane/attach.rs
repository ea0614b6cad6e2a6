//! Having the pane recorded: the pipe, the recorder's pulse, the nonce.

use super::*;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::OpenOptionsExt as _;

use nix::sys::stat::Mode;
use nix::unistd::{mkfifo, ttyname};

use crate::record::ALIVE_FIFO;
use crate::store::files;

/// Random bytes in a nonce.
const NONCE_BYTES: usize = 16;

/// What becomes of a pipe that the pane has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pipe {
    /// It stays: replacing a live one loses output.
    IfNone,
    /// It is replaced: its reader was killed, which tmux does not notice before it next has something for it.
    InPlaceOfADeadOne,
}

/// A pane that is being recorded.
#[derive(Debug)]
pub(super) struct Recording {
    dir: PathBuf,
    nonce: String,
    tmux: Tmux,
    recorder: PathBuf,
    tty: PathBuf,
    /// Readable end of the recorder's FIFO, from attaching until the recorder is gone.
    fifo: Option<File>,
    /// The recorder has said that it records.
    confirmed: bool,
}

impl Recording {
    /// Has this pane's output written to `dir` from its first byte on.
    pub(super) fn begin(dir: &Path) -> io::Result<Self> {
        files::check_dir(dir)?;
        // There before the recorder is, so that the end of a short command has a log to wait for.
        drop(files::append(&dir.join("raw.log"))?);
        let tmux = Tmux::of_this_pane().ok_or_else(|| io::Error::other("this is no pane of tmux"))?;
        let tty = ttyname(io::stdin())?;
        let mut recording = Self {
            dir: dir.to_owned(),
            nonce: nonce(dir)?,
            tmux,
            recorder: recorder(dir)?,
            tty,
            fifo: None,
            confirmed: false,
        };
        recording.attach(Pipe::IfNone)?;
        Ok(recording)
    }

    pub(super) fn nonce(&self) -> &str {
        &self.nonce
    }

    pub(super) fn dir(&self) -> &Path {
        &self.dir
    }

    pub(super) fn tty(&self) -> &Path {
        &self.tty
    }

    pub(super) fn fifo(&self) -> Option<&File> {
        self.fifo.as_ref()
    }

    /// Opens the pane's pipe. When this returns, tmux keeps whatever is printed for the recorder.
    pub(super) fn attach(&mut self, pipe: Pipe) -> io::Result<()> {
        self.confirmed = false;
        self.fifo = pulse(&self.dir.join(ALIVE_FIFO)).ok();
        let mut shell = b"exec ".to_vec();
        for word in [self.recorder.as_os_str(), OsStr::new("record"), self.dir.as_os_str(), self.tty.as_os_str()] {
            shell.extend(shell_word(word));
            shell.push(b' ');
        }
        self.tmux.pipe(&shell, pipe)
    }

    /// Whether the recorder was killed since it was attached. One whose pipe was closed in order (someone else has
    /// taken the pipe, or closed it) is not replaced, and neither is one that could not begin.
    pub(super) fn recorder_died(&mut self) -> bool {
        let Some(mut fifo) = self.fifo.as_ref() else { return false };
        let mut byte = [0; 1];
        match fifo.read(&mut byte) {
            Ok(1..) => {
                self.confirmed = true;
                // Both ends are open: the name has served, and would only trip whoever reads the directory.
                drop(std::fs::remove_file(self.dir.join(ALIVE_FIFO)));
                false
            }
            Ok(0) if self.hung_up() => {
                self.fifo = None;
                self.confirmed && !self.ended_in_order()
            }
            _ => false,
        }
    }

    /// Whether a recorder had the FIFO open and is gone; an end of file alone is also what comes before the first.
    fn hung_up(&self) -> bool {
        let Some(fifo) = self.fifo.as_ref() else { return false };
        let mut fds = [PollFd::new(fifo.as_fd(), PollFlags::POLLIN)];
        let _ = poll(&mut fds, PollTimeout::ZERO);
        fds.iter().any(|fd| fd.revents().is_some_and(|events| events.contains(PollFlags::POLLHUP)))
    }

    fn ended_in_order(&self) -> bool {
        files::read(&self.dir.join("timing")).is_ok_and(|timing| timing.ends_with(b" end\n"))
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        if !self.confirmed {
            drop(std::fs::remove_file(self.dir.join(ALIVE_FIFO)));
        }
    }
}

/// The tmux server whose pane this is.
#[derive(Debug)]
struct Tmux {
    socket: OsString,
    pid: String,
    pane: String,
}

impl Tmux {
    fn of_this_pane() -> Option<Self> {
        // SOCKET,PID,SESSION; a socket's path may hold commas.
        let tmux = std::env::var_os("TMUX")?.into_vec();
        let mut fields = tmux.rsplitn(3, |byte| *byte == b',');
        let (_, pid, socket) = (fields.next()?, fields.next()?, fields.next()?);
        let pane = std::env::var("TMUX_PANE").ok()?;
        let digits = pane.strip_prefix('%')?;
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let pid = std::str::from_utf8(pid).ok()?.parse::<u32>().ok()?.to_string();
        Some(Self { socket: OsStr::from_bytes(socket).to_owned(), pid, pane })
    }

    /// `pipe-pane -O` for this pane. Never `-o`, which would close a pipe that is there.
    fn pipe(&self, shell: &[u8], pipe: Pipe) -> io::Result<()> {
        let condition = match pipe {
            Pipe::IfNone => "#{?pane_pipe,0,1}",
            Pipe::InPlaceOfADeadOne => "1",
        };
        let mut command = format!("pipe-pane -O -t {} ", self.pane).into_bytes();
        command.extend(tmux_word(shell));
        let run = |program: &Path| {
            Command::new(program)
                .arg("-S")
                .arg(&self.socket)
                .args(["if-shell", "-F", "-t", &self.pane, condition])
                .arg(OsStr::from_bytes(&command))
                .stdin(std::process::Stdio::null())
                .env_remove("TMUX")
                // A key pressed now is meant for the command, not for this.
                .process_group(0)
                .output()
        };
        // The server's own binary speaks its language, whatever PATH has and whether or not it was upgraded since.
        let output = run(&Path::new("/proc").join(&self.pid).join("exe")).or_else(|_| run(Path::new("tmux")))?;
        if output.status.success() {
            return Ok(());
        }
        Err(io::Error::other(format!("tmux: {}", String::from_utf8_lossy(&output.stderr).trim())))
    }
}

/// Quotes a word for sh inside a pipe's command, which tmux expands as a format and as a time first.
fn shell_word(word: &OsStr) -> Vec<u8> {
    let mut quoted = vec![b'\''];
    for byte in word.as_bytes() {
        match byte {
            b'\'' => quoted.extend(b"'\\''"),
            b'%' => quoted.extend(b"%%"),
            // tmux leaves `##[` alone, so what follows must not be a bracket.
            b'#' => quoted.extend(b"##''"),
            byte => quoted.push(*byte),
        }
    }
    quoted.push(b'\'');
    quoted
}

/// Quotes a word for tmux's own command language.
fn tmux_word(word: &[u8]) -> Vec<u8> {
    let mut quoted = vec![b'\''];
    for byte in word {
        match byte {
            b'\'' => quoted.extend(b"'\\''"),
            byte => quoted.push(*byte),
        }
    }
    quoted.push(b'\'');
    quoted
}

/// A fresh FIFO, open for reading.
fn pulse(path: &Path) -> io::Result<File> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    mkfifo(path, Mode::S_IRUSR | Mode::S_IWUSR)?;
    let flags = libc::O_NONBLOCK | libc::O_NOFOLLOW | libc::O_CLOEXEC;
    File::options().read(true).custom_flags(flags).open(path)
}

/// The program that records: this one, or the copy that stands beside the sessions.
fn recorder(dir: &Path) -> io::Result<PathBuf> {
    let own = std::env::current_exe().ok().filter(|path| path.is_file());
    let kept = || dir.ancestors().nth(2).map(|home| home.join("bin/dtmcp")).filter(|path| path.is_file());
    own.or_else(kept).ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "the dtmcp command has gone"))
}

/// The session's nonce: the one that stands in `DIR/nonce`, or a new one that is put there.
fn nonce(dir: &Path) -> io::Result<String> {
    let path = dir.join("nonce");
    let mut random = [0; NONCE_BYTES];
    getrandom::fill(&mut random).map_err(io::Error::other)?;
    let fresh: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
    match files::create_new(&path) {
        Ok(mut file) => file.write_all(fresh.as_bytes()).map(|()| fresh),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => kept_nonce(&path),
        Err(error) => Err(error),
    }
}

fn kept_nonce(path: &Path) -> io::Result<String> {
    let kept = String::from_utf8_lossy(&files::read(path)?).trim_end().to_owned();
    if kept.len() < 2 * NONCE_BYTES || !kept.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(io::Error::other(format!("{} holds no nonce", path.display())));
    }
    Ok(kept)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn a_path_survives_tmux_and_sh() {
        assert_eq!(shell_word(OsStr::new("a b")), b"'a b'");
        assert_eq!(shell_word(OsStr::new("it's")), b"'it'\\''s'");
        assert_eq!(shell_word(OsStr::new("100%#[x]#{y}")), b"'100%%##''[x]##''{y}'");
        assert_eq!(tmux_word(b"exec 'a;b'"), b"'exec '\\''a;b'\\'''");
    }

    #[test]
    fn a_nonce_is_drawn_once_and_kept() {
        let dir = tempfile::tempdir().unwrap();
        let first = nonce(dir.path()).unwrap();
        assert_eq!(first.len(), 32);
        assert_eq!(nonce(dir.path()).unwrap(), first);
        files::replace(&dir.path().join("nonce"), b"short").unwrap();
        nonce(dir.path()).unwrap_err();
    }
}
