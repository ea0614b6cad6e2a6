//! Every row fires where it is true, and not where it only looks so.

use std::collections::BTreeMap;

use super::program::{half, started};
use super::rows::ROWS;
use std::time::Duration;

use super::{Facts, Often, notes};
use crate::call::{Asks, JobEnd, Marks, Observed, Outcome, Plain, Reader, Status, Way};
use crate::region::{Kind, Place, Region, State};
use crate::session::Setting;
use crate::time::Wall;
use crate::waiting::Prints;

fn region(kind: Kind, label: &str, exit: Option<i32>, stages: &[i32]) -> Region {
    Region {
        id: 1,
        kind,
        label: label.to_owned(),
        state: if exit.is_some() { State::Finished } else { State::Running },
        exit,
        pipestatus: stages.to_vec(),
        first_line: 1,
        lines: 0,
        left: Vec::new(),
        raw_start: 0,
        raw_end: None,
        cwd: None,
        place: None,
        shell: None,
        depth: 0,
        started: Wall(0),
        ended: None,
        actor: None,
    }
}

fn at(status: Status, label: &str) -> Outcome {
    Outcome { region: Some(region(Kind::Command, label, None, &[])), ..Outcome::new(status) }
}

fn input(status: Status) -> Outcome {
    Outcome { region: Some(region(Kind::Input, ">>> if x:", None, &[])), ..Outcome::new(status) }
}

fn done(label: &str, exit: i32, stages: &[i32]) -> Outcome {
    Outcome { region: Some(region(Kind::Command, label, Some(exit), stages)), ..Outcome::new(Status::Finished) }
}

fn ok(label: &str) -> Outcome {
    done(label, 0, &[])
}

fn seen(status: Status, observed: Observed) -> Outcome {
    Outcome { observed, ..at(status, "make") }
}

fn unanswered() -> Observed {
    Observed { unanswered: true, ..Observed::default() }
}

fn silent() -> Observed {
    Observed { silent: Some(Duration::from_secs(20)), ..Observed::default() }
}

/// A `send` whose program wants this of the terminal.
fn asked(asks: Asks) -> Outcome {
    Outcome { observed: Observed { asks: Some(asks), ..Observed::default() }, ..Outcome::new(Status::Sent) }
}

/// A line whose job was stopped.
fn stopped(status: Status, label: &str) -> Outcome {
    Outcome { status, observed: Observed { stopped: Some(148), ..Observed::default() }, ..done(label, 148, &[]) }
}

fn held() -> Observed {
    Observed { held: true, ..Observed::default() }
}

fn marks(marks: Marks) -> Observed {
    Observed { marks: Some(marks), ..Observed::default() }
}

fn far() -> Observed {
    Observed { far: Some(("ssh", "user@host".to_owned())), ..Observed::default() }
}

fn hides(prints: Prints) -> Observed {
    Observed { hides: Some(Reader { name: "python3".to_owned(), pid: 1234, prints }), ..Observed::default() }
}

fn ended(count: u32) -> Observed {
    let job = |number| JobEnd { number, how: "Exit 3".to_owned(), command: "sh -c 'exit 3'".to_owned() };
    Observed { jobs: (1..=count).map(job).collect(), ..Observed::default() }
}

fn plain(shell: Option<&str>, way: Way) -> Outcome {
    let plain = Plain { place: "there".to_owned(), shell: shell.map(str::to_owned), way };
    Outcome { plain: Some(plain), ..at(Status::Prompt, "ssh there") }
}

