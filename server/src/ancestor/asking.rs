//! The probe of a server that may not look itself: it has the ancestor look.

use std::fmt;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use dtmcp_core::inspect::{Call, FdProbe, Known, ProcessId, Refusal, Why};
use nix::errno::Errno;
use nix::sys::socket::{AddressFamily, SockFlag, SockType, UnixAddr, connect, socket};

use super::near;
use super::protocol::{ANSWER_MAX, Answer, Odd, Request, VERSION};

/// An answer takes some 50 microseconds. An ancestor that has not given one by then is stopped, or the machine so busy
/// that an inspection is better off without.
const PATIENCE: Duration = Duration::from_millis(250);

/// How long one that was not there or did not answer is left alone.
const LATER: Duration = Duration::from_secs(5);

/// The scope of Yama in which an ancestor may see what others may not.
const ANCESTORS: Refusal = Refusal::Yama(1);

/// A probe that asks the ancestor of all panes where the system lets it read no calls itself.
#[derive(Debug)]
pub struct Attended {
    direct: Arc<dyn FdProbe>,
    socket: PathBuf,
    link: Mutex<Link>,
}

/// What is known of the ancestor.
#[derive(Debug, Default)]
struct Link {
    open: Option<BufReader<UnixStream>>,
    /// Not to be tried again before then.
    later: Option<Instant>,
    told: Told,
    /// Why it last failed, as it was logged.
    logged: Option<Failure>,
}

/// What it has last said of what it may see.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Told {
    #[default]
    Nothing,
    /// It has answered, so it may.
    Answers,
    /// It may not either.
    Kept(Refusal),
}

/// Why the ancestor does not answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Failure {
    /// There is none: tmux was started without one, or it has ended.
    Absent,
    Silent,
    Garbled,
    Version(u32),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absent => f.write_str("there is none: tmux was started without it, or it has ended"),
            Self::Silent => f.write_str("it does not answer"),
            Self::Garbled => f.write_str("its answer was not understood"),
            Self::Version(version) => {
                write!(f, "it speaks version {version} of the protocol, and this server {VERSION}")
            }
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => Self::Silent,
            _ => Self::Absent,
        }
    }
}

impl Attended {
    /// A probe that looks through `direct` and, where that is refused as to everybody but an ancestor, asks the one
    /// that listens on `socket`.
    #[must_use]
    pub fn new(direct: Arc<dyn FdProbe>, socket: PathBuf) -> Self {
        Self { direct, socket, link: Mutex::default() }
    }

    fn link(&self) -> MutexGuard<'_, Link> {
        // Nothing is done under the lock that could leave it half changed.
        self.link.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ask(&self, request: Request) -> Known<Call> {
        let mut link = self.link();
        if link.later.is_some_and(|later| Instant::now() < later) {
            return Known::Unknown(Why::Refused);
        }
        let answer = match exchange(&mut link.open, &self.socket, request) {
            // It may have given up a connection that was not used for long, or been replaced with its tmux.
            Err(Failure::Absent) => exchange(&mut link.open, &self.socket, request),
            answer => answer,
        };
        match answer {
            Ok(Answer::Call(call)) => {
                link.told = Told::Answers;
                (link.later, link.logged) = (None, None);
                call
            }
            // Of a process that was started elsewhere nothing follows for those in the panes.
            Ok(Answer::Stranger) => Known::Unknown(Why::Refused),
            Ok(Answer::Kept(refusal)) => {
                link.told = Told::Kept(refusal);
                link.later = Some(Instant::now() + LATER);
                Known::Unknown(Why::Refused)
            }
            Ok(Answer::What) => link.fails(Failure::Garbled),
            Err(failure) => link.fails(failure),
        }
    }
}

impl Link {
    fn fails(&mut self, failure: Failure) -> Known<Call> {
        self.open = None;
        self.told = Told::Nothing;
        self.later = Some(Instant::now() + LATER);
        if self.logged != Some(failure) {
            self.logged = Some(failure);
            tracing::warn!(
                "the process that may see what programs in the sessions wait for cannot be asked: {failure}"
            );
        }
        Known::Unknown(Why::Refused)
    }
}

/// Asks, over the connection that is open or a new one.
fn exchange(open: &mut Option<BufReader<UnixStream>>, socket: &Path, request: Request) -> Result<Answer, Failure> {
    let mut stream = match open.take() {
        Some(stream) => stream,
        None => dial(socket)?,
    };
    stream.get_mut().write_all(request.line().as_bytes())?;
    let mut line = Vec::new();
    let limit = u64::try_from(ANSWER_MAX).unwrap_or(u64::MAX);
    stream.by_ref().take(limit).read_until(b'\n', &mut line)?;
    let Some(said) = line.strip_suffix(b"\n") else {
        return Err(if line.is_empty() { Failure::Absent } else { Failure::Garbled });
    };
    let answer = Answer::parse(std::str::from_utf8(said).unwrap_or_default()).map_err(|odd| match odd {
        Odd::Version(version) => Failure::Version(version),
        Odd::Garbled => Failure::Garbled,
    })?;
    // Kept only where question and answer are still in step.
    *open = Some(stream);
    Ok(answer)
}

