//! One server on a socket, for one user; how it starts, what systemd hears, how it ends.

use std::os::unix::fs::MetadataExt as _;
use std::os::unix::net::{UnixDatagram, UnixListener};

use dtmcp_tests::person::wait_until;
use dtmcp_tests::serving::{self, Serving};

use super::{Row, Tested, holds};

pub(crate) const ROWS: &[Row] = &[
    ("only_its_user_can_reach_it", &[], only_its_user_can_reach_it),
    ("a_second_server_names_the_first", &[], a_second_server_names_the_first),
    ("a_killed_servers_socket_is_taken_over", &[], a_killed_servers_socket_is_taken_over),
    ("the_end_of_its_terminal_stops_it_in_order", &["nohup"], the_end_of_its_terminal_stops_it_in_order),
    ("without_a_runtime_directory", &[], without_a_runtime_directory),
    ("systemd_hears_of_it", &[], systemd_hears_of_it),
    ("a_passed_socket_is_taken", &["systemd-socket-activate"], a_passed_socket_is_taken),
    ("the_unit_is_sound", &["systemd-analyze"], the_unit_is_sound),
    ("a_services_tmux_has_a_scope_of_its_own", &["tmux", "bash"], a_services_tmux_has_a_scope_of_its_own),
    ("where_there_is_no_scope_it_goes_without", &["tmux", "bash"], where_there_is_no_scope_it_goes_without),
];

fn only_its_user_can_reach_it() -> Tested {
    let world = serving::world()?;
    let serving = Serving::start(&world, &[])?;
    let dir = world.root().join("docent-terminal-mcp");
    let mode = |path: &std::path::Path| std::fs::metadata(path).map_or(0, |meta| meta.mode() & 0o777);
    holds!(mode(&dir) == 0o700 && mode(&dir.join("server.sock")) == 0o600, "{:o}", mode(&dir));
    let health = serving.health().json();
    holds!(health["service"] == "docent-terminal-mcp", "{health}");
    holds!(health.as_object().map(serde_json::Map::len) == Some(4), "{health}");
    holds!(serving.stop()? == Some(0), "it ends well");
    holds!(!dir.join("server.sock").exists(), "its socket goes with it");
    Ok(())
}

fn a_second_server_names_the_first() -> Tested {
    let mut world = serving::world()?;
    let first = Serving::start(&world, &[])?;
    let Err(said) = Serving::start_only(&world, &[]) else { return Err("two with one state directory".to_owned()) };
    holds!(said.contains(&format!("process {}", first.pid())), "{said}");
    // Another state directory, the same socket.
    let other = world.root().join("other").display().to_string();
    world.env.push(("DOCENT_TERMINAL_MCP_HOME".to_owned(), other));
    let Err(said) = Serving::start_only(&world, &[]) else { return Err("two on one socket".to_owned()) };
    holds!(said.contains(&format!("process {}", first.pid())) && said.contains("server.sock"), "{said}");
    holds!(first.health().status == 200, "the first is not disturbed");
    Ok(())
}

fn a_killed_servers_socket_is_taken_over() -> Tested {
    let world = serving::world()?;
    let first = Serving::start(&world, &[])?;
    let before = first.health().json();
    first.kill()?;
    holds!(world.root().join("docent-terminal-mcp/server.sock").exists(), "it is left behind");
    let second = Serving::start(&world, &[])?;
    let now = second.health().json();
    holds!(now["instance"] != before["instance"] && now["host"] == before["host"], "{before} {now}");
    Ok(())
}

fn the_end_of_its_terminal_stops_it_in_order() -> Tested {
    let world = serving::world()?;
    let hang_up = |serving: &Serving| {
        let pid = i32::try_from(serving.pid()).map_err(|error| error.to_string())?;
        nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid), nix::sys::signal::Signal::SIGHUP)
            .map_err(|error| error.to_string())
    };
    let mut serving = Serving::start(&world, &[])?;
    hang_up(&serving)?;
    wait_until("it ends", || serving.has_ended())?;
    wait_until("it says so", || serving.said().contains("stopping"))?;
    holds!(!world.root().join("docent-terminal-mcp/server.sock").exists(), "its socket goes with it");
    // Whoever started it may have meant it to stay.
    let mut command = world.command("nohup");
    command.arg(dtmcp_tests::binary::dtmcp()?).arg("serve");
    let serving = Serving::spawn(command, world.root().join("docent-terminal-mcp/server.sock"))?;
    hang_up(&serving)?;
    holds!(serving.health().status == 200, "it goes on");
    holds!(serving.stop()? == Some(0), "and ends when it is asked to");
    Ok(())
}

fn without_a_runtime_directory() -> Tested {
    let mut world = serving::world()?;
    world.env.retain(|(name, _)| name != "XDG_RUNTIME_DIR");
    let mut command = world.command(dtmcp_tests::binary::dtmcp()?);
    command.arg("serve");
    let serving = Serving::spawn(command, world.state().join("server.sock"))?;
    wait_until("it says where the socket is", || serving.said().contains("XDG_RUNTIME_DIR is not set"))?;
    let mut client = Serving::client(&world, None)?;
    holds!(client.request("tools/list", serde_json::json!({}))?["result"]["tools"].is_array(), "the bridge finds it");
    Ok(())
}

