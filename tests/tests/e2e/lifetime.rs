//! How sessions end, and what can still be read of them.

use dtmcp_tests::client::World;
use dtmcp_tests::person::wait_until;
use serde_json::json;

use super::{Row, Tested, holds, same};

pub(crate) const ROWS: &[Row] = &[
    ("a_shell_that_cannot_start", &["tmux", "bash"], shell_that_cannot_start),
    ("exit", &["tmux", "bash"], exit),
    ("unusual_deaths", &["tmux", "bash"], unusual_deaths),
    ("a_program_that_ends_at_once", &["tmux"], ends_at_once),
    ("close", &["tmux", "bash"], close),
    ("close_after_the_shim_was_killed", &["tmux", "bash"], close_without_shim),
    ("an_older_session_of_the_name", &["tmux", "bash"], archived),
    ("files", &["tmux", "bash"], files),
    ("region_files", &["tmux", "bash"], region_files),
    ("many_runs_leave_nothing", &["tmux", "bash"], many_runs),
    ("the_whole_process_group_is_killed", &["tmux", "bash", "setsid"], group_killed),
    ("session_environment", &["tmux", "bash"], environment),
];

fn exit() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    let ended = client.run("exit 42 || true")?;
    same!((ended.status(), ended.exit()), ("ended", Some(42)), "{}", ended.text);
    let over = client.run("echo x")?;
    holds!(over.is_error && over.text.contains("session_create"), "{}", over.text);
    let read = client.call("read", json!({}))?;
    holds!(read.output().contains("exit 42"), "{}", read.text);
    Ok(())
}

fn unusual_deaths() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({ "name": "other" }))?;
    for (line, exit) in [
        ("kill -9 $$", Some(137)),
        ("exec sh -c 'exit 3'", Some(3)),
        ("exec nosuch_program", None),
        ("exec 1>&-", None),
    ] {
        client.call("session_create", json!({ "name": "dies" }))?;
        let answer = client.call("run", json!({ "session": "dies", "line": line, "timeout": 10 }))?;
        holds!(["ended", "finished", "prompt"].contains(&answer.status()), "{line}: {}", answer.text);
        if exit.is_some() {
            same!((answer.status(), answer.exit()), ("ended", exit.map(i64::from)), "{line}: {}", answer.text);
        }
        let other = client.call("run", json!({ "session": "other", "line": "echo unharmed" }))?;
        same!(other.output(), "unharmed", "{line}: {}", other.text);
        client.call("session_close", json!({ "session": "dies" }))?;
    }
    Ok(())
}

fn ends_at_once() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    let made = client.call("session_create", json!({ "command": "sh -c 'echo oops >&2; exit 3'" }))?;
    same!((made.status(), made.exit()), ("ended", Some(3)), "{}", made.text);
    holds!(made.output().contains("oops"), "{}", made.text);
    client.call("session_create", json!({ "name": "burst", "command": "seq 100000" }))?;
    let last = client.call("search", json!({ "session": "burst", "pattern": "^[0-9]+$", "context": 0 }))?;
    same!(last.meta["total"], json!(100_000), "{}", last.text);
    let list = client.call("session_list", json!({ "session": "burst" }))?;
    same!(list.meta["sessions"][0]["exit"], json!(0), "{}", list.text);
    Ok(())
}

fn close() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    client.run("echo before")?;
    client.call("run", json!({ "line": "trap 'echo hung up' HUP; sleep 60", "timeout": 0.5 }))?;
    let closed = client.call("session_close", json!({}))?;
    same!(closed.status(), "ok", "{}", closed.text);
    holds!(world.tmux(&["has-session", "-t", "=t1"]).is_err(), "the pane is gone");
    let found = client.call("search", json!({ "session": "t1", "pattern": "^before$" }))?;
    same!(found.meta["total"], json!(1), "{}", found.text);
    let list = client.call("session_list", json!({ "closed": true }))?;
    same!(list.meta["sessions"][0]["state"], json!("closed"), "{}", list.text);
    let screen = client.call("read", json!({ "session": "t1", "view": "screen" }))?;
    holds!(screen.is_error, "{}", screen.text);
    let run = client.call("run", json!({ "session": "t1", "line": "echo" }))?;
    holds!(run.is_error && run.text.contains("closed"), "{}", run.text);
    Ok(())
}

