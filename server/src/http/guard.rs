//! Who may ask for anything: which names the server answers to, which web pages, and the token.
//!
//! A web page that a person opens can send requests to their own machine. It is known by its `Origin`, or, once its
//! name has been made to resolve to this machine, by its `Host`. It can never bring the token.

use std::net::IpAddr;

use hyper::header::{AUTHORIZATION, HOST, HeaderName, ORIGIN};
use hyper::{HeaderMap, StatusCode, Uri};

use super::token::Token;

/// What a port asks of a request.
#[derive(Debug)]
pub struct Guard {
    token: Token,
    /// Whether only this machine's own names are answered to. A port that others can reach may be called anything.
    loopback: bool,
}

/// Why a request goes no further.
pub(super) type Refusal = (StatusCode, &'static str);

impl Guard {
    /// A guard with this token; `loopback` where the port is bound to this machine alone.
    #[must_use]
    pub fn new(token: Token, loopback: bool) -> Self {
        Self { token, loopback }
    }

    /// Whether the request names this server as it may be named.
    pub(super) fn host(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), Refusal> {
        const WHY: Refusal = (StatusCode::FORBIDDEN, "this server answers only to localhost, 127.0.0.1 and [::1]");
        if !self.loopback {
            return Ok(());
        }
        // A request's line may name a host too, and then counts before the header.
        if uri.authority().is_some_and(|authority| !is_loopback(authority.as_str())) {
            return Err(WHY);
        }
        match only(headers, &HOST) {
            Some(host) if is_loopback(host) => Ok(()),
            _ => Err(WHY),
        }
    }

    /// Whether the request brings the token.
    pub(super) fn token(&self, headers: &HeaderMap) -> Result<(), Refusal> {
        const WHY: Refusal =
            (StatusCode::UNAUTHORIZED, "this needs the header `Authorization: Bearer TOKEN`; `dtmcp token` prints it");
        let (scheme, given) = only(headers, &AUTHORIZATION).and_then(|value| value.split_once(' ')).ok_or(WHY)?;
        if scheme.eq_ignore_ascii_case("bearer") && self.token.is(given.trim().as_bytes()) {
            return Ok(());
        }
        Err(WHY)
    }
}

/// Whether a web page sent this, and not one of this machine's own.
pub(super) fn origin(headers: &HeaderMap) -> Result<(), Refusal> {
    const WHY: Refusal = (StatusCode::FORBIDDEN, "this web page may not use this server");
    if !headers.contains_key(ORIGIN) {
        return Ok(());
    }
    let origin = only(headers, &ORIGIN).ok_or(WHY)?;
    let host = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://")).ok_or(WHY)?;
    if is_loopback(host) { Ok(()) } else { Err(WHY) }
}

/// The one value of a header; none where it is missing, given twice or no text.
fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let first = values.next()?;
    if values.next().is_some() {
        return None;
    }
    first.to_str().ok()
}

/// Whether `HOST` or `HOST:PORT` is this machine by one of its own names.
fn is_loopback(authority: &str) -> bool {
    let (host, port) = match authority.strip_prefix('[') {
        Some(rest) => match rest.split_once(']') {
            Some((host, port)) => (host, port.strip_prefix(':').or(port.is_empty().then_some(""))),
            None => return false,
        },
        None => match authority.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (authority, Some("")),
        },
    };
    let is_port = port.is_some_and(|port| port.len() <= 5 && port.bytes().all(|byte| byte.is_ascii_digit()));
    // A web page cannot make an address lead elsewhere, so each of this machine's own will do.
    let is_own = host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
    is_port && (host.eq_ignore_ascii_case("localhost") || is_own)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

    use super::*;

    #[test]
    fn this_machines_own_names() {
        for own in ["localhost", "LOCALHOST:8766", "127.0.0.1", "127.0.0.1:1", "[::1]", "[::1]:8766"] {
            assert!(is_loopback(own), "{own}");
        }
        for other in [
            "",
            "evil.example",
            "localhost.evil.example",
            "evil.example:8766",
            "127.0.0.1.evil.example",
            "[::1].evil",
            "localhost:8766@evil",
            "localhost:x",
            "localhost/..",
            "::1",
            "[::1",
            "0.0.0.0",
            "user@localhost",
        ] {
            assert!(!is_loopback(other), "{other}");
        }
    }

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (HeaderName::from_static(name), value.parse().unwrap())).collect()
    }

    #[test]
    fn pages_of_other_machines_are_refused() {
        assert!(origin(&headers(&[])).is_ok());
        for own in ["http://localhost:3000", "https://127.0.0.1", "http://[::1]:80"] {
            assert!(origin(&headers(&[("origin", own)])).is_ok(), "{own}");
        }
        for other in ["null", "", "http://evil.example", "http://localhost.evil.example", "file://", "localhost"] {
            assert!(origin(&headers(&[("origin", other)])).is_err(), "{other}");
        }
        let mut twice = headers(&[("origin", "http://localhost")]);
        twice.append(ORIGIN, "http://evil.example".parse().unwrap());
        assert!(origin(&twice).is_err());
    }
}
