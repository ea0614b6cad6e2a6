//! Background jobs of the shell's that end: the shell says so before its next prompt, where no region tells of it.

use std::collections::{BTreeMap, VecDeque};

use super::Session;
use crate::advice;
use crate::call::JobEnd;
use crate::log::ShellState;
use crate::region::{Kind, Region, State};

/// Ends that are kept for agents to be told of. More jobs than this end in one go only in scripts, which print nothing.
const ENDS_MAX: usize = 16;

/// Agents that are told of them: as many as a session remembers.
const AGENTS_MAX: usize = 64;

/// What is known of jobs in the background.
#[derive(Debug, Default)]
pub(super) struct Jobs {
    /// A line has put something into the background: until then nothing is looked for.
    started: bool,
    /// The last line that was looked at.
    looked: u64,
    /// What ended last, and how many have in all.
    ends: VecDeque<JobEnd>,
    ended: usize,
    /// How many of those each agent has been told of, or had ended before it came.
    told: BTreeMap<String, usize>,
}

impl Jobs {
    /// A command's region has begun.
    pub(super) fn begins(&mut self, region: &Region) {
        self.started |= region.kind == Kind::Command && into_background(&region.label);
    }

    /// An agent calls.
    pub(super) fn meets(&mut self, actor: &str) {
        if self.told.len() < AGENTS_MAX && !self.told.contains_key(actor) {
            self.told.insert(actor.to_owned(), self.ended);
        }
    }

    /// Those that ended since an agent was last told, which it is by this.
    pub(super) fn news(&mut self, actor: &str) -> Vec<JobEnd> {
        let Some(told) = self.told.get_mut(actor) else { return Vec::new() };
        let new = self.ended - std::mem::replace(told, self.ended);
        self.ends.iter().skip(self.ends.len().saturating_sub(new)).cloned().collect()
    }
}

impl Session {
    /// Looks for the shell's notices in the lines that came.
    pub(super) fn look_for_job_ends(&mut self, settled: &[u8], settled_before: u64) {
        let settled_lines = self.log.cooked.settled_lines();
        if !self.jobs.started {
            self.jobs.looked = settled_lines;
            return;
        }
        let mut found = Vec::new();
        let mut take = |number: u64, text: &str| {
            found.extend(advice::job_end(text).map(|end| (number, end)));
        };
        let from = self.jobs.looked;
        if advice::may_tell_of_jobs(settled) {
            let text = String::from_utf8_lossy(settled);
            for (line, number) in text.split_terminator('\n').zip(settled_before + 1..) {
                if number > from {
                    take(number, line);
                }
            }
        }
        self.jobs.looked = from.max(settled_lines);
        // At its prompt the shell has said what it has to say: the lines above the prompt stay as they are.
        if matches!(self.log.shell(), ShellState::AtPrompt { ready: true, .. }) {
            let live = self.log.cooked.live();
            let above = live.lines.len().saturating_sub(1);
            for (line, number) in live.lines.iter().take(above).zip(settled_lines + 1..) {
                if number > from {
                    take(number, line);
                }
            }
            self.jobs.looked = self.jobs.looked.max(settled_lines + above as u64);
        }
        found.retain(|(number, end)| self.is_notice(*number, end));
        self.jobs.ended += found.len();
        self.jobs.ends.extend(found.into_iter().map(|(_, end)| end));
        let surplus = self.jobs.ends.len().saturating_sub(ENDS_MAX);
        self.jobs.ends.drain(..surplus);
    }

    /// Whether a line is the shell's own word. Between regions only the shell prints; among a command's output it is
    /// one where that command does not list jobs and this one was put into the background here.
    fn is_notice(&self, line: u64, end: &JobEnd) -> bool {
        let holds = |region: &&Region| {
            let ends = if region.state == State::Running { u64::MAX } else { region.first_line + region.lines };
            region.kind == Kind::Command && (region.first_line..ends).contains(&line)
        };
        let Some(inside) = self.log.regions().rev().find(holds) else { return true };
        let command = end.command.split("  (wd:").next().unwrap_or_default();
        !inside.label.contains("jobs") && self.log.regions().any(|region| began(&region.label, command))
    }
}

/// Whether a command line may have put this command into the background, as the shell prints it.
fn began(label: &str, command: &str) -> bool {
    into_background(label) && bare(label).contains(&bare(command))
}

/// A command without what shells write anew where they print one: blanks, line breaks, and what ends a command.
fn bare(command: &str) -> String {
    command.chars().filter(|c| !c.is_whitespace() && *c != ';').collect()
}

/// Whether a command line may put something into the background.
fn into_background(label: &str) -> bool {
    label.replace("&&", "").replace(">&", "").replace("&>", "").contains('&') || label.trim_start().starts_with("bg")
}

#[cfg(test)]
mod tests {
    use super::began;

    #[test]
    fn a_job_is_found_in_the_line_that_began_it() {
        for (line, printed) in [
            ("sleep 3 &", "sleep 3"),
            ("(sleep .2; exit 3) &", "( sleep .2; exit 3 )"),
            ("for i in 1 2\ndo sleep $i\ndone &", "for i in 1 2; do sleep $i; done"),
            (
                "{ make -j8 all; make -j8 check; } >log.txt 2>&1 & wait",
                "{ make -j8 all; make -j8 check; } > log.txt 2>&1",
            ),
        ] {
            assert!(began(line, printed), "{line}");
        }
        assert!(!began("make && sleep 3", "sleep 3"));
        assert!(!began("sleep 3 &", "sleep 30"));
    }
}
