//! What is read in the lines as they come: the echo of a line typed to a program, and what `until` looks for.

use super::{Call, CallKind, Effect, Input, Session};
use crate::call::Outcome;

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
        let label: String = text.trim_end().chars().take(LABEL_CHARS).collect();
        if is_settled {
            self.input = Some(Input { echo: None, ..input });
        }
        // An editor of several lines may draw the next one before what was typed on this one.
        if !label.is_empty() && self.log.region(id).is_some_and(|region| region.label != label) {
            self.log.set_label(id, label);
            self.record(id);
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