fn close_without_shim() -> Tested {
    use nix::sys::signal::{Signal, kill};
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    client.run("echo before")?;
    let shim = world.tmux(&["display-message", "-p", "-t", "t1", "#{pane_pid}"])?;
    let shim: i32 = shim.trim().parse().map_err(|_| format!("no pid: {shim}"))?;
    kill(nix::unistd::Pid::from_raw(shim), Signal::SIGKILL).map_err(|error| error.to_string())?;
    wait_until("the pane is dead", || {
        world.tmux(&["display-message", "-p", "-t", "t1", "#{pane_dead}"]).is_ok_and(|dead| dead.trim() == "1")
    })?;
    let closed = client.call("session_close", json!({}))?;
    same!(closed.status(), "ok", "{}", closed.text);
    let read = client.call("read", json!({ "session": "t1", "region": 1, "numbers": false }))?;
    same!(read.output(), "before", "{}", read.text);
    Ok(())
}

fn archived() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    for text in ["first", "second", "third"] {
        client.call("session_create", json!({ "name": "build" }))?;
        client.call("run", json!({ "session": "build", "line": format!("echo {text}") }))?;
        client.call("session_close", json!({ "session": "build" }))?;
    }
    for (name, text) in [("build.1", "first"), ("build.2", "second"), ("build", "third")] {
        let read = client.call("read", json!({ "session": name, "region": 1, "numbers": false }))?;
        same!(read.output(), text, "{name}: {}", read.text);
    }
    Ok(())
}

fn files() -> Tested {
    use std::os::unix::fs::PermissionsExt as _;
    let world = World::new()?;
    let mut server = world.command("sh");
    server.arg("-c").arg(format!("umask 000; exec {}", dtmcp_tests::binary::dtmcp()?.display()));
    let mut client = dtmcp_tests::client::Client::start(server)?;
    client.initialize("tester")?;
    client.call("session_create", json!({}))?;
    client.call("run", json!({ "line": "echo x", "save_to": "x" }))?;
    client.call("read", json!({ "region": 1 }))?;
    let dir = world.state().join("sessions/t1");
    for name in ["meta.json", "raw.log", "timing", "session.txt", "regions.jsonl", "state.json", "intent.json"] {
        holds!(dir.join(name).is_file(), "{name}");
    }
    wait_until("regions/0001.txt", || dir.join("regions/0001.txt").is_file())?;
    let mut open = Vec::new();
    let mut waiting = vec![world.state()];
    while let Some(path) = waiting.pop() {
        let meta = std::fs::symlink_metadata(&path).map_err(|error| error.to_string())?;
        if meta.permissions().mode() & 0o077 != 0 {
            open.push(path.clone());
        }
        if meta.is_dir() {
            let entries = std::fs::read_dir(&path).map_err(|error| error.to_string())?;
            waiting.extend(entries.filter_map(|entry| Some(entry.ok()?.path())));
        }
    }
    same!(open, Vec::<std::path::PathBuf>::new(), "files that others can reach");
    let meta = std::fs::read_to_string(dir.join("meta.json")).map_err(|error| error.to_string())?;
    let meta: serde_json::Value = serde_json::from_str(&meta).map_err(|error| error.to_string())?;
    holds!(meta["v"] == json!(1) && meta["host"].is_string() && meta["socket"] == json!("world"), "{meta}");
    holds!(meta["socket_path"].as_str().is_some_and(|path| path.ends_with("/world")), "{meta}");
    // calls.log: a line a call, never input or output.
    let calls = std::fs::read_to_string(world.state().join("calls.log")).map_err(|error| error.to_string())?;
    same!(calls.lines().count(), 3, "{calls}");
    holds!(calls.lines().all(|line| serde_json::from_str::<serde_json::Value>(line).is_ok()), "{calls}");
    holds!(!calls.contains("echo x"), "{calls}");
    // A session's umask is the person's own.
    same!(client.run("umask")?.output(), "0000", "the shell's umask");
    Ok(())
}

