//! A program's prompt that stands behind output without a line end: the prompt is one thing, the output another.

use crate::log::ShellState;
use crate::place;
use crate::prompt::{self, Glued};
use crate::region::Kind;
use crate::session::Session;

impl Session {
    /// The prompt that the cursor's line ends with, where output stands before it.
    pub(in crate::session) fn glued<'a>(&self, line: &'a str) -> Option<&'a str> {
        if !matches!(self.log.shell(), ShellState::Running(_) | ShellState::NoShell) {
            return None;
        }
        let last = self.last_prompt.as_deref()?;
        let region = self.log.regions().next_back().filter(|region| region.kind == Kind::Input)?;
        let label = region.label.as_str();
        let typed = label.strip_prefix(last.trim_end()).unwrap_or(label).trim();
        // What leads to another shell or another program leads to another prompt.
        if place::told_by_line(typed, self.place()).is_some() {
            return None;
        }
        let (shown, shows) = (self.prompted_by, self.looking.waiter());
        if shown.zip(shows).is_some_and(|(shown, shows)| shown != shows) {
            return None;
        }
        prompt::glued(line, Glued { last, typed, same: shown.is_some() && shown == shows })
    }

    /// How many bytes of output stand before the prompt on the cursor's line.
    pub(in crate::session) fn bytes_before_prompt(&self) -> usize {
        let line = self.log.cooked.line_at_cursor().text;
        let line = self.without_half_typed(&line).unwrap_or(line);
        self.glued(&line).map_or(0, |prompt| line.len() - prompt.len())
    }

    /// Remembers the primary prompt that a program shows, and who it was.
    pub(in crate::session) fn prompted(&mut self, text: String) {
        let same = self.last_prompt.as_deref() == Some(text.as_str());
        self.prompted_by = self.looking.waiter().or(self.prompted_by.filter(|_| same));
        self.last_prompt = Some(text);
    }
}
