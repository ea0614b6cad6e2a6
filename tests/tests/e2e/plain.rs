//! Behind a plain ssh, where nobody sees who waits: blocks of lines, prompts of all kinds, what a person has begun there.

use dtmcp_tests::client::{Client, World};
use dtmcp_tests::person::{Person, wait_until};
use dtmcp_tests::sshd::Sshd;
use dtmcp_tests::users::Users;
use serde_json::json;

use super::places::news;
use super::{Row, Tested, holds, same};

const NEEDS: &[&str] =
    &["tmux", "bash", "ssh", "sshd", "ssh-keygen", "root", "unshare", "mount", "zsh", "fish", "dash", "setsid"];

pub(crate) const ROWS: &[Row] = &[
    ("blocks_of_lines", NEEDS, blocks),
    ("any_prompt_of_a_line_editor", NEEDS, editors_prompts),
    ("prompts_without_a_line_editor", NEEDS, bare_prompts),
    ("what_a_person_has_begun", NEEDS, persons_lines),
    ("lines_for_what_is_gone", NEEDS, gone),
];

/// Users of each shell, with the file that sets their prompt.
const USERS: [(&str, &str, &str); 4] = [
    ("ann", "bash", ".bash_profile"),
    ("zoe", "zsh", ".zshrc"),
    ("fin", "fish", ".config/fish/config.fish"),
    ("das", "dash", ".profile"),
];

struct Plain {
    world: World,
    users: Users,
    sshd: Sshd,
}

impl Plain {
    fn new() -> Result<Self, String> {
        let users = Users::new(&USERS.map(|(name, shell, _)| (name, shell)))?;
        users.dot_file("ann", ".bash_profile", "PS1='ann $ '\n")?;
        users.dot_file("zoe", ".zshrc", "PS1='zoe %# '\n")?;
        users.dot_file("fin", ".config/fish/config.fish", "set -g fish_greeting\n")?;
        users.dot_file("das", ".profile", "PS1='das $ '\n")?;
        let sshd = Sshd::start_with(Some(&users), "PrintLastLog no\n")?;
        Ok(Self { world: World::new()?, users, sshd })
    }

    /// A session at the far prompt of a user, and what the login told.
    fn login(&self, client: &mut Client, user: &str) -> Result<(String, String), String> {
        let created = client.call("session_create", json!({}))?;
        let answer = client.run(&format!("ssh {} {user}@there", self.sshd.options()))?;
        same!(news(&answer).len(), 1, "{user}: {}", answer.text);
        let session = created.meta["session"].as_str().unwrap_or_default().to_owned();
        Ok((session, answer.status().to_owned()))
    }

    /// Sets a user's prompt for logins to come.
    fn prompts(&self, user: &str, line: &str) -> Result<(), String> {
        let file = USERS.iter().find(|(name, ..)| *name == user).map_or(".profile", |(_, _, file)| file);
        self.users.dot_file(user, file, &format!("{line}\n"))
    }
}

/// Each line of a block is given once the one before is taken, also where the editor takes all for one text and shows no
/// prompt in between, as fish does.
fn blocks() -> Tested {
    let plain = Plain::new()?;
    let mut client = plain.world.client()?;
    for (user, block, open, rest) in [
        ("fin", "for x in 1 2\necho $x\nend", "echo 'first", "second'"),
        ("zoe", "for x in 1 2; do\necho $x\ndone", "echo 'first", "second'"),
        ("ann", "cat <<E\n1\n2\nE", "echo 'first", "second'"),
        ("das", "for x in 1 2\ndo echo $x\ndone", "echo 'first", "second'"),
    ] {
        let (session, status) = plain.login(&mut client, user)?;
        same!(status, "prompt", "{user}");
        let answer = client.run(block)?;
        same!((answer.status(), &answer.meta["unsent"]), ("prompt", &json!(0)), "{user}: {}", answer.text);
        holds!(answer.output().trim_end().ends_with("1\n2"), "{user}: {}", answer.text);
        same!(client.run("echo one")?.output(), "one", "{user}: a region of its own");
        same!(client.run(open)?.status(), "continuation", "{user}");
        same!(client.run(rest)?.output(), "first\nsecond", "{user}");
        same!(client.run(open)?.status(), "continuation", "{user}");
        let given_up = client.call("send", json!({ "keys": ["ctrl+c"] }))?;
        holds!(!given_up.is_error, "{}", given_up.text);
        wait_until("the prompt is back", || {
            let waited = client.call("wait", json!({ "timeout": 1 }));
            waited.is_ok_and(|answer| answer.status() == "prompt")
        })?;
        same!(client.run("echo two")?.output(), "two", "{user}");
        client.call("session_close", json!({ "session": session }))?;
    }
    Ok(())
}

/// Whatever a prompt looks like, an editor that reads shows it, and the right one is none of it.
fn editors_prompts() -> Tested {
    let plain = Plain::new()?;
    let mut client = plain.world.client()?;
    for (user, line, prompt) in [
        ("ann", "PS1='deep %'", "deep %"),
        ("ann", "PS1='❯ '", "❯ "),
        ("ann", "PS1='ann here '", "ann here "),
        ("ann", r"PS1='\u \w\n└─╼ '", "└─╼ "),
        ("zoe", "PS1='zoe%# ' RPS1='%T right'", "zoe% "),
        ("zoe", "export LANG=C.UTF-8; PS1='❯ ' RPS1='%F{red}main%f ✗'", "❯ "),
        // Without UTF-8 zsh leaves the cursor before its prompt.
        ("zoe", "unset LC_ALL LC_CTYPE; export LANG=C; PS1='❯ ' RPS1='main ✗'", "❯"),
        ("fin", "set -g fish_greeting; function fish_prompt; echo -n 'fin here '; end", "fin here "),
        ("fin", "set -g fish_greeting; function fish_right_prompt; date +%T; end", "fin@"),
    ] {
        plain.prompts(user, line)?;
        let (session, status) = plain.login(&mut client, user)?;
        same!(status, "prompt", "{line}");
        for said in ["one", "two"] {
            let answer = client.run(&format!("echo {said}"))?;
            same!(answer.status(), "prompt", "{line}: {}", answer.text);
            // The first of two lines of a prompt stands in the output: nothing tells it from that.
            holds!(answer.output().lines().next() == Some(said), "{line}: {}", answer.text);
            let shown = answer.meta["prompt"].as_str().unwrap_or_default();
            holds!(shown.starts_with(prompt), "{line}: {}", answer.text);
        }
        client.call("session_close", json!({ "session": session }))?;
    }
    Ok(())
}

