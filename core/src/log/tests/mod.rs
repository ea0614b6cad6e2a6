//! The tracker over streams written out by hand: what real shells seldom print, or only once.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod inputs;

use super::*;
use crate::vt::marker::{self, Marker};

const SIZE: Size = Size { cols: 80, rows: 24 };

fn nonce() -> Nonce {
    Nonce::new("abcd1234").unwrap()
}

/// A shell as it prints.
struct Printer {
    pid: u32,
    instance: &'static str,
    host: &'static str,
    seq: u64,
}

impl Printer {
    fn new(pid: u32, instance: &'static str) -> Self {
        Self { pid, instance, host: "here", seq: 0 }
    }

    fn mark(&mut self, kind: marker::Kind, change: impl FnOnce(&mut Marker)) -> String {
        let mut marker = Marker::new(kind);
        marker.pid = self.pid;
        self.instance.clone_into(&mut marker.instance);
        if matches!(kind, marker::Kind::Prompt | marker::Kind::Output | marker::Kind::End) {
            self.seq += 1;
            marker.seq = Some(self.seq);
            marker.host = Some(self.host.to_owned());
            marker.user = Some("me".to_owned());
        }
        change(&mut marker);
        format!("\x1b]133;{}\x1b\\", marker.payload(&nonce()))
    }

    fn start(&mut self) -> String {
        self.mark(marker::Kind::End, |marker| marker.new_shell = Some("bash-5.2.15".to_owned()))
    }

    fn prompt(&mut self) -> String {
        let prompt = self.mark(marker::Kind::Prompt, |marker| {
            marker.cwd = Some("/tmp".to_owned());
            marker.hooked = Some(true);
        });
        prompt + "$ " + &self.mark(marker::Kind::Input, |_| {})
    }

    fn output(&mut self) -> String {
        self.mark(marker::Kind::Output, |_| {})
    }

    fn end(&mut self, status: i32) -> String {
        self.mark(marker::Kind::End, |marker| marker.status = Some(status))
    }

    fn idle(&mut self, status: i32) -> String {
        self.mark(marker::Kind::End, |marker| {
            marker.status = Some(status);
            marker.idle = true;
        })
    }

    /// A whole command: prompt, echo, output, end.
    fn command(&mut self, line: &str, output: &str, status: i32) -> String {
        format!("{}{line}\r\n{}{output}{}", self.prompt(), self.output(), self.end(status))
    }
}

/// The log of a stream, and the text of all its lines.
fn logged(stream: &str) -> (Log, Vec<String>) {
    let mut log = Log::new(SIZE, Widths::default(), Some(nonce()));
    log.feed(stream.as_bytes(), Wall(1));
    let lines = lines(&mut log.clone());
    (log, lines)
}

fn lines(log: &mut Log) -> Vec<String> {
    let mut settled = Vec::new();
    log.cooked.take_settled(&mut settled);
    let mut lines: Vec<String> = String::from_utf8(settled).unwrap().lines().map(str::to_owned).collect();
    lines.extend(log.cooked.live().lines);
    lines
}

/// Regions in short: label, output with line ends as `/`, status; `~` for one that is lost, `..` for one that runs.
fn regions(stream: &str) -> Vec<String> {
    let (log, lines) = logged(stream);
    log.regions().map(|region| short(region, &lines)).collect()
}

fn short(region: &Region, lines: &[String]) -> String {
    let from = usize::try_from(region.first_line - 1).unwrap();
    let output = lines.iter().skip(from).take(usize::try_from(region.lines).unwrap());
    let end = match (region.state, region.exit) {
        (State::Running, _) => "..".to_owned(),
        (State::Lost, None) => "~".to_owned(),
        (_, exit) => exit.map_or("-".to_owned(), |exit| exit.to_string()),
    };
    format!("{}|{}|{end}", region.label.replace('\n', "/"), output.cloned().collect::<Vec<_>>().join("/"))
}

#[test]
fn a_command_is_a_region() {
    let mut shell = Printer::new(7, "a");
    let stream = shell.start()
        + &shell.command("echo hi", "hi\r\n", 0)
        + &shell.command("printf abc", "abc", 3)
        + &shell.prompt();
    assert_eq!(regions(&stream), ["echo hi|hi|0", "printf abc|abc|3"]);
    let (log, lines) = logged(&stream);
    assert_eq!(lines, ["$ echo hi", "hi", "$ printf abc", "abc", "$"]);
    let first = log.region(1).unwrap();
    assert_eq!((first.first_line, first.lines, first.cwd.as_deref()), (2, 1, Some("/tmp")));
    assert_eq!(first.place, Some(Place { host: "here".to_owned(), user: "me".to_owned(), container: None }));
    assert!(matches!(log.shell(), ShellState::AtPrompt { ready: true, .. }));
}

