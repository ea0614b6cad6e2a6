//! Watching a line that was typed, or a command that runs, until something can be said of it.

use std::time::Duration;

use super::Status;
use crate::log::{Log, LogEvent, ShellState};
use crate::place::Taker;
use crate::prompt::{Shape as PromptShape, is_caret_echo};
use crate::region::{Kind, Place, State};
use crate::time::{Now, Wall};
use crate::waiting::Judgement;

/// Output counts as resting after this long without a byte. A program that prints its prompt in two writes does so
/// within a millisecond; a person notices a tenth of a second.
pub(crate) const REST: Duration = Duration::from_millis(100);

/// The same behind what looks like a prompt, where the host sees somebody who waits for input as well: two signs that
/// agree need no time to make sure. Longer than a program takes between the pieces of one answer.
pub(crate) const REST_AT_PROMPT: Duration = Duration::from_millis(25);

/// A full-screen program counts as drawn after this long without a byte.
pub(crate) const SCREEN_REST: Duration = Duration::from_millis(300);

/// A full-screen program that never rests (a clock, a spinner) counts as drawn after this long.
pub(crate) const SCREEN_BUSY: Duration = Duration::from_secs(2);

/// Where neither markers nor inspection can tell, a line counts as answered after this long without a byte; the
/// contract's number.
pub(crate) const QUIET: Duration = Duration::from_secs(3);

/// After a new prompt without any sign of a command, this long is left for a redraw to show itself as one.
const REDRAW: Duration = Duration::from_millis(100);

/// A shell reads what stands typed within milliseconds of its prompt.
const UNREAD: Duration = Duration::from_millis(50);

/// A shell whose last prompt was marked at its end marks the next one, too. Until then it does not read: the terminal
/// would keep no more than 4 KiB of a line, act on some of its keys, and give it to whatever the prompt is made with. So a
/// slow prompt is waited for (git's state in a large tree takes seconds); not for ever, since a framework may come that
/// takes the marks away.
const SLOW_PROMPT: Duration = Duration::from_secs(10);

/// The same of a shell that has shown no prompt yet: with some frameworks the first one has no mark.
const FIRST_PROMPT: Duration = Duration::from_secs(1);

/// A shell whose last prompt had none is taken to be ready after this long: it prints its prompt within milliseconds.
const UNMARKED_PROMPT: Duration = Duration::from_millis(300);

/// Characters of a question that a reply quotes. A prompt is a few words and a question with paths in it some two hundred
/// characters; more is output that happens to stand before it.
const ASKED_CHARS: usize = 200;

/// How long the end of a shell's prompt is waited for.
pub(crate) fn prompt_due(log: &Log) -> Duration {
    match log.completes_prompts() {
        Some(true) => SLOW_PROMPT,
        None => FIRST_PROMPT,
        Some(false) => UNMARKED_PROMPT,
    }
}

/// What a foreground job was seen to want of the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asks {
    /// Input, which is shown.
    Shown,
    /// Input, which is not shown.
    Hidden,
    /// It was stopped by a signal.
    Stopped,
}

/// What can be said of a terminal whose output rests.
#[derive(Debug, Clone, Default)]
pub(crate) struct Resting {
    /// The prompt it shows, told by its looks.
    pub(crate) prompt: Option<(String, PromptShape)>,
    /// A full-screen program has drawn.
    pub(crate) screen: bool,
    /// A pager waits for a key without having the screen to itself, as `less -X` does, which git starts. A line is
    /// nothing for it.
    pub(crate) pages: bool,
    /// What the host saw the foreground job do.
    pub(crate) asks: Option<Asks>,
    /// Nothing was printed for [`QUIET`], and nothing else can tell.
    pub(crate) quiet: bool,
    /// Nothing else can tell, and it has not been that long.
    pub(crate) quietens: bool,
    /// When it is worth looking again, if nothing is printed until then.
    pub(crate) again: Option<Now>,
}

impl Resting {
    /// Where only silence tells, and something was printed last at `last`.
    pub(crate) fn silent(now: Now, last: Now) -> Self {
        let due = last + QUIET;
        let quiet = now >= due;
        Self { quiet, quietens: !quiet, again: (!quiet).then_some(due), ..Self::default() }
    }
}

/// Whether the terminal takes what is printed, as far as that was seen since something was last printed or typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Flow {
    /// Nobody has looked.
    #[default]
    Untold,
    /// It does.
    Goes,
    /// It took nothing at one look, which may have fallen into a moment; when that was.
    Stands(Now),
    /// It takes nothing.
    Held,
}

impl Flow {
    /// Whether it takes another look to tell.
    pub(crate) fn is_open(self) -> bool {
        matches!(self, Self::Untold | Self::Stands(_))
    }
}

/// A process outside a shell's session that reads the terminal as well.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rival {
    /// What the kernel calls it.
    pub name: String,
    /// Its process id.
    pub pid: u32,
}

