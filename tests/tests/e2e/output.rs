//! Output as a person saw it: progress bars, wide characters, full screens, long and hostile streams.

use dtmcp_tests::client::{Client, World};
use serde_json::json;

use super::{Row, Tested, holds, same};

pub(crate) const ROWS: &[Row] = &[
    ("raw_has_a_range_of_lines", &["tmux", "bash"], raw_range),
    ("save_to_has_every_line_that_ran", &["tmux", "bash"], save_all),
    ("progress_bar", &["tmux", "bash"], progress_bar),
    ("equal_lines", &["tmux", "bash"], equal_lines),
    ("no_final_newline", &["tmux", "bash"], no_final_newline),
    ("split_utf8", &["tmux", "bash", "python3"], split_utf8),
    ("wide_characters_at_the_margin", &["tmux", "bash"], wide_characters),
    ("exact_width_and_longer", &["tmux", "bash"], exact_width),
    ("alternate_screen_burst", &["tmux", "bash", "python3"], alternate_screen_burst),
    ("long_output_keeps_its_errors", &["tmux", "bash"], long_output),
    ("summary_lines", &["tmux", "bash"], summary_lines),
    ("one_endless_line", &["tmux", "bash"], endless_line),
    ("late_output_of_a_background_job", &["tmux", "bash"], late_output),
    ("background_noise", &["tmux", "bash"], background_noise),
    ("invalid_bytes", &["tmux", "bash"], invalid_bytes),
    ("resize_under_a_pager", &["tmux", "bash", "less"], resize_under_a_pager),
    ("huge_heredoc", &["tmux", "bash"], huge_heredoc),
];

fn progress_bar() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    let answer =
        client.run(r"for i in $(seq 0 100); do printf '\rDownloading %3d%%' $i; sleep .002; done; echo; echo ok")?;
    same!(answer.output(), "Downloading 100%\nok", "{}", answer.text);
    let many = client.run(r"for i in $(seq 40000); do printf '\r%d%%' $i; done; echo")?;
    same!(many.output(), "40000%", "{}", many.text);
    Ok(())
}

fn equal_lines() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    let answer = client.run(r#"for i in 1 2 3 4 5 6 7 8 9 10; do echo "Hello, world!"; done"#)?;
    same!(answer.output(), ["Hello, world!"; 10].join("\n"), "{}", answer.text);
    Ok(())
}

fn no_final_newline() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    same!(client.run("printf abc")?.output(), "abc", "the prompt is no output");
    same!(client.run("echo next")?.output(), "next", "and the next is in step");
    same!(client.run("printf 'a\\n\\n\\nb\\n'")?.output(), "a\n\n\nb", "empty lines stay");
    Ok(())
}

fn split_utf8() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    let program = "import sys, time\nfor b in b'\\xe2\\x82\\xac\\n':\n    sys.stdout.buffer.write(bytes([b])); sys.stdout.flush(); time.sleep(.2)\n";
    std::fs::write(world.user_home().join("euro.py"), program).map_err(|error| error.to_string())?;
    same!(client.run("python3 euro.py")?.output(), "€", "one character, however it comes");
    Ok(())
}

fn wide_characters() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({ "cols": 81, "rows": 24 }))?;
    let answer = client.run("for i in {1..200}; do printf '世界'; done; echo")?;
    let logical = "世界".repeat(200);
    let seen = client.call("search", json!({ "pattern": format!("^{logical}$"), "region": answer.region() }))?;
    same!(seen.meta["total"], json!(1), "one logical line, whole: {}", answer.text);
    Ok(())
}

fn exact_width() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({ "cols": 80, "rows": 24 }))?;
    for width in [79, 80, 81, 160, 161] {
        let answer = client.run(&format!("printf '%0{width}d\\n' 7; echo after"))?;
        same!(answer.output(), format!("{:0width$}\nafter", 7), "{width}: {}", answer.text);
    }
    let typed = "x".repeat(300);
    let answer = client.run(&format!("echo {typed}"))?;
    same!(answer.output(), typed, "{}", answer.text);
    let regions = client.call("regions", json!({ "last": 1 }))?;
    same!(regions.meta["regions"][0]["label"], json!(format!("echo {typed}")), "{}", regions.text);
    Ok(())
}

