//! People in the same session.

use dtmcp_tests::client::{Answer, Client, World};
use dtmcp_tests::person::{Person, wait_until};
use serde_json::json;

use super::{Row, Tested, holds, same};

pub(crate) const ROWS: &[Row] = &[
    ("their_commands_are_regions", &["tmux", "bash", "setsid"], their_commands),
    ("their_text_is_not_submitted", &["tmux", "bash", "setsid"], their_text),
    ("their_text_stays_theirs_when_they_have_left", &["tmux", "bash", "setsid", "python3"], left_text),
    ("their_unfinished_command_is_theirs", &["tmux", "bash", "setsid"], their_command),
    ("a_secret_is_theirs_to_type", &["tmux", "bash", "setsid"], their_secret),
    ("what_they_have_typed_into_a_program", &["tmux", "bash", "setsid", "python3"], typed_into_a_program),
    ("what_they_have_begun_to_answer", &["tmux", "bash", "setsid", "python3"], begun_to_answer),
    ("what_they_have_begun_to_answer_unseen", &["tmux", "bash", "setsid"], begun_to_answer_unseen),
    ("what_they_have_typed_ahead", &["tmux", "bash", "setsid", "python3"], typed_ahead),
    ("somebody_who_only_watches", &["tmux", "bash", "setsid", "gdb", "sqlite3", "python3", "bc"], only_watches),
    (
        "an_editor_left_in_command_mode",
        &["tmux", "bash", "setsid", "zsh", "fish", "python3", "gdb", "sqlite3"],
        command_mode,
    ),
    ("copy_mode", &["tmux", "bash", "setsid"], copy_mode),
    ("a_tiny_window", &["tmux", "bash", "setsid"], tiny_window),
    ("an_attached_session_is_not_closed", &["tmux", "bash", "setsid"], not_closed),
    ("kill_pane", &["tmux", "bash"], kill_pane),
    ("kill_the_shim", &["tmux", "bash"], kill_shim),
    ("kill_an_ended_session", &["tmux", "bash"], kill_ended),
    ("attach_prefix", &["tmux", "bash"], attach_prefix),
    ("hostile_tmux_conf", &["tmux", "bash"], hostile_conf),
];

fn their_commands() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    client.run("echo mine")?;
    let mut person = Person::attach(&world, "t1", 120, 41)?;
    person.types("echo theirs; false\r")?;
    person.sees("theirs")?;
    wait_until("their region ends", || {
        client.call("regions", json!({})).is_ok_and(|regions| regions.meta["regions"][1]["exit"] == json!(1))
    })?;
    let regions = client.call("regions", json!({}))?;
    let theirs = &regions.meta["regions"][1];
    same!((&theirs["label"], &theirs["actor"]), (&json!("echo theirs; false"), &json!("human")), "{}", regions.text);
    same!(regions.meta["regions"][0]["actor"], json!("tester"), "{}", regions.text);
    Ok(())
}

/// tmux counts that they came as a key: nothing that a program prints then is theirs.
fn only_watches() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    for (at, program) in ["gdb -q", "sqlite3", "python3 -q", "bc -q"].iter().enumerate() {
        let name = format!("t{}", at + 1);
        client.call("session_create", json!({}))?;
        let _person = Person::attach(&world, &name, 120, 41)?;
        let mut run = |line| client.call("run", json!({"session": name, "line": line}));
        let opened = run(*program)?;
        let answer = run("1")?;
        holds!(!answer.is_error, "{program}: {} then {}", opened.text, answer.text);
    }
    Ok(())
}

fn their_text() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    client.run("touch keep")?;
    let mut person = Person::attach(&world, "t1", 120, 41)?;
    person.types("rm -rf keep")?;
    person.sees("rm -rf keep")?;
    let refused = client.run("ls")?;
    holds!(refused.is_error && refused.text.contains("rm -rf keep"), "{}", refused.text);
    holds!(world.user_home().join("keep").exists(), "nothing was submitted");
    person.types("\x15")?;
    wait_until("the line is free", || client.run("echo free").is_ok_and(|answer| answer.output() == "free"))?;
    Ok(())
}

