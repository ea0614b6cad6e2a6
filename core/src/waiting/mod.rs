//! From an inspection to a judgement: does the program at the terminal wait for input?
//!
//! Pure, and in this order: a line that is asked for and not shown; typed input that nobody has read; programs that
//! lead to a far place; programs that pass keys on to a terminal of their own, which is looked at in the same way; who
//! watches the terminal; who was stopped for wanting to. What cannot be seen makes the answer [`Judgement::Unknown`],
//! never a guess.

use std::time::Duration;

use crate::inspect::{FileKind, Inspection, Known, Look, Process, ProcessId, TerminalFile, TerminalModes, Why};

pub mod at_work;
pub mod carrier;
pub mod channel;
pub mod front;
mod only;
pub(crate) mod options;
mod prints;
pub mod ssh;
mod steady;
mod stopped;
#[cfg(test)]
mod tests;
mod watch;

pub use carrier::Carrier;
pub use prints::Prints;
pub use steady::{Steady, Step};
use watch::{Target, View, Watch, Watching};

/// Output that is younger than this goes on: someone who takes keys meanwhile does not only wait. Bursts of programs
/// that were measured have shorter holes.
pub const GOES_ON: Duration = Duration::from_millis(100);

/// How many terminals inside terminals are followed. `sudo` in `script` in `sudo` is three; a tree of processes
/// without end is none.
const DEPTH_MAX: u32 = 8;

/// What else is known of the terminal when an inspection is judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Output {
    /// How long ago the last byte came.
    pub quiet: Duration,
    /// The alternate screen is on: a full-screen program paints it.
    pub alternate: bool,
    /// The column that the cursor stands in, from 0.
    pub column: u16,
    /// What stands on the cursor's line looks like a prompt or a question.
    pub asks: bool,
}

/// Who waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiter {
    /// The process.
    pub process: ProcessId,
    /// The thread that waits.
    pub tid: u32,
    /// What the kernel calls it.
    pub name: String,
    /// How long it waits at most; it then looks at something else, and waits again.
    pub timeout: Option<Duration>,
    /// It sits in a read; it does not poll.
    pub reads: bool,
    /// It was started by the foreground group, or stands outside, and is not a member of it.
    pub outside: bool,
    /// Where what it prints goes.
    pub prints: Prints,
}

/// What an inspection comes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Judgement {
    /// It waits for input, and what is typed is shown or drawn.
    Waits(Waiter),
    /// It waits for a line that is not shown: a password, most likely. Who does is not always to be seen.
    WaitsHidden(Option<Waiter>),
    /// It takes keys, and output goes on meanwhile, or it takes them whatever it does.
    Busy(Waiter),
    /// It works.
    Works,
    /// It was stopped, by a person or for wanting the terminal from the background. Nothing goes on until someone
    /// continues it.
    Stopped {
        /// What the kernel calls the stopped process.
        name: String,
    },
    /// The far end of a carrier decides, and is not to be seen from here.
    Carrier(Carrier),
    /// It cannot be told.
    Unknown(Why),
}

/// Judges an inspection.
#[must_use]
pub fn judge(inspection: &Inspection, output: Output) -> Judgement {
    let hidden = inspection.modes.known().is_some_and(|modes| modes.hide_a_line());
    // A line that is not shown is asked for by someone, whoever cannot be seen here.
    let blind = |why| if hidden { Judgement::WaitsHidden(None) } else { Judgement::Unknown(why) };
    let pane = match inspection.terminal {
        Known::Known(pane) => pane,
        Known::Unknown(why) => return blind(why),
    };
    let front = match &inspection.front {
        Known::Known(front) if front.is_empty() => return blind(Why::NobodyInFront),
        Known::Known(front) => front,
        Known::Unknown(why) => return blind(*why),
    };
    let scene = Scene { inspection, output, pane };
    let members: Vec<&Process> = front.iter().collect();
    match scene.terminal(&members, Target::Pane(pane), 0) {
        Judgement::Waits(waiter) if output.quiet < GOES_ON && !output.alternate => Judgement::Busy(waiter),
        other => other,
    }
}

/// Whether the processes that the foreground group started have to be looked at before anything can be said: nobody
/// in it watches the terminal, or someone who does passes keys on.
#[must_use]
pub fn needs_below(inspection: &Inspection) -> bool {
    let (Some(pane), Some(front)) = (inspection.terminal.known(), inspection.front.known()) else { return false };
    let target = Target::Pane(*pane);
    let views = || front.iter().map(|process| View::new(process, target, &inspection.modes));
    let watched = views().any(|view| matches!(view.watch(), Watch::Yes(_)));
    !watched || front.iter().any(has_master)
}

