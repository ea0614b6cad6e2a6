//! Shells of other users and shells behind something: exact where the environment comes along, plain where it does not,
//! and the command that led there closes with its own status either way.

use dtmcp_tests::client::{Client, World};
use dtmcp_tests::person::wait_until;
use dtmcp_tests::sshd::Sshd;
use dtmcp_tests::users::Users;
use serde_json::json;

use super::places::news;
use super::{Row, Tested, holds, same};

const NEEDS: &[&str] = &["tmux", "bash", "zsh", "dash", "sudo", "su", "root", "unshare", "mount"];

pub(crate) const ROWS: &[Row] = &[
    ("exact", NEEDS, exact),
    ("plain", NEEDS, plain),
    ("in_one_another", NEEDS, in_one_another),
    (
        "and_then_far",
        &["tmux", "bash", "zsh", "sudo", "su", "root", "unshare", "mount", "ssh", "sshd", "ssh-keygen"],
        far,
    ),
    ("brought_along", NEEDS, brought_along),
];

/// A session of root's where `ann` has bash and `zoe` zsh.
fn begin(world: &World, users: &Users) -> Result<Client, String> {
    users.dot_file("ann", ".bashrc", "PS1='\\u \\$ '\n")?;
    users.dot_file("zoe", ".zshrc", "PS1='%m%# '\n")?;
    let mut client = world.client_among(users)?;
    client.call("session_create", json!({}))?;
    Ok(client)
}

fn who() -> Result<Users, String> {
    Users::new(&[("ann", "bash"), ("zoe", "zsh")])
}

/// What leads to another shell, and who that is.
fn exact() -> Tested {
    let (world, users) = (World::new()?, who()?);
    let mut client = begin(&world, &users)?;
    let script = world.root().join("script");
    std::fs::write(&script, "#!/bin/sh\nbash --norc\nexit 6\n").map_err(|error| error.to_string())?;
    for (way, user, end) in [
        ("su ann", "ann", 5),
        ("sudo -E bash", "root", 5),
        ("sudo -E -s", "root", 5),
        ("sudo -E -u ann bash", "ann", 5),
        ("sudo -E -u ann sudo -E -u zoe bash --norc", "zoe", 5),
        (&format!("sh {}", script.display()), "root", 6),
        ("zsh", "root", 5),
        ("bash -c 'zsh; exit 6'", "root", 6),
        ("(exec bash)", "root", 5),
    ] {
        let answer = client.run(way)?;
        same!(answer.status(), "prompt", "{way}: {}", answer.text);
        // Once for all of them.
        same!(answer.text.contains("the integration is open there"), way == "su ann", "{way}: {}", answer.text);
        holds!(!answer.text.contains("stays open"), "{way}: {}", answer.text);
        let answer = client.run("id -un; (exit 3)")?;
        same!((answer.output(), answer.exit()), (user, Some(3)), "{way}: {}", answer.text);
        same!(answer.words().contains(&format!(" · as {user}]")), user != "root", "{way}: {}", answer.text);
        let answer = client.run("false | true")?;
        same!(answer.meta["pipestatus"], json!([1, 0]), "{way}: {}", answer.text);
        let exit = client.run("exit 5")?;
        holds!(!exit.text.contains("unknown") && exit.text.contains(&format!("exit {end} ")), "{way}: {}", exit.text);
        let answer = client.run("echo $?")?;
        same!((answer.output(), answer.exit()), (end.to_string().as_str(), Some(0)), "{way}: {}", answer.text);
    }
    Ok(())
}

fn plain() -> Tested {
    let (world, users) = (World::new()?, who()?);
    let mut client = begin(&world, &users)?;
    for (way, user) in [
        ("su - ann", "ann"),
        ("su - zoe", "zoe"),
        ("sudo -i -u ann", "ann"),
        ("sudo -i -u zoe", "zoe"),
        ("sudo -i", "root"),
        ("env -i TERM=xterm bash --norc", "root"),
        ("sh", "root"),
        ("dash", "root"),
        ("su ann -s /bin/sh", "ann"),
    ] {
        let answer = client.run(way)?;
        same!(answer.status(), "prompt", "{way}: {}", answer.text);
        let answer = client.run("id -un")?;
        same!((answer.status(), answer.output(), answer.exit()), ("prompt", user, None), "{way}: {}", answer.text);
        same!(answer.words().contains(&format!(" · as {user}]")), user != "root", "{way}: {}", answer.text);
        // What a shell there runs is there, too, and so is one that asks for another user's password.
        let running = client.run("cat")?;
        same!((running.status(), news(&running).len()), ("waiting", 0), "{way}: {}", running.text);
        client.call("send", json!({ "keys": ["ctrl+d"] }))?;
        // A script is no place, whoever runs it.
        let script = client.run("sudo /bin/sh -c 'read x'")?;
        same!((script.status(), news(&script).len()), ("waiting", 0), "{way}: {}", script.text);
        client.call("send", json!({ "keys": ["enter"] }))?;
        if way == "su - ann" {
            let asks = client.run("su zoe")?;
            same!((asks.status(), news(&asks).len()), ("waiting", 0), "{way}: {}", asks.text);
            let broken_off = client.call("send", json!({ "keys": ["ctrl+c"] }))?;
            same!(news(&broken_off).len(), 0, "{way}: {}", broken_off.text);
            client.run("true")?;
        }
        let answer = client.run("exit 5")?;
        same!(answer.exit(), Some(5), "{way}: {}", answer.text);
        let back = answer.words().contains("the session is back on");
        same!(back, user != "root", "{way}: {}", answer.text);
    }
    Ok(())
}

