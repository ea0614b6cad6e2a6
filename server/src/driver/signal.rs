//! Gives the foreground job of a pane a signal.

use std::sync::Arc;

use dtmcp_core::call::Signal;
use dtmcp_core::inspect::{Inspector, Look, PaneTerminal};
use dtmcp_core::session::{Event, Signalled, Signalling};
use dtmcp_core::waiting::front::{Job, NoJob, Spared, jobs};
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

/// Why a job did not get the signal.
enum Failure {
    /// It is not in front any more.
    Gone,
    /// It may not be signalled.
    Refused,
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
                why = "no signal was sent: the session's shell itself has the terminal, with nothing it runs in front of it, and would get the signal. keys=[\"ctrl+c\"] interrupts a loop or a builtin".to_owned();
            }
        }
    }
    Err(why)
}

/// Signals the first of these jobs that may be.
fn first(jobs: &[Job], signal: Signal) -> Result<Signalled, String> {
    let mut why = String::new();
    for job in jobs {
        match give(job, number(signal)) {
            Ok(()) => return Ok(Signalled { name: job.name.clone(), carries: job.carries }),
            Err(Failure::Gone) => why = "no signal was sent: the job ended just now".to_owned(),
            Err(Failure::Refused) => {
                why = format!(
                    "no signal was sent: {} runs as another user, whom this one may not signal. keys=[\"ctrl+c\"] goes through the terminal and reaches it",
                    job.name
                );
            }
        }
    }
    Err(why)
}

/// Signals a job, if it is the one that it was: a process id may be somebody else's by now, and a group that another
/// has taken the terminal from is not in front.
fn give(job: &Job, signal: Number) -> Result<(), Failure> {
    let mut given = Err(Failure::Gone);
    for member in &job.members {
        if !in_front(*member, job.group) {
            continue;
        }
        let (Ok(pid), Ok(group)) = (i32::try_from(member.pid), i32::try_from(job.group)) else { continue };
        // As long as this member lives the group is no other's.
        let sent = if job.whole { killpg(Pid::from_raw(group), signal) } else { kill(Pid::from_raw(pid), signal) };
        match sent {
            Ok(()) if job.whole => return Ok(()),
            Ok(()) => given = Ok(()),
            Err(Errno::EPERM) if given.is_err() => given = Err(Failure::Refused),
            Err(_) => {}
        }
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
