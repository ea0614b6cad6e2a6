//! What a wait channel says of what a thread waits for.
//!
//! The names are the kernel's own function names, as measured on 5.10 to 6.18 (x86_64) and 6.1 (aarch64); older names
//! stand beside the newer ones.

/// What a wait channel can mean for a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meaning {
    /// A read of a terminal, but also of a TCP socket, or a write to a terminal that was stopped.
    Read,
    /// `poll` or `select`, of anything or nothing.
    Poll,
    /// An epoll list, which can be read.
    Epoll,
    /// A ring of requests.
    Ring,
    /// A read of a pipe, or a write to one that is full.
    Pipe,
    /// A time to pass.
    Time,
    /// Something else that is never a terminal.
    NoTerminal,
    /// A name that is none of these.
    Other,
}

const READ: &[&str] = &["wait_woken", "n_tty_read", "tty_read"];

const POLL: &[&str] =
    &["poll_schedule_timeout", "do_sys_poll", "do_poll", "do_select", "core_sys_select", "do_compat_select"];

const EPOLL: &[&str] = &["do_epoll_wait", "ep_poll"];

const RING: &[&str] = &["io_cqring_wait", "__io_cqring_wait"];

/// Beginnings of names.
const PIPE: &[&str] = &["pipe_read", "anon_pipe_read", "pipe_write", "anon_pipe_write", "pipe_wait"];

const TIME: &[&str] = &["hrtimer_nanosleep", "do_nanosleep"];

/// Beginnings of the other names under which most threads of most programs sleep: asking what call they are in would cost
/// as much as everything else together.
const NO_TERMINAL: &[&str] = &[
    "futex_",
    "do_wait",
    "do_signal_stop",
    "do_sigtimedwait",
    "sigsuspend",
    "__do_sys_pause",
    "unix_stream_",
    "unix_wait_",
    "inet_csk_accept",
    "sk_wait_data",
    "locks_lock_",
    "flock_lock_",
    "folio_wait_",
    "io_schedule",
    "jbd2_",
    "ptrace_stop",
];

impl Meaning {
    /// What a channel means; what a compiler appends after a dot must be gone.
    #[must_use]
    pub fn of(channel: &str) -> Self {
        let is = |names: &[&str]| names.contains(&channel);
        let begins = |names: &[&str]| names.iter().any(|name| channel.starts_with(name));
        if is(READ) {
            Self::Read
        } else if is(POLL) {
            Self::Poll
        } else if is(EPOLL) {
            Self::Epoll
        } else if is(RING) {
            Self::Ring
        } else if begins(PIPE) {
            Self::Pipe
        } else if begins(TIME) {
            Self::Time
        } else if begins(NO_TERMINAL) {
            Self::NoTerminal
        } else {
            Self::Other
        }
    }

    /// Whether a thread that sleeps there waits for another one of its process, or for nothing.
    #[must_use]
    pub fn is_of_threads(channel: &str) -> bool {
        channel.starts_with("futex_")
    }

    /// Whether reading the call itself can tell more.
    #[must_use]
    pub const fn worth_asking(self) -> bool {
        !matches!(self, Self::Pipe | Self::Time | Self::NoTerminal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_agree() {
        for (names, meaning) in [
            (READ, Meaning::Read),
            (POLL, Meaning::Poll),
            (EPOLL, Meaning::Epoll),
            (RING, Meaning::Ring),
            (PIPE, Meaning::Pipe),
            (TIME, Meaning::Time),
            (&["futex_wait_queue", "futex_do_wait", "do_wait"][..], Meaning::NoTerminal),
            // A restarted sleep: its call tells, its channel does not.
            (&["do_syscall_64", "__arm64_sys_restart_syscall", "devkmsg_read"][..], Meaning::Other),
        ] {
            for name in names {
                assert_eq!(Meaning::of(name), meaning, "{name}");
            }
        }
    }
}
