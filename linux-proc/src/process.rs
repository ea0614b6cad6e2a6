//! One process: who it is, what it has open, where its threads sleep.

use std::io;
use std::sync::Arc;

use dtmcp_core::inspect::{Call, Device, FdProbe, FileKind, Known, OpenFile, Process, ProcessId, Sleep, Thread, Why};
use dtmcp_core::place::runs_script;
use dtmcp_core::waiting::carrier::{Carrier, carrier};
use dtmcp_core::waiting::channel::Meaning;
use procfs::FromRead as _;
use procfs::process::Stat;

use crate::files::open_files;
use crate::tasks::Tasks;
use crate::{small, why};

/// A command line is looked at this far. Carriers' places stand near the beginning.
const COMMAND_MAX: usize = 64 * 1024;

/// An environment is looked through this far: the integration's code in it has 25 kB.
const ENVIRONMENT_MAX: usize = 256 * 1024;

/// How the names of the integration begin.
const OURS: &[u8] = b"__dtmcp_";

/// A line of `stat` has 52 numbers and a name of at most 64 bytes.
const STAT_MAX: usize = 4096;

/// `status` names the owner near its beginning.
const STATUS_MAX: usize = 1024;

/// Reads processes.
#[derive(Debug, Clone)]
pub(crate) struct Reader {
    pub(crate) channels: bool,
    pub(crate) probe: Option<Arc<dyn FdProbe>>,
}

/// The line of numbers that the kernel keeps of a process.
pub(crate) fn stat(pid: u32) -> io::Result<Stat> {
    parse(&small::read(&format!("/proc/{pid}/stat"), STAT_MAX)?)
}

fn parse(line: &[u8]) -> io::Result<Stat> {
    Stat::from_read(line).map_err(io::Error::other)
}

/// A terminal's number as `stat` has it; none where it is 0.
pub(crate) fn controlling(number: i32) -> Option<Device> {
    let bits = u32::from_ne_bytes(number.to_ne_bytes());
    // `new_encode_dev` of the kernel: eight low bits of the minor, twelve of the major, the rest of the minor.
    (bits != 0).then_some(Device { major: (bits >> 8) & 0xfff, minor: (bits & 0xff) | ((bits >> 12) & 0xf_ff00) })
}

impl Reader {
    /// Reads a process; none where it has ended. The threads of one that has no terminal are worth their price only
    /// where `closely` is asked for.
    pub(crate) fn process(&self, stat: &Stat, closely: bool) -> Option<Process> {
        let pid = u32::try_from(stat.pid).ok()?;
        let files = open_files(pid);
        if files == Known::Unknown(Why::Gone) {
            return None;
        }
        let id = ProcessId { pid, start: stat.starttime };
        let shown = |file: &OpenFile| {
            let terminal = matches!(file.kind, FileKind::Terminal(_) | FileKind::ControllingTerminal);
            terminal || matches!(file.kind, FileKind::Epoll(_) | FileKind::Master(_))
        };
        let threads = match &files {
            Known::Known(files) if closely || files.iter().any(shown) => self.threads(id),
            Known::Known(_) => Known::Unknown(Why::NotAsked),
            Known::Unknown(why) => Known::Unknown(*why),
        };
        let owner = owner(pid);
        let (carrier, scripted) = command_line(pid);
        Some(Process {
            id,
            parent: u32::try_from(stat.ppid).unwrap_or(0),
            group: u32::try_from(stat.pgrp).unwrap_or(0),
            session: u32::try_from(stat.session).unwrap_or(0),
            controlling: controlling(stat.tty_nr),
            in_front: stat.pgrp == stat.tpgid,
            name: stat.comm.clone(),
            stopped: stat.state == 'T',
            traced: stat.state == 't',
            used: stat.utime.saturating_add(stat.stime),
            user: owner.known().and_then(|uid| user(*uid)),
            owner,
            carrier,
            armed: stat.comm == "bash" && armed(pid),
            scripted,
            files,
            threads,
        })
    }

    fn threads(&self, process: ProcessId) -> Known<Vec<Thread>> {
        let read = Tasks::of(process.pid).and_then(|tasks| {
            let tids = tasks.ids()?;
            Ok(tids.into_iter().filter_map(|tid| self.thread(process, &tasks, tid)).collect())
        });
        read.map_or_else(|error| Known::Unknown(why(&error)), Known::Known)
    }

