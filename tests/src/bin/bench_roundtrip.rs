//! How long `run "true"` takes, against what no server could be faster than: the same line pasted through the same kind
//! of tmux client into the same kind of session, and its end marker seen in the raw log by inotify. And that floor
//! against the same again with an integration of three lines that only prints bare marks.
//!
//! The three take turns, so that whatever else the machine does falls on all of them. Each call begins at a prompt that
//! is complete, for which the time is not counted.

#![expect(clippy::print_stdout, reason = "this program is for a person who reads its output")]

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use dtmcp::store::{files, shell};
use dtmcp::terminal::{NewPane, Only, PaneId, Part, Terminal as _, Tmux, TmuxConfig};
use dtmcp_core::cooked::Size;
use dtmcp_tests::client::World;
use dtmcp_tests::measure::{Appended, Stdio, dtmcp, load, median, ms, quantile, report, words};
use serde_json::json;
use tokio::runtime::Runtime;

/// Turns, and calls of each kind in a turn; 2,000 calls of each.
const TURNS: usize = 20;
const CALLS: usize = 100;

/// The end of a command, and the end of the prompt that follows.
const END: &[u8] = b"\x1b]133;D;";
const READY: &[u8] = b"\x1b]133;B";

/// What a shell needs at least to mark its commands.
const BARE: &str =
    "PS0='\\e]133;C\\e\\\\'\nPROMPT_COMMAND='printf \"\\e]133;D;%s\\e\\\\\\\\\" $?'\nPS1='$ \\[\\e]133;B\\e\\\\\\]'\n";

fn main() -> ExitCode {
    report(measure)
}

fn measure() -> Result<(), String> {
    let world = World::new()?;
    let dtmcp = dtmcp()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(words)?;
    let mut server = Server::open(&world, &dtmcp)?;
    let shell_dir = shell::lay_out(&world.user_home()).map_err(words)?;
    let ours = shell_dir.join("bashrc");
    let bare = world.root().join("bare");
    std::fs::write(&bare, BARE).map_err(words)?;
    let mut floor = Floor::open(&world, &runtime, &dtmcp, "floor", &ours)?;
    let mut least = Floor::open(&world, &runtime, &dtmcp, "least", &bare)?;

    let before = load();
    let (mut servers, mut floors, mut leasts) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..TURNS {
        for _ in 0..CALLS {
            servers.push(server.call()?);
        }
        for _ in 0..CALLS {
            floors.push(floor.call(&runtime)?);
        }
        for _ in 0..CALLS {
            leasts.push(least.call(&runtime)?);
        }
    }
    println!("{} calls of each kind, load {before} to {}; ms", servers.len(), load());
    for (name, times) in [("run \"true\"", &servers), ("floor", &floors), ("bare marks", &leasts)] {
        let (p10, p90) = (quantile(times, 0.1), quantile(times, 0.9));
        println!("{name:12} median {:.3}   10% {p10:.3}   90% {p90:.3}", median(times));
    }
    println!("run / floor         {:.2}   (at most 1.5)", median(&servers) / median(&floors));
    println!("floor / bare marks  {:.2}   (at most 2.5)", median(&floors) / median(&leasts));
    Ok(())
}

/// The product.
struct Server {
    client: Stdio,
    raw: Appended,
}

impl Server {
    fn open(world: &World, dtmcp: &Path) -> Result<Self, String> {
        let mut client = Stdio::start(world.command(dtmcp))?;
        client.call("session_create", &json!({}))?;
        client.call("run", &json!({ "line": "true" }))?;
        let raw = Appended::watch(&world.state().join("sessions/t1/raw.log"))?;
        Ok(Self { client, raw })
    }

    fn call(&mut self) -> Result<f64, String> {
        self.raw.begin()?;
        let begin = Instant::now();
        let reply = self.client.call("run", &json!({ "line": "true" }))?;
        let took = ms(begin.elapsed());
        if reply.get("exit") != Some(&json!(0)) {
            return Err(format!("not a finished command: {reply}"));
        }
        self.raw.until(READY)?;
        Ok(took)
    }
}

/// The same without a server: a session of the same kind, and nothing between.
struct Floor {
    tmux: Tmux,
    pane: PaneId,
    raw: Appended,
}

impl Floor {
    fn open(world: &World, runtime: &Runtime, dtmcp: &Path, name: &str, rcfile: &Path) -> Result<Self, String> {
        let home = world.root().join(name);
        let dir = home.join("sessions").join(name);
        for made in [&home, &home.join("sessions"), &dir] {
            files::make_dir(made).map_err(words)?;
            std::fs::set_permissions(made, Permissions::from_mode(0o700)).map_err(words)?;
        }
        for file in ["raw.log", "timing"] {
            files::append(&dir.join(file)).map_err(words)?;
        }
        let env =
            world.command("tmux").get_envs().filter_map(|(name, value)| Some((name.into(), value?.into()))).collect();
        let tmux = Tmux::new(TmuxConfig { socket: name.to_owned(), home, env });
        let mut raw = Appended::watch(&dir.join("raw.log"))?;
        let shim = [dtmcp.to_path_buf(), "pane".into(), dir, "--".into()];
        let bash = ["bash".into(), "--rcfile".into(), rcfile.to_path_buf(), "-i".into()];
        let argv = shim.into_iter().chain(bash).map(|word: PathBuf| word.to_string_lossy().into_owned()).collect();
        let new = NewPane {
            session: name.to_owned(),
            cwd: world.user_home().to_string_lossy().into_owned(),
            env: Vec::new(),
            size: Size { cols: 120, rows: 40 },
            argv,
        };
        let pane = runtime.block_on(tmux.create(new)).map_err(words)?;
        raw.until(READY)?;
        Ok(Self { tmux, pane, raw })
    }

    fn call(&mut self, runtime: &Runtime) -> Result<f64, String> {
        let part = |bytes: &[u8]| Part { bytes: bytes.to_vec(), bracketed: false };
        self.raw.begin()?;
        let begin = Instant::now();
        runtime
            .block_on(self.tmux.paste(self.pane, vec![part(b"true"), part(b"\r")], Only::default()))
            .map_err(words)?;
        self.raw.until(END)?;
        let took = ms(begin.elapsed());
        self.raw.until(READY)?;
        Ok(took)
    }
}

impl Drop for Floor {
    fn drop(&mut self) {
        let socket = self.tmux.socket_path();
        drop(std::process::Command::new("tmux").arg("-S").arg(socket).arg("kill-server").output());
    }
}
