//! What a bridge has to know of the lines that pass through it: which requests wait for an answer, how the client
//! introduced itself, and what it subscribed to, so that another server can be told.

use std::collections::{BTreeMap, BTreeSet};

use dtmcp_core::resource::SCHEME;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::updates::ADDRESSES_MAX;

/// Requests that are remembered; a client has a handful in flight. One beyond is passed on all the same, and only not
/// answered should the server go away.
const IN_FLIGHT_MAX: usize = 4096;

/// The life cycle without sessions, in which each request says whose it is.
const STATELESS: &str = "io.modelcontextprotocol/protocolVersion";

/// What a request's answer is when the server went away during it.
const LOST: &str = "error: the server went away during this call, and the call was not repeated. If it typed something, \
    that stays typed, and the command goes on: look with regions, or wait for it, before anything is run again";

const SUBSCRIBE: &str = "resources/subscribe";
const UNSUBSCRIBE: &str = "resources/unsubscribe";
const UPDATED: &str = "notifications/resources/updated";
const LIST_CHANGED: &str = "notifications/resources/list_changed";
const ACKNOWLEDGED: &str = "notifications/subscriptions/acknowledged";

/// Which request to listen a notification belongs to.
const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";

/// The part of a message that says what it is.
#[derive(Debug, Deserialize)]
struct Head<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    method: Option<String>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

impl Head<'_> {
    fn param(&self, pointer: &str) -> Option<Value> {
        let params: Value = serde_json::from_str(self.params?.get()).ok()?;
        params.pointer(pointer).cloned()
    }
}

/// A request that waits.
#[derive(Debug)]
struct Waiting {
    method: String,
    stateless: bool,
    /// What is subscribed to by it, or no longer.
    uri: Option<String>,
}

/// A stream of news that the client has open.
#[derive(Debug)]
struct Listen {
    /// The request for it.
    line: Vec<u8>,
    /// Whether the client knows what of it was accepted.
    acknowledged: bool,
}

/// What the bridge itself asked of a new server.
#[derive(Debug)]
enum Renewed {
    /// A subscription of the client's.
    Subscription(String),
    /// The list of resources: a server tells those of opened and closed sessions who have listed them.
    List,
}

/// What has passed so far.
#[derive(Debug, Default)]
pub(super) struct Traffic {
    in_flight: BTreeMap<String, Waiting>,
    /// The client's `initialize`, and its id.
    hello: Option<(String, Vec<u8>)>,
    /// Whether that was answered.
    hello_answered: bool,
    /// The client's `notifications/initialized`.
    ready: Option<Vec<u8>>,
    /// Open streams of news, by id.
    listens: BTreeMap<String, Listen>,
    /// What the client of the older life cycle subscribed to.
    subscribed: BTreeSet<String>,
    /// Whether it knows of resources, so that it is told when there are others.
    lists: bool,
    /// What this server was asked anew, by id: the client does not wait for the answers.
    renewed: BTreeMap<String, Renewed>,
    /// Streams that were opened anew, whose acknowledgement the client has had before.
    reopened: BTreeSet<String>,
}

/// The messages of a line, each with its own text: one, or those of a batch.
fn messages(line: &[u8]) -> Vec<(Head<'_>, &[u8])> {
    if let Ok(head) = serde_json::from_slice::<Head<'_>>(line) {
        return vec![(head, line)];
    }
    let batch = serde_json::from_slice::<Vec<&RawValue>>(line).unwrap_or_default();
    let each = batch.into_iter().map(RawValue::get);
    each.filter_map(|text| Some((serde_json::from_str(text).ok()?, text.as_bytes()))).collect()
}

/// A message as a line of its own.
fn as_line(message: &[u8]) -> Vec<u8> {
    [message.trim_ascii(), b"\n"].concat()
}

fn print(lines: &mut Vec<u8>, message: &Value) {
    lines.extend(format!("{message}\n").into_bytes());
}

