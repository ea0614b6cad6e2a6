//! A terminal's modes and unread input, by opening it for a moment.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};

use dtmcp_core::inspect::{InnerTerminal, Known, PaneTerminal, TerminalFile, TerminalModes, Why};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::OFlags;
use rustix::termios::{LocalModes, tcgetattr};

use crate::files::{device, inode};
use crate::why;

/// The pane's terminal.
#[derive(Debug)]
pub(crate) struct Terminal {
    pub(crate) file: TerminalFile,
    pub(crate) modes: Known<TerminalModes>,
    pub(crate) unread: Known<u64>,
}

impl Terminal {
    /// Opens a pane's terminal. `controlling` is the terminal that the pane's process has, as its `stat` says it:
    /// another one means that the pane is gone and the name belongs to somebody else.
    pub(crate) fn of_pane(pane: &PaneTerminal, controlling: i32) -> Result<Self, Why> {
        let metadata = std::fs::metadata(&pane.tty).map_err(|error| why(&error))?;
        let file = TerminalFile { inode: inode(&metadata), device: device(metadata.rdev()) };
        if crate::process::controlling(controlling) != Some(file.device) {
            return Err(Why::Gone);
        }
        let (modes, unread) = match open(&pane.tty) {
            Ok(opened) => state(&opened),
            Err(why) => (Known::Unknown(why), Known::Unknown(why)),
        };
        Ok(Self { file, modes, unread })
    }

    /// Opens the terminal that a process's descriptor leads to.
    pub(crate) fn inside(pid: u32, fd: i32, number: u32) -> Option<InnerTerminal> {
        let opened = open(&format!("/proc/{pid}/fd/{fd}")).ok()?;
        let (modes, unread) = state(&opened);
        Some(InnerTerminal { number, modes, unread })
    }
}

/// Neither takes the terminal for our own nor waits for a line to be picked up. It is closed at once: while it is open
/// the other side does not see the end of the programs in it.
fn open(path: &str) -> Result<File, Why> {
    let flags = i32::try_from((OFlags::NOCTTY | OFlags::NONBLOCK).bits()).unwrap_or(0);
    OpenOptions::new().read(true).write(true).custom_flags(flags).open(path).map_err(|error| why(&error))
}

fn state(terminal: &File) -> (Known<TerminalModes>, Known<u64>) {
    let modes = tcgetattr(terminal).map(|attributes| TerminalModes {
        canonical: attributes.local_modes.contains(LocalModes::ICANON),
        echo: attributes.local_modes.contains(LocalModes::ECHO),
        held: held(terminal),
    });
    let unread = rustix::io::ioctl_fionread(terminal);
    (modes.map_or(Known::Unknown(Why::Gone), Known::Known), unread.map_or(Known::Unknown(Why::Gone), Known::Known))
}

/// Whether it takes no output. A terminal that ctrl+s has stopped has no room for any (`pty_write_room`), and whoever
/// waits in a write to it keeps others from writing.
fn held(terminal: &File) -> bool {
    let mut asked = [PollFd::new(terminal, PollFlags::OUT)];
    let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut asked, Some(&at_once)).is_ok_and(|ready| ready == 0)
}
