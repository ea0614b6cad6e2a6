//! Rendering a reply off the session's task: reading lines and asking for the screen hold nobody up.

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;

use dtmcp_core::call::{Outcome, ScreenView, Status};
use dtmcp_core::lines::Lines as _;
use dtmcp_core::record::row_mark;
use dtmcp_core::region::{Place, Region};
use dtmcp_core::reply::{Reply, Scene, ScreenText, render};
use dtmcp_core::text;
use tokio::sync::{mpsc, oneshot};

use crate::hub::save;
use crate::store::lines::LogLines;
use crate::terminal::{PaneId, Screen, Terminal};

/// What an agent is about to be shown of the screen.
#[derive(Debug)]
pub struct Shown {
    /// The agent.
    pub actor: String,
    /// The marks of its rows.
    pub rows: Vec<u32>,
    /// Told when that is on disk: the reply does not precede its record.
    pub kept: oneshot::Sender<()>,
}

/// Bytes up to which a reply is rendered where it stands; reading more is left to a thread of its own.
const QUICK_BYTES: u64 = 128 * 1024;

/// All that one reply is made of.
#[derive(Debug)]
pub struct Job {
    pub outcome: Outcome,
    pub lines: LogLines,
    pub session: String,
    pub home: Place,
    /// The agent, whose last look at the screen is remembered; none is a reader, who is no agent.
    pub actor: Option<String>,
    pub dir: PathBuf,
    /// Whether `save_to` may name an absolute path: it was checked before the call began.
    pub absolute_allowed: bool,
    pub fullscreen: bool,
    pub notes: Vec<String>,
    pub nonce: Option<String>,
    pub summaries: bool,
    pub terminal: Arc<dyn Terminal>,
    pub pane: PaneId,
    /// The marks of the rows that this agent was last shown; none if it was shown no screen.
    pub before: Vec<u32>,
    /// Where it is told what it has been shown now.
    pub shown: mpsc::UnboundedSender<Shown>,
}

/// Renders the reply and sends it.
pub fn spawn(job: Job, reply: oneshot::Sender<Reply>) {
    let status = job.outcome.status;
    let painted = status == Status::Screen || (job.fullscreen && shows_screen(status));
    let wants_screen = job.outcome.screen != ScreenView::None || painted;
    if wants_screen {
        tokio::spawn(async move {
            let (screen, note) = look(&job).await;
            // A client that is gone needs no answer.
            drop(reply.send(finish(job, screen.as_ref(), note)));
        });
    } else if bytes(&job) > QUICK_BYTES {
        tokio::task::spawn_blocking(move || drop(reply.send(finish(job, None, None))));
    } else {
        drop(reply.send(finish(job, None, None)));
    }
}

/// About how much has to be read for the reply.
fn bytes(job: &Job) -> u64 {
    let outcome = &job.outcome;
    if outcome.shape.save_to.is_some() {
        return u64::MAX;
    }
    let all = outcome.ran.first().or(outcome.region.as_ref()).map(|region| region.first_line);
    let first = all.or(outcome.output.map(|(first, _)| first));
    first.map_or(0, |first| job.lines.offset(job.lines.last() + 1).saturating_sub(job.lines.offset(first)))
}

fn shows_screen(status: Status) -> bool {
    matches!(status, Status::Sent | Status::Running | Status::Matched)
}

async fn look(job: &Job) -> (Option<ScreenText>, Option<String>) {
    match job.terminal.capture(job.pane).await {
        Ok(screen) => {
            if let Some(actor) = &job.actor {
                let rows = screen.rows.iter().map(|row| row_mark(row)).collect();
                let (kept, is_kept) = oneshot::channel();
                // The session is gone if nobody takes it, and there is nothing to be kept then.
                drop(job.shown.send(Shown { actor: actor.clone(), rows, kept }));
                drop(is_kept.await);
            }
            (Some(shape(job, &screen)), None)
        }
        Err(error) => (None, Some(format!("the screen cannot be shown: {error}"))),
    }
}

/// The rows that were asked for.
fn shape(job: &Job, screen: &Screen) -> ScreenText {
    let mut text = ScreenText {
        rows: Vec::new(),
        cols: screen.cols,
        height: screen.size().rows,
        cursor: (screen.cursor.0 + 1, screen.cursor.1 + 1),
    };
    text.rows = match job.outcome.screen {
        ScreenView::Cursor => numbered(&screen.rows).skip(screen.cursor.1.into()).take(1).collect(),
        ScreenView::Changes if job.before.is_empty() => whole(&screen.rows),
        ScreenView::Changes => changes(&job.before, &screen.rows),
        ScreenView::Full | ScreenView::None => whole(&screen.rows),
    };
    text
}