fn notification(method: &str, params: &Value) -> Value {
    json!({"jsonrpc": "2.0", "method": method, "params": params})
}

impl Traffic {
    /// A line from the client, before it goes to the server.
    pub(super) fn asked(&mut self, line: &[u8]) {
        for (head, text) in messages(line) {
            match (head.id, head.method.as_deref()) {
                (Some(id), Some(method)) => self.request(id.get(), method, &head, text),
                (None, Some("notifications/initialized")) => self.ready = Some(as_line(text)),
                (None, Some("notifications/cancelled")) => {
                    if let Some(id) = head.param("/requestId") {
                        // No answer is due any more, and a stream that is cancelled is over.
                        self.in_flight.remove(&id.to_string());
                        self.listens.remove(&id.to_string());
                    }
                }
                _ => {}
            }
        }
    }

    fn request(&mut self, id: &str, method: &str, head: &Head<'_>, text: &[u8]) {
        match method {
            "initialize" => {
                self.hello = Some((id.to_owned(), as_line(text)));
                self.hello_answered = false;
                return;
            }
            "subscriptions/listen" => {
                self.listens.insert(id.to_owned(), Listen { line: as_line(text), acknowledged: false });
                return;
            }
            "resources/list" => self.lists = true,
            _ => {}
        }
        if self.in_flight.len() < IN_FLIGHT_MAX {
            let stateless = head.params.is_some_and(|params| params.get().contains(STATELESS));
            let uri = if matches!(method, SUBSCRIBE | UNSUBSCRIBE) { head.param("/uri") } else { None };
            let uri = uri.as_ref().and_then(Value::as_str).map(str::to_owned);
            self.in_flight.insert(id.to_owned(), Waiting { method: method.to_owned(), stateless, uri });
        }
    }

    /// A line from the server: what the client is given of it.
    pub(super) fn answered(&mut self, line: Vec<u8>) -> Vec<u8> {
        let mut instead = None;
        for (head, _) in messages(&line) {
            match (head.id, head.method.as_deref()) {
                (Some(id), None) => match self.renewed.remove(id.get()) {
                    // Whether or not it can still be read: what happened meanwhile was told to nobody.
                    Some(Renewed::Subscription(uri)) => {
                        instead = Some(as_line(notification(UPDATED, &json!({"uri": uri})).to_string().as_bytes()));
                    }
                    Some(Renewed::List) => {
                        instead = Some(as_line(notification(LIST_CHANGED, &json!({})).to_string().as_bytes()));
                    }
                    None => self.answer(id.get(), head.error.is_some()),
                },
                (None, Some(ACKNOWLEDGED)) => {
                    let id = head.param(&format!("/_meta/{}", SUBSCRIPTION_ID.replace('/', "~1")));
                    let id = id.map(|id| id.to_string()).unwrap_or_default();
                    if self.reopened.remove(&id) {
                        instead = Some(self.missed(&id));
                    } else if let Some(listen) = self.listens.get_mut(&id) {
                        listen.acknowledged = true;
                    }
                }
                _ => {}
            }
        }
        instead.unwrap_or(line)
    }

    /// The answer to a request of the client's.
    fn answer(&mut self, id: &str, is_error: bool) {
        let waited = self.in_flight.remove(id);
        self.listens.remove(id);
        if self.hello.as_ref().is_some_and(|(hello, _)| hello == id) {
            self.hello_answered = true;
        }
        if let Some(Waiting { method, uri: Some(uri), .. }) = waited.filter(|_| !is_error) {
            self.lists = true;
            if method == UNSUBSCRIBE {
                self.subscribed.remove(&uri);
            } else if self.subscribed.len() < ADDRESSES_MAX {
                self.subscribed.insert(uri);
            }
        }
    }

