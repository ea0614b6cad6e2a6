//! What holds for every stream.

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

/// Everything that can be seen of a view.
#[derive(Debug, PartialEq)]
struct Seen {
    settled: String,
    lines: u64,
    live: Live,
    screen: Vec<String>,
    cursor: (u16, u16),
    at_cursor: CursorLine,
    modes: Modes,
    fullscreen: Option<FullScreen>,
    offset: u64,
    input: String,
}

fn seen(view: &Cooked, settled: &[u8]) -> Seen {
    Seen {
        settled: String::from_utf8(settled.to_vec()).unwrap_or_else(|error| format!("{error}")),
        lines: view.settled_lines(),
        live: view.live(),
        screen: view.screen_rows(),
        cursor: view.cursor(),
        at_cursor: view.line_at_cursor(),
        modes: view.modes(),
        fullscreen: view.fullscreen(),
        offset: view.offset(),
        input: view.input(),
    }
}

fn view((cols, rows): (u16, u16)) -> Cooked {
    Cooked::new(Size { cols, rows }, Widths::tmux(3, 7))
}

/// Feeds everything; marks change the tag, as they do in a session.
fn feed(view: &mut Cooked, bytes: &[u8], settled: &mut Vec<u8>, marks: &mut Vec<Mark>) {
    let mut at = 0;
    while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
        let fed = view.feed(rest);
        at += fed.consumed;
        if let Some(mark) = fed.mark {
            match mark.payload.first() {
                Some(b'A') => {
                    view.clear_input();
                    view.tag(Tag::Prompt);
                }
                Some(b'B') => view.tag(Tag::Input),
                Some(b'C') => {
                    view.tag(Tag::Output);
                    view.cut();
                }
                _ => {}
            }
            marks.push(mark);
        }
        view.take_settled(settled);
    }
}

fn piece() -> impl Strategy<Value = Vec<u8>> {
    let fixed = prop::sample::select(vec![
        "\r\n",
        "\r\n",
        "\r",
        "\n",
        "\t",
        "\x08",
        "\x1b[K",
        "\x1b[2K",
        "\x1b[1K",
        "\x1b[J",
        "\x1b[2J",
        "\x1b[H",
        "\x1bM",
        "\x1b[A",
        "\x1b[3B",
        "\x1b[5C",
        "\x1b[2D",
        "\x1b[2;5r",
        "\x1b[r",
        "\x1b[4h",
        "\x1b[4l",
        "\x1b[?7l",
        "\x1b[?7h",
        "\x1b[?1049h",
        "\x1b[?1049l",
        "\x1bc",
        "\x1b#8",
        "\x1b7",
        "\x1b8",
        "\x1b[3@",
        "\x1b[3P",
        "\x1b[2L",
        "\x1b[2M",
        "\x1b[2S",
        "\x1b[2T",
        "\x1b[4X",
        "\x1b[3b",
        "\x0e",
        "\x0f",
        "\x1b)0",
        "\x1b(0",
        "\x1b(B",
        "\x1b[31m",
        "\x1b]0;title\x07",
        "\x1bkname\x1b\\",
        "\x1bPq#1~~\x1b\\",
        "\x1b]8;;http://x\x1b\\",
        "\x1b]133;A\x1b\\",
        "\x1b]133;B\x07",
        "\x1b]133;C;x\x1b\\",
        "\x1b]133;D;0\x07",
        "漢字",
        "e\u{301}",
        "👨\u{200d}👩",
        "🇫🇷",
        "👍🏽",
        "❤\u{fe0f}",
        "é",
        "─",
        "\u{85}",
    ]);
    prop_oneof![
        6 => fixed.prop_map(|text| text.as_bytes().to_vec()),
        5 => "[a-z ]{1,30}".prop_map(String::into_bytes),
        2 => vec(any::<u8>(), 1..6),
        1 => (1_usize..40, "[a-zé ]{0,12}").prop_map(|(count, line)| format!("{line}\x1b[1mx\x1b[m\r\n").repeat(count).into_bytes()),
        1 => vec("[a-zé漢 ]{0,50}", 20..60).prop_map(|lines| lines.join("\r\n").into_bytes()),
    ]
}

fn stream() -> impl Strategy<Value = Vec<u8>> {
    vec(piece(), 0..60).prop_map(|pieces| pieces.concat())
}

