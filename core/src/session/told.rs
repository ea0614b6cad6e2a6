//! What a reply says beside the call's own outcome, and what an agent has then been told.

use std::time::Duration;

use super::agents::Stood;
use super::looking::own_shell::OwnShell;
use super::{Call, CallKind, Effect, Session};
use crate::advice;
use crate::call::{Flow, Marks, Outcome, Plain, Status, Told, Way, leaves};
use crate::log::ShellState;
use crate::place::{self, Taker};
use crate::prompt;
use crate::region::{Kind, Region, State};
use crate::reply::finished_since;
use crate::time::Now;
use crate::waiting::Judgement;

/// Startup files that take longer than this are worth a word.
const SLOW_START: Duration = Duration::from_secs(2);

/// A job that works and has printed nothing for this long is said to: before, nobody wonders.
const SILENT: Duration = Duration::from_secs(5);

impl Session {
    /// Answers a call.
    pub(super) fn conclude(&mut self, now: Now, call: &Call, mut outcome: Outcome) {
        outcome.glued = if outcome.status == Status::Prompt { self.bytes_before_prompt() } else { 0 };
        self.measure(now, call, &mut outcome);
        self.tell_of_stop(&mut outcome);
        if outcome.status == Status::Error {
            // It tells of the lines that ran before it, and of nothing else.
            let told = outcome.ran.iter().filter(|region| region.state != State::Running).map(|region| region.id);
            let told: Vec<u32> = told.collect();
            self.agents.entry(&call.actor).untold.retain(|id| !told.contains(id));
        } else {
            self.observe(now, call, &mut outcome);
            self.note(call, &mut outcome);
            self.shown(&call.actor, &outcome);
        }
        if is_prompt(&outcome)
            && !matches!(self.log.shell(), ShellState::AtPrompt { .. })
            && let Some(prompt) = outcome.prompt.clone()
        {
            self.prompted(prompt);
        }
        if outcome.prompt.is_some() {
            self.note_told();
            self.note_shells_prompt();
        }
        // Where nothing was typed, the line is whose it was.
        let typed = outcome.status != Status::Error;
        if let (CallKind::Send(send), true) = (&call.kind, typed) {
            self.note_line(call.id, send.leaves, send.line_of.as_deref());
        }
        self.leaves_lines(call);
        self.effects.push_back(Effect::Remember);
        self.effects.push_back(Effect::Conclude(call.id, Box::new(outcome)));
    }

    /// How much there is to show, and how long it took.
    pub(super) fn measure(&self, now: Now, call: &Call, outcome: &mut Outcome) {
        // Behind output without a line end, the prompt's line is that as well.
        let asks = matches!(outcome.status, Status::Prompt | Status::Continuation) && outcome.glued == 0;
        // What rules have answered took as long as the call, whatever its regions took.
        let ruled = matches!(call.kind, CallKind::Expect(_)) && outcome.output.is_some();
        if let Some(region) = &outcome.region {
            let mut region = self.region_so_far(region);
            if asks && region.state == State::Running {
                // The line the prompt stands on is no output.
                region.lines = region.lines.saturating_sub(1);
            }
            let ended = region.ended.unwrap_or_else(|| self.wall_at(now));
            outcome.elapsed =
                if ruled { now - call.began } else { Duration::from_millis(ended.0.saturating_sub(region.started.0)) };
            outcome.region = Some(region);
        } else if outcome.elapsed.is_zero() {
            outcome.elapsed = now - call.began;
        }
        if let Some((first, count)) = outcome.output {
            let there = (self.total_lines() + 1).saturating_sub(first);
            let there = if asks && outcome.region.is_none() { there.saturating_sub(1) } else { there };
            outcome.output = Some((first, count.min(there)));
        }
    }

    /// What was seen of what runs, and is worth a word with this reply.
    fn observe(&mut self, now: Now, call: &Call, outcome: &mut Outcome) {
        let quiet = now - self.last_activity;
        let looking = &self.looking;
        let runs = outcome.status == Status::Running;
        let marks = self.marks(outcome);
        let unanswered = self.is_unanswered_there();
        let taker = self.taker_name().map(str::to_owned);
        let observed = &mut outcome.observed;
        let asks = outcome.prompt.as_deref().is_some_and(|prompt| !prompt.trim().is_empty());
        observed.hides = looking.hides().filter(|_| !asks);
        observed.silent = Some(quiet).filter(|_| runs && quiet >= SILENT && looking.holds == Some(Judgement::Works));
        observed.held = looking.flow == Flow::Held;
        observed.taker = taker;
        if let Some(Judgement::Carrier(carrier)) = &looking.holds {
            observed.far = runs.then(|| (carrier.program, carrier.destination.clone()));
        }
        observed.unanswered = outcome.status == Status::Quiet && unanswered;
        observed.jobs = self.jobs.news(&call.actor);
        observed.unshown = self.unshown.is_some() && self.unshown == outcome.region.as_ref().map(|region| region.id);
        observed.marks = marks;
    }

