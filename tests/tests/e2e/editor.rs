//! Shells' line editors in the middle of something, and a terminal that was stopped: no line goes on top.

use dtmcp_tests::client::{Client, World};
use dtmcp_tests::person::{Person, wait_until};
use serde_json::json;

use super::{Row, Tested, holds, same};

pub(crate) const ROWS: &[Row] = &[
    ("keys_that_take_the_next", &["tmux", "bash"], keys_that_take_the_next),
    ("questions_and_searches", &["tmux", "bash", "setsid"], questions_and_searches),
    ("a_line_behind_stopped_output", &["tmux", "bash"], behind_stopped_output),
];

/// A line is refused, and once the line is given up the next is taken as it is.
fn refuses(client: &mut Client, why: &str) -> Tested {
    let refused = client.run("echo refused")?;
    holds!(refused.is_error && refused.text.contains(why), "{}", refused.text);
    client.call("send", json!({ "keys": ["ctrl+c"] }))?;
    let taken = client.run("echo taken")?;
    same!((taken.status(), taken.output()), ("finished", "taken"), "{}", taken.text);
    Ok(())
}

fn keys_that_take_the_next() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    for key in ["escape", "ctrl+x", "ctrl+v", "alt+3", "ctrl+r"] {
        client.call("send", json!({ "keys": [key] }))?;
        refuses(&mut client, "at this prompt")?;
    }
    Ok(())
}

fn questions_and_searches() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    client.run("mkdir many; touch many/file_{1..400}")?;
    let asked = client.call("send", json!({ "text": "ls many/", "keys": ["tab", "tab", "tab"] }))?;
    holds!(asked.text.contains("possibilities? (y or n)"), "{}", asked.text);
    refuses(&mut client, "possibilities? (y or n)")?;
    let mut person = Person::attach(&world, "t1", 120, 41)?;
    person.types("\x12mkd")?;
    person.sees("reverse-i-search")?;
    wait_until("the search is seen", || {
        client.call("read", json!({ "view": "screen" })).is_ok_and(|screen| screen.text.contains("`mkd'"))
    })?;
    refuses(&mut client, "reverse-i-search")?;
    Ok(())
}

fn behind_stopped_output() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    client.call("send", json!({ "keys": ["ctrl+s"] }))?;
    let stopped = client.run("echo first")?;
    same!((stopped.status(), stopped.meta["region"].is_null()), ("running", true), "{}", stopped.text);
    for line in ["echo second", "echo third"] {
        let refused = client.run(line)?;
        holds!(refused.is_error && refused.text.contains("has not begun the line"), "{}", refused.text);
        holds!(refused.text.contains("ctrl+q"), "{}", refused.text);
    }
    client.call("send", json!({ "keys": ["ctrl+q"] }))?;
    let next = client.run("echo next")?;
    same!((next.status(), next.output()), ("finished", "next"), "{}", next.text);
    let regions = client.call("regions", json!({}))?;
    same!(regions.meta["regions"].as_array().map(Vec::len), Some(2), "{}", regions.text);
    same!(regions.meta["regions"][0]["label"], json!("echo first"), "{}", regions.text);
    Ok(())
}
