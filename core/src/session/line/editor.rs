//! What the shell's line editor is in the middle of: it takes a line that is typed then for something else.
//!
//! Keys that an agent has pressed tell it, and what the screen shows at the cursor: a search of the history, a question
//! whether to list what there is. Nothing is typed on top of that; ctrl+c gives it up in every editor.

use crate::call::Send;
use crate::session::Session;
use crate::text::visible::quoted;
use crate::time::Now;

/// Characters that a refusal shows of the screen.
const SHOWN_CHARS: usize = 80;

/// What the keys that an agent pressed at the prompt have led to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::session) enum Midway {
    /// Escape: letters may be commands. Only vi's editors stay so behind a key that follows; which editor it is cannot be
    /// seen.
    Escaped,
    /// The next key is a part of this one, or is not read as itself: ctrl+x, ctrl+v.
    Key,
    /// How often what comes next is done: alt and digits.
    Count,
    /// A search of the history, which what comes next goes into.
    Search,
}

impl Midway {
    /// After one more key.
    fn after(before: Option<Self>, key: &[u8]) -> Option<Self> {
        match (before, key) {
            (Some(Self::Key), _) => None,
            (_, b"\x1b") => Some(Self::Escaped),
            (_, b"\x1b-" | [0x1b, b'0'..=b'9']) => Some(Self::Count),
            (Some(Self::Count), [b'0'..=b'9']) => Some(Self::Count),
            // A new line, or text is wanted again.
            (Some(Self::Escaped), b"i" | b"I" | b"a" | b"A") | (_, b"\r" | b"\n" | b"\x03" | b"\x07") => None,
            (_, b"\x16" | b"\x18") => Some(Self::Key),
            (_, b"\x12") => Some(Self::Search),
            (Some(before @ (Self::Escaped | Self::Search)), _) => Some(before),
            (Some(Self::Count) | None, _) => None,
        }
    }

    fn refusal(self) -> String {
        let what = match self {
            Self::Escaped => {
                "escape was pressed at this prompt, and the shell's editor may take what comes next as commands of its own"
            }
            Self::Key => "a key was pressed at this prompt that the next one becomes a part of",
            Self::Count => "alt and a digit were pressed at this prompt: the next key is repeated so many times",
            Self::Search => "a search of the history was begun at this prompt, and the line would go into it",
        };
        format!("nothing was typed: {what}. send keys=[\"ctrl+c\"] gives a fresh prompt, then run it again")
    }
}

impl Session {
    /// Notes what the line editor is in the middle of after a `send`.
    pub(in crate::session) fn note_midway(&mut self, now: Now, at_line: bool, send: &Send) {
        let typed = send.text.chars().map(|character| character.to_string().into_bytes());
        let keys = send.keys.iter().map(|key| key.encode(false));
        let before = self.midway.map(|(_, midway)| midway);
        let after = typed.chain(keys).fold(before, |before, key| Midway::after(before, &key));
        let anew = send.keys.iter().any(|key| key.encode(false) == b"\x1b");
        let since = self.midway.filter(|(_, midway)| !anew && Some(*midway) == after).map_or(now, |(since, _)| since);
        if at_line && send.keys.iter().any(|key| key.encode(false) == b"\x03") {
            // A line that the shell has not begun is given up as well.
            self.submitter.given_up();
        }
        self.midway = after.filter(|_| at_line).map(|midway| (since, midway));
    }

    /// When Escape was pressed at the prompt that stands, if the line editor may take letters for commands since.
    pub(in crate::session) fn escaped(&self) -> Option<Now> {
        self.midway.filter(|(_, midway)| *midway == Midway::Escaped).map(|(since, _)| since)
    }

    /// That the line editor is free to take a line.
    ///
    /// # Errors
    /// Says what it is in the middle of, and what to do.
    pub(in crate::session) fn editor_is_free(&self) -> Result<(), String> {
        if let Some((_, midway)) = self.midway {
            return Err(midway.refusal());
        }
        let (_, row) = self.log.cooked.cursor();
        let mut rows = self.log.cooked.screen_rows().into_iter().skip(usize::from(row));
        let at_cursor = rows.next().unwrap_or_default();
        let asks = Some(at_cursor).filter(|row| asks_at_cursor(row)).or_else(|| rows.find(|row| asks_below(row)));
        match asks {
            Some(asks) => {
                let shows = quoted(&asks.trim().chars().take(SHOWN_CHARS).collect::<String>());
                Err(format!(
                    "nothing was typed: the shell's editor is in the middle of something at this prompt, and shows {shows}: it would take the line for a part of that. send keys=[\"ctrl+c\"] gives a fresh prompt, then run it again"
                ))
            }
            None => Ok(()),
        }
    }
}

/// Whether a line editor shows that it asks or searches, on the cursor's row: bash's, fish's and zsh's words.
pub(in crate::session) fn asks_at_cursor(row: &str) -> bool {
    let begins = |start: &&str| row.starts_with(*start);
    let lists = row.starts_with("Display all ") && row.ends_with(" possibilities? (y or n)");
    let searches =
        ["(reverse-i-search)`", "(failed reverse-i-search)`", "(i-search)`", "(failed i-search)`", "search: "];
    let bare = matches!(row, "search:" | "--More--");
    lists || bare || searches.iter().chain(&["(arg: ", "zsh: do you wish to see all "]).any(begins)
}

/// The same below it, where zsh shows what it reads besides the line.
pub(in crate::session) fn asks_below(row: &str) -> bool {
    let row = row.strip_prefix("failing ").unwrap_or(row);
    ["bck-i-search: ", "fwd-i-search: ", "execute: "].iter().any(|start| row.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(keys: &[&[u8]]) -> Option<Midway> {
        keys.iter().fold(None, |before, key| Midway::after(before, key))
    }

    #[test]
    fn keys_lead_midway_and_out_again() {
        let cases: [(&[&[u8]], Option<Midway>); 14] = [
            (&[b"\x1b"], Some(Midway::Escaped)),
            (&[b"\x1b", b"b"], Some(Midway::Escaped)),
            (&[b"\x1b", b"i"], None),
            (&[b"\x1b", b"\x03"], None),
            (&[b"\x18"], Some(Midway::Key)),
            (&[b"\x18", b"x"], None),
            (&[b"\x16", b"\r"], None),
            (&[b"\x1b5"], Some(Midway::Count)),
            (&[b"\x1b5", b"0"], Some(Midway::Count)),
            (&[b"\x1b5", b"x"], None),
            (&[b"\x12", b"e", b"c"], Some(Midway::Search)),
            (&[b"\x12", b"\x07"], None),
            (&[b"\x12", b"e", b"\r"], None),
            (&[b"l", b"s", b"\t", b"\x1b[D"], None),
        ];
        for (keys, want) in cases {
            assert_eq!(after(keys), want, "{keys:?}");
        }
    }

    #[test]
    fn an_editor_that_asks_is_known_by_its_words() {
        for row in [
            "Display all 1300 possibilities? (y or n)",
            "--More--",
            "(reverse-i-search)`ec': echo one",
            "(failed reverse-i-search)`x':",
            "(arg: 5)",
            "search:",
            "search: ec",
            "zsh: do you wish to see all 400 possibilities (40 lines)?",
        ] {
            assert!(asks_at_cursor(row), "{row}");
        }
        for row in ["bck-i-search: ec_", "failing fwd-i-search: x_", "execute: _"] {
            assert!(asks_below(row), "{row}");
        }
        for row in ["$ ", "$ echo search: ", "", "me@box ~> ls --More--"] {
            assert!(!asks_at_cursor(row) && !asks_below(row), "{row}");
        }
    }
}
