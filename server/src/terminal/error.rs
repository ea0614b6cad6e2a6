//! What can go wrong between us and tmux, in words that say what holds and what to do next.

use dtmcp_core::text::visible::quoted;
use std::fmt;
use std::io;

/// A request to the terminal that did not succeed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TerminalError {
    /// There is no `tmux` on PATH.
    Missing,
    /// The `tmux` on PATH is older than what is needed; its version.
    TooOld(String),
    /// The `tmux` on PATH and the running server do not understand each other; what tmux said.
    Skew(String),
    /// The socket, or the directory it stands in, cannot be used; what tmux said.
    Socket(String),
    /// No tmux server is running.
    NoServer,
    /// tmux did not answer in time.
    NoAnswer,
    /// The tmux server ended while we waited for it.
    Died,
    /// A session of this name is there, and it may be anyone's.
    NameTaken(String),
    /// The pane is not there any more.
    Gone,
    /// The pane's program has ended, so nothing can be typed.
    Dead,
    /// The cursor is not where it has to be, so nothing was typed.
    Moved,
    /// A person has pressed a key since: nothing was typed.
    Pressed,
    /// The directory to start in is not one.
    NoDirectory(String),
    /// tmux refused; what it said.
    Refused(String),
    /// The operating system refused.
    Io(String),
}

impl fmt::Display for TerminalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => f.write_str(
                "tmux is not installed, or not on the PATH of this server. Install tmux 3.2 or newer (on Debian: apt \
                 install tmux) and try again; nothing else is needed.",
            ),
            Self::TooOld(found) => write!(
                f,
                "the tmux on PATH is {found}, and 3.2 or newer is needed. Upgrade it, or put a newer one first on the \
                 PATH of this server."
            ),
            Self::Skew(said) => write!(
                f,
                "the tmux on PATH and the running tmux server do not fit together, probably because tmux was upgraded \
                 (tmux says: {said}). The sessions are still there: a client that fits can be run as /proc/PID/exe, \
                 with the server's PID. Or end them and start afresh."
            ),
            Self::Socket(said) => write!(
                f,
                "tmux cannot use its socket: {said}. Its directory has to be yours alone (mode 0700) and its path \
                 short (under 108 bytes); TMUX_TMPDIR says where it goes."
            ),
            Self::NoServer => f.write_str(
                "no tmux server is running, so no session is open. Logs of earlier sessions can still be read; \
                 session_create starts a new server.",
            ),
            Self::NoAnswer => f.write_str(
                "tmux does not answer; it may be stopped (SIGSTOP) or the machine overloaded. Nothing was typed. Its \
                 sessions and their logs are still there; try again once it runs (kill -CONT).",
            ),
            Self::Died => f.write_str(
                "the tmux server ended, and all its sessions with it. Their logs up to that moment can still be read; \
                 session_create starts a new server.",
            ),
            Self::NameTaken(name) => write!(
                f,
                "tmux has a session named {name} already, and it is not one that this server made. Choose another \
                 name.",
                name = quoted(name)
            ),
            Self::Gone => {
                f.write_str("the session's pane is gone: it was closed, or tmux was. Its log can still be read.")
            }
            Self::Pressed => f.write_str("nothing was typed: somebody has pressed a key there. Try again."),
            Self::Moved => f.write_str("nothing was typed: the cursor is not where it was. Try again."),
            Self::Dead => f.write_str(
                "the session's program has ended, so nothing can be typed. Its log and last screen can still be read; \
                 session_close removes it.",
            ),
            Self::NoDirectory(path) => write!(f, "{path} is not a directory that can be entered."),
            Self::Refused(said) => write!(f, "tmux refused: {said}"),
            Self::Io(said) => write!(f, "tmux could not be asked: {said}"),
        }
    }
}

impl std::error::Error for TerminalError {}

impl From<io::Error> for TerminalError {
    fn from(error: io::Error) -> Self {
        Self::Io(error.to_string())
    }
}

impl TerminalError {
    /// Whether it says that the pane is no more, alone or with its server.
    pub(crate) fn is_gone(&self) -> bool {
        matches!(self, Self::Gone | Self::NoServer | Self::Died)
    }

    /// What a tmux client that could not connect, or that lost its server, meant by what it printed.
    pub(super) fn from_client(said: &str) -> Self {
        let said = said.trim().to_owned();
        let has = |words: &[&str]| words.iter().any(|word| said.contains(word));
        if has(&["too old for client", "protocol version mismatch", "too new for"]) {
            Self::Skew(said)
        } else if has(&["unsafe permissions", "is not a directory", "couldn't create directory", "too long"])
            || has(&["couldn't read directory", "Permission denied"])
        {
            Self::Socket(said)
        } else if has(&["no server running", "error connecting to"]) {
            Self::NoServer
        } else if said.is_empty() || has(&["server exited", "lost server", "terminated"]) {
            Self::Died
        } else {
            Self::Refused(said)
        }
    }

    /// What tmux meant by an answer to a command.
    pub(super) fn from_command(said: &str) -> Self {
        match said.strip_prefix("duplicate session: ") {
            Some(name) => Self::NameTaken(name.to_owned()),
            None if said.starts_with("can't find ") => Self::Gone,
            None => Self::Refused(said.to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_tmux_prints_is_understood() {
        let said = TerminalError::from_client;
        assert_eq!(said("no server running on /tmp/tmux-0/x\n"), TerminalError::NoServer);
        assert_eq!(said("error connecting to /tmp/tmux-0/x (No such file or directory)"), TerminalError::NoServer);
        assert!(matches!(said("error creating /tmp/y (File name too long)"), TerminalError::Socket(_)));
        assert!(matches!(said("directory /tmp/tmux-0 has unsafe permissions"), TerminalError::Socket(_)));
        assert!(matches!(said("server version is too old for client"), TerminalError::Skew(_)));
        assert_eq!(said("server exited unexpectedly"), TerminalError::Died);
        assert_eq!(TerminalError::from_command("duplicate session: a b"), TerminalError::NameTaken("a b".to_owned()));
        assert_eq!(TerminalError::from_command("can't find pane: %7"), TerminalError::Gone);
    }
}
