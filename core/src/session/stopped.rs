//! Jobs that a shell calls stopped: its line has ended, the job has not.

use super::Session;
use crate::advice::{may_tell_of_stops, stop_notice};
use crate::call::{Outcome, Status};
use crate::region::{Kind, Region, State};

/// What a shell gives as the status of a job that a signal has stopped: 128 and SIGSTOP to SIGTTOU, which follow each
/// other (signal(7)).
const STOPPED: std::ops::RangeInclusive<i32> = 128 + 19..=128 + 22;

/// The last notice of a shell that a job was stopped.
#[derive(Debug, Clone, Copy)]
pub(super) struct Notice {
    /// The number of its line.
    line: u64,
    /// Whether it says so without the status that the shell gave.
    alone: bool,
}

impl Session {
    /// Says of a line that has ended because its job was stopped that it is suspended.
    pub(super) fn tell_of_stop(&self, outcome: &mut Outcome) {
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

    /// Whether a line has ended because its job was stopped. A program can end with any number, so the shell has to have
    /// said it as well; fish does that with words alone.
    fn was_stopped(&self, region: &Region) -> bool {
        if region.kind != Kind::Command || region.state != State::Finished {
            return false;
        }
        let by_status = region.exit.is_some_and(|exit| STOPPED.contains(&exit));
        let lines = region.first_line..region.first_line + region.lines;
        let told = self.stop_notice.filter(|notice| lines.contains(&notice.line));
        if told.is_some_and(|notice| notice.alone || by_status) {
            return true;
        }
        let first = self.log.cooked.settled_lines() + 1;
        let live = self.log.cooked.live();
        let mut shown = (first..).zip(&live.lines).filter(|(number, _)| lines.contains(number));
        shown.any(|(_, line)| stop_notice(line).is_some_and(|alone| alone || by_status))
    }

    /// Looks for a shell's notices among the lines that came.
    pub(super) fn look_for_stops(&mut self, settled: &[u8], settled_before: u64) {
        if !may_tell_of_stops(settled) {
            return;
        }
        let text = String::from_utf8_lossy(settled);
        let lines = text.split_terminator('\n').zip(settled_before + 1..);
        let notices = lines.filter_map(|(text, line)| stop_notice(text).map(|alone| Notice { line, alone }));
        self.stop_notice = notices.last().or(self.stop_notice);
    }
}
