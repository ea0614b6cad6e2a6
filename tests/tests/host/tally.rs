//! How many situations were told rightly, tier by tier.

use std::fmt::Write as _;
use std::sync::{Mutex, PoisonError};

/// How much of a process is to be seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tier {
    /// Everything: the calls of its threads and their wait channels.
    Calls,
    /// The same on a kernel whose wait channels read `0`.
    CallsAlone,
    /// What Yama leaves at scope 1.
    Channels,
    /// The same with wait channels that read `0`.
    Neither,
}

const TIERS: [Tier; 4] = [Tier::Calls, Tier::CallsAlone, Tier::Channels, Tier::Neither];

/// Of the working ones, at most one in this many may be said to wait where calls are not to be read.
const FALSE_ALARMS: usize = 10;

/// Fewer working situations than this (a run of some rows only) say nothing of a share.
const ENOUGH: usize = 30;

impl Tier {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Calls => "calls",
            Self::CallsAlone => "calls without wait channels",
            Self::Channels => "wait channels",
            Self::Neither => "neither",
        }
    }
}

static SEEN: Mutex<Vec<(Tier, &str, &str)>> = Mutex::new(Vec::new());

/// What a situation is, and what it was said to be.
pub(crate) fn count(tier: Tier, truth: &'static str, verdict: &'static str) {
    SEEN.lock().unwrap_or_else(PoisonError::into_inner).push((tier, truth, verdict));
}

fn working(tier: Tier) -> (usize, usize) {
    let seen = SEEN.lock().unwrap_or_else(PoisonError::into_inner);
    let working = seen.iter().filter(|(of, truth, _)| *of == tier && *truth == "works");
    let called = working.clone().filter(|(_, _, verdict)| matches!(*verdict, "waits" | "hidden" | "busy"));
    (called.count(), working.count())
}

/// Whether few enough of those that work are said to wait.
pub(crate) fn holds() -> bool {
    let (called, all) = working(Tier::Channels);
    all < ENOUGH || called * FALSE_ALARMS <= all
}

/// The numbers, a line for each tier.
pub(crate) fn told() -> String {
    let mut text = String::new();
    for tier in TIERS {
        let (called, works) = working(tier);
        let seen = SEEN.lock().unwrap_or_else(PoisonError::into_inner);
        let of = || seen.iter().filter(|(of, _, _)| *of == tier);
        let told = |verdict: &str| !matches!(verdict, "unknown" | "carrier");
        let right = of().filter(|(_, truth, verdict)| truth == verdict && *verdict != "unknown").count();
        let wrong = of().filter(|(_, truth, verdict)| truth != verdict && told(verdict)).count();
        let all = of().count();
        let open = all - right - wrong;
        let name = tier.name();
        writeln!(text, "{name}: {all} situations, {right} right, {open} left open, {wrong} wrong; of {works} at work {called} said to wait").unwrap();
    }
    text
}
