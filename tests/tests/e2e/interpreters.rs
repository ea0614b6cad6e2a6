//! Interpreters of many kinds, each driven as a model would: one line, several, an error, a half block left open and
//! finished or given up, a question inside, and the end with its status.

use dtmcp_tests::client::{Client, World};
use serde_json::json;

use super::{Row, Tested, holds, same};

pub(crate) const ROWS: &[Row] = &[
    ("node", &["tmux", "bash", "node"], node),
    ("lua", &["tmux", "bash", "lua5.4"], lua),
    ("irb", &["tmux", "bash", "irb"], irb),
    ("guile", &["tmux", "bash", "guile"], guile),
    ("php", &["tmux", "bash", "php"], php),
    ("prolog", &["tmux", "bash", "swipl"], prolog),
    ("perl_debugger", &["tmux", "bash", "perl"], perl_debugger),
    ("ipython", &["tmux", "bash", "ipython3"], ipython),
    ("tclsh", &["tmux", "bash", "tclsh"], tclsh),
    ("jshell", &["tmux", "bash", "jshell"], jshell),
    ("dc_shows_no_prompt", &["tmux", "bash", "dc"], dc),
    ("ed_shows_no_prompt", &["tmux", "bash", "ed"], ed),
    ("as_the_sessions_program", &["tmux", "lua5.4", "guile", "swipl", "bc"], own_programs),
];

/// What a line comes to: the status, the prompt, and how the output ends. Where one is empty, it is not looked at.
type Step = (&'static str, &'static str, &'static str, &'static str);

/// Runs the lines, each of which has to come to what stands beside it.
pub(crate) fn talk(client: &mut Client, steps: &[Step]) -> Tested {
    for (line, status, prompt, output) in steps {
        let reply = client.call("run", json!({ "line": line, "timeout": 60 }))?;
        same!(reply.status(), *status, "{line:?}: {}", reply.text);
        if !prompt.is_empty() {
            same!(reply.meta["prompt"], json!(prompt), "{line:?}: {}", reply.text);
        }
        holds!(reply.output().trim_end().ends_with(output), "{line:?}: {}", reply.text);
    }
    Ok(())
}

/// The same in a shell, to the end of the program with this status.
fn in_a_shell(steps: &[Step], exit: i64) -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    let (last, steps) = steps.split_last().ok_or("no steps")?;
    talk(&mut client, steps)?;
    let end = client.call("run", json!({ "line": last.0, "timeout": 60 }))?;
    same!((end.status(), end.exit()), (last.1, Some(exit)), "{}", end.text);
    Ok(())
}

fn node() -> Tested {
    in_a_shell(
        &[
            ("node", "prompt", "> ", ""),
            ("1+1", "prompt", "> ", "2"),
            ("function f() {", "continuation", "", ""),
            ("return 5", "continuation", "", ""),
            ("}", "prompt", "> ", "undefined"),
            ("f()\nf() + 1", "prompt", "> ", "6"),
            ("null.x", "prompt", "> ", "(reading 'x')"),
            // Longer than silence would take for an end.
            ("await new Promise(done => setTimeout(done, 1500)); 7", "prompt", "> ", "7"),
            ("process.exit(7)", "finished", "", ""),
        ],
        7,
    )
}

fn lua() -> Tested {
    in_a_shell(
        &[
            ("lua5.4", "prompt", "> ", ""),
            ("1+1", "prompt", "> ", "2"),
            ("for i = 1, 2 do", "continuation", ">> ", ""),
            ("print(i)\nend", "prompt", "> ", "1\n2"),
            ("error('x')", "prompt", "> ", "[C]: in ?"),
            ("io.read()", "waiting", "", ""),
            ("hello", "prompt", "> ", "hello"),
            ("io.write('sure? ') and io.read()", "waiting", "sure? ", ""),
            ("y", "prompt", "> ", "y"),
            ("os.exit(4)", "finished", "", ""),
        ],
        4,
    )
}

