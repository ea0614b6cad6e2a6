//! Inputs on which other tools of this kind were reported to fail, as far as no other suite has them. `cases/reported.tsv`
//! says for every report which test holds it.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;

use dtmcp_tests::client::{Client, World};
use serde_json::json;

use super::{Row, Tested, holds, same};

pub(crate) const ROWS: &[Row] = &[
    ("one_key_and_no_enter", &["tmux"], one_key),
    ("long_lines_at_the_prompt", &["tmux", "bash"], long_lines),
    ("a_backtick_in_a_message", &["tmux", "bash", "git"], backtick),
    ("git_log_opens_a_pager", &["tmux", "bash", "git", "less"], git_log),
    ("git_asks_for_a_user_name", &["tmux", "bash", "git"], git_credentials),
    ("a_traceback_of_a_short_life", &["tmux", "bash", "python3"], traceback),
    ("read_after_the_end", &["tmux", "cc"], read_after_the_end),
    ("what_looks_like_questions", &["tmux", "bash"], looks_like_questions),
    ("any_key_after_a_line", &["tmux", "bash"], any_key),
    ("a_hundred_short_lives", &["tmux", "bash"], short_lives),
    ("two_large_outputs", &["tmux", "bash"], two_large_outputs),
    ("five_megabytes_in_one_line", &["tmux", "bash", "base64"], one_line),
    ("a_client_that_goes_in_the_middle", &["tmux", "bash"], client_goes),
    ("ptys_do_not_grow", &["tmux", "bash", "script"], ptys),
    ("a_heredoc_in_fish", &["tmux", "fish"], fish_heredoc),
];

fn open(world: &World) -> Result<Client, String> {
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    Ok(client)
}

fn one_key() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({ "command": "cat -v" }))?;
    let pressed = client.call("send", json!({ "keys": ["j"] }))?;
    same!(pressed.output(), "j", "echoed, and not submitted: {}", pressed.text);
    let entered = client.call("send", json!({ "keys": ["enter"] }))?;
    same!(entered.output(), "j\nj", "{}", entered.text);
    Ok(())
}

fn long_lines() -> Tested {
    let world = World::new()?;
    let mut client = open(&world)?;
    for length in [20_000, 200_000] {
        let line = format!("echo {} | wc -c", "B".repeat(length));
        let counted = client.call("run", json!({ "line": line, "timeout": 80 }))?;
        same!((counted.exit(), counted.output()), (Some(0), (length + 1).to_string().as_str()), "{length}");
    }
    Ok(())
}

fn backtick() -> Tested {
    let world = World::new()?;
    let mut client = open(&world)?;
    let open = client.run("git commit -m \"fix `foo\"")?;
    same!((open.status(), &open.meta["prompt"]), ("continuation", &json!("> ")), "{}", open.text);
    holds!(open.words().contains("ctrl+c") && open.words().contains("the rest"), "{}", open.text);
    let left = client.call("send", json!({ "keys": ["ctrl+c"] }))?;
    holds!(left.meta["prompt"].is_string(), "{}", left.text);
    same!(client.run("echo on")?.output(), "on", "the next line runs");
    Ok(())
}

fn git_log() -> Tested {
    let world = World::new()?;
    let mut client = open(&world)?;
    let made = "git init -q r; cd r; git config user.name a; git config user.email a@b; \
                git config core.pager less; for i in $(seq 40); do git commit -q --allow-empty -m \"commit $i\"; done";
    same!(client.call("run", json!({ "line": made, "timeout": 80 }))?.exit(), Some(0), "commits");
    let log = client.run("git log")?;
    same!(log.status(), "screen", "{}", log.text);
    holds!(log.output().contains("commit 40") && log.words().contains('q'), "{}", log.text);
    let refused = client.run("echo hi")?;
    holds!(refused.is_error && refused.text.contains("full-screen"), "{}", refused.text);
    holds!(!refused.text.contains("commit 40"), "old text is no answer: {}", refused.text);
    let page = client.call("send", json!({ "keys": ["space"] }))?;
    holds!(page.output().contains("commit 30"), "the next page: {}", page.text);
    client.call("send", json!({ "keys": ["q"] }))?;
    same!(client.run("echo hi")?.output(), "hi", "after the pager");
    // Another one that stays on the normal screen.
    let more = client.run("git log > log; more log")?;
    same!(more.status(), "screen", "{}", more.text);
    holds!(client.run("echo hi")?.is_error, "not typed into more");
    client.call("send", json!({ "keys": ["q"] }))?;
    same!(client.run("echo hi")?.output(), "hi", "after the pager");
    Ok(())
}

