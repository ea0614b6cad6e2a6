//! `run` at a shell's prompt: what ends it, what it answers, several lines, timeouts.

use dtmcp_core::call::Status;
use dtmcp_core::time::Now;
use dtmcp_tests::sim::{Sim, Start, run_for};
use std::time::Duration;

use super::{error, notes, told};

#[test]
fn a_command_is_finished_when_its_marker_comes() {
    let mut sim = Sim::bash();
    for (line, answer) in [
        ("echo hi", "finished #1 exit 0: hi"),
        ("false", "finished #2 exit 1"),
        ("printf half a line", "finished #3 exit 0: half a line"),
        ("status 255", "finished #4 exit 255"),
        ("nosuch", "finished #5 exit 127: bash: nosuch: command not found"),
        ("sleep 20; echo late", "finished #6 exit 0: late"),
        ("", "finished"),
        ("# a comment", "finished"),
        (")", "finished #7 exit 2: bash: syntax error near unexpected token `)'"),
        ("echo a; echo b; false", "finished #8 exit 1: a|b"),
    ] {
        let outcome = sim.ran("a", line);
        assert_eq!(told(&outcome, &sim), answer, "{line}");
        assert!(notes(&outcome, "finished since") == 0, "{:?}", outcome.notes);
    }
    let regions = sim.regions();
    assert_eq!((regions[0].label.as_str(), regions[6].label.as_str()), ("echo hi", ")"));
    assert!(regions.iter().all(|region| region.actor.as_deref() == Some("a")));
}

#[test]
fn the_answer_comes_with_the_marker_and_not_by_silence() {
    let mut sim = Sim::bash();
    let before = sim.seconds();
    sim.ran("a", "sleep 12");
    let took = sim.seconds() - before;
    assert!((12.0..12.01).contains(&took), "{took}");
}

#[test]
fn many_lines_are_all_there() {
    let mut sim = Sim::bash();
    let outcome = sim.ran("a", "flood 5000");
    let region = outcome.region.clone().unwrap();
    assert_eq!((region.lines, sim.line(region.first_line + 4999)), (5000, "5000".to_owned()));
}

#[test]
fn time_runs_out_and_the_command_goes_on() {
    let mut sim = Sim::bash();
    let id = sim.call("a", run_for("echo one; sleep 5; echo two", 1.0, ""));
    let outcome = sim.answer(id);
    assert_eq!(told(&outcome, &sim), "running #1: one");
    assert_eq!(notes(&outcome, "wait session"), 1);
    let waited = sim.waited("a", 30.0);
    assert_eq!(told(&waited, &sim), "finished #1 exit 0: one|two");
}

#[test]
fn a_timeout_of_nothing_types_and_returns() {
    let mut sim = Sim::bash();
    let id = sim.call("a", run_for("echo one; sleep 1; echo two", 0.0, ""));
    let outcome = sim.answered(id).unwrap();
    assert_eq!(outcome.status, Status::Running);
    // What was typed is under way: `wait` waits for it, and does not take the prompt before it for its end.
    let waited = sim.waited("a", 30.0);
    assert_eq!(told(&waited, &sim), "finished #1 exit 0: one|two");
    let id = sim.call("a", run_for("# nothing", 0.0, ""));
    assert_eq!(sim.answered(id).unwrap().status, Status::Running);
    let waited = sim.waited("a", 30.0);
    assert_eq!((told(&waited, &sim).as_str(), notes(&waited, "last command")), ("finished #1 exit 0: one|two", 1));
}

#[test]
fn until_is_seen_in_output_only() {
    let mut sim = Sim::bash();
    let id = sim.call("a", run_for("sleep 1; echo READY; sleep 60", 30.0, "READY"));
    sim.pass(0.9);
    assert!(sim.answered(id).is_none(), "the echo of what was typed is no match");
    let outcome = sim.answer(id);
    assert_eq!(told(&outcome, &sim), "matched #1: READY");
    assert_eq!(outcome.matched, outcome.region.map(|region| region.first_line));
    sim.sent("a", "", &["ctrl+c"]);
    // An unfinished last line counts; a command that has also ended is finished.
    let id = sim.call("a", run_for("printf half; sleep 9", 5.0, "^half$"));
    assert_eq!(sim.answer(id).status, Status::Matched);
    sim.waited("a", 30.0);
    let id = sim.call("a", run_for("echo over", 5.0, "over"));
    let outcome = sim.answer(id);
    assert_eq!((outcome.status, outcome.matched.is_some()), (Status::Finished, true));
    let id = sim.call("a", run_for("echo over", 5.0, "under"));
    assert_eq!(sim.answer(id).matched, None);
}

