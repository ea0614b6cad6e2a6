//! The shared server's Unix socket: one server at a time, for one user.

use std::io;
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use crate::store::files;
use crate::store::lock::{self, Holder, Lock, LockError};

/// The longest path of a socket, in bytes: `sun_path` has 108, one of them the zero behind it.
const PATH_MAX: usize = 107;

/// A socket that is listened on, and the right to do so.
#[derive(Debug)]
pub struct Socket {
    path: PathBuf,
    _lock: Lock,
}

impl Socket {
    /// Listens on a socket at `path`. One that a dead server left is replaced; only who holds the lock beside it may.
    ///
    /// # Errors
    /// In words: another server has it, its directory is open to others, or it cannot be made.
    pub fn bind(path: &Path) -> Result<(Self, UnixListener), String> {
        let bytes = path.as_os_str().len();
        // A few bytes of it are for the temporary name.
        if bytes > PATH_MAX - 5 {
            return Err(format!(
                "the socket's path is {bytes} bytes long, and the kernel allows {}: {}. Name a shorter one with --socket",
                PATH_MAX - 5,
                path.display()
            ));
        }
        let dir = path.parent().ok_or_else(|| format!("{} is no path of a socket", path.display()))?;
        files::make_dir(dir).map_err(|error| {
            format!(
                "the socket's directory cannot be used: {error}. Name a socket in a directory that is yours alone \
                 (`mkdir -m 700 DIR`) with --socket"
            )
        })?;
        let lock = Lock::take(&beside(path, ".lock")).map_err(|error| held(path, &error))?;
        if let Ok(there) = std::fs::symlink_metadata(path)
            && !there.file_type().is_socket()
        {
            return Err(format!(
                "{} is there and is no socket: nothing was changed. Give the server a path of its own with --socket",
                path.display()
            ));
        }
        let listener = listen(path).map_err(|error| {
            format!("cannot listen on {}: {error}. Name another path with --socket", path.display())
        })?;
        Ok((Self { path: path.to_owned(), _lock: lock }, listener))
    }
}

/// The server that made the socket at `path`, as far as it said; none where a service manager made it.
#[must_use]
pub fn holder(path: &Path) -> Option<Holder> {
    lock::holder(&beside(path, ".lock"))
}

impl Drop for Socket {
    fn drop(&mut self) {
        // The lock is still held, so it is ours.
        drop(std::fs::remove_file(&self.path));
    }
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// Binds under another name first, so that nobody ever sees the socket with wider modes.
fn listen(path: &Path) -> io::Result<UnixListener> {
    let fresh = beside(path, ".new");
    match std::fs::remove_file(&fresh) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let listener = UnixListener::bind(&fresh)?;
    std::fs::set_permissions(&fresh, std::fs::Permissions::from_mode(0o600))?;
    std::fs::rename(&fresh, path)?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

fn held(path: &Path, error: &LockError) -> String {
    let path = path.display();
    match error {
        LockError::Held { holder: Some(holder), .. } => format!(
            "another dtmcp serves {path}: process {} on host {}. Use that one, end it, or give this one a socket of its \
             own with --socket",
            holder.pid, holder.host
        ),
        LockError::Held { .. } => format!("another dtmcp is just starting on {path}; try again"),
        LockError::Io(error) => format!("the socket cannot be locked: {error}"),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

    use std::os::unix::fs::MetadataExt as _;
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn one_server_has_it_and_a_dead_ones_is_taken_over() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("run/server.sock");
        let (first, listener) = Socket::bind(&path).unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        assert_eq!(std::fs::metadata(path.parent().unwrap()).unwrap().mode() & 0o777, 0o700);
        let refused = Socket::bind(&path).unwrap_err();
        assert!(refused.contains(&format!("process {}", std::process::id())), "{refused}");
        drop(UnixStream::connect(&path).unwrap());
        // As a server that was killed leaves it.
        drop(listener);
        drop(first);
        assert!(!path.exists());
        drop(UnixListener::bind(&path).unwrap());
        assert!(UnixStream::connect(&path).is_err());
        let (_second, _listener) = Socket::bind(&path).unwrap();
        drop(UnixStream::connect(&path).unwrap());
    }

    #[test]
    fn a_directory_that_others_can_enter_and_a_path_too_long_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::set_permissions(dir.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
        assert!(Socket::bind(&dir.path().join("s")).unwrap_err().contains("0755"));
        let long = dir.path().join("x".repeat(110)).join("s");
        assert!(Socket::bind(&long).unwrap_err().contains("--socket"));
    }
}
