//! Programs that read lines, nested shells, plain shells, full-screen programs: told by their looks.

use dtmcp_core::call::Status;
use dtmcp_core::inspect::{Call, Inspection, Known};
use dtmcp_core::region::Kind;
use dtmcp_tests::sim::{Chance, Sim, Start, run, run_for, wait};
use std::time::Duration;

use super::looking::program;
use super::{error, notes, told};

#[test]
fn what_each_of_several_lines_led_to_is_told() {
    let mut sim = Sim::bash();
    let outcome = sim.ran("a", "gdb\nbreak main\nbreak there");
    let led_to = [(1, "(gdb) ".to_owned()), (2, "(gdb) ".to_owned())];
    assert_eq!((outcome.status, outcome.led_to.as_slice()), (Status::Prompt, &led_to[..]), "{outcome:?}");
    // Shells tell how each line ended, and their prompts are none of this.
    let mut sim = Sim::bash();
    assert_eq!(sim.ran("a", "echo a\necho b").led_to, []);
}

#[test]
fn a_debugger_takes_lines() {
    let mut sim = Sim::bash();
    let outcome = sim.ran("a", "gdb");
    assert_eq!(told(&outcome, &sim), "prompt #1 at \"(gdb) \": GNU gdb 13");
    assert_eq!(notes(&outcome, "stays open"), 1);
    let outcome = sim.ran("a", "break main");
    assert_eq!(told(&outcome, &sim), "prompt #2 at \"(gdb) \": did break main");
    let region = outcome.region.unwrap();
    assert_eq!((region.kind, region.label.as_str()), (Kind::Input, "(gdb) break main"));
    // It thinks, and prints in pieces, which is no end.
    assert_eq!(told(&sim.ran("a", "slow 7"), &sim), "prompt #3 at \"(gdb) \": did slow 7");
    assert_eq!(told(&sim.ran("a", "twice"), &sim), "prompt #4 at \"(gdb) \": half an answer");
    let id = sim.call("a", run_for("slow 9", 1.0, ""));
    assert_eq!(sim.answer(id).status, Status::Running);
    let outcome = sim.waited("a", 30.0);
    assert_eq!(told(&outcome, &sim), "prompt #5 at \"(gdb) \": did slow 9");
    let outcome = sim.ran("a", "quit");
    assert_eq!(told(&outcome, &sim), "finished #1 exit 0");
    assert_eq!(told(&sim.ran("a", "echo back"), &sim), "finished #7 exit 0: back");
}

#[test]
fn output_without_a_line_end_is_none_of_the_prompt() {
    for name in ["gdb", "far"] {
        let mut sim = Sim::bash();
        sim.host = program(Call::Reads(0));
        let prompt = if name == "gdb" { "(gdb) " } else { "far 2 $ " };
        sim.ran("a", name);
        let outcome = sim.ran("a", "joined out of 7");
        let line = format!("out of 7{}", prompt.trim_end());
        assert_eq!(told(&outcome, &sim), format!("prompt #2 at {prompt:?}: {line}"));
        assert_eq!(outcome.glued, "out of 7".len());
        // Half-typed text behind it is none of it either, and the next line is named after the prompt.
        sim.sent("a", "ab", &[]);
        assert_eq!(sim.waited("a", 5.0).prompt.as_deref(), Some(prompt));
        sim.sent("a", "", &["ctrl+u"]);
        let outcome = sim.ran("a", "next");
        assert_eq!(told(&outcome, &sim), format!("prompt #3 at {prompt:?}: did next"));
        assert_eq!(outcome.region.unwrap().label, format!("{prompt}next"));
        let lived = sim.regions();
        sim.crash();
        assert_eq!(sim.regions(), lived);
    }
}

#[test]
fn several_lines_for_a_program() {
    let mut sim = Sim::bash();
    let outcome = sim.ran("a", "python\nif x:\n  y\n\nz\nquit()\necho back");
    assert_eq!((outcome.status, outcome.unsent), (Status::Finished, Some(0)), "{outcome:?}");
    let labels: Vec<String> = sim.regions().iter().map(|region| region.label.clone()).collect();
    assert_eq!(labels.first().unwrap(), "python");
    assert_eq!(labels.last().unwrap(), "echo back");
    assert!(labels.contains(&">>> if x:".to_owned()) && labels.contains(&">>> z".to_owned()), "{labels:?}");
}

