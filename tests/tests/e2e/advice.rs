//! Notes that teach: told when they are true, and habits once.

use dtmcp_tests::client::{Answer, World};
use dtmcp_tests::person::wait_until;
use serde_json::json;

use super::{Row, Tested, same};

pub(crate) const ROWS: &[Row] = &[
    ("habits_are_told_once", &["tmux", "bash"], habits),
    ("a_failure_that_the_line_hides", &["tmux", "bash"], hidden_failures),
    ("what_only_looks_like_a_habit", &["tmux", "bash"], only_looks_like_it),
    ("a_loop_that_polls", &["tmux", "bash"], polling),
    ("what_it_died_of", &["tmux", "bash"], died),
    ("a_shell_whose_output_goes_elsewhere", &["tmux", "bash"], redirected),
    ("a_shell_that_shows_nothing_typed", &["tmux", "bash"], unshown),
    ("what_the_background_prints_at_the_prompt", &["tmux", "bash"], background),
    ("how_to_leave_and_what_stays_in_the_log", &["tmux", "bash", "less", "vim"], leaving),
];

fn notes(answer: &Answer, what: &str) -> usize {
    answer.words().lines().filter(|line| line.starts_with("note: ") && line.contains(what)).count()
}

fn habits() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    let first = client.run("seq 100 2>&1 | tail -3")?;
    same!(notes(&first, "`| tail`"), 1, "{}", first.text);
    same!(notes(&client.run("seq 100 | head -3")?, "`| tail`"), 0, "told a second time");
    let grep = client.run("seq 100 2>&1 | grep 5")?;
    same!(notes(&grep, "search finds the rest"), 1, "{}", grep.text);
    Ok(())
}

fn hidden_failures() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    let piped = client.run("false | tail -1")?;
    same!((piped.exit(), notes(&piped, "an earlier stage of the pipeline failed")), (Some(0), 1), "{}", piped.text);
    let excused = client.run("false || true")?;
    same!(notes(&excused, "says nothing of the command before it"), 1, "{}", excused.text);
    let echoed = client.run("false; echo done")?;
    same!(notes(&echoed, "is that of the `echo`"), 1, "{}", echoed.text);
    let closed = client.run("yes | head -1")?;
    same!((notes(&closed, "earlier stage"), notes(&closed, "SIGPIPE")), (0, 1), "{}", closed.text);
    Ok(())
}

fn only_looks_like_it() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    for line in ["echo 'a | tail; echo $?'", "echo timeout 5 || echo no", "true # nohup x &", "cat <<E\nx | tail -1\nE"]
    {
        let answer = client.run(line)?;
        same!(notes(&answer, ""), 0, "{line}: {}", answer.text);
    }
    Ok(())
}

fn polling() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    let line = "until [ -z \"$(pgrep -f sh)\" ]; do sleep 1; done";
    let polls = client.call("run", json!({ "line": line, "timeout": 1 }))?;
    same!((polls.status(), notes(&polls, "no loop with sleep")), ("running", 1), "{}", polls.text);
    client.call("send", json!({ "keys": ["ctrl+c"] }))?;
    let end = client.call("wait", json!({ "timeout": 60 }))?;
    same!(end.exit(), Some(130), "{}", end.text);
    Ok(())
}

fn died() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    let crashed = client.run("sh -c 'kill -SEGV $$'")?;
    same!((crashed.exit(), notes(&crashed, "died by SIGSEGV")), (Some(139), 1), "{}", crashed.text);
    let left = client.run("sh -c 'exit 3'")?;
    same!((left.exit(), notes(&left, "died")), (Some(3), 0), "{}", left.text);
    Ok(())
}

fn redirected() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    let sent = client.run("exec > >(tee log) 2>&1")?;
    same!(notes(&sent, "are not told until run line=\"exec >/dev/tty 2>&1\""), 1, "{}", sent.text);
    same!(notes(&sent, "stays open"), 0, "{}", sent.text);
    client.run("exec >/dev/tty 2>&1")?;
    let back = client.run("false")?;
    same!((back.status(), back.exit()), ("finished", Some(1)), "{}", back.text);
    Ok(())
}

fn unshown() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    client.run("stty -echo")?;
    let silent = client.run("echo one")?;
    same!((silent.output(), notes(&silent, "run line=\"stty echo\"")), ("one", 1), "{}", silent.text);
    let regions = client.call("regions", json!({}))?;
    same!(regions.text.contains("#2 (not shown) · exit 0"), true, "{}", regions.text);
    client.run("stty echo")?;
    let shown = client.run("echo two")?;
    same!((shown.output(), notes(&shown, "")), ("two", 0), "{}", shown.text);
    Ok(())
}

fn background() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({ "cwd": world.root() }))?;
    client.run("while [ ! -e go ]; do sleep 0.1; done && echo one && echo two &")?;
    std::fs::write(world.root().join("go"), "").map_err(|error| error.to_string())?;
    wait_until("what it prints", || {
        let read = client.call("read", json!({ "numbers": false }));
        read.is_ok_and(|read| read.output().lines().any(|line| line == "two"))
    })?;
    let next = client.run("echo next")?;
    same!((next.output(), notes(&next, "had printed at the prompt before")), ("next", 1), "{}", next.text);
    let regions = client.call("regions", json!({ "last": 1 }))?;
    same!(regions.text.contains("#2 echo next · exit 0"), true, "{}", regions.text);
    Ok(())
}

fn leaving() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    client.run("seq 1000 > n")?;
    for (line, note, text) in [("less n", "less has the screen", "q"), ("vim -u NONE n", "vim has the screen", ":q!\n")]
    {
        let open = client.run(line)?;
        same!((open.status(), notes(&open, note)), ("screen", 1), "{}", open.text);
        client.call("send", json!({ "text": text }))?;
        let end = client.call("wait", json!({ "timeout": 60 }))?;
        same!((end.status(), end.output()), ("finished", "[full-screen program]"), "{}", end.text);
    }
    // A session that begins with one: what is told once is told by the reply that has it first.
    let made = client.call("session_create", json!({ "name": "pager", "command": "less n" }))?;
    let later = client.call("wait", json!({ "session": "pager", "timeout": 60 }))?;
    let told = notes(&made, "presses its keys") + notes(&later, "presses its keys");
    same!((later.status(), told), ("screen", 1), "{} {}", made.text, later.text);
    Ok(())
}
