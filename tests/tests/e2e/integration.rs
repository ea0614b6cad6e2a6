//! Shells that people have made their own, and lines that are no commands.

use dtmcp_tests::client::World;
use dtmcp_tests::person::wait_until;
use serde_json::json;

use super::{Row, Tested, holds, same};

pub(crate) const ROWS: &[Row] = &[
    ("no_phantoms", &["tmux", "bash"], no_phantoms),
    ("slow_startup", &["tmux", "bash"], slow_startup),
    ("startup_that_reads", &["tmux", "bash"], startup_that_reads),
    ("startup_that_asks", &["tmux", "bash"], startup_that_asks),
    ("startup_that_becomes_another_shell", &["tmux", "bash", "dash"], startup_that_becomes_another_shell),
    ("silence_is_no_end", &["tmux", "bash"], silence_is_no_end),
    ("continuation", &["tmux", "bash"], continuation),
    ("a_line_broken_off", &["tmux", "bash"], broken_off),
    ("nested", &["tmux", "bash"], nested),
    ("nested_with_a_prompt_command", &["tmux", "bash"], nested_with_a_prompt_command),
    ("strict_options", &["tmux", "bash"], strict_options),
    ("debug_trap", &["tmux", "bash"], debug_trap),
    ("prompt_with_status", &["tmux", "bash"], prompt_with_status),
    ("history_is_the_persons", &["tmux", "bash"], history),
    ("printing_the_prompt", &["tmux", "bash"], printing_the_prompt),
    ("multi_line_string", &["tmux", "bash"], multi_line_string),
    ("prompt_of_two_lines", &["tmux", "bash"], prompt_of_two_lines),
    ("a_line_that_is_not_begun", &["tmux", "bash"], not_begun),
    ("plain_shell", &["tmux", "bash"], plain_shell),
    ("escape_at_the_prompt", &["tmux", "bash"], escape_at_the_prompt),
    ("hook_and_prompt_replaced", &["tmux", "bash"], hook_and_prompt_replaced),
    ("a_prompt_that_takes_its_time", &["tmux", "bash"], slow_prompt),
    ("stdout_closed", &["tmux", "bash"], stdout_closed),
];

fn count(client: &mut dtmcp_tests::client::Client) -> Result<usize, String> {
    let regions = client.call("regions", json!({}))?;
    Ok(regions.meta["regions"].as_array().map_or(0, Vec::len))
}

fn no_phantoms() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    client.run("(exit 9)")?;
    client.call("send", json!({ "keys": ["ctrl+c"] }))?;
    for line in ["", "# only a comment", "   "] {
        let answer = client.run(line)?;
        same!((answer.status(), answer.region()), ("finished", None), "{line:?}: {}", answer.text);
    }
    let history = client.run("!nosuch")?;
    same!((history.status(), history.region()), ("finished", None), "{}", history.text);
    same!(count(&mut client)?, 1, "one region only");
    same!(client.run("echo $?")?.output(), "130", "and the status is the one that bash gives a line broken off");
    Ok(())
}

fn slow_startup() -> Tested {
    let world = World::new()?;
    world.dot_file(".bashrc", "")?;
    world.dot_file(".bash_profile", "sleep 2; echo banner\n")?;
    let mut client = world.client()?;
    let made = client.begin("session_create", json!({}))?;
    let made = client.finish(made)?;
    holds!(!made.is_error, "{}", made.text);
    let answer = client.run("echo hi")?;
    same!((answer.output(), answer.exit(), answer.region()), ("hi", Some(0), Some(1)), "{}", answer.text);
    holds!(answer.words().contains("to show its first prompt"), "{}", answer.text);
    Ok(())
}

fn startup_that_reads() -> Tested {
    let world = World::new()?;
    world.dot_file(".bash_profile", "sleep 4; read -t 1\n")?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    let answer = client.run("echo kept")?;
    same!(answer.output(), "kept", "{}", answer.text);
    Ok(())
}

fn startup_that_asks() -> Tested {
    let world = World::new()?;
    world.dot_file(".bash_profile", "read -p 'Which one? ' one; read -s -p 'Pin: ' pin; echo; PS1='$ '\n")?;
    let mut client = world.client()?;
    let made = client.call("session_create", json!({}))?;
    if made.status() != "waiting" {
        // A machine out of breath may take longer than that call waits.
        let asked = client.call("wait", json!({ "timeout": 60 }))?;
        same!(asked.status(), "waiting", "{}", asked.text);
    }
    let answer = client.run("work")?;
    holds!(answer.text.contains("waiting at \"Pin: \" for input that is not shown"), "{}", answer.text);
    let rules = json!([{ "pattern": "Pin:", "text": "12\n", "secret": true }]);
    let answer = client.call("expect", json!({ "rules": rules, "timeout": 60 }))?;
    holds!(!answer.is_error, "{}", answer.text);
    let answer = client.run("echo $one $pin")?;
    same!((answer.output(), answer.exit(), answer.region()), ("work 12", Some(0), Some(3)), "{}", answer.text);
    holds!(!answer.words().contains("startup files"), "{}", answer.text);
    Ok(())
}

