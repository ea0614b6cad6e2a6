//! What holds whatever happens, tried with seeds: `DTMCP_SEEDS` says how many, `DTMCP_SEED` repeats one.
//!
//! The harness checks at every event: a deadline lies ahead, effects are few, a call is answered once and in time, a
//! reply comes after its record and says the same, lines that are settled stay.

use std::time::Duration;

use dtmcp_core::call::Waiting;
use dtmcp_core::cooked::Size;
use dtmcp_core::region::{Region, State};
use dtmcp_core::time::Wall;
use dtmcp_tests::sim::{Chance, SIZE, Sim, Start, Typist, run_for, seeds, send, wait};

const LINES: &[&str] = &[
    "echo hi",
    "false",
    "",
    "# nothing",
    ")",
    "sleep 2; echo late",
    "sleep 0.05",
    "flood 30",
    "printf half",
    "gdb",
    "quit",
    "python",
    "quit()",
    "if x:",
    "cat",
    "odd",
    "vi",
    "bash",
    "exit",
    "echo \"open",
    "close\"",
    "later 1 noise",
    "later 3 more\r\nnoise\r\n",
    "slow 2",
    "twice",
    "one\ntwo",
    "echo one\nsleep 1\necho three",
    "vault",
    "passwd",
    "echo \u{1b}[7mred",
];

const KEYS: &[&[&str]] = &[&["enter"], &["ctrl+c"], &["ctrl+d"], &["q"], &["left"], &["up"], &["enter", "enter"]];

fn request(chance: &mut Chance) -> Waiting {
    let timeout = chance.of(&[0.0, 0.01, 0.3, 1.0, 5.0, 60.0]);
    let until = chance.of(&["", "", "hi", "late|did", "noise"]);
    match chance.below(10) {
        0..5 => run_for(chance.of(LINES), timeout, until),
        5..7 => wait(timeout, Some(until).filter(|until| !until.is_empty())),
        7 => send(chance.of(&["echo hi\n", "x", "quit\n", "one\ntwo\n", "", "y\n"]), &[]),
        _ => send("", chance.of(KEYS)),
    }
}

const SIZES: [Size; 4] = [SIZE, Size { cols: 20, rows: 6 }, Size { cols: 60, rows: 4 }, Size { cols: 200, rows: 50 }];

/// Something happens: a call, a key, a going, some time.
fn act(sim: &mut Sim, chance: &mut Chance) {
    let actor = chance.of(&["a", "b", "c"]);
    match chance.below(13) {
        12 => sim.resize(chance.of(&SIZES)),
        0..6 => {
            sim.call(actor, request(chance));
        }
        6 => sim.person(chance.of(&["echo me\r", "x", "\r", "\x03", "exit\r", "q"])),
        7 => {
            if let Some(id) = sim.oldest() {
                sim.gone(id);
            }
        }
        8 => {
            sim.typist = chance.of(&[
                Typist::Prompt,
                Typist::Prompt,
                Typist::Refuses("no".into()),
                Typist::Moved(3),
                Typist::Waits,
            ]);
        }
        9 => {
            let result = if chance.percent(70) { Ok(()) } else { Err("no".to_owned()) };
            sim.take_typing(result);
        }
        _ => sim.pass(chance.of(&[0.0001, 0.02, 0.4, 1.0, 4.0])),
    }
    for _ in 0..chance.below(6) {
        sim.step();
    }
}

fn start(chance: &mut Chance) -> Sim {
    let starts = [
        Start::Bash(Duration::from_millis(20)),
        Start::Bash(Duration::from_millis(20)),
        Start::Bash(Duration::from_secs(3)),
        Start::Plain,
        Start::Program("gdb".to_owned()),
    ];
    Sim::starting(&chance.of(&starts))
}

#[test]
fn every_call_is_answered_once_and_in_time() {
    seeds(|seed| {
        let mut chance = Chance::new(seed);
        let mut sim = start(&mut chance);
        if chance.percent(50) {
            sim.cut = Some(Chance::new(seed ^ 1));
        }
        for _ in 0..60 {
            act(&mut sim, &mut chance);
        }
        sim.typist = Typist::Prompt;
        while sim.take_typing(Ok(())) {}
        sim.pass(200.0);
        while sim.take_typing(Ok(())) {}
        sim.pass(200.0);
        assert!(!sim.waits(), "call {:?} has no answer", sim.oldest());
        assert!(sim.session.deadline().is_none(), "it wants to be woken for nothing");
    });
}

/// What is the same however the stream was cut and whoever was there to see it: everything but the times.
fn same(regions: &[Region], others: &[Region]) {
    let timeless = |region: &Region| Region { started: Wall(0), ended: None, ..region.clone() };
    for (one, other) in regions.iter().zip(others) {
        assert_eq!(timeless(one), timeless(other));
    }
    assert_eq!(regions.len(), others.len());
}

