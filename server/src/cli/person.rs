//! What a person asks the shared server.

use std::io::{self, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::process::ExitCode;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use dtmcp_core::text::visible::spell_out;
use serde_json::{Value, json};

use super::table::table;
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

/// Prints every session, one a line, as wide as the terminal.
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
        Ok(table(sessions, now, columns()))
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

/// The columns of the terminal that is written to, if one is.
fn columns() -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(io::stdout()).ok()?;
    Some(usize::from(size.ws_col)).filter(|columns| *columns > 0)
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
