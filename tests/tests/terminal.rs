//! tmux as the server sees it: typing, looking, and every way in which tmux can fail.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use dtmcp::terminal::{Only, PaneId, Part, Terminal as _, TerminalError};
use dtmcp_core::cooked::Size;
use dtmcp_core::time::Wall;
use dtmcp_tests::needs::test;
use dtmcp_tests::stage::{Stage, block_on, until};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

const SIZE: Size = Size { cols: 100, rows: 30 };

fn main() -> ExitCode {
    let args = libtest_mimic::Arguments::from_args();
    let tests = vec![
        test("typed_text_arrives_byte_for_byte", &["tmux"], || block_on(typed_text_arrives())),
        test("two_hundred_kilobytes_are_typed_whole", &["tmux"], || block_on(much_is_typed())),
        test("typing_leaves_nothing_in_tmux", &["tmux"], || block_on(typing_leaves_nothing())),
        test("a_person_scrolling_back_does_not_swallow_a_line", &["tmux"], || block_on(copy_mode())),
        test("nothing_is_typed_where_the_cursor_is_elsewhere", &["tmux"], || block_on(cursor_elsewhere())),
        test("a_dead_pane_takes_nothing_and_tmux_lives", &["tmux"], || block_on(dead_pane())),
        test("the_screen_is_what_a_person_sees", &["tmux"], || block_on(screen())),
        test("a_session_is_born_at_its_size", &["tmux"], || block_on(birth_size())),
        test("a_pinned_window_stays_and_a_freed_one_follows", &["tmux"], || block_on(pinning())),
        test("only_people_are_counted", &["tmux", "script"], || block_on(people())),
        test("a_persons_configuration_takes_nothing_away", &["tmux"], || block_on(hostile_options())),
        test("shells_do_not_get_what_a_client_set", &["tmux"], || block_on(environment())),
        test("the_server_is_not_in_our_process_group", &["tmux"], || block_on(own_group())),
        test("sessions_are_found_again", &["tmux"], || block_on(found_again())),
        test("a_stopped_tmux_is_told_and_types_nothing_later", &["tmux"], || block_on(stopped())),
        test("a_killed_tmux_is_told_and_replaced", &["tmux"], || block_on(killed())),
        test("a_tmux_that_cannot_end_is_helped", &["tmux"], || block_on(cannot_end())),
        test("a_removed_socket_is_mended", &["tmux"], || block_on(removed_socket())),
        test("a_tmux_that_cannot_serve_is_told", &["tmux"], || block_on(unusable())),
        test("a_server_that_goes_takes_nothing_along", &["tmux"], || block_on(going())),
        test("two_state_directories_share_a_tmux", &["tmux"], || block_on(neighbours())),
        test("a_client_left_behind_is_ended", &["tmux"], || block_on(left_behind())),
        test("a_moved_pane_ends_alone", &["tmux"], || block_on(moved())),
        test("a_directory_may_have_any_name", &["tmux"], || block_on(odd_directory())),
    ];
    libtest_mimic::run(&args, tests).exit_code()
}

fn text(bytes: impl Into<Vec<u8>>) -> Part {
    Part { bytes: bytes.into(), bracketed: false }
}

/// A pane that writes the next `count` bytes it is given to a file.
async fn sink(stage: &Stage, count: usize) -> Result<(PaneId, std::path::PathBuf), String> {
    let file = stage.root().join("typed");
    let script = format!("stty raw -echo; echo ready; head -c {count} > {}", file.display());
    let pane = stage.create("sink", &["sh", "-c", &script], SIZE).await?;
    stage.printed("sink", "ready").await?;
    Ok((pane, file))
}

async fn check(stage: &Stage, pane: PaneId, file: &Path, expected: &[u8]) -> Result<(), String> {
    stage.ended(pane).await?;
    let got = std::fs::read(file).map_err(|error| error.to_string())?;
    if got != expected {
        return Err(format!("{} bytes came, not {}: {:?}", got.len(), expected.len(), got.escape_ascii().to_string()));
    }
    Ok(())
}

