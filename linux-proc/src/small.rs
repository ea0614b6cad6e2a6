//! Small files of `/proc`, which the kernel makes at the moment they are read.

use std::io;
use std::os::fd::BorrowedFd;

use rustix::fs::{CWD, Mode, OFlags, openat};

/// Most of them fit in here, and then one read gives all: asking for the size first, as for other files, costs as much
/// again and says 0.
const ROOM: usize = 4096;

/// Lists of a program's descriptors are the longest of the texts.
pub(crate) const TEXT_MAX: usize = 4 * 1024 * 1024;

/// Reads a file, at most `limit` bytes of it.
pub(crate) fn read(path: &str, limit: usize) -> io::Result<Vec<u8>> {
    read_at(CWD, path, limit)
}

/// Reads a file below a directory, at most `limit` bytes of it.
pub(crate) fn read_at(dir: BorrowedFd<'_>, path: &str, limit: usize) -> io::Result<Vec<u8>> {
    let file = openat(dir, path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
    let mut bytes = Vec::new();
    let mut room = [0; ROOM];
    loop {
        let count = rustix::io::retry_on_intr(|| rustix::io::read(&file, &mut room))?;
        bytes.extend_from_slice(room.get(..count).unwrap_or_default());
        // The kernel hands out whole records, so that a read may be short of the room by one; one that is short by
        // half was the last.
        if count < ROOM / 2 || bytes.len() >= limit {
            bytes.truncate(limit);
            return Ok(bytes);
        }
    }
}

/// The same as text, for files of the kernel's own words.
pub(crate) fn text(path: &str) -> io::Result<String> {
    as_text(read(path, TEXT_MAX)?)
}

pub(crate) fn as_text(bytes: Vec<u8>) -> io::Result<String> {
    String::from_utf8(bytes).map_err(io::Error::other)
}
