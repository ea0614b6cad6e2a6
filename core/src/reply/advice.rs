//! Notes that teach: about a result, always; about a habit, once per agent and session.

use std::sync::LazyLock;

use regex::Regex;

use super::{seconds, status, took};
use crate::call::{Outcome, Status};
use crate::region::{Kind, Region, State};
use crate::session::Setting;

/// The notes on an outcome. `once` says whether a note of this key is still to be given.
pub(crate) fn notes(outcome: &Outcome, setting: &Setting, once: &mut dyn FnMut(&str) -> bool) -> Vec<String> {
    let mut notes = Vec::new();
    let name = &setting.name;
    match outcome.status {
        // The shell has not begun the line, and the call itself has said so.
        Status::Running if !outcome.notes.is_empty() => {}
        Status::Running => notes.push(format!("it goes on: wait session=\"{name}\" waits for it; send answers what it asks, and with keys=[\"ctrl+c\"] interrupts it")),
        Status::Waiting if once("waiting") => {
            notes.push("run answers it with a line, send with text and keys".to_owned());
        }
        Status::Unanswered => notes.push("answer it with run or send, or call expect again, without line, with a rule for it".to_owned()),
        Status::WaitingHidden | Status::UnansweredHidden => notes.push(format!(
            "what is typed now is not shown: ask the user to type it in the attached terminal, then wait session=\"{name}\" goes on"
        )),
        Status::Suspended => notes.push("run \"fg\" at the shell's prompt continues it, run \"bg\" does so in the background".to_owned()),
        Status::Continuation => notes.push("run the rest of the input line by line, or send keys=[\"ctrl+c\"] gives it up".to_owned()),
        Status::Screen if once("screen") => {
            notes.push("send presses its keys and shows the screen; quit it before running the next command (q in a pager or top, :q! in vim)".to_owned());
        }
        Status::Quiet => notes.push(format!(
            "whether it is done cannot be told: its prompt is not known. Give prompt_pattern, or wait session=\"{name}\" if it is still working"
        )),
        Status::Ended => notes.push(format!("session_create opens a new session; read session=\"{name}\" still shows this one's log")),
        Status::Prompt if outcome.region.as_ref().is_some_and(|region| region.kind == Kind::Command) && once("program") => {
            notes.push("the program stays open: run sends it its next lines, with no need to start it again".to_owned());
        }
        _ => {}
    }
    let (lines, them) = match outcome.unsent {
        Some(left) if left > 1 => (format!("the last {left} lines were"), "them"),
        _ => ("the last line was".to_owned(), "it"),
    };
    match outcome.unsent {
        None | Some(0) => {}
        Some(_) if outcome.status == Status::Ended => notes.push(format!("{lines} not typed")),
        Some(_) => notes.push(format!("{lines} not typed: run {them} once this one is done")),
    }
    if let Some(region) = &outcome.region {
        notes.extend(about(region, once));
    }
    notes
}

static PAGED: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\|\s*(tail|head|less|more)\b[^|]*$").ok());
static FILTERED: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\|\s*(grep|egrep|rg)\b[^|]*$").ok());

fn matches(pattern: &LazyLock<Option<Regex>>, label: &str) -> bool {
    pattern.as_ref().is_some_and(|regex| regex.is_match(label))
}

fn about(region: &Region, once: &mut dyn FnMut(&str) -> bool) -> Vec<String> {
    let mut notes = Vec::new();
    let hidden_failure = region.exit == Some(0) && region.pipestatus.iter().any(|status| *status != 0);
    if hidden_failure {
        notes.push("the exit status is the last stage's: an earlier stage of the pipeline failed".to_owned());
    }
    if region.state == State::Running || region.kind == Kind::Input {
        return notes;
    }
    if matches(&PAGED, &region.label) && once("paged") {
        notes.push("the `| tail` or `| head` is not needed: replies are clipped, the whole output is kept, and last_lines or read shows any part".to_owned());
    } else if matches(&FILTERED, &region.label) && once("filtered") {
        notes.push("without the `| grep` the whole output is kept: show=PATTERN shapes the reply, and search finds the rest later without running it again".to_owned());
    }
    notes
}

/// That a region ended since the agent was last told.
pub(crate) fn finished_since(region: &Region) -> String {
    let label: String = region.label.lines().next().unwrap_or_default().chars().take(80).collect();
    format!(
        "finished since your last call: #{} {label:?} · {} · {} · {} (read region={})",
        region.id,
        status::region_state(region),
        seconds(took(region)),
        status::count(region.lines, ""),
        region.id
    )
}
