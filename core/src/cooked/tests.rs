//! What the cooked view makes of small streams.

use super::*;

fn view(cols: u16, rows: u16) -> Cooked {
    Cooked::new(Size { cols, rows }, Widths::tmux(3, 7))
}

/// Feeds all of it and returns the marks.
fn feed(view: &mut Cooked, bytes: &[u8]) -> Vec<Mark> {
    let mut marks = Vec::new();
    let mut at = 0;
    while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
        let fed = view.feed(rest);
        at += fed.consumed;
        marks.extend(fed.mark);
    }
    marks
}

fn settled(view: &mut Cooked) -> String {
    let mut out = Vec::new();
    view.take_settled(&mut out);
    String::from_utf8_lossy(&out).into_owned()
}

#[test]
fn a_cut_ends_the_line_and_the_prompt_begins_another() {
    let mut view = view(80, 24);
    feed(&mut view, b"abc");
    assert_eq!(view.cut(), 1);
    feed(&mut view, b"$ ");
    assert_eq!(settled(&mut view), "abc\n");
    assert_eq!(view.live().lines, ["$"]);
    assert_eq!(view.line_at_cursor(), CursorLine { text: "$ ".into(), more: false });
    // A line editor that thinks it is at the first column paints over what is settled.
    feed(&mut view, b"\r$ ls\x1b[K\r\n");
    assert_eq!(view.live().lines, ["$ ls"]);
}

#[test]
fn a_right_prompt_is_no_text_behind_the_cursor() {
    for (bytes, more) in [
        // As zsh draws it, and with text that comes up to it.
        (&b"vm% \x1b[K\x1b[28C15:07\x1b[33D"[..], false),
        (b"vm% \x1b[K\x1b[28C15:07\x1b[37G", true),
        (b"vm% echo 1 2 3 4 5 6 7 8 9 10 11\x1b[4D", true),
        (b"vm% ls\x1b[2D", true),
        (b"vm%    ls\x1b[5D", true),
    ] {
        let mut view = view(40, 5);
        feed(&mut view, bytes);
        assert_eq!(view.line_at_cursor().more, more, "{:?}", String::from_utf8_lossy(bytes));
    }
}

#[test]
fn a_cut_at_the_first_column_adds_no_line() {
    let mut view = view(80, 24);
    assert_eq!(view.cut(), 0);
    feed(&mut view, b"one\r\ntwo\r\n");
    assert_eq!(view.cut(), 2);
    assert_eq!(view.cut(), 2);
    assert_eq!(settled(&mut view), "one\ntwo\n");
    feed(&mut view, b"\r\nthree");
    assert_eq!(view.live().lines, ["", "three"]);
}

#[test]
fn a_cut_behind_a_full_row_leaves_the_next_line_whole() {
    let mut view = view(4, 3);
    feed(&mut view, b"abcd");
    assert_eq!(view.cut(), 1);
    feed(&mut view, b"ef\r\n");
    assert_eq!(settled(&mut view), "abcd\n");
    assert_eq!(view.live().lines, ["ef"]);
}

#[test]
fn settled_rows_that_are_painted_over_make_new_lines() {
    let mut view = view(20, 5);
    feed(&mut view, b"one\r\ntwo\r\n");
    view.cut();
    feed(&mut view, b"\x1b[2A\x1b[2CE\x1b[2B\r");
    assert_eq!(settled(&mut view), "one\ntwo\n");
    assert_eq!(view.live().lines, ["E"]);
}

#[test]
fn settled_rows_that_are_painted_again_as_they_were_make_none() {
    let mut view = view(20, 9);
    feed(&mut view, b"\r\none\r\ntwo\r\n");
    view.settle_above();
    // Over itself, and after it was erased, as editors of several lines do for every key.
    feed(&mut view, b"\x1b[2Aone\r\ntwo\r\n\x1b[2A\x1b[Jone\r\n\x1b[32mtwo\x1b[m  \r\nthree");
    assert_eq!(settled(&mut view), "\none\ntwo\n");
    assert_eq!(view.live().lines, ["three"]);
    feed(&mut view, b"\r\n");
    assert_eq!(view.settle_above(), 4);
    feed(&mut view, b"\x1b[3A\x1b[Jone\r\n2\r\nthree\r\n");
    assert_eq!(view.live().lines, ["2"]);
    view.settle_above();
    assert_eq!(settled(&mut view), "three\n2\n");
    // It is compared with what stood there last.
    feed(&mut view, b"\x1b[2A\x1b[Jtwo\r\nthree\r\n");
    assert_eq!(view.live().lines, ["two"]);
}

