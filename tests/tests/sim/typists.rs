//! Two agents and a person at one line: what one of them has typed and not submitted is never submitted, erased or mixed
//! by another, and each line that runs is its typist's.

use std::collections::BTreeMap;

use dtmcp_core::call::Status;
use dtmcp_core::inspect::{Call, Known, TerminalModes};
use dtmcp_core::session::{Owner, Unsubmitted};
use dtmcp_tests::sim::{Chance, SIZE, Sim, run_for, seeds, send};

use super::error;
use super::looking::program;

/// What each of them types: no letter is anybody else's, so that a line tells its typists.
const ALPHABETS: [(&str, &[&str]); 3] =
    [("a", &["ab", "ba", "abba"]), ("b", &["xy", "yx", "xyxx"]), ("human", &["pq", "qp", "qppq"])];

fn typist(line: &str) -> Option<&'static str> {
    let has = |texts: &[&str]| line.chars().any(|c| texts.iter().any(|text| text.contains(c)));
    let mut typists = ALPHABETS.iter().filter(|(_, texts)| has(texts));
    let first = typists.next().map(|(name, _)| *name);
    assert_eq!(typists.next().map(|(name, _)| *name), None, "mixed: {line:?}");
    first
}

/// What somebody has on the line, and which lines they submitted.
#[derive(Debug, Default)]
struct Expected {
    half: String,
    lines: Vec<String>,
    /// The call under way: the text, and whether it is a `run`.
    call: Option<(u64, String, bool)>,
}

struct Stage {
    sim: Sim,
    /// Whether a program takes the lines, and no shell.
    program: bool,
    people: BTreeMap<&'static str, Expected>,
}

impl Stage {
    fn answers(&mut self) {
        for name in ["a", "b"] {
            let Some(expected) = self.people.get_mut(name) else { continue };
            let Some(outcome) = expected.call.as_ref().and_then(|(id, ..)| self.sim.answered(*id)) else { continue };
            let Some((_, text, is_run)) = expected.call.take() else { continue };
            if outcome.status == Status::Error {
                assert!(error(&outcome).contains("nothing was typed"), "{outcome:?}");
            } else if is_run {
                expected.half.clear();
                expected.lines.push(text);
            } else {
                for piece in text.split_inclusive('\n') {
                    expected.half.push_str(piece.trim_end_matches('\n'));
                    if piece.ends_with('\n') {
                        expected.lines.push(std::mem::take(&mut expected.half));
                    }
                }
            }
        }
    }

    fn agent(&mut self, name: &'static str, chance: &mut Chance) {
        let Some(expected) = self.people.get_mut(name) else { return };
        if expected.call.is_some() {
            return;
        }
        let texts = ALPHABETS.iter().find(|(who, _)| *who == name).map_or(&[][..], |(_, texts)| texts);
        let mut text = chance.of(texts).to_owned();
        let (request, is_run) = match chance.below(4) {
            0 | 1 => (run_for(&text, 2.0, ""), true),
            2 => (send(&text, &[]), false),
            _ => {
                text.push('\n');
                (send(&text, &[]), false)
            }
        };
        let id = self.sim.call(name, request);
        if let Some(expected) = self.people.get_mut(name) {
            expected.call = Some((id, text, is_run));
        }
    }

    /// A person looks first, and leaves an agent's text alone.
    fn person(&mut self, chance: &mut Chance) {
        self.sim.pass(0.001);
        self.answers();
        // At a program, only what stands behind its prompt is known to be theirs.
        let at_prompt = self.at_prompt();
        let Some(expected) = self.people.get_mut("human") else { return };
        if self.program && !at_prompt || self.sim.bash.unsubmitted() != expected.half {
            return;
        }
        if expected.half.is_empty() || chance.percent(30) {
            let text = chance.of(ALPHABETS[2].1);
            expected.half.push_str(text);
            self.sim.person(text);
        } else {
            expected.lines.push(std::mem::take(&mut expected.half));
            self.sim.person("\r");
        }
        // What they type is on the screen, and read, before anybody else's: tmux sees to that where it is not.
        self.sim.pass(0.001);
    }

    /// Whether the program's prompt is on the line, with nothing but what was typed behind it.
    fn at_prompt(&self) -> bool {
        self.sim.session.log().cooked.line_at_cursor().text == format!(">>> {}", self.sim.bash.unsubmitted())
    }

    fn act(&mut self, chance: &mut Chance) {
        match chance.below(16) {
            0..4 => self.agent("a", chance),
            4..8 => self.agent("b", chance),
            8..11 => self.person(chance),
            // What was printed over a person's text at a program, or over text at no prompt, leaves nothing to know it by.
            11 if !self.program || self.at_prompt() && self.people["human"].half.is_empty() => {
                let later = self.sim.session.deadline().filter(|_| !self.program);
                let at = later.unwrap_or_default();
                self.sim.bash.prints(at, chance.of(&["\r\nNOISE\r\n", "NOISE"]));
                self.sim.pass(if self.program { 0.001 } else { 0.0 });
            }
            12 => self.sim.resize(chance.of(&[SIZE, dtmcp_core::cooked::Size { cols: 90, rows: 20 }])),
            13 => {
                self.sim.pass(0.4);
                self.answers();
                // A call that is under way when a server dies is answered by its client's bridge, and tested elsewhere.
                if !self.sim.waits() {
                    self.sim.crash();
                }
            }
            _ => self.sim.pass(chance.of(&[0.0001, 0.01, 0.4, 3.0])),
        }
        self.answers();
    }
}

