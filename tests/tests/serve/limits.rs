//! The shared server where files run out, and against another user at its socket.

use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use dtmcp_tests::client::World;
use dtmcp_tests::person::wait_until;
use dtmcp_tests::serving::{self, Serving};
use serde_json::json;

use super::{Row, Tested, holds};

pub(crate) const ROWS: &[Row] = &[
    ("the_limit_of_files_is_raised_for_the_server_alone", &["tmux", "bash", "prlimit"], raised_for_the_server_alone),
    ("without_files_left_it_says_so_and_goes_on", &["tmux", "bash", "prlimit"], without_files_left),
    ("another_user_is_not_let_in", &["setpriv", "perl"], another_user_is_not_let_in),
];

/// A server with these limits of open files, `SOFT:HARD`.
fn limited(world: &World, limits: &str) -> Result<Serving, String> {
    let mut command = world.command("prlimit");
    command.arg(format!("--nofile={limits}")).arg(dtmcp_tests::binary::dtmcp()?).arg("serve");
    Serving::spawn(command, world.root().join("docent-terminal-mcp/server.sock"))
}

fn raised_for_the_server_alone() -> Tested {
    let world = serving::world()?;
    let serving = limited(&world, "300:4000")?;
    let limits =
        std::fs::read_to_string(format!("/proc/{}/limits", serving.pid())).map_err(|error| error.to_string())?;
    let files = limits.lines().find(|line| line.starts_with("Max open files")).unwrap_or_default();
    holds!(files.split_whitespace().nth(3) == Some("4000"), "{files}");
    let mut client = Serving::client(&world, None)?;
    client.call("session_create", json!({"name": "t1"}))?;
    let ran = client.run("ulimit -Sn; ulimit -Hn")?;
    holds!(ran.output() == "300\n4000", "{ran:?}");
    // tmux, and what stands above it.
    let ran = client
        .run("for pid in $PPID $(ps -o ppid= -p $PPID); do prlimit --nofile -o SOFT --noheadings --pid $pid; done")?;
    holds!(ran.output().split_whitespace().all(|soft| soft == "300"), "{ran:?}");
    Ok(())
}

fn without_files_left() -> Tested {
    let world = serving::world()?;
    let serving = limited(&world, "90:90")?;
    let mut client = Serving::client(&world, None)?;
    client.call("session_create", json!({"name": "t1"}))?;
    let mut refused = None;
    for number in 2..60 {
        let created = client.call("session_create", json!({"name": format!("t{number}")}))?;
        if created.is_error {
            refused = Some(created);
            break;
        }
    }
    let refused = refused.ok_or("it never ran out")?;
    holds!(refused.text.contains("open files"), "{refused:?}");
    let ran = client.call("run", json!({"session": "t1", "line": "echo still here"}))?;
    holds!(ran.output() == "still here", "{ran:?}");
    // Room is made by closing one.
    for name in ["t2", "t3"] {
        client.call("session_close", json!({"session": name}))?;
    }
    let created = client.call("session_create", json!({"name": "again"}))?;
    holds!(!created.is_error, "{created:?}");
    // More connections than there are files: those that are there are served on.
    let many: Vec<_> =
        (0..150).filter_map(|_| std::os::unix::net::UnixStream::connect(serving.socket()).ok()).collect();
    let ran = client.call("run", json!({"session": "t1", "line": "echo served"}))?;
    holds!(ran.output() == "served", "{ran:?}");
    drop(many);
    wait_until("others are served again", || serving.health().status == 200)?;
    Ok(())
}

/// The modes of socket and directory keep others out; where a file system ignores them, the server asks who connects.
fn another_user_is_not_let_in() -> Tested {
    if !nix::unistd::geteuid().is_root() {
        // Only root can become somebody else, and where the suite runs as a person there is nothing to be seen.
        return Ok(());
    }
    let world = serving::world()?;
    let serving = Serving::start(&world, &[])?;
    let socket = serving.socket();
    for (path, mode) in [(world.root(), 0o755), (&world.root().join("docent-terminal-mcp"), 0o755), (socket, 0o666)] {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).map_err(|error| error.to_string())?;
    }
    let script = "$SIG{PIPE} = 'IGNORE'; my $s = IO::Socket::UNIX->new(Peer => $ARGV[0]) or die $!; \
                  print $s qq(GET /health HTTP/1.1\\r\\nhost: x\\r\\nconnection: close\\r\\n\\r\\n); \
                  $s->flush; read $s, my $answer, 9999; print qq([$answer])";
    let ask = |user: &str| {
        let mut command = Command::new("setpriv");
        command.args([
            "--reuid",
            user,
            "--regid",
            "65534",
            "--clear-groups",
            "perl",
            "-MIO::Socket::UNIX",
            "-e",
            script,
        ]);
        command.arg(socket);
        let output = command.current_dir("/").output().map_err(|error| error.to_string())?;
        Ok::<_, String>(String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned())
    };
    let other = ask("65534")?;
    holds!(other == "[]", "{other}");
    let own = ask("0")?;
    holds!(own.contains("200 OK"), "{own}");
    wait_until("it is logged", || serving.said().contains("another user"))?;
    Ok(())
}
