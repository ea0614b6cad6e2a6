//! What a marker does to the log.

use super::{Log, LogEvent, ShellInfo, Typing};
use crate::cooked::Tag;
use crate::place;
use crate::region::shells::{Admitted, Phase};
use crate::region::stages;
use crate::region::store::{Closing, Opening};
use crate::region::{Kind, Place, State};
use crate::time::Wall;
use crate::vt::marker::{self, Marker};

/// What bash answers where a line does not parse.
const SYNTAX_ERROR: i32 = 2;

/// Statuses above this one are 128 and a signal's number, in the pane's record of the program's end as in any shell.
const SIGNALLED: i32 = 128;

/// Where and when a marker stands.
#[derive(Debug, Clone, Copy)]
pub(super) struct At {
    /// Raw offset of its first byte.
    pub(super) start: u64,
    /// Raw offset just past it.
    pub(super) end: u64,
    pub(super) wall: Wall,
}

/// A prompt shown while a command runs: the command's end, if another command follows without an end marker.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stray {
    /// The number of lines settled, should this be the end.
    settled: u64,
    raw: u64,
    status: Option<i32>,
    wall: Wall,
}

/// Whether the running command asks for more with the shell's continuation prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asked {
    No,
    /// The prompt has begun.
    Showing,
    /// It is complete, and the cursor stands here: lines settled, column, row.
    At(u64, (u16, u16)),
}

impl Log {
    pub(super) fn on_marker(&mut self, marker: &Marker, at: At) {
        if self.ended.is_some() {
            return;
        }
        match marker.kind {
            marker::Kind::ProgramEnd => self.on_program_end(marker.status, at),
            marker::Kind::Input if self.shells.is_top(marker) => self.on_typing(at),
            marker::Kind::Continuation if self.shells.is_top(marker) => self.on_continuation(),
            marker::Kind::Unfinished if self.shells.is_top(marker) => self.on_unfinished(),
            marker::Kind::SidePrompt if self.shells.is_top(marker) && self.typing.is_some() => {
                self.cooked.tag(Tag::Prompt);
            }
            marker::Kind::Input | marker::Kind::Continuation | marker::Kind::Unfinished | marker::Kind::SidePrompt => {}
            marker::Kind::Prompt | marker::Kind::Output | marker::Kind::End => self.on_counted(marker, at),
        }
    }

    fn on_counted(&mut self, marker: &Marker, at: At) {
        let redraw = self.shells.is_redraw(marker);
        match self.shells.admit(marker) {
            Admitted::No => return,
            Admitted::Known(depth) if marker.early => return self.on_early_end(depth, at),
            Admitted::Known(depth) => self.lose_above(depth + 1, at),
            Admitted::New => self.on_new_shell(marker, at),
        }
        self.moved();
        match marker.kind {
            marker::Kind::Prompt => self.on_prompt(marker, redraw, at),
            marker::Kind::Output => self.on_output(marker, at),
            _ => self.on_end(marker, at),
        }
    }

    /// Another shell than before may have the terminal now.
    fn moved(&mut self) {
        let place = self.shells.top().map(|top| top.place.clone());
        if place != self.place {
            self.events.extend(place.clone().map(LogEvent::Place));
            self.place = place;
        }
    }

    fn on_new_shell(&mut self, marker: &Marker, at: At) {
        if let Some(depth) = self.shells.replaced_by(marker) {
            self.lose_above(depth, at);
        }
        if self.shells.top().is_none() && self.program.is_none() {
            // What was sent before the session's own shell has come up was an answer to its startup files.
            let closing = self.closing(State::Finished, None, at);
            if let Some(&answer) = self.regions.open_ids().first() {
                self.close_from(answer, closing);
            }
        }
        let place = self.reached(marker);
        if let Some(region) = self.shells.push(marker, place, at.wall) {
            let closing = self.closing(State::Lost, None, at);
            self.regions.close(region, closing);
            self.events.push_back(LogEvent::Closed(region));
        }
        self.end_typing();
        self.stray = None;
        let place = self.shells.top().map(|top| top.place.clone());
        self.events.extend(place.map(|place| {
            let version = marker.new_shell.clone().unwrap_or_default();
            LogEvent::ShellStarted(ShellInfo { pid: marker.pid, place, version })
        }));
    }

