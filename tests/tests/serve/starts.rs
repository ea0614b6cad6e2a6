//! What keeps a server from starting, and a server that is there and does nothing: each is told with what to do next.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;

use dtmcp_tests::binary;
use dtmcp_tests::client::World;
use dtmcp_tests::person::wait_until;
use dtmcp_tests::serving::{self, Serving};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::{Row, Tested, holds};

pub(crate) const ROWS: &[Row] = &[
    ("ports_that_cannot_be_had", &[], ports_that_cannot_be_had),
    ("sockets_that_cannot_be_had", &[], sockets_that_cannot_be_had),
    ("tokens_that_are_not_taken", &[], tokens_that_are_not_taken),
    ("a_stopped_server_is_told_from_none", &[], a_stopped_server_is_told_from_none),
    ("a_journal_is_told_how_bad_it_is", &[], a_journal_is_told_how_bad_it_is),
    ("what_is_no_server_is_said", &[], what_is_no_server_is_said),
];

/// What a server says that is to be refused.
fn refused(world: &World, args: &[&str]) -> Result<String, String> {
    match Serving::start_only(world, args) {
        Ok(()) => Err(format!("{args:?} is taken")),
        Err(said) => Ok(said),
    }
}

fn ports_that_cannot_be_had() -> Tested {
    let world = serving::world()?;
    let taken = TcpListener::bind("127.0.0.1:0").map_err(|error| error.to_string())?;
    let port = taken.local_addr().map_err(|error| error.to_string())?.port().to_string();
    let said = refused(&world, &["--tcp", &port])?;
    holds!(said.contains(&port) && said.contains("--tcp PORT") && said.contains("nothing is served"), "{said}");
    holds!(!said.contains("INFO"), "nothing is said to be served before: {said}");
    // An address of documentation is no machine's.
    let said = refused(&world, &["--tcp", "0", "--host", "192.0.2.1"])?;
    holds!(said.contains("192.0.2.1") && said.contains("--host takes an address of this machine"), "{said}");
    for (args, says) in [
        (["--tcp", "0", "--host", "example.com"], "127.0.0.1"),
        (["--tcp", "70000", "--host", "127.0.0.1"], "65535"),
        (["--tcp", "x", "--host", "127.0.0.1"], "invalid digit"),
    ] {
        let said = refused(&world, &args)?;
        holds!(said.contains(says), "{args:?}: {said}");
    }
    // What was refused leaves nothing in the way of the next.
    let serving = Serving::start(&world, &["--tcp", "0", "--host", "localhost"])?;
    holds!(serving.ask_port(serving.port()?, "127.0.0.2", ("GET", "/health"), &[], "").status == 200, "an address");
    Ok(())
}

fn sockets_that_cannot_be_had() -> Tested {
    let world = serving::world()?;
    let root = world.root().to_owned();
    let make = |name: &str, mode: u32| {
        let path = root.join(name);
        let made = fs::create_dir(&path).and_then(|()| fs::set_permissions(&path, fs::Permissions::from_mode(mode)));
        made.map(|()| path).map_err(|error| error.to_string())
    };
    let private = make("private", 0o700)?;
    let open = make("open", 0o755)?;
    let written = fs::write(private.join("file"), "mine")
        .and_then(|()| fs::create_dir(private.join("dir")))
        .and_then(|()| symlink(private.join("file"), private.join("link")))
        .and_then(|()| symlink(&private, root.join("linked")));
    written.map_err(|error| error.to_string())?;
    let long = "x".repeat(110);
    for (path, says) in [
        (private.join(&long), "kernel allows 102"),
        (open.join("s"), "0755"),
        (root.join("nowhere/deep/s"), "No such file"),
        (root.join("linked/s"), "symbolic link"),
        (private.join("file/s"), "not a directory"),
        (private.join("file"), "is no socket"),
        (private.join("link"), "is no socket"),
        (private.join("dir"), "is no socket"),
        (Path::new("/s").to_owned(), "mkdir -m 700"),
    ] {
        let said = refused(&world, &["--socket", &path.display().to_string()])?;
        holds!(said.contains(says) && said.contains("--socket"), "{}: {said}", path.display());
    }
    holds!(fs::read_to_string(private.join("file")).is_ok_and(|text| text == "mine"), "nothing is changed");
    // One that nobody listens on any more is taken over.
    drop(UnixListener::bind(private.join("old")).map_err(|error| error.to_string())?);
    let mut command = world.command(binary::dtmcp()?);
    // A relative path is one from here.
    command.args(["serve", "--socket", "old"]).current_dir(&private);
    let serving = Serving::spawn(command, private.join("old"))?;
    let named = private.join("old").display().to_string();
    wait_until("it says where it listens", || serving.said().contains(&named))
}

