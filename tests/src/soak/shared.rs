//! The shared server, killed while three agents and people work in its sessions: through the bridge, over HTTP in both
//! life cycles, and at terminals that are attached.
//!
//! Each line that is typed writes a number of its own into its session's file, so that the files tell what ran, the
//! records what was taken down of it, and the answers what was told.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};

use super::judge::{Line, Shared, judge};
use super::{ended, introduced, words};
use crate::client::{Answer, Client, World};
use crate::measure::{Web, rest};
use crate::person::{Person, wait_until};
use crate::serving::{self, Serving};
use crate::sim::Chance;

/// The agents, by how they reach the server: the bridge, HTTP with a session, HTTP without one.
const AGENTS: [&str; 3] = ["alpha", "beta", "gamma"];

/// The longest time between the calls' beginning and the server's end, in microseconds.
const CALL_US: usize = 8_000;

/// How often of a hundred times an agent calls in a round, a person types a line, and an agent tries the session in which
/// a person is in the middle of one.
const CALLS: usize = 80;
const TYPES: usize = 40;
const TRIES_HALF: usize = 15;

/// The session in which a person types a few letters at a time, and the one that prints all the while.
const HALF: &str = "half";
const PRINTS: &str = "prints";

/// A session that takes lines.
#[derive(Debug, Clone, Copy)]
pub(super) struct Room {
    pub(super) name: &'static str,
    /// What `session_create` starts.
    command: &'static str,
    /// Whether the shell tells exit statuses.
    pub(super) integrated: bool,
    repl: bool,
}

/// Those in which agents and people type whole lines, and the one with half a line.
pub(super) const ROOMS: [Room; 5] = [
    Room { name: "bash", command: "bash", integrated: true, repl: false },
    Room { name: "zsh", command: "zsh", integrated: true, repl: false },
    Room { name: "python", command: "python3 -q", integrated: false, repl: true },
    Room { name: "dash", command: "dash", integrated: false, repl: false },
    Room { name: HALF, command: "bash", integrated: true, repl: false },
];

impl Room {
    /// The line that writes a number.
    pub(super) fn line(self, n: usize) -> String {
        let name = self.name;
        if self.repl {
            format!("print(open('f-{name}', 'a').write('{n}\\n') and {n})")
        } else {
            format!("echo {n} >> f-{name}; (exit {})", n % 5)
        }
    }
}

/// Kills the shared server this often while agents and people work, and then looks whether anything was lost, done
/// twice, told wrongly or left behind.
///
/// # Errors
/// Where it was.
pub fn shared(dtmcp: &Path, kills: usize, seed: u64) -> Result<Shared, String> {
    let mut chance = Chance::new(seed);
    let mut party = Party::open(dtmcp)?;
    party.settle()?;
    let before = party.processes()?;
    for _ in 0..kills {
        party.round(&mut chance)?;
        party.settle()?;
    }
    party.end_half()?;
    party.settle()?;
    let printed = party.end_of_print()?;
    for room in ROOMS {
        let n = party.next();
        let answer = party.bridge.call("run", json!({ "session": room.name, "line": room.line(n) }))?;
        if !["finished", "prompt"].contains(&answer.status()) {
            return Err(format!("{} does not go on: {}", room.name, answer.text));
        }
        party.lines.push(Line { n, room, actor: AGENTS[0], answer: Some(answer) });
    }
    party.same_processes(&before)?;
    let mut found = judge(&party.world, &party.lines)?;
    (found.printed, found.bridge_kb) = (printed, crate::measure::status(party.bridge.pid(), "VmRSS"));
    Ok(found)
}

/// All who work together.
struct Party {
    // Dropped in this order: clients before the server, all before the machine.
    people: Vec<Person>,
    bridge: Client,
    serving: Option<Serving>,
    world: World,
    dtmcp: PathBuf,
    /// The lines that were to be typed so far.
    lines: Vec<Line>,
    /// What a person has yet to type of the line in [`HALF`].
    rest: String,
    /// What a person has typed of a line elsewhere, and not submitted yet, with its session's place in [`ROOMS`].
    typed: Option<(usize, String)>,
    next: usize,
}

impl Party {
    fn open(dtmcp: &Path) -> Result<Self, String> {
        let world = serving::world()?;
        world.dot_file(".zshrc", "PS1='%% '\n")?;
        let serving = Some(serve(&world, dtmcp)?);
        let mut command = world.command(dtmcp);
        command.args(["connect", "--actor", AGENTS[0]]);
        let mut bridge = introduced(command)?;
        let mut people = Vec::new();
        let prints = [Room { name: PRINTS, command: "bash", integrated: true, repl: false }];
        for room in ROOMS.iter().chain(&prints) {
            let made = bridge.call(
                "session_create",
                json!({ "name": room.name, "command": room.command, "env": { "PS1": "$ " } }),
            )?;
            if made.is_error {
                return Err(made.text);
            }
            people.push(Person::attach(&world, room.name, 120, 40)?);
        }
        let gate = world.root().join("gate");
        let line = format!(
            "exec 9<> <(:); i=0; until [ -e {} ]; do for j in {{1..50}}; do echo L$((++i)); done; \
             read -t 0.05 -u 9; done; (exit 7)",
            gate.display()
        );
        let begun = bridge.call("run", json!({ "session": PRINTS, "line": line, "timeout": 3 }))?;
        if begun.status() != "running" {
            return Err(format!("the program that prints: {}", begun.text));
        }
        let (rest, dtmcp) = (String::new(), dtmcp.to_owned());
        Ok(Self { people, bridge, serving, world, dtmcp, lines: Vec::new(), rest, typed: None, next: 0 })
    }

