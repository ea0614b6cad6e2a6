//! What can be known of the processes at a pane's terminal, and who finds it out.
//!
//! An inspection never fails: each part is known, or unknown with the reason. What follows from it is decided in
//! [`crate::waiting`], not here. No command line is ever part of one: they hold secrets.

use std::time::Duration;

use crate::waiting::carrier::Carrier;

/// A part of an inspection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Known<T> {
    /// It was found out.
    Known(T),
    /// It was not, and why.
    Unknown(Why),
}

impl<T> Known<T> {
    /// What was found out.
    pub const fn known(&self) -> Option<&T> {
        match self {
            Self::Known(value) => Some(value),
            Self::Unknown(_) => None,
        }
    }
}

/// Why something is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// Nobody looked: this platform has no inspector, or it has no means of seeing this.
    NobodyLooks,
    /// It costs too much to look at each time, and this time it was not asked for.
    NotAsked,
    /// The operating system does not let us look.
    Refused,
    /// It went away while we looked.
    Gone,
    /// No process of the terminal's foreground group is visible.
    NobodyInFront,
    /// The process sleeps in one of several things, and which cannot be seen.
    SeveralThings,
    /// It waits in a ring of requests (`io_uring`), and what for cannot be seen.
    Ring,
    /// It watches the terminal, but does not stand where it asked before: programs that read keys in a thread of
    /// their own, or in a loop of events, do so while they work.
    AwayFromPrompt,
}

/// Why the calls that threads sleep in are not to be read on this system, by anyone like us.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// Yama's `ptrace_scope`: 1 lets ancestors trace, 2 who may administrate, 3 nobody.
    Yama(u8),
    /// Another policy, SELinux's `deny_ptrace` for one.
    Policy,
}

/// The terminal of a pane, and the process that the pane was started with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PaneTerminal {
    /// The path of the terminal's device.
    pub tty: String,
    /// The process id of the pane's own program.
    pub pid: u32,
}

/// How far to look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    /// At the foreground group and, where that says nothing, at the processes it started.
    Near,
    /// At every process of the machine besides, where nobody near reads the terminal. Costs milliseconds: at most
    /// once a second, and not before the output has rested for one.
    Everywhere,
    /// At every process of the machine, although somebody near reads the terminal: another may read it too.
    Beside,
}

/// How a terminal treats what is typed, and what is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TerminalModes {
    /// Line by line (`ICANON`), not key by key.
    pub canonical: bool,
    /// Typed characters are shown (`ECHO`).
    pub echo: bool,
    /// It takes no output at this moment: somebody pressed ctrl+s, or there is more than the other side has read yet.
    pub held: bool,
}

impl TerminalModes {
    /// Whether a line is asked for that is not shown: a password, most likely. An editor of lines turns the echo off
    /// too, but reads key by key.
    #[must_use]
    pub const fn hide_a_line(self) -> bool {
        self.canonical && !self.echo
    }
}

/// The number of a device or of a file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Device {
    /// The driver's number.
    pub major: u32,
    /// The number the driver gives.
    pub minor: u32,
}

/// A file, by what it is and not by its name: `/dev/pts/0` is another terminal in a container.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Inode {
    /// The file system.
    pub device: Device,
    /// The number in it.
    pub number: u64,
}

/// A terminal's device file: which file system it lies on, and which device it stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TerminalFile {
    /// The file.
    pub inode: Inode,
    /// The device.
    pub device: Device,
}

/// A terminal that something in the pane made, as `script` and `sudo` do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InnerTerminal {
    /// The number of its device in the file system it lies on.
    pub number: u32,
    /// How it treats what is typed and printed.
    pub modes: Known<TerminalModes>,
    /// Typed bytes that nobody has read.
    pub unread: Known<u64>,
}

/// What was found out at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inspection {
    /// The pane's terminal.
    pub terminal: Known<TerminalFile>,
    /// How it treats what is typed and printed.
    pub modes: Known<TerminalModes>,
    /// Typed bytes that nobody has read; whole lines only, where the terminal is canonical.
    pub unread: Known<u64>,
    /// The processes of the terminal's foreground group, parents before their children; zombies are left out.
    pub front: Known<Vec<Process>>,
    /// What the group in front descends from, by process id: the pane's own process first, and the nearest last. Empty where
    /// that was not to be seen.
    pub above: Vec<u32>,
    /// All that those have started, as far as it still has its parent; parents before their children.
    pub below: Known<Vec<Process>>,
    /// Processes of other sessions, neither above, that hold the terminal.
    pub elsewhere: Known<Vec<Process>>,
    /// The terminals that processes in the pane made, where their modes could be read.
    pub inner: Vec<InnerTerminal>,
    /// What kept the calls of all threads from being read, if something did.
    pub refusal: Option<Refusal>,
}

impl Inspection {
    /// One that knows nothing.
    #[must_use]
    pub const fn unknown(why: Why) -> Self {
        Self {
            terminal: Known::Unknown(why),
            modes: Known::Unknown(why),
            unread: Known::Unknown(why),
            front: Known::Unknown(why),
            above: Vec::new(),
            below: Known::Unknown(why),
            elsewhere: Known::Unknown(why),
            inner: Vec::new(),
            refusal: None,
        }
    }

    /// Whether the pane's terminal, or one inside it, takes no output at this moment.
    #[must_use]
    pub fn held(&self) -> bool {
        let inner = self.inner.iter().map(|inner| &inner.modes);
        inner.chain([&self.modes]).filter_map(Known::known).any(|modes| modes.held)
    }

