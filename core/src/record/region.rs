//! `regions.jsonl`: one line per change of a region; the last line of an id holds.

use serde::{Deserialize, Serialize};

use crate::region::{Kind, Left, Place, Region, ShellId, State};
use crate::time::Wall;

/// The version of this format.
const VERSION: u32 = 1;

/// One region as it stood when the line was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RegionRecord {
    v: u32,
    id: u32,
    kind: String,
    label: String,
    state: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    exit: Option<i32>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pipestatus: Vec<i32>,
    first_line: u64,
    lines: u64,
    /// Raw offset, process id and Unix milliseconds of each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    left: Vec<(u64, u32, u64)>,
    raw_start: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    raw_end: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cwd: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    host: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    user: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    container: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    shell_host: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    shell_pid: Option<u32>,
    #[serde(default)]
    depth: u32,
    /// Unix milliseconds.
    started: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ended: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    actor: Option<String>,
}

impl RegionRecord {
    /// The record of a region.
    #[must_use]
    pub fn of(region: &Region) -> Self {
        Self {
            v: VERSION,
            id: region.id,
            kind: match region.kind {
                Kind::Command => "command",
                Kind::Input => "input",
            }
            .to_owned(),
            label: region.label.clone(),
            state: match region.state {
                State::Running => "running",
                State::Finished => "finished",
                State::Lost => "lost",
            }
            .to_owned(),
            exit: region.exit,
            pipestatus: region.pipestatus.clone(),
            first_line: region.first_line,
            lines: region.lines,
            left: region.left.iter().map(|left| (left.at, left.pid, left.wall.0)).collect(),
            raw_start: region.raw_start,
            raw_end: region.raw_end,
            cwd: region.cwd.clone(),
            host: region.place.as_ref().map(|place| place.host.clone()),
            user: region.place.as_ref().map(|place| place.user.clone()),
            container: region.place.as_ref().and_then(|place| place.container.clone()),
            shell_host: region.shell.as_ref().map(|shell| shell.host.clone()),
            shell_pid: region.shell.as_ref().map(|shell| shell.pid),
            depth: region.depth,
            started: region.started.0,
            ended: region.ended.map(|wall| wall.0),
            actor: region.actor.clone(),
        }
    }

    /// The region of a record; none where its version or one of its words is unknown.
    #[must_use]
    pub fn region(self) -> Option<Region> {
        if self.v != VERSION {
            return None;
        }
        Some(Region {
            id: self.id,
            kind: match self.kind.as_str() {
                "command" => Kind::Command,
                "input" => Kind::Input,
                _ => return None,
            },
            label: self.label,
            state: match self.state.as_str() {
                "running" => State::Running,
                "finished" => State::Finished,
                "lost" => State::Lost,
                _ => return None,
            },
            exit: self.exit,
            pipestatus: self.pipestatus,
            first_line: self.first_line,
            lines: self.lines,
            left: self.left.into_iter().map(|(at, pid, wall)| Left { at, pid, wall: Wall(wall) }).collect(),
            raw_start: self.raw_start,
            raw_end: self.raw_end,
            cwd: self.cwd,
            place: self.host.zip(self.user).map(|(host, user)| Place { host, user, container: self.container }),
            shell: self.shell_host.zip(self.shell_pid).map(|(host, pid)| ShellId { host, pid }),
            depth: self.depth,
            started: Wall(self.started),
            ended: self.ended.map(Wall),
            actor: self.actor,
        })
    }

    /// Reads a whole file: the last line of each id, in order of id. A torn last line, and lines of unknown
    /// versions, are passed over: what they said is derived from the raw log again.
    #[must_use]
    pub fn read_all(text: &str) -> Vec<Region> {
        let mut regions = std::collections::BTreeMap::new();
        for line in text.lines() {
            if let Some(region) = serde_json::from_str::<Self>(line).ok().and_then(Self::region) {
                regions.insert(region.id, region);
            }
        }
        regions.into_values().collect()
    }
}
