//! The ancestor of all panes, as it runs: it starts tmux, sees what programs wait for, and is in nobody's way.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use dtmcp::ancestor::{Attended, socket_path};
use dtmcp_core::inspect::{
    Call, FdProbe, Inspection, Inspector as _, Known, Look, PaneTerminal, ProcessId, Refusal, Why,
};
use dtmcp_core::waiting::{Judgement, Output, judge};
use dtmcp_linux_proc::LinuxProc;
use dtmcp_ptrace_fds::PtraceFds;
use dtmcp_tests::client::{Client, World};
use dtmcp_tests::needs::test;
use dtmcp_tests::person::wait_until;
use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::Pid;
use serde_json::json;

type Tested = Result<(), String>;

fn main() -> ExitCode {
    let args = libtest_mimic::Arguments::from_args();
    const NEEDS: &[&str] = &["tmux", "bash"];
    let tests = vec![
        test("it_is_there_from_the_first_session_until_tmux_ends", NEEDS, || Ok(comes_and_goes()?)),
        test("the_next_server_uses_it_again", &["tmux", "bash", "setsid"], || Ok(next_server()?)),
        test("sessions_work_on_without_it", NEEDS, || Ok(killed()?)),
        test("tmux_starts_without_it", NEEDS, || Ok(unable()?)),
        test("it_sees_what_the_server_may_not", &["tmux", "bash", "python3", "expect"], || Ok(situations()?)),
        test("it_tells_of_descendants_only", NEEDS, || Ok(strangers()?)),
        test("nobody_holds_up_the_others", NEEDS, || Ok(hostile()?)),
        test("orphans_leave_nothing_behind", &["tmux", "bash", "setsid"], || Ok(orphans()?)),
    ];
    libtest_mimic::run(&args, tests).exit_code()
}

/// The probe of a process that Yama lets look at its descendants only, and that has none.
#[derive(Debug)]
struct Forbidden;

impl FdProbe for Forbidden {
    fn call(&self, _process: ProcessId, _tid: u32) -> Known<Call> {
        Known::Unknown(Why::Refused)
    }

    fn refusal(&self) -> Option<Refusal> {
        Some(Refusal::Yama(1))
    }
}

/// A world whose one session is open.
struct Scene {
    world: World,
    client: Client,
}

impl Scene {
    fn new() -> Result<Self, String> {
        let world = World::new()?;
        let mut client = world.client()?;
        let made = client.call("session_create", json!({}))?;
        if made.is_error { Err(made.text) } else { Ok(Self { world, client }) }
    }

    fn tmux_pid(&self) -> Result<u32, String> {
        number(&self.world.tmux(&["display-message", "-p", "#{pid}"])?)
    }

    /// The parent of tmux's server, which is ours.
    fn ancestor(&self) -> Result<u32, String> {
        let parent = parent(self.tmux_pid()?).ok_or("tmux is gone")?;
        let line = std::fs::read_to_string(format!("/proc/{parent}/cmdline")).map_err(|error| error.to_string())?;
        let ours = line.split('\0').nth(1) == Some("ancestor");
        if ours { Ok(parent) } else { Err(format!("tmux was started by {line:?}")) }
    }

    fn socket(&self) -> PathBuf {
        socket_path(&self.world.state(), "world")
    }

    fn pane(&self) -> Result<PaneTerminal, String> {
        let said = self.world.tmux(&["list-panes", "-a", "-F", "#{session_name} #{pane_pid} #{pane_tty}"])?;
        let said = said.lines().find_map(|line| line.strip_prefix('t')?.split_once(' ')).ok_or("no pane")?.1;
        let (pid, tty) = said.trim().split_once(' ').ok_or("no pane")?;
        Ok(PaneTerminal { tty: tty.to_owned(), pid: number(pid)? })
    }

    /// A server that may look at nothing by itself.
    fn attended(&self) -> Arc<Attended> {
        Arc::new(Attended::new(Arc::new(Forbidden), self.socket()))
    }

    fn ask(&self) -> Result<BufReader<UnixStream>, String> {
        let stream = UnixStream::connect(self.socket()).map_err(|error| error.to_string())?;
        stream.set_read_timeout(Some(Duration::from_secs(60))).map_err(|error| error.to_string())?;
        Ok(BufReader::new(stream))
    }

    /// Waits until it tells of the pane's own program, which waits for its child.
    fn answers(&self) -> Tested {
        let (probe, pane) = (self.attended(), self.pane()?);
        let id = ProcessId { pid: pane.pid, start: start(pane.pid).ok_or("no pane")? };
        wait_until("an answer", || matches!(probe.call(id, id.pid), Known::Known(_)) && probe.refusal().is_none())
    }
}

