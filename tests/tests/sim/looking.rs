//! When the host is asked what runs at the terminal: not while output flows, and not twice for what is known.

use std::time::Duration;

use dtmcp_core::call::{Asks, Status};
use dtmcp_core::inspect::{
    Call, Device, FileKind, Inode, Inspection, Known, OpenFile, Process, ProcessId, Refusal, Sleep, TerminalFile,
    TerminalModes, Thread, Why,
};
use dtmcp_core::region::Kind;
use dtmcp_core::waiting::carrier::carrier;
use dtmcp_tests::sim::{Sim, Start, run_for};

use super::{error, notes, told};

const SHOWN: Option<Asks> = Some(Asks::Shown);

const DEVICE: Device = Device { major: 136, minor: 0 };
const INODE: Inode = Inode { device: Device { major: 0, minor: 26 }, number: 3 };

/// The process id of the scripted session's first shell.
pub(crate) const SHELL: u32 = 101;

/// A program in front whose only thread is in this call.
pub(crate) fn program(call: Call) -> Inspection {
    let thread =
        Thread { tid: 7, sleep: Sleep::In("wait_woken".to_owned()), call: Known::Known(call), runs: Known::Known(1) };
    let process = Process {
        id: ProcessId { pid: 7, start: 1 },
        parent: 1,
        group: 7,
        session: 1,
        controlling: Some(DEVICE),
        in_front: true,
        name: "program".to_owned(),
        stopped: false,
        traced: false,
        used: 0,
        owner: Known::Known(0),
        user: None,
        carrier: None,
        armed: false,
        scripted: false,
        files: Known::Known(vec![OpenFile { fd: 0, inode: INODE, kind: FileKind::Terminal(DEVICE) }]),
        threads: Known::Known(vec![thread]),
    };
    Inspection {
        terminal: Known::Known(TerminalFile { inode: INODE, device: DEVICE }),
        modes: Known::Known(TerminalModes { canonical: true, echo: true, held: false }),
        unread: Known::Known(0),
        front: Known::Known(vec![process]),
        below: Known::Known(Vec::new()),
        elsewhere: Known::Known(Vec::new()),
        ..Inspection::unknown(Why::NotAsked)
    }
}

/// One that asks for a line which is not shown.
pub(crate) fn hides() -> Inspection {
    let modes = TerminalModes { canonical: true, echo: false, held: false };
    Inspection { modes: Known::Known(modes), ..program(Call::Reads(0)) }
}

#[test]
fn nobody_looks_while_output_flows() {
    let mut sim = Sim::bash();
    sim.host = program(Call::Other);
    let line = vec!["printf x\\n; sleep 0.09"; 60].join("; ");
    assert_eq!(sim.ran("a", &line).status, Status::Finished);
    assert_eq!(sim.looks, []);
}

#[test]
fn a_question_is_looked_at_twice_and_no_more() {
    let mut sim = Sim::bash();
    sim.host = program(Call::Reads(0));
    let outcome = sim.ran("a", "odd");
    assert_eq!(outcome.status, Status::Waiting, "{outcome:?}");
    assert_eq!(sim.looks.len(), 2);
    assert!(sim.looks[1] - sim.looks[0] < Duration::from_millis(60), "{:?}", sim.looks);
    for _ in 0..5 {
        assert_eq!(sim.waited("a", 5.0).status, Status::Waiting);
        sim.pass(3.0);
    }
    assert_eq!(sim.looks.len(), 2, "nothing was printed or typed meanwhile");
}

#[test]
fn a_known_prompt_that_waits_is_told_at_once() {
    let mut sim = Sim::bash();
    sim.host = program(Call::Reads(0));
    let before = sim.seconds();
    assert_eq!(sim.ran("a", "gdb").status, Status::Prompt);
    assert!(sim.seconds() - before < 0.05, "{}", sim.seconds() - before);
    assert_eq!(sim.looks.len(), 1);
    // Where it cannot be seen who waits, half an answer that looks like a prompt is waited out.
    sim.host = Inspection::unknown(Why::Refused);
    let before = sim.seconds();
    assert_eq!(sim.ran("a", "break main").status, Status::Prompt);
    assert!(sim.seconds() - before > 0.1, "nobody was seen to wait there");
}

