//! `wait`: what runs, what has run, and `until` over what was not seen yet.

use dtmcp_core::call::Status;
use dtmcp_core::time::Now;
use dtmcp_tests::sim::{Sim, Start, run_for, send, wait};
use std::time::Duration;

use super::{error, notes, told};

#[test]
fn nothing_runs() {
    let mut sim = Sim::bash();
    let outcome = sim.waited("a", 30.0);
    assert_eq!((outcome.status, notes(&outcome, "nothing has run")), (Status::Ok, 1));
    sim.ran("a", "echo one");
    let before = sim.seconds();
    let outcome = sim.waited("a", 30.0);
    assert_eq!((told(&outcome, &sim).as_str(), sim.seconds() - before), ("finished #1 exit 0: one", 0.0));
}

#[test]
fn a_shell_that_starts_is_waited_for() {
    let mut sim = Sim::starting(&Start::Bash(Duration::from_secs(5)));
    assert_eq!(sim.waited("a", 30.0).status, Status::Ok);
    assert!((5.0..5.01).contains(&sim.seconds()), "{}", sim.seconds());
    let mut sim = Sim::starting(&Start::Bash(Duration::from_secs(5)));
    assert_eq!(sim.waited("a", 1.0).status, Status::Running);
}

#[test]
fn what_was_seen_is_no_match() {
    let mut sim = Sim::bash();
    let id = sim.call("a", run_for("echo READY; sleep 5; echo READY again; sleep 60", 1.0, ""));
    sim.answer(id);
    let id = sim.call("a", wait(30.0, Some("READY")));
    let outcome = sim.answer(id);
    assert_eq!((outcome.status, sim.line(outcome.matched.unwrap())), (Status::Matched, "READY again".to_owned()));
    assert!(sim.seconds() > 5.0);
    // Another agent has seen nothing yet.
    let id = sim.call("b", wait(30.0, Some("READY")));
    let outcome = sim.answered(id).unwrap();
    assert_eq!(sim.line(outcome.matched.unwrap()), "READY");
}

#[test]
fn what_came_between_the_calls_is_a_match() {
    let mut sim = Sim::bash();
    let id = sim.call("a", run_for("sleep 3; echo READY; sleep 60", 1.0, ""));
    sim.answer(id);
    sim.pass(10.0);
    // An error has shown nothing.
    error(&sim.ran("a", "echo too early"));
    let id = sim.call("a", wait(30.0, Some("READY")));
    assert_eq!(sim.answered(id).unwrap().status, Status::Matched);
}

#[test]
fn a_line_that_was_seen_half_is_looked_at_again() {
    let mut sim = Sim::bash();
    let id = sim.call("a", run_for("printf connecting...; sleep 5; printf  up; sleep 60", 1.0, ""));
    assert_eq!(told(&sim.answer(id), &sim), "running #1: connecting...");
    let id = sim.call("a", wait(30.0, Some("up")));
    assert_eq!(sim.answer(id).status, Status::Matched);
}

#[test]
fn a_program_without_a_shell_is_looked_at() {
    let mut sim = Sim::starting(&Start::Program("sleep 2; echo up; sleep 100".to_owned()));
    let id = sim.call("a", wait(30.0, Some("up")));
    let outcome = sim.answer(id);
    assert_eq!(told(&outcome, &sim), "matched: up");
    let mut sim = Sim::starting(&Start::Program("sleep 2; echo up; sleep 100".to_owned()));
    sim.pass(50.0);
    let id = sim.call("a", wait(30.0, Some("up")));
    assert_eq!(sim.answered(id).unwrap().status, Status::Matched);
}

#[test]
fn where_nothing_was_shown_nothing_is_shown_again() {
    let mut sim = Sim::starting(&Start::Program("cat".to_owned()));
    let first = sim.waited("a", 5.0);
    assert_eq!(notes(&first, "nothing new"), 0, "{first:?}");
}

#[test]
fn a_wait_and_a_send_beside_a_run() {
    let mut sim = Sim::bash();
    let run = sim.run("a", "sleep 5; echo end");
    sim.pass(1.0);
    let waits = sim.call("b", wait(30.0, None));
    let sends = sim.call("b", send("x", &[]));
    assert_eq!(sim.answer(sends).status, Status::Sent);
    assert_eq!(told(&sim.answer(run), &sim), "finished #1 exit 0: xend");
    assert_eq!(told(&sim.answer(waits), &sim), "finished #1 exit 0: xend");
}

#[test]
fn timeouts() {
    let mut sim = Sim::bash();
    sim.run("a", "sleep 60");
    sim.pass(0.1);
    for timeout in [0.0, 0.05, 2.0] {
        let before = sim.seconds();
        assert_eq!(sim.waited("a", timeout).status, Status::Running);
        assert!((sim.seconds() - before - timeout).abs() < 0.002, "{timeout}");
    }
}