    /// Where a shell is that shows itself: as it says, with the names that the command line has which led there.
    fn reached(&self, marker: &Marker) -> Place {
        let (host, user) = (marker.host.clone().unwrap_or_default(), marker.user.clone().unwrap_or_default());
        let said = Place { host, user, container: None };
        if let Some(below) = self.shells.top() {
            let line = below.region.and_then(|id| self.region(id)).map(|region| region.label.as_str());
            return place::reached(line.unwrap_or_default(), &below.place, &below.id.host, said);
        }
        match &self.program {
            Some((line, home)) => place::reached(line, home, &home.host, said),
            None => said,
        }
    }

    /// Where the output of a shell's command ends whose status is still to come. Shells above it are gone, but until that
    /// status their command counts as running, and where it led as the place.
    fn on_early_end(&mut self, depth: usize, at: At) {
        let closing = self.closing(State::Finished, None, at);
        if let Some(shell) = self.shells.at_mut(depth).filter(|shell| shell.region.is_some()) {
            shell.early = Some(closing);
        }
    }

    /// Takes away all shells from this depth on: the terminal has passed to the one below.
    fn lose_above(&mut self, depth: usize, at: At) {
        let below = depth.checked_sub(1).and_then(|below| self.shells.at_mut(below));
        let early = below.and_then(|below| below.early);
        self.lose(depth, |log| match early {
            Some(early) => Closing { state: State::Lost, exit: None, ..early },
            None => log.closing(State::Lost, None, at),
        });
    }

    /// The same where a program below has shown that it has the terminal again: what stands on the cursor's line is its own.
    pub(super) fn lose_to_program(&mut self, depth: usize, wall: Wall) {
        self.lose(depth, |log| {
            let (settled, raw_end) = (log.cooked.settle_above(), log.cooked.offset());
            Closing { state: State::Lost, exit: None, settled, raw_end, ended: wall }
        });
        self.moved();
    }

    fn lose(&mut self, depth: usize, closing: impl Fn(&mut Self) -> Closing) {
        while self.shells.depth() > depth {
            let Some(shell) = self.shells.pop() else { return };
            if let Some(region) = shell.region {
                let closing = closing(self);
                self.close_from(region, closing);
            }
            self.end_typing();
            self.stray = None;
            self.events.push_back(LogEvent::ShellEnded);
        }
    }

    /// The end of a region at a marker. A full-screen program that was killed has left the terminal as it was, and the
    /// shell goes on in it.
    fn closing(&mut self, state: State, exit: Option<i32>, at: At) -> Closing {
        self.cooked.end_fullscreen();
        Closing { state, exit, settled: self.cooked.cut(), raw_end: at.start, ended: at.wall }
    }

    fn on_end(&mut self, marker: &Marker, at: At) {
        let region = self.shells.top().and_then(|top| top.region);
        if marker.new_shell.is_none() {
            match region {
                Some(_) => self.finish(marker, at),
                None => {
                    // zsh leaves $? as it was where a line does not parse, and so tells none.
                    let unparsed = marker.status.is_none_or(|status| status == SYNTAX_ERROR);
                    self.on_refused(marker, marker.status, unparsed, at);
                }
            }
        }
        self.back_at_prompt(at.wall);
        if let Some(top) = self.shells.top_mut() {
            top.leftover.clone_from(&marker.cmd);
        }
        if region.is_none() {
            // fish may paint the prompt as it was, with marks that count for nothing, and the line behind it anew.
            self.cooked.clear_input();
        }
    }

    fn back_at_prompt(&mut self, since: Wall) {
        self.end_typing();
        self.stray = None;
        self.asked = Asked::No;
        if let Some(top) = self.shells.top_mut() {
            // What a new shell begins with is the same prompt.
            let new = matches!(top.phase, Phase::AtPrompt { ready: false, .. }) && top.completes.is_none();
            if !new {
                top.leave_prompt();
            }
            top.phase = Phase::AtPrompt { ready: false, since };
        }
        self.events.push_back(LogEvent::PromptEnd);
    }

