//! `dtmcp record DIR TTY`: the reader of a pane's pipe.
//!
//! tmux gives a pane's bytes to one program; this is it. It appends them to `DIR/raw.log` and keeps `DIR/timing`
//! beside it. It outlives the server, so nothing that is printed depends on one running. On a full disk it keeps
//! reading (tmux would buffer without limit, or drop its pipe), counts what it could not write, and says so in the
//! log as soon as it can. It ends when the pipe is closed and not before.

pub mod timing;

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

use dtmcp_core::cooked::Size;
use dtmcp_core::time::Wall;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{SigSet, Signal};

use crate::store::files;
use timing::{Entry, HEADER, What};

/// The FIFO through which a pane's program learns that its recorder is up, and later that it is gone.
///
/// The pane makes it and reads it; the recorder opens it, writes one byte once it can record, and holds it open for
/// as long as it lives. The pane takes its name away after that byte.
pub const ALIVE_FIFO: &str = ".recorder";

/// As much as is read at once. tmux hands over at most about this much, and more would only be cold in the cache.
const BATCH: usize = 64 * 1024;

/// Batches closer together than this share a record: a burst would otherwise write a line for every few kilobytes.
const TIMING_STEP_MS: u64 = 20;

/// How often a full disk is tried again while nothing is printed.
const RETRY_MS: u16 = 500;

/// Runs the recorder until its standard input ends.
///
/// `args` are DIR and TTY. The exit code is not 0 where nothing could be recorded at all; tmux then sees its pipe
/// close.
#[must_use]
pub fn main(args: &[OsString]) -> ExitCode {
    let [dir, tty] = args else {
        return complain("usage: dtmcp record DIR TTY");
    };
    // Blocked rather than ignored: what is ignored is inherited, and ignoring takes unsafe code. A blocked SIGXFSZ
    // leaves write(2) failing with EFBIG, which is handled; a terminal's or a session's end must not cut the log.
    let signals =
        SigSet::from_iter([Signal::SIGINT, Signal::SIGHUP, Signal::SIGTERM, Signal::SIGXFSZ, Signal::SIGPIPE]);
    if let Err(error) = signals.thread_block() {
        return complain(&format!("dtmcp record: {error}"));
    }
    match Recorder::open(Path::new(dir), Path::new(tty)) {
        Ok(mut recorder) => match io::stdin().as_fd().try_clone_to_owned() {
            Ok(input) => {
                recorder.run(&mut File::from(input));
                ExitCode::SUCCESS
            }
            Err(error) => complain(&format!("dtmcp record: {error}")),
        },
        Err(error) => complain(&format!("dtmcp record: {error}")),
    }
}

fn complain(what: &str) -> ExitCode {
    // tmux gives its pipes /dev/null for this; it is for a person who tries the command by hand.
    drop(writeln!(io::stderr(), "{what}"));
    ExitCode::FAILURE
}

#[derive(Debug)]
struct Recorder {
    raw: File,
    /// Bytes in `raw.log`.
    offset: u64,
    timing: Timing,
    tty: PathBuf,
    size: Option<Size>,
    last: Option<Wall>,
    gap: Option<Gap>,
    /// Held open only so that the pane learns of our end.
    _alive: Option<File>,
}

/// Output that could not be written.
#[derive(Debug)]
struct Gap {
    bytes: u64,
    reason: String,
    /// The note about it, once it has been begun: what is still to be written, and how many bytes it speaks of.
    note: Option<(Vec<u8>, u64)>,
}

impl Recorder {
    fn open(dir: &Path, tty: &Path) -> io::Result<Self> {
        files::check_dir(dir)?;
        let mut raw = files::append(&dir.join("raw.log"))?;
        // One that was here before may still be writing what it had read; two at a time would mix.
        // A file system without locks has only one recorder at a time as well, bar that moment.
        drop(raw.lock());
        let offset = raw.seek(SeekFrom::End(0))?;
        let (timing, ended) = Timing::open(&dir.join("timing"))?;
        let mut recorder = Self {
            raw,
            offset,
            timing,
            tty: tty.to_owned(),
            size: None,
            last: None,
            gap: None,
            _alive: announce(&dir.join(ALIVE_FIFO)),
        };
        if offset > 0 || ended {
            let why = if ended { "the pipe was closed" } else { "the recorder was killed" };
            recorder.resume(why);
        }
        recorder.stamp(0);
        Ok(recorder)
    }

    /// Says that the log has a hole of unknown size where this recorder took over.
    fn resume(&mut self, why: &str) {
        self.timing.write(Entry { offset: self.offset, wall: now(), what: What::Lost(None) });
        // CAN in front ends a control string that the hole may have cut off.
        self.put(format!("\x18\r\n[dtmcp: output may be missing here: {why}]\r\n").as_bytes());
    }

