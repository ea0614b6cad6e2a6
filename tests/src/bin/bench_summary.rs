//! How fast the recognisers of summary lines read a log, as a ratio to finding its line breaks with `memchr`, in the same
//! run and by processor time.
//!
//! `cargo run --release -p dtmcp-tests --bin bench_summary` reads logs of 30 MB, which are read whole, five times and prints
//! the best: one of numbers, one as services write them, and one made of what real tools printed. The last figure is
//! the same from a file, as a reply reads it.

#![allow(clippy::print_stdout, reason = "its figures are what it is for")]

use std::fmt::Write as _;
use std::ops::ControlFlow;
use std::path::Path;

use dtmcp::store::lines::LogLines;
use dtmcp_core::lines::Lines;
use dtmcp_core::summary::{Allowance, Wanted, find};
use nix::time::{ClockId, clock_gettime};

/// Bytes of a log: under what is read whole.
const SIZE: usize = 30_000_000;
/// Runs of which the best counts.
const RUNS: usize = 5;

/// A text whose lines are handed over where they stand.
#[derive(Debug)]
struct Text(String);

impl Lines for Text {
    fn last(&self) -> u64 {
        memchr::memchr_iter(b'\n', self.0.as_bytes()).count() as u64
    }

    fn offset(&self, line: u64) -> u64 {
        if line > 1 { self.0.len() as u64 } else { 0 }
    }

    fn visit(&self, _: u64, _: u64, visit: &mut dyn FnMut(u64, &str) -> ControlFlow<()>) -> Result<(), String> {
        let mut start = 0;
        for (number, end) in (1..).zip(memchr::memchr_iter(b'\n', self.0.as_bytes())) {
            if visit(number, self.0.get(start..end).unwrap_or_default()).is_break() {
                break;
            }
            start = end + 1;
        }
        Ok(())
    }
}

fn main() -> Result<(), String> {
    println!("{:<10} {:>9} {:>12} {:>7} {:>10}", "log", "MB/s", "memchr MB/s", "ratio", "file MB/s");
    for (name, text) in [("numbers", numbers()), ("service", service()), ("tools", tools()?)] {
        let file = tempfile::NamedTempFile::new().map_err(|error| error.to_string())?;
        std::fs::write(file.path(), &text).map_err(|error| error.to_string())?;
        let stored = LogLines::open(file.path()).map_err(|error| error.to_string())?;
        let text = Text(text);
        let scan = best(|| Ok(memchr::memchr_iter(b'\n', text.0.as_bytes()).count() as u64))?;
        let ours = best(|| summary(&text))?;
        let from_file = best(|| summary(&stored))?;
        println!("{name:<10} {ours:>9.0} {scan:>12.0} {:>7.3} {from_file:>10.0}", ours / scan);
    }
    Ok(())
}

fn summary(lines: &dyn Lines) -> Result<u64, String> {
    let all = (1, lines.last());
    let wanted = Wanted { output: all, range: all, inner: all, allowance: Allowance::default() };
    Ok(find(lines, &wanted)?.map_or(0, |found| found.more + found.lines.len() as u64))
}

/// Megabytes a second of processor time, in the best of some runs.
fn best(mut work: impl FnMut() -> Result<u64, String>) -> Result<f64, String> {
    let mut best = f64::MAX;
    for _ in 0..RUNS {
        let before = seconds()?;
        std::hint::black_box(work()?);
        best = best.min(seconds()? - before);
    }
    #[expect(clippy::cast_precision_loss, reason = "a size of some megabytes")]
    Ok(SIZE as f64 / 1e6 / best)
}

fn seconds() -> Result<f64, String> {
    let time = clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID).map_err(|error| error.to_string())?;
    Ok(std::time::Duration::from(time).as_secs_f64())
}

fn numbers() -> String {
    let mut text = String::new();
    for number in 1.. {
        let _ = writeln!(text, "{number}");
        if text.len() >= SIZE {
            break;
        }
    }
    text
}

fn service() -> String {
    let mut text = String::new();
    for number in 1.. {
        let _ = writeln!(
            text,
            "2026-01-01T12:00:{:02}.{:03}Z INFO worker-{}: request {number} done in {} ms",
            number % 60,
            number % 1000,
            number % 7,
            number % 90
        );
        if text.len() >= SIZE {
            break;
        }
    }
    text
}

fn tools() -> Result<String, String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("cases/summary");
    let mut once = String::new();
    for entry in std::fs::read_dir(folder).map_err(|error| error.to_string())? {
        let path = entry.map_err(|error| error.to_string())?.path();
        if path.extension().is_some_and(|extension| extension == "log") {
            once.push_str(&std::fs::read_to_string(path).map_err(|error| error.to_string())?);
        }
    }
    Ok(once.repeat(SIZE / once.len() + 1))
}