#[test]
fn lines_that_run_nothing_make_no_region() {
    let mut shell = Printer::new(7, "a");
    let mut stream = shell.start() + &shell.command("(exit 9)", "", 9);
    for line in ["", "# comment", "abc^C"] {
        stream += &(shell.prompt() + line + "\r\n" + &shell.idle(9));
    }
    // A failed history expansion: a new prompt without an end marker.
    stream += &(shell.prompt() + "!nosuch\r\nbash: !nosuch: event not found\r\n" + &shell.prompt());
    let (mut log, _) = logged(&stream);
    assert_eq!(log.regions().len(), 1);
    let not_run: Vec<LogEvent> =
        std::iter::from_fn(|| log.poll()).filter(|event| matches!(event, LogEvent::NotRun { .. })).collect();
    assert_eq!(not_run.len(), 4);
    assert_eq!(not_run.last(), Some(&LogEvent::NotRun { status: None, first_line: 6, lines: 1 }));
}

#[test]
fn a_line_that_does_not_parse_is_a_region() {
    let mut shell = Printer::new(7, "a");
    let stream =
        shell.start() + &shell.prompt() + "echo )\r\nbash: syntax error\r\n" + &shell.idle(2) + &shell.prompt();
    assert_eq!(regions(&stream), ["echo )|bash: syntax error|2"]);
}

#[test]
fn a_start_that_got_lost_leaves_a_region() {
    let mut shell = Printer::new(7, "a");
    let stream = shell.start() + &shell.prompt() + "sleep 9\r\n^C\r\n" + &shell.end(130) + &shell.prompt();
    assert_eq!(regions(&stream), ["sleep 9|^C|130"]);
}

#[test]
fn commands_pasted_together_end_one_by_one() {
    let mut shell = Printer::new(7, "a");
    let next = |shell: &mut Printer, prev| shell.mark(marker::Kind::Output, |marker| marker.prev = Some(prev));
    let stream = shell.start()
        + &shell.prompt()
        + "echo a\r\n(exit 5)\r\necho c\r\n"
        + &next(&mut shell, 0)
        + "a\r\n"
        + &next(&mut shell, 0)
        + &next(&mut shell, 5)
        + "c\r\n"
        + &shell.end(0);
    assert_eq!(regions(&stream), ["echo a|a|0", "(exit 5)||5", "echo c|c|0"]);
}

#[test]
fn a_redrawn_prompt_is_the_same_prompt() {
    let mut shell = Printer::new(7, "a");
    let stream = shell.start() + &shell.prompt() + "ls ";
    shell.seq -= 1;
    let stream = stream + "\r\na b\r\n" + &shell.prompt() + "ls a\r\n" + &shell.output() + "a\r\n" + &shell.end(0);
    let (mut log, lines) = logged(&stream);
    assert_eq!(log.regions().map(|region| short(region, &lines)).collect::<Vec<_>>(), ["ls a|a|0"]);
    let prompts = std::iter::from_fn(|| log.poll()).filter(|event| *event == LogEvent::Prompt).count();
    assert_eq!(prompts, 1);
}

/// As fish does it where Escape is pressed in its vi mode, and bash with the last line of a prompt of several.
#[test]
fn what_is_painted_before_what_is_typed_is_no_input() {
    let mut shell = Printer::new(7, "a");
    let mut log = Log::new(SIZE, Widths::default(), Some(nonce()));
    log.feed((shell.start() + "[I] " + &shell.prompt()).as_bytes(), Wall(5));
    for (mode, typed) in [("[N]", ""), ("[I]", "ls"), ("[VISUAL]", "ls")] {
        shell.seq -= 1;
        log.feed(format!("\r{mode} {}{typed}", shell.prompt()).as_bytes(), Wall(5));
        assert_eq!(log.cooked.input(), typed, "{mode}");
    }
    log.feed(format!("\r\x1b[K$ {}l", shell.mark(marker::Kind::Input, |_| {})).as_bytes(), Wall(5));
    assert_eq!(log.cooked.input(), "l");
}

