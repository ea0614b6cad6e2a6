//! The real program, as a client starts it.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

/// The program with no environment but what is given.
fn program(environment: &[(&str, &str)]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_dtmcp-under-test"))
        .env_clear()
        .envs(environment.iter().copied())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Writes these requests, closes, and gives every answer, what was said beside, and whether it ended well.
fn converse(environment: &[(&str, &str)], requests: &[Value]) -> (Vec<Value>, String, bool) {
    let mut child = program(environment);
    let mut input = child.stdin.take().unwrap();
    for request in requests {
        // A server that has answered enough may be gone already.
        drop(writeln!(input, "{request}"));
    }
    drop(input);
    let output = child.wait_with_output().unwrap();
    let answers = output.stdout.lines().map(|line| serde_json::from_str(&line.unwrap()).unwrap()).collect();
    (answers, String::from_utf8(output.stderr).unwrap(), output.status.success())
}

fn initialize(id: i64) -> Value {
    let info = json!({"name": "drive", "version": "1"});
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info});
    json!({"jsonrpc": "2.0", "id": id, "method": "initialize", "params": params})
}

#[test]
fn a_server_that_cannot_work_says_why_to_the_first_request() {
    let (answers, errors, fine) = converse(&[], &[initialize(1)]);
    assert_eq!(answers.len(), 1);
    assert_eq!(answers[0]["id"], 1);
    assert!(answers[0]["error"]["message"].as_str().unwrap().contains("HOME is not set"), "{answers:?}");
    assert!(errors.contains("HOME is not set") && !fine, "{errors}");
}

#[test]
fn a_server_that_cannot_work_answers_a_probe_and_what_comes_after_it() {
    let probe = json!({"jsonrpc": "2.0", "id": "a", "method": "server/discover", "params": {}});
    let (answers, _, _) = converse(&[], &[probe, initialize(2), initialize(3)]);
    let ids: Vec<&Value> = answers.iter().map(|answer| &answer["id"]).collect();
    assert_eq!(ids, [&json!("a"), &json!(2)]);
}

#[test]
fn a_server_that_cannot_work_ends_with_its_client() {
    let (answers, _, fine) = converse(&[], &[]);
    assert!(answers.is_empty() && !fine);
}

#[test]
fn version_and_help_go_to_standard_output() {
    for (argument, expected) in [("--version", env!("CARGO_PKG_VERSION")), ("--help", "DOCENT_TERMINAL_MCP_HOME")] {
        let output = Command::new(env!("CARGO_BIN_EXE_dtmcp-under-test")).arg(argument).output().unwrap();
        assert!(output.status.success());
        assert!(String::from_utf8(output.stdout).unwrap().contains(expected), "{argument}");
    }
    let output = Command::new(env!("CARGO_BIN_EXE_dtmcp-under-test")).arg("--nonsense").output().unwrap();
    assert!(!output.status.success() && output.stdout.is_empty() && !output.stderr.is_empty());
}

#[test]
fn a_client_may_connect_by_sockets() {
    let (ours, theirs) = UnixStream::pair().unwrap();
    let (out, their_out) = UnixStream::pair().unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_dtmcp-under-test"))
        .env_clear()
        .stdin(Stdio::from(OwnedFd::from(theirs)))
        .stdout(Stdio::from(OwnedFd::from(their_out)))
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut write = ours.try_clone().unwrap();
    writeln!(write, "{}", initialize(5)).unwrap();
    let mut answer = String::new();
    BufReader::new(out).read_line(&mut answer).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&answer).unwrap()["id"], 5);
    assert!(!child.wait().unwrap().success());
}
