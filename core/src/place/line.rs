//! Where a command line leads, by its words: for shells whose processes are not to be seen from here.

use super::SHELLS;
use crate::prefix::{Behind, DEPTH, DOAS, SU, SUDO, assigns, behind};
use crate::waiting::carrier::{Carrier, carrier};
use crate::waiting::options::scan;

/// What a command line opens on the terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Opens {
    /// A terminal somewhere else.
    Far(Carrier),
    /// A shell of this user's.
    UserShell(String),
    /// A shell, by its name.
    Shell(String),
}

/// What a line opens. None for a command of another kind, and for more than a simple command: what that comes to
/// nobody knows from here.
pub(super) fn opens(line: &str) -> Option<Opens> {
    let words = words(line)?;
    command(&words.iter().map(String::as_str).collect::<Vec<_>>())
}

/// Whether a line is one that brings the integration along to where it leads.
#[must_use]
pub fn brings_along(line: &str) -> bool {
    let words = words(line).unwrap_or_default();
    let words = without_prefixes(&words.iter().map(String::as_str).collect::<Vec<_>>());
    match words.as_slice() {
        [first, mode, ..] => matches!(base(first), "dtmcp" | "docent-terminal-mcp") && matches!(*mode, "ssh" | "into"),
        _ => false,
    }
}

/// The words of a simple command, without the quotes around them: `ssh -t deep 'cd /srv; exec bash'`. None for a command of
/// another kind, and where what the shell makes of a word is not to be read off it.
fn words(line: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for c in line.chars() {
        match (quote, c) {
            (Some('"'), '$' | '`' | '\\') => return None,
            (Some(open), _) if c == open => quote = None,
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, '|' | '&' | ';' | '<' | '>' | '$' | '`' | '\\' | '(' | '{' | '\n') => return None,
            (None, _) if c.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    quote.is_none().then_some(words)
}

/// A command without the assignments and prefixes before it, but for what makes another user of it, and shells.
fn without_prefixes<'a>(words: &[&'a str]) -> Vec<&'a str> {
    let unset = |words: &[&'a str]| words.iter().copied().skip_while(|word| assigns(word)).collect::<Vec<&'a str>>();
    let mut words = unset(words);
    for _ in 0..DEPTH {
        let name = words.first().map_or("", |first| base(first));
        if matches!(name, "su" | "sudo" | "doas" | "runuser" | "busybox") || SHELLS.contains(&name) {
            break;
        }
        let Some(Behind::Words(rest)) = behind(&words) else { break };
        words = unset(&rest);
    }
    words
}

fn command(words: &[&str]) -> Option<Opens> {
    let words = without_prefixes(words);
    let (first, rest) = words.split_first()?;
    match base(first) {
        "dtmcp" | "docent-terminal-mcp" => match rest.split_first()? {
            (&"ssh", _) => command(rest),
            // It asks for a terminal where the command does not.
            (&"into", rest) => command(rest).or_else(|| {
                let carrier = carrier(&without_prefixes(rest))?;
                Some(Opens::Far(Carrier { terminal: true, ..carrier }))
            }),
            _ => None,
        },
        "su" => {
            let found = scan(rest, SU);
            let user = found.words.iter().find(|word| **word != "-").copied().unwrap_or("root");
            let runs = ["c", "command", "session-command"].iter().any(|name| found.value(name).is_some());
            (!runs && found.words.len() <= 2).then(|| Opens::UserShell(user.to_owned()))
        }
        "sudo" => {
            let found = scan(rest, SUDO);
            let user = found.value("u").or_else(|| found.value("user")).unwrap_or("root");
            as_user(user, found.on(&["i", "s", "login", "shell"]), &found.words)
        }
        "doas" => {
            let found = scan(rest, DOAS);
            as_user(found.value("u").unwrap_or("root"), found.on(&["s"]), &found.words)
        }
        "busybox" => command(rest).filter(|opens| matches!(opens, Opens::Shell(_))),
        name if SHELLS.contains(&name) => is_interactive(name, rest).then(|| Opens::Shell(name.to_owned())),
        _ => carrier(&words).filter(|carrier| carrier.terminal).map(Opens::Far),
    }
}

/// What a command that runs another as somebody else opens.
fn as_user(user: &str, shell: bool, words: &[&str]) -> Option<Opens> {
    if words.is_empty() {
        return shell.then(|| Opens::UserShell(user.to_owned()));
    }
    match command(words)? {
        Opens::Shell(_) => Some(Opens::UserShell(user.to_owned())),
        other => Some(other),
    }
}

/// Whether a process with this command line is a shell that was given a command or a script to run.
#[must_use]
pub fn runs_script(words: &[&str]) -> bool {
    let Some((first, rest)) = words.split_first() else { return false };
    match base(first) {
        "busybox" => runs_script(rest),
        name => SHELLS.contains(&name) && !is_interactive(name, rest),
    }
}

/// Long options with a value, of fish and of the others.
const FISH_VALUED: &[&str] =
    &["init-command", "features", "debug", "debug-output", "debug-stack-frames", "profile", "profile-startup"];
const VALUED: &[&str] = &["rcfile", "init-file", "emulate"];