#[test]
fn a_replay_moves_nothing() {
    let mut shell = Printer::new(7, "a");
    let past = shell.start() + &shell.command("echo hi", "hi\r\n", 0) + &shell.prompt();
    let mut inner = Printer::new(8, "b");
    let nested = inner.start() + &inner.command("true", "", 0) + &inner.prompt() + "exit\r\n" + &inner.output();
    let stream = past.clone()
        + "bash\r\n"
        + &shell.output()
        + &nested
        + &shell.end(0)
        + &shell.prompt()
        + "cat log\r\n"
        + &shell.output()
        + &past
        + &nested
        + "\r\n"
        + &shell.end(0)
        + &shell.prompt();
    let found = regions(&stream);
    assert_eq!(found.len(), 5, "{found:#?}");
    assert!(found[1].starts_with("bash|") && found[1].ends_with("|0"));
    assert_eq!(found[3], "exit||~");
    assert!(found[4].starts_with("cat log|") && found[4].ends_with("|0"));
}

#[test]
fn nested_shells_close_from_inside() {
    let (mut outer, mut middle, mut inner) = (Printer::new(7, "a"), Printer::new(8, "b"), Printer::new(9, "c"));
    let stream = outer.start()
        + &outer.prompt()
        + "bash\r\n"
        + &outer.output()
        + &middle.start()
        + &middle.prompt()
        + "bash\r\n"
        + &middle.output()
        + &inner.start()
        + &inner.command("echo 3", "3\r\n", 0)
        + &inner.prompt()
        + "kill\r\n"
        + &inner.output()
        + "Killed\r\n"
        + &outer.end(137)
        + &outer.prompt();
    let (mut log, lines) = logged(&stream);
    let found: Vec<String> = log.regions().map(|region| short(region, &lines)).collect();
    assert!(found[0].ends_with("|137") && found[0].contains("3"), "{found:?}");
    assert!(found[1].starts_with("bash|") && found[1].ends_with("|~"), "{found:?}");
    assert_eq!(found[2..], ["echo 3|3|0", "kill|Killed|~"]);
    assert_eq!(log.regions().map(|region| region.depth).collect::<Vec<_>>(), [0, 1, 2, 2]);
    assert_eq!(std::iter::from_fn(|| log.poll()).filter(|event| *event == LogEvent::ShellEnded).count(), 2);
}

#[test]
fn where_the_output_ends_before_the_status_a_shell_inside_is_there_until_that() {
    let (mut outer, mut inner) = (Printer::new(7, "a"), Printer::new(8, "b"));
    inner.host = "there";
    let opened = outer.start()
        + &outer.prompt()
        + "ssh\r\n"
        + &outer.output()
        + &inner.start()
        + &inner.prompt()
        + "exit\r\n"
        + &inner.output()
        + "bye";
    let early = |outer: &mut Printer| outer.mark(marker::Kind::End, |marker| marker.early = true) + "*     \r  \r";
    let (mut log, _) = logged(&(opened + &early(&mut outer)));
    assert_eq!(log.place().unwrap().host, "there");
    assert!(log.regions().all(|region| region.state == State::Running));
    log.feed((outer.end(4) + &outer.prompt()).as_bytes(), Wall(2));
    let lines = lines(&mut log);
    let found: Vec<String> = log.regions().map(|region| short(region, &lines)).collect();
    assert_eq!(found[1], "exit|bye|~", "{found:?}");
    assert!(found[0].ends_with("|4"), "{found:?}");
    assert_eq!(log.place().unwrap().host, "here");
    // A command that begins inside after all ends where it ends.
    let first = inner.mark(marker::Kind::Output, |marker| marker.new_shell = Some("b".into()));
    let again = outer.output() + &early(&mut outer) + &first + &outer.prompt();
    log.feed(again.as_bytes(), Wall(3));
    assert!(log.regions().all(|region| region.raw_end.is_none_or(|end| end >= region.raw_start)));
}

