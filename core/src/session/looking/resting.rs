//! What can be said of a terminal by its looks, where no marker tells.

use std::time::Duration;

use super::Behind;
use crate::call::{Asks, QUIET, REST, Resting, SCREEN_BUSY, SCREEN_REST};
use crate::log::{Log, ShellState};
use crate::pattern::Pattern;
use crate::place::Taker;
use crate::prompt;
use crate::region::Kind;
use crate::session::line::rest::is_remembered;
use crate::session::{CallKind, Session};
use crate::time::Now;
use crate::waiting::Judgement;

impl Session {
    /// Closes an input region whose taker shows its next prompt, also where no call waits for it.
    pub(in crate::session) fn close_answered_input(&mut self, now: Now) {
        if self.input.is_none() {
            return;
        }
        let pattern = self.calls.iter().find_map(|call| match &call.kind {
            CallKind::Run(run) if run.region() == self.input.map(|input| input.region) => run.prompt_pattern.clone(),
            _ => None,
        });
        let resting = self.resting(now, pattern.as_ref());
        if let Some((text, prompt::Shape::Primary)) = resting.prompt {
            let glued = self.bytes_before_prompt() > 0;
            self.log.close_input(self.wall_at(now), glued);
            self.drain(now);
            self.prompted(text);
        } else if !resting.pages && matches!(resting.asks, Some(Asks::Shown | Asks::Hidden)) {
            // A prompt that only looking can tell.
            self.log.close_input(self.wall_at(now), false);
            self.drain(now);
        }
    }

    /// What can be said of the terminal by its looks.
    pub(in crate::session) fn resting(&self, now: Now, pattern: Option<&Pattern>) -> Resting {
        if self.ended.is_some() || self.closed.is_some() {
            return Resting::default();
        }
        let shell = self.shell(now);
        if shell == ShellState::Starting {
            return Resting { again: self.start_due(now), ..Resting::default() };
        }
        if !matches!(shell, ShellState::Running(_) | ShellState::NoShell) {
            return Resting::default();
        }
        let quiet = now - self.last_activity;
        if let Some(since) = self.screen_since {
            let screen = quiet >= SCREEN_REST || now - since >= SCREEN_BUSY;
            let again = (self.last_activity + SCREEN_REST).min(since + SCREEN_BUSY);
            return Resting { screen, again: (!screen).then_some(again), ..Resting::default() };
        }
        if quiet < REST && !self.looking.at_prompt() {
            return Resting { again: Some(self.last_activity + REST), ..Resting::default() };
        }
        if self.looking.pages() {
            return Resting { asks: self.looking.asks(), pages: true, ..Resting::default() };
        }
        if self.is_unanswered_there() {
            // Another line behind it is nothing to wait for.
            return Resting { quietens: false, ..Resting::silent(now, self.last_activity) };
        }
        let stale = self.stale_until(now);
        if !self.looking.is_at_work() && self.search_shown().is_some() {
            return Resting { asks: Some(Asks::Shown), ..Resting::default() };
        }
        if let Some(prompt) = self.prompt_by_looks(now, &shell, pattern) {
            match self.looking.behind(now) {
                // Programs print what looks like a prompt, and work on: "copying> ".
                Behind::Nobody if !self.is_given(&prompt.0, pattern, quiet) => {}
                // Calls look again within this time, so that none takes it for silence.
                Behind::NotSeen(until) => return Resting { again: Some(until.min(now + REST)), ..Resting::default() },
                Behind::Nobody | Behind::Untold => {
                    return Resting { prompt: Some(prompt), asks: self.looking.asks(), ..Resting::default() };
                }
            }
        }
        if let Some(edited) = self.edited_there(now) {
            return edited;
        }
        if let Some(asks) = self.looking.asks() {
            return Resting { asks: Some(asks), ..Resting::default() };
        }
        if let Some(Judgement::Works | Judgement::Busy(_)) = &self.looking.holds {
            // It is seen to work: silence says nothing.
            return Resting { again: stale, ..Resting::default() };
        }
        // The marker of a command in an integrated shell will come; that of a line sent to a program will not. One that
        // showed a known prompt and has nothing on its line is at work, and will show the prompt again.
        let empty = self.log.cooked.line_at_cursor().text.is_empty();
        let works = empty && self.input.is_some_and(|input| input.known);
        // Nor can it be told whether a far end waits; what stands on the line there may be a prompt.
        // Of a command that an integrated shell there runs the end will be told, so it has to look like one there.
        let unseen = match &self.looking.holds {
            Some(Judgement::Carrier(carrier)) if carrier.takes_lines() => true,
            Some(Judgement::Carrier(_) | Judgement::Unknown(_)) if self.looking.beyond.is_some() => !empty,
            Some(Judgement::Carrier(_) | Judgement::Unknown(_)) if self.looking.behind => {
                prompt::looks_like(&self.log.cooked.line_at_cursor().text).is_some()
            }
            _ => false,
        };
        if (shell == ShellState::NoShell || self.input.is_some() || unseen) && !works {
            return Resting::silent(now, self.last_activity);
        }
        Resting { again: stale, ..Resting::default() }
    }

    /// Whether nothing has come from a far place since a line was typed there: what stands on the cursor's line is what stood
    /// there before, and the way there may be slow or broken.
    pub(in crate::session) fn is_unanswered_there(&self) -> bool {
        self.input.is_some() && self.unechoed.is_some() && self.is_carried()
    }

