//! Following a session's raw log: one inotify for all sessions says when to look, and each session reads for itself.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd as _, AsRawFd, RawFd};
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use dtmcp_core::cooked::Size;
use dtmcp_core::time::Wall;
use nix::sys::inotify::{AddWatchFlags, InitFlags, Inotify, WatchDescriptor};
use tokio::io::unix::AsyncFd;
use tokio::sync::Notify;

use crate::record::timing::{Entry, What};
use crate::store::files;

/// Bytes taken from a raw log at a time: large enough that the cost of a read does not matter, small enough that a
/// session's calls are looked at in between.
pub const CHUNK: usize = 256 * 1024;

/// How often a log is looked at where inotify does not work (a network file system, no watches left).
const POLL: Duration = Duration::from_millis(50);

/// The inotify, as the runtime takes it.
#[derive(Debug)]
struct Watches(Inotify);

impl AsRawFd for Watches {
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_fd().as_raw_fd()
    }
}

#[expect(
    deprecated,
    reason = "its successor is unsafe, for types that may close or swap their descriptor: ours does neither"
)]
fn register(inotify: Inotify) -> io::Result<AsyncFd<Watches>> {
    AsyncFd::new(Watches(inotify))
}

/// Wakes sessions when their logs grow.
#[derive(Debug)]
pub struct Watcher {
    inotify: Option<Arc<AsyncFd<Watches>>>,
    sessions: Arc<Mutex<BTreeMap<WatchDescriptor, Arc<Notify>>>>,
}

impl Watcher {
    /// Starts the one inotify. Without it sessions are polled, and the log says so.
    #[must_use]
    pub fn new() -> Self {
        let sessions: Arc<Mutex<BTreeMap<WatchDescriptor, Arc<Notify>>>> = Arc::default();
        let opened = Inotify::init(InitFlags::IN_NONBLOCK | InitFlags::IN_CLOEXEC);
        let opened = opened.map_err(io::Error::from).and_then(register);
        let inotify = match opened {
            Ok(fd) => {
                let fd = Arc::new(fd);
                tokio::spawn(dispatch(Arc::clone(&fd), Arc::clone(&sessions)));
                Some(fd)
            }
            Err(error) => {
                tracing::warn!("inotify does not work ({error}): logs are looked at every {} ms", POLL.as_millis());
                None
            }
        };
        Self { inotify, sessions }
    }

    /// A wake-up for each time the directory's files are written to.
    #[must_use]
    pub fn watch(&self, dir: &Path) -> Arc<Notify> {
        let notify = Arc::new(Notify::new());
        let Some(inotify) = &self.inotify else {
            poll(&notify);
            return notify;
        };
        // The two files that the recorder writes are watched, not the directory: the server's own writes beside them
        // must not wake it. The end of a stream stands in the times alone.
        for file in ["raw.log", "timing"] {
            match inotify.get_ref().0.add_watch(&dir.join(file), AddWatchFlags::IN_MODIFY) {
                Ok(descriptor) => {
                    self.sessions
                        .lock()
                        .unwrap_or_else(PoisonError::into_inner)
                        .insert(descriptor, Arc::clone(&notify));
                }
                Err(error) => {
                    let dir = dir.display();
                    tracing::warn!(
                        "{dir}/{file} cannot be watched ({error}): it is looked at every {} ms",
                        POLL.as_millis()
                    );
                    poll(&notify);
                    break;
                }
            }
        }
        notify
    }

    /// Forgets a session's wake-ups.
    pub fn forget(&self, notify: &Arc<Notify>) {
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        let mine = sessions.iter().filter(|(_, known)| Arc::ptr_eq(known, notify)).map(|(descriptor, _)| *descriptor);
        for descriptor in mine.collect::<Vec<_>>() {
            sessions.remove(&descriptor);
            if let Some(inotify) = &self.inotify {
                // The watch is gone already where the file is.
                let _gone = inotify.get_ref().0.rm_watch(descriptor);
            }
        }
    }
}

impl Default for Watcher {
    fn default() -> Self {
        Self::new()
    }
}

