//! Questions in the ways in which programs ask them, answered by the rules of `expect`.

use dtmcp_tests::client::{Answer, Client, World};
use dtmcp_tests::sshd::Sshd;
use serde_json::{Value, json};

use super::{Row, Tested, holds, same};

pub(crate) const ROWS: &[Row] = &[
    ("in_colours_and_in_pieces", &["tmux", "bash", "python3"], pieces),
    ("two_in_one_burst", &["tmux", "bash"], burst),
    ("the_same_once_more", &["tmux", "bash"], once_more),
    ("what_was_printed_before", &["tmux", "bash"], before),
    ("asked_long_before_it_is_read", &["tmux", "bash", "python3"], read_late),
    ("told_by_send", &["tmux", "bash", "python3"], told_by_send),
    ("of_ssh", &["tmux", "bash", "ssh", "sshd", "ssh-keygen"], ssh),
];

fn open(world: &World) -> Result<Client, String> {
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    Ok(client)
}

fn expect(client: &mut Client, line: &str, rules: &Value) -> Result<Answer, String> {
    client.call("expect", json!({ "line": line, "rules": rules, "timeout": 60 }))
}

fn script(world: &World, name: &str, text: &str) -> Tested {
    std::fs::write(world.user_home().join(name), text).map_err(|error| error.to_string())
}

fn pieces() -> Tested {
    let world = World::new()?;
    let mut client = open(&world)?;
    let coloured = r"printf 'Reading...\n\033[1;33mDo you want to \033[32mcontinue\033[0m [Y/n] '; read a; echo got=$a";
    let rules = json!([{ "pattern": "want to continue \\[Y/n\\] $", "line": "y" }]);
    let done = expect(&mut client, coloured, &rules)?;
    holds!(done.status() == "finished" && done.output().ends_with("got=y"), "{}", done.text);
    script(
        &world,
        "ask.py",
        "import sys, time\nfor part in ('Are yo', 'u su', 're? '):\n    sys.stdout.write(part); sys.stdout.flush(); \
         time.sleep(.3)\nprint('A', sys.stdin.readline().strip())\n",
    )?;
    let rules = json!([{ "pattern": "^Are you sure\\? $", "line": "y" }]);
    let done = expect(&mut client, "python3 ask.py", &rules)?;
    same!((done.status(), done.output()), ("finished", "Are you sure? y\nA y"), "{}", done.text);
    Ok(())
}

fn burst() -> Tested {
    let world = World::new()?;
    let mut client = open(&world)?;
    // Both stand there before anything is read, and the second is read without having been asked again.
    script(&world, "ask", "printf 'Name? \\nand Age? '; read a; read b; echo \"$a $b\"\n")?;
    let rules = json!([{ "pattern": "Name\\?", "line": "bo" }, { "pattern": "Age\\?", "line": "5" }]);
    let asked = expect(&mut client, "bash ask", &rules)?;
    holds!(asked.status() == "unanswered", "what is new is asked, and nothing is: {}", asked.text);
    same!(client.run("6")?.output(), "bo 6", "{}", asked.text);
    // Text in the same burst as the question.
    script(&world, "ask", "printf 'text\\nName? '; read a; printf 'text\\nAge? '; read b; echo \"$a $b\"\n")?;
    let done = expect(&mut client, "bash ask", &rules)?;
    holds!(done.status() == "finished" && done.output().ends_with("bo 5"), "{}", done.text);
    Ok(())
}

fn once_more() -> Tested {
    let world = World::new()?;
    let mut client = open(&world)?;
    let asks = "for i in 1 2 3; do read -p 'Code: ' c; [ $c = 42 ] && exit 5; echo wrong; done; exit 9\n";
    script(&world, "ask", asks)?;
    let rules = json!([{ "pattern": "Code", "line": "1", "times": 1 }]);
    let asked = expect(&mut client, "bash ask", &rules)?;
    same!((asked.status(), &asked.meta["prompt"]), ("unanswered", &json!("Code: ")), "{}", asked.text);
    holds!(asked.words().contains("answered once") && asked.output().contains("wrong"), "{}", asked.text);
    // What stands above the question was printed before this call.
    let rules = json!([{ "pattern": "wrong", "line": "no" }, { "pattern": "Code", "line": "42" }]);
    let done = client.call("expect", json!({ "rules": rules, "timeout": 60 }))?;
    same!((done.status(), done.exit()), ("finished", Some(5)), "{}", done.text);
    Ok(())
}

