//! `dtmcp ssh` to real logins: the login shell that somebody has over there, what is left behind, what goes wrong.

use std::path::PathBuf;

use dtmcp_tests::client::{Client, World};
use dtmcp_tests::person::wait_until;
use dtmcp_tests::sshd::Sshd;
use dtmcp_tests::users::Users;
use serde_json::json;

use super::{Row, Tested, holds, same};

pub(crate) const ROWS: &[Row] = &[
    ("login_shell_zsh", &["tmux", "ssh", "sshd", "ssh-keygen", "root", "unshare", "mount", "zsh"], login_zsh),
    ("login_shell_fish", &["tmux", "ssh", "sshd", "ssh-keygen", "root", "unshare", "mount", "fish"], login_fish),
];

/// A session, and a server where `ann` has this login shell.
struct Far {
    world: World,
    users: Users,
    sshd: Sshd,
}

impl Far {
    fn new(shell: &str) -> Result<Self, String> {
        let users = Users::new(&[("ann", shell)])?;
        let sshd = Sshd::start_with(Some(&users), "")?;
        Ok(Self { world: World::new()?, users, sshd })
    }

    fn begin(&self) -> Result<Client, String> {
        let mut client = self.world.client()?;
        client.call("session_create", json!({}))?;
        Ok(client)
    }

    /// What `dtmcp ssh` has put on the far disk.
    fn left(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(self.sshd.tmp()).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).filter(|path| path.to_string_lossy().contains("/dtmcp.")).collect()
    }
}

fn login_zsh() -> Tested {
    let far = Far::new("zsh")?;
    far.users.dot_file("ann", ".zshenv", "export ZDOTDIR=$HOME/z\n")?;
    far.users.dot_file("ann", "z/.zshrc", "PS1='%n %# ' HISTFILE=$ZDOTDIR/history SAVEHIST=9\n")?;
    let mut client = far.begin()?;
    let answer = client.run(&format!("dtmcp ssh {} ann@there", far.sshd.options()))?;
    holds!(answer.status() == "prompt" && answer.words().ends_with(" as ann"), "{}", answer.text);
    let answer = client.run("echo $ZSH_NAME ${ZDOTDIR##*/} ${HISTFILE##*/z/} ${SHELL##*/}; (exit 3)")?;
    same!((answer.output(), answer.exit()), ("zsh z history zsh", Some(3)), "{}", answer.text);
    let answer = client.run("false | true")?;
    same!(answer.meta["pipestatus"], json!([1, 0]), "{}", answer.text);
    // A shell that is started there has it too.
    client.run("zsh")?;
    same!(client.run("(exit 5)")?.exit(), Some(5), "a zsh in the zsh");
    client.run("exit")?;
    client.run("bash --norc")?;
    same!(client.run("(exit 6)")?.exit(), Some(6), "a bash in the zsh");
    client.run("exit")?;
    holds!(!far.left().is_empty(), "what a shell inside needs is there as long as zsh runs");
    client.run("exit 4")?;
    same!(client.run("echo $?")?.output(), "4", "the status of ssh is that of the shell");
    same!(far.left(), Vec::<PathBuf>::new(), "what stays behind");
    Ok(())
}

fn login_fish() -> Tested {
    let far = Far::new("fish")?;
    far.users.dot_file("ann", ".config/fish/config.fish", "set -g fish_greeting; set -gx MINE yes\n")?;
    let mut client = far.begin()?;
    let answer = client.run(&format!("dtmcp ssh {} ann@there", far.sshd.options()))?;
    holds!(answer.status() == "prompt" && answer.words().ends_with(" as ann"), "{}", answer.text);
    let answer = client.run("echo $MINE; sh -c 'exit 3'")?;
    same!((answer.output(), answer.exit()), ("yes", Some(3)), "{}", answer.text);
    let answer = client.run("sh -c 'exit 1' | true")?;
    same!(answer.meta["pipestatus"], json!([1, 0]), "{}", answer.text);
    holds!(!far.left().is_empty(), "what a shell inside needs is there as long as fish runs");
    far.sshd.cut()?;
    wait_until("nothing is left behind", || far.left().is_empty())
}
