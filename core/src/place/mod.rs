//! Where a session is: on which host, as which user, in which container.
//!
//! An integrated shell says it in its markers. While something else has the terminal, the processes at it tell: a
//! carrier leads away, and a shell of another user has been reached through `su` or `sudo`. The first carrier decides:
//! what lies behind it cannot be seen, unless a shell there has markers of its own.

mod entering;
mod line;

use crate::inspect::{FileKind, Inspection, Known, Process};
use crate::region::Place;
use crate::waiting::Judgement;
use crate::waiting::carrier::Carrier;
pub use entering::{Takes, shell_asked, takes};
use line::{Opens, opens};
pub use line::{brings_along, runs_script};

/// Names of shells, as the kernel keeps them. A program that runs as somebody else (`sudo apt`, `sudo sh -c`) is no place to
/// be; a shell that reads commands is.
const SHELLS: &[&str] = &[
    "bash", "rbash", "zsh", "fish", "sh", "dash", "ksh", "ksh93", "mksh", "yash", "posh", "tcsh", "csh", "ash",
    "busybox",
];

/// Programs that ask who somebody is before they start a shell as another user. Until then they are root's, and no place.
const BECOMES: &[&str] = &["su", "sudo", "doas", "pkexec", "run0", "newgrp", "sg", "login", "runuser", "machinectl"];

/// Carriers whose destination is a container or a sandbox on the host they run on.
const CONTAINERS: &[&str] = &[
    "docker",
    "docker compose",
    "podman",
    "nerdctl",
    "kubectl",
    "oc",
    "machinectl",
    "lxc",
    "incus",
    "openshell",
    "virsh",
];

/// How a place differs from the one that goes without saying, as a part of a status line; none where it does not.
#[must_use]
pub fn differs(place: &Place, home: &Place) -> Option<String> {
    let mut parts = Vec::new();
    if let Some(container) = &place.container {
        parts.push(format!("in {container}"));
    }
    match (place.host == home.host, place.user == home.user || place.user.is_empty()) {
        (true, true) => {}
        (true, false) => parts.push(format!("as {}", place.user)),
        (false, true) => parts.push(format!("on {}", place.host)),
        (false, false) => parts.push(format!("on {}@{}", place.user, place.host)),
    }
    (!parts.is_empty()).then(|| parts.join(" "))
}

/// The place as it is kept for an agent that was told of it; empty for home.
#[must_use]
pub fn told(place: &Place, home: &Place) -> String {
    if differs(place, home).is_none() {
        return String::new();
    }
    let inside = place.container.as_deref().map_or_else(String::new, |container| format!(" {container}"));
    format!("{}@{}{inside}", place.user, place.host)
}

/// The news that a session has come to a place.
#[must_use]
pub fn arrived(place: &Place, home: &Place) -> String {
    match (&place.container, differs(place, home)) {
        (_, None) => format!("the session is back on {} as {}", home.host, home.user),
        (Some(container), Some(_)) => format!("the session is now in {container} on {}", place.host),
        (None, Some(_)) if place.user.is_empty() => format!("the session is now on {}", place.host),
        (None, Some(_)) => format!("the session is now on {} as {}", place.host, place.user),
    }
}

/// Where the terminal leads from the shell that has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Beyond {
    /// The place.
    pub place: Place,
    /// A carrier leads there: who waits at the far end cannot be seen.
    pub carried: bool,
}

/// Where the terminal leads, by the processes at it and what they were judged to do; `from` is the place of the shell that
/// started them, and `before` where they led when somebody looked last. None where nothing leads away from it.
///
/// The shell that a program was started from is not among those at the terminal. So what runs there as the user of before,
/// or asks to become another one, leads where it did.
#[must_use]
pub fn beyond(inspection: &Inspection, judgement: &Judgement, from: &Place, before: Option<&Beyond>) -> Option<Beyond> {
    let Some(front) = inspection.front.known() else { return before.cloned() };
    let below = inspection.below.known().map_or(&[][..], Vec::as_slice);
    if let Some((_, carrier)) = carriers(inspection).next() {
        // One that asks for a password, or connects, has not come there yet.
        let arrived = match judgement {
            Judgement::Carrier(carrier) => carrier.terminal,
            Judgement::Unknown(_) => true,
            _ => false,
        };
        let there = destination(carrier, from);
        let same = |before: &&Beyond| !before.carried || there.as_ref() == Some(&before.place);
        let stays = before.filter(same).cloned();
        return there.filter(|_| arrived).map(|place| Beyond { place, carried: true }).or(stays);
    }
    let before = before.filter(|before| !before.carried);
    let reads = |process: &&Process| is_shell(process);
    let Some(shell) = below.iter().rev().find(reads).or_else(|| front.iter().rev().find(reads)) else {
        let stays = |process: &Process| {
            let becomes = BECOMES.contains(&process.name.as_str());
            becomes || before.is_some_and(|before| user(process).as_ref() == Some(&before.place.user))
        };
        return before.filter(|_| front.is_empty() || front.iter().any(stays)).cloned();
    };
    let user = user(shell)?;
    (user != from.user).then(|| Beyond { place: Place { user, ..from.clone() }, carried: false })
}

