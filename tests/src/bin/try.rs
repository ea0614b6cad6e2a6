//! `contrib/try`: the main job, shown to a person. Starts the server as an MCP client would, works in a session of
//! its own, prints every call with the reply that a model reads, and ends with a failure where a reply is not what it
//! should be. State and tmux socket are in a temporary directory; nothing is left running.

#![expect(clippy::print_stdout, reason = "this program is for a person who reads its output")]

use std::io::{IsTerminal as _, Read as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use dtmcp_tests::client::{Answer, Client, World};
use serde_json::{Value, json};

fn main() -> ExitCode {
    match dtmcp().and_then(|dtmcp| show(&dtmcp)) {
        Ok(wrong) if wrong.is_empty() => {
            println!("\nEvery reply was as it should be.");
            ExitCode::SUCCESS
        }
        Ok(wrong) => {
            println!("\nNot as it should be:");
            wrong.iter().for_each(|what| println!("  {what}"));
            ExitCode::FAILURE
        }
        Err(why) => {
            println!("\nIt did not work: {why}");
            ExitCode::FAILURE
        }
    }
}

/// The command that stands beside this one.
fn dtmcp() -> Result<PathBuf, String> {
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let path = own.with_file_name("dtmcp");
    path.is_file().then_some(path).ok_or_else(|| "dtmcp is not built; run contrib/try".to_owned())
}

/// Does it all; gives what was wrong with the replies.
fn show(dtmcp: &Path) -> Result<Vec<String>, String> {
    let mut world = World::new()?;
    // The directory of the tmux socket is a temporary one, which tmux has to be told; a user of dtmcp need not.
    let prefix = format!("env TMUX_TMPDIR={}", world.root().display());
    world.env.push(("DOCENT_TERMINAL_MCP_ATTACH_PREFIX".to_owned(), prefix));
    world.env.push(("PS1".to_owned(), "\\w \\$ ".to_owned()));

    heading("A client starts the server and says hello");
    let mut visit = Visit { client: Client::start(world.command(dtmcp))?, wrong: Vec::new() };
    let hello = visit.client.initialize("try")?;
    let server = hello.pointer("/result/serverInfo").cloned().unwrap_or(Value::Null);
    println!("$ {}\n< initialize: {server}", dtmcp.display());
    visit.check("the server tells its name", server.get("name").is_some());
    let attach = work(&mut visit)?;
    programs(&mut visit)?;
    let wrong = again(visit, &world, dtmcp)?;
    how_to(dtmcp, &attach);
    let mut visit = Visit { client: Client::start(world.command(dtmcp))?, wrong };
    visit.client.initialize("try")?;
    heading("The session is closed");
    let closed = visit.call("session_close", json!({}))?;
    visit.check("the session closes", closed.status() == "ok");
    let Visit { client, wrong } = visit;
    client.leave()?;
    Ok(wrong)
}

/// Commands in a bash, and their output read back.
fn work(visit: &mut Visit) -> Result<String, String> {
    heading("A session, and commands in it");
    let made = visit.call("session_create", json!({}))?;
    visit.check("the session is open", made.status() == "ok");
    let words = made.meta.get("attach").and_then(Value::as_array).cloned().unwrap_or_default();
    let attach = words.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" ");
    visit.check("the reply tells how to attach", attach.ends_with("attach -t t1"));

    let hello = visit.run("echo \"hello from bash $BASH_VERSION\"")?;
    visit.finished("a command's status and output", &hello, 0);
    visit.check("its output", hello.output().starts_with("hello from bash "));
    let lines = visit.run("cd /tmp\npwd")?;
    visit.finished("two lines, one after the other", &lines, 0);
    visit.check("the directory stays", lines.output().ends_with("/tmp"));
    let pipe = visit.run("false | wc -l")?;
    visit.finished("a pipeline", &pipe, 0);
    visit.check("every stage's status", pipe.meta.get("pipestatus") == Some(&json!([1, 0])));
    let syntax = visit.run("echo )")?;
    visit.finished("a line that bash refuses", &syntax, 2);

    heading("Long output stays out of the way, and nothing of it is lost");
    let long = visit.run("seq 1 100000")?;
    visit.finished("a long output", &long, 0);
    visit.check("all of it is there", long.meta.get("lines") == Some(&json!(100_000)));
    visit.check("the reply is short", long.text.len() < 8000);
    let region = long.region();
    let found = visit.call("search", json!({ "pattern": "^4242\\d$", "region": region, "max_hits": 2 }))?;
    visit.check("all hits are counted", found.meta.get("total") == Some(&json!(10)));
    let end = visit.call("read", json!({ "region": region, "last_lines": 3 }))?;
    visit.check("the end can be read", end.output().ends_with("100000"));
    Ok(attach)
}

