//! The requests of waiting calls, as a client's arguments make them.

use std::time::Duration;

use dtmcp_core::call::{Run, Send, Shape, Signal, Wait, Waiting};
use dtmcp_core::keys::Key;
use dtmcp_core::pattern::Pattern;

/// A `run`, changed as told.
#[must_use]
pub fn run(line: &str, change: impl FnOnce(&mut Run)) -> Waiting {
    let mut run = Run {
        session: None,
        lines: line.split('\n').map(str::to_owned).collect(),
        timeout: Duration::from_secs(30),
        until: None,
        shape: Shape::default(),
        prompt_pattern: None,
    };
    change(&mut run);
    Waiting::Run(run)
}

/// A `run` with a timeout in seconds, and an `until` where one is given.
#[must_use]
pub fn run_for(line: &str, timeout: f64, until: &str) -> Waiting {
    run(line, |run| {
        run.timeout = Duration::from_secs_f64(timeout);
        run.until = Pattern::new(until).ok().filter(|_| !until.is_empty());
    })
}

/// A `send` of text and keys.
///
/// # Panics
/// Where a key has no such name.
#[must_use]
pub fn send(text: &str, keys: &[&str]) -> Waiting {
    let keys = keys.iter().flat_map(|key| Key::parse(key).expect("a key of that name")).collect();
    let settle = Duration::from_millis(300);
    Waiting::Send(Send { session: None, text: text.to_owned(), keys, signal: None, screen: Default::default(), settle })
}

/// A `send` of a signal.
#[must_use]
pub fn signal(signal: Signal) -> Waiting {
    let settle = Duration::from_millis(300);
    let (text, keys) = (String::new(), Vec::new());
    Waiting::Send(Send { session: None, text, keys, signal: Some(signal), screen: Default::default(), settle })
}

/// A `wait`, with an `until` where one is given.
#[must_use]
pub fn wait(timeout: f64, until: Option<&str>) -> Waiting {
    Waiting::Wait(Wait {
        session: None,
        timeout: Duration::from_secs_f64(timeout),
        until: until.and_then(|until| Pattern::new(until).ok()),
        shape: Shape::default(),
    })
}
