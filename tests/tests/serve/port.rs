//! The TCP port against everyone who should not get through: each route, with each kind of wrong request.

use std::collections::VecDeque;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;

use dtmcp_tests::client::World;
use dtmcp_tests::person::wait_until;
use dtmcp_tests::serving::{self, MCP, Serving, hello, raw_port};

use super::{Row, Tested, holds};

pub(crate) const ROWS: &[Row] = &[
    ("every_route_asks_for_the_token", &[], every_route_asks_for_the_token),
    ("other_names_and_pages_are_refused", &[], other_names_and_pages_are_refused),
    ("the_token_is_made_once_and_kept_private", &[], the_token_is_made_once_and_kept_private),
    ("bodies_have_limits", &[], bodies_have_limits),
    ("requests_cannot_be_smuggled", &[], requests_cannot_be_smuggled),
    ("clients_that_say_nothing_hold_nobody_up", &[], clients_that_say_nothing_hold_nobody_up),
    ("idle_connections_make_way", &[], idle_connections_make_way),
];

/// Every way in, and what is answered there without a token.
const ROUTES: &[(&str, &str, u16)] = &[
    ("GET", "/health", 200),
    ("HEAD", "/health", 200),
    ("OPTIONS", "/health", 405),
    ("POST", "/health", 405),
    ("POST", "/mcp", 401),
    ("GET", "/mcp", 401),
    ("HEAD", "/mcp", 401),
    ("DELETE", "/mcp", 401),
    ("OPTIONS", "/mcp", 401),
    ("GET", "/mcp/stdio", 401),
    ("OPTIONS", "/mcp/stdio", 401),
    ("GET", "/api/sessions", 401),
    ("HEAD", "/api/sessions", 401),
    ("OPTIONS", "/api/sessions", 401),
    ("DELETE", "/api/sessions/t1", 401),
    ("POST", "/api/sessions/t1/close", 401),
    ("OPTIONS", "/api/sessions/t1/close", 401),
    ("GET", "/", 401),
    ("GET", "/../../etc/passwd", 401),
    ("POST", "/api/sessions/..%2f..%2fetc/close", 401),
];

fn start(world: &World) -> Result<(Serving, u16, String), String> {
    let serving = Serving::start(world, &["--tcp", "0"])?;
    let port = serving.port()?;
    let token = std::fs::read_to_string(world.state().join("token")).map_err(|error| error.to_string())?;
    Ok((serving, port, token.trim().to_owned()))
}

fn every_route_asks_for_the_token() -> Tested {
    let world = serving::world()?;
    let (serving, port, token) = start(&world)?;
    let wrong = format!("Bearer {}", "0".repeat(token.len()));
    let short = format!("Bearer {}", token.get(..10).unwrap_or_default());
    let basic = format!("Basic {token}");
    let longer = format!("Bearer {token}0");
    for (method, path, expected) in ROUTES {
        for given in ["", &wrong, &short, &basic, &longer, "Bearer", &token] {
            let mut headers = MCP.to_vec();
            if !given.is_empty() {
                headers.push(("authorization", given));
            }
            let answer = serving.ask_port(port, "127.0.0.1", (method, path), &headers, &hello("x"));
            holds!(answer.status == *expected, "{method} {path} with {given:?}: {answer:?}");
            holds!(!answer.head.contains("access-control"), "{method} {path}: {answer:?}");
        }
        let url = format!("{path}?token={token}&access_token={token}");
        let answer = serving.ask_port(port, "127.0.0.1", (method, &url), &MCP, &hello("x"));
        holds!(answer.status == *expected, "{method} {url}: {answer:?}");
    }
    for good in [format!("Bearer {token}"), format!("bearer {token}")] {
        let mut headers = MCP.to_vec();
        headers.push(("authorization", &good));
        let answer = serving.ask_port(port, "localhost", ("POST", "/mcp"), &headers, &hello("x"));
        holds!(answer.status == 200 && answer.body.contains("serverInfo"), "{answer:?}");
        let answer = serving.ask_port(port, "localhost", ("GET", "/api/sessions"), &headers, "");
        holds!(answer.status == 200 && answer.json()["sessions"].is_array(), "{answer:?}");
        for path in ["/", "/mcp/stdio", "/api/sessions/../../etc/passwd/close", "/api/sessions/..%2f..%2fetc/close"] {
            let answer = serving.ask_port(port, "localhost", ("POST", path), &headers, "{}");
            holds!(answer.status == 404, "{path}: {answer:?}");
        }
    }
    Ok(())
}

