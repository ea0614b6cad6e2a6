//! What Linux's `/proc` tells of the processes at a terminal, as values for the core to judge.
//!
//! Reads, and decides nothing. Works for one's own processes and, as root, for everybody's; what may not be read is
//! unknown with the reason. Nothing here traces, stops or signals a process.

#![forbid(unsafe_code)]

mod files;
mod process;
mod small;
mod tasks;
mod terminal;
mod tree;

use std::sync::Arc;

use dtmcp_core::inspect::{
    FdProbe, FileKind, InnerTerminal, Inspection, Inspector, Known, Look, PaneTerminal, Process, ProcessId, Why,
};
use dtmcp_core::waiting::{needs_below, needs_elsewhere};
use procfs::process::Stat;

use terminal::Terminal;

/// The inspector of a Linux system.
#[derive(Debug, Clone)]
pub struct LinuxProc {
    reader: process::Reader,
}

impl Default for LinuxProc {
    fn default() -> Self {
        Self::new()
    }
}

impl LinuxProc {
    /// One that needs no rights beyond reading: wait channels, open descriptors, epoll lists, terminal modes.
    #[must_use]
    pub const fn new() -> Self {
        Self { reader: process::Reader { channels: true, probe: None } }
    }

    /// The same, which asks a probe for the calls that threads sleep in.
    #[must_use]
    pub fn with_probe(self, probe: Arc<dyn FdProbe>) -> Self {
        Self { reader: process::Reader { probe: Some(probe), ..self.reader } }
    }

    /// The same for a kernel whose wait channels all read `0` (x86 from 4.14 to 5.15 with the ORC unwinder): it does
    /// not read them.
    #[must_use]
    pub fn without_channels(self) -> Self {
        Self { reader: process::Reader { channels: false, ..self.reader } }
    }

    fn look(&self, pane: &PaneTerminal, look: Look) -> Result<Inspection, Why> {
        let root = process::stat(pane.pid).map_err(|error| why(&error))?;
        let opened = Terminal::of_pane(pane, root.tty_nr);
        let mut inspection = Inspection::unknown(Why::NotAsked);
        match opened {
            Ok(terminal) => {
                inspection.terminal = Known::Known(terminal.file);
                inspection.modes = terminal.modes;
                inspection.unread = terminal.unread;
            }
            Err(why) => {
                (inspection.terminal, inspection.modes) = (Known::Unknown(why), Known::Unknown(why));
                inspection.unread = Known::Unknown(why);
            }
        }
        let Ok(group) = u32::try_from(root.tpgid) else {
            inspection.front = Known::Unknown(Why::NobodyInFront);
            return Ok(inspection);
        };
        let family = tree::family(root, group);
        let (front, below) = tree::split(&family, group);
        // Where somebody was stopped, it matters what everybody else waits for.
        let closely = front.iter().chain(&below).any(|stat| stat.state == 'T');
        let all = |stats: &[&Stat]| stats.iter().filter_map(|stat| self.reader.process(stat, closely)).collect();
        inspection.front = Known::Known(all(&front));
        inspection.above = tree::above(&family, front.first().copied());
        if needs_below(&inspection) {
            let below: Vec<Process> = all(&below);
            inspection.inner = inner(&inspection, &below);
            inspection.below = Known::Known(below);
        }
        if needs_elsewhere(&inspection, look) {
            inspection.elsewhere = self.elsewhere(&inspection, &family);
        }
        inspection.refusal = self.reader.probe.as_ref().and_then(|probe| probe.refusal());
        Ok(inspection)
    }

