//! What stands on the line of a far shell, where nobody sees from here who waits: whose it is, and who is told of it.

use dtmcp_core::call::Status;
use dtmcp_core::inspect::Call;
use dtmcp_tests::sim::Sim;
use dtmcp_tests::sim::{run_for, send};

use super::error;
use super::looking::{behind, carries};

#[test]
fn text_left_on_a_far_line_is_its_authors() {
    for mut sim in [behind(), Sim::bash()] {
        sim.host = carries(Call::Other);
        sim.ran("a", "far");
        let id = sim.send("a", "half ");
        sim.answer(id);
        let id = sim.send("a", "typed");
        sim.answer(id);
        sim.pass(1.0);
        let refused = error(&sim.ran("b", "hello"));
        assert!(refused.contains("a has \"half typed\" on the line"), "{refused}");
        assert_eq!(sim.ran("a", "hello").status, Status::Prompt);
        assert_eq!(sim.bash.taken.last().map(String::as_str), Some("hello"));
    }
}

#[test]
fn a_line_behind_a_persons_text_at_a_far_prompt_is_refused_for_that_text() {
    for command in ["far", "star", "edits"] {
        for wait in [0.05, 0.3, 0.7, 2.0, 8.0] {
            for opened_by_person in [false, true] {
                let mut sim = Sim::bash();
                sim.host = carries(Call::Other);
                if opened_by_person {
                    sim.person(&format!("{command}\r"));
                } else {
                    sim.ran("a", command);
                }
                sim.pass(6.0);
                sim.person("echo hal");
                sim.pass(wait);
                for _ in 0..2 {
                    let refused = error(&sim.ran("a", "echo no"));
                    let why = "someone at the terminal has \"echo hal\"";
                    assert!(refused.contains(why), "{command} {wait} {opened_by_person}: {refused}");
                }
                assert_eq!(sim.bash.unsubmitted(), "echo hal");
            }
        }
    }
}

#[test]
fn another_agents_text_at_a_far_prompt_is_named() {
    for command in ["far", "star", "edits"] {
        let mut sim = Sim::bash();
        sim.host = carries(Call::Other);
        sim.ran("a", command);
        let id = sim.send("a", "half");
        sim.answer(id);
        sim.pass(0.3);
        let refused = error(&sim.ran("b", "hello"));
        assert!(refused.contains("a has \"half\" on the line"), "{command}: {refused}");
    }
}

#[test]
fn a_line_for_a_program_runs_where_its_shell_is() {
    let mut sim = Sim::bash();
    sim.host = carries(Call::Other);
    sim.bash.host = "box7".to_owned();
    assert_eq!(sim.ran("a", "bash").status, Status::Prompt);
    sim.ran("a", "gdb");
    for _ in 0..2 {
        let ran = sim.ran("a", "break main");
        let hosts = |sim: &Sim| sim.regions().last().and_then(|it| it.place.clone()).map(|place| place.host);
        assert_eq!((ran.status, hosts(&sim).as_deref()), (Status::Prompt, Some("box7")), "{:?}", sim.regions());
        sim.crash();
        assert_eq!(hosts(&sim).as_deref(), Some("box7"), "after a restart");
    }
}

#[test]
fn a_far_question_takes_a_line_after_a_restart_as_well() {
    let mut sim = behind();
    assert_eq!(sim.ran("a", "quiz").status, Status::Quiet);
    sim.crash();
    let next = sim.ran("a", "me");
    assert_eq!(next.prompt.as_deref(), Some("Sure? "), "{next:?}");
}

#[test]
fn a_line_meant_for_a_place_that_is_gone_is_typed_nowhere_else() {
    let there = || {
        let mut sim = Sim::bash();
        sim.bash.host = "box7".to_owned();
        sim.ran("a", "bash");
        assert_eq!(sim.ran("a", "echo there").status, Status::Finished);
        sim.bash.host = "here".to_owned();
        sim
    };
    // A person ends it, or the connection does: the agent has not been told.
    let mut sim = there();
    sim.person("die\r");
    sim.pass(1.0);
    let refused = error(&sim.ran("a", "echo danger"));
    assert!(refused.contains("the session is back on") && refused.contains("me@box7 has ended"), "{refused}");
    assert!(!sim.bash.taken.contains(&"echo danger".to_owned()));
    assert_eq!(sim.ran("a", "echo meant").status, Status::Finished);
    // Another agent, which was never there, is not held up.
    let mut sim = there();
    sim.person("die\r");
    sim.pass(1.0);
    assert_eq!(sim.ran("b", "echo b").status, Status::Finished);
    // What an agent leaves itself, it knows to be left.
    for leaves in [&["exit"][..], &["true; exit"]] {
        let mut sim = there();
        for line in leaves {
            let id = sim.call("a", run_for(line, 0.0, ""));
            sim.answer(id);
        }
        sim.pass(1.0);
        assert_eq!(sim.ran("a", "echo back").status, Status::Finished);
    }
    let mut sim = there();
    let id = sim.call("a", send("", &["ctrl+d"]));
    sim.answer(id);
    assert_eq!(sim.ran("a", "echo back").status, Status::Finished);
}