#[test]
fn a_shell_may_show_itself_with_its_first_command() {
    let (mut outer, mut inner) = (Printer::new(7, "a"), Printer::new(8, "b"));
    let opened = outer.start() + &outer.prompt() + "bash\r\n" + &outer.output() + "in$ ";
    let mut log = Log::new(SIZE, Widths::default(), Some(nonce()));
    log.feed(opened.as_bytes(), Wall(0));
    let input = log.open_input("false".to_owned(), Wall(0));
    let first = inner.mark(marker::Kind::Output, |marker| marker.new_shell = Some("bash-5.2.15".to_owned()));
    let stream = "false\r\n".to_owned() + &first + "said\r\n" + &inner.end(1) + &inner.command("true", "", 0);
    log.feed(stream.as_bytes(), Wall(0));
    let lines = lines(&mut log);
    let found: Vec<String> = log.regions().map(|region| short(region, &lines)).collect();
    assert_eq!(found[1..], ["false||-", "false|said|1", "true||0"], "{found:?}");
    let events: Vec<LogEvent> = std::iter::from_fn(|| log.poll()).collect();
    assert!(events.contains(&LogEvent::Begun { input, command: input + 1 }), "{events:?}");
    // Nothing else begins with a command.
    let stray = Printer::new(9, "c").output();
    log.feed(stray.as_bytes(), Wall(0));
    assert_eq!(log.regions().len(), 4);
}

#[test]
fn exec_replaces_the_shell() {
    let (mut old, mut new) = (Printer::new(7, "a"), Printer::new(7, "b"));
    let stream = old.start()
        + &old.prompt()
        + "exec bash\r\n"
        + &old.output()
        + &new.start()
        + &new.command("echo n", "n\r\n", 0);
    assert_eq!(regions(&stream), ["exec bash||~", "echo n|n|0"]);
}

#[test]
fn a_prompt_ends_the_command_where_no_marker_will() {
    let mut shell = Printer::new(7, "a");
    let prompt = |shell: &mut Printer, hooked| {
        let prompt = shell.mark(marker::Kind::Prompt, |marker| (marker.hooked, marker.status) = (hooked, Some(4)));
        prompt + "$ " + &shell.mark(marker::Kind::Input, |_| {})
    };
    // The hook is known to be gone.
    let stream =
        shell.start() + &shell.prompt() + "x\r\n" + &shell.output() + "out\r\n" + &prompt(&mut shell, Some(false));
    assert_eq!(regions(&stream), ["x|out|4"]);
    // Nobody knows, and another command follows.
    let stream = shell.start()
        + &shell.prompt()
        + "x\r\n"
        + &shell.output()
        + "out\r\n"
        + &prompt(&mut shell, None)
        + "y\r\n"
        + &shell.output()
        + "more\r\n";
    let (_, lines) = logged(&stream);
    assert_eq!(regions(&stream)[0], "x|out|4");
    assert_eq!((regions(&stream)[1].as_str(), lines.last().unwrap().as_str()), ("y||..", "more"));
    // An accident: the hook is known to be there.
    let stream = shell.start()
        + &shell.prompt()
        + "x\r\n"
        + &shell.output()
        + &prompt(&mut shell, Some(true))
        + "\r\nrest\r\n"
        + &shell.end(0);
    assert_eq!(regions(&stream), ["x|$/rest|0"]);
}

#[test]
fn the_programs_end_closes_everything() {
    let mut shell = Printer::new(7, "a");
    let stream =
        shell.start() + &shell.prompt() + "exit 3\r\n" + &shell.output() + "exit\r\n\x1b]133;E;3;dt=abcd1234\x1b\\";
    let (mut log, lines) = logged(&stream);
    assert_eq!(log.regions().map(|region| short(region, &lines)).collect::<Vec<_>>(), ["exit 3|exit|3"]);
    assert_eq!((log.shell(), log.program_exit()), (ShellState::Ended, Some(3)));
    assert_eq!(std::iter::from_fn(|| log.poll()).last(), Some(LogEvent::Ended { status: Some(3) }));
    // A signal's status is the shell's and not the command's, and one within another says nothing of the inner one.
    let killed = stream.replace("133;E;3", "133;E;137");
    assert_eq!(regions(&killed), ["exit 3|exit|~"]);
    let mut inner = Printer::new(8, "b");
    let (outer, _) = stream.split_once("exit\r\n\x1b]133;E").unwrap();
    let nested = outer.to_owned()
        + &inner.start()
        + &inner.prompt()
        + "x\r\n"
        + &inner.output()
        + "\x1b]133;E;3;dt=abcd1234\x1b\\";
    assert_eq!(regions(&nested), ["exit 3|$ x|~", "x||~"]);
}

#[test]
fn without_the_nonce_nothing_is_a_marker() {
    let mut shell = Printer::new(7, "a");
    let stream = (shell.start() + &shell.command("echo hi", "hi\r\n", 0)).replace("abcd1234", "abcd1235");
    let (log, lines) = logged(&stream);
    assert_eq!((log.shell(), log.regions().len()), (ShellState::NoShell, 0));
    assert_eq!(lines, ["$ echo hi", "hi"]);
}

