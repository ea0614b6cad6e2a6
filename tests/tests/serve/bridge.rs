//! Clients on the bridge: one server for several, restarts that they do not notice, and calls in flight.

use dtmcp_tests::binary;
use dtmcp_tests::client::{Client, World};
use dtmcp_tests::person::wait_until;
use dtmcp_tests::serving::{self, Serving};
use serde_json::json;

use super::{Row, Tested, holds};

pub(crate) const ROWS: &[Row] = &[
    ("several_clients_share_sessions", &["tmux", "bash"], several_clients_share_sessions),
    ("a_wait_holds_nobody_up", &["tmux", "bash"], a_wait_holds_nobody_up),
    ("lines_of_several_clients_do_not_mix", &["tmux", "bash"], lines_of_several_clients_do_not_mix),
    ("a_killed_server_is_not_noticed", &["tmux", "bash"], a_killed_server_is_not_noticed),
    ("a_stopped_server_answers_what_waits", &["tmux", "bash"], a_stopped_server_answers_what_waits),
    ("the_life_cycle_without_sessions_survives_too", &["tmux", "bash"], the_life_cycle_without_sessions_survives_too),
    ("a_client_keeps_its_number", &["tmux", "bash"], a_client_keeps_its_number),
    ("what_is_kept_for_each_agent_outlives_a_server", &["tmux", "bash"], what_is_kept_for_each_agent),
    ("no_server_is_said", &[], no_server_is_said),
];

fn several_clients_share_sessions() -> Tested {
    let world = serving::world()?;
    let _serving = Serving::start(&world, &[])?;
    let mut one = Serving::client(&world, Some("one"))?;
    let mut two = Serving::client(&world, None)?;
    one.call("session_create", json!({"name": "t1"}))?;
    let ran = two.run("echo from-two")?;
    holds!(ran.output().contains("from-two"), "{ran:?}");
    let regions = one.call("regions", json!({}))?;
    holds!(regions.meta["regions"][0]["actor"] == "tester#1", "{regions:?}");
    let listed = two.call("session_list", json!({}))?;
    holds!(listed.meta["sessions"][0]["actor"] == "one", "{listed:?}");
    // What one has half-typed, the other does not submit.
    two.call("send", json!({"text": "echo half"}))?;
    let refused = one.run("echo whole")?;
    holds!(refused.is_error && refused.text.contains("tester#1"), "{refused:?}");
    Ok(())
}

fn a_wait_holds_nobody_up() -> Tested {
    let world = serving::world()?;
    let _serving = Serving::start(&world, &[])?;
    let mut one = Serving::client(&world, Some("one"))?;
    let mut two = Serving::client(&world, Some("two"))?;
    one.call("session_create", json!({"name": "t1"}))?;
    two.call("session_create", json!({"name": "t2"}))?;
    let gate = world.root().join("gate");
    let waits = one.begin("run", json!({"session": "t1", "line": format!("until [ -e {} ]; do sleep 0.1; done", gate.display()), "timeout": 600}))?;
    wait_until("it runs", || two.call("session_list", json!({})).is_ok_and(|list| list.text.contains("running #1")))?;
    let quick = two.call("run", json!({"session": "t2", "line": "echo hi"}))?;
    holds!(quick.output().contains("hi"), "{quick:?}");
    // The gate opens only now: everything else was answered while the first call waited.
    std::fs::write(&gate, "").map_err(|error| error.to_string())?;
    let done = one.finish(waits)?;
    holds!(done.exit() == Some(0), "{done:?}");
    Ok(())
}

fn lines_of_several_clients_do_not_mix() -> Tested {
    let world = serving::world()?;
    let _serving = Serving::start(&world, &[])?;
    let mut clients = Vec::new();
    for number in 0..5 {
        clients.push(Serving::client(&world, Some(&format!("a{number}")))?);
    }
    clients[0].call("session_create", json!({"name": "t1"}))?;
    for round in 0..4 {
        let mut begun = Vec::new();
        for (number, client) in clients.iter_mut().enumerate() {
            let long = "x".repeat(300);
            let line = format!("printf '<%s>\\n' a{number}-{round}-{long}");
            begun.push(client.begin("run", json!({"line": line, "timeout": 300}))?);
        }
        for (number, (client, id)) in clients.iter_mut().zip(begun).enumerate() {
            let answer = client.finish(id)?;
            let want = format!("<a{number}-{round}-{}>", "x".repeat(300));
            holds!(answer.output().trim() == want, "{answer:?}");
        }
    }
    Ok(())
}

