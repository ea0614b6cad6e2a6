//! The log: everything that can be derived from a session's raw stream, that is its lines and its regions.
//!
//! A log that is fed the same bytes (with the same sizes and records at the same offsets) is the same log, however
//! the bytes are cut: so a restarted server has what the one before it had.

mod marks;
#[cfg(test)]
mod property;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use crate::cooked::{Cooked, Size, Tag};
use crate::region::shells::{Phase, Shells};
use crate::region::store::{Closing, Opening, Regions};
use crate::region::{Kind, Left, Place, Region, State, label};
use crate::text::width::Widths;
use crate::time::Wall;
use crate::vt::marker::{Marker, Nonce};

/// Shells that a program's record keeps of those it started and that have gone: the record is written anew for each.
const LEFT_MAX: usize = 100;

/// What the session's integrated shell does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShellState {
    /// No marker has come yet: a plain shell, another program, or one that is still starting.
    NoShell,
    /// One is expected and has not shown itself. The log cannot know what to expect and never says this; it is for
    /// whoever knows what was started.
    Starting,
    /// It is at its prompt, or about to show it.
    AtPrompt {
        /// Whether the prompt is complete. With some prompt frameworks this never comes, and the prompt is there all
        /// the same: wait for it only a little.
        ready: bool,
        /// When the prompt came.
        since: Wall,
    },
    /// It runs the command of this region; programs in it may have input regions of their own.
    Running(u32),
    /// It wants the rest of a command.
    Continuation,
    /// The session's program has ended.
    Ended,
}

/// A shell that has started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShellInfo {
    /// Its process id on its host.
    pub pid: u32,
    /// Where it runs.
    pub place: Place,
    /// Its name and version as it says, such as `bash-5.2.15`; empty where it did not say.
    pub version: String,
}

/// What happened in the log, in the order in which it did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LogEvent {
    /// A region began.
    Opened(u32),
    /// A region was closed.
    Closed(u32),
    /// The line of an input region was given to a shell that shows no prompt of its own, and the shell has begun it as
    /// a command with a region.
    Begun {
        /// The input region, which has ended.
        input: u32,
        /// The command's.
        command: u32,
    },
    /// The shell is at its prompt again and ran nothing: an empty line, a comment, Ctrl-C, a failed history expansion.
    NotRun {
        /// `$?` at the new prompt, where it was told. Not this line's: bash leaves the former standing.
        status: Option<i32>,
        /// The number of the first line that came between the typed line and the new prompt.
        first_line: u64,
        /// How many lines came.
        lines: u64,
    },
    /// The prompt is complete: typing may start.
    Prompt,
    /// The command has ended and the prompt will come, if it is one that shows.
    PromptEnd,
    /// The shell wants the rest of a command.
    Continuation,
    /// A shell has started, inside the one before it if there is one.
    ShellStarted(ShellInfo),
    /// The innermost shell is gone.
    ShellEnded,
    /// The shell that has the terminal now runs somewhere else.
    Place(Place),
    /// The session's program has ended with this status.
    Ended {
        /// 128 and the signal's number where a signal ended it.
        status: Option<i32>,
    },
}

/// A session's lines and regions.
#[derive(Debug, Clone)]
pub struct Log {
    /// The lines. Only [`Log::feed`] and [`Log::resize`] may feed it and change its size.
    pub cooked: Cooked,
    nonce: Option<Nonce>,
    regions: Regions,
    shells: Shells,
    place: Option<Place>,
    /// What the session runs, and where that began.
    program: Option<(String, Place)>,
    /// The prompt that stands, while a shell is at one.
    typing: Option<Typing>,
    /// A prompt shown while a command runs, by a shell that does not say whether its hook works.
    stray: Option<marks::Stray>,
    asked: marks::Asked,
    ended: Option<Option<i32>>,
    /// The command that ended the session's program.
    last_command: Option<u32>,
    events: VecDeque<LogEvent>,
    records: VecDeque<Due>,
}

/// Where the line that is being typed begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Typing {
    /// The number of the line that its first prompt is on.
    first: u64,
    /// The number of the line that its last prompt is on, the continuation prompts counted.
    line: u64,
    /// Raw offset of its first byte.
    raw: u64,
}

