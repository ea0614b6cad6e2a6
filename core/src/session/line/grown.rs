//! What a person has typed on the line of a program, where no prompt is known to tell it from what was printed.
//!
//! A question rests before anybody answers it, and so does the line of a program at work before anybody types ahead. So
//! what stood on the line when it rested is the program's, and what came behind it is a person's where tmux tells of a key
//! of theirs at that time, unless it looks like something that a program asks.
//! Nothing of this is kept on disk: after a restart it is read off the log and its times again.

use crate::call::{Asks, REST};
use crate::cooked::CursorLine;
use crate::log::{Log, ShellState};
use crate::prompt;
use crate::session::Owner;
use crate::session::{HUMAN, Session, Unsubmitted};
use crate::time::{Now, Wall};

/// tmux tells a person's last key in whole seconds, and what it makes the terminal show is recorded a moment later, on a
/// busy machine more than a second.
pub(in crate::session) const KEY_MS: u64 = 2500;

/// The line of a program, as far as it is known whose what on it is.
#[derive(Debug, Clone, Default)]
pub(in crate::session) struct Grown {
    /// The number of the line that rested.
    line: u64,
    /// What it showed then.
    base: Option<String>,
    /// When anything was last printed, or a line given up.
    at: Wall,
    /// When a person has last submitted a line, as far as the output shows that.
    submitted: Wall,
}

impl Grown {
    /// More is to be printed, at that time. `echoes` says that it may be what an agent has just typed, `waits` that what
    /// runs was seen to wait for input.
    pub(in crate::session) fn output(&mut self, log: &Log, wall: Wall, echoes: bool, waits: bool) {
        let unmarked = matches!(log.shell(), ShellState::Running(_) | ShellState::NoShell);
        let rested = u128::from(wall.0.saturating_sub(self.at.0)) >= REST.as_millis();
        if unmarked && !echoes && (waits || rested) {
            self.rests(log);
        }
        self.at = wall;
    }

    /// When anything was last printed, or a line given up.
    pub(in crate::session) fn at(&self) -> Wall {
        self.at
    }

    /// The line rests as it is: what rested first is the program's, and what has come behind it since may be a person's.
    fn rests(&mut self, log: &Log) {
        let (line, shows) = (cursor_line(log), cursors_text(log));
        if !self.base_on(line).is_some_and(|base| shows.starts_with(base.trim_end())) {
            (self.line, self.base) = (line, Some(shows));
        }
    }

    /// More is to be printed, as the log is replayed.
    pub(in crate::session) fn replayed(&mut self, log: &Log, wall: Wall) {
        self.output(log, wall, false, false);
    }

    fn base_on(&self, line: u64) -> Option<&str> {
        self.base.as_deref().filter(|_| self.line == line)
    }

    /// What has come behind what rested there.
    fn behind(&self, log: &Log) -> Option<String> {
        let shows = cursors_text(log);
        let ends = log.cooked.line_at_cursor();
        let base = self.base_on(cursor_line(log))?.trim_end();
        let grown = shows.strip_prefix(base)?;
        // A program that asks leaves a blank for the answer, mostly; and what it prints on a line of its own with one
        // behind it is a prompt, whatever it looks like. The cursor is behind either.
        let blank = ends.text.ends_with(' ') && !ends.more;
        let looks = !ends.more && prompt::looks_like(&ends.text).is_some() || prompt::leading(&shows).is_some();
        let asks = if base.is_empty() { blank || looks } else { blank && looks };
        let grown = grown.trim();
        (!grown.is_empty() && !asks).then(|| grown.to_owned())
    }
}

impl Session {
    /// Output is about to be taken.
    pub(in crate::session) fn note_rest(&mut self, wall: Wall, bytes: &[u8]) {
        let typed = self.looking.asks().is_some() || self.stood.is_some();
        if typed && self.unechoed.is_none() && bytes.contains(&b'\n') {
            self.grown.submitted = wall;
        }
        let waits = self.looking.asks() == Some(Asks::Shown);
        self.grown.output(&self.log, wall, self.unechoed.is_some(), waits);
    }

    /// An agent is told of a prompt or a question.
    pub(in crate::session) fn note_told(&mut self) {
        if matches!(self.log.shell(), ShellState::Running(_) | ShellState::NoShell) && self.unechoed.is_none() {
            self.grown.rests(&self.log);
        }
    }

    /// What stands there is an agent's `send` and what was there before: whatever comes behind it is not.
    pub(in crate::session) fn rests_at(&mut self, shows: String) {
        (self.grown.line, self.grown.base) = (cursor_line(&self.log), Some(shows));
    }

    /// An agent has given up what stood on the line, a person's as well.
    pub(in crate::session) fn line_given_up(&mut self, now: Now) {
        self.grown.at = self.wall_at(now);
        (self.buried, self.stood) = (None, None);
    }

    /// What has come to stand on the line of a program that takes lines, and may be a person's.
    pub(in crate::session) fn grown(&self) -> Option<String> {
        let unmarked = matches!(self.log.shell(), ShellState::Running(_) | ShellState::NoShell);
        // What a shell prints before its first prompt is nobody's.
        let starts = self.setting.integrated && self.log.shell() == ShellState::NoShell;
        if !unmarked || self.draws() || starts {
            return None;
        }
        self.grown.behind(&self.log)
    }

    /// Whether what runs draws on the cursor's line, as full-screen programs, menus and pagers do.
    pub(in crate::session) fn draws(&self) -> bool {
        self.screen_since.is_some() || self.looking.pages() || !self.log.cooked.modes().cursor_visible
    }

    /// Whether a question stands there that hides its answer.
    pub(in crate::session) fn is_hidden_question(&self) -> bool {
        self.looking.asks() == Some(Asks::Hidden)
    }

    /// Whether a person has submitted a line in that second of the Unix clock.
    fn submitted_in(&self, second: u64) -> bool {
        let mut recent = self.log.regions().rev().take_while(|region| region.started.0 / 1000 >= second);
        self.grown.submitted.0 / 1000 == second || recent.any(|region| region.actor.as_deref() == Some(HUMAN))
    }

    /// What a person has on the line of a program.
    pub(in crate::session) fn persons_at_program(&self) -> Option<Unsubmitted> {
        let last = self.person?;
        let theirs = |text| Unsubmitted { owner: Owner::Person, text, shows: None };
        let grown = self.grown().filter(|_| last.0 + KEY_MS > self.grown.at.0);
        let hidden = self.is_hidden_question();
        if hidden || grown.is_none() && self.reads_unshown() {
            // Nothing of it is shown: only when they have pressed keys is known, to the second. In the second in which the
            // question came, that may have been what led to it.
            let (second, asked) = (last.0 / 1000, self.grown.at.0 / 1000);
            let pressed = second > asked || second == asked && !self.submitted_in(second) || grown.is_some();
            return pressed.then(|| theirs(None));
        }
        grown.map(|grown| theirs(Some(grown)))
    }
}

/// The number of the cursor's line.
pub(in crate::session) fn cursor_line(log: &Log) -> u64 {
    let total = log.cooked.settled_lines() + log.cooked.live().lines.len() as u64;
    if log.cooked.line_at_cursor().text.is_empty() { total + 1 } else { total.max(1) }
}

/// The whole line that the cursor is on, as far as it can be told.
pub(in crate::session) fn cursors_text(log: &Log) -> String {
    let CursorLine { text: to_cursor, more } = log.cooked.line_at_cursor();
    if !more {
        return to_cursor;
    }
    let last = log.cooked.live().lines.pop().filter(|last| last.starts_with(to_cursor.trim_end()));
    last.unwrap_or(to_cursor)
}
