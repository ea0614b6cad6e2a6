//! What a reply says of a program beside its status: that it asks where nobody sees it, that the terminal stands still,
//! that a background job has ended.

use dtmcp_tests::client::{Answer, Client, World};
use serde_json::json;

use super::{Row, Tested, holds, same};

pub(crate) const ROWS: &[Row] = &[
    ("a_question_in_a_pipe", &["tmux", "bash", "python3"], asks_in_a_pipe),
    ("a_question_in_a_file", &["tmux", "bash", "python3"], asks_in_a_file),
    ("a_question_beside_a_pipe", &["tmux", "bash", "less"], asks_beside_a_pipe),
    ("deep_in_a_pipeline", &["tmux", "bash", "make"], deep_in_a_pipeline),
    ("work_behind_what_looks_like_a_prompt", &["tmux", "bash", "python3"], works_behind_a_prompt),
    ("a_line_that_only_the_shell_reads", &["tmux", "bash", "python3"], read_by_the_shell),
    ("output_stopped_by_a_key", &["tmux", "bash"], stopped_by_a_key),
    ("output_stopped_at_the_prompt", &["tmux", "bash"], stopped_at_the_prompt),
    ("a_key_that_stops_nothing", &["tmux", "bash"], stops_nothing),
    ("the_end_of_a_background_job", &["tmux", "bash"], jobs_of_bash),
    ("the_end_of_a_background_job_of_zsh", &["tmux", "zsh"], jobs_of_zsh),
    ("the_end_of_a_background_job_of_fish", &["tmux", "fish"], jobs_of_fish),
    ("what_only_looks_like_the_end_of_a_job", &["tmux", "bash"], no_job),
];

fn notes(answer: &Answer, what: &str) -> usize {
    answer.words().lines().filter(|line| line.starts_with("note: ") && line.contains(what)).count()
}

fn opened(world: &World, command: &str) -> Result<Client, String> {
    let mut client = world.client()?;
    client.call("session_create", json!({ "command": command }))?;
    Ok(client)
}

fn asks_in_a_pipe() -> Tested {
    let world = World::new()?;
    let mut client = opened(&world, "bash")?;
    for (line, who) in [
        ("sh -c 'printf \"go? \"; read x; echo got $x' | tail -1", "note: sh (pid "),
        ("python3 -c 'print(\"got\", input(\"so? \"))' | tail -1", "note: python3 (pid "),
        ("true | sh -c 'printf \"go? \"; read x </dev/tty; echo got $x' | tail -1 | cat", "note: sh (pid "),
    ] {
        let asked = client.run(line)?;
        same!((asked.status(), notes(&asked, "into a pipe to tail")), ("waiting", 1), "{line}: {}", asked.text);
        holds!(asked.words().contains(who), "{line}: {}", asked.text);
        let end = client.run("yes")?;
        same!((end.status(), end.exit()), ("finished", Some(0)), "{line}: {}", end.text);
        holds!(end.output().ends_with("got yes"), "{line}: {}", end.text);
    }
    let taken = client.run("x=$(python3 -c 'input(\"so? \")')")?;
    same!((taken.status(), notes(&taken, "into a pipe to bash")), ("waiting", 1), "{}", taken.text);
    client.run("yes")?;
    let hidden = client.run("bash -c 'printf \"pass? \"; read -s x' | tail -1")?;
    same!((hidden.status(), &hidden.meta["hidden"]), ("waiting", &json!(true)), "{}", hidden.text);
    same!(notes(&hidden, "into a pipe to tail"), 1, "{}", hidden.text);
    client.call("send", json!({ "keys": ["ctrl+c"] }))?;
    Ok(())
}

fn asks_in_a_file() -> Tested {
    let world = World::new()?;
    let mut client = opened(&world, "bash")?;
    let asked = client.run("python3 -c 'input(\"so? \")' > asked")?;
    same!((asked.status(), notes(&asked, "into a file")), ("waiting", 1), "{}", asked.text);
    client.run("yes")?;
    same!(client.run("cat asked")?.output(), "so?", "where it went");
    Ok(())
}