fn number(text: &str) -> Result<u32, String> {
    text.trim().parse().map_err(|_| format!("no number: {text:?}"))
}

/// A field of a process's `stat`, by its number in `proc(5)`.
fn stat(pid: u32, field: usize) -> Option<String> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let rest = stat.get(stat.rfind(')')? + 2..)?;
    rest.split(' ').nth(field - 3).map(str::to_owned)
}

fn parent(pid: u32) -> Option<u32> {
    stat(pid, 4)?.parse().ok()
}

fn start(pid: u32) -> Option<u64> {
    stat(pid, 22)?.parse().ok()
}

fn gone(pid: u32, started: Option<u64>) -> bool {
    start(pid) != started || stat(pid, 3).is_some_and(|state| state == "Z")
}

fn children(pid: u32) -> Vec<u32> {
    let list = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    list.split_whitespace().filter_map(|child| child.parse().ok()).collect()
}

fn signal(pid: u32, signal: Signal) -> Tested {
    kill(Pid::from_raw(i32::try_from(pid).unwrap()), signal).map_err(|error| error.to_string())
}

fn line(asked: &mut BufReader<UnixStream>, request: &str) -> Result<String, String> {
    asked.get_mut().write_all(request.as_bytes()).map_err(|error| error.to_string())?;
    let mut line = String::new();
    asked.read_line(&mut line).map_err(|error| error.to_string())?;
    Ok(line)
}

fn comes_and_goes() -> Tested {
    let scene = Scene::new()?;
    let (ancestor, tmux) = (scene.ancestor()?, scene.tmux_pid()?);
    let mode = std::fs::symlink_metadata(scene.socket()).map_err(|error| error.to_string())?.mode();
    assert_eq!(mode & 0o777, 0o600, "only its own user may ask");
    for fd in 0..3 {
        let leads = std::fs::read_link(format!("/proc/{ancestor}/fd/{fd}")).map_err(|error| error.to_string())?;
        assert_eq!(leads, PathBuf::from("/dev/null"), "nothing of its server's is held open");
    }
    assert_ne!(stat(ancestor, 6), stat(scene.client.pid(), 6), "it is in a session of its own");
    scene.answers()?;
    let started = start(ancestor);
    signal(tmux, Signal::SIGKILL)?;
    wait_until("it ends with tmux", || gone(ancestor, started) && !scene.socket().exists())?;
    let Scene { world, mut client } = scene;
    // The old ones may not have been found to be over yet, session and server.
    let mut made = client.call("session_create", json!({ "name": "t2" }));
    wait_until("another session", || {
        let is_open = made.as_ref().is_ok_and(|made| !made.is_error);
        if !is_open {
            made = client.call("session_create", json!({ "name": "t2" }));
        }
        is_open
    })?;
    let scene = Scene { world, client };
    assert_ne!(scene.ancestor()?, ancestor, "the next tmux has one of its own");
    scene.answers()
}

fn next_server() -> Tested {
    let world = World::new()?;
    let mut command = world.command("setsid");
    command.arg(dtmcp_tests::binary::dtmcp()?);
    let mut client = Client::start(command)?;
    client.initialize("tester")?;
    client.call("session_create", json!({}))?;
    let scene = Scene { world, client };
    let ancestor = scene.ancestor()?;
    let group = Pid::from_raw(i32::try_from(scene.client.pid()).unwrap());
    killpg(group, Signal::SIGKILL).map_err(|error| error.to_string())?;
    let Scene { world, client } = scene;
    drop(client);
    let mut scene = Scene { client: world.client()?, world };
    assert_eq!(scene.client.run("echo on")?.output(), "on");
    assert_eq!(scene.ancestor()?, ancestor);
    scene.answers()
}

fn killed() -> Tested {
    let mut scene = Scene::new()?;
    let (ancestor, tmux) = (scene.ancestor()?, scene.tmux_pid()?);
    let (probe, pane) = (scene.attended(), scene.pane()?);
    let id = ProcessId { pid: pane.pid, start: start(pane.pid).ok_or("no pane")? };
    wait_until("an answer", || matches!(probe.call(id, id.pid), Known::Known(_)))?;
    assert_eq!(probe.refusal(), None);
    let started = start(ancestor);
    signal(ancestor, Signal::SIGKILL)?;
    wait_until("it is gone", || gone(ancestor, started))?;
    assert_eq!(probe.call(id, id.pid), Known::Unknown(Why::Refused));
    assert_eq!(probe.refusal(), Some(Refusal::Yama(1)), "less is seen, and that is told");
    assert_eq!(scene.client.run("echo on")?.output(), "on");
    scene.client.call("session_create", json!({ "name": "t2" }))?;
    let other = scene.client.call("run", json!({ "session": "t2", "line": "echo too" }))?;
    assert_eq!(other.output(), "too", "{}", other.text);
    assert_eq!(scene.tmux_pid()?, tmux);
    Ok(())
}

