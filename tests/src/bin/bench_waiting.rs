//! How long after a program's prompt stands in the raw log a reply says so: a prompt that is known by its looks, and a
//! question that only looking at the processes can tell.

#![expect(clippy::print_stdout, reason = "this program is for a person who reads its output")]

use std::process::ExitCode;
use std::time::Instant;

use dtmcp_tests::client::World;
use dtmcp_tests::measure::{Appended, Stdio, dtmcp, load, median, ms, quantile, report, words};
use serde_json::{Value, json};

/// Calls of each kind.
const CALLS: usize = 100;

fn main() -> ExitCode {
    report(measure)
}

fn measure() -> Result<(), String> {
    let world = World::new()?;
    let mut client = Stdio::start(world.command(&dtmcp()?))?;
    client.call("session_create", &json!({}))?;
    let mut raw = Appended::watch(&world.state().join("sessions/t1/raw.log"))?;
    println!("{CALLS} calls of each kind, load {}; ms from the raw log to the reply", load());

    let mut questions = Vec::new();
    for _ in 0..CALLS {
        // What is looked for must not stand in the line itself.
        let ask = json!({ "line": "bash -c 'read -p \"whi\"\"ch one\" x'" });
        questions.push(timed(&mut client, &mut raw, b"which one", &ask, "waiting")?);
        client.call("run", &json!({ "line": "this" }))?;
    }
    tell("unknown question", &questions, 300.0);

    client.call("run", &json!({ "line": "python3 -q" }))?;
    let mut prompts = Vec::new();
    for _ in 0..CALLS {
        prompts.push(timed(&mut client, &mut raw, b">>> ", &json!({ "line": "1 + 1" }), "prompt")?);
    }
    tell("known prompt", &prompts, 60.0);
    Ok(())
}

fn tell(name: &str, times: &[f64], most: f64) {
    let (low, high) = (quantile(times, 0.1), quantile(times, 0.9));
    println!("{name:18} median {:.1}   10% {low:.1}   90% {high:.1}   (median at most {most})", median(times));
}

/// Runs a line; the time from `what` in the raw log to the reply.
fn timed(client: &mut Stdio, raw: &mut Appended, what: &[u8], line: &Value, status: &str) -> Result<f64, String> {
    raw.begin()?;
    std::thread::scope(|scope| {
        let shown = scope.spawn(|| raw.until(what).map(|()| Instant::now()));
        let reply = client.call("run", line)?;
        let answered = Instant::now();
        let shown = shown.join().map_err(|_| words("the watcher ended"))??;
        if reply.get("status") != Some(&json!(status)) {
            return Err(format!("not {status}: {reply}"));
        }
        Ok(ms(answered.saturating_duration_since(shown)))
    })
}
