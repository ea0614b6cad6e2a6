//! What is read in the lines as they come: the echo of a line typed to a program, and what `until` looks for.

use super::{Call, CallKind, Effect, HUMAN, Input, Session};
use crate::call::Outcome;
use crate::prompt;
use crate::region::{Kind, State};

/// Characters of an input region's label.
const LABEL_CHARS: usize = 400;

impl Session {
    /// Names an open input region after what was echoed, never after what was typed: a line that the program hid
    /// reaches no record.
    pub(super) fn read_echo(&mut self, settled: &[u8], settled_before: u64) {
        let Some(input) = self.input else { return };
        let (id, Some(line)) = (input.region, input.echo) else { return };
        let cooked = &self.log.cooked;
        let live = cooked.live();
        let index = |from: u64| usize::try_from(line.checked_sub(from + 1)?).ok();
        let is_settled = line <= cooked.settled_lines();
        let text = if is_settled {
            index(settled_before)
                .and_then(|at| settled.split(|byte| *byte == b'\n').nth(at))
                .map(String::from_utf8_lossy)
        } else {
            // The line of the cursor may still be in the middle of its echo.
            let at = index(cooked.settled_lines());
            at.filter(|_| line < self.cursor_line()).and_then(|at| live.lines.get(at)).map(|text| text.as_str().into())
        };
        let Some(text) = text else { return };
        let label: String = text.get(input.before..).unwrap_or(&text).trim_end().chars().take(LABEL_CHARS).collect();
        if is_settled {
            self.input = Some(Input { echo: None, ..input });
        }
        // An editor of several lines may draw the next one before what was typed on this one.
        if !label.is_empty() && self.log.region(id).is_some_and(|region| region.label != label) {
            self.log.set_label(id, label);
            self.record(id);
        }
    }

    /// A region has begun: whose it is, what it is called, and what no longer holds.
    pub(super) fn region_opened(&mut self, id: u32) {
        let region = self.log.region(id).cloned();
        let by_line = region.as_ref().filter(|region| region.kind == Kind::Command);
        let by_line = by_line.and_then(|region| self.submitter.opened(&region.label));
        if let Some(typed) = by_line.as_ref().and_then(|by| by.text.as_deref()) {
            self.name_by_line(id, typed);
        }
        // A line to a program is known to be its agent's.
        let actor = by_line.map(|by| by.actor).or_else(|| region.and_then(|region| region.actor));
        let changed = self.agents.line_is_empty() | actor.is_some();
        if let Some(actor) = &actor {
            self.agents.owes(actor, id);
        }
        self.log.set_actor(id, actor.unwrap_or_else(|| HUMAN.to_owned()));
        // One that has ended meanwhile is recorded when that is told.
        if self.log.region(id).is_some_and(|region| region.state == State::Running) {
            self.record(id);
        }
        if let Some(region) = self.log.region(id).filter(|region| region.kind == Kind::Command) {
            self.jobs.begins(region);
            self.last_prompt = None;
            (self.reads.taken_at, self.reads.began_at) = (None, None);
            self.reads.unwitnessed = false;
            self.looking.beyond = None;
            self.looking.another_program();
        }
        if changed {
            self.effects.push_back(Effect::Remember);
        }
        self.continued(None);
    }

    /// Sees that a program has shown its prompt again although something was printed behind it before it could rest: a
    /// line of output begins with the prompt. Settled lines are handed in as they come, the others are looked at anew.
    pub(super) fn read_prompt_above(&mut self, settled: &[u8], settled_before: u64) {
        let (Some(input), Some(prompt)) = (self.input, self.last_prompt.as_deref()) else { return };
        if self.looking.has_asked() {
            return;
        }
        let Some(first) = self.log.region(input.region).map(|region| region.first_line) else { return };
        let settled = String::from_utf8_lossy(settled);
        let live = self.log.cooked.live();
        let cursor = self.cursor_line();
        let first_live = self.log.cooked.settled_lines() + 1;
        let old = settled.split_terminator('\n').zip(settled_before + 1..);
        let mut lines = old.chain(live.lines.iter().map(String::as_str).zip(first_live..));
        let shown = |(text, number): (&str, u64)| (first..cursor).contains(&number) && prompt::is_before(text, prompt);
        if lines.any(shown) {
            self.looking.asked_above();
        }
    }

