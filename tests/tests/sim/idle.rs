//! What is printed behind a program's prompt by something else than the line it was given: a timer, a job, a connection.

use dtmcp_core::call::Status;
use dtmcp_core::inspect::{Call, Inspection, Known, ProcessId, TerminalModes};
use dtmcp_core::time::Now;
use dtmcp_core::waiting::carrier::carrier;
use dtmcp_tests::sim::{Sim, run_for};

use super::error;
use super::looking::{SHELL, program};

/// An interpreter with a loop of events: it polls the terminal beside other things, whatever it does.
fn event_loop() -> Inspection {
    let mut host = program(Call::Polls { fds: vec![0, 4], timeout: None });
    host.modes = Known::Known(TerminalModes { canonical: false, echo: false, held: false });
    host
}

#[test]
fn what_is_printed_behind_a_prompt_keeps_no_line_from_it() {
    let mut sim = Sim::bash();
    sim.host = event_loop();
    assert_eq!(sim.ran("a", "gdb").status, Status::Prompt);
    sim.pass(1.0);
    sim.bash.prints(Now::default(), "later\r\n");
    sim.pass(1.0);
    assert_eq!(sim.ran("a", "break main").status, Status::Prompt);
    // Before the prompt could be seen to rest, something comes again.
    let id = sim.run("a", "break sub");
    while !sim.session.log().cooked.live().lines.iter().any(|line| line == "did break sub") {
        assert!(sim.step());
    }
    while !sim.session.log().cooked.line_at_cursor().text.ends_with("(gdb) ") {
        assert!(sim.step());
    }
    sim.bash.prints(Now::default(), "tick\r\n");
    assert_eq!(sim.answer(id).status, Status::Waiting, "the prompt stands further up");
    assert_eq!(sim.ran("a", "break last").status, Status::Prompt);
    assert!(sim.typed().ends_with("break last\r"), "{}", sim.typed());
}

#[test]
fn who_was_given_a_line_and_shows_no_prompt_may_work_on_it() {
    let mut sim = Sim::bash();
    sim.host = event_loop();
    sim.ran("a", "gdb");
    let id = sim.call("a", run_for("slow 60", 10.0, ""));
    assert_eq!(sim.answer(id).status, Status::Running);
    // Nor is one idle that a person has given something.
    let mut sim = Sim::bash();
    sim.host = event_loop();
    sim.ran("a", "gdb");
    sim.person("slow 60");
    sim.pass(1.0);
    sim.person("\r");
    sim.pass(5.0);
    let refused = sim.ran("a", "break main");
    assert!(refused.error.as_ref().is_some_and(|error| error.contains("still running")), "{refused:?}");
}

#[test]
fn a_service_that_is_spoken_to_in_lines_takes_them_and_is_no_place() {
    for (words, raw, place) in [
        (&["nc", "build7", "80"][..], false, false),
        (&["socat", "-", "TCP:build7:80"], false, false),
        (&["telnet", "build7", "80"], false, false),
        (&["telnet", "build7"], true, true),
    ] {
        let mut sim = Sim::bash();
        sim.host = program(Call::Polls { fds: vec![0, 3], timeout: None });
        if let Known::Known(front) = &mut sim.host.front {
            front[0].parent = SHELL;
            front[0].carrier = carrier(words);
        }
        if raw {
            sim.host.modes = Known::Known(TerminalModes { canonical: false, echo: false, held: false });
        }
        let begun = sim.ran("a", if raw { "far" } else { "cat" });
        assert_eq!(begun.notes.iter().any(|note| note.contains("now on build7")), place, "{words:?} {begun:?}");
        assert_eq!(begun.status, if raw { Status::Prompt } else { Status::Quiet }, "{words:?}");
        let answer = sim.ran("a", "GET /");
        assert_eq!(answer.status, if raw { Status::Prompt } else { Status::Quiet }, "{words:?} {answer:?}");
        assert!(sim.typed().ends_with("GET /\r"));
    }
    // What ssh runs at the far side without a terminal may work in silence.
    let mut sim = Sim::bash();
    sim.host = program(Call::Polls { fds: vec![0, 3], timeout: None });
    if let Known::Known(front) = &mut sim.host.front {
        front[0].parent = SHELL;
        front[0].carrier = carrier(&["ssh", "build7", "make"]);
    }
    let id = sim.call("a", run_for("sleep 60", 10.0, ""));
    assert_eq!(sim.answer(id).status, Status::Running);
}

/// Another program than the shell reads its terminal: one that an interrupted command has left.
fn beside(pid: u32) -> Inspection {
    let mut host = program(Call::Reads(0));
    let mut rival = program(Call::Reads(0)).front.known().unwrap().clone();
    rival[0].id = ProcessId { pid, start: 1 };
    "pinentry".clone_into(&mut rival[0].name);
    (rival[0].session, rival[0].controlling) = (9, None);
    host.elsewhere = Known::Known(rival);
    host
}

#[test]
fn nothing_is_typed_where_what_a_signal_left_would_take_it() {
    let mut sim = Sim::bash();
    let id = sim.call("a", run_for("sleep 60", 1.0, ""));
    assert_eq!(sim.answer(id).status, Status::Running);
    sim.sent("a", "", &["ctrl+c"]);
    sim.host = beside(4242);
    for _ in 0..2 {
        let refused = error(&sim.ran("a", "echo one"));
        assert!(refused.starts_with("nothing was typed: pinentry (pid 4242)"), "{refused}");
        assert!(refused.contains("`kill 4242`"), "{refused}");
    }
    assert!(!sim.typed().contains("echo one"));
    sim.host = program(Call::Reads(0));
    assert_eq!(sim.ran("a", "echo one").status, Status::Finished);
    // Nothing is looked for where nothing was ended.
    let looks = sim.looks.len();
    assert_eq!(sim.ran("a", "echo two").status, Status::Finished);
    assert_eq!(sim.looks.len(), looks);
}

#[test]
fn a_look_that_never_comes_back_holds_no_line_for_long() {
    let mut sim = Sim::bash();
    let id = sim.call("a", run_for("sleep 60", 1.0, ""));
    sim.answer(id);
    sim.sent("a", "", &["ctrl+c"]);
    sim.blind = true;
    assert_eq!(sim.ran("a", "echo one").status, Status::Finished);
}
