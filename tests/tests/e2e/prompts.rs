//! Prompts that change, that only the host can tell, and that a pattern names.

use dtmcp_tests::client::{Client, World};
use serde_json::json;

use super::interpreters::talk;
use super::{Row, Tested, holds, same};

pub(crate) const ROWS: &[Row] = &[
    ("changed_in_the_program", &["tmux", "bash", "python3", "sqlite3"], changed),
    ("one_program_in_another", &["tmux", "bash", "gdb"], nested),
    ("a_shell_in_a_program", &["tmux", "bash", "python3"], shell_inside),
    ("a_program_in_a_debugger", &["tmux", "bash", "gdb", "cc"], debugged),
    ("a_pattern_of_the_session", &["tmux", "python3"], of_the_session),
    ("the_shells_without_its_marks", &["tmux", "bash"], without_marks),
    ("a_shell_inside_whose_first_prompt_has_none", &["tmux", "bash"], made_anew),
    ("a_pattern_of_one_call", &["tmux", "bash", "python3"], of_one_call),
];

fn changed() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    talk(
        &mut client,
        &[
            ("python3 -q", "prompt", ">>> ", ""),
            ("import sys; sys.ps1 = 'py> '; sys.ps2 = '.. '", "prompt", "py> ", ""),
            ("6*7", "prompt", "py> ", "42"),
            // What ends like a question is one, whoever asks.
            ("sys.ps1 = 'now: '", "waiting", "now: ", ""),
            ("6*8", "waiting", "now: ", "48"),
            ("sys.ps1 = '[in] $'", "prompt", "[in] $", ""),
            ("exit()", "finished", "", ""),
            ("sqlite3", "prompt", "sqlite> ", ""),
            (".prompt 'db # ' 'more: '", "prompt", "db # ", ""),
            ("select 6*7;", "prompt", "db # ", "42"),
            (".quit", "finished", "", ""),
        ],
    )
}

/// A framework calls what was there from inside, and makes the prompt anew after it, as starship does: the call that opens
/// the shell is answered all the same.
fn made_anew() -> Tested {
    let world = World::new()?;
    let framework = "found=${PROMPT_COMMAND-}\nframework() { local st=$?; eval \"$found\"; PS1=\"[$st] \"'in $ '; }\nPROMPT_COMMAND=framework\n";
    std::fs::write(world.user_home().join(".bashrc"), framework).map_err(|error| error.to_string())?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    let opened = client.run("bash")?;
    same!((opened.status(), opened.meta["prompt"].as_str()), ("prompt", Some("[0] in $ ")), "{}", opened.text);
    let next = client.run("(exit 5)")?;
    same!((next.status(), next.exit()), ("finished", Some(5)), "{}", next.text);
    same!(client.run("exit")?.status(), "finished", "left");
    Ok(())
}

/// A line takes both of what the marks hang on away, and the next brings them back.
fn without_marks() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    for prompt in ["one> ", "[one] ", "one$ "] {
        let set = client.run(&format!("PROMPT_COMMAND='history -a'; PS1='{prompt}'; false"))?;
        same!((set.status(), set.meta["prompt"].as_str()), ("prompt", Some(prompt)), "{}", set.text);
        holds!(set.text.contains("the shell's own prompt") && !set.text.contains("stays open"), "{}", set.text);
        let next = client.run("(exit 5)")?;
        same!((next.status(), next.exit()), ("finished", Some(5)), "{}", next.text);
        holds!(next.text.contains("exit 1"), "the status of the line before is told: {}", next.text);
    }
    Ok(())
}

fn nested() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    talk(
        &mut client,
        &[
            ("gdb -q -nx", "prompt", "(gdb) ", ""),
            ("python-interactive", "prompt", ">>> ", ""),
            ("for i in range(2):", "continuation", "... ", ""),
            ("    print(i)\n", "continuation", "... ", ""),
            ("", "prompt", ">>> ", "0\n1"),
        ],
    )?;
    let left = client.call("send", json!({ "keys": ["ctrl+d"] }))?;
    same!(left.meta["prompt"], json!("(gdb) "), "{}", left.text);
    // A shell inside ends without a word; the debugger's end is the debugger's.
    let shell = client.run("shell bash")?;
    same!(shell.status(), "prompt", "{}", shell.text);
    same!(client.run("echo in")?.output(), "in", "a shell inside");
    let back = client.run("exit 3")?;
    same!((back.status(), &back.meta["prompt"]), ("prompt", &json!("(gdb) ")), "{}", back.text);
    let again = client.run("print 6*7")?;
    holds!(again.output().ends_with("$1 = 42"), "the debugger again: {}", again.text);
    let end = client.run("quit 5")?;
    same!((end.status(), end.exit(), end.region()), ("finished", Some(5), Some(1)), "{}", end.text);
    Ok(())
}

