//! The time a stream takes to become lines and regions, to compare two versions of the code on one machine.

use std::fmt::Write as _;
use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use dtmcp_core::cooked::Size;
use dtmcp_core::log::Log;
use dtmcp_core::text::width::Widths;
use dtmcp_core::time::Wall;
use dtmcp_core::vt::marker::Nonce;

const NONCE: &str = "00112233445566778899aabbccddeeff";

/// Bytes handed over at a time, as the server does.
const CHUNK: usize = 256 * 1024;

/// A megabyte or so of plain lines, and as many commands of one line each with all their markers.
fn streams() -> [(&'static str, Vec<u8>); 2] {
    let mut plain = String::new();
    for number in 0..150_000 {
        let _ = write!(plain, "{number}\r\n");
    }
    let mut commands = String::new();
    let who = format!("dt={NONCE};pid=7;i=1;host=h;user=u");
    for number in 0..3_000_u32 {
        let q = number * 3 + 1;
        let _ = write!(
            commands,
            "\x1b]133;D;0;{who};q={q}\x1b\\\x1b]133;A;{who};cwd=/;st=0;h=1;q={}\x1b\\$ \x1b]133;B;dt={NONCE};pid=7;i=1\x1b\\\
             true\r\n\x1b]133;C;{who};prev=0;q={}\x1b\\out\r\n",
            q + 1,
            q + 2
        );
    }
    [("plain lines", plain.into_bytes()), ("commands", commands.into_bytes())]
}

fn log(stream: &[u8]) -> usize {
    let mut log = Log::new(Size { cols: 120, rows: 40 }, Widths::tmux(3, 3), Nonce::new(NONCE));
    let mut settled = Vec::new();
    for piece in stream.chunks(CHUNK) {
        log.feed(piece, Wall(0));
        settled.clear();
        log.cooked.take_settled(&mut settled);
        while log.poll().is_some() {}
    }
    log.regions().count() + settled.len()
}

fn feed(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("log");
    for (name, stream) in streams() {
        group.throughput(Throughput::Bytes(stream.len() as u64));
        group.bench_function(name, |bencher| bencher.iter(|| log(black_box(&stream))));
    }
    group.finish();
}

criterion_group!(benches, feed);
criterion_main!(benches);