    /// What a stream may have missed while no server was there: all that it listens to.
    fn missed(&self, id: &str) -> Vec<u8> {
        let mut lines = Vec::new();
        let asked = self.listens.get(id).and_then(|listen| serde_json::from_slice::<Value>(&listen.line).ok());
        let asked = asked.unwrap_or_default();
        let meta = json!({SUBSCRIPTION_ID: serde_json::from_str::<Value>(id).unwrap_or_default()});
        let wanted = asked.pointer("/params/notifications").unwrap_or(&Value::Null);
        let uris = wanted.get("resourceSubscriptions").and_then(Value::as_array).into_iter().flatten();
        for uri in uris.filter(|uri| uri.as_str().is_some_and(|uri| uri.starts_with(SCHEME))).take(ADDRESSES_MAX) {
            print(&mut lines, &notification(UPDATED, &json!({"uri": uri, "_meta": meta})));
        }
        if wanted.get("resourcesListChanged") == Some(&json!(true)) {
            print(&mut lines, &notification(LIST_CHANGED, &json!({"_meta": meta})));
        }
        lines
    }

    /// The answers to all that waits, now that its server is gone.
    pub(super) fn lost(&mut self) -> Vec<u8> {
        let mut lines = Vec::new();
        self.renewed.clear();
        self.reopened.clear();
        for (id, waiting) in std::mem::take(&mut self.in_flight) {
            let id: Value = serde_json::from_str(&id).unwrap_or_default();
            let answer = if waiting.method == "tools/call" {
                let mut result = json!({"content": [{"type": "text", "text": LOST}], "isError": true});
                if waiting.stateless
                    && let Some(fields) = result.as_object_mut()
                {
                    fields.insert("resultType".to_owned(), json!("complete"));
                }
                json!({"jsonrpc": "2.0", "id": id, "result": result})
            } else {
                let message = "the server went away before it answered; ask again";
                json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32000, "message": message}})
            };
            print(&mut lines, &answer);
        }
        lines
    }

    /// How the client introduced itself, if it did: the line, the id, and whether the client has had the answer.
    pub(super) fn hello(&self) -> Option<(&str, &[u8], bool)> {
        self.hello.as_ref().map(|(id, line)| (id.as_str(), line.as_slice(), self.hello_answered))
    }

    /// What else a new server has to hear: that the client is ready, and what it listens and subscribed to.
    pub(super) fn again(&mut self) -> Vec<u8> {
        let ready = self.ready.iter().filter(|_| self.hello_answered);
        let listens = self.listens.values().map(|listen| &listen.line);
        let mut lines: Vec<u8> = ready.chain(listens).flatten().copied().collect();
        let known = self.listens.iter().filter(|(_, listen)| listen.acknowledged);
        self.reopened = known.map(|(id, _)| id.clone()).collect();
        if !self.hello_answered {
            return lines;
        }
        let mut ask = |method: &str, params: Value, renewed: Renewed| {
            // No client's request has such an id by chance.
            let id = json!(format!("dtmcp-connect-again-{}", self.renewed.len()));
            print(&mut lines, &json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
            self.renewed.insert(id.to_string(), renewed);
        };
        if self.lists {
            ask("resources/list", json!({}), Renewed::List);
        }
        for uri in &self.subscribed {
            ask(SUBSCRIBE, json!({ "uri": uri }), Renewed::Subscription(uri.clone()));
        }
        lines
    }

    /// What tells the client that there are other tools, in each way it listens.
    pub(super) fn tools_changed(&self) -> Vec<u8> {
        const METHOD: &str = "notifications/tools/list_changed";
        let mut lines = Vec::new();
        if self.hello_answered {
            print(&mut lines, &json!({"jsonrpc": "2.0", "method": METHOD}));
        }
        for (id, listen) in &self.listens {
            let asked: Value = serde_json::from_slice(&listen.line).unwrap_or_default();
            if asked.pointer("/params/notifications/toolsListChanged") != Some(&json!(true)) {
                continue;
            }
            let id: Value = serde_json::from_str(id).unwrap_or_default();
            print(&mut lines, &notification(METHOD, &json!({"_meta": {SUBSCRIPTION_ID: id}})));
        }
        lines
    }
}

