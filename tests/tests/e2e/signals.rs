//! Signals for the foreground job, and what a reply says of a job that was interrupted.

use dtmcp_tests::client::{Answer, Client, World};
use serde_json::{Value, json};

use super::{Row, Tested, holds, same};

pub(crate) const ROWS: &[Row] = &[
    ("killed", &["tmux", "bash"], killed),
    ("stopped_and_continued", &["tmux", "bash"], stopped_and_continued),
    ("a_job_that_stops_itself", &["tmux", "bash"], || stops_itself("bash")),
    ("a_job_that_stops_itself_in_zsh", &["tmux", "zsh"], || stops_itself("zsh")),
    ("a_job_that_stops_itself_in_fish", &["tmux", "fish"], || stops_itself("fish")),
    ("a_shell_inside_that_stops", &["tmux", "bash"], shell_inside_stops),
    ("a_stopped_program_of_its_own", &["tmux"], stopped_of_its_own),
    ("a_pipeline_is_named_whole", &["tmux", "bash"], pipeline),
    ("never_the_shell", &["tmux", "bash"], never_the_shell),
    ("a_program_of_its_own", &["tmux"], a_program_of_its_own),
    ("inside_a_relay", &["tmux", "bash", "script"], inside_a_relay),
    ("through_sudo_and_su", &["tmux", "bash", "sudo", "su", "root"], through_sudo_and_su),
    ("a_job_that_ignores_ctrl_c_is_named", &["tmux", "bash"], ignores_ctrl_c),
    ("a_program_back_at_its_prompt_is_named", &["tmux", "bash", "python3"], back_at_its_prompt),
];

/// A job that has said that it is up.
fn start(client: &mut Client, line: &str) -> Result<(), String> {
    let line = format!("{line} # up");
    let up = client.call("run", json!({ "line": line, "until": "^up$", "timeout": 60 }))?;
    if up.status() == "matched" { Ok(()) } else { Err(format!("not up: {}", up.text)) }
}

fn signal(client: &mut Client, name: &str) -> Result<Answer, String> {
    client.call("send", json!({ "signal": name }))
}

fn killed() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    for (name, exit) in [("KILL", 137), ("SIGTERM", 143), ("hup", 129)] {
        start(&mut client, "sh -c 'echo up; exec sleep 600'")?;
        let sent = signal(&mut client, name)?;
        same!(sent.status(), "sent", "{}", sent.text);
        // It is still called sh, or sleep already.
        holds!(sent.words().contains(" went to s"), "{}", sent.text);
        let end = client.call("wait", json!({ "timeout": 60 }))?;
        same!((end.status(), end.exit()), ("finished", Some(exit)), "{}", end.text);
        if name == "KILL" {
            same!(sent.exit(), Some(137), "{}", sent.text);
        }
        same!(client.run("echo hi")?.output(), "hi", "after {name}");
    }
    Ok(())
}

fn stopped_and_continued() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    start(&mut client, "sh -c 'echo up; exec sleep 600'")?;
    signal(&mut client, "TSTP")?;
    let end = client.call("wait", json!({ "timeout": 60 }))?;
    same!(end.exit(), Some(148), "{}", end.text);
    let refused = signal(&mut client, "CONT")?;
    holds!(refused.is_error && refused.text.contains("run line=\"fg\""), "{}", refused.text);
    let on = client.call("run", json!({ "line": "fg", "timeout": 0.5 }))?;
    same!(on.status(), "running", "{}", on.text);
    signal(&mut client, "KILL")?;
    let end = client.call("wait", json!({ "timeout": 60 }))?;
    same!(end.exit(), Some(137), "{}", end.text);
    Ok(())
}

