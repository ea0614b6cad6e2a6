//! The shell integration, laid out where shells find it.
//!
//! The files travel inside this program. They stand in the same place here as on a remote host, readable for everyone:
//! a shell of another user (`su`) sources them too.

use std::fs::{self, DirBuilder, OpenOptions, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use super::files;

/// The integration's version: a change that a running shell or a remote host would notice raises it.
pub const INTEGRATION_VERSION: u32 = 1;

/// Where it stands, under the user's home.
pub const DIRECTORY: &str = ".local/share/docent-terminal-mcp";

/// The files by their paths there, with their texts: here and wherever they travel.
pub const FILES: &[(&str, &str)] = &[
    ("bashrc", include_str!("../../../shell/bashrc")),
    ("integration.bash", include_str!("../../../shell/integration.bash")),
    ("load.bash", include_str!("../../../shell/load.bash")),
    ("integration.zsh", include_str!("../../../shell/integration.zsh")),
    ("integration.fish", include_str!("../../../shell/integration.fish")),
    ("start", include_str!("../../../shell/start")),
    ("zsh/.zshenv", include_str!("../../../shell/zsh/.zshenv")),
    (
        "fish/vendor_conf.d/docent-terminal-mcp.fish",
        include_str!("../../../shell/fish/vendor_conf.d/docent-terminal-mcp.fish"),
    ),
];

/// Lays the files out under the user's home; gives their directory. A file that is as it should be is left alone.
///
/// # Errors
/// Where the directory cannot be written.
pub fn lay_out(user_home: &Path) -> io::Result<PathBuf> {
    let top = user_home.join(DIRECTORY);
    let dir = top.join(format!("v{INTEGRATION_VERSION}"));
    if let Some(parent) = top.parent() {
        fs::create_dir_all(parent).map_err(|error| files::at(parent, &error))?;
    }
    for made in [&top, &dir, &dir.join("zsh"), &dir.join("fish"), &dir.join("fish/vendor_conf.d")] {
        open_dir(made).map_err(|error| files::at(made, &error))?;
    }
    for (name, text) in FILES {
        let path = dir.join(name);
        // Not through a link: what a shell runs is what stands here.
        let stands = fs::symlink_metadata(&path)
            .is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o7777 == 0o644)
            && fs::read(&path).is_ok_and(|bytes| bytes == text.as_bytes());
        if !stands {
            put(&path, text).map_err(|error| files::at(&path, &error))?;
        }
    }
    Ok(dir)
}

/// Where the files stand on another host, as a shell there is to name it.
#[must_use]
pub fn elsewhere() -> String {
    format!("~/{DIRECTORY}/v{INTEGRATION_VERSION}")
}

/// Whether every user of this host may read the files in the directory: each directory on the way to them is open.
#[must_use]
pub fn is_for_all(dir: &Path) -> bool {
    let open = |dir: &Path| fs::metadata(dir).is_ok_and(|meta| meta.permissions().mode() & 0o001 != 0);
    dir.ancestors().filter(|dir| !dir.as_os_str().is_empty()).all(open)
}

fn open_dir(path: &Path) -> io::Result<()> {
    match DirBuilder::new().mode(0o755).create(path) {
        Ok(()) => fs::set_permissions(path, Permissions::from_mode(0o755)),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
        Err(error) => Err(error),
    }
}

fn put(path: &Path, text: &str) -> io::Result<()> {
    let temporary = path.with_extension(format!("{}.tmp", std::process::id()));
    drop(fs::remove_file(&temporary));
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o644).open(&temporary)?;
    let done = file
        .write_all(text.as_bytes())
        .and_then(|()| file.set_permissions(Permissions::from_mode(0o644)))
        .and_then(|()| fs::rename(&temporary, path));
    if done.is_err() {
        drop(fs::remove_file(&temporary));
    }
    done
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use std::os::unix::fs::MetadataExt as _;

    #[test]
    fn files_are_written_once_and_mended() {
        let home = tempfile::tempdir().unwrap();
        let dir = lay_out(home.path()).unwrap();
        assert!(dir.ends_with(".local/share/docent-terminal-mcp/v1"));
        let file = dir.join("integration.bash");
        let first = fs::metadata(&file).unwrap();
        assert_eq!((first.mode() & 0o777, fs::metadata(&dir).unwrap().mode() & 0o777), (0o644, 0o755));
        lay_out(home.path()).unwrap();
        assert_eq!(fs::metadata(&file).unwrap().ino(), first.ino());
        fs::write(&file, "old").unwrap();
        lay_out(home.path()).unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), include_str!("../../../shell/integration.bash"));
        fs::set_permissions(home.path(), Permissions::from_mode(0o700)).unwrap();
        assert!(!is_for_all(&dir), "the way to it is closed");
        assert_eq!(fs::read_dir(&dir).unwrap().count(), 8);
        assert_eq!(fs::metadata(dir.join("zsh/.zshenv")).unwrap().mode() & 0o777, 0o644);
    }
}