/// From user to user, and back: told once each way.
fn in_one_another() -> Tested {
    let (world, users) = (World::new()?, who()?);
    let mut client = begin(&world, &users)?;
    for (way, told) in [("su ann", "as ann"), ("sudo -E -u zoe bash --norc", "as zoe"), ("sudo su - ann", "as ann")] {
        let answer = client.run(way)?;
        holds!(news(&answer).len() == 1 && news(&answer)[0].ends_with(told), "{way}: {}", answer.text);
        same!(news(&client.run("true")?).len(), 0, "{way}");
    }
    for told in ["as zoe", "as ann", "as root"] {
        let told_now = [news(&client.run("exit")?), news(&client.run("true")?)].concat();
        holds!(told_now.len() == 1 && told_now[0].ends_with(told), "{told}: {told_now:?}");
    }
    Ok(())
}

/// From another user's shell to another host, and back step by step; also where what is in between is killed.
fn far() -> Tested {
    let (world, users) = (World::new()?, who()?);
    users.dot_file("zoe", ".zshrc", "PS1='%n %# '\n")?;
    users.dot_file("ann", ".bashrc", "PS1='\\u \\$ '\n")?;
    let sshd = Sshd::start_with(Some(&users), "")?;
    let mut client = world.client_among(&users)?;
    client.call("session_create", json!({}))?;
    let ssh = format!("ssh {} ann@there", sshd.options());
    for (way, told) in [("su - ann", "as ann"), ("sudo su - zoe", "as zoe"), (&ssh, "on there as ann")] {
        let answer = client.run(way)?;
        same!((answer.status(), news(&answer).len()), ("prompt", 1), "{way}: {}", answer.text);
        holds!(news(&answer)[0].ends_with(told), "{way}: {}", answer.text);
    }
    let answer = client.run("id -un")?;
    holds!(answer.output() == "ann" && answer.words().contains(" · on ann@there]"), "{}", answer.text);
    for told in ["as zoe", "as ann", "as root"] {
        let answer = client.run("exit")?;
        holds!(news(&answer).len() == 1 && news(&answer)[0].ends_with(told), "{told}: {}", answer.text);
    }
    for way in ["su - ann", "sudo su - zoe", &ssh] {
        client.run(way)?;
    }
    sshd.cut()?;
    wait_until("zoe is told", || {
        let waited = client.call("wait", json!({ "timeout": 1 }));
        waited.is_ok_and(|answer| news(&answer).iter().any(|it| it.ends_with("as zoe")))
    })?;
    for told in ["as ann", "as root"] {
        let answer = client.run("exit")?;
        holds!(news(&answer).len() == 1 && news(&answer)[0].ends_with(told), "{told}: {}", answer.text);
    }
    Ok(())
}

/// `dtmcp into` before what keeps no environment, whatever it does to the words that it is given.
fn brought_along() -> Tested {
    let (world, users) = (World::new()?, who()?);
    users.dot_file("ann", ".bashrc", "PS1='\\u \\$ '\n")?;
    users.dot_file("zoe", ".zshrc", "PS1='%m%# '\n")?;
    let mut client = world.client_among(&users)?;
    let odd = "it's \"a\"; $x `y` \\z!";
    client.call("session_create", json!({ "env": { "DOCENT_TERMINAL_MCP_SSH_ENV": "FAR", "FAR": odd } }))?;
    for (way, user) in [
        ("sudo -iu ann", "ann"),
        ("sudo -i -u zoe", "zoe"),
        ("sudo -su zoe", "zoe"),
        ("sudo -u ann", "ann"),
        ("su - ann", "ann"),
        ("su zoe", "zoe"),
        ("sudo su - ann", "ann"),
        ("runuser - ann", "ann"),
    ] {
        let answer = client.run(&format!("dtmcp into {way}"))?;
        same!((answer.status(), news(&answer).len()), ("prompt", 1), "{way}: {}", answer.text);
        let answer = client.run("id -un; echo \"$FAR\"; (exit 3)")?;
        same!((answer.output(), answer.exit()), (format!("{user}\n{odd}").as_str(), Some(3)), "{way}: {}", answer.text);
        holds!(answer.words().contains(&format!(" · as {user}]")), "{way}: {}", answer.text);
        // Without a terminal of its own a shell has no jobs.
        let answer = client.run("sleep 600 & kill %1")?;
        same!(answer.exit(), Some(0), "{way}: {}", answer.text);
        client.run("exit 5")?;
        same!(client.run("echo $?")?.output(), "5", "{way}");
    }
    // A shell at the end is the one to start, and no script to give the script to.
    for (way, shell) in [("bash", "bash"), ("sudo -u ann zsh -l", "zsh"), ("sudo -iu zoe /bin/bash", "bash")] {
        let answer = client.run(&format!("dtmcp into {way}"))?;
        same!(answer.status(), "prompt", "{way}: {}", answer.text);
        let answer = client.run("echo ${BASH_VERSION:+bash}${ZSH_VERSION:+zsh}; (exit 3)")?;
        same!((answer.output(), answer.exit()), (shell, Some(3)), "{way}: {}", answer.text);
        client.run("exit")?;
    }
    let answer = client.run("dtmcp into tmux new")?;
    holds!(answer.exit() == Some(2) && answer.output().contains("multiplexer"), "{}", answer.text);
    let answer = client.run("dtmcp into podman exec box")?;
    holds!(answer.exit() == Some(2) && answer.output().contains("give it -it"), "{}", answer.text);
    let answer = client.run("su - ann")?;
    holds!(answer.words().contains("next time `dtmcp into` before su or sudo"), "{}", answer.text);
    Ok(())
}
