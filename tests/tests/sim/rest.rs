//! A block that somebody has begun at a program or at a shell without markers: nobody else's line becomes a part of it.

use dtmcp_core::call::{Outcome, Status};
use dtmcp_core::inspect::{Call, Known, TerminalModes};
use dtmcp_tests::sim::{Sim, run_for};

use super::error;
use super::expect::{expect, rule};
use super::looking::program;

/// The program, what begins a block there, and what ends it.
const BLOCKS: [(&str, &str, &str); 3] =
    [("python", "def f():", ""), ("dash", "for i in 1 2", "done"), ("edits", "for i in 1 2", "end")];

/// The program with an agent's first line to it, if it has given one.
fn begun(name: &str, spoken: bool) -> Sim {
    let mut sim = Sim::bash();
    sim.host = program(Call::Reads(0));
    if let Known::Known(front) = &mut sim.host.front
        && name != "python"
    {
        front[0].name = if name == "dash" { "dash" } else { "fish" }.to_owned();
    }
    sim.host.modes = Known::Known(TerminalModes { canonical: name == "dash", echo: name == "dash", held: false });
    sim.pass(5.0);
    sim.ran("a", name);
    if spoken {
        sim.pass(5.0);
        sim.ran("a", "one");
    }
    sim.pass(5.0);
    sim
}

/// All that an agent may try to get a line in.
fn tries(sim: &mut Sim, agent: &str) -> Vec<Outcome> {
    let ran = sim.ran(agent, "mine");
    let sent = sim.sent(agent, "mine\n", &[]);
    let pressed = sim.sent(agent, "", &["enter"]);
    let expects = expect(sim, "mine", 5.0, vec![rule("zzz", "x")]);
    vec![ran, sent, pressed, sim.answer(expects)]
}

#[track_caller]
fn refused(sim: &mut Sim, agent: &str, owner: &str, what: &str) {
    let before = sim.bash.taken.clone();
    for outcome in tries(sim, agent) {
        let text = error(&outcome);
        assert!(text.contains(&format!("{owner} has begun something")) && text.contains("ctrl+c"), "{what}: {text}");
    }
    assert_eq!(sim.bash.taken, before, "{what}");
}

#[test]
fn a_block_that_a_person_has_begun_is_theirs() {
    for (name, begins, ends) in BLOCKS {
        for (spoken, restarts) in [(false, false), (true, false), (true, true)] {
            let what = format!("{name} {spoken} {restarts}");
            let mut sim = begun(name, spoken);
            sim.person(&format!("{begins}\r"));
            sim.pass(3.0);
            if restarts {
                // And they have left.
                sim.detach();
                sim.crash();
                sim.pass(1.0);
            }
            refused(&mut sim, "a", "someone at the terminal", &what);
            sim.person(&format!("{ends}\r"));
            sim.pass(3.0);
            assert_ne!(sim.ran("a", "two").status, Status::Error, "{what}");
            assert_eq!(sim.bash.taken.last().map(String::as_str), Some("two"), "{what}");
        }
    }
}

/// The prompt, what was typed ahead of it and the next prompt come in one piece then.
#[test]
fn a_block_that_a_person_has_begun_ahead_of_the_prompt_is_theirs() {
    for restarts in [false, true] {
        let mut sim = begun("python", true);
        let id = sim.call("a", run_for("slow 2", 0.5, ""));
        sim.answer(id);
        sim.person("def f():\r");
        sim.pass(4.0);
        if restarts {
            sim.crash();
            sim.pass(1.0);
        }
        refused(&mut sim, "a", "someone at the terminal", &restarts.to_string());
    }
}

#[test]
fn a_block_that_an_agent_has_begun_is_its_own() {
    for (name, begins, ends) in BLOCKS {
        for (sends, restarts) in [(false, false), (true, false), (false, true), (true, true)] {
            let what = format!("{name} {sends} {restarts}");
            let mut sim = begun(name, true);
            if sends {
                sim.sent("b", &format!("{begins}\n"), &[]);
            } else {
                assert_eq!(sim.ran("b", begins).status, Status::Continuation, "{what}");
            }
            sim.pass(3.0);
            if restarts {
                sim.crash();
                sim.pass(1.0);
            }
            refused(&mut sim, "a", "b", &what);
            assert_ne!(sim.ran("b", "more").status, Status::Error, "{what}");
            refused(&mut sim, "a", "b", &what);
            assert_ne!(sim.ran("b", ends).status, Status::Error, "{what}");
            assert_ne!(sim.ran("a", "two").status, Status::Error, "{what}");
            assert_eq!(sim.bash.taken.last().map(String::as_str), Some("two"), "{what}");
        }
    }
}

/// Given up, it is nobody's any more.
#[test]
fn a_block_begun_by_another_agent_is_free_where_it_is_given_up() {
    let mut sim = begun("dash", true);
    sim.sent("b", "for i in 1 2\n", &[]);
    refused(&mut sim, "a", "b", "before");
    sim.sent("a", "", &["ctrl+c"]);
    sim.pass(3.0);
    assert_eq!(sim.ran("a", "echo free").status, Status::Finished);
}
