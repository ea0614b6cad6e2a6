//! Nothing that a pane prints is lost: from its first byte to its last, however it ends, at any speed.
//!
//! `DTMCP_TEST_ROUNDS` says how many times twenty panes at once end in each way (2 where it is not set).
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use dtmcp::pane::ExitRecord;
use dtmcp::record::timing::{Entry, What};
use dtmcp::store::files;
use dtmcp::terminal::{Only, PaneId, Part, Terminal as _};
use dtmcp_core::cooked::Size;
use dtmcp_tests::needs::test;
use dtmcp_tests::stage::{Stage, block_on, until};
use memchr::memmem;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

const SIZE: Size = Size { cols: 100, rows: 30 };

/// Panes at a time.
const PANES: usize = 20;

/// Lines of a burst, and what they are on a terminal: 129 kB, more than the kernel and tmux hold between them.
const BURST: u32 = 20_000;

fn main() -> ExitCode {
    let args = libtest_mimic::Arguments::from_args();
    let tests = vec![
        test("exit", &["tmux", "bash"], || block_on(typed("seq 1 20000; exit 7\r", Ends::With(7)))),
        test("end_of_input", &["tmux", "bash"], || block_on(end_of_input())),
        test("errexit", &["tmux", "bash"], || block_on(typed("set -e; seq 1 20000; false\r", Ends::With(1)))),
        test("exec", &["tmux", "bash"], || block_on(typed("exec seq 1 20000\r", Ends::With(0)))),
        test("signal", &["tmux", "bash"], || block_on(typed("seq 1 20000; kill -9 $$\r", Ends::By(9)))),
        test("program", &["tmux"], || block_on(program(&["seq", "1", "20000"], Ends::With(0)))),
        test("program_with_a_status", &["tmux"], || {
            block_on(program(&["sh", "-c", "seq 1 20000; exit 5"], Ends::With(5)))
        }),
        test("hang_up", &["tmux"], || block_on(hang_up())),
        test("a_command_that_is_not_there", &["tmux"], || block_on(not_there())),
        test("the_command_gets_its_signals_back", &["tmux"], || block_on(signals())),
        test("without_a_directory_the_command_runs", &["tmux"], || block_on(no_directory())),
        test("a_full_disk_is_told_and_ridden_out", &["tmux", "root", "mount"], || block_on(full_disk())),
        test("a_killed_recorder_is_told_and_replaced", &["tmux"], || block_on(killed_recorder())),
        test("a_pipe_that_someone_takes_is_left_to_them", &["tmux"], || block_on(taken_pipe())),
        test("sizes_stand_before_what_was_printed_at_them", &["tmux"], || block_on(sizes())),
        test("files_are_ours_alone_whatever_the_umask", &["tmux", "sh"], || block_on(modes())),
    ];
    libtest_mimic::run(&args, tests).exit_code()
}

/// How a pane's program ends.
#[derive(Debug, Clone, Copy)]
enum Ends {
    With(i32),
    By(i32),
}

impl Ends {
    fn status(self) -> i32 {
        match self {
            Self::With(status) => status,
            Self::By(signal) => 128 + signal,
        }
    }
}

fn burst() -> String {
    let mut text = String::new();
    for line in 1..=BURST {
        write!(text, "{line}\r\n").unwrap();
    }
    text
}

fn rounds() -> usize {
    std::env::var("DTMCP_TEST_ROUNDS").ok().and_then(|text| text.parse().ok()).unwrap_or(2)
}

fn text(bytes: &str) -> Vec<Part> {
    vec![Part { bytes: bytes.into(), bracketed: false }]
}

/// Twenty panes at a time, round after round, each brought to its end by `end`, then looked at.
async fn many(argv: &[&str], ready: &str, ends: Ends, end: impl AsyncFn(&Stage, PaneId)) -> Result<(), String> {
    let whole = burst();
    for round in 0..rounds() {
        let stage = Stage::new()?;
        let mut panes = Vec::new();
        for number in 0..PANES {
            panes.push((format!("p{number}"), stage.create(&format!("p{number}"), argv, SIZE).await?));
        }
        for (name, pane) in &panes {
            stage.printed(name, ready).await?;
            end(&stage, *pane).await;
        }
        for (name, pane) in &panes {
            stage.ended(*pane).await?;
            check(&stage, name, &whole, ends).map_err(|error| format!("round {round}, pane {name}: {error}"))?;
        }
    }
    Ok(())
}