fn asks_beside_a_pipe() -> Tested {
    let world = World::new()?;
    let mut client = opened(&world, "bash")?;
    for line in ["sh -c 'printf \"go? \" >&2; read x' | tail -1", "sh -c 'read x' ", "cat"] {
        let asked = client.run(line)?;
        same!((asked.status(), notes(&asked, "hidden there")), ("waiting", 0), "{line}: {}", asked.text);
        client.call("send", json!({ "keys": ["ctrl+c"] }))?;
    }
    let pager = client.run("seq 1000 | less")?;
    same!((pager.status(), notes(&pager, "hidden there")), ("screen", 0), "{}", pager.text);
    client.call("send", json!({ "keys": ["q"] }))?;
    let works = client.call("run", json!({ "line": "sleep 60 | tail -1", "timeout": 1 }))?;
    same!((works.status(), notes(&works, "hidden there")), ("running", 0), "{}", works.text);
    client.call("send", json!({ "keys": ["ctrl+c"] }))?;
    Ok(())
}

fn deep_in_a_pipeline() -> Tested {
    let world = World::new()?;
    let mut client = opened(&world, "bash")?;
    client.run("printf 'all:\\n\\t@printf \"sure? \"; read x </dev/tty; echo got $$x\\n' > Makefile")?;
    let asked = client.run("env nice make -j2 2>&1 | tail -1")?;
    same!((asked.status(), notes(&asked, "into a pipe")), ("waiting", 1), "{}", asked.text);
    holds!(asked.words().contains("note: sh (pid "), "{}", asked.text);
    let end = client.run("yes")?;
    holds!(end.output().ends_with("sure? got yes"), "{}", end.text);
    Ok(())
}

/// Whatever it prints, it reads nothing, so no line is typed into it.
fn works_behind_a_prompt() -> Tested {
    let world = World::new()?;
    let mut client = opened(&world, "bash")?;
    for line in [
        "printf 'copying> '; sleep 3; echo end",
        "printf '(gdb) '; sh -c 'sleep 3; true' | cat; echo end",
        "python3 -c 'import time; print(\">>> \", end=\"\", flush=True); t = time.time()
while time.time() < t + 3: pass'; echo end",
        "printf '$ '; for i in 1 2 3 4 5 6 7 8 9 10; do sleep 0.3; done; echo end",
    ] {
        let done = client.call("run", json!({ "line": line, "timeout": 60 }))?;
        same!((done.status(), done.exit()), ("finished", Some(0)), "{}", done.text);
    }
    // It may read later, and then it is at its prompt.
    let asks = client.run("printf 'name> '; sleep 2; read name; echo got $name")?;
    same!((asks.status(), asks.meta["prompt"].as_str()), ("prompt", Some("name> ")), "{}", asks.text);
    same!(client.run("bob")?.output(), "got bob", "typed once it read");
    Ok(())
}

/// Its taker ends without having read it, so the shell does: the reply is about what came of it there.
fn read_by_the_shell() -> Tested {
    let world = World::new()?;
    let mut client = opened(&world, "bash")?;
    let asks = client.run("python3 -c 'import select, time; print(\"name> \", end=\"\", flush=True); select.select([0], [], []); time.sleep(1)'")?;
    same!((asks.status(), asks.meta["prompt"].as_str()), ("prompt", Some("name> ")), "{}", asks.text);
    let done = client.run("echo read by the shell")?;
    same!((done.status(), done.output()), ("finished", "read by the shell"), "{}", done.text);
    same!(done.exit(), Some(0), "{}", done.text);
    Ok(())
}

fn stopped_by_a_key() -> Tested {
    let world = World::new()?;
    let mut client = opened(&world, "bash")?;
    let line = "while :; do echo tick; sleep 0.05; done";
    client.call("run", json!({ "line": line, "until": "tick", "timeout": 60 }))?;
    let sent = client.call("send", json!({ "keys": ["ctrl+s"] }))?;
    same!((sent.status(), notes(&sent, "output is stopped")), ("sent", 1), "{}", sent.text);
    let waited = client.call("wait", json!({ "timeout": 2 }))?;
    same!((waited.status(), notes(&waited, "keys=[\"ctrl+q\"]")), ("running", 1), "{}", waited.text);
    let on = client.call("send", json!({ "keys": ["ctrl+q"] }))?;
    same!(notes(&on, "output is stopped"), 0, "{}", on.text);
    let ticks = client.call("wait", json!({ "until": "tick", "timeout": 60 }))?;
    same!((ticks.status(), notes(&ticks, "output is stopped")), ("matched", 0), "{}", ticks.text);
    client.call("send", json!({ "keys": ["ctrl+c"] }))?;
    Ok(())
}