fn other_names_and_pages_are_refused() -> Tested {
    let world = serving::world()?;
    let (serving, port, token) = start(&world)?;
    let token = format!("Bearer {token}");
    let with = |more: &[(&'static str, &'static str)]| {
        let mut headers = MCP.to_vec();
        headers.push(("authorization", token.as_str()));
        headers.extend_from_slice(more);
        headers
    };
    for (method, path, _) in ROUTES {
        for host in ["evil.example", "evil.example:8766", "127.0.0.1.evil.example", ""] {
            for headers in [with(&[]), MCP.to_vec()] {
                let answer = serving.ask_port(port, host, (method, path), &headers, &hello("x"));
                holds!(answer.status == 403, "{method} {path} for {host:?}: {answer:?}");
            }
        }
        for origin in ["http://evil.example", "null", "http://localhost.evil.example", "file://"] {
            for headers in [with(&[("origin", origin)]), vec![("origin", origin)]] {
                let answer = serving.ask_port(port, "localhost", (method, path), &headers, &hello("x"));
                holds!(answer.status == 403, "{method} {path} from {origin:?}: {answer:?}");
            }
        }
        let upgrade = with(&[("origin", "http://evil.example"), ("connection", "upgrade"), ("upgrade", "websocket")]);
        let answer = serving.ask_port(port, "evil.example", (method, path), &upgrade, "");
        holds!(answer.status == 403, "{method} {path}: {answer:?}");
    }
    let own = with(&[("origin", "http://localhost:3000")]);
    holds!(serving.ask_port(port, "[::1]:80", ("POST", "/mcp"), &own, &hello("x")).status == 200, "its own page");
    // The line of a request can name a host as well.
    let absolute =
        format!("GET http://evil.example/health HTTP/1.1\r\nhost: localhost:{port}\r\nconnection: close\r\n\r\n");
    holds!(raw_port(port, absolute.as_bytes()).status == 403, "an absolute form");
    holds!(raw_port(port, b"GET /health HTTP/1.1\r\nconnection: close\r\n\r\n").status == 403, "no host");
    Ok(())
}

fn the_token_is_made_once_and_kept_private() -> Tested {
    use std::os::unix::fs::PermissionsExt as _;
    let world = serving::world()?;
    let binary = dtmcp_tests::binary::dtmcp()?;
    let ask = || world.command(&binary).arg("token").output().map_err(|error| error.to_string());
    let printed = String::from_utf8_lossy(&ask()?.stdout).trim().to_owned();
    let (serving, _, token) = start(&world)?;
    holds!(printed == token && token.len() == 64, "{printed:?} {token:?}");
    holds!(!serving.said().contains(&token), "it is in no log");
    serving.stop()?;
    let path = world.state().join("token");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).map_err(|error| error.to_string())?;
    let refused = Serving::start_only(&world, &["--tcp", "0"]).err().unwrap_or_default();
    holds!(refused.contains("0644"), "{refused}");
    let printed = ask()?;
    holds!(!printed.status.success() && printed.stdout.is_empty(), "{printed:?}");
    Ok(())
}

