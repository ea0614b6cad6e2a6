//! What the benchmarks measure with: a client without threads of its own, a wait for bytes in a file, what the kernel
//! knows of a process.

mod web;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitCode, Stdio as Piped};
use std::time::Duration;

use nix::sys::inotify::{AddWatchFlags, InitFlags, Inotify};
use serde_json::{Value, json};

pub use web::Web;

/// As much of a file's end is looked at for what is waited for.
const TAIL: u64 = 4096;

/// Runs a benchmark; where it could not be run to its end, says why.
#[expect(clippy::print_stdout, reason = "benchmarks are for a person who reads their output")]
pub fn report(measure: impl FnOnce() -> Result<(), String>) -> ExitCode {
    match measure() {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            println!("{why}");
            ExitCode::FAILURE
        }
    }
}

/// The command that stands beside the running program.
///
/// # Errors
/// Where it is not built.
pub fn dtmcp() -> Result<PathBuf, String> {
    let own = std::env::current_exe().map_err(words)?;
    let path = own.with_file_name("dtmcp");
    path.is_file().then_some(path).ok_or_else(|| "build dtmcp first, in the same profile".to_owned())
}

/// An error as text.
pub fn words(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// The middle of the values; 0 where there are none.
#[must_use]
pub fn median(values: &[f64]) -> f64 {
    quantile(values, 0.5)
}

/// The value below which this share of the values lies.
#[must_use]
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "a few thousand values, and a share between 0 and 1"
)]
pub fn quantile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let at = (sorted.len() as f64 * share) as usize;
    sorted.get(at.min(sorted.len().saturating_sub(1))).copied().unwrap_or(0.0)
}

/// Milliseconds.
#[must_use]
pub fn ms(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}

/// Lets time pass in which something is measured, or happens by itself.
pub fn rest(time: Duration) {
    std::thread::sleep(time);
}

/// What the machine did beside: the load of the last minute.
#[must_use]
pub fn load() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').next().unwrap_or("?").to_owned()
}

/// A client that reads where it writes, so that no thread of its own stands in the time it measures.
#[derive(Debug)]
pub struct Stdio {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    next: u64,
}

impl Stdio {
    /// Starts a server and says hello.
    ///
    /// # Errors
    /// Where it does not start or answer.
    pub fn start(mut command: Command) -> Result<Self, String> {
        let mut child = command.stdin(Piped::piped()).stdout(Piped::piped()).spawn().map_err(words)?;
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().ok_or("no standard output")?);
        let mut client = Self { child, input, output, next: 1 };
        let info = json!({ "name": "bench", "version": "1" });
        client.request(
            "initialize",
            &json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info }),
        )?;
        client.write(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))?;
        Ok(client)
    }

    /// The server's process.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    fn write(&mut self, message: &Value) -> Result<(), String> {
        let input = self.input.as_mut().ok_or("the input is closed")?;
        input.write_all(format!("{message}\n").as_bytes()).map_err(words)
    }

    /// Sends a request and reads up to its answer.
    ///
    /// # Errors
    /// Where the server is gone, or answers with a protocol error.
    pub fn request(&mut self, method: &str, params: &Value) -> Result<Value, String> {
        let id = self.next;
        self.next += 1;
        self.write(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))?;
        let mut line = String::new();
        loop {
            line.clear();
            if self.output.read_line(&mut line).map_err(words)? == 0 {
                return Err("the server went away".to_owned());
            }
            let mut answer: Value = serde_json::from_str(&line).map_err(words)?;
            if answer.get("id") == Some(&json!(id)) {
                return answer.get_mut("result").map(Value::take).ok_or(line);
            }
        }
    }

    /// Calls a tool; gives `_meta["dtmcp/reply"]`.
    ///
    /// # Errors
    /// As [`Self::request`], and where the result is an error.
    pub fn call(&mut self, tool: &str, arguments: &Value) -> Result<Value, String> {
        let mut result = self.request("tools/call", &json!({ "name": tool, "arguments": arguments }))?;
        if result.get("isError") == Some(&json!(true)) {
            return Err(result.to_string());
        }
        result.pointer_mut("/_meta/dtmcp~1reply").map(Value::take).ok_or_else(|| "no reply".to_owned())
    }
}