/// Whether a process is a shell that reads commands from its terminal.
fn is_shell(process: &Process) -> bool {
    SHELLS.contains(&process.name.as_str()) && !process.scripted
}

/// Whose a process is, as far as that is to be seen.
fn user(process: &Process) -> Option<String> {
    let Known::Known(uid) = process.owner else { return None };
    Some(process.user.clone().unwrap_or_else(|| uid.to_string()))
}

/// Whether a carrier leads to the shell that has the terminal, so that what that runs is not to be seen: one that an
/// outer shell started, or that is the session's own program. `shells` are the process ids of the integrated shells,
/// the one that has the terminal last.
#[must_use]
pub fn is_behind_carrier(inspection: &Inspection, shells: &[u32]) -> bool {
    let Some((carrier, _)) = carriers(inspection).next() else { return false };
    let Some((top, outer)) = shells.split_last() else { return false };
    let known = |pid: u32| processes(inspection).find(|process| process.id.pid == pid);
    let mut pid = carrier.id.pid;
    // Each step leads to a parent that was seen; a loop can be none of theirs, and the count makes sure.
    for _ in 0..=processes(inspection).count() {
        if pid == *top {
            return false;
        }
        if outer.contains(&pid) {
            return true;
        }
        let Some(process) = known(pid) else { break };
        pid = process.parent;
    }
    // A shell of somebody else's may be between them.
    let nearest = inspection.above.iter().rev().find(|&pid| pid == top || outer.contains(pid));
    if let Some(nearest) = nearest {
        return nearest != top;
    }
    // In a sandbox with process ids of its own, a shell's are other ones than are seen from here.
    outer.is_empty()
}

fn processes(inspection: &Inspection) -> impl Iterator<Item = &Process> {
    [&inspection.front, &inspection.below].into_iter().filter_map(Known::known).flatten()
}

fn carriers(inspection: &Inspection) -> impl Iterator<Item = (&Process, &Carrier)> {
    processes(inspection).filter_map(carrying)
}

/// Where a command line leads whose processes are not to be seen from here. None where it opens no shell, as far as its
/// words tell.
#[must_use]
pub fn told_by_line(line: &str, from: &Place) -> Option<Beyond> {
    let place = match opens(line)? {
        Opens::Far(carrier) => destination(&carrier, from)?,
        Opens::UserShell(user) => Place { user, ..from.clone() },
        Opens::Shell(_) => from.clone(),
    };
    Some(Beyond { place, carried: true })
}

/// Where a shell is that showed itself while a command line ran: what it said, with the name that the line has for the
/// place where the shell's own tells it from nothing. A container's host name is a number as a rule, and a host may have
/// the name of the one before. `from` is the place of the shell that ran the line, and `from_host` its own word for that
/// host.
#[must_use]
pub fn reached(line: &str, from: &Place, from_host: &str, said: Place) -> Place {
    let named = match opens(line) {
        Some(Opens::Far(carrier)) => destination(&carrier, from),
        Some(Opens::UserShell(_) | Opens::Shell(_)) | None => None,
    };
    match named {
        Some(named) if named.container.is_some() => Place { user: said.user, ..named },
        Some(named) if said.host == from_host && !is_this_host(&named.host, from_host) => {
            Place { host: named.host, ..said }
        }
        None if said.host == from_host => Place { user: said.user, ..from.clone() },
        _ => said,
    }
}

