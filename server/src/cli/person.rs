//! What a person asks the shared server.

use std::io::{self, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::process::ExitCode;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use dtmcp_core::text::visible::spell_out;
use serde_json::{Value, json};

use crate::config::Config;
use crate::http::token::Token;

/// How long the server may take to answer: longer than a tmux that has been stopped takes to be given up.
const ANSWER_MAX: Duration = Duration::from_secs(60);

/// What `status` takes.
#[derive(Debug, clap::Args)]
pub(super) struct Status {
    /// Closed sessions too
    #[arg(long)]
    closed: bool,
    /// All fields as JSON
    #[arg(long)]
    json: bool,
}

/// What `close` takes.
#[derive(Debug, clap::Args)]
pub(super) struct Close {
    /// Also where somebody is attached or a command runs
    #[arg(long)]
    force: bool,
    /// The session
    name: String,
}

/// Prints the token of the port, drawing one where there is none.
pub(super) fn token() -> ExitCode {
    finish(config().and_then(|config| {
        let home = crate::store::Home::open(&config.home).map_err(|error| error.to_string())?;
        drop(home);
        let token = Token::load_or_create(&config.home.join("token")).map_err(|error| error.to_string())?;
        Ok(token.text().to_owned())
    }))
}

/// Prints every session, one a line.
pub(super) fn status(arguments: &Status) -> ExitCode {
    finish(config().and_then(|config| {
        let path = if arguments.closed { "/api/sessions?closed=1" } else { "/api/sessions" };
        let (_, answer) = ask(&config, "GET", path, None)?;
        if arguments.json {
            return Ok(answer.to_string());
        }
        let empty = Vec::new();
        let sessions = answer.get("sessions").and_then(Value::as_array).unwrap_or(&empty);
        if sessions.is_empty() {
            return Ok("no session is open".to_owned());
        }
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
        Ok(sessions.iter().map(|session| line(session, now)).collect::<Vec<_>>().join("\n"))
    }))
}

/// Closes a session.
pub(super) fn close(arguments: &Close) -> ExitCode {
    finish(config().and_then(|config| {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '+');
        if arguments.name.is_empty() || !arguments.name.chars().all(plain) {
            return Err(format!("{:?} is no name of a session", arguments.name));
        }
        let body = json!({ "force": arguments.force });
        let (status, answer) = ask(&config, "POST", &format!("/api/sessions/{}/close", arguments.name), Some(&body))?;
        let text = |field: &str| answer.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
        if status == 200 { Ok(text("closed")) } else { Err(text("error")) }
    }))
}

fn config() -> Result<Config, String> {
    Config::from_env().map_err(|error| error.to_string())
}

/// Says how it went; what a reader that has gone does not take is no fault.
fn finish(said: Result<String, String>) -> ExitCode {
    match said {
        Ok(text) => {
            drop(writeln!(io::stdout(), "{text}"));
            ExitCode::SUCCESS
        }
        Err(why) => {
            let why = spell_out(why.strip_prefix("error: ").unwrap_or(&why)).into_owned();
            drop(writeln!(io::stderr(), "dtmcp: {why}"));
            ExitCode::FAILURE
        }
    }
}

/// One session for a person: what runs, where, since when, who.
fn line(session: &Value, now: f64) -> String {
    let text = |field: &str| session.get(field).and_then(Value::as_str).unwrap_or_default();
    let mut parts = vec![format!("{}: {}", text("name"), text("command"))];
    let state = if text("runs").is_empty() { text("state") } else { text("runs") };
    parts.push(state.to_owned());
    if !text("cwd").is_empty() {
        parts.push(format!("in {}", text("cwd")));
    }
    parts.push(format!("by {}", text("actor")));
    let age = |field: &str| session.get(field).and_then(Value::as_f64).map(|at| ago((now - at).max(0.0)));
    parts.extend(age("created").map(|age| format!("open for {age}")));
    parts.extend(age("last_output").map(|age| format!("last output {age} ago")));
    match session.get("attached").and_then(Value::as_u64) {
        None | Some(0) => {}
        Some(1) => parts.push("a person is attached".to_owned()),
        Some(more) => parts.push(format!("{more} people are attached")),
    }
    // A name, a directory or a command may hold anything.
    spell_out(&parts.join(" · ")).replace('\n', " ")
}

fn ago(seconds: f64) -> String {
    if seconds < 120.0 {
        return format!("{seconds:.0} s");
    }
    if seconds < 7200.0 {
        return format!("{:.0} min", seconds / 60.0);
    }
    if seconds < 172_800.0 { format!("{:.0} h", seconds / 3600.0) } else { format!("{:.0} days", seconds / 86_400.0) }
}

/// Asks the shared server through its socket.
fn ask(config: &Config, method: &str, path: &str, body: Option<&Value>) -> Result<(u16, Value), String> {
    let socket = config.server_socket();
    let told = |error: io::Error| {
        format!("no server is to be reached at {} ({error}). `dtmcp serve` starts one", socket.display())
    };
    let mut stream = UnixStream::connect(&socket).map_err(told)?;
    stream.set_read_timeout(Some(ANSWER_MAX)).map_err(told)?;
    let body = body.map(Value::to_string).unwrap_or_default();
    let length = body.len();
    let head = format!("{method} {path} HTTP/1.1\r\nhost: dtmcp\r\nconnection: close\r\ncontent-length: {length}\r\n");
    let request = format!("{head}content-type: application/json\r\n\r\n{body}");
    stream.write_all(request.as_bytes()).map_err(told)?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).map_err(told)?;
    let answer = String::from_utf8_lossy(&answer);
    let (head, body) = answer.split_once("\r\n\r\n").ok_or("the server answered nothing that can be read")?;
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
    serde_json::from_str(body).map(|value| (status, value)).map_err(|error| format!("the server's answer: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_what_runs_where_since_when_and_who() {
        let session = json!({
            "name": "t1", "command": "bash", "runs": "running #3 \"make\u{1b}[2J\"", "cwd": "/src", "actor": "claude-code",
            "created": 1000.0, "last_output": 4590.0, "attached": 1,
        });
        assert_eq!(
            line(&session, 4600.0),
            "t1: bash · running #3 \"make\\x1b[2J\" · in /src · by claude-code · open for 60 min · last output 10 s ago · a person is attached"
        );
        assert_eq!(ago(300_000.0), "3 days");
    }
}
