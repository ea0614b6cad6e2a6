//! How many files the server may have open: more than what shells start with, which they get back.
//!
//! A session takes a handful of descriptors and a connection one. The usual soft limit of 1,024 is soon used up, and
//! exists for programs that take a descriptor's number for an index; those run in the sessions.

use std::sync::OnceLock;

use nix::sys::resource::{Resource, getrlimit, setrlimit};

/// What is enough for all sessions and connections there may be, several times over.
const ENOUGH: u64 = 16_384;

/// The soft limit before it was raised.
static BEFORE: OnceLock<u64> = OnceLock::new();

/// Raises the soft limit as far as the hard one and what is enough allow. Where it cannot be, the server works with what
/// it has, and says of what it cannot open that it cannot.
pub fn raise() {
    let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_NOFILE) else { return };
    let wanted = hard.min(ENOUGH);
    if soft >= wanted {
        return;
    }
    match setrlimit(Resource::RLIMIT_NOFILE, wanted, hard) {
        Ok(()) => drop(BEFORE.set(soft)),
        Err(error) => tracing::warn!(%error, "only {soft} files can be open at a time"),
    }
}

/// What programs in sessions are to have, where it is not what the server has.
#[must_use]
pub fn before() -> Option<u64> {
    BEFORE.get().copied()
}