/// Nobody called while they were there: that they were is known all the same.
fn left_text() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    let list = client.call("session_list", json!({}))?;
    same!(list.meta["sessions"][0]["human_input"], json!(null), "nobody was there: {}", list.text);
    for (program, text) in [(None, "rm -rf keep"), (Some("python3 -q"), "1+")] {
        if let Some(program) = program {
            same!(client.run(program)?.status(), "prompt", "{program}");
        }
        let mut person = Person::attach(&world, "t1", 120, 41)?;
        person.types(text)?;
        person.sees(text)?;
        drop(person);
        wait_until("they have left", || {
            client.call("session_list", json!({})).is_ok_and(|list| list.meta["sessions"][0]["attached"] == json!(0))
        })?;
        let refused = client.run("2")?;
        holds!(refused.is_error && refused.text.contains(text), "{}", refused.text);
        let refused = client.call("send", json!({ "keys": ["enter"] }))?;
        holds!(refused.is_error && refused.text.contains(text), "{}", refused.text);
        let list = client.call("session_list", json!({}))?;
        holds!(list.meta["sessions"][0]["human_input"].as_f64().is_some_and(|at| at > 1e9), "{}", list.meta);
        client.call("send", json!({ "keys": ["ctrl+u"] }))?;
        wait_until("the line is free", || client.run("2").is_ok_and(|answer| !answer.is_error))?;
    }
    Ok(())
}

fn their_command() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    client.run("echo mine")?;
    let mut person = Person::attach(&world, "t1", 120, 41)?;
    person.types("echo 'theirs\r")?;
    person.sees("> ")?;
    wait_until("refused", || {
        client.run("echo hi").is_ok_and(|answer| answer.is_error && answer.text.contains("begun a command"))
    })?;
    person.types("too'\r")?;
    wait_until("free again", || client.run("echo free").is_ok_and(|answer| answer.output() == "free"))?;
    // Nor is their half-typed line added to or submitted by keys.
    person.types("echo half")?;
    person.sees("echo half")?;
    for arguments in [json!({ "text": "x" }), json!({ "keys": ["enter"] }), json!({ "text": "x\n" })] {
        let refused = client.call("send", arguments.clone())?;
        holds!(refused.is_error && refused.text.contains("echo half"), "{arguments}: {}", refused.text);
    }
    person.types("-done\r")?;
    person.sees("half-done")?;
    Ok(())
}

/// The person answers a hidden question in their terminal, and `wait` returns when they have.
fn their_secret() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    let mut person = Person::attach(&world, "t1", 120, 41)?;
    let asked = client.run("read -s -p 'Password: ' x; echo; echo length ${#x}")?;
    same!((asked.status(), &asked.meta["hidden"]), ("waiting", &json!(true)), "{}", asked.text);
    let waited = client.call("wait", json!({ "timeout": 1.5 }))?;
    same!((waited.status(), &waited.meta["hidden"]), ("waiting", &json!(true)), "{}", waited.text);
    holds!(waited.meta["elapsed"].as_f64().is_some_and(|seconds| seconds > 1.0), "not at once: {}", waited.text);
    let waiting = client.begin("wait", json!({ "timeout": 60 }))?;
    person.types("12345\r")?;
    let answered = client.finish(waiting)?;
    same!((answered.status(), answered.exit()), ("finished", Some(0)), "{}", answered.text);
    holds!(answered.output().ends_with("length 5"), "{}", answered.text);
    Ok(())
}

/// Half-typed text on a program's line is as much theirs as on a shell's.
fn typed_into_a_program() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    let mut person = Person::attach(&world, "t1", 120, 41)?;
    for (program, theirs, out) in [("python3 -q", "1+", "quit()"), ("env -i sh", "echo th", "exit")] {
        same!(client.run(program)?.status(), "prompt", "{program}");
        person.types(theirs)?;
        person.sees(theirs)?;
        let run = client.run("2")?;
        holds!(run.is_error && !run.text.contains("keys=[\"ctrl+c\"] interrupts"), "{program}: {}", run.text);
        for arguments in [json!({ "text": "2" }), json!({ "keys": ["enter"] })] {
            let sent = client.call("send", arguments)?;
            holds!(sent.is_error && sent.text.contains(theirs), "{program}: {}", sent.text);
        }
        person.types("\x15")?;
        // An agent's own text is its own, and makes room for its next line.
        wait_until("the line is free", || {
            client.call("send", json!({ "text": "1-" })).is_ok_and(|sent| !sent.is_error)
        })?;
        let own = client.run("true or 3")?;
        holds!(!own.text.contains("1-true") && own.status() == "prompt", "{program}: {}", own.text);
        same!(client.run(out)?.status(), "finished", "{program}");
    }
    Ok(())
}