async fn typed_text_arrives() -> Result<(), String> {
    let mut hostile: Vec<u8> = (0..=255).collect();
    hostile
        .extend(b"; \\; 'q' \"d\" $HOME ${x} $(id) `id` #{pane_id} #(id) ## %Y %% ~ ~root {a} } { \t -- -x \x1b[31m ");
    hostile.extend("naïve 日本 👍🏽 \u{85}\u{2028}".as_bytes());
    hostile.extend(b"\xc3\x28\xff\xfe trailing\\;");
    let parts = vec![text(hostile.clone()), text(b"-leading ;".to_vec()), text(b";".to_vec()), text(b"\r".to_vec())];
    let expected: Vec<u8> = parts.iter().flat_map(|part| part.bytes.clone()).collect();
    let stage = Stage::new()?;
    let (pane, file) = sink(&stage, expected.len()).await?;
    stage.tmux.paste(pane, parts, Only::default()).await.map_err(|error| error.to_string())?;
    check(&stage, pane, &file, &expected).await?;
    let left = stage.person(&["list-buffers"])?.stdout;
    left.is_empty().then_some(()).ok_or_else(|| format!("buffers are left: {}", String::from_utf8_lossy(&left)))
}

async fn much_is_typed() -> Result<(), String> {
    let expected: Vec<u8> = (0_u32..25_000).flat_map(|n| format!("{n:06} \n").into_bytes()).collect();
    let stage = Stage::new()?;
    let (pane, file) = sink(&stage, expected.len()).await?;
    stage.tmux.paste(pane, vec![text(expected.clone())], Only::default()).await.map_err(|error| error.to_string())?;
    check(&stage, pane, &file, &expected).await
}

/// tmux 3.3a keeps the commands of each `if-shell` for as long as it runs: a line's would be 1 kB, or 3 MB here.
async fn typing_leaves_nothing() -> Result<(), String> {
    let stage = Stage::new()?;
    let pane = stage.create("t1", &["sh", "-c", "stty -echo; echo ready; cat > /dev/null"], SIZE).await?;
    stage.printed("t1", "ready").await?;
    let pid = stage.person(&["display-message", "-p", "#{pid}"])?.stdout;
    let pid = String::from_utf8_lossy(&pid).trim().to_owned();
    let resident = || {
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).map_err(|error| error.to_string())?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
        line.split_whitespace().next().and_then(|kb| kb.parse::<u64>().ok()).ok_or_else(|| status.clone())
    };
    let mut before = 0;
    for line in 0..3500 {
        if line == 500 {
            before = resident()?;
        }
        stage.tmux.paste(pane, vec![text(b"a line".to_vec()), text(b"\r".to_vec())], Only::default()).await.unwrap();
    }
    let more = resident()?.saturating_sub(before);
    if more > 1000 { Err(format!("tmux has grown by {more} kB")) } else { Ok(()) }
}

async fn copy_mode() -> Result<(), String> {
    let stage = Stage::new()?;
    let pane = stage.create("t1", &["sh", "-c", "echo ready; read line; echo \"<$line>\"; sleep 100"], SIZE).await?;
    stage.printed("t1", "ready").await?;
    stage.person(&["copy-mode", "-t", "=t1:"])?;
    assert!(stage.tmux.state(pane).await.unwrap().in_mode);
    stage.tmux.paste(pane, vec![text(b"a line".to_vec()), text(b"\r".to_vec())], Only::default()).await.unwrap();
    stage.printed("t1", "<a line>").await?;
    assert!(stage.tmux.state(pane).await.unwrap().in_mode);
    Ok(())
}

