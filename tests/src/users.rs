//! Users of a test's own. They stand in copies of the system's lists, which only the processes of the test see in their
//! place (a mount namespace): nothing of the system is changed, and nothing is left where a test is killed. Needs root.

use std::ffi::OsString;
use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
use std::path::{Path, PathBuf};

/// The lists, with the modes that those who read them insist on.
const LISTS: [(&str, u32); 4] = [("passwd", 0o644), ("group", 0o644), ("shadow", 0o640), ("sudoers", 0o440)];

/// The first one's number; nobody else has it.
const FIRST: u32 = 64_101;

/// Puts the lists of the directory $0 in place of the system's and goes on as a command.
const ENTER: &str = "cd \"$0\" && for list in *; do \
                     [ ! -e /etc/$list ] || mount --bind $list /etc/$list || exit; done; cd \"$OLDPWD\" && exec \"$@\"";

/// Some users, each with a home of their own.
#[derive(Debug)]
pub struct Users {
    dir: tempfile::TempDir,
}

impl Users {
    /// Makes them: names, each with the login shell, as a name on PATH. All may become anybody by `sudo` without a
    /// question.
    ///
    /// # Errors
    /// Where a shell is not there or a file cannot be made.
    pub fn new(users: &[(&str, &str)]) -> Result<Self, String> {
        let text = |error: io::Error| error.to_string();
        let dir = tempfile::Builder::new().prefix("dtmcp-users-").tempdir().map_err(text)?;
        // They have to get through to their homes.
        fs::set_permissions(dir.path(), Permissions::from_mode(0o711)).map_err(text)?;
        let lists = dir.path().join("lists");
        fs::create_dir(&lists).map_err(text)?;
        let mut texts = LISTS.map(|(name, _)| fs::read_to_string(Path::new("/etc").join(name)).unwrap_or_default());
        "root ALL=(ALL:ALL) ALL\n".clone_into(&mut texts[3]);
        for ((name, shell), uid) in users.iter().zip(FIRST..) {
            let home = dir.path().join(name);
            fs::create_dir(&home).map_err(text)?;
            // A fish that finds none makes completions out of every manual page, for minutes.
            fs::create_dir_all(home.join(".local/share/fish/generated_completions")).map_err(text)?;
            give(&home, uid).map_err(text)?;
            let shell = on_path(shell).ok_or_else(|| format!("there is no {shell}"))?;
            let entries = [
                format!("{name}:x:{uid}:{uid}::{}:{}\n", home.display(), shell.display()),
                format!("{name}:x:{uid}:\n"),
                // No password fits a star, and yet the account is not locked.
                format!("{name}:*:19000:0:99999:7:::\n"),
                format!("{name} ALL=(ALL:ALL) NOPASSWD: SETENV: ALL\n"),
            ];
            for (text, entry) in texts.iter_mut().zip(entries) {
                text.push_str(&entry);
            }
        }
        for ((name, mode), list) in LISTS.iter().zip(texts) {
            fs::write(lists.join(name), list).map_err(text)?;
            fs::set_permissions(lists.join(name), Permissions::from_mode(*mode)).map_err(text)?;
        }
        Ok(Self { dir })
    }

    /// The home of one.
    #[must_use]
    pub fn home(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Writes a file of one's home.
    ///
    /// # Errors
    /// Where it cannot be written.
    pub fn dot_file(&self, name: &str, file: &str, text: &str) -> Result<(), String> {
        let home = self.home(name);
        let path = home.join(file);
        let parent = path.parent().map_or(Ok(()), fs::create_dir_all);
        let written = parent.and_then(|()| fs::write(&path, text)).and_then(|()| fs::metadata(&home));
        written.and_then(|meta| give(&home, meta.uid())).map_err(|error| error.to_string())
    }

    /// The words before a command that is to run where the system has these users.
    #[must_use]
    pub fn among(&self) -> Vec<OsString> {
        let lists = self.dir.path().join("lists");
        ["unshare", "-m", "sh", "-c", ENTER].map(OsString::from).into_iter().chain([lists.into()]).collect()
    }
}

/// Gives a file or a directory, with all that is in it, to somebody.
fn give(path: &Path, uid: u32) -> io::Result<()> {
    chown(path, Some(uid), Some(uid))?;
    if path.is_dir() {
        for entry in fs::read_dir(path)? {
            give(&entry?.path(), uid)?;
        }
    }
    Ok(())
}

fn on_path(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|dir| dir.join(program)).find(|path| path.exists())
}