fn a_killed_server_is_not_noticed() -> Tested {
    let world = serving::world()?;
    let mut serving = Serving::start(&world, &[])?;
    let mut client = Serving::client(&world, Some("one"))?;
    client.call("session_create", json!({"name": "t1"}))?;
    let file = world.root().join("typed");
    for round in 0..5 {
        let line = format!("echo {round} >> {}; sleep 1", file.display());
        let id = client.begin("run", json!({"line": line}))?;
        let typed = || std::fs::read_to_string(&file).is_ok_and(|text| text.lines().count() == round + 1);
        wait_until("the command runs", typed)?;
        serving.kill()?;
        let lost = client.finish(id)?;
        holds!(lost.is_error && lost.text.contains("was not repeated"), "{lost:?}");
        serving = Serving::start(&world, &[])?;
        let waited = client.call("wait", json!({"timeout": 120}))?;
        holds!(!waited.is_error && waited.status() == "finished", "{waited:?}");
    }
    let typed = std::fs::read_to_string(&file).unwrap_or_default();
    holds!(typed == "0\n1\n2\n3\n4\n", "each once: {typed:?}");
    holds!(client.leave()? == Some(0), "it leaves as ever");
    serving.stop()?;
    Ok(())
}

fn a_stopped_server_answers_what_waits() -> Tested {
    let world = serving::world()?;
    let serving = Serving::start(&world, &[])?;
    let mut client = Serving::client(&world, Some("one"))?;
    client.call("session_create", json!({"name": "t1"}))?;
    let gate = world.root().join("gate");
    let line = format!("until [ -e {} ]; do sleep 0.1; done; echo open", gate.display());
    let id = client.begin("run", json!({"line": line, "timeout": 600}))?;
    wait_until("it runs", || serving.ask("GET", "/api/sessions", &[], "").body.contains("running #1"))?;
    holds!(serving.stop()? == Some(0), "it ends well, with a call in flight");
    let stopped = client.finish(id)?;
    holds!(stopped.is_error && stopped.text.contains("is stopping"), "{stopped:?}");
    let _again = Serving::start(&world, &[])?;
    std::fs::write(&gate, "").map_err(|error| error.to_string())?;
    let waited = client.call("wait", json!({"timeout": 120}))?;
    holds!(waited.status() == "finished" && waited.text.contains("open"), "{waited:?}");
    Ok(())
}

fn the_life_cycle_without_sessions_survives_too() -> Tested {
    let world = serving::world()?;
    let serving = Serving::start(&world, &[])?;
    let mut command = world.command(binary::dtmcp()?);
    command.args(["connect", "--actor", "new"]);
    let mut client = Client::start(command)?;
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "probe", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let asked = json!({"notifications": {"toolsListChanged": true}, "_meta": meta});
    let listens = client.ask("subscriptions/listen", asked)?;
    let call = |client: &mut Client, tool: &str, arguments: serde_json::Value| {
        client.request("tools/call", json!({"name": tool, "arguments": arguments, "_meta": meta}))
    };
    call(&mut client, "session_create", json!({"name": "t1"}))?;
    let gate = world.root().join("gate");
    let line = format!("until [ -e {} ]; do sleep 0.1; done", gate.display());
    let params = json!({"name": "run", "arguments": {"line": line, "timeout": 600}, "_meta": meta});
    let waits = client.ask("tools/call", params)?;
    wait_until("it runs", || serving.ask("GET", "/api/sessions", &[], "").body.contains("running #1"))?;
    serving.kill()?;
    let lost = client.answer(waits)?;
    holds!(lost["result"]["resultType"] == "complete" && lost["result"]["isError"] == true, "{lost}");
    let _again = Serving::start(&world, &[])?;
    std::fs::write(&gate, "").map_err(|error| error.to_string())?;
    let waited = call(&mut client, "wait", json!({"timeout": 120}))?;
    holds!(waited["result"]["isError"] != true, "{waited}");
    holds!(client.notifications().iter().all(|message| message["id"] != listens), "it still listens");
    Ok(())
}