fn size() -> impl Strategy<Value = (u16, u16)> {
    (prop::sample::select(vec![1_u16, 2, 5, 10, 20, 80]), prop::sample::select(vec![1_u16, 2, 3, 6, 24]))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_split_changes_nothing(size in size(), bytes in stream(), cuts in vec(any::<prop::sample::Index>(), 0..12)) {
        let (mut whole, mut settled, mut marks) = (view(size), Vec::new(), Vec::new());
        feed(&mut whole, &bytes, &mut settled, &mut marks);

        let mut ends: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
        ends.push(bytes.len());
        ends.sort_unstable();
        let (mut split, mut pieces, mut found) = (view(size), Vec::new(), Vec::new());
        let mut start = 0;
        for end in ends {
            feed(&mut split, bytes.get(start..end).unwrap_or_default(), &mut pieces, &mut found);
            start = end;
        }
        prop_assert_eq!(seen(&whole, &settled), seen(&split, &pieces));
        prop_assert_eq!(&marks, &found);

        let (mut single, mut pieces, mut found) = (view(size), Vec::new(), Vec::new());
        for byte in bytes.chunks(1) {
            feed(&mut single, byte, &mut pieces, &mut found);
        }
        prop_assert_eq!(seen(&whole, &settled), seen(&single, &pieces));
        prop_assert_eq!(&marks, &found);
        for mark in &marks {
            let range = usize::try_from(mark.start).unwrap_or(0)..usize::try_from(mark.end).unwrap_or(0);
            let string = bytes.get(range).unwrap_or_default();
            prop_assert!(string.starts_with(b"\x1b") && string.len() >= mark.payload.len() + 6, "{:?}", string);
        }
    }

    #[test]
    fn lines_are_counted_and_have_no_trailing_blanks(size in size(), bytes in stream()) {
        let (mut view, mut settled) = (view(size), Vec::new());
        feed(&mut view, &bytes, &mut settled, &mut Vec::new());
        let text = String::from_utf8(settled).unwrap_or_default();
        prop_assert_eq!(text.matches('\n').count() as u64, view.settled_lines());
        prop_assert!(text.lines().all(|line| !line.ends_with(' ')), "{}", text);
        prop_assert_eq!(view.live().continues, !text.is_empty() && !text.ends_with('\n') || view.screen.settled.open);
    }

    #[test]
    fn a_restart_goes_on_where_it_was(size in size(), before in stream(), after in stream()) {
        let (mut whole, mut settled, mut marks) = (view(size), Vec::new(), Vec::new());
        feed(&mut whole, &before, &mut settled, &mut marks);
        let Some(checkpoint) = whole.checkpoint() else { return Ok(()) };
        let written = serde_json::to_string(&checkpoint).unwrap_or_default();
        let read: Checkpoint = serde_json::from_str(&written).map_err(|error| TestCaseError::fail(error.to_string()))?;
        prop_assert_eq!(read.offset(), whole.offset());
        let mut again = Cooked::restore(read).map_err(|error| TestCaseError::fail(error.to_string()))?;
        let mut rest = settled.clone();
        feed(&mut whole, &after, &mut settled, &mut marks);
        feed(&mut again, &after, &mut rest, &mut Vec::new());
        prop_assert_eq!(seen(&whole, &settled), seen(&again, &rest));
    }

    #[test]
    fn settling_at_any_point_keeps_the_text(
        size in size(),
        words in vec(prop_oneof![3 => "[a-z]{1,9}", 1 => Just("\r\n".to_owned()), 1 => Just(" ".to_owned())], 0..60),
        settle in vec(0_u8..6, 60),
    ) {
        let (mut view, mut settled) = (view(size), Vec::new());
        let mut taken = Vec::new();
        for (word, how) in words.iter().zip(settle) {
            feed(&mut view, word.as_bytes(), &mut settled, &mut Vec::new());
            match how {
                0 => { view.cut(); }
                1 => { view.settle_above(); }
                _ => {}
            }
            view.take_settled(&mut settled);
            // What was handed out stays as it was.
            prop_assert!(settled.starts_with(&taken));
            taken = settled.clone();
        }
        let mut text = String::from_utf8(settled).unwrap_or_default();
        text.extend(view.live().lines);
        let bare = |text: &str| text.replace(['\r', '\n', ' '], "");
        prop_assert_eq!(bare(&text), bare(&words.concat()));
    }

    #[test]
    fn nothing_a_pane_does_is_too_much(
        size in size(),
        steps in vec((stream(), prop_oneof![Just(None), (1_u16..100, 1_u16..50).prop_map(Some)], 0_u8..6), 0..6),
    ) {
        let (mut view, mut settled) = (view(size), Vec::new());
        for (bytes, resize, how) in steps {
            feed(&mut view, &bytes, &mut settled, &mut Vec::new());
            match how {
                0 => { view.cut(); }
                1 => { view.settle_above(); }
                2 => view.end_fullscreen(),
                _ => {}
            }
            if let Some((cols, rows)) = resize {
                view.resize(Size { cols, rows });
                prop_assert_eq!(view.size(), Size { cols, rows });
            }
            view.take_settled(&mut settled);
            let (column, row) = view.cursor();
            prop_assert!(column <= view.size().cols && row < view.size().rows);
            prop_assert_eq!(view.screen_rows().len(), usize::from(view.size().rows));
            prop_assert_eq!(settled.iter().filter(|byte| **byte == b'\n').count() as u64, view.settled_lines());
        }
    }
}

/// The size of the state, as it would be written down.
fn weight(view: &Cooked) -> usize {
    serde_json::to_string(&view.screen).map_or(0, |text| text.len())
        + serde_json::to_string(&view.parser).map_or(0, |text| text.len())
}

#[test]
fn memory_stays_flat() {
    let streams: [(&str, Vec<u8>); 6] = [
        ("an unfinished string", b"\x1b]0;xxxxxxxx".to_vec()),
        ("an unfinished mark", b"\x1b]133;".to_vec()),
        ("an unfinished picture", b"\x1bPq".to_vec()),
        ("a line without end", Vec::new()),
        ("blanks without end", b"x".to_vec()),
        ("accents without end", b"e".to_vec()),
    ];
    for (name, start) in streams {
        let mut view = view((80, 24));
        let (mut out, mut length) = (Vec::new(), 0);
        feed(&mut view, &start, &mut out, &mut Vec::new());
        let more = match name {
            "blanks without end" => " ".repeat(65_536),
            "accents without end" => "\u{301}".repeat(30_000),
            _ => "x".repeat(65_536),
        };
        for _ in 0..300 {
            feed(&mut view, more.as_bytes(), &mut out, &mut Vec::new());
            length += out.len();
            assert!(out.len() < 300_000, "{name}");
            out.clear();
        }
        assert!(weight(&view) < 200_000, "{name}: {}", weight(&view));
        assert!(length < 300 * 70_000, "{name}");
        // A string that never ended is given up in the end, and text is text again.
        feed(&mut view, b"\r\nback\r\n", &mut out, &mut Vec::new());
        assert!(view.live().lines.iter().any(|line| line.contains("back")), "{name}");
    }
}