/// Whether a destination is a name of the host where it is given.
fn is_this_host(name: &str, host: &str) -> bool {
    let within = |long: &str, short: &str| long.strip_prefix(short).is_some_and(|rest| rest.starts_with('.'));
    name == host
        || within(name, host)
        || within(host, name)
        || matches!(name, "localhost" | "::1")
        || within(name, "localhost")
        || within(name, "127")
}

/// The shell that a command line opens, by its name, where its words name one.
#[must_use]
pub fn shell_opened(line: &str) -> Option<String> {
    match opens(line)? {
        Opens::Shell(name) => Some(name),
        Opens::Far(_) | Opens::UserShell(_) => None,
    }
}

/// Who would take a line that is typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Taker {
    /// A shell, by the name the kernel keeps.
    Shell(String),
    /// Whatever is at the far end of a carrier.
    Far,
    /// Another program.
    Program(String),
}

/// Who would take a line, by the processes at the terminal and what they were judged to do; none where they cannot be seen.
#[must_use]
pub fn taker(inspection: &Inspection, judgement: &Judgement) -> Option<Taker> {
    let front = inspection.front.known()?;
    let below = inspection.below.known().map_or(&[][..], Vec::as_slice);
    if carriers(inspection).next().is_some() {
        return Some(Taker::Far);
    }
    // Whoever waits for it. What a shell has started in the background without a job of its own, as fish its reader of
    // manuals, is in front as the shell is.
    let waits = |process: &&Process| match judgement {
        Judgement::Waits(waiter) | Judgement::Busy(waiter) => process.id == waiter.process,
        _ => false,
    };
    // Else the innermost that its own terminal listens to: `sudo` gives what it runs a terminal inside its own.
    let listens = || front.iter().chain(below).rfind(|process| process.in_front);
    let process = front.iter().chain(below).find(waits).or_else(listens)?;
    let name = process.name.clone();
    Some(if is_shell(process) { Taker::Shell(name) } else { Taker::Program(name) })
}

/// What carries what is printed on the terminal it makes to its own, so that a shell there has the session's.
const RELAYS: &[&str] = &["sudo", "script"];

/// Whether who would take a line is a bash that was started with the integration, and brings it back with its first command
/// at the latest: on the pane's own terminal, or where a relay carries. On any other its marks would lead nowhere.
#[must_use]
pub fn is_armed(inspection: &Inspection) -> bool {
    let Some(process) = processes(inspection).filter(|process| process.in_front).last() else { return false };
    let pane = inspection.terminal.known().map(|terminal| terminal.device);
    let here = pane.is_some() && process.controlling == pane;
    let relayed = || inspection.front.known().into_iter().flatten().any(|front| RELAYS.contains(&front.name.as_str()));
    process.armed && (here || relayed())
}

/// The carrier that a process is, if it carries a terminal and has one.
fn carrying(process: &Process) -> Option<(&Process, &Carrier)> {
    let carrier = process.carrier.as_ref().filter(|carrier| carrier.terminal)?;
    let terminal = match &process.files {
        Known::Known(files) => files.iter().any(|file| file.fd == 0 && matches!(file.kind, FileKind::Terminal(_))),
        Known::Unknown(_) => true,
    };
    terminal.then_some((process, carrier))
}

