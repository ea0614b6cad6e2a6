//! The main job: open a bash, run commands in it, read back what they printed.

use dtmcp_tests::client::World;
use dtmcp_tests::person::wait_until;
use serde_json::json;

use super::{Row, Tested, holds, same};

pub(crate) const ROWS: &[Row] = &[
    ("run", &["tmux", "bash"], run),
    ("statuses", &["tmux", "bash"], statuses),
    ("several_lines", &["tmux", "bash"], several_lines),
    ("until_is_not_the_echo", &["tmux", "bash"], until_is_not_the_echo),
    ("timeout_and_wait", &["tmux", "bash"], timeout_and_wait),
    ("wait_until_looks_back", &["tmux", "bash"], wait_until_looks_back),
    ("finished_since", &["tmux", "bash"], finished_since),
    ("cancelled", &["tmux", "bash"], cancelled),
    ("send_keys", &["tmux", "bash"], send_keys),
    ("own_half_typed_text", &["tmux", "bash"], own_half_typed_text),
    ("lines_typed_ahead", &["tmux", "bash", "zsh", "fish"], lines_typed_ahead),
    ("reading", &["tmux", "bash"], reading),
    ("resize", &["tmux", "bash"], resize),
    ("save_to", &["tmux", "bash"], save_to),
    ("stateless", &["tmux", "bash"], stateless),
    ("four_at_once", &["tmux", "bash"], four_at_once),
    ("eight_at_once_in_order", &["tmux", "bash"], eight_at_once),
    ("sends_at_once", &["tmux"], sends_at_once),
    ("two_sessions_do_not_wait_for_each_other", &["tmux", "bash"], two_sessions),
];

fn run() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    let made = client.call("session_create", json!({}))?;
    holds!(made.text.starts_with("[t1 open · bash · 120x40]"), "{}", made.text);
    same!(made.meta["attach"], json!(["tmux", "-L", "world", "attach", "-t", "t1"]), "{}", made.meta);
    holds!(made.meta["log_dir"].as_str().is_some_and(|dir| dir.ends_with("/t1")), "{}", made.meta);
    let hi = client.run("echo hi")?;
    same!((hi.status(), hi.exit(), hi.region(), hi.output()), ("finished", Some(0), Some(1), "hi"), "{}", hi.text);
    holds!(hi.text.starts_with("[t1 #1 exit 0 · "), "{}", hi.text);
    holds!(hi.words().ends_with("1 line]"), "{}", hi.text);
    let regions = client.call("regions", json!({}))?;
    let first = &regions.meta["regions"][0];
    same!(
        (&first["label"], &first["kind"], &first["actor"]),
        (&json!("echo hi"), &json!("command"), &json!("tester")),
        "{first}"
    );
    same!(client.leave()?, Some(0), "the server ends with its client");
    holds!(world.tmux(&["has-session", "-t", "=t1"]).is_ok(), "the session lives on");
    Ok(())
}

fn statuses() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    for (line, exit, stages) in [
        ("true", 0, json!(null)),
        ("false", 1, json!(null)),
        ("(exit 255)", 255, json!(null)),
        ("nosuchcmd_x", 127, json!(null)),
        ("false|true|(exit 3)", 3, json!([1, 0, 3])),
        ("false | tail -1", 0, json!([1, 0])),
        ("f() { :; }", 0, json!(null)),
        ("false || true", 0, json!(null)),
        ("false; echo done", 0, json!(null)),
        ("sh -c 'kill -9 $$'", 137, json!(null)),
        ("echo )", 2, json!(null)),
    ] {
        let answer = client.run(line)?;
        same!((answer.status(), answer.exit()), ("finished", Some(exit)), "{line}: {}", answer.text);
        same!(*answer.meta.get("pipestatus").unwrap_or(&json!(null)), stages, "{line}: {}", answer.text);
    }
    let failed = client.run("false | tail -1")?;
    holds!(failed.words().contains("(1|0)") && failed.words().contains("an earlier stage"), "{}", failed.text);
    Ok(())
}

