//! Whether nothing goes on until somebody continues a process that was stopped.
//!
//! A shell tells that a job was stopped only once all of it was. Where one member of a pipeline was, or what a script
//! or a substitution runs, the others stay as they are, asleep: what they sleep in is what they wait for.

use super::channel::Meaning;
use super::watch::Target;
use super::{Judgement, Scene};
use crate::inspect::{Call, FileKind, Inode, Known, OpenFile, Process, Sleep, Thread, Why};

/// Whether a process can do nothing before others have done something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Idle {
    Yes,
    Maybe(Why),
    No,
}

impl Scene<'_> {
    /// A process that was stopped while everybody else in front only waits for it: a member of the group in front, a
    /// background job of that group's that wanted the terminal, or what it runs in another session.
    pub(super) fn stopped(&self, members: &[&Process], target: Target) -> Option<Judgement> {
        let (front, behind): (Vec<&Process>, Vec<&Process>) =
            members.iter().partition(|process| target.has_in_front(process));
        let session = front.first()?.session;
        let below = match target {
            Target::Pane(_) => self.inspection.below.known().map_or(&[][..], Vec::as_slice).iter().collect(),
            Target::Inner { .. } => behind,
        };
        let holds = |process: &Process| match &process.files {
            Known::Known(files) => files.iter().any(|file| target.is(process, file)),
            Known::Unknown(_) => true,
        };
        let wanted = |process: &&&Process| process.session == session && process.stopped && holds(process);
        let near: Vec<&Process> = front.iter().chain(&below).copied().collect();
        let here = front.iter().find(|process| process.stopped).or_else(|| below.iter().find(wanted));
        // What runs in a session of its own (`su -c`, `setsid -w`) is all that those in front can wait for. Whoever made a
        // terminal for it drives it, and is at work.
        let apart = || {
            let other = |process: &Process| process.session != session && process.controlling.is_none();
            near.iter().find(|process| process.stopped && other(process))
        };
        let (stopped, others) = match here {
            Some(stopped) => (stopped, &front),
            None => (apart()?, &near),
        };
        let mut doubt = None;
        for process in others.iter().filter(|process| !process.stopped) {
            match idle(process, &near) {
                Idle::Yes => {}
                Idle::Maybe(why) => doubt = Some(why),
                Idle::No => return None,
            }
        }
        Some(doubt.map_or_else(|| Judgement::Stopped { name: stopped.name.clone() }, Judgement::Unknown))
    }
}

/// Whether a process waits for these others: for what it has started to end, or for a pipe that one of them has too.
fn idle(process: &Process, near: &[&Process]) -> Idle {
    let started = near.iter().any(|other| other.parent == process.id.pid);
    let threads = match &process.threads {
        Known::Known(threads) => threads,
        Known::Unknown(_) if started => return Idle::Yes,
        Known::Unknown(why) => return Idle::Maybe(*why),
    };
    if threads.iter().any(at_work) {
        return Idle::No;
    }
    let seen = |thread: &Thread| thread.sleep != Sleep::Untold || thread.call == Known::Known(Call::Children);
    if started {
        // A kernel without wait channels tells who waits for children only by their calls.
        return if threads.iter().any(seen) { Idle::Yes } else { Idle::Maybe(Why::SeveralThings) };
    }
    let others: Vec<&Process> = near.iter().copied().filter(|other| other.id != process.id).collect();
    let files = process.files.known().map_or(&[][..], Vec::as_slice);
    let shared = |file: &OpenFile| file.kind == FileKind::Pipe && others.iter().any(|other| has(other, file.inode));
    let found = threads.iter().map(|thread| piped(thread, files, &shared));
    found.fold(Idle::No, |one, other| match (one, other) {
        (Idle::Yes, _) | (_, Idle::Yes) => Idle::Yes,
        (Idle::No, other) => other,
        (one, _) => one,
    })
}

/// Whether a thread does something by itself: it computes, or it sleeps for a time.
fn at_work(thread: &Thread) -> bool {
    match &thread.sleep {
        Sleep::Awake => true,
        Sleep::In(channel) => Meaning::of(channel) == Meaning::Time,
        Sleep::Untold => false,
    }
}

/// Whether a thread sleeps until a pipe that is shared is read or written.
fn piped(thread: &Thread, files: &[OpenFile], shared: &dyn Fn(&OpenFile) -> bool) -> Idle {
    let with = |fd: i32| files.iter().find(|file| file.fd == fd);
    let leads = |fd: i32| with(fd).is_some_and(shared);
    let listed = |fd: i32| match with(fd).map(|file| &file.kind) {
        Some(FileKind::Epoll(Known::Known(list))) => {
            list.iter().any(|entry| files.iter().any(|file| file.inode == entry.inode && shared(file)))
        }
        _ => false,
    };
    let yes = |yes: bool| if yes { Idle::Yes } else { Idle::No };
    let any = files.iter().any(shared);
    let meaning = match &thread.sleep {
        Sleep::In(channel) => Some(Meaning::of(channel)),
        Sleep::Awake | Sleep::Untold => None,
    };
    match (&thread.call, meaning) {
        (_, Some(Meaning::Pipe)) => yes(any),
        (Known::Known(Call::Reads(fd)), _) => yes(leads(*fd)),
        (Known::Known(Call::Polls { fds, timeout: None }), _) => yes(fds.iter().any(|fd| leads(*fd) || listed(*fd))),
        (Known::Known(Call::Epoll { fd, timeout: None }), _) => yes(listed(*fd)),
        // Which call it sleeps in is only told where that can be one that reads.
        (Known::Known(Call::Other), None) if any => Idle::Maybe(Why::SeveralThings),
        (Known::Unknown(why), None | Some(Meaning::Poll | Meaning::Epoll)) if any => Idle::Maybe(*why),
        _ => Idle::No,
    }
}

fn has(process: &Process, inode: Inode) -> bool {
    process.files.known().is_some_and(|files| files.iter().any(|file| file.inode == inode))
}
