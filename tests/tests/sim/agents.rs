//! Several agents in one session: queues, half-typed text, whose region it is.

use dtmcp_core::call::{Status, Waiting};
use dtmcp_core::inspect::{Call, Inspection, Known, TerminalModes, Why};
use dtmcp_tests::sim::{Sim, run_for, send};
use std::time::Duration;

use super::looking::program;
use super::{error, notes, told};

const LINE_EDITOR: TerminalModes = TerminalModes { canonical: false, echo: false, held: false };

#[test]
fn four_runs_are_taken_in_turn() {
    let mut sim = Sim::bash();
    let ids: Vec<_> = ["a", "b", "c", "d"].map(|actor| sim.run(actor, &format!("sleep 1; echo {actor}"))).to_vec();
    for (id, actor) in ids.into_iter().zip(["a", "b", "c", "d"]) {
        let outcome = sim.answer(id);
        assert_eq!(sim.shown(&outcome), [actor]);
        assert_eq!(outcome.region.unwrap().actor.as_deref(), Some(actor));
        assert_eq!(outcome.notes, Vec::<String>::new());
    }
    assert!((4.5..4.6).contains(&sim.seconds()), "{}", sim.seconds());
}

#[test]
fn one_that_waits_its_turn_too_long_types_nothing() {
    let mut sim = Sim::bash();
    let first = sim.run("a", "sleep 20");
    let second = sim.call("b", run_for("echo never", 3.0, ""));
    let refused = sim.answer(second);
    assert!(error(&refused).contains("nothing was typed"), "{refused:?}");
    assert_eq!(sim.answer(first).status, Status::Finished);
    sim.pass(5.0);
    assert!(!sim.typed().contains("never"));
}

#[test]
fn a_busy_session_says_with_what() {
    let mut sim = Sim::bash();
    let id = sim.call("a", run_for("sleep 20", 1.0, ""));
    sim.answer(id);
    let text = error(&sim.ran("b", "echo no"));
    assert!(text.contains("#1 \"sleep 20\"") && text.contains("started by a") && text.contains("wait"), "{text}");
    // By its deadline, however short.
    let before = sim.seconds();
    let id = sim.call("b", run_for("echo no", 0.05, ""));
    error(&sim.answer(id));
    assert!(sim.seconds() - before < 0.06);
    let id = sim.call("b", run_for("echo no", 0.0, ""));
    error(&sim.answered(id).unwrap());
}

#[test]
fn own_half_typed_text_is_cleared() {
    let mut sim = Sim::bash();
    sim.sent("a", "echo half", &[]);
    let outcome = sim.ran("a", "echo whole");
    assert_eq!(told(&outcome, &sim), "finished #1 exit 0: whole");
    assert_eq!(outcome.region.unwrap().label, "echo whole");
}

#[test]
fn another_agents_half_typed_text_is_protected() {
    let mut sim = Sim::bash();
    sim.sent("a", "rm -rf", &[]);
    let text = error(&sim.ran("b", "echo hi"));
    assert!(text.contains("a has \"rm -rf\""), "{text}");
    assert_eq!(sim.typed(), "rm -rf");
    // Looking on does not make it b's.
    sim.sent("b", "", &["left"]);
    error(&sim.ran("b", "echo hi"));
    // Nor does a refusal make it nobody's.
    error(&sim.sent("b", "y", &[]));
    let outcome = sim.sent("a", " x\n", &[]);
    assert_eq!(outcome.region.unwrap().label, "rm -rf x");
    assert_eq!(sim.ran("b", "echo hi").status, Status::Finished);
}

#[test]
fn text_is_its_typists_from_the_first_byte_on_and_whatever_is_printed_over_it() {
    let mut sim = Sim::bash();
    let mut slow = send("rm -rf", &[]);
    if let Waiting::Send(send) = &mut slow {
        send.settle = Duration::from_secs(5);
    }
    let sending = sim.call("a", slow);
    sim.pass(0.5);
    for outcome in [sim.sent("b", "", &["enter"]), sim.ran("b", "echo hi")] {
        assert!(error(&outcome).contains("a has \"rm -rf\""), "{outcome:?}");
    }
    sim.answer(sending);
    // A job in the background prints into the line.
    let mut sim = Sim::bash();
    sim.ran("a", "later 3 NOISE");
    sim.sent("a", "rm -rf", &[]);
    sim.pass(5.0);
    let text = error(&sim.ran("b", "echo hi"));
    assert!(text.contains("a has \"rm -rf\""), "{text}");
    assert_eq!(sim.ran("a", "echo hi").status, Status::Finished);
}

#[test]
fn text_on_a_programs_line_is_protected_too() {
    let mut sim = Sim::bash();
    sim.ran("a", "python");
    sim.sent("a", "10*", &[]);
    error(&sim.ran("b", "3"));
    for outcome in [sim.sent("b", "", &["enter"]), sim.sent("b", "3", &[])] {
        assert!(error(&outcome).contains("a has \"10*\""), "{outcome:?}");
    }
    sim.sent("a", "2\n", &[]);
    assert_eq!(sim.ran("b", "x").status, Status::Prompt);
    sim.person("1+");
    sim.pass(1.0);
    error(&sim.ran("b", "2"));
    assert!(error(&sim.sent("b", "2", &[])).contains("someone at the terminal has \"1+\""));
    sim.person("1\r");
    sim.pass(1.0);
    assert_eq!(sim.ran("b", "2").status, Status::Prompt);
}