/// Whether the whole machine has to be looked at before anything can be said. Only where nobody near watches the
/// terminal: because it is asked for; because someone asks for a line that is not shown; or because a carrier sits
/// there and watches nothing, as it does when another process of its kind does the carrying.
#[must_use]
pub fn needs_elsewhere(inspection: &Inspection, look: Look) -> bool {
    let (Some(pane), Some(front)) = (inspection.terminal.known(), inspection.front.known()) else { return false };
    if look == Look::Beside {
        return true;
    }
    let target = Target::Pane(*pane);
    let below = inspection.below.known().map_or(&[][..], Vec::as_slice);
    let watches = |process| !matches!(View::new(process, target, &inspection.modes).watch(), Watch::No);
    let hidden = inspection.modes.known().is_some_and(|modes| modes.hide_a_line());
    let asked = look == Look::Everywhere || hidden || front.iter().any(|process| process.carrier.is_some());
    asked && !front.iter().chain(below).any(watches)
}

/// Who reads the terminal from a session of its own, beside whoever has it: by name and process id. What carries it to
/// another place, and came there by its own way, is none.
#[must_use]
pub fn reads_beside(inspection: &Inspection) -> Option<(String, u32)> {
    let target = Target::Pane(*inspection.terminal.known()?);
    let reads = |process: &&Process| {
        let watch = View::new(process, target, &inspection.modes).watch();
        process.carrier.is_none() && serves(&process.name).is_none() && matches!(watch, Watch::Yes(_))
    };
    let reader = inspection.elsewhere.known()?.iter().find(reads)?;
    Some((reader.name.clone(), reader.id.pid))
}

fn has_master(process: &Process) -> bool {
    let files = process.files.known().map_or(&[][..], Vec::as_slice);
    files.iter().any(|file| matches!(file.kind, FileKind::Master(_)))
}

/// One inspection, and what is asked about it.
struct Scene<'a> {
    inspection: &'a Inspection,
    output: Output,
    pane: TerminalFile,
}

/// The answers of several processes.
struct Found<'a> {
    watchers: Vec<(&'a Process, Watching)>,
    doubt: Option<Why>,
}

impl<'a> Scene<'a> {
    /// Judges one terminal, the pane's or one inside: `members` are the processes that may have it.
    fn terminal(&self, members: &[&'a Process], target: Target, depth: u32) -> Judgement {
        let (modes, unread) = self.state(target);
        let found = self.ask(members.iter().copied(), target, modes);
        let outer = matches!(target, Target::Pane(_));
        if modes.known().is_some_and(|modes| modes.hide_a_line()) {
            return match self.hidden(&found, target, modes) {
                Judgement::Works => self.stands(members, target),
                other => other,
            };
        }
        if unread.known().is_some_and(|bytes| *bytes > 0) && found.watchers.is_empty() {
            return self.stands(members, target);
        }
        if let Some(judgement) = self.carried(members, target, modes) {
            return judgement;
        }
        if let Some(judgement) = self.watched(&found, target, modes, depth) {
            return judgement;
        }
        if outer && let Some(waiter) = self.another_session(members, target, modes) {
            return Judgement::Waits(waiter);
        }
        if let Some(why) = found.doubt {
            return Judgement::Unknown(why);
        }
        if outer { self.nobody(members, target, modes) } else { self.stands(members, target) }
    }

    fn waiter(&self, process: &Process, watching: Watching, outside: bool) -> Waiter {
        Waiter {
            process: process.id,
            tid: watching.tid,
            name: process.name.clone(),
            timeout: watching.timeout,
            reads: watching.reads,
            outside,
            prints: self.prints(process),
        }
    }

    fn state(&self, target: Target) -> (&'a Known<TerminalModes>, &'a Known<u64>) {
        const MODES: &Known<TerminalModes> = &Known::Unknown(Why::Refused);
        const UNREAD: &Known<u64> = &Known::Unknown(Why::Refused);
        match target {
            Target::Pane(_) => (&self.inspection.modes, &self.inspection.unread),
            Target::Inner { number, .. } => {
                let inner = self.inspection.inner.iter().find(|inner| inner.number == number);
                inner.map_or((MODES, UNREAD), |inner| (&inner.modes, &inner.unread))
            }
        }
    }

    fn ask(
        &self,
        members: impl Iterator<Item = &'a Process>,
        target: Target,
        modes: &Known<TerminalModes>,
    ) -> Found<'a> {
        let mut found = Found { watchers: Vec::new(), doubt: None };
        for process in members {
            match View::new(process, target, modes).watch() {
                Watch::Yes(watching) => found.watchers.push((process, watching)),
                // Who has a terminal of its own with somebody at it watches that one.
                Watch::Maybe(Why::SeveralThings) if self.drives(process) => {}
                Watch::Maybe(why) => found.doubt = found.doubt.or(Some(why)),
                Watch::No => {}
            }
        }
        found
    }

