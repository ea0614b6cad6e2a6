//! MCP over HTTP, both life cycles, and what agents are called there.

use dtmcp_tests::serving::{self, Http, MCP, Serving, hello};
use serde_json::{Value, json};

use super::{Row, Tested, holds};

pub(crate) const ROWS: &[Row] = &[
    ("the_older_life_cycle", &[], the_older_life_cycle),
    ("the_life_cycle_without_sessions", &["tmux", "bash"], the_life_cycle_without_sessions),
    ("a_session_of_an_earlier_server_is_unknown", &[], a_session_of_an_earlier_server_is_unknown),
];

/// The message in an answer: plain JSON, or the last event that has data.
fn message(answer: &Http) -> Value {
    let events = answer.body.lines().filter_map(|line| line.strip_prefix("data:"));
    let last = events.filter_map(|data| serde_json::from_str(data.trim()).ok()).next_back();
    last.unwrap_or_else(|| answer.json())
}

fn the_older_life_cycle() -> Tested {
    let world = serving::world()?;
    let serving = Serving::start(&world, &[])?;
    let begun = serving.ask("POST", "/mcp", &MCP, &hello("x"));
    let session = begun.header("mcp-session-id").ok_or_else(|| format!("{begun:?}"))?.to_owned();
    let mut headers = MCP.to_vec();
    headers.push(("mcp-session-id", &session));
    headers.push(("mcp-protocol-version", "2025-06-18"));
    let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string();
    holds!(serving.ask("POST", "/mcp", &headers, &ready).status == 202, "a notification");
    let list = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"}).to_string();
    let answer = serving.ask("POST", "/mcp", &headers, &list);
    holds!(message(&answer)["result"]["tools"].is_array(), "{answer:?}");
    holds!(serving.ask("DELETE", "/mcp", &headers, "").status < 300, "it ends");
    holds!(serving.ask("POST", "/mcp", &headers, &list).status == 404, "and is over");
    holds!(serving.ask("POST", "/health", &[], "").status == 405, "another method");
    Ok(())
}

/// A call of the newest revision, as its clients send it.
fn call(serving: &Serving, actor: Option<&str>, tool: &str, arguments: &Value) -> Http {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "probe", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({"name": tool, "arguments": arguments, "_meta": meta});
    let body = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params}).to_string();
    let mut headers = MCP.to_vec();
    headers.extend([("mcp-protocol-version", "2026-07-28"), ("mcp-method", "tools/call"), ("mcp-name", tool)]);
    headers.extend(actor.map(|actor| ("x-terminal-actor", actor)));
    serving.ask("POST", "/mcp", &headers, &body)
}

fn the_life_cycle_without_sessions() -> Tested {
    let world = serving::world()?;
    let serving = Serving::start(&world, &[])?;
    let opened = call(&serving, Some("open-webui"), "session_create", &json!({"name": "t1"}));
    holds!(message(&opened)["result"]["isError"] != true && opened.status == 200, "{opened:?}");
    let ran = message(&call(&serving, None, "run", &json!({"line": "echo hel''lo"})));
    holds!(ran["result"]["content"][0]["text"].as_str().is_some_and(|text| text.contains("hello")), "{ran}");
    let regions = message(&call(&serving, None, "regions", &json!({})));
    let actor = regions.pointer("/result/_meta/dtmcp~1reply/regions/0/actor");
    holds!(actor == Some(&json!("probe")), "{regions}");
    let sessions = serving.ask("GET", "/api/sessions", &[], "").json();
    holds!(sessions["sessions"][0]["actor"] == "open-webui", "{sessions}");
    let log = std::fs::read_to_string(world.state().join("calls.log")).map_err(|error| error.to_string())?;
    let agents: Vec<Value> =
        log.lines().filter_map(|line| Some(serde_json::from_str::<Value>(line).ok()?["agent"].clone())).collect();
    holds!(agents == [json!("open-webui"), json!("probe"), json!("probe")], "{log}");
    Ok(())
}

fn a_session_of_an_earlier_server_is_unknown() -> Tested {
    let world = serving::world()?;
    let first = Serving::start(&world, &[])?;
    let begun = first.ask("POST", "/mcp", &MCP, &hello("x"));
    let session = begun.header("mcp-session-id").ok_or_else(|| format!("{begun:?}"))?.to_owned();
    first.kill()?;
    let second = Serving::start(&world, &[])?;
    let mut headers = MCP.to_vec();
    headers.push(("mcp-session-id", &session));
    let list = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"}).to_string();
    let answer = second.ask("POST", "/mcp", &headers, &list);
    // What tells a client to begin anew.
    holds!(answer.status == 404, "{answer:?}");
    Ok(())
}