/// What a call sees of its session when it is stepped.
#[derive(Debug)]
pub(crate) struct Seen<'a> {
    pub(crate) now: Now,
    pub(crate) wall: Wall,
    pub(crate) log: &'a Log,
    /// What the shell does: as the markers say, or as it looks where none has come yet.
    pub(crate) shell: ShellState,
    pub(crate) resting: &'a Resting,
    /// What is asked, without what somebody has begun to answer it with; none where nobody is known to have.
    pub(crate) asked: Option<String>,
    /// When the host told last what runs there, since something was last printed or typed; none where its looks have not
    /// settled that.
    pub(crate) looked: Option<Now>,
    /// What the host made of it, while that holds.
    pub(crate) judgement: Option<&'a Judgement>,
    /// The host is asked, or will be, and has told nothing yet that holds.
    pub(crate) wonders: bool,
    /// Whether the terminal echoes, as the host saw last; none where that cannot be told.
    pub(crate) echoes: Option<bool>,
    /// Whether the terminal takes what is printed.
    pub(crate) flow: Flow,
    /// How long ago something was last printed or typed.
    pub(crate) quiet: Duration,
    /// Until when the prompt that is shown is not to be believed: a line was given to it and not answered yet.
    pub(crate) answer_due: Option<Now>,
    /// Since when a line stands with the shell that it has not begun, and the agent that gave it.
    pub(crate) unbegun: Option<(Now, &'a str)>,
    /// The session's program ended, with its status where it is known.
    pub(crate) ended: Option<Option<i32>>,
    /// The pane is gone, and why.
    pub(crate) closed: Option<&'a str>,
    /// Where the session is, as far as it is known, and the server's own place.
    pub(crate) place: &'a Place,
    pub(crate) home: &'a Place,
    /// When the full-screen program came up that has the screen.
    pub(crate) screen_since: Option<Now>,
    /// Who would take a line, as the host saw last.
    pub(crate) taker: Option<&'a Taker>,
    /// Why nothing is typed where another's text may be all that keeps the line from being a prompt.
    pub(crate) others: Option<String>,
    /// Until when a line is held back at a shell's prompt, to see whether somebody else would take its keys.
    pub(crate) rival_due: Option<Now>,
    /// Who would.
    pub(crate) rival: Option<&'a Rival>,
}

impl Seen<'_> {
    /// Whether nothing more can come: the program ended, or the pane is gone.
    pub(crate) fn over(&self) -> bool {
        self.ended.is_some() || self.closed.is_some()
    }

    /// Whether a full-screen program is up.
    pub(crate) fn paints(&self) -> bool {
        self.log.cooked.fullscreen().is_some()
    }
}

/// What was seen since a line was typed.
#[derive(Debug, Clone, Default)]
pub(crate) struct Watch {
    /// The region that the line made.
    pub(crate) region: Option<u32>,
    /// When that was over.
    closed: Option<Now>,
    not_run: Option<(u64, u64)>,
    prompt_at: Option<Now>,
    continuation: bool,
    /// The line that `until` matched.
    pub(crate) matched: Option<u64>,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The region closed.
    Closed,
    /// The shell did not execute the line; with the first and the number of the lines it printed.
    NotRun(u64, u64),
    /// As told by looks or by a nested shell's marker.
    At(Status, Option<String>),
    /// The session's program ended.
    Ended,
}

impl Watch {
    /// Watches a region that is open already.
    pub(crate) fn of(region: u32) -> Self {
        Self { region: Some(region), ..Self::default() }
    }

    /// Takes one event of the log.
    pub(crate) fn on(&mut self, now: Now, event: &LogEvent) {
        match event {
            LogEvent::Opened(id) if self.region.is_none() => {
                // What came before it is no answer to it.
                *self = Self { region: Some(*id), matched: self.matched, ..Self::default() };
            }
            LogEvent::Closed(id) if self.region == Some(*id) => self.closed = Some(now),
            LogEvent::Begun { input, command } if self.region == Some(*input) => {
                *self = Self { region: Some(*command), matched: self.matched, ..Self::default() };
            }
            LogEvent::NotRun { first_line, lines, .. } if self.region.is_none() => {
                self.not_run = Some((*first_line, *lines));
            }
            LogEvent::Prompt => self.prompt_at = Some(now),
            LogEvent::Continuation => self.continuation = true,
            _ => {}
        }
    }

    /// Goes on with the command that a shell made of this line, if the program that it was typed for has ended without
    /// reading it: what is typed then waits for whoever reads next. Gives its region.
    pub(crate) fn follow(&mut self, view: &Seen<'_>, line: &str) -> Option<u32> {
        let (input, closed) = (self.region?, self.closed?);
        view.log.region(input).filter(|region| region.kind == Kind::Input)?;
        let mut later = view.log.regions().filter(|region| region.id > input && region.kind == Kind::Command);
        let command = later.find(|region| region.label.trim() == line.trim())?;
        let ended = (command.state != State::Running).then_some(closed);
        *self = Self { closed: ended, matched: self.matched, ..Self::of(command.id) };
        self.region
    }