#[test]
fn a_program_wants_the_rest() {
    let mut sim = Sim::bash();
    sim.ran("a", "python");
    let outcome = sim.ran("a", "for x in y:");
    assert_eq!((outcome.status, outcome.prompt.as_deref()), (Status::Continuation, Some("... ")));
    assert_eq!(sim.ran("a", "  pass").status, Status::Continuation);
    assert_eq!(sim.ran("a", "").prompt.as_deref(), Some(">>> "));
}

#[test]
fn a_prompt_that_nobody_knows() {
    let mut sim = Sim::bash();
    // A command of bash: its marker will come, so silence says nothing.
    let id = sim.call("a", run_for("odd", 20.0, ""));
    assert_eq!(sim.answer(id).status, Status::Running);
    error(&sim.ran("a", "hello"));
    assert!(!sim.typed().contains("hello"));
    // With its prompt given, it takes lines.
    let id =
        sim.call("a", run("hello", |run| run.prompt_pattern = dtmcp_core::pattern::Pattern::new("^now what$").ok()));
    let outcome = sim.answer(id);
    assert_eq!(told(&outcome, &sim), "prompt #2 at \"now what\": did hello");
    // Without markers at all, three seconds of silence end the wait, and say so.
    let mut sim = Sim::starting(&Start::Program("odd".to_owned()));
    sim.pass(1.0);
    let outcome = sim.ran("a", "hello");
    assert_eq!((outcome.status, notes(&outcome, "cannot be told")), (Status::Quiet, 1));
    assert!((4.0..4.2).contains(&sim.seconds()), "{}", sim.seconds());
}

#[test]
fn who_is_ready_a_moment_after_a_look_takes_the_line() {
    let begun = || {
        let mut sim = Sim::bash();
        sim.host = program(Call::Other);
        let id = sim.call("a", run_for("odd", 1.0, ""));
        assert_eq!(sim.answer(id).status, Status::Running);
        sim
    };
    // It comes up while the line waits.
    let mut sim = begun();
    let id = sim.run("a", "hello");
    sim.pass(0.3);
    assert!(!sim.typed().contains("hello"));
    sim.host = program(Call::Reads(0));
    assert_eq!(sim.answer(id).status, Status::Waiting);
    // What was seen before the call says nothing of now.
    let mut sim = begun();
    let before = sim.seconds();
    error(&sim.ran("a", "hello"));
    assert!(sim.seconds() - before < 0.7, "{}", sim.seconds() - before);
    sim.pass(0.05);
    sim.host = program(Call::Reads(0));
    assert_eq!(sim.ran("a", "hello").status, Status::Waiting);
}

#[test]
fn a_plain_shell() {
    let mut sim = Sim::starting(&Start::Plain);
    let outcome = sim.ran("a", "echo hi");
    assert_eq!(told(&outcome, &sim), "prompt #1 at \"$ \": hi");
    assert_eq!(told(&sim.ran("a", "echo again"), &sim), "prompt #2 at \"$ \": again");
    let outcome = sim.ran("a", "echo \"first");
    assert_eq!(told(&outcome, &sim), "continuation #3 at \"> \"");
    assert_eq!(sim.ran("a", "exit").status, Status::Continuation);
}

#[test]
fn a_shell_inside_the_shell() {
    let mut sim = Sim::bash();
    let outcome = sim.ran("a", "bash");
    assert_eq!(told(&outcome, &sim), "prompt #1 at \"$ \"");
    assert_eq!(told(&sim.ran("a", "echo deep"), &sim), "finished #2 exit 0: deep");
    let outcome = sim.ran("a", "exit");
    assert_eq!(outcome.status, Status::Finished, "{outcome:?}");
    assert_eq!(told(&sim.ran("a", "echo shallow"), &sim), "finished #4 exit 0: shallow");
}

#[test]
fn a_full_screen_program() {
    let mut sim = Sim::bash();
    let outcome = sim.ran("a", "vi");
    assert_eq!((outcome.status, notes(&outcome, "vi has the screen")), (Status::Screen, 1));
    let refused = sim.ran("a", "echo no");
    assert!(error(&refused).contains("full-screen"), "{refused:?}");
    assert_eq!(sim.waited("a", 5.0).status, Status::Screen);
    let outcome = sim.sent("a", "q", &[]);
    assert_eq!((outcome.status, outcome.prompt.as_deref()), (Status::Sent, Some("$ ")));
    assert_eq!(sim.ran("a", "echo yes").status, Status::Finished);
}

