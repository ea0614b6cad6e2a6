//! What the log tells as it grows: the session's own records follow it, and the calls that wait for it.

use std::collections::VecDeque;

use super::line::unread::Unread;
use super::{CallKind, Effect, Session};
use crate::log::LogEvent;
use crate::time::Now;

impl Session {
    /// Takes what the log has to say, after what it has settled: a record never speaks of lines that are not there.
    pub(super) fn drain(&mut self, now: Now) {
        let first = self.log.cooked.settled_lines();
        let mut settled = Vec::new();
        self.log.cooked.take_settled(&mut settled);
        let settled_before = first.saturating_sub(memchr::memchr_iter(b'\n', &settled).count() as u64);
        let mut later = VecDeque::new();
        std::mem::swap(&mut later, &mut self.effects);
        // Before the events: a region that has closed meanwhile is recorded under its name.
        self.read_echo(&settled, settled_before);
        self.read_prompt_above(&settled, settled_before);
        while let Some(event) = self.log.poll() {
            self.on_log(now, &event);
        }
        self.look_for_until(&settled, settled_before);
        self.look_for_job_ends(&settled, settled_before);
        self.look_for_stops(&settled, settled_before);
        std::mem::swap(&mut later, &mut self.effects);
        if !settled.is_empty() {
            self.effects.push_back(Effect::Settle(settled));
        }
        self.effects.append(&mut later);
    }

    fn on_log(&mut self, now: Now, event: &LogEvent) {
        let mut others = self.behind_others();
        self.submitter.on(now, event);
        // The editor begins each line as ever.
        if matches!(event, LogEvent::Opened(_) | LogEvent::NotRun { .. } | LogEvent::PromptEnd) {
            self.midway = None;
        }
        if matches!(event, LogEvent::Opened(_) | LogEvent::Closed(_) | LogEvent::Prompt) {
            self.buried = None;
        }
        match event {
            LogEvent::Opened(id) => self.region_opened(*id),
            LogEvent::Closed(id) => {
                if self.input.is_some_and(|input| input.region == *id) {
                    self.input = None;
                }
                self.record(*id);
                self.tell_of_end(*id);
                if let Some(region) = self.log.region(*id).cloned() {
                    self.wonder_who_reads(&region);
                }
            }
            LogEvent::Begun { input, command } => self.name_begun(*input, *command),
            LogEvent::PromptEnd => self.looking.beyond = None,
            LogEvent::Prompt => {
                self.start.took.get_or_insert(now - self.began);
                self.typeahead.prompt(now);
                self.unread = Unread::Unasked;
                self.continued(None);
            }
            LogEvent::Continuation if self.agents.continuing().is_none() => {
                let owner = self.submitter.actor().map(str::to_owned);
                self.continued(owner.as_deref());
            }
            LogEvent::ShellStarted(shell) => {
                self.looking.around.started(shell.pid);
                self.look_for_shell(now);
            }
            LogEvent::Ended { status } => self.ended = Some(*status),
            _ => {}
        }
        // What the shell does with a line that was typed ahead is no answer to the one behind it.
        others.iter_mut().zip(self.behind_others()).for_each(|(other, behind)| *other |= behind);
        for (call, is_others) in self.calls.iter_mut().zip(others) {
            match &mut call.kind {
                CallKind::Run(run) if is_others => run.typed_at = now,
                CallKind::Expect(expect) if is_others => expect.run.typed_at = now,
                CallKind::Run(run) => run.on(now, event),
                CallKind::Expect(expect) => expect.on(now, event),
                CallKind::Send(send) => send.on(event),
                CallKind::Wait(wait) => wait.on(now, event),
                CallKind::Integrate(integrate) => integrate.on(now, event),
            }
        }
    }

    /// Of each call whether the shell has its line still to come, behind one that it has begun.
    fn behind_others(&self) -> Vec<bool> {
        self.calls.iter().map(|call| self.submitter.is_behind_another(call.id)).collect()
    }
}