async fn cursor_elsewhere() -> Result<(), String> {
    let stage = Stage::new()?;
    let pane = stage.create("t1", &["sh", "-c", "printf '\\nready> '; cat"], SIZE).await?;
    stage.printed("t1", "ready> ").await?;
    until("the prompt", async || stage.tmux.capture(pane).await.unwrap().cursor == (7, 1)).await?;
    let line = || vec![text(b"a line".to_vec())];
    let at = |cursor| Only { cursor: Some(cursor), keys_before: None };
    let keys_before = |second: u64| Only { cursor: None, keys_before: Some(Wall(second * 1000)) };
    // Nobody was ever there who could have pressed a key.
    stage.tmux.paste(pane, vec![text(b"\x15".to_vec())], keys_before(1)).await.unwrap();
    // Nobody is there who could have moved it.
    stage.tmux.paste(pane, line(), at((0, 0))).await.unwrap();
    until("the echo", async || stage.tmux.capture(pane).await.unwrap().cursor == (13, 1)).await?;
    let mut client = stage.sized_client("t1", SIZE.cols, SIZE.rows).await?;
    for elsewhere in [(7, 1), (13, 0)] {
        assert_eq!(stage.tmux.paste(pane, line(), at(elsewhere)).await, Err(TerminalError::Moved));
    }
    let last_key = stage.tmux.state(pane).await.unwrap().last_key.unwrap().0 / 1000;
    let pressed = stage.tmux.paste(pane, line(), keys_before(last_key)).await;
    assert_eq!(pressed, Err(TerminalError::Pressed));
    let only = Only { cursor: Some((13, 1)), ..keys_before(last_key + 1) };
    stage.tmux.paste(pane, line(), only).await.unwrap();
    until("the echo", async || stage.tmux.capture(pane).await.unwrap().cursor == (19, 1)).await?;
    client.kill().and_then(|()| client.wait()).map_err(|error| error.to_string())?;
    Ok(())
}

async fn dead_pane() -> Result<(), String> {
    let stage = Stage::new()?;
    let pane = stage.create("t1", &["true"], SIZE).await?;
    stage.ended(pane).await?;
    assert_eq!(stage.tmux.paste(pane, vec![text(b"x".to_vec())], Only::default()).await, Err(TerminalError::Dead));
    assert_eq!(stage.tmux.hangup(pane).await, Err(TerminalError::Dead));
    assert!(stage.tmux.state(pane).await.unwrap().dead);
    stage.tmux.kill(pane).await.unwrap();
    assert_eq!(stage.tmux.state(pane).await, Err(TerminalError::Gone));
    assert_eq!(stage.tmux.paste(pane, vec![text(b"x".to_vec())], Only::default()).await, Err(TerminalError::Gone));
    stage.tmux.kill(pane).await.unwrap();
    Ok(())
}

async fn screen() -> Result<(), String> {
    let stage = Stage::new()?;
    let script =
        r"printf 'a\tb\n\033(0lqk\033(B lqk\n\033[31m\346\227\245\346\234\254\033[0m%%end 1 2 1\n>'; sleep 100";
    let pane = stage.create("t1", &["sh", "-c", script], SIZE).await?;
    stage.printed("t1", ">").await?;
    until("the screen", async || stage.tmux.capture(pane).await.unwrap().cursor == (1, 3)).await?;
    let screen = stage.tmux.capture(pane).await.unwrap();
    assert_eq!(screen.rows[..4], ["a       b", "┌─┐ lqk", "日本%end 1 2 1", ">"]);
    assert_eq!((screen.size(), screen.alternate), (SIZE, false));
    Ok(())
}

async fn birth_size() -> Result<(), String> {
    let stage = Stage::new()?;
    stage.create("t1", &["sleep", "100"], SIZE).await?;
    let mut small = stage.sized_client("t1", 3, 2).await?;
    until("a small client", async || {
        let size = stage.person(&["display", "-p", "-t", "=t1:", "#{window_width}"]).unwrap();
        size.stdout.starts_with(b"3\n")
    })
    .await?;
    let pane = stage.create("t2", &["sleep", "100"], SIZE).await?;
    assert_eq!(stage.tmux.state(pane).await.unwrap().size, SIZE);
    let pinned = stage.person(&["show-options", "-w", "-t", "=t2:", "window-size"])?.stdout;
    assert_eq!(String::from_utf8_lossy(&pinned), "", "a new session is free to follow whoever attaches");
    small.kill().and_then(|()| small.wait()).map_err(|error| error.to_string())?;
    Ok(())
}