    fn run(&mut self, input: &mut File) {
        let mut buffer = vec![0; BATCH];
        loop {
            if self.gap.is_some() && !readable(input) {
                self.tell_gap();
                continue;
            }
            match input.read(&mut buffer) {
                Ok(0) => break,
                Ok(count) => {
                    if self.gap.is_some() {
                        self.tell_gap();
                    }
                    self.stamp(count);
                    self.put(buffer.get(..count).unwrap_or_default());
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
        self.tell_gap();
        self.timing.write(Entry { offset: self.offset, wall: now(), what: What::End });
    }

    /// Notes the time, and the size where it has changed, before bytes are written that belong to it.
    fn stamp(&mut self, count: usize) {
        let wall = now();
        let size = pane_size(&self.tty).or(self.size);
        if size != self.size
            && let Some(size) = size
        {
            if self.timing.write(Entry { offset: self.offset, wall, what: What::Size(size) }) {
                self.size = Some(size);
            }
            self.last = Some(wall);
        } else if count > 0 && self.last.is_none_or(|last| wall.0.abs_diff(last.0) >= TIMING_STEP_MS) {
            self.timing.write(Entry { offset: self.offset, wall, what: What::Batch });
            self.last = Some(wall);
        }
    }

    fn put(&mut self, bytes: &[u8]) {
        if let Some(gap) = &mut self.gap {
            gap.bytes += bytes.len() as u64;
            return;
        }
        if let Err((rest, error)) = self.write_raw(bytes) {
            self.gap = Some(Gap { bytes: rest as u64, reason: reason(&error), note: None });
        }
    }

    /// Writes all of it, or says how many bytes at its end are missing and why.
    fn write_raw(&mut self, mut bytes: &[u8]) -> Result<(), (usize, io::Error)> {
        while !bytes.is_empty() {
            match self.raw.write(bytes) {
                Ok(0) => return Err((bytes.len(), io::ErrorKind::WriteZero.into())),
                Ok(count) => {
                    self.offset += count as u64;
                    bytes = bytes.get(count..).unwrap_or_default();
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err((bytes.len(), error)),
            }
        }
        Ok(())
    }

    /// Tries to write the note about lost bytes; from then on they are recorded again.
    fn tell_gap(&mut self) {
        while let Some(mut gap) = self.gap.take() {
            let start = self.offset;
            let (note, told) = gap.note.take().unwrap_or_else(|| {
                let text = format!("\x18\r\n[dtmcp: {} bytes of output were lost: {}]\r\n", gap.bytes, gap.reason);
                (text.into_bytes(), gap.bytes)
            });
            match self.write_raw(&note) {
                Ok(()) => {
                    self.timing.write(Entry { offset: start, wall: now(), what: What::Lost(Some(told)) });
                    gap.bytes -= told;
                    // What was lost while the note itself stood half written.
                    self.gap = (gap.bytes > 0).then_some(gap);
                }
                Err((rest, _)) => {
                    // A note that was begun is finished as it is; one that was not can still count what comes now.
                    if rest < note.len() {
                        gap.note = note.get(note.len() - rest..).map(|rest| (rest.to_vec(), told));
                    }
                    self.gap = Some(gap);
                    return;
                }
            }
        }
    }
}

/// The `timing` file; a record that does not fit on a full disk is left out whole, as far as a reader can tell.
#[derive(Debug)]
struct Timing {
    file: File,
    torn: bool,
}

impl Timing {
    /// Opens it for appending. The second value says whether the recorder before this one ended in order.
    fn open(path: &Path) -> io::Result<(Self, bool)> {
        let mut file = files::append(path)?;
        let length = file.seek(SeekFrom::End(0))?;
        file.seek(SeekFrom::Start(length.saturating_sub(64)))?;
        let mut tail = Vec::new();
        file.read_to_end(&mut tail)?;
        let ended = tail.ends_with(b" end\n");
        let mut timing = Self { file, torn: !tail.is_empty() && !tail.ends_with(b"\n") };
        if length == 0 {
            timing.line(HEADER);
        }
        Ok((timing, ended))
    }

    fn write(&mut self, entry: Entry) -> bool {
        self.line(&entry.to_string())
    }

    fn line(&mut self, line: &str) -> bool {
        let line = if self.torn { format!("\n{line}\n") } else { format!("{line}\n") };
        match self.file.write(line.as_bytes()) {
            Ok(count) if count == line.len() => {
                self.torn = false;
                true
            }
            Ok(count) => {
                self.torn |= count > 0;
                false
            }
            Err(_) => false,
        }
    }
}

/// Opens the pane's FIFO and says that recording has begun. Without a pane that listens there is none.
fn announce(path: &Path) -> Option<File> {
    let mut fifo = File::options()
        .write(true)
        .custom_flags(libc::O_NONBLOCK | libc::O_NOFOLLOW | libc::O_CLOEXEC)
        .open(path)
        .ok()?;
    fifo.write_all(b"r").ok()?;
    Some(fifo)
}

/// The size of the pane's terminal. It is opened for a moment only: a slave that is held open delays the pane's end.
pub(crate) fn pane_size(tty: &Path) -> Option<Size> {
    let flags = libc::O_NOCTTY | libc::O_NONBLOCK | libc::O_CLOEXEC;
    let terminal = File::options().read(true).write(true).custom_flags(flags).open(tty).ok()?;
    let size = rustix::termios::tcgetwinsize(&terminal).ok()?;
    (size.ws_col > 0 && size.ws_row > 0).then_some(Size { cols: size.ws_col, rows: size.ws_row })
}

/// Waits a little for input; false where none came.
fn readable(input: &File) -> bool {
    let mut fds = [PollFd::new(input.as_fd(), PollFlags::POLLIN)];
    !matches!(poll(&mut fds, PollTimeout::from(RETRY_MS)), Ok(0))
}

fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::StorageFull => "the disk was full".to_owned(),
        io::ErrorKind::QuotaExceeded => "the disk quota was used up".to_owned(),
        io::ErrorKind::FileTooLarge => "the file size limit was reached".to_owned(),
        _ => error.to_string(),
    }
}

fn now() -> Wall {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Wall(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}
