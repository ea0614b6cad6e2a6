//! A server that dies and another that takes over.

use std::time::Duration;

use dtmcp_core::call::Status;
use dtmcp_tests::sim::{Sim, Start, Typist, run, run_for, send};

use super::expect::{expect, rule};
use super::looking::hides;
use super::{error, notes, told};

#[test]
fn what_ran_on_is_waited_for() {
    let mut sim = Sim::bash();
    sim.run("a", "sleep 5; status 7");
    sim.pass(1.0);
    sim.crash();
    assert_eq!(told(&sim.waited("a", 30.0), &sim), "finished #1 exit 7");
    assert_eq!(sim.typed().matches("sleep").count(), 1);
    assert_eq!(sim.regions()[0].actor.as_deref(), Some("a"));
}

#[test]
fn what_ended_meanwhile_is_told_once() {
    let mut sim = Sim::bash();
    let id = sim.call("a", run_for("sleep 2; status 7", 1.0, ""));
    sim.answer(id);
    sim.pass(5.0);
    sim.crash();
    let outcome = sim.ran("a", "true");
    assert_eq!(notes(&outcome, "finished since"), 1, "{:?}", outcome.notes);
    sim.crash();
    assert_eq!(notes(&sim.ran("a", "true"), "finished since"), 0);
    assert_eq!(notes(&sim.ran("b", "true"), "finished since"), 0);
}

#[test]
fn a_line_whose_answer_comes_later_is_its_agents() {
    let mut sim = Sim::bash();
    sim.run("a", "status 3");
    // Typed, and not a byte of it has come back.
    sim.crash();
    sim.pass(1.0);
    assert_eq!(sim.regions()[0].actor.as_deref(), Some("a"));
    let outcome = sim.ran("a", "true");
    assert_eq!(notes(&outcome, "finished since your last call: #1"), 1, "{:?}", outcome.notes);
    // An empty line is answered with a prompt, and the next line is whoever's.
    sim.run("a", "");
    sim.pass(1.0);
    sim.crash();
    sim.person("status 4\r");
    sim.pass(1.0);
    assert_eq!(sim.regions()[2].actor.as_deref(), Some("human"));
    sim.crash();
    assert_eq!(sim.regions()[2].actor.as_deref(), Some("human"));
}

#[test]
fn several_lines_sent_at_once_are_all_their_agents() {
    let mut sim = Sim::bash();
    sim.call("a", send("status 3\nstatus 4\n", &[]));
    sim.crash();
    sim.pass(1.0);
    sim.person("status 5\r");
    sim.pass(1.0);
    let actors: Vec<_> = sim.regions().iter().map(|region| region.actor.clone().unwrap()).collect();
    assert_eq!(actors, ["a", "a", "human"]);
}

#[test]
fn a_line_to_a_program_goes_on() {
    let mut sim = Sim::bash();
    sim.ran("a", "gdb");
    sim.run("a", "slow 5");
    sim.pass(1.0);
    sim.crash();
    let outcome = sim.waited("a", 30.0);
    assert_eq!(told(&outcome, &sim), "prompt #2 at \"(gdb) \": did slow 5");
    assert_eq!(told(&sim.ran("a", "next"), &sim), "prompt #3 at \"(gdb) \": did next");
}

#[test]
fn half_typed_text_keeps_its_owner() {
    let mut sim = Sim::bash();
    sim.sent("a", "rm -rf", &[]);
    sim.crash();
    assert_eq!(sim.ran("b", "echo hi").status, Status::Error);
    assert_eq!(sim.ran("a", "echo hi").status, Status::Finished);
    let id = sim.call("a", send("status 9\n", &[]));
    sim.crash();
    assert!(sim.answered(id).is_none());
    sim.pass(1.0);
    assert_eq!(sim.regions()[1].exit, Some(9));
    assert_eq!(sim.regions()[1].actor.as_deref(), Some("a"));
}

#[test]
fn a_full_screen_program_is_no_taker_of_lines_afterwards() {
    for between in [0.0, 0.05, 5.0] {
        let mut sim = Sim::bash();
        assert_eq!(sim.ran("a", "vi").status, Status::Screen);
        sim.crash();
        sim.pass(between);
        assert!(error(&sim.ran("a", "ddd:wq")).contains("full-screen"), "{between}");
        let id = expect(&mut sim, "ddd:wq", 30.0, vec![rule("vi", "x")]);
        assert!(error(&sim.answer(id)).contains("full-screen"), "{between}");
        assert!(!sim.typed().contains("ddd"), "{}", sim.typed());
        assert_eq!(sim.regions().len(), 1);
        sim.crash();
        sim.crash();
        assert_eq!(sim.waited("a", 5.0).status, Status::Screen);
        assert_eq!(sim.sent("a", "q", &[]).status, Status::Sent);
        assert_eq!(sim.ran("a", "echo yes").status, Status::Finished);
    }
}

#[test]
fn the_sessions_own_full_screen_program_is_none_either() {
    for crashes in [0, 1, 2] {
        let mut sim = Sim::starting(&Start::Program("vi".to_owned()));
        sim.pass(0.05);
        for _ in 0..crashes {
            sim.crash();
        }
        assert!(error(&sim.ran("a", "ddd:wq")).contains("full-screen"), "{crashes}");
        assert_eq!((sim.typed().as_str(), sim.regions().len()), ("", 0));
    }
}

#[test]
fn a_hidden_question_is_one_afterwards() {
    for start in [Start::Program("passwd".to_owned()), Start::Bash(Duration::from_millis(20))] {
        let mut sim = Sim::starting(&start);
        sim.pass(0.5);
        sim.host = hides();
        if matches!(start, Start::Bash(_)) {
            assert_eq!(sim.ran("a", "passwd").status, Status::WaitingHidden);
        }
        sim.crash();
        assert!(error(&sim.ran("a", "hunter2")).contains("not shown"), "{start:?}");
        assert!(!sim.typed().contains("hunter2"));
    }
}

#[test]
fn where_the_session_is_is_looked_at_anew() {
    let mut sim = Sim::bash();
    sim.ran("a", "odd");
    sim.looks.clear();
    sim.crash();
    assert_eq!(sim.looks.len(), 1, "though no call waits");
    let mut sim = Sim::bash();
    sim.crash();
    assert_eq!(sim.looks.len(), 0, "a shell at its prompt says it itself");
}

/// A server that dies after it has written down that it will type a line, and before it does.
#[test]
fn a_line_that_was_never_typed_makes_nobodys_line_an_agents() {
    for (typed, line) in [(false, "echo something else"), (true, "echo one")] {
        let mut sim = Sim::bash();
        sim.pass(5.0);
        sim.typist = Typist::Waits;
        sim.call("a", run("echo one", |_| {}));
        sim.pass(0.1);
        sim.crash();
        sim.typist = Typist::Prompt;
        sim.pass(1.0);
        // As if the terminal had taken it just before, or a person's own.
        sim.person(&format!("{line}\r"));
        sim.pass(1.0);
        let regions = sim.regions();
        let actors: Vec<_> = regions.iter().map(|region| (region.label.as_str(), region.actor.as_deref())).collect();
        assert_eq!(actors, [(line, Some(if typed { "a" } else { "human" }))]);
    }
}