/// What does not end at once: a long command, one that asks, one that has to be interrupted.
fn programs(visit: &mut Visit) -> Result<(), String> {
    heading("A command that outlasts its call, and one that is interrupted");
    let begun = visit.call("run", json!({ "line": "sleep 1; echo built; (exit 3)", "timeout": 0.2 }))?;
    visit.check("the call ends at its timeout, the command goes on", begun.status() == "running");
    let ended = visit.call("wait", json!({ "timeout": 45 }))?;
    visit.finished("it is waited for", &ended, 3);
    visit.check("its output", ended.output() == "built");
    visit.call("run", json!({ "line": "sleep 1000", "timeout": 0.2 }))?;
    let keys = visit.call("send", json!({ "keys": ["ctrl+c"] }))?;
    visit.check("ctrl+c is pressed", !keys.is_error);
    let stopped = visit.call("wait", json!({ "timeout": 45 }))?;
    visit.finished("it was interrupted", &stopped, 130);

    heading("A program that asks");
    let asks = "read -p 'Which port? ' port; echo \"listening on $port\"";
    let asked = visit.call("run", json!({ "line": asks, "until": "port\\?" }))?;
    visit.check("the question is seen", asked.status() == "matched");
    visit.call("send", json!({ "text": "8080", "keys": ["enter"] }))?;
    let answered = visit.call("wait", json!({ "timeout": 45 }))?;
    visit.finished("it took the answer", &answered, 0);
    visit.check("what it said", answered.text.contains("listening on 8080"));
    Ok(())
}

/// The server goes, the session stays, and the next server knows all of it.
fn again(visit: Visit, world: &World, dtmcp: &Path) -> Result<Vec<String>, String> {
    heading("The server is killed and another one started: the session and its log are still there");
    let Visit { client, wrong } = visit;
    client.kill()?;
    let mut visit = Visit { client: Client::start(world.command(dtmcp))?, wrong };
    visit.client.initialize("try")?;
    let list = visit.call("session_list", json!({}))?;
    visit.check("the session is there", list.meta.pointer("/sessions/0/session").is_some() || list.text.contains("t1"));
    let regions = visit.call("regions", json!({ "last": 4 }))?;
    visit.check("and so are its commands", regions.text.contains("listening on"));
    let here = visit.run("pwd")?;
    visit.finished("and its shell, where it was", &here, 0);
    visit.check("the directory", here.output() == "/tmp");
    let Visit { client, wrong } = visit;
    client.leave()?;
    Ok(wrong)
}

/// How to watch and to register; waits for the person where there is one.
fn how_to(dtmcp: &Path, attach: &str) {
    let dtmcp = dtmcp.display();
    heading("Watch it");
    println!("This session, from another terminal (ctrl+b d leaves it again):\n\n  {attach}");
    println!("\nSessions of a registered server:\n\n  tmux -L docent-terminal-mcp attach -t t1");
    heading("Register it");
    println!("Claude Code:\n\n  claude mcp add -s user terminal -- {dtmcp}");
    println!("\nCodex:\n\n  codex mcp add terminal -- {dtmcp}");
    println!("\nHermes Agent, in ~/.hermes/config.yaml:\n\n  mcp_servers:\n    dtmcp:\n      command: {dtmcp}");
    let desktop = json!({ "mcpServers": { "terminal": { "command": dtmcp.to_string() } } });
    println!("\nClaude Desktop, in claude_desktop_config.json:\n\n  {desktop}");
    if std::io::stdin().is_terminal() && std::io::stdout().is_terminal() {
        println!("\nThe session stays open until you press Enter here.");
        // Whatever ends the wait is as good as Enter.
        drop(std::io::stdin().read(&mut [0; 256]));
    }
}

fn heading(text: &str) {
    println!("\n== {text}\n");
}

/// A client, and what was wrong so far.
struct Visit {
    client: Client,
    wrong: Vec<String>,
}

impl Visit {
    /// Calls a tool, and shows the call and what a model reads.
    fn call(&mut self, tool: &str, arguments: Value) -> Result<Answer, String> {
        println!("> {tool} {arguments}");
        let answer = self.client.call(tool, arguments)?;
        answer.text.lines().for_each(|line| println!("< {line}"));
        println!();
        Ok(answer)
    }

    fn run(&mut self, line: &str) -> Result<Answer, String> {
        self.call("run", json!({ "line": line }))
    }

    fn check(&mut self, what: &str, holds: bool) {
        if !holds {
            println!("! not so: {what}\n");
            self.wrong.push(what.to_owned());
        }
    }

    fn finished(&mut self, what: &str, answer: &Answer, exit: i64) {
        self.check(what, answer.status() == "finished" && answer.exit() == Some(exit));
    }
}
