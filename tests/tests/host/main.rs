//! Who waits for input: real programs on bare terminals, what they do known, and what is said of them with everything
//! to be seen and with less.
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "a test fails by panicking, and the suite says its size")]

mod cases;
mod programs;
mod questions;
mod ssh;
mod stopped;
mod tally;
mod tools;

use std::cell::RefCell;
use std::fmt::Write as _;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use dtmcp_core::inspect::{Inspection, Inspector as _, Known, Look, Sleep};
use dtmcp_core::time::Now;
use dtmcp_core::waiting::{Judgement, Steady, Step, judge};
use dtmcp_linux_proc::LinuxProc;
use dtmcp_ptrace_fds::PtraceFds;
use dtmcp_tests::needs;
use dtmcp_tests::person::wait_until;
use dtmcp_tests::pty::Pty;
use tally::Tier;

/// How a situation is brought about.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Do {
    /// Type this.
    Type(&'static str),
    /// Wait until it was shown this often.
    See(&'static str, usize),
    /// Wait until a process of this name is in front or below.
    Runs(&'static str),
    /// Wait until it is judged so: before the next thing is typed.
    Judged(&'static str),
}

/// A situation.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) needs: &'static [&'static str],
    pub(crate) acts: &'static [Do],
    /// What it is.
    pub(crate) truth: &'static str,
    /// What is said of it without the calls of its threads, where that is something else.
    pub(crate) read: &'static str,
}

pub(crate) const fn row(
    name: &'static str,
    needs: &'static [&'static str],
    acts: &'static [Do],
    truth: &'static str,
    read: &'static str,
) -> Row {
    Row { name, needs, acts, truth, read }
}

/// Looks that have to agree before a verdict counts. Each lies at least 5 ms after the one before.
const LOOKS: u32 = 20;

fn main() -> ExitCode {
    let args = libtest_mimic::Arguments::from_args();
    let rows =
        || cases::ROWS.iter().chain(programs::ROWS).chain(tools::ROWS).chain(questions::ROWS).chain(stopped::ROWS);
    let mut tests: Vec<_> = rows().map(|row| needs::test(row.name, row.needs, || Ok(situation(row)?))).collect();
    tests.push(needs::test("a_connection_that_nobody_answers", &["ssh"], || Ok(unanswered()?)));
    eprintln!("{} situations", tests.len());
    tests.push(needs::test("ssh_command_lines", &["ssh"], || Ok(ssh::reads_as_ssh_does()?)));
    let conclusion = libtest_mimic::run(&args, tests);
    eprint!("{}", tally::told());
    if tally::holds() { conclusion.exit_code() } else { ExitCode::FAILURE }
}

/// What a judgement is called here.
fn called(judgement: &Judgement) -> &'static str {
    match judgement {
        Judgement::Waits(_) => "waits",
        Judgement::WaitsHidden(_) => "hidden",
        Judgement::Busy(_) => "busy",
        Judgement::Works => "works",
        Judgement::Stopped { .. } => "stopped",
        Judgement::Carrier(_) => "carrier",
        Judgement::Unknown(_) => "unknown",
    }
}

/// A shell in a situation.
struct Stage {
    pty: Pty,
    begin: Instant,
    /// What was seen of it, so that a prompt is remembered from one act to the next.
    steady: RefCell<Steady>,
    _dir: tempfile::TempDir,
}

impl Stage {
    fn new(variables: &[(&str, &str)]) -> Result<Self, String> {
        let dir = tempfile::Builder::new().prefix("dtmcp-").tempdir().map_err(|error| error.to_string())?;
        let place = dir.path().to_string_lossy().into_owned();
        let mut all = vec![("W", env!("CARGO_BIN_EXE_waitcase")), ("TMUX_TMPDIR", place.as_str())];
        all.extend(variables);
        let pty = Pty::bash(dir.path(), &all)?;
        let stage = Self { pty, begin: Instant::now(), steady: RefCell::default(), _dir: dir };
        wait_until("a prompt", || stage.pty.shown("$ ") > 0)?;
        Ok(stage)
    }

    fn act(&mut self, act: Do) -> Result<(), String> {
        match act {
            Do::Type(text) => {
                if text.contains('\r') {
                    self.steady.get_mut().submitted();
                }
                self.pty.types(text)
            }
            Do::See(text, times) => self.until(text, || self.pty.shown(text) >= times),
            Do::Runs(name) => self.until(name, || {
                let inspection = LinuxProc::new().inspect(&self.pty.pane, Look::Near);
                inspection.processes().any(|process| process.name == name)
            }),
            Do::Judged(verdict) => self.comes_to(&LinuxProc::new(), &[verdict]).map(drop),
        }
    }