/// Its editor draws all lines of a block again for every key, and indents the next one by itself.
fn irb() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    same!(client.run("irb")?.status(), "prompt", "irb");
    let block = client.run("def f(x)\n  if x\n    3\n  end\nend")?;
    same!((block.status(), block.meta["ran"][0]["last_line"].as_u64()), ("prompt", None), "{}", block.text);
    holds!(block.output().ends_with("=> :f"), "{}", block.text);
    let begun = client.run("[1,")?;
    same!(begun.status(), "continuation", "{}", begun.text);
    let done = client.run("2]")?;
    same!((done.status(), done.output()), ("prompt", "=> [1, 2]"), "{}", done.text);
    let lines = client.call("read", json!({ "numbers": false }))?;
    same!(lines.output().matches(" if x").count(), 1, "painted again, and said once: {}", lines.text);
    let regions = client.call("regions", json!({ "pattern": "if x$" }))?;
    same!(regions.meta["regions"].as_array().map(Vec::len), Some(1), "{}", regions.text);
    talk(&mut client, &[("gets", "waiting", "", ""), ("hello", "prompt", "", "=> \"hello\\n\"")])?;
    talk(&mut client, &[("raise 'x'", "prompt", "", ""), ("\"abc", "continuation", "", "")])?;
    let up = client.call("send", json!({ "keys": ["ctrl+c"] }))?;
    holds!(up.meta["prompt"].as_str().is_some_and(|prompt| prompt.ends_with(":0> ")), "{}", up.text);
    let end = client.run("exit")?;
    same!(end.exit(), Some(0), "{}", end.text);
    Ok(())
}

fn guile() -> Tested {
    in_a_shell(
        &[
            ("guile -q", "prompt", "scheme@(guile-user)> ", ""),
            ("(+ 1 2)", "prompt", "scheme@(guile-user)> ", "= 3"),
            // What continues a line has no prompt here.
            ("(define (f x)", "waiting", "", ""),
            ("(* x 2))", "prompt", "scheme@(guile-user)> ", ""),
            ("(f 4)", "prompt", "", "= 8"),
            ("(car 1)", "prompt", "scheme@(guile-user) [1]> ", "to continue."),
            (",q", "prompt", "scheme@(guile-user)> ", ""),
            ("(exit 3)", "finished", "", ""),
        ],
        3,
    )
}

fn php() -> Tested {
    in_a_shell(
        &[
            ("php -a", "prompt", "php > ", "Interactive shell"),
            ("echo 1+1;", "prompt", "php > ", "2"),
            ("function f() {", "continuation", "php { ", ""),
            ("return 4; }", "prompt", "php > ", ""),
            ("echo f();", "prompt", "php > ", "4"),
            ("echo \"a", "continuation", "php \" ", ""),
            ("b\";", "prompt", "php > ", "a\nb"),
            ("nosuch nosuch;", "prompt", "php > ", ""),
            // Its status tells of the error.
            ("quit", "finished", "", ""),
        ],
        255,
    )
}

fn prolog() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    talk(
        &mut client,
        &[
            ("swipl -q", "prompt", "?- ", ""),
            ("X is 1+", "continuation", "", ""),
            ("2.", "prompt", "?- ", "X = 3."),
            ("nosuch(1).", "prompt", "?- ", ""),
            // It asks for a key: another answer, or enough.
            ("member(X, [a, b]).", "waiting", "X = a ", ""),
        ],
    )?;
    let more = client.call("send", json!({ "text": ";" }))?;
    holds!(more.output().trim_end().ends_with("?-"), "{}", more.text);
    same!(more.meta["prompt"], json!("?- "), "{}", more.text);
    same!(client.run("halt(3).")?.exit(), Some(3), "the end");
    Ok(())
}

fn perl_debugger() -> Tested {
    in_a_shell(
        &[
            ("perl -de1", "prompt", "  DB<1> ", ""),
            ("p 1+1", "prompt", "  DB<2> ", "2"),
            ("die 'a'", "prompt", "  DB<3> ", ""),
            ("print 'q? '; $x = <STDIN>", "waiting", "q? ", ""),
            ("abc", "prompt", "", ""),
            ("p $x", "prompt", "", "abc"),
            ("q", "finished", "", ""),
        ],
        0,
    )
}