    /// Whether a process holds the master side of a terminal that something it started uses.
    fn drives(&self, process: &Process) -> bool {
        let files = process.files.known().map_or(&[][..], Vec::as_slice);
        files.iter().any(|file| match &file.kind {
            FileKind::Master(Known::Known(number)) => self.used(&self.family(process), *number),
            _ => false,
        })
    }

    /// All that a process has started.
    fn family(&self, process: &Process) -> Vec<&'a Process> {
        let near = [&self.inspection.front, &self.inspection.below].into_iter().filter_map(Known::known).flatten();
        // Parents come before their children, so one pass finds all.
        let mut pids = vec![process.id.pid];
        let mut found = Vec::new();
        for other in near {
            if pids.contains(&other.parent) {
                pids.push(other.id.pid);
                found.push(other);
            }
        }
        found
    }

    /// Whether any of these has the terminal inside of this number, or may have.
    fn used(&self, family: &[&Process], number: u32) -> bool {
        let target = Target::Inner { number, pane: self.pane };
        family.iter().any(|process| match &process.files {
            Known::Known(files) => files.iter().any(|file| target.is(process, file)),
            Known::Unknown(_) => true,
        })
    }

    /// Whether all who have the terminal inside of this number are stopped by a debugger, as the program is that lldb
    /// debugs: nobody reads there, so that the debugger's own prompt is what takes keys.
    fn is_held(&self, family: &[&Process], number: u32) -> bool {
        let target = Target::Inner { number, pane: self.pane };
        let has = |process: &&&Process| match &process.files {
            Known::Known(files) => files.iter().any(|file| target.is(process, file)),
            Known::Unknown(_) => true,
        };
        let mut users = family.iter().filter(has).peekable();
        users.peek().is_some() && users.all(|process| process.traced)
    }

    /// A line is asked for that is not shown. Somebody asks, unless everybody who could was seen not to.
    fn hidden(&self, found: &Found<'a>, target: Target, modes: &Known<TerminalModes>) -> Judgement {
        if let Some((process, watching)) = found.watchers.first() {
            return Judgement::WaitsHidden(Some(self.waiter(process, *watching, false)));
        }
        let mut seen = found.doubt.is_none();
        // A terminal that was made inside is there for those who were started in it, who have all been asked.
        let more = match target {
            Target::Pane(_) => &[&self.inspection.below, &self.inspection.elsewhere][..],
            Target::Inner { .. } => &[],
        };
        for others in more {
            let Known::Known(others) = others else {
                seen = false;
                continue;
            };
            let others = self.ask(others.iter(), target, modes);
            if let Some((process, watching)) = others.watchers.first() {
                return Judgement::WaitsHidden(Some(self.waiter(process, *watching, true)));
            }
            seen &= others.doubt.is_none();
        }
        if seen { Judgement::Works } else { Judgement::WaitsHidden(None) }
    }

    /// Whether a carrier has the terminal, and what that means. The outermost counts: what is inside is not visible.
    fn carried(&self, members: &[&'a Process], target: Target, modes: &Known<TerminalModes>) -> Option<Judgement> {
        let session = members.first()?.session;
        let below = self.inspection.below.known().map_or(&[][..], Vec::as_slice);
        // A wrapper may start its carrier in a session of its own, as `sshpass` does.
        let apart = below.iter().filter(|process| process.session != session);
        let all = members.iter().copied().chain(apart.filter(|_| matches!(target, Target::Pane(_))));
        let (process, carrier) = all
            .filter(|process| holds_as_input(process, target))
            .find_map(|process| Some((process, process.carrier.as_ref()?)))?;
        let watch = View::new(process, target, modes).watch();
        match watch {
            Watch::Yes(watching) if watching.reads && carrier.asks_by_reading() => {
                return Some(Judgement::Waits(self.waiter(process, watching, false)));
            }
            Watch::No if modes.known().is_some_and(|modes| modes.canonical) => {
                let mut kin = members.iter().copied().chain(below).filter(|other| other.id != process.id);
                let watches = |other: &Process| !matches!(View::new(other, target, modes).watch(), Watch::No);
                let near = kin.any(|other| other.name == process.name && watches(other));
                match &self.inspection.elsewhere {
                    Known::Known(elsewhere) if !near && !elsewhere.iter().any(watches) => {
                        // It connects, listens or was told to read nothing.
                        return Some(Judgement::Works);
                    }
                    _ => {}
                }
            }
            _ => {}
        }
        let lines = modes.known().is_some_and(|modes| modes.canonical);
        Some(Judgement::Carrier(if lines { carrier.by_lines() } else { carrier.clone() }))
    }

    /// What those who watch the terminal come to: someone waits, or all pass keys on to somebody who works.
    fn watched(
        &self,
        found: &Found<'a>,
        target: Target,
        modes: &Known<TerminalModes>,
        depth: u32,
    ) -> Option<Judgement> {
        let mut relayed = None;
        for (process, watching) in &found.watchers {
            let family = self.family(process);
            let mut masters = View::new(process, target, modes).masters();
            masters.retain(|(number, sure)| (*sure || self.used(&family, *number)) && !self.is_held(&family, *number));
            // On the alternate screen it is an application with a terminal in it: an editor, a debugger.
            let application = self.output.alternate && depth == 0;
            if masters.is_empty() || application {
                return Some(Judgement::Waits(self.waiter(process, *watching, false)));
            }
            for (number, _) in masters {
                match self.inside(&family, number, depth) {
                    Judgement::Works => {
                        relayed.get_or_insert(Judgement::Works);
                    }
                    judgement @ Judgement::Unknown(_) => relayed = Some(judgement),
                    judgement => return Some(judgement),
                }
            }
        }
        relayed
    }

    /// Judges a terminal that a process made for those it started.
    fn inside(&self, family: &[&'a Process], number: u32, depth: u32) -> Judgement {
        match &self.inspection.below {
            Known::Unknown(why) => Judgement::Unknown(*why),
            Known::Known(_) if depth >= DEPTH_MAX => Judgement::Unknown(Why::SeveralThings),
            // Whoever is there was started by another: a service manager, a server of containers.
            Known::Known(_) if family.is_empty() => Judgement::Unknown(Why::NobodyInFront),
            Known::Known(_) => self.terminal(family, Target::Inner { number, pane: self.pane }, depth + 1),
        }
    }

    /// Somebody the group started reads the terminal from a session of its own, where nobody stops it for that.
    fn another_session(&self, members: &[&'a Process], target: Target, modes: &Known<TerminalModes>) -> Option<Waiter> {
        let session = members.first()?.session;
        let below = self.inspection.below.known()?;
        let apart = below.iter().filter(|process| process.session != session);
        let found = self.ask(apart, target, modes);
        found.watchers.first().map(|(process, watching)| self.waiter(process, *watching, true))
    }

    /// Nobody in front watches the terminal.
    fn nobody(&self, members: &[&'a Process], target: Target, modes: &Known<TerminalModes>) -> Judgement {
        if let Some(judgement) = self.stopped(members, target) {
            return judgement;
        }
        let session = members.first().map(|process| process.session);
        if let Known::Known(below) = &self.inspection.below {
            let apart = below.iter().filter(|process| Some(process.session) != session);
            if let Some(why) = self.ask(apart, target, modes).doubt {
                return Judgement::Unknown(why);
            }
        }
        let Known::Known(elsewhere) = &self.inspection.elsewhere else { return Judgement::Works };
        let found = self.ask(elsewhere.iter(), target, modes);
        let multiplexer = |process: &Process| match &process.carrier {
            Some(carrier) => Some(carrier.clone()),
            None => serves(&process.name).map(|program| Carrier::new(program, "nested")),
        };
        match found.watchers.first() {
            Some((process, watching)) => match multiplexer(process) {
                Some(carrier) => Judgement::Carrier(carrier),
                None => Judgement::Waits(self.waiter(process, *watching, true)),
            },
            None => found.doubt.map_or(Judgement::Works, Judgement::Unknown),
        }
    }

    /// What nobody reads, though a line is asked for or was typed, is for somebody who works, or was stopped.
    fn stands(&self, members: &[&'a Process], target: Target) -> Judgement {
        self.stopped(members, target).unwrap_or(Judgement::Works)
    }
}

/// Servers of multiplexers, by the name they give themselves.
fn serves(name: &str) -> Option<&'static str> {
    match name {
        "tmux: server" => Some("tmux"),
        "screen" | "SCREEN" => Some("screen"),
        "ssh" => Some("ssh"),
        _ => None,
    }
}

/// Whether a process has the terminal as its standard input. The ssh under `git` or `rsync` has not.
fn holds_as_input(process: &Process, target: Target) -> bool {
    match &process.files {
        Known::Known(files) => files.iter().any(|file| file.fd == 0 && target.is(process, file)),
        Known::Unknown(_) => true,
    }
}