async fn pinning() -> Result<(), String> {
    let stage = Stage::new()?;
    let pane = stage.create("t1", &["sleep", "100"], SIZE).await?;
    let wide = Size { cols: 150, rows: 20 };
    stage.tmux.resize(pane, wide).await.unwrap();
    let mut person = stage.sized_client("t1", 70, 22).await?;
    until("the person's client", async || {
        let sizes = stage.person(&["list-clients", "-F", "#{client_width}"]).unwrap().stdout;
        String::from_utf8_lossy(&sizes).lines().any(|line| line == "70")
    })
    .await?;
    assert_eq!(stage.tmux.state(pane).await.unwrap().size, wide);
    stage.tmux.follow(pane).await.unwrap();
    until("the client's size", async || stage.tmux.state(pane).await.unwrap().size.cols == 70).await?;
    person.kill().and_then(|()| person.wait()).map_err(|error| error.to_string())?;
    Ok(())
}

async fn people() -> Result<(), String> {
    let stage = Stage::new()?;
    let pane = stage.create("t1", &["sleep", "100"], SIZE).await?;
    let mut control = stage.client(&["-C", "attach", "-t", "=t1:"])?;
    until("a control client", async || {
        let clients = stage.person(&["list-clients", "-t", "=t1:"]).unwrap().stdout;
        !clients.is_empty()
    })
    .await?;
    assert_eq!(stage.tmux.state(pane).await.unwrap().people, 0);
    assert_eq!(stage.tmux.clients().await.unwrap(), []);
    // `script` gives tmux a terminal, as a person's would be.
    let attach = "tmux -L stage attach -r -t =t1:";
    let mut person = Command::new("script")
        .args(["-qec", attach, "/dev/null"])
        .env("TMUX_TMPDIR", stage.root())
        .env("TERM", "xterm")
        .env_remove("TMUX")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .map_err(|error| error.to_string())?;
    until("a person", async || stage.tmux.state(pane).await.unwrap().people == 1).await?;
    let attached = stage.tmux.clients().await.unwrap();
    assert!(matches!(attached.as_slice(), [one] if one.session == "t1" && one.read_only && one.activity.0 > 0));
    for child in [&mut person, &mut control] {
        child.kill().and_then(|()| child.wait()).map_err(|error| error.to_string())?;
    }
    Ok(())
}

async fn hostile_options() -> Result<(), String> {
    let stage = Stage::new()?;
    let pane = stage.create("t1", &["sleep", "100"], SIZE).await?;
    for (name, value) in [("destroy-unattached", "on"), ("remain-on-exit", "off"), ("set-clipboard", "on")] {
        stage.person(&["set", "-g", name, value])?;
    }
    stage.person(&["set", "-g", "base-index", "7"])?;
    stage.person(&["set", "-g", "default-command", "exit 9"])?;
    let later = stage.create("t2", &["true"], SIZE).await?;
    stage.ended(later).await?;
    assert!(stage.tmux.state(later).await.unwrap().dead, "its last screen is still there");
    assert!(!stage.tmux.state(pane).await.unwrap().dead);
    drop(stage.second(&[]).panes().await.unwrap());
    let clipboard = stage.person(&["show", "-sv", "set-clipboard"])?.stdout;
    assert_eq!(String::from_utf8_lossy(&clipboard), "external\n");
    Ok(())
}

async fn environment() -> Result<(), String> {
    let stage = Stage::new()?;
    let ours =
        [("CLAUDECODE", "1"), ("CLAUDE_CODE_SSE_PORT", "9"), ("TMUX", "/x,1,2"), ("MINE", "kept"), ("LANG", "C")];
    let tmux = stage.second(&ours);
    let pane = stage.pane("t1", ["sh", "-c", "env > env.txt"].map(str::to_owned).to_vec(), SIZE);
    let pane = tmux.create(pane).await.unwrap();
    until("the end", async || tmux.state(pane).await.unwrap().dead).await?;
    let env = std::fs::read_to_string(stage.root().join("env.txt")).unwrap();
    assert!(env.contains("MINE=kept\n") && env.contains("PS1=P> \n"), "{env}");
    assert!(!env.contains("CLAUDE") && !env.contains("/x,1,2"), "{env}");
    // One that was started with them by somebody else loses them when we connect.
    stage.person(&["set-environment", "-g", "CODEX_SANDBOX", "x"])?;
    stage.second(&[]).panes().await.unwrap();
    let left = stage.person(&["show-environment", "-g"])?.stdout;
    assert!(!String::from_utf8_lossy(&left).contains("CODEX"));
    Ok(())
}

