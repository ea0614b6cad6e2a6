//! The status line: the first line of every reply, in square brackets.

use std::time::Duration;

use super::meta::led_to;
use super::{Scene, elsewhere, took};
use crate::call::{Asks, Outcome, Status};
use crate::region::{Kind, NO_LABEL, Place, Region, State};
use crate::text::visible::quoted;

/// How the name of a signal ends that stops a job.
const STOPPED: &str = ", stopped";

/// The call's status line, behind one a region where several lines were run.
pub(super) fn status_lines(outcome: &Outcome, scene: &Scene<'_>) -> Vec<String> {
    let mut lines = ran_lines(outcome, scene, outcome.region.as_ref().map(|region| region.id));
    lines.push(status_line(outcome, scene));
    lines
}

/// A status line for each of several lines that made a region, but for the one that the call's own tells of.
pub(super) fn ran_lines(outcome: &Outcome, scene: &Scene<'_>, own: Option<u32>) -> Vec<String> {
    let mut lines = Vec::new();
    // A program's own prompt, shown again and again, tells nothing.
    let mut before = None;
    for region in outcome.ran.iter().filter(|region| Some(region.id) != own) {
        let asked = led_to(outcome, region.id);
        let runs = region.state == State::Running;
        let waited = asked.filter(|asked| runs || before != Some(*asked)).map(|asked| {
            if asked.trim().is_empty() {
                "waited for input".to_owned()
            } else {
                format!("waited at {asked}", asked = quoted(asked))
            }
        });
        before = asked;
        let parts = [
            Some(region_state(region)).filter(|_| !runs || waited.is_none()),
            waited,
            Some(seconds(took(region))).filter(|_| !runs),
            Some(count(region.lines, "")),
            elsewhere(region, scene.home),
        ];
        let rest = join(&parts.map(Option::unwrap_or_default));
        lines.push(format!("[{} #{} {rest}]", scene.session, region.id));
    }
    lines
}

/// The call's own status line.
#[must_use]
pub fn status_line(outcome: &Outcome, scene: &Scene<'_>) -> String {
    let region = outcome.region.as_ref();
    let id = region.map_or_else(String::new, |region| format!(" #{}", region.id));
    let mut parts = vec![headline(outcome)];
    let painted = outcome.output.is_none() && (region.is_none() || outcome.status == Status::Sent);
    let shows_screen = outcome.status == Status::Screen || painted;
    if let (true, Some(screen)) = (shows_screen, scene.screen) {
        if outcome.status != Status::Screen {
            parts.push("full-screen program".to_owned());
        }
        parts.push(format!("{}x{}", screen.cols, screen.height));
        parts.push(format!("cursor {},{}", screen.cursor.0, screen.cursor.1));
    } else {
        parts.push(seconds(outcome.elapsed));
        let so_far = if region.is_some_and(|region| region.state == State::Running) && outcome.status == Status::Running
        {
            " so far"
        } else {
            ""
        };
        // A program that was told to quit ends its own region, and what is shown is what came of the line that told it.
        let shown = outcome.output.map(|(_, count)| count);
        let lines = match region {
            Some(region) if region.state == State::Running => Some(region.lines),
            Some(region) => shown.or(Some(region.lines)),
            None => shown,
        };
        parts.extend(lines.map(|lines| count(lines, so_far)));
    }
    parts.extend(region.and_then(|region| elsewhere(region, scene.home)));
    format!("[{}{id} {}]", scene.session, join(&parts))
}

/// What the call came to, by itself.
pub(crate) fn headline(outcome: &Outcome) -> String {
    let prompt = outcome.prompt.as_deref().unwrap_or_default();
    match outcome.status {
        Status::Finished => match &outcome.region {
            Some(region) => finished(region),
            // A shell whose marks somebody has taken away may have run something all the same.
            None if outcome.output.is_some_and(|(_, lines)| lines > 0) => {
                "finished, the shell told of no command".to_owned()
            }
            None => "finished, the shell ran nothing".to_owned(),
        },
        Status::Prompt => format!("at the prompt {prompt}", prompt = quoted(prompt)),
        Status::Waiting => waiting(prompt),
        Status::WaitingHidden => waiting_hidden(prompt),
        Status::Suspended => suspended(outcome.observed.stopped),
        Status::Continuation if prompt.is_empty() => "not complete: the shell wants the rest".to_owned(),
        Status::Continuation => {
            format!("at the continuation prompt {prompt}: it wants the rest", prompt = quoted(prompt))
        }
        Status::Screen => "full-screen program".to_owned(),
        Status::Matched => outcome.matched.map_or_else(|| "matched".to_owned(), |line| format!("matched line {line}")),
        Status::Quiet if prompt.is_empty() => "quiet: nothing was printed for 3 s".to_owned(),
        Status::Quiet => format!("quiet at {prompt}: nothing was printed for 3 s", prompt = quoted(prompt)),
        Status::Ended => match outcome.program_exit {
            Some(exit) => format!("ended: the session's program exited with {exit}{}", signal(exit)),
            None => "ended: the session's program has ended".to_owned(),
        },
        Status::Running => "running".to_owned(),
        Status::StoppedRule => {
            outcome.matched.map_or_else(|| "stopped".to_owned(), |rule| format!("stopped by rule {rule}"))
        }
        Status::Unanswered if prompt.is_empty() => "unanswered: it waits for input that no rule gives".to_owned(),
        Status::Unanswered => format!("unanswered: no rule answers {prompt}", prompt = quoted(prompt)),
        Status::UnansweredHidden => {
            format!("unanswered: no rule answers {prompt}, and what is typed now is not shown", prompt = quoted(prompt))
        }
        Status::Sent => {
            let region = outcome.region.as_ref().filter(|region| region.exit.is_some());
            let ended = match outcome.observed.stopped {
                Some(status) => Some(suspended(Some(status))),
                None => region.map(region_state),
            };
            let at = match outcome.observed.asks {
                Some(Asks::Shown) => Some(waiting(prompt)),
                Some(Asks::Hidden) => Some(waiting_hidden(prompt)),
                Some(Asks::Stopped) => Some(suspended(None)),
                None if outcome.observed.pages => Some("full-screen program".to_owned()),
                None => (!prompt.is_empty()).then(|| format!("at the prompt {prompt}", prompt = quoted(prompt))),
            };
            join(&["sent".to_owned(), ended.unwrap_or_default(), at.unwrap_or_default()])
        }
        Status::Ok => "ok".to_owned(),
        Status::Error => "error".to_owned(),
    }
}

