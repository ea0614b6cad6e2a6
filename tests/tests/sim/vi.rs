//! A person who has left the line editor in vi's command mode, which shows nothing of it.

use dtmcp_core::call::Status;
use dtmcp_core::inspect::{Call, Known, TerminalModes};
use dtmcp_tests::sim::{Keys, Sim, run};

use super::error;
use super::looking::program;

#[test]
fn a_line_is_no_command_of_an_editor_that_a_person_left_in_command_mode() {
    let mut sim = Sim::bash();
    sim.bash.keys_are = Keys::Vi;
    sim.pass(5.0);
    sim.person("\x1b");
    sim.pass(3.0);
    assert_eq!(sim.ran("a", "echo rm keep").status, Status::Finished);
    // Nobody has pressed a key at this prompt.
    sim.pass(5.0);
    assert_eq!(sim.ran("b", "echo two").status, Status::Finished);
    assert_eq!(sim.typed(), "ix\x15echo rm keep\recho two\r");
    // At one that wants the rest of a command, too.
    assert_eq!(sim.ran("a", "echo \"one").status, Status::Continuation);
    sim.pass(5.0);
    sim.person("\x1b");
    sim.pass(1.0);
    assert_eq!(sim.ran("a", "echo two\"").status, Status::Finished);
    assert_eq!(sim.bash.taken, ["echo rm keep", "echo two", "echo \"one", "echo two\""]);
    assert_eq!(sim.regions().len(), 3);
}

#[test]
fn a_line_that_is_sent_is_no_command_either() {
    for (text, keys) in [("echo rm keep\n", &[][..]), ("echo rm keep", &["enter"]), ("echo rm keep\necho two\n", &[])] {
        for rests in [0.2, 1.5, 3.0] {
            let mut sim = Sim::bash();
            sim.bash.keys_are = Keys::Vi;
            sim.pass(5.0);
            sim.person("\x1b");
            sim.pass(rests);
            let sent = sim.sent("a", text, keys);
            assert_eq!(sent.status, Status::Sent, "{text:?} {rests}: {sent:?}");
            assert_eq!(sim.bash.taken.first().map(String::as_str), Some("echo rm keep"), "{text:?} {rests}");
            assert_eq!(sim.regions()[0].label, "echo rm keep");
            assert_eq!(sim.regions()[0].actor.as_deref(), Some("a"));
            sim.pass(5.0);
            assert_eq!(sim.ran("b", "echo b").status, Status::Finished);
        }
    }
    // Where no line is begun, keys are keys.
    let mut sim = Sim::bash();
    sim.pass(5.0);
    sim.person("\x1b");
    sim.pass(1.5);
    sim.sent("a", "", &["enter"]);
    sim.sent("a", "echo x", &[]);
    assert_eq!(sim.typed(), "\recho x");
}

/// It is typed at once then: the letters have made the editor insert, whatever is to be seen of them.
#[test]
fn what_the_background_prints_keeps_no_line_back() {
    for noise in ["noise", "one\r\ntwo\r\n"] {
        let mut sim = Sim::bash();
        sim.bash.keys_are = Keys::Vi;
        sim.pass(5.0);
        sim.person("\x1b");
        sim.pass(1.3);
        assert_eq!(sim.ran("a", &format!("later 0.4 {noise}")).status, Status::Finished);
        sim.pass(1.0);
        let outcome = sim.ran("a", "echo rm keep");
        assert_eq!(outcome.status, Status::Finished, "{noise}: {outcome:?}");
        assert_eq!(sim.bash.taken.last().map(String::as_str), Some("echo rm keep"), "{noise}");
    }
}

#[test]
fn each_of_several_lines_is_no_command() {
    let mut sim = Sim::bash();
    sim.bash.keys_are = Keys::Vi;
    sim.pass(5.0);
    let call = sim.call("a", run("sleep 4\necho rm keep", |_| {}));
    sim.pass(1.0);
    sim.person("\x1b");
    sim.answer(call);
    assert_eq!(sim.bash.taken, ["sleep 4", "echo rm keep"]);
}

#[test]
fn a_program_whose_editor_a_person_left_in_command_mode_takes_the_line() {
    for command in ["python", "gdb", "far"] {
        let mut sim = Sim::bash();
        sim.bash.keys_are = Keys::Vi;
        sim.host = program(Call::Reads(0));
        sim.host.modes = Known::Known(TerminalModes { canonical: false, echo: false, held: false });
        assert_eq!(sim.ran("a", command).status, Status::Prompt, "{command}");
        sim.pass(5.0);
        sim.person("\x1b");
        sim.pass(3.0);
        let regions = sim.regions().len();
        assert_eq!(sim.ran("a", "echo 2").status, Status::Prompt, "{command}");
        assert_eq!(sim.regions().len(), regions + 1, "{command}");
        assert!(sim.regions()[regions].label.ends_with("echo 2"), "{command}");
        sim.pass(5.0);
        sim.person("\x1b");
        sim.pass(3.0);
        assert_eq!(sim.sent("a", "echo 3\n", &[]).status, Status::Sent, "{command}");
        assert!(sim.regions()[regions + 1].label.ends_with("echo 3"), "{command}: {:?}", sim.regions());
        assert_eq!(sim.bash.taken.last().map(String::as_str), Some("echo 3"), "{command}");
        sim.pass(5.0);
        assert_eq!(sim.ran("b", "3").status, Status::Prompt, "{command}");
        assert_eq!(sim.bash.taken, [command, "echo 2", "echo 3", "3"], "{command}");
    }
}