fn check(stage: &Stage, name: &str, whole: &str, ends: Ends) -> Result<(), String> {
    let raw = stage.raw(name);
    let nonce = String::from_utf8(files::read(&stage.dir(name).join("nonce")).unwrap()).unwrap();
    let marker = format!("\x1b]133;E;{};dt={nonce}\x1b\\", ends.status());
    let Some(body) = raw.strip_suffix(marker.as_bytes()) else {
        let tail = raw.get(raw.len().saturating_sub(80)..).unwrap_or_default();
        return Err(format!("no end marker in {} bytes, but: {}", raw.len(), tail.escape_ascii()));
    };
    if memmem::find(body, whole.as_bytes()).is_none() {
        return Err(format!("of {} bytes of output only part is in a log of {}", whole.len(), raw.len()));
    }
    let exit: ExitRecord = serde_json::from_slice(&files::read(&stage.dir(name).join("exit")).unwrap()).unwrap();
    let told = match ends {
        Ends::With(status) => (Some(status), None),
        Ends::By(signal) => (None, Some(signal)),
    };
    ((exit.v, exit.status, exit.signal) == (1, told.0, told.1)).then_some(()).ok_or_else(|| format!("{exit:?}"))
}

async fn typed(line: &str, ends: Ends) -> Result<(), String> {
    many(&["bash", "--norc", "-i"], "P> ", ends, async |stage, pane| {
        stage.tmux.paste(pane, text(line), Only::default()).await.unwrap();
    })
    .await
}

async fn end_of_input() -> Result<(), String> {
    // The burst comes between the end of input and the shell's own.
    let argv = ["bash", "--norc", "-i", "-c", "trap 'seq 1 20000' EXIT; echo ready; cat"];
    many(&argv, "ready", Ends::With(0), async |stage, pane| {
        stage.tmux.paste(pane, text("\x04"), Only::default()).await.unwrap();
    })
    .await
}

async fn program(argv: &[&str], ends: Ends) -> Result<(), String> {
    many(argv, "", ends, async |_, _| {}).await
}

async fn hang_up() -> Result<(), String> {
    let argv = ["sh", "-c", "trap 'seq 1 20000; exit 4' HUP; echo ready; while :; do sleep 1; done"];
    many(&argv, "ready", Ends::With(4), async |stage, pane| stage.tmux.hangup(pane).await.unwrap()).await
}

async fn not_there() -> Result<(), String> {
    let stage = Stage::new()?;
    let pane = stage.create("t1", &["/no/such/program"], SIZE).await?;
    stage.ended(pane).await?;
    check(&stage, "t1", "cannot run /no/such/program", Ends::With(127))
}

async fn signals() -> Result<(), String> {
    let stage = Stage::new()?;
    let pane = stage.create("t1", &["grep", "-E", "^Sig(Blk|Ign)", "/proc/self/status"], SIZE).await?;
    stage.ended(pane).await?;
    let bare = stage.root().join("bare");
    let script = format!("exec grep -E '^Sig(Blk|Ign)' /proc/self/status > {}", bare.display());
    stage.person(&["new-session", "-d", &script])?;
    until("the bare pane", async || std::fs::read_to_string(&bare).is_ok_and(|text| text.lines().count() == 2)).await?;
    let masks = |text: &str| -> Vec<u64> {
        let masks = text.lines().filter_map(|line| line.split_once(":\t"));
        // 32 and 33 are the C library's own, which it ignores in what it starts.
        masks.filter_map(|(_, mask)| Some(u64::from_str_radix(mask.get(..16)?, 16).ok()? & !(3 << 31))).collect()
    };
    let ours = masks(&String::from_utf8_lossy(&stage.raw("t1")));
    assert_eq!(ours, masks(&std::fs::read_to_string(&bare).unwrap()), "as in a pane without us");
    Ok(())
}

