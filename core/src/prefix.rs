//! Words before a command that leave it what it is: `sudo -u ann vim`, `env X=1 less`, `timeout 60 gdb`, `script -c python3`.
//!
//! Their options are the ones of their manual pages: coreutils 9, util-linux 2.38, sudo 1.9, bash 5, zsh 5.

use crate::waiting::options::{Grammar, scan};

/// Prefixes that are taken off one command. Nobody writes more.
pub(crate) const DEPTH: usize = 8;

/// A word that goes before a command.
struct Prefix {
    name: &'static str,
    options: Grammar,
    /// Words of its own before the command: a time, a priority, a lock.
    own: usize,
    /// Whether it sets variables too: `env X=1 less`.
    assigns: bool,
    /// Options with which it runs no command, or none that its words name.
    unless: &'static [&'static str],
    /// Options whose value is a command line.
    line: &'static [&'static str],
}

const fn prefix(name: &'static str, letters: &'static str, long: &'static [&'static str]) -> Prefix {
    let options = Grammar { letters, long, anywhere: false };
    Prefix { name, options, own: 0, assigns: false, unless: &[], line: &[] }
}

impl Prefix {
    const fn own(mut self, words: usize) -> Self {
        self.own = words;
        self
    }

    const fn assigns(mut self) -> Self {
        self.assigns = true;
        self
    }

    const fn unless(mut self, options: &'static [&'static str]) -> Self {
        self.unless = options;
        self
    }

    const fn line(mut self, options: &'static [&'static str]) -> Self {
        self.line = options;
        self
    }

    /// Options stand also behind its own words, as `script` and `su` take them.
    const fn anywhere(mut self) -> Self {
        self.options.anywhere = true;
        self
    }
}

/// What `sudo` takes without a value.
pub(crate) const SUDO: Grammar = Grammar {
    letters: "ABbEeHiKklnPSsVvN",
    long: &[
        "askpass",
        "background",
        "bell",
        "edit",
        "help",
        "list",
        "login",
        "non-interactive",
        "preserve-env",
        "preserve-groups",
        "remove-timestamp",
        "reset-timestamp",
        "set-home",
        "shell",
        "stdin",
        "validate",
        "version",
    ],
    anywhere: false,
};

/// What `su` takes without a value.
pub(crate) const SU: Grammar = Grammar {
    letters: "lmpfPhV",
    long: &["login", "preserve-environment", "fast", "pty", "help", "version"],
    anywhere: true,
};

/// What `doas` takes without a value.
pub(crate) const DOAS: Grammar = Grammar { letters: "nsL", long: &[], anywhere: false };

static PREFIXES: &[Prefix] = &[
    Prefix { options: SUDO, ..prefix("sudo", "", &[]) }.assigns().unless(&["e", "edit", "l", "list", "v", "validate"]),
    Prefix { options: DOAS, ..prefix("doas", "", &[]) },
    Prefix { options: SU, ..prefix("su", "", &[]) }.own(usize::MAX).line(&["c", "command", "session-command"]),
    prefix("runuser", "lmpfP", &["login", "pty", "fast"]).line(&["c", "command", "session-command"]),
    prefix("pkexec", "", &["disable-internal-agent", "keep-cwd"]),
    prefix("env", "i0v", &["ignore-environment", "null", "debug"]).assigns().line(&["S", "split-string"]),
    prefix("nice", "0123456789", &[]),
    prefix("ionice", "t", &["ignore"]).unless(&["p", "P", "u"]),
    prefix("chrt", "abdfiormRv", &["all-tasks", "batch", "deadline", "fifo", "idle", "other", "rr", "verbose"])
        .own(1)
        .unless(&["p", "pid"]),
    prefix("taskset", "ac", &["all-tasks", "cpu-list"]).own(1).unless(&["p", "pid"]),
    prefix("numactl", "lasH", &["localalloc", "all", "show", "hardware"]),
    prefix("prlimit", "", &[]).unless(&["p", "pid"]),
    prefix("time", "apqv", &["append", "portability", "quiet", "verbose"]),
    prefix("timeout", "fpv", &["foreground", "preserve-status", "verbose"]).own(1),
    prefix("stdbuf", "", &[]),
    prefix("setsid", "cfw", &["ctty", "fork", "wait"]),
    prefix("nohup", "", &[]),
    prefix("exec", "cl", &[]),
    prefix("command", "p", &[]).unless(&["v", "V"]),
    prefix("builtin", "", &[]),
    prefix("noglob", "", &[]),
    prefix("nocorrect", "", &[]),
    prefix("unbuffer", "p", &[]),
    prefix("rlwrap", "acEhiImnNoprRTuUvWX", &["always-readline", "case-insensitive", "no-children", "no-warnings"]),
    prefix("script", "aefqV", &["append", "return", "flush", "force", "quiet"])
        .own(usize::MAX)
        .anywhere()
        .line(&["c", "command"]),
    prefix("flock", "enosuxF", &["exclusive", "nonblock", "nb", "no-fork", "shared", "close", "verbose"])
        .own(1)
        .line(&["c", "command"]),
    prefix("strace", "cCdDfFhiknNqrtTvVwxyYzZ", &["follow-forks", "summary-only", "summary"]).unless(&["p", "attach"]),
    prefix("ltrace", "bcCfhiLrStTV", &[]).unless(&["p"]),
    prefix("xvfb-run", "ahl", &["auto-servernum", "help", "listen-tcp"]),
    prefix("dbus-run-session", "", &["help", "version"]),
    prefix("fakeroot", "uhv", &["unknown-is-real", "help", "version"]),
    prefix("eatmydata", "", &[]),
    prefix("proxychains", "q", &[]),
    prefix("proxychains4", "q", &[]),
    prefix("sshpass", "evhV", &[]),
    prefix("torsocks", "dqi", &["debug", "quiet", "isolate"]),
    prefix("busybox", "", &[]).unless(&["list", "list-full", "install"]),
];

