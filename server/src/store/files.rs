//! Files and directories that only their owner can read.
//!
//! What a session prints is nobody else's business, so files are 0600 and directories 0700 whatever the umask is, a
//! symbolic link is never followed, and what belongs to someone else or is open to others is refused, not repaired:
//! whoever could write there may already have done so.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;

use nix::unistd::geteuid;

/// Permission bits of others and of the group; none of them may be set on anything of ours.
const OTHERS: u32 = 0o077;

/// Permission bits that let somebody put or change something.
const WRITE: u32 = 0o222;

/// Says which file an error is about, which the operating system does not.
pub fn at(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

/// Makes a directory with mode 0700, or accepts one that is ours alone.
///
/// # Errors
/// Where it cannot be made, is not a directory (a symbolic link to one counts as that), is not ours or is open to
/// others.
pub fn make_dir(path: &Path) -> io::Result<()> {
    match DirBuilder::new().mode(0o700).create(path) {
        // The umask can only take bits away; 0700 is what the next start checks for.
        Ok(()) => fs::set_permissions(path, Permissions::from_mode(0o700)).map_err(|error| at(path, &error)),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => check_dir(path),
        Err(error) => Err(at(path, &error)),
    }
}

/// As [`make_dir`], but a directory of ours that others could read until now is closed to them: a person makes one with
/// mode 0755 without a thought. One that others could write to is refused.
///
/// # Errors
/// As [`make_dir`].
pub fn take_dir(path: &Path) -> io::Result<()> {
    if let Ok(meta) = fs::symlink_metadata(path)
        && meta.is_dir()
        && meta.uid() == geteuid().as_raw()
        && meta.mode() & OTHERS & WRITE == 0
    {
        return fs::set_permissions(path, Permissions::from_mode(0o700)).map_err(|error| at(path, &error));
    }
    make_dir(path)
}

/// Accepts a directory that is ours alone.
///
/// # Errors
/// Where there is none, it is a symbolic link, is not ours or is open to others.
pub fn check_dir(path: &Path) -> io::Result<()> {
    let meta = fs::symlink_metadata(path).map_err(|error| at(path, &error))?;
    if meta.is_symlink() {
        return Err(refused(path, "is a symbolic link, which is not followed; name the directory that it leads to"));
    }
    if !meta.is_dir() {
        return Err(refused(path, "is not a directory"));
    }
    check_owner(path, &meta)
}

/// Opens a file of ours for reading.
///
/// # Errors
/// Where there is none, it is not a regular file, is not ours or is open to others.
pub fn open(path: &Path) -> io::Result<File> {
    checked(path, OpenOptions::new().read(true))
}

/// Opens a file of ours for appending, and makes it where there is none.
///
/// # Errors
/// Where it cannot be made, is not a regular file, is not ours or is open to others.
pub fn append(path: &Path) -> io::Result<File> {
    checked(path, OpenOptions::new().append(true).read(true).create(true))
}

/// Opens a file of ours for reading and writing, and makes it where there is none.
///
/// # Errors
/// As [`append`].
pub fn open_or_create(path: &Path) -> io::Result<File> {
    checked(path, OpenOptions::new().read(true).write(true).create(true).truncate(false))
}

/// Makes a file that must not exist yet.
///
/// # Errors
/// [`io::ErrorKind::AlreadyExists`] where something of that name exists, a dangling symbolic link included.
pub fn create_new(path: &Path) -> io::Result<File> {
    checked(path, OpenOptions::new().read(true).write(true).create_new(true))
}

/// The whole of a file of ours.
///
/// # Errors
/// As [`open`], and where reading fails.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.read_to_end(&mut bytes).map_err(|error| at(path, &error))?;
    Ok(bytes)
}

