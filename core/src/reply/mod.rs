//! What a model reads: a status line, notes, and output, in that order, so that no output can pass for the
//! server's words.

mod asked;
mod binary;
mod meta;
mod news;
mod status;

use std::time::Duration;

use crate::call::{Outcome, Status};
use crate::cooked::FULL_SCREEN_PLACEHOLDER;
use crate::lines::Lines;
use crate::region::{Place, Region, State};
use crate::show::{Body, Source, body, summary_before};
use crate::summary::Allowance;
use crate::text::visible::spell_out;

pub use meta::region_fields;
pub(crate) use news::finished_since;
pub(crate) use status::headline;
pub use status::{region_line, seconds, span, status_line};

/// A finished reply.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    /// The text content, as the contract lays it out.
    pub text: String,
    /// The fields of `_meta["dtmcp/reply"]`.
    pub meta: serde_json::Map<String, serde_json::Value>,
    /// Whether the result says `isError`.
    pub is_error: bool,
}

impl Reply {
    /// A failed call: what is wrong and what to do next.
    #[must_use]
    pub fn error(session: Option<&str>, text: &str) -> Self {
        let text = spell_out(text);
        let mut meta = serde_json::Map::new();
        if let Some(session) = session {
            meta.insert("session".into(), session.into());
        }
        meta.insert("status".into(), Status::Error.word().into());
        meta.insert("notes".into(), serde_json::Value::Array(Vec::new()));
        Self { text: format!("error: {text}"), meta, is_error: true }
    }

    /// A reply made of a status line, notes and lines of output.
    #[must_use]
    pub fn ok(session: Option<&str>, status: &str, notes: &[String], output: &[String]) -> Self {
        let mut meta = serde_json::Map::new();
        if let Some(session) = session {
            meta.insert("session".into(), session.into());
        }
        meta.insert("status".into(), Status::Ok.word().into());
        meta.insert("notes".into(), notes.into());
        Self { text: layout(&[status.to_owned()], notes, output), meta, is_error: false }
    }

    /// Adds a field for programs.
    #[must_use]
    pub fn with(mut self, field: &str, value: impl Into<serde_json::Value>) -> Self {
        self.meta.insert(field.to_owned(), value.into());
        self
    }
}

/// A screen as it is shown in a reply.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ScreenText {
    /// The rows shown.
    pub rows: Vec<String>,
    /// Columns of the screen.
    pub cols: u16,
    /// Rows of the screen.
    pub height: u16,
    /// The cursor's column and row, from 1.
    pub cursor: (u16, u16),
}

/// What a reply needs beside the outcome.
#[derive(Debug)]
pub struct Scene<'a> {
    /// The session's name.
    pub session: &'a str,
    /// The lines, as they stood when the call was concluded.
    pub lines: &'a dyn Lines,
    /// The screen, where one was asked for or a full-screen program is up.
    pub screen: Option<&'a ScreenText>,
    /// The server's own place, which is not mentioned.
    pub home: &'a Place,
    /// Notes of the driver, said behind the machine's.
    pub notes: Vec<String>,
    /// Whether the summary lines of what is left out are shown.
    pub summaries: bool,
}

/// Renders the reply to a waiting call.
#[must_use]
pub fn render(outcome: &Outcome, scene: &Scene<'_>) -> Reply {
    if let Some(text) = &outcome.error {
        return cut_short(outcome, scene, Reply::error(Some(scene.session), text));
    }
    let mut notes = notes(outcome, scene);
    let (mut output, clipped) = shown_or_told(outputs(outcome, scene), &mut notes);
    if outcome.glued > 0 && outcome.shape.show.is_none() {
        cut_prompt(&mut output, outcome);
    }
    notes.extend(binary::note(&output));
    if let Some(screen) = scene.screen {
        // The rows of a full-screen program are its output; otherwise the screen stands behind the new lines.
        if outcome.status == Status::Screen {
            output.clear();
        }
        // A screen that was asked for may be a shell's.
        let painted = outcome.status == Status::Screen || outcome.output.is_none();
        notes.extend(asked::note(&screen.rows).filter(|_| painted));
        if outcome.output.is_none() {
            output.pop_if(|last| last == FULL_SCREEN_PLACEHOLDER);
        }
        output.extend(screen.rows.iter().cloned());
    }
    let statuses = status::status_lines(outcome, scene);
    let meta = meta::fields(outcome, scene, clipped, &notes);
    Reply { text: layout(&statuses, &notes, &output), meta, is_error: false }
}

/// Takes the prompt off the last line of output, which it is glued to: the status line tells it.
fn cut_prompt(output: &mut [String], outcome: &Outcome) {
    let prompt = outcome.prompt.as_deref().unwrap_or_default().trim_end();
    let Some(last) = output.last_mut() else { return };
    // A line that is too long was clipped in its middle.
    let at = if last.is_char_boundary(outcome.glued) { outcome.glued } else { last.len() };
    if last.get(at..).is_some_and(|rest| rest.starts_with(prompt)) {
        last.truncate(at);
    } else if last.ends_with(prompt) {
        last.truncate(last.len() - prompt.len());
    }
}

/// An error that has ended a call of several lines tells of those that ran before it as their own reply would.
fn cut_short(outcome: &Outcome, scene: &Scene<'_>, mut reply: Reply) -> Reply {
    let Some(unsent) = outcome.unsent else { return reply };
    reply.meta.insert("ran".into(), outcome.ran.iter().map(meta::ran_fields).collect());
    reply.meta.insert("unsent".into(), unsent.into());
    let mut notes = notes(outcome, scene);
    let (output, clipped) = match outcome.ran.as_slice() {
        [] => (Vec::new(), false),
        _ => shown_or_told(several(outcome, scene), &mut notes),
    };
    reply.meta.insert("clipped".into(), clipped.into());
    let rest = layout(&status::ran_lines(outcome, scene, None), &notes, &output);
    if !rest.is_empty() {
        reply.text = format!("{}\n{rest}", reply.text);
    }
    reply.meta.insert("notes".into(), notes.into());
    reply
}