fn tokens_that_are_not_taken() -> Tested {
    let world = serving::world()?;
    Serving::start(&world, &["--tcp", "0"])?.stop()?;
    let path = world.state().join("token");
    let binary = binary::dtmcp()?;
    let check = |says: &str| {
        let said = refused(&world, &["--tcp", "0"])?;
        holds!(said.contains(says) && said.contains("emove") && !said.contains("INFO"), "{says}: {said}");
        let printed = world.command(&binary).arg("token").output().map_err(|error| error.to_string())?;
        let why = String::from_utf8_lossy(&printed.stderr).into_owned();
        holds!(!printed.status.success() && printed.stdout.is_empty() && why.contains(says), "{says}: {printed:?}");
        Ok(())
    };
    let io = |done: std::io::Result<()>| done.map_err(|error| error.to_string());
    io(fs::set_permissions(&path, fs::Permissions::from_mode(0o640)))?;
    check("0640")?;
    io(fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).and_then(|()| fs::write(&path, "")))?;
    check("holds no token")?;
    io(fs::write(&path, "x".repeat(40) + " y"))?;
    check("holds no token")?;
    io(fs::rename(&path, world.root().join("elsewhere")).and_then(|()| symlink(world.root().join("elsewhere"), &path)))?;
    check("symbolic link")?;
    io(fs::remove_file(&path).and_then(|()| fs::create_dir(&path)))?;
    check("not a regular file")
}

/// What a person's command says that does not succeed.
fn asks(world: &World, args: &[&str]) -> Result<String, String> {
    let output = world.command(binary::dtmcp()?).args(args).output().map_err(|error| error.to_string())?;
    holds!(output.status.code() == Some(1) && output.stdout.is_empty(), "{args:?}: {output:?}");
    Ok(String::from_utf8_lossy(&output.stderr).into_owned())
}

fn a_stopped_server_is_told_from_none() -> Tested {
    let world = serving::world()?;
    let said = asks(&world, &["status"])?;
    holds!(said.contains("no server is to be reached") && said.contains("dtmcp serve"), "{said}");
    let serving = Serving::start(&world, &[])?;
    let pid = serving.pid();
    let process = Pid::from_raw(i32::try_from(pid).map_err(|error| error.to_string())?);
    kill(process, Signal::SIGSTOP).map_err(|error| error.to_string())?;
    // Each takes some seconds, so at the same time.
    let said: Vec<Result<String, String>> = std::thread::scope(|scope| {
        let asked = [&["status"][..], &["close", "t1"]].map(|args| scope.spawn(|| asks(&world, args)));
        asked.into_iter().map(|one| one.join().unwrap()).collect()
    });
    for said in said {
        let said = said?;
        holds!(said.contains("has been stopped") && said.contains(&format!("kill -CONT {pid}")), "{said}");
    }
    let mut bridge = super::bridge::bare(&world)?;
    let answer = bridge.initialize("tester")?;
    let why = answer["error"]["message"].as_str().unwrap_or_default();
    // There is a server, so to start one is no advice.
    holds!(why.contains("does not answer") && why.contains("dtmcp status") && !why.contains("Start one"), "{answer}");
    kill(process, Signal::SIGCONT).map_err(|error| error.to_string())?;
    wait_until("it answers again", || serving.health().status == 200)
}

fn what_is_no_server_is_said() -> Tested {
    use std::io::{Read as _, Write as _};
    let world = serving::world()?;
    let dir = world.root().join("docent-terminal-mcp");
    fs::create_dir(&dir).map_err(|error| error.to_string())?;
    let listener = UnixListener::bind(dir.join("server.sock")).map_err(|error| error.to_string())?;
    for (answer, says) in [
        ("", "went away before it answered"),
        ("220 mail ready\r\n", "went away before it answered"),
        ("HTTP/1.1 200 OK\r\n\r\n<html>", "answers what dtmcp does not"),
        ("HTTP/1.1 503 Service Unavailable\r\n\r\n{\"error\":\"full\"}", "full"),
        ("HTTP/1.1 404 Not Found\r\n\r\n{}", "no server of this version"),
    ] {
        let listener = listener.try_clone().map_err(|error| error.to_string())?;
        let serves = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept()?;
            let mut piece = [0; 4096];
            let _ = stream.read(&mut piece)?;
            stream.write_all(answer.as_bytes())
        });
        let said = asks(&world, &["status"])?;
        holds!(said.contains(says), "{answer:?}: {said}");
        holds!(serves.join().is_ok_and(|done| done.is_ok()), "{answer:?}");
    }
    Ok(())
}

/// The journal takes a line's priority from its beginning; a terminal or a file is shown the level and the time.
fn a_journal_is_told_how_bad_it_is() -> Tested {
    let world = serving::world()?;
    let socket = world.root().join("docent-terminal-mcp/server.sock");
    for (names, begins) in [("$(stat -Lc %d:%i /proc/self/fd/2)", true), ("1:1", false)] {
        let mut command = world.command("sh");
        let script = format!("JOURNAL_STREAM={names} exec \"$0\" serve");
        command.arg("-c").arg(script).arg(binary::dtmcp()?);
        let serving = Serving::spawn(command, socket.clone())?;
        wait_until("it says that it serves", || serving.said().contains("serving /"))?;
        let said = serving.said();
        holds!(said.lines().all(|line| line.starts_with("<6>") == begins), "{said}");
        holds!(said.contains("INFO") != begins, "{said}");
        serving.kill()?;
    }
    Ok(())
}
