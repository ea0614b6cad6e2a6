//! Sessions and regions as MCP resources, with real sessions behind them: over stdio, over the bridge with restarts, and
//! over HTTP in both life cycles.

use dtmcp_tests::binary;
use dtmcp_tests::client::Client;
use dtmcp_tests::person::{Person, wait_until};
use dtmcp_tests::serving::{self, MCP, Serving, hello};
use serde_json::{Value, json};

use super::{Row, Tested, holds};

pub(crate) const ROWS: &[Row] = &[
    ("a_client_reads_what_a_model_would", &["tmux", "bash"], a_client_reads_what_a_model_would),
    (
        "a_client_is_told_of_ends_questions_and_answers",
        &["tmux", "bash"],
        a_client_is_told_of_ends_questions_and_answers,
    ),
    ("opened_and_closed_sessions_are_told", &["tmux", "bash"], opened_and_closed_sessions_are_told),
    ("what_was_missed_is_told_after_a_restart", &["tmux", "bash"], what_was_missed_is_told_after_a_restart),
    ("who_listens_hears_on_after_a_restart", &["tmux", "bash"], who_listens_hears_on_after_a_restart),
    ("a_session_over_http_is_told_on_its_stream", &["tmux", "bash"], a_session_over_http_is_told_on_its_stream),
    ("without_a_session_a_request_is_the_stream", &["tmux", "bash"], without_a_session_a_request_is_the_stream),
];

const UPDATED: &str = "notifications/resources/updated";
const LIST_CHANGED: &str = "notifications/resources/list_changed";

/// How often a client has been told of this address, or of other sessions where there is none.
fn told(messages: &[Value], uri: Option<&str>) -> usize {
    let is = |message: &&Value| match uri {
        Some(uri) => message["method"] == UPDATED && message["params"]["uri"] == uri,
        None => message["method"] == LIST_CHANGED,
    };
    messages.iter().filter(is).count()
}

fn read(client: &mut Client, uri: &str) -> Result<String, String> {
    let answer = client.request("resources/read", json!({ "uri": uri }))?;
    let text = answer.pointer("/result/contents/0/text").and_then(Value::as_str);
    text.map(str::to_owned).ok_or_else(|| answer.to_string())
}

fn subscribe(client: &mut Client, uri: &str) -> Result<(), String> {
    let answer = client.request("resources/subscribe", json!({ "uri": uri }))?;
    if answer["result"].is_object() { Ok(()) } else { Err(answer.to_string()) }
}

fn uris(list: &Value) -> Vec<&str> {
    let listed = list.pointer("/result/resources").and_then(Value::as_array).into_iter().flatten();
    listed.filter_map(|entry| entry["uri"].as_str()).collect()
}

fn a_client_reads_what_a_model_would() -> Tested {
    let world = serving::world()?;
    let mut client = world.client()?;
    client.call("session_create", json!({"name": "t1"}))?;
    client.run("seq 3; false")?;
    client.call("run", json!({"line": "printf 'go on? '; read answer", "timeout": 0.5}))?;
    let list = client.request("resources/list", json!({}))?;
    holds!(uris(&list) == ["dtmcp://t1", "dtmcp://t1/2", "dtmcp://t1/1"], "{list}");
    holds!(list["result"]["resources"][2]["title"] == "seq 3; false", "{list}");
    let text = read(&mut client, "dtmcp://t1/1")?;
    holds!(text.starts_with("[t1 #1 exit 1 ") && text.ends_with("---\n1\n2\n3"), "{text}");
    wait_until("the question is seen", || read(&mut client, "dtmcp://t1").is_ok_and(|text| text.contains("waiting")))?;
    let whole = read(&mut client, "dtmcp://t1")?;
    holds!(whole.contains("#2") && whole.contains("go on?"), "{whole}");
    client.call("send", json!({"text": "yes", "keys": ["enter"]}))?;
    wait_until("what asked ends", || read(&mut client, "dtmcp://t1/2").is_ok_and(|text| text.contains("exit 0")))?;
    // Long output is clipped as in a reply, and nothing of what is read counts as told.
    client.call("run", json!({"line": "sleep 1; seq 100000", "timeout": 0.2}))?;
    wait_until("it ends", || read(&mut client, "dtmcp://t1/4").is_ok_and(|text| text.contains("exit 0")))?;
    let text = read(&mut client, "dtmcp://t1/4")?;
    holds!(text.len() < 8_000 && text.contains("read session=\"t1\" region=4"), "{text}");
    let next = client.run("true")?;
    holds!(next.text.contains("#4") && next.text.contains("finished"), "{next:?}");
    for uri in ["dtmcp://t1/99", "dtmcp://t2", "file:///etc/passwd"] {
        let answer = client.request("resources/read", json!({ "uri": uri }))?;
        holds!(answer["error"]["code"] == -32002, "{answer}");
    }
    client.call("session_close", json!({"session": "t1"}))?;
    let list = client.request("resources/list", json!({}))?;
    holds!(uris(&list).is_empty(), "{list}");
    holds!(read(&mut client, "dtmcp://t1")?.contains("100000"), "a closed session is read all the same");
    holds!(read(&mut client, "dtmcp://t1/1")?.ends_with("---\n1\n2\n3"), "and its regions");
    Ok(())
}