fn several_lines() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    let answer = client.run("echo one\n(exit 3)\necho three")?;
    same!(answer.meta["ran"].as_array().map(Vec::len), Some(3), "{}", answer.meta);
    same!(answer.meta["unsent"], json!(0), "{}", answer.meta);
    same!(answer.meta["ran"][1]["exit"], json!(3), "{}", answer.meta);
    same!(answer.output(), "[#1]\none\n[#2]\n[#3]\nthree", "{}", answer.text);
    let heredoc = client.run("cat <<X\none\ntwo\nX")?;
    same!((heredoc.status(), heredoc.exit()), ("finished", Some(0)), "{}", heredoc.text);
    holds!(heredoc.output().contains("one\ntwo"), "{}", heredoc.text);
    // The question that a line led to, and that the next line answered.
    let asked = client.run("read -p 'user: ' a; read -p 'host: ' b; echo $a-$b\nme\nhere")?;
    holds!(asked.words().contains("answered · waited at \"host: \""), "{}", asked.text);
    same!(asked.meta["ran"][1]["prompt"], json!("host: "), "{}", asked.meta);
    // A line that still runs at the timeout stops the rest.
    let stopped = client.call("run", json!({ "line": "sleep 60\necho never", "timeout": 0.5 }))?;
    same!((stopped.status(), &stopped.meta["unsent"]), ("running", &json!(1)), "{}", stopped.text);
    holds!(stopped.words().contains("the last line was not typed"), "{}", stopped.text);
    client.call("send", json!({ "keys": ["ctrl+c"] }))?;
    Ok(())
}

fn until_is_not_the_echo() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    let answer = client.call("run", json!({ "line": "sleep 1; echo STEP_DONE; sleep 60", "until": "STEP_DONE" }))?;
    same!((answer.status(), answer.output()), ("matched", "STEP_DONE"), "{}", answer.text);
    holds!(answer.meta["elapsed"].as_f64().is_some_and(|elapsed| elapsed >= 0.9), "{}", answer.meta);
    let line = answer.meta["matched"].as_i64();
    same!(line, answer.meta["first_line"].as_i64(), "{}", answer.meta);
    // A signal between two commands of a list can be lost in bash itself.
    wait_until("interrupted", || {
        client.call("send", json!({ "keys": ["C-c"] })).is_ok_and(|sent| sent.text.contains(" at the prompt "))
    })?;
    // The unfinished last line counts too. Whether the command's end has come by then is up to the machine.
    let answer = client.call("run", json!({ "line": "printf 'half a li'; printf 'ne'", "until": "a line" }))?;
    holds!(matches!(answer.status(), "finished" | "matched"), "{}", answer.text);
    holds!(answer.meta["matched"].is_i64(), "{}", answer.meta);
    Ok(())
}

fn timeout_and_wait() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    let answer = client.call("run", json!({ "line": "sleep 2; echo end; (exit 5)", "timeout": 0.3 }))?;
    same!((answer.status(), answer.exit()), ("running", None), "{}", answer.text);
    let busy = client.run("echo too early")?;
    holds!(busy.is_error && busy.text.contains("still running") && busy.text.contains("#1"), "{}", busy.text);
    let waited = client.call("wait", json!({}))?;
    same!((waited.status(), waited.exit(), waited.output()), ("finished", Some(5), "end"), "{}", waited.text);
    let again = client.call("wait", json!({}))?;
    same!((again.status(), again.region()), ("finished", Some(1)), "{}", again.text);
    Ok(())
}

fn wait_until_looks_back() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    client.call("run", json!({ "line": "sleep 0.5; echo READY; sleep 60", "timeout": 0.1 }))?;
    let seen = client.call("wait", json!({ "until": "READY" }))?;
    same!(seen.status(), "matched", "{}", seen.text);
    client.call("send", json!({ "keys": ["ctrl+c"] }))?;
    Ok(())
}

fn finished_since() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    client.call("run", json!({ "line": "sleep 0.5; echo r; (exit 4)", "timeout": 0.1 }))?;
    wait_until("the command ends", || {
        std::fs::read_to_string(world.state().join("sessions/t1/regions.jsonl"))
            .unwrap_or_default()
            .contains("\"exit\":4")
    })?;
    let next = client.call("session_list", json!({}))?;
    holds!(
        next.words().contains("finished since your last call: #1") && next.words().contains("exit 4"),
        "{}",
        next.text
    );
    let after = client.call("session_list", json!({}))?;
    holds!(!after.words().contains("finished since"), "told once: {}", after.text);
    Ok(())
}

fn cancelled() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    let id = client.begin("run", json!({ "line": "echo ran >> f; sleep 1; echo r" }))?;
    wait_until("the command runs", || world.user_home().join("f").exists())?;
    client.write(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } }))?;
    let waited = client.call("wait", json!({}))?;
    same!((waited.status(), waited.output()), ("finished", "r"), "{}", waited.text);
    same!(std::fs::read_to_string(world.user_home().join("f")).unwrap_or_default(), "ran\n", "typed once");
    Ok(())
}

