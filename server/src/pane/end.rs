//! The end of a pane's command: its status on disk, a marker in the stream, and the wait for its last byte.

use super::*;
use std::io::{Seek as _, SeekFrom};
use std::os::unix::fs::OpenOptionsExt as _;
use std::time::{SystemTime, UNIX_EPOCH};

use memchr::memmem;
use serde::{Deserialize, Serialize};

use crate::store::files;

/// The wait for the marker is given up after this long in which nothing more arrived in the log.
const PATIENCE: Duration = Duration::from_secs(1);

/// And after this long in all: a background job may print for ever.
const PATIENCE_IN_ALL: Duration = Duration::from_secs(10);

/// How often the log is looked at: often at first, since it is usually there at once.
const LOOK_STEP: Duration = Duration::from_millis(1);
const LOOK_STEP_LATER: Duration = Duration::from_millis(10);

/// As much of the log is looked at in one go.
const LOOK_BYTES: u64 = 1 << 20;

/// How the command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// With this status.
    Exited(i32),
    /// By this signal.
    Killed(i32),
}

impl End {
    /// As a shell would give it.
    pub(super) fn status(self) -> u8 {
        match self {
            Self::Exited(status) => u8::try_from(status & 0xff).unwrap_or(u8::MAX),
            Self::Killed(signal) => u8::try_from(128 + signal).unwrap_or(u8::MAX),
        }
    }
}

/// What `DIR/exit` holds: how the session's program ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExitRecord {
    /// Version of the format, 1.
    pub v: u32,
    /// Its exit status, where it exited by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<i32>,
    /// The number of the signal that ended it, where one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
    /// When, in milliseconds since the Unix epoch.
    pub time: u64,
}

impl Recording {
    /// Records the end and waits until all that the command printed is in the log, or until the terminal hangs up.
    pub(super) fn finish(self, end: End, hung_up: impl Fn() -> bool) {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let (status, signal) = match end {
            End::Exited(status) => (Some(status), None),
            End::Killed(signal) => (None, Some(signal)),
        };
        let record = ExitRecord { v: 1, status, signal, time: u64::try_from(since.as_millis()).unwrap_or(u64::MAX) };
        if let Ok(json) = serde_json::to_vec(&record) {
            // A full disk: the marker still tells the status.
            drop(files::replace(&self.dir().join("exit"), &json));
        }
        let Ok(mut log) = files::open(&self.dir().join("raw.log")) else { return };
        let Ok(from) = log.seek(SeekFrom::End(0)) else { return };
        let marker = format!("\x1b]133;E;{};dt={}\x1b\\", end.status(), self.nonce());
        if print(self.tty(), marker.as_bytes()) {
            wait_for(&mut log, from, marker.as_bytes(), hung_up);
        }
    }
}

/// Writes to the terminal through a description of our own, so that one that is stopped (Ctrl-S) cannot hold us.
fn print(tty: &Path, mut bytes: &[u8]) -> bool {
    let flags = libc::O_NONBLOCK | libc::O_NOCTTY | libc::O_CLOEXEC;
    let Ok(mut terminal) = File::options().write(true).custom_flags(flags).open(tty) else { return false };
    let give_up = Instant::now() + PATIENCE;
    while !bytes.is_empty() {
        match terminal.write(bytes) {
            Ok(count) => bytes = bytes.get(count..).unwrap_or_default(),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock && Instant::now() < give_up => {
                std::thread::sleep(LOOK_STEP);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return false,
        }
    }
    true
}

/// Waits until `marker` stands in the log behind offset `from`.
fn wait_for(log: &mut File, from: u64, marker: &[u8], hung_up: impl Fn() -> bool) {
    let begin = Instant::now();
    let mut grown = begin;
    let mut seen = Vec::new();
    if log.seek(SeekFrom::Start(from)).is_err() {
        return;
    }
    loop {
        let before = seen.len();
        // Read to what is the end now; a later look goes on from there.
        let read = io::Read::take(&mut *log, LOOK_BYTES).read_to_end(&mut seen);
        let now = Instant::now();
        if read.is_err() || memmem::find(&seen, marker).is_some() || now - begin > PATIENCE_IN_ALL {
            return;
        }
        if seen.len() > before {
            grown = now;
            // All but what may be the marker's first part.
            seen.drain(..seen.len().saturating_sub(marker.len()));
            continue;
        }
        if hung_up() || now - grown > PATIENCE {
            return;
        }
        std::thread::sleep(if now - begin < 20 * LOOK_STEP { LOOK_STEP } else { LOOK_STEP_LATER });
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn a_status_is_what_a_shell_would_say() {
        assert_eq!(End::Exited(7).status(), 7);
        assert_eq!(End::Killed(9).status(), 137);
    }

    #[test]
    fn the_marker_is_found_behind_the_offset_and_across_reads() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("raw.log");
        files::replace(&path, b"old MARK new ").unwrap();
        let mut reader = files::open(&path).unwrap();
        let writer = std::thread::spawn(move || {
            let mut file = files::append(&path).unwrap();
            for piece in [&b"lots MA"[..], b"RK"] {
                file.write_all(piece).unwrap();
            }
        });
        wait_for(&mut reader, 9, b"MARK", || false);
        writer.join().unwrap();
        // Had it been given up, a whole second would have gone by without it; had the first one counted, the writer
        // could still be at work.
        assert_eq!(files::read(&dir.path().join("raw.log")).unwrap(), b"old MARK new lots MARK");
    }
}
