//! The bridge against servers that stay away, break off or change, and messages of every size through it. Where a real
//! server does not do that on demand, the test takes its place at the socket.

use std::io::{BufRead as _, BufReader, Lines, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};

use dtmcp_tests::client::{Client, World};
use dtmcp_tests::person::wait_until;
use dtmcp_tests::serving::{self, Serving};
use serde_json::{Value, json};

use super::bridge::bare;
use super::{Row, Tested, holds};

pub(crate) const ROWS: &[Row] = &[
    ("a_server_that_stays_away_is_given_up", &[], a_server_that_stays_away_is_given_up),
    ("half_a_line_is_no_line", &[], half_a_line_is_no_line),
    ("a_server_that_refuses_is_not_asked_again", &[], a_server_that_refuses_is_not_asked_again),
    ("messages_of_every_size_pass", &["tmux", "bash"], messages_of_every_size_pass),
    ("new_tools_are_announced", &[], new_tools_are_announced),
];

/// Where the bridge looks for a server.
fn socket(world: &World) -> Result<UnixListener, String> {
    let dir = world.root().join("docent-terminal-mcp");
    std::fs::create_dir(&dir).map_err(|error| error.to_string())?;
    UnixListener::bind(dir.join("server.sock")).map_err(|error| error.to_string())
}

/// A bridge's connection, seen from the server's end.
struct Joined {
    stream: UnixStream,
    lines: Lines<BufReader<UnixStream>>,
}

impl Joined {
    /// Takes the next connection and upgrades it; `tools` is what tells the server's tools from another's.
    fn accept(server: &UnixListener, tools: &str) -> Result<Self, String> {
        let (stream, _) = server.accept().map_err(|error| error.to_string())?;
        let lines = BufReader::new(stream.try_clone().map_err(|error| error.to_string())?).lines();
        let mut joined = Self { stream, lines };
        while !joined.next()?.is_empty() {}
        joined.write(&format!("HTTP/1.1 101 Switching Protocols\r\nx-terminal-tools: {tools}\r\n\r\n"))?;
        Ok(joined)
    }

    fn next(&mut self) -> Result<String, String> {
        self.lines.next().and_then(Result::ok).ok_or_else(|| "the bridge left".to_owned())
    }

    fn write(&mut self, text: &str) -> Result<(), String> {
        self.stream.write_all(text.as_bytes()).map_err(|error| error.to_string())
    }

    fn answer(&mut self, id: u64, result: &Value) -> Result<(), String> {
        self.write(&format!("{}\n", json!({"jsonrpc": "2.0", "id": id, "result": result})))
    }
}

fn a_server_that_stays_away_is_given_up() -> Tested {
    let world = serving::world()?;
    let serving = Serving::start(&world, &[])?;
    let mut client = Serving::client(&world, None)?;
    serving.kill()?;
    // Asked while there is none: answered when it is given up, so that nobody waits for ever.
    // A question that comes before the bridge knows of the end is lost with the server, and it says to ask again.
    let ask = |client: &mut Client| {
        let id = client.ask("tools/list", json!({}))?;
        let answer = client.answer(id)?;
        Ok::<String, String>(answer["error"]["message"].as_str().unwrap_or_default().to_owned())
    };
    let mut why = ask(&mut client)?;
    if why.contains("ask again") {
        why = ask(&mut client)?;
    }
    holds!(why.contains("dtmcp serve") && why.contains("server.sock"), "{why}");
    wait_until("the bridge ends", || client.ended().is_ok_and(|ended| ended.is_some()))?;
    holds!(client.ended()? != Some(Some(0)), "it could not go on");
    Ok(())
}

fn half_a_line_is_no_line() -> Tested {
    let world = serving::world()?;
    let server = socket(&world)?;
    let mut client = bare(&world)?;
    let hello = client.ask("initialize", json!({"protocolVersion": "2025-11-25", "capabilities": {}}))?;
    let mut first = Joined::accept(&server, "1")?;
    first.next()?;
    first.answer(hello, &json!({}))?;
    client.answer(hello)?;
    let call = client.ask("tools/call", json!({"name": "run", "arguments": {"line": "make"}}))?;
    first.next()?;
    // It goes away in the middle of its answer.
    first.write("{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"content\":[{\"type\":\"te")?;
    drop(first);
    let lost = client.answer(call)?;
    let text = lost.pointer("/result/content/0/text").and_then(Value::as_str).unwrap_or_default();
    holds!(text.contains("was not repeated"), "{lost}");
    let mut second = Joined::accept(&server, "1")?;
    holds!(second.next()?.contains("initialize"), "it introduces its client again");
    second.answer(hello, &json!({}))?;
    let list = client.ask("tools/list", json!({}))?;
    holds!(second.next()?.contains("tools/list"), "the call is not asked again");
    second.answer(list, &json!({"tools": []}))?;
    holds!(client.answer(list)?["result"]["tools"].is_array(), "it goes on");
    Ok(())
}

fn a_server_that_refuses_is_not_asked_again() -> Tested {
    let world = serving::world()?;
    let server = socket(&world)?;
    let mut client = bare(&world)?;
    let hello = client.ask("initialize", json!({"protocolVersion": "2025-11-25", "capabilities": {}}))?;
    let (mut stream, _) = server.accept().map_err(|error| error.to_string())?;
    stream.write_all(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n").map_err(|error| error.to_string())?;
    let answer = client.answer(hello)?;
    holds!(answer["error"]["message"].as_str().is_some_and(|why| why.contains("no dtmcp server")), "{answer}");
    wait_until("the bridge ends", || client.ended().is_ok_and(|ended| ended.is_some()))?;
    Ok(())
}

fn messages_of_every_size_pass() -> Tested {
    let world = serving::world()?;
    let serving = Serving::start(&world, &[])?;
    let mut client = Serving::client(&world, None)?;
    client.call("session_create", json!({"name": "t1", "command": "cat"}))?;
    for size in [0, 1, 4_095, 70_000, 900_000] {
        let text = client.call("guide", json!({"topic": "x".repeat(size)}))?;
        holds!(text.is_error || size == 0, "{size}: {}", text.text.len());
    }
    let long =
        client.ask("tools/call", json!({"name": "guide", "arguments": {"topic": "x".repeat(17 * 1024 * 1024)}}))?;
    wait_until("it is refused", || {
        // Its id is in the part that nobody reads.
        client.messages().iter().any(|message| message["error"]["code"] == -32600 && message["id"].is_null())
    })?;
    holds!(client.call("session_list", json!({}))?.text.contains("t1"), "it goes on after {long}");
    holds!(serving.health().status == 200, "and so does the server");
    Ok(())
}

/// A server with other tools, as a newer version has them, in place of the first.
fn new_tools_are_announced() -> Tested {
    let world = serving::world()?;
    let server = socket(&world)?;
    let mut client = bare(&world)?;
    let hello = client.ask("initialize", json!({"protocolVersion": "2025-11-25", "capabilities": {}}))?;
    let mut introduced = Vec::new();
    for tools in ["1", "1", "2"] {
        let mut joined = Joined::accept(&server, tools)?;
        introduced.push(joined.next()?);
        joined.answer(hello, &json!({"tools": tools}))?;
        if tools == "2" {
            wait_until("the tools are announced", || !client.notifications().is_empty())?;
        } else if introduced.len() == 1 {
            client.answer(hello)?;
        }
    }
    holds!(introduced.windows(2).all(|two| two[0] == two[1]), "each hears the same: {introduced:?}");
    let told = client.notifications();
    holds!(told.len() == 1 && told[0]["method"] == "notifications/tools/list_changed", "{told:?}");
    Ok(())
}
