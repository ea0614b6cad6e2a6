//! What a bridge has to know of the lines that pass through it: which requests wait for an answer, and how the client
//! introduced itself, so that another server can be told.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// Requests that are remembered; a client has a handful in flight. One beyond is passed on all the same, and only not
/// answered should the server go away.
const IN_FLIGHT_MAX: usize = 4096;

/// The life cycle without sessions, in which each request says whose it is.
const STATELESS: &str = "io.modelcontextprotocol/protocolVersion";

/// What a request's answer is when the server went away during it.
const LOST: &str = "error: the server went away during this call, and the call was not repeated. If it typed something, \
    that stays typed, and the command goes on: look with regions, or wait for it, before anything is run again";

/// The part of a message that says what it is.
#[derive(Debug, Deserialize)]
struct Head<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    method: Option<String>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
}

/// A request that waits.
#[derive(Debug)]
struct Waiting {
    method: String,
    stateless: bool,
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
    /// Open subscriptions, by id.
    listens: BTreeMap<String, Vec<u8>>,
}

/// The messages of a line: one, or those of a batch.
fn heads(line: &[u8]) -> Vec<Head<'_>> {
    if let Ok(head) = serde_json::from_slice::<Head<'_>>(line) {
        return vec![head];
    }
    serde_json::from_slice::<Vec<Head<'_>>>(line).unwrap_or_default()
}

impl Traffic {
    /// A line from the client, before it goes to the server.
    pub(super) fn asked(&mut self, line: &[u8]) {
        for head in heads(line) {
            match (head.id, head.method) {
                (Some(id), Some(method)) => self.request(id.get(), method, head.params, line),
                (None, Some(method)) if method == "notifications/initialized" => self.ready = Some(line.to_vec()),
                (None, Some(method)) if method == "notifications/cancelled" => {
                    let params = head.params.and_then(|params| serde_json::from_str::<Value>(params.get()).ok());
                    if let Some(id) = params.as_ref().and_then(|params| params.get("requestId")) {
                        // No answer is due any more, and a subscription that is cancelled is over.
                        self.in_flight.remove(&id.to_string());
                        self.listens.remove(&id.to_string());
                    }
                }
                _ => {}
            }
        }
    }

    fn request(&mut self, id: &str, method: String, params: Option<&RawValue>, line: &[u8]) {
        match method.as_str() {
            "initialize" => {
                self.hello = Some((id.to_owned(), line.to_vec()));
                self.hello_answered = false;
            }
            "subscriptions/listen" => {
                self.listens.insert(id.to_owned(), line.to_vec());
            }
            _ if self.in_flight.len() < IN_FLIGHT_MAX => {
                let stateless = params.is_some_and(|params| params.get().contains(STATELESS));
                self.in_flight.insert(id.to_owned(), Waiting { method, stateless });
            }
            _ => {}
        }
    }

    /// A line from the server, before it goes to the client.
    pub(super) fn answered(&mut self, line: &[u8]) {
        for head in heads(line) {
            if let (Some(id), None) = (head.id, head.method) {
                self.in_flight.remove(id.get());
                self.listens.remove(id.get());
                if self.hello.as_ref().is_some_and(|(hello, _)| hello == id.get()) {
                    self.hello_answered = true;
                }
            }
        }
    }

    /// The answers to all that waits, now that its server is gone.
    pub(super) fn lost(&mut self) -> Vec<u8> {
        let mut lines = Vec::new();
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
            lines.extend(format!("{answer}\n").into_bytes());
        }
        lines
    }

    /// How the client introduced itself, if it did: the line, the id, and whether the client has had the answer.
    pub(super) fn hello(&self) -> Option<(&str, &[u8], bool)> {
        self.hello.as_ref().map(|(id, line)| (id.as_str(), line.as_slice(), self.hello_answered))
    }

    /// What else a new server has to hear: that the client is ready, and what it listens to.
    pub(super) fn again(&self) -> Vec<u8> {
        let ready = self.ready.iter().filter(|_| self.hello_answered);
        ready.chain(self.listens.values()).flatten().copied().collect()
    }

    /// What tells the client that there are other tools, in each way it listens.
    pub(super) fn tools_changed(&self) -> Vec<u8> {
        const METHOD: &str = "notifications/tools/list_changed";
        let mut lines = Vec::new();
        if self.hello_answered {
            lines.extend(format!("{}\n", json!({"jsonrpc": "2.0", "method": METHOD})).into_bytes());
        }
        for (id, line) in &self.listens {
            let asked: Value = serde_json::from_slice(line).unwrap_or_default();
            if asked.pointer("/params/notifications/toolsListChanged") != Some(&json!(true)) {
                continue;
            }
            let id: Value = serde_json::from_str(id).unwrap_or_default();
            let meta = json!({"io.modelcontextprotocol/subscriptionId": id});
            let told = json!({"jsonrpc": "2.0", "method": METHOD, "params": {"_meta": meta}});
            lines.extend(format!("{told}\n").into_bytes());
        }
        lines
    }
}

/// Whether a line of the server's is the answer with this id.
pub(super) fn answers(line: &[u8], id: &str) -> bool {
    heads(line).iter().any(|head| head.method.is_none() && head.id.is_some_and(|given| given.get() == id))
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
        traffic.answered(br#"{"jsonrpc":"2.0","id":2,"result":{}}"#);
        traffic.answered(br#"{"jsonrpc":"2.0","id":"a","method":"ping"}"#);
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
        traffic.answered(br#"{"id":1,"result":{}}"#);
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
        traffic.answered(br#"{"id":1,"result":{}}"#);
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
}
