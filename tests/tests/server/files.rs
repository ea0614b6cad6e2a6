//! What stands on disk after each step.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::json;

use super::client::{World, until};

#[tokio::test]
async fn each_step_is_written_down() {
    let world = World::new();
    let mut client = world.client("a").await;
    client.create("x").await;
    let meta = world.json("x", "meta.json");
    assert_eq!((&meta["v"], &meta["name"], &meta["socket"]), (&json!(1), &json!("x"), &json!("scripted")), "{meta}");
    assert_eq!((&meta["pane"], &meta["server"]["pid"]), (&json!("%0"), &json!(4711)), "{meta}");
    assert_eq!(world.file("x", "intent.json"), "", "nothing was typed");

    client.run("x", "echo hi").await;
    let intent = world.json("x", "intent.json");
    assert_eq!((&intent["state"], &intent["submits"], &intent["actor"]), (&json!("typed"), &json!(true), &json!("a")));
    assert!(!world.file("x", "intent.json").contains("echo"), "never the text");
    let region = &world.regions("x")[0];
    assert_eq!((&region["label"], &region["exit"], &region["actor"]), (&json!("echo hi"), &json!(0), &json!("a")));
    assert!(world.file("x", "session.txt").contains("\nhi\n"));
    until("the region's own file", || world.file("x", "regions/0001.txt") == "hi\n").await;

    // What an agent is owed stands there until it is told.
    client.call("run", json!({ "line": "sleep 0.3; status 4", "timeout": 0.1 })).await;
    assert_eq!(world.json("x", "state.json")["agents"]["a"]["untold"], json!([2]));
    until("the end", || world.regions("x")[1]["exit"] == 4).await;
    let told = client.run("x", "true").await;
    assert!(told.text.contains("note: finished since your last call: #2"), "{}", told.text);
    assert!(world.json("x", "state.json")["agents"]["a"].get("untold").is_none());
    client.call("send", json!({ "text": "half" })).await;
    assert_eq!(world.json("x", "state.json")["agents"]["a"]["half_typed"], "half");

    client.call("session_close", json!({})).await;
    let meta = world.json("x", "meta.json");
    assert!(meta["closed"].is_u64(), "{meta}");
    client.leave().await;
}

#[tokio::test]
async fn only_the_user_can_read_any_of_it() {
    let world = World::new();
    let mut client = world.client("a").await;
    client.create("x").await;
    client.call("run", json!({ "line": "echo hi", "save_to": "deep/er/out.txt" })).await;
    until("the region's own file", || world.dir("x").join("regions/0001.txt").is_file()).await;
    let mut looked = vec![world.dir("x")];
    let mut files = 0;
    while let Some(path) = looked.pop() {
        let meta = std::fs::symlink_metadata(&path).unwrap();
        let expected = if meta.is_dir() { 0o700 } else { 0o600 };
        assert_eq!(meta.permissions().mode() & 0o777, expected, "{}", path.display());
        files += 1;
        if meta.is_dir() {
            looked.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        }
    }
    assert!(files >= 10, "{files}");
    client.leave().await;
}

#[tokio::test]
async fn eight_regions_have_files_of_their_own() {
    let world = World::new();
    let mut client = world.client("a").await;
    client.create("x").await;
    for line in 1..=10 {
        client.run("x", &format!("echo {line}")).await;
    }
    let there = |id: u32| world.dir("x").join(format!("regions/{id:04}.txt")).is_file();
    until("the last eight", || (3..=10).all(there) && !there(1) && !there(2)).await;
    client.call("read", json!({ "region": 1 })).await;
    until("the one that was read", || there(1) && !there(3)).await;
    client.leave().await;
}

#[tokio::test]
async fn a_hidden_answer_is_nowhere() {
    let world = World::new();
    let mut client = world.client("a").await;
    client.create("x").await;
    client.call("run", json!({ "line": "passwd", "timeout": 0.5 })).await;
    let sent = client.call("send", json!({ "text": "hunter2\n" })).await;
    assert!(!sent.text.contains("hunter2"), "{}", sent.text);
    client.run("x", "true").await;
    client.call("session_close", json!({})).await;
    client.leave().await;
    let mut looked = vec![world.dir("x").parent().unwrap().parent().unwrap().to_owned()];
    while let Some(path) = looked.pop() {
        if path.is_dir() {
            looked.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        } else if !path.ends_with("dtmcp") && !path.ends_with("docent-terminal-mcp") {
            // The program itself, which is this test, knows the word.
            let bytes = std::fs::read(&path).unwrap();
            assert!(!String::from_utf8_lossy(&bytes).contains("hunter2"), "{}", path.display());
        }
    }
}