    /// One thread; none where it has ended.
    fn thread(&self, process: ProcessId, tasks: &Tasks, tid: u32) -> Option<Thread> {
        let sleep = self.sleep(tasks, tid)?;
        let meaning = match &sleep {
            Sleep::In(channel) => Meaning::of(channel),
            Sleep::Awake => Meaning::NoTerminal,
            Sleep::Untold => Meaning::Other,
        };
        if !meaning.worth_asking() {
            return Some(Thread { tid, sleep, call: Known::Known(Call::Other), runs: Known::Unknown(Why::NotAsked) });
        }
        let call = self.probe.as_ref().map_or(Known::Unknown(Why::NobodyLooks), |probe| probe.call(process, tid));
        Some(Thread { tid, sleep, call, runs: runs(tasks, tid) })
    }

    fn sleep(&self, tasks: &Tasks, tid: u32) -> Option<Sleep> {
        let channel = match tasks.text(tid, "wchan") {
            Ok(_) if !self.channels => None,
            Ok(text) => Some(text).filter(|text| text != "0"),
            // A kernel without names has no such file.
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => None,
            Err(_) => return None,
        };
        if let Some(channel) = channel {
            let name = channel.split('.').next().unwrap_or(&channel);
            return Some(Sleep::In(name.to_owned()));
        }
        // No channel: it runs, or where it sleeps is not told.
        let stat = parse(&tasks.read(tid, "stat", STAT_MAX).ok()?).ok()?;
        Some(match stat.state {
            'S' => Sleep::Untold,
            'T' => Sleep::In("do_signal_stop".to_owned()),
            't' => Sleep::In("ptrace_stop".to_owned()),
            _ => Sleep::Awake,
        })
    }
}

/// How often a thread was put on a processor: the third number of `schedstat`.
fn runs(tasks: &Tasks, tid: u32) -> Known<u64> {
    match tasks.text(tid, "schedstat") {
        Ok(text) => {
            let third = text.split_whitespace().nth(2).and_then(|number| number.parse().ok());
            third.map_or(Known::Unknown(Why::NobodyLooks), Known::Known)
        }
        Err(error) => Known::Unknown(why(&error)),
    }
}

/// The effective user id, which `status` shows for everybody's processes.
fn owner(pid: u32) -> Known<u32> {
    match small::read(&format!("/proc/{pid}/status"), STATUS_MAX) {
        Ok(bytes) => {
            let text = String::from_utf8_lossy(&bytes);
            let line = text.lines().find_map(|line| line.strip_prefix("Uid:"));
            let effective = line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok());
            effective.map_or(Known::Unknown(Why::Gone), Known::Known)
        }
        Err(error) => Known::Unknown(why(&error)),
    }
}

/// The name of a user, as the file of the system's own users has it; others (a directory service's) have none here.
fn user(uid: u32) -> Option<String> {
    let text = std::fs::read_to_string("/etc/passwd").ok()?;
    let named = |line: &str| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)?.parse() == Ok(uid)).then(|| name.to_owned())
    };
    text.lines().find_map(named)
}

/// The place a process's command line leads to, and whether it gives a shell something to run. The command line itself goes
/// no further than this.
fn command_line(pid: u32) -> (Option<Carrier>, bool) {
    let bytes = small::read(&format!("/proc/{pid}/cmdline"), COMMAND_MAX).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let words: Vec<&str> = text.strip_suffix('\0').unwrap_or(&text).split('\0').collect();
    (carrier(&words), runs_script(&words))
}

/// Whether a process was started with the integration's `PS0`, which `shell/integration.bash` says what for. The environment
/// itself goes no further than this.
fn armed(pid: u32) -> bool {
    let environment = small::read(&format!("/proc/{pid}/environ"), ENVIRONMENT_MAX).unwrap_or_default();
    let ours = |value: &[u8]| value.windows(OURS.len()).any(|text| text == OURS);
    environment.split(|&byte| byte == 0).filter_map(|entry| entry.strip_prefix(b"PS0=")).any(ours)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_a_terminal() {
        assert_eq!(controlling(0), None);
        assert_eq!(controlling(34816), Some(Device { major: 136, minor: 0 }));
        assert_eq!(controlling(34816 + 255), Some(Device { major: 136, minor: 255 }));
        assert_eq!(controlling(0x0010_8801), Some(Device { major: 136, minor: 0x101 }));
    }
}