    /// Whether a line is a prompt by the word of whoever knows the program, though it is seen to do something else: some
    /// look for keys now and then, between naps.
    fn is_given(&self, line: &str, pattern: Option<&Pattern>, quiet: Duration) -> bool {
        let pattern = pattern.or(self.setting.prompt_pattern.as_ref());
        quiet >= QUIET && pattern.is_some_and(|pattern| pattern.is_match(line).unwrap_or(false))
    }

    /// Remembers the prompt of a program that nobody has been told of, before what comes next: a person may type behind
    /// it, and that is not to be taken for output.
    pub(in crate::session) fn remember_prompt(&mut self, now: Now) {
        let editor = self.editor_at_work();
        self.note_shown(now, editor);
        let known =
            self.last_prompt.is_some() && self.reads.prompted && (editor.is_none() || editor == self.reads.editor);
        if known || !matches!(self.log.shell(), ShellState::Running(_) | ShellState::NoShell) {
            return;
        }
        let Some((text, prompt::Shape::Primary)) = self.resting(now, None).prompt else {
            if self.shows_again(now) {
                (self.reads.prompted, self.reads.editor) = (true, editor);
            }
            return;
        };
        (self.reads.prompted, self.reads.editor) = (true, editor);
        if self.last_prompt.is_none() && (is_remembered(&text) || self.is_carried()) {
            self.prompted(text);
        }
    }

    /// Until when the line of the cursor is taken for what stood there before a line was typed: that is no answer to
    /// it, and a busy editor echoes late.
    pub(in crate::session) fn stale_until(&self, now: Now) -> Option<Now> {
        self.unechoed.map(|typed| typed + QUIET).filter(|until| *until > now)
    }

    /// The prompt on the line of the cursor, where its looks tell one.
    pub(in crate::session) fn prompt_by_looks(
        &self,
        now: Now,
        shell: &ShellState,
        pattern: Option<&Pattern>,
    ) -> Option<(String, prompt::Shape)> {
        let setting = match shell {
            ShellState::NoShell => prompt::Setting::Plain,
            _ if self.is_carried() => prompt::Setting::Far,
            _ => prompt::Setting::Integrated,
        };
        let mut line = self.log.cooked.line_at_cursor();
        // An agent's text behind it makes it none the less a prompt.
        if let Some(prompt) = self.without_half_typed(&line.text) {
            line.text = prompt;
        }
        let pattern = pattern.or(self.setting.prompt_pattern.as_ref());
        if line.text.is_empty() || line.more || self.stale_until(now).is_some() {
            return None;
        }
        let shape = prompt::matches(&line.text, pattern, setting, self.last_prompt.as_deref());
        let shape = if self.continues_shell(&line.text) { Some(prompt::Shape::Continuation) } else { shape };
        if shape != Some(prompt::Shape::Continuation)
            && let Some(prompt) = self.glued(&line.text)
        {
            return Some((prompt.to_owned(), prompt::Shape::Primary));
        }
        let own = self.is_unmarked();
        // Before the `%` of a shell's prompt a blank may stand, as nobody's share of something done.
        let shells = || matches!(self.looking.taker, Some(Taker::Shell(_))) && line.text.trim_end().ends_with(" %");
        let waits = || self.looking.asks() == Some(Asks::Shown) && (own || prompt::is_waiters(&line.text) || shells());
        // What nobody sees wait may have been taken for a prompt after a while: it is the same again.
        let unseen = self.is_carried() || self.looking.behind;
        let again = || {
            let like_the_last = || self.last_prompt.as_deref().is_some_and(|last| prompt::is_like(last, &line.text));
            // Whatever showed this has taken a line there, and shows it again.
            let taken = self.reads.taken_at.as_deref() == Some(line.text.as_str());
            unseen
                && match prompt::looks_like(&line.text) {
                    Some(prompt::Looks::Prompt) => taken || like_the_last(),
                    None => taken,
                    Some(prompt::Looks::Question | prompt::Looks::Secret) => false,
                }
        };
        let shape = shape.or_else(|| (waits() || again()).then_some(prompt::Shape::Primary))?;
        Some((line.text, shape))
    }

    /// What the shell does. An integrated shell that has shown no marker yet is starting, unless something asks on its way
    /// or it has become another shell.
    pub(in crate::session) fn shell(&self, now: Now) -> ShellState {
        let shell = self.log.shell();
        if shell != ShellState::NoShell || !self.setting.integrated {
            return shell;
        }
        if self.start.plain || self.is_plain_start(now) || self.startup_asks(now) {
            ShellState::NoShell
        } else {
            ShellState::Starting
        }
    }
}

/// The prompt of the program in the foreground, as the lines sent to it tell: without it, its continuation prompts
/// are none.
pub(in crate::session) fn last_prompt(log: &Log) -> Option<String> {
    let mut lines = log.regions().rev().take_while(|region| region.kind == Kind::Input);
    // A line whose echo has not been read is named after its prompt, without the blank.
    let named = lines.find_map(|region| prompt::leading(&format!("{} ", region.label)).map(str::to_owned));
    // No line was sent to it yet, and a person may have begun one.
    let stands = log.cooked.line_at_cursor().text;
    let is = |prompt: &&str| prompt::is_programs(prompt) && !prompt::continues_any_shell(prompt);
    let shown = || prompt::leading(&stands).filter(is).map(str::to_owned);
    let unmarked = matches!(log.shell(), ShellState::Running(_) | ShellState::NoShell);
    named.or_else(|| shown().filter(|_| unmarked))
}