/// Tools of a language that run a program in its environment: their name and the word behind it.
const RUNNERS: &[(&str, &str)] =
    &[("uv", "run"), ("poetry", "run"), ("pdm", "run"), ("pipenv", "run"), ("bundle", "exec")];

/// Shells whose `-c` takes a command line.
const SHELLS: &[&str] = &["sh", "bash", "dash", "zsh", "fish", "ksh", "mksh", "ash"];

/// What stands behind a prefix.
pub(crate) enum Behind<'a> {
    /// The words of a command.
    Words(Vec<&'a str>),
    /// A command line, as one word.
    Line(&'a str),
}

/// What the first of these words is a prefix of. None where it is no prefix, or names no command.
pub(crate) fn behind<'a>(words: &[&'a str]) -> Option<Behind<'a>> {
    let (first, rest) = words.split_first()?;
    let name = base(first);
    if SHELLS.contains(&name) {
        return line_of_shell(rest).map(Behind::Line);
    }
    if let Some((word, rest)) = rest.split_first()
        && RUNNERS.contains(&(name, word))
    {
        return rest.first().filter(|word| !word.starts_with('-')).map(|_| Behind::Words(rest.to_vec()));
    }
    let prefix = PREFIXES.iter().find(|prefix| prefix.name == name)?;
    let found = scan(rest, prefix.options);
    if found.has(prefix.unless) {
        return None;
    }
    if let Some(line) = prefix.line.iter().find_map(|option| found.value(option)) {
        return Some(Behind::Line(line));
    }
    let mut words = found.words.get(prefix.own..)?;
    while prefix.assigns
        && let Some((first, rest)) = words.split_first()
        && assigns(first)
    {
        words = rest;
    }
    // `flock FILE -c LINE`: the option stands behind the word that is its own.
    match words {
        [] => None,
        [option, line] if prefix.own > 0 && *option == "-c" => Some(Behind::Line(line)),
        words => Some(Behind::Words(words.to_vec())),
    }
}

/// Whether a word before a command sets a variable.
pub(crate) fn assigns(word: &str) -> bool {
    let name = word.split_once('=').map(|(name, _)| name).unwrap_or_default();
    let begins = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    begins && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// The command line behind a shell's `-c`, which is the first word behind all options.
fn line_of_shell<'a>(args: &[&'a str]) -> Option<&'a str> {
    let mut given = false;
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match arg.strip_prefix(['-', '+']) {
            None => return given.then_some(*arg),
            Some(long) if long.starts_with('-') => {}
            Some(letters) => {
                given |= letters.contains('c');
                if letters.ends_with(['o', 'O']) {
                    args.next();
                }
            }
        }
    }
    None
}

fn base(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

/// A command without what stands before it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Bare {
    /// The prefixes that were taken off, from the first, each with its options.
    pub(crate) prefixes: Vec<String>,
    /// The program and its arguments.
    pub(crate) words: Vec<String>,
}

