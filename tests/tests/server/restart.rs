//! A client goes in the middle of things, and the next server takes over.

use serde_json::json;

use super::client::{World, until};

#[tokio::test]
async fn a_command_outlives_its_server() {
    let world = World::new();
    let mut client = world.client("a").await;
    client.create("x").await;
    client.start("run", json!({ "line": "echo begun; sleep 1; status 3" })).await;
    until("it runs", || world.file("x", "raw.log").contains("begun\r\n")).await;
    client.leave().await;
    let mut client = world.client("a").await;
    let waited = client.call("wait", json!({ "session": "x" })).await;
    assert_eq!((waited.status(), &waited.meta["exit"], waited.output()), ("finished", &json!(3), "begun"));
    assert_eq!(world.terminal.typed().matches("begun").count(), 1);
    assert_eq!(world.regions("x")[0]["actor"], "a");
    client.leave().await;
}

#[tokio::test]
async fn what_ends_between_servers_is_told_by_the_next() {
    let world = World::new();
    let mut client = world.client("a").await;
    client.create("x").await;
    client.call("run", json!({ "line": "sleep 0.3; status 3", "timeout": 0 })).await;
    client.leave().await;
    until("it ends", || world.file("x", "raw.log").matches("$ ").count() == 2).await;
    let mut client = world.client("a").await;
    let next = client.run("x", "true").await;
    assert!(next.text.contains("note: finished since your last call: #1"), "{}", next.text);
    assert!(!client.run("x", "true").await.text.contains("finished since"));
    client.leave().await;
}

#[tokio::test]
async fn a_client_goes_while_the_terminal_lags() {
    let world = World::new();
    let mut client = world.client("a").await;
    client.create("x").await;
    world.terminal.hold(&["x"]);
    client.start("run", json!({ "line": "status 5" })).await;
    until("it is about to be typed", || world.json("x", "intent.json")["state"] == "typing").await;
    client.leave().await;
    world.terminal.hold(&[]);
    until("it was typed", || world.terminal.typed() == "status 5\r").await;
    let mut client = world.client("a").await;
    let next = client.run("x", "status 6").await;
    assert_eq!(next.meta["exit"], 6, "{}", next.text);
    let regions = world.regions("x");
    assert_eq!((&regions[0]["exit"], &regions[0]["actor"]), (&json!(5), &json!("a")), "{regions:?}");
    assert_eq!(world.terminal.typed(), "status 5\rstatus 6\r");
    client.leave().await;
}

#[tokio::test]
async fn a_session_whose_pane_went_meanwhile_is_closed() {
    let world = World::new();
    let mut client = world.client("a").await;
    client.create("x").await;
    client.call("run", json!({ "line": "echo hi; sleep 600", "timeout": 0.2 })).await;
    client.leave().await;
    world.terminal.lose("x");
    let mut client = world.client("a").await;
    assert!(client.call("run", json!({ "session": "x", "line": "true" })).await.error().contains("is closed"));
    assert_eq!(world.regions("x")[0]["state"], "lost");
    let read = client.call("read", json!({ "session": "x", "region": 1, "numbers": false })).await;
    assert_eq!(read.output(), "hi", "{}", read.text);
    client.leave().await;
}

#[tokio::test]
async fn a_program_goes_on_with_its_next_prompt() {
    let world = World::new();
    let mut client = world.client("a").await;
    client.create("x").await;
    client.run("x", "gdb").await;
    client.start("run", json!({ "line": "slow 0.5" })).await;
    until("it is typed", || world.terminal.typed().contains("slow")).await;
    client.leave().await;
    let mut client = world.client("a").await;
    let waited = client.call("wait", json!({})).await;
    assert_eq!((waited.status(), waited.output()), ("prompt", "did slow 0.5"), "{}", waited.text);
    client.leave().await;
}
