//! Small files of `/proc`, which the kernel makes at the moment they are read.

use std::fs::File;
use std::io::{self, Read as _};

/// Most of them fit in here, and then one read gives all: asking for the size first, as for other files, costs as much
/// again and says 0.
const ROOM: usize = 4096;

/// Reads a file, at most `limit` bytes of it.
pub(crate) fn read(path: &str, limit: usize) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    let mut bytes = Vec::new();
    let mut room = [0; ROOM];
    loop {
        let count = file.read(&mut room)?;
        bytes.extend_from_slice(room.get(..count).unwrap_or_default());
        // The kernel hands out whole records, so that a read may be short of the room by one; one that is short by
        // half was the last.
        if count < ROOM / 2 || bytes.len() >= limit {
            bytes.truncate(limit);
            return Ok(bytes);
        }
    }
}

/// The same as text, for files of the kernel's own words. Lists of a program's descriptors are the longest.
pub(crate) fn text(path: &str) -> io::Result<String> {
    const LIMIT: usize = 4 * 1024 * 1024;
    String::from_utf8(read(path, LIMIT)?).map_err(io::Error::other)
}
