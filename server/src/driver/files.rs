//! A session's files beside the raw log, as the driver keeps them.

use std::fs::File;
use std::io::{self, Write as _};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use dtmcp_core::cooked::Live;
use dtmcp_core::record::{Intent, IntentState, RegionRecord, StateRecord};
use dtmcp_core::region::Region;

use crate::store::files;
use crate::store::lines::{LogLines, SessionText};
use crate::store::page::PageFile;

/// The files that a session's task writes.
#[derive(Debug)]
pub struct SessionFiles {
    dir: PathBuf,
    text: SessionText,
    regions: File,
    state: PageFile,
    /// What stands in it.
    remembered: String,
    intent: PageFile,
    /// The first write that failed since it was last told.
    trouble: Option<String>,
}

impl SessionFiles {
    /// Opens the files, `session.txt` empty.
    ///
    /// # Errors
    /// Where one cannot be opened.
    pub fn open(dir: &Path) -> io::Result<Self> {
        let mut regions = files::append(&dir.join("regions.jsonl"))?;
        // A server that was killed may have left half a line.
        if let Some(last) = last_byte(&regions)?
            && last != b'\n'
        {
            regions.write_all(b"\n")?;
        }
        Ok(Self {
            dir: dir.to_owned(),
            text: SessionText::create(&dir.join("session.txt"))?,
            regions,
            state: PageFile::open(&dir.join("state.json"))?,
            remembered: String::new(),
            intent: PageFile::open(&dir.join("intent.json"))?,
            trouble: None,
        })
    }

    /// Appends settled text.
    pub fn settle(&mut self, text: &[u8]) {
        let result = self.text.settle(text);
        self.note(result, "session.txt");
    }

    /// Writes the unsettled lines behind the settled ones.
    pub fn write_tail(&mut self, live: &Live) {
        let result = self.text.write_tail(live);
        self.note(result, "session.txt");
    }

    /// The lines as they stand.
    #[must_use]
    pub fn snapshot(&self, live: Live) -> LogLines {
        self.text.snapshot(live)
    }

    /// Appends one change of a region.
    pub fn record(&mut self, region: &Region) {
        let result = serde_json::to_string(&RegionRecord::of(region)).map_err(io::Error::from).and_then(|mut line| {
            line.push('\n');
            self.regions.write_all(line.as_bytes())
        });
        self.note(result, "regions.jsonl");
    }

    /// Writes the agents' state, if it differs from what is there.
    pub fn remember(&mut self, state: &StateRecord) {
        let Ok(text) = serde_json::to_string(state) else { return };
        if text == self.remembered {
            return;
        }
        let result = self.state.write(&text);
        self.note(result, "state.json");
        self.remembered = text;
    }

    /// Writes what is about to be typed, before it is.
    ///
    /// # Errors
    /// Where it cannot be written: then nothing may be typed.
    pub fn intend(&mut self, intent: &Intent) -> io::Result<()> {
        let text = serde_json::to_string(intent).map_err(io::Error::from)?;
        self.intent.write(&text)
    }

    /// Marks what was to be typed as typed, or as refused by the terminal.
    pub fn typed(&mut self, intent: &Intent, taken: bool) {
        let state = if taken { IntentState::Typed } else { IntentState::Refused };
        let result = self.intend(&Intent { state, ..intent.clone() });
        self.note(result, "intent.json");
    }

    /// What could not be written since this was last asked, for a note to the model.
    pub fn take_trouble(&mut self) -> Option<String> {
        self.trouble.take()
    }

    fn note(&mut self, result: io::Result<()>, file: &str) {
        if let Err(error) = result {
            tracing::warn!("{}: {file} cannot be written: {error}", self.dir.display());
            self.trouble.get_or_insert(format!(
                "{file} cannot be written ({error}): the log on disk is incomplete, raw.log may still hold it"
            ));
        }
    }
}

fn last_byte(file: &File) -> io::Result<Option<u8>> {
    let length = file.metadata()?.len();
    let mut byte = [0];
    if length == 0 || file.read_at(&mut byte, length - 1)? == 0 {
        return Ok(None);
    }
    Ok(byte.first().copied())
}
