//! What was begun and wants its rest: a command of a shell's, a block of a program's. Nobody else's line becomes a part of it.
//!
//! A shell with markers tells. Elsewhere the prompt does, and who has begun it follows from whether the program has shown
//! its primary prompt again since an agent's last line: then that line was answered, and somebody else has typed since. A
//! server that takes over reads that off the log and its times.

use super::unsubmitted::SOMEONE;
use crate::advice;
use crate::call::REST;
use crate::log::{Log, ShellState};
use crate::place::Taker;
use crate::prompt::{self, Setting, Shape};
use crate::region::{Kind, Region};
use crate::session::Session;
use crate::time::{Now, Wall};

/// What a program has shown of its prompts, as far as the log tells it: for the server that takes over.
#[derive(Debug, Clone, Default)]
pub(in crate::session) struct Prompts {
    /// When anything was last printed.
    at: Wall,
    /// The line that rested before that, and the count of the editor that read there.
    stood: Option<(String, Option<u32>)>,
    /// Where in the stream a line was typed at what stands there.
    typed: Option<u64>,
    /// The last primary prompt.
    pub(in crate::session) last: Option<String>,
    /// Whether one has been shown since the last line of an agent's.
    pub(in crate::session) prompted: bool,
    /// See [`super::far_editor::Reads`].
    pub(in crate::session) editor: Option<u32>,
    /// See [`super::far_editor::Reads`].
    pub(in crate::session) began_at: Option<String>,
}

impl Prompts {
    /// More is to be printed, as the log is replayed.
    pub(in crate::session) fn replayed(&mut self, log: &Log, wall: Wall) {
        let rested = u128::from(wall.0.saturating_sub(self.at.0)) >= REST.as_millis();
        self.at = wall;
        let unmarked = matches!(log.shell(), ShellState::Running(_) | ShellState::NoShell);
        let typed = self.typed.take() == Some(log.cooked.offset());
        if typed || !rested || !unmarked {
            return;
        }
        let Some((text, editor)) = standing(log) else { return };
        self.stood = Some((text.clone(), editor));
        let setting = if log.shell() == ShellState::NoShell { Setting::Plain } else { Setting::Integrated };
        let primary = prompt::matches(&text, None, setting, self.last.as_deref()) == Some(Shape::Primary);
        if primary || self.began_at.as_deref() == Some(text.as_str()) {
            (self.prompted, self.editor) = (true, editor);
        }
        if is_remembered(&text) {
            self.last.get_or_insert(text);
        }
    }

    /// A region has begun: a program's own, or a line's that an agent has typed there.
    pub(in crate::session) fn opened(&mut self, log: &Log, region: &Region) {
        if region.kind == Kind::Command {
            *self = Self { at: self.at, ..Self::default() };
            return;
        }
        self.prompted = false;
        self.typed = Some(region.raw_start).filter(|at| *at == log.cooked.offset());
        let stood = if self.typed.is_some() { standing(log) } else { self.stood.take() };
        let Some((text, editor)) = stood else { return };
        self.editor = editor;
        match prompt::matches(&text, None, Setting::Integrated, self.last.as_deref()) {
            Some(Shape::Continuation) => {}
            Some(Shape::Primary) => (self.last, self.began_at) = (Some(text.clone()), Some(text)),
            // The editor was tried there first.
            None if self.began_at.as_deref().is_some_and(|shown| text.starts_with(shown)) => {}
            None => self.began_at = Some(text).filter(|text| !text.trim().is_empty()),
        }
    }
}

/// The line of the cursor, where nothing stands behind that, and the count of the editor that reads there.
fn standing(log: &Log) -> Option<(String, Option<u32>)> {
    let line = log.cooked.line_at_cursor();
    let editor = log.cooked.modes().bracketed_paste.then(|| log.cooked.paste_switches());
    (!line.more).then_some((line.text, editor))
}

/// Whether a prompt that was seen where nobody was told of one is the program's for certain, so that what comes next is
/// judged by it. Not `> `, which node, R and a `PS1` share with what shells want the rest of a command behind, and output
/// with quotations.
pub(in crate::session) fn is_remembered(text: &str) -> bool {
    !prompt::continues_any_shell(text) && prompt::matches(text, None, Setting::Integrated, None) == Some(Shape::Primary)
}

impl Session {
    /// That nobody but this agent has begun what a line would become a part of.
    ///
    /// # Errors
    /// Says who has, and what to do.
    pub(in crate::session) fn is_no_others_rest(&self, now: Now, actor: &str) -> Result<(), String> {
        let Some(owner) = self.has_begun(now).filter(|owner| *owner != actor) else { return Ok(()) };
        let begun = match self.log.shell() {
            ShellState::Continuation => "a command that the shell wants the rest of",
            _ => "something that the program wants the rest of",
        };
        // ctrl+c ends some programs, and gives nothing up in others.
        let out = match self.log.shell() {
            ShellState::Continuation => ", or send keys=[\"ctrl+c\"] gives it up",
            _ => advice::half(&self.cursors_line(), self.taker_name()),
        };
        Err(format!(
            "nothing was typed: {owner} has begun {begun}, and this would become part of it. Ask them, or, if they agree, end it{out}"
        ))
    }

