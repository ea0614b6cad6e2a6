//! Whose Enter the shell is about to answer: the region that it begins is theirs.
//!
//! Lines are answered in the order in which they were typed. One that is typed at the prompt is the shell's next. One
//! that is typed while something runs may be taken by that, or stand behind the next prompt: which of both, the command
//! that begins there tells by its text. Texts are kept in memory only.

use std::collections::VecDeque;
use std::time::Duration;

use crate::call::CallId;
use crate::log::LogEvent;
use crate::time::Now;

/// A shell at its prompt answers an Enter within milliseconds. One that has not done so after this long has taken it
/// for something else (a search, a quoted key), and is at its prompt.
const ANSWER_DUE: Duration = Duration::from_secs(1);

/// Lines that wait for their answer. A terminal keeps 4 KiB that nobody has read: more lines than this are a file, whose
/// lines nobody else's come between.
pub(super) const LINES_MAX: usize = 256;

/// One Enter.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Line {
    /// The call that pressed it; none where that was the server before.
    call: Option<CallId>,
    actor: String,
    /// What stood on the line, as far as it is known.
    text: Option<String>,
    /// How many characters it has, where nothing else tells whether it was typed.
    length: Option<u64>,
    /// When it was pressed at a prompt, or just before it stood, whose answer has not come.
    asked: Option<Now>,
    /// The prompt did not stand yet: it comes, and then the answer.
    early: bool,
    /// Something else may take it.
    ahead: bool,
    /// A command has begun by it.
    opened: bool,
}

impl Line {
    /// Whether a command's text can be this line's: the line may have had something before it.
    fn is(&self, label: &str) -> bool {
        let text = self.text.as_deref().unwrap_or_default().trim();
        !text.is_empty() && label.trim().ends_with(text)
    }
}

/// Whose line a command begins by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct By {
    pub(super) actor: String,
    /// All that was typed, where the command is all of it and that is known.
    pub(super) text: Option<String>,
}

impl By {
    fn actor(actor: &str) -> Self {
        Self { actor: actor.to_owned(), text: None }
    }
}

/// The lines that agents have submitted, until they are answered.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Submitter {
    lines: VecDeque<Line>,
    /// When the last prompt began.
    prompted: Option<Now>,
}

impl Submitter {
    /// Enter was pressed, once for each text. `at_prompt` tells when, if a shell takes the first, which `stands` if its
    /// prompt is complete.
    pub(super) fn submitted(
        &mut self,
        call: Option<CallId>,
        actor: &str,
        texts: Vec<Option<String>>,
        at_prompt: Option<Now>,
        stands: bool,
    ) {
        if at_prompt.is_some_and(|now| self.answer_due(now).is_none()) {
            // The shell is at its prompt: something else has taken what was typed before, unless it is just about to.
            let just = self.prompted.zip(at_prompt).is_some_and(|(prompt, now)| now - prompt < ANSWER_DUE);
            self.lines.retain(|line| just && line.ahead && line.text.is_some());
        }
        for (index, text) in texts.into_iter().enumerate() {
            if self.lines.len() >= LINES_MAX {
                return;
            }
            let first = at_prompt.filter(|_| index == 0);
            // What another server typed has no text left to be known by.
            let ahead = if call.is_some() { first.is_none() } else { at_prompt.is_none() };
            let actor = actor.to_owned();
            let early = first.is_some() && !stands;
            self.lines.push_back(Line { call, actor, text, length: None, asked: first, early, ahead, opened: false });
        }
    }

    /// Whether lines were typed ahead that a shell may take, by their text.
    pub(super) fn has_ahead(&self) -> bool {
        self.lines.iter().any(|line| line.ahead && line.text.is_some())
    }

    /// Whether a line that this call has given to the prompt has not been begun, and the shell is busy with one that was
    /// typed before it.
    pub(super) fn is_behind_another(&self, call: CallId) -> bool {
        let begun = self.lines.front().is_some_and(|front| front.opened && front.call != Some(call));
        begun && self.lines.iter().any(|line| line.call == Some(call) && !line.opened && !line.ahead)
    }

    /// The terminal has taken what this call typed.
    pub(super) fn typed(&mut self, call: CallId, now: Now) {
        for line in self.lines.iter_mut().filter(|line| line.call == Some(call)) {
            line.asked = line.asked.map(|_| now);
        }
    }

    /// This call has submitted nothing after all.
    pub(super) fn withdraw(&mut self, call: CallId) {
        self.lines.retain(|line| line.call != Some(call));
    }

