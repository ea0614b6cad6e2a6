//! Where a session is: on which host, as which user, in which container.
//!
//! An integrated shell says it in its markers. While something else has the terminal, the processes at it tell: a
//! carrier leads away, and a shell of another user has been reached through `su` or `sudo`. The first carrier decides:
//! what lies behind it cannot be seen, unless a shell there has markers of its own.

use crate::inspect::{FileKind, Inspection, Known, Process};
use crate::region::Place;
use crate::waiting::Judgement;
use crate::waiting::carrier::{Carrier, carrier};

/// Names of shells, as the kernel keeps them. A program that runs as somebody else (`sudo apt`) is no place to be; a
/// shell is.
const SHELLS: &[&str] =
    &["bash", "zsh", "fish", "sh", "dash", "ksh", "ksh93", "mksh", "yash", "posh", "tcsh", "csh", "ash", "busybox"];

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
/// started them, and `shells` the process ids of the integrated shells, the one that has the terminal last. None where
/// nothing leads away from it, or nothing can be seen.
#[must_use]
pub fn beyond(inspection: &Inspection, judgement: &Judgement, from: &Place, shells: &[u32]) -> Option<Beyond> {
    let front = inspection.front.known()?;
    let below = inspection.below.known().map_or(&[][..], Vec::as_slice);
    let all = || front.iter().chain(below);
    if let Some((process, carrier)) = all().find_map(carrying) {
        // A carrier that an outer shell started is the one that leads to the innermost: that one says itself where it
        // is, and how it goes on from there cannot be seen.
        let outer = shells.split_last().map_or(&[][..], |(_, outer)| outer);
        // One that asks for a password, or connects, has not come there yet.
        let arrived = matches!(judgement, Judgement::Carrier(_) | Judgement::Unknown(_));
        if outer.contains(&process.parent) || !arrived {
            return None;
        }
        return destination(carrier, from).map(|place| Beyond { place, carried: true });
    }
    let is_shell = |process: &&Process| SHELLS.contains(&process.name.as_str());
    let shell = below.iter().rev().find(is_shell).or_else(|| front.iter().rev().find(is_shell))?;
    let Known::Known(uid) = shell.owner else { return None };
    let user = shell.user.clone().unwrap_or_else(|| uid.to_string());
    (user != from.user).then(|| Beyond { place: Place { user, ..from.clone() }, carried: false })
}

/// Where a command line leads that an integrated shell of another host runs: its processes are not to be seen from here.
/// None for more than a simple command.
#[must_use]
pub fn told_by_line(line: &str, from: &Place) -> Option<Beyond> {
    if line.contains(['|', '&', ';', '<', '>', '$', '`', '\\', '\'', '"', '(', '{', '\n']) {
        return None;
    }
    let words: Vec<&str> = line.split_whitespace().collect();
    let carrier = carrier(&words).filter(|carrier| carrier.terminal)?;
    destination(&carrier, from).map(|place| Beyond { place, carried: true })
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

/// Who would take a line, by the processes at the terminal; none where they cannot be seen.
#[must_use]
pub fn taker(inspection: &Inspection) -> Option<Taker> {
    let front = inspection.front.known()?;
    let below = inspection.below.known().map_or(&[][..], Vec::as_slice);
    if front.iter().chain(below).any(|process| carrying(process).is_some()) {
        return Some(Taker::Far);
    }
    // The innermost that its own terminal listens to: `sudo` gives what it runs a terminal inside its own.
    let process = front.iter().chain(below).rfind(|process| process.in_front)?;
    let name = process.name.clone();
    Some(if SHELLS.contains(&name.as_str()) { Taker::Shell(name) } else { Taker::Program(name) })
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

    #[test]
    fn a_line_given_to_a_far_shell_names_one_too() {
        let from = place("build7", "me", None);
        let leads = |line: &str| told_by_line(line, &from).map(|beyond| beyond.place);
        assert_eq!(leads("ssh -p 22 u@deep"), Some(place("deep", "u", None)));
        assert_eq!(leads("podman exec -it web sh"), Some(place("build7", "me", Some("web"))));
        for line in ["ssh deep ls", "ssh \"$host\"", "cd x && ssh deep", "make", "", "ssh -N deep"] {
            assert_eq!(leads(line), None, "{line}");
        }
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
