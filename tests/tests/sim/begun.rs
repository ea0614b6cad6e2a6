//! Answers that somebody has begun where the line does not show them as they were typed: ahead of the question, at one
//! that shows stars or nothing, and where the cursor has gone back.

use dtmcp_core::call::Status;
use dtmcp_core::inspect::{Call, Inspection, Known, TerminalModes};
use dtmcp_tests::sim::{Sim, run_for, send};

use super::expect::{expect, rule};
use super::looking::{hides, program};
use super::{error, notes};

/// A program that reads key by key.
fn raw() -> Inspection {
    let modes = TerminalModes { canonical: false, echo: false, held: false };
    Inspection { modes: Known::Known(modes), ..program(Call::Reads(0)) }
}

fn works() -> Inspection {
    program(Call::Other)
}

/// Asks after a second, while an agent types meanwhile.
fn asked_after((typist, text): (&str, &str), line: &str) -> Sim {
    let mut sim = Sim::bash();
    sim.host = works();
    let call = sim.call("a", run_for(line, 20.0, ""));
    sim.pass(0.4);
    sim.send(typist, text);
    sim.pass(0.5);
    sim.host = program(Call::Reads(0));
    sim.answer(call);
    sim
}

#[test]
fn what_an_agent_types_ahead_is_on_the_line_of_the_question() {
    let mut sim = asked_after(("b", "yes"), "sleep 1; quiz");
    assert_eq!(sim.bash.unsubmitted(), "yes");
    for outcome in [sim.ran("a", "no"), sim.sent("a", "no\n", &[]), sim.sent("a", "", &["enter"])] {
        let text = error(&outcome);
        assert!(text.contains("b has \"yes\" on the line"), "{text}");
    }
    let waited = sim.waited("a", 1.0);
    assert_eq!((waited.status, waited.prompt.as_deref()), (Status::Waiting, Some("Name? ")), "{waited:?}");
    assert_eq!(notes(&waited, "b has \"yes\" on the line, not submitted"), 1, "{waited:?}");
    sim.sent("b", "\n", &[]);
    sim.pass(1.0);
    assert_eq!(sim.bash.taken[1..], ["yes"]);
    assert_eq!(sim.ran("a", "no").status, Status::Waiting);
}

#[test]
fn a_rule_answers_nothing_into_what_is_typed_ahead() {
    for person in [false, true] {
        let mut sim = Sim::bash();
        sim.host = works();
        sim.pass(5.0);
        let call = expect(&mut sim, "sleep 3; quiz", 20.0, vec![rule("Name", "no")]);
        sim.pass(1.4);
        if person {
            sim.person("y");
            sim.pass(0.2);
            sim.person("es");
        } else {
            sim.send("b", "yes");
        }
        sim.pass(1.0);
        sim.host = program(Call::Reads(0));
        let outcome = sim.answer(call);
        assert_eq!(outcome.status, Status::Unanswered, "{outcome:?}");
        assert_eq!(sim.bash.unsubmitted(), "yes");
        let text = error(&sim.ran("a", "no"));
        assert!(text.contains("\"yes\" on the line"), "{text}");
    }
}

#[test]
fn what_is_typed_ahead_of_a_prompt_is_told_once_it_shows() {
    let mut sim = asked_after(("b", "1+"), "sleep 1; python");
    let text = error(&sim.ran("a", "2"));
    assert!(text.contains("b has \"1+\""), "{text}");
    sim.sent("b", "1\n", &[]);
    sim.pass(1.0);
    assert_eq!(sim.ran("a", "2").status, Status::Prompt);
}