    /// Closes the top shell's region with the status that this marker tells.
    fn finish(&mut self, marker: &Marker, at: At) {
        let closing = self.closing(State::Finished, marker.status, at);
        let Some(top) = self.shells.top_mut() else { return };
        let early = top.early.take();
        let closing = early.map_or(closing, |early| Closing { exit: marker.status, ended: at.wall, ..early });
        let before = std::mem::replace(&mut top.stages, marker.pipestatus.clone());
        let Some(id) = top.region.take() else { return };
        self.close_from(id, closing);
        if let Some(region) = self.regions.get_mut(id) {
            region.pipestatus = stages::believed(marker.pipestatus.clone(), &before, marker.status, &region.label);
        }
    }

    /// The shell is at its prompt again, and no start of a command was seen. A line that did not parse is a region with
    /// the shell's words, and one that ran all the same is one too: Ctrl-C and Ctrl-Z make the kernel drop what the
    /// terminal had not read yet, which may be the start. Other lines leave nothing behind.
    fn on_refused(&mut self, marker: &Marker, status: Option<i32>, unparsed: bool, at: At) {
        let Some(mut typing) = self.typing else { return };
        typing.line += self.shells.top().map_or(0, |top| top.edited(marker));
        // fish 4 clears at ctrl+c what stands behind the prompt, which stays.
        if marker.idle && status.is_some() && self.cooked.settle_above() + 1 == typing.line {
            self.events.push_back(LogEvent::NotRun { status, first_line: typing.line + 1, lines: 0 });
            return;
        }
        // Nothing has marked the end of the input, so what was printed since counts as typed too.
        let typed_lines = usize::try_from(typing.line - typing.first).unwrap_or(usize::MAX).saturating_add(1);
        let typed = self.cooked.input().lines().take(typed_lines).collect::<Vec<_>>().join("\n");
        let closing = self.closing(State::Finished, status, at);
        let (first_line, lines) = (typing.line + 1, closing.settled.saturating_sub(typing.line));
        let refused = unparsed && lines > 0;
        // A prompt without an end marker cannot say that a command ran.
        let idle = marker.idle || marker.kind == marker::Kind::Prompt;
        if typed.trim().is_empty() || idle && !refused {
            self.events.push_back(LogEvent::NotRun { status, first_line, lines });
            return;
        }
        // A shell that paints behind what is typed need not have shown all of it; fish tells it.
        let told = marker.cmd.clone().unwrap_or(typed);
        let id = self.open_command(told, first_line, typing.raw, at.wall);
        self.close_from(id, closing);
    }

    fn open_command(&mut self, label: String, first_line: u64, raw_start: u64, started: Wall) -> u32 {
        self.shells.output_goes_on();
        let region = self.regions.open(Opening { kind: Kind::Command, label, first_line, raw_start, started });
        if let Some(top) = self.shells.top() {
            region.cwd.clone_from(&top.cwd);
            region.place = Some(top.place.clone());
            region.shell = Some(top.id.clone());
        }
        let id = region.id;
        self.events.push_back(LogEvent::Opened(id));
        id
    }

    fn on_prompt(&mut self, marker: &Marker, redraw: bool, at: At) {
        let Some(top) = self.shells.top_mut() else { return };
        let phase = top.phase;
        if phase == Phase::Running {
            match marker.hooked {
                // Its end marker is still to come: somebody printed "${PS1@P}".
                Some(true) => return,
                Some(false) => {
                    self.finish(marker, at);
                    self.back_at_prompt(at.wall);
                }
                None => return self.on_stray(marker, at),
            }
        } else if !redraw && self.typing.is_some() {
            // A failed history expansion, or a line edited and run in an editor, neither of which has an end marker;
            // and every line of a shell that prints none.
            let status = marker.status.filter(|_| marker.hooked == Some(false));
            self.on_refused(marker, status, status == Some(SYNTAX_ERROR), at);
            self.back_at_prompt(at.wall);
        }
        // Drawn again in its place, the prompt may leave typed characters standing behind it.
        let line = self.cooked.settle_above() + 1;
        if !redraw || self.typing.is_none_or(|typing| typing.line != line) {
            self.cooked.clear_input();
        }
        // fish paints vi's mode in front of it.
        self.cooked.untag_to_cursor();
        self.cooked.tag(Tag::Prompt);
        self.typing = None;
        if let Some(top) = self.shells.top_mut() {
            top.cwd.clone_from(&marker.cwd);
            let edits = matches!(top.phase, Phase::Editing { .. }) && !redraw;
            if matches!(top.phase, Phase::Continuing { .. }) || edits {
                top.phase = Phase::AtPrompt { ready: true, since: at.wall };
            }
        }
    }

