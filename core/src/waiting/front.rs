//! Which processes are the foreground job: those that a signal for it goes to.

use crate::inspect::{Inspection, Process, ProcessId};

/// Shells by name. One that is alone in front of its terminal is at its prompt, or is busy itself.
const SHELLS: &[&str] = &[
    "sh", "bash", "dash", "ash", "zsh", "fish", "ksh", "mksh", "yash", "tcsh", "csh", "busybox", "nu", "pwsh",
    "elvish", "xonsh",
];

/// A group of processes that has a terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    /// The process group.
    pub group: u32,
    /// Its members to be signalled, parents before their children.
    pub members: Vec<Member>,
    /// Whether that is all of the group, so that one signal to the group reaches them at one moment.
    pub whole: bool,
    /// Whether it leads to a far place, and is not the program that the user sees.
    pub carries: bool,
}

/// A process of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// The process.
    pub id: ProcessId,
    /// What the kernel calls it.
    pub name: String,
}

/// Members that are named; a build has dozens.
const NAMED: usize = 4;

/// The members of a job as a reply names them: each name once, and a shell only where it leads the job or nothing else
/// is there. A script is what its user has started; the shells of a makefile are nobody's.
#[must_use]
pub fn named(members: &[&Member]) -> String {
    let mut names: Vec<&str> = Vec::new();
    for member in members {
        if !names.contains(&member.name.as_str()) {
            names.push(&member.name);
        }
    }
    if names.iter().any(|name| !SHELLS.contains(name)) {
        let leader = names.first().copied();
        names.retain(|name| Some(*name) == leader || !SHELLS.contains(name));
    }
    let more = names.len().saturating_sub(NAMED);
    let last = if more > 0 {
        names.truncate(NAMED);
        format!("{more} more")
    } else {
        names.pop().unwrap_or_default().to_owned()
    };
    if names.is_empty() { last } else { format!("{} and {last}", names.join(", ")) }
}

/// Why there is no job to signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoJob {
    /// It cannot be seen what runs.
    Unseen,
    /// A shell has the terminal itself.
    Shell,
}

/// What must not be signalled.
#[derive(Debug, Clone, Copy)]
pub struct Spared<'a> {
    /// The process that the pane was started with, which is ours.
    pub pane: u32,
    /// Whether the program that it runs is a shell of the session.
    pub shell: bool,
    /// Shells that wait for their command to end.
    pub shells: &'a [u32],
}

/// The foreground jobs, the one that the signal is meant for first. The next is for where that one may not be
/// signalled: a relay (`sudo`) passes most signals on.
///
/// # Errors
/// Where there is no job.
pub fn jobs(inspection: &Inspection, spared: Spared<'_>, alternate: bool) -> Result<Vec<Job>, NoJob> {
    let front = inspection.front.known().filter(|front| !front.is_empty()).ok_or(NoJob::Unseen)?;
    let members: Vec<&Process> = front.iter().filter(|process| process.id.pid != spared.pane).collect();
    let first = members.first().ok_or(NoJob::Unseen)?;
    let own = |process: &&Process| {
        let session_shell = spared.shell && process.parent == spared.pane;
        session_shell || spared.shells.contains(&process.id.pid)
    };
    // Where no marker tells, a shell with nothing in front of it may be the session's.
    let alone = !spared.shell && members.len() == 1 && SHELLS.contains(&first.name.as_str());
    if alone || members.iter().any(own) {
        return Err(NoJob::Shell);
    }
    let outer = job(&members, members.len() == front.len());
    let inner = if alternate { None } else { inside(inspection) };
    Ok(inner.into_iter().chain([outer]).collect())
}

fn job(members: &[&Process], whole: bool) -> Job {
    Job {
        group: members.first().map_or(0, |process| process.group),
        members: members.iter().map(|process| Member { id: process.id, name: process.name.clone() }).collect(),
        whole,
        carries: members.iter().any(|process| process.carrier.is_some()),
    }
}

