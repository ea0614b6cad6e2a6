//! What a person sees of the shared server and does to it: `status`, `close`, the same over HTTP.

use dtmcp_tests::binary;
use dtmcp_tests::client::World;
use dtmcp_tests::person::{Person, wait_until};
use dtmcp_tests::serving::{self, Serving};
use serde_json::{Value, json};

use super::{Row, Tested, holds};

pub(crate) const ROWS: &[Row] = &[
    ("status_shows_every_session", &["tmux", "bash"], status_shows_every_session),
    ("status_tells_who_waits", &["tmux", "bash"], status_tells_who_waits),
    ("the_fields_of_a_session", &["tmux", "bash"], the_fields_of_a_session),
    ("another_agents_command_is_not_closed", &["tmux", "bash"], another_agents_command_is_not_closed),
    ("a_person_closes_what_is_in_use", &["tmux", "bash"], a_person_closes_what_is_in_use),
    ("without_a_server_it_is_said", &[], without_a_server_it_is_said),
];

fn dtmcp(world: &World, args: &[&str]) -> Result<(bool, String), String> {
    let output = world.command(binary::dtmcp()?).args(args).output().map_err(|error| error.to_string())?;
    let said = [output.stdout, output.stderr].concat();
    Ok((output.status.success(), String::from_utf8_lossy(&said).into_owned()))
}

fn status_shows_every_session() -> Tested {
    let world = serving::world()?;
    let _serving = Serving::start(&world, &[])?;
    holds!(dtmcp(&world, &["status"])? == (true, "no session is open\n".to_owned()), "nothing yet");
    let mut client = Serving::client(&world, Some("one"))?;
    client.call("session_create", json!({"name": "build"}))?;
    client.call("run", json!({"line": "cd /tmp && sleep 600", "timeout": 0.5}))?;
    client.call("session_create", json!({"name": "cat", "command": "cat"}))?;
    let (fine, said) = dtmcp(&world, &["status"])?;
    let lines: Vec<&str> = said.lines().collect();
    holds!(fine && lines.len() == 3 && lines[0].starts_with("session  what"), "{said}");
    holds!(lines[1].starts_with("build    running #1 \"cd /tmp && sleep 600\"  "), "{said}");
    holds!(lines[1].ends_with("  one") && lines[2].starts_with("cat "), "{said}");
    let (_, json) = dtmcp(&world, &["status", "--json"])?;
    holds!(json.contains("\"pane_id\""), "{json}");
    Ok(())
}

fn status_tells_who_waits() -> Tested {
    let world = serving::world()?;
    let serving = Serving::start(&world, &[])?;
    let mut client = Serving::client(&world, Some("one"))?;
    client.call("session_create", json!({"name": "cat", "command": "cat"}))?;
    client.call("session_create", json!({"name": "ask"}))?;
    let (gate, script) = (world.root().join("gate"), world.root().join("ask"));
    let asks = "printf 'Name? '; read name; stty -echo; printf 'PIN: '; read pin";
    let waits = format!("until [ -e {} ]; do sleep 0.1; done; {asks}\n", gate.display());
    std::fs::write(&script, waits).map_err(|error| error.to_string())?;
    let line = format!("sh {}", script.display());
    // The call has returned before the program asks.
    let running = client.call("run", json!({"session": "ask", "line": line, "timeout": 0.5}))?;
    holds!(running.status() == "running", "{}", running.text);
    let says =
        |words: &str| wait_until(words, || dtmcp(&world, &["status"]).is_ok_and(|(_, said)| said.contains(words)));
    says("running #1")?;
    says("waiting for input")?;
    std::fs::write(&gate, "").map_err(|error| error.to_string())?;
    says("waiting for input at \"Name? \" · #1")?;
    let list = client.call("session_list", json!({"session": "ask"}))?;
    holds!(list.output().contains("waiting for input at \"Name? \" · #1"), "{}", list.text);
    client.call("send", json!({"session": "ask", "text": "Ada"}))?;
    says("one has \"Ada\" on the line")?;
    client.call("send", json!({"session": "ask", "keys": ["enter"]}))?;
    says("waiting at \"PIN: \" for input that is not shown · #1")?;
    client.call("send", json!({"session": "ask", "text": "4711"}))?;
    says("one has begun a line that is not shown")?;
    let told = serving.ask("GET", "/api/sessions", &[], "").body;
    holds!(!told.contains("4711"), "{told}");
    Ok(())
}

