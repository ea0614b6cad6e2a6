//! The server is killed, and the next one goes on.

use dtmcp_tests::binary;
use dtmcp_tests::client::World;
use dtmcp_tests::person::wait_until;
use dtmcp_tests::soak::{self, Way};
use serde_json::json;

use super::{Row, Tested, holds, same};

/// Servers that are killed in one test; the program `soak` does it more often.
const KILLS: usize = 6;

pub(crate) const ROWS: &[Row] = &[
    ("picks_up_sessions", &["tmux", "bash"], picks_up),
    ("output_meanwhile", &["tmux", "bash"], output_meanwhile),
    ("killed_at_random", &["tmux", "bash"], killed_at_random),
    ("never_typed_twice", &["tmux", "bash"], never_typed_twice),
    ("input_regions", &["tmux", "bash", "python3"], input_regions),
    ("a_full_screen_program_is_not_typed_into", &["tmux", "bash", "vim", "nano", "top"], full_screen),
    ("torn_files", &["tmux", "bash"], torn_files),
    ("closed_meanwhile", &["tmux", "bash"], closed_meanwhile),
    ("tmux_is_stopped_at_the_start", &["tmux", "bash"], stopped_at_start),
    ("tmux_ends_just_after_the_server", &["tmux", "bash"], tmux_ends_after_server),
    ("files_that_cannot_be_had_are_named", &["tmux", "bash"], files_that_cannot_be_had),
    ("a_recording_that_a_person_has_taken", &["tmux", "bash"], recording_taken),
    ("own_log_catted", &["tmux", "bash"], own_log),
];

fn regions(client: &mut dtmcp_tests::client::Client, session: &str) -> Result<serde_json::Value, String> {
    let answer = client.call("regions", json!({ "session": session, "last": 100 }))?;
    holds!(!answer.is_error, "{}", answer.text);
    let mut regions = answer.meta["regions"].clone();
    for region in regions.as_array_mut().into_iter().flatten() {
        // Which files are there is no part of what happened.
        region.as_object_mut().map(|fields| fields.remove("file"));
    }
    Ok(regions)
}

fn picks_up() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({ "cols": 100, "rows": 30 }))?;
    client.run("echo one")?;
    client.run("printf abc")?;
    client.run("false | true")?;
    client.call("run", json!({ "line": "sleep 2; echo later; (exit 6)", "timeout": 0.2 }))?;
    let before = regions(&mut client, "t1")?;
    client.kill()?;
    let mut client = world.client()?;
    let waited = client.call("wait", json!({}))?;
    same!((waited.status(), waited.exit(), waited.output()), ("finished", Some(6), "later"), "{}", waited.text);
    let after = regions(&mut client, "t1")?;
    for at in 0..3 {
        same!(after[at], before[at], "live and rebuilt regions are equal");
    }
    same!(client.run("echo on")?.output(), "on", "and it goes on");
    Ok(())
}

fn output_meanwhile() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    client.call("run", json!({ "line": "for i in $(seq 1 200000); do echo L$i; done", "timeout": 0.1 }))?;
    client.kill()?;
    let mut client = world.client()?;
    let waited = client.call("wait", json!({ "timeout": 120 }))?;
    same!(
        (waited.status(), waited.exit(), &waited.meta["lines"]),
        ("finished", Some(0), &json!(200_000)),
        "{}",
        waited.text
    );
    let found = client.call("search", json!({ "pattern": "^L[0-9]+$", "context": 0 }))?;
    same!(found.meta["total"], json!(200_000), "{}", found.text);
    Ok(())
}

fn killed_at_random() -> Tested {
    let found = soak::numbered(&binary::dtmcp()?, KILLS, 20_000, 1)?;
    holds!(found.while_it_printed > 0, "servers died while lines were printed: {found:?}");
    Ok(())
}

fn never_typed_twice() -> Tested {
    soak::typed(&binary::dtmcp()?, KILLS, Way::Stdio, 1).map(drop)?;
    soak::typed(&binary::dtmcp()?, KILLS, Way::Bridge, 1).map(drop)?;
    Ok(())
}

fn input_regions() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    client.run("python3 -q")?;
    client.run("print(1)")?;
    client.run("print('a' * 200)")?;
    let before = regions(&mut client, "t1")?;
    client.kill()?;
    let mut client = world.client()?;
    same!(regions(&mut client, "t1")?, before, "live and rebuilt");
    same!(client.run("print(2)")?.output(), "2", "the program goes on");
    Ok(())
}

fn full_screen() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    client.run("printf 'one\\ntwo\\n' > doc.txt")?;
    for (line, leave) in [("vim -u NONE doc.txt", ":q!\n"), ("nano doc.txt", "\u{18}"), ("top -d 1", "q")] {
        let open = client.run(line)?;
        same!(open.status(), "screen", "{line}: {}", open.text);
        client.kill()?;
        client = world.client()?;
        let refused = client.run("ddddd:wq")?;
        holds!(refused.is_error && refused.text.contains("full-screen"), "{line}: {}", refused.text);
        let rules = json!([{ "pattern": "one", "line": "ddd" }]);
        let refused = client.call("expect", json!({ "line": "ddddd:wq", "rules": rules, "timeout": 60 }))?;
        holds!(refused.is_error && refused.text.contains("full-screen"), "{line}: {}", refused.text);
        client.kill()?;
        client = world.client()?;
        let waited = client.call("wait", json!({ "timeout": 60 }))?;
        same!(waited.status(), "screen", "{line}: {}", waited.text);
        client.call("send", json!({ "text": leave }))?;
        let end = client.call("wait", json!({ "timeout": 60 }))?;
        same!((end.status(), end.exit()), ("finished", Some(0)), "{line}: {}", end.text);
    }
    same!(client.run("cat doc.txt")?.output(), "one\ntwo", "nothing was written");
    Ok(())
}