/// Puts `bytes` in place of the file: a reader sees the old content or the new, never a mix.
///
/// It is written, not forced to the disk: the terminal dies with the machine anyway.
///
/// # Errors
/// Where the directory cannot be written or is full; the old content then stands.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let name = path.file_name().ok_or_else(|| refused(path, "has no file name"))?;
    let mut temporary = std::ffi::OsString::from(".");
    temporary.push(name);
    temporary.push(format!(".{}.tmp", std::process::id()));
    let temporary = path.with_file_name(temporary);
    // One left behind by a process that was killed and had this id.
    if let Err(error) = fs::remove_file(&temporary)
        && error.kind() != io::ErrorKind::NotFound
    {
        return Err(at(&temporary, &error));
    }
    let written = create_new(&temporary).and_then(|mut file| file.write_all(bytes));
    let done = written.and_then(|()| fs::rename(&temporary, path));
    if done.is_err() {
        // The error that is told is the first one; a rest with a temporary name does no harm.
        drop(fs::remove_file(&temporary));
    }
    done.map_err(|error| at(path, &error))
}

fn checked(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    // O_NONBLOCK: a FIFO planted under the name must not hang us before it is refused.
    let file = options
        .mode(0o600)
        .custom_flags(libc::O_NOFOLLOW | libc::O_CLOEXEC | libc::O_NONBLOCK | libc::O_NOCTTY)
        .open(path)
        .map_err(|error| match error.raw_os_error() {
            Some(libc::ELOOP) => refused(path, "is a symbolic link, which is not followed"),
            _ => at(path, &error),
        })?;
    let meta = file.metadata().map_err(|error| at(path, &error))?;
    if !meta.is_file() {
        return Err(refused(path, "is not a regular file"));
    }
    check_owner(path, &meta)?;
    Ok(file)
}

fn check_owner(path: &Path, meta: &fs::Metadata) -> io::Result<()> {
    if meta.uid() != geteuid().as_raw() {
        return Err(refused(path, &format!("belongs to user {}, not to us", meta.uid())));
    }
    if meta.mode() & OTHERS != 0 {
        let mode = meta.mode() & 0o7777;
        return Err(refused(path, &format!("can be reached by other users (mode {mode:04o}); make it yours alone")));
    }
    Ok(())
}

fn refused(path: &Path, what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, format!("{} {what}", path.display()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

    use super::*;
    use std::os::unix::fs::symlink;

    fn mode(path: &Path) -> u32 {
        fs::symlink_metadata(path).unwrap().mode() & 0o7777
    }

    #[test]
    fn files_and_directories_are_ours_alone() {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().join("home");
        make_dir(&home).unwrap();
        make_dir(&home).unwrap();
        assert_eq!(mode(&home), 0o700);
        let file = home.join("a");
        append(&file).unwrap().write_all(b"one").unwrap();
        append(&file).unwrap().write_all(b"two").unwrap();
        assert_eq!(mode(&file), 0o600);
        assert_eq!(read(&file).unwrap(), b"onetwo");
        replace(&file, b"three").unwrap();
        assert_eq!((mode(&file), read(&file).unwrap()), (0o600, b"three".to_vec()));
        assert_eq!(create_new(&file).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read_dir(&home).unwrap().count(), 1);
    }

    #[test]
    fn links_fifos_and_open_modes_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let (file, link) = (dir.path().join("file"), dir.path().join("link"));
        replace(&file, b"x").unwrap();
        symlink(&file, &link).unwrap();
        append(&link).unwrap_err();
        open(&link).unwrap_err();
        fs::set_permissions(&file, Permissions::from_mode(0o644)).unwrap();
        assert!(open(&file).unwrap_err().to_string().contains("other users"));
        let fifo = dir.path().join("fifo");
        nix::unistd::mkfifo(&fifo, nix::sys::stat::Mode::S_IRWXU).unwrap();
        open(&fifo).unwrap_err();
        let (open_dir, dir_link) = (dir.path().join("dir"), dir.path().join("dirlink"));
        make_dir(&open_dir).unwrap();
        symlink(&open_dir, &dir_link).unwrap();
        assert!(make_dir(&dir_link).unwrap_err().to_string().contains("is a symbolic link"));
        fs::set_permissions(&open_dir, Permissions::from_mode(0o755)).unwrap();
        make_dir(&open_dir).unwrap_err();
    }
}
