//! Numbers of connections, which make agents of one name distinct.
//!
//! A number is never given out twice in a state directory, because what is kept for an agent (text it left on a line,
//! what it has not been told) would fall to a stranger. A bridge that comes back after a restart asks for the one it
//! had and is the same agent.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use crate::store::files;

#[derive(Debug)]
struct State {
    /// The highest that was given out.
    last: u64,
    /// Those whose connection is there.
    live: BTreeSet<u64>,
}

/// Gives out numbers.
#[derive(Debug)]
pub struct Numbers {
    /// Where the highest one is kept.
    path: PathBuf,
    state: Mutex<State>,
}

impl Numbers {
    /// Goes on from what stands in the file; where there is none, from 1.
    #[must_use]
    pub fn open(path: PathBuf) -> Arc<Self> {
        let kept = files::read(&path).ok();
        let last = kept.and_then(|text| String::from_utf8_lossy(&text).trim().parse().ok()).unwrap_or(0);
        Arc::new(Self { path, state: Mutex::new(State { last, live: BTreeSet::new() }) })
    }

    /// The number of a new connection: the one it had before the server was started anew, if nobody has it now.
    #[must_use]
    pub fn take(self: &Arc<Self>, before: Option<u64>) -> Arc<Number> {
        let mut state = self.lock();
        let value = match before {
            Some(before) if before <= state.last && !state.live.contains(&before) => before,
            _ => {
                state.last = state.last.saturating_add(1);
                if let Err(error) = files::replace(&self.path, format!("{}\n", state.last).as_bytes()) {
                    tracing::warn!(%error, "the number of a connection was not kept");
                }
                state.last
            }
        };
        state.live.insert(value);
        Arc::new(Number { numbers: Arc::clone(self), value })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A connection's number for as long as it lasts.
#[derive(Debug)]
pub struct Number {
    numbers: Arc<Numbers>,
    value: u64,
}

impl Number {
    /// The number.
    #[must_use]
    pub fn value(&self) -> u64 {
        self.value
    }
}

impl Drop for Number {
    fn drop(&mut self) {
        self.numbers.lock().live.remove(&self.value);
    }
}

/// A number that is taken when it is first asked for: most HTTP requests need none.
#[derive(Debug)]
pub struct LaterNumber {
    numbers: Arc<Numbers>,
    number: OnceLock<Arc<Number>>,
}

impl LaterNumber {
    /// One that has not been taken.
    #[must_use]
    pub fn new(numbers: Arc<Numbers>) -> Self {
        Self { numbers, number: OnceLock::new() }
    }

    /// The number.
    pub fn value(&self) -> u64 {
        self.number.get_or_init(|| self.numbers.take(None)).value()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

    use super::*;

    #[test]
    fn a_number_is_given_out_once_and_comes_back_to_who_had_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("connections");
        let numbers = Numbers::open(path.clone());
        let (one, two) = (numbers.take(None), numbers.take(None));
        assert_eq!((one.value(), two.value()), (1, 2));
        assert_eq!(numbers.take(Some(1)).value(), 3, "somebody has 1");
        drop(one);
        assert_eq!(numbers.take(None).value(), 4, "a stranger gets a new one");
        assert_eq!(numbers.take(Some(1)).value(), 1);
        assert_eq!(numbers.take(Some(99)).value(), 5, "nobody ever had 99");
        let again = Numbers::open(path);
        assert_eq!(again.take(Some(2)).value(), 2);
        assert_eq!(again.take(None).value(), 6);
    }
}
