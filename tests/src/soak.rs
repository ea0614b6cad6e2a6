//! Servers that are killed at random moments, and whether anything was lost or done twice by it.
//!
//! The suites do a few rounds, `soak` as many as it is told.

mod judge;
mod shared;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};

use crate::client::{Answer, Client, World};
use crate::measure::rest;
use crate::person::wait_until;
use crate::serving::{self, Serving};
use crate::sim::Chance;

pub use judge::Shared;
pub use shared::shared;

/// Lines printed in one go; between two such bursts a program that prints rests, so that it prints as long as servers
/// are killed.
const BURST: u32 = 1000;

/// The longest that a server lives, in microseconds, before it is killed. Taking a session over takes a few
/// milliseconds, so that many die while they do.
const LIFE_US: usize = 150_000;

/// The longest time between a call's beginning and the server's end, in microseconds: in the first few hundred the line
/// is typed, and within one or two thousand it has run.
const TYPING_US: usize = 600;
const CALL_US: usize = 4_000;

/// What came of killing a server while numbered lines were printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Numbered {
    /// Kills before the program waited for the last of them.
    pub while_it_printed: usize,
    /// Lines in `session.txt`.
    pub lines: usize,
}

/// What came of killing a server while commands were typed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Typed {
    /// Commands that ran.
    pub ran: usize,
    /// Commands that were never typed.
    pub not_typed: usize,
    /// Calls that were answered with how the command ended.
    pub told: usize,
}

/// How a client reaches the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// It starts the server, whose end it sees: what was in flight has no answer, and it asks the next one.
    Stdio,
    /// Through the bridge, which lives on and answers everything.
    Bridge,
}

/// Kills the server this often while a program prints numbered lines, and then looks for each of them, in order, in one
/// region.
///
/// # Errors
/// Where a line is missing, twice or out of place, or the region is not what ran.
pub fn numbered(dtmcp: &Path, kills: usize, lines: u32, seed: u64) -> Result<Numbered, String> {
    let mut chance = Chance::new(seed);
    let world = World::new()?;
    let mut client = start(&world, dtmcp)?;
    client.call("session_create", json!({}))?;
    let before = client.run("(exit 3)")?;
    let (bursts, between) = (lines / BURST, pause(kills, lines));
    let gate = world.root().join("gate");
    // The last burst comes when the last server has been killed.
    let line = format!(
        "exec 9<> <(:); burst() {{ for j in $(seq 1 {BURST}); do echo L$((i * {BURST} + j)); done; read -t {between} -u 9; }}; \
         for ((i = 0; i < {bursts} - 1; i++)); do burst; done; until [ -e {} ]; do read -t 0.05 -u 9; done; burst; (exit 7)",
        gate.display()
    );
    client.call("run", json!({ "line": line, "timeout": 0 }))?;
    let mut while_it_printed = 0;
    for _ in 0..kills {
        rest(Duration::from_micros(chance.below(LIFE_US) as u64));
        client.kill()?;
        client = start(&world, dtmcp)?;
        // Half of the servers die while they take the session over, and half of them after it.
        if chance.percent(50) {
            client.call("session_list", json!({}))?;
        }
        while_it_printed += usize::from(!printed(&world, bursts)?);
    }
    std::fs::write(&gate, "").map_err(words)?;
    let waited = ended(&mut client, &json!({ "timeout": 60, "last_lines": 1 }))?;
    if (waited.status(), waited.exit(), &waited.meta["lines"]) != ("finished", Some(7), &json!(bursts * BURST)) {
        return Err(format!("not the end of what ran: {}", waited.text));
    }
    let regions = regions(&mut client)?;
    let found: Vec<_> = regions.iter().map(|region| (region["id"].clone(), region["exit"].clone())).collect();
    if found != [(json!(1), json!(3)), (json!(2), json!(7))] || before.exit() != Some(3) {
        return Err(format!("not the regions that ran: {regions:?}"));
    }
    let page = std::fs::read_to_string(world.state().join("sessions/t1/session.txt")).map_err(words)?;
    let numbers: Vec<u32> = page.lines().filter_map(|line| line.strip_prefix('L')?.parse().ok()).collect();
    if !numbers.iter().copied().eq(1..=bursts * BURST) {
        return Err(format!("{} lines, and not each once and in order", numbers.len()));
    }
    Ok(Numbered { while_it_printed, lines: numbers.len() })
}

/// Waits for what runs. On a machine that has much else to do, tmux may not have answered the new server at once, which
/// then takes the session over as soon as it does.
fn ended(client: &mut Client, arguments: &Value) -> Result<Answer, String> {
    let mut answer = None;
    wait_until("what runs has ended", || {
        answer = client
            .call("wait", arguments.clone())
            .ok()
            .filter(|answer| !answer.is_error && answer.status() != "running");
        answer.is_some()
    })?;
    answer.ok_or_else(|| "no answer".to_owned())
}

/// Whether all bursts but the last have been printed.
fn printed(world: &World, bursts: u32) -> Result<bool, String> {
    let raw = std::fs::read(world.state().join("sessions/t1/raw.log")).map_err(words)?;
    let last = format!("L{}\r\n", bursts.saturating_sub(1) * BURST);
    Ok(memchr::memmem::find(&raw, last.as_bytes()).is_some())
}

