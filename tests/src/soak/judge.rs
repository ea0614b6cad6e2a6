//! What came of it: what ran, what is recorded of it, and what was told.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::shared::{ROOMS, Room};
use super::words;
use crate::client::{Answer, World};

/// A line that was to be typed.
#[derive(Debug)]
pub(super) struct Line {
    /// The number that it writes.
    pub(super) n: usize,
    pub(super) room: Room,
    /// The agent, or `human`.
    pub(super) actor: &'static str,
    /// What its call was answered, where it was.
    pub(super) answer: Option<Answer>,
}

/// What came of killing the shared server while agents and people worked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Shared {
    /// Lines of agents that ran, and that were never typed.
    pub ran: usize,
    /// See [`Self::ran`].
    pub not_typed: usize,
    /// Lines that were typed into a program or a plain shell just when the server was killed, and have no region.
    pub unrecorded: usize,
    /// Lines that people typed; all of them ran.
    pub people: usize,
    /// Calls that were answered with how the line ended.
    pub told: usize,
    /// Ends that an agent was told of in a later call.
    pub news: usize,
    /// Lines that a program printed meanwhile, each of them in the log.
    pub printed: usize,
    /// What the bridge takes in memory at the end, in kB.
    pub bridge_kb: u64,
}

pub(super) fn judge(world: &World, lines: &[Line]) -> Result<Shared, String> {
    let mut found = Shared::default();
    for room in ROOMS {
        let path = world.user_home().join(format!("f-{}", room.name));
        let written = std::fs::read_to_string(path).unwrap_or_default();
        let text = std::fs::read_to_string(world.state().join("sessions").join(room.name).join("regions.jsonl"));
        let regions = last_records(&text.map_err(words)?);
        let mut there: Vec<&Line> = lines.iter().filter(|line| line.room.name == room.name).collect();
        there.sort_by_key(|line| line.n);
        let known: BTreeSet<String> = there.iter().map(|line| line.n.to_string()).collect();
        if let Some(odd) = written.lines().find(|text| !known.contains(*text)) {
            return Err(format!("{}: nobody typed what ran as {odd:?}", room.name));
        }
        let mut recorded = 0;
        for line in there {
            recorded += judge_line(line, &written, &regions, &mut found)?;
        }
        if regions.len() != recorded {
            return Err(format!("{}: {recorded} regions are known of {}: {regions:?}", room.name, regions.len()));
        }
    }
    found.news = news(lines)?;
    Ok(found)
}

/// The last record of each region.
fn last_records(text: &str) -> BTreeMap<u64, Value> {
    let records = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    records.map(|record| (record["id"].as_u64().unwrap_or_default(), record)).collect()
}

/// Judges one line; says how many regions are its.
fn judge_line(line: &Line, written: &str, regions: &BTreeMap<u64, Value>, found: &mut Shared) -> Result<usize, String> {
    let (n, text) = (line.n, line.room.line(line.n));
    let ran = written.lines().filter(|written| **written == n.to_string()).count();
    let recorded: Vec<&Value> = regions
        .values()
        .filter(|region| {
            region["label"].as_str().is_some_and(|label| label.trim_end_matches(" # by hand").ends_with(&text))
        })
        .collect();
    let exit = line.room.integrated.then(|| json!(n % 5));
    let is_right = |region: &Value| {
        region["actor"] == json!(line.actor) && region.get("exit").filter(|exit| !exit.is_null()) == exit.as_ref()
    };
    let right = match ran {
        0 => recorded.is_empty() && line.actor != "human",
        // What a person types into a program is part of what is there.
        1 if !line.room.integrated && line.actor == "human" => recorded.is_empty(),
        // Of a line that is typed into a program, a server that is killed at that moment has no record.
        1 if !line.room.integrated && line.answer.as_ref().is_none_or(|answer| answer.is_error) => recorded.len() < 2,
        1 => recorded.len() == 1 && recorded.iter().all(|region| is_right(region)),
        _ => false,
    };
    let Line { room, actor, answer, .. } = line;
    if !right {
        return Err(format!(
            "{}: {n} of {actor} ran {ran} times, and is recorded as {recorded:?}; its call was answered: {:?}",
            room.name,
            answer.as_ref().map(|answer| &answer.text)
        ));
    }
    if *actor == "human" {
        found.people += ran;
        return Ok(recorded.len());
    }
    found.unrecorded += ran - recorded.len().min(ran);
    found.ran += ran;
    found.not_typed += 1 - ran;
    let Some(answer) = answer else { return Ok(recorded.len()) };
    let told = ["finished", "prompt"].contains(&answer.status());
    let untyped = answer.text.contains("nothing was typed") || answer.text.contains("not begun");
    let other_exit = told && room.integrated && answer.exit() != i64::try_from(n % 5).ok();
    if told && ran == 0 || untyped && ran == 1 || other_exit {
        return Err(format!(
            "{}: {n} of {actor} ran {ran} times, and its call was answered: {}",
            room.name, answer.text
        ));
    }
    found.told += usize::from(told);
    Ok(recorded.len())
}

/// How many ends were told later; none of them twice.
fn news(lines: &[Line]) -> Result<usize, String> {
    let mut seen = BTreeSet::new();
    for line in lines {
        let notes = line.answer.iter().flat_map(|answer| answer.meta["notes"].as_array().into_iter().flatten());
        let words = notes.filter_map(|note| note.as_str()?.strip_prefix("finished since your last call: #"));
        for id in words.filter_map(|note| note.split(' ').next()) {
            if !seen.insert((line.actor, line.room.name, id.to_owned())) {
                return Err(format!("{} was told twice of #{id} in {}", line.actor, line.room.name));
            }
        }
    }
    Ok(seen.len())
}
