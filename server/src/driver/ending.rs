//! The ends of a session: its pane is found to be gone or dead, or it is closed.

use std::sync::Arc;
use std::time::Duration;

use dtmcp_core::region::{Kind, State};
use dtmcp_core::reply::Reply;
use dtmcp_core::session::Event;
use tokio::sync::oneshot;

use super::{Closed, Message, Running, render};
use crate::terminal::{PaneState, TerminalError};

/// How long a program may take to end once its terminal is hung up; the rest of its output is waited for meanwhile.
const HANGUP: Duration = Duration::from_secs(2);

/// How long the rest of a killed pane's output is waited for.
const LAST_BYTES: Duration = Duration::from_secs(1);

/// How often a tmux that does not answer for a pane is asked again: one that is about to end is there or gone at once
/// after.
const LOOKS: u32 = 5;

/// The time between two of these.
const BETWEEN_LOOKS: Duration = Duration::from_millis(200);

/// The exit status of what a hangup ended: 128 and SIGHUP's number.
const HUNG_UP: i32 = 129;

/// Characters of a command that the news of a session's end tell.
const LABEL_CHARS: usize = 60;

/// What a session leaves whose pane is gone: whoever waits is answered once nobody takes the session for open any more.
#[derive(Debug)]
pub struct Parted {
    /// The exit status of its program, where it is known.
    pub exit: Option<i32>,
    /// What took the pane away and what ran there, in words; none where the program had ended by itself.
    pub why: Option<String>,
    replies: Vec<(render::Job, oneshot::Sender<Reply>)>,
    closing: Vec<oneshot::Sender<Closed>>,
}

impl Parted {
    /// Answers whoever waits.
    pub fn tell(self) {
        for (job, reply) in self.replies {
            render::spawn(job, reply);
        }
        for done in self.closing {
            // Whoever closed it has given up waiting.
            drop(done.send(Closed { exit: self.exit, ..Closed::default() }));
        }
    }
}

impl Running {
    /// Finds out what became of the pane: the recorder's pipe was closed, or the pane takes no text.
    pub(super) async fn look_at_pane(&mut self) {
        self.stream_checked = self.driver.follower.ended();
        let mut state = self.driver.terminal.state(self.driver.pane).await;
        let mut left = LOOKS;
        // A pane that is about to end still has its pipe for a moment.
        let unsettled = |state: &Result<PaneState, TerminalError>| match state {
            Err(error) => !error.is_gone(),
            Ok(state) => self.stream_checked && state.pipe && !state.dead,
        };
        while left > 0 && unsettled(&state) {
            left -= 1;
            tokio::time::sleep(BETWEEN_LOOKS).await;
            state = self.driver.terminal.state(self.driver.pane).await;
        }
        let why = match state {
            Err(error) if error.is_gone() => {
                let why = if error == TerminalError::Gone {
                    "its pane is gone: it was closed at the terminal, or tmux ended; output that tmux had not passed on yet is lost"
                } else {
                    "the tmux server ended, and all its sessions with it"
                };
                return self.pane_gone = Some(why);
            }
            Ok(state) if state.dead => "the session's program ended without telling its status",
            // As long as the pane is recorded, its end is still to come.
            _ if !self.stream_checked => return,
            Ok(_) => {
                "someone else took over the recording of this pane (tmux pipe-pane), so its output is not seen any more"
            }
            Err(_) => "tmux does not answer for this pane",
        };
        if self.driver.session.ended().is_none() && self.driver.session.closed().is_none() {
            self.handle(Event::Closed(why.to_owned())).await;
        }
    }

    /// Looks at a pane that took no text, once its log has told what it can.
    pub(super) async fn look_again(&mut self) {
        self.follow_until_ended(LAST_BYTES).await;
        self.look_at_pane().await;
    }

    /// Completes the files of a session whose pane is gone, and takes no more messages. Those that have come already
    /// are answered as far as that needs no pane.
    pub(super) async fn part(&mut self, why: &str) -> Parted {
        self.parting = Some(Vec::new());
        // What the hangup of its terminal ended has not ended by itself.
        let ended = self.driver.session.ended().is_some_and(|exit| exit != Some(HUNG_UP));
        let told = (!ended).then(|| format!("{why}{}", self.while_it_ran()));
        self.handle(Event::Closed(why.to_owned())).await;
        let mut closing = Vec::new();
        self.driver.mailbox.close();
        while let Some(message) = self.driver.mailbox.recv().await {
            match message {
                Message::Close { done } => closing.push(done),
                message => self.message(message).await,
            }
        }
        let live = self.driver.session.log().cooked.live();
        self.driver.files.write_tail(&live);
        let mut replies = self.parting.take().unwrap_or_default();
        for (job, _) in &mut replies {
            job.notes.push(why.to_owned());
        }
        Parted { exit: self.driver.session.ended().flatten(), why: told, replies, closing }
    }

    /// The command that runs, or was ended by the hangup of its terminal, as the end of a sentence.
    fn while_it_ran(&self) -> String {
        let log = self.driver.session.log();
        let commands = || log.regions().rev().filter(|region| region.kind == Kind::Command);
        let running = commands().find(|region| region.state == State::Running);
        let hung_up = || commands().next().filter(|last| last.state == State::Lost || last.exit == Some(HUNG_UP));
        running.or_else(hung_up).map_or_else(String::new, |region| format!(". {} ran there", region.named(LABEL_CHARS)))
    }

    /// Hangs up, lets the rest arrive, then kills. Where tmux will not, the session stays as it is.
    pub(super) async fn close(&mut self) -> Closed {
        let mut closed = Closed::default();
        let alive = self.driver.session.ended().is_none() && self.driver.session.closed().is_none();
        if alive {
            match self.driver.terminal.hangup(self.driver.pane).await {
                Ok(()) => closed.killed = !self.follow_until_ended(HANGUP).await,
                Err(error) if error.is_gone() || error == TerminalError::Dead => {}
                Err(error) => return self.not_closed(&error),
            }
        }
        if let Err(error) = self.driver.terminal.kill(self.driver.pane).await
            && !error.is_gone()
        {
            return self.not_closed(&error);
        }
        if !self.driver.follower.ended() {
            self.follow_until_ended(LAST_BYTES).await;
        }
        // What the hangup made of it is no status of the program's own.
        closed.exit = self.driver.session.ended().flatten().filter(|_| !alive);
        self.handle(Event::Closed("the session was closed".to_owned())).await;
        let live = self.driver.session.log().cooked.live();
        self.driver.files.write_tail(&live);
        closed
    }

    fn not_closed(&mut self, error: &TerminalError) -> Closed {
        self.stream_checked = false;
        Closed { trouble: Some(error.to_string()), ..Closed::default() }
    }

    /// Follows the log until its stream has ended; says whether it did in time.
    async fn follow_until_ended(&mut self, limit: Duration) -> bool {
        let until = tokio::time::Instant::now() + limit;
        // Whoever closes the session knows what became of the pane.
        self.stream_checked = true;
        loop {
            let more = self.follow().await;
            if !more && (self.driver.follower.ended() || self.driver.session.ended().is_some()) {
                return true;
            }
            if tokio::time::Instant::now() >= until {
                return false;
            }
            if !more {
                let notify = Arc::clone(&self.driver.notify);
                tokio::select! {
                    () = notify.notified() => {}
                    () = tokio::time::sleep_until(until) => {}
                }
            }
        }
    }
}
