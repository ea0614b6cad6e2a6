//! One server per state directory.
//!
//! The lock is the kernel's, on `HOME/lock`, so it goes with the process that has it, however that ends. The file also
//! says who has it: for the message to whoever comes second, and because a home that several hosts share may be on a
//! file system whose locks hold on one host only. There the content decides. The file is never removed: two servers
//! could then each hold a lock on a file of that name.

use std::fmt;
use std::fs::{File, TryLockError};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::files;
use crate::terminal::start_ticks;

/// The process that has a state directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// Version of the format, 1.
    v: u32,
    /// Its host's name.
    pub host: String,
    /// Tells one boot of that host from the next.
    pub boot: String,
    /// Its process id there.
    pub pid: u32,
    /// When the kernel started that process, in clock ticks since boot.
    pub start: u64,
}

impl Holder {
    fn this_process() -> io::Result<Self> {
        let pid = std::process::id();
        let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        Ok(Self {
            v: 1,
            host: nix::unistd::gethostname()?.to_string_lossy().into_owned(),
            boot: boot.trim().to_owned(),
            pid,
            start: start_ticks(pid).unwrap_or_default(),
        })
    }

    /// Whether it may still run, as far as can be told from `here`.
    fn may_run(&self, here: &Self) -> bool {
        if self.host != here.host {
            // Nothing can be known of another host's processes.
            return true;
        }
        self.boot == here.boot && start_ticks(self.pid) == Some(self.start)
    }
}

/// Why the directory cannot be had.
#[derive(Debug)]
pub enum LockError {
    /// Another server has it; unknown only where that one is just starting.
    Held {
        /// The lock's file.
        path: PathBuf,
        /// Who has it.
        holder: Option<Holder>,
        /// It is another host, whose end is not seen from here.
        elsewhere: bool,
    },
    /// The file cannot be used.
    Io(io::Error),
}

impl fmt::Display for LockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Held { path, holder: Some(holder), elsewhere } => {
                let dir = path.parent().unwrap_or(path).display();
                write!(f, "another dtmcp has {dir}: process {} on host {}.", holder.pid, holder.host)?;
                if *elsewhere {
                    return write!(f, " If it does not run any more, empty {} and start again.", path.display());
                }
                f.write_str(
                    " Use that one, end it, or give this one a state directory of its own with \
                     DOCENT_TERMINAL_MCP_HOME (and DOCENT_TERMINAL_MCP_SOCKET).",
                )
            }
            Self::Held { path, .. } => {
                let dir = path.parent().unwrap_or(path).display();
                write!(f, "another dtmcp is just starting with {dir}; try again.")
            }
            Self::Io(error) => write!(f, "the state directory cannot be locked: {error}"),
        }
    }
}

impl std::error::Error for LockError {}

/// Who wrote its name into the lock's file at `path`. It may have ended since.
#[must_use]
pub fn holder(path: &Path) -> Option<Holder> {
    read(&mut files::open(path).ok()?)
}

/// How long a lock is waited for whose server is gone: a program that it was just starting has a copy of the
/// descriptor until it runs, and on a busy machine that takes a while. Nobody waits for a server that lives.
const GOING: Duration = Duration::from_secs(5);
const GOING_STEP: Duration = Duration::from_millis(10);

/// The right to use a state directory; given back when dropped.
#[derive(Debug)]
pub struct Lock {
    file: File,
}

impl Lock {
    /// Takes the state directory whose lock's file this is.
    ///
    /// # Errors
    /// [`LockError::Held`] where another server has it.
    pub fn take(path: &Path) -> Result<Self, LockError> {
        let here = Holder::this_process().map_err(LockError::Io)?;
        Self::take_as(path, &here)
    }