#[test]
fn who_works_is_at_no_prompt_whatever_it_prints() {
    for rest in ["; sleep 5; echo end", "; sleep 0.05; echo end"] {
        let mut sim = Sim::bash();
        sim.host = program(Call::Other);
        let id = sim.run("a", &format!("printf copying>\\s{rest}"));
        let outcome = sim.answer(id);
        assert_eq!(outcome.status, Status::Finished, "{outcome:?}");
    }
    // A line is not typed into it, and it is seen at once when it reads after all.
    let mut sim = Sim::bash();
    sim.host = program(Call::Other);
    let id = sim.call("a", run_for("printf (gdb)\\s; sleep 60", 3.0, ""));
    assert_eq!(sim.answer(id).status, Status::Running);
    let refused = sim.ran("a", "continue");
    assert!(refused.error.as_ref().is_some_and(|error| error.contains("still running")), "{refused:?}");
    assert!(!sim.typed().contains("continue"));
    sim.host = program(Call::Reads(0));
    assert_eq!(sim.waited("a", 5.0).status, Status::Prompt);
}

/// The session's own shell in front, with its editor of lines.
fn at_its_prompt() -> Inspection {
    let mut seen = program(Call::Polls { fds: vec![0], timeout: None });
    seen.modes = Known::Known(TerminalModes { canonical: false, echo: false, held: false });
    if let Known::Known(front) = &mut seen.front {
        (front[0].id.pid, front[0].name) = (SHELL, "bash".to_owned());
    }
    seen
}

#[test]
fn the_mark_of_an_end_is_waited_for_where_the_shell_is_back() {
    for line in ["sleep 1", "printf ssh:\\srefused?\\s; sleep 1", "printf done>\\s; sleep 1"] {
        let mut sim = Sim::bash();
        sim.host = at_its_prompt();
        let outcome = sim.ran("a", line);
        assert_eq!(outcome.status, Status::Finished, "{line}: {outcome:?}");
    }
    // What asks by itself is told as soon as ever.
    let mut sim = Sim::bash();
    sim.host = at_its_prompt();
    let before = sim.seconds();
    let id = sim.run("a", "printf read -n 1 now:\\s; sleep 60");
    assert_eq!(sim.answer(id).status, Status::Waiting);
    assert!(sim.seconds() - before < 0.5, "{}", sim.seconds() - before);
}

#[test]
fn a_prompt_of_the_shell_without_marks_is_told_as_one() {
    let mut sim = Sim::bash();
    sim.host = at_its_prompt();
    let outcome = sim.ran("a", "printf [one]\\s; sleep 60");
    assert_eq!((outcome.status, outcome.prompt.as_deref()), (Status::Prompt, Some("[one] ")), "{outcome:?}");
    assert_eq!(notes(&outcome, "the shell's own prompt"), 1, "{outcome:?}");
}

#[test]
fn a_look_that_never_comes_back_keeps_no_prompt() {
    let mut sim = Sim::bash();
    sim.blind = true;
    let before = sim.seconds();
    assert_eq!(sim.ran("a", "gdb").status, Status::Prompt);
    assert!(sim.seconds() - before < 1.3, "{}", sim.seconds() - before);
}

#[test]
fn a_program_at_work_is_looked_at_ever_more_rarely() {
    let mut sim = Sim::bash();
    sim.host = program(Call::Other);
    let id = sim.call("a", run_for("sleep 60", 40.0, ""));
    assert_eq!(sim.answer(id).status, Status::Running);
    // Four times a second for ten seconds, then once.
    assert!((60..=80).contains(&sim.looks.len()), "{}", sim.looks.len());
    let looks = sim.looks.len();
    sim.pass(15.0);
    assert_eq!(sim.looks.len(), looks, "nobody waits for it");
}

#[test]
fn readers_have_it_looked_at_though_no_call_waits() {
    let mut sim = Sim::bash();
    sim.watch(true);
    sim.host = program(Call::Other);
    sim.person("odd\r");
    sim.pass(40.0);
    // Four times a second for ten seconds, then every three.
    assert!((30..=60).contains(&sim.looks.len()), "{}", sim.looks.len());
    assert_eq!(sim.told_readers, [], "it works");
    sim.host = program(Call::Reads(0));
    sim.pass(10.0);
    assert_eq!(sim.told_readers, [Some(1)], "it waits");
    let looks = sim.looks.len();
    sim.pass(60.0);
    assert_eq!((sim.looks.len(), sim.told_readers.len()), (looks, 1), "which is known");
}

