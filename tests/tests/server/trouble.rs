//! A terminal that refuses, lags or loses a pane, and clients that give up.

use dtmcp::terminal::TerminalError;
use serde_json::json;

use super::client::{World, until};

#[tokio::test]
async fn a_refusal_is_told_in_the_terminals_words() {
    let world = World::new();
    let mut client = world.client("a").await;
    client.create("x").await;
    world.terminal.refuse(Some(TerminalError::NoAnswer));
    let refused = client.run("x", "echo hi").await;
    assert!(refused.error().contains("Nothing was typed"), "{}", refused.text);
    assert_eq!(world.json("x", "intent.json")["state"], "refused");
    for (tool, arguments) in [
        ("send", json!({ "text": "x" })),
        ("session_resize", json!({ "cols": 80 })),
        ("read", json!({ "view": "screen" })),
        ("session_create", json!({})),
    ] {
        let refused = client.call(tool, arguments).await;
        assert!(refused.error().contains("tmux does not answer"), "{tool}: {}", refused.text);
    }
    // What needs no terminal works meanwhile.
    assert!(!client.call("read", json!({})).await.is_error);
    assert!(!client.call("session_list", json!({})).await.is_error);
    world.terminal.refuse(None);
    assert_eq!(client.run("x", "echo hi").await.output(), "hi");
    assert_eq!(world.terminal.typed(), "echo hi\r");
    client.leave().await;
}

#[tokio::test]
async fn a_session_that_cannot_be_closed_goes_on() {
    let world = World::new();
    let mut client = world.client("a").await;
    client.create("x").await;
    let runs = client.start("run", json!({ "line": "sleep 1; echo end" })).await;
    until("it runs", || world.regions("x").len() == 1).await;
    world.terminal.refuse(Some(TerminalError::NoAnswer));
    let refused = client.call("session_close", json!({})).await;
    assert!(refused.error().contains("could not be closed"), "{}", refused.text);
    world.terminal.refuse(None);
    assert_eq!(client.finish(runs).await.output(), "end");
    assert_eq!(client.run("x", "echo hi").await.output(), "hi");
    assert!(!client.call("session_close", json!({})).await.is_error);
    client.leave().await;
}

#[tokio::test]
async fn a_pane_that_goes_ends_what_runs_in_it() {
    let world = World::new();
    let mut client = world.client("a").await;
    client.create("x").await;
    let runs = client.start("run", json!({ "line": "echo begun; sleep 600" })).await;
    until("it runs", || world.file("x", "raw.log").contains("begun\r\n")).await;
    world.terminal.lose("x");
    let ended = client.finish(runs).await;
    assert_eq!(ended.status(), "ended", "{}", ended.text);
    assert!(ended.text.contains("its pane is gone"), "{}", ended.text);
    assert_eq!(world.regions("x")[0]["state"], "lost");
    assert!(world.json("x", "meta.json")["closed"].is_u64());
    // It is a closed session at once.
    let refused = client.run("x", "true").await;
    let refused = refused.error();
    assert!(refused.contains("is closed") && refused.contains("sleep 600\" ran there"), "{refused}");
    let list = client.call("session_list", json!({})).await.text;
    assert!(list.starts_with("[0 sessions]") && list.contains("sleep 600\" ran there"), "{list}");
    let all = client.call("session_list", json!({ "closed": true })).await;
    assert_eq!(all.meta["sessions"][0]["state"], "closed", "{}", all.text);
    let read = client.call("read", json!({ "session": "x", "region": 1, "numbers": false })).await;
    assert_eq!(read.output(), "begun", "{}", read.text);
    client.create("y").await;
    assert_eq!(client.call("run", json!({ "line": "echo only" })).await.output(), "only");
    client.create("x").await;
    assert_eq!(client.run("x", "echo new").await.output(), "new");
    let old = client.call("read", json!({ "session": "x.1", "region": 1, "numbers": false })).await;
    assert_eq!(old.output(), "begun", "{}", old.text);
    client.leave().await;
}

#[tokio::test]
async fn a_session_whose_program_ended_is_open_until_its_pane_goes() {
    let world = World::new();
    let mut client = world.client("a").await;
    client.create("x").await;
    assert_eq!(client.run("x", "exit").await.status(), "ended");
    let listed = client.call("session_list", json!({})).await;
    assert_eq!(listed.meta["sessions"][0]["state"], "ended", "{}", listed.text);
    let taken = client.call("session_create", json!({ "name": "x" })).await;
    assert!(taken.error().contains("open already"), "{}", taken.text);
    world.terminal.lose("x");
    until("it is closed", || world.json("x", "meta.json")["closed"].is_u64()).await;
    assert_eq!(world.json("x", "meta.json")["exit"], 0);
    client.create("x").await;
    assert_eq!(client.run("x", "echo new").await.output(), "new");
    client.leave().await;
}

#[tokio::test]
async fn a_pane_that_takes_no_text_is_looked_at() {
    let world = World::new();
    let mut client = world.client("a").await;
    client.create("x").await;
    world.terminal.strike_dead("x");
    assert!(client.run("x", "true").await.is_error);
    let listed = client.call("session_list", json!({})).await;
    let session = &listed.meta["sessions"][0];
    assert_eq!(session["state"], "ended", "{}", listed.text);
    assert!(session["runs"].as_str().unwrap().contains("without telling its status"), "{}", listed.text);
    // And when it goes for good, that is seen too.
    world.terminal.lose("x");
    until("it is closed", || world.json("x", "meta.json")["closed"].is_u64()).await;
    client.create("x").await;
    client.leave().await;
}

#[tokio::test]
async fn a_call_is_cancelled_while_the_terminal_lags() {
    let world = World::new();
    let mut client = world.client("a").await;
    client.create("x").await;
    world.terminal.hold(&["x"]);
    let first = client.start("run", json!({ "line": "echo one" })).await;
    until("it is about to be typed", || world.json("x", "intent.json")["state"] == "typing").await;
    client.cancel(first).await;
    let second = client.start("run", json!({ "line": "echo two" })).await;
    world.terminal.hold(&[]);
    assert_eq!(client.finish(second).await.output(), "two");
    assert_eq!(world.terminal.typed(), "echo one\recho two\r", "what was under way is typed, once");
    let regions = client.call("regions", json!({})).await;
    assert_eq!(regions.meta["regions"][0]["label"], "echo one");
    client.leave().await;
}

#[tokio::test]
async fn a_call_is_cancelled_while_its_command_runs() {
    let world = World::new();
    let mut client = world.client("a").await;
    client.create("x").await;
    let runs = client.start("run", json!({ "line": "sleep 0.5; status 6" })).await;
    until("it runs", || world.regions("x").len() == 1).await;
    client.cancel(runs).await;
    let waited = client.call("wait", json!({})).await;
    assert_eq!((waited.status(), &waited.meta["exit"]), ("finished", &json!(6)), "{}", waited.text);
    let next = client.run("x", "true").await;
    assert!(!next.text.contains("finished since"), "{}", next.text);
    client.leave().await;
}
