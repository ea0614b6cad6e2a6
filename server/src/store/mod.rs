//! What is kept on disk: where it stands, who may read it, and who may write it.
//!
//! ```text
//! HOME/lock               which server has this directory
//!      calls.log          one line a call
//!      integration-missing.json   where shells lack the files of the integration
//!      tmux.json          the tmux server that holds the sessions
//!      tmux.conf          what it was started with
//!      bin/               this program, under its two names
//!      sessions/NAME/     an open session, or the last one of that name
//!      sessions/NAME.N/   one before it
//! ```

pub mod bin;
pub mod files;
pub mod lines;
pub mod lock;
pub mod missing;
pub mod page;
pub mod shell;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The longest name a session may have.
pub const SESSION_NAME_MAX: usize = 64;

/// Whether a session may be called this: letters, digits, `-` and `_`, and no `-` in front. It is a directory's name, and
/// a target for tmux and an argument of commands, which take that for an option; and it stands in every reply.
#[must_use]
pub fn is_session_name(name: &str) -> bool {
    (1..=SESSION_NAME_MAX).contains(&name.len())
        && !name.starts_with('-')
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
}

/// A session's name, or an archived one's: `t1`, `t1.2`. The second part is `None` for the newest of its name.
#[must_use]
pub fn parse_session(text: &str) -> Option<(&str, Option<u32>)> {
    let (name, generation) = match text.split_once('.') {
        Some((name, digits)) => {
            // No sign, no leading zero: one directory has one name.
            let canonical = digits.bytes().all(|byte| byte.is_ascii_digit()) && !digits.starts_with('0');
            (name, Some(digits.parse().ok().filter(|_| canonical)?))
        }
        None => (text, None),
    };
    is_session_name(name).then_some((name, generation))
}

/// The state directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Home {
    path: PathBuf,
}

impl Home {
    /// Makes the state directory and what has to be in it, or accepts the one that is there.
    ///
    /// # Errors
    /// Where it cannot be made, is not ours, or others can write to it.
    pub fn open(path: &Path) -> io::Result<Self> {
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(|error| files::at(parent, &error))?;
        }
        files::take_dir(path)?;
        let home = Self { path: path.to_owned() };
        for dir in [home.sessions_dir(), home.bin_dir()] {
            files::take_dir(&dir)?;
        }
        Ok(home)
    }

    /// The directory itself.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The file that says which server has this directory; see [`lock::Lock`].
    #[must_use]
    pub fn lock(&self) -> PathBuf {
        self.path.join("lock")
    }

    /// One JSON line a call.
    #[must_use]
    pub fn calls_log(&self) -> PathBuf {
        self.path.join("calls.log")
    }

    /// Where this program stands for the panes, and on the PATH of the sessions.
    #[must_use]
    pub fn bin_dir(&self) -> PathBuf {
        self.path.join("bin")
    }

    /// Where the sessions are.
    #[must_use]
    pub fn sessions_dir(&self) -> PathBuf {
        self.path.join("sessions")
    }

    /// A session's directory, whether or not it is there. `None` where no session can have that name; `t1.2` is an
    /// archived one.
    #[must_use]
    pub fn session(&self, name: &str) -> Option<SessionDir> {
        parse_session(name)?;
        Some(SessionDir { path: self.sessions_dir().join(name) })
    }

    /// Makes the directory of a new session. One of the same name that is there is kept as `NAME.N`.
    ///
    /// # Errors
    /// Where the name will not do, or the directory cannot be made.
    pub fn create_session(&self, name: &str) -> io::Result<SessionDir> {
        let dir = self
            .session(name)
            .filter(|_| is_session_name(name))
            .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, format!("{name:?} is no session name")))?;
        if fs::symlink_metadata(&dir.path).is_ok() {
            self.archive(name)?;
        }
        // Not through a directory that someone else made in between.
        match fs::symlink_metadata(&dir.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            _ => return Err(io::Error::new(io::ErrorKind::AlreadyExists, format!("{} exists", dir.path.display()))),
        }
        files::make_dir(&dir.path)?;
        for inner in [dir.saved_dir(), dir.regions_dir()] {
            files::make_dir(&inner)?;
        }
        Ok(dir)
    }

    /// Renames a session's directory to the next free `NAME.N`; gives N.
    ///
    /// # Errors
    /// Where it cannot be renamed.
    pub fn archive(&self, name: &str) -> io::Result<u32> {
        let from = self.sessions_dir().join(name);
        for generation in 1..=u32::MAX {
            let to = self.sessions_dir().join(format!("{name}.{generation}"));
            if fs::symlink_metadata(&to).is_ok() {
                continue;
            }
            return fs::rename(&from, &to).map(|()| generation).map_err(|error| files::at(&to, &error));
        }
        Err(io::Error::other(format!("no generation of {name} is free")))
    }

    /// The names of all session directories, archived ones included, in order.
    ///
    /// # Errors
    /// Where the directory cannot be read.
    pub fn sessions(&self) -> io::Result<Vec<String>> {
        let dir = self.sessions_dir();
        let mut names = Vec::new();
        for entry in fs::read_dir(&dir).map_err(|error| files::at(&dir, &error))? {
            let entry = entry.map_err(|error| files::at(&dir, &error))?;
            let is_dir = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if let Ok(name) = entry.file_name().into_string()
                && is_dir
                && parse_session(&name).is_some()
            {
                names.push(name);
            }
        }
        names.sort_unstable();
        Ok(names)
    }
}