/// Whether a line of the server's is the answer with this id.
pub(super) fn answers(line: &[u8], id: &str) -> bool {
    messages(line).iter().any(|(head, _)| head.method.is_none() && head.id.is_some_and(|given| given.get() == id))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

    use super::*;

    fn lines(bytes: &[u8]) -> Vec<Value> {
        bytes.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect()
    }

    #[test]
    fn what_waits_is_answered_once_and_nothing_else() {
        let mut traffic = Traffic::default();
        traffic.asked(br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"run"}}"#);
        traffic.asked(br#"{"jsonrpc":"2.0","id":"a","method":"tools/list"}"#);
        traffic.asked(br#"[{"jsonrpc":"2.0","id":2,"method":"ping"},{"jsonrpc":"2.0","id":3,"method":"ping"}]"#);
        traffic.asked(br#"{"jsonrpc":"2.0","id":4,"method":"tools/call"}"#);
        traffic.asked(br#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":4}}"#);
        traffic.answered(br#"{"jsonrpc":"2.0","id":2,"result":{}}"#.to_vec());
        traffic.answered(br#"{"jsonrpc":"2.0","id":"a","method":"ping"}"#.to_vec());
        let answers = lines(&traffic.lost());
        let ids: Vec<&Value> = answers.iter().map(|answer| &answer["id"]).collect();
        assert_eq!(ids, [&json!("a"), &json!(1), &json!(3)]);
        assert!(answers[0]["error"]["message"].is_string());
        assert_eq!(answers[1]["result"]["isError"], true);
        assert!(traffic.lost().is_empty());
    }

    #[test]
    fn an_introduction_is_said_again_and_what_came_after_it() {
        let mut traffic = Traffic::default();
        traffic.asked(b"{\"id\":1,\"method\":\"initialize\"}\n");
        traffic.asked(b"{\"method\":\"notifications/initialized\"}\n");
        assert_eq!(traffic.hello(), Some(("1", &b"{\"id\":1,\"method\":\"initialize\"}\n"[..], false)));
        assert!(traffic.again().is_empty(), "its answer comes first");
        traffic.answered(br#"{"id":1,"result":{}}"#.to_vec());
        assert_eq!(traffic.again(), b"{\"method\":\"notifications/initialized\"}\n");
        assert_eq!(lines(&traffic.tools_changed()).len(), 1);
        assert!(traffic.lost().is_empty());
    }

    #[test]
    fn a_subscription_lives_until_it_is_answered_or_cancelled() {
        let mut traffic = Traffic::default();
        let listen = |id: u8| {
            format!(
                "{{\"id\":{id},\"method\":\"subscriptions/listen\",\"params\":{{\"notifications\":{{\"toolsListChanged\":true}}}}}}\n"
            )
        };
        for id in 1..=3 {
            traffic.asked(listen(id).as_bytes());
        }
        traffic.answered(br#"{"id":1,"result":{}}"#.to_vec());
        traffic.asked(br#"{"method":"notifications/cancelled","params":{"requestId":2}}"#);
        assert_eq!(traffic.again(), listen(3).as_bytes());
        assert!(traffic.lost().is_empty());
        let told = lines(&traffic.tools_changed());
        assert_eq!(told.len(), 1);
        assert_eq!(told[0]["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], 3);
    }

    #[test]
    fn a_call_of_the_life_cycle_without_sessions_is_answered_in_its_form() {
        let mut traffic = Traffic::default();
        let call = json!({"id": 1, "method": "tools/call", "params": {"_meta": {STATELESS: "2026-07-28"}}});
        traffic.asked(call.to_string().as_bytes());
        assert_eq!(lines(&traffic.lost())[0]["result"]["resultType"], "complete");
    }

    #[test]
    fn subscriptions_are_renewed_and_told_of_what_they_may_have_missed() {
        let mut traffic = Traffic::default();
        traffic.asked(b"{\"id\":1,\"method\":\"initialize\"}\n");
        traffic.answered(br#"{"id":1,"result":{}}"#.to_vec());
        for (id, uri) in [(2, "dtmcp://t1"), (3, "dtmcp://t2"), (4, "dtmcp://t9")] {
            let asked = json!({"id": id, "method": "resources/subscribe", "params": {"uri": uri}});
            traffic.asked(asked.to_string().as_bytes());
        }
        traffic.asked(br#"{"id":5,"method":"resources/unsubscribe","params":{"uri":"dtmcp://t2"}}"#);
        for id in [2, 3, 5] {
            traffic.answered(json!({"id": id, "result": {}}).to_string().into_bytes());
        }
        traffic.answered(br#"{"id":4,"error":{"code":-32002,"message":"no"}}"#.to_vec());
        for _ in 0..2 {
            assert!(traffic.lost().is_empty());
            let again = lines(&traffic.again());
            let asked: Vec<(&str, &Value)> =
                again.iter().map(|line| (line["method"].as_str().unwrap(), &line["params"]["uri"])).collect();
            assert_eq!(asked, [("resources/list", &Value::Null), ("resources/subscribe", &json!("dtmcp://t1"))]);
            let listed =
                traffic.answered(json!({"id": again[0]["id"], "result": {"resources": []}}).to_string().into());
            assert_eq!(lines(&listed)[0]["method"], "notifications/resources/list_changed");
            let renewed = traffic.answered(json!({"id": again[1]["id"], "error": {}}).to_string().into());
            assert_eq!(lines(&renewed)[0]["params"]["uri"], "dtmcp://t1", "also where it is no more");
        }
    }

    #[test]
    fn a_stream_is_acknowledged_once_and_told_of_what_it_may_have_missed() {
        let mut traffic = Traffic::default();
        let wanted = json!({"resourceSubscriptions": ["dtmcp://t1", "file:///x"], "resourcesListChanged": true});
        let listen = json!({"id": 7, "method": "subscriptions/listen", "params": {"notifications": wanted}});
        traffic.asked(listen.to_string().as_bytes());
        let meta = json!({"_meta": {SUBSCRIPTION_ID: 7}});
        let acknowledged = json!({"method": ACKNOWLEDGED, "params": meta}).to_string().into_bytes();
        // The first server went before it said so.
        assert_eq!(lines(&traffic.again()).len(), 1);
        assert_eq!(traffic.answered(acknowledged.clone()), acknowledged);
        assert_eq!(lines(&traffic.again()).len(), 1);
        let told = lines(&traffic.answered(acknowledged.clone()));
        assert_eq!(told.len(), 2, "{told:?}");
        assert_eq!(told[0]["params"], json!({"uri": "dtmcp://t1", "_meta": {SUBSCRIPTION_ID: 7}}));
        assert_eq!(told[1]["method"], LIST_CHANGED);
        assert_eq!(traffic.answered(acknowledged.clone()), acknowledged, "whatever else the server means by it");
    }

    #[test]
    fn nothing_else_of_a_batch_is_asked_again() {
        let mut traffic = Traffic::default();
        traffic.asked(br#"[{"id":1,"method":"initialize"},{"id":2,"method":"tools/call"},{"id":3,"method":"subscriptions/listen"}]"#);
        traffic.answered(br#"[{"id":1,"result":{}}]"#.to_vec());
        assert_eq!(traffic.hello(), Some(("1", &b"{\"id\":1,\"method\":\"initialize\"}\n"[..], true)));
        assert_eq!(traffic.again(), b"{\"id\":3,\"method\":\"subscriptions/listen\"}\n");
    }
}