#[test]
fn a_pattern_without_end_is_told_and_not_taken_for_no_match() {
    let mut sim = Sim::bash();
    let text = "a".repeat(50);
    let id = sim.call("a", run_for(&format!("echo {text}; sleep 9"), 30.0, r"^(a|aa)+(?=b)$"));
    let outcome = sim.answer(id);
    assert!(error(&outcome).contains("stays typed"), "{outcome:?}");
    assert_eq!(sim.waited("a", 30.0).status, Status::Finished);
}

#[test]
fn several_lines_go_one_at_a_time() {
    let mut sim = Sim::bash();
    let outcome = sim.ran("a", "echo one\nfalse\n\necho three");
    let ran: Vec<_> = outcome.ran.iter().map(|region| (region.id, region.exit)).collect();
    assert_eq!((ran, outcome.unsent), (vec![(1, Some(0)), (2, Some(1)), (3, Some(0))], Some(0)));
    assert_eq!(sim.typed(), "echo one\rfalse\r\recho three\r");
    // A line that still runs when time is over ends it.
    let id = sim.call("a", run_for("echo one\nsleep 60\necho never", 2.0, ""));
    let outcome = sim.answer(id);
    assert_eq!((outcome.status, outcome.unsent, outcome.ran.len()), (Status::Running, Some(1), 2));
    sim.sent("a", "", &["ctrl+c"]);
    assert!(!sim.typed().contains("never"));
    // The lines of one command are typed as their continuations come.
    let outcome = sim.ran("a", "echo \"first\nsecond\"");
    assert_eq!(told(&outcome, &sim), "finished #6 exit 0: first|second");
    assert_eq!((outcome.unsent, sim.regions()[5].label.as_str()), (Some(0), "echo \"first\nsecond\""));
    // `until` holds for the last line.
    let id = sim.call("a", run_for("echo X\necho Y; sleep 9", 5.0, "X"));
    assert_eq!(sim.answer(id).status, Status::Running);
}

#[test]
fn several_lines_end_where_one_cannot_be_typed() {
    let mut sim = Sim::bash();
    let outcome = sim.ran("a", "exit\necho never");
    assert_eq!((outcome.status, outcome.unsent, outcome.ran.len()), (Status::Ended, Some(1), 1));
    let mut sim = Sim::bash();
    let outcome = sim.ran("a", "vi\necho never");
    assert_eq!((outcome.status, outcome.unsent), (Status::Screen, Some(1)));
    let mut sim = Sim::bash();
    let outcome = sim.ran("a", "echo one\necho \0");
    assert!(error(&outcome).contains("NUL"));
    assert_eq!((outcome.ran.len(), outcome.unsent), (1, Some(1)), "{outcome:?}");
}

#[test]
fn lines_for_a_shell_that_is_gone_go_to_no_other() {
    for (dies, of) in [("die", 2), ("true; die", 2), ("bash\ndie", 3)] {
        let mut sim = Sim::bash();
        sim.ran("a", "bash");
        let outcome = sim.ran("a", &format!("{dies}\necho never"));
        let (unsent, note) = (outcome.unsent, outcome.notes.join("; "));
        assert_eq!((outcome.status, unsent), (Status::Finished, Some(1)), "{dies}: {outcome:?}");
        assert!(
            note.contains("the shell that took") && note.contains(&format!("the last line of {of} was not typed")),
            "{note}"
        );
        assert!(!note.contains("run it once") && !note.contains("refused"), "{note}");
        assert!(!sim.bash.taken.contains(&"echo never".to_owned()), "{:?}", sim.bash.taken);
        assert_eq!(sim.ran("a", "echo now").status, Status::Finished);
    }
    // What is left by its own words is left on purpose.
    let mut sim = Sim::bash();
    let outcome = sim.ran("a", "bash\necho one\nexit\necho two");
    assert_eq!((outcome.status, outcome.unsent), (Status::Finished, Some(0)), "{outcome:?}");
}