#[test]
fn a_line_that_was_sent_is_not_mixed_with_one_that_is_run() {
    let mut sim = Sim::bash();
    let sent = sim.call("a", send("sleep 3; status 3\n", &[]));
    // The shell has not even seen the first Enter yet.
    let run = sim.run("b", "status 4");
    let outcome = sim.answer(run);
    assert_eq!((outcome.status, outcome.region.is_some()), (Status::Error, false), "{outcome:?}");
    assert_eq!(sim.answer(sent).region.unwrap().actor.as_deref(), Some("a"));
    assert_eq!(sim.waited("b", 30.0).region.unwrap().exit, Some(3));
    assert_eq!(sim.ran("b", "status 4").region.unwrap().exit, Some(4));
    let sent = sim.call("a", send("status 5\n", &[]));
    let run = sim.run("b", "status 6");
    let outcome = sim.answer(run).region.unwrap();
    assert_eq!((outcome.exit, outcome.actor.as_deref()), (Some(6), Some("b")));
    assert_eq!(sim.answer(sent).region.unwrap().exit, Some(5));
}

#[test]
fn a_region_is_told_to_the_send_that_submitted_it() {
    let mut sim = Sim::bash();
    let outcome = sim.sent("a", "status 3\n", &[]);
    assert_eq!((outcome.status, outcome.region.unwrap().exit), (Status::Sent, Some(3)));
    let outcome = sim.sent("a", "echo one", &["enter"]);
    assert_eq!(outcome.region.as_ref().map(|region| region.id), Some(2));
    assert_eq!(notes(&outcome, "finished since"), 0);
    let looks = sim.call("b", send("", &["left"]));
    let run = sim.run("a", "echo two");
    assert!(sim.answer(looks).region.is_none());
    assert_eq!(sim.answer(run).region.unwrap().id, 3);
}

#[test]
fn enters_in_a_program_are_forgotten_with_it() {
    let mut sim = Sim::bash();
    sim.ran("a", "cat");
    sim.sent("a", "one\ntwo\nthree\n", &[]);
    sim.sent("a", "", &["ctrl+d"]);
    sim.pass(1.0);
    sim.person("status 9\r");
    sim.pass(1.0);
    assert_eq!(sim.regions().last().unwrap().actor.as_deref(), Some("human"));
}

#[test]
fn more_calls_than_can_wait_are_refused() {
    let mut sim = Sim::bash();
    let ids: Vec<_> = (0..70).map(|_| sim.run("a", "sleep 1")).collect();
    let refused: Vec<_> = ids.iter().filter_map(|id| sim.answered(*id)).collect();
    assert_eq!(refused.len(), 70 - dtmcp_core::session::CALLS_MAX);
    assert!(refused.iter().all(|outcome| error(outcome).contains("nothing was typed")));
}

#[test]
fn a_send_that_never_rests_says_so() {
    let mut sim = Sim::bash();
    for at in 0..200 {
        let at = dtmcp_core::time::Now(1_600_000 + at * 100_000);
        sim.bash.prints(at, "tick\r\n");
    }
    let outcome = sim.sent("a", "x", &[]);
    assert_eq!((outcome.status, notes(&outcome, "not come to rest")), (Status::Sent, 1));
}

#[test]
fn a_line_behind_lines_that_were_typed_ahead_is_answered_by_itself() {
    let at_line = Inspection { modes: Known::Known(LINE_EDITOR), unread: Known::Known(0), ..program(Call::Other) };
    for host in [Inspection::unknown(Why::NobodyLooks), at_line] {
        for reads_after in [0, 1, 20, 300] {
            let mut sim = Sim::bash();
            sim.bash.editor = Duration::from_millis(reads_after);
            sim.host = host.clone();
            let busy = sim.call("a", run_for("sleep 1", 0.1, ""));
            sim.answer(busy);
            sim.sent("a", "echo one\nsleep 0.2\necho two\necho mine\n", &[]);
            sim.pass(0.4);
            let mine = sim.ran("a", "echo mine; echo too");
            assert_eq!(told(&mine, &sim), "finished #6 exit 0: mine|too", "{reads_after} {:?}", host.unread);
            let regions: Vec<_> = sim.regions().into_iter().map(|region| (region.label, region.actor)).collect();
            let labels = ["sleep 1", "echo one", "sleep 0.2", "echo two", "echo mine", "echo mine; echo too"];
            assert_eq!(regions, labels.map(|label| (label.to_owned(), Some("a".to_owned()))), "{reads_after}");
        }
    }
}

#[test]
fn a_line_behind_one_that_was_given_to_a_program_waits_for_nothing() {
    let mut sim = Sim::bash();
    sim.ran("a", "quiz");
    for answer in ["Ada\n", "y\n", "4711\n"] {
        sim.sent("a", answer, &[]);
    }
    sim.host = Inspection { modes: Known::Known(LINE_EDITOR), unread: Known::Known(0), ..program(Call::Other) };
    let (began, looks) = (sim.seconds(), sim.looks.len());
    assert_eq!(told(&sim.ran("a", "echo next"), &sim), "finished #2 exit 0: next");
    assert!(sim.seconds() - began < 0.1, "{}", sim.seconds() - began);
    assert!(sim.looks.len() <= looks + 1, "one look tells that nothing is left: {:?}", sim.looks);
}