fn bodies_have_limits() -> Tested {
    let world = serving::world()?;
    let (serving, port, token) = start(&world)?;
    let token = format!("Bearer {token}");
    let mut headers = MCP.to_vec();
    headers.push(("authorization", &token));
    let head = format!(
        "POST /mcp HTTP/1.1\r\nhost: localhost\r\nauthorization: {token}\r\ncontent-type: application/json\r\n"
    );
    // It is refused by its length, before any of it is there.
    let answer = raw_port(port, format!("{head}content-length: 9437184\r\n\r\n").as_bytes());
    holds!(answer.status == 413, "{answer:?}");
    let large = " ".repeat(9 * 1024 * 1024);
    // Without a length, in one piece.
    let chunked = format!("{head}transfer-encoding: chunked\r\n\r\n{:x}\r\n{large}\r\n0\r\n\r\n", large.len());
    let answer = raw_port(port, chunked.as_bytes());
    holds!(answer.status == 413 || answer.status == 0, "{answer:?}");
    let deep = "[".repeat(100_000);
    let answer = serving.ask_port(port, "localhost", ("POST", "/mcp"), &headers, &deep);
    holds!(answer.status == 400 && answer.json()["error"]["code"] == -32700, "{answer:?}");
    let answer = serving.ask_port(port, "localhost", ("POST", "/api/sessions/t1/close"), &headers, &deep);
    holds!(answer.status == 400, "{answer:?}");
    for (length, status) in [(64_000, 200), (65_600, 431), (70_000, 431), (1_000_000, 431)] {
        let long = "a".repeat(length);
        let answer = serving.ask_port(port, "localhost", ("GET", "/health"), &[("x-long", &long)], "");
        holds!(answer.status == status, "a line of {length} bytes: {answer:?}");
    }
    for (lines, status) in [(90, 200), (110, 431)] {
        let many = vec![("x-many", "a"); lines];
        let answer = serving.ask_port(port, "localhost", ("GET", "/health"), &many, "");
        holds!(answer.status == status, "{lines} lines: {answer:?}");
    }
    let plain = [("authorization", token.as_str()), ("content-type", "text/plain")];
    let answer = serving.ask_port(port, "localhost", ("POST", "/mcp"), &plain, &hello("x"));
    holds!((400..500).contains(&answer.status), "a form of a web page: {answer:?}");
    let answer = serving.ask_port(port, "localhost", ("POST", "/api/sessions/t1/close"), &plain, "{}");
    holds!(answer.status == 415, "{answer:?}");
    for name in ["a b", "a\u{1}", "\u{e9}", &"x".repeat(65)] {
        let mut named = headers.clone();
        named.push(("x-terminal-actor", name));
        let answer = serving.ask_port(port, "localhost", ("POST", "/mcp"), &named, &hello("x"));
        holds!(answer.status == 400, "{name:?}: {answer:?}");
    }
    holds!(serving.health().status == 200, "it still serves");
    Ok(())
}

fn requests_cannot_be_smuggled() -> Tested {
    let world = serving::world()?;
    let (serving, port, token) = start(&world)?;
    let head = format!("host: localhost\r\nauthorization: Bearer {token}\r\n");
    let behind = format!("GET /api/sessions HTTP/1.1\r\n{head}\r\n");
    for lengths in [
        "content-length: 4\r\ntransfer-encoding: chunked\r\n",
        "transfer-encoding: chunked\r\ncontent-length: 4\r\n",
        "content-length: 5\r\ncontent-length: 6\r\n",
        "transfer-encoding: identity\r\n",
    ] {
        let answer = raw_port(port, format!("POST /mcp HTTP/1.1\r\n{head}{lengths}\r\n0\r\n\r\n{behind}").as_bytes());
        let all = format!("{}{}", answer.head, answer.body);
        holds!(!all.contains("200 OK") && !all.contains("\"sessions\""), "{lengths:?}: {answer:?}");
    }
    holds!(serving.health().status == 200, "it still serves");
    Ok(())
}

/// A client that connects and sends this much.
fn silent(port: u16, bytes: &[u8]) -> Result<TcpStream, String> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).map_err(|error| error.to_string())?;
    stream.write_all(bytes).map_err(|error| error.to_string())?;
    Ok(stream)
}