fn stops_itself(shell: &str) -> Tested {
    let world = World::new()?;
    std::fs::write(world.user_home().join("job"), "echo a; kill -STOP $$; echo b; kill -TSTP $$; exit 3\n")
        .map_err(|error| error.to_string())?;
    let mut client = world.client()?;
    client.call("session_create", json!({ "command": shell }))?;
    let line = |line: &str| json!({ "line": line, "timeout": 60 });
    let stopped = client.call("run", line("sh job"))?;
    same!(stopped.status(), "suspended", "{}", stopped.text);
    holds!(stopped.words().contains("run line=\"fg\""), "{}", stopped.text);
    let again = client.call("run", line("fg"))?;
    same!(again.status(), "suspended", "{}", again.text);
    holds!(again.output().lines().any(|line| line == "b"), "{}", again.text);
    if shell != "fish" {
        same!((stopped.exit(), again.exit()), (Some(147), Some(148)), "{} {}", stopped.text, again.text);
        holds!(stopped.text.contains("suspended by SIGSTOP"), "{}", stopped.text);
    }
    let end = client.call("run", line("fg"))?;
    // fish says nothing of the status of what it took to the front.
    same!((end.status(), end.exit()), ("finished", Some(if shell == "fish" { 0 } else { 3 })), "{}", end.text);
    // A number alone is no signal.
    let number = client.call("run", line("sh -c 'exit 148'"))?;
    same!((number.status(), number.text.contains("stopped")), ("finished", false), "{}", number.text);
    Ok(())
}

fn pipeline() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    start(&mut client, "sh -c 'echo up; exec sleep 600' | cat | cat")?;
    let sent = signal(&mut client, "KILL")?;
    // The first is still called sh, or sleep already.
    let named = ["SIGKILL went to cat", "SIGKILL went to sleep and cat", "SIGKILL went to sh and cat"];
    holds!(named.iter().any(|named| sent.words().contains(named)), "{}", sent.text);
    same!(sent.meta["pipestatus"], json!([137, 137, 137]), "{}", sent.text);
    Ok(())
}

fn shell_inside_stops() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    client.run("bash")?;
    let stopped = client.run("kill -STOP $$")?;
    same!(stopped.status(), "suspended", "{}", stopped.text);
    same!(client.run("echo outer")?.output(), "outer", "the shell outside");
    client.run("fg")?;
    same!(client.run("echo inner")?.output(), "inner", "the shell inside");
    Ok(())
}

fn stopped_of_its_own() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    let job = "sh -c 'echo up; kill -STOP $$; read a; echo got $a; exec sleep 600'";
    client.call("session_create", json!({ "command": job }))?;
    same!(client.call("wait", json!({ "timeout": 60 }))?.status(), "suspended", "it stopped itself");
    let refused = client.call("run", json!({ "line": "x", "timeout": 60 }))?;
    holds!(refused.is_error && refused.text.contains("signal=\"CONT\""), "{}", refused.text);
    // What is typed meanwhile makes it no program at work.
    client.call("send", json!({ "text": "x\n" }))?;
    same!(client.call("wait", json!({ "timeout": 60 }))?.status(), "suspended", "with a line that nobody reads");
    let on = signal(&mut client, "CONT")?;
    if !on.output().contains("got x") {
        let on = client.call("wait", json!({ "timeout": 60, "until": "got x" }))?;
        same!(on.status(), "matched", "{}", on.text);
    }
    Ok(())
}

fn never_the_shell() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    client.run("echo hi")?;
    let refused = signal(&mut client, "KILL")?;
    holds!(refused.is_error && refused.text.contains("nothing runs in the foreground"), "{}", refused.text);
    // A shell inside, at its prompt.
    client.run("bash")?;
    let refused = signal(&mut client, "TERM")?;
    holds!(refused.is_error && refused.text.contains("nothing runs in the foreground"), "{}", refused.text);
    // The shell itself is at work.
    start(&mut client, "echo up; while :; do :; done")?;
    let refused = signal(&mut client, "KILL")?;
    holds!(refused.is_error && refused.text.contains("itself has the terminal"), "{}", refused.text);
    client.call("send", json!({ "keys": ["ctrl+c"] }))?;
    same!(client.run("echo inner")?.output(), "inner", "the shell inside");
    client.run("exit 3")?;
    same!(client.run("echo $?")?.output(), "3", "the outer shell");
    Ok(())
}

