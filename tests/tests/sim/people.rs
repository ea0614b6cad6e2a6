//! A person at the same terminal.

use std::time::Duration;

use dtmcp_core::call::Status;
use dtmcp_core::inspect::Call;
use dtmcp_core::session::{Event, Owner};
use dtmcp_core::time::Now;
use dtmcp_tests::sim::{Sim, Typist, run, run_for, send};

use super::expect::{expect, rule};
use super::looking::{hides, program};
use super::{error, notes, told};

#[test]
fn what_a_person_runs_is_theirs() {
    let mut sim = Sim::bash();
    sim.person("echo mine\r");
    sim.pass(1.0);
    let region = &sim.regions()[0];
    assert_eq!((region.actor.as_deref(), region.label.as_str()), (Some("human"), "echo mine"));
    assert!(sim.session.take_finished("a").is_empty());
    assert_eq!(sim.ran("a", "echo ours").region.unwrap().actor.as_deref(), Some("a"));
    // Also once an agent has worked there.
    sim.person("false\r");
    sim.pass(1.0);
    assert_eq!(sim.regions()[2].actor.as_deref(), Some("human"));
}

#[test]
fn a_persons_half_typed_text_is_protected() {
    let mut sim = Sim::bash();
    sim.pass(5.0);
    sim.person("git pu");
    sim.pass(1.0);
    let text = error(&sim.ran("a", "echo hi"));
    assert!(text.contains("\"git pu\""), "{text}");
    assert_eq!(sim.typed(), "");
    // Keys that an agent presses there do not make the text its own.
    sim.sent("a", "", &["left"]);
    error(&sim.ran("a", "echo hi"));
    sim.sent("a", "l", &[]);
    error(&sim.ran("a", "echo hi"));
    sim.person("\r");
    sim.pass(1.0);
    assert_eq!(sim.ran("a", "echo hi").status, Status::Finished);
}

#[test]
fn text_that_is_seen_only_once_typing_was_tried_is_protected() {
    for tries in [1, 20] {
        for request in [run("echo hi", |_| {}), send("x", &[])] {
            let mut sim = Sim::bash();
            sim.pass(5.0);
            sim.typist = Typist::Moved(tries);
            let call = sim.call("a", request);
            sim.person("git pu");
            sim.handle(Event::Person(Some(sim.wall())));
            let text = error(&sim.answer(call));
            assert!(text.contains("\"git pu\""), "{text}");
            // Having tried makes it nobody else's: Enter would submit it.
            sim.typist = Typist::Prompt;
            let text = error(&sim.sent("a", "", &["enter"]));
            assert!(text.contains("\"git pu\""), "{text}");
            assert_eq!(sim.typed(), "");
        }
    }
}

#[test]
fn what_a_person_types_ahead_is_protected() {
    let mut sim = Sim::bash();
    sim.pass(5.0);
    let call = sim.run("a", "sleep 3");
    sim.pass(1.5);
    sim.person("git pu");
    sim.answer(call);
    sim.pass(1.0);
    let text = error(&sim.ran("a", "echo hi"));
    assert!(text.contains("git pu"), "{text}");
}

#[test]
fn no_line_that_has_waited_is_typed_into_what_a_person_typed_ahead() {
    for shown_after in [0, 1, 20, 200] {
        for queued in [false, true] {
            let mut sim = Sim::bash();
            sim.bash.editor = Duration::from_millis(shown_after);
            sim.pass(5.0);
            let lines = if queued { "sleep 3" } else { "sleep 3\necho second\necho third" };
            let first = sim.run("a", lines);
            sim.pass(0.5);
            let call = if queued { sim.run("b", "echo queued") } else { first };
            sim.pass(1.0);
            sim.person("git pu");
            let outcome = sim.answer(call);
            let text = error(&outcome);
            let why = if queued { "nothing was typed" } else { "the rest was not typed" };
            assert!(text.starts_with(why) && text.contains("\"git pu\""), "{shown_after}: {text}");
            assert_eq!(outcome.unsent, if queued { None } else { Some(2) });
            assert_eq!((sim.bash.taken.as_slice(), &*sim.bash.unsubmitted()), (&["sleep 3".to_owned()][..], "git pu"));
        }
    }
}