/// Asks whoever comes for a name and a password, for as long as anybody comes.
fn asks_for_a_password() -> Result<u16, String> {
    let listener = TcpListener::bind("127.0.0.1:0").map_err(|error| error.to_string())?;
    let port = listener.local_addr().map_err(|error| error.to_string())?.port();
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let Ok(reads) = stream.try_clone() else { continue };
            let head = BufReader::new(reads).lines().map_while(Result::ok);
            head.take_while(|line| !line.is_empty()).for_each(drop);
            let answer = "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"git\"\r\nContent-Length: 0\r\n\
                          Connection: close\r\n\r\n";
            let mut stream = stream;
            drop(stream.write_all(answer.as_bytes()));
        }
    });
    Ok(port)
}

fn git_credentials() -> Tested {
    let world = World::new()?;
    let mut client = open(&world)?;
    let line = format!("git ls-remote http://127.0.0.1:{}/r.git", asks_for_a_password()?);
    let asked = client.call("run", json!({ "line": line, "timeout": 60 }))?;
    same!(asked.status(), "waiting", "{}", asked.text);
    let question = asked.meta["prompt"].as_str().unwrap_or_default();
    holds!(question.starts_with("Username for 'http://127.0.0.1:"), "{}", asked.text);
    let hidden = client.run("bob")?;
    same!((hidden.status(), &hidden.meta["hidden"]), ("waiting", &json!(true)), "{}", hidden.text);
    holds!(hidden.words().contains("ask the user"), "{}", hidden.text);
    client.call("send", json!({ "text": "hunter2secret\n" }))?;
    let refused = client.call("wait", json!({ "timeout": 60 }))?;
    same!((refused.status(), refused.exit()), ("finished", Some(128)), "{}", refused.text);
    Ok(())
}

fn traceback() -> Tested {
    let world = World::new()?;
    let mut client = open(&world)?;
    let failed = client.run("python3 -c 'import nosuchmodule'")?;
    same!((failed.status(), failed.exit()), ("finished", Some(1)), "{}", failed.text);
    holds!(failed.output().ends_with("No module named 'nosuchmodule'"), "{}", failed.text);
    Ok(())
}

fn read_after_the_end() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    let made = client.call("session_create", json!({ "command": "cc --version; exit 4" }))?;
    same!((made.status(), made.exit()), ("ended", Some(4)), "{}", made.text);
    let read = client.call("read", json!({}))?;
    holds!(!read.is_error && read.output().contains("Free Software Foundation"), "{}", read.text);
    let found = client.call("search", json!({ "pattern": "warranty" }))?;
    same!(found.meta["total"], json!(1), "{}", found.text);
    holds!(!client.call("regions", json!({}))?.is_error, "regions");
    let waited = client.call("wait", json!({}))?;
    same!((waited.status(), waited.exit()), ("ended", Some(4)), "{}", waited.text);
    Ok(())
}

fn looks_like_questions() -> Tested {
    let world = World::new()?;
    let mut client = open(&world)?;
    let collects = client.run("printf 'collecting ... '; sleep 2; echo end")?;
    same!((collects.status(), collects.output()), ("finished", "collecting ... end"), "{}", collects.text);
    let failed = client.run("rmdir /nonempty && echo DONE")?;
    same!((failed.status(), failed.exit()), ("finished", Some(1)), "{}", failed.text);
    let boxes = client.run("for i in $(seq 300); do echo '- [ ] item [y/n] (yes/no)    '; done")?;
    same!((boxes.status(), &boxes.meta["lines"]), ("finished", &json!(300)), "{}", boxes.text);
    let silent = client.call("run", json!({ "line": "sleep 30 > log", "timeout": 2 }))?;
    same!(silent.status(), "running", "{}", silent.text);
    Ok(())
}