/// However the shell is left, the program has the terminal again and its region is the one that runs.
fn shell_inside() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    talk(&mut client, &[("python3 -q", "prompt", ">>> ", ""), ("import os", "prompt", ">>> ", "")])?;
    let shell = "os.system('bash')";
    let here = |client: &mut Client| {
        let seen = client.call("regions", json!({ "last": 100 }))?;
        let regions = seen.meta["regions"].as_array().cloned().unwrap_or_default();
        let running =
            regions.iter().filter(|region| region["status"] == "running").map(|region| region["label"].clone());
        same!(running.collect::<Vec<_>>(), [json!("python3 -q")], "{}", seen.text);
        talk(client, &[("6*7", "prompt", ">>> ", "42")])
    };
    same!(client.run(shell)?.status(), "prompt", "a shell inside");
    same!(client.run("echo in")?.output(), "in", "a shell inside");
    let left = client.run("exit 3")?;
    same!((left.status(), &left.meta["prompt"]), ("prompt", &json!(">>> ")), "{}", left.text);
    here(&mut client)?;
    same!(client.run(shell)?.status(), "prompt", "a shell inside");
    let left = client.call("send", json!({ "keys": ["ctrl+d"] }))?;
    same!(left.meta["prompt"], json!(">>> "), "{}", left.text);
    here(&mut client)?;
    same!(client.run(shell)?.status(), "prompt", "a shell inside");
    client.call("send", json!({ "keys": ["ctrl+d"], "settle": 0 }))?;
    let next = client.run("6*8")?;
    same!((next.status(), &next.meta["prompt"]), ("prompt", &json!(">>> ")), "{}", next.text);
    here(&mut client)?;
    // A server that takes over knows as much.
    same!(client.run(shell)?.status(), "prompt", "a shell inside");
    client.run("exit 4")?;
    client.kill()?;
    let mut client = world.client()?;
    here(&mut client)?;
    same!(client.run("exit(5)")?.exit(), Some(5), "the program's end");
    Ok(())
}

const ASKS: &str = "#include <stdio.h>\nint twice(int a) { return 2 * a; }\nint main(void) {\n  int n = 0;\n  \
    printf(\"number? \"); fflush(stdout);\n  if (scanf(\"%d\", &n) != 1) return 1;\n  \
    printf(\"twice %d\\n\", twice(n));\n  return 5;\n}\n";

fn debugged() -> Tested {
    let world = World::new()?;
    std::fs::write(world.user_home().join("asks.c"), ASKS).map_err(|error| error.to_string())?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    same!(client.run("cc -g -O0 -o asks asks.c")?.exit(), Some(0), "compiled");
    talk(
        &mut client,
        &[
            ("gdb -q -nx asks", "prompt", "(gdb) ", ""),
            ("set startup-with-shell off", "prompt", "(gdb) ", ""),
            ("break twice", "prompt", "(gdb) ", ""),
            ("commands\nprint a\nend", "prompt", "(gdb) ", ""),
            ("run", "waiting", "number? ", ""),
            ("21", "prompt", "(gdb) ", "$1 = 21"),
            ("continue", "prompt", "(gdb) ", "exited with code 05]"),
            ("run", "waiting", "number? ", ""),
        ],
    )?;
    let stopped = client.call("send", json!({ "keys": ["ctrl+c"] }))?;
    holds!(stopped.output().contains("SIGINT"), "{}", stopped.text);
    talk(&mut client, &[("quit", "waiting", "Quit anyway? (y or n) ", ""), ("y", "finished", "", "")])
}

/// A program whose prompts look like nothing, and that works for a moment before each.
const ODD: &str = "import time\nwhile True:\n    time.sleep(.2)\n    line = input('acme 7? ')\n    \
    if line == 'bye': raise SystemExit(4)\n    print('got', line)\n";

fn of_the_session() -> Tested {
    let world = World::new()?;
    std::fs::write(world.user_home().join("odd.py"), ODD).map_err(|error| error.to_string())?;
    let mut client = world.client()?;
    let refused = client.call("session_create", json!({ "command": "python3 odd.py", "prompt_pattern": "acme (" }))?;
    holds!(refused.is_error && refused.text.contains("`prompt_pattern`"), "{}", refused.text);
    let pattern = "^acme \\d\\? $";
    let made = client.call("session_create", json!({ "command": "python3 odd.py", "prompt_pattern": pattern }))?;
    same!((made.status(), &made.meta["prompt"]), ("prompt", &json!("acme 7? ")), "{}", made.text);
    talk(&mut client, &[("one", "prompt", "acme 7? ", "got one"), ("two\nthree", "prompt", "acme 7? ", "got three")])?;
    let end = client.run("bye")?;
    same!((end.status(), end.exit()), ("ended", Some(4)), "{}", end.text);
    Ok(())
}

fn of_one_call() -> Tested {
    let world = World::new()?;
    std::fs::write(world.user_home().join("odd.py"), ODD).map_err(|error| error.to_string())?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    let refused = client.call("run", json!({ "line": "python3 odd.py", "prompt_pattern": "acme (" }))?;
    holds!(refused.is_error && refused.text.contains("`prompt_pattern`"), "{}", refused.text);
    same!(client.run("echo on")?.output(), "on", "nothing was typed");
    let named = json!({ "line": "python3 odd.py", "prompt_pattern": "^acme \\d\\? $", "timeout": 60 });
    same!(client.call("run", named)?.status(), "prompt", "named");
    let unnamed = client.run("one")?;
    same!((unnamed.status(), &unnamed.meta["prompt"]), ("waiting", &json!("acme 7? ")), "{}", unnamed.text);
    let named = json!({ "line": "two", "prompt_pattern": "^acme", "timeout": 60 });
    let again = client.call("run", named)?;
    same!((again.status(), again.output()), ("prompt", "got two"), "{}", again.text);
    same!(client.run("bye")?.exit(), Some(4), "the end");
    Ok(())
}