    /// Whose command the shell or the program wants the rest of; none where it wants none. Where no person can have begun
    /// it, most likely a program of ours that is gone has.
    fn has_begun(&self, now: Now) -> Option<&str> {
        let persons = || Some(SOMEONE).filter(|_| self.person_typed_since_last_line() || self.reads.unwitnessed);
        match self.log.shell() {
            ShellState::Continuation => self.agents.continuing().or_else(persons),
            ShellState::Running(_) | ShellState::NoShell => {
                let prompt = self.resting(now, None).prompt;
                let (_, Shape::Continuation) = prompt? else { return None };
                // The line of the agent that typed last was answered before.
                if self.was_answered() {
                    return persons();
                }
                match self.last_input() {
                    Some(region) => region.actor.as_deref(),
                    None => persons(),
                }
            }
            ShellState::AtPrompt { .. } | ShellState::Starting | ShellState::Ended => None,
        }
    }

    /// Whether the line of the agent that typed last was answered: the program has shown its primary prompt again.
    pub(in crate::session) fn was_answered(&self) -> bool {
        self.reads.prompted || self.shows_prompt_since()
    }

    fn last_input(&self) -> Option<&Region> {
        self.log.regions().next_back().filter(|region| region.kind == Kind::Input)
    }

    /// Whether a line behind that of the agent that typed last begins with the primary prompt. What was typed ahead may come
    /// in one piece with the prompt and the next one, so that the prompt has never rested.
    fn shows_prompt_since(&self) -> bool {
        let prompt = self.last_prompt.as_deref().filter(|prompt| !prompt.trim().is_empty());
        let (Some(prompt), Some(input)) = (prompt, self.last_input()) else { return false };
        let first = self.log.cooked.settled_lines() + 1;
        let mut live = self.log.cooked.live().lines;
        // The cursor's line is the prompt that stands.
        live.pop();
        let mut since = (first..).zip(&live).filter(|(number, _)| *number >= input.first_line);
        since.any(|(_, line)| line.starts_with(prompt))
    }

    /// Whether the line of the cursor is one on which a program without markers wants the rest of what was begun.
    pub(in crate::session) fn wants_the_rest(&self) -> bool {
        let line = self.cursors_line();
        let last = self.last_prompt.as_deref();
        let shape = prompt::matches(&line, None, Setting::Integrated, last);
        shape == Some(Shape::Continuation) || self.continues_shell(&line) || self.editor_reads_on()
    }

    /// Whether a plain shell whose own prompt is not known by its looks wants the rest of a command: it shows what shells
    /// show then, and has shown something else before.
    pub(in crate::session) fn continues_shell(&self, line: &str) -> bool {
        let other = |shown: &String| shown.trim_end() != line.trim_end();
        let before = self.shells_prompt().is_some_and(other) && self.last_prompt.as_ref().is_none_or(other);
        before && prompt::continues_any_shell(line)
    }

    /// Whether the prompt rests there again that the last line was typed behind, whatever it looks like.
    pub(in crate::session) fn shows_again(&self, now: Now) -> bool {
        let line = self.log.cooked.line_at_cursor();
        let rests = now - self.last_activity >= REST && self.unechoed.is_none() && !line.more;
        rests && self.shells_prompt() == Some(&line.text)
    }

    /// What a plain shell has shown where a line was typed that was no rest of another, whatever that looks like.
    pub(in crate::session) fn shells_prompt(&self) -> Option<&String> {
        let shell = matches!(self.looking.taker, Some(Taker::Shell(_)));
        self.reads.began_at.as_ref().filter(|_| shell)
    }

    /// An agent is told of what a plain shell waits behind: it is its prompt.
    pub(in crate::session) fn note_shells_prompt(&mut self) {
        let unmarked = matches!(self.log.shell(), ShellState::Running(_) | ShellState::NoShell);
        let shell = unmarked && matches!(self.looking.taker, Some(Taker::Shell(_)));
        if shell && self.reads.began_at.is_none() {
            let line = self.log.cooked.line_at_cursor().text;
            self.reads.began_at =
                Some(line).filter(|line| !line.trim().is_empty() && !prompt::continues_any_shell(line));
        }
    }

    /// Goes on with what the log has told of the program's prompts.
    pub(in crate::session) fn take_over_prompts(&mut self, prompts: Prompts) {
        let Prompts { last, prompted, editor, began_at, .. } = prompts;
        if matches!(self.log.shell(), ShellState::Running(_) | ShellState::NoShell) {
            self.last_prompt = self.last_prompt.take().or(last);
            (self.reads.prompted, self.reads.unwitnessed) = (prompted, prompted);
            (self.reads.editor, self.reads.began_at) = (editor, began_at);
        }
    }
}
