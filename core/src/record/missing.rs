//! `integration-missing.json`: where shells were found without the integration's files, so that none is asked again and
//! again.

use serde::{Deserialize, Serialize};

use crate::time::Wall;

/// Places remembered; the oldest answer makes way. A person who works in more places within [`HOURS`] is asked again.
const ENTRIES_MAX: usize = 100;

/// How long an answer is believed, in hours, as the reference document has it.
pub const HOURS: u64 = 12;

/// The contents of the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MissingRecord {
    /// The version of this format; 1.
    pub v: u32,
    /// The oldest first.
    #[serde(default)]
    pub missing: Vec<MissingEntry>,
}

/// A place where they are missing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MissingEntry {
    /// The place, by what can be known of it without typing anything.
    pub place: String,
    /// `user@host` as the shell there told.
    pub who: String,
    /// When that was, Unix milliseconds.
    pub at: u64,
}

impl MissingRecord {
    const VERSION: u32 = 1;

    /// Reads the file's text; an empty record where it is torn or of another version.
    #[must_use]
    pub fn read(text: &str) -> Self {
        serde_json::from_str::<Self>(text).ok().filter(|record| record.v == Self::VERSION).unwrap_or_default()
    }

    /// Adds an answer, and drops what is believed no more.
    pub fn add(&mut self, entry: MissingEntry) {
        let now = Wall(entry.at);
        self.missing.retain(|old| old.place != entry.place && old.holds(now));
        self.missing.push(entry);
        let excess = self.missing.len().saturating_sub(ENTRIES_MAX);
        self.missing.drain(..excess);
    }
}

impl MissingEntry {
    /// Whether it is still believed. A clock that was set back makes no answer last.
    #[must_use]
    pub fn holds(&self, now: Wall) -> bool {
        now.0.checked_sub(self.at).is_some_and(|age| age < HOURS * 3_600_000)
    }
}

impl Default for MissingRecord {
    fn default() -> Self {
        Self { v: Self::VERSION, missing: Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    fn entry(place: &str, at: u64) -> MissingEntry {
        MissingEntry { place: place.to_owned(), who: "me@box".to_owned(), at }
    }

    #[test]
    fn answers_are_one_a_place_and_bounded() {
        let mut record = MissingRecord::default();
        for at in 0..150 {
            record.add(entry(&format!("p{at}"), at));
            record.add(entry("again", at));
        }
        assert_eq!(record.missing.len(), ENTRIES_MAX);
        assert_eq!(record.missing.iter().filter(|entry| entry.place == "again").count(), 1);
        record.add(entry("late", 13 * 3_600_000));
        assert_eq!(record.missing, [entry("late", 13 * 3_600_000)]);
        assert_eq!(MissingRecord::read(&serde_json::to_string(&record).unwrap()), record);
    }

    #[test]
    fn an_answer_holds_for_twelve_hours() {
        let entry = entry("p", 1000);
        assert!(entry.holds(Wall(1000)) && entry.holds(Wall(12 * 3_600_000)));
        assert!(!entry.holds(Wall(1000 + 12 * 3_600_000)) && !entry.holds(Wall(999)));
    }

    #[test]
    fn what_cannot_be_read_is_nothing() {
        for text in ["", "{", "[]", "{\"v\":2,\"missing\":[]}", "{\"v\":1,\"missing\":[{}]}", "\0\0"] {
            assert_eq!(MissingRecord::read(text), MissingRecord::default(), "{text}");
        }
    }
}
