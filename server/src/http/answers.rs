//! What answers look like: JSON for programs, and in the endpoint of MCP an error as JSON-RPC has it.

use std::convert::Infallible;

use http_body_util::{BodyExt as _, Full};
use hyper::body::{Body as _, Bytes};
use hyper::header::{ALLOW, CONTENT_LENGTH, CONTENT_TYPE, HeaderValue, WWW_AUTHENTICATE};
use hyper::{HeaderMap, Method, Response, StatusCode};
use serde_json::{Value, json};

use super::guard::Refusal;
use crate::mcp::web::Answer;

/// JSON-RPC's codes for a text that is no JSON and for JSON that is no message, and of the range that is the server's own
/// the two that MCP's SDKs use: for whatever else is wrong with a request, and for a session that is not known.
const PARSE_ERROR: i64 = -32700;
const INVALID_REQUEST: i64 = -32600;
const REFUSED: i64 = -32000;
const UNKNOWN_SESSION: i64 = -32001;

pub(super) fn empty(status: StatusCode) -> Answer {
    let mut answer = Response::new(Full::new(Bytes::new()).map_err(|never: Infallible| match never {}).boxed());
    *answer.status_mut() = status;
    answer
}

pub(super) fn answer_json(status: StatusCode, value: &Value) -> Answer {
    let text = format!("{value}\n");
    let mut answer = Response::new(Full::new(Bytes::from(text)).map_err(|never: Infallible| match never {}).boxed());
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    answer
}

pub(super) fn refuse((status, why): Refusal) -> Answer {
    let mut answer = answer_json(status, &json!({ "error": why }));
    if status == StatusCode::UNAUTHORIZED {
        answer.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    }
    answer
}

/// The refusal of a method; `allowed` names those there are.
pub(super) fn not_allowed(allowed: &'static str) -> Answer {
    let mut answer = answer_json(StatusCode::METHOD_NOT_ALLOWED, &json!({"error": format!("this takes {allowed}")}));
    answer.headers_mut().insert(ALLOW, HeaderValue::from_static(allowed));
    answer
}

/// Whether a body is said to be JSON.
pub(super) fn is_json(headers: &HeaderMap) -> bool {
    headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).is_some_and(|value| {
        value.split(';').next().is_some_and(|essence| essence.trim().eq_ignore_ascii_case("application/json"))
    })
}

/// What of a request to the endpoint of MCP its error is made from.
#[derive(Debug, Clone)]
pub(super) struct Asked {
    pub(super) method: Method,
    pub(super) is_json: bool,
    pub(super) body: Bytes,
}

impl Asked {
    /// The id of the request that the body holds, or null.
    fn id(&self) -> Value {
        #[derive(serde::Deserialize)]
        struct Request {
            id: Value,
            #[serde(rename = "method")]
            _method: String,
        }
        let id = serde_json::from_slice::<Request>(&self.body).map(|request| request.id);
        id.ok().filter(|id| id.is_string() || id.is_number()).unwrap_or(Value::Null)
    }
}

/// As [`refuse`], as the endpoint of MCP says it.
pub(super) fn refuse_rpc(refusal: Refusal, asked: &Asked) -> Answer {
    let error = rpc(REFUSED, refusal.1, asked);
    let mut answer = refuse(refusal);
    *answer.body_mut() = answer_json(StatusCode::OK, &error).into_body();
    answer
}

fn rpc(code: i64, why: &str, asked: &Asked) -> Value {
    json!({"jsonrpc": "2.0", "id": asked.id(), "error": {"code": code, "message": why}})
}

/// An error of the endpoint of MCP as a JSON-RPC message, where it is a bare text so far, with what to do about it. Its
/// headers stay; its status too, save that a body that is no message is the request's fault and not its type's.
pub(super) async fn in_json_rpc(answer: Answer, asked: &Asked) -> Answer {
    let status = answer.status();
    let is_error = status.is_client_error() || status.is_server_error();
    // Such an error is a few words in one piece; a stream of events has no size beforehand.
    if !is_error || is_json(answer.headers()) || answer.body().size_hint().exact().is_none() {
        return answer;
    }
    let (mut parts, body) = answer.into_parts();
    let said = body.collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default();
    let said = String::from_utf8_lossy(&said).into_owned();
    let (status, code, why) = reason(status, &said, asked, &parts.headers);
    let made = answer_json(status, &rpc(code, &why, asked));
    parts.status = status;
    parts.headers.remove(CONTENT_LENGTH);
    parts.headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    Response::from_parts(parts, made.into_body())
}

/// Says what an error of rmcp's is, which it tells in a few words of its own.
fn reason(status: StatusCode, said: &str, asked: &Asked, headers: &HeaderMap) -> (StatusCode, i64, String) {
    let said =
        said.split_once(": ").filter(|(name, _)| status.canonical_reason() == Some(name)).map_or(said, |it| it.1);
    let (code, why) = match status {
        StatusCode::UNSUPPORTED_MEDIA_TYPE if asked.is_json => return no_message(&asked.body),
        StatusCode::UNSUPPORTED_MEDIA_TYPE => {
            (REFUSED, "a message is to be sent with the header Content-Type: application/json".to_owned())
        }
        StatusCode::NOT_ACCEPTABLE if asked.method == Method::GET => {
            (REFUSED, "the header Accept has to allow text/event-stream".to_owned())
        }
        StatusCode::NOT_ACCEPTABLE => {
            (REFUSED, "the header Accept has to allow application/json and text/event-stream".to_owned())
        }
        StatusCode::NOT_FOUND => (
            UNKNOWN_SESSION,
            "no session has this Mcp-Session-Id: it has ended, or an earlier server began it. Begin one with initialize"
                .to_owned(),
        ),
        StatusCode::METHOD_NOT_ALLOWED => {
            let allowed = headers.get(ALLOW).and_then(|allowed| allowed.to_str().ok()).unwrap_or("POST");
            (REFUSED, format!("this takes {allowed}"))
        }
        StatusCode::BAD_REQUEST if said.contains("Session ID is required") => (
            REFUSED,
            "outside a session there is only initialize: send that first, and then the Mcp-Session-Id of its answer with \
             each request. From revision 2026-07-28 on each request says in MCP-Protocol-Version and _meta that it needs \
             none"
                .to_owned(),
        ),
        _ => (REFUSED, said.to_owned()),
    };
    (status, code, why)
}

/// What is wrong with a body that is no message.
fn no_message(body: &[u8]) -> (StatusCode, i64, String) {
    match serde_json::from_slice::<Value>(body) {
        Ok(_) => {
            let why = "the body is JSON and no message of JSON-RPC: it is to be one object with `jsonrpc`: \"2.0\", a \
                       `method` and an `id` that is a text or a whole number, and not several in a list";
            (StatusCode::BAD_REQUEST, INVALID_REQUEST, why.to_owned())
        }
        Err(error) => (StatusCode::BAD_REQUEST, PARSE_ERROR, format!("the body is no JSON that can be read: {error}")),
    }
}
