//! `send` with a signal: who must not get it, and what came of it.

use super::{Call, CallKind, Effect, Leaves, Session, Signalled, Signalling};
use crate::call::{CallId, Outcome, SendCall, Signal};
use crate::log::ShellState;
use crate::region::{Kind, State};
use crate::time::Now;

impl Session {
    /// Types what a `send` types, and has the signal given after that.
    ///
    /// # Errors
    /// Says why nothing was typed or signalled, and what to do.
    pub(super) fn begin_send(&mut self, now: Now, call: &mut Call) -> Result<(), String> {
        let running = match self.log.shell() {
            ShellState::Running(region) => Some(region),
            _ => None,
        };
        let CallKind::Send(send) = &mut call.kind else { return Ok(()) };
        let inside = self.log.open_region().map(|inside| inside.id).filter(|inside| Some(*inside) != running);
        send.begins_beside(running, inside);
        if let shell @ (ShellState::AtPrompt { .. } | ShellState::Continuation) = self.log.shell() {
            let text =
                shell == ShellState::Continuation || self.midway.is_some() || !self.log.cooked.input().is_empty();
            send.begins_at_line(text);
        }
        if send.send.text.is_empty() && send.send.keys.is_empty() && send.send.signal.is_some() {
            send.typing_at(self.cursor_line(), false, Leaves::Alone);
            self.last_activity = now;
            self.looking.forget();
            return self.signal_after(call.id, send);
        }
        self.type_send(now, call)
    }

    /// Has the foreground job given the signal, where the call has one.
    ///
    /// # Errors
    /// Where a shell is at its prompt, which is never signalled, or nothing runs any more.
    pub(super) fn signal_after(&mut self, call: CallId, send: &mut SendCall) -> Result<(), String> {
        let Some(signal) = send.send.signal else { return Ok(()) };
        if self.ended.is_some() || self.closed.is_some() {
            return Err(format!("no signal was sent: {}", self.over()));
        }
        match self.log.shell() {
            ShellState::AtPrompt { .. } | ShellState::Continuation => return Err(nothing_runs(signal)),
            ShellState::Ended => return Err("no signal was sent: the session's program has ended".to_owned()),
            ShellState::Running(region) => {
                let place = self.log.region(region).and_then(|region| region.place.as_ref());
                if let Some(place) = place.filter(|place| place.host != self.setting.home.host) {
                    return Err(format!(
                        "no signal was sent: the command runs on {}, and only the connection to it could be signalled from here. send keys=[\"ctrl+c\"] interrupts it there; kill in another session on {} does the rest",
                        place.host, place.host
                    ));
                }
            }
            ShellState::NoShell | ShellState::Starting => {}
        }
        let home = &self.setting.home.host;
        let waiting =
            self.log.regions().filter(|region| region.kind == Kind::Command && region.state == State::Running);
        let shells = waiting.filter_map(|region| region.shell.as_ref()).filter(|shell| shell.host == *home);
        let signalling = Signalling {
            call,
            signal,
            shell: self.setting.integrated,
            shells: shells.map(|shell| shell.pid).collect(),
            alternate: self.log.cooked.modes().alternate,
        };
        send.signals();
        self.effects.push_back(Effect::Signal(signalling));
        Ok(())
    }

    /// Takes what came of a signal.
    pub(super) fn signalled(&mut self, now: Now, id: CallId, result: Result<Signalled, String>) {
        self.last_activity = now;
        self.looking.forget();
        let Some(at) = self.calls.iter().position(|call| call.id == id) else { return };
        let mut call = self.calls.remove(at);
        let failed = match &mut call.kind {
            CallKind::Send(send) => send.signalled(now, result),
            CallKind::Run(_) | CallKind::Expect(_) | CallKind::Wait(_) | CallKind::Integrate(_) => None,
        };
        match failed {
            Some(outcome) => self.conclude(now, &call, outcome),
            None => self.calls.insert(at, call),
        }
    }
}

/// Why a signal was not sent where a shell is at its prompt.
fn nothing_runs(signal: Signal) -> String {
    let instead = match signal {
        Signal::Cont => {
            "A stopped job goes on with run line=\"fg\", or with \"bg\" in the background; `jobs` lists them"
        }
        _ => "A job in the background is reached with run line=\"kill %1\"; `jobs` lists them",
    };
    format!("no signal was sent: nothing runs in the foreground, the shell is at its prompt. {instead}")
}

impl SendCall {
    /// What a failed signal comes to.
    fn signalled(&mut self, now: Now, result: Result<Signalled, String>) -> Option<Outcome> {
        match result {
            Ok(signalled) => {
                self.was_signalled(now, signalled);
                None
            }
            Err(text) => Some(Outcome::error(text)),
        }
    }
}
