//! The regions of a session that are kept in memory: all open ones, and the last closed ones.

use std::collections::VecDeque;

use super::{Kind, Region, State, label};
use crate::time::Wall;

/// Closed regions kept. Older ones stand in `regions.jsonl` and are read from there.
pub const CLOSED_MAX: usize = 1000;

/// What is known of a region when it begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Opening {
    pub(crate) kind: Kind,
    pub(crate) label: String,
    pub(crate) first_line: u64,
    pub(crate) raw_start: u64,
    pub(crate) started: Wall,
}

/// How a region ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Closing {
    pub(crate) state: State,
    pub(crate) exit: Option<i32>,
    /// The number of lines settled in the session, which is that of the region's last line.
    pub(crate) settled: u64,
    pub(crate) raw_end: u64,
    pub(crate) ended: Wall,
}

/// The regions, in the order of their numbers.
#[derive(Debug, Clone, Default)]
pub struct Regions {
    kept: VecDeque<Region>,
    /// The open ones, outermost first.
    open: Vec<u32>,
    last: u32,
}

impl Regions {
    /// Begins a region inside those that are open.
    pub(crate) fn open(&mut self, opening: Opening) -> &mut Region {
        self.last += 1;
        let depth = u32::try_from(self.open.len()).unwrap_or(u32::MAX);
        self.open.push(self.last);
        self.kept.push_back(Region {
            id: self.last,
            kind: opening.kind,
            label: label(opening.label),
            state: State::Running,
            exit: None,
            pipestatus: Vec::new(),
            first_line: opening.first_line,
            lines: 0,
            left: Vec::new(),
            raw_start: opening.raw_start,
            raw_end: None,
            cwd: None,
            place: None,
            shell: None,
            depth,
            started: opening.started,
            ended: None,
            actor: None,
        });
        let at = self.kept.len() - 1;
        &mut self.kept[at]
    }

    /// Ends an open region; `None` where it is not open.
    pub(crate) fn close(&mut self, id: u32, closing: Closing) -> Option<&mut Region> {
        self.open.retain(|&open| open != id);
        let region = self.get_mut(id).filter(|region| region.state == State::Running)?;
        region.state = closing.state;
        region.exit = closing.exit;
        region.lines = (closing.settled + 1).saturating_sub(region.first_line);
        region.raw_end = Some(closing.raw_end);
        region.ended = Some(closing.ended);
        self.forget();
        self.get_mut(id)
    }

    fn forget(&mut self) {
        while self.kept.len() - self.open.len() > CLOSED_MAX {
            let Some(oldest) = self.kept.iter().position(|region| region.state != State::Running) else { return };
            self.kept.remove(oldest);
        }
    }

    /// The open regions' numbers, outermost first.
    pub(crate) fn open_ids(&self) -> &[u32] {
        &self.open
    }

    /// A region by its number; none where there is none, or it is no longer kept.
    #[must_use]
    pub fn get(&self, id: u32) -> Option<&Region> {
        let at = self.kept.binary_search_by_key(&id, |region| region.id).ok()?;
        self.kept.get(at)
    }

    /// As [`Self::get`], to change.
    pub fn get_mut(&mut self, id: u32) -> Option<&mut Region> {
        let at = self.kept.binary_search_by_key(&id, |region| region.id).ok()?;
        self.kept.get_mut(at)
    }

    /// All that are kept, by number.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Region> + ExactSizeIterator {
        self.kept.iter()
    }

    /// The innermost open region.
    #[must_use]
    pub fn innermost(&self) -> Option<&Region> {
        self.get(*self.open.last()?)
    }
}
