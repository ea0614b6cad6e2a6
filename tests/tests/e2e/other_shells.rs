//! Sessions whose shell is zsh or fish.

use dtmcp_tests::client::{Client, World};
use dtmcp_tests::person::{Person, wait_until};
use serde_json::json;

use super::{Row, Tested, holds, same};

pub(crate) const ROWS: &[Row] = &[
    ("zsh_session", &["tmux", "zsh"], zsh_session),
    ("zsh_slow_startup", &["tmux", "zsh"], zsh_slow_startup),
    ("a_stopped_job_of_a_plain_shell", &["tmux", "bash", "zsh"], stopped_in_a_plain_shell),
    ("zsh_with_a_theme", &["tmux", "zsh"], zsh_with_a_theme),
    ("shells_one_in_the_other", &["tmux", "bash", "zsh"], one_in_the_other),
    ("fish_session", &["tmux", "fish"], fish_session),
    ("zsh_refuses_blocks", &["tmux", "zsh"], zsh_refuses_blocks),
    ("fish_refuses_blocks", &["tmux", "fish"], fish_refuses_blocks),
    ("fish_blocks", &["tmux", "fish", "setsid"], fish_blocks),
];

fn zsh_session() -> Tested {
    let world = World::new()?;
    world.dot_file(".zshrc", "PS1='%m:%~%# '\nHISTFILE=~/.zsh_history SAVEHIST=9\n")?;
    let mut client = world.client()?;
    let made = client.call("session_create", json!({ "command": "zsh" }))?;
    holds!(!made.is_error, "{}", made.text);
    let answer = client.run("echo hi; (exit 3)")?;
    same!((answer.output(), answer.exit(), answer.region()), ("hi", Some(3), Some(1)), "{}", answer.text);
    let answer = client.run("false | true")?;
    holds!(answer.text.contains("(1|0)"), "{}", answer.text);
    same!(client.run("printf abc")?.output(), "abc", "zsh's mark for a missing line end is not output");
    let answer = client.run("for i in 1 2\ndo echo $i\ndone")?;
    same!((answer.exit(), answer.output()), (Some(0), "1\n2"), "{}", answer.text);
    let answer = client.run("echo )")?;
    holds!(answer.output().contains("parse error"), "{}", answer.text);
    same!(client.run("echo ${ZDOTDIR-none} ${HISTFILE#$HOME}")?.output(), "none /.zsh_history", "as the person has it");
    Ok(())
}

fn zsh_slow_startup() -> Tested {
    let world = World::new()?;
    world.dot_file(".zshrc", "sleep 4; read -t 1; PS1='$ '\n")?;
    let mut client = world.client()?;
    client.call("session_create", json!({ "command": "zsh" }))?;
    let answer = client.run("echo hi")?;
    same!((answer.output(), answer.exit()), ("hi", Some(0)), "{}", answer.text);
    Ok(())
}

/// Without marks there is no status, but the shell's own notice.
fn stopped_in_a_plain_shell() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    for (shell, prompt) in [("bash --norc", "p $ "), ("zsh -f", "p %# ")] {
        let command = format!("PS1='{prompt}' exec {shell}");
        let made = client.call("session_create", json!({ "command": command }))?;
        holds!(!made.is_error, "{}", made.text);
        let line = "sh -c 'echo u\"\"p; exec sleep 600'";
        let up = client.call("run", json!({ "line": line, "until": "^up$", "timeout": 60 }))?;
        same!(up.status(), "matched", "{shell}: {}", up.text);
        client.call("send", json!({ "keys": ["ctrl+z"] }))?;
        let answer = client.call("wait", json!({ "timeout": 60 }))?;
        holds!(answer.text.contains("suspended") && answer.text.contains("\"fg\""), "{shell}: {}", answer.text);
        same!(client.run("echo on")?.output(), "on", "{shell}");
        client.call("session_close", json!({}))?;
    }
    Ok(())
}

fn zsh_with_a_theme() -> Tested {
    let world = World::new()?;
    let theme = "theme() { precmd_functions=(${precmd_functions:#theme} theme); PS1='%F{blue}%~%f
%B❯%b ' RPS1='%*' }\nprecmd_functions+=(theme)\n";
    world.dot_file(".zshrc", theme)?;
    let mut client = world.client()?;
    client.call("session_create", json!({ "command": "zsh" }))?;
    for (line, output, exit) in [("echo a", "a", 0), ("printf b", "b", 0), ("false", "", 1), ("echo $?", "1", 0)] {
        let answer = client.run(line)?;
        same!((answer.output(), answer.exit()), (output, Some(exit)), "{}", answer.text);
    }
    Ok(())
}