/// Its program cannot be run, and its socket has no place: tmux is started as it would be by itself.
fn unable() -> Tested {
    let world = World::new()?;
    std::fs::create_dir_all(socket_path(&world.state(), "world")).map_err(|error| error.to_string())?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    assert_eq!(client.run("echo on")?.output(), "on");
    let scene = Scene { world, client };
    assert!(scene.ancestor().is_err());
    Ok(())
}

/// A line, a process that comes to run by it, and what it then is; what is said of it where no call is to be seen.
type Row = (&'static str, &'static str, &'static str, &'static str);

const ROWS: &[Row] = &[
    ("cat", "cat", "waits", "waits"),
    ("sleep 600", "sleep", "works", "works"),
    ("python3 -q", "python3", "waits", "waits"),
    ("$W poll2", "waitcase", "waits", "unknown"),
    ("$W pollsock", "waitcase", "works", "unknown"),
    ("$W epoll", "waitcase", "waits", "waits"),
    ("$W threads", "waitcase", "waits", "waits"),
    ("read -s x", "bash", "hidden", "hidden"),
    ("expect -c 'set timeout -1; spawn -noecho cat; expect never'", "expect", "works", "works"),
    (
        "python3 -c 'import socket; l=socket.create_server((\"127.0.0.1\",0)); s=socket.create_connection(l.getsockname()); s.recv(1)'",
        "python3",
        "works",
        "unknown",
    ),
];

fn called(inspection: &Inspection) -> &'static str {
    let output = Output { quiet: Duration::from_secs(1), alternate: false, column: 1, asks: false };
    match judge(inspection, output) {
        Judgement::Waits(_) => "waits",
        Judgement::WaitsHidden(_) => "hidden",
        Judgement::Works => "works",
        Judgement::Busy(_) => "busy",
        Judgement::Stopped { .. } => "stopped",
        Judgement::Carrier(_) => "carrier",
        Judgement::Unknown(_) => "unknown",
    }
}

fn situations() -> Tested {
    let mut world = World::new()?;
    world.env.push(("W".to_owned(), env!("CARGO_BIN_EXE_waitcase").to_owned()));
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    let mut scene = Scene { world, client };
    let direct = Arc::new(PtraceFds::new());
    let through = LinuxProc::new().with_probe(scene.attended());
    let by_itself = LinuxProc::new().with_probe(Arc::<PtraceFds>::clone(&direct));
    let without = LinuxProc::new().with_probe(Arc::new(Forbidden));
    let pane = scene.pane()?;
    for (typed, program, truth, less) in ROWS {
        let begun = scene.client.call("run", json!({ "line": typed, "timeout": 0 }))?;
        assert!(!begun.is_error, "{typed}: {}", begun.text);
        let look = |inspector: &LinuxProc| inspector.inspect(&pane, Look::Near);
        let runs = |seen: &Inspection| seen.processes().any(|process| process.name == *program);
        let mut last = None;
        wait_until(&format!("{typed} is {truth}, or {less} where less is seen"), || {
            let (seen, other) = (look(&through), look(&without));
            let holds = runs(&seen) && called(&seen) == *truth && called(&other) == *less && seen.refusal.is_none();
            last = Some(seen);
            holds
        })
        .map_err(|error| format!("{error}; seen: {last:?}"))?;
        // Where we may look ourselves, we see the same.
        wait_until(&format!("{typed}: the same calls"), || {
            calls(&look(&through)) == calls(&look(&by_itself)) || direct.refusal().is_some()
        })?;
        scene.client.call("send", json!({ "keys": ["ctrl+c"] }))?;
        // Who takes the key for less than its end is ended. Before it is gone, its own prompt would do for an end.
        wait_until(&format!("{typed} is gone"), || {
            let seen = look(&through);
            for process in seen.processes().filter(|process| process.name == *program && *program != "bash") {
                drop(signal(process.id.pid, Signal::SIGKILL));
            }
            at_prompt(&seen)
        })?;
        let back = scene.client.call("wait", json!({}))?;
        assert!(["finished", "prompt"].contains(&back.status()), "{typed}: {}", back.text);
    }
    Ok(())
}

