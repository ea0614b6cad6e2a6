//! What the integration adds to one command and its prompt: bash, zsh and fish with it and without, in turns on ptys of
//! their own, `true` given to each.

#![expect(clippy::print_stdout, reason = "this program is for a person who reads its output")]

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::AsFd as _;
use std::path::Path;
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use dtmcp_core::cooked::Size;
use dtmcp_core::log::Log;
use dtmcp_core::text::width::Widths;
use dtmcp_core::time::Wall;
use dtmcp_core::vt::marker::Nonce;
use dtmcp_tests::measure::{load, median, ms, report, words};
use dtmcp_tests::needs;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

/// Prompts of each, in turns.
const PROMPTS: u32 = 500;

const NONCE: &str = "0123456789abcdef";
const SIZE: Size = Size { cols: 80, rows: 24 };

/// The end of every prompt here, by which it is known that it stands.
const READY: &str = "ready> ";

/// A shell that shows no prompt for so long shows none.
const GIVE_UP: Duration = Duration::from_secs(60);

/// After a prompt, a shell that has printed nothing for so long has ended with it, and waits.
const QUIET_MS: u8 = 5;

const HOME: [(&str, &str); 3] = [
    (".bash_profile", "PS1='ready> '\n"),
    (".zshrc", "PS1='ready> '\n"),
    (".config/fish/config.fish", "set -g fish_greeting\nfunction fish_prompt; echo -n 'ready> '; end\n"),
];

/// A shell on a pty.
struct Shell {
    child: Child,
    master: File,
    raw: Vec<u8>,
    log: Log,
    settled: Vec<u8>,
}

impl Shell {
    fn start(words_of_it: &[&str], home: &Path) -> Result<Self, String> {
        let window = nix::pty::Winsize { ws_row: SIZE.rows, ws_col: SIZE.cols, ws_xpixel: 0, ws_ypixel: 0 };
        let pty = nix::pty::openpty(&window, None).map_err(words)?;
        let slave = || pty.slave.try_clone().map(Stdio::from).map_err(words);
        let child = Command::new("setsid")
            .arg("--ctty")
            .args(words_of_it)
            .env_clear()
            .envs([("TERM", "xterm-256color"), ("LANG", "C.UTF-8"), ("__DTMCP_NONCE", NONCE)])
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", home)
            .current_dir(home)
            .stdin(slave()?)
            .stdout(slave()?)
            .stderr(slave()?)
            .spawn()
            .map_err(words)?;
        let log = Log::new(SIZE, Widths::default(), Nonce::new(NONCE));
        let mut shell = Self { child, master: pty.master.into(), raw: Vec::new(), log, settled: Vec::new() };
        shell.prompt(0)?;
        Ok(shell)
    }

    /// What it takes from Enter to the end of the next prompt.
    fn command(&mut self) -> Result<Duration, String> {
        let from = self.raw.len();
        let begin = Instant::now();
        self.master.write_all(b"true\r").map_err(words)?;
        self.prompt(from)?;
        let took = begin.elapsed();
        while self.read(QUIET_MS)? {}
        Ok(took)
    }

    /// Waits for a prompt behind this place of the stream.
    fn prompt(&mut self, from: usize) -> Result<(), String> {
        let deadline = Instant::now() + GIVE_UP;
        let stands = |raw: &[u8]| memchr::memmem::find(raw, READY.as_bytes()).is_some();
        while !stands(self.raw.get(from..).unwrap_or_default()) {
            if Instant::now() > deadline {
                return Err(format!("no prompt: {}", self.raw.escape_ascii()));
            }
            self.read(100)?;
        }
        Ok(())
    }

    /// Reads what there is, and says whether there was any within so many milliseconds.
    fn read(&mut self, patience: u8) -> Result<bool, String> {
        let mut ready = [PollFd::new(self.master.as_fd(), PollFlags::POLLIN)];
        if poll(&mut ready, PollTimeout::from(patience)).map_err(words)? == 0 {
            return Ok(false);
        }
        let mut piece = [0; 65536];
        let count = self.master.read(&mut piece).map_err(words)?;
        self.raw.extend_from_slice(piece.get(..count).unwrap_or_default());
        Ok(true)
    }

