//! What startup files ask before the first prompt, and what they make of the session's shell.

use dtmcp_core::call::Status;
use dtmcp_core::inspect::{Call, Inspection};
use dtmcp_core::region::State;
use dtmcp_tests::sim::{Sim, Start, run_for};

use super::looking::{hides, program};
use super::{error, notes, told};

fn asks(host: Inspection, startup: &str) -> Sim {
    let mut sim = Sim::starting(&Start::Startup(startup.to_owned()));
    sim.host = host;
    sim
}

#[test]
fn a_question_of_a_startup_file_is_told_and_answered() {
    let mut sim = asks(program(Call::Reads(0)), "quiz");
    let outcome = sim.waited("a", 3.0);
    assert_eq!((outcome.status, outcome.prompt.as_deref()), (Status::Waiting, Some("Name? ")), "{outcome:?}");
    assert!(sim.seconds() < 2.0, "{}", sim.seconds());
    sim.pass(30.0);
    assert_eq!(told(&sim.ran("a", "ann"), &sim), "waiting #1 at \"Sure? \"");
    assert_eq!(told(&sim.ran("a", "yes"), &sim), "waiting #2 at \"Pin: \"");
    sim.host = hides();
    sim.pass(1.0);
    let id = sim.send("a", "1234\n");
    sim.answer(id);
    sim.pass(1.0);
    assert!(sim.regions().iter().all(|region| region.state == State::Finished), "{:?}", sim.regions());
    let outcome = sim.ran("a", "echo hi");
    assert_eq!(told(&outcome, &sim), "finished #4 exit 0: hi");
    assert_eq!(notes(&outcome, "startup files"), 0, "{:?}", outcome.notes);
    sim.crash();
    assert_eq!(sim.regions().len(), 4);
}

#[test]
fn a_line_for_the_prompt_does_not_answer_a_startup_file() {
    let mut sim = asks(program(Call::Other), "sleep 4; quiz");
    let id = sim.run("a", "echo hi");
    sim.pass(4.5);
    sim.host = program(Call::Reads(0));
    let refused = error(&sim.answer(id));
    assert!(refused.contains("waits for input at \"Name? \""), "{refused}");
    assert_eq!(sim.typed(), "");
    // It is told by now.
    assert_eq!(sim.ran("a", "ann").status, Status::Waiting);
    let mut sim = asks(hides(), "passwd");
    let refused = error(&sim.ran("a", "echo hi"));
    assert!(refused.contains("not shown"), "{refused}");
    assert_eq!(sim.waited("a", 3.0).status, Status::WaitingHidden);
}

#[test]
fn a_pause_of_a_startup_file_is_no_question() {
    let mut sim = asks(program(Call::Other), "sleep 10");
    let id = sim.run("a", "echo kept");
    for pause in [4.0, 1.0, 3.0] {
        sim.pass(pause);
        sim.host = program(if pause > 2.0 { Call::Reads(0) } else { Call::Other });
    }
    sim.pass(1.0);
    sim.host = program(Call::Other);
    let outcome = sim.answer(id);
    assert_eq!(told(&outcome, &sim), "finished #1 exit 0: kept");
    // One that stays is one, though it has no words.
    let mut sim = asks(program(Call::Reads(0)), "sleep 10");
    assert!(error(&sim.ran("a", "echo hi")).contains("waits for input"));
}

#[test]
fn a_shell_that_a_startup_file_became_is_told_by_its_prompt() {
    let mut sim = asks(program(Call::Reads(0)), "far");
    assert_eq!(sim.waited("a", 3.0).status, Status::Prompt);
    for _ in 0..2 {
        let before = sim.seconds();
        let id = sim.call("a", run_for("hello", 20.0, ""));
        assert_eq!(sim.answer(id).status, Status::Prompt);
        assert!(sim.seconds() - before < 1.0, "{}", sim.seconds() - before);
        sim.pass(10.0);
    }
}
