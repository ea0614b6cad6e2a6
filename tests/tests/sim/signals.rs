//! `send` with a signal, and a job that is interrupted: what the reply waits for, and what it says.

use std::time::Duration;

use dtmcp_core::call::{Signal, Status, Waiting};
use dtmcp_tests::sim::{Sim, run_for, send, signal};

use super::{error, notes};

#[test]
fn a_job_that_ends_has_its_status() {
    let mut sim = Sim::bash();
    let run = sim.call("a", run_for("sleep 600", 1.0, ""));
    sim.answer(run);
    let sent = sim.call("a", signal(Signal::Int));
    let outcome = sim.answer(sent);
    let region = outcome.region.clone().unwrap();
    assert_eq!((outcome.status, region.id, region.exit), (Status::Sent, 1, Some(130)));
    assert_eq!((notes(&outcome, "SIGINT went to job"), notes(&outcome, "still in the foreground")), (1, 0));
    // It was told of with that, and not again.
    assert_eq!(notes(&sim.ran("a", "echo hi"), "finished since"), 0);
}

#[test]
fn a_job_that_goes_on_is_named_after_a_second() {
    let mut sim = Sim::bash();
    let run = sim.call("a", run_for("deaf 600", 1.0, ""));
    sim.answer(run);
    let before = sim.seconds();
    let outcome = sim.sent("a", "", &["ctrl+c"]);
    assert_eq!(notes(&outcome, "still in the foreground: #1"), 1, "{outcome:?}");
    assert!((1.0..1.2).contains(&(sim.seconds() - before)), "{}", sim.seconds() - before);
}

#[test]
fn at_the_prompt_there_is_no_job() {
    let mut sim = Sim::bash();
    let sent = sim.call("a", signal(Signal::Kill));
    assert!(error(&sim.answer(sent)).contains("nothing runs in the foreground"));
    let sent = sim.call("a", signal(Signal::Cont));
    assert!(error(&sim.answer(sent)).contains("run line=\"fg\""));
    sim.ran("a", "bash");
    let sent = sim.call("a", signal(Signal::Term));
    assert!(error(&sim.answer(sent)).contains("nothing runs in the foreground"));
}

#[test]
fn a_signal_that_nobody_takes() {
    let mut sim = Sim::bash();
    let run = sim.call("a", run_for("sleep 600", 1.0, ""));
    sim.answer(run);
    let sent = sim.call("a", signal(Signal::Kill));
    assert!(error(&sim.answer(sent)).contains("refused"));
    assert!(sim.typed().ends_with("sleep 600\r"), "nothing is typed for a signal: {}", sim.typed());
}

#[test]
fn one_answer_that_ends_the_command_needs_no_rest() {
    let mut sim = Sim::bash();
    for (line, text, keys) in [
        ("cat", "", &["ctrl+d"][..]),
        ("vi", "", &["q"]),
        ("vi", "q", &[]),
        ("passwd", "secret\n", &[]),
        ("passwd", "secret", &["enter"]),
    ] {
        let run = sim.call("a", run_for(line, 5.0, ""));
        sim.answer(run);
        let before = sim.seconds();
        let outcome = sim.sent("a", text, keys);
        let region = outcome.region.clone().unwrap();
        assert_eq!((outcome.status, region.label.as_str(), region.exit), (Status::Sent, line, Some(0)), "{outcome:?}");
        assert!(sim.seconds() - before < 0.3, "{line} {}", sim.seconds() - before);
        assert_eq!((notes(&outcome, "finished since"), notes(&sim.ran("a", "echo hi"), "finished since")), (0, 0));
    }
    // Several keys are waited for, and their command's end is told in the same words.
    let run = sim.call("a", run_for("vi", 5.0, ""));
    sim.answer(run);
    let outcome = sim.sent("a", "xq", &[]);
    assert_eq!((notes(&outcome, "finished since"), outcome.region.unwrap().exit), (0, Some(0)));
    // What was typed ahead behind the answer is waited for.
    let run = sim.call("a", run_for("passwd", 5.0, ""));
    sim.answer(run);
    let outcome = sim.sent("a", "secret\necho ahead\n", &[]);
    assert_eq!(outcome.region.unwrap().label, "echo ahead");
}

#[test]
fn a_line_is_begun_before_anything_is_said_of_it() {
    let mut sim = Sim::bash();
    for line in ["sleep 1; echo hi\n", "echo hi\n"] {
        let mut request = send(line, &[]);
        if let Waiting::Send(send) = &mut request {
            send.settle = Duration::ZERO;
        }
        let sent = sim.call("a", request);
        let outcome = sim.answer(sent);
        assert_eq!(outcome.region.as_ref().map(|region| region.label.as_str()), Some(line.trim()), "{outcome:?}");
        sim.waited("a", 5.0);
    }
}

#[test]
fn a_job_that_was_stopped_is_suspended() {
    let mut sim = Sim::bash();
    for line in [
        "echo [1]+  Stopped    make; status 147",
        "echo [2]+  Angehalten    make; status 148",
        "echo zsh: suspended  make; status 148",
        "echo ^Zfish: Job 1, 'make' has stopped",
        "flood 100; echo [1]+  Stopped    make; status 149",
    ] {
        let outcome = sim.ran("a", line);
        assert_eq!(outcome.status, Status::Suspended, "{line}: {outcome:?}");
        assert_eq!((notes(&outcome, "\"fg\""), notes(&outcome, "exit status")), (1, 0), "{line}: {outcome:?}");
        assert_eq!(sim.waited("a", 1.0).status, Status::Suspended, "{line}");
    }
    for line in [
        "status 147",
        "echo done; status 148",
        "echo [1] Stopped; status 1",
        "flood 3; status 150",
        "echo fish: Job 1, 'make' has ended",
    ] {
        assert_eq!(sim.ran("a", line).status, Status::Finished, "{line}");
    }
    let run = sim.call("a", run_for("cat", 1.0, ""));
    sim.answer(run);
    assert_eq!(sim.sent("a", "", &["ctrl+d"]).observed.stopped, None);
}
