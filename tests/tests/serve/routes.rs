//! Each route of the HTTP server with each kind of request, and what the endpoint of MCP answers to what is no message.

use dtmcp_tests::serving::{self, Http, MCP, Serving, hello, raw_port};
use serde_json::json;

use super::{Row, Tested, holds};

pub(crate) const ROWS: &[Row] = &[
    ("each_method_has_its_answer", &[], each_method_has_its_answer),
    ("each_error_of_mcp_says_what_to_do", &[], each_error_of_mcp_says_what_to_do),
    ("each_way_to_accept", &[], each_way_to_accept),
    ("requests_one_after_another", &[], requests_one_after_another),
    ("odd_names_of_sessions", &["tmux", "bash"], odd_names_of_sessions),
];

const METHODS: [&str; 7] = ["GET", "HEAD", "OPTIONS", "POST", "PUT", "DELETE", "PATCH"];

/// Methods and the status of their answers.
type Answers = &'static [(&'static str, u16)];

/// A route, the methods it has, and what each answers; all others are refused.
const ROUTES: &[(&str, &str, Answers)] = &[
    ("/health", "GET, HEAD", &[("GET", 200), ("HEAD", 200)]),
    ("/api/sessions", "GET, HEAD", &[("GET", 200), ("HEAD", 200)]),
    ("/api/sessions?closed=1", "GET, HEAD", &[("GET", 200), ("HEAD", 200)]),
    ("/api/sessions/nobody/close", "POST", &[("POST", 404)]),
    ("/mcp", "GET, POST, DELETE", &[("GET", 400), ("POST", 400), ("DELETE", 400)]),
    ("/mcp/stdio", "GET", &[("GET", 426)]),
    ("/", "", &[]),
    ("/health/", "", &[]),
    ("/HEALTH", "", &[]),
    ("//health", "", &[]),
    ("/api", "", &[]),
    ("/api/sessions/", "", &[]),
    ("/api/sessions/t1", "", &[]),
    ("/api/sessions/t1/close/", "", &[]),
    ("/mcp/", "", &[]),
];

fn each_method_has_its_answer() -> Tested {
    let world = serving::world()?;
    let serving = Serving::start(&world, &["--tcp", "0"])?;
    let port = serving.port()?;
    let token = std::fs::read_to_string(world.state().join("token")).map_err(|error| error.to_string())?;
    let token = format!("Bearer {}", token.trim());
    let mut with_token = MCP.to_vec();
    with_token.push(("authorization", &token));
    for (path, allowed, known) in ROUTES {
        for method in METHODS {
            let on_socket = serving.ask(method, path, &MCP, "");
            let on_port = serving.ask_port(port, "localhost", (method, path), &with_token, "");
            let known = known.iter().find(|(name, _)| *name == method).map(|(_, status)| *status);
            for (answer, is_socket) in [(on_socket, true), (on_port, false)] {
                // The bridge's way in is there for the user's own processes.
                let none = allowed.is_empty() || (*path == "/mcp/stdio" && !is_socket);
                let expected = if none { 404 } else { known.unwrap_or(405) };
                holds!(answer.status == expected, "{method} {path}: {answer:?}");
                holds!(answer.header("access-control-allow-origin").is_none(), "{method} {path}: {answer:?}");
                if expected == 405 {
                    let allow = answer.header("allow").map(str::to_uppercase);
                    holds!(allow.as_deref() == Some(allowed), "{method} {path}: {answer:?}");
                }
                if method == "HEAD" {
                    holds!(answer.body.is_empty(), "{path}: {answer:?}");
                } else if expected != 426 {
                    holds!(answer.json().is_object(), "{method} {path}: {answer:?}");
                }
            }
        }
    }
    Ok(())
}

/// An error of the endpoint of MCP: a JSON-RPC message with this status, code and id, which says this.
fn error(answer: &Http, status: u16, code: i64, id: &serde_json::Value, says: &str) -> Tested {
    let message = answer.json();
    holds!(answer.status == status, "expected {status}, {says:?}: {answer:?}");
    holds!(answer.header("content-type") == Some("application/json"), "{answer:?}");
    holds!(message["jsonrpc"] == "2.0" && message["error"]["code"] == code, "expected {code}: {answer:?}");
    holds!(message["id"] == *id, "expected the id {id}: {answer:?}");
    holds!(message["error"]["message"].as_str().is_some_and(|text| text.contains(says)), "{says:?}: {answer:?}");
    Ok(())
}

