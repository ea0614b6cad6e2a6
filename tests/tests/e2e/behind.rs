//! Behind a far shell that has the integration: what it runs is not to be seen from here, and yet takes lines; where it
//! leads is told by its command line.

use dtmcp_tests::client::{Client, World};
use dtmcp_tests::sshd::Sshd;
use dtmcp_tests::users::Users;
use serde_json::json;

use super::places::news;
use super::{Row, Tested, holds, same};

const NEEDS: &[&str] = &["tmux", "bash", "ssh", "sshd", "ssh-keygen", "root", "unshare", "mount", "sudo", "dash"];

pub(crate) const ROWS: &[Row] = &[
    ("questions_and_plain_shells", NEEDS, questions),
    ("other_users", NEEDS, other_users),
    ("a_session_that_is_there", NEEDS, own_program),
];

/// A server where `ann` and `zoe` have bash.
struct There {
    world: World,
    users: Users,
    sshd: Sshd,
}

impl There {
    fn new() -> Result<Self, String> {
        let users = Users::new(&[("ann", "bash"), ("zoe", "bash")])?;
        for (name, prompt) in [("ann", "far $ "), ("zoe", "zoe 7 $ ")] {
            users.dot_file(name, ".bash_profile", &format!("PS1='{prompt}'\n"))?;
        }
        let sshd = Sshd::start_with(Some(&users), "")?;
        Ok(Self { world: World::new()?, users, sshd })
    }

    /// A session at the far prompt.
    fn begin(&self) -> Result<Client, String> {
        let mut client = self.world.client()?;
        client.call("session_create", json!({}))?;
        let answer = client.run(&format!("dtmcp ssh {} ann@there", self.sshd.options()))?;
        same!(answer.status(), "prompt", "{} {}", answer.text, self.sshd.log());
        same!(news(&answer), ["the session is now on there as ann"], "{}", answer.text);
        Ok(client)
    }
}

fn questions() -> Tested {
    let there = There::new()?;
    let mut client = there.begin()?;
    let answer = client.run("read -p 'Go on? ' it; echo $it")?;
    same!((answer.status(), answer.meta["prompt"].as_str()), ("quiet", Some("Go on? ")), "{}", answer.text);
    holds!(answer.words().contains("looks like a question"), "{}", answer.text);
    let answer = client.run("yes")?;
    same!((answer.output(), answer.exit()), ("yes", Some(0)), "{}", answer.text);
    let answer = client.run("dash")?;
    holds!(answer.words().contains("the shell here (dash) is a plain one"), "{}", answer.text);
    same!(client.run("echo hi")?.output(), "hi", "at a known prompt");
    client.run("PS1='deep 3 ❯ '")?;
    let answer = client.run("echo two")?;
    same!((answer.status(), answer.meta["prompt"].as_str()), ("prompt", Some("deep 3 ❯ ")), "{}", answer.text);
    same!(answer.output(), "two", "a prompt that was taken for one before");
    let answer = client.run("exit 3")?;
    same!(answer.exit(), Some(3), "{}", answer.text);
    let answer = client.run("(exit 4)")?;
    same!(answer.exit(), Some(4), "the far shell tells each command: {}", answer.text);
    holds!(answer.words().contains(" · on ann@there]"), "{}", answer.text);
    Ok(())
}

fn other_users() -> Tested {
    let there = There::new()?;
    let mut client = there.begin()?;
    let answer = client.run("sudo -iu zoe")?;
    same!(answer.status(), "prompt", "{}", answer.text);
    same!(news(&answer), ["the session is now on there as zoe"], "{}", answer.text);
    let answer = client.run("id -un")?;
    same!((answer.status(), answer.output()), ("prompt", "zoe"), "{}", answer.text);
    holds!(answer.words().contains(" · on zoe@there]"), "{}", answer.text);
    let answer = client.run("exit")?;
    same!(news(&answer), ["the session is now on there as ann"], "{}", answer.text);
    // A hop further, without the integration, and back.
    let answer = client.run(&format!("ssh {} zoe@there", there.sshd.options()))?;
    same!((answer.status(), news(&answer).len()), ("prompt", 1), "{}", answer.text);
    same!(client.run("id -un")?.output(), "zoe", "as zoe");
    same!(news(&client.run("exit")?), ["the session is now on there as ann"], "back");
    // One that is not let in has never been anybody else.
    let answer = client.run("sudo -k -n -u nobody-there -i")?;
    same!((answer.status(), news(&answer).len()), ("finished", 0), "{}", answer.text);
    drop(there.users);
    Ok(())
}

/// The program of a session may be the way there.
fn own_program() -> Tested {
    let there = There::new()?;
    let mut client = there.world.client()?;
    let way = format!("dtmcp ssh {} ann@there", there.sshd.options());
    let created = client.call("session_create", json!({ "command": way }))?;
    let answer = client.run("(exit 3)")?;
    let told = [news(&created), news(&answer)].concat();
    same!((answer.exit(), told.len()), (Some(3), 1), "{told:?} {}", answer.text);
    let answer = client.run("read -p 'Go on? ' it; (exit 5)")?;
    same!((answer.status(), news(&answer).len()), ("quiet", 0), "{}", answer.text);
    let answer = client.run("yes")?;
    same!((answer.exit(), news(&answer).len()), (Some(5), 0), "{}", answer.text);
    holds!(answer.words().contains(" · on ann@there]"), "{}", answer.text);
    client.leave()?;
    // A new server sees the same.
    let mut client = there.world.client()?;
    let answer = client.run("(exit 6)")?;
    same!((answer.exit(), news(&answer).len()), (Some(6), 0), "{}", answer.text);
    holds!(answer.words().contains(" · on ann@there]"), "{}", answer.text);
    Ok(())
}