#[test]
fn a_program_that_works_in_silence_is_said_to() {
    let mut sim = Sim::bash();
    sim.host = program(Call::Other);
    let outcome = |sim: &mut Sim, line: &str, seconds: f64| {
        let id = sim.call("a", run_for(line, seconds, ""));
        sim.answer(id)
    };
    let early = outcome(&mut sim, "sleep 60", 2.0);
    assert_eq!((early.status, notes(&early, "nothing printed")), (Status::Running, 0));
    let late = sim.waited("a", 18.0);
    assert_eq!(
        (late.status, notes(&late, "still working, nothing printed for 20 s")),
        (Status::Running, 1),
        "{late:?}"
    );
    // Where nobody can see whether it works, nothing is claimed.
    let mut sim = Sim::bash();
    sim.host = Inspection::unknown(Why::Refused);
    let blind = outcome(&mut sim, "sleep 60", 20.0);
    assert_eq!((blind.status, notes(&blind, "still working"), notes(&blind, "it goes on")), (Status::Running, 0, 1));
}

#[test]
fn a_pager_that_leaves_the_screen_alone_is_no_taker_of_lines() {
    let mut sim = Sim::bash();
    let mut less = program(Call::Reads(0));
    if let Known::Known(front) = &mut less.front {
        "less".clone_into(&mut front[0].name);
    }
    sim.host = less;
    assert_eq!(sim.ran("a", "odd").status, Status::Screen);
    let refused = sim.ran("a", "echo hi");
    assert!(refused.error.as_ref().is_some_and(|error| error.contains("full-screen program")), "{refused:?}");
    let paged = sim.sent("a", "x", &[]);
    assert!(paged.observed.pages && paged.observed.asks.is_none(), "{paged:?}");
}

#[test]
fn a_terminal_that_takes_no_output_is_told_where_two_looks_agree() {
    let modes = TerminalModes { canonical: true, echo: true, held: true };
    let mut sim = Sim::bash();
    sim.host = Inspection { modes: Known::Known(modes), ..program(Call::Other) };
    let id = sim.call("a", run_for("sleep 60", 10.0, ""));
    let held = sim.answer(id);
    assert_eq!((held.status, notes(&held, "output is stopped")), (Status::Running, 1), "{held:?}");
    assert_eq!(notes(&held, "still working"), 0);
    sim.host = program(Call::Other);
    let goes = sim.waited("a", 10.0);
    assert_eq!(
        (goes.status, notes(&goes, "output is stopped"), notes(&goes, "still working")),
        (Status::Running, 0, 1)
    );
}

#[test]
fn what_may_not_be_seen_is_told_once() {
    let mut sim = Sim::bash();
    sim.host = Inspection { refusal: Some(Refusal::Yama(1)), ..program(Call::Reads(0)) };
    assert_eq!(notes(&sim.ran("a", "odd"), "ptrace_scope=0"), 1);
    assert_eq!(notes(&sim.ran("a", "hello"), "ptrace_scope"), 0);
    assert_eq!(notes(&sim.ran("b", "hello"), "ptrace_scope"), 1, "another agent has not been told");
}

#[test]
fn the_way_to_see_it_is_one_that_there_is() {
    let told = |scope| {
        let mut sim = Sim::bash();
        sim.host = Inspection { refusal: Some(Refusal::Yama(scope)), ..program(Call::Reads(0)) };
        let told = sim.ran("a", "odd");
        ["kill-server", "ptrace_scope=0", "the next boot"].map(|way| notes(&told, way))
    };
    assert_eq!(told(1), [1, 1, 0], "an ancestor, or less of a policy");
    assert_eq!(told(2), [0, 1, 0]);
    assert_eq!(told(3), [0, 0, 1]);
}

/// A login on another host: ssh polls the terminal, which it has made raw.
pub(super) fn carries(call: Call) -> Inspection {
    let mut inspection = program(call);
    inspection.modes = Known::Known(TerminalModes { canonical: false, echo: false, held: false });
    if let Known::Known(front) = &mut inspection.front {
        front[0].carrier = carrier(&["ssh", "me@build7"]);
        front[0].parent = SHELL;
    }
    inspection
}