fn torn_files() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    for n in 0..5 {
        client.run(&format!("echo {n}; (exit {n})"))?;
    }
    let before = regions(&mut client, "t1")?;
    client.kill()?;
    let path = world.state().join("sessions/t1/regions.jsonl");
    let whole = std::fs::read(&path).map_err(|error| error.to_string())?;
    for cut in [0, 1, whole.len() / 3, whole.len() / 2, whole.len() - 1] {
        std::fs::write(&path, &whole[..cut]).map_err(|error| error.to_string())?;
        std::fs::write(world.state().join("sessions/t1/state.json"), "{\"v\":").map_err(|error| error.to_string())?;
        let mut client = world.client()?;
        let after = regions(&mut client, "t1")?;
        same!(after.as_array().map(Vec::len), before.as_array().map(Vec::len), "cut at {cut}");
        for at in 0..5 {
            for field in ["id", "label", "exit", "first_line", "lines"] {
                same!(after[at][field], before[at][field], "cut at {cut}");
            }
        }
        client.kill()?;
    }
    Ok(())
}

fn closed_meanwhile() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    client.run("echo kept")?;
    client.kill()?;
    world.tmux(&["kill-session", "-t", "t1"])?;
    let mut client = world.client()?;
    let list = client.call("session_list", json!({ "closed": true }))?;
    same!(list.meta["sessions"][0]["state"], json!("closed"), "{}", list.text);
    let found = client.call("search", json!({ "session": "t1", "pattern": "^kept$" }))?;
    same!(found.meta["total"], json!(1), "{}", found.text);
    let made = client.call("session_create", json!({}))?;
    same!(made.meta["session"], json!("t2"), "{}", made.text);
    Ok(())
}

fn stopped_at_start() -> Tested {
    use nix::sys::signal::{Signal, kill};
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    client.run("echo before")?;
    let pid: i32 = world.tmux(&["display-message", "-p", "#{pid}"])?.trim().parse().map_err(|_| "no pid")?;
    client.kill()?;
    let tmux = nix::unistd::Pid::from_raw(pid);
    kill(tmux, Signal::SIGSTOP).map_err(|error| error.to_string())?;
    let mut client = world.client()?;
    let run = client.call("run", json!({ "session": "t1", "line": "echo" }));
    let read = client.call("read", json!({ "session": "t1", "region": 1, "numbers": false }));
    kill(tmux, Signal::SIGCONT).map_err(|error| error.to_string())?;
    let run = run?;
    holds!(run.is_error && run.text.contains("not reachable"), "{}", run.text);
    same!(read?.output(), "before", "the log can be read");
    wait_until("taken over", || client.run("echo again").is_ok_and(|answer| answer.output() == "again"))
}

fn files_that_cannot_be_had() -> Tested {
    use std::os::unix::fs::PermissionsExt as _;
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    client.run("echo before")?;
    client.kill()?;
    let timing = world.state().join("sessions/t1/timing");
    let mode = |mode| std::fs::set_permissions(&timing, std::fs::Permissions::from_mode(mode));
    mode(0o644).map_err(|error| error.to_string())?;
    let mut client = world.client()?;
    let run = client.call("run", json!({ "session": "t1", "line": "echo" }))?;
    holds!(run.is_error && run.text.contains("t1/timing") && run.text.contains("0644"), "{}", run.text);
    client.kill()?;
    mode(0o600).map_err(|error| error.to_string())?;
    let again = world.client()?.run("echo again")?;
    same!(again.output(), "again", "{}", again.text);
    Ok(())
}

fn recording_taken() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    client.run("echo before")?;
    world.tmux(&["pipe-pane", "-t", "=t1:", "cat > /dev/null"])?;
    let mut said = String::new();
    let told = wait_until("it is told", || {
        let answer = client.call("run", json!({ "session": "t1", "line": "echo unseen", "timeout": 0.2 }));
        said = answer.map_or_else(|error| error, |answer| answer.text);
        said.contains("took over the recording")
    });
    told.map_err(|error| format!("{error}: {said}"))?;
    let read = client.call("read", json!({ "session": "t1", "region": 1, "numbers": false }))?;
    same!(read.output(), "before", "the log can be read");
    Ok(())
}

fn own_log() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    let made = client.call("session_create", json!({}))?;
    let dir = made.meta["log_dir"].as_str().unwrap_or_default().to_owned();
    client.run("echo one; false")?;
    client.run(&format!("cp {dir}/raw.log copy"))?;
    let shown = client.run("cat copy")?;
    same!((shown.status(), shown.exit()), ("finished", Some(0)), "{}", shown.text);
    same!(client.run("echo in step")?.output(), "in step", "markers of the past move nothing");
    let all = regions(&mut client, "t1")?;
    same!(all.as_array().map(Vec::len), Some(4), "{all}");
    wait_until("the copy is there", || world.user_home().join("copy").exists())?;
    client.kill()?;
    let mut client = world.client()?;
    same!(regions(&mut client, "t1")?, all, "nor in a replay");
    Ok(())
}

/// tmux tells its clients that it ends, ours as well, whose reader has just gone.
fn tmux_ends_after_server() -> Tested {
    let world = World::new()?;
    for _ in 0..KILLS {
        let mut client = world.client()?;
        client.call("session_create", json!({}))?;
        let pid = world.tmux(&["display-message", "-p", "#{pid}"])?;
        client.kill()?;
        // What it answers depends on how soon it has gone.
        drop(world.tmux(&["kill-server"]));
        let process = std::path::Path::new("/proc").join(pid.trim());
        wait_until("tmux has gone", || !process.exists())?;
    }
    Ok(())
}