#[test]
fn places_are_told_as_they_change() {
    let (mut here, mut there) = (Printer::new(7, "a"), Printer::new(7, "b"));
    there.host = "there";
    let stream = here.start()
        + &here.prompt()
        + "ssh\r\n"
        + &here.output()
        + &there.start()
        + &there.command("pwd", "/\r\n", 0)
        + &here.end(0)
        + &here.prompt();
    let (mut log, _) = logged(&stream);
    let hosts: Vec<String> = std::iter::from_fn(|| log.poll())
        .filter_map(|event| if let LogEvent::Place(place) = event { Some(place.host) } else { None })
        .collect();
    assert_eq!(hosts, ["here", "there", "here"]);
    assert_eq!(log.region(2).unwrap().place.as_ref().unwrap().host, "there");
}

#[test]
fn a_shell_that_edits_several_lines_wants_the_rest() {
    let mut shell = Printer::new(7, "a");
    let mut log = Log::new(SIZE, Widths::default(), Some(nonce()));
    let feed = |log: &mut Log, text: String| log.feed(text.as_bytes(), Wall(5));
    let unfinished = |shell: &mut Printer| shell.mark(marker::Kind::Unfinished, |_| {});
    feed(&mut log, shell.start() + &shell.prompt() + "begin" + &unfinished(&mut shell));
    assert_eq!((log.shell(), log.continues_unprompted()), (ShellState::Continuation, true));
    // The prompt is painted anew with all that stands behind it.
    shell.seq -= 1;
    feed(&mut log, "\r\n    \x1b[A\r".to_owned() + &shell.prompt() + "begin\r\n    echo <");
    assert_eq!(log.shell(), ShellState::Continuation);
    feed(&mut log, unfinished(&mut shell) + "\r\n    ");
    assert_eq!(log.cooked.input_above(), 2);
    let refused = shell.mark(marker::Kind::End, |end| {
        end.idle = true;
        end.cmd = Some("begin\necho <".to_owned());
    });
    // It is painted as it was, and its marks with it.
    shell.seq -= 2;
    feed(&mut log, "\r\nno word\r\n".to_owned() + &refused);
    assert_eq!(log.leftover(), Some("begin\necho <"), "it stands there before it is painted");
    feed(&mut log, shell.prompt() + "begin\r\n    echo <");
    shell.seq += 1;
    let text = lines(&mut log.clone());
    let found: Vec<String> = log.regions().map(|region| short(region, &text)).collect();
    assert_eq!(found, ["begin/echo <|no word|-"], "{text:?}");
    assert!(matches!(log.shell(), ShellState::AtPrompt { ready: true, .. }));
    assert_eq!(log.cooked.input(), "begin\n    echo <");
    feed(&mut log, unfinished(&mut shell) + "\r\n^C\r\n");
    assert_eq!(log.leftover(), None, "its owner has corrected it");
    let given_up = shell.mark(marker::Kind::End, |end| (end.idle, end.status) = (true, Some(130)));
    while log.poll().is_some() {}
    feed(&mut log, given_up + &shell.prompt());
    let not_run = LogEvent::NotRun { status: Some(130), first_line: 7, lines: 1 };
    assert_eq!(log.poll(), Some(not_run), "{:?}", lines(&mut log.clone()));
    // A program may edit its lines as the shell does.
    feed(&mut log, "read".to_owned() + &shell.output() + "> it's" + &unfinished(&mut shell));
    assert_eq!(log.shell(), ShellState::Running(2));
}

#[test]
fn a_line_that_is_cleared_behind_its_prompt_leaves_the_prompt() {
    let mut shell = Printer::new(7, "a");
    let mut stream = shell.start() + &shell.prompt() + "abc";
    stream += &shell.mark(marker::Kind::End, |end| (end.idle, end.status) = (true, Some(130)));
    stream += &shell.mark(marker::Kind::Input, |_| {});
    stream += "\r\x1b[2C\x1b[Kecho";
    let (mut log, text) = logged(&stream);
    assert_eq!((text, log.cooked.input()), (vec!["$ echo".to_owned()], "echo".to_owned()));
    assert!(matches!(log.shell(), ShellState::AtPrompt { ready: true, .. }));
    let not_run = LogEvent::NotRun { status: Some(130), first_line: 2, lines: 0 };
    assert!(std::iter::from_fn(|| log.poll()).any(|event| event == not_run));
}