/// Every row down to the last that is not blank.
pub fn whole(rows: &[String]) -> Vec<String> {
    let used = rows.iter().rposition(|row| !row.trim().is_empty()).map_or(0, |last| last + 1);
    rows.iter().take(used).map(|row| row.trim_end().to_owned()).collect()
}

fn numbered(rows: &[String]) -> impl Iterator<Item = String> {
    rows.iter().zip(1..).map(|(row, number): (_, u32)| format!("row {number}: {}", row.trim_end()))
}

fn changes(before: &[u32], rows: &[String]) -> Vec<String> {
    let changed = rows.iter().enumerate().filter(|(at, row)| before.get(*at) != Some(&row_mark(row)));
    let lines: Vec<String> = changed.map(|(at, row)| format!("row {}: {}", at + 1, row.trim_end())).collect();
    if lines.is_empty() { vec!["[no row changed]".to_owned()] } else { lines }
}

fn finish(mut job: Job, screen: Option<&ScreenText>, note: Option<String>) -> Reply {
    job.notes.extend(note);
    if screen.is_some() && job.fullscreen && job.outcome.status == Status::Sent {
        // The cooked log holds a placeholder for what the screen shows.
        job.outcome.output = None;
    }
    if let Some(path) = &job.outcome.shape.save_to {
        job.notes.push(saved(&job, path));
    }
    let scene = Scene {
        session: &job.session,
        lines: &job.lines,
        screen,
        home: &job.home,
        notes: std::mem::take(&mut job.notes),
        summaries: job.summaries,
    };
    mask(render(&job.outcome, &scene), job.nonce.as_deref())
}

/// Copies the whole output, of several lines that of every region in order, to where the client wants it, and says where
/// that is.
fn saved(job: &Job, path: &str) -> String {
    let (ran, last) = (&job.outcome.ran, job.outcome.region.as_ref());
    // The call's own region has gone on since it was noted among the others.
    let known = |region: &Region| last.filter(|last| last.id == region.id).map_or(region.lines, |last| last.lines);
    let (ranges, of): (Vec<(u64, u64)>, String) = match (last, job.outcome.output) {
        _ if ran.len() > 1 => {
            let names: Vec<String> = ran.iter().map(|region| format!("#{}", region.id)).collect();
            (ran.iter().map(|region| (region.first_line, known(region))).collect(), format!(" of {}", names.join(", ")))
        }
        (Some(region), _) => (vec![(region.first_line, region.lines)], String::new()),
        (None, output) => (output.into_iter().collect(), String::new()),
    };
    let count: u64 = ranges.iter().map(|(_, count)| count).sum();
    match save::save(&job.dir, path, job.absolute_allowed, &job.lines, &ranges) {
        Ok(path) => format!("saved {count} {}{of} to {}", if count == 1 { "line" } else { "lines" }, path.display()),
        Err(why) => format!("the output was not saved: {why}"),
    }
}

/// Takes the nonce out of a reply: a model that repeats it could forge markers by accident.
#[must_use]
pub fn mask(mut reply: Reply, nonce: Option<&str>) -> Reply {
    if let Some(nonce) = nonce {
        reply.text = mask_text(reply.text, Some(nonce));
        for value in reply.meta.values_mut() {
            mask_value(value, nonce);
        }
    }
    reply
}

/// The same for words that are no reply.
#[must_use]
pub fn mask_text(text: String, nonce: Option<&str>) -> String {
    match nonce.map(|nonce| text::mask::mask(&text, nonce)) {
        Some(Cow::Owned(masked)) => masked,
        Some(Cow::Borrowed(_)) | None => text,
    }
}

fn mask_value(value: &mut serde_json::Value, nonce: &str) {
    match value {
        serde_json::Value::String(text) => *text = mask_text(std::mem::take(text), Some(nonce)),
        serde_json::Value::Array(values) => values.iter_mut().for_each(|value| mask_value(value, nonce)),
        serde_json::Value::Object(fields) => fields.values_mut().for_each(|value| mask_value(value, nonce)),
        _ => {}
    }
}
