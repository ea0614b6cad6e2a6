//! `shell_integrate`: at plain shells on other hosts, of other users and kinds, and where it must type nothing.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::process::Stdio;

use dtmcp_tests::binary;
use dtmcp_tests::client::{Answer, Client, World};
use dtmcp_tests::person::{Person, wait_until};
use dtmcp_tests::sshd::Sshd;
use dtmcp_tests::users::Users;
use serde_json::{Value, json};

use super::{Row, Tested, holds, same};

/// What a host with users of its own takes.
const FAR: &[&str] = &["tmux", "bash", "ssh", "sshd", "ssh-keygen", "root", "unshare", "mount"];

pub(crate) const ROWS: &[Row] = &[
    ("over_ssh", FAR, over_ssh),
    (
        "shells_there",
        &["tmux", "bash", "zsh", "fish", "dash", "tcsh", "ssh", "sshd", "ssh-keygen", "root", "unshare", "mount"],
        shells_there,
    ),
    ("a_user_there", &["tmux", "bash", "sudo", "ssh", "sshd", "ssh-keygen", "root", "unshare", "mount"], user_there),
    ("a_second_hop", FAR, second_hop),
    ("the_sessions_program", FAR, sessions_program),
    ("an_unusual_prompt", FAR, unusual_prompt),
    ("an_old_bash", &["tmux", "bash", "env"], old_bash),
    ("another_user_here", &["tmux", "bash", "su", "root"], user_here),
    ("sudo_here", &["tmux", "bash", "sudo", "root"], sudo_here),
    ("in_a_sandbox", &["tmux", "bash", "bwrap"], in_a_sandbox),
    ("a_fish_that_reads_its_manuals", &["tmux", "bash", "fish", "python3"], manuals),
    ("what_a_person_typed", &["tmux", "bash", "setsid"], typed_text),
    ("programs_are_left_alone", &["tmux", "bash", "python3", "less"], programs),
];

/// A host reached by ssh, where `ann` and `bob` have bash, and the session's own.
struct Far {
    world: World,
    users: Users,
    sshd: Sshd,
}

impl Far {
    fn new() -> Result<Self, String> {
        let users = Users::new(&[("ann", "bash"), ("bob", "bash")])?;
        for user in ["ann", "bob"] {
            users.dot_file(user, ".bash_profile", "PS1='\\u@far:\\w\\$ '\n")?;
        }
        let sshd = Sshd::start_with(Some(&users), "")?;
        Ok(Self { world: World::new()?, users, sshd })
    }

    /// The line that logs in as somebody to a plain shell, the login shell if none is given.
    fn login(&self, user: &str, shell: &str) -> String {
        let command = if shell.is_empty() { String::new() } else { format!(" \"cd; {shell}\"") };
        format!("ssh {} -t {user}@there{command}", self.sshd.options())
    }

    /// `dtmcp install`, as the person runs it.
    fn install(&self, user: &str) -> Tested {
        let mut command = self.world.command(binary::dtmcp()?);
        command.args(["install", "-F"]).arg(&self.sshd.config).arg(format!("{user}@there"));
        let output = command.stdin(Stdio::null()).output().map_err(|error| error.to_string())?;
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        holds!(output.status.success() && said.contains("installed"), "{said} {errors}");
        Ok(())
    }
}

/// A bash that reads no startup file and shows a usual prompt.
const BARE: &str = "env PS1='me@far:~$ ' bash --norc --noprofile";

fn begin(world: &World) -> Result<Client, String> {
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    Ok(client)
}

fn integrate(client: &mut Client) -> Result<Answer, String> {
    client.call("shell_integrate", json!({}))
}

/// It goes well, and the reply says nothing that only the shell is to know.
fn integrated(client: &mut Client, world: &World) -> Result<Answer, String> {
    let answer = integrate(client)?;
    holds!(!answer.is_error && answer.text.contains("is integrated: run tells"), "{}", answer.text);
    let nonce = fs::read_to_string(world.state().join("sessions/t1/nonce")).map_err(|error| error.to_string())?;
    holds!(!answer.text.contains(nonce.trim()), "{}", answer.text);
    Ok(answer)
}