/// Where no editor tells, silence ends the first line; whatever took one and shows the same again is at its prompt.
fn bare_prompts() -> Tested {
    let plain = Plain::new()?;
    let mut client = plain.world.client()?;
    for prompt in ["❯ ", "build 7 » ", "[t] "] {
        plain.prompts("das", &format!("PS1='{prompt}'"))?;
        let (session, status) = plain.login(&mut client, "das")?;
        same!(status, "quiet", "{prompt}");
        for said in ["one", "two"] {
            let answer = client.run(&format!("echo {said}"))?;
            let shown = answer.meta["prompt"].as_str();
            same!((answer.status(), answer.output(), shown), ("prompt", said, Some(prompt)), "{}", answer.text);
        }
        client.call("session_close", json!({ "session": session }))?;
    }
    Ok(())
}

/// A person's text behind a far prompt, or behind an open quote, is not gone on with.
fn persons_lines() -> Tested {
    let plain = Plain::new()?;
    let mut client = plain.world.client()?;
    for (user, rest) in [("ann", "> "), ("zoe", "quote> "), ("fin", "'open")] {
        let (session, _) = plain.login(&mut client, user)?;
        same!(client.run("echo mine")?.output(), "mine", "{user}");
        let mut person = Person::attach(&plain.world, &session, 120, 41)?;
        person.types("touch half")?;
        logged(&mut client, "touch half")?;
        let refused = client.run("echo agent")?;
        holds!(refused.is_error && refused.text.contains("has \"touch half\" on the line"), "{user}: {}", refused.text);
        person.types("\x03")?;
        wait_until("the line is free", || client.run("echo free").is_ok_and(|it| it.output() == "free"))?;
        person.types("echo 'open\r")?;
        logged(&mut client, rest)?;
        for (tool, arguments) in [("run", json!({ "line": "echo agent" })), ("send", json!({ "text": "agent\n" }))] {
            let refused = client.call(tool, arguments)?;
            holds!(refused.is_error && refused.text.contains("wants the rest of"), "{user} {tool}: {}", refused.text);
        }
        person.types("abc")?;
        logged(&mut client, "abc")?;
        let refused = client.run("echo agent")?;
        holds!(refused.is_error && refused.text.contains("\"abc\" on the line"), "{user}: {}", refused.text);
        person.types("\x03")?;
        wait_until("the line is free", || client.run("echo free").is_ok_and(|it| it.output() == "free"))?;
        drop(person);
        // One that somebody is attached to is not closed.
        wait_until("the session is closed", || {
            client.call("session_close", json!({ "session": session })).is_ok_and(|answer| !answer.is_error)
        })?;
    }
    Ok(())
}

/// Waits until the server has a text in its last lines: what a person sees it may not have read yet.
fn logged(client: &mut Client, text: &str) -> Tested {
    wait_until("it is in the log", || {
        let read = client.call("read", json!({ "last_lines": 2, "numbers": false }));
        read.is_ok_and(|answer| answer.output().contains(text.trim_end()))
    })
}

/// What lines were meant for has died on one of them: the others go to nothing else. What a line leaves by its own words,
/// or what a script asks, is no such case.
fn gone() -> Tested {
    let plain = Plain::new()?;
    let mut client = plain.world.client()?;
    for user in ["ann", "das"] {
        let (session, _) = plain.login(&mut client, user)?;
        let answer = client.run("cd /tmp\nkill -9 $PPID\necho danger")?;
        same!((&answer.meta["unsent"], answer.text.contains("is gone")), (&json!(1), true), "{user}: {}", answer.text);
        same!(client.run("echo home")?.output(), "home", "{user}");
        client.call("session_close", json!({ "session": session }))?;
    }
    client.call("session_create", json!({}))?;
    for (opens, dies) in
        [("dash", "kill -9 $$"), ("dash", "set -e\nfalse"), ("bash", "kill -9 $$"), ("bash", "exec false")]
    {
        client.run(opens)?;
        let answer = client.run(&format!("cd /tmp\n{dies}\necho danger"))?;
        same!((&answer.meta["unsent"], answer.text.contains("is gone")), (&json!(1), true), "{dies}: {}", answer.text);
        same!(client.run("echo home")?.output(), "home", "{dies}");
    }
    for (line, last) in [
        ("dash\ncd /tmp\nexit 3\necho meant", "meant"),
        ("bash\ncd /tmp\nexit\necho meant", "meant"),
        ("sh -c 'printf \"> \"; read x; echo $x'\nanswer\necho meant", "meant"),
        ("dash -c 'read x; exit $x'\n5\necho meant", "meant"),
    ] {
        let answer = client.run(line)?;
        same!((&answer.meta["unsent"], answer.output().ends_with(last)), (&json!(0), true), "{line}: {}", answer.text);
    }
    Ok(())
}
