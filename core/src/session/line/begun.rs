//! An answer that somebody has begun where the line does not show it as they typed it: ahead of the question, or at one
//! whose program reads key by key and draws stars or nothing.
//!
//! What an agent has sent without Enter is theirs by the record of it. Of a person only the time of their last key is told.

use super::grown::cursors_text;
use super::unsubmitted::Sent;
use crate::call::Asks;
use crate::log::ShellState;
use crate::prompt::{self, Looks};
use crate::session::{Owner, Session, Unsubmitted};
use crate::time::Now;

/// Where an agent's own line would come behind what it has sent, and neither is shown.
pub(in crate::session) const OWN_UNSHOWN: &str = "nothing was typed: what you have sent to this question is not shown, and the line would come behind it. send the rest with a line break at its end, or keys=[\"enter\"] if that was all";

impl Session {
    /// Whether what is typed now waits in the terminal for a program that is at work and asks nothing.
    pub(in crate::session) fn is_typed_ahead(&self, now: Now) -> bool {
        let unmarked = matches!(self.log.shell(), ShellState::Running(_) | ShellState::NoShell);
        let line = self.log.cooked.line_at_cursor().text;
        let asks = self.looking.asks().is_some() || self.resting(now, None).prompt.is_some();
        unmarked && !asks && !self.draws() && prompt::looks_like(&line).is_none()
    }

    /// Whether what runs reads key by key and lets nothing be seen of what is typed, or something else: nothing but its own
    /// painting shows it. Editors of lines, which ask for bracketed paste or show a prompt, draw what is typed.
    pub(in crate::session) fn reads_unshown(&self) -> bool {
        let modes = self.log.cooked.modes();
        let raw = self.looking.asks() == Some(Asks::Shown) && self.looking.echoes == Some(false);
        let line = cursors_text(&self.log);
        raw && !modes.bracketed_paste
            && !self.draws()
            && prompt::looks_like(&line) != Some(Looks::Prompt)
            && !self.is_bare_prompt(&line)
    }

    /// Whether what an agent has sent stands unseen at a question: the program has drawn a sign for each character, or
    /// nothing, and reads on.
    pub(in crate::session) fn is_unshown(&self, sent: &Sent) -> bool {
        let stands = cursors_text(&self.log);
        let Some(drawn) = stands.trim_end().strip_prefix(sent.before.trim_end()).map(str::trim_start) else {
            return false;
        };
        let added = drawn.chars().count();
        let sign = drawn.chars().next().filter(|sign| !sign.is_alphanumeric());
        let masked = sign.is_some_and(|sign| drawn.chars().all(|c| c == sign)) && added == sent.text.chars().count();
        masked && !self.draws() || drawn.is_empty() && self.reads_unshown()
    }

    /// The question on the cursor's line without what somebody has begun to answer it with; none where nobody has, or
    /// where that is not known.
    pub(in crate::session) fn bare_question(&self) -> Option<String> {
        let unmarked = matches!(self.log.shell(), ShellState::Running(_) | ShellState::NoShell);
        if !unmarked {
            return None;
        }
        if self.search_shown().is_some() {
            return Some(String::new());
        }
        let Unsubmitted { owner, text: Some(text), .. } = self.unsubmitted()? else { return None };
        let line = self.cursors_line();
        let behind = line.trim_end().strip_suffix(&*text);
        // The terminal has shown it as it was typed, and an editor shows it again.
        let ahead = match &owner {
            Owner::Agent(name) => self.agents.get(name).ahead,
            Owner::Person => self.buried.is_some(),
            Owner::Nobody => return None,
        };
        let before = behind.unwrap_or(&line);
        let bare = before.strip_prefix(&*text).filter(|_| ahead);
        bare.or(behind).map(str::to_owned)
    }

    /// That somebody else than this agent has begun to answer what is asked.
    pub(in crate::session) fn begun_note(&self, actor: &str) -> Option<String> {
        let searches = self.search_brief();
        if searches.is_some() {
            return searches;
        }
        self.unsubmitted().filter(|it| it.owner != Owner::Agent(actor.to_owned()))?.begun()
    }
}