    fn take_as(path: &Path, here: &Holder) -> Result<Self, LockError> {
        let mut file = files::open_or_create(path).map_err(LockError::Io)?;
        let held = |holder: Option<Holder>| {
            let elsewhere = holder.as_ref().is_some_and(|holder| holder.host != here.host);
            LockError::Held { path: path.to_owned(), holder, elsewhere }
        };
        let begin = Instant::now();
        let locked = loop {
            match file.try_lock() {
                Err(TryLockError::WouldBlock) => {
                    let holder = read(&mut file);
                    // One that has not written its name yet is about to.
                    if begin.elapsed() >= GOING || holder.as_ref().is_some_and(|holder| holder.may_run(here)) {
                        return Err(held(holder));
                    }
                    std::thread::sleep(GOING_STEP);
                }
                Ok(()) => break true,
                // A file system without locks: the content is all there is.
                Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => break false,
                Err(TryLockError::Error(error)) if error.raw_os_error() == Some(libc::ENOLCK) => break false,
                Err(TryLockError::Error(error)) => return Err(LockError::Io(files::at(path, &error))),
            }
        };
        if let Some(holder) = read(&mut file) {
            // Where the kernel gave us the lock, no process of this host has it.
            let elsewhere = holder.host != here.host;
            if (elsewhere || !locked) && holder.may_run(here) {
                return Err(held(Some(holder)));
            }
        }
        write(&mut file, here).map_err(|error| LockError::Io(files::at(path, &error)))?;
        Ok(Self { file })
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Another host has only the content to go by. The lock itself goes with the descriptor.
        drop(self.file.set_len(0));
    }
}

fn read(file: &mut File) -> Option<Holder> {
    let mut bytes = Vec::new();
    file.rewind().ok()?;
    file.read_to_end(&mut bytes).ok()?;
    serde_json::from_slice(&bytes).ok()
}

fn write(file: &mut File, holder: &Holder) -> io::Result<()> {
    let json = serde_json::to_vec(holder)?;
    file.set_len(0)?;
    file.rewind()?;
    file.write_all(&json)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn a_second_server_is_told_who_the_first_is() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lock");
        let first = Lock::take(&path).unwrap();
        let LockError::Held { holder: Some(holder), elsewhere: false, .. } = Lock::take(&path).unwrap_err() else {
            panic!("held by this process")
        };
        assert_eq!((holder.pid, holder.host), (std::process::id(), Holder::this_process().unwrap().host));
        let said = Lock::take(&path).unwrap_err().to_string();
        assert!(said.contains(&format!("process {} on host", std::process::id())), "{said}");
        drop(first);
        drop(Lock::take(&path).unwrap());
    }

    #[test]
    fn what_a_killed_server_leaves_is_taken_over() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lock");
        let here = Holder::this_process().unwrap();
        for left in ["", "{\"v\":1,\"ho", &serde_json::to_string(&Holder { pid: 1, ..here.clone() }).unwrap()] {
            files::replace(&path, left.as_bytes()).unwrap();
            drop(Lock::take(&path).unwrap());
        }
    }

    #[test]
    fn a_lock_that_outlives_its_server_for_a_moment_is_waited_for() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lock");
        let here = Holder::this_process().unwrap();
        let mut gone = std::process::Command::new("true").spawn().unwrap();
        let dead = Holder { pid: gone.id(), start: 1, ..here };
        gone.wait().unwrap();
        // As a program holds it that the dead server was just starting.
        let mut child = files::open_or_create(&path).unwrap();
        child.try_lock().unwrap();
        write(&mut child, &dead).unwrap();
        let taking = std::thread::spawn({
            let path = path.clone();
            move || Lock::take(&path)
        });
        drop(child);
        drop(taking.join().unwrap().unwrap());
    }

    #[test]
    fn another_hosts_server_counts_until_it_lets_go() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lock");
        let far = Holder { host: "far".to_owned(), boot: "b".to_owned(), ..Holder::this_process().unwrap() };
        files::replace(&path, &serde_json::to_vec(&far).unwrap()).unwrap();
        let error = Lock::take(&path).unwrap_err();
        assert!(matches!(&error, LockError::Held { elsewhere: true, .. }));
        assert!(error.to_string().contains("on host far") && error.to_string().contains("empty"), "{error}");
        drop(Lock::take_as(&path, &far).unwrap());
        drop(Lock::take(&path).unwrap());
    }
}
