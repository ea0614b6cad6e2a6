//! Programs that carry the terminal to a far place, whose processes are not to be seen from here.

use super::options::{Grammar, Scanned, scan};
use super::ssh;

/// A far place, and the program that leads there. The command line it was read from is not kept: it can hold secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Carrier {
    /// The program, as people call it.
    pub program: &'static str,
    /// The place, as the command line has it: `user@host:port`, a container's name; `nested` for another terminal
    /// multiplexer.
    pub destination: String,
    /// There is a terminal at the far side too, and a place to be. Without one only what is typed is carried.
    pub terminal: bool,
}

impl Carrier {
    pub(crate) fn new(program: &'static str, destination: &str) -> Self {
        Self { program, destination: destination.to_owned(), terminal: true }
    }

    /// The same, where the terminal on this side takes lines. A login over telnet takes keys, since it is the far side that
    /// edits and shows them; a service that is spoken to in lines has no terminal.
    #[must_use]
    pub(crate) fn by_lines(&self) -> Self {
        Self { terminal: self.terminal && self.program != "telnet", ..self.clone() }
    }

    /// Whether it takes lines for a service: it reads them all the time, and does nothing else. What ssh runs at the far
    /// side without a terminal may work, and mostly does.
    #[must_use]
    pub(crate) fn takes_lines(&self) -> bool {
        !self.terminal && (self.program == "telnet" || LINES.contains(&self.program))
    }

    /// Whether a read of the terminal is the program's own question: what it carries, it polls for. Programs in Go
    /// read for ever, whatever happens at the far side.
    #[must_use]
    pub fn asks_by_reading(&self) -> bool {
        matches!(self.program, "ssh" | "telnet" | "rlogin" | "rsh" | "openshell")
    }
}

/// Engines that run containers, with one grammar.
const ENGINES: &[&str] = &["docker", "podman", "nerdctl"];

/// Programs whose first word is the place.
const PLAIN: &[&str] = &["telnet", "rlogin", "rsh", "et", "cu", "picocom", "minicom", "dbclient"];

/// Programs that carry lines to whatever listens: a service as a rule, not a shell.
const LINES: &[&str] = &["nc", "netcat", "ncat", "nc.openbsd", "nc.traditional", "socat"];

/// Multiplexers' clients.
const NESTED: &[&str] = &["tmux", "screen", "dtach", "abduco", "zellij"];

const ENGINE: Grammar = Grammar {
    letters: "DvrhV",
    long: &["debug", "tls", "tlsverify", "version", "help", "remote", "noout", "syslog", "experimental"],
    anywhere: false,
};

const SUBCOMMAND: Grammar = Grammar {
    letters: "dithPqla",
    long: &[
        "detach",
        "interactive",
        "tty",
        "privileged",
        "latest",
        "help",
        "init",
        "no-healthcheck",
        "oom-kill-disable",
        "publish-all",
        "quiet",
        "read-only",
        "read-only-tmpfs",
        "rm",
        "rmi",
        "sig-proxy",
        "rootfs",
        "replace",
        "disable-content-trust",
        "no-hosts",
        "tls-verify",
        "env-host",
        "http-proxy",
        "unsetenv-all",
        "passwd",
        "attach",
        "no-stdin",
        "use-api-socket",
    ],
    anywhere: false,
};

/// `run` takes `-a` with a stream's name, and `-l` with a label.
const RUN: Grammar = Grammar { letters: "dithPq", ..SUBCOMMAND };

const COMPOSE: Grammar = Grammar {
    letters: "Tdith",
    long: &[
        "no-TTY",
        "no-tty",
        "detach",
        "privileged",
        "interactive",
        "help",
        "compatibility",
        "all-resources",
        "dry-run",
        "verbose",
        "no-ansi",
    ],
    anywhere: false,
};

const KUBECTL: Grammar = Grammar {
    letters: "itqh",
    long: &[
        "stdin",
        "tty",
        "quiet",
        "help",
        "insecure-skip-tls-verify",
        "disable-compression",
        "match-server-version",
        "warnings-as-errors",
    ],
    anywhere: true,
};

const WORDS: Grammar = Grammar { letters: "", long: &["tty", "no-tty", "pty", "quiet"], anywhere: false };

/// Options without a value are the rule.
const SWITCHES: Grammar = Grammar {
    letters: "46vVhkKuUlnNzZCcdDaAxXEeLrRtTqfFmM",
    long: &["tty", "no-tty", "pty", "quiet", "pipe", "wait", "collect", "same-dir", "user", "system"],
    anywhere: false,
};