fn send_keys() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    let sent = client.call("send", json!({ "text": "echo a\n" }))?;
    same!(sent.status(), "sent", "{}", sent.text);
    holds!(sent.output().contains("\na"), "{}", sent.text);
    holds!(sent.region().is_some(), "{}", sent.meta);
    client.call("run", json!({ "line": "sleep 60", "timeout": 0.2 }))?;
    let sent = client.call("send", json!({ "keys": ["ctrl+c"] }))?;
    holds!(sent.output().contains("^C"), "{}", sent.text);
    let regions = client.call("regions", json!({ "last": 1 }))?;
    same!(regions.meta["regions"][0]["exit"], json!(130), "{}", regions.text);
    let up = client.call("send", json!({ "keys": ["up", "up", "enter"] }))?;
    holds!(up.output().contains("echo a"), "{}", up.text);
    let bad = client.call("send", json!({ "keys": ["ctrl+banana"] }))?;
    holds!(bad.is_error, "{}", bad.text);
    Ok(())
}

fn own_half_typed_text() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({ "cwd": "/tmp" }))?;
    let sent = client.call("send", json!({ "text": "foo" }))?;
    holds!(sent.output().ends_with("foo"), "{}", sent.text);
    let answer = client.run("pwd")?;
    same!((answer.output(), answer.exit()), ("/tmp", Some(0)), "{}", answer.text);
    let regions = client.call("regions", json!({}))?;
    same!(regions.meta["regions"].as_array().map(Vec::len), Some(1), "{}", regions.text);
    same!(regions.meta["regions"][0]["label"], json!("pwd"), "{}", regions.text);
    Ok(())
}

/// A `run` is answered by its own line also while the shell has others to read that were typed before it.
fn lines_typed_ahead() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    for shell in ["bash", "zsh", "fish"] {
        let place = world.root().join(shell);
        std::fs::create_dir(&place).map_err(|error| error.to_string())?;
        client.call("session_create", json!({ "name": shell, "command": shell, "cwd": place }))?;
        let wait = "sh -c 'until [ -e go ]; do sleep 0.01; done'";
        client.call("run", json!({ "session": shell, "line": wait, "timeout": 0.1 }))?;
        let ahead = ["echo one", "sleep 0.3", "echo two", "echo mine"];
        client.call("send", json!({ "session": shell, "text": format!("{}\n", ahead.join("\n")) }))?;
        std::fs::write(place.join("go"), "").map_err(|error| error.to_string())?;
        let mut mine = None;
        // On a busy machine a line before it is taken for one that goes on, and it is refused.
        wait_until("the line is taken", || {
            let answer = client.call("run", json!({ "session": shell, "line": "echo mine; echo too" }));
            mine = answer.ok().filter(|answer| !answer.is_error);
            mine.is_some()
        })?;
        let mine = mine.ok_or("no answer")?;
        same!((mine.region(), mine.output()), (Some(6), "mine\ntoo"), "{shell}: {}", mine.text);
        let regions = client.call("regions", json!({ "session": shell }))?;
        let all = regions.meta["regions"].as_array().cloned().unwrap_or_default();
        let told = |name: &str| -> Vec<String> {
            all.iter().filter_map(|region| region[name].as_str().map(str::to_owned)).collect()
        };
        let labels = [&[wait][..], &ahead, &["echo mine; echo too"]].concat();
        same!(told("label"), labels, "{shell}: {}", regions.text);
        same!(told("actor"), vec!["tester"; labels.len()], "{shell}: {}", regions.text);
    }
    Ok(())
}

fn reading() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    let long = client.run("seq 1 1000")?;
    holds!(
        long.meta["clipped"] == json!(true) && long.output().contains("lines left out: read session=\"t1\" region=1"),
        "{}",
        long.text
    );
    holds!(long.output().starts_with("1\n2\n") && long.output().ends_with("\n1000"), "{}", long.text);
    let page = client.call("read", json!({ "region": 1, "from": long.meta["first_line"].as_i64().unwrap_or(0) + 499, "max_lines": 2, "numbers": false }))?;
    same!(page.output(), "500\n501", "{}", page.text);
    let shown = client.call("run", json!({ "line": "seq 1 100", "show": "7$", "show_after": 1, "last_lines": 4 }))?;
    same!(shown.output(), "87\n88\n...\n97\n98", "{}", shown.text);
    let found = client.call("search", json!({ "pattern": "^99[0-9]$", "context": 0, "max_hits": 3 }))?;
    same!((&found.meta["total"], found.meta["hits"].as_array().map(Vec::len)), (&json!(10), Some(3)), "{}", found.text);
    same!(
        (&found.meta["hits"][0]["text"], &found.meta["hits"][0]["region"]),
        (&json!("990"), &json!(1)),
        "{}",
        found.meta
    );
    let screen = client.call("read", json!({ "view": "screen" }))?;
    holds!(screen.words().starts_with("[t1 screen 120x40 · cursor "), "{}", screen.text);
    let raw = client.call("read", json!({ "view": "raw", "region": 1, "last_lines": 2 }))?;
    holds!(raw.output().contains("1000\\r\\n") || raw.output().contains("1000\\x0d\\n"), "{}", raw.text);
    Ok(())
}