    fn until(&self, what: &str, holds: impl FnMut() -> bool) -> Result<(), String> {
        wait_until(what, holds).map_err(|error| format!("{error}; shown: {}", self.pty.screen()))
    }

    /// Waits until the same verdict, one of these, has been reached by a number of looks.
    fn comes_to(&self, inspector: &LinuxProc, verdicts: &[&str]) -> Result<&'static str, String> {
        let (mut steady, mut same, mut last) = (self.steady.borrow_mut(), 0, "nothing");
        steady.begin();
        let mut seen = None;
        let holds = || {
            let inspection = inspector.inspect(&self.pty.pane, Look::Everywhere);
            let now = Now(u64::try_from(self.begin.elapsed().as_micros()).unwrap_or(u64::MAX));
            let output = self.pty.output();
            let judgement = judge(&inspection, output);
            let Step::Holds(judgement) = steady.look(now, judgement, &inspection, output) else { return false };
            let verdict = called(&judgement);
            // Before it sleeps it has not come to what it does, save where it never sleeps.
            let counts = verdict == last && (verdict != "works" || settled(&inspection));
            same = if counts { same + 1 } else { 0 };
            (last, seen) = (verdict, Some((judgement, inspection)));
            same >= LOOKS && verdicts.contains(&verdict)
        };
        let found = wait_until(&verdicts.join(" or "), holds);
        found.map(|()| last).map_err(|error| {
            let mut said = error;
            if let Some((judgement, inspection)) = &seen {
                write!(said, "\nbut {judgement:?}\n").unwrap();
                for process in inspection.processes() {
                    writeln!(said, "{process:?}").unwrap();
                }
                writeln!(said, "{:?} {:?}", inspection.modes, inspection.unread).unwrap();
            }
            said + &self.pty.screen()
        })
    }
}

/// Whether everybody in front sleeps, stands, or has been working for a while.
fn settled(inspection: &Inspection) -> bool {
    let Some(front) = inspection.front.known() else { return true };
    front.iter().all(|process| match &process.threads {
        Known::Known(threads) => process.used > 20 || threads.iter().all(|thread| thread.sleep != Sleep::Awake),
        Known::Unknown(_) => true,
    })
}

fn situation(row: &Row) -> Result<(), String> {
    let mut stage = Stage::new(&[])?;
    for act in row.acts {
        stage.act(*act)?;
    }
    tiers(&stage, row.truth, row.read)
}

/// Judged with everything to be seen, and with less. With the calls of its threads a situation is what it is. With
/// what every process may read of its user's others, some cannot be told; with wait channels of `0` too, as kernels of
/// some years have them, most: then a verdict may only be that it cannot be told.
fn tiers(stage: &Stage, truth: &'static str, read: &str) -> Result<(), String> {
    let tier = |tier: Tier, inspector: &LinuxProc, may: &[&str]| {
        let verdict = stage.comes_to(inspector, may).map_err(|error| format!("{}: {error}", tier.name()))?;
        tally::count(tier, truth, verdict);
        Ok::<(), String>(())
    };
    let full = LinuxProc::new().with_probe(Arc::new(PtraceFds::new()));
    tier(Tier::Calls, &full, &[truth])?;
    tier(Tier::CallsAlone, &full.without_channels(), &[truth, "unknown"])?;
    let reading = LinuxProc::new();
    tier(Tier::Channels, &reading, &[read])?;
    // A terminal that hides a line is believed to ask for one, unless everybody who could was seen not to: what is
    // typed then must not be recorded.
    let hides = reading.inspect(&stage.pty.pane, Look::Near).modes.known().is_some_and(|it| it.hide_a_line());
    let may = [truth, "unknown", "carrier", if hides { "hidden" } else { truth }];
    tier(Tier::Neither, &reading.without_channels(), &may)
}

/// A listener that takes the connection and never says a word.
fn unanswered() -> Result<(), String> {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").map_err(|error| error.to_string())?;
    let port = listener.local_addr().map_err(|error| error.to_string())?.port().to_string();
    let mut stage = Stage::new(&[("PORT", &port)])?;
    stage.act(Do::Type("ssh -F /dev/null -p $PORT 127.0.0.1\r"))?;
    stage.act(Do::Runs("ssh"))?;
    let _connection = listener.accept().map_err(|error| error.to_string())?;
    tiers(&stage, "works", "carrier")
}