fn one_in_the_other() -> Tested {
    let world = World::new()?;
    world.dot_file(".zshrc", "PS1='z%# '\n")?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    let zsh = client.run("zsh")?;
    holds!(!zsh.is_error, "{}", zsh.text);
    let answer = client.run("echo $ZSH_NAME; (exit 4)")?;
    same!((answer.output(), answer.exit()), ("zsh", Some(4)), "{}", answer.text);
    let bash = client.run("bash --norc")?;
    holds!(!bash.is_error, "{}", bash.text);
    let answer = client.run("echo ${BASH_VERSION:+bash}; (exit 5)")?;
    same!((answer.output(), answer.exit()), ("bash", Some(5)), "{}", answer.text);
    client.run("exit 6")?;
    same!(client.run("echo $?")?.output(), "6", "in zsh again");
    client.run("exit 7")?;
    same!(client.run("echo $?")?.output(), "7", "in bash again");
    Ok(())
}

/// A session whose program is fish.
fn in_fish(world: &World) -> Result<Client, String> {
    // A fish that finds none reads every manual page of the system in the background.
    let completions = world.user_home().join(".local/share/fish/generated_completions");
    std::fs::create_dir_all(completions).map_err(|error| error.to_string())?;
    let mut client = world.client()?;
    let made = client.call("session_create", json!({ "command": "fish" }))?;
    holds!(!made.is_error, "{}", made.text);
    Ok(client)
}

fn zsh_refuses_blocks() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({ "command": "zsh" }))?;
    let answer = client.run("for i in 1 2; do\n  fi\necho B")?;
    same!(answer.output(), "[#1]\nzsh: parse error near `fi'\n[#2]\nB", "{}", answer.text);
    same!(answer.exit(), Some(0), "{}", answer.text);
    Ok(())
}

/// The text is refused before its last line, all of it stays on fish's command line, and the next line stands for itself.
fn fish_refuses_blocks() -> Tested {
    let world = World::new()?;
    let mut client = in_fish(&world)?;
    let answer = client.run("for i in 1 2; do\n  echo ${i}\ndone")?;
    holds!(answer.output().contains("Variables cannot be bracketed"), "{}", answer.text);
    same!(answer.meta["unsent"].as_u64(), Some(1), "{}", answer.text);
    holds!(answer.text.contains("not typed: the shell refused what came before"), "{}", answer.text);
    same!(client.run("echo NEXT")?.output(), "NEXT", "nothing of the block stands before it");
    Ok(())
}

fn fish_blocks() -> Tested {
    let world = World::new()?;
    let mut client = in_fish(&world)?;
    let answer = client.run("for i in 1 2\n  # it's one\n\n  echo $i\nend\necho \"a\nb\"")?;
    same!(answer.meta["ran"].as_array().map_or(0, Vec::len), 2, "{}", answer.text);
    same!(answer.output(), "[#1]\n1\n2\n[#2]\na\nb", "{}", answer.text);
    let answer = client.run("# it's nothing")?;
    holds!(answer.text.contains("the shell ran nothing"), "{}", answer.text);
    let answer = client.run("begin")?;
    holds!(answer.text.starts_with("[t1 not complete: the shell wants the rest"), "{}", answer.text);
    same!(client.run("echo b; end")?.output(), "b", "the rest completes it");
    let mut person = Person::attach(&world, "t1", 120, 41)?;
    // What does not parse stays on the line, and is nobody's.
    let answer = client.run("begin\ncat <<X")?;
    holds!(answer.output().contains("Expected a string"), "{}", answer.text);
    let answer = client.run("echo c")?;
    same!(answer.output(), "c", "{}", answer.text);
    person.types("if true\r")?;
    wait_until("their command is seen to be unfinished", || {
        client.call("wait", json!({ "timeout": 0 })).is_ok_and(|answer| answer.status() == "continuation")
    })?;
    let refused = client.run("echo d")?;
    holds!(refused.is_error && refused.text.contains("begun a command"), "{}", refused.text);
    person.types("echo theirs; end\r")?;
    wait_until("their command has ended", || {
        client.call("wait", json!({ "timeout": 0 })).is_ok_and(|answer| answer.status() != "continuation")
    })?;
    same!(client.run("echo e")?.output(), "e", "the prompt is free");
    let regions = client.call("regions", json!({}))?;
    let mut regions = regions.meta["regions"].as_array().into_iter().flatten();
    let theirs = regions.any(|region| region["label"] == json!("if true\necho theirs; end"));
    holds!(theirs, "nothing of ours was typed into it");
    Ok(())
}

fn fish_session() -> Tested {
    let world = World::new()?;
    let mut client = in_fish(&world)?;
    let answer = client.run("echo hi; sh -c 'exit 3'")?;
    same!((answer.output(), answer.exit(), answer.region()), ("hi", Some(3), Some(1)), "{}", answer.text);
    same!(client.run("echo $status")?.output(), "3", "the status is left as it was");
    let history = client.run("history")?;
    holds!(!history.output().contains("dtmcp"), "history holds the person's lines only: {}", history.text);
    Ok(())
}
