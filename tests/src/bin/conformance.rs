//! Runs the official conformance suite of MCP, which has to be on PATH, against a shared server of its own:
//! `contrib/conformance` installs it first.
//!
//! The suite cannot bring a token, so it asks a relay in front of the port that adds it. Those of its scenarios are run
//! that need no tools or prompts of a server made for the suite.

use std::collections::BTreeSet;
use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::process::{Command, ExitCode};

use dtmcp_tests::serving::{self, Serving};

/// Scenarios, each with the checks that it says cannot be made here: they ask for tools and prompts of its own.
const SCENARIOS: &[(&str, &[&str])] = &[
    ("server-initialize", &[]),
    ("server-session-lifecycle", &[]),
    (
        "server-stateless",
        &[
            "sep-2575-server-rejects-undeclared-capability",
            "sep-2575-missing-capability-http-400",
            "sep-2575-http-server-no-independent-requests-on-stream",
            "sep-2575-server-no-log-without-loglevel",
        ],
    ),
    ("ping", &[]),
    ("tools-list", &[]),
    ("resources-list", &[]),
    ("sep-2164-resource-not-found", &[]),
    ("http-header-validation", &[]),
    ("server-sse-multiple-streams", &[]),
    ("server-sse-polling", &[]),
    ("input-required-result-unsupported-methods", &[]),
    ("dns-rebinding-protection", &[]),
    ("caching", &["sep-2549-prompts-list-caching-hints"]),
];

/// The longest head of a request that the relay passes on, in bytes.
const HEAD_MAX: usize = 64 * 1024;

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(why) => {
            say(&why);
            ExitCode::FAILURE
        }
    }
}

fn say(text: &str) {
    drop(writeln!(std::io::stdout(), "{text}"));
}

fn run() -> Result<bool, String> {
    let world = serving::world()?;
    let serving = Serving::start(&world, &["--tcp", "0"])?;
    let port = serving.port()?;
    let token = std::fs::read_to_string(world.state().join("token")).map_err(|error| error.to_string())?;
    let relay = TcpListener::bind(("127.0.0.1", 0)).map_err(|error| error.to_string())?;
    let address = relay.local_addr().map_err(|error| error.to_string())?;
    std::thread::spawn(move || accept(&relay, port, token.trim()));
    let mut fine = true;
    for (scenario, untestable) in SCENARIOS {
        let output = Command::new("conformance")
            .args(["server", "--url", &format!("http://{address}/mcp"), "--scenario", scenario])
            .output()
            .map_err(|error| format!("conformance: {error}"))?;
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let (passed, failed) = results(&said);
        let unexpected: Vec<&String> = failed.iter().filter(|check| !untestable.contains(&check.as_str())).collect();
        say(&format!("{scenario}: {passed} passed, {} not testable here", failed.len() - unexpected.len()));
        if passed == 0 || !unexpected.is_empty() {
            fine = false;
            say(&format!("FAILED: {unexpected:?}\n{said}"));
        }
    }
    Ok(fine)
}

/// How many checks of a scenario passed, and which failed.
fn results(said: &str) -> (usize, BTreeSet<String>) {
    let (mut passed, mut failed) = (0, BTreeSet::new());
    for line in said.lines() {
        let plain = without_colours(line);
        let Some((_, check)) = plain.split_once(" [") else { continue };
        let Some((name, rest)) = check.split_once(']') else { continue };
        match rest.split_whitespace().next() {
            Some("SUCCESS") => passed += 1,
            Some("FAILURE") => {
                failed.insert(name.trim().to_owned());
            }
            _ => {}
        }
    }
    (passed, failed)
}

fn without_colours(line: &str) -> String {
    let mut pieces = line.split('\u{1b}');
    let mut plain = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        plain.push_str(piece.split_once('m').map_or("", |(_, text)| text));
    }
    plain
}

/// Passes each connection's request on with the token, one request a connection.
fn accept(relay: &TcpListener, port: u16, token: &str) {
    for client in relay.incoming().map_while(Result::ok) {
        let token = token.to_owned();
        std::thread::spawn(move || drop(pass_on(client, port, &token)));
    }
}

fn pass_on(mut client: TcpStream, port: u16, token: &str) -> std::io::Result<()> {
    let mut head = Vec::new();
    let mut piece = [0; 4096];
    let end = loop {
        if let Some(end) = head.windows(4).position(|four| four == b"\r\n\r\n") {
            break end;
        }
        let length = client.read(&mut piece)?;
        if length == 0 || head.len() > HEAD_MAX {
            return Ok(());
        }
        head.extend_from_slice(piece.get(..length).unwrap_or_default());
    };
    let (lines, rest) = head.split_at(end);
    let mut server = TcpStream::connect(("127.0.0.1", port))?;
    for line in lines.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii_end) {
        if !line.to_ascii_lowercase().starts_with(b"connection:") {
            server.write_all(&[line, b"\r\n"].concat())?;
        }
    }
    server.write_all(format!("connection: close\r\nauthorization: Bearer {token}").as_bytes())?;
    server.write_all(rest)?;
    let (mut from, mut to) = (client.try_clone()?, server.try_clone()?);
    std::thread::spawn(move || drop(std::io::copy(&mut from, &mut to)));
    drop(std::io::copy(&mut server, &mut client));
    // The thread that still reads from the client has nobody left to pass it on to.
    client.shutdown(Shutdown::Both)
}
