//! What a session keeps for each agent: half-typed text, what it has not been told, notes it was given.

use std::collections::{BTreeMap, BTreeSet};

use crate::record::{AgentRecord, StateRecord};
use crate::time::Now;

/// Agents remembered per session; an agent beyond that pushes out the one whose name comes first among those with
/// nothing left to be told. Clients of one session are a handful.
const AGENTS_MAX: usize = 64;

/// Regions that an agent is still to be told of; older ones are dropped, `regions` lists them all.
const UNTOLD_MAX: usize = 64;

/// The agents of one session.
#[derive(Debug, Clone, Default)]
pub(crate) struct Agents {
    record: StateRecord,
    stood: BTreeMap<String, Stood>,
    left: BTreeSet<String>,
}

/// What stood there when an agent was last answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stood {
    /// A full-screen program, which came up then.
    Screen(Now),
    /// A prompt or a question, when so many bytes had come.
    Asking(u64),
}

impl Agents {
    pub(crate) fn new(record: StateRecord) -> Self {
        Self { record, stood: BTreeMap::new(), left: BTreeSet::new() }
    }

    /// What stood there when an agent was last answered; none where that was neither, or it was another server's answer.
    pub(crate) fn stood(&self, name: &str) -> Option<Stood> {
        self.stood.get(name).copied()
    }

    /// An agent is told how the session stands.
    pub(crate) fn stands(&mut self, name: &str, stood: Option<Stood>) {
        let Some(stood) = stood else {
            self.stood.remove(name);
            return;
        };
        if self.stood.len() >= AGENTS_MAX && !self.stood.contains_key(name) {
            self.stood.pop_first();
        }
        self.stood.insert(name.to_owned(), stood);
    }

    /// Whether an agent has sent keys since it was last told of a place: they may have led away from there, or not.
    pub(crate) fn has_left(&self, name: &str) -> bool {
        self.left.contains(name)
    }

    /// An agent has sent keys, or is told where the session is.
    pub(crate) fn leaves(&mut self, name: &str, left: bool) {
        if !left {
            self.left.remove(name);
        } else if self.left.len() < AGENTS_MAX {
            self.left.insert(name.to_owned());
        }
    }

    pub(crate) fn record(&self) -> &StateRecord {
        &self.record
    }

    pub(crate) fn get(&self, name: &str) -> AgentRecord {
        self.record.agents.get(name).cloned().unwrap_or_default()
    }

    pub(crate) fn entry(&mut self, name: &str) -> &mut AgentRecord {
        if !self.record.agents.contains_key(name) && self.record.agents.len() >= AGENTS_MAX {
            let idle = self.record.agents.iter().find(|(_, agent)| agent.untold.is_empty());
            let out = idle.or_else(|| self.record.agents.iter().next()).map(|(name, _)| name.clone());
            if let Some(out) = out {
                self.record.agents.remove(&out);
            }
        }
        self.record.agents.entry(name.to_owned()).or_default()
    }

    /// A region began that this agent is to be told the end of.
    pub(crate) fn owes(&mut self, name: &str, region: u32) {
        let agent = self.entry(name);
        agent.untold.insert(region);
        while agent.untold.len() > UNTOLD_MAX {
            agent.untold.pop_first();
        }
    }

    /// There is nothing to be told of this region.
    pub(crate) fn forget(&mut self, region: u32) {
        for agent in self.record.agents.values_mut() {
            agent.untold.remove(&region);
        }
    }

    /// A note about a habit, unless this agent has been given it here.
    pub(crate) fn once(&mut self, name: &str, key: &str) -> bool {
        self.entry(name).notes.insert(key.to_owned())
    }

    /// Whose half-typed text this is.
    pub(crate) fn owner_of(&self, text: &str) -> Option<&str> {
        let text = text.trim();
        self.record
            .agents
            .iter()
            .find(|(_, agent)| !agent.half_typed.is_empty() && agent.half_typed.trim() == text)
            .map(|(name, _)| name.as_str())
    }

    /// The half-typed text that was left on the line, and whose it is.
    pub(crate) fn half_typed(&self) -> Option<(&str, &str)> {
        self.record
            .agents
            .iter()
            .find(|(_, agent)| !agent.half_typed.trim().is_empty())
            .map(|(name, agent)| (name.as_str(), agent.half_typed.trim()))
    }

    /// Who began the command that the shell wants the rest of; whether that is news.
    pub(crate) fn continues(&mut self, owner: Option<&str>) -> bool {
        let mut changed = false;
        for (name, agent) in &mut self.record.agents {
            let continues = owner == Some(name.as_str());
            changed |= agent.continues != continues;
            agent.continues = continues;
        }
        changed
    }

    /// The agent that began it.
    pub(crate) fn continuing(&self) -> Option<&str> {
        self.record.agents.iter().find(|(_, agent)| agent.continues).map(|(name, _)| name.as_str())
    }

    /// The line was submitted or cleared.
    pub(crate) fn line_is_empty(&mut self) -> bool {
        let mut changed = false;
        for agent in self.record.agents.values_mut() {
            changed |= !agent.half_typed.is_empty() || agent.hides;
            agent.half_typed.clear();
            (agent.hides, agent.prompted, agent.ahead, agent.tries) = (false, false, false, false);
        }
        changed
    }

    /// The agent for whose line an editor is tried, or was when the server before ended.
    pub(crate) fn trying(&self) -> Option<&str> {
        self.record.agents.iter().find(|(_, agent)| agent.tries).map(|(name, _)| name.as_str())
    }

    /// Who has begun to answer a question that hides what is typed.
    pub(crate) fn hiding(&self) -> Option<&str> {
        self.record.agents.iter().find(|(_, agent)| agent.hides).map(|(name, _)| name.as_str())
    }

    /// The question is over; whether anybody had begun to answer it.
    pub(crate) fn hides_no_more(&mut self) -> bool {
        let mut changed = false;
        for agent in self.record.agents.values_mut() {
            changed |= std::mem::take(&mut agent.hides);
        }
        changed
    }
}