fn finished(region: &Region) -> String {
    let state = region_state(region);
    // Where no job was stopped, a program ended with that number by itself.
    match state.split_once(" = ") {
        Some((exit, signal)) if signal.ends_with(STOPPED) => exit.to_owned(),
        _ => state,
    }
}

fn waiting(prompt: &str) -> String {
    if prompt.is_empty() {
        "waiting for input".to_owned()
    } else {
        format!("waiting for input at {prompt}", prompt = quoted(prompt))
    }
}

fn waiting_hidden(prompt: &str) -> String {
    if prompt.is_empty() {
        "waiting for input that is not shown".to_owned()
    } else {
        format!("waiting at {prompt} for input that is not shown", prompt = quoted(prompt))
    }
}

/// A job that was stopped, with the status that its shell gave it for that.
fn suspended(exit: Option<i32>) -> String {
    match exit.map(signal).and_then(|signal| signal.strip_prefix(" = ")).and_then(|text| text.strip_suffix(", stopped"))
    {
        Some(signal) => format!("suspended by {signal}"),
        None => "suspended: the job was stopped by a signal".to_owned(),
    }
}

/// One line of `regions`.
#[must_use]
pub fn region_line(region: &Region, home: &Place) -> String {
    let label = Some(region.label.as_str()).filter(|label| !label.is_empty()).unwrap_or(NO_LABEL);
    let label: String = label.lines().next().unwrap_or_default().chars().take(120).collect();
    let more = if region.label.lines().count() > 1 { " ..." } else { "" };
    let lines = if region.lines > 0 {
        format!("lines {}-{}", region.first_line, region.first_line + region.lines - 1)
    } else {
        "no output".to_owned()
    };
    let who = region.actor.as_deref().map_or_else(String::new, |actor| format!("by {actor}"));
    let place = elsewhere(region, home).unwrap_or_default();
    let time = if region.state == State::Running { String::new() } else { seconds(took(region)) };
    format!("#{} {label}{more} · {}", region.id, join(&[region_state(region), time, lines, who, place]))
}

/// How a region ended: its exit status, and the stages' where it was a pipeline.
pub(super) fn region_state(region: &Region) -> String {
    let stages = if region.pipestatus.len() > 1 {
        let stages: Vec<String> = region.pipestatus.iter().map(i32::to_string).collect();
        format!(" ({})", stages.join("|"))
    } else {
        String::new()
    };
    match (region.state, region.exit) {
        (State::Running, _) => "running".to_owned(),
        // git exits with 129 where it is used wrongly.
        (_, Some(129)) if region.label.contains("git") => format!("exit 129{stages}"),
        (_, Some(exit)) => format!("exit {exit}{stages}{}", signal(exit)),
        (State::Finished, None) if region.kind == Kind::Input => "answered".to_owned(),
        (State::Finished, None) => "finished, exit status unknown".to_owned(),
        (State::Lost, None) => "its shell ended with it or was replaced".to_owned(),
    }
}

/// The signal that an exit status stands for, where programs die or are stopped by it and seldom end with its number
/// by themselves.
fn signal(exit: i32) -> &'static str {
    match exit - 128 {
        1 => " = SIGHUP",
        2 => " = SIGINT",
        3 => " = SIGQUIT",
        4 => " = SIGILL",
        5 => " = SIGTRAP",
        6 => " = SIGABRT",
        7 => " = SIGBUS",
        8 => " = SIGFPE",
        9 => " = SIGKILL",
        11 => " = SIGSEGV",
        13 => " = SIGPIPE",
        15 => " = SIGTERM",
        19 => " = SIGSTOP, stopped",
        20 => " = SIGTSTP, stopped",
        21 => " = SIGTTIN, stopped",
        22 => " = SIGTTOU, stopped",
        _ => "",
    }
}

pub(super) fn count(lines: u64, so_far: &str) -> String {
    format!("{lines} {}{so_far}", if lines == 1 { "line" } else { "lines" })
}

fn join(parts: &[String]) -> String {
    let parts: Vec<&str> = parts.iter().map(String::as_str).filter(|part| !part.is_empty()).collect();
    parts.join(" · ")
}

/// A duration as a status line shows it.
#[must_use]
pub fn seconds(duration: Duration) -> String {
    let seconds = duration.as_secs();
    match seconds {
        0..=119 => format!("{:.1} s", duration.as_secs_f64()),
        120..=7199 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
    }
}

/// A duration in the unit that says enough, for a look at many sessions.
#[must_use]
pub fn span(duration: Duration) -> String {
    let seconds = duration.as_secs();
    match seconds {
        0..=119 => format!("{seconds} s"),
        120..=7199 => format!("{} min", seconds / 60),
        7200..=172_799 => format!("{} h", seconds / 3600),
        _ => format!("{} days", seconds / 86_400),
    }
}