/// A row's id, outcomes at which it is told, and outcomes at which it is not.
type Case = (&'static str, Vec<Outcome>, Vec<Outcome>);

fn cases() -> Vec<Case> {
    [moments(), prompts(), results(), habits()].into_iter().flatten().collect()
}

/// What to do now.
fn moments() -> Vec<Case> {
    use Status::{Ended, Running, Suspended, Waiting, WaitingHidden};
    let untaken = Outcome { notes: vec!["the shell has not begun".to_owned()], ..Outcome::new(Running) };
    vec![
        ("running", vec![at(Running, "make")], vec![untaken, ok("make")]),
        (
            "silent",
            vec![seen(Running, silent())],
            vec![at(Running, "make"), seen(Running, Observed { held: true, ..silent() })],
        ),
        (
            "held",
            vec![seen(Running, held()), seen(Status::Sent, held())],
            vec![at(Running, "make"), seen(Ended, held())],
        ),
        (
            "marks-later",
            vec![seen(Status::Prompt, marks(Marks::Later))],
            vec![seen(Status::Prompt, marks(Marks::Lost))],
        ),
        ("shell-inside", vec![seen(Status::Prompt, marks(Marks::Stand))], vec![at(Status::Prompt, "gdb")]),
        ("marks-lost", vec![seen(Status::Prompt, marks(Marks::Lost))], vec![at(Status::Prompt, "bash")]),
        ("far", vec![seen(Running, far())], vec![at(Running, "ssh host make")]),
        (
            "piped",
            vec![seen(Waiting, hides(Prints::Pipe(Some("tail".to_owned())))), seen(WaitingHidden, hides(Prints::File))],
            vec![at(Waiting, "x"), seen(Running, hides(Prints::Pipe(None)))],
        ),
        (
            "job-ended",
            vec![seen(Running, ended(1)), seen(Status::Finished, ended(4))],
            vec![seen(Running, ended(0)), ok("jobs")],
        ),
        (
            "waiting",
            vec![at(Waiting, "x"), asked(Asks::Shown)],
            vec![
                at(WaitingHidden, "x"),
                seen(Waiting, hides(Prints::File)),
                asked(Asks::Hidden),
                Outcome::new(Status::Sent),
            ],
        ),
        ("unanswered", vec![at(Status::Unanswered, "x")], vec![at(Status::UnansweredHidden, "x")]),
        (
            "hidden",
            vec![at(WaitingHidden, "x"), at(Status::UnansweredHidden, "x"), asked(Asks::Hidden)],
            vec![at(Waiting, "x"), asked(Asks::Shown)],
        ),
        (
            "suspended",
            vec![stopped(Suspended, "vim"), stopped(Status::Sent, "vim")],
            vec![at(Suspended, "x"), done("x", 148, &[]), at(Running, "x")],
        ),
        (
            "stopped-in-front",
            vec![at(Suspended, "x"), asked(Asks::Stopped)],
            vec![stopped(Suspended, "vim"), asked(Asks::Shown), at(Running, "x")],
        ),
    ]
}

/// The same, of prompts and screens.
fn prompts() -> Vec<Case> {
    use Status::{Continuation, Ended, Prompt, Quiet, Running, Screen};
    let left = |unsent| Outcome { unsent: Some(unsent), ..ok("a") };
    vec![
        ("continuation", vec![at(Continuation, "x"), Outcome::new(Continuation)], vec![input(Continuation)]),
        ("half-block", vec![input(Continuation)], vec![at(Continuation, "x"), input(Prompt)]),
        ("screen", vec![at(Screen, "mytool")], vec![at(Screen, "less f"), at(Running, "mytool")]),
        (
            "leave",
            vec![
                at(Screen, "less f"),
                at(Screen, "git -C x log"),
                at(Screen, "cd x && vim y"),
                at(Screen, "sudo -u ann vim y"),
                at(Screen, "X=1 env Y=2 less f"),
                at(Screen, "script -qc 'nice -n 5 top' log"),
                at(Screen, "time vim y; echo $?"),
            ],
            vec![at(Screen, "mytool"), ok("less -F f"), at(Screen, "sudo -i"), at(Screen, "top; vim x; make")],
        ),
        ("quiet", vec![at(Quiet, "x")], vec![at(Running, "x"), seen(Quiet, unanswered())]),
        ("no echo", vec![seen(Quiet, unanswered())], vec![at(Quiet, "x")]),
        ("ended", vec![at(Ended, "x")], vec![ok("x")]),
        (
            "program",
            vec![at(Prompt, "gdb")],
            vec![input(Prompt), Outcome::new(Prompt), plain(None, Way::Host), at(Prompt, "exec >log 2>&1")],
        ),
        (
            "redirected",
            vec![at(Prompt, "exec > >(tee log) 2>&1"), at(Status::Waiting, "cd x; exec 2>err")],
            vec![at(Prompt, "exec python3"), ok("exec 2>err"), at(Prompt, "gdb")],
        ),
        (
            "unshown",
            vec![Outcome { observed: Observed { unshown: true, ..Observed::default() }, ..ok("") }],
            vec![ok("stty -echo"), ok("")],
        ),
        (
            "plain-shell",
            vec![
                plain(None, Way::Host),
                plain(None, Way::Container),
                plain(Some("bash"), Way::Here),
                plain(Some("dash"), Way::Here),
            ],
            vec![at(Prompt, "gdb"), input(Prompt), ok("ssh there")],
        ),
        ("unsent", vec![left(1), left(3)], vec![left(0), ok("a")]),
    ]
}

/// What came of the line.
fn results() -> Vec<Case> {
    let failing = |label: &str| done(label, 0, &[1, 0]);
    vec![
        ("stage", vec![failing("false | cat")], vec![done("yes | head -1", 0, &[141, 0]), done("a | b", 1, &[1, 1])]),
        (
            "sigpipe",
            vec![done("yes | head -1", 0, &[141, 0])],
            vec![
                failing("false | cat"),
                done("a | b", 0, &[0, 0]),
                done("seq 1000 | nosuch", 127, &[141, 127]),
                done("seq 1000 | ./n", 126, &[141, 126]),
            ],
        ),
        (
            "or-true",
            vec![ok("make || true"), ok("make||:")],
            vec![ok("echo 'a || true'"), ok("a || b"), ok("a || true; b"), ok("true || true"), ok("echo x || :")],
        ),
        (
            "echo-status",
            vec![ok("make; echo $?"), ok("make; echo \"exit: $?\"")],
            vec![ok("echo $?"), ok("echo '; echo $?'"), ok("make && echo $?")],
        ),
        (
            "echo-done",
            vec![ok("make; echo done")],
            vec![
                ok("make && echo done"),
                ok("echo a; echo b"),
                ok("sleep 1; echo b"),
                ok("make; echo $?"),
                ok("echo 'x; echo done'"),
                ok("clear; echo one"),
                ok("vim -es +q; echo e"),
                ok("printf x; echo"),
                ok("false; bash -c \"true || echo T\""),
                ok("!!; echo x"),
            ],
        ),
        (
            "crashed",
            vec![done("./a", 139, &[]), done("./a", 134, &[])],
            vec![done("./a", 1, &[]), done("./a", 130, &[])],
        ),
        ("killed", vec![done("./a", 137, &[])], vec![done("./a", 143, &[])]),
    ]
}

/// How it could be written.
fn habits() -> Vec<Case> {
    use Status::{Running, Screen};
    vec![
        (
            "polling",
            vec![
                at(Running, "until [ -z \"$(pgrep -f make)\" ]; do sleep 1; done"),
                ok("while true; do sleep 5; ps; done"),
                ok("for h in a b; do until ping -c1 $h; do sleep 1; done; done"),
                at(Running, "while ! grep -q ready log\ndo\n  sleep 2\ndone"),
                at(Running, "while [ $(pgrep -c make) -gt 0 ]; do sleep 1; done"),
            ],
            vec![
                ok("for f in *; do echo $f; done"),
                ok("sleep 5"),
                ok("echo 'while sleep 1'"),
                ok("for i in 1 2 3; do curl -s host/$i; sleep 1; done"),
                ok("while read f; do touch $f; sleep 1; done < list"),
                ok("ls | while IFS= read -r f; do echo $f; sleep .1; done"),
                ok("while sleep 0.3; do break; done"),
                at(Running, "while true; do date; sleep 1; done"),
                ok("i=0; while [ $i -lt 3 ]; do i=$((i+1)); echo $i; sleep 1; done"),
            ],
        ),
        (
            "sleep-first",
            vec![ok("sleep 30; cat log"), ok("sleep 10 && tail log")],
            vec![
                ok("sleep 30"),
                ok("sleep 1; cat log"),
                ok("(sleep 30; x) &"),
                at(Status::Waiting, "sleep 3; read -p 'name? ' x; echo \"$x\""),
            ],
        ),
        (
            "background",
            vec![ok("nohup ./serve &"), ok("./serve > log 2>&1 &"), ok("sudo nohup ./serve"), ok("setsid -f ./serve")],
            vec![ok("a && b"), ok("make 2>&1"), ok("echo '&'"), at(Screen, "setsid -w vim x")],
        ),
        (
            "timeout",
            vec![at(Running, "timeout 30 make"), ok("cd x && timeout 5 y"), ok("time sudo timeout -k 5 60 make")],
            vec![ok("echo timeout"), ok("./timeout-test"), ok("# timeout 5 x")],
        ),
        (
            "paged",
            vec![ok("make | tail -50"), at(Running, "make 2>&1 | head"), ok("a && b | tail -n 5")],
            vec![
                ok("echo \"a | tail\""),
                ok("x | tail -n +2"),
                ok("yes | head -3"),
                ok("base64 /dev/urandom | head -c 9"),
                ok("tail -f log"),
                ok("(a | tail) && b"),
                ok("cat <<E | wc\nx | tail\nE"),
            ],
        ),
        (
            "filtered",
            vec![ok("make 2>&1 | grep error"), ok("make | stdbuf -oL grep error")],
            vec![ok("grep -r x ."), ok("a | grep -c x"), ok("echo '| grep x'"), ok("a | grep x | wc -l")],
        ),
        (
            "tee",
            vec![ok("make 2>&1 | tee log"), ok("make | tee log | cat")],
            vec![ok("tee log < x"), ok("echo '| tee'"), ok("echo x | sudo tee /etc/motd")],
        ),
        ("pager-pipe", vec![at(Screen, "git log | less")], vec![ok("less f"), ok("echo '| less'")]),
    ]
}

fn fires(id: &str, outcome: &Outcome) -> bool {
    let facts = Facts::of(outcome, "t1");
    ROWS.iter().any(|row| row.id == id && (row.when)(&facts))
}

#[test]
fn every_row_is_told_when_it_is_true_and_not_otherwise() {
    for (id, told, untold) in cases() {
        let label = |outcome: &Outcome| outcome.region.as_ref().map(|region| region.label.clone());
        for outcome in &told {
            assert!(fires(id, outcome), "{id} is not told: {:?}", label(outcome));
        }
        for outcome in &untold {
            assert!(!fires(id, outcome), "{id} is told: {:?}", label(outcome));
        }
    }
}

#[test]
fn what_stays_open_is_named() {
    for (line, named) in [
        ("python3", "python3 stays"),
        ("sudo -u ann gdb -q ./a", "gdb stays"),
        ("cd x && timeout 60 ./ask", "ask stays"),
        ("script -qc 'python3 -q' log", "python3 stays"),
        ("make shell | cat", "the program stays"),
        ("(cd x; sh y)", "the program stays"),
        ("case $x in a) ask;; esac", "the program stays"),
    ] {
        let outcome = at(Status::Prompt, line);
        let facts = Facts::of(&outcome, "t1");
        let text = started(&facts) + " stays";
        assert_eq!(text, named, "{line}");
    }
}

#[test]
fn every_row_has_both_kinds_of_case() {
    let cases: BTreeMap<&str, (usize, usize)> =
        cases().into_iter().map(|(id, told, untold)| (id, (told.len(), untold.len()))).collect();
    for row in ROWS {
        let (told, untold) = cases.get(row.id).copied().unwrap_or_default();
        assert!(told > 0 && untold > 0, "{}: {told} at which it is told, {untold} at which it is not", row.id);
    }
    assert_eq!(cases.len(), ROWS.len(), "rows and cases go by the same names");
}

#[test]
fn texts_are_short() {
    for (id, told, _) in cases() {
        for outcome in &told {
            let facts = Facts::of(outcome, "t1");
            for row in ROWS.iter().filter(|row| row.id == id) {
                let text = (row.text)(&facts);
                assert!((20..=230).contains(&text.len()), "{id}: {} bytes: {text}", text.len());
            }
        }
    }
}

#[test]
fn a_habit_is_told_once_and_few_at_a_time() {
    let setting = Setting {
        name: "t1".to_owned(),
        integrated: true,
        prompt_pattern: None,
        home: Place { host: "h".to_owned(), user: "u".to_owned(), container: None },
    };
    let mut outcome = ok("timeout 60 make 2>&1 | tee log | tail -5; echo $?");
    assert!(notes(&outcome, &setting, "b", &mut |_| true).is_empty(), "a person's line");
    if let Some(region) = &mut outcome.region {
        region.actor = Some("a".to_owned());
    }
    assert!(notes(&outcome, &setting, "b", &mut |_| true).is_empty(), "another's line");
    let mut given = std::collections::BTreeSet::new();
    let mut counts = Vec::new();
    for _ in 0..3 {
        counts.push(notes(&outcome, &setting, "a", &mut |id| given.insert(id.to_owned())).len());
    }
    assert_eq!(counts, [2, 1, 0], "{given:?}");
    assert!(ROWS.iter().any(|row| row.often == Often::Habit));
}

#[test]
fn what_is_begun_is_given_up_as_its_program_takes_it() {
    for prompt in ["... ", "   ...: ", ">", "> ", "+ ", "irb(main):009:2* ", "app-> ", "ghci| "] {
        assert!(half(prompt, None).contains("send keys=[\"ctrl+c\"] gives it up"), "{prompt:?}");
    }
    // There it ends the program, asks something, or does nothing.
    for prompt in ["php { ", "php ( ", ">> ", "|    ", "   ...> ", "    -> ", "   /*> ", "...(1)> "] {
        assert!(!half(prompt, None).contains("send keys=[\"ctrl+c\"]"), "{prompt:?}");
    }
    // Prompts that several programs have are told apart by who shows them.
    for (prompt, taker) in [(">", "dash"), (">", "octave-cli"), ("...> ", "jshell"), ("... ", "node"), ("-> ", "sml")] {
        assert_eq!(half(prompt, Some(taker)), ", or send keys=[\"ctrl+c\"] gives it up", "{prompt:?} of {taker}");
    }
    for (prompt, taker, way) in [
        (">", "gdb", "in gdb"),
        (">> ", "lua5.4", "end lua"),
        (">> ", "psql", "rows of a COPY"),
        ("   ...> ", "sqlite3", "ends the statement"),
        ("... ", "python3.11", "in python an empty line"),
    ] {
        assert!(half(prompt, Some(taker)).contains(way), "{prompt:?} of {taker}");
    }
}
