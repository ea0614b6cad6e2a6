//! What a server costs that does nothing: its memory, how often it wakes up in ten seconds, and how long it takes from
//! being started to answering its client's hello.

#![expect(clippy::print_stdout, reason = "this program is for a person who reads its output")]

use std::process::ExitCode;
use std::time::{Duration, Instant};

use dtmcp_tests::client::World;
use dtmcp_tests::measure::{Stdio, dtmcp, load, median, ms, quantile, report, rest, status, switches};
use serde_json::json;

/// Until then everything that was begun has ended.
const SETTLE: Duration = Duration::from_secs(15);

/// How long nothing happens.
const IDLE: Duration = Duration::from_secs(10);

/// Starts that are measured.
const STARTS: usize = 50;

fn main() -> ExitCode {
    report(measure)
}

fn measure() -> Result<(), String> {
    let dtmcp = dtmcp()?;
    let world = World::new()?;
    let before = load();
    let mut starts = Vec::new();
    for _ in 0..STARTS {
        let begin = Instant::now();
        let client = Stdio::start(world.command(&dtmcp))?;
        starts.push(ms(begin.elapsed()));
        drop(client);
    }

    let mut client = Stdio::start(world.command(&dtmcp))?;
    let fresh = status(client.pid(), "VmRSS");
    client.call("session_create", &json!({}))?;
    for line in ["true", "seq 1000", "false | true"] {
        client.call("run", &json!({ "line": line }))?;
    }
    let memory = |field: &str| status(client.pid(), field);
    let (used, anonymous) = (memory("VmRSS"), memory("RssAnon"));
    rest(SETTLE);
    let before_idle = switches(client.pid());
    rest(IDLE);
    // A thread that has ended is not counted: the runtime ends those that wrote files, some seconds later.
    let woken = |(thread, count): (&String, &u64)| count - before_idle.get(thread).copied().unwrap_or(0);
    let wakeups: u64 = switches(client.pid()).iter().map(woken).sum();

    println!("load {before} to {}", load());
    println!(
        "started to answered  {:.1} ms   (median of {STARTS}; 90% {:.1}; under 10)",
        median(&starts),
        quantile(&starts, 0.9)
    );
    println!("resident, fresh      {fresh} kB");
    println!("resident, idle       {used} kB   (one session, a few commands; of it {anonymous} its own; under 12,000)");
    println!("wake-ups             {wakeups} in {} s   (0, but for what tmux tells)", IDLE.as_secs());
    Ok(())
}