/// Waits until the server has closed a connection.
fn closed(mut stream: TcpStream) -> Result<(), String> {
    stream.set_read_timeout(Some(std::time::Duration::from_secs(60))).map_err(|error| error.to_string())?;
    let mut rest = Vec::new();
    match stream.read_to_end(&mut rest) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => Ok(()),
        Err(error) => Err(format!("it is still open: {error}")),
    }
}

fn clients_that_say_nothing_hold_nobody_up() -> Tested {
    let world = serving::world()?;
    let (serving, port, token) = start(&world)?;
    let mut idle = Vec::new();
    let first = silent(port, b"GET /health HT")?;
    let nothing = silent(port, b"")?;
    for _ in 0..300 {
        idle.push(silent(port, b"GET /health HT")?);
    }
    // Bodies that do not come, with a token that is right.
    let head = format!(
        "POST /mcp HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {token}\r\ncontent-length: 100\r\n\r\n{{"
    );
    let body = silent(port, head.as_bytes())?;
    for _ in 0..50 {
        idle.push(silent(port, head.as_bytes())?);
    }
    let token = format!("Bearer {token}");
    let mut headers = MCP.to_vec();
    headers.push(("authorization", &token));
    for _ in 0..5 {
        holds!(serving.ask_port(port, "localhost", ("GET", "/health"), &[], "").status == 200, "the port");
        holds!(serving.ask_port(port, "localhost", ("POST", "/mcp"), &headers, &hello("x")).status == 200, "a client");
        holds!(serving.health().status == 200, "the socket");
    }
    // A head that does not begin, one that does not end and a body that does not come cost their connection in the end.
    closed(first)?;
    closed(nothing)?;
    closed(body)
}

/// More connections than there are places on the port, and on the socket: those that say nothing make way, the oldest
/// first, and a stream of news never does.
fn idle_connections_make_way() -> Tested {
    // Each of them is a file of this process's too.
    dtmcp::descriptors::raise();
    let world = serving::world()?;
    let (serving, port, token) = start(&world)?;
    let token = format!("Bearer {token}");
    let mut headers = MCP.to_vec();
    headers.push(("authorization", &token));
    let begun = serving.ask("POST", "/mcp", &MCP, &hello("x"));
    let session = begun.header("mcp-session-id").ok_or_else(|| format!("{begun:?}"))?.to_owned();
    let mut of_session = MCP.to_vec();
    of_session.push(("mcp-session-id", &session));
    let listens = serving.stream("GET", "/mcp", &of_session, "")?;
    wait_until("it listens", || listens.heard().contains("200 OK"))?;
    let mut bridged = Serving::client(&world, None)?;
    let mut strangers = VecDeque::new();
    for _ in 0..1300 {
        strangers.push_back(silent(port, b"")?);
    }
    let mut own = VecDeque::new();
    for _ in 0..700 {
        own.push_back(UnixStream::connect(serving.socket()).map_err(|error| error.to_string())?);
    }
    holds!(serving.ask_port(port, "localhost", ("POST", "/mcp"), &headers, &hello("y")).status == 200, "the port");
    holds!(serving.health().status == 200, "the socket");
    holds!(bridged.request("tools/list", serde_json::json!({}))?["result"]["tools"].is_array(), "the bridge");
    let second = serving.ask("POST", "/mcp", &of_session, r#"{"jsonrpc":"2.0","id":9,"method":"ping"}"#);
    holds!(second.status == 200, "the session goes on: {second:?}");
    closed(strangers.pop_front().ok_or("none")?)?;
    let mut first = own.pop_front().ok_or("none")?;
    first.set_read_timeout(Some(std::time::Duration::from_secs(60))).map_err(|error| error.to_string())?;
    holds!(first.read(&mut [0; 1]).is_ok_and(|length| length == 0), "the oldest has made way");
    Ok(())
}
