//! What a driver keeps on disk for a session, kept in memory, and the session that is rebuilt from it.

use dtmcp_core::cooked::Size;
use dtmcp_core::log::Log;
use dtmcp_core::record::{Intent, IntentState, RegionRecord, StateRecord};
use dtmcp_core::region::Region;
use dtmcp_core::session::{Inherited, Recovery};
use dtmcp_core::time::Wall;

use super::Chance;

/// The files.
#[derive(Debug, Clone, Default)]
pub struct Disk {
    /// `raw.log`.
    pub raw: Vec<u8>,
    /// `timing`: until which offset the stream had come when, and what size it had from there on.
    times: Vec<(usize, Wall, Option<Size>)>,
    /// `session.txt`, its settled part.
    pub text: Vec<u8>,
    /// `regions.jsonl`.
    pub regions: String,
    /// `state.json`.
    pub state: String,
    /// `intent.json`.
    pub intent: String,
    /// Where each settled line begins.
    starts: Vec<usize>,
    known: Vec<Region>,
}

/// A session's parts as rebuilt.
#[derive(Debug)]
pub(super) struct Rebuilt {
    /// The log.
    pub log: Log,
    /// The agents' state.
    pub state: StateRecord,
    /// What the session before left undone.
    pub inherited: Inherited,
}

impl Disk {
    pub(super) fn output(&mut self, bytes: &[u8], wall: Wall) {
        self.raw.extend_from_slice(bytes);
        self.times.push((self.raw.len(), wall, None));
    }

    pub(super) fn size(&mut self, size: Size, wall: Wall) {
        self.times.push((self.raw.len(), wall, Some(size)));
    }

    pub(super) fn settle(&mut self, text: &[u8]) {
        for piece in text.split_inclusive(|byte| *byte == b'\n') {
            // A line too long for the screen is settled in pieces.
            if self.text.last().is_none_or(|byte| *byte == b'\n') {
                self.starts.push(self.text.len());
            }
            self.text.extend_from_slice(piece);
        }
    }

    pub(super) fn record(&mut self, region: &Region) {
        let line = serde_json::to_string(&RegionRecord::of(region)).expect("a record is JSON");
        self.regions.push_str(&line);
        self.regions.push('\n');
        self.known.retain(|known| known.id != region.id);
        self.known.push(region.clone());
    }

    pub(super) fn remember(&mut self, state: &StateRecord) {
        self.state = serde_json::to_string(state).expect("a state is JSON");
    }

    pub(super) fn intend(&mut self, intent: &Intent) {
        self.intent = serde_json::to_string(intent).expect("an intent is JSON");
    }

    pub(super) fn typed(&mut self, intent: &Intent, taken: bool) {
        let state = if taken { IntentState::Typed } else { IntentState::Refused };
        self.intend(&Intent { state, ..intent.clone() });
    }

    /// A region as last recorded.
    #[must_use]
    pub fn region(&self, id: u32) -> Option<Region> {
        self.known.iter().find(|region| region.id == id).cloned()
    }

    /// A settled line, or as much of one as is.
    #[must_use]
    pub fn line(&self, number: u64) -> String {
        let at = usize::try_from(number).unwrap_or(usize::MAX).saturating_sub(1);
        let Some(start) = self.starts.get(at) else { return String::new() };
        let end = self.starts.get(at + 1).copied().unwrap_or(self.text.len());
        let line = self.text.get(*start..end).unwrap_or_default();
        String::from_utf8_lossy(line.strip_suffix(b"\n").unwrap_or(line)).into_owned()
    }

    /// Everything that was written, but for the raw stream.
    #[must_use]
    pub fn written(&self) -> String {
        format!("{}\n{}{}\n{}", String::from_utf8_lossy(&self.text), self.regions, self.state, self.intent)
    }

    /// Rebuilds a session from an empty log, as a new server does, and writes what that finds missing.
    pub(super) fn rebuild(&mut self, log: Log, mut cut: Option<&mut Chance>) -> Rebuilt {
        let mut recovery = Recovery::new(log, RegionRecord::read_all(&self.regions), Intent::read(&self.intent));
        let raw = self.raw.clone();
        let mut text = Vec::new();
        let mut at = 0;
        for (until, wall, size) in &self.times {
            while at < *until {
                let size = cut.as_mut().map_or(until - at, |cut| 1 + cut.below(until - at));
                recovery.feed(raw.get(at..at + size).unwrap_or_default(), *wall);
                recovery.log().cooked.take_settled(&mut text);
                at += size;
            }
            if let Some(size) = size {
                recovery.log().resize(*size);
            }
        }
        let (log, changed, inherited) = recovery.finish();
        (self.text, self.starts) = (Vec::new(), Vec::new());
        if !text.is_empty() {
            self.settle(&text);
        }
        changed.iter().for_each(|region| self.record(region));
        Rebuilt { log, state: StateRecord::read(&self.state), inherited }
    }
}
