//! The docent's notes over random lives of a session: each once where it is told once, and none that is not true.

use dtmcp_core::call::{CallId, Outcome, Status};
use dtmcp_tests::sim::{Chance, Sim, Start, run_for, seeds, send, wait};
use std::time::Duration;

const LINES: &[&str] = &[
    "echo hi",
    "gdb",
    "quit",
    "joined no end",
    "python",
    "if x:",
    "",
    "quit()",
    "cat",
    "vi",
    "bash",
    "exit",
    "echo \"open",
    "close\"",
    "slow 2",
    "passwd",
    "far",
    "sleep 2; echo $?",
    "false; echo done",
    "echo a | tail",
    "echo a | grep a",
    "later 1 noise",
    "one\ntwo",
];

/// Words of the notes that are told once to an agent in a session.
const ONCE: &[&str] = &[
    "stays open: run sends it",
    "a shell with the integration is open there",
    "run answers it with a line, send with text and keys",
    "send presses its keys and shows the screen",
    "141 is SIGPIPE",
    "the `echo $?` is not needed",
    "exit 0 is that of the `echo` at the end",
    "the `| tail` or `| head` is not needed",
    "without the `| grep` the whole output is kept",
    "no sleep is needed",
    "is a plain one: commands end by the looks",
];

/// Words of a note, and whether it can be true of an outcome.
type Truth = (&'static str, fn(&Outcome) -> bool);

const TRUE: &[Truth] = &[
    ("it goes on: wait session=", |it| it.status == Status::Running),
    ("stays open: run sends it", |it| it.status == Status::Prompt && it.prompt.is_some()),
    ("a shell with the integration is open there", |it| {
        matches!(it.status, Status::Prompt | Status::Sent) && it.prompt.is_some()
    }),
    ("run the rest", |it| it.status == Status::Continuation || it.unsent.is_some() || it.status == Status::Error),
    ("has the screen: send presses its keys", |it| it.status == Status::Screen),
    ("session_create opens a new session", |it| it.status == Status::Ended),
    ("what is typed now is not shown: ask the user", |it| {
        matches!(it.status, Status::WaitingHidden | Status::UnansweredHidden | Status::Sent)
    }),
    ("nothing runs: this is the last command", |it| it.region.as_ref().is_none_or(|region| region.ended.is_some())),
    ("the `| tail` or `| head` is not needed", |it| {
        it.region.as_ref().is_some_and(|region| region.label.contains("| tail"))
    }),
    ("the `echo $?` is not needed", |it| it.region.as_ref().is_some_and(|region| region.label.contains("echo $?"))),
];

fn ask(sim: &mut Sim, chance: &mut Chance, actor: &str) -> CallId {
    let timeout = chance.of(&[0.3, 1.0, 5.0]);
    let request = match chance.below(10) {
        0..6 => run_for(chance.of(LINES), timeout, ""),
        6 => wait(timeout, None),
        7 => send(chance.of(&["echo hi\n", "bash\n", "x", "quit\n", "vi\n"]), &[]),
        _ => send("", chance.of(&[&["enter"][..], &["ctrl+c"], &["ctrl+d"], &["q"]])),
    };
    sim.call(actor, request)
}

#[test]
fn each_note_is_told_once_and_only_when_it_is_true() {
    seeds(|seed| {
        let mut chance = Chance::new(seed);
        let starts = [Start::Bash(Duration::from_millis(20)), Start::Plain, Start::Program("gdb".to_owned())];
        let mut sim = Sim::starting(&chance.of(&starts));
        sim.pass(0.5);
        let mut told: Vec<(&str, String)> = Vec::new();
        for _ in 0..40 {
            let actor = chance.of(&["a", "b"]);
            if chance.percent(10) {
                sim.person(chance.of(&["echo me\r", "\r", "\x03"]));
            }
            if chance.percent(5) {
                // A server that takes over knows what was told.
                sim.crash();
            }
            let id = ask(&mut sim, &mut chance, actor);
            let outcome = sim.answer(id);
            for (words, is_true) in TRUE {
                let says = outcome.notes.iter().any(|note| note.contains(words));
                assert!(!says || is_true(&outcome), "{words:?} is told of {outcome:?}");
            }
            told.extend(outcome.notes.into_iter().map(|note| (actor, note)));
            sim.pass(chance.of(&[0.0, 0.5, 3.0]));
        }
        for actor in ["a", "b"] {
            for words in ONCE {
                let times = told.iter().filter(|(to, note)| *to == actor && note.contains(words)).count();
                assert!(times <= 1, "{times} times {words:?} to {actor}: {told:?}");
            }
        }
    });
}