#[test]
fn lines_above_the_cursors_are_settled_and_its_own_is_not() {
    let mut view = view(4, 5);
    feed(&mut view, b"one\r\nabcdef");
    assert_eq!(view.settle_above(), 1);
    assert_eq!(settled(&mut view), "one\n");
    assert_eq!(view.live().lines, ["abcdef"]);
}

#[test]
fn an_endless_line_leaves_in_pieces() {
    let mut view = view(4, 2);
    feed(&mut view, b"abcdefghijkl");
    assert_eq!(settled(&mut view), "abcd");
    assert_eq!(view.settled_lines(), 0);
    let live = view.live();
    assert!(live.continues);
    assert_eq!(live.lines, ["efghijkl"]);
    feed(&mut view, b"\r\n\r\n\r\n");
    assert_eq!(settled(&mut view), "efghijkl\n\n");
}

#[test]
fn blanks_before_the_end_of_a_row_are_kept_and_those_at_the_end_of_the_line_are_not() {
    let mut view = view(4, 2);
    feed(&mut view, b"ab  cd      \r\n\r\n\r\n\r\n");
    assert!(settled(&mut view).starts_with("ab  cd\n"));
}

#[test]
fn blanks_before_a_cut_are_no_text_whatever_stands_behind_it() {
    let mut view = view(5, 4);
    feed(&mut view, "\r\néx\x1b[H".as_bytes());
    feed(&mut view, b"ab    ");
    view.cut();
    assert_eq!(settled(&mut view), "ab\n");
}

#[test]
fn half_a_wide_character_leaves_no_blank_at_the_end() {
    let mut view = view(2, 1);
    feed(&mut view, "漢字\x1b[2D\x1b[1K\r\n".as_bytes());
    assert_eq!(settled(&mut view), "漢\n");
}

#[test]
fn marks_are_found_with_exact_offsets_however_they_end() {
    let mut view = view(80, 24);
    let marks = feed(&mut view, b"ab\x1b]133;A\x07cd\x1b]133;C;x=1\x1b\\ef\x1b]8;;u\x1b\\");
    assert_eq!(
        marks,
        [Mark { payload: b"A".to_vec(), start: 2, end: 10 }, Mark { payload: b"C;x=1".to_vec(), start: 12, end: 25 },]
    );
    assert_eq!(view.live().lines, ["abcdef"]);
}

#[test]
fn the_typed_command_is_what_stands_after_editing() {
    let mut view = view(10, 6);
    view.tag(Tag::Prompt);
    feed(&mut view, b"$ ");
    view.clear_input();
    view.tag(Tag::Input);
    // Typed with a mistake, wrapped, then a character deleted and one inserted.
    feed(&mut view, b"  echo xhello");
    feed(&mut view, b"\x1b[A\x1b[10G\x1b[P\x1b[1@y\x1b[B");
    assert_eq!(view.input(), "  echo yhello");
    feed(&mut view, b"\r\n");
    view.tag(Tag::Prompt);
    feed(&mut view, b"> ");
    view.tag(Tag::Input);
    feed(&mut view, b"\r\n");
    view.tag(Tag::Prompt);
    feed(&mut view, b"> ");
    view.tag(Tag::Input);
    feed(&mut view, b"b\r\n");
    view.tag(Tag::Output);
    assert!(view.input().ends_with("\nb"), "{:?}", view.input());
    feed(&mut view, b"out\r\n1\r\n2\r\n3\r\n4\r\n5\r\n");
    assert_eq!(view.input().lines().next(), Some("  echo yhello"));
    view.clear_input();
    assert_eq!(view.input(), "");
}

#[test]
fn the_alternate_screen_leaves_one_line() {
    let mut view = view(20, 4);
    feed(&mut view, b"before\r\n\x1b[?1049h\x1b[Hpicture");
    assert_eq!(view.fullscreen(), Some(FullScreen::AlternateScreen));
    assert_eq!(settled(&mut view), "before\n[full-screen program]\n");
    feed(&mut view, b"\r\n\r\n\r\n\r\n\r\n\x1b[?1049l");
    assert_eq!(view.fullscreen(), None);
    feed(&mut view, b"after\r\n");
    assert_eq!(view.live().lines, ["after"]);
    assert_eq!(view.screen_rows(), ["before", "after", "", ""]);
}

