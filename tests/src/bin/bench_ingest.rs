//! 3,000,000 lines of `seq` through tmux, recorder and server, against a bare tmux that pipes its pane to `cat`: wall time,
//! processor time of tmux and of what its pipe runs, the server's peak memory, and whether every line is there.
//!
//! The two take turns. A pair is one of each, and the ratio is the median of the pairs'.

#![expect(clippy::print_stdout, reason = "this program is for a person who reads its output")]

use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::Instant;

use dtmcp_tests::client::World;
use dtmcp_tests::measure::{Appended, Stdio, children, dtmcp, load, median, ms, processor_ms, status, words};
use serde_json::{Value, json};

const PAIRS: usize = 5;

const LINES: u64 = 3_000_000;

fn main() -> ExitCode {
    match measure() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => {
            println!("lines are missing");
            ExitCode::FAILURE
        }
        Err(why) => {
            println!("{why}");
            ExitCode::FAILURE
        }
    }
}

/// What one run took, in milliseconds.
#[derive(Debug, Clone, Copy)]
struct Took {
    wall: f64,
    tmux: f64,
    pipe: f64,
}

fn measure() -> Result<bool, String> {
    let dtmcp = dtmcp()?;
    let before = load();
    let mut pairs = Vec::new();
    let mut all_there = true;
    for pair in 1..=PAIRS {
        let bare = bare()?;
        let (ours, server) = ours(&dtmcp)?;
        println!(
            "pair {pair}: bare {:.0} ms (tmux {:.0}, cat {:.0}); ours {:.0} ms (tmux {:.0}, recorder {:.0}; server {:.0}, \
             peak {} kB), lines {}",
            bare.wall,
            bare.tmux,
            bare.pipe,
            ours.wall,
            ours.tmux,
            ours.pipe,
            server.processor,
            server.peak,
            server.lines
        );
        all_there &= server.complete;
        pairs.push((bare, ours, server.peak));
    }
    let ratio =
        |of: fn(&Took) -> f64| median(&pairs.iter().map(|(bare, ours, _)| of(ours) / of(bare)).collect::<Vec<_>>());
    println!("{LINES} lines, {PAIRS} pairs, load {before} to {}", load());
    println!("wall       {:.2}   (at most 1.25)", ratio(|took| took.wall));
    println!("processor  {:.2}   (tmux and recorder; at most 1.1)", ratio(|took| took.tmux + took.pipe));
    println!(
        "peak       {} kB   (the server; at most 40,000)",
        pairs.iter().map(|(_, _, peak)| *peak).max().unwrap_or(0)
    );
    Ok(all_there)
}

/// What is known of the server afterwards.
struct Server {
    processor: f64,
    peak: u64,
    lines: u64,
    complete: bool,
}

fn ours(dtmcp: &Path) -> Result<(Took, Server), String> {
    let world = World::new()?;
    let mut client = Stdio::start(world.command(dtmcp))?;
    client.call("session_create", &json!({}))?;
    client.call("run", &json!({ "line": "true" }))?;
    let tmux = server_pid(world.command("tmux"), "world")?;
    let pipe = child(tmux, " record ")?;
    let (tmux_before, pipe_before) = (processor_ms(tmux), processor_ms(pipe));
    let begin = Instant::now();
    let reply = client.call("run", &json!({ "line": format!("seq {LINES}"), "timeout": 600 }))?;
    let took = Took {
        wall: ms(begin.elapsed()),
        tmux: processor_ms(tmux) - tmux_before,
        pipe: processor_ms(pipe) - pipe_before,
    };
    let lines = reply.get("lines").and_then(Value::as_u64).unwrap_or(0);
    let server = Server {
        processor: processor_ms(client.pid()),
        peak: status(client.pid(), "VmHWM"),
        lines,
        complete: lines == LINES && in_order(&world.state().join("sessions/t1/session.txt"), &reply)?,
    };
    Ok((took, server))
}

/// Whether every number stands in its line.
fn in_order(text: &Path, reply: &Value) -> Result<bool, String> {
    let first = reply.get("first_line").and_then(Value::as_u64).ok_or("no first line")?;
    let text = std::fs::read_to_string(text).map_err(words)?;
    let lines = text.lines().skip(usize::try_from(first - 1).map_err(words)?);
    Ok((1..=LINES).zip(lines).filter(|(number, line)| *line == number.to_string()).count() as u64 == LINES)
}

fn bare() -> Result<Took, String> {
    let world = World::new()?;
    let file = world.root().join("bare.log");
    std::fs::write(&file, "").map_err(words)?;
    let tmux = |args: &[&str]| {
        let output =
            world.command("tmux").args(["-L", "world", "-f", "/dev/null"]).args(args).output().map_err(words)?;
        output.status.success().then_some(()).ok_or_else(|| String::from_utf8_lossy(&output.stderr).into_owned())
    };
    tmux(&["new-session", "-d", "-x", "120", "-y", "40", "bash --norc"])?;
    tmux(&["pipe-pane", "-O", &format!("exec cat >> {}", file.display())])?;
    let mut raw = Appended::watch(&file)?;
    tmux(&["send-keys", "echo rea''dy", "Enter"])?;
    raw.until(b"ready")?;
    let server = server_pid(world.command("tmux"), "world")?;
    let pipe = child(server, "cat")?;
    let (tmux_before, pipe_before) = (processor_ms(server), processor_ms(pipe));
    raw.begin()?;
    let begin = Instant::now();
    tmux(&["send-keys", &format!("seq {LINES}; echo al''l"), "Enter"])?;
    raw.until(b"\nall")?;
    let took = Took {
        wall: ms(begin.elapsed()),
        tmux: processor_ms(server) - tmux_before,
        pipe: processor_ms(pipe) - pipe_before,
    };
    let counted = memchr::memchr_iter(b'\n', &std::fs::read(&file).map_err(words)?).count() as u64;
    if counted < LINES {
        println!("bare: only {counted} line breaks");
    }
    Ok(took)
}

/// The tmux server on this socket.
fn server_pid(mut tmux: Command, socket: &str) -> Result<u32, String> {
    let output = tmux.args(["-L", socket, "display-message", "-p", "#{pid}"]).output().map_err(words)?;
    String::from_utf8_lossy(&output.stdout).trim().parse().map_err(words)
}

fn child(of: u32, command: &str) -> Result<u32, String> {
    let all = children(of);
    let found = all.iter().find(|(_, line)| line.contains(command)).map(|(pid, _)| *pid);
    found.ok_or_else(|| format!("no {command} among {all:?}"))
}