fn any_key() -> Tested {
    let world = World::new()?;
    let mut client = open(&world)?;
    let asked = client.run("echo 'Press any key'; read -n1 -s -r k; echo \"<$k>\"")?;
    same!(asked.status(), "waiting", "{}", asked.text);
    holds!(asked.output().ends_with("Press any key"), "{}", asked.text);
    let pressed = client.call("send", json!({ "text": "x" }))?;
    holds!(pressed.output().contains("<x>"), "{}", pressed.text);
    Ok(())
}

fn short_lives() -> Tested {
    let world = World::new()?;
    let mut client = open(&world)?;
    for at in 0..100 {
        let died = client.run(&format!("sh -c 'echo err-{at} >&2; exit 3'"))?;
        same!((died.exit(), died.output()), (Some(3), format!("err-{at}").as_str()), "{}", died.text);
    }
    Ok(())
}

fn two_large_outputs() -> Tested {
    let world = World::new()?;
    let mut client = open(&world)?;
    for (name, id) in [("a", 1), ("b", 2)] {
        let large = client.run(&format!("seq -f '{name}%g' 20000"))?;
        same!((large.region(), &large.meta["clipped"]), (Some(id), &json!(true)), "{}", large.text);
        let (first, last) = (format!("{name}1\n"), format!("\n{name}20000"));
        holds!(large.output().starts_with(&first) && large.output().ends_with(&last), "{}", large.text);
        let other = if name == "a" { "\nb" } else { "\na" };
        holds!(!large.output().contains(other), "{}", large.text);
        holds!(large.text.contains(&format!("region={id}")), "where the rest is to be had: {}", large.text);
    }
    Ok(())
}

fn one_line() -> Tested {
    let world = World::new()?;
    let mut client = open(&world)?;
    let long = client.call("run", json!({ "line": "base64 -w0 /dev/zero | head -c 5000000; echo", "timeout": 80 }))?;
    same!((long.status(), &long.meta["lines"]), ("finished", &json!(1)), "{}", long.words());
    holds!(long.text.len() < 10_000 && long.meta["clipped"] == json!(true), "{}", long.text.len());
    Ok(())
}

fn client_goes() -> Tested {
    let world = World::new()?;
    let mut client = open(&world)?;
    client.begin("run", json!({ "line": "echo ran >> f; sleep 2; echo r" }))?;
    dtmcp_tests::person::wait_until("the command runs", || world.user_home().join("f").exists())?;
    client.leave()?;
    let mut client = world.client()?;
    let waited = client.call("wait", json!({ "timeout": 60 }))?;
    same!((waited.status(), waited.exit(), waited.output()), ("finished", Some(0), "r"), "{}", waited.text);
    same!(std::fs::read_to_string(world.user_home().join("f")).unwrap_or_default(), "ran\n", "typed once");
    Ok(())
}

fn ptys() -> Tested {
    let world = World::new()?;
    let mut client = open(&world)?;
    let holds_files = |client: &Client| -> Result<(usize, usize), String> {
        let tmux = world.tmux(&["display", "-p", "#{pid}"])?;
        let count = |pid: &str| std::fs::read_dir(format!("/proc/{}/fd", pid.trim())).map_or(0, Iterator::count);
        Ok((count(&tmux), count(&client.pid().to_string())))
    };
    client.run("script -qc id /dev/null")?;
    let before = holds_files(&client)?;
    let all =
        client.call("run", json!({ "line": "for i in {1..50}; do script -qc id /dev/null; done", "timeout": 80 }))?;
    same!((all.exit(), &all.meta["lines"]), (Some(0), &json!(50)), "{}", all.text);
    let after = holds_files(&client)?;
    holds!(after.0 <= before.0 + 2 && after.1 <= before.1 + 4, "{before:?} {after:?}");
    Ok(())
}

fn fish_heredoc() -> Tested {
    let world = World::new()?;
    let completions = world.user_home().join(".local/share/fish/generated_completions");
    std::fs::create_dir_all(completions).map_err(|error| error.to_string())?;
    let mut client = world.client()?;
    client.call("session_create", json!({ "command": "fish" }))?;
    let refused = client.run("cat <<EOF")?;
    holds!(!refused.is_error && refused.text.contains("fish"), "its own words: {}", refused.text);
    client.call("send", json!({ "keys": ["ctrl+c"] }))?;
    same!(client.run("echo on")?.output(), "on", "the next line runs");
    Ok(())
}
