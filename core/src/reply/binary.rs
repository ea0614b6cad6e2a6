//! Output that is no text: a terminal shows a replacement character for each byte that is none of UTF-8.

/// Replacement characters below which output is text with a few letters of another encoding in it.
const LEAST: usize = 8;

/// One character in so many is one in output that is no text.
const SHARE: usize = 10;

/// The note on output that is no UTF-8 text, as far as the reply shows it.
pub(super) fn note(output: &[String]) -> Option<String> {
    let (mut replaced, mut all) = (0, 0);
    for c in output.iter().flat_map(|line| line.chars()) {
        all += 1;
        replaced += usize::from(c == char::REPLACEMENT_CHARACTER);
    }
    (replaced >= LEAST && replaced * SHARE >= all).then(|| {
        "the output is no UTF-8 text, and bytes of it are lost here: `| xxd | head` shows data as bytes, file tells what a file is, and `| iconv -f latin1` converts text of that encoding".to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_is_told_from_text() {
        let lines =
            |bytes: &[u8]| -> Vec<String> { String::from_utf8_lossy(bytes).lines().map(str::to_owned).collect() };
        let program: Vec<u8> = (0_u8..=255).filter(|byte| !(7..14).contains(byte)).cycle().take(600).collect();
        assert!(note(&lines(&program)).is_some());
        assert!(note(&lines(b"\xf0\xd2\xc9\xd7\xc5\xd4 \xcd\xc9\xd2 \xcb\xcf\xc9-8")).is_some(), "another encoding");
        for text in ["", "plain text\nof two lines", "Grüße, 世界, ✓", "a \u{fffd} here"] {
            assert_eq!(note(&lines(text.as_bytes())), None, "{text:?}");
        }
        let few = b"Stra\xdfe, Gr\xfc\xdfe, sch\xf6n, \xfcber und \xe4hnliche W\xf6rter stehen in einem Text, der sonst zu lesen ist.";
        assert_eq!(note(&lines(few)), None, "some letters of latin-1");
    }
}
