//! Who makes a call: the name that regions, notes and logs give an agent.

use std::sync::Arc;

use dtmcp_core::session::HUMAN;
use hyper::http::request::Parts;
use rmcp::service::{RequestContext, RoleServer};

use super::numbers::{LaterNumber, Number};

/// The header in which a client names its agent.
pub const ACTOR_HEADER: &str = "x-terminal-actor";

/// The header of a session of the older life cycle over HTTP.
const SESSION_HEADER: &str = "mcp-session-id";

/// The longest name of an agent, in bytes: it stands in logs, files and replies.
pub const NAME_MAX: usize = 64;

/// An agent whose client gives no usable name.
const NAMELESS: &str = "client";

/// Whose calls a client makes.
#[derive(Debug, Clone)]
pub enum Agent {
    /// The client's own name: the one client of a server over stdio.
    Client,
    /// The name that whoever registered the client gave it.
    Named(String),
    /// The client's own name with the number of its connection, because others may be of the same name.
    Numbered(Arc<Number>),
    /// Over HTTP: the request's header; else the client's name, with a number where the request belongs to a session.
    /// Without a session there is no connection, and all clients of one name are one agent.
    Http(Arc<LaterNumber>),
}

/// Whether a text can name an agent. What a person has typed is told by [`HUMAN`], which nobody else may pass for.
#[must_use]
pub fn is_name(text: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '#' | '@');
    (1..=NAME_MAX).contains(&text.len()) && text.chars().all(fits) && text != HUMAN
}

impl Agent {
    /// The agent's name for one call.
    pub(super) fn name(&self, context: &RequestContext<RoleServer>) -> String {
        let client = || client_name(&context.client_info().map(|client| client.name).unwrap_or_default());
        match self {
            Self::Client => client(),
            Self::Named(name) => name.clone(),
            Self::Numbered(number) => numbered(&client(), number.value()),
            Self::Http(number) => {
                let headers = context.extensions.get::<Parts>().map(|parts| &parts.headers);
                let header = |name: &str| headers.and_then(|headers| headers.get(name)).and_then(|it| it.to_str().ok());
                match header(ACTOR_HEADER) {
                    Some(name) if is_name(name) => name.to_owned(),
                    _ if header(SESSION_HEADER).is_some() => numbered(&client(), number.value()),
                    _ => client(),
                }
            }
        }
    }
}

fn numbered(name: &str, number: u64) -> String {
    let number = format!("#{number}");
    let kept: String = name.chars().take(NAME_MAX - number.len()).collect();
    kept + &number
}

/// A client's name for itself, in characters that can stand in a log and a reply.
fn client_name(name: &str) -> String {
    let mut actor = String::with_capacity(name.len().min(NAME_MAX));
    for c in name.chars() {
        if actor.len() == NAME_MAX {
            break;
        }
        let fits = c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        if fits {
            actor.push(c);
        } else if !actor.is_empty() && !actor.ends_with('-') {
            actor.push('-');
        }
    }
    let trimmed = actor.trim_end_matches('-');
    if trimmed.is_empty() || trimmed == HUMAN { NAMELESS.to_owned() } else { trimmed.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clients_name_is_made_fit_for_a_log() {
        assert_eq!(client_name("Claude Code (dev)"), "Claude-Code-dev");
        assert_eq!(client_name("\u{1b}]0;x\n"), "0-x");
        assert_eq!((client_name("  "), client_name("human")), (NAMELESS.to_owned(), NAMELESS.to_owned()));
        assert_eq!(client_name(&"x".repeat(100)).len(), NAME_MAX);
    }

    #[test]
    fn a_number_stays_behind_a_long_name() {
        assert_eq!(numbered("claude-code", 2), "claude-code#2");
        let long = numbered(&"x".repeat(NAME_MAX), 12345);
        assert!(long.len() == NAME_MAX && long.ends_with("x#12345"));
    }

    #[test]
    fn names_that_could_be_mistaken_are_none() {
        for name in ["claude-code", "me@host", "a.b_c#2"] {
            assert!(is_name(name), "{name}");
        }
        for name in ["", "human", "a b", "a\u{1b}", "é", "a/b", &"x".repeat(65)] {
            assert!(!is_name(name), "{name:?}");
        }
    }
}
