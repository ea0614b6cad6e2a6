//! Whether a process watches a terminal for input: reads it, polls it, or has it in an epoll list.

use std::time::Duration;

use super::channel::Meaning;
use crate::inspect::{
    Call, Device, FileKind, Inode, Known, OpenFile, Process, Sleep, TerminalFile, TerminalModes, Thread, Why,
};

/// The driver of pseudo-terminals: `UNIX98_PTY_SLAVE_MAJOR`, 136, in the kernel's `devices.txt`. Every number lies
/// under it.
const PTY: u32 = 136;

/// Which terminal is meant.
#[derive(Debug, Clone, Copy)]
pub(super) enum Target {
    /// The pane's.
    Pane(TerminalFile),
    /// One that was made inside the pane. It may lie in another file system, and bear the number the pane's has in
    /// its own.
    Inner { number: u32, pane: TerminalFile },
}

impl Target {
    /// Whether a descriptor of a process leads there.
    pub(super) fn is(&self, process: &Process, file: &OpenFile) -> bool {
        let controls = |device: Device| process.controlling == Some(device);
        match (&file.kind, self) {
            (FileKind::Terminal(device), Self::Pane(pane)) => {
                *device == pane.device && file.inode.device == pane.inode.device
            }
            (FileKind::ControllingTerminal, Self::Pane(pane)) => controls(pane.device),
            (FileKind::Terminal(device), Self::Inner { number, pane }) => {
                let outer = *device == pane.device && file.inode.device == pane.inode.device;
                *device == Device { major: PTY, minor: *number } && !outer
            }
            (FileKind::ControllingTerminal, Self::Inner { number, .. }) => {
                controls(Device { major: PTY, minor: *number })
            }
            _ => false,
        }
    }

    /// Whether a process may read from it: one whose controlling terminal it is only while its group is in front.
    fn lets_read(&self, process: &Process) -> bool {
        let device = match self {
            Self::Pane(pane) => pane.device,
            Self::Inner { number, .. } => Device { major: PTY, minor: *number },
        };
        process.in_front || process.controlling != Some(device)
    }

    /// Whether a process is one of those who have the terminal. Whoever has the pane's is the group in front.
    pub(super) fn has_in_front(&self, process: &Process) -> bool {
        match self {
            Self::Pane(_) => true,
            Self::Inner { number, .. } => {
                process.in_front && process.controlling == Some(Device { major: PTY, minor: *number })
            }
        }
    }

    fn inode(&self) -> Option<Inode> {
        match self {
            Self::Pane(pane) => Some(pane.inode),
            Self::Inner { .. } => None,
        }
    }
}

/// How a thread watches a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Watching {
    pub(super) tid: u32,
    /// It sits in a read, not in a poll.
    pub(super) reads: bool,
    /// How long it waits; without end where there is none, or where it is not known.
    pub(super) timeout: Option<Duration>,
}

/// Whether a process watches a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Watch {
    No,
    /// It may, and why that cannot be told.
    Maybe(Why),
    Yes(Watching),
}

impl Watch {
    /// The surer of two answers, for two threads or two processes.
    fn or(self, other: Self) -> Self {
        match (self, other) {
            (Self::Yes(_), _) | (Self::Maybe(_), Self::No) => self,
            (_, Self::Yes(_)) | (Self::No, _) => other,
            (Self::Maybe(_), Self::Maybe(_)) => self,
        }
    }
}

/// A process, and the terminal in question.
pub(super) struct View<'a> {
    process: &'a Process,
    target: Target,
    /// The terminal takes keys, not lines: only programs that read them do that.
    raw: bool,
    /// It takes no output: who sleeps where a read does may be in a write.
    held: bool,
}

impl<'a> View<'a> {
    pub(super) fn new(process: &'a Process, target: Target, modes: &Known<TerminalModes>) -> Self {
        let raw = modes.known().is_some_and(|modes| !modes.canonical);
        let held = modes.known().is_some_and(|modes| modes.held);
        Self { process, target, raw, held }
    }

