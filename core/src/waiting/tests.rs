//! Cases of the rule that need no process; those that do are in the suite `host`.

use super::*;
use crate::inspect::{
    Blind, Call, Device, FileKind, InnerTerminal, Inode, Inspector as _, Interest, OpenFile, PaneTerminal, Sleep,
    Thread, Why,
};
use crate::time::Now;

const PANE: TerminalFile = TerminalFile { inode: inode(26, 3), device: Device { major: 136, minor: 0 } };
const COOKED: Known<TerminalModes> = Known::Known(TerminalModes { canonical: true, echo: true, held: false });
const RAW: Known<TerminalModes> = Known::Known(TerminalModes { canonical: false, echo: false, held: false });
const HIDDEN: Known<TerminalModes> = Known::Known(TerminalModes { canonical: true, echo: false, held: false });
const QUIET: Output = Output { quiet: Duration::from_secs(5), alternate: false, column: 9, asks: true };

const fn inode(system: u32, number: u64) -> Inode {
    Inode { device: Device { major: 0, minor: system }, number }
}

fn terminal(fd: i32) -> OpenFile {
    OpenFile { fd, inode: PANE.inode, kind: FileKind::Terminal(PANE.device) }
}

fn other(fd: i32, kind: FileKind) -> OpenFile {
    OpenFile { fd, inode: inode(9, 1000 + u64::from(fd.unsigned_abs())), kind }
}

fn process(pid: u32, channel: &str, files: Vec<OpenFile>) -> Process {
    let thread = Thread {
        tid: pid,
        sleep: Sleep::In(channel.to_owned()),
        call: Known::Unknown(Why::Refused),
        runs: Known::Known(1),
    };
    Process {
        id: ProcessId { pid, start: 1 },
        parent: 1,
        group: pid,
        session: 1,
        controlling: Some(PANE.device),
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
        files: Known::Known(files),
        threads: Known::Known(vec![thread]),
    }
}

fn scene(modes: Known<TerminalModes>, front: Vec<Process>) -> Inspection {
    Inspection {
        above: Vec::new(),
        terminal: Known::Known(PANE),
        modes,
        unread: Known::Known(0),
        front: Known::Known(front),
        below: Known::Known(Vec::new()),
        elsewhere: Known::Known(Vec::new()),
        inner: Vec::new(),
        refusal: None,
    }
}

fn waits(judgement: &Judgement) -> bool {
    matches!(judgement, Judgement::Waits(_))
}

#[test]
fn who_sees_nothing_cannot_tell() {
    let pane = PaneTerminal { tty: "/dev/pts/0".to_owned(), pid: 1 };
    let inspection = Blind.inspect(&pane, Look::Everywhere);
    assert_eq!(judge(&inspection, QUIET), Judgement::Unknown(Why::NobodyLooks));
}

#[test]
fn a_hidden_line_is_a_secret_whoever_reads_it() {
    let mut inspection = Inspection { modes: HIDDEN, ..Inspection::unknown(Why::Refused) };
    assert_eq!(judge(&inspection, QUIET), Judgement::WaitsHidden(None));
    let refused = Process { files: Known::Unknown(Why::Refused), ..process(7, "0", Vec::new()) };
    inspection = scene(HIDDEN, vec![refused]);
    assert_eq!(judge(&inspection, QUIET), Judgement::WaitsHidden(None));
    inspection = scene(HIDDEN, vec![process(7, "hrtimer_nanosleep", vec![terminal(0)])]);
    assert_eq!(judge(&inspection, QUIET), Judgement::Works, "nobody asks");
    inspection.elsewhere = Known::Unknown(Why::NotAsked);
    assert_eq!(judge(&inspection, QUIET), Judgement::WaitsHidden(None), "somebody may");
}

#[test]
fn one_number_is_another_terminal_on_another_file_system() {
    let theirs = OpenFile { fd: 0, inode: inode(40, 3), kind: FileKind::Terminal(PANE.device) };
    let reads = |files| judge(&scene(COOKED, vec![process(7, "wait_woken", files)]), QUIET);
    assert_eq!(reads(vec![theirs]), Judgement::Works);
    assert!(waits(&reads(vec![terminal(0)])));
    assert!(waits(&reads(vec![OpenFile { fd: 4, inode: inode(6, 9), kind: FileKind::ControllingTerminal }])));
}