async fn own_group() -> Result<(), String> {
    let stage = Stage::new()?;
    let pane = stage.create("t1", &["sleep", "100"], SIZE).await?;
    let server = Pid::from_raw(i32::try_from(pane.server.pid).unwrap());
    assert_ne!(nix::unistd::getpgid(Some(server)).unwrap(), nix::unistd::getpgrp());
    assert_ne!(nix::unistd::getsid(Some(server)).unwrap(), nix::unistd::getsid(None).unwrap());
    Ok(())
}

async fn found_again() -> Result<(), String> {
    let stage = Stage::new()?;
    let t1 = stage.create("t1", &["sleep", "100"], SIZE).await?;
    stage.create("t1-2", &["true"], SIZE).await?;
    stage.person(&["new-session", "-d", "-s", "theirs", "sleep 100"])?;
    stage.person(&["rename-session", "-t", "=t1:", "an odd name"])?;
    let again = stage.second(&[]);
    let panes = again.panes().await.unwrap();
    let names: Vec<&str> = panes.iter().map(|pane| pane.session.as_str()).collect();
    assert_eq!(names, ["t1", "t1-2"]);
    assert_eq!(panes[0].pane, t1);
    let taken = stage.create("theirs", &["true"], SIZE).await.unwrap_err();
    assert!(taken.contains("\"theirs\""), "{taken}");
    again.kill(t1).await.unwrap();
    let names: Vec<String> = again.panes().await.unwrap().into_iter().map(|pane| pane.session).collect();
    assert_eq!(names, ["t1-2"]);
    Ok(())
}

async fn stopped() -> Result<(), String> {
    let stage = Stage::new()?;
    let pane = stage.create("t1", &["sh", "-c", "stty -echo; echo ready; cat"], SIZE).await?;
    stage.printed("t1", "ready").await?;
    let server = Pid::from_raw(i32::try_from(pane.server.pid).unwrap());
    kill(server, Signal::SIGSTOP).unwrap();
    let state = stage.tmux.state(pane);
    let paste = stage.tmux.paste(pane, vec![text(b"never\r".to_vec())], Only::default());
    let second = stage.second(&[]);
    let (state, paste, fresh) = tokio::join!(state, paste, second.panes());
    kill(server, Signal::SIGCONT).unwrap();
    assert_eq!(state, Err(TerminalError::NoAnswer));
    assert_eq!(paste, Err(TerminalError::NoAnswer));
    assert_eq!(fresh, Err(TerminalError::NoAnswer));
    stage.tmux.paste(pane, vec![text(b"afterwards\r".to_vec())], Only::default()).await.unwrap();
    stage.printed("t1", "afterwards").await?;
    assert!(!String::from_utf8_lossy(&stage.raw("t1")).contains("never"));
    Ok(())
}

async fn killed() -> Result<(), String> {
    let stage = Stage::new()?;
    let old = stage.create("t1", &["sleep", "100"], SIZE).await?;
    kill(Pid::from_raw(i32::try_from(old.server.pid).unwrap()), Signal::SIGKILL).unwrap();
    until("an error", async || stage.tmux.state(old).await.is_err()).await?;
    assert!(matches!(stage.tmux.state(old).await, Err(TerminalError::Gone | TerminalError::Died)));
    assert_eq!(stage.tmux.panes().await, Ok(Vec::new()));
    assert_eq!(stage.tmux.server().await, Ok(None));
    let new = stage.create("t2", &["sleep", "100"], SIZE).await?;
    assert_ne!(new.server, old.server);
    assert_eq!(stage.tmux.state(old).await, Err(TerminalError::Gone));
    assert!(!stage.tmux.state(new).await.unwrap().dead);
    Ok(())
}

