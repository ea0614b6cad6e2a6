//! The integrated shells of a session, one inside the other, and which of their markers are to be believed.
//!
//! A marker with the right nonce may still be none that a shell prints now: somebody may show the session's own log.
//! Each shell counts its markers, and what does not count on is a replay.

use std::collections::{BTreeMap, VecDeque};

use super::store::Closing;
use super::{Place, ShellId};
use crate::time::Wall;
use crate::vt::marker::{Kind, Marker};

/// Shells remembered after they are gone, so that a replay of theirs is known for one. A session of a thousand nested
/// shells is rare, and a replay of shells older than that, from the very same session, is rarer.
const GONE_MAX: usize = 1000;

/// Shells one inside the other; beyond, the outermost are forgotten.
const NESTED_MAX: usize = 64;

/// What a shell does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// At its prompt, or just before showing it.
    AtPrompt {
        /// Whether the prompt is complete and typing may start.
        ready: bool,
        /// When the prompt came.
        since: Wall,
    },
    /// It asks for the rest of a command.
    Continuing {
        /// Whether its continuation prompt is complete.
        ready: bool,
    },
    /// It asks for the rest of a command without a prompt, in an editor of several lines (fish).
    Editing {
        /// How many were submitted so far.
        lines: u64,
    },
    /// It runs a command.
    Running,
}

/// An integrated shell.
#[derive(Debug, Clone)]
pub(crate) struct Shell {
    pub(crate) id: ShellId,
    pub(crate) instance: String,
    /// Where it runs, by its markers and by the command that led there.
    pub(crate) place: Place,
    /// The counter of its last marker that has one.
    seq: u64,
    pub(crate) phase: Phase,
    /// Whether its last prompt came to its end marker; none before the first one.
    pub(crate) completes: Option<bool>,
    /// The open region of its command.
    pub(crate) region: Option<u32>,
    pub(crate) cwd: Option<String>,
    /// The stages it told last, believed or not.
    pub(crate) stages: Vec<i32>,
    /// The end of its command's output, where that was told before the status.
    pub(crate) early: Option<Closing>,
    /// The line that it would not run and leaves on its command line (fish), painted already or not.
    pub(crate) leftover: Option<String>,
    /// The lines of its last input behind the first, for when each turns out to be a command.
    pub(crate) pasted: VecDeque<String>,
}

impl Shell {
    /// Its prompt is over: another follows, or a command.
    pub(crate) fn leave_prompt(&mut self) {
        if let Phase::AtPrompt { ready, .. } = self.phase {
            self.completes = Some(ready);
        }
    }

    /// How many lines stand below the one with its prompt, where it edits several, as it says and by the line that it
    /// tells with this marker.
    pub(crate) fn edited(&self, marker: &Marker) -> u64 {
        let told = marker.cmd.as_deref().map_or(0, |line| line.matches('\n').count() as u64);
        match self.phase {
            Phase::Editing { lines } => lines.max(told),
            _ => told,
        }
    }
}

/// Whose marker it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Admitted {
    /// Of the shell at this depth.
    Known(usize),
    /// Of a shell that has just shown itself, or one that was thought gone.
    New,
    /// No shell's: a replay.
    No,
}

/// The shells, outermost first.
#[derive(Debug, Clone, Default)]
pub(crate) struct Shells {
    stack: Vec<Shell>,
    /// The last counter of shells that are gone.
    gone: BTreeMap<String, u64>,
    gone_order: VecDeque<String>,
}

impl Shells {
    /// A command begins: none of those around it has come to the end of its output, whatever was told early.
    pub(crate) fn output_goes_on(&mut self) {
        self.stack.iter_mut().for_each(|shell| shell.early = None);
    }

    /// The shell that has the terminal.
    pub(crate) fn top(&self) -> Option<&Shell> {
        self.stack.last()
    }

    pub(crate) fn top_mut(&mut self) -> Option<&mut Shell> {
        self.stack.last_mut()
    }

    /// The shell at this depth, the outermost at 0.
    pub(crate) fn at_mut(&mut self, depth: usize) -> Option<&mut Shell> {
        self.stack.get_mut(depth)
    }