#[test]
fn a_killed_full_screen_program_does_not_hide_what_follows() {
    let mut view = view(20, 4);
    feed(&mut view, b"before\r\n\x1b[?1049h\x1b[?1h\x1b[2;3r\x1b)0\x0epicture");
    view.end_fullscreen();
    view.cut();
    feed(&mut view, b"lqk\r\n");
    assert_eq!(settled(&mut view), "before\n[full-screen program]\n");
    assert_eq!(view.live().lines, ["lqk"]);
    assert_eq!(view.modes(), Modes::default());
}

#[test]
fn a_loop_that_paints_over_itself_is_a_picture() {
    let mut view = view(20, 6);
    feed(&mut view, b"before\r\n\x1b[H\x1b[2J");
    for frame in 0..5 {
        feed(&mut view, format!("\x1b[Hframe {frame}\x1b[K\r\nrow\x1b[K\r\n\x1b[J").as_bytes());
    }
    assert_eq!(view.fullscreen(), Some(FullScreen::Painted));
    assert_eq!(settled(&mut view), "before\n[full-screen program]\n");
    view.cut();
    assert_eq!(view.fullscreen(), None);
    feed(&mut view, b"$ \r\n  indented\r\n");
    assert_eq!(view.live().lines, ["$", "  indented"]);
}

#[test]
fn a_program_that_takes_over_the_keys_is_a_picture_at_once() {
    let mut view = view(20, 6);
    feed(&mut view, b"before\r\n\x1b[?1h\x1b=\x1b[?25l\x1b[H\x1b[2Jtop - 1\r\ntasks");
    assert_eq!(view.fullscreen(), Some(FullScreen::Painted));
    assert_eq!(settled(&mut view), "before\n[full-screen program]\n");
    // It leaves by scrolling the last row away.
    feed(&mut view, b"\x1b[?1l\x1b>\x1b[?25h\x1b[6;1H\r\n$ ");
    assert_eq!(view.fullscreen(), None);
    assert_eq!(view.live().lines, ["$"]);
}

#[test]
fn what_curses_paints_without_another_screen_is_a_picture_at_once() {
    // As seen of dialog, of watch, of nano on a Linux console, of htop and a program of python's on a vt100.
    for (begins, ends) in [
        ("\x1b[H\x1b[J\x1b[?1h\x1b=      \x1b[2;1H  box", "\x1b[6;1H\x1b[?1l\x1b>"),
        ("\x1b[1;6r\x1b[H\x1b[JEvery 1.0s\x1b[3;1Hnow", "\x1b[6;1H\r\n"),
        ("\x1b[?2004h\x1b[?25l\x1b[H\x1b[J\x1b[5;3H[ Reading ]", "\x1b[?25h\x1b[?2004l\x1b[6;1H\r\n"),
        ("\x1b[1;6r\x1b[?1h\x1b=\x1b[H\x1b[J\x1b[1B 0[||]", "\x1b[6;1H\x1b[?1l\x1b>"),
    ] {
        let mut view = view(20, 6);
        feed(&mut view, format!("before\r\n{begins}").as_bytes());
        assert_eq!(view.fullscreen(), Some(FullScreen::Painted), "{begins:?}");
        feed(&mut view, b"\x1b[4;1Hmore\x1b[2;3Hand more");
        assert_eq!(settled(&mut view), "before\n[full-screen program]\n", "{begins:?}");
        feed(&mut view, format!("{ends}$ ").as_bytes());
        assert_eq!(view.fullscreen(), None, "{ends:?}");
        assert_eq!(view.live().lines, ["$"], "{ends:?}");
    }
}