    /// Until when a shell that shows its prompt may still come to read the line, whose taker has just ended.
    pub(crate) fn may_be_read_until(&self, view: &Seen<'_>) -> Option<Now> {
        let is_input = |id: u32| view.log.region(id).is_some_and(|region| region.kind == Kind::Input);
        self.region.filter(|id| is_input(*id))?;
        self.closed.map(|at| at + UNREAD).filter(|until| view.now < *until)
    }

    /// What can be said now; none while there is nothing to say.
    ///
    /// Silence says nothing to a call that waits for a pattern (`patient`).
    pub(crate) fn verdict(&self, view: &Seen<'_>, patient: bool) -> Option<Verdict> {
        if self.closed.is_some() {
            return Some(Verdict::Closed);
        }
        if view.over() {
            return Some(Verdict::Ended);
        }
        if let Some((first, lines)) = self.not_run {
            return Some(Verdict::NotRun(first, lines));
        }
        let shell = view.shell;
        if self.continuation && (shell == ShellState::Continuation || self.region.is_some()) {
            return Some(Verdict::At(Status::Continuation, Some(prompt_text(view))));
        }
        if let ShellState::AtPrompt { ready, .. } = shell {
            if self.region.is_some() && (ready || unmarked_prompt_due(view).is_some_and(|due| due <= view.now)) {
                // The region is open and a shell shows its prompt: a shell inside the command.
                return Some(Verdict::At(Status::Prompt, Some(prompt_text(view))));
            }
            let redrawn = self.prompt_at.is_some_and(|at| view.now - at >= REDRAW);
            if self.region.is_none() && redrawn && view.log.cooked.input().is_empty() {
                return Some(Verdict::NotRun(0, 0));
            }
            return None;
        }
        if self.matched.is_some() {
            return Some(Verdict::At(Status::Matched, None));
        }
        by_looks(view, patient)
    }

    /// When to look again although nothing happened.
    pub(crate) fn again(&self, view: &Seen<'_>) -> Option<Now> {
        let redraw = self.prompt_at.filter(|_| self.region.is_none()).map(|at| at + REDRAW);
        [redraw, unmarked_prompt_due(view), view.resting.again].into_iter().flatten().filter(|at| *at > view.now).min()
    }
}

/// From when on a shell that has ended its command and shows something behind it is at its prompt, where the mark that its
/// prompt is complete has not come: a framework may have made the prompt anew without it.
fn unmarked_prompt_due(view: &Seen<'_>) -> Option<Now> {
    let shows = || !view.log.cooked.line_at_cursor().text.trim().is_empty();
    let bare = matches!(view.shell, ShellState::AtPrompt { ready: false, .. }) && shows();
    let left = prompt_due(view.log).saturating_sub(view.quiet);
    bare.then(|| view.now + left)
}

/// What the terminal's looks say.
pub(crate) fn by_looks(view: &Seen<'_>, patient: bool) -> Option<Verdict> {
    if view.resting.screen || view.resting.pages {
        return Some(Verdict::At(Status::Screen, None));
    }
    if let Some((text, shape)) = &view.resting.prompt {
        let status = match shape {
            PromptShape::Primary => Status::Prompt,
            PromptShape::Continuation => Status::Continuation,
        };
        return Some(Verdict::At(status, Some(text.clone())));
    }
    match view.resting.asks {
        Some(Asks::Shown) => return Some(Verdict::At(Status::Waiting, question(view))),
        Some(Asks::Hidden) => return Some(Verdict::At(Status::WaitingHidden, question(view))),
        Some(Asks::Stopped) => return Some(Verdict::At(Status::Suspended, None)),
        None => {}
    }
    (view.resting.quiet && !patient).then(|| Verdict::At(Status::Quiet, question(view)))
}

/// The question that a program shows, where it shows one.
pub(crate) fn question(view: &Seen<'_>) -> Option<String> {
    Some(prompt_text(view)).filter(|text| !text.trim().is_empty() && !is_caret_echo(text))
}

/// The prompt that the cursor's line shows, without output that it stands behind; else what the line shows.
pub(super) fn prompt_shown(view: &Seen<'_>) -> String {
    view.resting.prompt.as_ref().map_or_else(|| prompt_text(view), |(prompt, _)| prompt.clone())
}

/// The prompt on the cursor's line.
pub(crate) fn prompt_text(view: &Seen<'_>) -> String {
    // What has been submitted need not have been painted yet where no prompt follows it.
    if view.shell == ShellState::Continuation && view.log.continues_unprompted() {
        return String::new();
    }
    let mut line = view.asked.clone().unwrap_or_else(|| view.log.cooked.line_at_cursor().text);
    if matches!(view.shell, ShellState::AtPrompt { .. } | ShellState::Continuation) {
        // What is typed behind the prompt, up to the cursor, is none of it.
        let typed = view.log.cooked.input();
        let typed = typed.lines().last().unwrap_or_default();
        let ends = typed.char_indices().map(|(at, c)| at + c.len_utf8()).rev();
        if let Some(behind) = ends.filter_map(|end| typed.get(..end)).find(|typed| line.ends_with(typed)) {
            line.truncate(line.len() - behind.len());
        }
    }
    let skip = line.chars().count().saturating_sub(ASKED_CHARS);
    line.chars().skip(skip).collect()
}