fn a_client_is_told_of_ends_questions_and_answers() -> Tested {
    let world = serving::world()?;
    let mut client = world.client()?;
    client.call("session_create", json!({"name": "t1"}))?;
    let gate = world.root().join("gate");
    let line = format!("until [ -e {} ]; do echo working; sleep 0.1; done; printf 'go? '; read a", gate.display());
    client.call("run", json!({"line": line, "timeout": 0.5}))?;
    for uri in ["dtmcp://t1", "dtmcp://t1/1"] {
        subscribe(&mut client, uri)?;
    }
    wait_until("it works on", || {
        read(&mut client, "dtmcp://t1").is_ok_and(|text| text.matches("working").count() > 10)
    })?;
    holds!(told(&client.notifications(), Some("dtmcp://t1")) == 0, "not of output: {:?}", client.notifications());
    std::fs::write(&gate, "").map_err(|error| error.to_string())?;
    wait_until("it is told to wait", || told(&client.notifications(), Some("dtmcp://t1/1")) == 1)?;
    holds!(read(&mut client, "dtmcp://t1/1")?.contains("waiting"), "it waits");
    let mut person = Person::attach(&world, "t1", 80, 24)?;
    person.types("yes\r")?;
    wait_until("its end is told", || {
        read(&mut client, "dtmcp://t1/1").is_ok_and(|text| text.contains("exit 0"))
            && told(&client.notifications(), Some("dtmcp://t1/1")) >= 2
    })?;
    holds!(told(&client.notifications(), Some("dtmcp://t1")) >= 2, "{:?}", client.notifications());
    let before = told(&client.notifications(), Some("dtmcp://t1/1"));
    let session = told(&client.notifications(), Some("dtmcp://t1"));
    person.types("sleep 0.1\r")?;
    wait_until("a person's command is told", || told(&client.notifications(), Some("dtmcp://t1")) > session)?;
    holds!(told(&client.notifications(), Some("dtmcp://t1/1")) == before, "the old region is as it was");
    Ok(())
}

fn opened_and_closed_sessions_are_told() -> Tested {
    let world = serving::world()?;
    let _serving = Serving::start(&world, &[])?;
    let mut one = Serving::client(&world, Some("one"))?;
    let mut two = Serving::client(&world, Some("two"))?;
    two.request("resources/list", json!({}))?;
    one.call("session_create", json!({"name": "t1"}))?;
    wait_until("it is told", || told(&two.notifications(), None) == 1)?;
    holds!(told(&one.notifications(), None) == 0, "who never asked is not woken");
    subscribe(&mut two, "dtmcp://t1")?;
    one.call("session_close", json!({"session": "t1"}))?;
    wait_until("it is told", || told(&two.notifications(), None) == 2)?;
    wait_until("of the session too", || told(&two.notifications(), Some("dtmcp://t1")) >= 1)?;
    Ok(())
}