/// What a record says is to be done when the stream reaches an offset.
#[derive(Debug, Clone)]
struct Due {
    at: u64,
    what: What,
}

#[derive(Debug, Clone)]
enum What {
    /// An input region opens.
    Opens(Box<Region>),
    /// An input region ends, whose last line has this number.
    Ends(u32, Wall, u64),
    /// A shell has gone.
    Leaves(u32, Wall),
}

impl Log {
    /// An empty log. Without a nonce no marker is believed.
    #[must_use]
    pub fn new(size: Size, widths: Widths, nonce: Option<Nonce>) -> Self {
        Self {
            cooked: Cooked::new(size, widths),
            nonce,
            regions: Regions::default(),
            shells: Shells::default(),
            place: None,
            program: None,
            typing: None,
            stray: None,
            asked: marks::Asked::No,
            ended: None,
            last_command: None,
            events: VecDeque::new(),
            records: VecDeque::new(),
        }
    }

    /// Tells what the session runs, in place of a shell with the integration, and where: such a line may lead to another
    /// place. Give it before the first byte.
    pub fn runs(&mut self, line: String, home: Place) {
        self.program = Some((line, home));
    }

    /// Takes the next bytes of the stream, which came at `wall`. Settled text waits in [`Log::cooked`] and events in
    /// [`Log::poll`] until they are taken, so feed long streams in pieces.
    pub fn feed(&mut self, bytes: &[u8], wall: Wall) {
        let mut rest = bytes;
        loop {
            self.apply_records();
            if rest.is_empty() {
                return;
            }
            let next = self.records.front().map_or(u64::MAX, |due| due.at - self.cooked.offset());
            let until = usize::try_from(next).unwrap_or(usize::MAX).min(rest.len());
            let fed = self.cooked.feed(rest.get(..until).unwrap_or(rest));
            rest = rest.get(fed.consumed..).unwrap_or_default();
            if let (Some(mark), Some(nonce)) = (fed.mark, &self.nonce)
                && let Some(marker) = Marker::parse(&mark.payload, nonce)
            {
                self.on_marker(&marker, marks::At { start: mark.start, end: mark.end, wall });
            }
        }
    }

    /// Takes on a new size.
    pub fn resize(&mut self, size: Size) {
        self.cooked.resize(size);
    }

    /// The next event that was not taken yet.
    pub fn poll(&mut self) -> Option<LogEvent> {
        self.events.pop_front()
    }

    /// What the shell that has the terminal does.
    #[must_use]
    pub fn shell(&self) -> ShellState {
        let Some(top) = self.shells.top().filter(|_| self.ended.is_none()) else {
            return if self.ended.is_some() { ShellState::Ended } else { ShellState::NoShell };
        };
        match (top.phase, top.region) {
            (Phase::Running, Some(region)) => ShellState::Running(region),
            (Phase::Continuing { .. } | Phase::Editing { .. }, _) => ShellState::Continuation,
            (Phase::AtPrompt { ready, since }, _) => ShellState::AtPrompt { ready, since },
            (Phase::Running, None) => ShellState::AtPrompt { ready: false, since: Wall(0) },
        }
    }

    /// Whether a shell shows a prompt that is complete, or asks for the rest of a command.
    #[must_use]
    pub fn prompt_stands(&self) -> bool {
        matches!(self.shell(), ShellState::AtPrompt { ready: true, .. } | ShellState::Continuation)
    }

    /// Whether the prompt of the shell that has the terminal is to be expected with a mark at its end: its last one had
    /// one. None where it has shown none yet.
    #[must_use]
    pub fn completes_prompts(&self) -> Option<bool> {
        self.shells.top()?.completes
    }

    /// Whether the running command has just shown the shell's continuation prompt and nothing since: its `read` wants
    /// another line. Printing `$PS2` looks the same for a moment, so ask when output rests.
    #[must_use]
    pub fn wants_more(&self) -> bool {
        self.asked == marks::Asked::At(self.cooked.settled_lines(), self.cooked.cursor())
    }