/// What nobody has been told is a prompt: a question, a file that is being written, the rest of a block.
fn begun_to_answer() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    let mut person = Person::attach(&world, "t1", 120, 41)?;
    let asks: [(&[&str], &str, &str); 4] = [
        (&["read -p 'Delete? [y/N] ' answer"], "nope", "\r"),
        (&["cat > file"], "their words", "\r\x04"),
        (&["python3 -c 'input(\"Which one: \")'"], "third", "\r"),
        (&["python3 -q", "for one in [1]:"], "  pass", "\r\r\x04"),
    ];
    for (lines, theirs, rest) in asks {
        for line in lines {
            let asked = client.run(line)?;
            holds!(!asked.is_error && asked.status() != "finished", "{line}: {}", asked.text);
        }
        person.types(theirs)?;
        person.sees(theirs)?;
        let shown = theirs.trim();
        for (tool, arguments) in [
            ("run", json!({ "line": "y" })),
            ("send", json!({ "text": "y\n" })),
            ("send", json!({ "keys": ["enter"] })),
        ] {
            let refused = client.call(tool, arguments.clone())?;
            let says = refused.text.contains(&format!("someone at the terminal has {shown:?} on the line"));
            holds!(refused.is_error && says, "{lines:?} {arguments}: {}", refused.text);
        }
        let rules = json!({ "rules": [{ "pattern": "Delete|Which", "line": "y" }], "timeout": 60 });
        if lines.len() == 1 && !lines[0].starts_with("cat") {
            let left = client.call("expect", rules)?;
            holds!(left.text.contains("the answer of rule 0 was not typed"), "{lines:?}: {}", left.text);
        }
        person.types(rest)?;
        wait_until("the shell is back", || client.run("echo back").is_ok_and(|answer| answer.output() == "back"))?;
    }
    Ok(())
}

/// Where nothing is shown, only that they have pressed keys is known.
fn begun_to_answer_unseen() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    let mut person = Person::attach(&world, "t1", 120, 41)?;
    let asked = client.run("read -s -p 'Password: ' x; echo; echo length ${#x}")?;
    same!((asked.status(), &asked.meta["hidden"]), ("waiting", &json!(true)), "{}", asked.text);
    let asked_at = unix_seconds();
    wait_until("the next second", || unix_seconds() > asked_at)?;
    person.types("123")?;
    wait_until("their key is told", || {
        let list = client.call("session_list", json!({}));
        list.is_ok_and(|list| list.meta["sessions"][0]["human_input"].as_f64().is_some_and(|at| at > asked_at as f64))
    })?;
    for arguments in [json!({ "text": "45\n" }), json!({ "keys": ["enter"] })] {
        let refused = client.call("send", arguments)?;
        holds!(refused.is_error && refused.text.contains("has pressed keys since this question"), "{}", refused.text);
    }
    let waiting = client.begin("wait", json!({ "timeout": 60 }))?;
    person.types("45\r")?;
    let answered = client.finish(waiting)?;
    holds!(answered.output().ends_with("length 5"), "{}", answered.text);
    Ok(())
}

fn unix_seconds() -> u64 {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// What they type while something works is not submitted by a `send`, nor by the next line of a program.
fn typed_ahead() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    client.run("touch keep")?;
    let mut person = Person::attach(&world, "t1", 120, 41)?;
    let works = client.call("run", json!({ "line": "sleep 600", "timeout": 1 }))?;
    same!(works.status(), "running", "{}", works.text);
    person.types("rm -rf keep")?;
    person.sees("rm -rf keep")?;
    for arguments in [json!({ "text": "x\n" }), json!({ "keys": ["enter"] })] {
        let refused = client.call("send", arguments.clone())?;
        holds!(refused.is_error && refused.text.contains("\"rm -rf keep\""), "{arguments}: {}", refused.text);
    }
    client.call("send", json!({ "keys": ["ctrl+c"] }))?;
    wait_until("the shell is back", || client.run("ls").is_ok_and(|answer| answer.output() == "keep"))?;
    client.run("python3 -q")?;
    let works = client.call("run", json!({ "line": "import time; time.sleep(5)", "timeout": 1 }))?;
    same!(works.status(), "running", "{}", works.text);
    person.types("4321+")?;
    person.sees("4321+")?;
    wait_until("python asks for more", || {
        client.call("wait", json!({ "timeout": 60 })).is_ok_and(|answer| !answer.text.contains("running"))
    })?;
    let refused = client.run("print('next')")?;
    holds!(refused.is_error && refused.text.contains("\"4321+\" on the line"), "{}", refused.text);
    Ok(())
}