fn what_was_missed_is_told_after_a_restart() -> Tested {
    let world = serving::world()?;
    let serving = Serving::start(&world, &[])?;
    let mut client = Serving::client(&world, Some("one"))?;
    client.call("session_create", json!({"name": "t1"}))?;
    let gate = world.root().join("gate");
    let line = format!("until [ -e {} ]; do sleep 0.1; done; echo over", gate.display());
    client.call("run", json!({"line": line, "timeout": 0.5}))?;
    subscribe(&mut client, "dtmcp://t1/1")?;
    serving.kill()?;
    std::fs::write(&gate, "").map_err(|error| error.to_string())?;
    let serving = Serving::start(&world, &[])?;
    wait_until("it is told", || {
        told(&client.notifications(), Some("dtmcp://t1/1")) >= 1
            && read(&mut client, "dtmcp://t1/1").is_ok_and(|text| text.contains("exit 0"))
    })?;
    let text = read(&mut client, "dtmcp://t1/1")?;
    holds!(text.ends_with("---\nover"), "{text}");
    // The new server tells on, and what was ended is not begun again.
    subscribe(&mut client, "dtmcp://t1")?;
    client.request("resources/unsubscribe", json!({"uri": "dtmcp://t1/1"}))?;
    serving.kill()?;
    let before = told(&client.notifications(), Some("dtmcp://t1/1"));
    let _serving = Serving::start(&world, &[])?;
    wait_until("it is told", || told(&client.notifications(), Some("dtmcp://t1")) >= 1)?;
    let session = told(&client.notifications(), Some("dtmcp://t1"));
    client.run("true")?;
    wait_until("of the end", || told(&client.notifications(), Some("dtmcp://t1")) > session)?;
    holds!(told(&client.notifications(), Some("dtmcp://t1/1")) == before, "{:?}", client.notifications());
    Ok(())
}

/// What a request of the newest revision says of itself.
fn meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "probe", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

fn who_listens_hears_on_after_a_restart() -> Tested {
    let world = serving::world()?;
    let serving = Serving::start(&world, &[])?;
    let mut owner = Serving::client(&world, Some("owner"))?;
    owner.call("session_create", json!({"name": "t1"}))?;
    let mut command = world.command(binary::dtmcp()?);
    command.args(["connect", "--actor", "new"]);
    let mut client = Client::start(command)?;
    let wanted = json!({"resourceSubscriptions": ["dtmcp://t1"], "resourcesListChanged": true});
    let listens = client.ask("subscriptions/listen", json!({"notifications": wanted, "_meta": meta()}))?;
    let acknowledged = |client: &mut Client| {
        let messages = client.notifications();
        messages.iter().filter(|message| message["method"] == "notifications/subscriptions/acknowledged").count()
    };
    wait_until("it listens", || acknowledged(&mut client) == 1)?;
    owner.run("true")?;
    wait_until("it hears", || told(&client.notifications(), Some("dtmcp://t1")) == 1)?;
    serving.kill()?;
    let _serving = Serving::start(&world, &[])?;
    wait_until("it hears what it may have missed", || {
        told(&client.notifications(), Some("dtmcp://t1")) >= 2 && told(&client.notifications(), None) >= 1
    })?;
    let before = told(&client.notifications(), Some("dtmcp://t1"));
    owner.run("true")?;
    wait_until("it hears on", || told(&client.notifications(), Some("dtmcp://t1")) > before)?;
    holds!(acknowledged(&mut client) == 1, "it notices nothing else: {:?}", client.notifications());
    let updates = client.notifications();
    let updates: Vec<&Value> = updates.iter().filter(|message| message["method"] == UPDATED).collect();
    let ours = |message: &&Value| message["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"] == listens;
    holds!(updates.iter().all(ours), "{updates:?}");
    Ok(())
}