#[test]
fn what_cannot_be_told_apart_is_not_guessed() {
    let socket = other(5, FileKind::Socket);
    let judged = |modes, files| judge(&scene(modes, vec![process(7, "wait_woken", files)]), QUIET);
    let unknown = Judgement::Unknown(Why::SeveralThings);
    assert_eq!(judged(COOKED, vec![terminal(0), socket.clone()]), unknown);
    assert!(waits(&judged(RAW, vec![terminal(0), socket.clone()])));
    let mut known = process(7, "wait_woken", vec![terminal(0), socket]);
    let call = |process: &mut Process, call| {
        let threads = vec![Thread { tid: 7, sleep: Sleep::Untold, call: Known::Known(call), runs: Known::Known(1) }];
        process.threads = Known::Known(threads);
    };
    call(&mut known, Call::Reads(5));
    assert_eq!(judge(&scene(COOKED, vec![known.clone()]), QUIET), Judgement::Works);
    call(&mut known, Call::Polls { fds: vec![5, 0], timeout: None });
    assert!(waits(&judge(&scene(COOKED, vec![known]), QUIET)));
}

#[test]
fn a_terminal_inside_that_hides_lines_is_asked_at_by_those_in_it_alone() {
    let (number, device) = (4, Device { major: 136, minor: 4 });
    let inner = OpenFile { fd: 0, inode: inode(26, 7), kind: FileKind::Terminal(device) };
    let relay =
        process(7, "poll_schedule_timeout", vec![terminal(0), other(9, FileKind::Master(Known::Known(number)))]);
    let judged = |channel| {
        let below =
            Process { parent: 7, session: 8, controlling: Some(device), ..process(8, channel, vec![inner.clone()]) };
        let hides = InnerTerminal { number, modes: HIDDEN, unread: Known::Known(0) };
        let inspection = Inspection {
            below: Known::Known(vec![below]),
            elsewhere: Known::Unknown(Why::NotAsked),
            inner: vec![hides],
            ..scene(RAW, vec![relay.clone()])
        };
        judge(&inspection, QUIET)
    };
    assert_eq!(judged("hrtimer_nanosleep"), Judgement::Works, "it has not come to ask");
    assert!(matches!(judged("wait_woken"), Judgement::WaitsHidden(Some(_))));
}

#[test]
fn a_master_that_nobody_below_uses_was_only_inherited() {
    let master = other(9, FileKind::Master(Known::Known(4)));
    let relay = process(7, "poll_schedule_timeout", vec![terminal(0), master]);
    let mut inspection = scene(RAW, vec![relay]);
    assert!(waits(&judge(&inspection, QUIET)));
    let inner = OpenFile { fd: 0, inode: inode(26, 7), kind: FileKind::Terminal(Device { major: 136, minor: 4 }) };
    let below = Process {
        parent: 7,
        session: 8,
        controlling: Some(Device { major: 136, minor: 4 }),
        ..process(8, "hrtimer_nanosleep", vec![inner.clone()])
    };
    inspection.below = Known::Known(vec![below.clone()]);
    assert_eq!(judge(&inspection, QUIET), Judgement::Works, "what it relays to sleeps");
    assert!(waits(&judge(&inspection, Output { alternate: true, ..QUIET })), "an application with a terminal in it");
    let reader = Process { threads: process(8, "wait_woken", Vec::new()).threads, ..below };
    inspection.below = Known::Known(vec![reader.clone()]);
    assert!(waits(&judge(&inspection, QUIET)));
    inspection.below = Known::Known(vec![Process { in_front: false, ..reader }]);
    assert_eq!(judge(&inspection, QUIET), Judgement::Works, "from the background nobody reads");
}

#[test]
fn a_debugger_reads_while_it_holds_what_it_made_a_terminal_for() {
    let inner = OpenFile { fd: 0, inode: inode(26, 7), kind: FileKind::Terminal(Device { major: 136, minor: 4 }) };
    let debugger = || {
        let files = vec![terminal(0), other(9, FileKind::Master(Known::Known(4)))];
        process(7, "poll_schedule_timeout", files)
    };
    let server = Process { parent: 7, ..process(8, "poll_schedule_timeout", Vec::new()) };
    let held = Process { parent: 8, session: 9, traced: true, ..process(9, "ptrace_stop", vec![inner]) };
    let mut inspection = scene(RAW, vec![debugger()]);
    inspection.below = Known::Known(vec![server.clone(), held.clone()]);
    assert!(waits(&judge(&inspection, QUIET)), "at a breakpoint");
    let runs = Process { traced: false, ..held.clone() };
    inspection.below = Known::Known(vec![server.clone(), runs.clone()]);
    assert_eq!(judge(&inspection, QUIET), Judgement::Works, "it was let go on");
    let beside = Process { id: ProcessId { pid: 10, start: 1 }, ..runs };
    inspection.below = Known::Known(vec![server, held, beside]);
    assert_eq!(judge(&inspection, QUIET), Judgement::Works, "another that has the terminal as well goes on");
}