fn startup_that_becomes_another_shell() -> Tested {
    let world = World::new()?;
    world.dot_file(".bash_profile", "export PS1='plain $ '; exec dash\n")?;
    let mut client = world.client()?;
    let made = client.call("session_create", json!({}))?;
    let answer = client.run("echo hi")?;
    same!((answer.status(), answer.output()), ("prompt", "hi"), "{}", answer.text);
    holds!(format!("{} {}", made.text, answer.text).contains("is a plain one"), "{}", made.text);
    client.call("send", json!({ "keys": ["ctrl+c"] }))?;
    let answer = client.run("echo on")?;
    same!((answer.status(), answer.output()), ("prompt", "on"), "{}", answer.text);
    Ok(())
}

/// Until its prompt stands the shell reads nothing; what its prompt commands read, it never gets.
fn slow_prompt() -> Tested {
    let world = World::new()?;
    world.dot_file(".bash_profile", "PS1='$ '\nPROMPT_COMMAND='sleep 0.7; read -rt 0.1 stolen'\n")?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    client.run("true")?;
    let long = format!("echo {} | wc -c", "x".repeat(5000));
    let answer = client.run(&long)?;
    same!((answer.output(), answer.exit()), ("5001", Some(0)), "{}", answer.text);
    let answer = client.run("echo a\tb \"[$stolen]\"")?;
    same!(answer.output(), "a b []", "{}", answer.text);
    let regions = client.call("regions", json!({}))?;
    let typists = regions.meta["regions"].as_array().map(|all| all.iter().map(|it| it["actor"].clone()).collect());
    same!(typists, Some(vec![json!("tester"); 3]), "{}", regions.text);
    Ok(())
}

fn silence_is_no_end() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    let answer = client.run("for i in 1 2 3; do echo $i; sleep 1.3; done; echo END; f() { return 5; }; f")?;
    same!((answer.exit(), answer.output()), (Some(5), "1\n2\n3\nEND"), "{}", answer.text);
    let collecting =
        client.call("run", json!({ "line": "printf 'collecting ... '; sleep 4; echo end", "timeout": 20 }))?;
    same!((collecting.status(), collecting.output()), ("finished", "collecting ... end"), "{}", collecting.text);
    let quiet = client.call("run", json!({ "line": "sleep 120 > log", "timeout": 4 }))?;
    same!(quiet.status(), "running", "{}", quiet.text);
    client.call("send", json!({ "keys": ["ctrl+c"] }))?;
    Ok(())
}

fn continuation() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    let open = client.run("cat <<EOF\nhello\n  EOF")?;
    same!(open.status(), "continuation", "{}", open.text);
    holds!(open.words().contains("ctrl+c"), "{}", open.text);
    client.call("send", json!({ "keys": ["ctrl+c"] }))?;
    same!(client.run("echo on")?.output(), "on", "the next line runs");
    let quote = client.run("echo \"a")?;
    same!((quote.status(), &quote.meta["prompt"]), ("continuation", &json!("> ")), "{}", quote.text);
    let rest = client.run("b\"")?;
    same!((rest.status(), rest.output()), ("finished", "a\nb"), "{}", rest.text);
    Ok(())
}

fn broken_off() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    // A prompt that takes its time: what is typed before it comes goes the way of the line that was broken off.
    client.run("PROMPT_COMMAND='sleep 0.7'")?;
    for line in ["cat <<E", "echo 'half", "echo \"`half"] {
        let open = client.run(line)?;
        same!(open.status(), "continuation", "{line:?}: {}", open.text);
        let left = client.call("send", json!({ "keys": ["ctrl+c"] }))?;
        holds!(left.meta["prompt"].as_str().is_some_and(|prompt| prompt != "> "), "{line:?}: {}", left.text);
        let next = client.run("echo on")?;
        same!((next.output(), next.exit()), ("on", Some(0)), "{line:?}: {}", next.text);
    }
    Ok(())
}

fn nested() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    let outer = client.run("bash")?;
    same!(outer.status(), "prompt", "{}", outer.text);
    let inner = client.run("echo inner")?;
    same!((inner.exit(), inner.output()), (Some(0), "inner"), "{}", inner.text);
    client.run("exit 4")?;
    let status = client.run("echo $?")?;
    same!(status.output(), "4", "{}", status.text);
    let regions = client.call("regions", json!({}))?;
    let exit = |label: &str| {
        let all = regions.meta["regions"].as_array().cloned().unwrap_or_default();
        all.into_iter().find(|region| region["label"] == json!(label)).map(|region| region["exit"].clone())
    };
    same!(exit("bash"), Some(json!(4)), "{}", regions.text);
    same!(exit("echo inner"), Some(json!(0)), "{}", regions.text);
    Ok(())
}