impl Drop for Stdio {
    fn drop(&mut self) {
        self.input = None;
        drop(self.child.wait());
    }
}

/// Waits for bytes to be appended to a file.
#[derive(Debug)]
pub struct Appended {
    file: File,
    inotify: Inotify,
    /// Where the looking goes on.
    from: u64,
}

impl Appended {
    /// Watches a file from its present end on.
    ///
    /// # Errors
    /// Where it is not there or cannot be watched.
    pub fn watch(path: &Path) -> Result<Self, String> {
        let inotify = Inotify::init(InitFlags::IN_CLOEXEC).map_err(words)?;
        inotify.add_watch(path, AddWatchFlags::IN_MODIFY).map_err(words)?;
        let file = File::open(path).map_err(words)?;
        let from = file.metadata().map_err(words)?.len();
        Ok(Self { file, inotify, from })
    }

    /// From now on only what is appended after this counts.
    ///
    /// # Errors
    /// Where the file is gone.
    pub fn begin(&mut self) -> Result<(), String> {
        self.from = self.file.metadata().map_err(words)?.len();
        Ok(())
    }

    /// Waits until `what` has been appended.
    ///
    /// # Errors
    /// Where the file cannot be read.
    pub fn until(&mut self, what: &[u8]) -> Result<(), String> {
        let mut buffer = Vec::new();
        loop {
            let end = self.file.metadata().map_err(words)?.len();
            // Of a burst only the end is looked at: what is waited for is printed last.
            let from = self.from.max(end.saturating_sub(TAIL));
            buffer.resize(usize::try_from(end.saturating_sub(from)).map_err(words)?, 0);
            self.file.read_exact_at(&mut buffer, from).map_err(words)?;
            if memchr::memmem::find(&buffer, what).is_some() {
                return Ok(());
            }
            self.inotify.read_events().map_err(words)?;
        }
    }
}

/// The processor time that a process has used, in milliseconds; 0 where there is none.
#[must_use]
pub fn processor_ms(pid: u32) -> f64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let Some((_, fields)) = stat.rsplit_once(") ") else { return 0.0 };
    // utime and stime are the 14th and 15th fields of all; state, the third, comes first here.
    let ticks: u32 = fields.split(' ').skip(11).take(2).filter_map(|ticks| ticks.parse::<u32>().ok()).sum();
    // The kernel counts in hundredths of a second for programs, whatever its own clock is.
    f64::from(ticks) * 10.0
}

/// The processes that a process has started and that are still there, with their command lines.
#[must_use]
pub fn children(pid: u32) -> Vec<(u32, String)> {
    // The kernel tells them by the thread that started them.
    let threads = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let text: String =
        threads.filter_map(|thread| std::fs::read_to_string(thread.path().join("children")).ok()).collect();
    let pids = text.split_whitespace().filter_map(|pid| pid.parse().ok());
    pids.map(|pid: u32| {
        let command = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        (pid, String::from_utf8_lossy(&command).replace('\0', " "))
    })
    .collect()
}

/// A line of `/proc/PID/status`, such as `VmHWM`, in the kernel's units (kB for memory).
#[must_use]
pub fn status(pid: u32, field: &str) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    number(&text, field)
}

/// How often each thread of a process has been put on a processor, by its number.
#[must_use]
pub fn switches(pid: u32) -> BTreeMap<String, u64> {
    let Ok(threads) = std::fs::read_dir(format!("/proc/{pid}/task")) else { return BTreeMap::new() };
    let switches = |thread: std::fs::DirEntry| {
        let text = std::fs::read_to_string(thread.path().join("status")).ok()?;
        let count = number(&text, "voluntary_ctxt_switches") + number(&text, "nonvoluntary_ctxt_switches");
        Some((thread.file_name().to_string_lossy().into_owned(), count))
    };
    threads.flatten().filter_map(switches).collect()
}

fn number(text: &str, field: &str) -> u64 {
    let line = text.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':'));
    line.and_then(|rest| rest.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}