/// It does not, for a reason that holds these words, and what is on the screen is left as it was.
fn untouched(client: &mut Client, reasons: &[&str]) -> Tested {
    let before = client.call("read", json!({ "view": "screen" }))?.output().to_owned();
    let answer = integrate(client)?;
    let told = reasons.iter().all(|reason| answer.text.contains(reason));
    holds!(answer.is_error && answer.text.contains("nothing was typed") && told, "{reasons:?}: {}", answer.text);
    same!(client.call("read", json!({ "view": "screen" }))?.output(), before, "{}", answer.text);
    Ok(())
}

/// Each command has its status now, and leaving gives the outer shell back.
fn exact(client: &mut Client) -> Tested {
    let answer = client.run("sh -c 'exit 7'")?;
    same!((answer.status(), answer.exit()), ("finished", Some(7)), "{}", answer.text);
    let answer = client.run("echo out")?;
    same!((answer.output(), answer.exit()), ("out", Some(0)), "{}", answer.text);
    let answer = client.run("exit 3")?;
    holds!(!answer.is_error, "{}", answer.text);
    let answer = client.run("echo $?")?;
    same!(answer.output(), "3", "{}", answer.text);
    Ok(())
}

fn over_ssh() -> Tested {
    let far = Far::new()?;
    let mut client = begin(&far.world)?;
    let answer = client.run(&far.login("ann", ""))?;
    same!(answer.status(), "prompt", "{} {}", answer.text, far.sshd.log());
    holds!(answer.words().contains("shell_integrate session=\"t1\""), "{}", answer.text);
    let answer = client.run("false")?;
    holds!(answer.exit().is_none() && !answer.words().contains("shell_integrate"), "{}", answer.text);
    // A file of another server's making, or of nobody's.
    let remembered = far.world.state().join("integration-missing.json");
    fs::write(&remembered, "{ torn").map_err(|error| error.to_string())?;
    let answer = integrate(&mut client)?;
    let told = answer.text.contains("`dtmcp install ann@there`") && answer.text.contains("integration.bash");
    holds!(answer.is_error && told, "{}", answer.text);
    untouched(&mut client, &["dtmcp install ann@there"])?;
    // Other sessions know it too, and so does the next server.
    client.leave()?;
    let mut client = far.world.client_named("second")?;
    client.call("session_create", json!({ "name": "t2" }))?;
    client.call("run", json!({ "session": "t2", "line": far.login("ann", "") }))?;
    let answer = client.call("shell_integrate", json!({ "session": "t2" }))?;
    holds!(answer.is_error && answer.text.contains("nothing was typed"), "{}", answer.text);
    client.call("session_close", json!({ "session": "t2" }))?;
    far.install("ann")?;
    let answer = integrated(&mut client, &far.world)?;
    holds!(answer.text.contains("bash 5") && answer.text.contains("for ann on "), "{}", answer.text);
    same!(fs::read_to_string(&remembered).unwrap_or_default(), "{\"v\":1,\"missing\":[]}", "forgotten");
    let answer = integrate(&mut client)?;
    holds!(!answer.is_error && answer.text.contains("integrated already; nothing was typed"), "{}", answer.text);
    let lines = client.call("read", json!({}))?;
    same!(lines.text.matches("export __DTMCP_NONCE=<nonce>").count(), 2, "typed before and after: {}", lines.text);
    exact(&mut client)
}

fn shells_there() -> Tested {
    let far = Far::new()?;
    far.install("ann")?;
    let mut client = begin(&far.world)?;
    let posix = format!("{BARE} --posix");
    let strict = format!("{BARE} -u -o noclobber");
    for shell in [BARE, &posix, &strict, "env PS1='me@far ~ %# ' zsh -f", "fish"] {
        let answer = client.run(&far.login("ann", shell))?;
        holds!(answer.status() == "prompt", "{shell}: {}", answer.text);
        integrated(&mut client, &far.world).map_err(|error| format!("{shell}: {error}"))?;
        exact(&mut client).map_err(|error| format!("{shell}: {error}"))?;
    }
    // The first command that fails would end it; ours do not.
    client.run(&far.login("ann", &format!("{BARE} -e")))?;
    integrated(&mut client, &far.world)?;
    same!(client.run("true")?.exit(), Some(0), "it goes on");
    client.run("exit")?;
    for (shell, reason) in
        [("env PS1='me@far:~$ ' dash", "the shell here is dash"), ("tcsh -f", "did not answer the question")]
    {
        client.call("run", json!({ "line": far.login("ann", shell), "timeout": 5 }))?;
        let answer = integrate(&mut client)?;
        holds!(answer.is_error && answer.text.contains(reason), "{shell}: {}", answer.text);
        let answer = client.run("exit")?;
        holds!(answer.words().contains("the session is back on"), "{shell}: {}", answer.text);
    }
    Ok(())
}

