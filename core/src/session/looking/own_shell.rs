//! A shell with the integration that reads the terminal itself, though by its marks a command runs.
//!
//! A part of it may ask for something, as `read` does. Or the command has ended: the shell's editor of lines has the
//! terminal, and the mark of the end, printed before that, has not been read here yet; on a busy machine a look is faster
//! than the way from the terminal to the log. Or it is at its prompt without its marks, because the command has taken them
//! away: in bash, one that sets both `PROMPT_COMMAND` and `PS1`.

use std::time::Duration;

use crate::inspect::{Inspection, Process};
use crate::session::Session;
use crate::time::Now;

/// A mark is waited for this long: a machine with nothing left to give may take seconds to get bytes from the pane to
/// here.
const MARK_DUE: Duration = Duration::from_secs(2);

/// How soon is looked again meanwhile.
pub(in crate::session) const AGAIN: Duration = Duration::from_millis(50);

/// Builtins that read keys as an editor of lines does.
const READERS: &[&str] = &["read", "select", "vared", "zcurses", "mapfile", "readarray"];

/// What the shell does there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::session) enum OwnShell {
    /// It asks for something.
    Asks,
    /// The mark of its command's end is on its way; seen first at this time.
    MarkDue(Now),
    /// It is at its prompt, which has lost its marks.
    Unmarked,
}

impl Session {
    /// What a look tells of the integrated shell that is in front, if one is.
    pub(in crate::session) fn own_shell(&self, now: Now, inspection: &Inspection) -> Option<OwnShell> {
        let reader: &Process = inspection.front.known()?.iter().rfind(|process| process.in_front)?;
        let mut pids = self.log.shell_pids();
        let innermost = pids.next_back() == Some(reader.id.pid);
        if !innermost && !pids.any(|pid| pid == reader.id.pid) {
            return None;
        }
        let edits = inspection.modes.known().is_some_and(|modes| !modes.canonical);
        let here = self.log.place().is_none_or(|place| place.host == self.setting.home.host);
        let asked = self.command().is_some_and(|command| asks_by_itself(&command.label));
        if !innermost || !edits || !here || asked {
            return Some(OwnShell::Asks);
        }
        let since = match self.looking.own_shell {
            Some(OwnShell::MarkDue(since)) => since,
            _ => now,
        };
        // The editor asks for this when it begins, which is behind the mark in the stream.
        let begun = self.log.cooked.modes().bracketed_paste;
        Some(match reader.name.as_str() {
            _ if !begun && self.looking.own_shell != Some(OwnShell::Unmarked) && now - since < MARK_DUE => {
                OwnShell::MarkDue(since)
            }
            "bash" => OwnShell::Unmarked,
            _ => OwnShell::Asks,
        })
    }

    /// Whether what is seen is the shell at its own prompt, which has lost its marks.
    pub(in crate::session) fn is_unmarked(&self) -> bool {
        self.looking.own_shell == Some(OwnShell::Unmarked)
    }
}

/// Whether a command line names a builtin that reads keys.
fn asks_by_itself(line: &str) -> bool {
    let between = |one: char| one.is_whitespace() || matches!(one, ';' | '&' | '|' | '(' | ')' | '{' | '}');
    line.split(between).any(|word| READERS.contains(&word))
}
