//! How a session's shell comes up: what its startup files ask, which other shell they may become, how long they take.

use std::time::Duration;

use crate::call::{Asks, QUIET};
use crate::log::ShellState;
use crate::prompt;
use crate::session::Session;
use crate::time::Now;

/// A shell whose markers are due and that rests at a prompt for this long is taken for one without markers.
const UNMARKED: Duration = Duration::from_secs(2);

/// What is known of a session's start.
#[derive(Debug, Default)]
pub(in crate::session) struct Start {
    /// A startup file has become a shell without markers, which has shown its prompt.
    pub(in crate::session) plain: bool,
    /// How long the first prompt took; zero where that says nothing of the startup files.
    pub(in crate::session) took: Option<Duration>,
    /// Since when somebody is seen to wait for input without a word.
    wordless: Option<Now>,
}

impl Session {
    /// Notes what is seen of a shell that has shown no marker yet.
    pub(in crate::session) fn note_start(&mut self, now: Now) {
        if self.log.shell() != ShellState::NoShell || !self.setting.integrated {
            return;
        }
        self.start.wordless = self.looking.asks().and(self.start.wordless.or(Some(now)));
        self.start.plain = self.start.plain || self.is_plain_start(now);
        if self.start.plain || self.startup_asks(now) {
            // From here on it takes as long as the answer does.
            self.start.took = Some(Duration::ZERO);
        }
    }

    /// Whether what was to become an integrated shell stands at a prompt without a marker: somebody is seen to wait there,
    /// or it has stood for a while.
    pub(in crate::session) fn is_plain_start(&self, now: Now) -> bool {
        let line = self.log.cooked.line_at_cursor();
        let waits = self.looking.asks() == Some(Asks::Shown);
        (waits || now - self.last_activity >= UNMARKED)
            && !line.text.is_empty()
            && prompt::matches(&line.text, self.setting.prompt_pattern.as_ref(), prompt::Setting::Plain, None).is_some()
    }

    /// When to look again whether it asks for something or has become another shell, though nothing happens.
    pub(in crate::session) fn start_due(&self, now: Now) -> Option<Now> {
        let due = [Some(self.last_activity + UNMARKED), self.start.wordless.map(|since| since + QUIET)];
        due.into_iter().flatten().filter(|due| now < *due).min()
    }

    /// Whether a startup file asks for something. Without a word on the cursor's line it may be a pause (`read -t 1`), or the
    /// shell that waits for what the terminal says of itself, which it does with the echo turned off.
    pub(in crate::session) fn startup_asks(&self, now: Now) -> bool {
        let words = || !self.log.cooked.line_at_cursor().text.trim().is_empty();
        let stays = || self.start.wordless.is_some_and(|since| now - since >= QUIET);
        match self.looking.asks() {
            Some(Asks::Shown) => words() || (stays() && self.looking.echoes == Some(true)),
            Some(Asks::Hidden) => words() || stays(),
            Some(Asks::Stopped) | None => false,
        }
    }
}