/// Its editor indents by itself, draws a block again when it is complete, and counts its prompts.
fn ipython() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    // What is first on PATH under that name may belong to another Python.
    let program = "$(for it in $(type -ap ipython3); do $it --version >&/dev/null && echo $it && break; done)";
    let line = format!("{program} --no-banner --no-confirm-exit");
    same!(client.run(&line)?.meta["prompt"], json!("In [1]: "), "ipython");
    let text = "def f(x):\n    if x:\n        return 1\n    return 2\n\nprint(f(1), f(0))";
    let ran = client.run(text)?;
    same!((ran.status(), &ran.meta["prompt"]), ("prompt", &json!("In [3]: ")), "{}", ran.text);
    holds!(ran.output().trim_end().ends_with("1 2"), "typed as it is indented: {}", ran.text);
    let begun = client.run("for i in range(2):")?;
    same!(begun.status(), "continuation", "{}", begun.text);
    talk(&mut client, &[("    print(i)", "continuation", "", ""), ("", "prompt", "In [4]: ", "0\n1")])?;
    let lines = client.call("read", json!({ "numbers": false }))?;
    same!(lines.output().matches("def f(x):").count(), 1, "painted again, and said once: {}", lines.text);
    talk(
        &mut client,
        &[
            ("1/0", "prompt", "In [5]: ", "division by zero"),
            ("input('n? ')", "waiting", "n? ", ""),
            ("abc", "prompt", "In [6]: ", "'abc'"),
        ],
    )?;
    same!(client.run("import os; os._exit(3)")?.exit(), Some(3), "the end");
    Ok(())
}

fn tclsh() -> Tested {
    in_a_shell(
        &[
            ("tclsh", "prompt", "% ", ""),
            ("expr 6*7", "prompt", "% ", "42"),
            // It has no prompt for the rest.
            ("proc f {} {", "waiting", "", ""),
            ("return 5 }", "prompt", "% ", ""),
            ("f", "prompt", "% ", "5"),
            ("nosuch", "prompt", "% ", "invalid command name \"nosuch\""),
            ("gets stdin", "waiting", "", ""),
            ("abc", "prompt", "% ", "abc"),
            ("exit 3", "finished", "", ""),
        ],
        3,
    )
}

fn jshell() -> Tested {
    in_a_shell(
        &[
            ("jshell", "prompt", "jshell> ", ""),
            ("1+1", "prompt", "jshell> ", "==> 2"),
            ("int f() {", "continuation", "", ""),
            ("return 4; }", "prompt", "jshell> ", "created method f()"),
            ("Thread.sleep(1500); f()", "prompt", "jshell> ", "==> 4"),
            ("nosuch", "prompt", "jshell> ", ""),
            ("/exit 3", "finished", "", ""),
        ],
        3,
    )
}

fn dc() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    talk(
        &mut client,
        &[
            ("dc", "waiting", "", ""),
            ("1 2 + p", "waiting", "", "3"),
            ("nosuch", "waiting", "", ""),
            ("2 3 * p\n4 p", "waiting", "", "4"),
            ("q", "finished", "", ""),
        ],
    )
}

fn ed() -> Tested {
    in_a_shell(
        &[
            ("ed", "waiting", "", ""),
            ("a\nhello\n.\n1p", "waiting", "", "hello"),
            ("xyz", "waiting", "", "?"),
            ("h", "waiting", "", ""),
            ("w file", "waiting", "", "6"),
            // Its status tells of the error.
            ("q", "finished", "", ""),
        ],
        1,
    )
}

fn own_programs() -> Tested {
    for (command, prompt, line, output, end, exit) in [
        ("lua5.4", "> ", "6*7", "42", "os.exit(4)", 4),
        ("guile -q", "scheme@(guile-user)> ", "(* 6 7)", "= 42", "(exit 3)", 3),
        ("swipl -q", "?- ", "X is 6*7.", "X = 42.", "halt(2).", 2),
        ("bc -q", "", "6*7", "42", "quit", 0),
    ] {
        let world = World::new()?;
        let mut client = world.client()?;
        let made = client.call("session_create", json!({ "command": command }))?;
        same!(made.meta["prompt"].as_str().unwrap_or_default(), prompt, "{}", made.text);
        let ran = client.run(line)?;
        holds!(ran.output().trim_end().ends_with(output), "{command}: {}", ran.text);
        same!(ran.meta["prompt"].as_str().unwrap_or_default(), prompt, "{}", ran.text);
        let ended = client.run(end)?;
        same!((ended.status(), ended.exit()), ("ended", Some(exit)), "{command}: {}", ended.text);
    }
    Ok(())
}
