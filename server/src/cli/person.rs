//! What a person asks the shared server.

use std::io::{self, Write as _};
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

use dtmcp_core::text::visible::{quoted, spell_out};
use serde_json::{Value, json};

use super::asking::ask;
use super::table::table;
use crate::config::Config;
use crate::http::token::Token;

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
        let (status, answer) = ask(&config.server_socket(), ("GET", path), None)?;
        if status != 200 {
            return Err(error_of(&answer));
        }
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
            return Err(format!("{} is no name of a session", quoted(&arguments.name)));
        }
        let body = json!({ "force": arguments.force });
        let path = format!("/api/sessions/{}/close", arguments.name);
        let (status, answer) = ask(&config.server_socket(), ("POST", &path), Some(&body))?;
        if status == 404 {
            return Err(format!("no session {} is open; `dtmcp status` shows those that are", quoted(&arguments.name)));
        }
        if status != 200 {
            return Err(error_of(&answer));
        }
        Ok(answer.get("closed").and_then(Value::as_str).unwrap_or_default().to_owned())
    }))
}

/// Why the server refused.
fn error_of(answer: &Value) -> String {
    let why = answer.get("error").and_then(Value::as_str);
    why.unwrap_or("what answers is no server of this version").to_owned()
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
