//! What is asked, and who answers it.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use dtmcp_core::reply::Reply;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::{ALLOW, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, TRANSFER_ENCODING, UPGRADE, WWW_AUTHENTICATE};
use hyper::header::{HeaderName, HeaderValue};
use hyper::{HeaderMap, Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::sync::OwnedSemaphorePermit;

use super::connection::Way;
use super::guard::{self, Refusal};
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

/// Answers one request.
pub(super) async fn answer(
    request: Request<Incoming>,
    way: &Way,
    site: &Arc<Site>,
    place: Arc<OwnedSemaphorePermit>,
) -> Answer {
    // Where the two ways to tell a body's length meet, what comes behind it may be another request to someone else.
    let chunked = request.headers().contains_key(TRANSFER_ENCODING);
    let mut answer = if chunked && request.headers().contains_key(CONTENT_LENGTH) {
        refuse((StatusCode::BAD_REQUEST, "a body has one length"))
    } else {
        match admit(&request, way) {
            Ok(()) => route(request, way, site, place).await,
            Err(refusal) => refuse(refusal),
        }
    };
    if chunked {
        answer.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    }
    answer
}

/// Whether the request goes any further, whatever it asks for.
fn admit(request: &Request<Incoming>, way: &Way) -> Result<(), Refusal> {
    let headers = request.headers();
    if let Way::Port(guard) = way {
        guard.host(request.uri(), headers)?;
    }
    guard::origin(headers)?;
    if let Way::Port(guard) = way
        && !(request.uri().path() == "/health" && request.method() == Method::GET)
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

async fn route(request: Request<Incoming>, way: &Way, site: &Arc<Site>, place: Arc<OwnedSemaphorePermit>) -> Answer {
    let path = request.uri().path().to_owned();
    let parts: Vec<&str> = path.split('/').skip(1).collect();
    let get = request.method() == Method::GET;
    let post = request.method() == Method::POST;
    match (parts.as_slice(), way) {
        (["health"], _) if get => health(site),
        (["mcp"], _) => mcp(request, site).await,
        (["mcp", "stdio"], Way::Socket) if get => bridge(request, site, place),
        (["api", "sessions"], _) if get => {
            let closed = request.uri().query().is_some_and(|query| query.split('&').any(|part| part == "closed=1"));
            answer_json(StatusCode::OK, &site.hub.overview(closed).await)
        }
        (["api", "sessions", name, "close"], _) if post => {
            let name = (*name).to_owned();
            close(request, site, &name).await
        }
        (["health"] | ["api", "sessions"], _) | (["mcp", "stdio"], Way::Socket) => not_allowed("GET"),
        (["api", "sessions", _, "close"], _) => not_allowed("POST"),
        _ => refuse((StatusCode::NOT_FOUND, "there is nothing here; MCP is at /mcp")),
    }
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
    let (parts, body) = request.into_parts();
    if parts.method == Method::POST && !site.web.has_room(&parts.headers).await {
        return refuse((StatusCode::SERVICE_UNAVAILABLE, "too many sessions are open; end some with DELETE /mcp"));
    }
    match read(&parts.headers, body).await {
        Ok(body) => site.web.answer(Request::from_parts(parts, Full::new(body))).await,
        Err(refusal) => refuse(refusal),
    }
}

/// Closes a session for a person: `{"force": true}` also one that is in use.
async fn close(request: Request<Incoming>, site: &Site, name: &str) -> Answer {
    let (parts, body) = request.into_parts();
    let body = match read(&parts.headers, body).await {
        Ok(body) => body,
        Err(refusal) => return refuse(refusal),
    };
    // A web page can send other types without asking.
    let is_json = parts.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).is_some_and(|value| {
        value.split(';').next().is_some_and(|essence| essence.trim().eq_ignore_ascii_case("application/json"))
    });
    if !body.is_empty() && !is_json {
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
    if reply.is_error { json!({"session": name, "error": text}) } else { json!({"session": name, "closed": text}) }
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
fn bridge(mut request: Request<Incoming>, site: &Arc<Site>, place: Arc<OwnedSemaphorePermit>) -> Answer {
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
        drop(place);
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

fn empty(status: StatusCode) -> Answer {
    let mut answer = Response::new(Full::new(Bytes::new()).map_err(|never: Infallible| match never {}).boxed());
    *answer.status_mut() = status;
    answer
}

fn answer_json(status: StatusCode, value: &Value) -> Answer {
    let text = format!("{value}\n");
    let mut answer = Response::new(Full::new(Bytes::from(text)).map_err(|never: Infallible| match never {}).boxed());
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    answer
}

fn refuse((status, why): Refusal) -> Answer {
    let mut answer = answer_json(status, &json!({ "error": why }));
    if status == StatusCode::UNAUTHORIZED {
        answer.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    }
    answer
}

fn not_allowed(method: &'static str) -> Answer {
    let mut answer = refuse((StatusCode::METHOD_NOT_ALLOWED, "this takes another method"));
    answer.headers_mut().insert(ALLOW, HeaderValue::from_static(method));
    answer
}
