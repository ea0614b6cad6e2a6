//! Rules that answer questions, on a host where nobody can look: by pattern alone.

use std::time::Duration;

use dtmcp_core::call::{Action, Answer, CallId, Expect, Rule, Shape, Status, TIMES, TIMES_SECRET, Waiting};
use dtmcp_core::inspect::Call;
use dtmcp_core::pattern::Pattern;
use dtmcp_tests::sim::{Sim, Start};

use super::looking::{hides, program};
use super::{error, notes, told};

pub(crate) fn rule(pattern: &str, answer: &str) -> Rule {
    let answer = Answer { text: format!("{answer}\n"), ..Answer::default() };
    Rule { pattern: Pattern::new(pattern).unwrap(), action: Action::Answer(answer), times: TIMES }
}

fn secret(pattern: &str, answer: &str) -> Rule {
    let answer = Answer { text: format!("{answer}\n"), secret: true, ..Answer::default() };
    Rule { pattern: Pattern::new(pattern).unwrap(), action: Action::Answer(answer), times: TIMES_SECRET }
}

fn stop(pattern: &str) -> Rule {
    Rule { pattern: Pattern::new(pattern).unwrap(), action: Action::Stop, times: 1 }
}

pub(crate) fn expect(sim: &mut Sim, line: &str, timeout: f64, rules: Vec<Rule>) -> CallId {
    let lines = if line.is_empty() { Vec::new() } else { line.split('\n').map(str::to_owned).collect() };
    let timeout = Duration::from_secs_f64(timeout);
    let expect = Expect { session: None, lines, timeout, rules, until: None, shape: Shape::default() };
    sim.call("a", Waiting::Expect(expect))
}

#[test]
fn questions_are_answered_to_the_end() {
    let mut sim = Sim::bash();
    let id = expect(&mut sim, "quiz", 30.0, vec![rule("Name", "Ada"), rule("Sure", "y"), secret("Pin", "4711")]);
    let outcome = sim.answer(id);
    assert_eq!(told(&outcome, &sim), "finished #1 exit 0: Name? Ada|Sure? y|Pin:|Ada y 4");
    assert_eq!(notes(&outcome, "answered: #2 by rule 0, #3 by rule 1, #4 by rule 2"), 1, "{outcome:?}");
    let labels: Vec<String> = sim.regions().iter().map(|region| region.label.clone()).collect();
    assert_eq!(labels, ["quiz", "Name? Ada", "Sure? y", "Pin:"]);
    assert!(!sim.disk.written().contains("4711"), "{}", sim.disk.written());
    assert!(!format!("{:?}", sim.session).contains("4711"));
}

#[test]
fn a_question_that_no_rule_answers_waits_for_one() {
    let mut sim = Sim::bash();
    // Nobody can look here, so silence says nothing.
    let id = expect(&mut sim, "quiz", 8.0, vec![rule("Name", "Ada")]);
    let outcome = sim.answer(id);
    assert_eq!(told(&outcome, &sim), "running #1: Name? Ada|Sure?");
    let id = expect(&mut sim, "", 8.0, vec![rule("Name", "wrong"), rule("Sure", "n"), secret("Pin", "47")]);
    let outcome = sim.answer(id);
    assert_eq!(told(&outcome, &sim), "finished #1 exit 0: Sure? n|Pin:|Ada n 2");
    let id = expect(&mut sim, "", 8.0, Vec::new());
    assert!(error(&sim.answer(id)).contains("nothing runs"));
}

#[test]
fn a_hidden_question_without_a_text_is_answered_by_a_pattern_that_matches_none() {
    for (pattern, answered) in [("(?s).*", true), ("^$", true), ("^", true), ("Pin", false)] {
        let mut sim = Sim::bash();
        sim.host = hides();
        let id = expect(&mut sim, "deaf", 30.0, vec![secret(pattern, "4711")]);
        let outcome = sim.answer(id);
        assert_eq!(outcome.status, Status::UnansweredHidden, "it asks on: {outcome:?}");
        assert_eq!(sim.typed().ends_with("4711\r"), answered, "{pattern}");
    }
    // Where it is shown, such a pattern says nothing.
    let mut sim = Sim::bash();
    sim.host = program(Call::Reads(0));
    let id = expect(&mut sim, "cat", 30.0, vec![rule("^$", "x")]);
    assert_eq!(sim.answer(id).status, Status::Unanswered);
}

#[test]
fn an_endless_question_comes_to_an_end() {
    let mut sim = Sim::bash();
    sim.ran("a", "gdb");
    // Its prompt is the question, and the answer makes it ask again.
    let id = expect(&mut sim, "once", 600.0, vec![rule("gdb", "again")]);
    let outcome = sim.answer(id);
    assert_eq!(outcome.status, Status::Prompt, "{outcome:?}");
    assert_eq!(sim.typed().matches("again").count(), usize::try_from(TIMES).unwrap());
}

#[test]
fn a_rule_stops() {
    let mut sim = Sim::bash();
    let id = expect(&mut sim, "quiz", 30.0, vec![rule("Name", "Ada"), stop("Sure")]);
    let outcome = sim.answer(id);
    assert_eq!((outcome.status, outcome.matched), (Status::StoppedRule, Some(1)), "{outcome:?}");
    assert_eq!(sim.typed(), "quiz\rAda\r");
}

#[test]
fn the_echo_is_no_question() {
    let mut sim = Sim::bash();
    let id = expect(&mut sim, "quiz", 8.0, vec![rule("Ada|quiz", "wrong"), rule("Name", "Ada")]);
    let outcome = sim.answer(id);
    assert_eq!((outcome.status, sim.typed().as_str()), (Status::Running, "quiz\rAda\r"), "{outcome:?}");
}