fn a_session_over_http_is_told_on_its_stream() -> Tested {
    let world = serving::world()?;
    let serving = Serving::start(&world, &[])?;
    let mut owner = Serving::client(&world, Some("owner"))?;
    owner.call("session_create", json!({"name": "t1"}))?;
    let begun = serving.ask("POST", "/mcp", &MCP, &hello("x"));
    let session = begun.header("mcp-session-id").ok_or_else(|| format!("{begun:?}"))?.to_owned();
    let mut headers = MCP.to_vec();
    headers.extend([("mcp-session-id", session.as_str()), ("mcp-protocol-version", "2025-06-18")]);
    let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string();
    holds!(serving.ask("POST", "/mcp", &headers, &ready).status == 202, "a notification");
    let stream = serving.stream("GET", "/mcp", &headers, "")?;
    wait_until("the stream begins", || stream.heard().contains("text/event-stream"))?;
    let request = |method: &str, uri: &str| {
        json!({"jsonrpc": "2.0", "id": 2, "method": method, "params": {"uri": uri}}).to_string()
    };
    let subscribed = serving.ask("POST", "/mcp", &headers, &request("resources/subscribe", "dtmcp://t1"));
    holds!(subscribed.status == 200 && !subscribed.body.contains("error"), "{subscribed:?}");
    owner.run("true")?;
    wait_until("it is told", || told(&stream.notifications(), Some("dtmcp://t1")) == 1)?;
    let read = serving.ask("POST", "/mcp", &headers, &request("resources/read", "dtmcp://t1"));
    holds!(read.body.contains("#1 exit 0"), "{read:?}");
    // Its end takes what it subscribed to along: nobody watches the session any more.
    holds!(serving.ask("DELETE", "/mcp", &headers, "").status < 300, "it ends");
    let before = stream.notifications().len();
    owner.run("true")?;
    owner.run("true")?;
    holds!(stream.notifications().len() == before, "{:?}", stream.notifications());
    Ok(())
}

fn without_a_session_a_request_is_the_stream() -> Tested {
    let world = serving::world()?;
    let serving = Serving::start(&world, &[])?;
    let mut owner = Serving::client(&world, Some("owner"))?;
    owner.call("session_create", json!({"name": "t1"}))?;
    let headers = |method: &'static str, name: Option<&'static str>| {
        let mut headers = MCP.to_vec();
        headers.extend([("mcp-protocol-version", "2026-07-28"), ("mcp-method", method)]);
        headers.extend(name.map(|name| ("mcp-name", name)));
        headers
    };
    let wanted = json!({"resourceSubscriptions": ["dtmcp://t1"], "resourcesListChanged": true});
    let params = json!({"notifications": wanted, "_meta": meta()});
    let body = json!({"jsonrpc": "2.0", "id": 5, "method": "subscriptions/listen", "params": params}).to_string();
    let stream = serving.stream("POST", "/mcp", &headers("subscriptions/listen", None), &body)?;
    wait_until("it is acknowledged", || stream.heard().contains("notifications/subscriptions/acknowledged"))?;
    owner.run("true")?;
    wait_until("it is told", || told(&stream.notifications(), Some("dtmcp://t1")) == 1)?;
    owner.call("session_create", json!({"name": "t2"}))?;
    wait_until("of the new session", || told(&stream.notifications(), None) == 1)?;
    let params = json!({"uri": "dtmcp://t1", "_meta": meta()});
    let body = json!({"jsonrpc": "2.0", "id": 6, "method": "resources/read", "params": params}).to_string();
    let read = serving.ask("POST", "/mcp", &headers("resources/read", Some("dtmcp://t1")), &body);
    holds!(read.status == 200 && read.body.contains("#1 exit 0"), "{read:?}");
    let body = json!({"jsonrpc": "2.0", "id": 7, "method": "resources/subscribe", "params": params}).to_string();
    let refused = serving.ask("POST", "/mcp", &headers("resources/subscribe", Some("dtmcp://t1")), &body);
    holds!(refused.body.contains("-32601"), "there is no connection to be told on: {refused:?}");
    Ok(())
}