fn stopped_at_the_prompt() -> Tested {
    let world = World::new()?;
    let mut client = opened(&world, "bash")?;
    client.run("echo hi")?;
    client.call("send", json!({ "keys": ["ctrl+s"] }))?;
    let stands = client.run("echo later")?;
    same!((stands.status(), notes(&stands, "output is stopped")), ("running", 1), "{}", stands.text);
    client.call("send", json!({ "keys": ["ctrl+q"] }))?;
    let end = client.call("wait", json!({ "timeout": 60 }))?;
    same!((end.status(), end.output()), ("finished", "later"), "what was typed was run: {}", end.text);
    Ok(())
}

fn stops_nothing() -> Tested {
    let world = World::new()?;
    let mut client = opened(&world, "bash")?;
    client.run("stty -ixon")?;
    let sent = client.call("send", json!({ "keys": ["ctrl+s"] }))?;
    same!((sent.status(), notes(&sent, "output is stopped")), ("sent", 0), "{}", sent.text);
    client.call("send", json!({ "keys": ["ctrl+c"] }))?;
    same!(client.run("echo hi")?.output(), "hi", "the shell goes on");
    Ok(())
}

/// Puts jobs into the background and has them end, each in its way; the notes that told of them.
fn end_jobs(client: &mut Client) -> Result<String, String> {
    let line = "sleep 0.1 & sh -c 'sleep 0.1; exit 3' & sleep 100 & sleep 0.3; kill -9 %3";
    let mut told = client.run(line)?.words().to_owned();
    // The shell says so before a prompt of its choice.
    dtmcp_tests::person::wait_until("all three told", || {
        let more = client.run("sleep 0.1").map(|answer| answer.words().to_owned()).unwrap_or_default();
        told.push_str(&more);
        ["sleep 0.1)", "exit 3')", "sleep 100)"].iter().all(|job| told.contains(job))
    })
    .map_err(|error| format!("{error}: {}", told.chars().take(2000).collect::<String>()))?;
    let again = client.run("true")?;
    same!(notes(&again, "background job has ended"), 0, "told twice: {}", again.text);
    Ok(told)
}

fn jobs_of_bash() -> Tested {
    let world = World::new()?;
    let mut client = opened(&world, "bash")?;
    let told = end_jobs(&mut client)?;
    for what in ["[1] Done (sleep 0.1)", "[2] Exit 3 (sh -c 'sleep 0.1; exit 3')", "[3] Killed (sleep 100)"] {
        holds!(told.contains(what), "{what}: {told}");
    }
    Ok(())
}

fn jobs_of_zsh() -> Tested {
    let world = World::new()?;
    let mut client = opened(&world, "zsh")?;
    let told = end_jobs(&mut client)?;
    for what in ["[1] done (sleep 0.1)", "[2] exit 3 (sh -c 'sleep 0.1; exit 3')", "[3] killed (sleep 100)"] {
        holds!(told.contains(what), "{what}: {told}");
    }
    Ok(())
}

fn jobs_of_fish() -> Tested {
    let world = World::new()?;
    let mut client = opened(&world, "fish")?;
    let told = end_jobs(&mut client)?;
    for what in ["[1] ended (sleep 0.1)", "[2] ended (sh -c 'sleep 0.1; exit 3')", "[3] SIGKILL"] {
        holds!(told.contains(what), "{what}: {told}");
    }
    Ok(())
}

fn no_job() -> Tested {
    let world = World::new()?;
    let mut client = opened(&world, "bash")?;
    for line in ["echo '[1]+  Done                    sleep 3'", "sleep 100 & jobs", "kill %1; wait; jobs"] {
        let answer = client.run(line)?;
        same!(notes(&answer, "Done (sleep 3)"), 0, "{line}: {}", answer.text);
    }
    let printed = client.run("echo '[1]+  Done                    sleep 3'; echo '[2]-  Exit 1     make'")?;
    same!(notes(&printed, "background job has ended"), 0, "{}", printed.text);
    Ok(())
}