fn alternate_screen_burst() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    std::fs::write(
        world.user_home().join("burst.py"),
        "import sys\nw=sys.stdout.write\nw('\\x1b[?1049h')\nfor n in range(500):\n    w('\\x1b[H')\n    for r in range(39): w('frame %d row %d\\x1b[K\\r\\n' % (n, r))\nw('\\x1b[?1049l')\nfor n in range(1, 1001): print('after', n)\n",
    )
    .map_err(|error| error.to_string())?;
    let answer = client.run("python3 burst.py")?;
    same!((answer.status(), answer.exit()), ("finished", Some(0)), "{}", answer.text);
    let after = client.call("search", json!({ "pattern": "^after [0-9]+$", "context": 0 }))?;
    same!(after.meta["total"], json!(1000), "{}", after.text);
    let frames = client.call("search", json!({ "pattern": "^frame ", "context": 0 }))?;
    same!(frames.meta["total"], json!(0), "{}", frames.text);
    let held = client.call("search", json!({ "pattern": r"^\[full-screen program\]$", "context": 0 }))?;
    same!(held.meta["total"], json!(1), "{}", held.text);
    same!(client.run("echo later")?.output(), "later", "later commands are logged");
    Ok(())
}

fn long_output() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    let answer = client.call(
        "run",
        json!({ "line": r#"seq -f 'line %.0f' 49999; echo "error: E42"; seq -f 'line %.0f' 50001 100000; echo "FAILED (1)""#, "timeout": 60 }),
    )?;
    same!(answer.meta["lines"], json!(100_001), "{}", answer.text);
    holds!(answer.output().starts_with("> error: E42\nline 1\n"), "{}", answer.text);
    holds!(answer.output().ends_with("FAILED (1)") && answer.text.len() < 9_000, "{}", answer.text);
    holds!(answer.output().contains("lines left out: read session="), "{}", answer.text);
    let found = client.call("search", json!({ "pattern": "^error: E42" }))?;
    same!(found.meta["total"], json!(1), "{}", found.text);
    same!(found.meta["hits"][0]["region"], json!(1), "{}", found.text);
    Ok(())
}

/// What a tool's failures look like in a reply: in `run` with one line and with several, in `wait`, and turned off.
fn summary_lines() -> Tested {
    let world = World::new()?;
    let log = concat!(env!("CARGO_MANIFEST_DIR"), "/cases/summary/pytest.log");
    std::fs::copy(log, world.user_home().join("pytest.log")).map_err(|error| error.to_string())?;
    let failed = "> FAILED test_calc.py::test_subtract - AssertionError: order matters\n";
    let line = "seq 500; cat pytest.log; seq 500";
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    let answer = client.run(line)?;
    holds!(answer.output().starts_with(failed), "{}", answer.text);
    holds!(answer.output().contains("\n> ====") && answer.output().lines().count() <= 80, "{}", answer.text);
    let again = client.call("wait", json!({}))?;
    holds!(again.output().starts_with(failed), "{}", again.text);
    let several = client.run(&format!("echo one\n{line}"))?;
    holds!(several.output().contains(&format!("[#3]\n{failed}")), "{}", several.text);
    let asked = client.call("run", json!({ "line": line, "last_lines": 5 }))?;
    same!(asked.output(), "496\n497\n498\n499\n500", "{}", asked.text);
    drop(client);
    let mut command = world.command(dtmcp_tests::binary::dtmcp()?);
    command.env("DOCENT_TERMINAL_MCP_SUMMARY", "0");
    let mut client = Client::start(command)?;
    client.initialize("tester")?;
    let answer = client.run(line)?;
    holds!(answer.output().starts_with("1\n2\n") && !answer.output().contains("> "), "{}", answer.text);
    Ok(())
}

fn endless_line() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    let answer = client.run("head -c 3000000 /dev/zero | tr '\\0' x; echo")?;
    same!((answer.status(), answer.exit(), &answer.meta["lines"]), ("finished", Some(0), &json!(1)), "{}", answer.text);
    holds!(answer.text.len() < 2_000, "{}", answer.text.len());
    Ok(())
}

fn late_output() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    let now = client.run("(sleep 0.5; echo LATE) & echo now")?;
    holds!(now.output().contains("now") && !now.output().contains("LATE"), "{}", now.text);
    let second = client.run("sleep 1; echo second")?;
    holds!(second.output().ends_with("second"), "{}", second.text);
    let late = client.call("search", json!({ "pattern": "^LATE$" }))?;
    same!(late.meta["total"], json!(1), "{}", late.text);
    Ok(())
}

fn background_noise() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    client.run("(for i in $(seq 100); do echo bg$i; sleep .01; done) &")?;
    for (line, exit) in [("echo fg1", 0), ("false", 1), ("echo fg2", 0)] {
        let answer = client.run(line)?;
        same!((answer.status(), answer.exit()), ("finished", Some(exit)), "{}", answer.text);
        holds!(!answer.text.contains("133;") && !answer.text.contains("\\x1b"), "{}", answer.text);
    }
    client.run("wait")?;
    let found = client.call("search", json!({ "pattern": "bg[0-9]+", "context": 0 }))?;
    holds!(found.meta["total"].as_i64().is_some_and(|total| total >= 95), "{}", found.text);
    Ok(())
}

