//! Why a line is not typed where it is, in words for the model: what runs or stands there, and the next call to make.

use std::time::Duration;

use super::watch::{Asks, Flow, Rival, Seen, prompt_text};
use crate::inspect::Why;
use crate::region::Region;
use crate::reply::seconds;
use crate::text::visible::quoted;
use crate::waiting::Judgement;

/// How an error begins that left the terminal as it was.
pub(super) const NOT_TYPED: &str = "nothing was typed";

/// The same, where lines before it have run.
pub(super) const REST_NOT_TYPED: &str = "the rest was not typed";

/// Why a line is not typed; `typed` is how much was.
pub(super) fn refusal(view: &Seen<'_>, typed: &str, why: &str) -> String {
    match why {
        "ended" => {
            let why = view.closed.unwrap_or("the session's program has ended");
            format!("{typed}: {why}. session_create opens a new session; read still shows this one's log")
        }
        "late" => format!(
            "{typed}: the shell has not shown its first prompt yet. wait, or read view=\"screen\" to see what it does"
        ),
        "startup" => {
            let question = prompt_text(view);
            let at = if question.trim().is_empty() { String::new() } else { format!(" at {}", quoted(&question)) };
            format!(
                "{typed}: the shell has not shown its first prompt yet, and one of its startup files waits for input{at}. run with the answer as line answers it, or expect without line; then run this again"
            )
        }
        "hidden" => {
            let who = view.log.open_region().map_or_else(|| "the program".to_owned(), describe);
            let question = prompt_text(view);
            let asks = if question.trim().is_empty() { String::new() } else { format!(" {},", quoted(&question)) };
            format!(
                "{typed}: {who} asks{asks} for input that is not shown when typed, such as a password. Ask the user to type it in the attached terminal, then wait; or call expect without line, with a rule with secret=true for it; or send it as text with a line break at its end"
            )
        }
        "stopped" => {
            let who = view.log.open_region().map_or_else(|| "the program".to_owned(), describe);
            format!(
                "{typed}: {who} was stopped by a signal and still has the terminal. send signal=\"CONT\" lets it go on, signal=\"KILL\" ends it"
            )
        }
        "rival" => {
            let reads = view.rival.map(|rival| format!("{}. {}", reads_too(rival), ends_it(rival)));
            format!("{typed}: {}; then run it again", reads.unwrap_or_default())
        }
        "screen" => format!(
            "{typed}: a full-screen program is open. read view=\"screen\" shows it; send presses its keys (a pager or top ends with q)"
        ),
        "unbegun" => {
            let (since, who) = view.unbegun.unwrap_or((view.now, "somebody"));
            let age = seconds(view.now - since);
            let (why, out) = if view.flow == Flow::Held {
                (
                    "the terminal's output is stopped, by ctrl+s most likely",
                    "send keys=[\"ctrl+q\"] lets it go on, then wait",
                )
            } else {
                (
                    "it may be in a search, or wait for a key",
                    "read view=\"screen\" shows it; send keys=[\"ctrl+c\"] gives that line up, then run it again",
                )
            };
            format!("{typed}: the shell has not begun the line that {who} gave it {age} ago: {why}. {out}")
        }
        _ => busy(view, typed),
    }
}

fn busy(view: &Seen<'_>, typed: &str) -> String {
    let Some(region) = view.log.open_region() else {
        return format!(
            "{typed}: the program in the session is still at work (last line {}). wait waits for it; send keys=[\"ctrl+c\"] interrupts it",
            quoted(&prompt_text(view))
        );
    };
    let age = Duration::from_millis(view.wall.0.saturating_sub(region.started.0));
    // It reads keys, so that an Enter tells whether it is at its prompt.
    let reads = match view.judgement {
        Some(Judgement::Unknown(Why::AwayFromPrompt)) => {
            "; where it may be done, send keys=[\"enter\"] shows its prompt again"
        }
        _ => "",
    };
    let who = region.actor.as_deref().map_or_else(String::new, |actor| format!(", started by {actor}"));
    format!(
        "{typed}: {} is still running ({}{who}). wait waits for it; send answers a question of it, and keys=[\"ctrl+c\"] interrupts it{reads}",
        describe(region),
        seconds(age)
    )
}

/// Characters of a line that was not typed by which it is known.
const LINE_CHARS: usize = 80;

/// Which of so many lines were not typed: the words of the note for a call that ends without an error.
pub(super) fn left_untyped(view: &Seen<'_>, left: &[&str], of: usize) -> String {
    let (lines, from, only) = match left {
        [_] => (format!("the last line of {of} was not typed"), "", "this one"),
        _ => (format!("the last {} of {of} lines were not typed", left.len()), " on", "these"),
    };
    // What was meant for a question that hides its answer is not shown.
    let first = left.first().filter(|_| view.resting.asks != Some(Asks::Hidden)).map_or_else(String::new, |first| {
        let start: String = first.chars().take(LINE_CHARS).collect();
        let more = if start.len() < first.len() { "..." } else { "" };
        let name = quoted(&format!("{start}{more}"));
        if from.is_empty() { format!(", {name}") } else { format!(", from {name}{from}") }
    });
    let next = if view.over() { String::new() } else { format!(": the others were, so run only {only} then") };
    format!("{lines}{first}{next}")
}

/// That another process would take keys of a line.
pub(super) fn reads_too(rival: &Rival) -> String {
    format!(
        "{} (pid {}) runs beside the shell, reads the terminal too, and takes some of what is typed",
        rival.name, rival.pid
    )
}

/// How that one is ended.
pub(super) fn ends_it(rival: &Rival) -> String {
    format!("`kill {}`, run in another session (session_create), ends it", rival.pid)
}

/// A region as an error names it.
pub(super) fn describe(region: &Region) -> String {
    region.named(80)
}
