//! How fast the cooked view reads, as a ratio to `vte` with a performer that does nothing, in the same run and by
//! processor time.
//!
//! `cargo run --release -p dtmcp-tests --bin bench_cooked [MB [STREAM]]` makes its streams anew from fixed seeds, reads each
//! five times with either and prints the best; `MB` is the size of a stream (default 32). A second argument names the
//! one stream to read. `bench_cooked memory` prints what a gigabyte of each of the streams that could fill memory adds
//! to the process.

#![allow(clippy::print_stdout, reason = "its figures are what it is for")]

use std::fmt::Write as _;

use dtmcp_core::cooked::{Cooked, Size};
use dtmcp_core::text::width::Widths;
use nix::sys::resource::{UsageWho, getrusage};
use nix::time::{ClockId, clock_gettime};

/// Bytes fed at a time, as from a raw log.
const CHUNK: usize = 64 * 1024;
/// Runs of which the best counts.
const RUNS: usize = 5;

/// A stream, and the share of vte's speed that is asked for; none where its measure is our speed on plain text.
struct Corpus {
    name: &'static str,
    bytes: Vec<u8>,
    wanted: Option<f64>,
}

fn main() {
    if std::env::args().nth(1).is_some_and(|argument| argument == "memory") {
        return memory();
    }
    let megabytes: usize = std::env::args().nth(1).and_then(|size| size.parse().ok()).unwrap_or(32);
    let size = megabytes * 1_000_000;
    let corpora = [
        Corpus { name: "ascii", bytes: log(size, ""), wanted: Some(0.25) },
        Corpus { name: "seq", bytes: sequence(size), wanted: Some(0.25) },
        Corpus { name: "colour", bytes: log(size, "\x1b[32m"), wanted: Some(0.25) },
        Corpus { name: "progress", bytes: progress(size), wanted: Some(0.2) },
        Corpus { name: "cjk", bytes: cjk(size), wanted: Some(0.2) },
        Corpus { name: "latin1", bytes: latin1(size), wanted: None },
        Corpus { name: "random", bytes: random_bytes(size), wanted: None },
    ];
    println!("{:<9} {:>9} {:>9} {:>7} {:>8}", "stream", "MB/s", "vte MB/s", "ratio", "wanted");
    let mut ascii = 0.0;
    let only = std::env::args().nth(2);
    for corpus in corpora.iter().filter(|corpus| only.as_ref().is_none_or(|only| only == corpus.name)) {
        let ours = speed(corpus, cooked);
        if corpus.name == "ascii" {
            ascii = ours;
        }
        match corpus.wanted {
            Some(wanted) => {
                let theirs = speed(corpus, parsed);
                let ratio = ours / theirs;
                let mark = if ratio >= wanted { "" } else { " MISSED" };
                println!("{:<9} {ours:>9.0} {theirs:>9.0} {ratio:>7.2} {wanted:>8.2}{mark}", corpus.name);
            }
            None => {
                let theirs = speed(corpus, parsed);
                let ratio = ours / ascii;
                let mark = if ratio >= 0.25 { "" } else { " MISSED" };
                println!("{:<9} {ours:>9.0} {theirs:>9.0} {ratio:>7.2} {:>8.2}{mark}  (of ascii)", corpus.name, 0.25);
            }
        }
    }
}

/// Feeds a gigabyte of each and prints how much the process grew at most.
fn memory() {
    let random = random_bytes(1 << 20);
    let streams: [(&str, &[u8], Vec<u8>); 5] = [
        ("a line without end", b"", vec![b'x'; 1 << 20]),
        ("blanks without end", b"", vec![b' '; 1 << 20]),
        ("a title without end", b"\x1b]0;", vec![b'x'; 1 << 20]),
        ("a picture without end", b"\x1bPq", vec![b'x'; 1 << 20]),
        ("random bytes", b"", random),
    ];
    println!("{:<22} {:>10}", "1 GiB of", "grown by");
    for (name, start, more) in streams {
        let mut view = Cooked::new(Size { cols: 120, rows: 40 }, Widths::tmux(3, 7));
        let mut out = Vec::new();
        let before = peak_kilobytes();
        view.feed(start);
        for chunk in std::iter::repeat_n(more.as_slice(), 1024).flat_map(|more| more.chunks(CHUNK)) {
            let mut rest = chunk;
            while !rest.is_empty() {
                let fed = view.feed(rest);
                rest = rest.get(fed.consumed..).unwrap_or_default();
            }
            out.clear();
            view.take_settled(&mut out);
        }
        println!("{name:<22} {:>7} kB", peak_kilobytes() - before);
    }
}

/// The most memory that the process has held so far.
fn peak_kilobytes() -> i64 {
    getrusage(UsageWho::RUSAGE_SELF).map_or(0, |usage| usage.max_rss())
}