#[test]
fn a_far_prompt_is_told_by_its_end() {
    let mut sim = Sim::bash();
    sim.host = carries(Call::Other);
    let outcome = sim.ran("a", "far");
    assert_eq!((outcome.status, outcome.prompt.as_deref()), (Status::Prompt, Some("far 2 $ ")), "{outcome:?}");
    assert_eq!(notes(&outcome, "now on build7 as me"), 1, "{outcome:?}");
    assert_eq!(sim.ran("a", "hello").status, Status::Prompt);
    // What only ends as other prompts do is no prompt here.
    let outcome = sim.ran("a", "quotes");
    assert_eq!((outcome.status, outcome.prompt.as_deref()), (Status::Prompt, Some("far 2 $ ")), "{outcome:?}");
    assert_eq!(outcome.region.unwrap().lines, 2);
    let outcome = sim.ran("a", "quit");
    assert_eq!((outcome.status, outcome.region.unwrap().label.as_str()), (Status::Finished, "far"));
    // Of a command that stays here, the same end of a line says nothing.
    sim.host = program(Call::Other);
    let id = sim.call("a", run_for("far", 5.0, ""));
    assert_eq!(sim.answer(id).status, Status::Running);
}

#[test]
fn a_far_prompt_that_has_stood_before_the_line_is_no_answer_to_it() {
    let mut sim = Sim::bash();
    sim.host = carries(Call::Other);
    assert_eq!(sim.ran("a", "lost").status, Status::Prompt);
    let outcome = sim.ran("a", "make install");
    assert_eq!(outcome.status, Status::Quiet, "{outcome:?}");
    assert_eq!(notes(&outcome, "must not be typed again"), 1, "{outcome:?}");
    sim.pass(60.0);
    assert!(!sim.glance().starts_with("at the prompt"), "{}", sim.glance());
}

#[test]
fn a_far_prompt_like_no_other_ends_in_silence() {
    let mut sim = Sim::bash();
    sim.host = carries(Call::Other);
    let before = sim.seconds();
    let outcome = sim.ran("a", "star");
    assert_eq!(outcome.status, Status::Quiet, "{outcome:?}");
    assert!((3.0..3.5).contains(&(sim.seconds() - before)), "{}", sim.seconds() - before);
    // What took a line there and shows the same again is at its prompt.
    assert_eq!(sim.ran("a", "hello").prompt.as_deref(), Some("far *"));
    assert_eq!(sim.ran("a", "again").status, Status::Prompt);
    assert!(sim.typed().contains("again"));
}

/// bash, zsh and fish ask for bracketed paste while they read a line.
#[test]
fn a_far_line_editor_reads_behind_any_prompt() {
    let mut sim = Sim::bash();
    sim.host = carries(Call::Other);
    let before = sim.seconds();
    let outcome = sim.ran("a", "edits");
    assert_eq!((outcome.status, outcome.prompt.as_deref()), (Status::Prompt, Some("far *")), "{outcome:?}");
    assert!(sim.seconds() - before < 0.5, "{}", sim.seconds() - before);
    assert_eq!(told(&sim.ran("a", "slow 2"), &sim), "prompt #2 at \"far *\": did slow 2");
    let asked = sim.ran("a", "ask");
    assert_eq!((asked.status, asked.prompt.as_deref()), (Status::Waiting, Some("Go on? ")), "{asked:?}");
}

#[test]
fn a_far_editor_that_reads_on_wants_the_rest() {
    let mut sim = Sim::bash();
    sim.host = carries(Call::Other);
    sim.ran("a", "edits");
    let outcome = sim.ran("a", "for x in y");
    assert_eq!((outcome.status, outcome.prompt.as_deref()), (Status::Continuation, Some("")), "{outcome:?}");
    assert_eq!(sim.ran("a", "pass").status, Status::Continuation);
    assert_eq!(told(&sim.ran("a", "end"), &sim), "prompt #4 at \"far *\": did end");
    let outcome = sim.ran("a", "for x in y\npass\nend\nhello");
    assert_eq!((outcome.status, outcome.unsent, outcome.ran.len()), (Status::Prompt, Some(0), 4), "{outcome:?}");
}

/// A job in the background prints behind the prompt, at once or later, and the editor shows none below that.
#[test]
fn a_far_editor_whose_prompt_was_printed_over_takes_the_next_line() {
    let mut sim = Sim::bash();
    sim.host = carries(Call::Other);
    sim.ran("a", "edits");
    for seconds in ["0.001", "1"] {
        let outcome = sim.ran("a", &format!("noise {seconds}"));
        assert_eq!((outcome.status, outcome.prompt.as_deref()), (Status::Prompt, Some("far *")), "{outcome:?}");
        sim.pass(2.0);
        assert_eq!(sim.glance(), "at the prompt \"far *\" · #1 \"edits\"", "{seconds}");
        let outcome = sim.ran("a", "hello");
        assert_eq!((outcome.status, sim.shown(&outcome)), (Status::Prompt, vec!["did hello".to_owned()]), "{seconds}");
    }
}