#[test]
fn finished_since_is_told_once() {
    let mut sim = Sim::bash();
    let id = sim.call("a", run_for("sleep 3; status 4", 1.0, ""));
    sim.answer(id);
    sim.pass(1.0);
    let early = sim.ran("a", "echo no");
    assert!(error(&early).contains("#1") && notes(&early, "finished since") == 0, "{early:?}");
    sim.pass(10.0);
    assert_eq!(notes(&sim.ran("b", "true"), "finished since"), 0, "another agent's");
    let outcome = sim.ran("a", "true");
    assert_eq!(notes(&outcome, "finished since your last call: #1"), 1, "{:?}", outcome.notes);
    assert_eq!(notes(&sim.ran("a", "true"), "finished since"), 0);
    // A call that was dropped is told too; an error tells nothing, and forgets nothing.
    let id = sim.run("a", "sleep 1; status 5");
    sim.pass(0.5);
    sim.gone(id);
    sim.pass(5.0);
    let id = sim.call("a", send("", &[]));
    error(&sim.answer(id));
    assert_eq!(sim.session.take_finished("a").len(), 1);
    assert_eq!(sim.session.take_finished("a").len(), 0);
    // A reply that shows the region itself needs no note.
    let id = sim.run("a", "sleep 1; status 6");
    sim.pass(0.5);
    sim.gone(id);
    sim.pass(5.0);
    let outcome = sim.waited("a", 1.0);
    assert_eq!((outcome.region.as_ref().unwrap().exit, notes(&outcome, "finished since")), (Some(6), 0));
    assert_eq!(sim.session.take_finished("a").len(), 0);
}

#[test]
fn a_screen_that_is_known_is_waited_for() {
    let mut sim = Sim::bash();
    assert_eq!(sim.ran("a", "vi").status, Status::Screen);
    let before = sim.seconds();
    let outcome = sim.waited("a", 7.0);
    assert_eq!((outcome.status, notes(&outcome, "still open")), (Status::Screen, 1), "{outcome:?}");
    assert!((6.9..7.1).contains(&(sim.seconds() - before)), "{}", sim.seconds() - before);
    // Who has not been told of it is.
    let before = sim.seconds();
    let outcome = sim.waited("b", 7.0);
    assert_eq!((outcome.status, notes(&outcome, "still open")), (Status::Screen, 0));
    assert!(sim.seconds() - before < 0.5);
    // What is seen on it, and was not before.
    let id = sim.call("a", wait(30.0, Some("d")));
    sim.pass(5.0);
    assert!(sim.answered(id).is_none());
    sim.person("d");
    let outcome = sim.answer(id);
    assert_eq!((outcome.status, notes(&outcome, "row 1 of the screen")), (Status::Matched, 1), "{outcome:?}");
    // Its end.
    let id = sim.call("a", wait(30.0, None));
    sim.pass(5.0);
    sim.person("q");
    assert_eq!(told(&sim.answer(id), &sim), "finished #1 exit 0: [full-screen program]");
}

#[test]
fn a_program_at_its_prompt_is_waited_for_where_a_pattern_is_given() {
    let mut sim = Sim::bash();
    sim.ran("a", "gdb");
    let before = sim.seconds();
    let id = sim.call("a", wait(5.0, Some("hit")));
    assert_eq!(sim.answer(id).status, Status::Prompt);
    assert!((4.9..5.1).contains(&(sim.seconds() - before)), "{}", sim.seconds() - before);
    let id = sim.call("a", wait(30.0, Some("hit")));
    sim.bash.prints(Now::default(), "\r\nThread 2 started\r\n(gdb) ");
    sim.pass(2.0);
    assert!(sim.answered(id).is_none());
    sim.bash.prints(Now::default(), "\r\nThread 2 hit Breakpoint 1\r\n(gdb) ");
    assert_eq!(sim.answer(id).status, Status::Matched);
    // Who has not been told of the prompt is.
    let id = sim.call("b", wait(30.0, Some("never")));
    assert_eq!(sim.answer(id).status, Status::Prompt);
}

#[test]
fn at_a_prompt_what_was_shown_is_not_said_again() {
    let mut sim = Sim::bash();
    sim.ran("a", "gdb");
    let nothing = "nothing new was printed";
    let outcome = sim.waited("a", 5.0);
    assert_eq!(told(&outcome, &sim), "prompt #1 at \"(gdb) \"");
    assert_eq!(notes(&outcome, nothing), 1);
    for line in ["one", "two", "three"] {
        sim.ran("a", line);
    }
    let outcome = sim.waited("a", 5.0);
    assert_eq!((told(&outcome, &sim).as_str(), notes(&outcome, nothing)), ("prompt #4 at \"(gdb) \"", 1));
    // Another agent is told of the last line.
    assert_eq!(told(&sim.waited("b", 5.0), &sim), "prompt #4 at \"(gdb) \": did three");
    sim.bash.prints(Now::default(), "\r\nThread 2 started\r\n(gdb) ");
    sim.pass(1.0);
    let outcome = sim.waited("a", 5.0);
    assert!(sim.shown(&outcome).concat().contains("Thread 2 started"), "{outcome:?}");
    assert!(!sim.shown(&outcome).concat().contains("did"), "{outcome:?}");
    // In place of a shell.
    let mut sim = Sim::starting(&Start::Program("gdb".to_owned()));
    sim.pass(1.0);
    sim.ran("a", "one");
    sim.ran("a", "two");
    let outcome = sim.waited("a", 5.0);
    assert_eq!((told(&outcome, &sim).as_str(), notes(&outcome, nothing)), ("prompt #2 at \"(gdb) \"", 1));
    assert_eq!(told(&sim.waited("b", 5.0), &sim), "prompt #2 at \"(gdb) \": did two");
}
