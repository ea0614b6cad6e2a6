//! Being asked to stop.

use std::task::Poll;

use nix::sys::signal::Signal;
use tokio::signal::unix::{SignalKind, signal};

/// What asks: a service manager, a person's ctrl+c, and the end of the terminal that a person started the server in.
const ASKING: [Signal; 3] = [Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP];

/// Ends when someone asks the process to stop, from the moment of the call: who is told that a server is ready may ask it
/// to stop at once. To be called inside the runtime.
///
/// A signal that whoever started us had us ignore is left so: `nohup` does with SIGHUP, and a shell with SIGINT for what
/// a script starts in the background.
pub(super) fn asked() -> impl Future<Output = ()> + Send + 'static {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let heard = ASKING.into_iter().filter(|asks| !ignores(&status, *asks));
    let signals: Vec<_> = heard.filter_map(|asks| signal(SignalKind::from_raw(asks as i32)).ok()).collect();
    async move {
        let mut signals = signals;
        std::future::poll_fn(|context| {
            let asked = signals.iter_mut().any(|signal| signal.poll_recv(context).is_ready());
            if asked { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
    }
}

/// Whether a process with this `/proc/PID/status` ignores a signal: its line `SigIgn` is a set of bits in hexadecimal,
/// the lowest for signal 1.
fn ignores(status: &str, which: Signal) -> bool {
    let line = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let set = line.and_then(|set| u64::from_str_radix(set.trim(), 16).ok()).unwrap_or(0);
    set >> (which as i32 - 1) & 1 == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_ignored_stands_in_the_status() {
        let status = "Name:\tdtmcp\nSigBlk:\t0000000000000003\nSigIgn:\t0000000000001001\nSigCgt:\t0000000000000002\n";
        assert!(
            ignores(status, Signal::SIGHUP) && !ignores(status, Signal::SIGINT) && !ignores(status, Signal::SIGTERM)
        );
        assert!(!ignores("", Signal::SIGHUP));
    }
}
