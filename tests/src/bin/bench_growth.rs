//! What 10,000 `run "true"` leave behind: descriptors, threads, processes and memory of the server, and of tmux.

#![expect(clippy::print_stdout, reason = "this program is for a person who reads its output")]

use std::process::ExitCode;
use std::time::Duration;

use dtmcp_tests::client::World;
use dtmcp_tests::measure::{Stdio, children, dtmcp, load, report, rest, status, words};
use serde_json::json;

/// Calls that are counted, and those before, after which everything is in use that ever will be.
const CALLS: usize = 10_000;
const BEFORE: usize = 1_500;

/// Until then the runtime has ended the threads that wrote files.
const SETTLE: Duration = Duration::from_secs(15);

fn main() -> ExitCode {
    report(measure)
}

/// What a process has.
#[derive(Debug, Clone, Copy)]
struct Has {
    descriptors: usize,
    threads: u64,
    children: usize,
    resident: u64,
}

fn has(pid: u32) -> Result<Has, String> {
    Ok(Has {
        descriptors: std::fs::read_dir(format!("/proc/{pid}/fd")).map_err(words)?.count(),
        threads: status(pid, "Threads"),
        children: children(pid).len(),
        resident: status(pid, "VmRSS"),
    })
}

fn measure() -> Result<(), String> {
    let calls = std::env::args().nth(1).and_then(|calls| calls.parse().ok()).unwrap_or(CALLS);
    let world = World::new()?;
    let mut client = Stdio::start(world.command(&dtmcp()?))?;
    client.call("session_create", &json!({}))?;
    let tmux: u32 = world.tmux(&["display-message", "-p", "#{pid}"])?.trim().parse().map_err(words)?;
    let server = client.pid();
    let mut run = |times: usize| -> Result<(Has, Has), String> {
        for _ in 0..times {
            let reply = client.call("run", &json!({ "line": "true" }))?;
            if reply.get("exit") != Some(&json!(0)) {
                return Err(format!("not a finished command: {reply}"));
            }
        }
        rest(SETTLE);
        Ok((has(server)?, has(tmux)?))
    };
    let begun = load();
    let before = run(BEFORE)?;
    let after = run(calls)?;
    println!("{calls} calls, load {begun} to {}", load());
    for (name, before, after) in [("server", before.0, after.0), ("tmux", before.1, after.1)] {
        println!(
            "{name:7} descriptors {} to {}   threads {} to {}   processes {} to {}   resident {} kB to {} kB",
            before.descriptors,
            after.descriptors,
            before.threads,
            after.threads,
            before.children,
            after.children,
            before.resident,
            after.resident
        );
    }
    println!("(no descriptor, thread or process more; less than 5,000 kB)");
    Ok(())
}
