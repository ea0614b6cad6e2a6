//! Programs that take lines, and programs that take the screen.

use dtmcp_tests::client::World;
use serde_json::json;

use super::{Row, Tested, holds, same};

pub(crate) const ROWS: &[Row] = &[
    ("python", &["tmux", "bash", "python3"], python),
    ("node", &["tmux", "bash", "node"], node),
    ("interrupted_python", &["tmux", "bash", "python3"], interrupted_python),
    ("gdb_as_the_sessions_program", &["tmux", "gdb"], gdb),
    ("less_is_not_typed_into", &["tmux", "bash", "less"], pager),
    ("vim", &["tmux", "bash", "vim"], vim),
    ("keys_reach_less", &["tmux", "bash", "less"], keys_reach_less),
    ("lines_that_look_like_keys", &["tmux"], lines_like_keys),
    ("killed_full_screen_program", &["tmux", "bash"], killed_full_screen),
    ("no_prompt_at_all", &["tmux"], no_prompt),
    ("questions", &["tmux", "bash"], questions),
    ("hidden_questions", &["tmux", "bash"], hidden_questions),
    ("secrets_read_key_by_key", &["tmux", "bash"], secrets_read_key_by_key),
    ("at_work", &["tmux", "bash", "python3"], at_work),
    ("a_line_too_long_for_its_taker", &["tmux", "bash"], too_long),
];

fn python() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    let start = client.run("python3 -q")?;
    same!((start.status(), &start.meta["prompt"]), ("prompt", &json!(">>> ")), "{}", start.text);
    let one = client.run("print(1)")?;
    same!((one.status(), one.output()), ("prompt", "1"), "{}", one.text);
    let error = client.run("1/0")?;
    holds!(error.output().ends_with("ZeroDivisionError: division by zero"), "{}", error.text);
    let several = client.run("for i in range(2):\n    print(i)\n\nprint('z')")?;
    holds!(several.output().ends_with("z") && several.status() == "prompt", "{}", several.text);
    let regions = client.call("regions", json!({}))?;
    let all = regions.meta["regions"].as_array().cloned().unwrap_or_default();
    let print = all.iter().find(|region| region["label"] == json!(">>> print(1)"));
    holds!(print.is_some_and(|region| region["kind"] == json!("input")), "{}", regions.text);
    let end = client.run("exit()")?;
    same!((end.status(), end.exit()), ("finished", Some(0)), "{}", end.text);
    Ok(())
}

fn node() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    client.run("node")?;
    let hello = client.call("run", json!({ "line": "\"Hello\"", "timeout": 10 }))?;
    same!((hello.status(), &hello.meta["prompt"]), ("prompt", &json!("> ")), "{}", hello.text);
    holds!(hello.output().contains("'Hello'"), "{}", hello.text);
    Ok(())
}

fn interrupted_python() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    client.run("python3 -q")?;
    let sleeping = client.call("run", json!({ "line": "import time; time.sleep(999)", "timeout": 1 }))?;
    holds!(sleeping.status() != "finished", "{}", sleeping.text);
    let sent = client.call("send", json!({ "keys": ["ctrl+c"] }))?;
    holds!(sent.output().contains("KeyboardInterrupt"), "{}", sent.text);
    same!(sent.meta["prompt"], json!(">>> "), "{}", sent.text);
    Ok(())
}

fn gdb() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    let made = client.call("session_create", json!({ "command": "gdb -q -nx" }))?;
    same!(made.meta["prompt"], json!("(gdb) "), "{}", made.text);
    let answer = client.run("print 6*7")?;
    same!((answer.status(), answer.output()), ("prompt", "$1 = 42"), "{}", answer.text);
    let end = client.run("quit 3")?;
    same!((end.status(), end.exit()), ("ended", Some(3)), "{}", end.text);
    Ok(())
}

fn pager() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    client.run("seq 1000 > n")?;
    let open = client.run("less n")?;
    same!(open.status(), "screen", "{}", open.text);
    holds!(open.text.starts_with("[t1 #2 full-screen program · 120x40 · cursor "), "{}", open.text);
    holds!(open.output().starts_with("1\n2\n"), "{}", open.text);
    let refused = client.run("echo hi")?;
    holds!(refused.is_error && refused.text.contains("full-screen"), "{}", refused.text);
    client.call("send", json!({ "keys": ["q"] }))?;
    same!(client.run("echo hi")?.output(), "hi", "after the pager");
    Ok(())
}

fn vim() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    same!(client.run("vim -u NONE new")?.status(), "screen", "vim");
    let typed = client.call("send", json!({ "text": "ihello", "keys": ["escape"], "screen": "cursor" }))?;
    holds!(typed.output().contains("hello"), "{}", typed.text);
    client.call("send", json!({ "text": ":wq\n" }))?;
    same!(client.run("cat new")?.output(), "hello", "what vim wrote");
    Ok(())
}

fn keys_reach_less() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    client.run("seq 1000 > n")?;
    client.run("less n")?;
    let down = client.call("send", json!({ "keys": ["j"] }))?;
    holds!(down.output().starts_with("2\n3\n"), "one line: {}", down.text);
    let down = client.call("send", json!({ "keys": ["down*3"], "screen": "full" }))?;
    holds!(down.output().starts_with("5\n6\n"), "three lines: {}", down.text);
    client.call("send", json!({ "keys": ["q"] }))?;
    Ok(())
}