#[test]
fn the_rest_of_a_line_is_asked_for() {
    let mut sim = Sim::bash();
    let outcome = sim.ran("a", "echo \"first");
    assert_eq!(told(&outcome, &sim), "continuation at \"> \"");
    let outcome = sim.ran("a", "second\"");
    assert_eq!(told(&outcome, &sim), "finished #1 exit 0: first|second");
}

#[test]
fn the_first_prompt_is_waited_for() {
    let mut sim = Sim::starting(&Start::Bash(Duration::from_secs(8)));
    let outcome = sim.ran("a", "echo hi");
    assert_eq!(told(&outcome, &sim), "finished #1 exit 0: hi");
    assert_eq!(notes(&outcome, "8.0 s"), 1, "{:?}", outcome.notes);
    assert_eq!(notes(&sim.ran("a", "echo hi"), "startup files"), 0);
    let mut sim = Sim::starting(&Start::Bash(Duration::from_secs(8)));
    let id = sim.call("a", run_for("echo hi", 3.0, ""));
    assert!(error(&sim.answer(id)).contains("nothing was typed"));
    sim.pass(10.0);
    assert_eq!(sim.typed(), "");
}

#[test]
fn a_command_in_bash_is_never_quiet() {
    let mut sim = Sim::bash();
    let id = sim.call("a", run_for("printf what now; sleep 3000", 3600.0, ""));
    sim.pass(2999.0);
    assert!(sim.answered(id).is_none());
    assert_eq!(sim.answer(id).status, Status::Finished);
}

#[test]
fn what_the_background_prints_is_no_part_of_the_next_lines_name() {
    let mut sim = Sim::bash();
    sim.bash.prints(Now(2_000_000), "tick\r\ntock\r\n");
    sim.pass(5.0);
    let outcome = sim.ran("a", "echo one");
    assert_eq!(told(&outcome, &sim), "finished #1 exit 0: one");
    assert_eq!(outcome.region.as_ref().unwrap().label, "echo one");
    let (from, to) = (sim.line(1), sim.line(2));
    assert!(from.ends_with("tick") && to == "tock", "{from:?} {to:?}");
    assert_eq!(notes(&outcome, "printed at the prompt before: read session=\"t1\" from=1 to=2"), 1, "{outcome:?}");
    let outcome = sim.ran("a", "echo \"one\ntwo\"");
    assert_eq!(notes(&outcome, "printed at the prompt before"), 0);
    sim.crash();
    assert_eq!(sim.regions()[0].label, "echo one");
}

/// Before its prompt a shell does not read the terminal, which keeps 4 KiB of a line and acts on some keys itself.
#[test]
fn a_prompt_that_takes_its_time_is_waited_for() {
    for prompts in [0.05, 0.4, 0.9, 6.0] {
        let mut sim = Sim::bash();
        sim.ran("a", "true");
        sim.bash.prompts = Duration::from_secs_f64(prompts);
        sim.ran("a", "true");
        let id = sim.call("a", run_for("echo hi", 60.0, ""));
        sim.pass(prompts - 0.02);
        assert_eq!(sim.bash.unsubmitted(), "", "{prompts}: typed before the prompt stands");
        let outcome = sim.answer(id);
        assert_eq!(told(&outcome, &sim), "finished #3 exit 0: hi", "{prompts}");
        assert_eq!(outcome.region.unwrap().actor.as_deref(), Some("a"), "{prompts}");
    }
}

/// A line that was given to a shell before its prompt stood is answered behind that prompt, and is its typist's.
#[test]
fn a_line_typed_before_the_prompt_is_whose_it_is() {
    let mut sim = Sim::bash();
    sim.bash.prompts = Duration::from_secs(12);
    sim.ran("a", "true");
    let id = sim.call("a", run_for("echo hi", 60.0, ""));
    sim.pass(11.0);
    assert_eq!(sim.bash.unsubmitted(), "echo hi\r", "nobody waits for a prompt for ever");
    let outcome = sim.answer(id);
    assert_eq!(told(&outcome, &sim), "finished #2 exit 0: hi");
    assert_eq!(outcome.region.unwrap().actor.as_deref(), Some("a"));
    let id = sim.call("b", run_for("echo b", 60.0, ""));
    assert_eq!(sim.answer(id).region.unwrap().actor.as_deref(), Some("b"));
}
