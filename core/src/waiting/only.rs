//! Whether whoever waits for the terminal can do nothing else meanwhile: nothing but a key can wake it, so that it has
//! nothing to work on, whatever it shows.

use std::time::Duration;

use super::Waiter;
use super::channel::Meaning;
use crate::inspect::{Call, FileKind, Inspection, Interest, Known, OpenFile, Process, Sleep, Thread};

/// For how long libev sleeps where it has no timer, in whole milliseconds (`MAX_BLOCKTIME` in its `ev.c`).
const LIBEV: Duration = Duration::from_millis(59_743);

/// Whether the waiter sleeps until the terminal has input, and for nothing besides. Then it has asked without a prompt.
pub(super) fn only_waits(inspection: &Inspection, waiter: &Waiter) -> bool {
    let Some(process) = inspection.processes().find(|process| process.id == waiter.process) else { return false };
    let threads = process.threads.known().map_or(&[][..], Vec::as_slice);
    match threads {
        [thread] if is_known(thread, |call| matches!(call, Call::Reads(_))) => true,
        [thread] if is_known(thread, |call| matches!(call, Call::Polls { fds, timeout: None } if fds.len() == 1)) => {
            true
        }
        // An event loop: it has no timer, and no connection and no child that could wake it. Its other threads do what it
        // hands them, and have nothing.
        _ => {
            let childless = inspection.processes().all(|other| other.parent != process.id.pid);
            let (own, others): (Vec<_>, Vec<_>) = threads.iter().partition(|thread| thread.tid == waiter.tid);
            childless
                && own.iter().any(|thread| loops(process, thread, true))
                && others.iter().all(|thread| is_handed_work(thread) || loops(process, thread, false))
        }
    }
}

fn is_known(thread: &Thread, is: impl Fn(&Call) -> bool) -> bool {
    thread.call.known().is_some_and(is)
}

/// Whether a thread sleeps without end in a list that only its own process can wake, or the terminal where that may be.
fn loops(process: &Process, thread: &Thread, terminal: bool) -> bool {
    let Known::Known(Call::Epoll { fd, timeout }) = &thread.call else { return false };
    if timeout.is_some_and(|timeout| timeout != LIBEV) {
        return false;
    }
    let files = process.files.known().map_or(&[][..], Vec::as_slice);
    let list = files.iter().find(|file| file.fd == *fd);
    let Some(FileKind::Epoll(Known::Known(list))) = list.map(|list| &list.kind) else { return false };
    list.iter().all(|entry| is_own(files, entry) || (terminal && is_terminal(files, entry)))
}

/// Whether a thread waits for another of its process.
fn is_handed_work(thread: &Thread) -> bool {
    matches!(&thread.sleep, Sleep::In(channel) if Meaning::is_of_threads(channel))
}

fn is_terminal(files: &[OpenFile], entry: &Interest) -> bool {
    let terminal = |file: &&OpenFile| matches!(file.kind, FileKind::Terminal(_) | FileKind::ControllingTerminal);
    files.iter().filter(|file| file.inode == entry.inode).any(|file| terminal(&file))
}

/// Whether an entry is there for the process to wake itself: a notifier, or a pipe of which it holds both ends. Notifiers
/// share an inode with much else, so their number tells them apart.
fn is_own(files: &[OpenFile], entry: &Interest) -> bool {
    let mut same = files.iter().filter(|file| file.inode == entry.inode);
    same.clone().any(|file| file.kind == FileKind::Notifier && file.fd == entry.fd)
        || (same.clone().count() > 1 && same.all(|file| file.kind == FileKind::Pipe))
}
