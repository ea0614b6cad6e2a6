//! Terminals that refuse or lag, panes that go, programs that end, clients that leave.

use dtmcp_core::call::{Outcome, Status};
use dtmcp_core::inspect::Call;
use dtmcp_core::lines::MemoryLines;
use dtmcp_core::region::{Place, State};
use dtmcp_core::reply::{Scene, render};
use dtmcp_core::session::Event;
use dtmcp_tests::sim::{Sim, Start, Typist, run_for, send, wait};

use super::looking::program;
use super::{error, notes, told};

#[test]
fn what_is_refused_leaves_nothing_behind() {
    let mut sim = Sim::bash();
    sim.typist = Typist::Refuses("tmux does not answer".to_owned());
    assert_eq!(error(&sim.ran("a", "echo hi")), "tmux does not answer");
    error(&sim.sent("a", "x\n", &[]));
    assert_eq!(sim.waited("a", 5.0).status, Status::Ok, "nothing is under way");
    sim.typist = Typist::Prompt;
    sim.person("echo mine\r");
    sim.pass(1.0);
    assert_eq!(sim.regions()[0].actor.as_deref(), Some("human"));
    assert_eq!(sim.ran("a", "echo hi").status, Status::Finished);
}

#[test]
fn who_types_into_what_is_over_is_told_why_it_is() {
    let why = "someone else took over the recording of this pane";
    let mut sim = Sim::bash();
    sim.handle(Event::Closed(why.to_owned()));
    for outcome in [sim.ran("a", "echo hi"), sim.sent("a", "x", &[]), sim.sent("a", "", &["ctrl+c"])] {
        assert!(error(&outcome).contains(why) && !error(&outcome).contains("has ended"), "{outcome:?}");
    }
}

#[test]
fn a_line_refused_for_a_program_is_no_region() {
    let mut sim = Sim::bash();
    sim.ran("a", "gdb");
    let why = "nothing was typed: the line is too long";
    sim.typist = Typist::Refuses(why.to_owned());
    assert_eq!([error(&sim.ran("a", "x")), error(&sim.sent("a", "x\n", &[]))], [why; 2]);
    sim.typist = Typist::Prompt;
    assert!(sim.regions().iter().skip(1).all(|region| region.state == State::Finished), "{:?}", sim.regions());
    let outcome = sim.ran("a", "y");
    assert_eq!((outcome.status, notes(&outcome, "finished since")), (Status::Prompt, 0), "{:?}", outcome.notes);
    assert_eq!(sim.shown(&outcome), ["did y"]);
}

#[test]
fn the_rest_of_several_lines_is_counted_where_one_is_refused() {
    let mut sim = Sim::bash();
    let id = sim.run("a", "sleep 1\necho two\necho three");
    sim.pass(0.5);
    sim.typist = Typist::Refuses("no".to_owned());
    let outcome = sim.answer(id);
    assert_eq!((outcome.ran.len(), outcome.unsent), (1, Some(2)), "{outcome:?}");
}

/// What a model reads of a call, but for how long its lines took.
fn read(sim: &Sim, outcome: &Outcome) -> String {
    let lines = MemoryLines((1..=sim.session.total_lines()).map(|line| sim.line(line)).collect());
    let home = Place { host: "vm".to_owned(), user: "me".to_owned(), container: None };
    let scene =
        Scene { session: "main", lines: &lines, screen: None, home: &home, notes: Vec::new(), summaries: false };
    let text = render(outcome, &scene).text;
    let timeless = |line: &str| {
        let parts: Vec<&str> = line.split(" · ").filter(|part| !part.ends_with(" s")).collect();
        parts.join(" · ")
    };
    text.lines().map(timeless).collect::<Vec<_>>().join("\n")
}

#[test]
fn an_error_behind_lines_that_ran_says_which_and_what_came_of_them() {
    const RAN: &str = "[main #1 exit 0 · 1 line]\n[main #2 exit 1 · ";
    const LEFT: &str = "note: the last 2 of 4 lines were not typed, from \"echo L3\" on: the others were, so run only these then\n---\n[#1]\nL1\n[#2]";
    let lines = "echo L1\nsleep 1; false\necho L3\necho L4";
    let cut = |disturb: fn(&mut Sim)| {
        let mut sim = Sim::bash();
        sim.pass(5.0);
        let id = sim.run("a", lines);
        sim.pass(0.5);
        disturb(&mut sim);
        let outcome = sim.answer(id);
        (read(&sim, &outcome), sim)
    };
    let (text, mut sim) = cut(|sim| sim.person("ec"));
    let (error, rest) = text.split_once('\n').unwrap();
    assert!(error.starts_with("error: the rest was not typed: someone at the terminal has \"ec\""), "{error}");
    // What they have typed while a line ran is shown as that line's, as on their terminal.
    assert_eq!(rest, format!("{RAN}1 line]\n{LEFT}\nec"));
    // What was told is not told again.
    sim.person("\x15");
    sim.pass(1.0);
    let outcome = sim.ran("a", "echo L3");
    assert_eq!(notes(&outcome, "since"), 0, "{outcome:?}");
    let (text, _) = cut(|sim| sim.typist = Typist::Refuses("nothing was typed: no".to_owned()));
    assert_eq!(text, format!("error: the rest was not typed: no\n{RAN}0 lines]\n{LEFT}"));
    // One line ran, and one is left.
    let mut sim = Sim::bash();
    let outcome = sim.ran("a", "echo one\necho \0");
    let text = read(&sim, &outcome);
    assert!(text.starts_with("error: the rest was not typed: the line holds a NUL"), "{text}");
    let note = "note: the last line of 2 was not typed, \"echo \\0\": the others were, so run only this one then";
    assert!(text.ends_with(&format!("\n[main #1 exit 0 · 1 line]\n{note}\n---\n[#1]\none")), "{text}");
    // Where none was typed, there is nothing to tell.
    sim.typist = Typist::Refuses("nothing was typed: no".to_owned());
    let outcome = sim.ran("a", "echo one\necho two");
    assert_eq!(read(&sim, &outcome), "error: nothing was typed: no");
}

