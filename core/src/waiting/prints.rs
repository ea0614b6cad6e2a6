//! Where what a program prints goes: what it asks into a pipe or a file is not to be seen at its terminal.

use super::Scene;
use crate::inspect::{FileKind, Inode, Process};

/// Where the standard output of a program leads.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Prints {
    /// To a terminal.
    Shown,
    /// Into a pipe; with the name of the process at its other end, where that is one of the pane's.
    Pipe(Option<String>),
    /// Into a file, or nowhere.
    File,
    /// That is not to be seen.
    #[default]
    Untold,
}

impl Scene<'_> {
    pub(super) fn prints(&self, process: &Process) -> Prints {
        let files = process.files.known().map_or(&[][..], Vec::as_slice);
        let Some(output) = files.iter().find(|file| file.fd == 1) else { return Prints::Untold };
        match output.kind {
            FileKind::Terminal(_) | FileKind::ControllingTerminal => Prints::Shown,
            FileKind::Pipe => Prints::Pipe(self.reader(process, output.inode)),
            FileKind::Other => Prints::File,
            FileKind::Master(_)
            | FileKind::Socket
            | FileKind::Epoll(_)
            | FileKind::Ring
            | FileKind::Notifier
            | FileKind::Watcher => Prints::Untold,
        }
    }

    /// Who has a pipe open for anything but its own output.
    fn reader(&self, writer: &Process, pipe: Inode) -> Option<String> {
        let reads = |process: &&Process| {
            let files = process.files.known().map_or(&[][..], Vec::as_slice);
            process.id != writer.id && files.iter().any(|file| file.inode == pipe && !matches!(file.fd, 1 | 2))
        };
        let found = self.inspection.processes().find(reads);
        found.map(|process| process.name.clone())
    }
}