    /// The name of who would take a line, where it is seen from here.
    pub(super) fn taker_name(&self) -> Option<&str> {
        match self.looking.taker.as_ref()? {
            Taker::Shell(name) | Taker::Program(name) => Some(name),
            Taker::Far => None,
        }
    }

    /// What is known of the marks of the prompt that is told, where it is an integrated shell's.
    fn marks(&self, outcome: &Outcome) -> Option<Marks> {
        if !self.is_unmarked_now() {
            // Whatever it was started from runs on: a command, or a line of a program (`!bash` in gdb).
            let inside = self.log.open_region().is_some();
            let shown = outcome.status == Status::Prompt || outcome.status == Status::Sent && outcome.prompt.is_some();
            return (inside && shown).then_some(Marks::Stand);
        }
        // One that has run a line without them stays a plain one.
        let opened = outcome.region.as_ref().is_some_and(|region| region.state == State::Running);
        if !is_prompt(outcome) {
            return None;
        }
        match self.looking.own_shell {
            None if self.looking.armed && opened => Some(Marks::Later),
            Some(OwnShell::Unmarked) => Some(Marks::Lost),
            _ => None,
        }
    }

    /// Whether what stands on the terminal is told by no marks.
    fn is_unmarked_now(&self) -> bool {
        matches!(self.log.shell(), ShellState::Running(_) | ShellState::NoShell)
    }

    /// Adds the notes that this agent is to be given with its reply.
    fn note(&mut self, call: &Call, outcome: &mut Outcome) {
        if let Some(own) =
            call.region().filter(|id| self.log.region(*id).is_some_and(|region| region.state != State::Running))
        {
            // Where the line's taker ended with it, the reply is about the taker and tells this too.
            self.agents.entry(&call.actor).untold.remove(&own);
        }
        if let CallKind::Expect(expect) = &call.kind {
            // The reply names its answers and shows what came of them.
            for answer in expect.answered() {
                self.agents.entry(&call.actor).untold.remove(&answer);
            }
        }
        outcome.plain = self.plain_shell(outcome);
        let agents = &mut self.agents;
        let advised = advice::notes(outcome, &self.setting, &call.actor, &mut |key| agents.once(&call.actor, key));
        let mut notes = std::mem::take(&mut outcome.notes);
        if let CallKind::Run(_) | CallKind::Expect(_) = call.kind
            && let Some(late) =
                self.start.took.filter(|late| *late >= SLOW_START && self.agents.once(&call.actor, "slow-start"))
        {
            notes.push(format!(
                "the shell took {:.1} s to show its first prompt: its startup files are slow",
                late.as_secs_f64()
            ));
        }
        notes.extend(self.cut_off_note(&call.actor));
        notes.extend(advised);
        let asks = matches!(outcome.status, Status::Waiting | Status::WaitingHidden | Status::Quiet)
            || outcome.status == Status::Sent && outcome.observed.asks.is_some();
        notes.extend(self.begun_note(&call.actor).filter(|_| asks && self.is_unmarked_now()));
        let refused = self.looking.refused();
        notes.extend(refused.filter(|(key, _)| self.agents.once(&call.actor, key)).map(|(_, note)| note));
        notes.extend(self.place_note(&call.actor));
        let told = outcome.region.as_ref().map(|region| region.id);
        notes.extend(self.printed_note(|id| told == Some(id) || outcome.ran.iter().any(|region| region.id == id)));
        notes.extend(self.finished_notes(&call.actor, Some((told, &outcome.ran))));
        outcome.notes = notes;
    }

    /// The plain shell whose prompt an outcome shows, as far as is seen who would take a line there.
    fn plain_shell(&self, outcome: &Outcome) -> Option<Plain> {
        let unmarked = self.is_unmarked_now() && self.looking.own_shell.is_none() && outcome.observed.marks.is_none();
        let prompt = outcome.prompt.as_deref().filter(|_| unmarked && is_prompt(outcome))?;
        let behind = self.looking.behind;
        let shell = match self.looking.taker.as_ref()? {
            Taker::Shell(name) => Some(name.clone()),
            Taker::Far if !prompt::is_programs(prompt) => {
                let label = self.command().filter(|_| behind).map(|command| command.label.as_str());
                label.and_then(place::shell_opened)
            }
            Taker::Far | Taker::Program(_) => return None,
        };
        let place = self.place();
        // What was to bring it along has not, and is no advice for the next time.
        let brought = self.command().is_some_and(|command| place::brings_along(&command.label));
        let way = match (&place.container, &shell) {
            _ if behind || brought => Way::There,
            (Some(_), _) => Way::Container,
            (None, Some(_)) if place.user != self.setting.home.user => Way::User,
            (None, Some(_)) => Way::Here,
            (None, None) => Way::Host,
        };
        Some(Plain { place: place::told(place, &self.setting.home), shell, way })
    }

