//! A small file that is written over and over, in place.
//!
//! Replacing a file by rename would be as safe, but ext4 then writes the new one out before it goes on, which takes
//! longer than a command does. A text of one page is written by one call, which no signal cuts in half, so a reader
//! finds the old text or the new. What the machine's own end may tear is no loss: the sessions end with it.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use super::files;

/// The longest text that is written in place, with its line break: one page of every machine we run on.
const PAGE: usize = 4096;

/// The file.
#[derive(Debug)]
pub struct PageFile {
    path: PathBuf,
    file: File,
    /// How long the text in it is.
    length: usize,
}

impl PageFile {
    /// Opens it, or makes it.
    ///
    /// # Errors
    /// Where it cannot be opened, or is not ours.
    pub fn open(path: &Path) -> io::Result<Self> {
        let file = files::open_or_create(path)?;
        let length = usize::try_from(file.metadata()?.len()).unwrap_or(usize::MAX);
        Ok(Self { path: path.to_owned(), file, length })
    }

    /// Writes a JSON text; what a longer old one leaves over becomes blanks, which JSON allows.
    ///
    /// # Errors
    /// Where it cannot be written.
    pub fn write(&mut self, text: &str) -> io::Result<()> {
        let length = (text.len() + 1).max(self.length);
        if length <= PAGE {
            self.file.write_all_at(format!("{text:<width$}\n", width = length - 1).as_bytes(), 0)?;
            self.length = length;
            return Ok(());
        }
        files::replace(&self.path, text.as_bytes())?;
        *self = Self::open(&self.path)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn the_last_text_is_read_whatever_its_length() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("state.json");
        let mut file = PageFile::open(&path).unwrap();
        for length in [10, 400, 20, 4095, 30, 9000, 40, 4094, 5] {
            let text = serde_json::to_string(&"x".repeat(length)).unwrap();
            file.write(&text).unwrap();
            let read: String = serde_json::from_slice(&files::read(&path).unwrap()).unwrap();
            assert_eq!(read.len(), length);
        }
    }
}