    /// Whether a shell that wants the rest of a command shows no prompt for it.
    #[must_use]
    pub fn continues_unprompted(&self) -> bool {
        self.shells.top().is_some_and(|top| matches!(top.phase, Phase::Editing { .. }))
    }

    /// The line that the shell has refused and leaves on its command line to be corrected, as fish does. It need not have
    /// painted it there yet, and somebody may have changed or erased it since.
    #[must_use]
    pub fn leftover(&self) -> Option<&str> {
        self.shells.top()?.leftover.as_deref()
    }

    /// The session's nonce.
    #[must_use]
    pub fn nonce(&self) -> Option<&Nonce> {
        self.nonce.as_ref()
    }

    /// Where the shell that has the terminal runs, as it says.
    #[must_use]
    pub fn place(&self) -> Option<&Place> {
        self.place.as_ref()
    }

    /// The working directory of the shell that has the terminal, as of its last prompt.
    #[must_use]
    pub fn cwd(&self) -> Option<&str> {
        self.shells.top()?.cwd.as_deref()
    }

    /// The status of the session's program, once it has ended and it is known.
    #[must_use]
    pub fn program_exit(&self) -> Option<i32> {
        self.ended.flatten()
    }

    /// The region of the command that ended the session's shell, and has its status, once one has.
    #[must_use]
    pub fn ended_by(&self) -> Option<u32> {
        self.last_command
    }

    /// A region by its number; none where there is none or it is no longer kept (the last 1000 closed ones are).
    #[must_use]
    pub fn region(&self, id: u32) -> Option<&Region> {
        self.regions.get(id)
    }

    /// The regions that are kept, by number.
    pub fn regions(&self) -> impl DoubleEndedIterator<Item = &Region> + ExactSizeIterator {
        self.regions.iter()
    }

    /// The innermost region that has not ended.
    #[must_use]
    pub fn open_region(&self) -> Option<&Region> {
        self.regions.innermost()
    }

    /// Says who gave a region's command.
    pub fn set_actor(&mut self, id: u32, actor: String) {
        if let Some(region) = self.regions.get_mut(id) {
            region.actor = Some(actor);
        }
    }

    /// Says where a line that was sent to a program runs, which no marker tells.
    pub fn set_place(&mut self, id: u32, place: Place) {
        if let Some(region) = self.regions.get_mut(id) {
            region.place = Some(place);
        }
    }

    /// The process ids of the integrated shells, the one that has the terminal last.
    pub fn shell_pids(&self) -> impl DoubleEndedIterator<Item = u32> {
        self.shells.pids()
    }

    /// Whether something stands behind the shell's prompt: typed, or shown by whoever has the terminal since the shell has
    /// gone.
    #[must_use]
    pub fn is_past_prompt(&self) -> bool {
        self.typing.is_some() && !self.cooked.input().trim().is_empty()
    }

    /// Says that the shell of this process id, with those inside it, has gone without a marker: the program that started
    /// it has the terminal again, and has shown what stands on the cursor's line.
    ///
    /// Returns the region of that program, which has it on record.
    pub fn lose_shell(&mut self, pid: u32, wall: Wall) -> Option<u32> {
        let depth = self.shells.find(|shell| shell.id.pid == pid)?;
        self.lose_to_program(depth, wall);
        let (program, at) = (self.shells.top()?.region?, self.cooked.offset());
        let left = &mut self.regions.get_mut(program)?.left;
        if left.len() >= LEFT_MAX {
            left.remove(0);
        }
        left.push(Left { at, pid, wall });
        Some(program)
    }

    /// Gives a region another label.
    pub fn set_label(&mut self, id: u32, text: String) {
        if let Some(region) = self.regions.get_mut(id) {
            region.label = label(text);
        }
    }

    /// Begins an input region: a line is being sent to the program at hand, or to a shell without the integration. Its
    /// output begins on the line after the cursor's. An input region still open inside the same command ends first.
    ///
    /// Returns its number.
    pub fn open_input(&mut self, text: String, wall: Wall) -> u32 {
        if self.open_region().is_some_and(|region| region.kind == Kind::Input) {
            self.close_input(wall, false);
        }
        let settled = self.cooked.settle_above();
        let opening = Opening {
            kind: Kind::Input,
            label: text,
            first_line: settled + 2,
            raw_start: self.cooked.offset(),
            started: wall,
        };
        let id = self.regions.open(opening).id;
        self.events.push_back(LogEvent::Opened(id));
        id
    }

