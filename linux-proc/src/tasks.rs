//! The threads of a process, read through its directory of them, which is held open meanwhile: each of their files is
//! then two names away, where the whole path would be checked anew from `/proc` on for every one.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd as _, OwnedFd};

use rustix::fs::{CWD, Mode, OFlags, RawDir, openat};

use crate::small;

/// An entry of the list has some 32 bytes, so that one call brings the threads of nearly every process.
const ROOM: usize = 8 * 1024;

/// The directory of a process's threads.
pub(crate) struct Tasks(OwnedFd);

impl Tasks {
    /// # Errors
    /// Where the process has ended.
    pub(crate) fn of(pid: u32) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(Self(openat(CWD, format!("/proc/{pid}/task"), flags, Mode::empty())?))
    }

    /// The threads there are. To be asked once: the list goes on where it has ended.
    ///
    /// # Errors
    /// Where the process has ended.
    pub(crate) fn ids(&self) -> io::Result<Vec<u32>> {
        let mut room = [MaybeUninit::uninit(); ROOM];
        let mut list = RawDir::new(self.0.as_fd(), &mut room);
        let mut ids = Vec::new();
        while let Some(entry) = list.next() {
            ids.extend(entry?.file_name().to_str().ok().and_then(|name| name.parse::<u32>().ok()));
        }
        Ok(ids)
    }

    /// One of a thread's files, at most `limit` bytes of it.
    ///
    /// # Errors
    /// Where the thread has ended, or the file is not there or not for us.
    pub(crate) fn read(&self, tid: u32, file: &str, limit: usize) -> io::Result<Vec<u8>> {
        small::read_at(self.0.as_fd(), &format!("{tid}/{file}"), limit)
    }

    /// The same as text.
    ///
    /// # Errors
    /// As [`Tasks::read`].
    pub(crate) fn text(&self, tid: u32, file: &str) -> io::Result<String> {
        small::as_text(self.read(tid, file, small::TEXT_MAX)?)
    }
}