/// Takes the prefixes off a simple command, given as its words without quotes. `last` gives the last command of a line:
/// that is the one which is left in front, where a prefix is handed a line.
pub(crate) fn bare(words: &[String], last: &dyn Fn(&str) -> Option<Bare>) -> Bare {
    let mut found = Bare { words: words.to_vec(), ..Bare::default() };
    for _ in 0..DEPTH {
        let words: Vec<&str> = found.words.iter().map(String::as_str).collect();
        let (inner, own) = match behind(&words) {
            None => break,
            Some(Behind::Words(rest)) => {
                let own = words.len() - rest.len();
                let words = rest.iter().map(|word| (*word).to_owned()).collect();
                (Bare { words, ..Bare::default() }, own)
            }
            Some(Behind::Line(line)) => {
                let Some(inner) = last(line) else { break };
                (inner, 1)
            }
        };
        found.prefixes.push(words.get(..own).unwrap_or_default().join(" "));
        found.prefixes.extend(inner.prefixes);
        found.words = inner.words;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(line: &str) -> String {
        let words = |line: &str| -> Vec<String> { line.split(' ').map(|word| word.replace('_', " ")).collect() };
        let last = |line: &str| Some(bare(&words(line), &|_| None));
        let bare = bare(&words(line), &last);
        let prefixes: String = bare.prefixes.iter().map(|prefix| format!("{prefix} > ")).collect();
        format!("{prefixes}{}", bare.words.join(" "))
    }

    #[test]
    fn the_program_stands_behind_its_prefixes() {
        for (line, want) in [
            ("vim f", "vim f"),
            ("sudo vim f", "sudo > vim f"),
            ("/usr/bin/sudo -u ann -E X=1 vim f", "/usr/bin/sudo -u ann -E X=1 > vim f"),
            ("sudo --user=ann -- vim", "sudo --user=ann -- > vim"),
            ("doas -u ann top", "doas -u ann > top"),
            ("env -u LANG -i X=1 Y=2 less f", "env -u LANG -i X=1 Y=2 > less f"),
            ("env --chdir=/tmp less f", "env --chdir=/tmp > less f"),
            ("env -S python3_-q", "env > python3 -q"),
            ("nice -n 5 make", "nice -n 5 > make"),
            ("nice -10 make -j4", "nice -10 > make -j4"),
            ("ionice -c 3 nice -n19 make", "ionice -c 3 > nice -n19 > make"),
            ("chrt -f 50 ./loop", "chrt -f 50 > ./loop"),
            ("taskset -c 0-3 make", "taskset -c 0-3 > make"),
            ("timeout -k 5 --foreground 60 gdb -q", "timeout -k 5 --foreground 60 > gdb -q"),
            ("/usr/bin/time -f %e make", "/usr/bin/time -f %e > make"),
            ("stdbuf -o0 -eL python3", "stdbuf -o0 -eL > python3"),
            ("setsid -w vim", "setsid -w > vim"),
            ("nohup ./serve", "nohup > ./serve"),
            ("exec -a x vim", "exec -a x > vim"),
            ("command -p less f", "command -p > less f"),
            ("builtin cd x", "builtin > cd x"),
            ("unbuffer -p python3", "unbuffer -p > python3"),
            ("rlwrap -a -H h sqlite3 x", "rlwrap -a -H h > sqlite3 x"),
            ("script -c python3_-q log", "script > python3 -q"),
            ("script -qec sudo_vim_f /dev/null", "script > sudo > vim f"),
            ("script log -c vim", "script > vim"),
            ("su ann -c vim_f", "su > vim f"),
            ("su -l -c less_f ann", "su > less f"),
            ("runuser -u ann -- top", "runuser -u ann -- > top"),
            ("bash -c vim_f", "bash > vim f"),
            ("bash -o pipefail -lc vim_f x", "bash > vim f"),
            ("sudo sh -c less_f", "sudo > sh > less f"),
            ("flock /tmp/l make", "flock /tmp/l > make"),
            ("flock -n /tmp/l -c make_x", "flock > make x"),
            ("strace -f -o log ./a", "strace -f -o log > ./a"),
            ("uv run python -q", "uv run > python -q"),
            ("bundle exec irb", "bundle exec > irb"),
            ("busybox less f", "busybox > less f"),
        ] {
            assert_eq!(shown(line), want, "{line}");
        }
    }

    #[test]
    fn some_run_no_command_that_their_words_name() {
        for line in [
            "sudo -i",
            "sudo -e f",
            "sudo -l make",
            "sudo",
            "su - ann",
            "env",
            "env X=1",
            "command -v vim",
            "script log",
            "bash f.sh",
            "bash --login",
            "timeout 5",
            "uv run --with x python",
            "uv add run",
            "taskset -p 12",
            "nice",
            "chrt -p 12",
            "sh x -c y",
        ] {
            assert_eq!(shown(line), line);
        }
    }

    #[test]
    fn a_chain_without_end_is_left_where_it_is() {
        let line = vec!["sudo"; 30].join(" ");
        assert_eq!(shown(&line).matches('>').count(), DEPTH);
    }
}