#[test]
fn a_plain_shell_and_a_program_of_their_own() {
    let mut sim = Sim::starting(&Start::Plain);
    sim.pass(1.0);
    let id = expect(&mut sim, "quiz", 30.0, vec![rule("Name", "Ada"), rule("Sure", "y"), secret("Pin", "4711")]);
    let outcome = sim.answer(id);
    assert_eq!(told(&outcome, &sim), "prompt #1 at \"$ \": Name? Ada|Sure? y|Pin:|Ada y 4");
    let mut sim = Sim::starting(&Start::Program("quiz".to_owned()));
    sim.pass(1.0);
    let id = expect(&mut sim, "", 30.0, vec![rule("Name", "Ada"), rule("Sure", "y"), secret("Pin", "4711")]);
    assert_eq!(sim.answer(id).status, Status::Ended);
    assert_eq!(sim.typed(), "Ada\ry\r4711\r");
}

#[test]
fn lines_go_one_at_a_time() {
    let mut sim = Sim::bash();
    let rules = vec![rule("Name", "Ada"), rule("Sure", "y"), secret("Pin", "4711")];
    let id = expect(&mut sim, "quiz\necho next\ngdb\nbreak main\nquit", 60.0, rules);
    let outcome = sim.answer(id);
    assert_eq!((outcome.status, outcome.unsent), (Status::Finished, Some(0)), "{outcome:?}");
    assert_eq!(sim.typed(), "quiz\rAda\ry\r4711\recho next\rgdb\rbreak main\rquit\r");
}

#[test]
fn two_calls_take_turns() {
    let mut sim = Sim::bash();
    let rules = vec![rule("Name", "Ada"), rule("Sure", "y"), secret("Pin", "4711")];
    let first = expect(&mut sim, "quiz", 60.0, rules);
    let second = sim.run("b", "echo second");
    assert_eq!(sim.answer(first).status, Status::Finished);
    assert_eq!(told(&sim.answer(second), &sim), "finished #5 exit 0: second");
}

#[test]
fn a_restart_types_nothing_twice() {
    for steps in 0..60 {
        let mut sim = Sim::bash();
        expect(&mut sim, "quiz", 60.0, vec![rule("Name", "Ada"), rule("Sure", "y"), secret("Pin", "4711")]);
        for _ in 0..steps {
            sim.step();
        }
        sim.crash();
        sim.pass(20.0);
        let before = sim.typed();
        assert!("quiz\rAda\ry\r4711\r".starts_with(&before), "{before}");
        // Whoever comes next takes it up where it stands.
        let rules = vec![rule("Name", "Ada"), rule("Sure", "y"), secret("Pin", "4711")];
        let id = expect(&mut sim, "", 60.0, rules);
        let outcome = sim.answer(id);
        let whole = before.is_empty() || outcome.status == Status::Error || outcome.status == Status::Finished;
        assert!(whole, "after {steps} steps: {outcome:?}");
        assert!(sim.typed().is_empty() || sim.typed() == "quiz\rAda\ry\r4711\r", "{}", sim.typed());
        assert!(!sim.disk.written().contains("4711"), "{}", sim.disk.written());
    }
}

const LINES: [&str; 4] = ["echo one", "echo two", "echo three", "echo four"];

/// How many lines a note says were not typed.
fn never_typed(notes: &[String]) -> usize {
    let said = notes.iter().find_map(|note| note.split_once("the lines of your call: the last "));
    let Some((_, said)) = said else { return 0 };
    if said.starts_with("line was never") { 1 } else { said.split(' ').next().unwrap().parse().unwrap() }
}

#[test]
fn lines_that_a_server_did_not_come_to_are_told_once() {
    let mut told = [0; LINES.len()];
    for steps in 0..80 {
        let mut sim = Sim::bash();
        sim.run("a", &LINES.join("\n"));
        for _ in 0..steps {
            sim.step();
        }
        sim.crash();
        sim.pass(20.0);
        let typed = sim.typed().matches('\r').count();
        let other = sim.ran("b", "echo other");
        assert_eq!(never_typed(&other.notes), 0, "they are another's: {other:?}");
        let said = never_typed(&sim.ran("a", "echo next").notes);
        // Of a line that was about to be typed nothing can be said.
        let left = LINES.len() - typed;
        assert!(typed == 0 && said == 0 || said == left || said + 1 == left, "{said} said of {left} after {steps}");
        told[said] += 1;
        sim.crash();
        assert_eq!(never_typed(&sim.ran("a", "echo last").notes), 0, "it was told before");
    }
    assert!(told.iter().all(|times| *times > 0), "each number has come up: {told:?}");
}

#[test]
fn lines_that_a_reply_has_told_of_are_not_told_again() {
    for cancelled in [false, true] {
        let mut sim = Sim::bash();
        let id = expect(&mut sim, "quiz\necho next\necho last", 5.0, vec![rule("Name", "Ada")]);
        if cancelled {
            sim.pass(1.0);
            sim.gone(id);
        } else {
            assert_eq!(sim.answer(id).unsent, Some(2));
        }
        sim.crash();
        let outcome = sim.waited("a", 1.0);
        assert_eq!(never_typed(&outcome.notes), 0, "{outcome:?}");
    }
}

#[test]
fn a_hidden_answer_is_named_by_its_question_alone() {
    let mut sim = Sim::bash();
    let id = expect(&mut sim, "passwd", 30.0, vec![secret("Password", "hunter2")]);
    sim.answer(id);
    let labels: Vec<String> = sim.regions().iter().map(|region| region.label.clone()).collect();
    assert_eq!(labels, ["passwd", "Password:"]);
}