#[test]
fn typed_input_that_nobody_has_read_means_work() {
    let mut inspection = scene(COOKED, vec![process(7, "hrtimer_nanosleep", vec![terminal(0)])]);
    inspection.unread = Known::Known(11);
    assert_eq!(judge(&inspection, QUIET), Judgement::Works);
}

#[test]
fn two_looks_apart_make_a_verdict() {
    let inspection = scene(COOKED, vec![process(7, "wait_woken", vec![terminal(0)])]);
    let judgement = judge(&inspection, QUIET);
    let mut steady = Steady::default();
    assert_eq!(steady.look(Now(0), judgement.clone(), &inspection, QUIET), Step::Again(Now(50_000)));
    assert_eq!(steady.look(Now(10_000), judgement.clone(), &inspection, QUIET), Step::Again(Now(50_000)));
    assert_eq!(steady.look(Now(50_000), judgement.clone(), &inspection, QUIET), Step::Holds(judgement.clone()));
    steady.begin();
    assert_eq!(steady.look(Now(60_000), judgement.clone(), &inspection, QUIET), Step::Again(Now(110_000)));
    assert_eq!(steady.look(Now(70_000), Judgement::Works, &inspection, QUIET), Step::Holds(Judgement::Works));
    assert!(matches!(steady.look(Now(110_000), judgement, &inspection, QUIET), Step::Again(_)), "it began anew");
}

#[test]
fn whoever_computes_between_two_reads_works() {
    let at = |used| scene(COOKED, vec![Process { used, ..process(7, "wait_woken", vec![terminal(0)]) }]);
    let judgement = judge(&at(0), QUIET);
    let mut steady = Steady::default();
    steady.look(Now(0), judgement.clone(), &at(100), QUIET);
    assert_eq!(steady.look(Now(500_000), judgement.clone(), &at(140), QUIET), Step::Holds(Judgement::Works));
    assert_eq!(steady.look(Now(1_000_000), judgement.clone(), &at(140), QUIET), Step::Holds(judgement));
}

#[test]
fn a_reader_of_keys_away_from_its_prompt_may_work() {
    let judgement = Judgement::Waits(Waiter {
        process: ProcessId { pid: 7, start: 1 },
        tid: 7,
        name: "node".to_owned(),
        timeout: None,
        reads: true,
        outside: false,
        prints: Prints::Shown,
    });
    let inspection = scene(RAW, vec![process(7, "wait_woken", vec![terminal(0)])]);
    let at = |column: u16| Output { column, ..QUIET };
    let settle = |steady: &mut Steady, from: u64, output: Output| {
        steady.look(Now(from), judgement.clone(), &inspection, output);
        steady.look(Now(from + 50_000), judgement.clone(), &inspection, output)
    };
    let (waits, away) = (Step::Holds(judgement.clone()), Step::Holds(Judgement::Unknown(Why::AwayFromPrompt)));
    let mut steady = Steady::default();
    assert_eq!(settle(&mut steady, 0, at(0)), waits, "it has shown no prompt yet");
    assert_eq!(settle(&mut steady, 100_000, at(2)), waits);
    steady.begin();
    steady.submitted();
    assert_eq!(settle(&mut steady, 200_000, at(0)), away);
    assert_eq!(settle(&mut steady, 300_000, Output { alternate: true, ..at(0) }), waits, "it paints the screen");
    assert_eq!(settle(&mut steady, 400_000, at(2)), waits, "its prompt is back");
    steady.another_program();
    assert_eq!(settle(&mut steady, 500_000, at(0)), waits);
    steady.prompted(true);
    steady.submitted();
    assert_eq!(settle(&mut steady, 600_000, at(0)), away, "a prompt that was known by its looks");
    let mut steady = Steady::default();
    steady.prompted(false);
    steady.submitted();
    let own = settle(&mut steady, 0, at(0));
    assert_eq!(own, away, "the session's own program");
    // Whose only thread is seen to sleep in nothing but the terminal has an empty prompt.
    for (call, comes_to) in [
        (Call::Reads(0), &waits),
        (Call::Polls { fds: vec![0], timeout: None }, &waits),
        (Call::Polls { fds: vec![0, 4], timeout: None }, &away),
        (Call::Polls { fds: vec![0], timeout: Some(Duration::from_millis(100)) }, &away),
    ] {
        let mut one = process(7, "wait_woken", vec![terminal(0)]);
        if let Known::Known(threads) = &mut one.threads {
            threads[0].call = Known::Known(call.clone());
        }
        let inspection = scene(RAW, vec![one]);
        let mut steady = Steady::default();
        steady.prompted(true);
        steady.submitted();
        steady.look(Now(0), judgement.clone(), &inspection, at(0));
        assert_eq!(&steady.look(Now(60_000), judgement.clone(), &inspection, at(0)), comes_to, "{call:?}");
    }
}