/// The files are one user's: another one's shell there lacks them, which says nothing of the first one's.
fn user_there() -> Tested {
    let far = Far::new()?;
    // That host is this one, whose own files are for nobody else.
    reach(&far.world, 0o700)?;
    far.install("ann")?;
    let mut client = begin(&far.world)?;
    client.run(&far.login("ann", ""))?;
    let answer = client.run("sudo -i -u bob")?;
    holds!(answer.output().is_empty() || answer.status() == "prompt", "{}", answer.text);
    let answer = integrate(&mut client)?;
    holds!(answer.is_error && answer.text.contains("`dtmcp install bob@there`"), "{}", answer.text);
    client.run("exit")?;
    integrated(&mut client, &far.world)?;
    // From an integrated shell, too.
    client.run("sudo -i -u bob")?;
    let answer = integrate(&mut client)?;
    holds!(answer.is_error && answer.text.contains("`dtmcp install bob@"), "{}", answer.text);
    far.install("bob")?;
    let answer = integrated(&mut client, &far.world)?;
    holds!(answer.text.contains("for bob on "), "{}", answer.text);
    exact(&mut client)?;
    same!(client.run("false")?.exit(), Some(1), "ann's shell has its own");
    holds!(far.users.home("bob").join(".local/share/docent-terminal-mcp").is_dir(), "the files stay");
    Ok(())
}

fn second_hop() -> Tested {
    let far = Far::new()?;
    far.install("ann")?;
    let mut client = begin(&far.world)?;
    client.run(&format!("ssh {} -t there \"{BARE}\"", far.sshd.options()))?;
    let answer = client.run(&far.login("ann", ""))?;
    same!(answer.meta["prompt"], json!("ann@far:~$ "), "{}", answer.text);
    integrated(&mut client, &far.world)?;
    exact(&mut client)?;
    let answer = client.run("exit")?;
    holds!(answer.words().contains("the session is back on"), "{}", answer.text);
    Ok(())
}

fn sessions_program() -> Tested {
    let far = Far::new()?;
    far.install("ann")?;
    let mut client = far.world.client()?;
    let answer = client.call("session_create", json!({ "command": far.login("ann", "") }))?;
    holds!(answer.words().contains("shell_integrate session=\"t1\"") || !answer.is_error, "{}", answer.text);
    integrated(&mut client, &far.world)?;
    same!(client.run("false")?.exit(), Some(1), "a status");
    let answer = client.run("exit 4")?;
    same!(answer.status(), "ended", "{}", answer.text);
    Ok(())
}

fn unusual_prompt() -> Tested {
    let far = Far::new()?;
    far.install("ann")?;
    far.users.dot_file("ann", ".bash_profile", "echo Welcome to far; PS1='❯ '\n")?;
    let mut client = begin(&far.world)?;
    client.call("run", json!({ "line": far.login("ann", ""), "until": "❯" }))?;
    integrated(&mut client, &far.world)?;
    exact(&mut client)
}

fn old_bash() -> Tested {
    let world = World::new()?;
    let mut client = begin(&world)?;
    client.run("env -i PATH=\"$PATH\" PS1='me@old:~$ ' bash --norc --noprofile")?;
    client.run("BASH_VERSION='4.3.48(1)-release'")?;
    let answer = integrate(&mut client)?;
    holds!(
        answer.is_error && answer.text.contains("4.3.48") && answer.text.contains("4.4 or newer"),
        "{}",
        answer.text
    );
    same!(client.run("echo still plain")?.exit(), None, "it was left as it was");
    client.run("BASH_VERSION=5.2")?;
    integrated(&mut client, &world)?;
    exact(&mut client)
}

/// Opens the way to the server's own files, or closes it.
fn reach(world: &World, mode: u32) -> Tested {
    fs::set_permissions(world.root(), Permissions::from_mode(mode)).map_err(|error| error.to_string())
}

