//! What `dtmcp into` makes of a command that enters another place: how it is given a script to run there.

use super::SHELLS;
use super::line::{base, is_interactive};
use crate::prefix::{Behind, DEPTH, SUDO, behind};
use crate::waiting::carrier::{carrier, terminal_option};
use crate::waiting::options::{Grammar, scan};
use crate::waiting::ssh;

/// How a command that enters another place is given a script to run there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Takes {
    /// As a command's words, behind its own.
    Words,
    /// As words in which no line break and no dollar sign stand: `sudo` puts a backslash before everything else where it
    /// gives them to a login shell, and leaves these to it.
    Escaped,
    /// As the text of this option, which a login shell reads and which keeps the terminal.
    Line(&'static str),
    /// As words that are joined to a line, which a login shell on another host reads. The word of this number is the ssh,
    /// which has to be asked for a terminal.
    Joined(usize),
    /// Not without this option: by itself it opens no terminal on the far side.
    NoTerminal(&'static str),
    /// Not at all: something runs there already, or is chosen there.
    Occupied,
    /// Not at all: it has a screen of its own, on which no shell's output can be told apart.
    Screen,
}

/// Commands that begin nothing at the far side, whatever stands behind them, and firejail, whose arguments may have 4,128 bytes.
const ATTACHES: &[&str] = &["telnet", "rlogin", "rsh", "cu", "picocom", "minicom", "virsh", "mosh", "et", "firejail"];

/// The same, of commands with words for what they do.
const JOINS: &[&str] = &["attach", "console", "login", "start"];

/// What `runuser` takes without a value.
const RUNUSER: Grammar =
    Grammar { letters: "lmpfPhV", long: &["login", "preserve-environment", "fast", "pty", "help"], anywhere: true };

/// How the command of these words takes a script.
#[must_use]
pub fn takes(words: &[&str]) -> Takes {
    within(words, DEPTH)
}

fn within(words: &[&str], depth: usize) -> Takes {
    let Some((first, rest)) = words.split_first() else { return Takes::Words };
    let inner = |rest: &[&str]| match within(rest, depth.saturating_sub(1)) {
        Takes::Joined(at) => Takes::Joined(at + words.len() - rest.len()),
        other => other,
    };
    match base(first) {
        "tmux" | "screen" | "zellij" => Takes::Screen,
        "su" => Takes::Line("--session-command"),
        "runuser" => {
            let found = scan(rest, RUNUSER);
            if found.has(&["u", "user"]) { Takes::Words } else { Takes::Line("--session-command") }
        }
        "sg" | "script" => Takes::Line("-c"),
        "nix-shell" => Takes::Line("--command"),
        "sudo" => {
            let found = scan(rest, SUDO);
            match found.words.is_empty() {
                true if found.on(&["i", "s", "login", "shell"]) => Takes::Escaped,
                true => Takes::Words,
                false => inner(&found.words),
            }
        }
        "ssh" | "slogin" | "dbclient" => match ssh::remote_words(rest).map(&inner) {
            // What is joined and read by one more shell has lost what kept it together.
            Some(Takes::Escaped | Takes::Line(_) | Takes::Joined(_)) => Takes::Occupied,
            Some(Takes::Words) | None => Takes::Joined(0),
            Some(other) => other,
        },
        name if ATTACHES.contains(&name) => Takes::Occupied,
        _ if depth == 0 => Takes::Words,
        _ => match (behind(words), terminal_option(words)) {
            (Some(Behind::Words(rest)), _) => inner(&rest),
            (_, Some(option)) => Takes::NoTerminal(option),
            _ if carrier(words).is_some() && rest.iter().take(2).any(|word| JOINS.contains(word)) => Takes::Occupied,
            _ => Takes::Words,
        },
    }
}

/// The shell that the words of a command end with, and where its words begin: what enters another place is mostly written
/// with the shell that it is to start there. None where the last word names something else, a container perhaps.
#[must_use]
pub fn shell_asked<'a>(words: &[&'a str]) -> Option<(usize, &'a str)> {
    let at = words.iter().rposition(|word| !word.starts_with('-'))?;
    let shell = words.get(at)?;
    let (before, args) = (words.get(..at)?, words.get(at + 1..)?);
    if !SHELLS.contains(&base(shell))
        || !is_interactive(base(shell), args)
        || before.first().is_some_and(|first| base(first) == "su")
    {
        return None;
    }
    let leads = |words: &[&str]| carrier(words).map(|carrier| carrier.destination);
    (leads(words) == leads(before)).then_some((at, *shell))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_may_name_the_shell_that_it_is_to_start() {
        let asked = |line: &str| {
            let words: Vec<&str> = line.split(' ').collect();
            shell_asked(&words).map(|(at, shell)| (words.get(..at).unwrap_or_default().join(" "), shell.to_owned()))
        };
        for (line, before, shell) in [
            ("bash", "", "bash"),
            ("bash -l -i", "", "bash"),
            ("unshare -m bash", "unshare -m", "bash"),
            ("docker exec -it x bash", "docker exec -it x", "bash"),
            ("docker run --rm -it debian /bin/bash -l", "docker run --rm -it debian", "/bin/bash"),
            ("kubectl exec -it web -- sh", "kubectl exec -it web --", "sh"),
            ("sudo -u ann zsh", "sudo -u ann", "zsh"),
            ("ssh -t there zsh", "ssh -t there", "zsh"),
            ("bwrap --bind / / -- fish --private", "bwrap --bind / / --", "fish"),
        ] {
            assert_eq!(asked(line), Some((before.to_owned(), shell.to_owned())), "{line}");
        }
        for line in
            ["podman exec -it box", "podman exec -it bash", "sudo -i", "su bash", "env bash -c true", "bash x.sh"]
        {
            assert_eq!(asked(line), None, "{line}");
        }
    }

    #[test]
    fn a_script_goes_where_the_command_takes_it() {
        for (line, way) in [
            ("ssh -p 22 me@there", Takes::Joined(0)),
            ("env LANG=C sshpass -p x ssh there", Takes::Joined(5)),
            ("sudo -u ann ssh there", Takes::Joined(3)),
            ("dbclient there", Takes::Joined(0)),
            ("ssh there podman exec -it web", Takes::Joined(0)),
            ("ssh there podman exec web", Takes::NoTerminal("-it")),
            ("ssh there sudo -i", Takes::Occupied),
            ("ssh there su -", Takes::Occupied),
            ("runuser - ann", Takes::Line("--session-command")),
            ("runuser -u ann --", Takes::Words),
            ("script -q /dev/null", Takes::Line("-c")),
            ("docker exec web", Takes::NoTerminal("-it")),
            ("docker run --rm -i debian", Takes::NoTerminal("-it")),
            ("docker compose exec -T web", Takes::NoTerminal("-t")),
            ("docker compose exec web", Takes::Words),
            ("kubectl -n x exec web --", Takes::NoTerminal("-it")),
            ("systemd-run --user", Takes::NoTerminal("--pty")),
            ("systemd-run -t", Takes::Words),
            ("openshell sandbox exec -n box --", Takes::NoTerminal("--tty")),
            ("docker attach web", Takes::Occupied),
            ("virsh console web", Takes::Occupied),
            ("firejail --quiet", Takes::Occupied),
            ("machinectl shell root@web", Takes::Words),
            ("bwrap --bind / / --", Takes::Words),
            ("podman exec -it web", Takes::Words),
            ("sudo -u ann", Takes::Words),
            ("sudo -i", Takes::Escaped),
            ("sudo -su ann", Takes::Escaped),
            ("su - ann", Takes::Line("--session-command")),
            ("sudo /bin/su -", Takes::Line("--session-command")),
            ("sudo podman exec -it web", Takes::Words),
            ("tmux new", Takes::Screen),
            ("/usr/bin/screen", Takes::Screen),
        ] {
            let words: Vec<&str> = line.split(' ').collect();
            assert_eq!(takes(&words), way, "{line}");
        }
    }
}
