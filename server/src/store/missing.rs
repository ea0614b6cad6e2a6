//! `integration-missing.json` on disk: read anew each time, because `dtmcp install` takes entries out of it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use dtmcp_core::record::{MissingEntry, MissingRecord};

use super::files;

/// The file of one state directory.
#[derive(Debug, Clone)]
pub struct Missing {
    path: PathBuf,
}

impl Missing {
    /// The one in this state directory, whether it is there or not.
    #[must_use]
    pub fn of(home: &Path) -> Self {
        Self { path: home.join("integration-missing.json") }
    }

    /// What stands in it; nothing where it cannot be read.
    #[must_use]
    pub fn read(&self) -> MissingRecord {
        files::read(&self.path).map(|text| MissingRecord::read(&String::from_utf8_lossy(&text))).unwrap_or_default()
    }

    /// Adds an answer.
    ///
    /// # Errors
    /// Where the file cannot be written.
    pub fn add(&self, entry: MissingEntry) -> io::Result<()> {
        let mut record = self.read();
        record.add(entry);
        self.write(&record)
    }

    /// Takes out what `out` says is known to be there now.
    ///
    /// # Errors
    /// Where the file cannot be written.
    pub fn forget(&self, out: impl Fn(&MissingEntry) -> bool) -> io::Result<()> {
        if fs::symlink_metadata(&self.path).is_err() {
            return Ok(());
        }
        let mut record = self.read();
        let before = record.missing.len();
        record.missing.retain(|entry| !out(entry));
        if record.missing.len() == before { Ok(()) } else { self.write(&record) }
    }

    fn write(&self, record: &MissingRecord) -> io::Result<()> {
        let text = serde_json::to_string(record).map_err(io::Error::from)?;
        files::replace(&self.path, text.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn an_answer_is_kept_and_taken_out() {
        let dir = tempfile::tempdir().unwrap();
        let missing = Missing::of(dir.path());
        missing.forget(|_| true).unwrap();
        assert_eq!((missing.read(), fs::read_dir(dir.path()).unwrap().count()), (MissingRecord::default(), 0));
        let entry = MissingEntry { place: "there".to_owned(), who: "me@box".to_owned(), at: 5 };
        missing.add(entry.clone()).unwrap();
        missing.add(MissingEntry { place: "here".to_owned(), ..entry.clone() }).unwrap();
        assert_eq!(fs::metadata(&missing.path).unwrap().permissions().mode() & 0o777, 0o600);
        missing.forget(|entry| entry.place == "here").unwrap();
        assert_eq!(missing.read().missing, std::slice::from_ref(&entry));
        fs::write(&missing.path, "{ torn").unwrap();
        assert_eq!(missing.read(), MissingRecord::default());
        missing.add(entry.clone()).unwrap();
        assert_eq!(missing.read().missing, [entry]);
    }
}