fn strict_options() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    for (line, exit) in [
        ("set -u", 0),
        ("true", 0),
        ("set -o pipefail", 0),
        ("false | true", 1),
        ("set -x", 0),
        ("true", 0),
        ("set +x", 0),
        ("set -e", 0),
    ] {
        let answer = client.run(line)?;
        same!((answer.status(), answer.exit()), ("finished", Some(exit)), "{line}: {}", answer.text);
    }
    let last = client.run("false")?;
    same!((last.status(), last.exit()), ("ended", Some(1)), "{}", last.text);
    Ok(())
}

fn debug_trap() -> Tested {
    let world = World::new()?;
    world.dot_file(".bash_profile", "trap 'echo DBG:$BASH_COMMAND >> $HOME/dbg' DEBUG\n")?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    same!(client.run("true")?.exit(), Some(0), "true");
    same!(client.run("false")?.exit(), Some(1), "false");
    let fired = std::fs::read_to_string(world.user_home().join("dbg")).unwrap_or_default();
    holds!(fired.contains("DBG:true\n") && fired.contains("DBG:false\n"), "{fired}");
    same!(count(&mut client)?, 2, "no extra regions");
    Ok(())
}

fn prompt_with_status() -> Tested {
    let world = World::new()?;
    world.dot_file(
        ".bash_profile",
        "PS1='[$?]\\$ '; PROMPT_COMMAND='a() { :; }; history -a; echo -ne \"\\033]0;title\\007\"; b=1'\n",
    )?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    same!(client.run("true")?.exit(), Some(0), "true");
    same!(client.run("(exit 7)")?.exit(), Some(7), "exit 7");
    let status = client.run("echo $? $b")?;
    same!(status.output(), "7 1", "{}", status.text);
    let screen = client.call("read", json!({ "view": "screen" }))?;
    holds!(
        screen.output().contains("[7]# echo $? $b") || screen.output().contains("[7]$ echo $? $b"),
        "{}",
        screen.text
    );
    Ok(())
}

fn history() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    client.run("echo one")?;
    client.run("echo two")?;
    let history = client.run("history | sed 's/^ *[0-9]* *//'")?;
    same!(history.output(), "echo one\necho two\nhistory | sed 's/^ *[0-9]* *//'", "{}", history.text);
    Ok(())
}

fn printing_the_prompt() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    for line in [r#"echo "$PS1""#, r#"echo "${PS1@P}""#, "env", "set | tail -50", "declare -p PS1 PS0 PROMPT_COMMAND"] {
        let answer = client.run(line)?;
        same!((answer.status(), answer.exit()), ("finished", Some(0)), "{line}: {}", answer.text);
        same!(client.run("echo next")?.output(), "next", "after {line}");
    }
    Ok(())
}

fn multi_line_string() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    let wrote = client.run("echo \"l1\nl2\nl3\" > f")?;
    same!((wrote.status(), wrote.exit()), ("finished", Some(0)), "{}", wrote.text);
    for (line, output) in [("echo A", "A"), ("echo B", "B"), ("cat f", "l1\nl2\nl3")] {
        same!(client.run(line)?.output(), output, "{line}");
    }
    Ok(())
}

fn prompt_of_two_lines() -> Tested {
    let world = World::new()?;
    world.dot_file(".bash_profile", "PS1='\\n┌ \\w\\n└ \\$ '\n")?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    for n in 0..3 {
        let answer = client.run(&format!("echo out{n}"))?;
        same!(answer.output(), format!("out{n}"), "{}", answer.text);
    }
    let regions = client.call("regions", json!({}))?;
    same!(regions.meta["regions"][2]["label"], json!("echo out2"), "{}", regions.text);
    Ok(())
}

fn not_begun() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    client.run("echo one")?;
    // readline's search takes the line for what is looked for.
    client.call("send", json!({ "keys": ["alt+p"] }))?;
    let lost = client.run("nothing like it")?;
    holds!(
        lost.is_error || lost.words().contains("has not begun the line") || lost.region().is_some(),
        "{}",
        lost.text
    );
    client.call("send", json!({ "keys": ["ctrl+c"] }))?;
    wait_until("the shell is back", || client.run("echo back").is_ok_and(|answer| answer.output() == "back"))
}