    /// Whether it watches.
    pub(super) fn watch(&self) -> Watch {
        if self.process.stopped || !self.target.lets_read(self.process) {
            return Watch::No;
        }
        let files = match &self.process.files {
            Known::Known(files) => files,
            Known::Unknown(Why::Gone) => return Watch::No,
            Known::Unknown(why) => return Watch::Maybe(*why),
        };
        if !self.holds(files) {
            return Watch::No;
        }
        match &self.process.threads {
            Known::Known(threads) => threads.iter().map(|thread| self.thread(files, thread)).fold(Watch::No, Watch::or),
            Known::Unknown(Why::Gone) => Watch::No,
            Known::Unknown(why) => Watch::Maybe(*why),
        }
    }

    /// The numbers of the terminals inside whose master sides it watches, and whether that is certain: a program may
    /// have been started with masters that are none of its business.
    pub(super) fn masters(&self) -> Vec<(u32, bool)> {
        let Some(files) = self.process.files.known() else { return Vec::new() };
        let threads = self.process.threads.known().map_or(&[][..], Vec::as_slice);
        let mut numbers: Vec<(u32, bool)> = threads
            .iter()
            .flat_map(|thread| files.iter().filter_map(|file| self.watches_master(files, thread, file)))
            .collect();
        // The certain ones first, so that they are the ones to stay.
        numbers.sort_unstable_by_key(|(number, sure)| (*number, !sure));
        numbers.dedup_by_key(|(number, _)| *number);
        numbers
    }

    fn watches_master(&self, files: &[OpenFile], thread: &Thread, master: &OpenFile) -> Option<(u32, bool)> {
        let FileKind::Master(Known::Known(number)) = master.kind else { return None };
        // All masters of one file system are one file, so the number of the descriptor has to agree as well.
        let listed = |fd: Option<i32>| {
            let lists = files.iter().filter(|file| fd.is_none_or(|fd| file.fd == fd));
            let mut entries = lists.filter_map(interests).flatten();
            entries.any(|entry| entry.input && entry.fd == master.fd && entry.inode == master.inode)
        };
        let (watches, sure) = match (&thread.call, &thread.sleep) {
            (Known::Known(Call::Polls { fds, .. }), _) => {
                (fds.contains(&master.fd) || fds.iter().any(|fd| listed(Some(*fd))), true)
            }
            (Known::Known(Call::Epoll { fd, .. }), _) => (listed(Some(*fd)), true),
            (Known::Known(Call::Reads(fd)), _) => (*fd == master.fd, true),
            (Known::Known(_), _) | (Known::Unknown(_), Sleep::Awake) => (false, true),
            // A program that passes keys on has to see them one by one.
            (Known::Unknown(_), Sleep::In(channel)) => match Meaning::of(channel) {
                Meaning::Poll | Meaning::Read => (self.raw, false),
                Meaning::Epoll => (listed(None), true),
                _ => (false, true),
            },
            (Known::Unknown(_), Sleep::Untold) => (self.raw, false),
        };
        watches.then_some((number, sure))
    }

    /// Whether anything of it leads to the terminal at all. An entry of an epoll list may have outlived its number.
    fn holds(&self, files: &[OpenFile]) -> bool {
        files.iter().any(|file| self.target.is(self.process, file) || !matches!(self.listed(files, file), Watch::No))
    }

    fn thread(&self, files: &[OpenFile], thread: &Thread) -> Watch {
        let found = match &thread.call {
            Known::Known(call) => self.call(files, thread.tid, call),
            Known::Unknown(_) => match &thread.sleep {
                Sleep::Awake => Watch::No,
                Sleep::Untold => self.untold(files),
                Sleep::In(channel) => self.channel(files, Meaning::of(channel)),
            },
        };
        match found {
            Watch::Yes(watching) => Watch::Yes(Watching { tid: thread.tid, ..watching }),
            other => other,
        }
    }

