//! What a process has open.

use std::fs::Metadata;
use std::io;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};

use dtmcp_core::inspect::{Device, FileKind, Inode, Interest, Known, OpenFile, TerminalFile, Why};

use crate::{small, why};

/// Device numbers of `devices.txt`: virtual consoles and serial lines; pseudo-terminals.
const CONSOLE: u32 = 4;
const PTY: std::ops::RangeInclusive<u32> = 136..=143;

/// `/dev/tty` and `/dev/ptmx`, likewise.
const CONTROLLING: Device = Device { major: 5, minor: 0 };
const MASTER: Device = Device { major: 5, minor: 2 };

/// `EPOLLIN`, `EPOLLPRI`, `EPOLLRDNORM` of `eventpoll.h`.
const INPUT: u32 = 0x1 | 0x2 | 0x40;

/// `EPOLLONESHOT`, likewise.
const ONCE: u32 = 1 << 30;

/// A device number as `stat` has it.
pub(crate) fn device(number: u64) -> Device {
    Device { major: rustix::fs::major(number), minor: rustix::fs::minor(number) }
}

/// Which file it is.
pub(crate) fn inode(metadata: &Metadata) -> Inode {
    Inode { device: device(metadata.dev()), number: metadata.ino() }
}

/// All that a process has open.
pub(crate) fn open_files(pid: u32) -> Known<Vec<OpenFile>> {
    match numbers(pid) {
        Ok(fds) => Known::Known(fds.filter_map(|fd| open_file(pid, fd)).collect()),
        Err(error) => Known::Unknown(why(&error)),
    }
}

/// Whether any descriptor of a process leads to a terminal. No, where that may not be seen.
pub(crate) fn leads_to(pid: i32, terminal: &TerminalFile) -> bool {
    let leads = |fd: i32| {
        std::fs::metadata(format!("/proc/{pid}/fd/{fd}")).is_ok_and(|metadata| {
            device(metadata.rdev()) == terminal.device && device(metadata.dev()) == terminal.inode.device
        })
    };
    u32::try_from(pid).is_ok_and(|pid| numbers(pid).is_ok_and(|mut fds| fds.any(leads)))
}

fn numbers(pid: u32) -> io::Result<impl Iterator<Item = i32>> {
    let entries = std::fs::read_dir(format!("/proc/{pid}/fd"))?;
    Ok(entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()))
}

/// One descriptor; none where it was closed meanwhile.
fn open_file(pid: u32, fd: i32) -> Option<OpenFile> {
    let path = format!("/proc/{pid}/fd/{fd}");
    let metadata = std::fs::metadata(&path).ok()?;
    let info = || small::text(&format!("/proc/{pid}/fdinfo/{fd}"));
    let kind = metadata.file_type();
    let kind = if kind.is_char_device() {
        match device(metadata.rdev()) {
            CONTROLLING => FileKind::ControllingTerminal,
            MASTER => FileKind::Master(known(info(), |info| terminal_number(&info))),
            other if other.major == CONSOLE || PTY.contains(&other.major) => FileKind::Terminal(other),
            _ => FileKind::Other,
        }
    } else if kind.is_socket() {
        FileKind::Socket
    } else if kind.is_fifo() {
        FileKind::Pipe
    } else if kind.is_file() || kind.is_dir() {
        FileKind::Other
    } else {
        // What has no type of its own is told apart by what the link calls it, which no program can choose.
        let link = std::fs::read_link(&path).ok()?;
        match link.to_string_lossy().strip_prefix("anon_inode:") {
            Some("[eventpoll]") => FileKind::Epoll(known(info(), |info| Some(entries(&info)))),
            Some("[io_uring]") => FileKind::Ring,
            Some("[eventfd]" | "[signalfd]") => FileKind::Notifier,
            Some("[timerfd]" | "[pidfd]" | "inotify" | "[fanotify]") => FileKind::Watcher,
            _ => FileKind::Other,
        }
    };
    Some(OpenFile { fd, inode: inode(&metadata), kind })
}

fn known<T>(read: io::Result<String>, parse: impl FnOnce(String) -> Option<T>) -> Known<T> {
    match read {
        Ok(text) => parse(text).map_or(Known::Unknown(Why::Gone), Known::Known),
        Err(error) => Known::Unknown(why(&error)),
    }
}

fn terminal_number(info: &str) -> Option<u32> {
    info.lines().find_map(|line| line.strip_prefix("tty-index:")?.trim().parse().ok())
}

/// `tfd: 0 events: 19 data: 0 pos:0 ino:3 sdev:19`, numbers but the first in hexadecimal.
fn entries(info: &str) -> Vec<Interest> {
    info.lines().filter_map(entry).collect()
}

fn entry(line: &str) -> Option<Interest> {
    let (fd, rest) = line.strip_prefix("tfd:")?.trim_start().split_once(' ')?;
    let after = |name: &str| rest.split_once(name).and_then(|(_, rest)| rest.split_whitespace().next());
    let hexadecimal = |name: &str| u64::from_str_radix(after(name)?, 16).ok();
    let events = u32::try_from(hexadecimal("events:")?).ok()?;
    // The kernel's own form of a device number: twenty bits for what the driver numbers.
    let system = hexadecimal("sdev:")?;
    let device = Device { major: u32::try_from(system >> 20).ok()?, minor: u32::try_from(system & 0xf_ffff).ok()? };
    let inode = Inode { device, number: hexadecimal("ino:")? };
    Some(Interest { fd: fd.parse().ok()?, inode, input: events & INPUT != 0, once: events & ONCE != 0 })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn an_entry_of_an_epoll_list() {
        let info = "pos:\t0\nflags:\t02\nmnt_id:\t15\nino:\t1057\n\
            tfd:       16 events: 40000019 data:     7fff00000010  pos:0 ino:2a sdev:100019\n\
            tfd:        5 events:        4 data:                5  pos:0 ino:3 sdev:19\n";
        let inode = |major, minor, number| Inode { device: Device { major, minor }, number };
        let expected = [
            Interest { fd: 16, inode: inode(1, 0x19, 0x2a), input: true, once: true },
            Interest { fd: 5, inode: inode(0, 0x19, 3), input: false, once: false },
        ];
        assert_eq!(entries(info), expected);
        assert_eq!(terminal_number("flags:\t02\ntty-index:\t12\n"), Some(12));
    }
}