async fn dispatch(inotify: Arc<AsyncFd<Watches>>, sessions: Arc<Mutex<BTreeMap<WatchDescriptor, Arc<Notify>>>>) {
    loop {
        let Ok(mut ready) = inotify.readable().await else { return };
        match inotify.get_ref().0.read_events() {
            Ok(events) => {
                let sessions = sessions.lock().unwrap_or_else(PoisonError::into_inner);
                for event in events {
                    match sessions.get(&event.wd) {
                        Some(notify) => notify.notify_one(),
                        // The queue ran over: any of them may have grown.
                        None if event.mask.contains(AddWatchFlags::IN_Q_OVERFLOW) => {
                            sessions.values().for_each(|notify| notify.notify_one());
                        }
                        None => {}
                    }
                }
            }
            Err(nix::errno::Errno::EAGAIN) => ready.clear_ready(),
            Err(_) => return,
        }
    }
}

fn poll(notify: &Arc<Notify>) {
    let weak = Arc::downgrade(notify);
    tokio::spawn(async move {
        while let Some(notify) = weak.upgrade() {
            notify.notify_one();
            drop(notify);
            tokio::time::sleep(POLL).await;
        }
    });
}

/// A piece of the stream, in order.
#[derive(Debug, PartialEq, Eq)]
pub enum Piece {
    /// From here on the pane has this size.
    Size(Size),
    /// Bytes, as a range of the buffer, and when they were recorded.
    Bytes(std::ops::Range<usize>, Wall),
}

/// Reads one session's stream from a given offset: bytes, sizes and times.
#[derive(Debug)]
pub struct Follower {
    raw: File,
    timing: Option<File>,
    timing_path: std::path::PathBuf,
    offset: u64,
    timing_offset: u64,
    partial: Vec<u8>,
    entries: std::collections::VecDeque<Entry>,
    wall: Wall,
    ended: bool,
}

impl Follower {
    /// Opens a session's stream at its beginning.
    ///
    /// # Errors
    /// Where the raw log cannot be opened.
    pub fn open(dir: &Path) -> io::Result<Self> {
        Ok(Self {
            raw: files::open(&dir.join("raw.log"))?,
            timing: None,
            timing_path: dir.join("timing"),
            offset: 0,
            timing_offset: 0,
            partial: Vec::new(),
            entries: std::collections::VecDeque::new(),
            wall: Wall(0),
            ended: false,
        })
    }

    /// Whether the recorder has seen the end of the stream and all of it has been read.
    #[must_use]
    pub fn ended(&self) -> bool {
        self.ended
    }

    /// The raw offset read so far.
    #[must_use]
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Reads on, at most as much as `buffer` holds; no pieces where there is nothing new.
    ///
    /// # Errors
    /// Where the files cannot be read.
    pub fn read(&mut self, buffer: &mut [u8]) -> io::Result<Vec<Piece>> {
        let read = self.raw.read_at(buffer, self.offset)?;
        // A size is written before the bytes printed at it, so times are read after bytes.
        self.read_timing()?;
        let end = self.offset + read as u64;
        let mut pieces = Vec::new();
        let mut from = 0;
        while let Some(entry) = self.entries.pop_front_if(|entry| entry.offset <= end) {
            let at = usize::try_from(entry.offset.saturating_sub(self.offset)).unwrap_or(from).max(from);
            if at > from {
                pieces.push(Piece::Bytes(from..at, self.wall));
                from = at;
            }
            self.wall = entry.wall;
            match entry.what {
                What::Size(size) => pieces.push(Piece::Size(size)),
                What::End => self.ended = true,
                What::Batch | What::Lost(_) => {}
            }
        }
        if read > from {
            pieces.push(Piece::Bytes(from..read, self.wall));
            self.ended = false;
        }
        self.offset = end;
        Ok(pieces)
    }

    fn read_timing(&mut self) -> io::Result<()> {
        if self.timing.is_none() {
            match files::open(&self.timing_path) {
                Ok(file) => self.timing = Some(file),
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
                Err(error) => return Err(error),
            }
        }
        let Some(file) = &self.timing else { return Ok(()) };
        let mut buffer = [0; 4096];
        loop {
            let read = file.read_at(&mut buffer, self.timing_offset)?;
            if read == 0 {
                return Ok(());
            }
            self.timing_offset += read as u64;
            self.partial.extend_from_slice(buffer.get(..read).unwrap_or_default());
            while let Some(at) = memchr::memchr(b'\n', &self.partial) {
                let line: Vec<u8> = self.partial.drain(..=at).collect();
                if let Some(entry) = std::str::from_utf8(&line).ok().and_then(|line| Entry::parse(line.trim_end())) {
                    self.entries.push_back(entry);
                }
            }
        }
    }
}