    /// A prompt while a command runs, from a shell that does not say whether an end marker will come. If a command
    /// follows, this was the end; if an end marker does, it was an accident.
    fn on_stray(&mut self, marker: &Marker, at: At) {
        let above = self.cooked.settle_above();
        let begun = !self.cooked.line_at_cursor().text.is_empty();
        let settled = above + u64::from(begun);
        self.stray = Some(Stray { settled, raw: at.start, status: marker.status, wall: at.wall });
        self.cooked.clear_input();
        self.cooked.tag(Tag::Prompt);
    }

    fn on_typing(&mut self, at: At) {
        let Some(top) = self.shells.top_mut() else { return };
        match &mut top.phase {
            Phase::Running => {
                if self.asked == Asked::Showing {
                    self.asked = Asked::At(self.cooked.settled_lines(), self.cooked.cursor());
                } else if self.stray.is_some() {
                    self.cooked.tag(Tag::Input);
                }
                return;
            }
            Phase::AtPrompt { ready, .. } => {
                if !std::mem::replace(ready, true) {
                    top.completes = Some(true);
                    self.events.push_back(LogEvent::Prompt);
                }
            }
            Phase::Continuing { ready } => {
                if !std::mem::replace(ready, true) {
                    self.events.push_back(LogEvent::Continuation);
                }
            }
            Phase::Editing { .. } => {}
        }
        // Of a prompt of several lines bash draws only the last one again, without its beginning's mark.
        self.cooked.untag_to_cursor();
        self.cooked.tag(Tag::Input);
        let line = self.cooked.settle_above() + 1;
        let begun = self.typing.unwrap_or(Typing { first: line, line, raw: at.end });
        self.typing = Some(Typing { line, ..begun });
    }

    fn on_continuation(&mut self) {
        let Some(top) = self.shells.top_mut() else { return };
        if top.phase == Phase::Running {
            self.asked = Asked::Showing;
            return;
        }
        top.phase = Phase::Continuing { ready: false };
        self.cooked.tag(Tag::Prompt);
    }

    /// The shell may not have shown what was submitted yet: it reads ahead of what it paints.
    fn on_unfinished(&mut self) {
        let Some(top) = self.shells.top_mut() else { return };
        let lines = match top.phase {
            Phase::AtPrompt { .. } | Phase::Continuing { .. } => 0,
            Phase::Editing { lines } => lines,
            // A program that edits its lines as the shell does, such as fish's `read`.
            Phase::Running => return,
        };
        top.phase = Phase::Editing { lines: lines + 1 };
        top.leftover = None;
        self.events.push_back(LogEvent::Continuation);
    }

