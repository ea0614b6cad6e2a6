//! Ways to write a line that a session does not need.

use super::Facts;
use super::line::{Command, Joint};

pub(super) fn hides_failure(facts: &Facts<'_>) -> bool {
    let may_fail = |command: &Command| !matches!(command.name(), "true" | ":" | "echo" | "printf");
    let hides = |last: &Command| last.joint == Joint::Or && matches!(last.name(), "true" | ":");
    facts.last().is_some_and(hides) && facts.any(may_fail)
}

/// Whether a loop looks at something between naps. One that only prints, counts or leaves is a pause or a clock.
pub(super) fn polls(facts: &Facts<'_>) -> bool {
    const COUNTS: [&str; 6] = ["-lt", "-le", "-gt", "-ge", "-eq", "-ne"];
    let looks = |command: &Command| match command.name() {
        "sleep" | "break" | "continue" | "exit" | "true" | "false" | ":" | "echo" | "printf" | "date" | "read" => {
            command.arguments().any(|word| word.contains("$(") || word.contains('`'))
        }
        "[" | "test" => {
            let counts = command.arguments().any(|word| COUNTS.contains(&word));
            !counts || command.arguments().any(|word| word.contains("$(") || word.contains('`'))
        }
        _ => true,
    };
    let around = |command: &Command| command.polls && command.name() == "sleep";
    facts.any(around) && facts.any(|command| command.polls && looks(command))
}

pub(super) fn echoes_status(facts: &Facts<'_>) -> bool {
    facts.trailer("echo").is_some_and(|echo| echo.arguments().any(|word| word.contains("$?")))
}

pub(super) fn echoes_done(facts: &Facts<'_>) -> bool {
    let plain = |echo: &Command| echo.arguments().all(|word| !word.contains('$'));
    // Of these nobody wants the status.
    let dull = |command: &Command| {
        let settings = matches!(command.name(), "cd" | "export" | "set" | "unset" | "trap" | "stty" | "tput" | "alias");
        let says = matches!(command.name(), "echo" | "printf" | "sleep" | "true" | ":" | "clear" | "reset");
        // A person or a model leaves these by a key, and that is what there is to know of them.
        let screens =
            matches!(command.name(), "vim" | "vi" | "nvim" | "nano" | "less" | "more" | "man" | "top" | "htop");
        settings || says || screens
    };
    if facts.commands.iter().all(dull) {
        return false;
    }
    // An echo before as well: it is a script that talks, and no mark at the end.
    facts.trailer("echo").is_some_and(plain) && facts.commands.iter().filter(|c| c.name() == "echo").count() == 1
}

pub(super) fn sleeps_first(facts: &Facts<'_>) -> bool {
    let sleeps = |command: &Command| {
        let seconds = command.arguments().next().and_then(|word| word.trim_end_matches('s').parse::<f64>().ok());
        // A pause of a second or two is a pause.
        command.name() == "sleep" && !command.background && seconds.is_some_and(|seconds| seconds >= 3.0)
    };
    let more = facts.commands.get(1).is_some_and(|next| matches!(next.joint, Joint::Then | Joint::And));
    // What comes behind it looks at something that was meant to be there by then. Who only asks, says or ends pauses.
    let looks = |command: &Command| {
        !matches!(command.name(), "read" | "echo" | "printf" | "exit" | "true" | "false" | ":" | "sleep")
    };
    more && facts.commands.iter().skip(1).any(looks)
        && facts.commands.first().is_some_and(|first| first.depth == 0 && sleeps(first))
}

pub(super) fn is_background(command: &Command) -> bool {
    let waits = |prefix: &str| prefix.starts_with("setsid") && prefix.contains('w');
    let detached = command.is_behind(&["nohup", "setsid"]) && !command.prefixes.iter().any(|prefix| waits(prefix));
    command.depth == 0 && (detached || command.background) && command.loops == 0
}

/// Whether a stage only cuts output by lines. Bytes (`-c`), a header passed over (`tail -n +2`) and a file that is
/// followed are something else.
pub(super) fn clips(command: &Command) -> bool {
    let from = |word: &str| word.starts_with('+') || word.trim_start_matches(['-', 'n']).starts_with('+');
    matches!(command.name(), "tail" | "head")
        && !command.has_option(&['c', 'f', 'F', 'z'])
        && !command.arguments().any(from)
}

/// Whether the pipeline would never end without its last stage.
pub(super) fn endless(facts: &Facts<'_>) -> bool {
    let source = facts.first() == "yes";
    let device = |command: &Command| {
        command.arguments().any(|word| matches!(word, "/dev/zero" | "/dev/urandom" | "/dev/random"))
    };
    source || facts.any(device)
}

/// Whether a stage only picks lines: it neither counts them nor answers with its status alone.
pub(super) fn filters(command: &Command) -> bool {
    matches!(command.name(), "grep" | "egrep" | "fgrep" | "rg") && !command.has_option(&['c', 'q', 'l', 'L', 'o'])
}
