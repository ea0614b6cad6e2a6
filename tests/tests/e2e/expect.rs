//! Rules that answer what real programs ask.

use dtmcp_tests::client::{Client, World};
use serde_json::{Value, json};

use super::{Row, Tested, holds, same};

pub(crate) const ROWS: &[Row] = &[
    ("python_asks", &["tmux", "bash", "python3"], python_asks),
    ("script_asks", &["tmux", "bash"], script_asks),
    ("secret_reaches_nothing", &["tmux", "bash"], secret),
    ("secret_is_not_typed_where_it_shows", &["tmux", "bash"], secret_shown),
    ("gdb_asks", &["tmux", "bash", "gdb"], gdb_asks),
    ("ssh_keygen_asks", &["tmux", "bash", "ssh-keygen"], ssh_keygen),
    ("stop_and_times", &["tmux", "bash"], stop_and_times),
    ("unanswered_at_once", &["tmux", "bash"], unanswered),
    ("goes_on_without_a_line", &["tmux", "bash"], without_line),
    ("late_prompt", &["tmux", "bash"], late_prompt),
    ("wrong_rules", &["tmux", "bash"], wrong_rules),
    ("several_lines", &["tmux", "bash", "python3"], several_lines),
];

fn open(world: &World) -> Result<Client, String> {
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    Ok(client)
}

fn expect(client: &mut Client, line: &str, rules: &Value) -> Result<dtmcp_tests::client::Answer, String> {
    client.call("expect", json!({ "line": line, "rules": rules, "timeout": 60 }))
}

/// Ctrl-C, until the shell is back: what comes next is not for the program.
fn interrupt(client: &mut Client) -> Tested {
    dtmcp_tests::person::wait_until("interrupted", || {
        client.call("send", json!({ "keys": ["ctrl+c"] })).is_ok_and(|sent| sent.text.contains(" at the prompt "))
    })
}

fn script(world: &World, name: &str, text: &str) -> Tested {
    std::fs::write(world.user_home().join(name), text).map_err(|error| error.to_string())
}

fn python_asks() -> Tested {
    let world = World::new()?;
    let mut client = open(&world)?;
    script(&world, "ask.py", "n = input('Name: ')\nwhile input('Sure? ') != 'yes': pass\nprint('hello', n)\n")?;
    let rules = json!([{ "pattern": "^Name: $", "line": "Ada" }, { "pattern": "Sure", "line": "yes" }]);
    let done = expect(&mut client, "python3 ask.py", &rules)?;
    same!((done.status(), done.exit()), ("finished", Some(0)), "{}", done.text);
    same!(done.output(), "Name: Ada\nSure? yes\nhello Ada", "{}", done.text);
    holds!(done.words().contains("answered: #2 by rule 0, #3 by rule 1"), "{}", done.text);
    holds!(!done.words().contains("since your last call"), "its own answers are no news: {}", done.text);
    let regions = client.call("regions", json!({}))?;
    let all = regions.meta["regions"].as_array().cloned().unwrap_or_default();
    let labels: Vec<&str> = all.iter().filter_map(|region| region["label"].as_str()).collect();
    same!(labels, ["python3 ask.py", "Name: Ada", "Sure? yes"], "{}", regions.text);
    same!(all.iter().filter(|region| region["kind"] == json!("input")).count(), 2, "{}", regions.text);
    Ok(())
}

const ASKS: &str = "read -p 'User: ' u\nread -s -p 'Password: ' p; echo\nread -n1 -p 'Go on [y/N]? ' k; echo\n\
    echo \"$u ${#p} $k\"\nexit 3\n";

fn script_asks() -> Tested {
    let world = World::new()?;
    let mut client = open(&world)?;
    script(&world, "ask", ASKS)?;
    let rules = json!([
        { "pattern": "User", "line": "bob" },
        { "pattern": "Password", "line": "hunter2secret", "secret": true },
        { "pattern": "y/N", "keys": ["y"] },
    ]);
    let done = expect(&mut client, "bash ask", &rules)?;
    same!((done.status(), done.exit()), ("finished", Some(3)), "{}", done.text);
    holds!(done.output().ends_with("bob 13 y"), "{}", done.text);
    Ok(())
}