fn a_program_of_its_own() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({ "command": "cat" }))?;
    // Until then it is the sh that becomes it.
    same!(client.call("wait", json!({ "timeout": 60 }))?.status(), "waiting", "cat reads");
    let sent = signal(&mut client, "TERM")?;
    // A shell that waits for its last command leads the job.
    let got = ["went to cat", "went to sh and cat"].iter().any(|got| sent.words().contains(got));
    holds!(got, "{}", sent.text);
    let end = client.call("wait", json!({ "timeout": 60 }))?;
    same!((end.status(), end.exit()), ("ended", Some(143)), "{}", end.text);
    // A plain shell at its prompt is the session's shell too.
    client.call("session_create", json!({ "command": "sh", "name": "plain" }))?;
    client.call("run", json!({ "session": "plain", "line": "echo hi" }))?;
    let refused = client.call("send", json!({ "session": "plain", "signal": "KILL" }))?;
    holds!(refused.is_error, "{}", refused.text);
    let alive = client.call("run", json!({ "session": "plain", "line": "echo alive" }))?;
    holds!(alive.output().contains("alive"), "{}", alive.text);
    Ok(())
}

fn inside_a_relay() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    start(&mut client, "script -q -e -c 'echo up; exec sleep 600' /dev/null")?;
    let sent = signal(&mut client, "KILL")?;
    holds!(sent.words().contains(" went to ") && !sent.words().contains("script"), "{}", sent.text);
    let end = client.call("wait", json!({ "timeout": 60 }))?;
    same!(end.exit(), Some(137), "{}", end.text);
    Ok(())
}

fn through_sudo_and_su() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    let job = "sh -c 'echo up; exec sleep 600'";
    for (line, name, exit) in [
        (format!("sudo -u nobody {job}"), "TERM", 143),
        (format!("sudo {job}"), "KILL", 137),
        (format!("su --pty nobody -s /bin/sh -c {job:?}"), "HUP", 129),
        (format!("script -q -e -c {job:?} /dev/null"), "TERM", 143),
        (format!("sudo script -q -e -c {job:?} /dev/null"), "INT", 130),
    ] {
        start(&mut client, &line)?;
        let sent = signal(&mut client, name)?;
        // It goes to the job itself, which is still called sh, or sleep already.
        holds!(
            ["sh", "sleep"].iter().any(|job| sent.words().contains(&format!(" went to {job}"))),
            "{line}: {}",
            sent.text
        );
        let end = client.call("wait", json!({ "timeout": 60 }))?;
        same!((end.status(), end.exit()), ("finished", Some(exit)), "{line}: {}", end.text);
        same!(client.run("echo hi")?.output(), "hi", "after {line}");
    }
    // Here su waits for a session of its own that has no terminal, and ends it when it is told to end.
    start(&mut client, &format!("su nobody -s /bin/sh -c {job:?}"))?;
    signal(&mut client, "TERM")?;
    let end = client.call("wait", json!({ "timeout": 60 }))?;
    same!((end.status(), end.exit()), ("finished", Some(143)), "{}", end.text);
    Ok(())
}

fn ignores_ctrl_c() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    start(&mut client, "sh -c 'trap \"\" INT; echo up; sleep 600; sleep 600'")?;
    let sent = client.call("send", json!({ "keys": ["ctrl+c"] }))?;
    holds!(sent.words().contains("still in the foreground: #1") && sent.words().contains("TERM"), "{}", sent.text);
    let sent = signal(&mut client, "KILL")?;
    same!((sent.exit(), sent.region()), (Some(137), Some(1)), "{}", sent.text);
    Ok(())
}

fn back_at_its_prompt() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    client.run("python3 -q")?;
    // Short sleeps: python takes note of a signal that comes just before one only when it has slept.
    let line = "import time; print('up'); exec('while 1: time.sleep(.05)')";
    client.call("run", json!({ "line": line, "until": "^up$", "timeout": 60 }))?;
    let sent = client.call("send", json!({ "keys": ["ctrl+c"], "settle": 2 }))?;
    same!(sent.meta["prompt"], json!(">>> "), "{}", sent.text);
    let names = sent.meta["notes"].as_array().is_some_and(|notes| {
        notes
            .iter()
            .filter_map(Value::as_str)
            .any(|note| note.contains("still in the foreground: #1 \"python3 -q\", at its prompt"))
    });
    holds!(names, "{}", sent.text);
    Ok(())
}