#[test]
fn what_is_printed_without_a_line_to_work_on_comes_from_elsewhere() {
    let inspection = scene(RAW, vec![process(7, "wait_woken", vec![terminal(0)])]);
    let at = |column: u16| Output { column, ..QUIET };
    let settle = |steady: &mut Steady, from: u64, column: u16| {
        steady.begin();
        let judgement = judge(&inspection, at(column));
        steady.look(Now(from), judgement.clone(), &inspection, at(column));
        steady.look(Now(from + 60_000), judgement, &inspection, at(column))
    };
    let is_away = |step: &Step| *step == Step::Holds(Judgement::Unknown(Why::AwayFromPrompt));
    let mut steady = Steady::default();
    steady.prompted(true);
    assert!(!is_away(&settle(&mut steady, 0, 0)), "a timer has printed behind its prompt");
    steady.submitted();
    assert!(is_away(&settle(&mut steady, 100_000, 0)), "it may work on the line that it was given");
    steady.has_asked();
    assert!(!is_away(&settle(&mut steady, 200_000, 0)), "its prompt has scrolled up");
    steady.submitted();
    assert!(!is_away(&settle(&mut steady, 300_000, 2)), "its prompt");
    assert!(!is_away(&settle(&mut steady, 400_000, 0)), "a prompt that only looking tells");
}

#[test]
fn an_event_loop_that_only_a_key_wakes_waits_without_a_prompt() {
    let entry = |fd: i32, inode| Interest { fd, inode, input: true, once: false };
    let anonymous = inode(16, 1038);
    let own_pipe = inode(15, 77);
    let file = |fd: i32, inode, kind| OpenFile { fd, inode, kind };
    let comes_to = |timeout: Option<Duration>, more: Vec<OpenFile>, watched: Interest, other: Sleep, child: bool| {
        let list = vec![entry(0, PANE.inode), entry(4, anonymous), watched];
        let mut files = vec![
            terminal(0),
            file(4, anonymous, FileKind::Notifier),
            file(5, anonymous, FileKind::Epoll(Known::Known(list))),
        ];
        files.extend(more);
        let mut one = process(7, "do_epoll_wait", files);
        let call = Known::Known(Call::Epoll { fd: 5, timeout });
        let thread = |tid, sleep, call| Thread { tid, sleep, call, runs: Known::Known(1) };
        let unasked = Known::Unknown(Why::NotAsked);
        one.threads =
            Known::Known(vec![thread(7, Sleep::In("do_epoll_wait".to_owned()), call), thread(8, other, unasked)]);
        let inspection = scene(
            RAW,
            std::iter::once(one)
                .chain(child.then(|| Process { parent: 7, ..process(9, "do_wait", Vec::new()) }))
                .collect(),
        );
        let judgement = judge(&inspection, QUIET);
        let mut steady = Steady::default();
        steady.prompted(true);
        steady.submitted();
        let at = Output { column: 0, ..QUIET };
        steady.look(Now(0), judgement.clone(), &inspection, at);
        matches!(steady.look(Now(60_000), judgement, &inspection, at), Step::Holds(Judgement::Waits(_)))
    };
    let pipe = || vec![file(10, own_pipe, FileKind::Pipe), file(11, own_pipe, FileKind::Pipe)];
    let idle = || Sleep::In("futex_do_wait".to_owned());
    assert!(comes_to(None, pipe(), entry(10, own_pipe), idle(), false));
    assert!(comes_to(Some(Duration::from_millis(59_743)), pipe(), entry(10, own_pipe), idle(), false), "libev's ever");
    assert!(!comes_to(Some(Duration::from_secs(60)), pipe(), entry(10, own_pipe), idle(), false), "a timer");
    assert!(!comes_to(None, pipe(), entry(10, own_pipe), idle(), true), "a child");
    for other in [Sleep::Awake, Sleep::Untold, Sleep::In("hrtimer_nanosleep".to_owned())] {
        assert!(!comes_to(None, pipe(), entry(10, own_pipe), other.clone(), false), "{other:?}");
    }
    for (kind, number) in [
        (FileKind::Pipe, own_pipe),
        (FileKind::Socket, inode(15, 78)),
        (FileKind::Watcher, anonymous),
        (FileKind::Other, inode(15, 79)),
    ] {
        assert!(!comes_to(None, vec![file(10, number, kind.clone())], entry(10, number), idle(), false), "{kind:?}");
    }
}