/// The names in the first column of the README's table of a session's fields.
fn documented_fields() -> Vec<String> {
    let readme = include_str!("../../../README.md");
    let table = readme.lines().skip_while(|line| !line.starts_with("| `name`, `state`"));
    let cells = table.take_while(|line| line.starts_with('|')).filter_map(|line| line.split('|').nth(1));
    let names = cells.flat_map(|cell| cell.split(','));
    let mut names: Vec<String> = names.map(|name| name.trim().trim_matches('`').to_owned()).collect();
    names.sort();
    names
}

fn the_fields_of_a_session() -> Tested {
    let world = serving::world()?;
    let serving = Serving::start(&world, &[])?;
    let mut one = Serving::client(&world, Some("one"))?;
    let mut two = Serving::client(&world, Some("two"))?;
    one.call("session_create", json!({"name": "t1", "cols": 100, "rows": 30}))?;
    let session = || serving.ask("GET", "/api/sessions", &[], "").json()["sessions"][0].clone();
    let idle = session();
    let mut fields: Vec<String> = idle.as_object().into_iter().flat_map(|fields| fields.keys().cloned()).collect();
    fields.sort();
    holds!(fields == documented_fields(), "{fields:?} {:?}", documented_fields());
    for (field, value) in [
        ("name", json!("t1")),
        ("state", json!("open")),
        ("command", json!("bash")),
        ("exit", json!(null)),
        ("cols", json!(100)),
        ("rows", json!(30)),
        ("actor", json!("one")),
        ("attached", json!(0)),
        ("human_input", json!(null)),
        ("agents_typed", json!({})),
        ("typing_now", json!(null)),
        ("integrated", json!(true)),
        ("place", json!(null)),
        ("parent", json!(null)),
        ("index", json!(0)),
        ("active", json!(true)),
        ("adopted", json!(false)),
        ("keep", json!(true)),
        ("delete_on_close", json!(false)),
        ("expires", json!(null)),
    ] {
        holds!(idle[field] == value, "{field}: {idle}");
    }
    holds!(idle["created"].is_f64() && idle["last_output"].is_f64(), "{idle}");
    holds!(idle["attach"][0] == "tmux" && idle["pane_id"].as_str().is_some_and(|id| id.starts_with('%')), "{idle}");
    holds!(idle["log_dir"].as_str().is_some_and(|dir| dir.ends_with("sessions/t1")), "{idle}");
    let since = |session: &Value, field: &str| session[field].as_f64().unwrap_or(f64::NAN);
    let prompt = since(&idle, "since");
    holds!((1.0..=since(&idle, "last_output")).contains(&prompt), "at its prompt: {idle}");
    // A call has the keyboard until it is answered; another one's line waits for it.
    let gate = world.root().join("gate");
    let line = format!("until [ -e {} ]; do sleep 0.1; done", gate.display());
    let holds_it = two.begin("run", json!({"line": line, "timeout": 600}))?;
    let typing = json!({"agent": "two", "tool": "run"});
    wait_until("it has the keyboard", || session()["typing_now"] == typing)?;
    let behind = one.begin("run", json!({"line": "cd /; echo behind", "timeout": 600}))?;
    holds!(session()["typing_now"] == typing, "{}", session());
    wait_until("it runs", || session()["runs"].as_str().is_some_and(|runs| runs.starts_with("running #")))?;
    // Times are kept some tenths of a second apart.
    holds!((prompt..).contains(&since(&session(), "since")), "since its command began: {}", session());
    std::fs::write(&gate, "").map_err(|error| error.to_string())?;
    two.finish(holds_it)?;
    let ran = one.finish(behind)?;
    holds!(ran.output() == "behind", "{ran:?}");
    wait_until("its prompt is back", || session()["cwd"] == "/")?;
    let after = session();
    holds!(after["typing_now"].is_null(), "{after}");
    let typed = &after["agents_typed"];
    holds!(typed["two"].as_f64() <= typed["one"].as_f64() && typed["two"].is_f64(), "{after}");
    let mut person = Person::attach(&world, "t1", 80, 24)?;
    person.types("echo a-person\r")?;
    person.sees("a-person")?;
    let seen = session();
    holds!(seen["attached"] == 1 && seen["human_input"].is_f64() && seen["cols"] == 80, "{seen}");
    Ok(())
}

