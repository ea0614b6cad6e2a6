//! What holds for the log whatever the stream is: shells that come, go, lie and repeat themselves, with programs in
//! between.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use proptest::prelude::*;

use super::*;
use crate::vt::marker::{self, Marker};

const SIZE: Size = Size { cols: 20, rows: 6 };

fn nonce() -> Nonce {
    Nonce::new("abcd1234").unwrap()
}

/// A part of a session's life.
#[derive(Debug, Clone)]
enum Act {
    /// Something is printed.
    Bytes(Vec<u8>),
    /// A line is sent to a program.
    Open,
    /// Its end was told by its looks.
    Close,
}

fn any_marker() -> impl Strategy<Value = Vec<u8>> {
    use marker::Kind::{Continuation, End, Input, Output, ProgramEnd, Prompt, SidePrompt, Unfinished};
    // The program's end is rare: nothing happens after it.
    let kinds = vec![Prompt, Prompt, Input, Input, Output, Output, End, End, Continuation, SidePrompt, Unfinished];
    let kind = prop_oneof![60 => proptest::sample::select(kinds), 1 => Just(ProgramEnd)];
    let numbers = (0..4_u32, 0..3_u8, 0..12_u64, proptest::option::of(0..3_i32), proptest::option::of(any::<bool>()));
    let flags = (any::<bool>(), proptest::bool::weighted(0.2), proptest::bool::weighted(0.1));
    (kind, numbers, flags).prop_map(|(kind, (pid, instance, seq, status, hooked), (idle, new, early))| {
        let mut marker = Marker::new(kind);
        (marker.pid, marker.instance) = (pid + 1, instance.to_string());
        (marker.host, marker.user) = (Some("h".to_owned()), Some("u".to_owned()));
        (marker.seq, marker.status, marker.hooked) = (Some(seq), status, hooked);
        (marker.idle, marker.early) = (idle, early);
        marker.new_shell = new.then(|| "bash-5.2.15".to_owned());
        marker.pipestatus = vec![0, 1];
        format!("\x1b]133;{}\x1b\\", marker.payload(&nonce())).into_bytes()
    })
}

fn any_text() -> impl Strategy<Value = Vec<u8>> {
    let pieces =
        ["a", "word ", "\r\n", "\n", "\r", "\x1b[A", "\x1b[2J\x1b[H", "\x1b[?1049h", "\x1b[?1049l", "é", "字", "\t"];
    proptest::collection::vec(proptest::sample::select(pieces.to_vec()), 0..6)
        .prop_map(|pieces| pieces.concat().into_bytes())
}

fn any_acts() -> impl Strategy<Value = Vec<Act>> {
    let act = prop_oneof![
        4 => any_text().prop_map(Act::Bytes),
        6 => any_marker().prop_map(Act::Bytes),
        1 => Just(Act::Open),
        1 => Just(Act::Close),
    ];
    proptest::collection::vec(act, 0..80)
}

/// Everything that a log can tell.
type Told = (Vec<Region>, String, Vec<LogEvent>, ShellState);

struct Teller {
    log: Log,
    settled: Vec<u8>,
    events: Vec<LogEvent>,
}

impl Teller {
    fn new(records: Vec<Region>) -> Self {
        let mut log = Log::new(SIZE, Widths::default(), Some(nonce()));
        log.expect_records(records);
        Self { log, settled: Vec::new(), events: Vec::new() }
    }

    fn feed(&mut self, bytes: &[u8]) {
        self.log.feed(bytes, Wall(7));
        self.drain();
    }

    fn drain(&mut self) {
        self.log.cooked.take_settled(&mut self.settled);
        self.events.extend(std::iter::from_fn(|| self.log.poll()));
    }

    fn told(self) -> Told {
        let lines = String::from_utf8(self.settled).unwrap() + &self.log.cooked.live().lines.join("\n");
        (self.log.regions().cloned().collect(), lines, self.events, self.log.shell())
    }
}

/// The log of acts as they happen, and the bytes that were recorded.
fn lived(acts: &[Act]) -> (Told, Vec<u8>) {
    let mut teller = Teller::new(Vec::new());
    let mut raw = Vec::new();
    let mut opened_at = None;
    for act in acts {
        match act {
            Act::Bytes(bytes) => {
                raw.extend_from_slice(bytes);
                teller.feed(bytes);
            }
            // Several lines sent where not a byte came between have no order in their records.
            Act::Open | Act::Close if opened_at == Some(raw.len()) => {}
            Act::Open => {
                opened_at = Some(raw.len());
                teller.log.open_input("line".to_owned(), Wall(7));
            }
            Act::Close => {
                // Every other prompt stands behind output without a line end.
                teller.log.close_input(Wall(7), raw.len() % 2 == 1);
            }
        }
        teller.drain();
        check(&teller.log);
    }
    (teller.told(), raw)
}

/// What is true of every log at any time.
fn check(log: &Log) {
    let settled = log.cooked.settled_lines();
    let mut last = 0;
    for region in log.regions() {
        assert!(region.id > last && region.label.len() <= crate::region::LABEL_MAX);
        last = region.id;
        let closed = region.state != State::Running;
        assert_eq!((region.raw_end.is_some(), region.ended.is_some()), (closed, closed));
        assert!(region.raw_end.is_none_or(|end| end >= region.raw_start && end <= log.cooked.offset()), "{region:?}");
        // The line of a prompt that is glued to output goes on.
        let there = settled + u64::from(region.kind == Kind::Input);
        assert!(region.lines == 0 || region.first_line + region.lines - 1 <= there, "{region:?} of {settled}");
        assert!(closed || region.lines == 0);
    }
    if let ShellState::Running(id) = log.shell() {
        assert_eq!(log.region(id).unwrap().state, State::Running);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn rebuilt_is_as_lived(acts in any_acts(), cuts in proptest::collection::vec(0_usize..4000, 0..30)) {
        let (told, raw) = lived(&acts);
        let records = told.0.clone();
        let mut whole = Teller::new(records.clone());
        whole.feed(&raw);
        prop_assert_eq!(&whole.told(), &told);
        let mut pieces = Teller::new(records);
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(raw.len())).chain([0, raw.len()]).collect();
        cuts.sort_unstable();
        cuts.windows(2).for_each(|pair| pieces.feed(raw.get(pair[0]..pair[1]).unwrap()));
        prop_assert_eq!(&pieces.told(), &told);
    }
}