fn systemd_hears_of_it() -> Tested {
    let mut world = serving::world()?;
    let path = world.root().join("notify");
    let manager = UnixDatagram::bind(&path).map_err(|error| error.to_string())?;
    manager.set_read_timeout(Some(std::time::Duration::from_secs(60))).map_err(|error| error.to_string())?;
    world.env.push(("NOTIFY_SOCKET".to_owned(), path.display().to_string()));
    let hears = || {
        let mut said = [0; 256];
        let length = manager.recv(&mut said).map_err(|error| error.to_string())?;
        Ok::<_, String>(String::from_utf8_lossy(said.get(..length).unwrap_or_default()).into_owned())
    };
    let serving = Serving::start(&world, &[])?;
    let ready = hears()?;
    holds!(ready.lines().any(|line| line == "READY=1"), "{ready}");
    serving.stop()?;
    let stopping = hears()?;
    holds!(stopping == "STOPPING=1", "{stopping}");
    Ok(())
}

fn a_passed_socket_is_taken() -> Tested {
    let world = serving::world()?;
    let path = world.root().join("passed.sock");
    let mut command = world.command("systemd-socket-activate");
    for name in
        ["HOME", "PATH", "XDG_RUNTIME_DIR", "TMUX_TMPDIR", "DOCENT_TERMINAL_MCP_HOME", "DOCENT_TERMINAL_MCP_SOCKET"]
    {
        command.arg("-E").arg(name);
    }
    command.arg("-l").arg(&path).arg(dtmcp_tests::binary::dtmcp()?).arg("serve");
    let serving = Serving::spawn(command, path.clone())?;
    wait_until("it says whose socket it is", || serving.said().contains("service manager opened"))?;
    holds!(!world.root().join("docent-terminal-mcp").exists(), "no socket of its own");
    holds!(UnixListener::bind(&path).is_err(), "the socket stays the manager's");
    serving.stop()?;
    holds!(path.exists(), "it is not ours to remove");
    Ok(())
}

fn the_unit_is_sound() -> Tested {
    let world = serving::world()?;
    let unit = concat!(env!("CARGO_MANIFEST_DIR"), "/../contrib/docent-terminal-mcp.service");
    let text = std::fs::read_to_string(unit).map_err(|error| error.to_string())?;
    // The check wants the program to be there, which nobody has installed here.
    let binary = dtmcp_tests::binary::dtmcp()?.display().to_string();
    let installed = world.root().join("docent-terminal-mcp.service");
    let text = text.replace("%h/.cargo/bin/dtmcp", &binary);
    holds!(text.contains(&format!("ExecStart={binary} serve")), "{text}");
    std::fs::write(&installed, text).map_err(|error| error.to_string())?;
    let mut command = world.command("systemd-analyze");
    let checked = command.args(["verify", "--user"]).arg(&installed).output().map_err(|error| error.to_string())?;
    let said = String::from_utf8_lossy(&checked.stderr).into_owned();
    holds!(checked.status.success() && !said.contains("docent-terminal-mcp"), "{said}");
    Ok(())
}

/// A service in whose PATH `systemd-run` is this script.
fn service(script: &str) -> Result<dtmcp_tests::client::World, String> {
    use std::os::unix::fs::PermissionsExt as _;
    let mut world = serving::world()?;
    let dir = world.root().join("bin");
    let program = dir.join("systemd-run");
    let written = std::fs::create_dir(&dir)
        .and_then(|()| {
            std::fs::write(&program, script.replace("LOG", &world.root().join("asked").display().to_string()))
        })
        .and_then(|()| std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)));
    written.map_err(|error| error.to_string())?;
    let path = std::env::var("PATH").map_err(|error| error.to_string())?;
    world.env.push(("PATH".to_owned(), format!("{}:{path}", dir.display())));
    world.env.push(("INVOCATION_ID".to_owned(), "0123".to_owned()));
    Ok(world)
}

fn a_services_tmux_has_a_scope_of_its_own() -> Tested {
    // As the real one it becomes the program.
    let script = "#!/bin/sh\necho \"$*\" >>LOG\nwhile [ \"$1\" != -- ]; do shift; done\nshift\nexec \"$@\"\n";
    let world = service(script)?;
    let serving = Serving::start(&world, &[])?;
    let mut client = Serving::client(&world, None)?;
    client.call("session_create", serde_json::json!({"name": "t1"}))?;
    let asked = std::fs::read_to_string(world.root().join("asked")).map_err(|error| error.to_string())?;
    let lines: Vec<&str> = asked.lines().collect();
    holds!(lines.len() == 1, "once: {asked}");
    let scope = "--user --scope --quiet --collect --unit=docent-terminal-mcp-tmux-world -- ";
    holds!(lines[0].starts_with(scope) && lines[0].contains("tmux -u -L world"), "{asked}");
    let ran = client.run("echo \"[$INVOCATION_ID]\"")?;
    holds!(ran.output().trim() == "[]", "a shell is not the service: {ran:?}");
    // The next server finds tmux there, and starts none.
    serving.kill()?;
    let _again = Serving::start(&world, &[])?;
    let ran = client.run("echo again")?;
    holds!(ran.output().contains("again"), "{ran:?}");
    let asked = std::fs::read_to_string(world.root().join("asked")).map_err(|error| error.to_string())?;
    holds!(asked.lines().count() == 1, "{asked}");
    Ok(())
}

fn where_there_is_no_scope_it_goes_without() -> Tested {
    let world = service("#!/bin/sh\necho \"$*\" >>LOG\necho 'Failed to connect to bus' >&2\nexit 1\n")?;
    let _serving = Serving::start(&world, &[])?;
    let mut client = Serving::client(&world, None)?;
    let opened = client.call("session_create", serde_json::json!({"name": "t1"}))?;
    holds!(!opened.is_error, "{opened:?}");
    holds!(world.root().join("asked").exists(), "it was asked for");
    let ran = client.run("echo fine")?;
    holds!(ran.output().contains("fine"), "{ran:?}");
    Ok(())
}
