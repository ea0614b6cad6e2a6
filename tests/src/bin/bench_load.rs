//! What 100 sessions cost that each print 20 lines a second: the server's and tmux's share of a processor and their
//! memory, and how long `run "true"` takes in another session meanwhile, against the same with nothing printed.

#![expect(clippy::print_stdout, reason = "this program is for a person who reads its output")]

use std::process::ExitCode;
use std::time::{Duration, Instant};

use dtmcp_tests::client::World;
use dtmcp_tests::measure::{Stdio, dtmcp, load, median, ms, processor_ms, quantile, report, rest, status, words};
use serde_json::json;

/// Sessions that print, where no other number is given.
const SESSIONS: usize = 100;

/// `run "true"` without load, and under it.
const CALLS: usize = 1000;

/// The pause between two of them under load, so that they spread over the time that is measured.
const PAUSE: Duration = Duration::from_millis(30);

/// Prints 20 lines a second without starting a process for it.
const PRINTS: &str =
    "exec 9<> <(:); n=0; while :; do read -t 0.05 -u 9; echo \"line $((n++)) of a log that goes on\"; done";

fn main() -> ExitCode {
    report(measure)
}

fn measure() -> Result<(), String> {
    let sessions = std::env::args().nth(1).and_then(|sessions| sessions.parse().ok()).unwrap_or(SESSIONS);
    let world = World::new()?;
    let mut client = Stdio::start(world.command(&dtmcp()?))?;
    client.call("session_create", &json!({ "name": "quiet" }))?;
    let call = |client: &mut Stdio, pause: Duration| -> Result<f64, String> {
        rest(pause);
        let begin = Instant::now();
        let reply = client.call("run", &json!({ "session": "quiet", "line": "true" }))?;
        let took = ms(begin.elapsed());
        if reply.get("exit") == Some(&json!(0)) { Ok(took) } else { Err(format!("not a finished command: {reply}")) }
    };
    let before = load();
    let alone = (0..CALLS).map(|_| call(&mut client, PAUSE)).collect::<Result<Vec<_>, _>>()?;
    for number in 0..sessions {
        let name = format!("p{number}");
        client.call("session_create", &json!({ "name": name }))?;
        client.call("run", &json!({ "session": name, "line": PRINTS, "timeout": 0 }))?;
    }
    let tmux: u32 = world.tmux(&["display-message", "-p", "#{pid}"])?.trim().parse().map_err(words)?;
    let server = client.pid();
    let share = |begin: Instant, of: f64| 100.0 * of / ms(begin.elapsed());

    // The server's share is measured without calls, and tmux's beside it.
    let (begin, ours, theirs) = (Instant::now(), processor_ms(server), processor_ms(tmux));
    rest(Duration::from_secs(20));
    let (ours, theirs) = (processor_ms(server) - ours, processor_ms(tmux) - theirs);
    let (ours, theirs) = (share(begin, ours), share(begin, theirs));

    let busy = (0..CALLS).map(|_| call(&mut client, PAUSE)).collect::<Result<Vec<_>, _>>()?;
    println!("{sessions} sessions of 20 lines a second, load {before} to {}", load());
    println!("server     {ours:.1} % of a core   (under 10)    tmux {theirs:.1} %");
    println!("resident   {} kB   (under 80,000)   tmux {} kB", status(server, "VmRSS"), status(tmux, "VmRSS"));
    let (middle, high) = (median(&alone), quantile(&busy, 0.99));
    println!(
        "run        alone median {middle:.2} ms, 99% {:.2}; meanwhile median {:.2}, 99% {high:.2}; ratio {:.1}   (at most 3)",
        quantile(&alone, 0.99),
        median(&busy),
        high / middle
    );
    Ok(())
}