/// Whether a shell of this name with these arguments reads commands from its terminal.
pub(super) fn is_interactive(name: &str, args: &[&str]) -> bool {
    let (long_valued, valued) = if name == "fish" { (FISH_VALUED, "CdDfo") } else { (VALUED, "oO") };
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        if let Some(long) = arg.strip_prefix("--") {
            match long {
                // What comes next is a script.
                "" => return args.next().is_none(),
                "command" => return false,
                _ if long.starts_with("command=") => return false,
                _ if long_valued.contains(&long) => {
                    args.next();
                }
                _ => {}
            }
            continue;
        }
        let Some(letters) = arg.strip_prefix(['-', '+']) else { return false };
        if arg.starts_with('-') && letters.contains('c') {
            return false;
        }
        if letters.contains('s') {
            // It reads them from its input, and what follows are its parameters.
            return true;
        }
        if letters.ends_with(|letter| valued.contains(letter)) {
            args.next();
        }
    }
    true
}

pub(super) fn base(word: &str) -> &str {
    let name = word.rsplit('/').next().unwrap_or(word);
    name.strip_prefix('-').unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shells_and_users_are_told_by_the_words() {
        for (line, user) in [
            ("su", "root"),
            ("su -", "root"),
            ("su - ann", "ann"),
            ("su -l ann -s /bin/sh", "ann"),
            ("sudo -i", "root"),
            ("sudo -s", "root"),
            ("sudo -iu ann", "ann"),
            ("sudo -E -u ann bash --norc", "ann"),
            ("sudo --user=ann --login", "ann"),
            ("sudo su - bob", "bob"),
            ("sudo /bin/sh", "root"),
            ("doas -s", "root"),
            ("doas -u ann sh", "ann"),
            ("LANG=C exec sudo -i", "root"),
            ("timeout 60 nice -n 5 sudo -i", "root"),
        ] {
            assert_eq!(opens(line), Some(Opens::UserShell(user.to_owned())), "{line}");
        }
        for (line, shell) in [
            ("sh", "sh"),
            ("/bin/dash -i", "dash"),
            ("env -i bash", "bash"),
            ("env -u LANG X=1 bash", "bash"),
            ("ionice -c 3 bash", "bash"),
            ("busybox ash", "ash"),
            ("zsh -f", "zsh"),
            ("rbash", "rbash"),
            ("bash --rcfile /x/rc -i", "bash"),
            ("bash -o vi +O extglob", "bash"),
            ("zsh -o ksharrays", "zsh"),
            ("bash -ls one", "bash"),
            ("fish -C pwd --features=x", "fish"),
        ] {
            assert_eq!(opens(line), Some(Opens::Shell(shell.to_owned())), "{line}");
        }
        for line in [
            "su ann -c id",
            "sudo apt update",
            "sudo -l",
            "sudo",
            "bash -c id",
            "bash -lc id",
            "sh script",
            "sh -eo pipefail script",
            "bash --rcfile /x/rc script",
            "fish --command=pwd",
            "zsh -- script",
            "busybox ls",
            "make",
            "",
            "cd x && su",
            "su \"$who\"",
            "ssh 'deep",
            "dtmcp token",
        ] {
            assert_eq!(opens(line), None, "{line}");
        }
    }

    #[test]
    fn a_shell_may_run_a_script() {
        for line in ["sh -c id", "/bin/bash x.sh", "busybox sh x.sh", "-bash -c id", "fish -c id"] {
            assert!(runs_script(&line.split(' ').collect::<Vec<_>>()), "{line}");
        }
        for line in ["sh", "-bash", "bash --rcfile /x/rc -i", "busybox ash", "python3 x.py", "busybox ls x", ""] {
            assert!(!runs_script(&line.split(' ').collect::<Vec<_>>()), "{line}");
        }
    }

    #[test]
    fn a_line_may_bring_the_integration_along() {
        for line in ["dtmcp ssh there", "A=1 exec /opt/docent-terminal-mcp into podman exec -it web"] {
            assert!(brings_along(line), "{line}");
        }
        for line in ["ssh there", "dtmcp token", "dtmcp", "echo dtmcp ssh there", "dtmcp ssh \"$h\"", ""] {
            assert!(!brings_along(line), "{line}");
        }
    }

    #[test]
    fn what_brings_the_integration_along_leads_where_its_command_does() {
        for (line, program, destination) in [
            ("dtmcp ssh -p 22 me@build7", "ssh", "me@build7:22"),
            ("/opt/bin/docent-terminal-mcp ssh build7", "ssh", "build7"),
            ("dtmcp into podman exec -it web", "podman", "web"),
            ("dtmcp into ssh deep", "ssh", "deep"),
            ("dtmcp into env A=1 ssh deep zsh", "ssh", "deep"),
            ("sudo podman exec -it web sh", "podman", "web"),
            ("exec ssh deep", "ssh", "deep"),
            ("ssh -t deep 'cd /srv; exec bash --norc'", "ssh", "deep"),
            ("A=1 ssh -t \"deep\" \"exec bash\"", "ssh", "deep"),
        ] {
            assert_eq!(opens(line), Some(Opens::Far(Carrier::new(program, destination))), "{line}");
        }
    }
}