fn copy_mode() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    let _person = Person::attach(&world, "t1", 120, 41)?;
    for mode in [&["copy-mode", "-t", "t1"][..], &["clock-mode", "-t", "t1"]] {
        world.tmux(mode)?;
        let answer = client.run("echo HELLO")?;
        same!((answer.status(), answer.output()), ("finished", "HELLO"), "{mode:?}: {}", answer.text);
        world.tmux(&["send-keys", "-t", "t1", "-X", "cancel"]).ok();
    }
    Ok(())
}

fn tiny_window() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({ "name": "first" }))?;
    let _person = Person::attach(&world, "first", 3, 2)?;
    client.call("session_create", json!({ "name": "second", "cols": 100, "rows": 30 }))?;
    let size = client.call("run", json!({ "session": "second", "line": "stty size" }))?;
    same!(size.output(), "30 100", "{}", size.text);
    client.call("session_resize", json!({ "session": "first", "cols": 120, "rows": 40 }))?;
    let size = client.call("run", json!({ "session": "first", "line": "stty size" }))?;
    same!(size.output(), "40 120", "{}", size.text);
    Ok(())
}

fn not_closed() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    let person = Person::attach(&world, "t1", 80, 25)?;
    let refused = client.call("session_close", json!({}))?;
    holds!(refused.is_error && refused.text.contains("person"), "{}", refused.text);
    drop(person);
    wait_until("closed", || {
        client.call("session_close", json!({ "session": "t1" })).is_ok_and(|answer| !answer.is_error)
    })?;
    Ok(())
}

fn kill_pane() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    client.run("echo before")?;
    world.tmux(&["kill-pane", "-t", "t1"])?;
    let answer = client.run("echo after")?;
    holds!(answer.is_error, "{}", answer.text);
    let read = client.call("search", json!({ "session": "t1", "pattern": "^before$" }))?;
    same!(read.meta["total"], json!(1), "{}", read.text);
    // It counts as closed, and its name is free.
    wait_until("it is closed", || {
        client.call("session_list", json!({})).is_ok_and(|list| list.text.starts_with("[0 sessions]"))
    })?;
    let list = client.call("session_list", json!({ "session": "t1" }))?;
    same!(list.meta["sessions"][0]["state"], json!("closed"), "{}", list.text);
    client.call("session_create", json!({ "name": "t2" }))?;
    same!(client.run("echo only")?.output(), "only", "the one that is open");
    let again = client.call("session_create", json!({ "name": "t1" }))?;
    holds!(!again.is_error, "{}", again.text);
    Ok(())
}

fn kill_shim() -> Tested {
    use nix::sys::signal::{Signal, kill};
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    client.run("echo before")?;
    let pid = world.tmux(&["display-message", "-p", "-t", "t1", "#{pane_pid}"])?;
    let pid: i32 = pid.trim().parse().map_err(|_| format!("no pid: {pid}"))?;
    kill(nix::unistd::Pid::from_raw(pid), Signal::SIGKILL).map_err(|error| error.to_string())?;
    wait_until("the pane is dead", || {
        world.tmux(&["display-message", "-p", "-t", "t1", "#{pane_dead}"]).is_ok_and(|dead| dead.trim() == "1")
    })?;
    let answer = client.run("echo after")?;
    holds!(answer.is_error, "{}", answer.text);
    let list = client.call("session_list", json!({}))?;
    same!(list.meta["sessions"][0]["state"], json!("ended"), "{}", list.text);
    holds!(!list.output().contains("at its prompt"), "{}", list.text);
    // An ended session is open until its pane goes.
    world.tmux(&["kill-pane", "-t", "t1"])?;
    wait_until("it is closed", || {
        client.call("session_list", json!({})).is_ok_and(|list| list.text.starts_with("[0 sessions]"))
    })?;
    Ok(())
}

fn kill_ended() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    let ended = client.run("exit 3")?;
    same!((ended.status(), ended.exit()), ("ended", Some(3)), "{}", ended.text);
    let list = client.call("session_list", json!({}))?;
    same!(list.meta["sessions"][0]["state"], json!("ended"), "{}", list.text);
    world.tmux(&["kill-session", "-t", "t1"])?;
    wait_until("it is closed", || {
        client.call("session_list", json!({})).is_ok_and(|list| list.text.starts_with("[0 sessions]"))
    })?;
    let list = client.call("session_list", json!({ "session": "t1" }))?;
    same!(list.meta["sessions"][0]["exit"], json!(3), "{}", list.text);
    Ok(())
}