#[test]
fn an_answer_that_shows_as_stars_or_not_at_all_is_its_agents() {
    for shows in ["*****", "", "●●●●●"] {
        let mut sim = Sim::bash();
        sim.host = raw();
        sim.ran("a", "printf Masked:\\s; deaf");
        let call = sim.call("a", send("abcde", &[]));
        sim.bash.prints(sim.session.deadline().unwrap_or_default(), shows);
        sim.answer(call);
        for outcome in [sim.ran("b", "x"), sim.sent("b", "x\n", &[]), sim.sent("b", "", &["enter"])] {
            let text = error(&outcome);
            assert!(text.contains("a has begun an answer"), "{shows}: {text}");
        }
        let text = error(&sim.ran("a", "x"));
        assert!(text.contains("what you have sent"), "{shows}: {text}");
        assert!(!sim.disk.written().contains("\"abcde\""), "{shows}");
        sim.sent("b", "", &["ctrl+u"]);
        assert_eq!(sim.sent("b", "x", &[]).status, Status::Sent, "{shows}");
    }
}

#[test]
fn keys_of_a_person_at_a_question_that_shows_nothing_have_begun_its_answer() {
    for host in [raw(), hides()] {
        let mut sim = Sim::bash();
        sim.host = host;
        sim.pass(5.0);
        sim.ran("a", "printf Code:\\s; deaf");
        sim.pass(3.0);
        // Looking on is no answer.
        assert_eq!(sim.sent("a", "", &["left"]).status, Status::Sent);
        sim.person("x");
        sim.pass(2.0);
        for outcome in [sim.sent("a", "x\n", &[]), sim.sent("b", "", &["enter"])] {
            let text = error(&outcome);
            assert!(text.contains("someone at the terminal has pressed keys"), "{text}");
        }
        let waited = sim.waited("a", 1.0);
        assert_eq!(notes(&waited, "someone at the terminal has pressed keys"), 1, "{waited:?}");
    }
}

#[test]
fn a_person_who_moves_within_their_answer_has_it_still() {
    let mut sim = Sim::bash();
    sim.host = program(Call::Reads(0));
    sim.pass(5.0);
    sim.ran("a", "quiz");
    sim.pass(3.0);
    sim.person("bob");
    sim.pass(1.0);
    let waited = sim.waited("a", 1.0);
    assert_eq!(waited.prompt.as_deref(), Some("Name? "), "{waited:?}");
    assert_eq!(notes(&waited, "someone at the terminal has \"bob\" on the line"), 1, "{waited:?}");
    sim.bash.prints(sim.session.deadline().unwrap_or_default(), "\x1b[3D");
    sim.person("");
    sim.pass(1.0);
    let text = error(&sim.ran("a", "x"));
    assert!(text.contains("\"bob\" on the line"), "{text}");
}

#[test]
fn keys_in_the_second_of_a_hidden_question_may_be_its_answer() {
    let mut sim = Sim::bash();
    sim.host = hides();
    sim.pass(5.0);
    sim.ran("a", "passwd");
    sim.person("x");
    sim.pass(3.0);
    for agent in ["a", "b"] {
        let text = error(&sim.sent(agent, "y\n", &[]));
        assert!(text.contains("someone at the terminal has pressed keys"), "{text}");
    }
    // Where they agree, it is given up.
    sim.sent("a", "", &["ctrl+u"]);
    sim.sent("a", "y\n", &[]);
    assert_eq!(sim.bash.taken, ["passwd", "y"]);
}

#[test]
fn the_keys_that_led_to_a_hidden_question_are_no_answer_to_it() {
    // A person has run what asks, or has answered the question before it.
    for answers in [false, true] {
        let mut sim = Sim::bash();
        sim.host = program(Call::Reads(0));
        sim.pass(5.0);
        if answers {
            sim.ran("a", "quiz\nAda");
            sim.pass(3.0);
            sim.person("y");
            sim.pass(0.1);
            sim.person("\r");
        } else {
            sim.person("passwd\r");
        }
        sim.pass(0.05);
        sim.host = hides();
        let waited = sim.waited("a", 3.0);
        assert_eq!(waited.status, Status::WaitingHidden, "{answers}: {waited:?}");
        assert_eq!(notes(&waited, "has pressed keys"), 0, "{answers}: {waited:?}");
        assert_eq!(sim.sent("a", "4711\n", &[]).status, Status::Sent, "{answers}");
    }
}
