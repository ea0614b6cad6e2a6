//! What a look at all sessions tells of one: the same as a `wait` there would.

use dtmcp_core::call::Status;
use dtmcp_core::inspect::Call;
use dtmcp_tests::sim::{Sim, run_for};

use super::looking::{hides, program};

/// A session in which a command runs that an agent no longer waits for.
fn left(line: &str) -> Sim {
    let mut sim = Sim::bash();
    sim.pass(5.0);
    sim.host = program(Call::Other);
    let id = sim.call("a", run_for(line, 1.0, ""));
    assert_eq!(sim.answer(id).status, Status::Running);
    sim
}

#[test]
fn what_began_to_wait_unseen_is_looked_at() {
    let mut sim = left("sleep 3; cat");
    assert_eq!(sim.glance(), "running #1 \"sleep 3; cat\"");
    sim.pass(10.0);
    sim.host = program(Call::Reads(0));
    assert_eq!(sim.glance(), "waiting for input · #1 \"sleep 3; cat\"");
    assert_eq!(sim.waited("a", 5.0).status, Status::Waiting);
    // That holds until something is printed or typed.
    let looks = sim.looks.len();
    assert_eq!(sim.glance(), "waiting for input · #1 \"sleep 3; cat\"");
    assert_eq!(sim.looks.len(), looks);
}

#[test]
fn since_when_it_does_that_is_told() {
    let mut sim = left("sleep 30; cat");
    sim.pass(10.0);
    sim.glance();
    let begun = sim.session.log().regions().last().unwrap().started;
    assert_eq!(sim.doing().since, Some(begun), "a command since it was begun");
    sim.host = program(Call::Reads(0));
    sim.pass(30.0);
    sim.glance();
    assert_eq!(sim.doing().since, None, "what waits since it printed last");
    let mut sim = Sim::bash();
    let came = sim.doing().since.unwrap();
    sim.pass(60.0);
    sim.person("git pu");
    sim.pass(60.0);
    assert_eq!(sim.doing().since, Some(came), "a prompt since it came, whatever is typed there");
    sim.person("\x15");
    sim.pass(1.0);
    sim.ran("a", "vi");
    sim.pass(60.0);
    let begun = sim.session.log().regions().last().unwrap().started;
    assert_eq!(sim.doing().since, Some(begun), "a full-screen program since it was begun");
    sim.pass(60.0);
    sim.crash();
    assert_eq!(sim.doing().since, Some(begun), "which a new server knows too");
}

#[test]
fn what_waited_and_works_unseen_is_looked_at() {
    let mut sim = Sim::bash();
    sim.pass(5.0);
    sim.host = program(Call::Reads(0));
    assert_eq!(sim.ran("a", "quiz").status, Status::Waiting);
    assert!(sim.glance().starts_with("waiting for input at \""), "{}", sim.glance());
    sim.person("Ada\r");
    sim.host = program(Call::Other);
    sim.pass(1.0);
    assert_eq!(sim.glance(), "running #1 \"quiz\"");
}

#[test]
fn a_hidden_question_is_told_and_never_what_is_typed_there() {
    let mut sim = left("sleep 3; passwd");
    sim.pass(10.0);
    sim.host = hides();
    let told = sim.glance();
    assert!(told.ends_with("for input that is not shown · #1 \"sleep 3; passwd\""), "{told}");
    sim.sent("a", "hunter2", &[]);
    let told = sim.glance();
    assert!(told.contains("a has begun a line that is not shown") && !told.contains("hunter2"), "{told}");
}

#[test]
fn a_glance_is_over_in_a_moment_whatever_runs() {
    let mut sim = left(&vec!["printf x\\n; sleep 0.05"; 80].join("; "));
    for host in [program(Call::Other), program(Call::Reads(0))] {
        sim.host = host;
        let began = sim.seconds();
        sim.glance();
        assert!(sim.seconds() - began <= 0.201);
    }
    // Nor does a machine that is out of breath hold it up.
    let mut sim = left("sleep 60");
    sim.blind = true;
    let began = sim.seconds();
    assert_eq!(sim.glance(), "running #1 \"sleep 60\"");
    assert!(sim.seconds() - began <= 0.201);
}

#[test]
fn prompts_screens_and_the_shell_itself() {
    let mut sim = Sim::bash();
    assert_eq!(sim.glance(), "at its prompt");
    sim.ran("a", "gdb");
    assert_eq!(sim.glance(), "at the prompt \"(gdb) \" · #1 \"gdb\"");
    sim.ran("a", "quit");
    sim.ran("a", "vi");
    assert_eq!(sim.glance(), "full-screen program · #3 \"vi\"");
}

#[test]
fn whose_text_stands_on_the_line() {
    let mut sim = Sim::bash();
    sim.pass(5.0);
    sim.person("git pu");
    sim.pass(1.0);
    assert_eq!(sim.glance(), "at its prompt · someone at the terminal has \"git pu\" on the line");
    sim.person("\x15");
    sim.pass(1.0);
    sim.sent("a", "make", &[]);
    assert_eq!(sim.glance(), "at its prompt · a has \"make\" on the line");
    sim.sent("a", "", &["ctrl+u"]);
    assert_eq!(sim.glance(), "at its prompt");
    sim.ran("a", "gdb");
    sim.pass(5.0);
    sim.host = program(Call::Reads(0));
    sim.person("info");
    sim.pass(1.0);
    assert_eq!(
        sim.glance(),
        "waiting for input at \"(gdb) \" · someone at the terminal has \"info\" on the line · #1 \"gdb\""
    );
}