/// The carrier that a command line stands for; its first word is the program.
#[must_use]
pub fn carrier(command: &[&str]) -> Option<Carrier> {
    let (first, args) = command.split_first()?;
    let name = first.rsplit('/').next().unwrap_or(first);
    let name = name.strip_prefix('-').unwrap_or(name);
    let known = |names: &[&'static str]| names.iter().copied().find(|known| *known == name);
    if let Some(engine) = known(ENGINES) {
        return container(engine, args);
    }
    if let Some(program) = known(PLAIN) {
        return Some(Carrier::new(program, scan(args, SWITCHES).words.first()?));
    }
    if let Some(program) = known(LINES) {
        let found = scan(args, SWITCHES);
        let to = if program == "socat" { found.words.iter().find(|word| word.len() > 1) } else { found.words.first() };
        return carried(program, to?, true, false);
    }
    if let Some(program) = known(NESTED) {
        return nested(program, args);
    }
    match name {
        "ssh" | "slogin" => ssh::carrier(args),
        "docker-compose" => compose(args.strip_prefix(&["compose"]).unwrap_or(args)),
        "kubectl" => kubernetes("kubectl", args),
        "oc" => kubernetes("oc", args),
        "mosh-client" => mosh(args),
        "openshell" | "sbx" => sandbox(args),
        "machinectl" => word_after("machinectl", args, &["shell", "login"]),
        "virsh" => word_after("virsh", args, &["console"]),
        "lxc" => word_after("lxc", args, &["exec", "shell", "console"]),
        "incus" => word_after("incus", args, &["exec", "shell", "console"]),
        "systemd-run" => systemd("systemd-run", &scan(args, SWITCHES)),
        "run0" => Some(Carrier::new("run0", "root")),
        _ => None,
    }
}

/// The option that is missing from a command which begins something in another place, for there to be a terminal.
#[must_use]
pub(crate) fn terminal_option(command: &[&str]) -> Option<&'static str> {
    let (first, args) = command.split_first()?;
    let name = first.rsplit('/').next().unwrap_or(first);
    if carrier(command).is_some_and(|carrier| carrier.terminal) {
        return None;
    }
    let (grammar, option) = match name {
        _ if ENGINES.contains(&name) => (ENGINE, "-it"),
        "kubectl" | "oc" => (KUBECTL, "-it"),
        "openshell" | "sbx" => (WORDS, "--tty"),
        "docker-compose" => (COMPOSE, "-t"),
        "systemd-run" => return Some("--pty"),
        _ => return None,
    };
    let found = scan(args, grammar);
    let words = found.words.iter().find(|word| !matches!(**word, "container" | "sandbox"))?;
    match *words {
        "compose" => Some("-t"),
        "exec" | "run" | "debug" => Some(option),
        _ => None,
    }
}

/// Whether what is typed goes to the far side, and to a terminal there or not.
fn carried(program: &'static str, destination: &str, typed: bool, terminal: bool) -> Option<Carrier> {
    (typed || terminal).then(|| Carrier { terminal, ..Carrier::new(program, destination) })
}

fn container(engine: &'static str, args: &[&str]) -> Option<Carrier> {
    let outer = scan(args, ENGINE);
    let mut words = outer.words.as_slice();
    if words.first() == Some(&"container") {
        words = words.get(1..)?;
    }
    let (subcommand, rest) = words.split_first()?;
    match *subcommand {
        "compose" => compose(rest),
        "exec" => {
            let found = scan(rest, SUBCOMMAND);
            let name = found.words.first().filter(|_| !found.on(&["d", "detach"]))?;
            carried(engine, name, found.on(&["i", "interactive"]), found.on(&["t", "tty"]))
        }
        "run" => {
            let found = scan(rest, RUN);
            let image = found.words.first().filter(|_| !found.on(&["d", "detach"]))?;
            let name = found.value("name").unwrap_or(image);
            carried(engine, name, found.on(&["i", "interactive"]), found.on(&["t", "tty"]))
        }
        "attach" => Some(Carrier::new(engine, scan(rest, SUBCOMMAND).words.first()?)),
        "start" => {
            let found = scan(rest, SUBCOMMAND);
            let attached = found.on(&["a", "attach"]) && found.on(&["i", "interactive"]);
            attached.then(|| found.words.first().map(|name| Carrier::new(engine, name)))?
        }
        _ => None,
    }
}