/// How long the program rests after each burst, in seconds: so that it prints while all the servers are killed.
fn pause(kills: usize, lines: u32) -> f64 {
    let kills = u32::try_from(kills).unwrap_or(u32::MAX);
    let bursts = (lines / BURST).max(1);
    // Half a server's longest life, and as much to start it.
    (f64::from(kills) * 0.15 / f64::from(bursts)).max(0.001)
}

/// Kills the server this often during `run "echo N >> f"`, and then looks whether any ran twice, whether each call was
/// answered, and whether what was answered and what is recorded is what happened.
///
/// # Errors
/// Where it is not.
pub fn typed(dtmcp: &Path, restarts: usize, way: Way, seed: u64) -> Result<Typed, String> {
    let mut chance = Chance::new(seed);
    let mut ends = Ends::open(dtmcp, way)?;
    ends.client()?.call("session_create", json!({ "name": "t1" }))?;
    let mut answers = BTreeMap::new();
    for n in 0..restarts {
        let id = ends.client()?.begin("run", json!({ "line": command(n) }))?;
        let most = if chance.percent(50) { TYPING_US } else { CALL_US };
        rest(Duration::from_micros(chance.below(most) as u64));
        ends.restart()?;
        if way == Way::Bridge {
            answers.insert(n, ends.client()?.finish(id)?);
        }
        ended(ends.client()?, &json!({}))?;
    }
    let last = ends.client()?.run("echo end")?;
    if last.output() != "end" {
        return Err(format!("the session does not go on: {}", last.text));
    }
    judge(restarts, &ends, &answers)
}

fn command(n: usize) -> String {
    format!("echo {n} >> f; (exit {})", n % 5)
}

fn judge(restarts: usize, ends: &Ends, answers: &BTreeMap<usize, Answer>) -> Result<Typed, String> {
    let written = std::fs::read_to_string(ends.world.user_home().join("f")).unwrap_or_default();
    // The list of regions that a client gets is of the last ones; the record has all.
    let text = std::fs::read_to_string(ends.world.state().join("sessions/t1/regions.jsonl")).map_err(words)?;
    let mut regions: BTreeMap<u64, Value> = BTreeMap::new();
    for record in text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
        regions.insert(record["id"].as_u64().unwrap_or_default(), record);
    }
    let mut found = Typed::default();
    for n in 0..restarts {
        let ran = written.lines().filter(|line| **line == n.to_string()).count();
        let recorded: Vec<_> = regions.values().filter(|region| region["label"] == json!(command(n))).collect();
        let exit = recorded.first().and_then(|region| region["exit"].as_i64());
        let right = match ran {
            0 => recorded.is_empty(),
            1 => recorded.len() == 1 && exit == i64::try_from(n % 5).ok(),
            _ => false,
        };
        if !right {
            return Err(format!("{n} ran {ran} times, and is recorded as {recorded:?}"));
        }
        found.ran += ran;
        found.not_typed += 1 - ran;
        let Some(answer) = answers.get(&n) else { continue };
        let told = answer.exit().is_some();
        let untyped = answer.text.contains("nothing was typed") || answer.text.contains("not begun");
        if told && ran == 0 || untyped && ran == 1 {
            return Err(format!("{n} ran {ran} times, and its call was answered: {}", answer.text));
        }
        found.told += usize::from(told);
    }
    Ok(found)
}

/// A client of a server of its own.
fn start(world: &World, dtmcp: &Path) -> Result<Client, String> {
    introduced(world.command(dtmcp))
}

fn introduced(command: Command) -> Result<Client, String> {
    let mut client = Client::start(command)?;
    client.initialize("soak")?;
    Ok(client)
}

/// A server and its client.
struct Ends {
    // Dropped in this order: clients before the server, both before the machine.
    client: Option<Client>,
    serving: Option<Serving>,
    world: World,
    dtmcp: PathBuf,
}

impl Ends {
    fn open(dtmcp: &Path, way: Way) -> Result<Self, String> {
        let mut ends = Self { client: None, serving: None, world: serving::world()?, dtmcp: dtmcp.to_owned() };
        match way {
            Way::Stdio => ends.client = Some(start(&ends.world, dtmcp)?),
            Way::Bridge => {
                ends.serving = Some(ends.serve()?);
                let mut command = ends.world.command(dtmcp);
                command.args(["connect", "--actor", "soak"]);
                ends.client = Some(introduced(command)?);
            }
        }
        Ok(ends)
    }

    fn serve(&self) -> Result<Serving, String> {
        let mut command = self.world.command(&self.dtmcp);
        command.arg("serve");
        Serving::spawn(command, self.world.root().join("docent-terminal-mcp/server.sock"))
    }

    fn client(&mut self) -> Result<&mut Client, String> {
        self.client.as_mut().ok_or_else(|| "no client".to_owned())
    }

    /// Kills the server and starts another; over stdio the client is another too.
    fn restart(&mut self) -> Result<(), String> {
        match self.serving.take() {
            Some(serving) => {
                serving.kill()?;
                self.serving = Some(self.serve()?);
            }
            None => {
                self.client.take().map(Client::kill).transpose()?;
                self.client = Some(start(&self.world, &self.dtmcp)?);
            }
        }
        Ok(())
    }
}

fn regions(client: &mut Client) -> Result<Vec<Value>, String> {
    let answer = client.call("regions", json!({ "last": 100 }))?;
    answer.meta["regions"].as_array().cloned().ok_or(answer.text)
}

fn words(error: impl std::fmt::Display) -> String {
    error.to_string()
}
