//! Sessions made, used, listed, resized and closed.

use dtmcp::terminal::Attached;
use dtmcp_core::time::Wall;
use serde_json::json;

use super::client::World;

#[tokio::test]
async fn the_main_job() {
    let world = World::new();
    let mut client = world.client("a").await;
    let made = client.call("session_create", json!({})).await;
    assert!(made.text.starts_with("[t1 open · bash · 120x40]"), "{}", made.text);
    assert_eq!(made.meta["attach"], json!(["ssh", "vm", "tmux", "-L", "scripted", "attach", "-t", "t1"]));
    let hi = client.run("t1", "echo hi").await;
    assert_eq!((hi.status(), hi.output()), ("finished", "hi"), "{}", hi.text);
    assert_eq!((&hi.meta["exit"], &hi.meta["region"], &hi.meta["lines"]), (&json!(0), &json!(1), &json!(1)));
    // With one session open it need not be named.
    let sent = client.call("send", json!({ "text": "false\n" })).await;
    assert_eq!((sent.status(), &sent.meta["region"]), ("sent", &json!(2)), "{}", sent.text);
    let read = client.call("read", json!({ "region": 1, "numbers": false })).await;
    assert_eq!(read.output(), "hi", "{}", read.text);
    let found = client.call("search", json!({ "pattern": "^hi$" })).await;
    assert_eq!(found.meta["total"], 1, "{}", found.text);
    let regions = client.call("regions", json!({})).await;
    assert_eq!(regions.meta["regions"].as_array().unwrap().len(), 2, "{}", regions.text);
    let listed = client.call("session_list", json!({})).await;
    assert_eq!(listed.meta["sessions"][0]["runs"], "at its prompt", "{}", listed.text);
    client.leave().await;
}

#[tokio::test]
async fn a_program_in_place_of_a_shell() {
    let world = World::new();
    let mut client = world.client("a").await;
    let made = client.call("session_create", json!({ "command": "gdb" })).await;
    assert_eq!((made.status(), made.output()), ("prompt", "GNU gdb 13"), "{}", made.text);
    let answer = client.run("t1", "step").await;
    assert_eq!((answer.status(), &answer.meta["prompt"], answer.output()), ("prompt", &json!("(gdb) "), "did step"));
    let over = client.run("t1", "quit").await;
    assert_eq!((over.status(), &over.meta["exit"]), ("ended", &json!(0)), "{}", over.text);
    assert!(client.run("t1", "step").await.error().contains("session_create"));
    client.leave().await;
}

#[tokio::test]
async fn which_session_is_meant() {
    let world = World::new();
    let mut client = world.client("a").await;
    assert!(client.call("run", json!({ "line": "true" })).await.error().contains("session_create"));
    client.create("one").await;
    client.create("two").await;
    let text = client.call("run", json!({ "line": "true" })).await.text;
    assert!(text.contains("one (bash, at its prompt)") && text.contains("two (bash"), "{text}");
    assert!(client.run("three", "true").await.error().contains("there is no session \"three\""));
    let taken = client.call("session_create", json!({ "name": "one" })).await;
    assert!(taken.error().contains("open already"), "{}", taken.text);
    assert!(client.call("session_create", json!({ "name": "../x" })).await.is_error);
    assert_eq!(world.terminal.typed(), "");
    client.leave().await;
}

#[tokio::test]
async fn one_session_does_not_wait_for_another() {
    let world = World::new();
    let mut client = world.client("a").await;
    client.create("slow").await;
    client.create("quick").await;
    world.terminal.hold(&["slow"]);
    let slow = client.start("run", json!({ "session": "slow", "line": "echo slow" })).await;
    assert_eq!(client.run("quick", "echo quick").await.output(), "quick");
    world.terminal.hold(&[]);
    assert_eq!(client.finish(slow).await.output(), "slow");
    client.leave().await;
}

#[tokio::test]
async fn a_session_is_closed_and_still_read() {
    let world = World::new();
    let mut client = world.client("a").await;
    client.create("x").await;
    client.run("x", "echo first").await;
    let busy = client.start("run", json!({ "session": "x", "line": "sleep 600" })).await;
    super::client::until("it runs", || world.regions("x").len() == 2).await;
    let closed = client.call("session_close", json!({ "session": "x" })).await;
    assert!(closed.text.starts_with("[x closed]"), "{}", closed.text);
    assert_eq!(client.finish(busy).await.status(), "ended");
    assert!(client.run("x", "true").await.error().contains("is closed"));
    let read = client.call("read", json!({ "session": "x", "region": 1, "numbers": false })).await;
    assert_eq!(read.output(), "first", "{}", read.text);
    let screen = client.call("read", json!({ "session": "x", "view": "screen" })).await;
    assert!(screen.error().contains("no screen"), "{}", screen.text);
    let regions = client.call("regions", json!({ "session": "x" })).await;
    assert_ne!(regions.meta["regions"][1]["status"], "running", "what ran there is over: {}", regions.meta);
    assert!(client.call("session_list", json!({})).await.text.starts_with("[0 sessions]"));
    let all = client.call("session_list", json!({ "closed": true })).await;
    assert_eq!(all.meta["sessions"][0]["state"], "closed", "{}", all.text);
    // The next of its name leaves it readable.
    client.create("x").await;
    client.run("x", "echo second").await;
    let old = client.call("read", json!({ "session": "x.1", "region": 1, "numbers": false })).await;
    assert_eq!(old.output(), "first", "{}", old.text);
    let new = client.call("read", json!({ "session": "x", "region": 1, "numbers": false })).await;
    assert_eq!(new.output(), "second", "{}", new.text);
    client.leave().await;
}

#[tokio::test]
async fn a_session_that_is_watched_is_not_closed() {
    let world = World::new();
    let mut client = world.client("a").await;
    client.create("x").await;
    let person = Attached { session: "x".to_owned(), activity: Wall(0), read_only: false };
    world.terminal.attach(vec![person]);
    let refused = client.call("session_close", json!({})).await;
    assert!(refused.error().contains("a person is attached"), "{}", refused.text);
    assert_eq!(client.run("x", "echo hi").await.output(), "hi");
    world.terminal.attach(Vec::new());
    assert!(!client.call("session_close", json!({})).await.is_error);
    client.leave().await;
}

#[tokio::test]
async fn a_persons_text_is_protected() {
    let world = World::new();
    let mut client = world.client("a").await;
    client.create("x").await;
    world.terminal.person("x", "git pu");
    super::client::until("the echo", || world.file("x", "raw.log").ends_with('u')).await;
    let later = Wall(u64::MAX / 2);
    let person = Attached { session: "x".to_owned(), activity: later, read_only: false };
    world.terminal.attach(vec![person]);
    let refused = client.run("x", "echo hi").await;
    assert!(refused.error().contains("\"git pu\""), "{}", refused.text);
    assert_eq!(world.terminal.typed(), "");
    client.leave().await;
}

#[tokio::test]
async fn a_size_is_set() {
    let world = World::new();
    let mut client = world.client("a").await;
    client.create("x").await;
    let done = client.call("session_resize", json!({ "cols": 100, "rows": 20 })).await;
    assert!(done.text.starts_with("[x 100x20"), "{}", done.text);
    let listed = client.call("session_list", json!({})).await;
    assert_eq!((&listed.meta["sessions"][0]["cols"], &listed.meta["sessions"][0]["rows"]), (&json!(100), &json!(20)));
    assert!(!client.call("session_resize", json!({ "follow": true })).await.is_error);
    client.leave().await;
}
