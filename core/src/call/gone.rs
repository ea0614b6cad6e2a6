//! Whether what took a line is gone, so that the lines behind it would go to something else: a shell that was killed, cut
//! off or ended by its options leaves the terminal to the one around it, on another host or as another user at worst.
//!
//! A line that leaves by its own words is no such case: what comes behind `exit` is meant for whoever is there then.

use super::refusal::left_untyped;
use super::run::Target;
use super::watch::Seen;
use crate::log::ShellState;
use crate::place::{self, Taker};
use crate::prompt;
use crate::region::{Kind, Place, Region, State};
use crate::text::visible::quoted;

/// The exit statuses from which on a program was ended by a signal, as shells tell it.
const SIGNALLED: i32 = 129;

/// The words that leave a shell, a debugger, an interpreter or a database's prompt.
const LEAVE: &[&str] = &[
    "abort", "bye", "close", "ex", "exit", "halt", "logoff", "logout", "poweroff", "q", "qa", "quit", "reboot",
    "shutdown", "stop", "wq", "x",
];

/// Who took a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Took {
    /// An integrated shell with so many around it.
    Shell(usize),
    /// A shell without markers, or whatever is at a far end, in that place.
    Plain(Place),
    /// Another program.
    Program,
}

impl Took {
    /// Who is about to take a line.
    pub(super) fn by(view: &Seen<'_>, target: Target) -> Self {
        // What a script asks is answered once, and its end is no news.
        let at_prompt = matches!(view.resting.prompt, Some((_, prompt::Shape::Primary)));
        match (target, view.taker) {
            (Target::Shell, _) => Self::Shell(view.log.shell_pids().count()),
            (_, Some(Taker::Shell(_) | Taker::Far)) if at_prompt => Self::Plain(view.place.clone()),
            (_, Some(_) | None) => Self::Program,
        }
    }

    /// That it is gone with that line, though the line does not say so: which lines were not typed, and why.
    pub(super) fn is_gone(
        &self,
        view: &Seen<'_>,
        region: Option<&Region>,
        line: &str,
        left: Left<'_>,
    ) -> Option<String> {
        let gone = match self {
            Self::Shell(depth) => view.log.shell_pids().count() < *depth,
            Self::Plain(place) => ended(view, region).is_some() || is_back(view, place),
            Self::Program => ended(view, region)?.exit.is_some_and(|exit| exit >= SIGNALLED),
        };
        if !gone || leaves(line) {
            return None;
        }
        let took = match self {
            Self::Shell(_) | Self::Plain(_) => "the shell that took",
            Self::Program => "the program that took",
        };
        let elsewhere = place::told(view.place, view.home);
        let here = if elsewhere.is_empty() { format!("{}@{}", view.home.user, view.home.host) } else { elsewhere };
        Some(format!(
            "{took} {} is gone (it ended, was killed or cut off), and the next line would have gone to what is around it, on {here}; {}, and where what took it is open again",
            quoted(&line.chars().take(SHOWN_CHARS).collect::<String>()),
            left_untyped(view, left.lines, left.of)
        ))
    }
}

/// Characters of a line that a note shows.
const SHOWN_CHARS: usize = 80;

/// The lines that were not typed, of so many.
#[derive(Debug, Clone, Copy)]
pub(super) struct Left<'a> {
    pub(super) lines: &'a [&'a str],
    pub(super) of: usize,
}

/// The command whose program took a line and has ended with it or since.
pub(super) fn taker<'a>(view: &Seen<'a>, input: &Region) -> Option<&'a Region> {
    let outer = |region: &&Region| {
        region.kind == Kind::Command && region.id < input.id && region.raw_end >= Some(input.raw_start)
    };
    // A shell that the taker had started may have gone without a word: then its last command is no taker.
    let told = |region: &&Region| outer(region) && region.state == State::Finished;
    view.log.regions().rev().find(told).or_else(|| view.log.regions().rev().find(outer))
}

/// The command whose program took a line and has ended with it.
fn ended<'a>(view: &Seen<'a>, input: Option<&Region>) -> Option<&'a Region> {
    let input = input.filter(|region| region.kind == Kind::Input)?;
    let at_prompt = matches!(view.shell, ShellState::AtPrompt { .. });
    taker(view, input).filter(|taker| at_prompt && taker.state != State::Running)
}

/// Whether the session was somewhere else and is back where it began, as far as the processes tell.
fn is_back(view: &Seen<'_>, from: &Place) -> bool {
    !place::told(from, view.home).is_empty() && place::told(view.place, view.home).is_empty()
}

/// Whether a line leaves what takes it by its own words, whatever comes before: not behind `&&` and `||`, where it may not.
pub(crate) fn leaves(line: &str) -> bool {
    let line = line.trim();
    let line = line.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).unwrap_or(line);
    let last = line.trim().trim_end_matches([';', '.']).rsplit([';', '\n']).next().unwrap_or_default();
    let word = last.trim_start_matches(|c: char| !c.is_alphanumeric());
    let end = word.find(|c: char| !c.is_alphanumeric()).unwrap_or(word.len());
    let word = word.get(..end).unwrap_or_default();
    LEAVE.contains(&word.to_lowercase().as_str()) && !last.contains("||") && !last.contains("&&")
        || last.contains(".exit(")
}

#[cfg(test)]
mod tests {
    use super::leaves;

    #[test]
    fn a_line_leaves_by_its_last_words() {
        for line in [
            "exit",
            "exit 3",
            " exit",
            "logout",
            "cd /tmp; exit",
            "exit;",
            "exit()",
            "quit()",
            "\\q",
            ".quit",
            ":q",
            "(exit)",
            "halt.",
            "#quit;;",
            "q()",
            "process.exit(1)",
            "sys.exit()",
            "os.exit(3)",
            "/exit",
            "{ exit; }",
            "QUIT",
        ] {
            assert!(leaves(line), "{line}");
        }
        for line in [
            "cd /x || exit 1",
            "test -d x && exit",
            "echo exit",
            "kill -9 $$",
            "exec false",
            "false",
            "sleep 20",
            "exit 1 || true",
            "{ cd /x; } || { exit; }",
            "quite",
            "",
            "echo; sleep 1",
        ] {
            assert!(!leaves(line), "{line}");
        }
    }
}
