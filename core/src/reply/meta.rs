//! `_meta["dtmcp/reply"]`: the same facts for programs.

use serde_json::{Map, Value, json};

use super::{Scene, elsewhere, region_status, took};
use crate::call::{Asks, Outcome, Status};
use crate::region::{Kind, Place, Region};

/// The fields of a waiting call's reply.
pub(super) fn fields(outcome: &Outcome, scene: &Scene<'_>, clipped: bool, notes: &[String]) -> Map<String, Value> {
    let mut meta = Map::new();
    let mut put = |field: &str, value: Value| {
        meta.insert(field.to_owned(), value);
    };
    put("session", scene.session.into());
    if let Some(region) = &outcome.region {
        put("region", region.id.into());
    }
    put("status", outcome.status.word().into());
    let region = outcome.region.as_ref();
    let exit = match outcome.status {
        Status::Ended => outcome.program_exit,
        // fish calls a job that was stopped a success.
        _ if outcome.observed.stopped == Some(0) => None,
        _ => region.and_then(|region| region.exit),
    };
    if let Some(exit) = exit {
        put("exit", exit.into());
    }
    if let Some(region) = region.filter(|region| region.pipestatus.len() > 1) {
        put("pipestatus", region.pipestatus.clone().into());
    }
    let (first, count) = match (region, outcome.output) {
        (Some(region), None) => (region.first_line, region.lines),
        (_, Some((first, count))) => (first, count),
        (None, None) => (0, 0),
    };
    put("lines", count.into());
    if count > 0 {
        put("first_line", first.into());
        put("last_line", (first + count - 1).into());
    }
    put("elapsed", rounded(outcome.elapsed.as_secs_f64()));
    put("clipped", clipped.into());
    if let Some(region) = region {
        if elsewhere(region, scene.home).is_some() {
            put("place", place(region));
        }
        if let Some(cwd) = &region.cwd {
            put("cwd", cwd.as_str().into());
        }
    }
    if let Some(prompt) = &outcome.prompt {
        put("prompt", prompt.as_str().into());
    }
    let hidden = matches!(outcome.status, Status::WaitingHidden | Status::UnansweredHidden);
    if hidden || outcome.observed.asks == Some(Asks::Hidden) {
        put("hidden", true.into());
    }
    if let Some(matched) = outcome.matched {
        put("matched", matched.into());
    }
    if let Some(unsent) = outcome.unsent {
        put("ran", outcome.ran.iter().map(|ran| ran_of(outcome, ran)).collect());
        put("unsent", unsent.into());
    }
    put("notes", notes.into());
    meta
}

/// One entry of `ran`, with what the call knows of it beside its region.
fn ran_of(outcome: &Outcome, ran: &Region) -> Value {
    let last = outcome.region.as_ref().filter(|last| last.id == ran.id);
    let mut entry = ran_fields(last.unwrap_or(ran));
    let Some(fields) = entry.as_object_mut() else { return entry };
    if last.is_some() {
        // An input region is over where its program asks for more, and the call says what for.
        fields.insert("status".to_owned(), outcome.status.word().into());
    } else if let Some(prompt) = led_to(outcome, ran.id).filter(|prompt| !prompt.is_empty()) {
        fields.insert("prompt".to_owned(), prompt.into());
    }
    entry
}

/// The question or the prompt that a line of several led to.
pub(super) fn led_to(outcome: &Outcome, region: u32) -> Option<&str> {
    outcome.led_to.iter().find(|(id, _)| *id == region).map(|(_, prompt)| prompt.as_str())
}

fn rounded(seconds: f64) -> Value {
    json!((seconds * 1000.0).round() / 1000.0)
}

fn place(region: &Region) -> Value {
    let Some(place) = &region.place else { return Value::Null };
    let mut fields = json!({ "host": place.host, "user": place.user });
    if let (Some(container), Some(fields)) = (&place.container, fields.as_object_mut()) {
        fields.insert("container".to_owned(), container.as_str().into());
    }
    fields
}

/// One entry of `ran`.
pub(super) fn ran_fields(region: &Region) -> Value {
    let mut entry = Map::new();
    entry.insert("region".into(), region.id.into());
    entry.insert("status".into(), region_status(region).into());
    if let Some(exit) = region.exit {
        entry.insert("exit".into(), exit.into());
    }
    if region.lines > 0 {
        entry.insert("first_line".into(), region.first_line.into());
        entry.insert("last_line".into(), (region.first_line + region.lines - 1).into());
    }
    Value::Object(entry)
}

/// One entry of `regions`.
#[must_use]
pub fn region_fields(region: &Region, home: &Place, file: Option<&str>) -> Value {
    let mut entry = Map::new();
    let mut put = |field: &str, value: Value| {
        entry.insert(field.to_owned(), value);
    };
    put("id", region.id.into());
    put(
        "kind",
        match region.kind {
            Kind::Command => "command",
            Kind::Input => "input",
        }
        .into(),
    );
    put("label", region.label.as_str().into());
    put("status", region_status(region).into());
    if let Some(exit) = region.exit {
        put("exit", exit.into());
    }
    if region.pipestatus.len() > 1 {
        put("pipestatus", region.pipestatus.clone().into());
    }
    put("first_line", region.first_line.into());
    put("last_line", (region.first_line + region.lines).saturating_sub(1).into());
    put("lines", region.lines.into());
    put("started", json!(started(region)));
    put("elapsed", rounded(took(region).as_secs_f64()));
    if let Some(cwd) = &region.cwd {
        put("cwd", cwd.as_str().into());
    }
    if elsewhere(region, home).is_some() {
        put("place", place(region));
    }
    if let Some(actor) = &region.actor {
        put("actor", actor.as_str().into());
    }
    if let Some(file) = file {
        put("file", file.into());
    }
    Value::Object(entry)
}

/// Unix seconds with fractions, as clients take times.
#[expect(clippy::cast_precision_loss, reason = "milliseconds since 1970 are far below 2^53")]
fn started(region: &Region) -> f64 {
    region.started.0 as f64 / 1000.0
}