#[test]
fn a_moment_of_work_between_two_polls_is_none() {
    let reader = |channel: &str, call| {
        let mut one = process(7, channel, vec![terminal(0)]);
        if let Known::Known(threads) = &mut one.threads {
            threads[0].call = Known::Known(call);
        }
        scene(RAW, vec![one])
    };
    let polls = reader("do_poll", Call::Polls { fds: vec![0, 3], timeout: Some(Duration::from_millis(100)) });
    let moment = reader("", Call::Other);
    let look = |steady: &mut Steady, ms: u64, seen: &Inspection| {
        steady.look(Now(ms * 1000), judge(seen, QUIET), seen, Output { column: 0, ..QUIET })
    };
    let idle = || {
        let mut steady = Steady::default();
        steady.prompted(true);
        steady
    };
    let again = |ms: u64| Step::Again(Now(ms * 1000));
    let waits = Step::Holds(judge(&polls, QUIET));
    // In the middle, and at the end, of the time for which it has to be seen to poll.
    let mut steady = idle();
    assert_eq!(look(&mut steady, 0, &polls), again(50));
    assert_eq!(look(&mut steady, 50, &moment), again(80));
    assert_eq!(look(&mut steady, 80, &polls), again(500));
    assert_eq!(look(&mut steady, 500, &moment), again(530));
    assert_eq!(look(&mut steady, 530, &polls), waits);
    // At the first look.
    let mut steady = idle();
    assert_eq!(look(&mut steady, 0, &moment), again(30));
    assert_eq!(look(&mut steady, 30, &polls), again(80));
    // Seen twice it is work, and at once where there is a line to work on.
    let mut steady = idle();
    look(&mut steady, 0, &moment);
    assert_eq!(look(&mut steady, 30, &moment), Step::Holds(Judgement::Works));
    steady.submitted();
    steady.begin();
    assert_eq!(look(&mut steady, 100, &moment), Step::Holds(Judgement::Works));
}

#[test]
fn a_terminal_that_was_given_back_is_read_no_more_by_what_is_left_of_an_editor() {
    let list = |once| {
        let entry = Interest { fd: 0, inode: PANE.inode, input: true, once };
        vec![terminal(0), other(5, FileKind::Epoll(Known::Known(vec![entry])))]
    };
    let settled = |steady: &mut Steady, from: u64, program: Process, modes: &Known<TerminalModes>| {
        let inspection = scene(modes.clone(), vec![program]);
        let judgement = judge(&inspection, QUIET);
        steady.begin();
        steady.look(Now(from), judgement.clone(), &inspection, QUIET);
        steady.look(Now(from + 60_000), judgement, &inspection, QUIET)
    };
    let settle = |steady: &mut Steady, from: u64, modes: &Known<TerminalModes>, channel: &str| {
        settled(steady, from, process(7, channel, list(false)), modes)
    };
    let away = Step::Holds(Judgement::Unknown(Why::AwayFromPrompt));
    let mut steady = Steady::default();
    assert_ne!(settle(&mut steady, 0, &COOKED, "ep_poll"), away, "it reads lines");
    assert_ne!(settle(&mut steady, 100_000, &RAW, "ep_poll"), away, "it reads keys");
    assert_eq!(settle(&mut steady, 200_000, &COOKED, "ep_poll"), away, "its editor is closed");
    assert_ne!(settle(&mut steady, 300_000, &COOKED, "wait_woken"), away, "it reads after all");
    let once = || process(7, "ep_poll", list(true));
    assert_ne!(settled(&mut steady, 400_000, once(), &COOKED), away, "it asks, for this one time");
    let always = Process { name: "beam.smp".to_owned(), ..once() };
    assert_eq!(settled(&mut steady, 500_000, always, &COOKED), away, "its runtime does so whether or not it asks");
    steady.another_program();
    assert_ne!(settle(&mut steady, 600_000, &COOKED, "ep_poll"), away);
}

