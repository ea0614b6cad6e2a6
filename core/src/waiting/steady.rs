//! When a judgement may be believed: one look can fall into a moment.

use std::time::Duration;

use super::channel::Meaning;
use super::only::only_waits;
use super::{Judgement, Output, Waiter};
use crate::inspect::{Call, FileKind, Inode, Inspection, Known, OpenFile, ProcessId, Sleep, Why};
use crate::time::Now;

/// Two looks have to agree that lie this far apart. Of 3,700 looks at 25 busy commands ten saw a wait that was none,
/// each of them once.
const APART: Duration = Duration::from_millis(50);

/// The same for somebody who waits for shorter than [`SHORT`], or who slept and woke: what it does in between shows
/// only in its use of the processor.
const WINDOW: Duration = Duration::from_millis(500);

/// A look that sees work where there is none to do is made again after this long: an editor of lines that polls looks
/// after its terminal between two polls, and is on a processor meanwhile. Less than such a poll takes, so that two looks
/// do not fall into the same moment of two rounds.
const DOUBT: Duration = Duration::from_millis(30);

/// A wait that ends on its own before this is a loop. Waits of editors last four seconds, of prompts that redraw half
/// a second and less.
const SHORT: Duration = Duration::from_secs(2);

/// Whoever uses more of a processor than this, in hundredths, works: between two reads, or between two polls, which
/// cost more by themselves.
const WORKS_READING: u64 = 50;
const WORKS_POLLING: u64 = 20;

/// The same for a process that was seen with another thread at work both times: on a machine with more to do than it
/// has processors, that is what remains of all the time there is.
const WORKS_BESIDE: u64 = 10;

/// What to do after a look.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// The judgement holds.
    Holds(Judgement),
    /// It has to be seen again, not before this.
    Again(Now),
}

/// Looks at one terminal, one after the other. Output in between begins anew.
#[derive(Debug, Clone, Default)]
pub struct Steady {
    first: Option<Seen>,
    /// The last look saw work, and is not believed by itself.
    doubted: bool,
    asked: Asked,
    /// Something was asked since a line was last submitted, so that there is nothing to work on: what is printed since
    /// comes from a timer, a job or a connection, and the prompt is further up.
    idle: bool,
    /// Who has waited for keys, as editors of lines do.
    keyed: Option<ProcessId>,
    /// Who has polled for keys behind something on its line, as an editor does that has other things to look after.
    polled: Option<ProcessId>,
}

/// Who has asked behind something on its line: a prompt. Whoever has waits the next time behind a prompt as well.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Asked {
    #[default]
    Nobody,
    /// A prompt was shown, and nobody looked whose it was.
    Somebody,
    /// The same in a session without markers, where one program follows another unseen: only the session's own is
    /// certain to be there still.
    Own,
    Process(ProcessId),
}

#[derive(Debug, Clone)]
struct Seen {
    at: Now,
    judgement: Judgement,
    runs: Option<u64>,
    used: Option<u64>,
    awake: bool,
}

impl Steady {
    /// Forgets what was seen: output came, or something was typed.
    pub fn begin(&mut self) {
        (self.first, self.doubted) = (None, false);
    }

    /// A prompt stands on the line of the cursor, as its looks tell. `marked` says whether a marker will tell when
    /// the program that showed it has ended.
    pub fn prompted(&mut self, marked: bool) {
        self.idle = true;
        if self.asked == Asked::Nobody {
            self.asked = if marked { Asked::Somebody } else { Asked::Own };
        }
    }

    /// A prompt was shown since the last line was submitted, as what stands further up tells.
    pub fn has_asked(&mut self) {
        self.idle = true;
    }

