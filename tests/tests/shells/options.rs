//! Every option that bash and zsh have, each turned over in a session of its own, and every builtin of theirs and of fish
//! hidden behind a function or disabled.

use std::process::Command;

use dtmcp_tests::needs;
use libtest_mimic::Trial;

use crate::row::{Row, Want, fish, row, want, zsh};
use crate::terminal::Step::{self, Line};

type Of = fn(&'static str, &'static [Step], &'static [Want]) -> Row;

const REST: [Step; 5] =
    [Line("echo m; true|true"), Line("(exit 7)"), Line("echo $?"), Line("printf abc"), Line("false")];
const AFTER: [Want; 5] = [
    want("echo m; true|true", "m", 0).stages(&[0, 0]),
    want("(exit 7)", "", 7),
    want("echo $?", "7", 0),
    want("printf abc", "abc", 0),
    want("false", "", 1),
];

/// Options that end the shell at a status or after one command, or print into the output, which have rows of their own;
/// and a restricted zsh, in which no hook can send away what it prints.
const LEFT_OUT: &[&str] = &["errexit", "onecmd", "xtrace", "verbose", "printexitvalue", "restricted"];

/// Builtins whose absence the lines that are typed would show themselves.
const TYPED: &[&str] = &["exit", "echo", "enable", "unset", "builtin", "false"];

/// A pipeline that fails, what tells its status, and what that prints.
const POSIX: [&str; 3] = ["false|(exit 7)", "echo $?", "7"];

/// The same in fish, whose own functions call builtins by their names too, and may print before it.
const FISH: [&str; 3] = ["false|sh -c 'exit 7'", "echo $status", "~7$"];

/// The builtins of fish whose names a function may have.
const FISH_BUILTINS: &str = "for n in (builtin -n)
    eval \"function $n; end\" 2>/dev/null; and builtin functions -e $n; and builtin echo $n
end";

/// What a shell prints when it is given this script.
fn said(shell: &str, script: &str) -> Vec<String> {
    let shown = Command::new(shell).args(["-c", script]).env_clear().env("PATH", "/usr/bin:/bin").output();
    let text = shown.map(|shown| String::from_utf8_lossy(&shown.stdout).into_owned()).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

fn trial(name: String, steps: Vec<Step>, wanted: Vec<Want>, of: Of) -> Trial {
    Box::leak(Box::new(of(name.leak(), Vec::leak(steps), Vec::leak(wanted)))).trial()
}

/// A session in which one line is given first.
fn turned(name: String, line: String, of: Of) -> Trial {
    let first = want("*", "*", 0).any_exit();
    trial(name, [&[Line(line.leak())], &REST[..]].concat(), [&[first], &AFTER[..]].concat(), of)
}

/// A session in which each of these builtins is hidden, and shown again.
fn hidden(name: &str, builtins: &[String], hide: &str, show: &str, of: Of) -> Trial {
    let [fails, tells, told] = if name.contains("fish") { FISH } else { POSIX };
    let (mut steps, mut wanted) = (Vec::new(), Vec::new());
    let usual = |name: &&String| name.starts_with(|c: char| c.is_alphabetic()) && !TYPED.contains(&name.as_str());
    for builtin in builtins.iter().filter(usual) {
        let line = |form: &str| Line(form.replace("NAME", builtin).leak());
        steps.extend([line(hide), Line(fails), Line(tells), line(show)]);
        let any = want("*", "*", 0).any_exit().any_stages();
        wanted.extend([any, want(fails, "*", 7).stages(&[1, 7]), want(tells, told, 0), any]);
    }
    trial(name.to_owned(), steps, wanted, of)
}

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for line in said("bash", "set -o; shopt") {
        let mut words = line.split_whitespace();
        let (Some(name), Some(state)) = (words.next(), words.next()) else { continue };
        if LEFT_OUT.contains(&name) {
            continue;
        }
        // Most are one or the other; what both know as theirs is the same.
        let line = match state {
            "on" => format!("set +o {name} 2>/dev/null || shopt -u {name}"),
            _ => format!("set -o {name} 2>/dev/null || shopt -s {name}"),
        };
        trials.push(turned(format!("option_bash_{name}"), line, row));
    }
    let mut builtins = said("bash", "compgen -b");
    trials.push(hidden("builtins_bash_functions", &builtins, "NAME() { :; }", "unset -f NAME", row));
    // Without it no function can end before its last line.
    builtins.retain(|name| name != "return");
    trials.push(hidden("builtins_bash_disabled", &builtins, "enable -n NAME", "enable NAME", row));
    if needs::has("zsh") {
        for name in said("zsh", "emulate -R zsh; print -l ${(ok)options}") {
            if LEFT_OUT.contains(&name.as_str()) {
                continue;
            }
            let line = format!("[[ -o {name} ]] && unsetopt {name} || setopt {name}");
            trials.push(turned(format!("option_zsh_{name}"), line, zsh));
        }
        let builtins = said("zsh", "zmodload zsh/zle; print -l ${(ok)builtins}");
        trials.push(hidden("builtins_zsh_functions", &builtins, "function NAME { : }", "unhash -f NAME", zsh));
        trials.push(hidden("builtins_zsh_disabled", &builtins, "disable NAME", "enable NAME", zsh));
        trials.push(hidden("builtins_zsh_aliases", &builtins, "alias -g NAME='echo al'", "unalias 'NAME'", zsh));
    }
    if needs::has("fish") {
        let builtins = said("fish", FISH_BUILTINS);
        trials.push(hidden(
            "builtins_fish_functions",
            &builtins,
            "function NAME; end",
            "builtin functions -e NAME",
            fish,
        ));
        trials.push(hidden(
            "builtins_fish_aliases",
            &builtins,
            "alias NAME='echo al'",
            "builtin functions -e NAME",
            fish,
        ));
    }
    trials
}
