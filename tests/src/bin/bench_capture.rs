//! What recording costs: 3,000,000 lines of `seq` through tmux and `dtmcp record`, against the same through tmux and
//! `cat`, five pairs in turn. Prints medians and their ratios; run it with `--release`.
//!
//! Processor time is that of the tmux server and of the pipe's reader, from `/proc/PID/schedstat`.

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use dtmcp::terminal::Terminal as _;
use dtmcp_core::cooked::Size;
use dtmcp_tests::stage::{Stage, until};

const SIZE: Size = Size { cols: 120, rows: 40 };
const PAIRS: usize = 5;

/// `seq 1 3000000` on a terminal: 22,888,896 bytes and a carriage return for each line.
const BYTES: u64 = 22_888_896 + 3_000_000;

fn main() -> ExitCode {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let result = runtime.map_err(|error| error.to_string()).and_then(|runtime| runtime.block_on(bench()));
    match result {
        Ok(report) => {
            drop(io::stdout().write_all(report.as_bytes()));
            ExitCode::SUCCESS
        }
        Err(error) => {
            drop(writeln!(io::stderr(), "{error}"));
            ExitCode::FAILURE
        }
    }
}

/// One run: how long until the last byte was in the file, and the processor time of server and reader.
#[derive(Debug, Clone, Copy)]
struct Run {
    wall: Duration,
    server: Duration,
    reader: Duration,
}

async fn bench() -> Result<String, String> {
    let (mut cat, mut record) = (Vec::new(), Vec::new());
    for _ in 0..PAIRS {
        cat.push(with_cat().await?);
        record.push(with_record().await?);
    }
    let [cat, record] = [cat, record].map(|runs| {
        [
            median(&runs, |run| run.wall),
            median(&runs, |run| run.server),
            median(&runs, |run| run.reader),
            median(&runs, |run| run.server + run.reader),
        ]
    });
    let mut report = "3,000,000 lines of seq, median of 5    tmux+cat   tmux+dtmcp   ratio\n".to_owned();
    for (index, name) in ["wall", "cpu, tmux", "cpu, reader", "cpu, both"].iter().enumerate() {
        let [cat, record] = [cat, record].map(|row| row.get(index).copied().unwrap_or_default().as_secs_f64());
        let ratio = record / cat;
        writeln!(report, "{name:38} {cat:7.3} s    {record:7.3} s  {ratio:6.2}").map_err(|error| error.to_string())?;
    }
    Ok(report)
}

fn median(runs: &[Run], what: impl Fn(&Run) -> Duration) -> Duration {
    let mut values: Vec<Duration> = runs.iter().map(what).collect();
    values.sort_unstable();
    values.get(values.len() / 2).copied().unwrap_or_default()
}

async fn with_record() -> Result<Run, String> {
    let stage = Stage::new()?;
    let begin = Instant::now();
    let pane = stage.create("t1", &["seq", "1", "3000000"], SIZE).await?;
    let log = stage.dir("t1").join("raw.log");
    let wall = whole(&log, begin).await?;
    stage.ended(pane).await?;
    finish(pane.server.pid, "record", wall)
}

async fn with_cat() -> Result<Run, String> {
    let stage = Stage::new()?;
    let log = stage.root().join("raw.log");
    let script = format!("tmux pipe-pane -O 'exec cat >> {}'; exec seq 1 3000000", log.display());
    let argv = ["sh", "-c", &script].map(str::to_owned).to_vec();
    let begin = Instant::now();
    let pane = stage.tmux.create(stage.pane("t1", argv, SIZE)).await.map_err(|error| error.to_string())?;
    let wall = whole(&log, begin).await?;
    finish(pane.server.pid, "cat", wall)
}

/// Waits until everything is in the file. Without the pane program tmux may lose the last kilobytes of a burst.
async fn whole(log: &Path, begin: Instant) -> Result<Duration, String> {
    until("the last byte", async || std::fs::metadata(log).is_ok_and(|meta| meta.len() + 16 * 1024 >= BYTES)).await?;
    Ok(begin.elapsed())
}

fn finish(server: u32, reader: &str, wall: Duration) -> Result<Run, String> {
    let children = std::fs::read_to_string(format!("/proc/{server}/task/{server}/children"));
    let children = children.map_err(|error| error.to_string())?;
    let is_reader = |pid: &&str| {
        let command = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        command.split(|byte| *byte == 0).take(2).any(|word| word == reader.as_bytes())
    };
    let found = children.split_whitespace().find(is_reader).ok_or("the reader is gone")?;
    Ok(Run { wall, server: processor_time(&server.to_string())?, reader: processor_time(found)? })
}

fn processor_time(pid: &str) -> Result<Duration, String> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/schedstat")).map_err(|error| error.to_string())?;
    let nanoseconds = stat.split(' ').next().and_then(|word| word.parse().ok());
    nanoseconds.map(Duration::from_nanos).ok_or_else(|| format!("/proc/{pid}/schedstat: {stat}"))
}
