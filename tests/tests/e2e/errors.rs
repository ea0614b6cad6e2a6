//! What goes wrong, and what is said of it.

use dtmcp_tests::client::{Client, World};
use serde_json::json;

use super::{Row, Tested, holds, same};

pub(crate) const ROWS: &[Row] = &[
    ("no_such_session", &["tmux", "bash"], no_such_session),
    ("bad_arguments", &["tmux", "bash"], bad_arguments),
    ("costly_patterns", &["tmux", "bash"], costly_patterns),
    ("tmux_missing", &[], tmux_missing),
    ("tmux_too_old", &[], tmux_too_old),
    ("tmux_stopped", &["tmux", "bash"], tmux_stopped),
    ("tmux_killed", &["tmux", "bash"], tmux_killed),
    ("the_socket_is_removed", &["tmux", "bash"], socket_removed),
    ("a_second_server", &["tmux", "bash"], second_server),
    ("a_home_that_cannot_be_written", &[], unwritable_home),
    ("malformed_json", &[], malformed_json),
];

fn no_such_session() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    let none = client.run("echo hi")?;
    holds!(none.is_error && none.text.starts_with("error: ") && none.text.contains("session_create"), "{}", none.text);
    client.call("session_create", json!({}))?;
    let wrong = client.call("read", json!({ "session": "t9" }))?;
    holds!(wrong.is_error && wrong.text.contains("t9") && wrong.text.contains("t1"), "{}", wrong.text);
    Ok(())
}

fn bad_arguments() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    for (tool, arguments, named) in [
        ("run", json!({}), "line"),
        ("run", json!({ "line": "true", "tiemout": 3 }), "tiemout"),
        ("run", json!({ "line": "true", "timeout": 4000 }), "timeout"),
        ("run", json!({ "line": "true", "until": "a(" }), "a("),
        ("search", json!({ "pattern": "[" }), "["),
        ("read", json!({ "region": 99 }), "99"),
        ("session_create", json!({ "name": "../x" }), "name"),
        ("session_create", json!({ "cwd": "/nosuch" }), "/nosuch"),
        ("session_create", json!({ "name": "t1" }), "t1"),
        ("send", json!({ "keys": ["nokey"] }), "nokey"),
    ] {
        let answer = client.call(tool, arguments.clone())?;
        holds!(
            answer.is_error && answer.text.starts_with("error: ") && answer.text.contains(named),
            "{tool} {arguments}: {}",
            answer.text
        );
    }
    // As models send them.
    let loose = client.call("run", json!({ "line": "echo loose", "timeout": "5", "last_lines": 2.0 }))?;
    same!(loose.output(), "loose", "{}", loose.text);
    Ok(())
}

fn costly_patterns() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    client.run("head -c 60000 /dev/zero | tr '\\0' a; echo")?;
    let costly = client.call("search", json!({ "pattern": r"(a+)+\1b" }))?;
    holds!(costly.is_error && costly.text.contains("backtracking"), "{}", costly.text);
    let linear = client.call("search", json!({ "pattern": "(a+)+$" }))?;
    holds!(!linear.is_error, "{}", linear.text);
    Ok(())
}

fn with_path(world: &World, path: &str) -> Result<Client, String> {
    let mut command = world.command(dtmcp_tests::binary::dtmcp()?);
    command.env("PATH", path);
    let mut client = Client::start(command)?;
    client.initialize("tester")?;
    Ok(client)
}

fn tmux_missing() -> Tested {
    let world = World::new()?;
    let mut client = with_path(&world, "/nosuch")?;
    let tools = client.request("tools/list", json!({}))?;
    holds!(tools.pointer("/result/tools/0").is_some(), "{tools}");
    let answer = client.call("session_create", json!({}))?;
    holds!(answer.is_error && answer.text.contains("tmux is not installed"), "{}", answer.text);
    Ok(())
}

fn tmux_too_old() -> Tested {
    use std::os::unix::fs::PermissionsExt as _;
    let world = World::new()?;
    let bin = world.root().join("bin");
    std::fs::create_dir(&bin).map_err(|error| error.to_string())?;
    let shim = bin.join("tmux");
    std::fs::write(&shim, "#!/bin/sh\ncase $1 in -V) echo tmux 2.1;; *) exit 1;; esac\n")
        .map_err(|error| error.to_string())?;
    std::fs::set_permissions(&shim, std::fs::Permissions::from_mode(0o755)).map_err(|error| error.to_string())?;
    let mut client = with_path(&world, &format!("{}:/usr/bin:/bin", bin.display()))?;
    let answer = client.call("session_create", json!({}))?;
    holds!(answer.is_error && answer.text.contains("3.2"), "{}", answer.text);
    Ok(())
}