#[test]
fn lines_go_on_at_once_where_no_person_has_typed_meanwhile() {
    for person in [false, true] {
        let mut sim = Sim::bash();
        if person {
            sim.person("true\r");
        }
        sim.pass(5.0);
        let began = sim.wall();
        assert_eq!(sim.ran("a", "true\ntrue\ntrue").status, Status::Finished);
        assert!(sim.wall().0 - began.0 < 100, "{person}");
        // A key of theirs that leaves nothing behind holds the next up for a moment, and no longer.
        let call = sim.run("a", "sleep 1\ntrue");
        sim.pass(0.5);
        sim.person("\r");
        assert_eq!(sim.answer(call).status, Status::Finished);
    }
}

#[test]
fn a_call_with_no_time_left_types_nothing_into_what_is_not_shown_yet() {
    let mut sim = Sim::bash();
    sim.bash.editor = Duration::from_millis(200);
    sim.pass(5.0);
    let call = sim.call("a", run_for("sleep 3\necho second", 3.1, ""));
    sim.pass(1.0);
    sim.person("git pu");
    let text = error(&sim.answer(call));
    assert!(text.starts_with("the rest was not typed"), "{text}");
    sim.pass(1.0);
    assert_eq!(sim.bash.unsubmitted(), "git pu");
}

#[test]
fn keys_that_edit_a_persons_text_are_refused() {
    for key in ["up", "backspace", "ctrl+w", "tab", "delete", "ctrl+d", "alt+d", "x"] {
        let mut sim = Sim::bash();
        sim.pass(5.0);
        sim.person("git pu");
        sim.pass(1.0);
        let text = error(&sim.sent("a", "", &[key]));
        assert!(text.contains("\"git pu\""), "{key}: {text}");
        assert_eq!(sim.typed(), "", "{key}");
    }
}

#[test]
fn a_prompt_that_is_seen_differently_stops_nobody() {
    let mut sim = Sim::bash();
    sim.pass(5.0);
    for lines in ["echo hi", "echo one\necho two"] {
        sim.typist = Typist::Moved(u32::MAX);
        let outcome = sim.ran("a", lines);
        assert_eq!(outcome.status, Status::Finished, "{}", told(&outcome, &sim));
    }
    sim.sent("a", "x", &[]);
    assert_eq!(sim.typed(), "echo hi\recho one\recho two\rx");
}

#[test]
fn a_persons_text_is_theirs_also_when_they_have_gone() {
    let mut sim = Sim::bash();
    sim.pass(5.0);
    sim.person("git pu");
    sim.pass(1.0);
    error(&sim.ran("a", "echo hi"));
    sim.handle(Event::Person(None));
    sim.detach();
    error(&sim.ran("a", "echo hi"));
    assert_eq!(sim.typed(), "");
}

#[test]
fn noise_from_the_background_is_no_text_of_anyones() {
    let mut sim = Sim::bash();
    sim.ran("a", "later 2 noise");
    sim.pass(5.0);
    let outcome = sim.ran("a", "echo hi");
    assert_eq!(told(&outcome, &sim), "finished #2 exit 0: hi");
    let id = sim.call("a", run_for("later 1 more", 5.0, ""));
    sim.answer(id);
    // While a line is under way, its output is mixed into it, as a person sees it.
    let outcome = sim.ran("a", "sleep 3; echo end");
    assert_eq!(told(&outcome, &sim), "finished #4 exit 0: moreend");
}

#[test]
fn a_terminals_answers_are_cleared() {
    let mut sim = Sim::bash();
    sim.person("1;2c");
    sim.pass(1.0);
    assert_eq!(sim.ran("a", "echo hi").status, Status::Finished);
    assert_eq!(sim.regions()[0].label, "echo hi");
}

#[test]
fn a_terminals_answer_on_its_way_is_cleared() {
    // Typed before the line, and seen before it or not at all, whole or half.
    for after in [0.0, 0.000_02, 0.000_1] {
        let mut sim = Sim::bash();
        let first = sim.run("a", &format!("query {after}"));
        let second = sim.run("a", "echo OK");
        sim.answer(first);
        let outcome = sim.answer(second);
        assert_eq!(told(&outcome, &sim), "finished #2 exit 0: OK", "{after}");
        // Nothing is on its way any more.
        sim.ran("a", "echo OK");
        assert_eq!(sim.typed().matches('\x15').count(), 1, "{after}: {:?}", sim.typed());
    }
}

#[test]
fn a_person_interrupts() {
    let mut sim = Sim::bash();
    let id = sim.run("a", "sleep 100");
    sim.pass(1.0);
    sim.person("\x03");
    let outcome = sim.answer(id);
    assert_eq!(told(&outcome, &sim), "finished #1 exit 130: ^C");
}