async fn no_directory() -> Result<(), String> {
    let stage = Stage::new()?;
    let open = stage.dir("t1");
    stage.create("t0", &["true"], SIZE).await?;
    let binary = dtmcp_tests::binary::dtmcp()?.to_string_lossy().into_owned();
    let missing = open.to_string_lossy().into_owned();
    let file = stage.root().join("ran");
    let script = format!("echo yes > {}; exit 3", file.display());
    let argv = [&binary, "pane", &missing, "--", "sh", "-c", &script].map(str::to_owned).to_vec();
    let pane = stage.tmux.create(stage.pane("t1", argv, SIZE)).await.unwrap();
    stage.ended(pane).await?;
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "yes\n");
    let screen = stage.tmux.capture(pane).await.unwrap();
    assert!(screen.rows[0].starts_with("dtmcp: this terminal is not recorded: "), "{:?}", screen.rows[0]);
    Ok(())
}

/// A small file system, for as long as it is held.
struct Mount(PathBuf);

impl Mount {
    fn new(dir: PathBuf) -> Result<Self, String> {
        let mount = std::process::Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=1m,mode=700", "dtmcp-test"])
            .arg(&dir)
            .output()
            .map_err(|error| error.to_string())?;
        let said = String::from_utf8_lossy(&mount.stderr).into_owned();
        mount.status.success().then_some(Self(dir)).ok_or(said)
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        drop(std::process::Command::new("umount").arg("-l").arg(&self.0).output());
    }
}

async fn full_disk() -> Result<(), String> {
    let stage = Stage::new()?;
    files::make_dir(&stage.dir("t1")).map_err(|error| error.to_string())?;
    let _mount = Mount::new(stage.dir("t1"))?;
    let filler = stage.dir("t1").join("filler");
    std::fs::write(&filler, vec![b'x'; 512 * 1024]).unwrap();
    let script = "stty -echo; echo begin; seq 1 200000; read x; echo after";
    let pane = stage.create("t1", &["sh", "-c", script], SIZE).await?;
    let mut whole = "begin\r\n".to_owned();
    for line in 1..=200_000 {
        write!(whole, "{line}\r\n").unwrap();
    }
    until("the end of the output", async || {
        stage.tmux.capture(pane).await.unwrap().rows.iter().any(|row| row == "200000")
    })
    .await?;
    std::fs::remove_file(&filler).unwrap();
    stage.printed("t1", "bytes of output were lost: the disk was full]\r\n").await?;
    stage.tmux.paste(pane, text("\r"), Only::default()).await.unwrap();
    stage.ended(pane).await?;
    let raw = stage.raw("t1");
    let at = memmem::find(&raw, b"\x18\r\n[dtmcp: ").unwrap();
    let (before, note) = raw.split_at(at);
    assert!(whole.as_bytes().starts_with(before), "what is there is what was printed");
    let note = String::from_utf8_lossy(note).into_owned();
    let lost = note.trim_start_matches("\x18\r\n[dtmcp: ").split(' ').next().unwrap().parse::<usize>().unwrap();
    assert_eq!(before.len() + lost, whole.len(), "{note}");
    assert!(note.contains("full]\r\nafter\r\n\x1b]133;E;0;"), "{note}");
    let told = What::Lost(Some(lost as u64));
    assert!(timing(&stage, "t1").iter().any(|entry| (entry.offset, entry.what) == (at as u64, told)));
    // The mount goes only when nothing is open on it any more.
    stage.tmux.kill(pane).await.unwrap();
    Ok(())
}

fn timing(stage: &Stage, session: &str) -> Vec<Entry> {
    let bytes = files::read(&stage.dir(session).join("timing")).unwrap();
    let text = String::from_utf8(bytes).unwrap();
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some(dtmcp::record::timing::HEADER));
    lines.map(|line| Entry::parse(line).unwrap()).collect()
}

/// The process that records a session.
fn recorder(stage: &Stage, session: &str) -> Option<Pid> {
    let record = format!("record\0{}\0", stage.dir(session).display());
    std::fs::read_dir("/proc").ok()?.flatten().find_map(|entry| {
        let command = std::fs::read(entry.path().join("cmdline")).ok()?;
        memmem::find(&command, record.as_bytes())?;
        entry.file_name().to_str()?.parse().ok().map(Pid::from_raw)
    })
}

