//! `dtmcp ssh` to real logins: the login shell that somebody has over there, what is left behind, what goes wrong.

use std::path::PathBuf;

use dtmcp_tests::client::{Client, World};
use dtmcp_tests::person::wait_until;
use dtmcp_tests::sshd::Sshd;
use dtmcp_tests::users::Users;
use serde_json::json;

use super::places::news;
use super::{Row, Tested, holds, same};

/// What a server with users of the test's own needs.
const NEEDS: &[&str] = &["tmux", "bash", "ssh", "sshd", "ssh-keygen", "root", "unshare", "mount", "zsh", "fish"];

pub(crate) const ROWS: &[Row] = &[
    ("login_shell_zsh", NEEDS, login_zsh),
    ("login_shell_fish", NEEDS, login_fish),
    ("startup_files", NEEDS, startup_files),
    ("a_hop_behind_a_hop", NEEDS, hops),
    ("ways_there", NEEDS, ways_there),
    ("configurations", NEEDS, configurations),
    ("what_ssh_refuses", NEEDS, refused),
    ("no_shell_wanted", NEEDS, no_shell),
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

/// What a far side prints before its prompt is the output of the way there, and whatever startup files do, each command
/// is told exactly.
fn startup_files() -> Tested {
    let users = Users::new(&[("ann", "bash")])?;
    let banner = users.home("banner.txt");
    std::fs::write(&banner, "Authorised people only\n").map_err(|error| error.to_string())?;
    let sshd = Sshd::start_with(Some(&users), &format!("Banner {}\nPrintLastLog yes\n", banner.display()))?;
    let far = Far { world: World::new()?, users, sshd };
    let mut client = far.begin()?;
    let way = format!("dtmcp ssh {} -o LogLevel=INFO ann@there", far.sshd.options());
    for (profile, rc, said) in [
        ("cat ~/motd; . ~/.bashrc\n", "echo hello from bashrc\n", "hello from bashrc"),
        ("[ -t 0 ] || return\ncat ~/motd; PROMPT_COMMAND='true'; PS1='> '\n", "", "A message"),
        ("cat ~/motd\nset -u; trap 'true' DEBUG\n", "", "A message"),
        ("cat ~/motd\nexec zsh\n", "", "A message"),
        ("cat ~/motd\nexec fish\n", "", "A message"),
        (
            "cat ~/motd\ncd /; umask 022; alias rm='echo rm' cd='echo cd'; PATH=/usr/bin:/bin; export PATH\n",
            "",
            "A message",
        ),
    ] {
        far.users.dot_file("ann", "motd", "A message of the day\n\nline 3\n")?;
        far.users.dot_file("ann", ".bash_profile", profile)?;
        far.users.dot_file("ann", ".bashrc", rc)?;
        far.users.dot_file("ann", ".zshrc", "PS1='%# '\n")?;
        let answer = client.run(&way)?;
        same!(answer.status(), "prompt", "{profile}: {}", answer.text);
        let shown = ["Authorised people only", said].iter().all(|text| answer.output().contains(text));
        holds!(shown, "{profile}: {}", answer.text);
        let answer = client.run("sh -c 'echo one; exit 3'")?;
        same!((answer.output(), answer.exit()), ("one", Some(3)), "{profile}: {}", answer.text);
        client.run("exit")?;
        wait_until("nothing is left behind", || far.left().is_empty())?;
        same!(client.run("echo here")?.exit(), Some(0), "back after {profile}");
    }
    Ok(())
}

/// From a far shell further on: the place is told at each arrival, once, on the way in and out.
fn hops() -> Tested {
    let users = Users::new(&[("ann", "zsh"), ("bob", "fish"), ("cas", "bash")])?;
    users.dot_file("ann", ".zshrc", "PS1='%# '\n")?;
    let sshd = Sshd::start_with(Some(&users), "")?;
    let far = Far { world: World::new()?, users, sshd };
    let options = far.sshd.options();
    let mut client = far.begin()?;
    // Where the users may come; what cargo has built may be below a home that is closed to them.
    let dtmcp = far.users.home("dtmcp");
    std::fs::copy(dtmcp_tests::binary::dtmcp()?, &dtmcp).map_err(|error| error.to_string())?;
    let dtmcp = dtmcp.display();
    for (user, status) in [("ann", 3), ("bob", 4), ("cas", 5)] {
        let answer = client.run(&format!("{dtmcp} ssh {options} {user}@there"))?;
        same!(answer.status(), "prompt", "{user}: {}", answer.text);
        same!(news(&answer).len(), 1, "{}", answer.text);
        holds!(answer.words().ends_with(&format!(" as {user}")), "{}", answer.text);
        let answer = client.run(&format!("sh -c 'id -un; exit {status}'"))?;
        same!((answer.output(), answer.exit()), (user, Some(status)), "{}", answer.text);
        holds!(answer.words().contains(&format!(" · on {user}@there]")) && news(&answer).is_empty(), "{}", answer.text);
    }
    for there in [" as bob", " as ann", "back on"] {
        let told = news(&client.run("exit")?);
        holds!(told.len() == 1 && told[0].contains(there), "{there}: {told:?}");
    }
    same!(client.run("id -un")?.output(), "root", "home again");
    wait_until("nothing is left behind", || far.left().is_empty())
}

/// The same place by another way: through a jump, over a connection that stands, as another user there.
fn ways_there() -> Tested {
    let far = Far::new("bash")?;
    let options = far.sshd.options();
    far.users.dot_file("ann", ".bash_profile", "PS1='far $ '\n")?;
    let mut client = far.begin()?;
    let socket = far.world.root().join("mux").display().to_string();
    let master = client.run(&format!("ssh {options} -M -N -f -S {socket} ann@there"))?;
    same!((master.exit(), news(&master).len()), (Some(0), 0), "{}", master.text);
    for way in [
        format!("ssh {options} -J there ann@there"),
        format!("ssh {options} -S {socket} ann@there"),
        format!("ssh {options} -o User=ann there"),
        format!("ssh {options} -t there su - ann"),
    ] {
        let answer = client.run(&way)?;
        same!((answer.status(), news(&answer).len()), ("prompt", 1), "{way}: {}", answer.text);
        holds!(answer.words().contains("the session is now on there"), "{way}: {}", answer.text);
        same!(client.run("id -un")?.output(), "ann", "{way}");
        let answer = client.run("exit")?;
        holds!(answer.words().contains("the session is back on"), "{way}: {}", answer.text);
    }
    for way in [
        format!("ssh {options} -J there ann@there"),
        format!("ssh {options} -S {socket} ann@there"),
        format!("into ssh {options} ann@there"),
        format!("into ssh {options} ann@there zsh"),
    ] {
        let answer = client.run(&format!("dtmcp {way}"))?;
        same!((answer.status(), answer.output()), ("prompt", ""), "{way}: {}", answer.text);
        let answer = client.run("(exit 3)")?;
        same!(answer.exit(), Some(3), "{way}: {}", answer.text);
        holds!(answer.words().contains(" · on ann@there]"), "{way}: {}", answer.text);
        client.run("exit")?;
    }
    let answer = client.run(&format!("ssh {options} -S {socket} -O exit ann@there"))?;
    same!(answer.exit(), Some(0), "{}", answer.text);
    Ok(())
}

/// Whatever ssh's configuration has for a host, `dtmcp ssh` opens an integrated shell there.
fn configurations() -> Tested {
    let far = Far::new("bash")?;
    let socket = far.world.root().join("mux").display().to_string();
    let own = format!(
        "Host command\n  RemoteCommand echo told; exec sh\nHost mute\n  RequestTTY no\nHost forced\n  RequestTTY force\n\
         Host shared\n  ControlMaster auto\n  ControlPath {socket}\n  ControlPersist 60\n\
         Host jump\n  ProxyJump there\nMatch host 127.0.0.1 exec \"true\"\n  User ann\nHost command mute forced shared jump there\n"
    );
    let usual = std::fs::read_to_string(&far.sshd.config).map_err(|error| error.to_string())?;
    let config = far.world.root().join("config");
    std::fs::write(&config, own + &usual.replacen("Host there\n", "", 1)).map_err(|error| error.to_string())?;
    let options = format!("-F {}", config.display());
    let mut client = far.begin()?;
    // The second one goes over the connection of the first.
    for host in ["command", "mute", "forced", "shared", "shared", "jump"] {
        let answer = client.run(&format!("dtmcp ssh {options} ann@{host}"))?;
        same!((answer.status(), answer.output()), ("prompt", ""), "{host}: {}", answer.text);
        let answer = client.run("id -un; (exit 3)")?;
        same!((answer.output(), answer.exit()), ("ann", Some(3)), "{host}: {}", answer.text);
        same!(answer.meta["place"]["host"], host, "{}", answer.text);
        client.run("exit")?;
        let answer = client.run("id -un")?;
        same!(answer.output(), "root", "back from {host}: {}", answer.text);
    }
    let answer = client.run(&format!("ssh {options} -O exit ann@shared"))?;
    same!(answer.exit(), Some(0), "{}", answer.text);
    // As it is where the command is asked for in the line.
    let answer = client.run(&format!("dtmcp ssh {options} -t -o RemoteCommand='id -un' ann@there"))?;
    same!((answer.output(), answer.exit()), ("ann", Some(0)), "{}", answer.text);
    Ok(())
}

/// Where ssh does not come there, the reply has its own words and its status, and nobody is said to be elsewhere.
fn refused() -> Tested {
    let far = Far::new("bash")?;
    let options = far.sshd.options();
    let mut client = far.begin()?;
    let free = std::net::TcpListener::bind("127.0.0.1:0").and_then(|it| it.local_addr()).map_err(|e| e.to_string())?;
    let other_key = far.world.root().join("other");
    let made = client.run(&format!("ssh-keygen -q -t ed25519 -N '' -f {}", other_key.display()))?;
    same!(made.exit(), Some(0), "{}", made.text);
    let known = far.world.root().join("known").display().to_string();
    let wrote = format!(
        "ssh {options} -o UserKnownHostsFile={known} there true; sed -i \"s|AAAA.*|$(cut -d' ' -f2 {}.pub)|\" {known}",
        other_key.display()
    );
    same!(client.run(&wrote)?.exit(), Some(0), "a host key of another host is known");
    let unknown = "-o BatchMode=yes -o IdentitiesOnly=yes -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null";
    for (way, said) in [
        ("nobody@no..such.host".to_owned(), "Could not resolve hostname"),
        (format!("-p {} ann@127.0.0.1", free.port()), "Connection refused"),
        (format!("{unknown} -i {} -p {} ann@127.0.0.1", other_key.display(), far.sshd.port), "Permission denied"),
        (format!("{options} nobody-there@there"), "Permission denied"),
        (
            format!("{options} -o StrictHostKeyChecking=yes -o UserKnownHostsFile={known} ann@there"),
            "verification failed",
        ),
        (
            format!("{options} -o StrictHostKeyChecking=yes -o UserKnownHostsFile=/dev/null ann@there"),
            "verification failed",
        ),
        (format!("{options} -o NoSuchOption=1 ann@there"), "Bad configuration option"),
    ] {
        for program in ["ssh", "dtmcp ssh"] {
            let answer = client.run(&format!("{program} {way}"))?;
            same!(
                (answer.status(), answer.exit(), news(&answer).len()),
                ("finished", Some(255), 0),
                "{way}: {}",
                answer.text
            );
            holds!(answer.output().contains(said), "{way}: {}", answer.text);
        }
    }
    // A host that nobody knows is asked about, here.
    let question = format!("ssh {options} -o StrictHostKeyChecking=ask -o UserKnownHostsFile=/dev/null ann@there");
    let answer = client.run(&question)?;
    same!((answer.status(), news(&answer).len()), ("waiting", 0), "{}", answer.text);
    let answer = client.run("no")?;
    same!(answer.exit(), Some(255), "{}", answer.text);
    Ok(())
}

/// `dtmcp ssh` stands in for ssh also where no shell is wanted.
fn no_shell() -> Tested {
    let far = Far::new("fish")?;
    let options = far.sshd.options();
    let mut client = far.begin()?;
    let answer = client.run(&format!("dtmcp ssh {options} ann@there 'id -un; sh -c \"exit 3\"'"))?;
    same!((answer.output(), answer.exit()), ("ann", Some(3)), "{}", answer.text);
    let answer = client.run(&format!("echo typed | dtmcp ssh {options} -T ann@there cat"))?;
    same!((answer.output(), answer.exit()), ("typed", Some(0)), "{}", answer.text);
    let answer = client.run("dtmcp ssh -V")?;
    holds!(answer.exit() == Some(0) && answer.output().contains("OpenSSH"), "{}", answer.text);
    let answer = client.run("dtmcp ssh --print ann@there")?;
    holds!(
        answer.output().starts_with("'ssh' '-t' '-o' 'RemoteCommand=none' 'ann@there' 'exec sh -c "),
        "{}",
        answer.text
    );
    holds!(!answer.output().contains("__DTMCP_NONCE=0"), "no nonce: {}", answer.text);
    Ok(())
}