    /// Every process in it.
    pub fn processes(&self) -> impl Iterator<Item = &Process> {
        [&self.front, &self.below, &self.elsewhere].into_iter().filter_map(Known::known).flatten()
    }
}

/// Which process, for as long as the machine runs: ids are used again, starts are not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct ProcessId {
    /// The process id.
    pub pid: u32,
    /// When it started, in the kernel's ticks since boot.
    pub start: u64,
}

/// A process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    /// Which.
    pub id: ProcessId,
    /// Its parent's process id.
    pub parent: u32,
    /// Its process group.
    pub group: u32,
    /// Its session.
    pub session: u32,
    /// The terminal that controls it.
    pub controlling: Option<Device>,
    /// Its group is the one in front at that terminal: no other may read from it.
    pub in_front: bool,
    /// What the kernel calls it: at most 15 bytes, and whatever the program set.
    pub name: String,
    /// Stopped by a signal (not by a debugger).
    pub stopped: bool,
    /// Stopped by a debugger, which decides when it goes on.
    pub traced: bool,
    /// Processor time it has used, in hundredths of a second.
    pub used: u64,
    /// Whose it is: the effective user id.
    pub owner: Known<u32>,
    /// The owner's name, where the system knows one.
    pub user: Option<String>,
    /// The far place its command line carries a terminal to.
    pub carrier: Option<Carrier>,
    /// A bash whose environment held the integration's `PS0` when it was started. Nothing else of an environment is kept.
    pub armed: bool,
    /// A shell that was given a command or a script to run, and so reads no commands from a terminal.
    pub scripted: bool,
    /// What it has open.
    pub files: Known<Vec<OpenFile>>,
    /// Its threads.
    pub threads: Known<Vec<Thread>>,
}

/// An open file descriptor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenFile {
    /// Its number.
    pub fd: i32,
    /// The file.
    pub inode: Inode,
    /// What kind of file.
    pub kind: FileKind,
}

/// What a file descriptor leads to, as far as it matters here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileKind {
    /// A terminal.
    Terminal(Device),
    /// `/dev/tty`: whichever terminal controls the process.
    ControllingTerminal,
    /// The master side of a pseudo-terminal, and the number of its terminal where that could be read.
    Master(Known<u32>),
    /// A socket.
    Socket,
    /// A pipe.
    Pipe,
    /// A list of descriptors that one call waits for.
    Epoll(Known<Vec<Interest>>),
    /// A ring of requests (`io_uring`).
    Ring,
    /// Something by which a process wakes itself: an eventfd, a signalfd.
    Notifier,
    /// Something that tells a poller what happens around it: a timer, a change of files, the end of a process.
    Watcher,
    /// Anything else.
    Other,
}

/// An entry of an epoll list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interest {
    /// The number the descriptor had when it was added; the entry outlives it.
    pub fd: i32,
    /// The file.
    pub inode: Inode,
    /// Whether input wakes it (`EPOLLIN`).
    pub input: bool,
    /// It is for one time only (`EPOLLONESHOT`): once it has woken somebody, `input` is no longer set.
    pub once: bool,
}

/// A thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Thread {
    /// Its id.
    pub tid: u32,
    /// Where it sleeps.
    pub sleep: Sleep,
    /// The call it sleeps in.
    pub call: Known<Call>,
    /// How often it was put on a processor: unchanged, and it slept all the time.
    pub runs: Known<u64>,
}

/// Where a thread sleeps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sleep {
    /// In this function of the kernel: the wait channel, without what a compiler appends after a dot.
    In(String),
    /// It does not sleep waiting for anything to come: it runs, is about to, or waits for a disk.
    Awake,
    /// It sleeps, and the kernel does not say where.
    Untold,
}

/// A call that a thread sleeps in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Call {
    /// It reads from this descriptor.
    Reads(i32),
    /// It waits until one of these descriptors has input.
    Polls {
        /// The descriptors it wants input of.
        fds: Vec<i32>,
        /// For how long; without end where there is none.
        timeout: Option<Duration>,
    },
    /// It waits for what an epoll list holds.
    Epoll {
        /// The list.
        fd: i32,
        /// For how long; without end where there is none.
        timeout: Option<Duration>,
    },
    /// It waits for a ring of requests.
    Ring,
    /// It waits for something that it has started: to end, or to be stopped.
    Children,
    /// Anything else, or none at all.
    Other,
}

/// Finds out what runs at a pane's terminal.
pub trait Inspector: std::fmt::Debug + Send + Sync {
    /// Looks once. May take some milliseconds; is never called from a session's task.
    fn inspect(&self, terminal: &PaneTerminal, look: Look) -> Inspection;
}

/// Reads which descriptors the call of a sleeping thread watches: more than wait channels tell, and more than every
/// system allows.
pub trait FdProbe: std::fmt::Debug + Send + Sync {
    /// The call that a thread of a process sleeps in.
    fn call(&self, process: ProcessId, tid: u32) -> Known<Call>;

    /// What keeps it from reading any call, if something does.
    fn refusal(&self) -> Option<Refusal>;
}

/// The inspector where there is none: nothing is known, and everything goes by markers, prompts and silence.
#[derive(Debug, Clone, Copy, Default)]
pub struct Blind;

impl Inspector for Blind {
    fn inspect(&self, _terminal: &PaneTerminal, _look: Look) -> Inspection {
        Inspection::unknown(Why::NobodyLooks)
    }
}