/// The call's notes and the driver's.
fn notes(outcome: &Outcome, scene: &Scene<'_>) -> Vec<String> {
    outcome.notes.iter().chain(&scene.notes).map(|note| spell_out(note).into_owned()).collect()
}

/// The output part; where it cannot be read, a note says why.
fn shown_or_told(output: Result<(Vec<String>, bool), String>, notes: &mut Vec<String>) -> (Vec<String>, bool) {
    output.unwrap_or_else(|why| {
        notes.push(format!("the output cannot be shown: {why}"));
        (Vec::new(), true)
    })
}

/// The output part, and whether it shows less than there is.
fn outputs(outcome: &Outcome, scene: &Scene<'_>) -> Result<(Vec<String>, bool), String> {
    if outcome.status == Status::Screen && scene.screen.is_some() {
        return Ok((Vec::new(), false));
    }
    if outcome.ran.len() > 1 {
        return several(outcome, scene);
    }
    let (first, count, region) = match (&outcome.region, outcome.output) {
        (Some(region), None) => (region.first_line, region.lines, Some(region.id)),
        (_, Some((first, count))) => (first, count, None),
        (None, None) => return Ok((Vec::new(), false)),
    };
    let source = Source { session: scene.session, region, summaries: scene.summaries };
    let shown = body(scene.lines, first, count, &outcome.shape, source)?;
    Ok((shown.lines, shown.clipped))
}

/// Each region's output under a line that names it; the budget is shared.
fn several(outcome: &Outcome, scene: &Scene<'_>) -> Result<(Vec<String>, bool), String> {
    let mut lines = Vec::new();
    let mut clipped = false;
    let share = (crate::text::clip::Budget::default().lines / outcome.ran.len()).max(4);
    let current = outcome.region.as_ref();
    for (at, region) in outcome.ran.iter().enumerate() {
        let region = current.filter(|last| last.id == region.id).unwrap_or(region);
        let source = Source { session: scene.session, region: Some(region.id), summaries: scene.summaries };
        let mut shape = outcome.shape.clone();
        let mut summary = Vec::new();
        if shape.show.is_none() && shape.last_lines.is_none() && region.lines > share as u64 {
            summary = summary_of(region, share, outcome.ran.len(), scene, source)?;
            shape.last_lines = Some(share.saturating_sub(summary.len()).max(share / 2));
        }
        let Body { lines: mut shown, clipped: cut, .. } =
            body(scene.lines, region.first_line, region.lines, &shape, source)?;
        // Behind output without a line end the next line's prompt stands, and that line: its label tells both.
        let next = outcome.ran.get(at + 1).map_or("", |next| next.label.as_str());
        if let Some(last) = shown.last_mut().filter(|last| !next.is_empty() && last.len() > next.len()) {
            let output = last.strip_suffix(next).map(str::len);
            output.into_iter().for_each(|output| last.truncate(output));
        }
        lines.push(format!("[#{}]", region.id));
        lines.extend(summary);
        if cut && shape.show.is_none() {
            let left = region.lines - (shown.len() as u64).min(region.lines);
            if left > 0 {
                lines.push(format!(
                    "[... {left} earlier lines left out: read session=\"{}\" region={} ...]",
                    scene.session, region.id
                ));
            }
        }
        lines.extend(shown);
        clipped |= cut;
    }
    Ok((lines, clipped))
}

/// The summary lines of a region of which the last `share` lines are shown; regions share what a reply gives to them.
fn summary_of(
    region: &Region,
    share: usize,
    regions: usize,
    scene: &Scene<'_>,
    source: Source<'_>,
) -> Result<Vec<String>, String> {
    let whole = Allowance::default();
    // No more than half the region's lines, and what is shown of its end is found out before.
    let allowance = Allowance { lines: (whole.lines / regions).clamp(2, share / 2), chars: whole.chars / regions };
    let output = (region.first_line, region.first_line + region.lines - 1);
    summary_before(scene.lines, output, output.1 + 1 - share as u64, allowance, source)
}

/// Lays the parts out, every character visible.
fn layout(statuses: &[String], notes: &[String], output: &[String]) -> String {
    let mut text = String::new();
    for status in statuses {
        text.push_str(&spell_out(status).replace('\n', " "));
        text.push('\n');
    }
    for note in notes {
        text.push_str("note: ");
        text.push_str(&spell_out(note).replace('\n', " "));
        text.push('\n');
    }
    if !output.is_empty() {
        text.push_str("---\n");
        for line in output {
            text.push_str(&spell_out(line));
            text.push('\n');
        }
    }
    text.truncate(text.trim_end_matches('\n').len());
    text
}

/// Where a region ran, as a reply says it: only what differs from the server's own place.
fn elsewhere(region: &Region, home: &Place) -> Option<String> {
    region.place.as_ref().and_then(|place| crate::place::differs(place, home))
}

/// How long a region ran, where it has ended.
fn took(region: &Region) -> Duration {
    region.ended.map_or(Duration::ZERO, |ended| Duration::from_millis(ended.0.saturating_sub(region.started.0)))
}

/// A region's status as a word for programs.
#[must_use]
pub fn region_status(region: &Region) -> &'static str {
    match region.state {
        State::Running => "running",
        State::Finished => "finished",
        State::Lost => "ended",
    }
}