/// A session in which things happen one after the other; a server may die at the given steps.
fn lived(seed: u64, cut: bool, mut dies: impl FnMut(usize) -> bool) -> Sim {
    let mut chance = Chance::new(seed);
    let mut sim = Sim::starting(&Start::Bash(Duration::from_millis(20)));
    sim.cut = cut.then(|| Chance::new(seed ^ 7));
    sim.pass(0.5);
    let mut steps = 0;
    for _ in 0..25 {
        let actor = chance.of(&["a", "b"]);
        match chance.below(5) {
            0..3 => {
                let line = chance.of(LINES).split('\n').next().unwrap_or_default();
                sim.call(actor, run_for(line, 60.0, ""));
            }
            3 => sim.person(chance.of(&["echo me\r", "\r", "\x03", "q"])),
            _ => {
                // None that leaves half a line: whose that is, is written once the call is answered.
                sim.call(actor, send("", chance.of(&KEYS[..3])));
            }
        }
        // Until everything rests, so that the next thing finds the same session.
        let rests = sim.seconds() + 70.0;
        while sim.seconds() < rests && sim.next().is_some() {
            // Of a line whose editor is tried first, a server that dies then has typed nothing yet.
            if dies(steps) && !sim.typed().ends_with("ix") {
                sim.crash();
            }
            steps += 1;
            sim.step();
        }
        sim.pass((rests - sim.seconds()).max(0.0));
    }
    sim
}

#[test]
fn a_stream_cut_anywhere_is_the_same_session() {
    seeds(|seed| {
        let (whole, pieces) = (lived(seed, false, |_| false), lived(seed, true, |_| false));
        same(&pieces.regions(), &whole.regions());
        assert_eq!(pieces.disk.text, whole.disk.text);
    });
}

#[test]
fn a_server_that_dies_anywhere_changes_nothing() {
    seeds(|seed| {
        let mut chance = Chance::new(seed ^ 0xdead);
        let often = chance.of(&[1, 5, 20]);
        let (whole, died) = (lived(seed, false, |_| false), lived(seed, true, |_| chance.percent(often)));
        same(&died.regions(), &whole.regions());
        assert_eq!(died.disk.text, whole.disk.text);
        assert_eq!(died.typed(), whole.typed(), "typed twice, or not at all");
    });
}

#[test]
fn a_rebuilt_session_is_the_one_that_was_lived() {
    seeds(|seed| {
        let mut chance = Chance::new(seed);
        let mut sim = start(&mut chance);
        for _ in 0..60 {
            act(&mut sim, &mut chance);
        }
        let (regions, text) = (sim.regions(), sim.disk.text.clone());
        let shell = sim.session.log().shell();
        let live = sim.session.log().cooked.live();
        sim.crash();
        same(&sim.regions(), &regions);
        assert_eq!(sim.disk.text, text);
        assert_eq!((sim.session.log().shell(), sim.session.log().cooked.live()), (shell, live));
    });
}

#[test]
fn what_is_hidden_is_written_nowhere() {
    seeds(|seed| {
        let mut chance = Chance::new(seed);
        let mut sim = Sim::bash();
        let mut secrets = Vec::new();
        let mut answers = Vec::new();
        for turn in 0..8 {
            let id = sim.call("a", run_for(chance.of(&["vault", "passwd", "gdb", "echo hi"]), 1.0, ""));
            answers.push(sim.answer(id));
            let hidden = sim.bash.hides();
            let secret = format!("s{seed}cr{turn}t{}", chance.below(1_000_000));
            if hidden {
                let id = match chance.below(3) {
                    0 => sim.call("a", run_for(&secret, 1.0, "")),
                    1 => sim.call("a", send(&format!("{secret}\n"), &[])),
                    _ => sim.call("a", send(&secret, &["enter"])),
                };
                secrets.push(secret);
                answers.push(sim.answer(id));
            }
            if chance.percent(20) {
                sim.crash();
            }
            answers.push(sim.ran("b", "quit"));
            sim.sent("a", "", &["ctrl+c"]);
            sim.pass(5.0);
        }
        let (written, answers) = (sim.disk.written(), format!("{answers:?}"));
        for secret in secrets {
            assert!(!written.contains(&secret) && !answers.contains(&secret), "{secret} in {written}\n{answers}");
        }
    });
}

#[test]
fn nothing_is_running_once_the_pane_has_gone() {
    seeds(|seed| {
        let mut chance = Chance::new(seed);
        let mut sim = start(&mut chance);
        for _ in 0..30 {
            act(&mut sim, &mut chance);
        }
        sim.handle(dtmcp_core::session::Event::Closed("gone".to_owned()));
        while sim.take_typing(Ok(())) {}
        assert!(sim.regions().iter().all(|region| region.state != State::Running), "{:?}", sim.regions());
        assert!(!sim.waits());
        let regions = sim.regions();
        sim.crash();
        assert_eq!(sim.regions().len(), regions.len());
    });
}