#[test]
fn what_is_hidden_reaches_nothing() {
    let mut sim = Sim::bash();
    sim.ran("a", "vault");
    let outcome = sim.ran("a", "hunter2");
    assert_eq!(told(&outcome, &sim), "prompt #2 at \"vault> \": kept");
    sim.ran("a", "quit");
    let id = sim.call("a", run_for("passwd", 2.0, ""));
    assert_eq!(sim.answer(id).status, Status::Running);
    let refused = sim.ran("a", "hunter2");
    error(&refused);
    sim.sent("a", "hunter2\n", &[]);
    sim.pass(5.0);
    assert!(sim.typed().matches("hunter2").count() == 2, "{}", sim.typed());
    assert!(!sim.disk.written().contains("hunter2"), "{}", sim.disk.written());
}

#[test]
fn a_prompt_in_the_middle_of_output_is_none() {
    let mut sim = Sim::bash();
    let id = sim.run("a", "printf (gdb)\\s; printf x; sleep 2; echo end");
    assert_eq!(sim.answer(id).status, Status::Finished);
    let mut sim = Sim::starting(&Start::Bash(Duration::from_millis(20)));
    let id = sim.run("a", "printf (gdb)\\s; sleep 1; echo end");
    assert_eq!(sim.answer(id).status, Status::Prompt);
    sim.pass(2.0);
    assert_eq!(sim.waited("a", 9.0).status, Status::Finished);
}

#[test]
fn a_line_that_its_taker_never_read_is_followed_to_the_shell() {
    for cut in [None, Some(1), Some(2), Some(3)] {
        for then in ["sleep 1", "sleep 0.003"] {
            let mut sim = Sim::bash();
            sim.cut = cut.map(Chance::new);
            assert_eq!(sim.ran("a", &format!("printf (gdb)\\s; sleep 0.2; {then}")).status, Status::Prompt);
            let outcome = sim.ran("a", "echo hi");
            assert_eq!(told(&outcome, &sim), "finished #3 exit 0: hi", "{cut:?} {then}");
            // And where it takes its time there.
            assert_eq!(sim.ran("a", &format!("printf (gdb)\\s; sleep 0.2; {then}")).status, Status::Prompt);
            let id = sim.call("a", run_for("echo hi; sleep 60", 9.0, ""));
            let outcome = sim.answer(id);
            assert_eq!((outcome.status, outcome.region.map(|it| it.id)), (Status::Running, Some(6)), "{cut:?} {then}");
        }
    }
    // Who waits for the program that took a line is told of the program's end.
    let mut sim = Sim::bash();
    sim.ran("a", "gdb");
    let id = sim.call("a", run_for("slow 5", 1.0, ""));
    assert_eq!(sim.answer(id).status, Status::Running);
    let id = sim.call("a", wait(20.0, None));
    sim.sent("b", "", &["ctrl+c"]);
    sim.send("b", "echo next; sleep 30\n");
    let outcome = sim.answer(id);
    assert_eq!((outcome.status, outcome.region.map(|it| it.id)), (Status::Finished, Some(1)));
}

/// A program of this name that reads the terminal.
fn named(name: &str) -> Inspection {
    let mut seen = program(Call::Reads(0));
    if let Known::Known(front) = &mut seen.front {
        name.clone_into(&mut front[0].name);
    }
    seen
}

#[test]
fn a_pager_that_a_program_starts_takes_no_line() {
    let mut sim = Sim::bash();
    sim.host = program(Call::Reads(0));
    assert_eq!(sim.ran("a", "odd").status, Status::Waiting);
    sim.host = named("less");
    let pages = sim.ran("a", "page");
    assert_eq!(pages.status, Status::Screen, "{pages:?}");
    let refused = sim.ran("a", "echo hi");
    assert!(refused.error.as_ref().is_some_and(|error| error.contains("full-screen program")), "{refused:?}");
    sim.host = program(Call::Reads(0));
    let left = sim.sent("a", "q", &[]);
    assert!(!left.observed.pages, "{left:?}");
}

#[test]
fn what_is_typed_at_a_picker_is_no_line() {
    let mut sim = Sim::bash();
    sim.host = named("fzf");
    // Its own line looks like a prompt.
    let picks = sim.ran("a", "gdb");
    assert_eq!(picks.status, Status::Screen, "{picks:?}");
    let refused = sim.ran("a", "echo hi");
    assert!(refused.error.as_ref().is_some_and(|error| error.contains("full-screen program")), "{refused:?}");
}