#[test]
fn a_person_leaves_the_shell() {
    let mut sim = Sim::bash();
    let id = sim.run("a", "sleep 3");
    sim.answer(id);
    sim.person("exit\r");
    sim.pass(1.0);
    assert_eq!(sim.session.ended(), Some(Some(0)));
    assert!(error(&sim.ran("a", "echo hi")).contains("ended"));
}

#[test]
fn what_a_person_types_at_a_programs_first_prompt_is_theirs() {
    // Told to an agent, before a restart.
    let mut sim = Sim::bash();
    sim.ran("a", "python");
    sim.person("q");
    sim.pass(1.0);
    sim.crash();
    assert!(error(&sim.sent("a", "", &["ctrl+d"])).contains("\"q\" on the line"));
    error(&sim.ran("a", "1+1"));
    assert!(!sim.typed().contains("1+1"), "{}", sim.typed());
    // Told to nobody.
    let mut sim = Sim::bash();
    sim.person("python\r");
    sim.pass(2.0);
    sim.person("q");
    sim.pass(1.0);
    assert!(error(&sim.sent("a", "", &["ctrl+d"])).contains("\"q\" on the line"));
}

#[test]
fn a_persons_answer_to_a_question_is_theirs_to_submit() {
    for (command, theirs) in [("quiz", "n"), ("odd", "n"), ("cat", "hel")] {
        let mut sim = Sim::bash();
        sim.host = program(Call::Reads(0));
        assert_eq!(sim.ran("a", command).status, Status::Waiting, "{command}");
        sim.pass(2.0);
        sim.person(theirs);
        sim.pass(2.0);
        let refused = format!("someone at the terminal has {theirs:?} on the line");
        for restarted in [false, true] {
            if restarted {
                sim.crash();
                sim.pass(1.0);
            }
            let outcomes =
                [sim.ran("a", "y"), sim.ran("b", "y"), sim.sent("b", "y\n", &[]), sim.sent("b", "", &["enter"])];
            for outcome in outcomes {
                assert!(error(&outcome).contains(&refused), "{command}: {outcome:?}");
            }
            assert_eq!(sim.bash.unsubmitted(), theirs, "{command}");
        }
        sim.sent("b", "", &["ctrl+u"]);
        assert_ne!(sim.ran("b", "y").status, Status::Error, "{command}");
        assert_eq!(sim.bash.taken, [command, "y"]);
    }
}

#[test]
fn no_rule_answers_where_a_person_has_begun_to() {
    let mut sim = Sim::bash();
    sim.host = program(Call::Reads(0));
    sim.ran("a", "quiz");
    sim.person("n");
    sim.pass(2.0);
    let id = expect(&mut sim, "", 8.0, vec![rule("Name", "Ada")]);
    let outcome = sim.answer(id);
    assert_eq!(
        notes(&outcome, "the answer of rule 0 was not typed: someone at the terminal has \"n\""),
        1,
        "{outcome:?}"
    );
    assert_eq!(sim.bash.unsubmitted(), "n");
    sim.person("o\r");
    sim.pass(1.0);
    let id = expect(&mut sim, "", 4.0, vec![rule("Name", "Ada"), rule("Sure", "y")]);
    sim.answer(id);
    // What they have answered is not asked any more.
    assert_eq!(sim.bash.taken, ["quiz", "no", "y"]);
}

#[test]
fn a_question_that_a_person_does_not_answer_is_an_agents() {
    // They have run it, or watch, and press no key behind the question.
    for watches in [false, true] {
        for command in ["quiz", "odd", "python"] {
            let mut sim = Sim::bash();
            sim.host = program(Call::Reads(0));
            if watches {
                sim.person("");
                sim.ran("a", command);
            } else {
                sim.person(&format!("{command}\r"));
            }
            sim.pass(3.0);
            assert_ne!(sim.ran("a", "y").status, Status::Error, "{command}");
            assert_eq!(sim.bash.taken, [command, "y"]);
        }
    }
}

#[test]
fn a_persons_answer_that_is_not_shown_is_theirs() {
    let mut sim = Sim::bash();
    sim.host = hides();
    assert_eq!(sim.ran("a", "passwd").status, Status::WaitingHidden);
    sim.pass(2.0);
    sim.person("hunt");
    sim.pass(2.0);
    for outcome in [sim.sent("b", "other\n", &[]), sim.sent("a", "", &["enter"])] {
        let text = error(&outcome);
        assert!(text.contains("has pressed keys since this question") && !text.contains("hunt"), "{text}");
    }
    assert_eq!(sim.bash.unsubmitted(), "hunt");
    sim.sent("b", "", &["ctrl+u"]);
    sim.sent("b", "other\n", &[]);
    assert_eq!(sim.bash.taken, ["passwd", "other"]);
}