fn destination(carrier: &Carrier, from: &Place) -> Option<Place> {
    let (user, name) = match carrier.destination.rsplit_once('@') {
        Some((user, name)) => (user.to_owned(), name),
        None => (String::new(), carrier.destination.as_str()),
    };
    if carrier.destination == "nested" || matches!(carrier.program, "run0" | "systemd-run") {
        return None;
    }
    if CONTAINERS.contains(&carrier.program) {
        let user = if user.is_empty() { from.user.clone() } else { user };
        return Some(Place { user, container: Some(name.to_owned()), ..from.clone() });
    }
    // The port is the way, not the place.
    let host = match name.strip_prefix('[').and_then(|six| six.split_once(']')) {
        Some((host, _)) => host,
        None => match name.split_once(':') {
            Some((host, port)) if !port.contains(':') => host,
            _ => name,
        },
    };
    Some(Place { host: host.to_owned(), user, container: None })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use crate::inspect::{Device, Inode, ProcessId, TerminalFile, Why};
    use crate::waiting::carrier::carrier;
    use crate::waiting::{Prints, Waiter};

    fn place(host: &str, user: &str, container: Option<&str>) -> Place {
        Place { host: host.into(), user: user.into(), container: container.map(str::to_owned) }
    }

    fn leads(line: &str) -> Option<Place> {
        let words: Vec<&str> = line.split(' ').collect();
        destination(&carrier(&words).unwrap(), &place("vm", "me", None))
    }

    #[test]
    fn a_command_line_names_a_place() {
        assert_eq!(leads("ssh -p 22 u@build7"), Some(place("build7", "u", None)));
        assert_eq!(leads("ssh build7"), Some(place("build7", "", None)));
        assert_eq!(leads("ssh ssh://u@[::1]:22"), Some(place("::1", "u", None)));
        assert_eq!(leads("ssh ::1"), Some(place("::1", "", None)));
        assert_eq!(leads("docker exec -it web bash"), Some(place("vm", "me", Some("web"))));
        assert_eq!(leads("machinectl shell root@c1"), Some(place("vm", "root", Some("c1"))));
        assert_eq!(leads("tmux attach"), None);
    }

    fn runs(name: &str, user: &str) -> Inspection {
        let process = Process {
            id: ProcessId::default(),
            parent: 1,
            group: 7,
            session: 1,
            controlling: None,
            in_front: true,
            name: name.to_owned(),
            stopped: false,
            traced: false,
            used: 0,
            owner: Known::Known(0),
            user: Some(user.to_owned()),
            carrier: None,
            armed: false,
            scripted: false,
            files: Known::Known(Vec::new()),
            threads: Known::Known(Vec::new()),
        };
        Inspection { front: Known::Known(vec![process]), ..Inspection::unknown(Why::NotAsked) }
    }

    #[test]
    fn a_shell_brings_its_marks_back_where_they_reach_the_pane() {
        let device = |minor| Device { major: 136, minor };
        let file = TerminalFile { inode: Inode { device: device(0), number: 5 }, device: device(1) };
        let armed = |front: &str, on: u32| {
            let mut inspection = runs(front, "me");
            inspection.terminal = Known::Known(file);
            let mut shell = runs("bash", "me").front.known().cloned().unwrap_or_default();
            for process in &mut shell {
                (process.armed, process.controlling) = (true, Some(device(on)));
            }
            inspection.below = Known::Known(shell);
            is_armed(&inspection)
        };
        assert!(armed("bash", 1));
        assert!(armed("script", 2) && armed("sudo", 2));
        assert!(!armed("expect", 2));
    }

    #[test]
    fn what_another_users_shell_runs_leads_where_that_did() {
        let from = place("vm", "me", None);
        let at_ann = Beyond { place: place("vm", "ann", None), carried: false };
        let leads = |name: &str, user: &str, before: Option<&Beyond>| {
            beyond(&runs(name, user), &Judgement::Works, &from, before).map(|beyond| beyond.place.user)
        };
        assert_eq!(leads("bash", "ann", None).as_deref(), Some("ann"));
        // A program of that shell's, and one that asks for a password.
        for (name, user) in [("sleep", "ann"), ("su", "root"), ("sudo", "root")] {
            assert_eq!(leads(name, user, Some(&at_ann)).as_deref(), Some("ann"), "{name}");
            assert_eq!(leads(name, user, None), None, "{name}");
        }
        // What is back, or another program that went on after it.
        assert_eq!(leads("sh", "me", Some(&at_ann)), None);
        assert_eq!(leads("python3", "me", Some(&at_ann)), None);
        let far = Beyond { place: place("build7", "", None), carried: true };
        assert_eq!(leads("python3", "me", Some(&far)), None, "the carrier is gone");
        let unseen = Inspection::unknown(Why::Gone);
        assert_eq!(beyond(&unseen, &Judgement::Works, &from, Some(&at_ann)), Some(at_ann));
    }

    #[test]
    fn a_shell_that_runs_a_script_is_no_place() {
        let from = place("vm", "me", None);
        let at_ann = Beyond { place: place("vm", "ann", None), carried: false };
        let mut script = runs("sudo", "root");
        let Known::Known(front) = &mut script.front else { return };
        front.push(Process { name: "sh".into(), scripted: true, ..front[0].clone() });
        assert_eq!(beyond(&script, &Judgement::Works, &from, Some(&at_ann)), Some(at_ann));
        assert_eq!(taker(&script, &Judgement::Works), Some(Taker::Program("sh".into())));
    }

    #[test]
    fn a_line_is_for_the_shell_that_waits_though_it_works_in_the_background() {
        let mut reader = runs("fish", "me");
        let Known::Known(front) = &mut reader.front else { return };
        front.push(Process { id: ProcessId { pid: 9, start: 1 }, name: "python3".into(), ..front[0].clone() });
        let waiter = Waiter {
            process: front[0].id,
            tid: 1,
            name: "fish".into(),
            timeout: None,
            reads: false,
            outside: false,
            prints: Prints::Shown,
        };
        assert_eq!(taker(&reader, &Judgement::Waits(waiter)), Some(Taker::Shell("fish".into())));
        assert_eq!(taker(&reader, &Judgement::Works), Some(Taker::Program("python3".into())));
    }

    #[test]
    fn a_carrier_below_the_shell_is_known_by_what_it_descends_from() {
        let mut ssh = runs("ssh", "ann");
        let Known::Known(front) = &mut ssh.front else { return };
        front[0].carrier = carrier(&["ssh", "build7"]);
        front[0].files = Known::Unknown(Why::Refused);
        ssh.above = vec![2, 3, 4, 5];
        assert!(!is_behind_carrier(&ssh, &[3]), "by way of another user's shell");
        assert!(is_behind_carrier(&ssh, &[3, 77]), "the innermost shell is a far one");
        assert!(is_behind_carrier(&ssh, &[77]), "what the session runs leads to it");
    }

    #[test]
    fn a_line_given_to_a_far_shell_names_one_too() {
        let from = place("build7", "me", None);
        let leads = |line: &str| told_by_line(line, &from).map(|beyond| beyond.place);
        assert_eq!(leads("ssh -p 22 u@deep"), Some(place("deep", "u", None)));
        assert_eq!(leads("podman exec -it web sh"), Some(place("build7", "me", Some("web"))));
        assert_eq!(leads("sudo -i"), Some(place("build7", "root", None)));
        assert_eq!(leads("sh"), Some(from.clone()));
        for line in ["ssh deep ls", "ssh \"$host\"", "cd x && ssh deep", "make", "", "ssh -N deep"] {
            assert_eq!(leads(line), None, "{line}");
        }
    }

    #[test]
    fn a_shell_is_where_the_line_says_that_led_there() {
        let (home, deep) = (place("vm", "me", None), place("deep", "me", Some("web")));
        let box7 = place("box7", "ann", None);
        let at = |line: &str, host: &str| reached(line, &home, "vm", Place { host: host.into(), ..box7.clone() });
        assert_eq!(at("ssh build7", "box7"), box7, "its own word");
        assert_eq!(at("dtmcp ssh ann@build7", "vm"), place("build7", "ann", None), "a host of the same name");
        for line in ["ssh localhost", "ssh 127.0.0.1", "ssh vm.example.org", "ssh vm", "su ann", "./way"] {
            assert_eq!(at(line, "vm"), place("vm", "ann", None), "{line}");
        }
        assert_eq!(at("dtmcp into podman exec -it web", "4f2a"), place("vm", "ann", Some("web")));
        assert_eq!(at("dtmcp into bwrap --", "box7"), box7);
        // Inside it, it stays there.
        let inside = reached("su ann", &deep, "4f2a", Place { host: "4f2a".into(), ..box7 });
        assert_eq!(inside, place("deep", "ann", Some("web")));
    }

    #[test]
    fn a_place_is_told_by_what_differs() {
        let home = place("vm", "me", None);
        for (there, status, news) in [
            (home.clone(), None, "the session is back on vm as me"),
            (place("vm", "root", None), Some("as root"), "the session is now on vm as root"),
            (place("build7", "", None), Some("on build7"), "the session is now on build7"),
            (place("build7", "me", None), Some("on build7"), "the session is now on build7 as me"),
            (place("build7", "u", None), Some("on u@build7"), "the session is now on build7 as u"),
            (place("vm", "me", Some("web")), Some("in web"), "the session is now in web on vm"),
        ] {
            assert_eq!(differs(&there, &home).as_deref(), status);
            assert_eq!(arrived(&there, &home), news);
            assert_eq!(told(&there, &home).is_empty(), status.is_none());
        }
    }
}