#[test]
fn nothing_is_submitted_where_an_editor_takes_no_text() {
    let mut sim = Sim::bash();
    sim.pass(5.0);
    sim.person("\x1b");
    sim.pass(1.0);
    // What it was left in takes all that comes.
    sim.bash.keys_are = Keys::Lost;
    let text = error(&sim.ran("a", "echo rm keep"));
    assert!(text.starts_with("nothing was typed: someone at the terminal") && text.contains("ctrl+c"), "{text}");
    sim.bash.keys_are = Keys::Text;
    sim.pass(5.0);
    assert_eq!(sim.ran("a", "echo one").status, Status::Finished);
    assert_eq!(sim.bash.taken, ["echo one"]);
}

#[test]
fn blanks_that_a_person_typed_are_no_part_of_a_line() {
    let mut sim = Sim::bash();
    sim.pass(5.0);
    sim.person("  ");
    sim.pass(1.0);
    assert_eq!(sim.ran("a", "echo hi").status, Status::Finished);
    sim.host = program(Call::Reads(0));
    sim.host.modes = Known::Known(TerminalModes { canonical: false, echo: false, held: false });
    sim.pass(5.0);
    assert_eq!(sim.ran("a", "python").status, Status::Prompt);
    sim.pass(5.0);
    sim.person("  ");
    sim.pass(1.0);
    assert_eq!(sim.ran("a", "2").status, Status::Prompt);
    assert_eq!(sim.bash.taken, ["echo hi", "python", "2"]);
}

/// A session in which the two letters that try its editor have been typed for a call of this agent's.
fn tried(actor: &str, key: &str) -> (Sim, u64) {
    let mut sim = Sim::bash();
    sim.pass(5.0);
    sim.person(key);
    sim.pass(1.0);
    let call = sim.call(actor, run("echo one", |_| {}));
    while !sim.typed().ends_with("ix") {
        sim.step();
    }
    (sim, call)
}

#[test]
fn letters_that_a_server_or_a_client_has_left_are_taken_back() {
    for (dies, key) in [(true, "\x1b"), (true, " "), (false, "\x1b"), (false, " ")] {
        let (mut sim, call) = tried("a", key);
        if dies {
            sim.crash();
        } else {
            sim.gone(call);
        }
        sim.pass(1.0);
        sim.person("echo me\r");
        sim.pass(1.0);
        assert_eq!(sim.bash.taken, ["echo me"], "server: {dies}, {:?}", sim.typed());
        assert_eq!(sim.ran("b", "echo two").status, Status::Finished);
        assert_eq!(sim.bash.taken, ["echo me", "echo two"], "server: {dies}");
    }
}

#[test]
fn what_a_person_types_behind_them_stays() {
    for text in ["echo ix ", "rm", "x"] {
        let (mut sim, _) = tried("a", "\x15");
        sim.person(text);
        sim.dies_for(0.3);
        // Another agent's call waits for that, and is refused for the person's text.
        let refused = error(&sim.ran("b", "echo two"));
        assert!(refused.contains(&format!("someone at the terminal has \"{}\"", text.trim())), "{refused}");
        sim.person("me\r");
        sim.pass(1.0);
        assert_eq!(sim.bash.taken, [format!("{text}me")], "{:?}", sim.typed());
        assert_eq!(sim.ran("b", "echo two").status, Status::Finished);
    }
}

#[test]
fn letters_left_at_a_programs_prompt_are_taken_back() {
    let mut sim = Sim::bash();
    sim.host = program(Call::Reads(0));
    sim.host.modes = Known::Known(TerminalModes { canonical: false, echo: false, held: false });
    assert_eq!(sim.ran("a", "python").status, Status::Prompt);
    sim.pass(5.0);
    sim.person("\x1b");
    sim.pass(1.0);
    let call = sim.call("a", run("2", |_| {}));
    while !sim.typed().ends_with("ix") {
        sim.step();
    }
    sim.crash();
    let _ = call;
    sim.pass(1.0);
    sim.person("3\r");
    sim.pass(1.0);
    assert_eq!(sim.bash.taken, ["python", "3"], "{:?}", sim.typed());
    assert_eq!(sim.ran("b", "4").status, Status::Prompt);
}

/// Where no key clears the line, what was tried and what the agent had there are taken back all the same.
#[test]
fn an_editor_that_clears_no_line_gets_the_line_alone() {
    let mut sim = Sim::bash();
    sim.host = program(Call::Reads(0));
    sim.host.modes = Known::Known(TerminalModes { canonical: false, echo: false, held: false });
    assert_eq!(sim.ran("a", "irb").status, Status::Prompt);
    sim.pass(5.0);
    sim.person("\r");
    sim.pass(1.0);
    assert_eq!(sim.ran("a", "1+1").status, Status::Prompt);
    sim.pass(5.0);
    sim.ran("a", "1");
    sim.sent("a", "raise", &[]);
    assert_eq!(sim.ran("a", "2+2").status, Status::Prompt);
    assert_eq!(sim.bash.taken, ["irb", "", "1+1", "1", "2+2"]);
}
