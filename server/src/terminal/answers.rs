//! What tmux's answers say: pure functions over the lines of a block.

use dtmcp_core::cooked::Size;
use dtmcp_core::time::Wall;

use super::control::Block;
use super::{PaneState, ServerId, TerminalError, Version, scrub};

/// A line of [`super::argv::panes`].
pub(super) struct ListedPane {
    pub(super) pane: u32,
    pub(super) session: String,
    pub(super) dead: bool,
    pub(super) name: String,
}

impl ListedPane {
    pub(super) fn parse(line: &str) -> Option<Self> {
        let mut words = line.splitn(4, ' ');
        let pane = words.next()?.strip_prefix('%')?.parse().ok()?;
        let session = words.next()?.to_owned();
        let dead = words.next()? == "1";
        let name = words.next().filter(|name| crate::store::is_session_name(name))?.to_owned();
        Some(Self { pane, session, dead, name })
    }
}

pub(super) fn strange(what: &str) -> TerminalError {
    TerminalError::Refused(format!("its answer to a question for {what} was not understood"))
}

pub(super) fn first_line(blocks: &[Block]) -> String {
    blocks
        .first()
        .and_then(|block| block.first())
        .map_or_else(String::new, |line| String::from_utf8_lossy(line).into_owned())
}

/// Pid, start and version out of the answer to [`super::argv::connected`].
pub(super) fn identity(block: &Block) -> Option<(ServerId, Option<Version>)> {
    let line = String::from_utf8_lossy(block.first()?).into_owned();
    let mut words = line.split(' ');
    let server = ServerId { pid: words.next()?.parse().ok()?, start: words.next()?.parse().ok()? };
    Some((server, words.next().and_then(Version::parse)))
}

/// How a pane stands, out of the first line of the answer to [`super::argv::state`]; `people` are attached to its session.
/// tmux 3.8 tells no process id of a pane whose program has ended.
pub(super) fn state(line: &str, people: u32) -> Option<PaneState> {
    let mut words = line.split(' ').skip(1);
    let mut flag = || words.next().map(|word| word == "1");
    let (dead, in_mode, synchronized) = (flag()?, flag()?, flag()?);
    let size = Size { cols: words.next()?.parse().ok()?, rows: words.next()?.parse().ok()? };
    let mut flag = || words.next().map(|word| word == "1");
    let (alternate, pipe) = (flag()?, flag()?);
    let pid = words.next()?.parse().ok();
    // A session that nobody was ever attached to has an activity as well: its beginning.
    let attached = !words.next()?.is_empty();
    let activity = words.next()?.parse::<u64>().ok().filter(|_| attached);
    let last_key = activity.map(|seconds| Wall(seconds.saturating_mul(1000)));
    let tty = words.next()?.into();
    Some(PaneState { dead, in_mode, synchronized, size, alternate, pipe, pid, tty, people, last_key })
}

pub(super) fn scrubbed_names(environment: &[Vec<u8>]) -> Vec<String> {
    let name = |line: &Vec<u8>| {
        let (name, _) = std::str::from_utf8(line).ok()?.split_once('=')?;
        let plain = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        (plain && scrub::is_scrubbed(name.as_ref())).then(|| name.to_owned())
    };
    environment.iter().filter_map(name).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn a_dead_pane_may_have_no_process_id() {
        let alive = state("%5 0 0 0 80 24 0 1 4711  1796064525 /dev/pts/2", 0).unwrap();
        assert_eq!((alive.dead, alive.pid, alive.pipe, alive.last_key), (false, Some(4711), true, None));
        let dead = state("%5 1 0 0 80 24 0 0  1796064520 1796064525 /dev/pts/2", 1).unwrap();
        assert_eq!((dead.dead, dead.pid, dead.pipe, dead.people), (true, None, false, 1));
        assert_eq!((dead.last_key, dead.tty.to_str()), (Some(Wall(1_796_064_525_000)), Some("/dev/pts/2")));
    }
}
