//! Jobs that a shell calls stopped: its line has ended, the job has not.

use crate::advice::{may_tell_of_stops, stop_notice, stopped_command};
use crate::call::{Outcome, Status};
use crate::region::{Kind, Region, State};
use crate::session::Session;

/// What a shell gives as the status of a job that a signal has stopped: 128 and SIGSTOP to SIGTTOU, which follow each
/// other (signal(7)).
const STOPPED: std::ops::RangeInclusive<i32> = 128 + 19..=128 + 22;

/// The last notice of a shell that a job was stopped.
#[derive(Debug, Clone)]
pub(in crate::session) struct Notice {
    /// The number of its line.
    line: u64,
    /// Whether it says so without the status that the shell gave.
    alone: bool,
    /// The job's command, where it says so in English.
    command: Option<String>,
}

impl Notice {
    fn read(text: &str, line: u64) -> Option<Self> {
        let command = stopped_command(text);
        let alone = stop_notice(text).or(command.map(|_| false))?;
        Some(Self { line, alone, command: command.map(str::to_owned) })
    }
}

impl Session {
    /// Says of a line that has ended because its job was stopped that it is suspended.
    pub(in crate::session) fn tell_of_stop(&self, outcome: &mut Outcome) {
        if self.tell_of_plain_stop(outcome) {
            return;
        }
        let Some(region) = outcome.region.as_ref().filter(|region| region.kind == Kind::Command) else { return };
        if !matches!(outcome.status, Status::Finished | Status::Sent) {
            return;
        }
        // Later lines may have continued it.
        let mut later = self.log.regions().rev().take_while(|later| later.id > region.id);
        if later.any(|later| later.kind == Kind::Command) {
            return;
        }
        // A shell inside that stops takes its line with it.
        let around = |outer: &&Region| outer.id < region.id && outer.raw_end >= Some(region.raw_start);
        let job = match region.state {
            State::Lost => self.log.regions().rev().find(around),
            State::Finished | State::Running => Some(region),
        };
        let Some(job) = job.filter(|job| self.was_stopped(job)) else { return };
        outcome.observed.stopped = job.exit;
        if outcome.status == Status::Finished {
            outcome.status = Status::Suspended;
        }
    }

    /// The same of a line that a plain shell was given: its notice is all there is.
    fn tell_of_plain_stop(&self, outcome: &mut Outcome) -> bool {
        let job = match (&outcome.region, outcome.status) {
            (Some(region), Status::Prompt | Status::Sent) => region,
            // What is sent makes no region of its own, and ends the one before.
            (None, Status::Sent) => {
                let from = outcome.output.map_or(u64::MAX, |(first, _)| first);
                match self.log.regions().next_back().filter(|last| last.first_line + last.lines > from) {
                    Some(last) => last,
                    None => return false,
                }
            }
            _ => return false,
        };
        if job.kind != Kind::Input || job.state != State::Finished {
            return false;
        }
        let job = job.clone();
        let names = |notice: &Notice| notice.command.as_deref().is_some_and(|command| is_of(&job.label, command));
        if !self.notices_in(&job).iter().any(names) {
            return false;
        }
        // There is no status, as there is none of fish's that says it.
        outcome.observed.stopped = Some(0);
        if outcome.status == Status::Prompt {
            outcome.status = Status::Suspended;
        }
        outcome.region = Some(job);
        true
    }

    /// Whether a line has ended because its job was stopped. A program can end with any number, so the shell has to have
    /// said it as well; fish does that with words alone.
    fn was_stopped(&self, region: &Region) -> bool {
        if region.kind != Kind::Command || region.state != State::Finished {
            return false;
        }
        let by_status = region.exit.is_some_and(|exit| STOPPED.contains(&exit));
        self.notices_in(region).iter().any(|notice| notice.alone || by_status)
    }

    /// The notices among a line's output: the last of those that have settled, and those that stand on the screen.
    fn notices_in(&self, region: &Region) -> Vec<Notice> {
        let lines = region.first_line..region.first_line + region.lines;
        let first = self.log.cooked.settled_lines() + 1;
        let live = self.log.cooked.live();
        let shown = (first..).zip(&live.lines).filter_map(|(number, line)| Notice::read(line, number));
        shown.chain(self.stop_notice.clone()).filter(|notice| lines.contains(&notice.line)).collect()
    }

    /// Looks for a shell's notices among the lines that came.
    pub(in crate::session) fn look_for_stops(&mut self, settled: &[u8], settled_before: u64) {
        if !may_tell_of_stops(settled) {
            return;
        }
        let text = String::from_utf8_lossy(settled);
        let lines = text.split_terminator('\n').zip(settled_before + 1..);
        if let Some(last) = lines.filter_map(|(text, line)| Notice::read(text, line)).last() {
            self.stop_notice = Some(last);
        }
    }
}

/// Whether a line that was typed at a prompt ran this command, or brought it back. What lists jobs or stops them by itself
/// shows the same notices of others.
fn is_of(label: &str, command: &str) -> bool {
    // Shells write the command anew, with quotes of their own.
    let bare = |text: &str| text.replace([' ', '\t', '\'', '"', '\\'], "");
    bare(label).ends_with(&bare(command)) || label.split_whitespace().any(|word| word == "fg")
}
