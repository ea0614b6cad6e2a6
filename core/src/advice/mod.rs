//! The docent's eye: a table of what is worth telling a model about a reply, one row each, each only when it is true.
//!
//! What depends on the moment is told always, a habit once per agent and session, and no more than [`HABITS_MAX`] habits
//! in one reply.

mod habits;
mod jobs;
mod line;
mod program;
mod rows;
#[cfg(test)]
mod tests;

use crate::call::{Outcome, Status};
use crate::region::{Kind, Region, State};
use crate::session::Setting;
pub(crate) use jobs::{job_end, may_tell_of_jobs, may_tell_of_stops, stop_notice, stopped_command};
use line::{Command, Joint};
pub(crate) use program::half;

/// Habits told with one reply. More is not read; the others' turn comes with the next such line.
const HABITS_MAX: usize = 2;

/// How often a row is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Often {
    /// Whenever it is true.
    Always,
    /// Once per agent and session.
    Once,
    /// As [`Self::Once`], and it is about how the line was written.
    Habit,
    /// Once per agent, session and place.
    OncePerPlace,
    /// Once per agent, session and text of it.
    OncePerText,
}

/// A row of the table.
struct Row {
    /// Names it, also in `state.json`: it stays.
    id: &'static str,
    often: Often,
    when: fn(&Facts<'_>) -> bool,
    text: fn(&Facts<'_>) -> String,
}

/// What a row looks at.
struct Facts<'a> {
    outcome: &'a Outcome,
    name: &'a str,
    /// The commands of the line that the region ran; none where it was no command line of a shell, or is in doubt.
    commands: Vec<Command>,
}

impl<'a> Facts<'a> {
    fn of(outcome: &'a Outcome, name: &'a str) -> Self {
        let label = outcome.region.as_ref().filter(|region| region.kind == Kind::Command).map(|region| &region.label);
        let commands = label.and_then(|label| line::commands(label)).unwrap_or_default();
        Self { outcome, name, commands }
    }

    fn is(&self, status: Status) -> bool {
        self.outcome.status == status
    }

    fn region(&self) -> Option<&Region> {
        self.outcome.region.as_ref()
    }

    /// Whether the reply is about a line that a shell ran and that has ended.
    fn ended(&self) -> bool {
        self.is(Status::Finished) && self.region().is_some_and(|region| region.state != State::Running)
    }

    /// The exit status of the line, where it has ended in this reply.
    fn exit(&self) -> Option<i32> {
        self.region().filter(|_| self.ended()).and_then(|region| region.exit)
    }

    fn stages(&self) -> &[i32] {
        self.region().map_or(&[], |region| region.pipestatus.as_slice())
    }

    fn first(&self) -> &str {
        self.commands.first().map_or("", Command::name)
    }

    /// The last command, where it stands in no bracket or loop.
    fn last(&self) -> Option<&Command> {
        self.commands.last().filter(|command| command.depth == 0)
    }

    /// The last stage of the pipeline that the line ends with.
    fn sink(&self) -> Option<&Command> {
        self.last().filter(|command| command.joint == Joint::Pipe)
    }

    /// The last command, where it follows others whatever came of them, and tells its own status: what stands before it
    /// may have been handed a line (`bash -c`), of which it is the last.
    fn trailer(&self, name: &str) -> Option<&Command> {
        let last = self.last().filter(|command| command.joint == Joint::Then && self.commands.len() > 1)?;
        (last.name() == name && last.prefixes.is_empty()).then_some(last)
    }

    fn any(&self, test: impl Fn(&Command) -> bool) -> bool {
        self.commands.iter().any(test)
    }
}

/// The notes on an outcome for this agent. `once` says whether a note of this key is still to be given. A habit is told
/// to whoever typed the line and to nobody else.
pub(crate) fn notes(
    outcome: &Outcome,
    setting: &Setting,
    agent: &str,
    once: &mut dyn FnMut(&str) -> bool,
) -> Vec<String> {
    let own = outcome.region.as_ref().is_some_and(|region| region.actor.as_deref() == Some(agent));
    let facts = Facts::of(outcome, &setting.name);
    let mut notes = Vec::new();
    let mut habits = 0;
    for row in rows::ROWS {
        if !(row.when)(&facts) || (row.often == Often::Habit && (!own || habits >= HABITS_MAX)) {
            continue;
        }
        let text = (row.text)(&facts);
        let told = match row.often {
            Often::Always => true,
            Often::OncePerText => once(&format!("{} {text}", row.id)),
            Often::Once | Often::Habit => once(row.id),
            Often::OncePerPlace => {
                once(&format!("{} {}", row.id, outcome.plain.as_ref().map_or("", |plain| plain.place.as_str())))
            }
        };
        if told {
            habits += usize::from(row.often == Often::Habit);
            notes.push(text);
        }
    }
    notes
}
