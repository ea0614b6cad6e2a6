//! What is answered: the calls that are concluded, and who reads along.

use std::sync::Arc;

use dtmcp_core::call::{CallId, Learned, Outcome};
use dtmcp_core::reply::Reply;
use tokio::sync::oneshot;

use super::{Look, Running, render};

impl Running {
    /// Answers a call.
    pub(super) fn conclude(&mut self, id: CallId, mut outcome: Outcome) {
        if let Some(learned) = outcome.learned.take() {
            self.learn(learned);
        }
        let Some((actor, reply)) = self.replies.remove(&id) else { return };
        // An error shows no notes: they are kept for a reply that does.
        let trouble = if outcome.error.is_none() { self.driver.files.take_trouble() } else { None };
        let job = render::Job { notes: trouble.into_iter().collect(), ..self.job(outcome, Some(actor)) };
        match &mut self.parting {
            Some(held) => held.push((job, reply)),
            None => render::spawn(job, reply),
        }
    }

    /// Remembers for all sessions what a call has found out. Where it cannot be written, it is found out again.
    fn learn(&self, learned: Learned) {
        let missing = &self.driver.missing;
        let result = match learned {
            Learned::Missing(entry) => missing.add(entry),
            Learned::Present { place, who } => missing.forget(|entry| entry.place == place || entry.who == who),
        };
        if let Err(error) = result {
            tracing::warn!("{error}");
        }
    }

    pub(super) fn answer(&mut self, id: CallId, answer: Reply) {
        if let Some((_, reply)) = self.replies.remove(&id) {
            // A client that is gone needs no answer.
            drop(reply.send(answer));
        }
    }

    /// Shows the session as it stands to who looks, and tells them what has finished.
    pub(super) async fn show(&mut self, actor: Option<String>, reply: oneshot::Sender<Look>) {
        let notes = actor.map(|actor| self.driver.session.take_finished(&actor)).unwrap_or_default();
        self.effects().await;
        let look = self.look(notes);
        // Whoever asked may be gone.
        drop(reply.send(look));
    }

    fn look(&mut self, notes: Vec<String>) -> Look {
        let session = &self.driver.session;
        let live = session.log().cooked.live();
        self.driver.files.write_tail(&live);
        let doing = session.doing(self.driver.clock.now());
        Look {
            lines: self.driver.files.snapshot(live),
            regions: session.log().regions().map(|region| session.region_so_far(region)).collect(),
            runs: doing.words,
            since: doing.since.unwrap_or(self.last_output),
            shell: session.log().shell(),
            cwd: session.cwd().map(str::to_owned),
            ended: session.ended(),
            closed: session.closed().map(str::to_owned),
            notes,
            last_output: self.last_output,
            typed: self.typed.clone(),
            typing_now: session.typing_now().map(|(agent, tool)| (agent.to_owned(), tool)),
            place: session.elsewhere().cloned(),
            nonce: self.driver.nonce.clone(),
        }
    }

    /// Shows a reader how the session stands, or a region that it has in memory.
    pub(super) fn reading(&mut self, region: Option<u32>, reply: oneshot::Sender<Option<Reply>>) {
        let Some(outcome) = self.driver.session.reading(self.driver.clock.now(), region) else {
            // The reader may be gone.
            drop(reply.send(None));
            return;
        };
        let job = self.job(outcome, None);
        let (rendered, done) = oneshot::channel();
        render::spawn(job, rendered);
        // A screen has to be asked for first, which is not to hold up the session.
        tokio::spawn(async move { drop(reply.send(done.await.ok())) });
    }

    /// All that a reply is made of. The unsettled lines are on disk before it names them.
    fn job(&mut self, outcome: Outcome, actor: Option<String>) -> render::Job {
        let session = &self.driver.session;
        let record = actor.as_ref().and_then(|actor| session.state().agents.get(actor));
        let before = record.map(|record| record.screen.clone()).unwrap_or_default();
        let live = session.log().cooked.live();
        self.driver.files.write_tail(&live);
        render::Job {
            outcome,
            lines: self.driver.files.snapshot(live),
            session: session.setting().name.clone(),
            home: session.setting().home.clone(),
            actor,
            dir: self.driver.dir.clone(),
            absolute_allowed: true,
            fullscreen: session.log().cooked.fullscreen().is_some(),
            notes: Vec::new(),
            nonce: self.driver.nonce.clone(),
            summaries: self.driver.summaries,
            terminal: Arc::clone(&self.driver.terminal),
            pane: self.driver.pane,
            before,
            shown: self.shown.0.clone(),
        }
    }
}