fn plain_shell() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    let made = client.call("session_create", json!({ "command": "env PS1='plain$ ' bash --norc --noprofile" }))?;
    holds!(!made.is_error, "{}", made.text);
    let answer = client.run("echo hi; false")?;
    same!((answer.status(), answer.output(), answer.exit()), ("prompt", "hi", None), "{}", answer.text);
    let regions = client.call("regions", json!({}))?;
    same!(regions.meta["regions"][0]["kind"], json!("input"), "{}", regions.text);
    same!(regions.meta["regions"][0]["label"], json!("plain$ echo hi; false"), "{}", regions.text);
    Ok(())
}

/// What begins a command is left of the integration, and puts the rest back with the next one.
fn hook_and_prompt_replaced() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    let gone = client.run("PROMPT_COMMAND= PS1='new$ '")?;
    holds!(matches!(gone.status(), "prompt" | "waiting"), "{}", gone.text);
    let answer = client.run("echo hi; false")?;
    same!((answer.status(), answer.output(), answer.exit()), ("finished", "hi", Some(1)), "{}", answer.text);
    let next = client.run("echo $?")?;
    same!((next.output(), next.exit()), ("1", Some(0)), "{}", next.text);
    let kept = client.run("PROMPT_COMMAND= PS1='kept$ '; readonly PROMPT_COMMAND")?;
    holds!(matches!(kept.status(), "prompt" | "waiting"), "{}", kept.text);
    let answer = client.run("echo hi; false")?;
    holds!(matches!(answer.status(), "prompt" | "waiting") && answer.output().starts_with("hi"), "{}", answer.text);
    let next = client.run("echo $?")?;
    holds!(next.output().starts_with('1'), "{}", next.text);
    let regions = client.call("regions", json!({}))?;
    let all = regions.meta["regions"].as_array().cloned().unwrap_or_default();
    let ended = all.iter().rfind(|region| region["kind"] == "command" && region["exit"] == 1);
    holds!(ended.is_some_and(|it| it["label"].as_str() == Some("kept$ echo hi; false")), "{}", regions.text);
    let end = client.run("exit 5")?;
    same!((end.status(), end.exit()), ("ended", Some(5)), "{}", end.text);
    Ok(())
}

/// The startup file of a bash inside sets `PROMPT_COMMAND` anew: its first prompt has no marks, and its first command all.
fn nested_with_a_prompt_command() -> Tested {
    let world = World::new()?;
    world.dot_file(".bash_profile", ". ~/.bashrc\n")?;
    world.dot_file(".bashrc", "PS1='$ '\nPROMPT_COMMAND='history -a'\n")?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    let inside = client.run("bash")?;
    same!(inside.status(), "prompt", "the shell inside");
    holds!(!inside.text.contains("plain") && inside.text.contains("first command"), "{}", inside.text);
    let first = client.run("echo first; false")?;
    same!((first.status(), first.output(), first.exit()), ("finished", "first", Some(1)), "{}", first.text);
    let second = client.run("echo second; false")?;
    same!((second.status(), second.output(), second.exit()), ("finished", "second", Some(1)), "{}", second.text);
    client.run("exit 4")?;
    same!(client.run("echo $?")?.output(), "4", "the shell outside");
    Ok(())
}

fn stdout_closed() -> Tested {
    let world = World::new()?;
    world.dot_file(".bash_profile", "PS1='$ '\n")?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    let closed = client.run("exec 1>&-")?;
    same!((closed.status(), closed.output()), ("prompt", ""), "{}", closed.text);
    let answer = client.run("echo lost >&2; (exit 3)")?;
    same!((answer.status(), answer.output()), ("prompt", "lost"), "{}", answer.text);
    let back = client.run("exec 1>&2")?;
    same!((back.status(), back.exit()), ("finished", Some(0)), "{}", back.text);
    holds!(back.text.contains("exit 3"), "the status of the one before is told: {}", back.text);
    same!(client.run("echo on")?.output(), "on", "as ever");
    Ok(())
}

/// Behind Escape the letters of a line would be commands of the editor, and something else would run.
fn escape_at_the_prompt() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    client.run("set -o vi")?;
    client.call("send", json!({ "keys": ["escape"] }))?;
    let refused = client.run("echo hi there")?;
    same!(
        client.call("regions", json!({ "status": "finished" }))?.meta["regions"].as_array().map(Vec::len),
        Some(1),
        "none of it ran"
    );
    holds!(refused.is_error && refused.text.contains("ctrl+c"), "{}", refused.text);
    client.call("send", json!({ "keys": ["ctrl+c"] }))?;
    same!(client.run("echo hi there")?.output(), "hi there", "at a fresh prompt it runs");
    client.call("send", json!({ "keys": ["escape", "0", "k"] }))?;
    holds!(client.run("echo hi there")?.is_error, "k is vi's, and leaves it where it was");
    client.call("send", json!({ "keys": ["ctrl+c"] }))?;
    client.call("send", json!({ "keys": ["escape", "i"] }))?;
    same!(client.run("echo on")?.output(), "on", "vi is back where it takes text");
    Ok(())
}
