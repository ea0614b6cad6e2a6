//! Who reads along: what is seen of a session as it stands, and what readers are told of.

use dtmcp_core::call::Status;
use dtmcp_core::inspect::Call;
use dtmcp_tests::sim::{Sim, run_for};

use super::looking::program;
use super::told;

/// What a reader sees of the session, and of a region.
fn seen(sim: &Sim, region: Option<u32>) -> Option<String> {
    sim.reading(region).map(|outcome| told(&outcome, sim))
}

#[test]
fn a_session_is_seen_as_a_wait_would_tell_it() {
    let mut sim = Sim::bash();
    assert_eq!(seen(&sim, None).unwrap(), "ok");
    assert_eq!(seen(&sim, Some(1)), None);
    sim.ran("a", "printf one\\ntwo\\n");
    assert_eq!(seen(&sim, None).unwrap(), "finished #1 exit 0: one|two");
    assert_eq!(seen(&sim, Some(1)), seen(&sim, None));
    let id = sim.call("a", run_for("printf begun\\n; sleep 9; printf over\\n", 1.0, ""));
    assert_eq!(sim.answer(id).status, Status::Running);
    assert_eq!(seen(&sim, None).unwrap(), "running #2: begun");
    assert_eq!(seen(&sim, Some(1)).unwrap(), "finished #1 exit 0: one|two");
    sim.pass(10.0);
    sim.ran("a", "gdb");
    assert_eq!(seen(&sim, None).unwrap(), "prompt #3 at \"(gdb) \": GNU gdb 13");
}

#[test]
fn reading_is_no_call_of_an_agent() {
    let mut sim = Sim::bash();
    let id = sim.call("a", run_for("sleep 3", 1.0, ""));
    sim.answer(id);
    sim.pass(5.0);
    for _ in 0..3 {
        assert_eq!(seen(&sim, Some(1)).unwrap(), "finished #1 exit 0");
    }
    let next = sim.ran("a", "true");
    assert!(next.notes.iter().any(|note| note.contains("#1")), "{:?}", next.notes);
}

#[test]
fn readers_are_told_of_ends_and_not_of_output() {
    let mut sim = Sim::bash();
    sim.watch(true);
    let line = vec!["printf x\\n; sleep 0.5"; 20].join("; ");
    sim.ran("a", &line);
    assert_eq!(sim.told_readers, [Some(1)]);
    sim.watch(false);
    sim.ran("a", "true");
    assert_eq!(sim.told_readers, [Some(1)]);
}

#[test]
fn readers_are_told_when_a_program_waits_and_when_it_goes_on() {
    let mut sim = Sim::bash();
    sim.watch(true);
    sim.person("gdb\r");
    sim.pass(10.0);
    assert_eq!(sim.told_readers, [Some(1)], "it waits, and nobody has called");
    sim.told_readers.clear();
    sim.person("slow 7\r");
    sim.pass(2.0);
    assert_eq!(sim.told_readers.first(), Some(&Some(1)), "a person answered: {:?}", sim.told_readers);
    sim.told_readers.clear();
    sim.pass(20.0);
    assert_eq!(sim.told_readers, [Some(1)], "it waits again");
    sim.told_readers.clear();
    sim.person("quit\r");
    sim.pass(2.0);
    assert!(sim.told_readers.contains(&Some(1)), "{:?}", sim.told_readers);
}

#[test]
fn readers_are_not_told_of_each_key() {
    for (line, answer) in [("python", "print(3)"), ("quiz", "Ada"), ("odd", "help")] {
        let mut sim = Sim::bash();
        sim.host = program(Call::Reads(0));
        sim.watch(true);
        sim.person(&format!("{line}\r"));
        sim.pass(10.0);
        assert_eq!(sim.told_readers, [Some(1)], "{line}");
        sim.told_readers.clear();
        for key in answer.chars() {
            sim.person(&key.to_string());
            sim.pass(1.0);
        }
        assert_eq!(sim.told_readers, [], "{line}: nothing is answered yet");
        sim.person("\r");
        sim.pass(10.0);
        assert!(!sim.told_readers.is_empty(), "{line}: it was answered, and asks again");
    }
}

#[test]
fn who_begins_to_read_is_not_told_what_is_there() {
    let mut sim = Sim::bash();
    sim.ran("a", "gdb");
    sim.watch(true);
    sim.pass(20.0);
    assert_eq!(sim.told_readers, []);
    // The same prompt again, as after a restart of whoever reads.
    sim.watch(false);
    sim.watch(true);
    sim.pass(20.0);
    assert_eq!(sim.told_readers, []);
}

#[test]
fn readers_are_told_of_the_end_of_the_session() {
    let mut sim = Sim::bash();
    sim.watch(true);
    sim.person("exit\r");
    sim.pass(5.0);
    assert!(sim.told_readers.contains(&None), "{:?}", sim.told_readers);
}
