//! Where a session is: other users, other hosts, containers, and what replies say of them.

use dtmcp_tests::client::{Answer, Client, World};
use dtmcp_tests::sshd::Sshd;
use serde_json::json;

use super::{Row, Tested, holds, same};

pub(crate) const ROWS: &[Row] = &[
    ("plain_ssh", &["tmux", "bash", "ssh", "sshd", "ssh-keygen"], plain_ssh),
    ("another_user", &["tmux", "bash", "su", "root"], another_user),
    ("with_the_integration", &["tmux", "bash", "ssh", "sshd", "ssh-keygen"], integrated_ssh),
    ("into_a_sandbox", &["tmux", "bash", "bwrap"], into_a_sandbox),
    ("a_session_in_a_sandbox", &["tmux", "bash", "bwrap"], session_in_a_sandbox),
];

/// A shell that reads no startup file and shows a usual prompt.
const BARE: &str = "env PS1='me@there:~$ ' bash --norc --noprofile";

/// A sandbox with a host's name of its own.
const BOX: &str = "bwrap --bind / / --dev /dev --proc /proc --unshare-pid --unshare-uts --hostname box7 --";

pub(crate) fn news(answer: &Answer) -> Vec<String> {
    let notes = answer.meta["notes"].as_array().cloned().unwrap_or_default();
    let texts = notes.iter().filter_map(|note| note.as_str().map(str::to_owned));
    texts.filter(|note| note.starts_with("the session is ")).collect()
}

fn begin(world: &World, arguments: serde_json::Value) -> Result<Client, String> {
    let mut client = world.client()?;
    client.call("session_create", arguments)?;
    Ok(client)
}

fn places(client: &mut Client) -> Result<Vec<bool>, String> {
    let regions = client.call("regions", json!({}))?;
    let regions = regions.meta["regions"].as_array().cloned().unwrap_or_default();
    Ok(regions.iter().map(|region| region.get("place").is_some()).collect())
}

fn plain_ssh() -> Tested {
    let world = World::new()?;
    let sshd = Sshd::start()?;
    let mut client = begin(&world, json!({}))?;
    let answer = client.run(&format!("ssh {} -t there \"{BARE}\"", sshd.options()))?;
    same!(answer.status(), "prompt", "{} {}", answer.text, sshd.log());
    same!(news(&answer), ["the session is now on there"], "{}", answer.text);
    let answer = client.run("echo hi")?;
    same!((answer.output(), news(&answer).len()), ("hi", 0), "{}", answer.text);
    holds!(answer.words().contains(" · on there]"), "{}", answer.text);
    same!(answer.meta["place"]["host"], "there", "{}", answer.text);
    let list = client.call("session_list", json!({}))?;
    holds!(list.output().contains(" · on there · ") && !list.output().contains(" · in "), "{}", list.text);
    same!(list.meta["sessions"][0]["cwd"], json!(null), "the directory there is not known: {}", list.text);
    client.leave()?;
    // Another agent has not been told, and a new server has to find out anew.
    let mut client = world.client_named("second")?;
    let answer = client.run("echo two")?;
    same!(news(&answer), ["the session is now on there"], "{}", answer.text);
    holds!(answer.words().contains(" · on there]"), "the first line after a restart: {}", answer.text);
    let answer = client.run("exit")?;
    holds!(answer.words().contains("the session is back on"), "{}", answer.text);
    Ok(())
}

fn another_user() -> Tested {
    let world = World::new()?;
    let mut client = begin(&world, json!({}))?;
    let answer = client.run("su - nobody -s /bin/sh")?;
    same!(answer.status(), "prompt", "{}", answer.text);
    holds!(news(&answer).iter().any(|note| note.ends_with(" as nobody")), "{}", answer.text);
    let answer = client.run("id -un")?;
    holds!(answer.words().contains(" · as nobody]"), "{}", answer.text);
    same!(answer.output(), "nobody", "{}", answer.text);
    let answer = client.run("exit")?;
    holds!(answer.words().contains("the session is back on"), "{}", answer.text);
    same!(places(&mut client)?, [false, true, true], "the `su` itself ran here");
    Ok(())
}

/// Commands behind the bootstrap have output and status of their own, and so does the way there.
fn exact_there(client: &mut Client, way: &str) -> Tested {
    let answer = client.run(way)?;
    same!(answer.status(), "prompt", "{}", answer.text);
    let answer = client.run("echo \"$FAR\"")?;
    same!((answer.output(), answer.exit()), ("it's a; \\test!", Some(0)), "{}", answer.text);
    let answer = client.run("false | true")?;
    same!(answer.meta["pipestatus"], json!([1, 0]), "{}", answer.text);
    let answer = client.run("exit 3")?;
    holds!(!answer.is_error, "{}", answer.text);
    let answer = client.run("echo $?")?;
    same!(answer.output(), "3", "{}", answer.text);
    Ok(())
}

fn far() -> serde_json::Value {
    json!({ "env": { "DOCENT_TERMINAL_MCP_SSH_ENV": "FAR OTHER", "FAR": "it's a; \\test!" } })
}

fn integrated_ssh() -> Tested {
    let world = World::new()?;
    let sshd = Sshd::start()?;
    let mut client = begin(&world, far())?;
    exact_there(&mut client, &format!("docent-terminal-mcp ssh {} there", sshd.options()))
}

fn into_a_sandbox() -> Tested {
    let world = World::new()?;
    let mut client = begin(&world, far())?;
    exact_there(&mut client, &format!("dtmcp into {BOX}"))?;
    same!(places(&mut client)?, [false, true, true, true, false], "what ran in the sandbox is told apart");
    Ok(())
}

fn session_in_a_sandbox() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    let answer = client.call("session_create", json!({ "command": format!("dtmcp into {BOX}") }))?;
    holds!(answer.text.contains("a shell with the integration is at its prompt"), "{}", answer.text);
    holds!(!answer.text.contains("the program:"), "{}", answer.text);
    let answer = client.run("(exit 4)")?;
    same!(answer.exit(), Some(4), "{}", answer.text);
    holds!(answer.words().contains("on box7]"), "{}", answer.text);
    same!(answer.meta["place"]["host"], "box7", "{}", answer.text);
    let list = client.call("session_list", json!({}))?;
    holds!(list.output().contains(" · on box7 · in /"), "{}", list.text);
    Ok(())
}