    /// Their process ids, outermost first.
    pub(crate) fn pids(&self) -> impl DoubleEndedIterator<Item = u32> {
        self.stack.iter().map(|shell| shell.id.pid)
    }

    /// How many are around the innermost shell that is this.
    pub(crate) fn find(&self, is: impl Fn(&Shell) -> bool) -> Option<usize> {
        self.stack.iter().rposition(is)
    }

    pub(crate) fn depth(&self) -> usize {
        self.stack.len()
    }

    /// Whether a marker without a counter (B, P) comes from the shell that has the terminal.
    pub(crate) fn is_top(&self, marker: &Marker) -> bool {
        self.top().is_some_and(|top| top.id.pid == marker.pid && top.instance == marker.instance)
    }

    /// Judges a marker with a counter, and counts it.
    pub(crate) fn admit(&mut self, marker: &Marker) -> Admitted {
        let Some(seq) = marker.seq else { return Admitted::No };
        let same = |shell: &Shell| shell.instance == marker.instance && shell.id.pid == marker.pid;
        if let Some(depth) = self.stack.iter().rposition(same) {
            let Some(shell) = self.stack.get_mut(depth) else { return Admitted::No };
            // The prompt is drawn again with the counter it has.
            let redraw = marker.kind == Kind::Prompt && seq == shell.seq;
            if seq <= shell.seq && !redraw {
                return Admitted::No;
            }
            shell.seq = seq;
            return Admitted::Known(depth);
        }
        if self.gone.get(&marker.instance).is_some_and(|&last| seq <= last) {
            return Admitted::No;
        }
        // A shell shows itself with its first end marker, or, where it cannot print one, with a prompt. Where it could not
        // print that either, it says with the start of its first command that it is new.
        if marker.kind == Kind::Output && marker.new_shell.is_none() { Admitted::No } else { Admitted::New }
    }

    /// Whether this marker's prompt is one that stands already, drawn again. Ask before [`Self::admit`].
    pub(crate) fn is_redraw(&self, marker: &Marker) -> bool {
        self.is_top(marker) && self.top().is_some_and(|top| marker.seq == Some(top.seq))
    }

    /// The depth of a shell in whose process another has started by `exec`.
    pub(crate) fn replaced_by(&self, marker: &Marker) -> Option<usize> {
        let host = marker.host.as_deref().unwrap_or_default();
        self.stack.iter().rposition(|shell| shell.id.pid == marker.pid && shell.id.host == host)
    }

    /// Puts a shell on top. Returns the open region of a shell that had to be forgotten for it.
    pub(crate) fn push(&mut self, marker: &Marker, place: Place, since: Wall) -> Option<u32> {
        self.gone.remove(&marker.instance);
        self.gone_order.retain(|instance| *instance != marker.instance);
        let mut forgotten = None;
        if self.stack.len() >= NESTED_MAX {
            let shell = self.stack.remove(0);
            forgotten = shell.region;
            self.bury(shell);
        }
        self.stack.push(Shell {
            id: ShellId { host: marker.host.clone().unwrap_or_default(), pid: marker.pid },
            instance: marker.instance.clone(),
            place,
            seq: marker.seq.unwrap_or_default(),
            phase: Phase::AtPrompt { ready: false, since },
            completes: None,
            region: None,
            cwd: None,
            stages: Vec::new(),
            early: None,
            leftover: None,
            pasted: VecDeque::new(),
        });
        forgotten
    }

    /// Takes the shell on top away.
    pub(crate) fn pop(&mut self) -> Option<Shell> {
        let shell = self.stack.pop()?;
        self.bury(shell.clone());
        Some(shell)
    }

    fn bury(&mut self, shell: Shell) {
        self.gone.insert(shell.instance.clone(), shell.seq);
        self.gone_order.push_back(shell.instance);
        if self.gone_order.len() > GONE_MAX
            && let Some(oldest) = self.gone_order.pop_front()
        {
            self.gone.remove(&oldest);
        }
    }
}