#[test]
fn who_polls_at_its_prompt_and_reads_behind_a_line_asks() {
    let at = |column: u16| Output { column, ..QUIET };
    let program = |call: Call| {
        let mut one = process(7, "wait_woken", vec![terminal(0)]);
        let beside = Thread {
            tid: 8,
            sleep: Sleep::In("futex_do_wait".to_owned()),
            call: Known::Known(Call::Other),
            runs: Known::Known(1),
        };
        if let Known::Known(threads) = &mut one.threads {
            threads[0].call = Known::Known(call);
            threads.push(beside);
        }
        scene(RAW, vec![one])
    };
    let polls = || program(Call::Polls { fds: vec![0], timeout: Some(Duration::from_millis(100)) });
    for (prompt, comes_to_wait) in [(polls(), true), (program(Call::Reads(0)), false)] {
        let mut steady = Steady::default();
        steady.prompted(true);
        steady.glimpse(&judge(&prompt, at(4)), &prompt, at(4));
        steady.submitted();
        let asks = program(Call::Reads(0));
        let judgement = judge(&asks, at(0));
        steady.look(Now(0), judgement.clone(), &asks, at(0));
        let step = steady.look(Now(60_000), judgement, &asks, at(0));
        assert_eq!(matches!(step, Step::Holds(Judgement::Waits(_))), comes_to_wait, "{step:?}");
    }
}

#[test]
fn a_runtime_that_always_lists_the_terminal_waits_only_where_something_asks() {
    let entry = Interest { fd: 0, inode: PANE.inode, input: true, once: true };
    let list = vec![terminal(0), other(5, FileKind::Epoll(Known::Known(vec![entry])))];
    let program = |name: &str| Process { name: name.to_owned(), ..process(7, "ep_poll", list.clone()) };
    let settle = |steady: &mut Steady, from: u64, name: &str, output: Output| {
        let inspection = scene(COOKED, vec![program(name)]);
        let judgement = judge(&inspection, output);
        steady.begin();
        steady.look(Now(from), judgement.clone(), &inspection, output);
        steady.look(Now(from + 60_000), judgement, &inspection, output)
    };
    let is_busy = |step: &Step| matches!(step, Step::Holds(Judgement::Busy(_)));
    let waits = |step: &Step| matches!(step, Step::Holds(Judgement::Waits(_)));
    let silent = Output { column: 0, asks: false, ..QUIET };
    let mut steady = Steady::default();
    assert!(is_busy(&settle(&mut steady, 0, "beam.smp", silent)), "it sleeps, or starts");
    assert!(is_busy(&settle(&mut steady, 100_000, "beam.smp", Output { column: 9, ..silent })), "it counts in dots");
    assert!(waits(&settle(&mut steady, 200_000, "beam.smp", QUIET)), "it asks");
    assert!(waits(&settle(&mut steady, 300_000, "program", silent)), "another who lists the terminal reads it");
    steady.prompted(true);
    assert!(waits(&settle(&mut steady, 400_000, "beam.smp", silent)), "something was printed behind its prompt");
    steady.submitted();
    let away = Step::Holds(Judgement::Unknown(Why::AwayFromPrompt));
    assert_eq!(settle(&mut steady, 500_000, "beam.smp", silent), away, "it may work on the line that it was given");
}