    /// The line that was submitted last may never have been typed: a command of another length is not by it.
    pub(super) fn may_be(&mut self, length: Option<u64>) {
        if let Some(line) = self.lines.back_mut() {
            line.length = length;
        }
    }

    /// Who typed what the shell reads now; none is a person.
    pub(super) fn actor(&self) -> Option<&str> {
        self.lines.front().map(|line| line.actor.as_str())
    }

    /// A command begins: by whose line; none is a person's.
    pub(super) fn opened(&mut self, label: &str) -> Option<By> {
        let length = label.trim().chars().count() as u64;
        let front = self.lines.front_mut()?;
        if !front.opened && front.length.is_some_and(|known| known != length) {
            self.lines.pop_front();
            return None;
        }
        if !front.ahead && !std::mem::replace(&mut front.opened, true) {
            (front.asked, front.early) = (None, false);
            return Some(By { actor: front.actor.clone(), text: front.text.clone() });
        }
        let certain = !front.ahead;
        let ahead = self.lines.iter().position(|line| line.ahead && line.is(label));
        if certain {
            // Several commands of one line, or one that was typed ahead of a shell inside.
            return ahead.and_then(|at| self.lines.get(at)).or(self.lines.front()).map(|line| By::actor(&line.actor));
        }
        if let Some(at) = self.begun_by(label, ahead) {
            // What was typed before it has gone to something else.
            self.lines.drain(..at);
            let line = self.lines.front_mut()?;
            let text = line.text.clone().filter(|_| !line.ahead);
            (line.ahead, line.opened, line.early, line.asked) = (false, true, false, None);
            return Some(By { actor: line.actor.clone(), text });
        }
        // A shell without markers took a line, and what it began has them.
        self.lines.iter().rev().find(|line| line.text.is_none()).map(|line| By::actor(&line.actor))
    }

    /// Which line a command begins by where some were typed ahead: the one of them whose text it has, or the one that was
    /// given to the prompt behind them, if that is all of its text or none of theirs is.
    fn begun_by(&self, label: &str, ahead: Option<usize>) -> Option<usize> {
        let is_all = |line: &Line| line.text.as_deref().map(str::trim) == Some(label.trim());
        let given = self.lines.iter().enumerate().find(|(_, line)| !line.ahead && !line.opened);
        let certain = given.filter(|(_, line)| ahead.is_none() || is_all(line));
        certain.map(|(at, _)| at).or(ahead)
    }

    /// Takes one event of the log; that a command begins is for [`Self::opened`].
    pub(super) fn on(&mut self, now: Now, event: &LogEvent) {
        match event {
            LogEvent::NotRun { .. } => self.is_answered(),
            LogEvent::Continuation => {
                self.is_answered();
                if let Some(front) = self.lines.front_mut().filter(|front| !front.ahead) {
                    // The command will be more than this.
                    front.text = None;
                }
                // The next of the same lines is the rest of the command.
                let call = self.lines.front().and_then(|line| line.call);
                if call.is_some() && self.lines.get(1).is_some_and(|line| line.call == call && line.ahead) {
                    self.lines.remove(1);
                }
            }
            LogEvent::Prompt => {
                self.prompted = Some(now);
                match self.lines.front_mut() {
                    Some(line) if line.early => line.early = false,
                    Some(line) if !line.ahead => drop(self.lines.pop_front()),
                    _ => {}
                }
                // Whatever took these, it is over; by their text the others are known if the shell takes them now.
                self.lines.retain(|line| !line.ahead || line.text.is_some());
                // The shell comes to the next one only now.
                if let Some(front) = self.lines.front_mut() {
                    front.asked = front.asked.map(|_| now);
                }
            }
            _ => {}
        }
    }

    fn is_answered(&mut self) {
        if let Some(front) = self.lines.front_mut() {
            (front.asked, front.early) = (None, false);
        }
    }

    /// Since when, and by whom, a line was given to the prompt that stands and has not been begun. Of what the server before
    /// typed it is not known whether it went in.
    pub(super) fn unbegun(&self) -> Option<(Now, &str)> {
        let line = self.lines.iter().rev().find(|line| line.asked.is_some() && line.call.is_some())?;
        Some((line.asked?, &line.actor))
    }

    /// Whatever was given to the prompt is given up with a key.
    pub(super) fn given_up(&mut self) {
        self.lines.iter_mut().for_each(|line| line.asked = None);
    }

    /// Until when a prompt that is shown is not to be believed: a line was just given to it.
    pub(super) fn answer_due(&self, now: Now) -> Option<Now> {
        let asked = self.lines.iter().filter_map(|line| line.asked).max();
        asked.map(|asked| asked + ANSWER_DUE).filter(|due| *due > now)
    }
}