fn attach_prefix() -> Tested {
    let mut world = World::new()?;
    world.env.push(("DOCENT_TERMINAL_MCP_ATTACH_PREFIX".into(), "podman exec -it box".into()));
    let mut client = world.client()?;
    let made = client.call("session_create", json!({}))?;
    holds!(made.words().contains("podman exec -it box tmux -L world attach -t t1"), "{}", made.text);
    same!(made.meta["attach"][0], json!("podman"), "{}", made.meta);
    Ok(())
}

fn hostile_conf() -> Tested {
    let world = World::new()?;
    world.dot_file(
        ".tmux.conf",
        "set -g destroy-unattached on\nset -g default-command 'echo hostile; exec cat'\nset -g base-index 5\nset -g remain-on-exit off\nset -g set-clipboard on\nset -wg synchronize-panes on\nset -g history-limit 10\n",
    )?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    same!(client.run("echo fine")?.output(), "fine", "whatever the person's tmux.conf says");
    let ended = client.run("exit 3")?;
    same!((ended.status(), ended.exit()), ("ended", Some(3)), "{}", ended.text);
    Ok(())
}

/// vi's editors take letters for commands behind an Escape, which leaves nothing to be seen.
fn command_mode() -> Tested {
    let world = World::new()?;
    world.dot_file(".inputrc", "set editing-mode vi\n")?;
    world.dot_file(".zshrc", "bindkey -v\nPS1='$ '\n")?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    let mut person = Person::attach(&world, "t1", 120, 41)?;
    client.run("touch keep")?;
    leaves_command_mode(&world, &mut person)?;
    let bash = runs(&mut client, "echo rm keep")?;
    same!((bash.status(), bash.output()), ("finished", "rm keep"), "{}", bash.text);
    for (program, line, out) in [
        ("python3 -q", "print(2 + 2)", "quit()"),
        ("gdb -q", "print 2 + 2", "quit"),
        ("sqlite3", "select 2 + 2;", ".quit"),
    ] {
        same!(client.run(program)?.status(), "prompt", "{program}");
        leaves_command_mode(&world, &mut person)?;
        let regions = client.call("regions", json!({}))?.meta["total"].clone();
        let taken = runs(&mut client, line)?;
        holds!(taken.status() == "prompt" && taken.output().ends_with('4'), "{program}: {}", taken.text);
        let now = client.call("regions", json!({}))?.meta["total"].clone();
        same!(regions.as_u64().map(|total| total + 1), now.as_u64(), "{program}");
        same!(client.run(out)?.status(), "finished", "{program}");
    }
    for (shell, vi) in [("zsh -i", "true"), ("fish", "fish_vi_key_bindings")] {
        client.run(shell)?;
        same!(client.run(vi)?.status(), "finished", "{shell}");
        leaves_command_mode(&world, &mut person)?;
        let ran = runs(&mut client, "echo rm keep")?;
        same!((ran.status(), ran.output()), ("finished", "rm keep"), "{shell}: {}", ran.text);
        client.run("exit")?;
    }
    same!(client.run("ls")?.output(), "keep", "nothing else ran");
    Ok(())
}

/// Runs a line once it has been read that nothing of a person's stands there any more.
fn runs(client: &mut Client, line: &str) -> Result<Answer, String> {
    let mut ran = None;
    wait_until("the line is free", || {
        ran = client.run(line).ok();
        ran.as_ref().is_some_and(|ran| !ran.text.contains("has \"y\" on the line"))
    })?;
    ran.ok_or_else(|| "no reply".to_owned())
}

/// Has a person leave the line empty and its editor in vi's command mode.
fn leaves_command_mode(world: &World, person: &mut Person) -> Tested {
    let cursor = || world.tmux(&["display-message", "-p", "-t", "t1", "#{cursor_x}"]).unwrap_or_default();
    let is_at = |column: usize| cursor().trim().parse() == Ok(column);
    let row = || {
        let screen = world.tmux(&["capture-pane", "-p", "-t", "t1"]).unwrap_or_default();
        screen.trim_end().lines().next_back().map(str::to_owned).unwrap_or_default()
    };
    wait_until("the prompt", || row().ends_with(['$', '#', '>', ')']) && is_at(row().len() + 1))?;
    let empty = row().len() + 1;
    person.types("yy")?;
    wait_until("both letters are shown", || is_at(empty + 2))?;
    person.types("\x1b")?;
    wait_until("Escape goes one to the left", || is_at(empty + 1))?;
    person.types("x")?;
    wait_until("one is deleted", || is_at(empty))?;
    person.types("x")?;
    wait_until("the line is empty", || is_at(empty) && row().len() + 1 == empty)
}