    fn on_output(&mut self, marker: &Marker, at: At) {
        // A shell that shows itself only now has marked no prompt, nor what was typed there.
        let unmarked = marker.new_shell.is_some();
        let typed = marker.cmd.clone().unwrap_or_else(|| if unmarked { String::new() } else { self.cooked.input() });
        // The prompt before it was not marked: the line was taken to be for a program.
        let outside = if unmarked { Some(0) } else { self.shells.top().and_then(|top| top.region) };
        let input = outside.and_then(|region| self.input_within(region));
        if let (true, Some((input, _))) = (unmarked, &input) {
            let closing = self.closing(State::Finished, None, at);
            self.close_from(*input, closing);
        }
        let label = match (self.shells.top().and_then(|top| top.region), self.stray.take()) {
            (None, _) => self.first_of(typed),
            (Some(region), Some(stray)) => {
                let Stray { settled, raw, status, wall } = stray;
                // The line it stood on may have been wiped since, or have been a full-screen program's.
                let settled = settled.min(self.cooked.cut());
                let closing = Closing { state: State::Finished, exit: status, settled, raw_end: raw, ended: wall };
                self.close_from(region, closing);
                self.first_of(typed)
            }
            (Some(region), None) => self.next_of_paste(region, marker, at),
        };
        let label = Some(label).filter(|label| !label.is_empty());
        let label = label.or_else(|| input.as_ref().map(|(_, label)| label.clone())).unwrap_or_default();
        self.asked = Asked::No;
        self.end_typing();
        let first_line = self.cooked.cut() + 1;
        self.cooked.clear_input();
        // The shell has read a line, and any answer before it.
        self.cooked.forget_query();
        self.cooked.forget_edited();
        let id = self.open_command(label, first_line, at.end, at.wall);
        self.events.extend(input.map(|(input, _)| LogEvent::Begun { input, command: id }));
        if let Some(top) = self.shells.top_mut() {
            top.leave_prompt();
            top.phase = Phase::Running;
            top.region = Some(id);
            top.leftover = None;
        }
    }

    /// The open input region inside a command, with its label.
    fn input_within(&self, command: u32) -> Option<(u32, String)> {
        let open = self.open_region()?;
        (open.id > command && open.kind == Kind::Input).then(|| (open.id, open.label.clone()))
    }

    /// The label of what may be the first of several commands pasted together.
    fn first_of(&mut self, typed: String) -> String {
        if let Some(top) = self.shells.top_mut() {
            top.pasted = typed.lines().skip(1).map(str::to_owned).collect();
        }
        typed
    }

    /// Another command of the same input: the shell read several lines at once and shows no prompt between them. Only
    /// now it is known that the lines were commands of their own.
    fn next_of_paste(&mut self, region: u32, marker: &Marker, at: At) -> String {
        let closing = self.closing(State::Finished, marker.prev, at);
        if let Some(region) = self.regions.get_mut(region) {
            let first = region.label.lines().next().unwrap_or_default().to_owned();
            region.label = first;
        }
        self.close_from(region, closing);
        let next = self.shells.top_mut().and_then(|top| top.pasted.pop_front());
        marker.cmd.clone().or(next).unwrap_or_default()
    }

    fn on_program_end(&mut self, status: Option<i32>, at: At) {
        self.finish_with_program(status, at);
        self.close_all(at);
        // The end marker stands on a line of its own, whatever the program left.
        self.cooked.end_fullscreen();
        self.cooked.cut();
        self.ended = Some(status);
        self.events.push_back(LogEvent::Ended { status });
    }

    /// The command that ended the session's own shell (`exit 3`, `exec`, a failure under `set -e`) has that shell's
    /// status. Where a signal ended the shell, nothing is known of what it ran.
    fn finish_with_program(&mut self, status: Option<i32>, at: At) {
        let Some(status) = status.filter(|status| (0..=SIGNALLED).contains(status)) else { return };
        // A shell whose markers somebody took away may have read other lines since.
        if self.shells.depth() != 1 || self.cooked.edited() {
            return;
        }
        let Some(region) = self.shells.top_mut().and_then(|top| top.region.take()) else { return };
        let closing = self.closing(State::Finished, Some(status), at);
        self.close_from(region, closing);
        self.last_command = Some(region);
    }

    /// Says that nothing more will come, though no end marker has: what is open is lost.
    pub fn abandon(&mut self, wall: Wall) {
        let end = self.cooked.offset();
        self.close_all(At { start: end, end, wall });
    }

    fn close_all(&mut self, at: At) {
        self.lose_above(0, at);
        while let Some(&outermost) = self.regions.open_ids().first() {
            let is_input = self.regions.get(outermost).is_some_and(|region| region.kind == Kind::Input);
            let state = if is_input { State::Finished } else { State::Lost };
            let closing = self.closing(state, None, at);
            self.close_from(outermost, closing);
        }
    }
}