fn resize() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({ "cols": 80, "rows": 24 }))?;
    let resized = client.call("session_resize", json!({ "cols": 59, "rows": 15 }))?;
    same!(resized.status(), "ok", "{}", resized.text);
    let size = client.run("stty size")?;
    same!(size.output(), "15 59", "{}", size.text);
    let wide = client.run("printf 'x%.0s' {1..200}; echo")?;
    same!(wide.output(), "x".repeat(200), "{}", wide.text);
    Ok(())
}

fn save_to() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    let made = client.call("session_create", json!({}))?;
    let dir = made.meta["log_dir"].as_str().unwrap_or_default().to_owned();
    let saved = client.call("run", json!({ "line": "seq 1 500", "save_to": "numbers.txt", "last_lines": 1 }))?;
    same!(saved.output(), "500", "{}", saved.text);
    let path = format!("{dir}/saved/numbers.txt");
    holds!(saved.words().contains(&path), "{}", saved.text);
    let text = std::fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))?;
    same!(text.lines().count(), 500, "the whole output");
    let refused = client.call("run", json!({ "line": "touch ran", "save_to": "/etc/hostname" }))?;
    holds!(refused.is_error && !world.user_home().join("ran").exists(), "{}", refused.text);
    Ok(())
}

fn stateless() -> Tested {
    let world = World::new()?;
    let mut client = dtmcp_tests::client::Client::start(world.command(dtmcp_tests::binary::dtmcp()?))?;
    let key = "io.modelcontextprotocol/";
    let meta = json!({
        format!("{key}protocolVersion"): "2026-07-28",
        format!("{key}clientInfo"): { "name": "modern", "version": "1" },
        format!("{key}clientCapabilities"): {},
    });
    let mut call = |tool: &str, arguments: serde_json::Value| {
        client.request("tools/call", json!({ "name": tool, "arguments": arguments, "_meta": meta }))
    };
    call("session_create", json!({}))?;
    let answer = call("run", json!({ "line": "echo modern" }))?;
    let text = answer.pointer("/result/content/0/text").and_then(|text| text.as_str()).unwrap_or_default();
    holds!(text.ends_with("\n---\nmodern"), "{answer}");
    Ok(())
}

fn four_at_once() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    let ids: Vec<u64> = (0..4)
        .map(|n| client.begin("run", json!({ "line": format!("sleep 0.1; echo out{n}") })))
        .collect::<Result<_, _>>()?;
    for (n, id) in ids.into_iter().enumerate() {
        let answer = client.finish(id)?;
        same!((answer.status(), answer.output()), ("finished", format!("out{n}").as_str()), "{}", answer.text);
    }
    Ok(())
}

fn eight_at_once() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    let ids: Vec<u64> = (0..8)
        .map(|n| client.begin("run", json!({ "line": format!("echo out{n} | tee -a order") })))
        .collect::<Result<_, _>>()?;
    for (n, id) in (0..).zip(ids) {
        let answer = client.finish(id)?;
        let want = (Some(n + 1), format!("out{n}"));
        same!((answer.region(), answer.output().to_owned()), want, "{}", answer.text);
    }
    let order = std::fs::read_to_string(world.user_home().join("order")).map_err(|error| error.to_string())?;
    same!(order, (0..8).map(|n| format!("out{n}\n")).collect::<String>(), "first come, first served");
    Ok(())
}

fn sends_at_once() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({ "command": "cat > typed" }))?;
    let texts: Vec<String> = (0..5).map(|n| format!("{n}{}\n", "abcdefghij".repeat(300))).collect();
    let ids: Vec<u64> =
        texts.iter().map(|text| client.begin("send", json!({ "text": text }))).collect::<Result<_, _>>()?;
    for id in ids {
        client.finish(id)?;
    }
    client.call("send", json!({ "keys": ["ctrl+d"] }))?;
    let typed = std::fs::read_to_string(world.user_home().join("typed")).map_err(|error| error.to_string())?;
    let lines: Vec<&str> = typed.lines().collect();
    same!(lines, texts.iter().map(|text| text.trim_end()).collect::<Vec<_>>(), "each whole, in order");
    Ok(())
}

fn two_sessions() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({ "name": "slow" }))?;
    client.call("session_create", json!({ "name": "quick" }))?;
    let slow = client.begin("run", json!({ "session": "slow", "line": "sleep 3; echo slow" }))?;
    let quick = client.call("run", json!({ "session": "quick", "line": "echo quick" }))?;
    same!(quick.output(), "quick", "{}", quick.text);
    let which = client.run("echo which")?;
    holds!(which.is_error && which.text.contains("slow") && which.text.contains("quick"), "{}", which.text);
    same!(client.finish(slow)?.output(), "slow", "the slow one is answered too");
    Ok(())
}