    /// That the session is somewhere else than this agent was last told.
    fn place_note(&mut self, actor: &str) -> Option<String> {
        if self.is_unmarked_now() && self.looking.place_due && self.looking.beyond.is_none() {
            // Nobody has seen yet where what runs leads to.
            return None;
        }
        let (place, home) = (self.place(), &self.setting.home);
        let (told, note) = (place::told(place, home), place::arrived(place, home));
        let agent = self.agents.entry(actor);
        if agent.place == told {
            return None;
        }
        agent.place = told;
        self.agents.leaves(actor, false);
        Some(note)
    }

    /// That the session has not come back from where this agent ran its last line, without a word of that agent's: what it
    /// types next is meant for there. It is told once.
    ///
    /// # Errors
    /// Says where the session is by now.
    pub(super) fn is_where_left(&mut self, actor: &str) -> Result<(), String> {
        let told = self.agents.get(actor).place;
        let here = place::told(self.place(), &self.setting.home);
        let at_prompt = matches!(self.log.shell(), ShellState::AtPrompt { .. });
        if !at_prompt || told.is_empty() || told == here || self.agents.has_left(actor) {
            return Ok(());
        }
        let last = self.log.regions().rev().find(|region| region.actor.as_deref() == Some(actor));
        let there = |region: &Region| region.place.as_ref().map(|place| place::told(place, &self.setting.home));
        if !last.is_some_and(|last| there(last).as_ref() == Some(&told) && !leaves(&last.label)) {
            return Ok(());
        }
        let arrived = place::arrived(self.place(), &self.setting.home);
        self.agents.entry(actor).place = here;
        Err(format!(
            "nothing was typed: {arrived}: what led to {told} has ended since your last line, which did not leave it. Run it again if it is meant for here"
        ))
    }

    /// What an agent knows of how the session stands now.
    pub(super) fn told(&self, actor: &str) -> Told {
        let rows = self.agents.get(actor).screen;
        match self.agents.stood(actor) {
            Some(Stood::Screen(since)) => Told { screen: Some(since), stands: false, rows },
            Some(Stood::Asking(offset)) => Told { screen: None, stands: offset == self.log.cooked.offset(), rows },
            None => Told { rows, ..Told::default() },
        }
    }

    /// Remembers what this agent has been shown with its reply.
    fn shown(&mut self, actor: &str, outcome: &Outcome) {
        let asking = Some(Stood::Asking(self.log.cooked.offset()));
        let stood = match (outcome.status, self.screen_since) {
            (Status::Screen | Status::Sent | Status::Running | Status::Matched, Some(since)) => {
                Some(Stood::Screen(since))
            }
            (Status::Screen | Status::Prompt | Status::Waiting | Status::Continuation, _) => asking,
            (Status::Unanswered, _) => asking,
            (Status::Sent, _) if outcome.prompt.is_some() => asking,
            _ => None,
        };
        self.agents.stands(actor, stood);
        let total = self.total_lines();
        // A line that may grow is looked at again, unless it has given what was looked for.
        let runs = matches!(self.log.shell(), ShellState::Running(_) | ShellState::NoShell);
        let grows = runs && !self.log.cooked.line_at_cursor().text.is_empty() && outcome.matched != Some(total);
        let agent = self.agents.entry(actor);
        agent.seen_line = total - u64::from(grows).min(total);
        // A line whose taker asks for more ends with the next one, which is no news to whoever types that.
        let asked = matches!(
            outcome.status,
            Status::Continuation
                | Status::Waiting
                | Status::WaitingHidden
                | Status::Unanswered
                | Status::UnansweredHidden
        );
        let told = |region: &&Region| region.state != State::Running || asked && region.kind == Kind::Input;
        if let Some(region) = outcome.region.as_ref().filter(told) {
            agent.untold.remove(&region.id);
        }
    }

    /// Notes on the regions that ended since the agent was last told, but for those the reply shows itself.
    pub(super) fn finished_notes(&mut self, actor: &str, shown: Option<(Option<u32>, &[Region])>) -> Vec<String> {
        let untold = self.agents.get(actor).untold;
        let mut notes = Vec::new();
        for id in untold {
            let Some(region) = self.log.region(id) else {
                self.agents.entry(actor).untold.remove(&id);
                continue;
            };
            if region.state == State::Running {
                continue;
            }
            let is_shown =
                shown.is_some_and(|(told, ran)| told == Some(id) || ran.iter().any(|region| region.id == id));
            // A line that a program took without a word is no news.
            let silent = region.kind == Kind::Input && region.lines == 0;
            if !is_shown && !silent {
                notes.push(finished_since(region));
            }
            self.agents.entry(actor).untold.remove(&id);
        }
        notes
    }
}

/// Whether an outcome shows a prompt, or what looks like one.
fn is_prompt(outcome: &Outcome) -> bool {
    let looks = || outcome.prompt.as_deref().and_then(prompt::looks_like) == Some(prompt::Looks::Prompt);
    outcome.status == Status::Prompt || outcome.status == Status::Quiet && looks()
}