    fn next(&mut self) -> usize {
        self.next += 1;
        self.next
    }

    /// Calls begin, people type, the server is killed in the midst of it, and another one answers what it can.
    fn round(&mut self, chance: &mut Chance) -> Result<(), String> {
        // What people type comes to stand before the calls begin, or while no server is there.
        let first = chance.percent(50);
        if first {
            self.people_type(chance)?;
        }
        let mut over_http = Vec::new();
        let mut by_bridge = None;
        for actor in AGENTS {
            if !chance.percent(CALLS) {
                continue;
            }
            let at = if chance.percent(TRIES_HALF) { ROOMS.len() - 1 } else { chance.below(ROOMS.len() - 1) };
            let Some(room) = ROOMS.get(at).copied() else { continue };
            let n = self.next();
            let arguments = json!({ "session": room.name, "line": room.line(n) });
            if actor == AGENTS[0] {
                by_bridge = Some((self.bridge.begin("run", arguments)?, self.lines.len()));
            } else {
                let web = self.web(actor)?;
                over_http.push((std::thread::spawn(move || over(web, &arguments)), self.lines.len()));
            }
            self.lines.push(Line { n, room, actor, answer: None });
        }
        rest(Duration::from_micros(chance.below(CALL_US) as u64));
        if let Some(serving) = self.serving.take() {
            serving.kill()?;
        }
        if !first {
            self.people_type(chance)?;
        }
        self.serving = Some(serve(&self.world, &self.dtmcp)?);
        for (thread, at) in over_http {
            let answer = thread.join().map_err(|_| "a client failed".to_owned())?;
            self.lines[at].answer = answer;
        }
        if let Some((id, at)) = by_bridge {
            self.lines[at].answer = Some(self.bridge.finish(id)?);
        }
        Ok(())
    }

    fn web(&self, actor: &str) -> Result<Web, String> {
        let port = self.serving.as_ref().ok_or("no server")?.port()?;
        let token = std::fs::read_to_string(self.world.state().join("token")).map_err(words)?;
        if actor == AGENTS[1] {
            Web::with_session(port, token.trim(), actor)
        } else {
            Web::stateless(port, token.trim(), actor)
        }
    }

    /// One person types a line somewhere, another a few letters more.
    fn people_type(&mut self, chance: &mut Chance) -> Result<(), String> {
        if chance.percent(TYPES) {
            let at = chance.below(ROOMS.len() - 1);
            let (room, n) = (ROOMS[at], self.next());
            self.people[at].types(&room.line(n))?;
            let shown = || self.on_line(room.name).is_some_and(|line| line.trim_end().ends_with(&room.line(n)));
            wait_until("what a person types is shown", shown)
                .map_err(|error| format!("{error}: {n}; {}", self.shown(room.name)))?;
            self.typed = Some((at, room.line(n)));
            self.lines.push(Line { n, room, actor: "human", answer: None });
        }
        if chance.percent(TYPES) {
            let at = ROOMS.len() - 1;
            if self.rest.is_empty() {
                let (room, n) = (ROOMS[at], self.next());
                self.lines.push(Line { n, room, actor: "human", answer: None });
                // Of another length than an agent's, which may be under way as the server is killed.
                self.rest = format!("{} # by hand\r", room.line(n));
            }
            let letters: String = self.rest.drain(..(1 + chance.below(12)).min(self.rest.len())).collect();
            self.people[at].types(&letters)?;
        }
        Ok(())
    }

    /// The person ends the line that was begun.
    fn end_half(&mut self) -> Result<(), String> {
        let rest = std::mem::take(&mut self.rest);
        self.people[ROOMS.len() - 1].types(&rest)
    }