fn a_client_keeps_its_number() -> Tested {
    let world = serving::world()?;
    let serving = Serving::start(&world, &[])?;
    let mut one = Serving::client(&world, None)?;
    one.call("session_create", json!({"name": "t1"}))?;
    let mut two = Serving::client(&world, None)?;
    two.call("send", json!({"text": "echo two"}))?;
    serving.kill()?;
    let serving = Serving::start(&world, &[])?;
    // A stranger comes first, and is not taken for one of them.
    let mut three = Serving::client(&world, None)?;
    let refused = three.run("echo three")?;
    holds!(refused.is_error && refused.text.contains("tester#2"), "{refused:?}");
    let own = two.call("send", json!({"keys": ["enter"]}))?;
    holds!(!own.is_error, "{own:?}");
    let ran = one.run("echo one")?;
    holds!(ran.output().contains("one"), "{ran:?}");
    let log = std::fs::read_to_string(world.state().join("calls.log")).map_err(|error| error.to_string())?;
    for agent in ["tester#1", "tester#2", "tester#3"] {
        holds!(log.contains(&format!("\"{agent}\"")), "{agent}: {log}");
    }
    drop(serving);
    Ok(())
}

/// Half-typed text, news, the screen, and notes about habits: all of it for each agent apart, also by the next server.
fn what_is_kept_for_each_agent() -> Tested {
    let world = serving::world()?;
    let serving = Serving::start(&world, &[])?;
    let mut one = Serving::client(&world, Some("one"))?;
    let mut two = Serving::client(&world, Some("two"))?;
    one.call("session_create", json!({"name": "t1"}))?;
    one.call("session_create", json!({"name": "t2"}))?;
    let in_t1 = |screen: &str| json!({"session": "t1", "text": "", "screen": screen});
    // A habit is told once to each.
    let habit = json!({"session": "t2", "line": "false | true"});
    holds!(one.call("run", habit.clone())?.text.contains("earlier stage"), "told to the first");
    // A command goes on while the server is away, and so does text on a line.
    let gate = world.root().join("gate");
    let line = format!("until [ -e {} ]; do sleep 0.1; done", gate.display());
    one.call("run", json!({"session": "t2", "line": line, "timeout": 0.5}))?;
    for client in [&mut one, &mut two] {
        client.call("send", in_t1("full"))?;
    }
    two.call("send", json!({"session": "t1", "text": "echo half", "screen": "full"}))?;
    serving.kill()?;
    std::fs::write(&gate, "").map_err(|error| error.to_string())?;
    let _serving = Serving::start(&world, &[])?;
    let refused = one.call("run", json!({"session": "t1", "line": "echo whole"}))?;
    holds!(refused.is_error && refused.text.contains("two") && refused.text.contains("echo half"), "{refused:?}");
    // What was shown before is known: one has not seen the line as it is now, the other has.
    let seen = two.call("send", json!({"session": "t1", "keys": ["end"], "screen": "changes"}))?;
    holds!(seen.output().contains("[no row changed]"), "{seen:?}");
    let ended = two.call("send", json!({"session": "t1", "keys": ["enter"]}))?;
    holds!(!ended.is_error, "its own: {ended:?}");
    let news = one.call("wait", json!({"session": "t2", "timeout": 60}))?;
    holds!(news.status() == "finished", "{news:?}");
    let again = one.call("run", habit.clone())?;
    holds!(again.status() == "finished", "{again:?}");
    let other = two.call("run", habit)?;
    holds!(other.text.contains("earlier stage"), "{other:?}");
    Ok(())
}

pub(crate) fn bare(world: &World) -> Result<Client, String> {
    let mut command = world.command(binary::dtmcp()?);
    command.arg("connect");
    Client::start(command)
}

fn no_server_is_said() -> Tested {
    let world = serving::world()?;
    let mut client = bare(&world)?;
    let answer = client.initialize("tester")?;
    let why = answer["error"]["message"].as_str().unwrap_or_default();
    holds!(why.contains("dtmcp serve") && why.contains("server.sock"), "{answer}");
    holds!(client.leave()? != Some(0), "it could not work");
    Ok(())
}