    fn call(&self, files: &[OpenFile], tid: u32, call: &Call) -> Watch {
        let with = |fd: i32| files.iter().find(|file| file.fd == fd);
        let leads = |fd: i32| with(fd).is_some_and(|file| self.target.is(self.process, file));
        let listed = |fd: i32| with(fd).map_or(Watch::No, |file| self.listed(files, file));
        let timed = |watch: Watch, timeout: Option<Duration>| match watch {
            Watch::Yes(watching) => Watch::Yes(Watching { timeout, ..watching }),
            other => other,
        };
        match call {
            Call::Reads(fd) if leads(*fd) => Watch::Yes(Watching { tid, reads: true, timeout: None }),
            Call::Polls { fds, timeout } if fds.iter().any(|fd| leads(*fd)) => {
                Watch::Yes(Watching { tid, reads: false, timeout: *timeout })
            }
            Call::Polls { fds, timeout } => {
                timed(fds.iter().map(|fd| listed(*fd)).fold(Watch::No, Watch::or), *timeout)
            }
            Call::Epoll { fd, timeout } => timed(listed(*fd), *timeout),
            Call::Ring => self.ring(files),
            Call::Reads(_) | Call::Children | Call::Other => Watch::No,
        }
    }

    /// Whether a descriptor is an epoll list with the terminal in it.
    fn listed(&self, files: &[OpenFile], list: &OpenFile) -> Watch {
        match &list.kind {
            FileKind::Epoll(Known::Known(entries)) => {
                let opened =
                    |inode: Inode| files.iter().any(|file| file.inode == inode && self.target.is(self.process, file));
                let terminal = |inode: Inode| self.target.inode() == Some(inode) || opened(inode);
                if entries.iter().any(|entry| entry.input && terminal(entry.inode)) {
                    Watch::Yes(Watching { tid: 0, reads: false, timeout: None })
                } else {
                    Watch::No
                }
            }
            FileKind::Epoll(Known::Unknown(why)) => Watch::Maybe(*why),
            _ => Watch::No,
        }
    }

    /// What the wait channel says, where the call itself is not to be seen.
    fn channel(&self, files: &[OpenFile], meaning: Meaning) -> Watch {
        let yes = |reads| Watch::Yes(Watching { tid: 0, reads, timeout: None });
        let sure = |sure: bool, reads: bool| if sure { yes(reads) } else { Watch::Maybe(Why::SeveralThings) };
        match meaning {
            Meaning::Read => {
                let opened = files.iter().any(|file| self.target.is(self.process, file));
                let socket = files.iter().any(|file| file.kind == FileKind::Socket);
                if opened { sure(!self.held && (self.raw || !socket), true) } else { Watch::No }
            }
            Meaning::Poll if !self.polls_it(files) => Watch::No,
            Meaning::Poll => sure(self.raw || !files.iter().any(may_be_polled_instead), false),
            Meaning::Epoll => files.iter().map(|file| self.listed(files, file)).fold(Watch::No, Watch::or),
            Meaning::Ring => self.ring(files),
            Meaning::Pipe | Meaning::Time | Meaning::NoTerminal | Meaning::Other => Watch::No,
        }
    }

    fn untold(&self, files: &[OpenFile]) -> Watch {
        let lists = files.iter().map(|file| self.listed(files, file)).fold(Watch::No, Watch::or);
        if files.iter().any(|file| self.target.is(self.process, file)) || lists != Watch::No {
            Watch::Maybe(Why::Refused)
        } else {
            Watch::No
        }
    }

    /// Every program has the terminal as output or for its errors; who polls it has it as input or opened it again.
    fn polls_it(&self, files: &[OpenFile]) -> bool {
        let input = |file: &OpenFile| self.raw || file.fd == 0 || file.fd > 2;
        files.iter().any(|file| input(file) && self.target.is(self.process, file))
    }

    fn ring(&self, files: &[OpenFile]) -> Watch {
        let input = |file: &OpenFile| file.fd == 0 || file.fd > 2;
        let may = files.iter().any(|file| input(file) && self.target.is(self.process, file));
        if may { Watch::Maybe(Why::Ring) } else { Watch::No }
    }
}

fn interests(file: &OpenFile) -> Option<&[crate::inspect::Interest]> {
    match &file.kind {
        FileKind::Epoll(list) => list.known().map(Vec::as_slice),
        _ => None,
    }
}

/// Whether a descriptor is one that a program would rather poll than its terminal.
fn may_be_polled_instead(file: &OpenFile) -> bool {
    let kind = matches!(
        file.kind,
        FileKind::Socket | FileKind::Pipe | FileKind::Notifier | FileKind::Watcher | FileKind::Master(_)
    );
    file.fd > 2 && kind
}
