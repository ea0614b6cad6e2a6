//! Programs that take line after line: their prompts, continuation prompts, and those that show none.

use dtmcp_tests::client::World;
use serde_json::json;

use super::{Row, Tested, holds, same};

pub(crate) const ROWS: &[Row] = &[
    ("sqlite3", &["tmux", "bash", "sqlite3"], sqlite3),
    ("bc_shows_no_prompt", &["tmux", "bash", "bc"], bc),
    ("python_as_the_sessions_program", &["tmux", "python3"], python),
    ("gdb_commands_and_questions", &["tmux", "bash", "gdb"], gdb),
    ("gdb_with_output_behind_its_prompt", &["tmux", "bash", "gdb"], late_in_gdb),
    ("node_with_output_behind_its_prompt", &["tmux", "bash", "node"], late_in_node),
    ("irb_with_output_behind_its_prompt", &["tmux", "bash", "irb"], late_in_irb),
    ("an_editor_of_lines_that_is_closed", &["tmux", "bash", "node"], closed_editor),
    ("output_without_a_line_end", &["tmux", "bash", "dash", "python3", "gdb"], joined),
    ("typed_ahead_of_pythons_prompt", &["tmux", "bash", "python3"], ahead),
    ("a_shell_inside_a_program", &["tmux", "bash", "python3", "gdb"], inside),
    ("standard_input_by_name", &["tmux", "bash"], stdin),
];

fn sqlite3() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    let open = client.run("sqlite3")?;
    same!((open.status(), &open.meta["prompt"]), ("prompt", &json!("sqlite> ")), "{}", open.text);
    let begun = client.run("select 1,")?;
    same!((begun.status(), &begun.meta["prompt"]), ("continuation", &json!("   ...> ")), "{}", begun.text);
    let done = client.run("2;")?;
    same!((done.status(), done.output()), ("prompt", "1|2"), "{}", done.text);
    let several = client.run("create table t(a);\ninsert into t\nvalues (42);\nselect a from t;")?;
    holds!(several.status() == "prompt" && several.output().ends_with("42"), "{}", several.text);
    same!(several.meta["unsent"], json!(0), "{}", several.text);
    let regions = client.call("regions", json!({ "pattern": "^sqlite> select a" }))?;
    same!(regions.meta["regions"].as_array().map(Vec::len), Some(1), "{}", regions.text);
    let end = client.run(".exit 3")?;
    same!((end.status(), end.exit()), ("finished", Some(3)), "{}", end.text);
    Ok(())
}

fn bc() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    let open = client.run("bc -q")?;
    same!(open.status(), "waiting", "{}", open.text);
    let several = client.run("6*7\n2^10")?;
    same!((several.status(), &several.meta["unsent"]), ("waiting", &json!(0)), "{}", several.text);
    holds!(several.text.contains("42") && several.output().ends_with("1024"), "{}", several.text);
    let end = client.run("quit")?;
    same!((end.status(), end.exit()), ("finished", Some(0)), "{}", end.text);
    Ok(())
}

fn python() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    let made = client.call("session_create", json!({ "command": "python3 -q" }))?;
    same!(made.meta["prompt"], json!(">>> "), "{}", made.text);
    let block = client.run("for i in range(2):")?;
    same!((block.status(), &block.meta["prompt"]), ("continuation", &json!("... ")), "{}", block.text);
    client.run("    print(i)")?;
    let ran = client.run("")?;
    holds!(ran.status() == "prompt" && ran.output().ends_with("0\n1"), "{}", ran.text);
    let end = client.run("raise SystemExit(5)")?;
    same!((end.status(), end.exit()), ("ended", Some(5)), "{}", end.text);
    Ok(())
}

fn gdb() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    client.run("gdb -q -nx")?;
    let begun = client.run("define hello")?;
    same!((begun.status(), &begun.meta["prompt"]), ("continuation", &json!(">")), "{}", begun.text);
    let defined = client.run("echo hi\\n\nend")?;
    same!((defined.status(), &defined.meta["prompt"]), ("prompt", &json!("(gdb) ")), "{}", defined.text);
    same!(client.run("hello")?.output(), "hi", "what was defined");
    let asked = client.run("define hello")?;
    holds!(asked.status() == "waiting" && asked.text.contains("(y or n)"), "{}", asked.text);
    same!(client.run("n")?.status(), "prompt", "left as it is");
    Ok(())
}

/// Something prints behind the prompt of a program that has nothing to do, which takes lines as ever.
fn late(program: &str, prints: &str, line: &str, output: &str) -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    same!(client.run(program)?.status(), "prompt", "{program}");
    let given = client.run(prints)?;
    holds!(["prompt", "waiting"].contains(&given.status()), "{}", given.text);
    let printed = client.call("wait", json!({ "until": "is late", "timeout": 60 }))?;
    same!(printed.status(), "matched", "{}", printed.text);
    let done = client.call("run", json!({ "line": line, "timeout": 60 }))?;
    same!(done.status(), "prompt", "{}", done.text);
    holds!(done.output().ends_with(output), "{}", done.text);
    Ok(())
}

fn late_in_gdb() -> Tested {
    late("gdb -q -nx", "shell (sleep 1; printf 'it is %s\\n' late) &", "print 6*7", "= 42")
}

fn late_in_node() -> Tested {
    late("node", "setTimeout(() => console.log('it is ' + 'late'), 1000); 1", "6*7", "42")
}