#[test]
fn a_carrier_that_asks_has_led_nowhere_yet() {
    let mut sim = Sim::bash();
    sim.host = carries(Call::Reads(0));
    sim.host.modes = Known::Known(TerminalModes { canonical: true, echo: false, held: false });
    let outcome = sim.ran("a", "passwd");
    assert_eq!((outcome.status, notes(&outcome, "build7")), (Status::WaitingHidden, 0), "{outcome:?}");
}

/// A session whose second shell, which has the integration, is at the far end of what the first one has started.
pub(super) fn behind() -> Sim {
    let mut sim = Sim::bash();
    assert_eq!(sim.ran("a", "bash").status, Status::Prompt);
    sim.host = carries(Call::Other);
    sim
}

#[test]
fn behind_an_integrated_far_shell_what_looks_like_a_question_takes_a_line() {
    let mut sim = behind();
    let before = sim.seconds();
    let asked = sim.ran("a", "quiz");
    assert_eq!((asked.status, asked.prompt.as_deref()), (Status::Quiet, Some("Name? ")), "{asked:?}");
    assert!((3.0..3.5).contains(&(sim.seconds() - before)), "{}", sim.seconds() - before);
    assert_eq!((notes(&asked, "looks like a question"), notes(&asked, "build7")), (1, 0), "{asked:?}");
    assert_eq!(sim.ran("a", "me").prompt.as_deref(), Some("Sure? "));
    let pin = sim.ran("a", "yes");
    assert_eq!((pin.status, notes(&pin, "question for a secret")), (Status::Quiet, 1), "{pin:?}");
    let done = sim.ran("a", "1234");
    assert_eq!((done.status, done.region.unwrap().label.as_str()), (Status::Finished, "quiz"));
}

#[test]
fn a_far_prompt_like_no_other_is_known_once_it_was_seen() {
    let mut sim = behind();
    assert_eq!(sim.ran("a", "far").status, Status::Quiet);
    let before = sim.seconds();
    let again = sim.ran("a", "hello");
    assert_eq!((again.status, again.prompt.as_deref()), (Status::Prompt, Some("far 2 $ ")), "{again:?}");
    assert!(sim.seconds() - before < 0.5, "{}", sim.seconds() - before);
    assert_eq!(sim.ran("a", "quit").status, Status::Finished);
    // Another program's is another.
    assert_eq!(sim.ran("a", "far").status, Status::Quiet);
}

#[test]
fn silence_says_nothing_of_a_far_command_that_shows_no_question() {
    let mut sim = behind();
    for line in ["printf working\\s;sleep 5", "sleep 5", "printf 50%\\s;sleep 5"] {
        let outcome = sim.ran("a", line);
        assert_eq!(outcome.status, Status::Finished, "{line}: {outcome:?}");
    }
}

#[test]
fn a_wait_after_silence_waits_for_what_comes() {
    let mut sim = behind();
    let id = sim.call("a", run_for("printf Testing:\\s;sleep 20", 60.0, ""));
    assert_eq!(sim.answer(id).status, Status::Quiet);
    let before = sim.seconds();
    assert_eq!(sim.waited("a", 5.0).status, Status::Quiet, "as long as it was told to");
    assert!(sim.seconds() - before > 4.9, "{}", sim.seconds() - before);
    assert_eq!(sim.waited("a", 60.0).status, Status::Finished);
}

#[test]
fn of_several_lines_none_goes_to_what_only_looks_like_a_question() {
    let mut sim = behind();
    let outcome = sim.ran("a", "printf Testing:\\s;sleep 20\necho two");
    assert_eq!((outcome.status, outcome.unsent), (Status::Quiet, Some(1)), "{outcome:?}");
    assert!(!sim.typed().contains("two"));
}

