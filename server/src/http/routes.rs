//! What is asked, and who answers it.

use std::sync::Arc;
use std::time::Duration;

use dtmcp_core::reply::Reply;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::{ACCEPT, CONNECTION, CONTENT_LENGTH, HeaderName, HeaderValue, TRANSFER_ENCODING, UPGRADE};
use hyper::{HeaderMap, Method, Request, StatusCode};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};

use super::answers::{Asked, answer_json, empty, in_json_rpc, is_json, not_allowed, refuse, refuse_rpc};
use super::connection::{HEAD_MAX, Way};
use super::guard::{self, Refusal};
use super::room::{Held, Place};
use super::{BODY_MAX, Site};
use crate::mcp::agent::{ACTOR_HEADER, Agent, is_name};
use crate::mcp::serve::serve_connection;
use crate::mcp::web::Answer;

/// What a bridge asks the connection to become: lines of JSON-RPC both ways, as over standard input and output.
pub(crate) const BRIDGE_PROTOCOL: &str = "mcp-stdio";

/// Where a bridge asks for it.
pub(crate) const BRIDGE_PATH: &str = "/mcp/stdio";

/// The number of a bridge's connection: told to the bridge, and asked for again when it comes back.
pub(crate) const CONNECTION_HEADER: &str = "x-terminal-connection";

/// Tells one list of tools from another, so that a bridge notices that the new server has others.
pub(crate) const TOOLS_HEADER: &str = "x-terminal-tools";

/// How long a body may take to arrive.
const BODY_WAIT: Duration = Duration::from_secs(30);

/// Where MCP is.
const MCP_PATH: &str = "/mcp";

/// Answers one request.
pub(super) async fn answer(request: Request<Incoming>, way: &Way, site: &Arc<Site>, place: &Arc<Place>) -> Answer {
    let Some(work) = place.work() else {
        // Nobody reads this: the connection is being closed to make way for another.
        return empty(StatusCode::SERVICE_UNAVAILABLE);
    };
    let is_mcp = request.uri().path() == MCP_PATH;
    let asked = Asked { method: request.method().clone(), is_json: is_json(request.headers()), body: Bytes::new() };
    let chunked = request.headers().contains_key(TRANSFER_ENCODING);
    let mut answer = match admit(&request, way) {
        Ok(()) => {
            place.welcome();
            route(request, way, site, place).await
        }
        Err(refusal) if is_mcp => refuse_rpc(refusal, &asked),
        Err(refusal) => refuse(refusal),
    };
    if chunked {
        answer.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    }
    answer.map(|body| Held::new(body, work).boxed())
}

/// Whether the request goes any further, whatever it asks for.
fn admit(request: &Request<Incoming>, way: &Way) -> Result<(), Refusal> {
    let headers = request.headers();
    if head_length(request) > HEAD_MAX {
        return Err((StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, "a request's head may be 64 KiB long"));
    }
    // Where the two ways to tell a body's length meet, what comes behind it may be another request to someone else.
    if headers.contains_key(TRANSFER_ENCODING) && headers.contains_key(CONTENT_LENGTH) {
        return Err((StatusCode::BAD_REQUEST, "a body has one length"));
    }
    if let Way::Port(guard) = way {
        guard.host(request.uri(), headers)?;
    }
    guard::origin(headers)?;
    if let Way::Port(guard) = way
        && request.uri().path() != "/health"
    {
        guard.token(headers)?;
    }
    match headers.get(ACTOR_HEADER) {
        Some(name) if !name.to_str().is_ok_and(is_name) => Err((
            StatusCode::BAD_REQUEST,
            "X-Terminal-Actor takes 1 to 64 letters, digits, `.`, `_`, `-`, `#` and `@`, and not `human`",
        )),
        _ => Ok(()),
    }
}

/// The bytes of a request's head as they are usually written.
fn head_length(request: &Request<Incoming>) -> usize {
    // The blanks, the version and the line breaks of the first line; a line's colon, blank and break.
    const FIRST: usize = "  HTTP/1.1\r\n\r\n".len();
    const EACH: usize = ": \r\n".len();
    let line = request.method().as_str().len() + request.uri().to_string().len() + FIRST;
    line + request.headers().iter().map(|(name, value)| name.as_str().len() + value.len() + EACH).sum::<usize>()
}