/// The job in front of the innermost terminal that a relay made. A relay takes keys one by one to pass them on; whoever
/// makes a terminal and leaves the pane's line by line (`expect`, a test suite) drives what is inside, and is the job.
fn inside(inspection: &Inspection) -> Option<Job> {
    let pane = inspection.terminal.known()?.device;
    inspection.modes.known().filter(|modes| !modes.canonical)?;
    let below = inspection.below.known()?;
    let other = |process: &&Process| process.in_front && process.controlling.is_some_and(|device| device != pane);
    let terminal = below.iter().rfind(other)?.controlling;
    let members: Vec<&Process> = below.iter().filter(other).filter(|process| process.controlling == terminal).collect();
    Some(job(&members, true))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

    use super::*;
    use crate::inspect::{Device, Inode, Known, TerminalFile, TerminalModes, Why};

    const PANE: Device = Device { major: 136, minor: 1 };
    const INNER: Device = Device { major: 136, minor: 2 };

    fn process(pid: u32, parent: u32, group: u32, name: &str, terminal: Device) -> Process {
        Process {
            id: ProcessId { pid, start: 1 },
            parent,
            group,
            session: 1,
            controlling: Some(terminal),
            in_front: true,
            name: name.to_owned(),
            stopped: false,
            traced: false,
            used: 0,
            owner: Known::Known(0),
            user: None,
            carrier: None,
            armed: false,
            scripted: false,
            files: Known::Unknown(Why::Refused),
            threads: Known::Unknown(Why::Refused),
        }
    }

    fn seen(canonical: bool, front: Vec<Process>, below: Vec<Process>) -> Inspection {
        let inode = Inode { device: Device { major: 0, minor: 1 }, number: 1 };
        Inspection {
            terminal: Known::Known(TerminalFile { inode, device: PANE }),
            modes: Known::Known(TerminalModes { canonical, echo: canonical, held: false }),
            front: Known::Known(front),
            below: Known::Known(below),
            ..Inspection::unknown(Why::NotAsked)
        }
    }

    fn name(job: &Job) -> String {
        super::named(&job.members.iter().collect::<Vec<_>>())
    }

    fn named(found: Result<Vec<Job>, NoJob>) -> Result<Vec<String>, NoJob> {
        found.map(|jobs| jobs.iter().map(name).collect())
    }

    #[test]
    fn a_job_is_all_of_its_processes() {
        let named = |names: &[&str]| {
            let group = names.iter().zip(20..).map(|(name, pid)| process(pid, 11, 20, name, PANE));
            name(&jobs(&seen(true, group.collect(), vec![]), BASH, false).unwrap()[0])
        };
        assert_eq!(named(&["sleep"]), "sleep");
        assert_eq!(named(&["yes", "cat", "bash"]), "yes and cat");
        assert_eq!(named(&["sh", "bash"]), "sh and bash");
        assert_eq!(named(&["bash", "sleep"]), "bash and sleep");
        assert_eq!(named(&["bash", "make", "sh", "gcc"]), "bash, make and gcc");
        assert_eq!(named(&["make", "sh", "gcc", "cc1", "gcc", "cc1", "as"]), "make, gcc, cc1 and as");
        assert_eq!(named(&["a", "b", "c", "d", "e", "f"]), "a, b, c, d and 2 more");
    }

    const BASH: Spared<'_> = Spared { pane: 10, shell: true, shells: &[11] };
    const PROGRAM: Spared<'_> = Spared { pane: 10, shell: false, shells: &[] };

    #[test]
    fn a_command_of_the_shell() {
        let jobs = jobs(&seen(true, vec![process(20, 11, 20, "sleep", PANE)], vec![]), BASH, false).unwrap();
        assert_eq!((jobs.len(), jobs[0].group, jobs[0].whole), (1, 20, true));
    }

    #[test]
    fn never_a_shell_of_the_session() {
        let shell = || vec![process(11, 10, 11, "bash", PANE)];
        assert_eq!(jobs(&seen(false, shell(), vec![]), BASH, false), Err(NoJob::Shell));
        // A plain shell as the session's program, and one inside that waits for what it runs in its own group.
        assert_eq!(jobs(&seen(false, shell(), vec![]), PROGRAM, false), Err(NoJob::Shell));
        let nested = vec![process(30, 11, 30, "bash", PANE), process(31, 30, 30, "sleep", PANE)];
        let spared = Spared { shells: &[11, 30], ..BASH };
        assert_eq!(jobs(&seen(true, nested, vec![]), spared, false), Err(NoJob::Shell));
        assert_eq!(jobs(&Inspection::unknown(Why::NobodyLooks), BASH, false), Err(NoJob::Unseen));
    }

    #[test]
    fn a_program_that_shares_our_group() {
        let front = vec![process(10, 1, 10, "dtmcp", PANE), process(12, 10, 10, "cat", PANE)];
        let jobs = jobs(&seen(true, front, vec![]), PROGRAM, false).unwrap();
        assert_eq!((jobs[0].whole, jobs[0].members.len(), name(&jobs[0]).as_str()), (false, 1, "cat"));
    }

    #[test]
    fn a_relay_is_followed_and_a_driver_is_not() {
        let below = || vec![process(21, 20, 21, "sudo", PANE), process(22, 21, 22, "sleep", INNER)];
        let front = || vec![process(20, 11, 20, "sudo", PANE)];
        let relayed = ["sleep".to_owned(), "sudo".to_owned()].to_vec();
        assert_eq!(named(jobs(&seen(false, front(), below()), BASH, false)), Ok(relayed));
        let driver = ["sudo".to_owned()].to_vec();
        assert_eq!(named(jobs(&seen(true, front(), below()), BASH, false)), Ok(driver.clone()));
        // On the alternate screen it is an editor with a terminal in it.
        assert_eq!(named(jobs(&seen(false, front(), below()), BASH, true)), Ok(driver));
    }
}