#[test]
fn a_send_tells_the_question_that_it_led_to() {
    let mut sim = Sim::bash();
    sim.host = program(Call::Reads(0));
    assert_eq!(sim.ran("a", "quiz").status, Status::Waiting);
    let sent = sim.sent("a", "Ada\n", &[]);
    assert_eq!((sent.status, sent.prompt.as_deref(), sent.observed.asks), (Status::Sent, Some("Sure? "), SHOWN));
    let region = sent.region.clone().unwrap();
    assert_eq!((region.kind, region.label.as_str()), (Kind::Input, "Name? Ada"), "a line was submitted");
    // What is not submitted is no part of the question.
    let half = sim.sent("a", "y", &[]);
    assert_eq!((half.prompt.as_deref(), half.observed.asks), (Some("Sure? "), SHOWN), "{half:?}");
    let modes = TerminalModes { canonical: true, echo: false, held: false };
    sim.host.modes = Known::Known(modes);
    let hidden = sim.sent("a", "", &["enter"]);
    assert_eq!((hidden.prompt.as_deref(), hidden.observed.asks), (Some("Pin: "), Some(Asks::Hidden)), "{hidden:?}");
    assert_eq!((notes(&hidden, "ask the user to type it"), notes(&hidden, "finished since")), (1, 0));
    let ended = sim.sent("a", "4711\n", &[]);
    assert_eq!((ended.prompt.as_deref(), ended.observed.asks), (Some("$ "), None), "{ended:?}");
    assert_eq!(
        (ended.region.clone().unwrap().label.as_str(), notes(&ended, "finished since")),
        ("quiz", 0),
        "{ended:?}"
    );
    assert!(!sim.disk.written().contains("4711"), "{}", sim.disk.written());
    // A program at work asks nothing, and is not waited for.
    let run = sim.call("a", run_for("cat", 1.0, ""));
    sim.answer(run);
    sim.host = program(Call::Other);
    let before = sim.seconds();
    assert_eq!(sim.sent("a", "x\n", &[]).observed.asks, None);
    assert!(sim.seconds() - before < 0.5, "{}", sim.seconds() - before);
}

#[test]
fn a_refusal_names_the_hidden_question_and_who_asks() {
    let mut sim = Sim::bash();
    sim.host = program(Call::Reads(0));
    sim.host.modes = Known::Known(TerminalModes { canonical: true, echo: false, held: false });
    assert_eq!(sim.ran("a", "passwd").status, Status::WaitingHidden);
    let refused = error(&sim.ran("a", "echo hi"));
    assert!(refused.starts_with("nothing was typed: #1 \"passwd\" asks \"Password: \""), "{refused}");
    assert!(refused.contains("expect without line"), "{refused}");
}

#[test]
fn a_program_in_place_of_a_shell_that_works_takes_no_line() {
    let mut sim = Sim::starting(&Start::Program("sleep 100".to_owned()));
    sim.host = program(Call::Other);
    sim.pass(1.0);
    for _ in 0..2 {
        let outcome = sim.ran("a", "echo x");
        assert!(error(&outcome).contains("still at work"), "{outcome:?}");
        sim.pass(20.0);
    }
    assert_eq!((sim.typed().as_str(), sim.regions().len()), ("", 0));
    // It wants one now, at no prompt that is known.
    sim.host = program(Call::Reads(0));
    assert_eq!(sim.ran("a", "echo x").region.map(|region| region.id), Some(1));
}

#[test]
fn nor_does_one_that_hides_what_is_typed() {
    let mut sim = Sim::starting(&Start::Program("passwd".to_owned()));
    sim.host = hides();
    sim.pass(10.0);
    for _ in 0..2 {
        assert!(error(&sim.ran("a", "hunter2")).contains("not shown"));
        sim.pass(10.0);
    }
    assert_eq!(sim.typed(), "");
}

#[test]
fn a_line_that_nothing_stood_before_has_a_name() {
    let mut sim = Sim::starting(&Start::Program("cat".to_owned()));
    sim.host = program(Call::Reads(0));
    sim.pass(1.0);
    sim.ran("a", "hello");
    assert_eq!(sim.regions()[0].label, "hello");
    let mut sim = Sim::starting(&Start::Program("deaf".to_owned()));
    sim.host = program(Call::Reads(0));
    sim.pass(1.0);
    sim.ran("a", "hello");
    assert_eq!(sim.regions()[0].label, "(not shown)");
    sim.crash();
    assert_eq!(sim.regions()[0].label, "(not shown)");
    assert!(!sim.disk.written().contains("hello"));
}

#[test]
fn a_secret_that_is_read_key_by_key_is_hidden_too() {
    let mut sim = Sim::bash();
    sim.host = program(Call::Reads(0));
    sim.host.modes = Known::Known(TerminalModes { canonical: false, echo: false, held: false });
    assert_eq!(sim.ran("a", "passwd").status, Status::WaitingHidden);
    let mut sim = Sim::bash();
    sim.host = program(Call::Reads(0));
    sim.host.modes = Known::Known(TerminalModes { canonical: false, echo: false, held: false });
    assert_eq!(sim.ran("a", "quiz").status, Status::Waiting, "nothing secret is asked");
}
