//! A line editor that is in the middle of something, or does nothing with a line: nothing is typed on top.

use std::time::Duration;

use dtmcp_core::call::Status;
use dtmcp_core::inspect::Call;
use dtmcp_tests::sim::Sim;

use super::looking::program;
use super::{error, notes};

#[test]
fn keys_that_take_the_next_one_are_no_place_for_a_line() {
    for key in ["escape", "ctrl+x", "ctrl+v", "alt+5", "alt+-", "ctrl+r"] {
        let mut sim = Sim::bash();
        sim.sent("a", "", &[key]);
        for agent in ["a", "b"] {
            let text = error(&sim.ran(agent, "echo hi"));
            assert!(text.starts_with("nothing was typed") && text.contains("ctrl+c"), "{key}: {text}");
        }
        sim.sent("a", "", &["ctrl+c"]);
        assert_eq!(sim.ran("a", "echo hi").status, Status::Finished, "{key}");
        assert_eq!(sim.bash.taken, ["echo hi"], "{key}");
    }
}

#[test]
fn what_an_editor_asks_or_searches_is_not_answered_by_a_line() {
    for shows in ["(reverse-i-search)`': ", "Display all 400 possibilities? (y or n)", "\r\nbck-i-search: _\x1b[A"] {
        let mut sim = Sim::bash();
        let now = sim.session.deadline().unwrap_or_default();
        sim.bash.prints(now, &format!("\r\x1b[K{shows}"));
        sim.pass(1.0);
        let text = error(&sim.ran("a", "echo hi"));
        assert!(text.contains("in the middle of something"), "{shows}: {text}");
        assert_eq!(sim.typed(), "", "{shows}");
    }
}

#[test]
fn nothing_is_typed_behind_a_line_that_the_shell_has_not_begun() {
    for soon in [false, true] {
        let mut sim = Sim::bash();
        sim.bash.editor = Duration::from_secs(1000);
        sim.ran("a", "true");
        let first = sim.run("a", "echo first");
        let second = soon.then(|| sim.run("b", "echo second"));
        let outcome = sim.answer(first);
        assert_eq!((outcome.status, notes(&outcome, "has not begun the line")), (Status::Running, 1), "{outcome:?}");
        for call in [second.unwrap_or_else(|| sim.run("b", "echo second")), sim.run("a", "echo third")] {
            let text = error(&sim.answer(call));
            assert!(text.starts_with("nothing was typed: the shell has not begun the line that a gave it"), "{text}");
        }
        assert!(!sim.typed().contains("second"), "{:?}", sim.typed());
    }
}

#[test]
fn a_line_behind_one_that_was_sent_and_is_begun_late_is_typed() {
    let mut sim = Sim::bash();
    sim.bash.editor = Duration::from_secs(3);
    sim.ran("a", "true");
    sim.sent("a", "status 3\n", &[]);
    let outcome = sim.ran("b", "status 4");
    assert_eq!(outcome.status, Status::Finished, "{outcome:?}");
    let actors: Vec<_> = sim.regions().iter().filter_map(|region| region.actor.clone()).collect();
    assert_eq!(actors, ["a", "a", "b"]);
}

/// What editors show of a search, from the beginning of the program's line on; some below it.
const SEARCHES: [&str; 5] = [
    "\r\x1b[K(reverse-i-search)`rem': os.remove('x')\x1b[14D",
    "\r\x1b[K(failed reverse-i-search)`q': ",
    "\r\x1b[K(r-search `rem') os.remove('x')",
    "os.remove('x')\r\n\x1b[Kbck-i-search: rem_\x1b[A",
    "\r\nI-search backward: rem",
];

#[test]
fn a_line_does_not_go_into_a_search_at_a_program() {
    for (name, shows) in ["python", "odd"].into_iter().flat_map(|name| SEARCHES.map(|shows| (name, shows))) {
        let mut sim = Sim::bash();
        sim.host = program(Call::Reads(0));
        sim.ran("a", name);
        sim.bash.prints(sim.session.deadline().unwrap_or_default(), shows);
        sim.pass(1.0);
        let before = sim.typed();
        for outcome in [sim.ran("a", "1+1"), sim.sent("a", "", &["enter"]), sim.sent("a", "x", &[])] {
            let text = error(&outcome);
            assert!(text.contains("someone at the terminal has begun") && text.contains("ctrl+g"), "{shows}: {text}");
        }
        assert_eq!(sim.typed(), before, "{shows}");
        assert!(sim.glance().contains("someone at the terminal searches the history"), "{shows}: {}", sim.glance());
        assert_eq!(sim.sent("a", "", &["ctrl+g"]).status, Status::Sent, "{shows}");
    }
}

#[test]
fn a_search_of_an_agents_is_its_own() {
    let mut sim = Sim::bash();
    sim.host = program(Call::Reads(0));
    sim.ran("a", "python");
    sim.sent("a", "", &["ctrl+r"]);
    sim.bash.prints(sim.session.deadline().unwrap_or_default(), "\r\x1b[K(reverse-i-search)`': ");
    sim.pass(1.0);
    for outcome in [sim.ran("b", "1+1"), sim.sent("b", "x\n", &[])] {
        let text = error(&outcome);
        assert!(text.contains("that a has begun"), "{text}");
    }
    // Its own line is meant for the prompt all the same.
    assert!(error(&sim.ran("a", "1+1")).contains("that a has begun"));
    assert_eq!(sim.sent("a", "rem", &["enter"]).status, Status::Sent);
    assert_eq!(sim.ran("b", "1+1").status, Status::Prompt);
}
