//! Whether what shows a prompt, by its looks, is at work: programs print "copying> " as well, and do not read.
//!
//! A prompt that is known is believed fast, and this only takes that belief away. So several looks have to agree: a
//! program that looks for keys ten times a second is seen between two looks of its own at times, and on a machine with
//! more to do than it has processors, often.

use std::time::Duration;

use super::Judgement;
use crate::inspect::{Inspection, Known, Process, ProcessId, Sleep, Why};
use crate::time::Now;

/// For so long every look has to see it at work.
const WINDOW: Duration = Duration::from_millis(200);

/// How soon it is looked at again until then.
pub const AGAIN: Duration = Duration::from_millis(50);

/// What a look does not settle after this long stays open: it runs at every look and uses next to nothing.
const OPEN: Duration = Duration::from_millis(500);

/// The same where no more looks come back, on a machine that is out of breath.
const UNSEEN: Duration = Duration::from_secs(2);

/// Whoever uses more of a processor than this, in hundredths, computes; a program that only looks for keys uses less.
/// What is left of a processor for each of ten busy programs.
const COMPUTES: u64 = 10;

/// What the looks come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AtWork {
    /// Nobody was seen at work, or that could not be made sure of.
    Untold,
    /// At work so far, which is settled by then.
    Perhaps(Now),
    /// At work.
    Surely,
}

/// Looks at one terminal since something was last printed or typed.
#[derive(Debug, Clone, Default)]
pub struct WorkLooks {
    first: Option<Sight>,
    sure: bool,
    open: bool,
    /// Nobody was to be seen at the last look.
    missed: bool,
}

#[derive(Debug, Clone)]
struct Sight {
    at: Now,
    who: Vec<ProcessId>,
    used: u64,
    /// Somebody was on a processor, or waited for one, at this look and all that followed.
    awake: bool,
}

impl WorkLooks {
    /// Takes a look and what it came to by itself.
    pub fn look(&mut self, now: Now, judgement: &Judgement, inspection: &Inspection) {
        // Between one command of a script and the next there is nobody in front for a moment.
        let missed = matches!(judgement, Judgement::Unknown(Why::NobodyInFront | Why::Gone));
        if missed && !std::mem::replace(&mut self.missed, true) {
            return;
        }
        if !matches!(judgement, Judgement::Works | Judgement::Stopped { .. }) {
            *self = Self::default();
            return;
        }
        self.missed = false;
        let sight = Sight {
            at: now,
            who: near(inspection).map(|process| process.id).collect(),
            used: near(inspection).map(|process| process.used).sum(),
            awake: is_awake(inspection),
        };
        let Some(first) = &mut self.first else {
            self.first = Some(sight);
            return;
        };
        first.awake &= sight.awake;
        let passed = now - first.at;
        let hundredths = u64::try_from(passed.as_millis() / 10).unwrap_or(u64::MAX).max(1);
        let computes = sight.used.saturating_sub(first.used).saturating_mul(100) / hundredths >= COMPUTES;
        // One that starts others, one after the other, is at work whatever it uses itself.
        let works = !first.awake || computes || first.who != sight.who;
        self.sure |= passed >= WINDOW && works;
        self.open |= passed >= OPEN;
    }

    /// What the looks so far come to.
    #[must_use]
    pub fn so_far(&self, now: Now) -> AtWork {
        match &self.first {
            Some(_) if self.sure => AtWork::Surely,
            Some(first) if !self.open && now < first.at + UNSEEN => AtWork::Perhaps(first.at + UNSEEN),
            _ => AtWork::Untold,
        }
    }
}

/// Who is seen at every look, however far it goes.
fn near(inspection: &Inspection) -> impl Iterator<Item = &Process> {
    [&inspection.front, &inspection.below].into_iter().filter_map(Known::known).flatten()
}