async fn route(request: Request<Incoming>, way: &Way, site: &Arc<Site>, place: &Arc<Place>) -> Answer {
    let path = request.uri().path().to_owned();
    let parts: Vec<&str> = path.split('/').skip(1).collect();
    let reads = matches!(*request.method(), Method::GET | Method::HEAD);
    let post = request.method() == Method::POST;
    match (parts.as_slice(), way) {
        (["health"], _) if reads => health(site),
        (["mcp"], _) => mcp(request, site).await,
        (["mcp", "stdio"], Way::Socket) if request.method() == Method::GET => bridge(request, site, place),
        (["api", "sessions"], _) if reads => {
            let closed = request.uri().query().is_some_and(|query| query.split('&').any(|part| part == "closed=1"));
            answer_json(StatusCode::OK, &site.hub.overview(closed).await)
        }
        (["api", "sessions", name, "close"], _) if post => {
            let name = decoded(name);
            close(request, site, &name).await
        }
        (["health"] | ["api", "sessions"], _) => not_allowed("GET, HEAD"),
        (["mcp", "stdio"], Way::Socket) => not_allowed("GET"),
        (["api", "sessions", _, "close"], _) => not_allowed("POST"),
        _ => refuse((
            StatusCode::NOT_FOUND,
            "there is nothing here; there are /mcp, /health, /api/sessions and /api/sessions/NAME/close",
        )),
    }
}

