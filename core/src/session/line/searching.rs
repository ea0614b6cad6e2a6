//! A search of the history that a program's line editor is in: what is typed goes into it, and Enter runs what it found.
//!
//! Only the screen tells it, by the words of the editors. Whose it is, the keys of a `send` tell; else it is a person's.

use super::editor::{asks_at_cursor, asks_below};
use super::unsubmitted::SOMEONE;
use crate::log::ShellState;
use crate::session::Session;
use crate::text::visible::quoted;

/// Characters that a refusal shows of the search.
const SHOWN_CHARS: usize = 80;

/// The keys that begin one: ctrl+r and ctrl+s, as bytes.
const BEGINS: [&[u8]; 2] = [b"\x12", b"\x13"];

/// The key that leaves one with the line as it was, in every editor: ctrl+g, as a byte.
pub(in crate::session) const LEAVES: &[u8] = b"\x07";

/// How a row begins that readline, pyrepl, reline, haskeline, prompt_toolkit and reedline search in, or repeat a key by.
const AT_START: [&str; 8] = [
    "(reverse-i-search)`",
    "(failed reverse-i-search)`",
    "(i-search)`",
    "(failed i-search)`",
    "(r-search `",
    "(f-search `",
    "(reverse-search: ",
    "(arg: ",
];

/// How a row begins in which zsh, node, JLine and prompt_toolkit show what is searched for, mostly below the line.
const WHAT_FOR: [&str; 4] = ["bck-i-search:", "fwd-i-search:", "I-search:", "I-search backward:"];

/// What they put before it where nothing was found.
const FAILED: [&str; 3] = ["failing ", "failed ", "failed-"];

/// An agent that has begun a search.
#[derive(Debug)]
pub(in crate::session) struct Searcher {
    name: String,
    /// Whether the search has been seen.
    seen: bool,
}

impl Session {
    /// What a search shows that the line editor of what runs is in.
    pub(in crate::session) fn search_shown(&self) -> Option<String> {
        let unmarked = matches!(self.log.shell(), ShellState::Running(_) | ShellState::NoShell);
        if !unmarked || self.log.cooked.modes().alternate {
            return None;
        }
        let line = self.cursors_line();
        // A far shell's editor is known by asking for bracketed paste, which questions do not.
        let far = (self.is_carried() || self.looking.behind) && self.log.cooked.modes().bracketed_paste;
        if searches(&line) || far && asks_at_cursor(&line) {
            return Some(line);
        }
        let (_, row) = self.log.cooked.cursor();
        let mut rows = self.log.cooked.screen_rows().into_iter().skip(usize::from(row));
        rows.find(|row| searches(row) || far && asks_below(row))
    }

    /// That what runs is in no search, or, where this agent is named, in none of another's.
    ///
    /// # Errors
    /// Says what it shows, whose it is, and how to leave it.
    pub(in crate::session) fn is_in_no_search(&self, but_of: Option<&str>) -> Result<(), String> {
        let Some(shows) = self.search_shown() else { return Ok(()) };
        let owner = self.reads.searcher.as_ref().map(|searcher| searcher.name.as_str());
        if owner.is_some() && owner == but_of {
            return Ok(());
        }
        let shows = quoted(&shows.trim().chars().take(SHOWN_CHARS).collect::<String>());
        let owner = owner.unwrap_or(SOMEONE);
        Err(format!(
            "nothing was typed: the line editor there is in a search of the history that {owner} has begun, and shows {shows}. A line would go into it, and Enter would run what it found. send keys=[\"ctrl+g\"] leaves the search, if it is not wanted any more; then run it again"
        ))
    }

    /// Who is in a search, for whoever looks at all sessions.
    pub(in crate::session) fn search_brief(&self) -> Option<String> {
        self.search_shown()?;
        let owner = self.reads.searcher.as_ref().map_or(SOMEONE, |searcher| searcher.name.as_str());
        Some(format!("{owner} searches the history"))
    }

    /// Keys of an agent's are about to be pressed, which may begin a search.
    pub(in crate::session) fn may_search(&mut self, actor: &str, pressed: &[Vec<u8>]) {
        let begins = pressed.iter().any(|key| BEGINS.contains(&key.as_slice()));
        if begins && self.search_shown().is_none() {
            self.reads.searcher = Some(Searcher { name: actor.to_owned(), seen: false });
        }
    }

    /// Output has come: a search that was seen may be over.
    pub(in crate::session) fn see_search(&mut self) {
        if self.reads.searcher.is_none() {
            return;
        }
        let shown = self.search_shown().is_some();
        self.reads.searcher.take_if(|searcher| searcher.seen && !shown);
        if let Some(searcher) = &mut self.reads.searcher {
            searcher.seen |= shown;
        }
    }
}

/// Whether a row is one that a line editor shows while it searches.
fn searches(row: &str) -> bool {
    let row = row.trim_start();
    let bare = FAILED.iter().find_map(|failed| row.strip_prefix(failed)).unwrap_or(row);
    AT_START.iter().any(|start| row.starts_with(start)) || WHAT_FOR.iter().any(|start| bare.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_is_known_by_its_words() {
        for row in [
            "(reverse-i-search)`rem': os.remove('danger')",
            "(reverse-i-search)`':",
            "(failed reverse-i-search)`xyz': 1",
            "(i-search)`a': a",
            "(r-search `rem') os.remove('danger')",
            "(arg: 5) ",
            "bck-i-search: rem_",
            "failed-bck-i-search: q_",
            "failing fwd-i-search: q_",
            "I-search backward:",
        ] {
            assert!(searches(row), "{row}");
        }
        for row in [">>> ", "", "search: ", "Search (i-search)`? ", ">>> print('bck-i-search: x')", "(y/n) "] {
            assert!(!searches(row), "{row}");
        }
    }
}
