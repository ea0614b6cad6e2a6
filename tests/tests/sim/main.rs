//! The session's machine under simulation: a scripted bash, agents and people, and a clock that only tests move.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may stop at what it did not expect"
)]

mod agents;
mod begun;
mod docent;
mod editor;
mod expect;
mod far;
mod glance;
mod idle;
mod integrate;
mod looking;
mod people;
mod programs;
mod properties;
mod readers;
mod recovery;
mod rest;
mod run;
mod signals;
mod starting;
mod trouble;
mod typists;
mod vi;
mod wait;

use dtmcp_core::call::{Outcome, Status};
use dtmcp_tests::sim::Sim;

/// A reply in one line, as a table of expectations has it: status, region, exit status, output.
fn told(outcome: &Outcome, sim: &Sim) -> String {
    let region = outcome.region.as_ref();
    let id = region.map_or_else(String::new, |region| format!(" #{}", region.id));
    let exit = region.and_then(|region| region.exit).map_or_else(String::new, |exit| format!(" exit {exit}"));
    let prompt = outcome.prompt.as_ref().map_or_else(String::new, |prompt| format!(" at {prompt:?}"));
    let text = format!("{}{id}{exit}{prompt}", outcome.status.word());
    let lines = sim.shown(outcome).join("|");
    if lines.is_empty() { text } else { format!("{text}: {lines}") }
}

/// The text of an error.
#[track_caller]
fn error(outcome: &Outcome) -> String {
    assert_eq!(outcome.status, Status::Error, "{outcome:?}");
    outcome.error.clone().unwrap()
}

/// Whether some note says this.
fn notes(outcome: &Outcome, what: &str) -> usize {
    outcome.notes.iter().filter(|note| note.contains(what)).count()
}