#[test]
fn a_stopped_job_reads_nothing_whatever_was_typed() {
    let stopped = || Process { stopped: true, ..process(7, "do_signal_stop", vec![terminal(0)]) };
    let is_stopped = Judgement::Stopped { name: "program".to_owned() };
    for (modes, unread) in [(COOKED, 0), (COOKED, 3), (HIDDEN, 0), (HIDDEN, 3)] {
        let inspection = Inspection { unread: Known::Known(unread), ..scene(modes.clone(), vec![stopped()]) };
        assert_eq!(judge(&inspection, QUIET), is_stopped, "{modes:?} {unread}");
        let works = vec![process(7, "hrtimer_nanosleep", vec![terminal(0)])];
        let inspection = Inspection { front: Known::Known(works), ..inspection };
        assert_eq!(judge(&inspection, QUIET), Judgement::Works, "{modes:?} {unread}");
    }
}

#[test]
fn a_member_that_was_stopped_holds_up_who_waits_for_its_pipe() {
    let pipe = |fd| OpenFile { fd, inode: inode(15, 77), kind: FileKind::Pipe };
    let stopped = || Process { stopped: true, ..process(7, "do_signal_stop", vec![terminal(0), pipe(1)]) };
    let judged = |others: Vec<Process>| {
        let front = others.into_iter().map(|other| Process { group: 7, ..other }).chain([stopped()]).collect();
        judge(&scene(COOKED, front), QUIET)
    };
    let is_stopped = Judgement::Stopped { name: "program".to_owned() };
    let reader = |channel| process(8, channel, vec![pipe(0), terminal(1)]);
    assert_eq!(judged(vec![reader("anon_pipe_read")]), is_stopped, "it reads");
    assert_eq!(judged(vec![reader("pipe_write")]), is_stopped, "it writes");
    assert_eq!(judged(vec![reader("hrtimer_nanosleep")]), Judgement::Works, "it does something else meanwhile");
    assert_eq!(judged(vec![process(8, "pipe_read", vec![other(0, FileKind::Pipe)])]), Judgement::Works, "another pipe");
    assert_eq!(judged(vec![reader("pipe_read"), process(9, "futex_", vec![terminal(0)])]), Judgement::Works);
    assert_eq!(judged(vec![reader("poll_schedule_timeout")]), Judgement::Unknown(Why::Refused), "of what?");
    let polls = |fds, timeout| {
        let mut one = reader("poll_schedule_timeout");
        let call = Known::Known(Call::Polls { fds, timeout });
        one.threads = Known::Known(vec![Thread { tid: 8, sleep: Sleep::Untold, call, runs: Known::Known(1) }]);
        one
    };
    assert_eq!(judged(vec![polls(vec![0], None)]), is_stopped);
    assert_eq!(
        judged(vec![polls(vec![0], Some(Duration::from_secs(1)))]),
        Judgement::Works,
        "it does not wait for ever"
    );
    assert_eq!(judged(vec![polls(vec![5], None)]), Judgement::Works);
}

#[test]
fn who_started_a_stopped_process_may_do_more_than_to_wait() {
    let child = |id| Process { stopped: true, parent: id, ..process(9, "do_signal_stop", vec![terminal(0)]) };
    let is_stopped = Judgement::Stopped { name: "program".to_owned() };
    let judged = |parent: Process, child: Process| judge(&scene(COOKED, vec![parent, child]), QUIET);
    assert_eq!(judged(process(7, "do_wait", vec![terminal(0)]), child(7)), is_stopped);
    assert_eq!(judged(process(7, "hrtimer_nanosleep", vec![terminal(0)]), child(7)), Judgement::Works);
    let asked = |call| {
        let mut one = process(7, "", vec![terminal(0)]);
        one.threads = Known::Known(vec![Thread { tid: 7, sleep: Sleep::Untold, call, runs: Known::Known(1) }]);
        judged(one, child(7))
    };
    assert_eq!(asked(Known::Known(Call::Children)), is_stopped, "a kernel without wait channels");
    assert_eq!(asked(Known::Known(Call::Other)), Judgement::Unknown(Why::SeveralThings), "it may sleep for a while");
    // A job in the background that wanted the terminal, while the script goes on.
    let job = |parent| Process { group: 9, in_front: false, ..child(parent) };
    for (channel, comes_to) in [("do_wait", is_stopped), ("hrtimer_nanosleep", Judgement::Works)] {
        let mut inspection = scene(COOKED, vec![process(7, channel, vec![terminal(0)])]);
        inspection.below = Known::Known(vec![job(7)]);
        assert_eq!(judge(&inspection, QUIET), comes_to, "{channel}");
    }
}