/// Its editor looks for keys ten times a second, and after its terminal between two times.
fn late_in_irb() -> Tested {
    late("irb", "Thread.new { sleep 1; puts 'it is ' + 'late' }; 1", "6*7", "=> 42")
}

/// Its event loop has the terminal on its list for ever, and reads nothing of it.
fn closed_editor() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    let script = "const lines = require('readline').createInterface({ input: process.stdin, output: process.stdout });
lines.question('Name? ', (name) => { lines.close(); setInterval(() => console.log('GET /' + name), 700); });
";
    client.run(&format!("cat >serve.js <<'END'\n{script}END"))?;
    same!(client.run("node serve.js")?.status(), "waiting", "it asks");
    let served = client.call("run", json!({ "line": "index", "until": "GET /index", "timeout": 60 }))?;
    same!(served.status(), "matched", "{}", served.text);
    let goes_on = client.call("wait", json!({ "timeout": 3 }))?;
    same!(goes_on.status(), "running", "{}", goes_on.text);
    let refused = client.run("echo hi")?;
    holds!(refused.is_error && refused.text.contains("nothing was typed"), "{}", refused.text);
    client.call("send", json!({ "keys": ["ctrl+c"] }))?;
    Ok(())
}

fn stdin() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    let piped = client.run("seq 2 | cat < /dev/stdin")?;
    same!((piped.status(), piped.output()), ("finished", "1\n2"), "{}", piped.text);
    same!(client.run("cat /dev/stdin")?.status(), "waiting", "it reads the terminal");
    let line = client.run("one")?;
    same!((line.status(), line.output()), ("waiting", "one"), "{}", line.text);
    client.call("send", json!({ "keys": ["ctrl+d"] }))?;
    same!(client.call("wait", json!({}))?.status(), "finished", "the end of the input");
    Ok(())
}

/// What stands before the prompt on its line is output.
fn joined() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    for (program, line, prompt) in [
        ("PS1='$ ' dash", "printf hi", "$ "),
        ("python3 -q", "print('hi', end='')", ">>> "),
        ("gdb -q -nx", "printf \"hi\"", "(gdb) "),
    ] {
        same!(client.run(program)?.meta["prompt"], json!(prompt), "{program}");
        let said = client.run(line)?;
        same!((said.status(), &said.meta["prompt"], said.output()), ("prompt", &json!(prompt), "hi"), "{}", said.text);
        same!(said.meta["lines"], json!(1), "{}", said.text);
        let labels = client.call("regions", json!({ "last": 1 }))?;
        same!(labels.meta["regions"][0]["label"], json!(format!("{prompt}{line}")), "{}", labels.text);
        client.call("send", json!({ "keys": ["ctrl+d"] }))?;
        same!(client.call("wait", json!({}))?.status(), "finished", "{program}");
    }
    // The next of several lines stands on that line, too, and is none of the output.
    for (lines, output) in
        [("python3 -q\nprint('b', end='')\nprint('c')\nexit()", "\nb\n"), ("dash\nprintf b\necho c\nexit", "\nb\n")]
    {
        let answer = client.run(lines)?;
        holds!(answer.words().contains("· 1 line]") && !answer.words().contains("waited at \"b"), "{}", answer.text);
        // The command around them shows all that stood there.
        let own = answer.output().split_once("\n[#").map(|(_, own)| own.to_owned()).unwrap_or_default();
        holds!(own.contains(output), "{}", answer.text);
    }
    Ok(())
}

/// What was typed ahead is echoed before the prompt, and shown behind it again.
fn ahead() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    client.run("python3 -q")?;
    client.run("import os, time")?;
    let go = world.user_home().join("go");
    let line = format!("print('up', all(time.sleep(.05) is None for _ in iter(lambda: os.path.exists({go:?}), True)))");
    let works = client.call("run", json!({ "line": line, "timeout": 0.5 }))?;
    same!(works.status(), "running", "{}", works.text);
    client.call("send", json!({ "text": "6+6" }))?;
    std::fs::write(&go, "").map_err(|error| error.to_string())?;
    let back = client.call("wait", json!({ "timeout": 60 }))?;
    same!((back.status(), &back.meta["prompt"]), ("prompt", &json!(">>> ")), "{}", back.text);
    let said = client.run("7+7")?;
    same!((said.status(), said.output()), ("prompt", "14"), "{}", said.text);
    Ok(())
}

/// Whoever started it, the shell there tells ends and statuses, and when it is left the program's own prompt is back.
fn inside() -> Tested {
    let world = World::new()?;
    for (program, line, prompt) in
        [("python3 -q", "import os; os.system('bash')", ">>> "), ("gdb -q -nx", "!bash", "(gdb) ")]
    {
        let mut client = world.client()?;
        let made = client.call("session_create", json!({}))?;
        let session = made.meta["session"].clone();
        client.run(program)?;
        let open = client.run(line)?;
        holds!(open.status() == "prompt" && open.words().contains("exact ends and exit statuses"), "{}", open.text);
        same!(client.run("(exit 3)")?.exit(), Some(3), "{program}");
        let left = client.run("exit")?;
        same!((left.status(), &left.meta["prompt"]), ("prompt", &json!(prompt)), "{}", left.text);
        client.call("session_close", json!({ "session": session }))?;
        client.leave()?;
    }
    Ok(())
}