/// Whether the shell has the terminal, alone and in its line editor.
fn at_prompt(inspection: &Inspection) -> bool {
    let edits = inspection.modes.known().is_some_and(|modes| !modes.canonical);
    edits && inspection.processes().all(|process| process.name == "bash")
}

/// The calls of all threads that were seen.
fn calls(inspection: &Inspection) -> Vec<(u32, Known<Call>)> {
    let threads = inspection.processes().filter_map(|process| process.threads.known()).flatten();
    threads.map(|thread| (thread.tid, thread.call.clone())).collect()
}

fn strangers() -> Tested {
    let scene = Scene::new()?;
    let (own, pane) = (std::process::id(), scene.pane()?.pid);
    let began = start(pane).ok_or("no pane")?;
    let mut asked = scene.ask()?;
    let own_start = start(own).ok_or("no stat")?;
    assert_eq!(line(&mut asked, &format!("1 {own} {own_start} {own}\n"))?, "1 stranger\n");
    assert_eq!(line(&mut asked, &format!("1 {pane} {} {pane}\n", began + 1))?, "1 stranger\n", "another of that id");
    assert_eq!(line(&mut asked, &format!("1 {pane} {began} {own}\n"))?, "1 unknown gone\n", "another's thread");
    assert_eq!(line(&mut asked, "1 1 0 1\n")?, "1 stranger\n");
    // It waits for its child, and for its recorder.
    let polls = line(&mut asked, &format!("1 {pane} {began} {pane}\n"))?;
    assert!(polls.starts_with("1 polls end "), "{polls}");
    // Whoever speaks otherwise is told in what version it would be understood, and that is the end.
    assert_eq!(line(&mut asked, &format!("2 {pane} {began} {pane}\n"))?, "1 what\n");
    assert_eq!(line(&mut asked, "").unwrap_or_default(), "");
    Ok(())
}

fn hostile() -> Tested {
    let scene = Scene::new()?;
    let (ancestor, pane) = (scene.ancestor()?, scene.pane()?.pid);
    let request = format!("1 {pane} {} {pane}\n", start(pane).ok_or("no pane")?);
    // Half a question and silence, more of them than are let in; and one that never ends.
    let mut held: Vec<UnixStream> = Vec::new();
    for _ in 0..40 {
        let mut stream = scene.ask()?.into_inner();
        stream.write_all(b"1 23").map_err(|error| error.to_string())?;
        held.push(stream);
    }
    let mut endless = scene.ask()?.into_inner();
    // It ends the connection before or after all of it has gone.
    drop(endless.write_all(&[b'1'; 100_000]));
    assert!(!matches!(endless.read(&mut [0; 64]), Ok(1..)), "no answer to a line without end");
    scene.answers()?;
    // Questions without end, whose answers nobody reads.
    let flood = scene.ask()?.into_inner();
    let (mut flooding, asked) = (flood.try_clone().map_err(|error| error.to_string())?, request.clone());
    let flooder = std::thread::spawn(move || while flooding.write_all(asked.as_bytes()).is_ok() {});
    for _ in 0..20 {
        let mut asked = scene.ask()?;
        assert!(line(&mut asked, &request)?.starts_with("1 polls "));
    }
    flood.shutdown(std::net::Shutdown::Both).map_err(|error| error.to_string())?;
    flooder.join().map_err(|_| "the flood failed")?;
    drop(held);
    let open = || {
        let entries = std::fs::read_dir(format!("/proc/{ancestor}/fd")).into_iter().flatten();
        entries.filter_map(|entry| std::fs::read_link(entry.ok()?.path()).ok()).collect::<Vec<_>>()
    };
    // Its streams, what tells it of ended processes, and what it listens on.
    wait_until("nobody is left", || open().len() <= 5).map_err(|error| format!("{error}: {:?}", open()))?;
    scene.answers()
}

fn orphans() -> Tested {
    let mut scene = Scene::new()?;
    let (ancestor, tmux) = (scene.ancestor()?, scene.tmux_pid()?);
    // Each leaves its session and its parent, as a daemon does; half of them end at once.
    let done = scene.client.call(
        "run",
        json!({ "line": "for i in {1..100}; do (setsid true &); (setsid sleep 1000 &); done", "timeout": 60 }),
    )?;
    assert_eq!(done.exit(), Some(0), "{}", done.text);
    wait_until("they are its children", || children(ancestor).len() == 101)?;
    for child in children(ancestor).into_iter().filter(|child| *child != tmux) {
        signal(child, Signal::SIGTERM)?;
    }
    wait_until("nothing is left of them", || children(ancestor) == [tmux])?;
    scene.answers()
}