/// On the server's own host its own files serve, where the user may read them.
fn user_here() -> Tested {
    let world = World::new()?;
    reach(&world, 0o711)?;
    let mut client = begin(&world)?;
    let user = "su - nobody -s /bin/bash";
    let answer = client.run(user)?;
    same!(answer.status(), "prompt", "{}", answer.text);
    client.run("cd /; PS1='nobody@here:/$ '")?;
    integrated(&mut client, &world)?;
    let answer = client.run("id -un")?;
    same!((answer.output(), answer.exit()), ("nobody", Some(0)), "{}", answer.text);
    holds!(answer.words().contains(" · as nobody]"), "{}", answer.text);
    exact(&mut client)?;
    reach(&world, 0o700)?;
    client.run(user)?;
    client.run("cd /; PS1='nobody@here:/$ '")?;
    let answer = integrate(&mut client)?;
    holds!(answer.is_error && answer.text.contains("`dtmcp install nobody@"), "{}", answer.text);
    Ok(())
}

/// `sudo` may run a shell on a terminal inside the session's.
fn sudo_here() -> Tested {
    let world = World::new()?;
    let mut client = begin(&world)?;
    let answer = client.run("sudo env -i PATH=\"$PATH\" HOME=/ PS1='root@here:/# ' bash --norc --noprofile")?;
    same!(answer.status(), "prompt", "{}", answer.text);
    integrated(&mut client, &world)?;
    exact(&mut client)
}

fn in_a_sandbox() -> Tested {
    let world = World::new()?;
    let mut client = begin(&world)?;
    let sandbox = "bwrap --bind / / --dev /dev --proc /proc --unshare-pid --unshare-uts --hostname box7 --";
    let answer = client.run(&format!("{sandbox} env -i PATH=\"$PATH\" PS1='me@box7:/$ ' bash --norc --noprofile"))?;
    same!(answer.status(), "prompt", "{}", answer.text);
    integrated(&mut client, &world)?;
    let answer = client.run("true")?;
    holds!(answer.words().contains(" · on box7]"), "{}", answer.text);
    exact(&mut client)
}

/// With an empty home fish starts a program beside its first prompt, in its own process group.
fn manuals() -> Tested {
    let world = World::new()?;
    let mut client = begin(&world)?;
    let answer = client.run("env -i HOME=\"$HOME\" PATH=\"$PATH\" TERM=xterm fish")?;
    same!(answer.status(), "prompt", "{}", answer.text);
    integrated(&mut client, &world)?;
    exact(&mut client)
}

/// A plain shell on this host.
fn plain_here(world: &World) -> Result<Client, String> {
    let mut client = begin(world)?;
    let answer = client.run("env -i PATH=\"$PATH\" PS1='me@here:~$ ' bash --norc --noprofile")?;
    same!(answer.status(), "prompt", "{}", answer.text);
    Ok(client)
}

fn typed_text() -> Tested {
    let world = World::new()?;
    let mut client = plain_here(&world)?;
    let mut person = Person::attach(&world, "t1", 120, 41)?;
    person.types("rm -rf keep")?;
    person.sees("rm -rf keep")?;
    untouched(&mut client, &["rm -rf keep", "not submitted"])?;
    person.types("\x15")?;
    wait_until("the line is free", || integrate(&mut client).is_ok_and(|answer| !answer.is_error))?;
    exact(&mut client)?;
    // Nor is an agent's own.
    client.run("env -i PATH=\"$PATH\" PS1='me@here:~$ ' bash --norc --noprofile")?;
    client.call("send", json!({ "text": "echo half" }))?;
    untouched(&mut client, &["echo half", "not submitted"])
}

fn programs() -> Tested {
    let world = World::new()?;
    let mut client = begin(&world)?;
    let already = integrate(&mut client)?;
    holds!(!already.is_error && already.text.contains("already"), "{}", already.text);
    client.run("python3 -q")?;
    untouched(&mut client, &["python3", "no shell"])?;
    client.run("exit()")?;
    client.call("run", json!({ "line": "sleep 300", "timeout": 1 }))?;
    untouched(&mut client, &["sleep 300", "still running"])?;
    client.call("send", json!({ "keys": ["ctrl+c"] }))?;
    client.run("read -p 'Name? ' name")?;
    untouched(&mut client, &["still running"])?;
    client.run("me")?;
    client.run("read -s -p 'Password: ' secret")?;
    untouched(&mut client, &["not shown"])?;
    client.call("send", json!({ "text": "secret\n" }))?;
    client.run("PAGER= less -+F /etc/passwd")?;
    untouched(&mut client, &["nothing was typed"])?;
    same!(client.call("send", json!({ "keys": ["q"] }))?.meta.get("hidden"), None::<&Value>, "");
    Ok(())
}