/// As a server that was killed leaves its client where somebody ends tmux at that moment: tmux has something to tell the
/// client, whose reader is gone, and waits for ever to do so.
async fn cannot_end() -> Result<(), String> {
    let stage = Stage::new()?;
    let pane = stage.create("t1", &["cat"], SIZE).await?;
    let mut left = Command::new("tmux")
        .arg("-S")
        .arg(stage.tmux.socket_path())
        .args(["-C", "attach", "-f", "no-output", "-t", "=t1:"])
        .env_remove("TMUX")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| error.to_string())?;
    let pid = left.id().to_string();
    until("the client", async || {
        let clients = stage.person(&["list-clients", "-t", "=t1:", "-F", "#{client_pid}"]).unwrap();
        String::from_utf8_lossy(&clients.stdout).lines().any(|line| line == pid)
    })
    .await?;
    let path = stage.root().join("home/tmux.json");
    let mut record: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let started: u64 = stat.rsplit(')').next().unwrap().split_whitespace().nth(19).unwrap().parse().unwrap();
    record["client"] = serde_json::json!([left.id(), started]);
    std::fs::write(&path, record.to_string()).unwrap();
    drop(left.stdout.take());
    stage.person(&["new-window", "-t", "=t1:", "cat"])?;
    stage.person(&["kill-server"])?;
    let next = stage.second(&[]);
    let new = stage.pane("t2", vec!["sleep".to_owned(), "100".to_owned()], SIZE);
    let made = next.create(new).await;
    left.kill().and_then(|()| left.wait()).map_err(|error| error.to_string())?;
    assert_ne!(made.map_err(|error| error.to_string())?.server, pane.server);
    Ok(())
}

/// Whoever moves a window to another session has all of that session's panes stay when the moved one is closed.
async fn moved() -> Result<(), String> {
    let stage = Stage::new()?;
    let home = stage.create("home", &["cat"], SIZE).await?;
    for (name, to) in [("one", "=home:5"), ("two", "=mine:5")] {
        let pane = stage.create(name, &["cat"], SIZE).await?;
        stage.person(&["new-session", "-d", "-s", "mine", "cat"])?;
        stage.person(&["move-window", "-s", &format!("={name}:0"), "-t", to])?;
        stage.tmux.kill(pane).await.map_err(|error| error.to_string())?;
        assert_eq!(stage.tmux.state(pane).await, Err(TerminalError::Gone), "{name}");
        assert!(stage.tmux.state(home).await.is_ok_and(|state| !state.dead), "{name}");
        assert!(stage.person(&["has-session", "-t", "=mine"])?.status.success(), "{name}");
    }
    stage.tmux.kill(home).await.map_err(|error| error.to_string())?;
    assert!(!stage.person(&["has-session", "-t", "=home"])?.status.success(), "its own session goes with it");
    Ok(())
}

async fn removed_socket() -> Result<(), String> {
    let stage = Stage::new()?;
    let pane = stage.create("t1", &["sleep", "100"], SIZE).await?;
    std::fs::remove_dir_all(stage.tmux.socket_path().parent().unwrap()).unwrap();
    let again = stage.second(&[]);
    assert_eq!(again.server().await.unwrap(), Some(pane.server));
    let later = again.create(stage.pane("t2", vec!["sleep".to_owned(), "100".to_owned()], SIZE)).await.unwrap();
    assert_eq!(later.server, pane.server);
    Ok(())
}

async fn unusable() -> Result<(), String> {
    let stage = Stage::new()?;
    let root = stage.root().to_string_lossy().into_owned();
    let create = async |env: &[(&str, &str)]| {
        let tmux = stage.second(env);
        tmux.create(stage.pane("t1", vec!["sleep".to_owned(), "100".to_owned()], SIZE)).await
    };
    assert_eq!(create(&[("PATH", &root)]).await, Err(TerminalError::Missing));
    let fake = stage.root().join("tmux");
    let say = |script: &str| {
        std::fs::write(&fake, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&fake, std::fs::Permissions::from_mode(0o700)).unwrap();
    };
    let path = format!("{root}:/usr/bin:/bin");
    say("echo tmux 1.8");
    assert_eq!(create(&[("PATH", &path)]).await, Err(TerminalError::TooOld("tmux 1.8".to_owned())));
    say("case $1 in -V) echo tmux 3.3a;; *) echo server version is too old for client >&2; exit 1;; esac");
    assert!(matches!(create(&[("PATH", &path)]).await, Err(TerminalError::Skew(_))));
    say("exec sleep 100");
    assert_eq!(create(&[("PATH", &path)]).await, Err(TerminalError::NoAnswer));

    let open = stage.root().join(format!("tmux-{}", nix::unistd::geteuid()));
    std::fs::create_dir_all(&open).unwrap();
    std::fs::set_permissions(&open, std::fs::Permissions::from_mode(0o777)).unwrap();
    assert!(matches!(create(&[]).await, Err(TerminalError::Socket(_))));
    std::fs::remove_dir(&open).unwrap();
    let long = stage.root().join("x".repeat(100));
    std::fs::create_dir(&long).unwrap();
    let error = create(&[("TMUX_TMPDIR", &long.to_string_lossy())]).await;
    assert!(matches!(error, Err(TerminalError::Socket(_))), "{error:?}");
    Ok(())
}