    /// Processes of other sessions that hold the pane's terminal. The pane's own session cannot have any that watch it
    /// unnoticed, and the process that started the pane's (the multiplexer) holds the other side.
    fn elsewhere(&self, inspection: &Inspection, family: &[Stat]) -> Known<Vec<Process>> {
        let (Known::Known(terminal), Some(root)) = (&inspection.terminal, family.first()) else {
            return Known::Unknown(Why::NotAsked);
        };
        let ours = std::process::id();
        let apart = |stat: &Stat| {
            stat.session != root.session
                && stat.pid != root.ppid
                && u32::try_from(stat.pid) != Ok(ours)
                && !inspection.processes().any(|process| u32::try_from(stat.pid) == Ok(process.id.pid))
        };
        let stats = match tree::everybody() {
            Ok(stats) => stats,
            Err(error) => return Known::Unknown(why(&error)),
        };
        let holders = stats.iter().filter(|stat| apart(stat) && files::leads_to(stat.pid, terminal));
        Known::Known(holders.filter_map(|stat| self.reader.process(stat, false)).collect())
    }
}

impl Inspector for LinuxProc {
    fn inspect(&self, terminal: &PaneTerminal, look: Look) -> Inspection {
        self.look(terminal, look).unwrap_or_else(Inspection::unknown)
    }
}

/// Whether a process is still the one that it was, in this process group, and the group in front at its terminal.
#[must_use]
pub fn in_front(process: ProcessId, group: u32) -> bool {
    let is = |number: i32| u32::try_from(number) == Ok(group);
    let still = |stat: &Stat| stat.starttime == process.start && is(stat.pgrp) && is(stat.tpgid);
    process::stat(process.pid).is_ok_and(|stat| still(&stat))
}

/// A chain of parents is followed this far up. Nobody nests that deep, and a limit ends a chain that changes meanwhile.
const GENERATIONS_MAX: u32 = 1000;

/// A chain that breaks because a parent ended just then is begun anew this often.
const BROKEN_MAX: u32 = 3;

/// Whether a process is still the one that it was, and descends from another one of this process id.
#[must_use]
pub fn is_below(process: ProcessId, ancestor: u32) -> bool {
    (0..BROKEN_MAX).find_map(|_| descends(process, ancestor)).unwrap_or(false)
}

/// None where somebody in between ended while we looked: the orphan has another parent by now.
fn descends(process: ProcessId, ancestor: u32) -> Option<bool> {
    let Ok(stat) = process::stat(process.pid) else { return Some(false) };
    if stat.starttime != process.start {
        return Some(false);
    }
    let mut parent = u32::try_from(stat.ppid).unwrap_or(0);
    for _ in 0..GENERATIONS_MAX {
        if parent == ancestor || parent == 0 {
            return Some(parent == ancestor);
        }
        parent = u32::try_from(process::stat(parent).ok()?.ppid).unwrap_or(0);
    }
    Some(false)
}

/// The terminals whose master side a process in the pane has, by way of a descriptor that leads to them: their names
/// may mean another terminal where that process runs.
fn inner(inspection: &Inspection, below: &[Process]) -> Vec<InnerTerminal> {
    let files = |process: &Process| process.files.known().cloned().unwrap_or_default();
    let all = || inspection.processes().chain(below);
    let numbers: Vec<u32> = all()
        .flat_map(files)
        .filter_map(|file| match file.kind {
            FileKind::Master(Known::Known(number)) => Some(number),
            _ => None,
        })
        .collect();
    let mut found: Vec<InnerTerminal> = Vec::new();
    for process in below {
        for file in files(process) {
            let FileKind::Terminal(device) = file.kind else { continue };
            let pane = inspection.terminal.known().map(|terminal| terminal.inode);
            let known = found.iter().any(|inner| inner.number == device.minor);
            if numbers.contains(&device.minor) && !known && Some(file.inode) != pane {
                found.extend(Terminal::inside(process.id.pid, file.fd, device.minor));
            }
        }
    }
    found
}

/// Why something could not be read.
fn why(error: &std::io::Error) -> Why {
    match error.kind() {
        std::io::ErrorKind::PermissionDenied => Why::Refused,
        _ => Why::Gone,
    }
}
