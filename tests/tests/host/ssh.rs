//! Command lines of ssh, as we read them and as ssh itself does (`ssh -G`).

use std::collections::BTreeMap;
use std::process::{Command, Stdio};

use dtmcp_core::waiting::carrier::carrier;
use dtmcp_tests::sim::Chance;

/// How many command lines are made up, and how many of them ssh has to accept at least.
const LINES: u64 = 400;
const ACCEPTED: usize = 250;

const OPTIONS: &[&[&str]] = &[
    &["-v"],
    &["-4q"],
    &["-AC"],
    &["-x"],
    &["-p", "2201"],
    &["-p2202"],
    &["-vp", "2203"],
    &["-Cp2204"],
    &["-l", "bob"],
    &["-lcarol"],
    &["-ql", "dan"],
    &["-oPort=2205"],
    &["-o", "Port 2206"],
    &["-o", "port = 2207"],
    &["-voPORT=2208"],
    &["-o", "User=eve"],
    &["-ouser frank"],
    &["-i", "/dev/null"],
    &["-L", "1:a:2"],
    &["-R1:a:2"],
    &["-D", "1080"],
    &["-b", "127.0.0.1"],
    &["-e", "none"],
    &["-J", "jump"],
    &["-o", "ProxyCommand=nc %h %p"],
    &["-t"],
    &["-tt"],
    &["-T"],
    &["-o", "RequestTTY=force"],
    &["-o", "RequestTTY=yes"],
    &["-o", "RequestTTY=no"],
    &["-o", "RequestTTY=auto"],
    &["-N"],
    &["-n"],
    &["-f"],
    &["-s"],
    &["-o", "SessionType=none"],
    &["-o", "StdinNull=yes"],
];

const DESTINATIONS: &[&str] = &[
    "host",
    "user@host",
    "a@b@host",
    "::1",
    "user@::1",
    "10.0.0.1",
    "ssh://host",
    "ssh://user@host",
    "ssh://host:2209",
    "ssh://user@host:2210",
    "ssh://[::1]:2211",
    "ssh://user@[fe80::1]",
];

const COMMANDS: &[&[&str]] = &[&["top"], &["ls", "-l", "-p", "1"], &["--", "sh"]];

/// A command line, without `ssh`.
fn line(chance: &mut Chance) -> Vec<&'static str> {
    let mut words = Vec::new();
    let mut options = |words: &mut Vec<&'static str>, most: usize| {
        for _ in 0..chance.below(most + 1) {
            words.extend_from_slice(chance.of(OPTIONS));
        }
    };
    options(&mut words, 3);
    let mut after = Vec::new();
    options(&mut after, 2);
    if chance.percent(15) {
        words.push("--");
    }
    words.push(chance.of(DESTINATIONS));
    words.extend(after);
    if chance.percent(30) {
        words.extend_from_slice(chance.of(COMMANDS));
    }
    words
}

/// What ssh makes of it; none where it does not accept it.
fn asked(words: &[&str]) -> Result<Option<BTreeMap<String, String>>, String> {
    let mut ssh = Command::new("ssh");
    ssh.args(["-F", "/dev/null", "-G"]).args(words).stdin(Stdio::null()).stderr(Stdio::null());
    let output = ssh.output().map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let pairs = text.lines().filter_map(|line| line.split_once(' '));
    Ok(output.status.success().then(|| pairs.map(|(key, value)| (key.to_owned(), value.to_owned())).collect()))
}

/// `user@host:port` in its parts, with what ssh takes where one is missing.
fn parts(destination: &str, user: &str) -> (String, String, String) {
    let (user, place) = destination.rsplit_once('@').unwrap_or((user, destination));
    let (host, port) = match place.strip_prefix('[').and_then(|six| six.split_once("]:")) {
        Some(parts) => parts,
        None if place.matches(':').count() == 1 => place.split_once(':').unwrap_or((place, "22")),
        None => (place, "22"),
    };
    (user.to_owned(), host.to_owned(), port.to_owned())
}

pub(crate) fn reads_as_ssh_does() -> Result<(), String> {
    let own = asked(&["host"])?.and_then(|all| all.get("user").cloned()).ok_or("ssh -G says nothing")?;
    // Whether there is a command -G does not tell. After `--` and the destination everything is one.
    let has_command = |words: &[&str]| {
        let ended = words.iter().position(|word| *word == "--").is_some_and(|at| words.len() > at + 2);
        ended || COMMANDS.iter().any(|command| words.ends_with(command))
    };
    let mut accepted = 0;
    for seed in 0..LINES {
        let words = line(&mut Chance::new(seed));
        let Some(truth) = asked(&words)? else { continue };
        accepted += 1;
        // Clients before OpenSSH 8.7 do not say what kind of session it is.
        if !truth.contains_key("sessiontype") {
            continue;
        }
        let is = |key: &str, value: &str| truth.get(key).is_some_and(|found| found == value);
        let get = |key: &str| truth.get(key).cloned().unwrap_or_default();
        let no_session =
            !is("sessiontype", "default") || is("stdinnull", "yes") || is("forkafterauthentication", "yes");
        let ssh: Vec<&str> = std::iter::once("ssh").chain(words.iter().copied()).collect();
        let found = carrier(&ssh);
        let told = format!("seed {seed}: {ssh:?}: {found:?}");
        match (&found, no_session) {
            (None, true) => {}
            (Some(found), false) => {
                let place = (get("user"), get("hostname"), get("port"));
                let terminal = match get("requesttty").as_str() {
                    "true" | "yes" | "force" => true,
                    "false" | "no" => false,
                    _ => !has_command(&words),
                };
                if parts(&found.destination, &own) != place || found.terminal != terminal {
                    return Err(format!("{told}; ssh says {place:?}, a terminal: {terminal}"));
                }
            }
            _ => return Err(format!("{told}; ssh opens {} session", if no_session { "no" } else { "a" })),
        }
    }
    if accepted < ACCEPTED {
        return Err(format!("ssh accepted {accepted} of {LINES}"));
    }
    Ok(())
}