#[test]
fn clearing_and_moving_alone_are_no_picture() {
    for printed in [
        // A menu of a script, which asks for a line.
        "\x1b[H\x1b[2J\x1b[3;4HMENU\x1b[5;4Hchoice: ",
        // A line editor, at ctrl+l.
        "\x1b[?2004h\x1b[?1h\x1b=\x1b[H\x1b[J$ \r\n% ",
        // Progress over two rows, after the screen was cleared.
        "\x1b[H\x1b[2J\x1b[?25lone\r\ntwo\x1b[1A\rOne\x1b[1B\rTwo",
        // A progress bar below a scroll region.
        "\x1b7\x1b[0;5r\x1b8\x1b[1A\x1b7\x1b[6;1f50%\x1b8unpacking",
    ] {
        let mut view = view(20, 6);
        feed(&mut view, printed.as_bytes());
        assert_eq!(view.fullscreen(), None, "{printed:?}");
    }
}

#[test]
fn clearing_the_screen_keeps_its_lines() {
    let mut view = view(20, 6);
    feed(&mut view, b"one\r\ntwo\x1b[H\x1b[J");
    assert_eq!(settled(&mut view), "one\ntwo\n");
    feed(&mut view, b"three\x1bcfour");
    assert_eq!(settled(&mut view), "three\n");
    assert_eq!(view.live().lines, ["four"]);
}

#[test]
fn widths_follow_the_tmux_at_hand() {
    let column = |widths: Widths, text: &str| {
        let mut view = Cooked::new(Size { cols: 80, rows: 4 }, widths);
        feed(&mut view, text.as_bytes());
        view.cursor().0
    };
    let (family, flags) = ("👨\u{200d}👩\u{200d}👧", "🇫🇷🇩🇪");
    for (minor, thumb, heart, two_flags) in [(3, 4, 1, 4), (4, 2, 2, 2), (6, 4, 2, 2), (7, 2, 2, 4)] {
        let widths = Widths::tmux(3, minor);
        assert_eq!(column(widths, "👍🏽"), thumb, "3.{minor}");
        assert_eq!(column(widths, "❤\u{fe0f}"), heart, "3.{minor}");
        assert_eq!(column(widths, flags), two_flags, "3.{minor}");
        assert_eq!(column(widths, family), 2, "3.{minor}");
        assert_eq!(column(widths, "e\u{301}"), 1, "3.{minor}");
        assert_eq!(column(widths, "a\u{ad}b"), 3, "3.{minor}");
    }
}

#[test]
fn lines_taken_at_once_do_not_end_one_that_goes_on() {
    // The lower half of a wrapped line is pushed off the screen, and what scrolls in is its continuation.
    let stream = |lines: usize| [b"1\r\n2\r\nabcdefgh\x1b[H\x1bM\x1b[4B".to_vec(), b"\r\n".repeat(lines)].concat();
    let mut whole = view(4, 4);
    feed(&mut whole, &stream(40));
    let mut single = view(4, 4);
    for byte in stream(40).chunks(1) {
        feed(&mut single, byte);
    }
    assert_eq!(settled(&mut whole), settled(&mut single));
}

#[test]
fn who_paints_by_lines_within_a_scroll_region_and_goes_home_has_the_screen() {
    // As joe begins, which has bracketed paste on and the cursor shown.
    let begins =
        b"$ joe f\r\n\x1b[H\x1b[J\x1b[?2004h\x1b[1;4r\x1b[Hf  Row 1\r\none\x1b[K\r\n\x1b[K\r\nJoe's\x1b[K\x1b[H";
    let mut joe = view(20, 4);
    feed(&mut joe, begins);
    assert_eq!(joe.fullscreen(), Some(FullScreen::Painted));
    assert_eq!(settled(&mut joe), "$ joe f\n[full-screen program]\n");
    // As jpico does.
    let mut pico = view(20, 5);
    feed(&mut pico, b"\x1b[H\x1b[J\x1b[1;5r\x1b[H\x1b[2T^K cut\r\nf  Row 1\r\none\x1b[K\n\x1b[KJoe's\r\x1b[3d");
    assert_eq!(pico.fullscreen(), Some(FullScreen::Painted));
    // What was there before a command cleared the screen is none, nor is a scroll region without a picture.
    for lines in [&b"\x1b[H\x1b[Jone\r\ntwo\r\n\x1b[H"[..], b"\x1b[H\x1b[J\x1b[1;4r\x1b[H", b"\x1b[1;3r\x1b[Hone\x1b[H"]
    {
        let mut other = view(20, 4);
        feed(&mut other, lines);
        assert_eq!(other.fullscreen(), None, "{:?}", String::from_utf8_lossy(lines));
    }
}