/// tmux 3.3a crashes where a session ends while its last client is leaving or another one is just connecting.
async fn going() -> Result<(), String> {
    let stage = Stage::new()?;
    let new = stage.pane("t1", vec!["sleep".to_owned(), "100".to_owned()], SIZE);
    let server = stage.second(&[]).create(new).await.unwrap().server;
    for _ in 0..40 {
        // Connected, and gone at once; or with something under way.
        let short = stage.second(&[]);
        assert_eq!(short.server().await, Ok(Some(server)));
        drop(short);
        let busy = stage.second(&[]);
        assert_eq!(busy.server().await, Ok(Some(server)));
        tokio::select! {
            biased;
            _ = busy.clients() => {}
            () = tokio::task::yield_now() => {}
        }
        drop(busy);
    }
    until("no session but the one that was made", async || {
        let sessions = stage.person(&["ls", "-F", "#{session_name}"]).unwrap();
        sessions.stdout == b"t1\n"
    })
    .await
}

async fn neighbours() -> Result<(), String> {
    let stage = Stage::new()?;
    let pane = stage.create("t1", &["sleep", "100"], SIZE).await?;
    let neighbour = stage.neighbour()?;
    let theirs = stage.pane("t2", vec!["sleep".to_owned(), "100".to_owned()], SIZE);
    let theirs = neighbour.create(theirs).await.unwrap();
    assert_eq!(theirs.server, pane.server);
    let names = |panes: Vec<dtmcp::terminal::OurPane>| panes.into_iter().map(|pane| pane.session).collect::<Vec<_>>();
    assert_eq!(names(neighbour.panes().await.unwrap()), ["t2"]);
    assert_eq!(names(stage.tmux.panes().await.unwrap()), ["t1"]);
    drop(neighbour);
    assert!(!stage.tmux.state(theirs).await.unwrap().dead);
    Ok(())
}

async fn left_behind() -> Result<(), String> {
    let stage = Stage::new()?;
    let new = stage.pane("t1", vec!["sleep".to_owned(), "100".to_owned()], SIZE);
    let first = stage.second(&[]);
    first.create(new).await.unwrap();
    let mut left = stage.client(&["-C", "attach", "-t", "=_dtmcp:"])?;
    until("the client", async || {
        let clients = stage.person(&["list-clients", "-t", "=_dtmcp:"]).unwrap();
        clients.stdout.iter().filter(|byte| **byte == b'\n').count() == 2
    })
    .await?;
    drop(first);
    stage.second(&[]).panes().await.unwrap();
    let status = left.wait().map_err(|error| error.to_string())?;
    (!status.success()).then_some(()).ok_or_else(|| "it left by itself".to_owned())
}

async fn odd_directory() -> Result<(), String> {
    let stage = Stage::new()?;
    let odd = stage.root().join("#{pane_id} #[x] %Y $HOME 'q\" ; ~");
    std::fs::create_dir(&odd).unwrap();
    let mut new = stage.pane("t1", ["sh", "-c", "pwd > where; sleep 100"].map(str::to_owned).to_vec(), SIZE);
    new.cwd = odd.to_string_lossy().into_owned();
    stage.tmux.create(new.clone()).await.unwrap();
    until("the file", async || std::fs::read_to_string(odd.join("where")).is_ok_and(|text| text.ends_with('\n')))
        .await?;
    assert_eq!(std::fs::read_to_string(odd.join("where")).unwrap().trim_end(), odd.to_string_lossy());
    new.cwd = "/nowhere".to_owned();
    assert_eq!(stage.tmux.create(new).await, Err(TerminalError::NoDirectory("/nowhere".to_owned())));
    Ok(())
}