fn region_files() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    for n in 1..=12 {
        client.run(&format!("echo region {n}"))?;
    }
    let dir = world.state().join("sessions/t1/regions");
    let kept = || {
        let entries = std::fs::read_dir(&dir).into_iter().flatten();
        let mut names: Vec<String> = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect();
        names.retain(|name| !name.starts_with('.'));
        names.sort();
        names
    };
    let newest: Vec<String> = (5..=12).map(|n| format!("{n:04}.txt")).collect();
    wait_until("the 8 newest", || kept() == newest)?;
    std::os::unix::fs::symlink(world.root().join("victim"), dir.join("0002.txt")).map_err(|error| error.to_string())?;
    client.call("read", json!({ "region": 2 }))?;
    wait_until("written again", || {
        std::fs::read_to_string(dir.join("0002.txt")).is_ok_and(|text| text == "region 2\n")
    })?;
    holds!(!world.root().join("victim").exists(), "a link is never followed");
    Ok(())
}

fn many_runs() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    client.run("true")?;
    let pid = client.pid();
    let count = |what: &str| std::fs::read_dir(format!("/proc/{pid}/{what}")).map_or(0, Iterator::count);
    let before = (count("fd"), count("task"));
    for _ in 0..100 {
        same!(client.run("true")?.exit(), Some(0), "true");
    }
    for _ in 0..5 {
        client.call("session_create", json!({ "name": "short" }))?;
        client.call("session_close", json!({ "session": "short" }))?;
    }
    // A thread that had something to read for a reply stays a few seconds in case there is more.
    wait_until("no descriptor and no thread is left over", || {
        count("fd") <= before.0 + 3 && count("task") <= before.1 + 3
    })?;
    let children = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    for child in children.split_whitespace() {
        let stat = std::fs::read_to_string(format!("/proc/{child}/stat")).unwrap_or_default();
        holds!(!stat.contains(") Z "), "a zombie: {stat}");
    }
    Ok(())
}

fn group_killed() -> Tested {
    let world = World::new()?;
    let mut server = world.command("setsid");
    server.arg(dtmcp_tests::binary::dtmcp()?);
    let mut client = dtmcp_tests::client::Client::start(server)?;
    client.initialize("tester")?;
    client.call("session_create", json!({}))?;
    client.run("echo before")?;
    let group = nix::unistd::Pid::from_raw(i32::try_from(client.pid()).map_err(|error| error.to_string())?);
    nix::sys::signal::killpg(group, nix::sys::signal::Signal::SIGKILL).map_err(|error| error.to_string())?;
    drop(client);
    let mut client = world.client()?;
    same!(client.run("echo after")?.output(), "after", "sessions outlive the service");
    Ok(())
}

fn environment() -> Tested {
    let mut world = World::new()?;
    for (name, value) in [
        ("CLAUDECODE", "1"),
        ("CLAUDE_CODE_SESSION_ID", "x"),
        ("CODEX_HOME_X", "x"),
        ("AI_AGENT", "x"),
        ("MINE", "kept"),
    ] {
        world.env.push((name.to_owned(), value.to_owned()));
    }
    let mut client = world.client()?;
    client.call("session_create", json!({ "env": { "ASKED": "for it" } }))?;
    let env =
        client.run("env | grep -E '^(CLAUDE|CODEX|AI_AGENT|DOCENT|TMUX_TMPDIR)' | sort; echo $MINE; echo $ASKED")?;
    holds!(env.output().ends_with("kept\nfor it"), "{}", env.text);
    holds!(
        !env.output().contains("CLAUDE") && !env.output().contains("CODEX") && !env.output().contains("AI_AGENT"),
        "{}",
        env.text
    );
    Ok(())
}

fn shell_that_cannot_start() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    let made = client.call("session_create", json!({ "name": "a", "env": { "PATH": "/nonexist" } }))?;
    holds!(made.text.starts_with("[a ended") && made.words().contains("exited with 127"), "{}", made.text);
    holds!(made.output().contains("cannot run bash") && !made.words().contains("tell the user"), "{}", made.text);
    same!(made.status(), "ended", "{}", made.text);
    let taken = client.call("session_create", json!({ "name": "a" }))?;
    holds!(taken.is_error && taken.text.contains("session_close"), "{}", taken.text);
    for name in ["-x", "--help"] {
        let refused = client.call("session_create", json!({ "name": name }))?;
        holds!(refused.is_error && refused.text.contains("begin with -"), "{}", refused.text);
    }
    Ok(())
}