fn secret() -> Tested {
    let world = World::new()?;
    let mut client = open(&world)?;
    script(&world, "ask", ASKS)?;
    let rules = json!([
        { "pattern": "User", "line": "bob" },
        { "pattern": "Password", "line": "hunter2secret", "secret": true },
    ]);
    let asked = expect(&mut client, "bash ask", &rules)?;
    same!((asked.status(), &asked.meta["prompt"]), ("unanswered", &json!("Go on [y/N]? ")), "{}", asked.text);
    // An answer that comes in the middle of a list is no less a secret.
    let again = json!([{ "pattern": "N", "text": "n" }, { "pattern": "x", "keys": "hunter2secret", "secret": true }]);
    let refused = client.call("expect", json!({ "rules": again }))?;
    holds!(refused.is_error, "{}", refused.text);
    client.call("expect", json!({ "rules": [{ "pattern": "N", "text": "n" }] }))?;
    let regions = client.call("regions", json!({}))?;
    for reply in [&asked, &regions, &client.call("read", json!({ "view": "raw" }))?] {
        holds!(!reply.text.contains("hunter2") && !reply.meta.to_string().contains("hunter2"), "{}", reply.text);
    }
    same!(world.tmux(&["list-buffers"])?.trim(), "", "no buffer is left");
    let messages = world.tmux(&["show-messages"]).unwrap_or_default();
    holds!(!messages.contains("hunter2"), "{messages}");
    let mut waiting = vec![world.state()];
    while let Some(path) = waiting.pop() {
        if path.is_dir() {
            let entries = std::fs::read_dir(&path).map_err(|error| error.to_string())?;
            waiting.extend(entries.filter_map(|entry| Some(entry.ok()?.path())));
        } else if path.is_file() {
            let bytes = std::fs::read(&path).unwrap_or_default();
            holds!(memchr::memmem::find(&bytes, b"hunter2secret").is_none(), "{} holds it", path.display());
        }
    }
    Ok(())
}

fn secret_shown() -> Tested {
    let world = World::new()?;
    let mut client = open(&world)?;
    let rules = json!([{ "pattern": "Token", "line": "hunter2secret", "secret": true }]);
    let asked = expect(&mut client, "read -p 'Token: ' t; echo \"got $t\"", &rules)?;
    same!((asked.status(), &asked.meta["prompt"]), ("unanswered", &json!("Token: ")), "{}", asked.text);
    holds!(asked.words().contains("it was not typed"), "{}", asked.text);
    same!(client.run("plain")?.output(), "got plain", "nothing stood there");
    Ok(())
}

fn gdb_asks() -> Tested {
    let world = World::new()?;
    let mut client = open(&world)?;
    same!(client.run("gdb -q -nx $(command -v bash)")?.status(), "prompt", "gdb");
    client.run("set breakpoint pending on")?;
    client.run("break never_there")?;
    let asked = client.run("delete")?;
    holds!(asked.text.contains("Delete all breakpoints? (y or n)"), "{}", asked.text);
    same!(asked.status(), "waiting", "{}", asked.text);
    same!(client.run("n")?.status(), "prompt", "kept");
    let rules = json!([{ "pattern": "\\(y or n\\)", "line": "y" }]);
    let deleted = expect(&mut client, "delete", &rules)?;
    same!((deleted.status(), &deleted.meta["prompt"]), ("prompt", &json!("(gdb) ")), "{}", deleted.text);
    holds!(deleted.words().contains("by rule 0"), "{}", deleted.text);
    same!(client.run("info breakpoints")?.output(), "No breakpoints or watchpoints.", "all are gone");
    let end = expect(&mut client, "quit", &rules)?;
    same!((end.status(), end.exit()), ("finished", Some(0)), "{}", end.text);
    Ok(())
}