fn invalid_bytes() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    let answer = client.run(r"printf '\xff\xfe\n'")?;
    same!(answer.output(), "\u{fffd}\u{fffd}", "{}", answer.text);
    let random = client.run("head -c 3000 /dev/urandom | tr -d '\\033\\220\\235\\016\\017'; echo; echo end")?;
    same!((random.status(), random.exit()), ("finished", Some(0)), "{}", random.text);
    same!(client.run("echo OK")?.output(), "OK", "the session goes on");
    Ok(())
}

fn resize_under_a_pager() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    client.run("seq 100 > n; seq 100")?;
    let pager = client.run("less n")?;
    same!(pager.status(), "screen", "{}", pager.text);
    client.call("session_resize", json!({ "cols": 59, "rows": 15 }))?;
    // less forgets a key that comes while it takes in a new size.
    dtmcp_tests::person::wait_until("less has ended", || {
        client.call("send", json!({ "keys": ["q"] })).is_ok_and(|sent| sent.text.contains(" at the prompt "))
    })?;
    client.call("send", json!({ "keys": ["ctrl+u"] }))?;
    let page = client.call("read", json!({ "region": 1, "numbers": false }))?;
    let want: Vec<String> = (1..=100).map(|n| n.to_string()).collect();
    same!(page.output(), want.join("\n"), "{}", page.text);
    same!(client.run("echo after")?.output(), "after", "later regions are unaffected");
    Ok(())
}

fn huge_heredoc() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    let long = "B".repeat(20_000);
    let answer = client.call("run", json!({ "line": format!("echo {long} | wc -c") }))?;
    same!(answer.output(), "20001", "{}", answer.text);
    let answer =
        client.call("run", json!({ "line": format!("echo {} | wc -c", "B".repeat(200_000)), "timeout": 60 }))?;
    same!(answer.output(), "200001", "{}", answer.words());
    let lines: Vec<String> = (0..200).map(|n| format!("{n} {}", "y".repeat(200))).collect();
    let text = format!("cat > heredoc <<'END'\n{}\nEND", lines.join("\n"));
    let answer = client.call("run", json!({ "line": text, "timeout": 60 }))?;
    same!(answer.status(), "finished", "{}", answer.text);
    let written = std::fs::read_to_string(world.user_home().join("heredoc")).map_err(|error| error.to_string())?;
    same!(written.lines().count(), 200, "the whole heredoc arrived");
    Ok(())
}

fn raw_range() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    client.call("session_create", json!({}))?;
    let seq = client.run("seq 3000")?;
    client.run("printf '\\033[31mred\\033[0m\\n'")?;
    let first = seq.meta["first_line"].as_u64().unwrap_or_default();
    let mut raw = |mut asked: serde_json::Value| {
        asked["view"] = "raw".into();
        client.call("read", asked)
    };
    let middle = raw(json!({ "from": first + 99, "to": first + 101 }))?;
    same!(middle.output(), "100\\x0d\\n\n101\\x0d\\n\n102\\x0d\\n", "{}", middle.text);
    let inside = raw(json!({ "region": 1, "to": first + 1 }))?;
    same!(inside.output(), "1\\x0d\\n\n2\\x0d\\n", "{}", inside.text);
    let long = raw(json!({ "from": first }))?;
    holds!(long.output().starts_with("1\\x0d\\n") && long.text.contains("the beginning"), "{}", long.text);
    let red = raw(json!({ "from": first + 3001, "to": first + 3001 }))?;
    holds!(red.output().contains("\\x1b[31mred"), "{}", red.text);
    let beyond = raw(json!({ "from": 1_000_000 }))?;
    same!(beyond.output(), "", "{}", beyond.text);
    Ok(())
}

fn save_all() -> Tested {
    let world = World::new()?;
    let mut client = world.client()?;
    let made = client.call("session_create", json!({}))?;
    let saved = client.call("run", json!({ "line": "echo a\necho b\necho c", "save_to": "all.txt" }))?;
    holds!(saved.words().contains("saved 3 lines of #1, #2, #3 to"), "{}", saved.text);
    let dir = made.meta["log_dir"].as_str().unwrap_or_default();
    let text = std::fs::read_to_string(format!("{dir}/saved/all.txt")).map_err(|error| error.to_string())?;
    same!(text, "a\nb\nc\n", "in order");
    Ok(())
}