fn each_error_of_mcp_says_what_to_do() -> Tested {
    let world = serving::world()?;
    let serving = Serving::start(&world, &["--tcp", "0"])?;
    let ask = |more: &[(&'static str, &str)], body: &str| {
        let mut headers = MCP.to_vec();
        headers.extend_from_slice(more);
        serving.ask("POST", "/mcp", &headers, body)
    };
    let none = serde_json::Value::Null;
    let list = r#"{"jsonrpc":"2.0","id":"a","method":"tools/list"}"#;
    let begun = ask(&[], &hello("x"));
    let session = begun.header("mcp-session-id").ok_or_else(|| format!("{begun:?}"))?.to_owned();
    let of_session = [("mcp-session-id", session.as_str())];
    for (body, code, says) in [
        ("", -32700, "no JSON"),
        ("{", -32700, "no JSON"),
        ("\u{0}", -32700, "no JSON"),
        (&format!("{list} x"), -32700, "trailing"),
        (&"[".repeat(100_000), -32700, "recursion"),
        (&"{\"a\":".repeat(100_000), -32700, "recursion"),
        ("null", -32600, "no message"),
        ("{}", -32600, "no message"),
        ("[]", -32600, "no message"),
        (&format!("[{list},{list}]"), -32600, "not several in a list"),
        (r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, -32600, "no message"),
        (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, -32600, "no message"),
    ] {
        error(&ask(&[], body), 400, code, &ask_id(body), says)?;
        error(&ask(&of_session, body), 400, code, &ask_id(body), says)?;
    }
    error(&ask(&[], list), 400, -32000, &json!("a"), "initialize")?;
    error(&ask(&[("mcp-session-id", "nobody")], list), 404, -32001, &json!("a"), "Begin one with initialize")?;
    for method in ["GET", "DELETE"] {
        let mut headers = MCP.to_vec();
        error(&serving.ask(method, "/mcp", &headers, ""), 400, -32000, &none, "initialize")?;
        headers.push(("mcp-session-id", "nobody"));
        error(&serving.ask(method, "/mcp", &headers, ""), 404, -32001, &none, "Begin one with initialize")?;
    }
    for revision in ["1999-01-01", "", "2030-01-01"] {
        let answer = ask(&[of_session[0], ("mcp-protocol-version", revision)], list);
        error(&answer, 400, -32000, &json!("a"), "MCP-Protocol-Version")?;
    }
    for kind in ["text/plain", "application/x-www-form-urlencoded", "application/jsonx"] {
        let headers = [("content-type", kind), MCP[1]];
        error(&serving.ask("POST", "/mcp", &headers, list), 415, -32000, &json!("a"), "application/json")?;
    }
    error(&serving.ask("PUT", "/mcp", &MCP, ""), 405, -32000, &none, "GET, POST, DELETE")?;
    // What the guard of the port refuses is said in the same way.
    let port = serving.port()?;
    let at_port = |host: &str, more: &[(&str, &str)]| {
        let mut headers = MCP.to_vec();
        headers.extend_from_slice(more);
        serving.ask_port(port, host, ("POST", "/mcp"), &headers, list)
    };
    error(&at_port("localhost", &[]), 401, -32000, &none, "dtmcp token")?;
    error(&at_port("evil.example", &[]), 403, -32000, &none, "localhost")?;
    error(&at_port("localhost", &[("origin", "null")]), 403, -32000, &none, "web page")?;
    error(&ask(&[("x-terminal-actor", "human")], list), 400, -32000, &none, "X-Terminal-Actor")?;
    error(&ask(&[], &" ".repeat(8 * 1024 * 1024 + 1)), 413, -32000, &none, "8 MiB")
}

/// The id that an error about this body names: what can be read of it.
fn ask_id(body: &str) -> serde_json::Value {
    let id = serde_json::from_str::<serde_json::Value>(body).map(|message| message["id"].clone());
    id.unwrap_or_default()
}

fn each_way_to_accept() -> Tested {
    let world = serving::world()?;
    let serving = Serving::start(&world, &[])?;
    for (accept, status) in [
        ("application/json, text/event-stream", 200),
        ("text/event-stream;q=0.5, application/json;q=0.1", 200),
        ("*/*", 200),
        ("application/*, text/*", 200),
        ("application/json", 406),
        ("text/event-stream", 406),
        ("text/html", 406),
    ] {
        let answer = serving.ask("POST", "/mcp", &[MCP[0], ("accept", accept)], &hello("x"));
        holds!(answer.status == status, "{accept:?}: {answer:?}");
    }
    holds!(serving.ask("POST", "/mcp", &[MCP[0]], &hello("x")).status == 200, "none is all");
    let two = [MCP[0], ("accept", "application/json"), ("accept", "text/event-stream")];
    holds!(serving.ask("POST", "/mcp", &two, &hello("x")).status == 200, "in two lines");
    Ok(())
}

fn requests_one_after_another() -> Tested {
    let world = serving::world()?;
    let serving = Serving::start(&world, &["--tcp", "0"])?;
    let port = serving.port()?;
    let health = "GET /health HTTP/1.1\r\nhost: localhost\r\n";
    let last = format!("{health}connection: close\r\n\r\n");
    let answers = raw_port(port, format!("{health}\r\n{health}\r\n{last}").as_bytes());
    let all = format!("{}{}", answers.head, answers.body).to_lowercase();
    holds!(all.matches("200 ok").count() == 3 && all.matches("\"instance\"").count() == 3, "{answers:?}");
    holds!(raw_port(port, b"GET /health HTTP/1.0\r\nhost: localhost\r\n\r\n").status == 200, "HTTP/1.0");
    let token = std::fs::read_to_string(world.state().join("token")).map_err(|error| error.to_string())?;
    let token = token.trim();
    let head = format!("POST /mcp HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {token}\r\n");
    let of_mcp = format!("{head}content-type: application/json\r\naccept: */*\r\nconnection: close\r\n");
    let whole = hello("x");
    let (first, rest) = whole.split_at(20);
    let chunks = format!("{:x}\r\n{first}\r\n{:x}\r\n{rest}\r\n0\r\n\r\n", first.len(), rest.len());
    let answer = raw_port(port, format!("{of_mcp}transfer-encoding: chunked\r\n\r\n{chunks}").as_bytes());
    holds!(answer.status == 200 && answer.body.contains("serverInfo"), "in pieces: {answer:?}");
    let waits = format!("{of_mcp}expect: 100-continue\r\ncontent-length: {}\r\n\r\n{whole}", whole.len());
    let answer = raw_port(port, waits.as_bytes());
    holds!(answer.status == 100 && answer.body.contains("200 OK"), "{answer:?}");
    // A line twice is one that a proxy may read otherwise.
    for twice in ["host: localhost", "origin: http://localhost", &format!("authorization: Bearer {token}")] {
        let once = format!("GET /api/sessions HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {token}\r\n");
        let mut text = format!("{once}{twice}\r\n");
        if twice.starts_with("origin") {
            text.push_str("origin: http://localhost\r\n");
        }
        let answer = raw_port(port, format!("{text}connection: close\r\n\r\n").as_bytes());
        holds!(matches!(answer.status, 401 | 403), "{twice} twice: {answer:?}");
    }
    Ok(())
}

fn odd_names_of_sessions() -> Tested {
    let world = serving::world()?;
    let serving = Serving::start(&world, &[])?;
    let mut client = Serving::client(&world, None)?;
    client.call("session_create", json!({"name": "t1"}))?;
    client.call("session_create", json!({"name": "a_b-c"}))?;
    for name in ["t2", "..", "...", "%2e%2e", "..%2Ft1", "t1%00", "%ff", "%", "%C3%A9", "t1%20", "T1", "t1%0a", "+"] {
        let answer = serving.ask("POST", &format!("/api/sessions/{name}/close"), &MCP, "{}");
        holds!(answer.status == 404 && answer.json()["error"].is_string(), "{name:?}: {answer:?}");
    }
    let open = serving.ask("GET", "/api/sessions", &[], "").json();
    holds!(open["sessions"].as_array().map(Vec::len) == Some(2), "{open}");
    // As JavaScript's encodeURIComponent writes it.
    for name in ["a%5Fb%2dc", "%74%31"] {
        let answer = serving.ask("POST", &format!("/api/sessions/{name}/close"), &MCP, "{\"force\": true}");
        holds!(answer.status == 200 && answer.json()["closed"].is_string(), "{name:?}: {answer:?}");
    }
    Ok(())
}