    /// Whether something was asked since a line was last submitted.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.idle
    }

    /// A line is submitted, or may have been.
    pub fn submitted(&mut self) {
        self.idle = false;
    }

    /// Another command runs: what the one before asked is no measure for it.
    pub fn another_program(&mut self) {
        *self = Self::default();
    }

    /// Takes a look and what it came to.
    pub fn look(&mut self, now: Now, judgement: Judgement, inspection: &Inspection, output: Output) -> Step {
        let judgement = self.behind_a_prompt(judgement, inspection, output);
        let step = self.twice(now, judgement, inspection);
        if let Step::Holds(Judgement::Waits(waiter)) = &step
            && raw(inspection)
        {
            self.keyed = Some(waiter.process);
            if output.column > 0 {
                self.asked = Asked::Process(waiter.process);
                self.idle = true;
            }
        }
        step
    }

    /// Takes one look at a prompt, which alone is no measure of who waits.
    pub fn glimpse(&mut self, judgement: &Judgement, inspection: &Inspection, output: Output) {
        if let Judgement::Waits(waiter) | Judgement::Busy(waiter) = judgement
            && raw(inspection)
            && output.column > 0
            && !waiter.reads
        {
            self.polled = Some(waiter.process);
        }
    }

    /// A reader of keys that has asked behind a prompt before, and now has the cursor at the beginning of a line,
    /// may be at work on the line that it was given: with a timer, or with another thread than the one that reads. Where
    /// it is seen to have neither, its prompt is empty now.
    ///
    /// One that polls at its prompt, and sits in a read now, is asked by what it was given: a read holds it up.
    ///
    /// One that has given the terminal back to lines has closed its editor. libuv takes a terminal out of its list only
    /// when the next key comes, so that node's programs seem to watch it for ever.
    fn behind_a_prompt(&self, judgement: Judgement, inspection: &Inspection, output: Output) -> Judgement {
        let Judgement::Waits(waiter) = &judgement else { return judgement };
        let known = match self.asked {
            Asked::Nobody => false,
            Asked::Somebody => true,
            Asked::Own => {
                let process = inspection.processes().find(|process| process.id == waiter.process);
                process.is_some_and(|process| process.parent == process.session)
            }
            Asked::Process(process) => process == waiter.process,
        };
        let held_up = waiter.reads && self.polled == Some(waiter.process);
        if held_up || asks_once(inspection, waiter) {
            return judgement;
        }
        let away = output.column == 0 && !output.alternate && !self.idle;
        if always_lists(inspection, waiter) && !output.asks && !output.alternate && !self.idle {
            return if known { Judgement::Unknown(Why::AwayFromPrompt) } else { Judgement::Busy(waiter.clone()) };
        }
        let given_back = self.keyed == Some(waiter.process) && !raw(inspection) && has_a_list(inspection, waiter);
        if (known && raw(inspection) && away && !only_waits(inspection, waiter)) || given_back {
            Judgement::Unknown(Why::AwayFromPrompt)
        } else {
            judgement
        }
    }

    fn twice(&mut self, now: Now, judgement: Judgement, inspection: &Inspection) -> Step {
        let waiter = match &judgement {
            Judgement::Waits(waiter) | Judgement::Busy(waiter) => Some(waiter),
            Judgement::WaitsHidden(waiter) => waiter.as_ref(),
            Judgement::Stopped { .. } => None,
            Judgement::Works if self.idle && !self.doubted => {
                self.doubted = true;
                return Step::Again(now + DOUBT);
            }
            // Neither harms anybody if it was only a moment: the next look says otherwise.
            Judgement::Works | Judgement::Carrier(_) | Judgement::Unknown(_) => {
                (self.first, self.doubted) = (None, false);
                return Step::Holds(judgement);
            }
        };
        self.doubted = false;
        let runs = waiter.and_then(|waiter| runs(inspection, waiter));
        let used = waiter.and_then(|waiter| used(inspection, waiter.process));
        let awake = waiter.is_some_and(|waiter| awake(inspection, waiter));
        let Some(first) = self.first.as_ref().filter(|first| same(&first.judgement, &judgement)) else {
            self.first = Some(Seen { at: now, judgement, runs, used, awake });
            return Step::Again(now + APART);
        };
        let short = waiter.and_then(|waiter| waiter.timeout).is_some_and(|timeout| timeout < SHORT);
        let window = if short || first.runs != runs { WINDOW } else { APART };
        if now - first.at < window {
            return Step::Again(first.at + window);
        }
        let hundredths = used.unwrap_or(0).saturating_sub(first.used.unwrap_or(0));
        let passed = u64::try_from((now - first.at).as_millis() / 10).unwrap_or(u64::MAX).max(1);
        let reads = waiter.is_none_or(|waiter| waiter.reads);
        let most = match reads {
            _ if first.awake && awake => WORKS_BESIDE,
            true => WORKS_READING,
            false => WORKS_POLLING,
        };
        // Over a short window one tick is a large part; whoever sleeps through uses none.
        let works = hundredths > 1 && hundredths.saturating_mul(100) / passed > most;
        Step::Holds(if works { Judgement::Works } else { judgement })
    }
}