async fn killed_recorder() -> Result<(), String> {
    let stage = Stage::new()?;
    let pane = stage.create("t1", &["sh", "-c", "stty -echo; echo one; read x; echo two"], SIZE).await?;
    stage.printed("t1", "one\r\n").await?;
    for times in 1..=2 {
        kill(recorder(&stage, "t1").unwrap(), Signal::SIGKILL).unwrap();
        until("a note", async || {
            memmem::find_iter(&stage.raw("t1"), b"[dtmcp: output may be missing here: ").count() == times
        })
        .await?;
    }
    stage.tmux.paste(pane, text("\r"), Only::default()).await.unwrap();
    stage.ended(pane).await?;
    let note = "\x18\r\n[dtmcp: output may be missing here: the recorder was killed]\r\n";
    check(&stage, "t1", &format!("one\r\n{note}{note}two\r\n"), Ends::With(0))?;
    assert_eq!(timing(&stage, "t1").iter().filter(|entry| entry.what == What::Lost(None)).count(), 2);
    Ok(())
}

async fn taken_pipe() -> Result<(), String> {
    let stage = Stage::new()?;
    let pane = stage.create("t1", &["sh", "-c", "stty -echo; echo one; read x; echo two"], SIZE).await?;
    stage.printed("t1", "one\r\n").await?;
    let theirs = stage.root().join("theirs");
    stage.person(&["pipe-pane", "-O", "-t", "=t1:", &format!("cat > {}", theirs.display())])?;
    until("the recorder's end", async || timing(&stage, "t1").last().is_some_and(|entry| entry.what == What::End))
        .await?;
    stage.tmux.paste(pane, text("\r"), Only::default()).await.unwrap();
    stage.ended(pane).await?;
    until("their output", async || std::fs::read_to_string(&theirs).is_ok_and(|text| text.contains("two"))).await?;
    assert_eq!(stage.raw("t1"), b"one\r\n");
    Ok(())
}

async fn sizes() -> Result<(), String> {
    let stage = Stage::new()?;
    let pane = stage.create("t1", &["sh", "-c", "stty -echo; echo one; read x; echo two"], SIZE).await?;
    stage.printed("t1", "one\r\n").await?;
    let narrow = Size { cols: 80, rows: 24 };
    stage.tmux.resize(pane, narrow).await.unwrap();
    let tty = stage.tmux.state(pane).await.unwrap().tty;
    until("the pane's new size", async || {
        let stty = std::process::Command::new("stty").arg("-F").arg(&tty).arg("size").output().unwrap();
        stty.stdout == b"24 80\n"
    })
    .await?;
    stage.tmux.paste(pane, text("\r"), Only::default()).await.unwrap();
    stage.ended(pane).await?;
    stage.tmux.kill(pane).await.unwrap();
    until("the recorder's end", async || timing(&stage, "t1").last().is_some_and(|entry| entry.what == What::End))
        .await?;
    let entries = timing(&stage, "t1");
    assert!(entries.windows(2).all(|two| two[0].offset <= two[1].offset && two[0].wall <= two[1].wall));
    let sizes: Vec<_> = entries
        .iter()
        .filter_map(|entry| match entry.what {
            What::Size(size) => Some((entry.offset, size)),
            _ => None,
        })
        .collect();
    assert_eq!(sizes, [(0, SIZE), (5, narrow)]);
    assert_eq!(entries.last().unwrap().offset, stage.raw("t1").len() as u64);
    Ok(())
}

async fn modes() -> Result<(), String> {
    let stage = Stage::new()?;
    let binary = dtmcp_tests::binary::dtmcp()?;
    files::make_dir(&stage.dir("t1")).map_err(|error| error.to_string())?;
    // The recorder's umask is the tmux server's; the pane's own comes with the script.
    let script = format!("umask 000; exec {} pane {} -- sh -c umask", binary.display(), stage.dir("t1").display());
    stage.person(&["start-server", ";", "new-session", "-d", "-s", "keep", "sleep 100"])?;
    let argv = ["sh", "-c", &script].map(str::to_owned).to_vec();
    let pane = stage.tmux.create(stage.pane("t1", argv, SIZE)).await.unwrap();
    stage.ended(pane).await?;
    check(&stage, "t1", "0000\r\n", Ends::With(0))?;
    let open = std::process::Command::new("find").arg(stage.root().join("home")).args(["-perm", "/077"]).output();
    assert_eq!(String::from_utf8_lossy(&open.unwrap().stdout), "");
    let names: Vec<_> = std::fs::read_dir(stage.dir("t1")).unwrap().flatten().map(|entry| entry.file_name()).collect();
    assert!(!names.iter().any(|name| name == dtmcp::record::ALIVE_FIFO), "{names:?}");
    Ok(())
}
