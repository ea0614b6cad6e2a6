//! The TCP port against everyone who should not get through: each route, with each kind of wrong request.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use dtmcp_tests::client::World;
use dtmcp_tests::serving::{self, MCP, Serving, hello, raw_port};

use super::{Row, Tested, holds};

pub(crate) const ROWS: &[Row] = &[
    ("every_route_asks_for_the_token", &[], every_route_asks_for_the_token),
    ("other_names_and_pages_are_refused", &[], other_names_and_pages_are_refused),
    ("the_token_is_made_once_and_kept_private", &[], the_token_is_made_once_and_kept_private),
    ("bodies_have_limits", &[], bodies_have_limits),
    ("requests_cannot_be_smuggled", &[], requests_cannot_be_smuggled),
    ("clients_that_say_nothing_hold_nobody_up", &[], clients_that_say_nothing_hold_nobody_up),
];

/// Every way in, and whether it is open without a token.
const ROUTES: &[(&str, &str, bool)] = &[
    ("GET", "/health", true),
    ("POST", "/health", false),
    ("POST", "/mcp", false),
    ("GET", "/mcp", false),
    ("DELETE", "/mcp", false),
    ("OPTIONS", "/mcp", false),
    ("GET", "/mcp/stdio", false),
    ("GET", "/api/sessions", false),
    ("DELETE", "/api/sessions/t1", false),
    ("POST", "/api/sessions/t1/close", false),
    ("OPTIONS", "/api/sessions/t1/close", false),
    ("GET", "/", false),
    ("GET", "/../../etc/passwd", false),
    ("POST", "/api/sessions/..%2f..%2fetc/close", false),
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
    for (method, path, open) in ROUTES {
        for given in ["", &wrong, &short, &basic, &longer, "Bearer", &token] {
            let mut headers = MCP.to_vec();
            if !given.is_empty() {
                headers.push(("authorization", given));
            }
            let answer = serving.ask_port(port, "127.0.0.1", (method, path), &headers, &hello("x"));
            let expected = if *open { 200 } else { 401 };
            holds!(answer.status == expected, "{method} {path} with {given:?}: {answer:?}");
            holds!(!answer.head.contains("access-control"), "{method} {path}: {answer:?}");
        }
        let url = format!("{path}?token={token}&access_token={token}");
        let answer = serving.ask_port(port, "127.0.0.1", (method, &url), &MCP, &hello("x"));
        holds!(*open || answer.status == 401, "{method} {url}: {answer:?}");
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
    holds!((400..500).contains(&answer.status), "{answer:?}");
    let answer = serving.ask_port(port, "localhost", ("POST", "/api/sessions/t1/close"), &headers, &deep);
    holds!(answer.status == 400, "{answer:?}");
    let long = "a".repeat(1_000_000);
    let answer = serving.ask_port(port, "localhost", ("GET", "/health"), &[("x-long", &long)], "");
    holds!(answer.status != 200, "{answer:?}");
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

fn clients_that_say_nothing_hold_nobody_up() -> Tested {
    let world = serving::world()?;
    let (serving, port, token) = start(&world)?;
    let mut silent = Vec::new();
    for _ in 0..300 {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).map_err(|error| error.to_string())?;
        stream.write_all(b"GET /health HT").map_err(|error| error.to_string())?;
        silent.push(stream);
    }
    // Bodies that do not come, with a token that is right.
    for _ in 0..50 {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).map_err(|error| error.to_string())?;
        let head = format!(
            "POST /mcp HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {token}\r\ncontent-length: 100\r\n\r\n{{"
        );
        stream.write_all(head.as_bytes()).map_err(|error| error.to_string())?;
        silent.push(stream);
    }
    let token = format!("Bearer {token}");
    let mut headers = MCP.to_vec();
    headers.push(("authorization", &token));
    for _ in 0..5 {
        holds!(serving.ask_port(port, "localhost", ("GET", "/health"), &[], "").status == 200, "the port");
        holds!(serving.ask_port(port, "localhost", ("POST", "/mcp"), &headers, &hello("x")).status == 200, "a client");
        holds!(serving.health().status == 200, "the socket");
    }
    // A head that does not end costs its connection in the end.
    let mut first = silent.swap_remove(0);
    first.set_read_timeout(Some(std::time::Duration::from_secs(60))).map_err(|error| error.to_string())?;
    let mut rest = Vec::new();
    holds!(first.read_to_end(&mut rest).is_ok(), "it is closed");
    Ok(())
}