/// A session's directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionDir {
    path: PathBuf,
}

impl SessionDir {
    /// The directory itself.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What the session is: host, socket, program, size, times.
    #[must_use]
    pub fn meta(&self) -> PathBuf {
        self.path.join("meta.json")
    }

    /// Every byte that was printed; written by the recorder.
    #[must_use]
    pub fn raw_log(&self) -> PathBuf {
        self.path.join("raw.log")
    }

    /// When each batch came, and how large the pane was; see [`crate::record::timing`].
    #[must_use]
    pub fn timing(&self) -> PathBuf {
        self.path.join("timing")
    }

    /// The cooked session; its line numbers are the ones that replies name.
    #[must_use]
    pub fn session_txt(&self) -> PathBuf {
        self.path.join("session.txt")
    }

    /// The index of the regions: one JSON line a change.
    #[must_use]
    pub fn regions_jsonl(&self) -> PathBuf {
        self.path.join("regions.jsonl")
    }

    /// Where the most recently used regions stand as files of their own.
    #[must_use]
    pub fn regions_dir(&self) -> PathBuf {
        self.path.join("regions")
    }

    /// The file of one region.
    #[must_use]
    pub fn region(&self, id: u32) -> PathBuf {
        self.regions_dir().join(format!("{id:04}.txt"))
    }

    /// What each agent has been told, and has left unsubmitted.
    #[must_use]
    pub fn state(&self) -> PathBuf {
        self.path.join("state.json")
    }

    /// The last line that was to be typed, and what became of it.
    #[must_use]
    pub fn intent(&self) -> PathBuf {
        self.path.join("intent.json")
    }

    /// The nonce of the session's markers; drawn by its pane.
    #[must_use]
    pub fn nonce(&self) -> PathBuf {
        self.path.join("nonce")
    }

    /// How the session's program ended; written by its pane. See [`crate::pane::ExitRecord`].
    #[must_use]
    pub fn exit(&self) -> PathBuf {
        self.path.join("exit")
    }

    /// Where `save_to` puts files with a relative path.
    #[must_use]
    pub fn saved_dir(&self) -> PathBuf {
        self.path.join("saved")
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn names_are_plain() {
        for good in ["t1", "a-b_C", &"x".repeat(64)] {
            assert!(is_session_name(good), "{good}");
        }
        for bad in ["", ".", "..", "a/b", "a.b", "a b", "é", "a\n", &"x".repeat(65)] {
            assert!(!is_session_name(bad), "{bad}");
        }
        assert_eq!(parse_session("t1"), Some(("t1", None)));
        assert_eq!(parse_session("t1.12"), Some(("t1", Some(12))));
        for bad in ["t1.", "t1.01", "t1.+1", "t1.x", ".1", "t1.1.2", "t1.99999999999"] {
            assert_eq!(parse_session(bad), None, "{bad}");
        }
    }

    #[test]
    fn an_older_session_of_a_name_is_kept() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::open(&dir.path().join("a/b/home")).unwrap();
        for text in ["one", "two", "three"] {
            let session = home.create_session("t1").unwrap();
            files::replace(&session.raw_log(), text.as_bytes()).unwrap();
        }
        assert_eq!(home.sessions().unwrap(), ["t1", "t1.1", "t1.2"]);
        assert_eq!(files::read(&home.session("t1.2").unwrap().raw_log()).unwrap(), b"two");
        assert_eq!(files::read(&home.session("t1").unwrap().raw_log()).unwrap(), b"three");
        assert!(home.create_session("t1.1").is_err() && home.session("../x").is_none());
    }

    #[test]
    fn a_directory_that_others_can_only_read_is_closed_and_one_they_can_write_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("home");
        fs::create_dir(&path).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        Home::open(&path).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o700);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o770)).unwrap();
        assert!(Home::open(&path).unwrap_err().to_string().contains("other users"));
    }
}
