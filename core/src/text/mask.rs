//! Taking the nonce out of what is shown: a model that repeats it could forge markers by accident.

use std::borrow::Cow;

/// What stands in its place.
pub const MASKED: &str = "<nonce>";

/// `text` with every occurrence of the nonce spelled [`MASKED`], also where it is broken: at the end of a screen's row, or
/// in raw bytes that are spelled out, where a line editor has wrapped it. What broke it stays, and so does the number of
/// rows.
#[must_use]
pub fn mask<'a>(text: &'a str, nonce: &str) -> Cow<'a, str> {
    let Some(first) = nonce.chars().next() else { return Cow::Borrowed(text) };
    let mut masked = String::new();
    let mut kept = 0;
    let mut from = 0;
    while let Some(at) = text.get(from..).and_then(|rest| rest.find(first)).map(|at| from + at) {
        let rest = text.get(at..).unwrap_or_default();
        let Some((end, breaks)) = occurs(rest, nonce, false).or_else(|| occurs(rest, nonce, true)) else {
            from = at + first.len_utf8();
            continue;
        };
        masked.push_str(text.get(kept..at).unwrap_or_default());
        masked.push_str(MASKED);
        masked.push_str(&breaks);
        kept = at + end;
        from = kept;
    }
    if kept == 0 {
        return Cow::Borrowed(text);
    }
    masked.push_str(text.get(kept..).unwrap_or_default());
    Cow::Owned(masked)
}

/// Where the nonce ends with which a text begins, and what breaks it; `again` says that a character may be drawn twice where
/// it is wrapped.
fn occurs(text: &str, nonce: &str, again: bool) -> Option<(usize, String)> {
    let mut breaks = String::new();
    let mut at = 0;
    let mut before = None;
    for c in nonce.chars() {
        let rest = text.get(at..)?;
        let mut rest_at = at;
        if before.is_some() && !rest.starts_with(c) {
            let length = broken(rest);
            breaks.push_str(rest.get(..length)?);
            rest_at += length;
        } else if let Some(drawn) = before.filter(|_| again).and_then(|_| drawn_again(rest, c)) {
            // The character in the last column was drawn for the wrap, and stands again in the next row.
            breaks.push_str(rest.get(c.len_utf8()..drawn)?);
            rest_at += drawn;
        }
        if !text.get(rest_at..)?.starts_with(c) {
            return None;
        }
        at = rest_at + c.len_utf8();
        before = Some(c);
    }
    Some((at, breaks))
}

/// How long a character is that is followed by a break and by itself: readline prints the first character of the next row
/// behind the last column, returns, and prints it again.
fn drawn_again(rest: &str, c: char) -> Option<usize> {
    let behind = rest.strip_prefix(c)?;
    let length = broken(behind);
    let again = length > 0 && behind.get(..length)?.contains(RETURN) && behind.get(length..)?.starts_with(c);
    again.then_some(c.len_utf8() + length)
}

/// How a carriage return and an escape are spelled out.
const RETURN: &str = "\\x0d";
const ESCAPE: &str = "\\x1b[";

/// How long what breaks a word in two is, at the beginning of a text: line ends, and carriage returns and escape sequences
/// that are spelled out.
fn broken(text: &str) -> usize {
    let mut rest = text;
    loop {
        let after = rest.trim_start_matches(' ');
        rest = if let Some(more) = after.strip_prefix('\n').or_else(|| after.strip_prefix(RETURN)) {
            more
        } else if let Some(sequence) = rest.strip_prefix(ESCAPE) {
            let parameters = sequence.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, ';' | '?'));
            let mut last = parameters.chars();
            match last.next() {
                Some(c) if c.is_ascii_alphabetic() => last.as_str(),
                _ => return text.len() - rest.len(),
            }
        } else {
            return text.len() - rest.len();
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONCE: &str = "a98ebaf3927873f0";

    #[test]
    fn a_nonce_is_masked_whole_and_broken() {
        for (text, shown) in [
            ("x a98ebaf3927873f0a98ebaf3927873f0 y", "x <nonce><nonce> y"),
            ("=a98ebaf39278\n73f0 y\nb", "=<nonce>\n y\nb"),
            ("a98e\nbaf3927\n873f0", "<nonce>\n\n"),
            ("=a98ebaf39278   \n73f0", "=<nonce>   \n"),
            (r"=a98ebaf39278\x0d873f0\x0d", r"=<nonce>\x0d\x0d"),
            (r"=a98ebaf39278 \x0d73f0 y", r"=<nonce> \x0d y"),
            (r"=a98ebaf39278\x1b[K\x0d\x1b[1;3H73f0", r"=<nonce>\x1b[K\x0d\x1b[1;3H"),
            (r"=a98ebaf392787\x0d73f0", r"=<nonce>\x0d"),
            ("aa98ebaf3927873f0", "a<nonce>"),
        ] {
            assert_eq!(mask(text, NONCE), shown, "{text}");
        }
        for text in ["", "a", "a98ebaf3927873f", "a98ebaf3 927873f0", "a98ebaf39278\n\n8730", "plain é text"] {
            assert!(matches!(mask(text, NONCE), Cow::Borrowed(same) if same == text), "{text}");
        }
        assert_eq!(mask("text", ""), "text");
    }
}