fn before() -> Tested {
    let world = World::new()?;
    let mut client = open(&world)?;
    client.run("echo 'Overwrite? [y/N]'")?;
    let rules = json!([{ "pattern": "Overwrite", "line": "no" }]);
    let asked = expect(&mut client, "read -p 'Go? ' x; echo \"got $x\"", &rules)?;
    same!((asked.status(), &asked.meta["prompt"]), ("unanswered", &json!("Go? ")), "{}", asked.text);
    same!(client.run("z")?.output(), "got z", "nothing was typed there");
    Ok(())
}

fn read_late() -> Tested {
    let world = World::new()?;
    let mut client = open(&world)?;
    let text = "import sys, time\nprint('Overwrite? [y/N] ', end='', flush=True)\ntime.sleep(1.5)\n\
                print('<' + sys.stdin.readline().strip() + '>')\nprint('Overwritten')\n";
    script(&world, "ask.py", text)?;
    let rules = json!([{ "pattern": "Overwrit", "line": "y" }]);
    let done = expect(&mut client, "python3 ask.py", &rules)?;
    // What matches once the program has gone on is no question any more.
    holds!(done.status() == "finished" && done.output().ends_with("<y>\nOverwritten"), "{}", done.text);
    holds!(done.words().contains("answered: #2 by rule 0"), "{}", done.text);
    Ok(())
}

/// A key that has to be trusted, a passphrase that is not shown, and the prompt of the far shell.
fn ssh() -> Tested {
    let far = Sshd::start()?;
    let world = World::new()?;
    let mut client = open(&world)?;
    let key = far.config.with_file_name("user");
    let made = client.run(&format!("cp {} key; ssh-keygen -q -p -P '' -N hunter2secret -f key", key.display()))?;
    same!(made.exit(), Some(0), "{}", made.text);
    let config = std::fs::read_to_string(&far.config).map_err(|error| error.to_string())?;
    let told = |line: &&str| !["Known", "Identity", "StrictHost"].iter().any(|word| line.contains(word));
    let asking = config.lines().filter(told).collect::<Vec<_>>().join("\n");
    std::fs::write(world.user_home().join("config"), asking + "\n").map_err(|error| error.to_string())?;
    let line = "ssh -tt -F config -o UserKnownHostsFile=$HOME/known -i $HOME/key there 'PS1=\"far$ \" exec sh -i'";
    let rules = json!([
        { "pattern": "continue connecting \\(yes/no", "line": "yes" },
        { "pattern": "Enter passphrase for key", "line": "hunter2secret", "secret": true },
    ]);
    let done = expect(&mut client, line, &rules)?;
    same!((done.status(), &done.meta["prompt"]), ("prompt", &json!("far$ ")), "{}", done.text);
    holds!(done.words().contains("by rule 0") && done.words().contains("by rule 1"), "{}", done.text);
    holds!(!done.text.contains("hunter2"), "{}", done.text);
    same!(client.run("echo $((6*7))")?.output(), "42", "the far shell");
    same!(client.run("exit 3")?.exit(), Some(3), "the far shell's status");
    Ok(())
}

fn told_by_send() -> Tested {
    let world = World::new()?;
    let mut client = open(&world)?;
    script(
        &world,
        "ask.py",
        "import getpass\ninput('Name? '); input('Sure? '); print(len(getpass.getpass('Pin: ')))\n",
    )?;
    client.run("python3 ask.py")?;
    let sent = client.call("send", json!({ "text": "Ada\n", "settle": 1 }))?;
    same!((sent.status(), &sent.meta["prompt"]), ("sent", &json!("Sure? ")), "{}", sent.text);
    holds!(sent.text.contains("waiting for input at \"Sure? \""), "{}", sent.text);
    let hidden = client.call("send", json!({ "keys": ["y", "enter"], "settle": 1 }))?;
    same!((&hidden.meta["prompt"], &hidden.meta["hidden"]), (&json!("Pin: "), &json!(true)), "{}", hidden.text);
    holds!(hidden.words().contains("ask the user to type it"), "{}", hidden.text);
    let refused = expect(&mut client, "echo hi", &json!([]))?;
    holds!(refused.is_error && refused.text.contains("asks \"Pin: \""), "{}", refused.text);
    let done = client.call("send", json!({ "text": "4711\n" }))?;
    same!((done.exit(), done.meta.get("hidden")), (Some(0), None), "{}", done.text);
    Ok(())
}
