//! Programs that have the screen, or page through it, and what stays of them; programs that ask for users and passwords.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;

use dtmcp_tests::client::World;
use serde_json::json;

use super::{Row, Tested, holds, same};

pub(crate) const ROWS: &[Row] = &[
    ("git_log_is_not_typed_into", &["tmux", "bash", "git", "less"], git_log),
    ("more_is_not_typed_into", &["tmux", "bash", "more"], more),
    (
        "what_stays_of_a_full_screen_program",
        &["tmux", "bash", "top", "less", "vim", "dialog", "htop", "whiptail", "nano"],
        what_stays,
    ),
    ("joe_and_pickers_are_not_typed_into", &["tmux", "bash", "joe", "fzf"], joe_and_pickers),
    ("git_push_asks_for_a_user", &["tmux", "bash", "git"], git_push),
    ("sudo_asks_a_user", &["tmux", "bash", "sudo", "su", "root"], sudo_asks),
    ("half_a_line_is_no_question", &["tmux", "bash"], half_a_line),
    ("any_key", &["tmux", "bash"], any_key),
];

fn git_log() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    let commit = "git -c user.name=a -c user.email=a commit -q --allow-empty -m";
    client.run(&format!("git init -q .; for i in {{1..60}}; do {commit} message$i; done"))?;
    let open = client.run("git log")?;
    same!(open.status(), "screen", "{}", open.text);
    holds!(open.output().contains("message60") && open.words().contains("keys=[\"q\"] leaves it"), "{}", open.text);
    let refused = client.run("echo hi")?;
    holds!(refused.is_error && refused.text.contains("nothing was typed"), "{}", refused.text);
    client.call("send", json!({ "keys": ["q"] }))?;
    let end = client.call("wait", json!({ "timeout": 60 }))?;
    same!((end.status(), end.exit()), ("finished", Some(0)), "{}", end.text);
    same!(client.run("echo hi")?.output(), "hi", "after the pager");
    Ok(())
}

fn more() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    let open = client.run("seq 1000 | more")?;
    same!(open.status(), "screen", "{}", open.text);
    let refused = client.run("echo hi")?;
    holds!(refused.is_error && refused.text.contains("nothing was typed"), "{}", refused.text);
    let paged = client.call("send", json!({ "keys": ["space"] }))?;
    holds!(paged.text.contains("sent · full-screen program"), "{}", paged.text);
    client.call("send", json!({ "keys": ["q"] }))?;
    client.call("wait", json!({ "timeout": 60 }))?;
    same!(client.run("echo hi")?.output(), "hi", "after the pager");
    // Rules press its keys.
    let rules = json!([
        { "pattern": "--More--", "keys": ["space"], "times": 9 },
        // Some versions end by themselves instead.
        { "pattern": r"^\(END\)", "keys": ["q"] },
    ]);
    let paged = client.call("expect", json!({ "line": "seq 100 | more", "rules": rules, "timeout": 60 }))?;
    same!((paged.status(), paged.exit()), ("finished", Some(0)), "{}", paged.text);
    Ok(())
}

fn what_stays() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    client.run("seq 1000 > n")?;
    let open = [
        ("top -d 1", "q"),
        ("less n", "q"),
        ("vim -u NONE n", ":q!\n"),
        // Where there is no other screen, they paint on this one.
        ("dialog --yesno sure 8 40", "\n"),
        ("TERM=vt100 top -d 1", "q"),
        ("TERM=vt100 htop", "q"),
        ("TERM=vt100 vim -u NONE n", ":q!\n"),
        ("TERM=linux whiptail --yesno sure 8 40", "\n"),
        ("TERM=linux nano -I n", "\u{18}"),
    ];
    for (line, leave) in open {
        let open = client.run(line)?;
        same!(open.status(), "screen", "{line}: {}", open.text);
        client.call("send", json!({ "text": leave }))?;
        let end = client.call("wait", json!({ "timeout": 60 }))?;
        same!((end.status(), end.exit()), ("finished", Some(0)), "{line}: {}", end.text);
        let region = client.call("read", json!({ "region": open.region(), "numbers": false }))?;
        same!(region.output(), "[full-screen program]", "{line}: {}", region.text);
        let next = client.run("echo hi")?;
        same!((next.status(), next.exit(), next.output()), ("finished", Some(0), "hi"), "{line}: {}", next.text);
    }
    Ok(())
}

