//! `shell_integrate`: each line is typed once and at a plain shell's prompt, or not at all.

use dtmcp_core::call::{Files, Integrate, Learned, Outcome, Status, Waiting};
use dtmcp_core::inspect::Call;
use dtmcp_core::integration::QUESTION;
use dtmcp_core::record::MissingEntry;
use dtmcp_tests::sim::{Sim, Start, Typist, run_for};

use super::looking::carries;
use super::{error, notes};

fn request(missing: Vec<MissingEntry>) -> Waiting {
    let files = Files { here: "/here".to_owned(), for_all: false, elsewhere: "~/there".to_owned() };
    Waiting::Integrate(Integrate { session: None, files, missing })
}

fn integrate(sim: &mut Sim) -> Outcome {
    let id = sim.call("a", request(Vec::new()));
    sim.answer(id)
}

/// At a plain shell's prompt.
fn plain() -> Sim {
    let mut sim = Sim::starting(&Start::Plain);
    sim.pass(0.5);
    sim
}

#[test]
fn an_integrated_shell_is_left_alone() {
    let mut sim = Sim::bash();
    let outcome = integrate(&mut sim);
    assert_eq!((outcome.status, notes(&outcome, "integrated already")), (Status::Ok, 1), "{outcome:?}");
    assert_eq!(sim.typed(), "");
}

#[test]
fn a_plain_shell_is_asked_and_told_once() {
    let mut sim = plain();
    sim.bash.installed = true;
    let outcome = integrate(&mut sim);
    assert_eq!((outcome.status, notes(&outcome, "is integrated")), (Status::Ok, 1), "{outcome:?}");
    let Some(Learned::Present { who, .. }) = outcome.learned else { panic!("{:?}", outcome.learned) };
    assert_eq!(who, "me@far");
    let lines: Vec<String> = sim.typed().split_terminator('\r').map(str::to_owned).collect();
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert_eq!(lines[0], QUESTION);
    assert!(lines[1].starts_with(" . /here/integration.bash && export __DTMCP_NONCE="), "{}", lines[1]);
    let outcome = sim.ran("a", "status 3").region.unwrap();
    assert_eq!((outcome.id, outcome.exit), (1, Some(3)), "what was typed for it made no region");
}

#[test]
fn missing_files_are_remembered() {
    let mut sim = plain();
    let outcome = integrate(&mut sim);
    let text = error(&outcome);
    assert!(text.contains("dtmcp install me@vm") && text.contains("No such file"), "{text}");
    let Some(Learned::Missing(entry)) = outcome.learned else { panic!("{:?}", outcome.learned) };
    assert_eq!((entry.who.as_str(), entry.place.as_str()), ("me@far", "$"));
    let before = sim.typed();
    let id = sim.call("b", request(vec![entry.clone()]));
    let text = error(&sim.answer(id));
    assert!(text.contains("nothing was typed") && text.contains("dtmcp install me@vm"), "{text}");
    assert_eq!(sim.typed(), before);
    // Of another place it says nothing, and after half a day nothing at all.
    for entry in [
        MissingEntry { place: "other $".to_owned(), ..entry.clone() },
        MissingEntry { at: entry.at - 12 * 3_600_000, ..entry },
    ] {
        let id = sim.call("b", request(vec![entry]));
        assert!(error(&sim.answer(id)).contains("No such file"));
    }
}

#[test]
fn what_works_is_not_typed_into() {
    let mut sim = Sim::bash();
    let id = sim.call("a", run_for("sleep 20", 1.0, ""));
    sim.answer(id);
    let before = sim.typed();
    let text = error(&integrate(&mut sim));
    assert!(text.contains("nothing was typed") && text.contains("sleep 20"), "{text}");
    assert_eq!(sim.typed(), before);
}

#[test]
fn another_calls_line_goes_first() {
    let mut sim = plain();
    sim.bash.installed = true;
    let run = sim.run("a", "sleep 1; echo first");
    let integrate = sim.call("b", request(Vec::new()));
    let later = sim.run("c", "status 4");
    assert_eq!(sim.answer(run).status, Status::Prompt);
    assert_eq!(sim.answer(integrate).status, Status::Ok);
    assert_eq!(sim.answer(later).region.unwrap().exit, Some(4));
}

#[test]
fn a_terminal_that_takes_it_late_gets_it_once() {
    let mut sim = plain();
    sim.bash.installed = true;
    sim.typist = Typist::Moved(3);
    let outcome = integrate(&mut sim);
    assert_eq!(outcome.status, Status::Ok, "{outcome:?}");
    assert_eq!(sim.typed().matches("eval").count(), 2, "the question has it twice");
    sim.typist = Typist::Refuses("nothing was typed: no terminal".to_owned());
    let mut sim = plain();
    sim.typist = Typist::Refuses("nothing was typed: no terminal".to_owned());
    assert!(error(&integrate(&mut sim)).contains("no terminal"));
    assert_eq!(sim.typed(), "");
}

#[test]
fn a_client_that_goes_leaves_the_second_line_untyped() {
    let mut sim = plain();
    sim.bash.installed = true;
    let id = sim.call("a", request(Vec::new()));
    sim.gone(id);
    sim.pass(2.0);
    assert_eq!(sim.typed().matches("NONCE").count(), 0);
    assert_eq!(integrate(&mut sim).status, Status::Ok);
}

/// `run` types there, too, once nothing was printed for a while.
#[test]
fn a_far_prompt_like_no_other_is_asked_as_well() {
    let mut sim = Sim::bash();
    sim.host = carries(Call::Other);
    assert_eq!(sim.ran("a", "star").status, Status::Quiet);
    let text = error(&integrate(&mut sim));
    assert!(text.contains("did not answer"), "{text}");
    assert_eq!(sim.typed().matches(QUESTION).count(), 1);
}

#[test]
fn what_looks_like_a_question_of_a_far_end_is_answered_by_nobody() {
    let mut sim = Sim::bash();
    sim.host = carries(Call::Other);
    assert_eq!(sim.ran("a", "quiz").status, Status::Quiet);
    let text = error(&integrate(&mut sim));
    assert!(text.contains("\"Name? \" looks like a question") && text.contains("PS1="), "{text}");
    assert!(!sim.typed().contains(QUESTION));
}
