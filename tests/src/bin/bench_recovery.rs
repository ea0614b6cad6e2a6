//! How long a new server takes to take over a session with a long log, from its start to its first answer about it, and
//! the memory it takes; against reading the log once.

#![expect(clippy::print_stdout, reason = "this program is for a person who reads its output")]

use std::process::ExitCode;
use std::time::Instant;

use dtmcp_tests::client::World;
use dtmcp_tests::measure::{Stdio, dtmcp, load, median, ms, report, status, words};
use serde_json::json;

/// Megabytes that are printed, where no other number is given.
const MEGABYTES: usize = 100;

/// Servers that are started, for each kind of output.
const STARTS: usize = 5;

/// What is printed: plain numbers, a log's lines, and lines in colour.
const KINDS: [(&str, &str); 3] = [
    ("numbers", "seq 100000000"),
    ("log", "yes '2026-01-01T00:00:00Z INFO worker-7 took 1234 ms for item 98765 of 100000 in queue main'"),
    ("colour", "yes $'\\e[32mok\\e[0m   \\e[1mtest_of_some_module\\e[0m took \\e[33m12 ms\\e[0m'"),
];

fn main() -> ExitCode {
    report(measure)
}

fn measure() -> Result<(), String> {
    let megabytes = std::env::args().nth(1).and_then(|size| size.parse().ok()).unwrap_or(MEGABYTES);
    let dtmcp = dtmcp()?;
    for (name, prints) in KINDS {
        let world = World::new()?;
        let mut client = Stdio::start(world.command(&dtmcp))?;
        client.call("session_create", &json!({}))?;
        let line = format!("{prints} | head -c {megabytes}000000; echo; (exit 5)");
        let reply = client.call("run", &json!({ "line": line, "timeout": 3600, "last_lines": 1 }))?;
        if reply.get("exit") != Some(&json!(5)) {
            return Err(format!("not a finished command: {reply}"));
        }
        drop(client);
        let raw = world.state().join("sessions/t1/raw.log");
        let before = load();
        let (mut starts, mut reads, mut peak) = (Vec::new(), Vec::new(), 0);
        for _ in 0..STARTS {
            let begin = Instant::now();
            let bytes = std::fs::read(&raw).map_err(words)?;
            reads.push(ms(begin.elapsed()));
            let lines = memchr::memchr_iter(b'\n', &bytes).count();
            drop(bytes);
            let begin = Instant::now();
            let mut client = Stdio::start(world.command(&dtmcp))?;
            let reply = client.call("regions", &json!({ "session": "t1" }))?;
            starts.push(ms(begin.elapsed()));
            peak = peak.max(status(client.pid(), "VmHWM"));
            let found = reply.pointer("/regions/0/lines").and_then(serde_json::Value::as_u64);
            if reply.pointer("/regions/0/exit") != Some(&json!(5))
                || found.is_none_or(|found| lines.abs_diff(usize::try_from(found).unwrap_or(0)) > 10)
            {
                return Err(format!("not what ran: {lines} lines, {reply}"));
            }
        }
        println!(
            "{name:8} {megabytes} MB, load {before} to {}: taken over in {:.0} ms   (at most 1000 for 100 MB); one read {:.0} ms; peak {peak} kB",
            load(),
            median(&starts),
            median(&reads)
        );
    }
    Ok(())
}
