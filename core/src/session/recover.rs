//! Rebuilding a session from its files: the raw log is the truth, and what it cannot tell (who typed, which lines
//! went to a program) comes from the records.

use std::collections::BTreeMap;

use super::HUMAN;
use super::cut_off::CutOff;
use super::line::grown::Grown;
use super::line::rest::Prompts;
use super::lines::is_end_of_label;
use super::submitter::{LINES_MAX, Submitter};
use crate::log::{Log, LogEvent, ShellState};
use crate::record::{Intent, IntentState};
use crate::region::{Kind, Region};
use crate::time::{Now, Wall};

/// What a session that was rebuilt has to go on with.
#[derive(Debug, Default)]
pub struct Inherited {
    /// Regions that the server before had no record of, and the agents to be told of them.
    pub(super) owed: Vec<(String, u32)>,
    /// Whose line is under way.
    pub(super) submitter: Submitter,
    /// What stood on a program's line when it rested.
    pub(super) grown: Grown,
    /// Whether what was typed last, or was about to be, is a line.
    pub(super) submitted: bool,
    /// What a program has shown of its prompts.
    pub(super) prompts: Prompts,
    /// Lines that the server before did not come to.
    pub(super) cut_off: Option<CutOff>,
}

/// A rebuild under way: feed it the stream from its beginning, then [`Recovery::finish`].
#[derive(Debug)]
pub struct Recovery {
    log: Log,
    known: BTreeMap<u32, Region>,
    /// The last line that was typed, until the stream comes to it.
    intent: Option<Intent>,
    submitted: bool,
    submitter: Submitter,
    grown: Grown,
    prompts: Prompts,
    owed: Vec<(String, u32)>,
    changed: Vec<Region>,
    cut_off: Option<CutOff>,
}

impl Recovery {
    /// Begins with an empty log, the regions on disk, and the last line a server set out to type.
    #[must_use]
    pub fn new(mut log: Log, known: Vec<Region>, intent: Option<Intent>) -> Self {
        log.expect_records(known.clone());
        let known = known.into_iter().map(|region| (region.id, region)).collect();
        let cut_off = intent.as_ref().and_then(CutOff::by);
        let intent = intent.filter(|intent| intent.submits && intent.state != IntentState::Refused);
        Self {
            log,
            known,
            submitted: intent.is_some(),
            intent,
            submitter: Submitter::default(),
            grown: Grown::default(),
            prompts: Prompts::default(),
            owed: Vec::new(),
            changed: Vec::new(),
            cut_off,
        }
    }

    /// The log. Its settled text is to be taken after each piece.
    pub fn log(&mut self) -> &mut Log {
        &mut self.log
    }

    /// Takes the next bytes of the stream, recorded at `wall`.
    pub fn feed(&mut self, bytes: &[u8], wall: Wall) {
        let begun = self.log.cooked.offset();
        if !bytes.is_empty() {
            self.grown.replayed(&self.log, wall);
            self.prompts.replayed(&self.log, wall);
        }
        let before = self.intent.as_ref().map(|intent| intent.offset.saturating_sub(begun));
        let before = before.and_then(|before| usize::try_from(before).ok()).filter(|before| *before < bytes.len());
        let (before, after) = bytes.split_at(before.unwrap_or(bytes.len()));
        self.log.feed(before, wall);
        self.drain();
        if !after.is_empty() {
            self.reach_intent();
            self.log.feed(after, wall);
            self.drain();
        }
    }

    fn reach_intent(&mut self) {
        if let Some(intent) = self.intent.take_if(|intent| intent.offset <= self.log.cooked.offset()) {
            let at_shell = matches!(self.log.shell(), ShellState::AtPrompt { .. } | ShellState::Continuation);
            // How long ago it was typed is not known; whoever asks was not there.
            let texts = vec![None; usize::try_from(intent.enters.max(1)).unwrap_or(usize::MAX).min(LINES_MAX)];
            self.submitter.submitted(
                None,
                &intent.actor,
                texts,
                at_shell.then_some(Now::default()),
                self.log.prompt_stands(),
            );
            // Whether that one was typed at all, nobody has written down.
            if at_shell && intent.state == IntentState::Typing {
                self.submitter.may_be(intent.length);
            }
        }
    }

    fn drain(&mut self) {
        while let Some(event) = self.log.poll() {
            self.submitter.on(Now::default(), &event);
            match event {
                LogEvent::Opened(id) => self.opened(id),
                LogEvent::Closed(id) => self.compare(id),
                _ => {}
            }
        }
    }

    fn opened(&mut self, id: u32) {
        if let Some(region) = self.log.region(id) {
            self.prompts.opened(&self.log, region);
        }
        let opened = self.log.region(id).filter(|region| region.kind == Kind::Command);
        let submitter = opened.and_then(|region| self.submitter.opened(&region.label));
        let known = self.known.get(&id);
        let actor = match known {
            Some(region) => region.actor.clone(),
            None => {
                // A line typed by the last server and answered after its end belongs to that agent.
                let actor = submitter.map(|by| by.actor);
                self.owed.extend(actor.clone().map(|actor| (actor, id)));
                actor
            }
        };
        // Of a line that was echoed behind something else's output the stream does not tell how long it was.
        let shown = self.log.region(id).map(|region| region.label.as_str()).unwrap_or_default();
        let told = |region: &&Region| region.kind == Kind::Input || is_end_of_label(shown, &region.label);
        if let Some(label) = known.filter(told).map(|region| region.label.clone()) {
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

    /// The rebuilt log, the regions whose records are missing or out of date, and what is left to be done.
    #[must_use]
    pub fn finish(mut self) -> (Log, Vec<Region>, Inherited) {
        // A program that was given the first line of all and has printed nothing is in no piece of the stream.
        self.feed(&[], Wall::default());
        self.reach_intent();
        let Self { log, changed, owed, submitter, grown, submitted, prompts, cut_off, .. } = self;
        (log, changed, Inherited { owed, submitter, grown, submitted, prompts, cut_off })
    }
}
