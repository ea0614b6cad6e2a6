//! What the line editor of a far shell tells by asking for bracketed paste while it reads.
//!
//! bash from 5.1 on, zsh and fish switch it on when they begin to read a line and off before they run it, and so do most
//! programs with a line editor. So where nobody sees who waits, what stands on the line while it is on is a prompt,
//! whatever it looks like, and an editor that has not switched it off since a line was typed reads on: fish takes several
//! lines for one text and shows no prompt before the later ones.

use std::time::Duration;

use super::searching;
use crate::call::{Asks, REST, Resting};
use crate::prompt::{self, Looks, Shape};
use crate::session::Session;
use crate::time::Now;

/// A prompt that nobody has seen before is believed after this long without a byte, and so is a line without one: it is
/// drawn in pieces, which the way from there may tear apart.
const DRAWN: Duration = Duration::from_millis(300);

/// What the program in the foreground has shown of the line that it reads.
#[derive(Debug, Default)]
pub(in crate::session) struct Reads {
    /// An agent whose keys may have begun a search of its history.
    pub(in crate::session) searcher: Option<searching::Searcher>,
    /// What the last line was typed behind.
    pub(in crate::session) taken_at: Option<String>,
    /// What the last line was typed behind that was no rest of another.
    pub(in crate::session) began_at: Option<String>,
    /// Whether a primary prompt has been seen since the last line of an agent's, so that it is answered.
    pub(in crate::session) prompted: bool,
    /// The count of the cooked view's paste switches when a line was begun at a prompt that a line editor showed.
    pub(in crate::session) editor: Option<u32>,
    /// Whether that was read off the log, so that nobody here knows who has typed since.
    pub(in crate::session) unwitnessed: bool,
    /// The line that the editor of that count has shown first: nobody has typed behind it yet.
    shown: Option<(u32, String)>,
}

impl Session {
    /// Whether a line editor reads at the far end of a carrier.
    fn far_editor_reads(&self) -> bool {
        (self.is_carried() || self.looking.behind) && self.log.cooked.modes().bracketed_paste
    }

    /// What the line of the cursor is where a line editor reads it at the far end, and its looks alone do not tell.
    pub(in crate::session) fn edited_there(&self, now: Now) -> Option<Resting> {
        let continues = self.continues_edited();
        if self.stale_until(now).is_some() || !continues && !self.far_editor_reads() {
            return None;
        }
        if let Some(prompt) = self.displaced() {
            let drawn = self.last_activity + DRAWN;
            let again = Some(drawn).filter(|_| now < drawn);
            let prompt = Some((prompt, Shape::Primary)).filter(|_| again.is_none());
            return Some(Resting { prompt, again, ..Resting::default() });
        }
        let line = self.log.cooked.line_at_cursor();
        let drawn = self.last_activity + DRAWN;
        let last = self.last_prompt.as_deref();
        let known = last.is_some_and(|last| prompt::is_like(last, &line.text));
        if !continues && line.text.trim().is_empty() {
            return self.misplaced(drawn, now);
        }
        if !continues && (line.more || self.behind_prompt().is_some()) {
            return None;
        }
        if now < drawn && !known {
            return Some(Resting { again: Some(drawn), ..Resting::default() });
        }
        if continues {
            return Some(Resting { prompt: Some((String::new(), Shape::Continuation)), ..Resting::default() });
        }
        match prompt::looks_like(&line.text) {
            Some(Looks::Secret) => None,
            Some(Looks::Question) if !known => Some(Resting { asks: Some(Asks::Shown), ..Resting::default() }),
            Some(Looks::Question | Looks::Prompt) | None => {
                Some(Resting { prompt: Some((line.text, Shape::Primary)), ..Resting::default() })
            }
        }
    }

    /// The prompt that stands further up, since something was printed behind it that has ended its line: a job in the
    /// background. The editor shows no other one, and has nothing on its line, unless a person has begun one.
    fn displaced(&self) -> Option<String> {
        if !self.far_editor_reads() || !self.cursors_line().trim().is_empty() {
            return None;
        }
        let reads_since = if self.reads.editor == self.editor_at_work() {
            self.reads.prompted && !self.person_typed_since_last_line()
        } else {
            self.looking.has_asked()
        };
        self.last_prompt.clone().filter(|_| reads_since)
    }

    /// An editor has begun to read with the cursor before what stands on its line: zsh without UTF-8, which takes each
    /// byte for a column and goes back too far from its right prompt. The prompt is what stands before a wide gap.
    fn misplaced(&self, drawn: Now, now: Now) -> Option<Resting> {
        let begun = self.reads.editor != self.editor_at_work();
        let stands = self.cursors_line();
        let prompt = stands.trim().split("  ").next().filter(|text| begun && !text.is_empty())?;
        if now < drawn {
            return Some(Resting { again: Some(drawn), ..Resting::default() });
        }
        Some(Resting { prompt: Some((prompt.to_owned(), Shape::Primary)), ..Resting::default() })
    }

    /// Remembers what an editor shows before anybody has typed there, as soon as that rests.
    pub(in crate::session) fn note_shown(&mut self, now: Now, editor: Option<u32>) {
        let Some(count) = editor.filter(|_| now - self.last_activity >= REST && self.far_editor_reads()) else {
            return;
        };
        let text = self.log.cooked.line_at_cursor().text;
        if self.reads.shown.as_ref().is_none_or(|(shown, _)| *shown != count) && !text.trim().is_empty() {
            self.reads.shown = Some((count, text));
        }
    }

    /// What the editor that reads has shown first, where it is known.
    pub(in crate::session) fn shown_first(&self) -> Option<&str> {
        let (count, text) = self.reads.shown.as_ref()?;
        (self.editor_at_work() == Some(*count)).then_some(text.as_str())
    }

    /// The count by which an editor that reads is known again, where one does.
    pub(in crate::session) fn editor_at_work(&self) -> Option<u32> {
        let cooked = &self.log.cooked;
        cooked.modes().bracketed_paste.then(|| cooked.paste_switches())
    }

    /// Whether the editor that showed the last prompt reads on, below the line that begins with it.
    pub(in crate::session) fn editor_reads_on(&self) -> bool {
        let asks = self.looking.asks() == Some(Asks::Shown) || self.shells_prompt().is_some();
        let seen = self.is_carried() || self.looking.behind || asks;
        let same = self.reads.editor.is_some() && self.reads.editor == self.editor_at_work();
        let stands = self.cursors_line();
        let below = |prompt: &String| !stands.starts_with(prompt.trim_end());
        seen && same && self.last_prompt.as_ref().or_else(|| self.shells_prompt()).is_some_and(below)
    }

    /// Whether it has only put the cursor there.
    fn continues_edited(&self) -> bool {
        self.editor_reads_on() && self.cursors_line().trim().is_empty()
    }
}