    /// Waits until all that was typed has run: nobody types on into what may still be on its way.
    fn settle(&mut self) -> Result<(), String> {
        if let Some((at, text)) = self.typed.take() {
            // Whoever types looks at the line before they press Enter.
            let stands = || self.on_line(ROOMS[at].name).is_some_and(|line| is_on_its_own(&line, &text));
            wait_until("what a person typed stands there alone", stands)
                .map_err(|error| format!("{error}: {text}; {}", self.shown(ROOMS[at].name)))?;
            self.people[at].types("\r")?;
        }
        for room in ROOMS {
            let last = self.lines.iter().rev().find(|line| line.room.name == room.name && line.actor == "human");
            if let Some(line) = last.filter(|_| room.name != HALF || self.rest.is_empty()) {
                let (path, number) = (self.world.user_home().join(format!("f-{}", room.name)), line.n.to_string());
                let ran = || std::fs::read_to_string(&path).is_ok_and(|text| text.lines().any(|line| line == number));
                wait_until(&format!("what a person typed in {} runs: {number}", room.name), ran)
                    .map_err(|error| format!("{error}; {}", self.shown(room.name)))?;
            }
            ended(&mut self.bridge, &json!({ "session": room.name }))?;
        }
        Ok(())
    }

    /// The line that the cursor of a session is on.
    fn on_line(&self, session: &str) -> Option<String> {
        let row = self.world.tmux(&["display-message", "-p", "-t", session, "#{cursor_y}"]).ok()?;
        let row = row.trim();
        self.world.tmux(&["capture-pane", "-p", "-S", row, "-E", row, "-t", session]).ok()
    }

    /// What stands on a session's screen, for whoever looks into a failure.
    fn shown(&self, session: &str) -> String {
        let screen = self.world.tmux(&["capture-pane", "-p", "-S", "-20", "-t", session]).unwrap_or_default();
        let last = self.lines.iter().rev().take(8).map(|line| {
            let answer = line.answer.as_ref().map(|answer| answer.text.as_str());
            format!("{} of {} in {}: {answer:?}\n", line.n, line.actor, line.room.name)
        });
        format!("on its screen:\n{}\n{}", screen.trim_end(), last.collect::<String>())
    }

    /// Lets the program that prints end; gives how many lines it printed, each there once and in order.
    fn end_of_print(&mut self) -> Result<usize, String> {
        std::fs::write(self.world.root().join("gate"), "").map_err(words)?;
        let answer = ended(&mut self.bridge, &json!({ "session": PRINTS, "timeout": 60 }))?;
        let page = self.world.state().join("sessions").join(PRINTS).join("session.txt");
        let page = std::fs::read_to_string(page).map_err(words)?;
        let numbers: Vec<usize> = page.lines().filter_map(|line| line.strip_prefix('L')?.parse().ok()).collect();
        let told = answer.meta["lines"].as_u64().and_then(|lines| usize::try_from(lines).ok());
        if !numbers.iter().copied().eq(1..=numbers.len()) || answer.exit() != Some(7) || told != Some(numbers.len()) {
            return Err(format!("{} lines, and not each once and in order: {}", numbers.len(), answer.text));
        }
        Ok(numbers.len())
    }

    /// The processes of this world other than the server, by name: how many, and how much they have open. A control
    /// client is another for each server, and has what tmux had free.
    fn processes(&self) -> Result<BTreeMap<String, (usize, usize)>, String> {
        let server = self.serving.as_ref().ok_or("no server")?.pid();
        let root = self.world.root().display().to_string();
        let mut found: BTreeMap<String, (usize, usize)> = BTreeMap::new();
        for entry in std::fs::read_dir("/proc").map_err(words)?.flatten() {
            let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else { continue };
            let environ = std::fs::read(entry.path().join("environ")).unwrap_or_default();
            if pid == server || memchr::memmem::find(&environ, root.as_bytes()).is_none() {
                continue;
            }
            let name = std::fs::read_to_string(entry.path().join("comm")).unwrap_or_default().trim().to_owned();
            let open = std::fs::read_dir(entry.path().join("fd")).map_or(0, Iterator::count);
            let counted = if name == "tmux: client" { 0 } else { open };
            let all = found.entry(name).or_default();
            *all = (all.0 + 1, all.1 + counted);
        }
        Ok(found)
    }

    /// Waits until as many processes are there as before, and have as much open.
    fn same_processes(&self, before: &BTreeMap<String, (usize, usize)>) -> Result<(), String> {
        let mut now = BTreeMap::new();
        let same = wait_until("the processes are as many as before", || {
            now = self.processes().unwrap_or_default();
            now == *before
        });
        same.map_err(|error| format!("{error}: {before:?}, and now {now:?}"))
    }
}

/// Whether a line is a prompt with this text.
fn is_on_its_own(line: &str, text: &str) -> bool {
    let prompt = line.trim_end().strip_suffix(text);
    prompt.is_some_and(|prompt| ["$", "#", "%", ">"].iter().any(|end| prompt.trim_end().ends_with(end)))
}

/// One call over HTTP; nothing where the server went away in it.
fn over(mut web: Web, arguments: &Value) -> Option<Answer> {
    web.call("run", arguments).ok().map(|result| Answer::of(&result))
}

fn serve(world: &World, dtmcp: &Path) -> Result<Serving, String> {
    let mut command: Command = world.command(dtmcp);
    command.args(["serve", "--tcp", "0"]);
    Serving::spawn(command, world.root().join("docent-terminal-mcp/server.sock"))
}
