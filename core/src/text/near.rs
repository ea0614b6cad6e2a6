//! Words that a mistyped one may have meant, for errors that offer the right name.

/// The candidates nearest to `word`, best first, at most `limit`: those that differ by a third of its letters at
/// most, or that begin with it, or it with them. Case does not count.
#[must_use]
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>, limit: usize) -> Vec<&'a str> {
    let wanted: Vec<char> = folded(word);
    if wanted.is_empty() {
        return Vec::new();
    }
    let allowed = (wanted.len() / 3).max(1);
    let mut found: Vec<(usize, &'a str)> = candidates
        .into_iter()
        .filter_map(|candidate| {
            let letters = folded(candidate);
            let distance = distance(&wanted, &letters);
            let common = letters.iter().zip(&wanted).take_while(|(a, b)| a == b).count();
            let prefix = common >= 2 && (common == wanted.len() || common == letters.len());
            (distance <= allowed || prefix).then_some((distance, candidate))
        })
        .collect();
    // A stable sort keeps the candidates' own order among equals.
    found.sort_by_key(|(distance, _)| *distance);
    found.truncate(limit);
    found.into_iter().map(|(_, candidate)| candidate).collect()
}

fn folded(word: &str) -> Vec<char> {
    // Names are short; a cap keeps the quadratic comparison cheap whatever a client sends.
    word.chars().filter(|c| !matches!(c, '_' | '-' | ' ')).take(40).flat_map(char::to_lowercase).collect()
}

/// Edits that turn one word into the other; two neighbours exchanged count as one.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, y) in b.iter().enumerate() {
            let diagonal = last.get(j).copied().unwrap_or(0) + usize::from(x != y);
            let up = last.get(j + 1).copied().unwrap_or(0) + 1;
            let left = row.get(j).copied().unwrap_or(0) + 1;
            let mut best = diagonal.min(up).min(left);
            let exchanged = i > 0 && j > 0 && a.get(i - 1) == Some(y) && b.get(j - 1) == Some(x);
            if exchanged {
                best = best.min(before.get(j - 1).copied().unwrap_or(0) + 1);
            }
            row.push(best);
        }
        before = last;
        last = row;
    }
    last.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    const NAMES: [&str; 6] = ["session", "line", "timeout", "until", "last_lines", "save_to"];

    #[test]
    fn a_slip_of_the_finger_is_found() {
        assert_eq!(nearest("lien", NAMES, 1), ["line"]);
        assert_eq!(nearest("time_out", NAMES, 1), ["timeout"]);
        assert_eq!(nearest("Sesion", NAMES, 1), ["session"]);
        assert_eq!(nearest("lastlines", NAMES, 1), ["last_lines"]);
        assert_eq!(nearest("lines", NAMES, 1), ["line"]);
        assert_eq!(nearest("save", NAMES, 1), ["save_to"]);
    }

    #[test]
    fn what_is_far_is_not_offered() {
        assert!(nearest("xyzzy", NAMES, 3).is_empty());
        assert!(nearest("", NAMES, 3).is_empty());
        assert!(nearest("s", NAMES, 3).is_empty());
    }

    #[test]
    fn the_nearest_comes_first() {
        assert_eq!(nearest("pagedn", ["pageup", "pagedown", "delete"], 3), ["pageup", "pagedown"]);
    }
}