/// A part of a path with its `%2B` and the like taken for what they stand for: clients' libraries write a `+` so. What
/// is no text then names no session.
fn decoded(part: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = part.as_bytes();
    while let [byte, behind @ ..] = rest {
        let hex = behind.get(..2).filter(|two| two.iter().all(u8::is_ascii_hexdigit));
        let hex = hex.and_then(|two| u8::from_str_radix(std::str::from_utf8(two).ok()?, 16).ok());
        match (byte, hex) {
            (b'%', Some(hex)) => {
                bytes.push(hex);
                rest = behind.get(2..).unwrap_or_default();
            }
            _ => {
                bytes.push(*byte);
                rest = behind;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// What a port is, before a token is sent to it.
fn health(site: &Site) -> Answer {
    let place = &site.hub.place;
    let body = json!({
        "service": "docent-terminal-mcp",
        "host": place.host,
        "user": place.user,
        "instance": site.instance,
    });
    answer_json(StatusCode::OK, &body)
}

async fn mcp(request: Request<Incoming>, site: &Site) -> Answer {
    let (mut parts, body) = request.into_parts();
    let mut asked = Asked { method: parts.method.clone(), is_json: is_json(&parts.headers), body: Bytes::new() };
    let answer = if parts.method == Method::POST && !site.web.has_room(&parts.headers).await {
        const FULL: Refusal =
            (StatusCode::SERVICE_UNAVAILABLE, "too many sessions are open; end some with DELETE /mcp");
        refuse_rpc(FULL, &asked)
    } else if parts.method == Method::DELETE && site.web.is_unknown(&parts.headers).await {
        empty(StatusCode::NOT_FOUND)
    } else {
        match read(&parts.headers, body).await {
            Ok(body) => {
                asked.body = body.clone();
                widen(&mut parts.headers);
                site.web.answer(Request::from_parts(parts, Full::new(body))).await
            }
            Err(refusal) => refuse_rpc(refusal, &asked),
        }
    };
    in_json_rpc(answer, &asked).await
}

/// Writes out what a header Accept with `*` in it allows, as does none: rmcp knows the types by their names only.
fn widen(headers: &mut HeaderMap) {
    let lists = headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let types: Vec<String> = lists
        .flat_map(|list| list.split(','))
        .map(|item| item.split(';').next().unwrap_or_default().trim().to_ascii_lowercase())
        .collect();
    let none = !headers.contains_key(ACCEPT);
    let allowed = |names: [&str; 2]| none || types.iter().any(|it| it == "*/*" || names.contains(&it.as_str()));
    let both = (allowed(["application/*", "application/json"]), allowed(["text/*", "text/event-stream"]));
    let accept = match both {
        (true, true) => "application/json, text/event-stream",
        (true, false) => "application/json",
        (false, true) => "text/event-stream",
        (false, false) => return,
    };
    headers.insert(ACCEPT, HeaderValue::from_static(accept));
}

/// Closes a session for a person: `{"force": true}` also one that is in use.
async fn close(request: Request<Incoming>, site: &Site, name: &str) -> Answer {
    let (parts, body) = request.into_parts();
    let body = match read(&parts.headers, body).await {
        Ok(body) => body,
        Err(refusal) => return refuse(refusal),
    };
    // A web page can send other types without asking.
    if !body.is_empty() && !is_json(&parts.headers) {
        return refuse((StatusCode::UNSUPPORTED_MEDIA_TYPE, "the body is to be application/json"));
    }
    let Some(force) = force(&body) else {
        return refuse((StatusCode::BAD_REQUEST, "the body takes an object with `force`, true or false"));
    };
    if !site.hub.has_open(name) {
        return refuse((StatusCode::NOT_FOUND, "no session of this name is open; GET /api/sessions lists them"));
    }
    let reply = site.hub.close_for_person(name, force).await;
    let status = if reply.is_error { StatusCode::CONFLICT } else { StatusCode::OK };
    answer_json(status, &told(name, &reply))
}

fn told(name: &str, reply: &Reply) -> Value {
    let text = dtmcp_core::text::visible::spell_out(&reply.text);
    let why = text.strip_prefix("error: ").unwrap_or(&text);
    if reply.is_error { json!({"session": name, "error": why}) } else { json!({"session": name, "closed": text}) }
}

/// What the body of a request to close says of force; none where it says something else.
fn force(body: &[u8]) -> Option<bool> {
    if body.trim_ascii().is_empty() {
        return Some(false);
    }
    let Ok(Value::Object(fields)) = serde_json::from_slice(body) else { return None };
    match (fields.len(), fields.get("force")) {
        (0, _) => Some(false),
        (1, Some(Value::Bool(force))) => Some(*force),
        _ => None,
    }
}

/// Makes the connection a bridge's.
fn bridge(mut request: Request<Incoming>, site: &Arc<Site>, place: &Arc<Place>) -> Answer {
    let header = |name: &str| request.headers().get(name).and_then(|value| value.to_str().ok());
    if header("upgrade") != Some(BRIDGE_PROTOCOL) {
        return refuse((StatusCode::UPGRADE_REQUIRED, "this is for `dtmcp connect`; MCP over HTTP is at /mcp"));
    }
    let (agent, number) = match header(ACTOR_HEADER) {
        Some(name) => (Agent::Named(name.to_owned()), None),
        None => {
            let before = header(CONNECTION_HEADER).and_then(|text| text.parse().ok());
            let number = site.numbers.take(before);
            let value = number.value();
            (Agent::Numbered(number), Some(value))
        }
    };
    // Held until the bridge leaves, however long it says nothing.
    let work = place.work();
    let upgrade = hyper::upgrade::on(&mut request);
    let (shared, tasks) = (site.shared.clone(), site.tasks.clone());
    drop(tasks.spawn(async move {
        match upgrade.await {
            Ok(stream) => {
                let (read, write) = tokio::io::split(TokioIo::new(stream));
                serve_connection(read, write, shared, agent).await;
            }
            Err(error) => tracing::debug!(%error, "a bridge left at once"),
        }
        drop(work);
    }));
    let mut answer = empty(StatusCode::SWITCHING_PROTOCOLS);
    let headers = answer.headers_mut();
    headers.insert(CONNECTION, HeaderValue::from_static("upgrade"));
    headers.insert(UPGRADE, HeaderValue::from_static(BRIDGE_PROTOCOL));
    headers.insert(HeaderName::from_static(TOOLS_HEADER), HeaderValue::from(crate::mcp::handler::tools_mark()));
    if let Some(number) = number {
        headers.insert(HeaderName::from_static(CONNECTION_HEADER), HeaderValue::from(number));
    }
    answer
}

/// Reads a body up to its limit.
async fn read(headers: &HeaderMap, body: Incoming) -> Result<Bytes, Refusal> {
    const TOO_LARGE: Refusal = (StatusCode::PAYLOAD_TOO_LARGE, "a body may be 8 MiB long");
    let said = headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    if said.is_some_and(|length| length > BODY_MAX as u64) {
        return Err(TOO_LARGE);
    }
    match tokio::time::timeout(BODY_WAIT, Limited::new(body, BODY_MAX).collect()).await {
        Ok(Ok(whole)) => Ok(whole.to_bytes()),
        Ok(Err(error)) if error.is::<http_body_util::LengthLimitError>() => Err(TOO_LARGE),
        Ok(Err(_)) => Err((StatusCode::BAD_REQUEST, "the body broke off")),
        Err(_) => Err((StatusCode::REQUEST_TIMEOUT, "the body did not arrive in 30 s")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_percent_signs_stand_for() {
        for (part, name) in [
            ("t1", "t1"),
            ("t1+1", "t1+1"),
            ("t1%2B1", "t1+1"),
            ("t1%2b%31", "t1+1"),
            ("..%2F..%2fetc", "../../etc"),
            ("100%", "100%"),
            ("%", "%"),
            ("%zz%4", "%zz%4"),
            ("%+1", "%+1"),
            ("%c3%a9", "\u{e9}"),
            ("%ff", "\u{fffd}"),
        ] {
            assert_eq!(decoded(part), name, "{part}");
        }
    }

    #[test]
    fn an_accept_with_a_star_allows_what_it_says() {
        for (given, made) in [
            (None, Some("application/json, text/event-stream")),
            (Some("*/*"), Some("application/json, text/event-stream")),
            (Some("text/*, application/*;q=0.1"), Some("application/json, text/event-stream")),
            (Some("Application/JSON"), Some("application/json")),
            (Some("text/html, text/event-stream"), Some("text/event-stream")),
            (Some("text/html"), Some("text/html")),
            (Some(""), Some("")),
        ] {
            let mut headers = HeaderMap::new();
            if let Some(given) = given {
                headers.insert(ACCEPT, HeaderValue::from_static(given));
            }
            widen(&mut headers);
            assert_eq!(headers.get(ACCEPT).and_then(|value| value.to_str().ok()), made, "{given:?}");
        }
    }
}