    /// Ends the innermost input region on the line above the cursor's, or with that one where the prompt on it is `glued`
    /// to output.
    ///
    /// Returns its number; none where no input region is open.
    pub fn close_input(&mut self, wall: Wall, glued: bool) -> Option<u32> {
        let open = self.regions.open_ids().iter().rev().copied();
        let id = open.into_iter().find(|&id| self.region(id).is_some_and(|region| region.kind == Kind::Input))?;
        self.end_input(id, wall, glued);
        Some(id)
    }

    fn end_input(&mut self, id: u32, wall: Wall, glued: bool) {
        let settled = self.cooked.settle_above() + u64::from(glued);
        let raw_end = self.cooked.offset();
        self.close_from(id, Closing { state: State::Finished, exit: None, settled, raw_end, ended: wall });
    }

    /// Takes the records of what the stream alone does not tell, applied when the stream reaches their offsets: input
    /// regions, and shells that have gone without a marker. Give them before the first byte.
    pub fn expect_records(&mut self, records: Vec<Region>) {
        let mut due = Vec::new();
        for region in records {
            let leaves = |left: &Left| Due { at: left.at, what: What::Leaves(left.pid, left.wall) };
            due.extend(region.left.iter().map(|left| ((left.at, i64::MIN, false), leaves(left))));
            if region.kind != Kind::Input {
                continue;
            }
            // What ends at an offset ends before anything begins there, the innermost first; but nothing before it began.
            let id = i64::from(region.id);
            if let Some(at) = region.raw_end.filter(|_| region.state == State::Finished) {
                let order = if at == region.raw_start { id } else { -id };
                let last = (region.first_line + region.lines).saturating_sub(1);
                let what = What::Ends(region.id, region.ended.unwrap_or(region.started), last);
                due.push(((at, order, true), Due { at, what }));
            }
            let at = region.raw_start;
            due.push(((at, id, false), Due { at, what: What::Opens(Box::new(region)) }));
        }
        due.sort_by_key(|(order, _)| *order);
        self.records.extend(due.into_iter().map(|(_, due)| due).filter(|due| due.at >= self.cooked.offset()));
    }

    fn apply_records(&mut self) {
        while let Some(due) = self.records.pop_front_if(|due| due.at <= self.cooked.offset()) {
            match due.what {
                What::Opens(record) => {
                    let id = self.open_input(record.label, record.started);
                    if let Some(region) = self.regions.get_mut(id) {
                        region.actor = record.actor.or_else(|| region.actor.take());
                        region.place = record.place;
                    }
                }
                What::Ends(id, wall, last) if self.region(id).is_some_and(|it| it.state == State::Running) => {
                    let glued = last > self.cooked.settle_above();
                    self.end_input(id, wall, glued);
                }
                What::Leaves(pid, wall) => {
                    self.lose_shell(pid, wall);
                }
                What::Ends(..) => {}
            }
        }
    }

    /// Closes a region as told, and the input regions inside it, which have ended with it. Commands inside it belong to
    /// shells of their own and end with those.
    fn close_from(&mut self, id: u32, closing: Closing) {
        let inside = |region: &Region| region.id > id && region.kind == Kind::Input;
        let open = self.regions.open_ids().iter().rev().copied();
        let ending: Vec<u32> = open.filter(|&open| open == id || self.region(open).is_some_and(inside)).collect();
        for ending in ending {
            let own = if self.region(ending).is_some_and(|region| region.kind == Kind::Input) {
                // A record of it must be reached by the stream only after the marker that ended it.
                Closing { state: State::Finished, exit: None, raw_end: self.cooked.offset(), ..closing }
            } else {
                closing
            };
            self.regions.close(ending, own);
            self.events.push_back(LogEvent::Closed(ending));
        }
    }

    fn end_typing(&mut self) {
        self.typing = None;
        self.cooked.tag(Tag::Output);
    }
}
