//! Gives the foreground job of a pane a signal.

use std::sync::Arc;

use dtmcp_core::call::{REFUSED, Signal};
use dtmcp_core::inspect::{Inspector, Look, PaneTerminal};
use dtmcp_core::session::{Event, Signalled, Signalling};
use dtmcp_core::waiting::front::{Job, Member, NoJob, Spared, jobs, named};
use dtmcp_linux_proc::in_front;
use nix::errno::Errno;
use nix::sys::signal::{Signal as Number, kill, killpg};
use nix::unistd::Pid;

use super::Running;

/// Between two commands of a script the shell has the terminal for an instant, and a job can be gone when it is to be
/// signalled: then it is looked at again, so often in all.
const LOOKS: usize = 3;

impl Running {
    /// Carries out [`dtmcp_core::session::Effect::Signal`].
    pub(super) async fn signal(&mut self, signalling: Signalling) -> Event<'static> {
        let id = signalling.call;
        let Some(place) = self.find_place().await else {
            return Event::Signalled {
                id,
                result: Err("no signal was sent: tmux does not answer for this pane".to_owned()),
            };
        };
        let inspector = Arc::clone(&self.driver.inspector);
        let result = tokio::task::spawn_blocking(move || signal(inspector.as_ref(), &place, &signalling)).await;
        Event::Signalled { id, result: result.unwrap_or_else(|error| Err(format!("no signal was sent: {error}"))) }
    }
}

fn signal(inspector: &dyn Inspector, place: &PaneTerminal, signalling: &Signalling) -> Result<Signalled, String> {
    let spared = Spared { pane: place.pid, shell: signalling.shell, shells: &signalling.shells };
    let mut why = String::new();
    for _ in 0..LOOKS {
        let inspection = inspector.inspect(place, Look::Near);
        match jobs(&inspection, spared, signalling.alternate) {
            Ok(jobs) => match first(&jobs, signalling.signal) {
                Ok(signalled) => return Ok(signalled),
                Err(failed) => why = failed,
            },
            Err(NoJob::Unseen) => {
                return Err(
                    "no signal was sent: it cannot be seen what runs at the terminal. keys=[\"ctrl+c\"] interrupts it"
                        .to_owned(),
                );
            }
            Err(NoJob::Shell) => {
                why = shell_in_front(signalling);
            }
        }
    }
    Err(why)
}

/// Why a signal was not sent where the session's shell would get it.
fn shell_in_front(signalling: &Signalling) -> String {
    let next = match (signalling.signal, signalling.shells.last()) {
        (Signal::Cont, Some(shell)) => {
            format!(
                "Where it was stopped, `kill -CONT {shell}`, run in another session (session_create), lets it go on"
            )
        }
        _ => "keys=[\"ctrl+c\"] interrupts a loop or a builtin".to_owned(),
    };
    format!(
        "no signal was sent: the session's shell itself has the terminal, with nothing it runs in front of it, and would get the signal. {next}"
    )
}

/// Signals the first of these jobs that may be.
fn first(jobs: &[Job], signal: Signal) -> Result<Signalled, String> {
    let mut why = String::new();
    for job in jobs {
        let Given { got, refused } = give(job, number(signal));
        let refused = (!refused.is_empty()).then(|| named(&refused));
        if !got.is_empty() {
            return Ok(Signalled { name: named(&got), refused, carries: job.carries });
        }
        why = match refused {
            Some(refused) => format!("no signal was sent to {refused}: {REFUSED}"),
            None => "no signal was sent: the job ended just now".to_owned(),
        };
    }
    Err(why)
}

/// Which members of a job got a signal, and which another user's process kept it from.
#[derive(Default)]
struct Given<'a> {
    got: Vec<&'a Member>,
    refused: Vec<&'a Member>,
}

/// Signals a job, if it is the one that it was: a process id may be somebody else's by now, and a group that another
/// has taken the terminal from is not in front.
fn give(job: &Job, signal: Number) -> Given<'_> {
    let mut given = Given::default();
    for member in job.members.iter().filter(|member| in_front(member.id, job.group)) {
        let Ok(pid) = i32::try_from(member.id.pid) else { continue };
        // A signal to the group is no failure where it reaches some: who may be signalled is asked before it ends them.
        match kill(Pid::from_raw(pid), Some(signal).filter(|_| !job.whole)) {
            Ok(()) => given.got.push(member),
            Err(Errno::EPERM) => given.refused.push(member),
            Err(_) => {}
        }
    }
    // One signal to the group reaches all at one moment. As long as one of them lives the group is no other's.
    let lives = || given.got.iter().any(|member| in_front(member.id, job.group));
    let group = i32::try_from(job.group).map(Pid::from_raw);
    if job.whole && !(lives() && group.is_ok_and(|group| killpg(group, signal).is_ok())) {
        given.got.clear();
    }
    given
}

fn number(signal: Signal) -> Number {
    match signal {
        Signal::Int => Number::SIGINT,
        Signal::Term => Number::SIGTERM,
        Signal::Kill => Number::SIGKILL,
        Signal::Hup => Number::SIGHUP,
        Signal::Quit => Number::SIGQUIT,
        Signal::Tstp => Number::SIGTSTP,
        Signal::Cont => Number::SIGCONT,
        Signal::Usr1 => Number::SIGUSR1,
        Signal::Usr2 => Number::SIGUSR2,
    }
}
