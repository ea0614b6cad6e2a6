//! How long a call takes that does next to nothing, by each way that a client can come, against a line sent to `cat`
//! and back.
//!
//! All take turns, so that whatever else the machine does falls on each.

#![expect(clippy::print_stdout, reason = "this program is for a person who reads its output")]

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitCode, Stdio as Piped};
use std::time::Instant;

use dtmcp_tests::client::World;
use dtmcp_tests::measure::{Stdio, Web, dtmcp, load, median, ms, quantile, report, words};
use dtmcp_tests::serving::{self, Serving};
use serde_json::{Value, json};

/// Turns, and calls of each kind in a turn; 4,000 of each.
const TURNS: usize = 40;
const CALLS: usize = 100;

/// The calls: one that needs no session, and one that asks for all of them.
const TOOLS: [&str; 2] = ["guide", "session_list"];

fn main() -> ExitCode {
    report(measure)
}

fn measure() -> Result<(), String> {
    let dtmcp = dtmcp()?;
    let alone = World::new()?;
    let mut stdio = Stdio::start(alone.command(&dtmcp))?;
    stdio.call("session_create", &json!({}))?;

    let shared = serving::world()?;
    let mut command = shared.command(&dtmcp);
    command.args(["serve", "--tcp", "0"]);
    let server = Serving::spawn(command, shared.root().join("docent-terminal-mcp/server.sock"))?;
    let mut command = shared.command(&dtmcp);
    command.args(["connect", "--actor", "bench"]);
    let mut bridge = Stdio::start(command)?;
    bridge.call("session_create", &json!({}))?;
    let token = std::fs::read_to_string(shared.state().join("token")).map_err(words)?;
    let mut web = Web::with_session(server.port()?, token.trim(), "bench")?;
    let mut stateless = Web::stateless(server.port()?, token.trim(), "bench")?;
    let mut cat = Cat::start()?;

    println!("{} calls of each kind; ms, median and 90%", TURNS * CALLS);
    for tool in TOOLS {
        let before = load();
        let none = json!({});
        let line = stdio.request("tools/call", &json!({ "name": tool, "arguments": none }))?.to_string();
        let mut times = [const { Vec::new() }; 5];
        for _ in 0..TURNS {
            let [floor, one, two, three, four] = &mut times;
            repeat(floor, || cat.there_and_back(&line))?;
            repeat(one, || stdio.request("tools/call", &json!({ "name": tool, "arguments": none })).map(drop))?;
            repeat(two, || bridge.request("tools/call", &json!({ "name": tool, "arguments": none })).map(drop))?;
            repeat(three, || web.call(tool, &none).map(drop))?;
            repeat(four, || stateless.call(tool, &none).map(drop))?;
        }
        println!("{tool}, {} bytes, load {before} to {}", line.len(), load());
        let floor = median(&times[0]);
        let names = ["cat", "stdio", "bridge", "HTTP, session", "HTTP, stateless"];
        let most: [Option<f64>; 5] = [None, Some(0.1), Some(0.2), Some(0.5), Some(0.5)];
        for ((name, times), most) in names.iter().zip(&times).zip(most) {
            let most = most.map_or_else(String::new, |most| format!("   (under {most})"));
            let (middle, high) = (median(times), quantile(times, 0.9));
            println!("  {name:16} {middle:.3}   {high:.3}   {:>5.1} of cat{most}", middle / floor);
        }
    }
    Ok(())
}

fn repeat(times: &mut Vec<f64>, mut call: impl FnMut() -> Result<(), String>) -> Result<(), String> {
    for _ in 0..CALLS {
        let begin = Instant::now();
        call()?;
        times.push(ms(begin.elapsed()));
    }
    Ok(())
}

/// What no server could be faster than: a process that says what it is told, and a client that reads it as JSON.
struct Cat {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Cat {
    fn start() -> Result<Self, String> {
        let mut child = Command::new("cat").stdin(Piped::piped()).stdout(Piped::piped()).spawn().map_err(words)?;
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().ok_or("no output")?);
        Ok(Self { child, input, output })
    }

    fn there_and_back(&mut self, line: &str) -> Result<(), String> {
        let input = self.input.as_mut().ok_or("no input")?;
        input.write_all(format!("{line}\n").as_bytes()).map_err(words)?;
        let mut back = String::new();
        self.output.read_line(&mut back).map_err(words)?;
        serde_json::from_str::<Value>(&back).map(drop).map_err(words)
    }
}

impl Drop for Cat {
    fn drop(&mut self) {
        self.input = None;
        drop(self.child.wait());
    }
}
