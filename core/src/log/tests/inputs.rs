//! Lines sent to programs, and shells that come up in them: what the stream and the records make of these.

use super::*;

/// A session with a program in it: input regions opened and closed by hand, at offsets of the stream.
fn with_inputs(records: Option<Vec<Region>>, step: usize) -> Log {
    let mut shell = Printer::new(7, "a");
    let before = shell.start() + &shell.prompt() + "gdb\r\n" + &shell.output() + "hello\r\n(gdb) ";
    let pieces = ["p 1\r\n$1 = 1\r\n(gdb) ", "p 2\r\n$2 = 2\r\n$3 = ", "", "q\r\nbye"].map(str::to_owned);
    let after = shell.end(0) + &shell.prompt();
    let mut log = Log::new(SIZE, Widths::default(), Some(nonce()));
    let live = records.is_none();
    log.expect_records(records.unwrap_or_default());
    let feed = |log: &mut Log, text: &str| text.as_bytes().chunks(step).for_each(|piece| log.feed(piece, Wall(5)));
    feed(&mut log, &before);
    for (at, piece) in pieces.iter().enumerate() {
        if live {
            log.open_input(format!("line {at}"), Wall(5));
        }
        feed(&mut log, piece);
        if live && at == 0 {
            log.close_input(Wall(6), false);
        }
    }
    feed(&mut log, &after);
    log
}

#[test]
fn input_regions_come_back_from_their_records() {
    let live = with_inputs(None, usize::MAX);
    let text = lines(&mut live.clone());
    let found: Vec<String> = live.regions().map(|region| short(region, &text)).collect();
    assert_eq!(found[1..], ["line 0|$1 = 1|-", "line 1|$2 = 2|-", "line 2||-", "line 3|bye|-"], "{text:?}");
    let records: Vec<Region> = live.regions().cloned().collect();
    for step in [usize::MAX, 1, 3, 7] {
        let again = with_inputs(Some(records.clone()), step);
        assert_eq!(again.regions().cloned().collect::<Vec<_>>(), records);
        assert_eq!(lines(&mut again.clone()), text);
    }
}

#[test]
fn memory_stays_bounded() {
    let mut log = Log::new(SIZE, Widths::default(), Some(nonce()));
    let mut text = Vec::new();
    for round in 0..3000_u32 {
        let mut shell = Printer::new(round + 1, "x");
        log.feed((shell.start() + &shell.prompt() + "bash\r\n" + &shell.output()).as_bytes(), Wall(1));
        log.cooked.take_settled(&mut text);
        while log.poll().is_some() {}
        assert!(log.regions().len() <= 1000 + 65);
    }
}

/// A program with a shell inside that goes without a marker, while it runs a command or at its prompt.
fn with_a_shell_inside(records: Option<Vec<Region>>, step: usize) -> Log {
    let (mut shell, mut inner) = (Printer::new(7, "a"), Printer::new(9, "b"));
    let before = shell.start() + &shell.prompt() + "gdb\r\n" + &shell.output() + "(gdb) shell bash\r\n";
    let inside = inner.start() + &inner.command("echo in", "in\r\n", 0);
    let leaves = inner.prompt() + "exit 3\r\n" + &inner.output() + "exit\r\n(gdb) ";
    let after = "p 1\r\n$1 = 1\r\n(gdb) q\r\n".to_owned() + &shell.end(0) + &shell.prompt();
    let mut log = Log::new(SIZE, Widths::default(), Some(nonce()));
    let live = records.is_none();
    log.expect_records(records.unwrap_or_default());
    for (text, leaves) in [(before, false), (inside + &leaves, true), (after, false)] {
        text.as_bytes().chunks(step).for_each(|piece| log.feed(piece, Wall(5)));
        if leaves && live {
            assert_eq!(log.lose_shell(9, Wall(6)), Some(1));
            assert_eq!((log.shell(), log.shell_pids().count()), (ShellState::Running(1), 1));
        }
    }
    log
}

#[test]
fn a_shell_inside_a_program_goes_without_a_marker() {
    let live = with_a_shell_inside(None, usize::MAX);
    let text = lines(&mut live.clone());
    let found: Vec<String> = live.regions().map(|region| short(region, &text)).collect();
    assert_eq!(found[1..], ["echo in|in|0", "exit 3|exit|~"], "{text:?}");
    assert_eq!(live.region(1).unwrap().exit, Some(0));
    let records: Vec<Region> = live.regions().cloned().collect();
    for step in [usize::MAX, 1, 3, 7] {
        let again = with_a_shell_inside(Some(records.clone()), step);
        assert_eq!(again.regions().cloned().collect::<Vec<_>>(), records);
        assert_eq!(lines(&mut again.clone()), text);
    }
}

#[test]
fn a_shell_that_went_from_its_prompt_takes_nothing_along() {
    let (mut shell, mut inner) = (Printer::new(7, "a"), Printer::new(9, "b"));
    let stream = shell.start() + &shell.prompt() + "gdb\r\n" + &shell.output() + "(gdb) shell bash\r\n";
    let stream = stream + &inner.start() + &inner.prompt();
    let (mut log, _) = logged(&stream);
    assert!(!log.is_past_prompt());
    log.feed(b"exit\r\n(gdb) ", Wall(5));
    assert!(log.is_past_prompt());
    log.lose_shell(9, Wall(6));
    assert_eq!((log.shell(), log.is_past_prompt(), log.regions().len()), (ShellState::Running(1), false, 1));
}