fn ssh_keygen() -> Tested {
    let world = World::new()?;
    let mut client = open(&world)?;
    same!(client.run("ssh-keygen -q -t ed25519 -N '' -f key")?.exit(), Some(0), "the first");
    let rules = json!([
        { "pattern": "Overwrite \\(y/n\\)\\?", "line": "y" },
        { "pattern": "passphrase", "line": "long enough", "secret": true, "times": 2 },
    ]);
    let done = expect(&mut client, "ssh-keygen -t ed25519 -f key", &rules)?;
    same!((done.status(), done.exit()), ("finished", Some(0)), "{}", done.text);
    holds!(done.output().contains("SHA256") && !done.text.contains("long enough"), "{}", done.text);
    Ok(())
}

fn stop_and_times() -> Tested {
    let world = World::new()?;
    let mut client = open(&world)?;
    let rules = json!([{ "pattern": "again", "line": "y", "times": 3 }, { "pattern": "^E: ", "stop": true }]);
    let line = "while read -p 'once again? ' x; do :; done";
    let asked = expect(&mut client, line, &rules)?;
    same!((asked.status(), &asked.meta["prompt"]), ("unanswered", &json!("once again? ")), "{}", asked.text);
    holds!(asked.words().contains("answered 3 times"), "{}", asked.text);
    same!(asked.output().matches("once again? y").count(), 3, "{}", asked.text);
    interrupt(&mut client)?;
    let stopped = expect(&mut client, "printf 'E: %s\\n' broken; cat", &rules)?;
    same!((stopped.status(), &stopped.meta["matched"]), ("stopped_rule", &json!(1)), "{}", stopped.text);
    interrupt(&mut client)?;
    let ended = expect(&mut client, "printf 'E: %s\\n' broken", &rules)?;
    holds!(matches!(ended.status(), "finished" | "stopped_rule"), "{}", ended.text);
    Ok(())
}

fn unanswered() -> Tested {
    let world = World::new()?;
    let mut client = open(&world)?;
    let rules = json!([{ "pattern": "never", "line": "x" }]);
    let asked = client.call("expect", json!({ "line": "read -p 'Which? ' w", "rules": rules, "timeout": 3000 }))?;
    same!((asked.status(), &asked.meta["prompt"]), ("unanswered", &json!("Which? ")), "{}", asked.text);
    client.run("this")?;
    // A rule that a line before the question matched is not meant for a password.
    let rules = json!([{ "pattern": "Continue", "line": "y" }]);
    let asked = expect(&mut client, "echo Continue; read -s -p 'Password: ' p", &rules)?;
    same!((asked.status(), &asked.meta["hidden"]), ("unanswered", &json!(true)), "{}", asked.text);
    interrupt(&mut client)?;
    // The question stands on a line of its own.
    let asked = expect(&mut client, "echo 'Proceed [y/n]?'; read x", &json!([]))?;
    same!((asked.status(), &asked.meta["prompt"]), ("unanswered", &json!("Proceed [y/n]?")), "{}", asked.text);
    client.run("y")?;
    let rules = json!([{ "pattern": "Proceed", "line": "y" }]);
    let done = expect(&mut client, "echo 'Proceed [y/n]?'; read x; echo \"did $x\"", &rules)?;
    holds!(done.status() == "finished" && done.output().ends_with("did y"), "{}", done.text);
    Ok(())
}