fn another_agents_command_is_not_closed() -> Tested {
    let world = serving::world()?;
    let _serving = Serving::start(&world, &[])?;
    let mut one = Serving::client(&world, Some("one"))?;
    let mut two = Serving::client(&world, Some("two"))?;
    one.call("session_create", json!({"name": "t1"}))?;
    one.call("run", json!({"line": "sleep 600", "timeout": 0.5}))?;
    let refused = two.call("session_close", json!({"session": "t1"}))?;
    holds!(
        refused.is_error && refused.text.contains("sleep 600") && refused.text.contains("one started"),
        "{refused:?}"
    );
    holds!(refused.text.contains("dtmcp close --force t1"), "{refused:?}");
    // A program that is all there is in a session counts as well.
    one.call("session_create", json!({"name": "t2", "command": "cat"}))?;
    let refused = two.call("session_close", json!({"session": "t2"}))?;
    holds!(refused.is_error && refused.text.contains("one started"), "{refused:?}");
    for name in ["t1", "t2"] {
        let closed = one.call("session_close", json!({"session": name}))?;
        holds!(!closed.is_error, "its own: {closed:?}");
    }
    // Nobody uses a shell at its prompt.
    one.call("session_create", json!({"name": "t3"}))?;
    one.call("run", json!({"session": "t3", "line": "true"}))?;
    let closed = two.call("session_close", json!({"session": "t3"}))?;
    holds!(!closed.is_error, "{closed:?}");
    Ok(())
}

fn a_person_closes_what_is_in_use() -> Tested {
    let world = serving::world()?;
    let serving = Serving::start(&world, &[])?;
    let mut client = Serving::client(&world, Some("one"))?;
    for name in ["t1", "t2", "t3"] {
        client.call("session_create", json!({"name": name}))?;
    }
    let person = Person::attach(&world, "t1", 80, 24)?;
    let refused = client.call("session_close", json!({"session": "t1"}))?;
    holds!(refused.is_error && refused.text.contains("dtmcp close --force t1"), "{refused:?}");
    let (fine, said) = dtmcp(&world, &["close", "t1"])?;
    holds!(!fine && said.contains("a person is attached") && said.contains("--force"), "{said}");
    let (fine, said) = dtmcp(&world, &["close", "--force", "t1"])?;
    holds!(fine && said.contains("[t1 closed"), "{said}");
    drop(person);
    client.call("run", json!({"session": "t2", "line": "sleep 600", "timeout": 0.5}))?;
    let close = |name: &str, body: &str| {
        serving.ask("POST", &format!("/api/sessions/{name}/close"), &[("content-type", "application/json")], body)
    };
    let refused = close("t2", "{}");
    let why = refused.json()["error"].as_str().unwrap_or_default().to_owned();
    let reads = why.contains("sleep 600") && why.contains("force") && !why.starts_with("error");
    holds!(refused.status == 409 && reads, "{refused:?}");
    let closed = close("t2", "{\"force\": true}");
    holds!(closed.status == 200, "{closed:?}");
    let closed = close("t3", "");
    holds!(closed.status == 200, "nobody uses it: {closed:?}");
    wait_until("they are gone", || close("t3", "").status == 404)?;
    for body in ["[]", "{\"force\": 1}", "{\"forced\": true}", "x"] {
        let answer = close("t9", body);
        holds!(answer.status == 400, "{body}: {answer:?}");
    }
    let (fine, said) = dtmcp(&world, &["close", "t9"])?;
    holds!(!fine && said.contains("no session"), "{said}");
    let (fine, _) = dtmcp(&world, &["close", "../x"])?;
    holds!(!fine, "no name");
    Ok(())
}

fn without_a_server_it_is_said() -> Tested {
    let world = serving::world()?;
    for args in [&["status"][..], &["close", "t1"]] {
        let (fine, said) = dtmcp(&world, args)?;
        holds!(!fine && said.contains("dtmcp serve"), "{said}");
    }
    Ok(())
}