    /// Names a command after the line it was given by, which may have been echoed since the command was opened.
    pub(super) fn name_begun(&mut self, input: u32, command: u32) {
        let label = |id| self.log.region(id).map(|region| region.label.clone()).unwrap_or_default();
        let (typed, named) = (label(input), label(command));
        if typed.starts_with(&named) {
            self.log.set_label(command, typed);
            self.record(command);
        }
    }

    /// Names a command after the line that was typed, where something in the background had printed behind the prompt: the
    /// shell's editor paints nothing anew then, and the line is echoed behind that.
    pub(super) fn name_by_line(&mut self, command: u32, typed: &str) {
        let Some(region) = self.log.region(command) else { return };
        let typed = typed.trim_end();
        self.unshown = (region.label.is_empty() && !typed.is_empty()).then_some(command);
        if region.label == typed || !is_end_of_label(&region.label, typed) {
            return;
        }
        let before = region.label.len() - typed.len();
        let printed = region.label.get(..before).map_or(0, |before| before.trim_end_matches('\n').split('\n').count());
        let end = region.first_line.saturating_sub(typed.split('\n').count() as u64);
        self.printed_before = Some((command, end.saturating_sub(printed as u64), end.saturating_sub(1)));
        self.log.set_label(command, typed.to_owned());
    }

    /// That something in the background printed behind the prompt before this reply's command.
    pub(super) fn printed_note(&mut self, shows: impl Fn(u32) -> bool) -> Option<String> {
        let (_, from, to) = self.printed_before.take_if(|(command, ..)| shows(*command))?;
        Some(format!(
            "something in the background had printed at the prompt before: read session=\"{}\" from={from} to={to}",
            self.setting.name
        ))
    }

    pub(super) fn look_for_until(&mut self, settled: &[u8], settled_before: u64) {
        if !self.calls.iter().any(Call::wants_lines) {
            return;
        }
        let live = self.log.cooked.live();
        let first_live = self.log.cooked.settled_lines() + 1;
        let settled = String::from_utf8_lossy(settled);
        let numbered = || {
            let old = settled.split_terminator('\n').zip(settled_before + 1..);
            old.chain(live.lines.iter().map(String::as_str).zip(first_live..))
        };
        let cursor = self.log.cooked.line_at_cursor().text;
        // Trailing blanks stand only before the cursor, which a prompt's pattern may name.
        let at_cursor = live.lines.last().is_some_and(|last| last == cursor.trim_end_matches(' '));
        let last = first_live + (live.lines.len() as u64).saturating_sub(1);
        let mut failed = Vec::new();
        for call in self.calls.iter_mut().filter(|call| call.wants_lines()) {
            let Some((first, until)) = call.until_range(&self.log) else { continue };
            if let CallKind::Expect(expect) = &mut call.kind {
                let mut lines = numbered().filter(|(_, number)| (first..=until).contains(number));
                let looked = lines.try_for_each(|(text, number)| {
                    expect.look(number, text, Some(cursor.as_str()).filter(|_| at_cursor && number == last))
                });
                failed.extend(looked.err().map(|costly| (call.id, costly.to_string())));
                continue;
            }
            if let CallKind::Integrate(integrate) = &mut call.kind {
                for (text, number) in numbered().filter(|(_, number)| *number >= first) {
                    integrate.look(number, text, number == last);
                }
                continue;
            }
            let Some(pattern) = call.until().cloned() else { continue };
            for (text, number) in numbered().filter(|(_, number)| (first..=until).contains(number)) {
                match pattern.is_match(text) {
                    Ok(true) => {
                        call.set_matched(number);
                        break;
                    }
                    Ok(false) => {}
                    Err(costly) => {
                        failed.push((call.id, costly.to_string()));
                        break;
                    }
                }
            }
        }
        for (id, why) in failed {
            self.calls.retain(|call| call.id != id);
            let text = format!("{why}. What was typed stays typed: wait goes on waiting");
            self.effects.push_back(Effect::Conclude(id, Box::new(Outcome::error(text))));
        }
    }
}

/// Whether a label ends with whole lines that were typed, behind others.
pub(super) fn is_end_of_label(label: &str, typed: &str) -> bool {
    !typed.trim().is_empty() && label.strip_suffix(typed).is_some_and(|before| before.ends_with('\n'))
}
