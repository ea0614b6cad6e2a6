//! Rebuilding a session from its files: the raw log is the truth, and what it cannot tell (who typed, which lines
//! went to a program) comes from the records.

use std::collections::BTreeMap;

use super::HUMAN;
use crate::log::{Log, LogEvent};
use crate::record::Intent;
use crate::region::{Kind, Region};

/// A rebuild under way: feed [`Recovery::log`] the stream from its beginning, then call [`Recovery::drain`] after
/// each piece, and [`Recovery::finish`] at the end.
#[derive(Debug)]
pub struct Recovery {
    log: Log,
    known: BTreeMap<u32, Region>,
    intent: Option<Intent>,
    owed: Vec<(String, u32)>,
    changed: Vec<Region>,
}

impl Recovery {
    /// Begins with an empty log, the regions on disk, and the last line a server set out to type.
    #[must_use]
    pub fn new(mut log: Log, known: Vec<Region>, intent: Option<Intent>) -> Self {
        log.expect_records(known.iter().filter(|region| region.kind == Kind::Input).cloned().collect());
        let known = known.into_iter().map(|region| (region.id, region)).collect();
        Self { log, known, intent, owed: Vec::new(), changed: Vec::new() }
    }

    /// The log, to be fed.
    pub fn log(&mut self) -> &mut Log {
        &mut self.log
    }

    /// Takes what the log has to say about the piece just fed.
    pub fn drain(&mut self) {
        while let Some(event) = self.log.poll() {
            match event {
                LogEvent::Opened(id) => self.opened(id),
                LogEvent::Closed(id) => self.compare(id),
                _ => {}
            }
        }
    }

    fn opened(&mut self, id: u32) {
        let known = self.known.get(&id);
        let actor = match known {
            Some(region) => region.actor.clone(),
            None => self.log.region(id).and_then(|region| {
                // A line typed by the last server and answered after its end belongs to that agent.
                let intent = self.intent.take_if(|intent| intent.submits && region.raw_start >= intent.offset)?;
                self.owed.push((intent.actor.clone(), id));
                Some(intent.actor)
            }),
        };
        if let Some(label) = known.filter(|region| region.kind == Kind::Input).map(|region| region.label.clone()) {
            self.log.set_label(id, label);
        }
        self.log.set_actor(id, actor.unwrap_or_else(|| HUMAN.to_owned()));
        self.compare(id);
    }

    fn compare(&mut self, id: u32) {
        let Some(region) = self.log.region(id) else { return };
        if self.known.get(&id) != Some(region) {
            self.known.insert(id, region.clone());
            self.changed.push(region.clone());
        }
    }

    /// The rebuilt log, the regions whose records are missing or out of date, and the agents to be told of them.
    #[must_use]
    pub fn finish(self) -> (Log, Vec<Region>, Vec<(String, u32)>) {
        (self.log, self.changed, self.owed)
    }
}