fn compose(args: &[&str]) -> Option<Carrier> {
    let outer = scan(args, COMPOSE);
    let (subcommand, rest) = outer.words.split_first()?;
    if !matches!(*subcommand, "exec" | "run") {
        return None;
    }
    let found = scan(rest, COMPOSE);
    let service = found.words.first().filter(|_| !found.on(&["d", "detach"]))?;
    let terminal = !found.on(&["T", "no-TTY", "no-tty"]);
    carried("docker compose", service, found.on(&["i", "interactive"]), terminal)
}

fn kubernetes(program: &'static str, args: &[&str]) -> Option<Carrier> {
    let found = scan(args, KUBECTL);
    let (subcommand, rest) = found.words.split_first()?;
    let place = match *subcommand {
        "exec" | "attach" | "run" | "debug" | "rsh" => rest.first()?,
        _ => return None,
    };
    let terminal = *subcommand == "rsh" || found.on(&["t", "tty"]);
    carried(program, place, found.on(&["i", "stdin"]), terminal)
}

/// `mosh` starts its client with its own arguments in front, for people who look at process lists.
fn mosh(args: &[&str]) -> Option<Carrier> {
    let all = args.join(" ");
    let words = all.split_whitespace().skip_while(|word| *word == "-#").take_while(|word| *word != "|");
    let place = words.into_iter().find(|word| !word.starts_with('-'))?;
    Some(Carrier::new("mosh", place))
}

fn sandbox(args: &[&str]) -> Option<Carrier> {
    let outer = scan(args, WORDS);
    let words = outer.words.strip_prefix(&["sandbox"]).unwrap_or(&outer.words);
    let (subcommand, rest) = words.split_first()?;
    let found = scan(rest, WORDS);
    match *subcommand {
        "connect" => Some(Carrier::new("openshell", found.words.first()?)),
        "exec" if found.on(&["tty"]) => {
            Some(Carrier::new("openshell", found.value("n").or_else(|| found.value("name"))?))
        }
        _ => None,
    }
}

fn word_after(program: &'static str, args: &[&str], subcommands: &[&str]) -> Option<Carrier> {
    let outer = scan(args, SWITCHES);
    let (subcommand, rest) = outer.words.split_first()?;
    let inner = scan(rest, SWITCHES);
    let place = inner.words.first().filter(|_| subcommands.contains(subcommand))?;
    Some(Carrier::new(program, place))
}

fn systemd(program: &'static str, found: &Scanned<'_>) -> Option<Carrier> {
    found.on(&["t", "pty"]).then(|| Carrier::new(program, "a service"))
}

fn nested(program: &'static str, args: &[&str]) -> Option<Carrier> {
    // Options whose value would be taken for a command.
    const VALUED: Grammar = Grammar { letters: "2CDdlNqruvVxRUaAm", long: &[], anywhere: false };
    let found = scan(args, VALUED);
    let attaches = match (program, found.words.first()) {
        (_, None) => true,
        ("tmux", Some(command)) => command.starts_with('a') || command.starts_with("new"),
        _ => true,
    };
    attaches.then(|| Carrier::new(program, "nested"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Command line, program, destination; `-` where nothing is carried, or no terminal at the far side.
    const LINES: &str = include_str!("carriers.tsv");

    /// Words at spaces, where a backslash keeps one.
    fn words(line: &str) -> Vec<String> {
        let spaced = line.replace("\\ ", "\u{1}");
        spaced.split(' ').map(|word| word.replace('\u{1}', " ")).collect()
    }

    #[test]
    fn command_lines_name_their_place() {
        for row in LINES.lines().skip(1) {
            let columns: Vec<&str> = row.split('\t').collect();
            let owned = words(columns[0]);
            let command: Vec<&str> = owned.iter().map(String::as_str).collect();
            let found = carrier(&command).filter(|carrier| carrier.terminal);
            let found = found.map_or(("-", "-".to_owned()), |carrier| (carrier.program, carrier.destination));
            assert_eq!((found.0, found.1.as_str()), (columns[1], columns[2]), "{row}");
        }
    }

    #[test]
    fn what_is_typed_may_go_where_no_terminal_is() {
        for line in [
            "docker exec -i web cat",
            "kubectl exec -i pod -- cat",
            "ssh host cat",
            "nc localhost 80",
            "socat - TCP:localhost:80",
        ] {
            let command: Vec<&str> = line.split(' ').collect();
            assert!(carrier(&command).is_some_and(|carrier| !carrier.terminal), "{line}");
        }
        assert_eq!(carrier(&["socat", "-", "TCP:h:80"]).map(|found| found.destination).as_deref(), Some("TCP:h:80"));
        assert_eq!(carrier(&["telnet"]), None);
        assert_eq!(carrier(&[]), None);
    }
}