/// Millions of bytes a second of processor time, best of all runs.
fn speed(corpus: &Corpus, read: fn(&[u8]) -> usize) -> f64 {
    let mut best = f64::MAX;
    for _ in 0..RUNS {
        let start = processor_seconds();
        std::hint::black_box(read(&corpus.bytes));
        best = best.min(processor_seconds() - start);
    }
    #[expect(clippy::cast_precision_loss, reason = "a stream is far below 2^52 bytes")]
    let megabytes = corpus.bytes.len() as f64 / 1e6;
    megabytes / best
}

fn processor_seconds() -> f64 {
    let time = clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID).unwrap_or_else(|_| nix::sys::time::TimeSpec::new(0, 0));
    #[expect(clippy::cast_precision_loss, reason = "nanoseconds within a second")]
    let fraction = time.tv_nsec() as f64 / 1e9;
    #[expect(clippy::cast_precision_loss, reason = "the seconds that a benchmark takes")]
    let whole = time.tv_sec() as f64;
    whole + fraction
}

fn cooked(bytes: &[u8]) -> usize {
    let mut view = Cooked::new(Size { cols: 120, rows: 40 }, Widths::tmux(3, 7));
    let mut out = Vec::new();
    let mut length = 0;
    for chunk in bytes.chunks(CHUNK) {
        let mut rest = chunk;
        while !rest.is_empty() {
            let fed = view.feed(rest);
            rest = rest.get(fed.consumed..).unwrap_or_default();
        }
        view.take_settled(&mut out);
        length += out.len();
        out.clear();
    }
    length
}

/// Does nothing.
struct Idle;

impl vte::Perform for Idle {}

fn parsed(bytes: &[u8]) -> usize {
    let mut parser = vte::Parser::new();
    for chunk in bytes.chunks(CHUNK) {
        parser.advance(&mut Idle, chunk);
    }
    bytes.len()
}

/// xorshift64*.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16
    }

    fn pick<'words>(&mut self, words: &[&'words str]) -> &'words str {
        let at = usize::try_from(self.next()).unwrap_or(0) % words.len();
        words.get(at).copied().unwrap_or_default()
    }
}

const WORDS: &[&str] = &[
    "connection",
    "from",
    "10.0.3.17",
    "closed",
    "by",
    "peer",
    "GET",
    "/api/v1/items?id=42",
    "200",
    "in",
    "17ms",
    "worker",
    "started",
    "cache",
    "miss",
    "for",
    "key",
    "user:1234",
    "warning:",
    "retrying",
    "after",
    "timeout",
];

fn log(size: usize, colour: &str) -> Vec<u8> {
    let mut random = Random(1);
    let mut text = String::with_capacity(size + 200);
    let end = if colour.is_empty() { "" } else { "\x1b[0m" };
    let mut number = 0_u64;
    while text.len() < size {
        number += 1;
        let level = random.pick(&["INFO", "DEBUG", "WARN"]);
        let _ = write!(text, "2026-01-02T03:04:05.{:06}Z {colour}{level}{end} [{number}]", number % 1_000_000);
        for _ in 0..4 + random.next() % 5 {
            let word = random.pick(WORDS);
            let _ = if random.next().is_multiple_of(4) {
                write!(text, " {colour}{word}{end}")
            } else {
                write!(text, " {word}")
            };
        }
        text.push_str("\r\n");
    }
    text.into_bytes()
}

fn sequence(size: usize) -> Vec<u8> {
    let mut text = String::with_capacity(size + 20);
    let mut number = 0_u64;
    while text.len() < size {
        number += 1;
        let _ = write!(text, "{number}\r\n");
    }
    text.into_bytes()
}

fn progress(size: usize) -> Vec<u8> {
    let mut text = String::with_capacity(size + 200);
    let mut step = 0_usize;
    while text.len() < size {
        step += 1;
        let done = step % 51;
        let bar = "#".repeat(done);
        let _ = write!(text, "\r {:3}% [{bar:<50}] {step:>8} kB {:4} kB/s", done * 2, step % 999);
        if done == 50 {
            text.push_str("\r\n");
        }
    }
    text.into_bytes()
}

fn cjk(size: usize) -> Vec<u8> {
    let mut random = Random(2);
    let words = [
        "日本語の文章",
        "이것은 한국어",
        "这是中文日志",
        "カタカナ",
        "🚀",
        "👍",
        "error",
        "文字列を処理",
        "完了しました",
        "é",
        "→",
        "42",
    ];
    let mut text = String::with_capacity(size + 200);
    while text.len() < size {
        for _ in 0..3 + random.next() % 7 {
            text.push_str(random.pick(&words));
            text.push(' ');
        }
        text.push_str("\r\n");
    }
    text.into_bytes()
}

fn latin1(size: usize) -> Vec<u8> {
    let mut bytes = log(size, "");
    let mut random = Random(3);
    for byte in &mut bytes {
        if byte.is_ascii_lowercase() && random.next().is_multiple_of(8) {
            *byte |= 0x80;
        }
    }
    bytes
}

fn random_bytes(size: usize) -> Vec<u8> {
    let mut random = Random(4);
    (0..size).map(|_| u8::try_from(random.next() & 0xff).unwrap_or(0)).collect()
}
