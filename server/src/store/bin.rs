//! A copy of this program beside the sessions.
//!
//! A pane's program and its recorder outlive the server by days. The binary that started them may be rebuilt, moved or
//! upgraded meanwhile, and a person's next pane still has to start. So the panes run a copy that is ours, replaced by
//! rename (a running one keeps its file), under the two names that the sessions have on their PATH.

use std::fs::{self, File, FileTimes, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use super::files;

/// The two names of this program.
const NAME: &str = "dtmcp";
const SECOND_NAME: &str = "docent-terminal-mcp";

/// Puts the running program into `dir` under both its names, unless it stands there; gives the first one's path.
///
/// It takes milliseconds where it has to copy, so not before a client is answered.
///
/// # Errors
/// Where the directory cannot be written or the running program cannot be read.
pub fn install(dir: &Path) -> io::Result<PathBuf> {
    install_from(Path::new("/proc/self/exe"), dir)
}

fn install_from(source: &Path, dir: &Path) -> io::Result<PathBuf> {
    let target = dir.join(NAME);
    let meta = fs::metadata(source)?;
    if !is_same(&meta, &target) {
        put(dir, NAME, |temporary| {
            fs::copy(source, temporary)?;
            fs::set_permissions(temporary, Permissions::from_mode(0o700))?;
            // The time is how the next start sees that there is nothing to do.
            File::options().write(true).open(temporary)?.set_times(FileTimes::new().set_modified(meta.modified()?))
        })?;
    }
    let second = dir.join(SECOND_NAME);
    let installed = fs::symlink_metadata(&target).map_err(|error| files::at(&target, &error))?;
    if !fs::symlink_metadata(&second).is_ok_and(|meta| meta.ino() == installed.ino()) {
        put(dir, SECOND_NAME, |temporary| fs::hard_link(&target, temporary))?;
    }
    Ok(target)
}

/// Whether the file at `target` is the one that `source` describes, or the copy that was made of it.
fn is_same(source: &fs::Metadata, target: &Path) -> bool {
    fs::symlink_metadata(target).is_ok_and(|target| {
        let itself = (source.dev(), source.ino()) == (target.dev(), target.ino());
        let time = |meta: &fs::Metadata| (meta.len(), meta.mtime(), meta.mtime_nsec());
        target.is_file() && (itself || time(source) == time(&target)) && target.mode() & 0o777 == 0o700
    })
}

/// Makes a file under a name that nobody looks for, then gives it its own.
fn put(dir: &Path, name: &str, make: impl FnOnce(&Path) -> io::Result<()>) -> io::Result<()> {
    let temporary = dir.join(format!(".{name}.{}.tmp", std::process::id()));
    drop(fs::remove_file(&temporary));
    let target = dir.join(name);
    let made = make(&temporary).and_then(|()| fs::rename(&temporary, &target));
    if made.is_err() {
        drop(fs::remove_file(&temporary));
    }
    made.map_err(|error| files::at(&target, &error))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn a_copy_is_made_once_and_again_for_another_version() {
        let dir = tempfile::tempdir().unwrap();
        let (source, bin) = (dir.path().join("built"), dir.path().join("bin"));
        files::make_dir(&bin).unwrap();
        fs::write(&source, "one").unwrap();
        let target = install_from(&source, &bin).unwrap();
        let first = fs::metadata(&target).unwrap();
        assert_eq!((fs::read(&target).unwrap(), first.mode() & 0o777), (b"one".to_vec(), 0o700));
        install_from(&source, &bin).unwrap();
        assert_eq!(fs::metadata(&target).unwrap().ino(), first.ino());
        fs::write(&source, "two!").unwrap();
        install_from(&source, &bin).unwrap();
        for name in [NAME, SECOND_NAME] {
            assert_eq!(fs::read(bin.join(name)).unwrap(), b"two!", "{name}");
        }
        // A server that runs as the copy leaves it alone.
        let second = fs::metadata(&target).unwrap();
        install_from(&target, &bin).unwrap();
        assert_eq!(fs::metadata(&target).unwrap().ino(), second.ino());
        assert_eq!(fs::read_dir(&bin).unwrap().count(), 2);
    }
}