fn raw(inspection: &Inspection) -> bool {
    inspection.modes.known().is_some_and(|modes| !modes.canonical)
}

/// Whether two looks saw the same thing: the same thread in the same kind of wait. How long it waits may differ.
fn same(one: &Judgement, other: &Judgement) -> bool {
    let key = |waiter: &Waiter| (waiter.process, waiter.tid, waiter.reads);
    match (one, other) {
        (Judgement::Waits(one), Judgement::Waits(other)) | (Judgement::Busy(one), Judgement::Busy(other)) => {
            key(one) == key(other)
        }
        (Judgement::WaitsHidden(one), Judgement::WaitsHidden(other)) => {
            one.as_ref().map(key) == other.as_ref().map(key)
        }
        (one, other) => one == other,
    }
}

fn runs(inspection: &Inspection, waiter: &Waiter) -> Option<u64> {
    let process = inspection.processes().find(|process| process.id == waiter.process)?;
    let thread = process.threads.known()?.iter().find(|thread| thread.tid == waiter.tid)?;
    match thread.runs {
        Known::Known(runs) => Some(runs),
        Known::Unknown(_) => None,
    }
}

/// Whether the waiter sleeps until something of an epoll list comes.
fn has_a_list(inspection: &Inspection, waiter: &Waiter) -> bool {
    let process = inspection.processes().find(|process| process.id == waiter.process);
    let threads = process.and_then(|process| process.threads.known()).map_or(&[][..], Vec::as_slice);
    threads.iter().filter(|thread| thread.tid == waiter.tid).any(|thread| match (&thread.call, &thread.sleep) {
        (Known::Known(call), _) => matches!(call, Call::Epoll { .. }),
        (Known::Unknown(_), Sleep::In(channel)) => Meaning::of(channel) == Meaning::Epoll,
        (Known::Unknown(_), Sleep::Awake | Sleep::Untold) => false,
    })
}

/// Runtimes whose own thread has the terminal in a list for good, and makes each entry anew as soon as it was used:
/// Erlang's, and so Elixir's.
const ALWAYS_LISTED: &[&str] = &["beam.smp"];

/// Whether the waiter is such a runtime, asleep in its list: that says nothing of what runs in it, which waits where its
/// prompt or a question stands, and is silent otherwise.
fn always_lists(inspection: &Inspection, waiter: &Waiter) -> bool {
    ALWAYS_LISTED.contains(&waiter.name.as_str()) && has_a_list(inspection, waiter)
}

/// Whether the terminal stands in the waiter's list for one time: whoever put it there, a thread of Haskell's for one,
/// asks now, wherever the cursor is and whatever an editor of lines has done before.
fn asks_once(inspection: &Inspection, waiter: &Waiter) -> bool {
    let Some(process) = inspection.processes().find(|process| process.id == waiter.process) else { return false };
    let files = process.files.known().map_or(&[][..], Vec::as_slice);
    let terminals: Vec<Inode> = files.iter().filter(|file| is_terminal(file)).map(|file| file.inode).collect();
    let lists = files.iter().filter_map(|file| match &file.kind {
        FileKind::Epoll(Known::Known(list)) => Some(list),
        _ => None,
    });
    let asked = lists.flatten().any(|entry| entry.input && entry.once && terminals.contains(&entry.inode));
    asked && has_a_list(inspection, waiter) && !ALWAYS_LISTED.contains(&process.name.as_str())
}

fn is_terminal(file: &OpenFile) -> bool {
    matches!(file.kind, FileKind::Terminal(_) | FileKind::ControllingTerminal)
}

/// Whether another thread than the one that waits is at work.
fn awake(inspection: &Inspection, waiter: &Waiter) -> bool {
    let process = inspection.processes().find(|process| process.id == waiter.process);
    let threads = process.and_then(|process| process.threads.known()).map_or(&[][..], Vec::as_slice);
    threads.iter().any(|thread| thread.tid != waiter.tid && thread.sleep == Sleep::Awake)
}

fn used(inspection: &Inspection, id: ProcessId) -> Option<u64> {
    inspection.processes().find(|process| process.id == id).map(|process| process.used)
}