fn lived(seed: u64, program: bool) {
    let mut chance = Chance::new(seed);
    let mut sim = Sim::bash();
    if program {
        sim.ran("a", "python");
    }
    let (began, first) = (sim.bash.taken.len(), sim.regions().len());
    let mut stage = Stage { sim, program, people: BTreeMap::new() };
    for (name, _) in ALPHABETS {
        stage.people.insert(name, Expected::default());
    }
    for _ in 0..40 {
        stage.act(&mut chance);
    }
    stage.sim.pass(60.0);
    stage.answers();
    let mut taken: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for line in &stage.sim.bash.taken[began..] {
        taken.entry(typist(line).unwrap_or("nobody")).or_default().push(line);
    }
    assert_eq!(taken.get("nobody"), None, "an Enter of nobody's: {:?}", stage.sim.bash.taken);
    for (name, expected) in &stage.people {
        let lines = taken.remove(name).unwrap_or_default();
        assert_eq!(lines, expected.lines, "{name}'s: {:?}", stage.sim.bash.taken);
    }
    for region in &stage.sim.regions()[first..] {
        // Output that moves a prompt away while a line is typed can hide its echo: then only the prompt is known.
        if let Some(typist) = typist(&region.label.replace(">>> ", "")) {
            assert_eq!(Some(typist), region.actor.as_deref(), "{region:?}");
        }
    }
}

#[test]
fn nobodys_text_is_anothers_at_a_shell() {
    seeds(|seed| lived(seed, false));
}

#[test]
fn nobodys_text_is_anothers_at_a_program() {
    seeds(|seed| lived(seed, true));
}

#[test]
fn text_at_a_program_keeps_its_owner_when_the_server_restarts() {
    let mut sim = Sim::bash();
    sim.ran("a", "python");
    sim.sent("a", "10*", &[]);
    sim.crash();
    for outcome in [sim.ran("b", "3"), sim.sent("b", "", &["enter"]), sim.sent("b", "3", &[])] {
        assert!(error(&outcome).contains("a has \"10*\""), "{outcome:?}");
    }
    // Nor does looking on make it anybody's.
    sim.sent("b", "", &["left"]);
    error(&sim.ran("b", "3"));
    sim.pass(5.0);
    assert_eq!(sim.ran("a", "3").status, Status::Prompt);
    assert_eq!(sim.bash.taken, ["python", "3"]);
    // Where it has been given up, the line is free.
    sim.sent("a", "4*", &[]);
    sim.sent("b", "", &["ctrl+u"]);
    sim.crash();
    assert_eq!(sim.ran("b", "5").status, Status::Prompt);
    assert_eq!(sim.bash.taken, ["python", "3", "5"]);
}

#[test]
fn an_answer_begun_at_a_hidden_question_is_protected_and_kept_nowhere() {
    let mut sim = Sim::bash();
    sim.host = program(Call::Reads(0));
    sim.host.modes = Known::Known(TerminalModes { canonical: true, echo: false, held: false });
    assert_eq!(sim.ran("a", "passwd").status, Status::WaitingHidden);
    sim.sent("a", "hunter2", &[]);
    for restarts in [false, true] {
        if restarts {
            sim.crash();
        }
        for outcome in [sim.sent("b", "x\n", &[]), sim.sent("b", "", &["enter"])] {
            assert!(error(&outcome).contains("a has begun an answer"), "{outcome:?}");
        }
        assert!(!sim.disk.written().contains("hunter2"), "{}", sim.disk.written());
    }
    sim.sent("a", "\n", &[]);
    sim.pass(1.0);
    assert_eq!(sim.bash.taken, ["passwd", "hunter2"]);
    assert_eq!(sim.ran("b", "echo hi").status, Status::Finished);
}

#[test]
fn lines_that_are_sent_at_once_are_each_their_agents() {
    let mut sim = Sim::bash();
    sim.call("a", send("sleep 1; status 1\n", &[]));
    let last = sim.call("b", send("status 2\n", &[]));
    sim.call("a", send("status 3\n", &[]));
    sim.answer(last);
    sim.pass(3.0);
    // Typed ahead, while another's runs.
    sim.call("a", send("sleep 2\n", &[]));
    sim.pass(1.0);
    let ahead = sim.call("b", send("status 5\n", &[]));
    sim.pass(2.0);
    sim.answer(ahead);
    sim.person("status 6\r");
    sim.pass(1.0);
    let actors: Vec<_> = sim.regions().iter().map(|region| region.actor.clone().unwrap()).collect();
    assert_eq!(actors, ["a", "b", "a", "a", "b", "human"]);
}

#[test]
fn a_line_that_a_program_took_makes_nothing_else_its_agents() {
    let mut sim = Sim::bash();
    sim.ran("a", "cat");
    sim.sent("b", "status 4\n", &[]);
    sim.sent("a", "", &["ctrl+d"]);
    sim.pass(1.0);
    sim.person("status 5\r");
    sim.pass(1.0);
    assert_eq!(sim.regions().last().unwrap().actor.as_deref(), Some("human"));
}

#[test]
fn what_stands_on_the_line_is_told() {
    let mut sim = Sim::bash();
    sim.pass(5.0);
    let unsubmitted = |sim: &Sim| sim.session.unsubmitted().map(|Unsubmitted { owner, text, .. }| (owner, text));
    assert_eq!(unsubmitted(&sim), None);
    sim.sent("a", "rm -rf", &[]);
    assert_eq!(unsubmitted(&sim), Some((Owner::Agent("a".to_owned()), Some("rm -rf".to_owned()))));
    sim.sent("a", "", &["ctrl+u"]);
    assert_eq!(unsubmitted(&sim), None);
    sim.person("git pu");
    sim.pass(1.0);
    error(&sim.ran("a", "echo hi"));
    assert_eq!(unsubmitted(&sim), Some((Owner::Person, Some("git pu".to_owned()))));
}