#[test]
fn what_a_person_types_at_a_continuation_prompt_is_theirs() {
    let mut sim = Sim::bash();
    sim.host = program(Call::Reads(0));
    sim.ran("a", "python");
    assert_eq!(sim.ran("a", "for x:").status, Status::Continuation);
    sim.pass(2.0);
    sim.person("pri");
    sim.pass(1.0);
    for outcome in [sim.ran("a", "print(3)"), sim.sent("b", "x", &[]), sim.sent("a", "", &["enter"])] {
        assert!(error(&outcome).contains("\"pri\" on the line"), "{outcome:?}");
    }
    // What an agent has begun there is its own.
    sim.person("\x15");
    sim.pass(1.0);
    sim.sent("a", "pas", &[]);
    assert!(error(&sim.ran("b", "3")).contains("a has \"pas\""));
    sim.sent("a", "s\n", &[]);
    assert_eq!(sim.bash.taken, ["python", "for x:", "pass"]);
}

#[test]
fn what_a_person_types_while_something_works_is_not_submitted() {
    let mut sim = Sim::bash();
    sim.host = program(Call::Other);
    sim.call("a", run_for("sleep 30", 1.0, ""));
    sim.pass(3.0);
    sim.person("rm -rf x");
    sim.pass(1.0);
    for (text, keys) in [("x\n", &[][..]), ("", &["enter"])] {
        let text = error(&sim.sent("b", text, keys));
        assert!(text.contains("\"rm -rf x\" on the line"), "{text}");
    }
    sim.sent("b", "", &["ctrl+c"]);
    assert_eq!(sim.regions()[0].exit, Some(130));
}

#[test]
fn no_line_is_typed_into_what_a_person_typed_ahead_in_a_program() {
    for shown_after in [0, 20, 200] {
        for queued in [false, true] {
            let mut sim = Sim::bash();
            sim.bash.editor = Duration::from_millis(shown_after);
            sim.host = program(Call::Reads(0));
            sim.ran("a", "python");
            sim.pass(2.0);
            sim.host = program(Call::Other);
            let lines = if queued { "slow 4" } else { "slow 4\nnext" };
            let first = sim.run("a", lines);
            sim.pass(0.5);
            let call = if queued { sim.run("b", "next") } else { first };
            sim.pass(1.0);
            sim.person("12");
            while !sim.session.log().cooked.line_at_cursor().text.contains(">>> ") {
                sim.step();
            }
            sim.host = program(Call::Reads(0));
            let outcome = sim.answer(call);
            assert!(error(&outcome).contains("\"12\" on the line"), "{shown_after} {queued}: {outcome:?}");
            assert_eq!(
                (sim.bash.taken.as_slice(), &*sim.bash.unsubmitted()),
                (&["python".to_owned(), "slow 4".to_owned()][..], "12")
            );
        }
    }
}

#[test]
fn a_programs_first_prompt_is_not_what_somebody_who_watches_has_typed() {
    for prompt in ["(gdb) ", "(tool) ", "db-7 ", "now> "] {
        let mut sim = Sim::bash();
        sim.pass(5.0);
        sim.run("a", "sleep 60");
        sim.pass(1.0);
        // Attaching counts as a key.
        sim.person("");
        let wall = sim.wall();
        sim.handle(Event::Output { bytes: prompt.as_bytes(), wall });
        sim.pass(1.0);
        sim.handle(Event::Person(Some(wall)));
        assert_eq!(sim.session.unsubmitted(), None, "{prompt:?}");
    }
}

/// A person has begun a line at a program, and a job in the background has printed over it.
fn printed_over(command: &str, noise: &str) -> Sim {
    let mut sim = Sim::bash();
    sim.host = program(Call::Reads(0));
    sim.ran("a", command);
    sim.pass(3.0);
    for key in ["r", "m", " ", "-", "r", " ", "d"] {
        sim.person(key);
        sim.pass(0.2);
    }
    sim.pass(1.0);
    prints(&mut sim, noise);
    sim
}

fn prints(sim: &mut Sim, noise: &str) {
    sim.bash.prints(Now::default(), noise);
    sim.pass(2.0);
}