fn is_awake(inspection: &Inspection) -> bool {
    let threads = near(inspection).filter_map(|process| match &process.threads {
        Known::Known(threads) => Some(threads),
        Known::Unknown(_) => None,
    });
    threads.flatten().any(|thread| thread.sleep == Sleep::Awake)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inspect::Thread;

    fn seen(pid: u32, used: u64, sleep: Sleep) -> Inspection {
        let thread = Thread { tid: pid, sleep, call: Known::Unknown(Why::Refused), runs: Known::Unknown(Why::Refused) };
        let process = Process {
            id: ProcessId { pid, start: 1 },
            parent: 1,
            group: pid,
            session: 1,
            controlling: None,
            in_front: true,
            name: "program".to_owned(),
            stopped: false,
            traced: false,
            used,
            owner: Known::Unknown(Why::Refused),
            user: None,
            carrier: None,
            armed: false,
            scripted: false,
            files: Known::Unknown(Why::Refused),
            threads: Known::Known(vec![thread]),
        };
        Inspection { front: Known::Known(vec![process]), ..Inspection::unknown(Why::NotAsked) }
    }

    /// Looks every 50 ms for as long, and what they come to.
    fn after(milliseconds: u64, mut host: impl FnMut(u64) -> Inspection) -> AtWork {
        let mut looks = WorkLooks::default();
        let at = |ms: u64| Now(ms * 1000);
        (0..=milliseconds).step_by(50).for_each(|ms| looks.look(at(ms), &Judgement::Works, &host(ms)));
        looks.so_far(at(milliseconds))
    }

    fn asleep() -> Sleep {
        Sleep::In("hrtimer_nanosleep".to_owned())
    }

    #[test]
    fn who_sleeps_in_something_else_works() {
        assert_eq!(after(200, |_| seen(7, 0, asleep())), AtWork::Surely);
        assert_eq!(after(150, |_| seen(7, 0, asleep())), AtWork::Perhaps(Now(2_000_000)), "not yet");
    }

    #[test]
    fn who_computes_works() {
        assert_eq!(after(200, |ms| seen(7, ms / 30, Sleep::Awake)), AtWork::Surely, "on a third of a processor");
        assert_eq!(after(200, |ms| seen(7, ms / 190, Sleep::Awake)), AtWork::Perhaps(Now(2_000_000)));
        assert_eq!(after(500, |ms| seen(7, ms / 190, Sleep::Awake)), AtWork::Untold, "it waits for a processor");
    }

    #[test]
    fn who_starts_one_after_the_other_works() {
        let pid = |ms: u64| 7 + u32::try_from(ms).unwrap_or(0);
        assert_eq!(after(200, |ms| seen(pid(ms), 0, Sleep::Awake)), AtWork::Surely);
    }

    #[test]
    fn a_moment_with_nobody_in_front_is_no_end_of_work() {
        let come_to = |nobody: &[u64]| {
            let mut looks = WorkLooks::default();
            for ms in (0..=400).step_by(50) {
                let why = Why::NobodyInFront;
                let judgement = if nobody.contains(&ms) { Judgement::Unknown(why) } else { Judgement::Works };
                looks.look(Now(ms * 1000), &judgement, &seen(7, 0, asleep()));
            }
            looks.so_far(Now(400_000))
        };
        assert_eq!(come_to(&[350]), AtWork::Surely);
        assert_eq!(come_to(&[350, 400]), AtWork::Untold);
    }

    #[test]
    fn one_look_that_sees_it_wait_is_enough() {
        let mut looks = WorkLooks::default();
        for ms in (0..=400).step_by(50) {
            let judgement = if ms == 250 { Judgement::Unknown(Why::SeveralThings) } else { Judgement::Works };
            looks.look(Now(ms * 1000), &judgement, &seen(7, 0, asleep()));
        }
        assert_eq!(looks.so_far(Now(400_000)), AtWork::Perhaps(Now(2_300_000)));
    }
}