fn joe_and_pickers() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    for (line, leave, exit) in [
        ("joe n", "ctrl+c", 0),
        ("jpico n", "ctrl+x", 0),
        ("seq 9 | fzf --height 40%", "escape", 130),
        ("x=$(seq 9 | fzf --height=10 --reverse)", "escape", 130),
    ] {
        let open = client.run(line)?;
        same!(open.status(), "screen", "{line}: {}", open.text);
        let refused = client.run("echo hi")?;
        holds!(refused.is_error && refused.text.contains("nothing was typed"), "{line}: {}", refused.text);
        client.call("send", json!({ "keys": [leave] }))?;
        let end = client.call("wait", json!({ "timeout": 60 }))?;
        same!((end.status(), end.exit()), ("finished", Some(exit)), "{line}: {}", end.text);
        same!(client.run("echo hi")?.output(), "hi", "after {line}");
    }
    Ok(())
}

/// Answers every request for a page with that a user has to say who they are.
fn asking_server() -> Result<u16, String> {
    let listener = TcpListener::bind("127.0.0.1:0").map_err(|error| error.to_string())?;
    let port = listener.local_addr().map_err(|error| error.to_string())?.port();
    std::thread::spawn(move || {
        for mut connection in listener.incoming().flatten() {
            let (mut asked, mut room) = (Vec::new(), [0; 4096]);
            while !asked.windows(4).any(|end| end == b"\r\n\r\n") {
                match connection.read(&mut room) {
                    Ok(read @ 1..) => asked.extend_from_slice(&room[..read]),
                    _ => break,
                }
            }
            let answer = "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"a\"\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
            drop(connection.write_all(answer.as_bytes()));
        }
    });
    Ok(port)
}

fn git_push() -> Tested {
    let port = asking_server()?;
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    client.run("git init -q .; git -c user.name=a -c user.email=a commit -q --allow-empty -m a")?;
    let asked =
        client.call("run", json!({ "line": format!("git push http://127.0.0.1:{port}/x HEAD"), "timeout": 60 }))?;
    same!(asked.status(), "waiting", "{}", asked.text);
    holds!(asked.meta["prompt"].as_str().is_some_and(|prompt| prompt.starts_with("Username for")), "{}", asked.text);
    let hidden = client.call("run", json!({ "line": "somebody", "timeout": 60 }))?;
    same!((hidden.status(), &hidden.meta["hidden"]), ("waiting", &json!(true)), "{}", hidden.text);
    holds!(hidden.words().contains("ask the user"), "{}", hidden.text);
    client.call("send", json!({ "keys": ["ctrl+c"] }))?;
    Ok(())
}

fn sudo_asks() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    // The account has no password that fits, and is asked for one all the same.
    let asked = client.run("su --pty nobody -s /bin/bash -c 'sudo -k; sudo id'")?;
    same!((asked.status(), &asked.meta["hidden"]), ("waiting", &json!(true)), "{}", asked.text);
    holds!(asked.words().contains("ask the user to type it"), "{}", asked.text);
    let refused = client.run("hunter2secret")?;
    holds!(refused.is_error && refused.text.contains("nothing was typed"), "{}", refused.text);
    client.call("send", json!({ "keys": ["ctrl+c"] }))?;
    let end = client.call("wait", json!({ "timeout": 60 }))?;
    same!(end.status(), "finished", "{}", end.text);
    Ok(())
}

fn half_a_line() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    for line in ["printf 'collecting ... '; sleep 60", "printf 'Password: '; sleep 60", "sleep 60 > log"] {
        let works = client.call("run", json!({ "line": line, "timeout": 2 }))?;
        same!(works.status(), "running", "{line}: {}", works.text);
        client.call("send", json!({ "keys": ["ctrl+c"] }))?;
        let end = client.call("wait", json!({ "timeout": 60 }))?;
        same!(end.exit(), Some(130), "{line}: {}", end.text);
    }
    Ok(())
}

fn any_key() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    let asked = client.run("echo 'Press any key'; read -n1 -s -r k; echo on")?;
    same!(asked.status(), "waiting", "{}", asked.text);
    client.call("send", json!({ "keys": ["space"] }))?;
    let end = client.call("wait", json!({ "timeout": 60 }))?;
    holds!(end.output().ends_with("on") && end.exit() == Some(0), "{}", end.text);
    Ok(())
}