/// Whether their text is still known, and so is nobody else's to submit.
fn is_kept(sim: &Sim) -> bool {
    let theirs = sim.session.unsubmitted().filter(|it| it.owner == Owner::Person && it.shows.is_some());
    theirs.is_some_and(|it| it.text.as_deref() == Some("rm -r d"))
}

#[test]
fn a_persons_text_at_a_program_is_protected_where_output_has_ended_its_line() {
    for command in ["python", "cat", "odd", "far", "quiz"] {
        for noise in ["1\r\n", "1\r\n2\r\n3\r\n", "1\r\n2"] {
            let mut sim = printed_over(command, noise);
            for more in ["", "4\r\n"] {
                prints(&mut sim, more);
                let outcomes =
                    [sim.ran("a", "y"), sim.ran("b", "y"), sim.sent("b", "y\n", &[]), sim.sent("a", "y", &[])];
                for outcome in outcomes {
                    let text = error(&outcome);
                    assert!(text.contains("someone at the terminal has \"rm -r d\" on the line"), "{command}: {text}");
                    assert!(text.contains("and it shows"), "{command}: {text}");
                }
            }
            assert_eq!(sim.bash.taken, [command]);
            // What they go on with is theirs as well.
            sim.person("ir");
            sim.pass(2.0);
            assert!(error(&sim.ran("a", "y")).contains("\"rm -r d\" on the line"), "{command}");
            prints(&mut sim, "5\r\n");
            assert!(error(&sim.ran("a", "y")).contains("\"rm -r d\" on the line"), "{command}");
            // Nor is a line's end of its own an Enter of theirs.
            prints(&mut sim, "\r\n");
            assert!(error(&sim.ran("a", "y")).contains("\"rm -r d\" on the line"), "{command}");
            assert_eq!(sim.bash.unsubmitted(), "rm -r dir");
        }
    }
}

#[test]
fn a_persons_text_that_was_printed_over_is_forgotten_once_it_is_gone() {
    // Given up by an agent, whom they have told so.
    for command in ["python", "cat"] {
        let mut sim = printed_over(command, "1\r\n2\r\n");
        error(&sim.ran("a", "y"));
        assert!(is_kept(&sim), "{command}");
        sim.sent("a", "", &["ctrl+u"]);
        assert!(!is_kept(&sim), "{command}");
        assert_ne!(sim.ran("a", "y").status, Status::Error, "{command}");
        assert_eq!(sim.bash.taken, [command, "y"]);
    }
    // Submitted: a prompt comes again, or no prompt, or the shell's.
    for (command, keys, status) in [
        ("python", "\r", Status::Prompt),
        ("far", "\r", Status::Prompt),
        ("cat", "\r", Status::Waiting),
        ("odd", "\r", Status::Waiting),
        ("quiz", "\r", Status::Waiting),
        ("cat", "\x03", Status::Finished),
    ] {
        let mut sim = printed_over(command, "1\r\n2\r\n");
        error(&sim.ran("a", "y"));
        assert!(is_kept(&sim), "{command}");
        sim.person(keys);
        sim.pass(3.0);
        let outcome = sim.ran("a", "y");
        assert_eq!(outcome.status, status, "{command} {keys:?}: {outcome:?}");
        assert!(!is_kept(&sim), "{command}");
    }
}

#[test]
fn a_line_that_a_person_submits_is_not_printed_over() {
    for command in ["python", "cat", "odd", "quiz"] {
        for pieces in [&["y", "es", "\r"][..], &["yes\r"], &["ye", "s\r"]] {
            let mut sim = Sim::bash();
            sim.host = program(Call::Reads(0));
            sim.ran("a", command);
            sim.pass(3.0);
            for piece in pieces {
                sim.person(piece);
                sim.pass(0.01);
            }
            sim.pass(2.0);
            assert_ne!(sim.ran("a", "y").status, Status::Error, "{command} {pieces:?}");
        }
    }
}

#[test]
fn what_a_program_prints_by_pieces_is_no_text_of_a_persons() {
    for attached in [false, true] {
        let mut sim = Sim::bash();
        if attached {
            sim.person("");
            sim.pass(5.0);
        }
        sim.call("a", run_for("printf Reading...; sleep 4; printf half; sleep 1; echo done; sleep 60", 1.0, ""));
        sim.pass(8.0);
        assert_eq!(sim.session.unsubmitted(), None, "{attached}");
    }
}
