//! What tmux's answers say: pure functions over the lines of a block.

use super::control::Block;
use super::{ServerId, TerminalError, Version, scrub};

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

pub(super) fn scrubbed_names(environment: &[Vec<u8>]) -> Vec<String> {
    let name = |line: &Vec<u8>| {
        let (name, _) = std::str::from_utf8(line).ok()?.split_once('=')?;
        let plain = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        (plain && scrub::is_scrubbed(name.as_ref())).then(|| name.to_owned())
    };
    environment.iter().filter_map(name).collect()
}