    /// All that is to be seen of what it has printed.
    fn shows(&mut self) -> String {
        self.log.feed(&self.raw, Wall(0));
        self.log.cooked.take_settled(&mut self.settled);
        format!("{}{}", String::from_utf8_lossy(&self.settled), self.log.cooked.live().lines.join("\n"))
    }

    /// Page faults of children that it has waited for (`cminflt` of proc(5)): no child ends without any.
    fn reaped(&self) -> Result<u64, String> {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id())).map_err(words)?;
        let fields = stat.rsplit_once(')').map(|(_, fields)| fields).unwrap_or_default();
        fields.split_whitespace().nth(8).unwrap_or_default().parse().map_err(words)
    }

    /// Milliseconds of processor time so far, which other work on the machine does not lengthen.
    fn worked(&self) -> Result<f64, String> {
        let text = std::fs::read_to_string(format!("/proc/{}/schedstat", self.child.id())).map_err(words)?;
        let nanoseconds: f64 = text.split_whitespace().next().unwrap_or_default().parse().map_err(words)?;
        Ok(nanoseconds / 1e6)
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        self.child.kill().and_then(|()| self.child.wait()).ok();
    }
}

fn main() -> ExitCode {
    report(measure)
}

fn measure() -> Result<(), String> {
    let home = tempfile::tempdir().map_err(words)?;
    for (name, text) in HOME {
        let path = home.path().join(name);
        path.parent().map_or(Ok(()), std::fs::create_dir_all).map_err(words)?;
        std::fs::write(path, text).map_err(words)?;
    }
    // A fish that finds none makes completions out of every manual page.
    std::fs::create_dir_all(home.path().join(".local/share/fish/generated_completions")).map_err(words)?;
    let files = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shell");
    let (bashrc, start) = (files.join("bashrc"), files.join("start"));
    let (bashrc, start) = (bashrc.to_string_lossy(), start.to_string_lossy());
    println!("{PROMPTS} commands and prompts of each, load {}; milliseconds, medians", load());
    for (name, with) in [
        ("bash", &["bash", "--rcfile", &*bashrc, "-i"][..]),
        ("zsh", &["sh", &*start, "zsh", "zsh"]),
        ("fish", &["sh", &*start, "fish", "fish"]),
    ] {
        if !needs::has(name) {
            println!("{name:6} is not here");
            continue;
        }
        let mut with = Shell::start(with, home.path())?;
        let mut without = Shell::start(&[name, "-l", "-i"], home.path())?;
        // The first ones load what is loaded once.
        for _ in 0..3 {
            with.command()?;
            without.command()?;
        }
        let (reaped, reaped_without) = (with.reaped()?, without.reaped()?);
        let (worked, worked_without) = (with.worked()?, without.worked()?);
        let (mut times, mut times_without) = (Vec::new(), Vec::new());
        for _ in 0..PROMPTS {
            times.push(ms(with.command()?));
            times_without.push(ms(without.command()?));
        }
        let forks = if with.reaped()? == reaped { "none" } else { "some" };
        let forks_without = if without.reaped()? == reaped_without { "none" } else { "some" };
        let same = if with.shows() == without.shows() { "the same" } else { "NOT the same" };
        let each = f64::from(PROMPTS);
        let (worked, worked_without) = ((with.worked()? - worked) / each, (without.worked()? - worked_without) / each);
        let (time, time_without) = (median(&times), median(&times_without));
        println!(
            "{name:5} with {time:.2}   without {time_without:.2}   more {:.2} (at most 1)   ratio {:.2}\n      \
             processor time {worked:.2}, without {worked_without:.2}   forks {forks}, without {forks_without}   \
             shows {same}",
            time - time_without,
            time / time_without
        );
    }
    Ok(())
}