fn without_line() -> Tested {
    let world = World::new()?;
    let mut client = open(&world)?;
    script(&world, "ask", "read -p 'First? ' a\nread -p 'Second? ' b\necho \"$a$b\"\n")?;
    same!(client.run("bash ask")?.status(), "waiting", "asks");
    let rules = json!([{ "pattern": "First", "line": "1" }]);
    let asked = client.call("expect", json!({ "rules": rules }))?;
    same!((asked.status(), &asked.meta["prompt"]), ("unanswered", &json!("Second? ")), "{}", asked.text);
    // What has been answered is not asked again.
    let rules = json!([{ "pattern": "First", "line": "wrong" }, { "pattern": "Second", "line": "2" }]);
    let done = client.call("expect", json!({ "rules": rules }))?;
    holds!(done.status() == "finished" && done.output().ends_with("12"), "{}", done.text);
    let idle = client.call("expect", json!({ "rules": [] }))?;
    holds!(idle.is_error && idle.text.contains("nothing runs"), "{}", idle.text);
    Ok(())
}

fn late_prompt() -> Tested {
    let world = World::new()?;
    let mut client = open(&world)?;
    // It throws away what was typed before it reads, as programs do that ask for a password.
    let script_text = "printf 'Restart? '; sleep 1; while read -t 0.01 -n 1 gone; do :; done; read a; echo \"a=$a\"";
    script(&world, "ask", script_text)?;
    let done = expect(&mut client, "bash ask", &json!([{ "pattern": "Restart\\? $", "line": "yes" }]))?;
    holds!(done.status() == "finished" && done.output().ends_with("a=yes"), "{}", done.text);
    // The echo of an answer, or of the line, is no question.
    let rules = json!([{ "pattern": "yes", "line": "no" }, { "pattern": "Sure", "line": "yes" }]);
    let done = expect(&mut client, "read -p 'Sure? ' yes; sleep 0.5; echo \"$yes\" | tr a-z A-Z", &rules)?;
    holds!(done.status() == "finished" && done.output().ends_with("YES"), "{}", done.text);
    Ok(())
}

fn wrong_rules() -> Tested {
    let world = World::new()?;
    let mut client = open(&world)?;
    for (rules, says) in [
        (json!([{ "pattern": "a(" }]), "`rules`, 0: `pattern`"),
        (json!([{ "pattern": "a" }]), "give one of `line`"),
        (json!([{ "pattern": "a", "line": "b", "stop": true }]), "give one of `line`"),
        (json!([{ "pattern": "a", "line": "b" }, { "patern": "c", "line": "d" }]), "`rules`, 1: "),
        (json!([{ "pattern": "a", "lines": "hunter2" }]), "Did you mean `line`?"),
        (json!("hunter2"), "`rules` takes a list of objects"),
        (json!([{ "pattern": "a", "line": "b\nc" }]), "`line` takes one line here"),
        (json!([{ "pattern": "a", "line": "b", "times": 0 }]), "`times` takes"),
    ] {
        let refused = client.call("expect", json!({ "line": "echo no", "rules": rules }))?;
        holds!(refused.is_error && refused.text.contains(says), "{rules}: {}", refused.text);
        holds!(!refused.text.contains("hunter2"), "{}", refused.text);
    }
    let text = r#"[{"pattern": "Sure", "line": "y"}]"#;
    let done = client.call("expect", json!({ "line": "read -p 'Sure? ' x; echo $x", "rules": text }))?;
    holds!(done.status() == "finished" && done.output().ends_with('y'), "{}", done.text);
    Ok(())
}

fn several_lines() -> Tested {
    let world = World::new()?;
    let mut client = open(&world)?;
    let rules = json!([{ "pattern": "^Name: $", "line": "Ada" }]);
    let done = expect(&mut client, "python3 -q\nn = input('Name: ')\nprint(n * 2)\nexit(4)", &rules)?;
    same!((done.status(), done.exit(), &done.meta["unsent"]), ("finished", Some(4), &json!(0)), "{}", done.text);
    holds!(done.text.contains("AdaAda"), "{}", done.text);
    // A question that no rule answers is not given the next line.
    let asked = expect(&mut client, "read -p 'Which? ' w\necho next", &json!([]))?;
    same!((asked.status(), &asked.meta["unsent"]), ("unanswered", &json!(1)), "{}", asked.text);
    Ok(())
}