fn tmux_stopped() -> Tested {
    use nix::sys::signal::{Signal, kill};
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    client.run("echo before")?;
    let pid: i32 = world.tmux(&["display-message", "-p", "#{pid}"])?.trim().parse().map_err(|_| "no pid")?;
    let tmux = nix::unistd::Pid::from_raw(pid);
    kill(tmux, Signal::SIGSTOP).map_err(|error| error.to_string())?;
    let run = client.run("echo stopped");
    let read = client.call("read", json!({ "region": 1, "numbers": false }));
    let close = client.call("session_close", json!({}));
    kill(tmux, Signal::SIGCONT).map_err(|error| error.to_string())?;
    let run = run?;
    holds!(run.is_error && run.text.contains("tmux does not answer"), "{}", run.text);
    same!(read?.output(), "before", "what needs no tmux goes on");
    let close = close?;
    holds!(close.is_error && close.text.contains("tmux does not answer"), "and the session stays: {}", close.text);
    dtmcp_tests::person::wait_until("it works again", || {
        client.run("echo again").is_ok_and(|answer| answer.output().ends_with("again"))
    })?;
    Ok(())
}

fn tmux_killed() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    client.run("echo before")?;
    world.tmux(&["kill-server"])?;
    let run = client.run("echo after")?;
    holds!(run.is_error, "{}", run.text);
    let found = client.call("search", json!({ "session": "t1", "pattern": "^before$" }))?;
    same!(found.meta["total"], json!(1), "{}", found.text);
    let made = client.call("session_create", json!({ "name": "new" }))?;
    holds!(!made.is_error, "{}", made.text);
    let run = client.call("run", json!({ "session": "new", "line": "echo works" }))?;
    same!(run.output(), "works", "{}", run.text);
    dtmcp_tests::person::wait_until("the old one is closed", || {
        let list = client.call("session_list", json!({ "session": "t1" }));
        list.is_ok_and(|list| list.meta["sessions"][0]["state"] == json!("closed"))
    })?;
    same!(client.run("echo only")?.output(), "only", "the one that is open");
    let again = client.call("session_create", json!({ "name": "t1" }))?;
    holds!(!again.is_error, "{}", again.text);
    Ok(())
}

fn socket_removed() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    let pid = world.tmux(&["display-message", "-p", "#{pid}"])?;
    let remove = || {
        let dirs = std::fs::read_dir(world.root()).map_err(|error| error.to_string())?;
        for dir in dirs.filter_map(Result::ok).filter(|entry| entry.file_name().to_string_lossy().starts_with("tmux-"))
        {
            std::fs::remove_file(dir.path().join("world")).map_err(|error| error.to_string())?;
        }
        Ok::<(), String>(())
    };
    remove()?;
    // The one that has a connection goes on, and so does the next.
    same!(client.run("echo on")?.output(), "on", "without the socket");
    client.call("session_create", json!({ "name": "t2" }))?;
    let run = client.call("run", json!({ "session": "t2", "line": "echo new" }))?;
    same!(run.output(), "new", "a new pane has to connect by itself: {}", run.text);
    client.call("session_close", json!({ "session": "t2" }))?;
    remove()?;
    client.kill()?;
    let mut client = world.client()?;
    same!(client.run("echo mended")?.output(), "mended", "the next server");
    same!(world.tmux(&["display-message", "-p", "#{pid}"])?, pid, "no second tmux was started");
    Ok(())
}

fn second_server() -> Tested {
    let world = World::new()?;
    let first = world.client()?;
    let mut second = Client::start(world.command(dtmcp_tests::binary::dtmcp()?))?;
    let refused = second.initialize("second")?;
    let text = refused.to_string();
    holds!(text.contains("error") && text.contains(&first.pid().to_string()), "{text}");
    first.leave()?;
    let mut third = world.client()?;
    let made = third.call("session_create", json!({}))?;
    holds!(!made.is_error, "{}", made.text);
    Ok(())
}

fn unwritable_home() -> Tested {
    let world = World::new()?;
    std::fs::write(world.state(), "a file where the directory should be").map_err(|error| error.to_string())?;
    let mut client = Client::start(world.command(dtmcp_tests::binary::dtmcp()?))?;
    let refused = client.initialize("tester")?.to_string();
    holds!(refused.contains("error") && refused.contains("DOCENT_TERMINAL_MCP_HOME"), "{refused}");
    Ok(())
}

fn malformed_json() -> Tested {
    use std::io::Write as _;
    let world = World::new()?;
    let mut child = world
        .command(dtmcp_tests::binary::dtmcp()?)
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .map_err(|error| error.to_string())?;
    let input = child.stdin.take();
    if let Some(mut input) = input {
        let hello = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": { "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } } });
        let list = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {} });
        let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        write!(input, "{hello}\n{ready}\n{{this is not json\n{list}\n").map_err(|error| error.to_string())?;
    }
    let output = child.wait_with_output().map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout);
    holds!(text.contains("-32700") && text.contains("\"session_create\""), "{text}");
    holds!(text.lines().all(|line| serde_json::from_str::<serde_json::Value>(line).is_ok()), "{text}");
    Ok(())
}