/// Connects without waiting: a listener that is stopped takes a few connections and would then keep us for ever.
fn dial(path: &Path) -> Result<BufReader<UnixStream>, Failure> {
    let refused = |error: Errno| Failure::from(io::Error::from(error));
    let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
    let (Some(dir), Some(name)) = (path.parent(), path.file_name()) else { return Err(Failure::Absent) };
    let dir = File::open(dir)?;
    let fd: OwnedFd = socket(AddressFamily::Unix, SockType::Stream, flags, None).map_err(refused)?;
    connect(fd.as_raw_fd(), &UnixAddr::new(&near(&dir, name)).map_err(refused)?).map_err(refused)?;
    let stream = UnixStream::from(fd);
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    Ok(BufReader::new(stream))
}

impl FdProbe for Attended {
    fn call(&self, process: ProcessId, tid: u32) -> Known<Call> {
        let call = self.direct.call(process, tid);
        if call == Known::Unknown(Why::Refused) && self.direct.refusal() == Some(ANCESTORS) {
            return self.ask(Request { process, tid });
        }
        call
    }

    fn refusal(&self) -> Option<Refusal> {
        let direct = self.direct.refusal()?;
        match self.link().told {
            Told::Answers if direct == ANCESTORS => None,
            Told::Kept(refusal) if direct == ANCESTORS => Some(refusal),
            Told::Answers | Told::Kept(_) | Told::Nothing => Some(direct),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::os::unix::net::UnixListener;

    use super::*;

    /// Lets nobody look, for the reason given.
    #[derive(Debug)]
    struct Closed(Refusal);

    impl FdProbe for Closed {
        fn call(&self, _process: ProcessId, _tid: u32) -> Known<Call> {
            Known::Unknown(Why::Refused)
        }

        fn refusal(&self) -> Option<Refusal> {
            Some(self.0)
        }
    }

    const ASKED: ProcessId = ProcessId { pid: 7, start: 70 };
    const REFUSED: Known<Call> = Known::Unknown(Why::Refused);

    /// A listener that gives one answer to each line, and a probe that asks it.
    fn answering(said: &'static str, refusal: Refusal) -> (Attended, tempfile::TempDir) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("socket");
        let listener = UnixListener::bind(&path).unwrap();
        std::thread::spawn(move || {
            while let Ok((stream, _)) = listener.accept() {
                let mut lines = BufReader::new(stream);
                let mut line = String::new();
                while matches!(lines.read_line(&mut line), Ok(1..)) {
                    lines.get_mut().write_all(said.as_bytes()).unwrap();
                }
            }
        });
        (Attended::new(Arc::new(Closed(refusal)), path), dir)
    }

    #[test]
    fn an_answer_takes_the_refusal_away() {
        let (probe, _dir) = answering("1 reads 5\n", ANCESTORS);
        assert_eq!(probe.refusal(), Some(ANCESTORS));
        assert_eq!(probe.call(ASKED, 7), Known::Known(Call::Reads(5)));
        assert_eq!(probe.call(ASKED, 7), Known::Known(Call::Reads(5)));
        assert_eq!(probe.refusal(), None);
    }

    #[test]
    fn who_speaks_otherwise_is_as_good_as_nobody() {
        for said in ["2 reads 5\n", "1 what\n", "reads 5\n", "\n"] {
            let (probe, _dir) = answering(said, ANCESTORS);
            assert_eq!(probe.call(ASKED, 7), REFUSED, "{said}");
            assert_eq!(probe.refusal(), Some(ANCESTORS), "{said}");
        }
    }

    #[test]
    fn what_the_ancestor_may_not_see_is_told_as_its_refusal() {
        let (probe, _dir) = answering("1 kept 2\n", ANCESTORS);
        assert_eq!(probe.call(ASKED, 7), REFUSED);
        assert_eq!(probe.refusal(), Some(Refusal::Yama(2)));
    }

    #[test]
    fn one_strange_process_says_nothing_of_the_others() {
        let (probe, _dir) = answering("1 stranger\n", ANCESTORS);
        assert_eq!(probe.call(ASKED, 7), REFUSED);
        probe.link().told = Told::Answers;
        assert_eq!(probe.call(ASKED, 7), REFUSED);
        assert_eq!(probe.refusal(), None);
    }

    #[test]
    fn where_an_ancestor_may_not_either_it_is_not_asked() {
        for refusal in [Refusal::Yama(2), Refusal::Policy] {
            let (probe, _dir) = answering("1 reads 5\n", refusal);
            assert_eq!(probe.call(ASKED, 7), REFUSED);
            assert_eq!(probe.refusal(), Some(refusal));
        }
    }

    #[test]
    fn nobody_there_and_nobody_answering_are_left_alone_for_a_while() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("socket");
        let probe = Attended::new(Arc::new(Closed(ANCESTORS)), path.clone());
        assert_eq!(probe.call(ASKED, 7), REFUSED);
        assert!(probe.link().later.is_some());
        // It takes connections, and that is all.
        let _listener = UnixListener::bind(&path).unwrap();
        probe.link().later = None;
        assert_eq!(probe.call(ASKED, 7), REFUSED);
        assert_eq!(probe.link().logged, Some(Failure::Silent));
        assert!(probe.link().later.is_some() && probe.link().open.is_none());
    }
}