#[test]
fn an_error_behind_a_line_that_a_program_took_names_what_it_asked() {
    let mut sim = Sim::bash();
    sim.host = program(Call::Reads(0));
    let outcome = sim.ran("a", "python\nx\nprint(\0)");
    let text = read(&sim, &outcome);
    assert!(text.starts_with("error: the rest was not typed: the line holds a NUL"), "{text}");
    assert!(text.contains("\n[main #1 waited at \">>> \""), "{text}");
    assert!(text.contains("the last line of 3 was not typed, \"print(\\0)\""), "{text}");
    assert!(text.ends_with("\n[#2]\ndid x"), "{text}");
}

#[test]
fn a_terminal_that_lags_is_waited_for() {
    let mut sim = Sim::bash();
    sim.typist = Typist::Waits;
    let id = sim.call("a", run_for("echo hi", 2.0, ""));
    sim.pass(5.0);
    assert!(sim.answered(id).is_none(), "whether it was typed is not known yet");
    sim.take_typing(Ok(()));
    assert_eq!(sim.answer(id).status, Status::Running);
    sim.typist = Typist::Prompt;
    assert_eq!(told(&sim.waited("a", 5.0), &sim), "finished #1 exit 0: hi");
    // Dropped in the middle of it.
    sim.typist = Typist::Waits;
    let id = sim.run("a", "echo ho");
    sim.gone(id);
    sim.take_typing(Err("no".to_owned()));
    sim.person("true\r");
    sim.pass(1.0);
    assert_eq!(sim.regions()[1].actor.as_deref(), Some("human"));
}

#[test]
fn the_program_ends() {
    let mut sim = Sim::bash();
    let outcome = sim.ran("a", "status 3; exit");
    assert_eq!(outcome.status, Status::Ended);
    let region = outcome.region.unwrap();
    assert_eq!((region.state, region.exit), (State::Finished, Some(0)));
    for outcome in [sim.ran("a", "echo hi"), sim.sent("a", "x", &[])] {
        assert!(error(&outcome).contains("session_create"), "{outcome:?}");
    }
    assert_eq!(sim.waited("a", 5.0).status, Status::Ended);
    let mut sim = Sim::starting(&Start::Program("cat".to_owned()));
    sim.pass(1.0);
    let outcome = sim.sent("a", "", &["ctrl+d"]);
    assert_eq!((outcome.status, outcome.program_exit), (Status::Ended, Some(0)));
}

#[test]
fn the_pane_goes() {
    let mut sim = Sim::bash();
    let run = sim.run("a", "sleep 100");
    let queued = sim.run("b", "echo never");
    sim.pass(1.0);
    let waits = sim.call("c", wait(30.0, None));
    let sends = sim.call("c", send("x", &[]));
    sim.handle(Event::Closed("the pane was closed at the terminal".to_owned()));
    for id in [run, waits, sends] {
        assert_eq!(sim.answered(id).unwrap().status, Status::Ended);
    }
    assert!(error(&sim.answered(queued).unwrap()).contains("nothing was typed"));
    assert!(!sim.waits() && sim.session.deadline().is_none());
    assert_eq!(sim.regions()[0].state, State::Lost, "what ran there is over");
}

#[test]
fn a_client_leaves_in_every_phase() {
    for after in [0.0, 0.0002, 0.0005, 0.5, 2.9] {
        let mut sim = Sim::bash();
        let id = sim.run("a", "sleep 2; echo end");
        let behind = sim.run("b", "echo next");
        sim.pass(after);
        if sim.answered(id).is_none() {
            sim.gone(id);
        }
        let outcome = sim.answer(behind);
        // The one behind is told that the session is busy, or comes after it; it is never typed into it.
        match outcome.status {
            Status::Error => assert!(!sim.typed().contains("next"), "{after}"),
            _ => assert_eq!(sim.shown(&outcome), ["next"], "{after}"),
        }
        sim.pass(10.0);
        assert_eq!(sim.typed().matches("sleep 2").count(), 1);
        let outcome = sim.waited("a", 1.0);
        assert_eq!(outcome.status, Status::Finished);
    }
}

#[test]
fn no_end_of_events_does_no_harm() {
    let mut sim = Sim::bash();
    let id = sim.call("a", run_for("sleep 50", 60.0, "never"));
    sim.pass(0.1);
    for _ in 0..20_000 {
        sim.handle(Event::Tick);
        sim.handle(Event::Gone(99_999));
        sim.handle(Event::Typed { id: 99_999, result: Ok(()) });
    }
    assert_eq!(sim.answer(id).status, Status::Finished);
}

#[test]
fn what_is_put_off_is_answered_when_the_session_ends() {
    // By a terminal whose cursor is elsewhere, by a shell that starts, and by Escape at its prompt.
    for (pass, keys) in [(1.0, &[][..]), (0.0, &[]), (1.0, &["escape"])] {
        let mut sim = Sim::bash();
        sim.pass(pass);
        if !keys.is_empty() {
            sim.sent("a", "", keys);
        }
        sim.typist = Typist::Moved(99);
        let id = sim.send("a", "x");
        sim.handle(Event::Closed("gone".to_owned()));
        let outcome = sim.answered(id).unwrap();
        assert!(error(&outcome).contains("typed: gone. session_create"), "{pass} {keys:?}: {outcome:?}");
    }
}