fn lines_like_keys() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({ "command": "cat -v" }))?;
    for line in [
        "Enter",
        "Up",
        "C-c",
        "M-x",
        "-t x",
        "echo a;",
        ";",
        "#{pid} $HOME %d ~ `x` \\n",
        "'\"",
        "~",
        "~root ~",
        "世界",
    ] {
        let answer = client.run(line)?;
        // The terminal echoes the line, and then cat prints what it got.
        let shown = if line == "世界" { "M-dM-8M-^VM-gM-^UM-^L" } else { line };
        same!((answer.status(), answer.output()), ("waiting", shown), "{line}: {}", answer.text);
    }
    Ok(())
}

fn killed_full_screen() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    let killed = client.run(r#"bash -c 'printf "\033[?1049h\033[Hfull\n"; sleep 0.1; kill -9 $$'"#)?;
    same!((killed.status(), killed.exit()), ("finished", Some(137)), "{}", killed.text);
    same!(client.run("echo usable")?.output(), "usable", "the screen mode left on is no full-screen program");
    Ok(())
}

fn no_prompt() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({ "command": "cat" }))?;
    let answer = client.run("hello")?;
    same!((answer.status(), answer.output()), ("waiting", "hello"), "{}", answer.text);
    Ok(())
}

fn questions() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    let asked = client.run("read -p 'Username for https://host: ' u; echo got $u")?;
    same!(
        (asked.status(), &asked.meta["prompt"]),
        ("waiting", &json!("Username for https://host: ")),
        "{}",
        asked.text
    );
    holds!(asked.words().contains("waiting for input"), "{}", asked.text);
    let answered = client.run("bob")?;
    same!(
        (answered.status(), answered.exit(), answered.output()),
        ("finished", Some(0), "got bob"),
        "{}",
        answered.text
    );
    let picked = client.run("select x in apple banana; do echo \"got $x\"; break; done\n2")?;
    same!((picked.status(), picked.exit()), ("finished", Some(0)), "{}", picked.text);
    holds!(picked.output().ends_with("got banana"), "{}", picked.text);
    let key = client.run("read -n1 -s -r -p 'Press any key...' k; echo; echo on")?;
    same!(key.status(), "waiting", "{}", key.text);
    let pressed = client.call("send", json!({ "keys": ["space"] }))?;
    holds!(pressed.output().contains("on"), "{}", pressed.text);
    same!(client.run("cat | grep -c x")?.status(), "waiting", "the first of a pipeline reads");
    client.call("send", json!({ "keys": ["ctrl+d"] }))?;
    let waited = client.call("wait", json!({}))?;
    same!(waited.status(), "finished", "{}", waited.text);
    Ok(())
}

fn hidden_questions() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    let asked = client.run("read -s -p 'Password: ' p; echo; echo ${#p}")?;
    same!((asked.status(), &asked.meta["hidden"]), ("waiting", &json!(true)), "{}", asked.text);
    holds!(asked.words().contains("not shown"), "{}", asked.text);
    let refused = client.run("hunter2secret")?;
    holds!(refused.is_error && refused.text.contains("nothing was typed"), "{}", refused.text);
    client.call("send", json!({ "text": "hunter2secret\n" }))?;
    let waited = client.call("wait", json!({}))?;
    holds!(waited.output().ends_with("13"), "{}", waited.text);
    Ok(())
}

fn secrets_read_key_by_key() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    let asked = client.run("read -s -n 6 -p 'Passcode: ' p; echo; echo ${#p}")?;
    same!((asked.status(), &asked.meta["hidden"]), ("waiting", &json!(true)), "{}", asked.text);
    let rules = json!([{ "pattern": "Passcode", "text": "hun2er", "secret": true }]);
    let answered = client.call("expect", json!({ "rules": rules }))?;
    same!((answered.status(), answered.exit()), ("finished", Some(0)), "{}", answered.text);
    holds!(answered.output().ends_with('6'), "{}", answered.text);
    // An editor of lines turns the echo off as well, and draws what is typed.
    let drawn = client.run("read -e -p 'Passcode: ' p")?;
    same!((drawn.status(), drawn.meta.get("hidden")), ("waiting", None), "{}", drawn.text);
    client.call("send", json!({ "keys": ["enter"] }))?;
    let key = client.run("read -s -n 1 -p 'Press any key: '")?;
    holds!(key.status() != "error" && key.meta.get("hidden").is_none(), "{}", key.text);
    Ok(())
}

fn at_work() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    for line in ["sleep 60", "x=$(sleep 50)", "sleep 60 | cat", "python3 -c 'import time; time.sleep(60)'"] {
        let works = client.call("run", json!({ "line": line, "timeout": 2 }))?;
        same!(works.status(), "running", "{line}: {}", works.text);
        dtmcp_tests::person::wait_until("interrupted", || {
            client.call("send", json!({ "keys": ["ctrl+c"] })).is_ok_and(|sent| sent.text.contains(" at the prompt "))
        })?;
    }
    Ok(())
}

fn too_long() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({ "command": "cat > typed" }))?;
    let long = "A".repeat(5000);
    let refused = client.run(&long)?;
    holds!(refused.is_error && refused.text.contains("4095"), "{}", refused.text);
    let refused = client.call("send", json!({ "text": format!("{long}\n") }))?;
    holds!(refused.is_error && refused.text.contains("4095"), "{}", refused.text);
    client.call("send", json!({ "text": "short\n", "keys": ["ctrl+d"] }))?;
    let typed = std::fs::read_to_string(world.user_home().join("typed")).map_err(|error| error.to_string())?;
    same!(typed, "short\n", "nothing of it was submitted");
    Ok(())
}
