//! A prompt that stands behind output without a line end: `printf hi` in a plain shell gives `hi$ `, and what was typed
//! ahead of python's prompt `6+6>>> `.

use super::is_primary;
use super::shapes::{OF_PROGRAMS, fits};

/// What is known of a line that ends as the last prompt did.
#[derive(Debug, Clone, Copy)]
pub struct Behind<'a> {
    /// The prompt that this program showed last.
    pub last: &'a str,
    /// What it was given there.
    pub typed: &'a str,
    /// Whether the same process was seen to show both: another may have a prompt of its own that ends alike.
    pub same: bool,
}

/// The prompt that a line ends with behind output, where the line is not a prompt of its own: one that has changed ends
/// like the last one, too (`$ ` before `su`, `db=> ` before `\c mydb`).
#[must_use]
pub fn glued<'a>(line: &'a str, behind: Behind<'_>) -> Option<&'a str> {
    let start = ends_like(line, behind.last).filter(|start| *start > 0)?;
    let (before, prompt) = line.split_at_checked(start)?;
    if prompt.trim().is_empty() || before.trim().is_empty() {
        return None;
    }
    let bare = prompt.trim_end().chars().count() == 1;
    // lua's `>> ` behind its `> ` asks for the rest of a block.
    if bare && before.trim().chars().all(|c| prompt.starts_with(c)) {
        return None;
    }
    let own = if OF_PROGRAMS.iter().any(|shape| !shape.starts_with('{') && fits(shape, line)) {
        // It begins as no other prompt does, and as output hardly would.
        true
    } else if bare {
        // A word before the sign is what was printed, if the same process goes on.
        let word = || ["{h}> ", "{h}% "].iter().any(|shape| fits(shape, line));
        is_primary(line) && !(behind.same && word()) || behind.typed.contains(line.trim_end())
    } else {
        // The prompt's first word with what stands before it: what a new database or directory would be called.
        let end = prompt.find(|c: char| !is_of_name(c)).unwrap_or(prompt.len());
        let begin = before.rfind(|c: char| !is_of_name(c)).map_or(0, |at| at + 1);
        let name = line.get(begin..start + end).unwrap_or_default();
        end > 0 && begin < start && behind.typed.contains(name)
    };
    let sets = ["PS1", "PROMPT", "prompt"].iter().any(|word| behind.typed.contains(word));
    (!own && !sets).then_some(prompt)
}

fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/')
}

/// Where a line begins to be like the last prompt up to its end, numbers aside.
fn ends_like(line: &str, last: &str) -> Option<usize> {
    let is_digit = |c: &char| c.is_ascii_digit();
    let mut line = line.char_indices().rev().peekable();
    let mut last = last.chars().rev().peekable();
    let mut start = None;
    while let Some(wanted) = last.next() {
        let (at, found) = line.next()?;
        start = Some(at);
        if is_digit(&wanted) && is_digit(&found) {
            while last.next_if(is_digit).is_some() {}
            while let Some((at, _)) = line.next_if(|(_, c)| is_digit(c)) {
                start = Some(at);
            }
        } else if found != wanted {
            return None;
        }
    }
    start
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_behind_output_is_told_by_the_last_one() {
        for (line, last, typed, prompt) in [
            ("hi$ ", "$ ", "printf hi", "$ "),
            ("total: 50$ ", "$ ", "printf 'total: 50'", "$ "),
            ("6+6>>> ", ">>> ", "time.sleep(1)", ">>> "),
            ("hi(gdb) ", "(gdb) ", "printf \"hi\"", "(gdb) "),
            ("hioctave:13> ", "octave:9> ", "printf(\"hi\")", "octave:13> "),
            ("x> ", "> ", "cat(\"x\")", "> "),
            ("x% ", "% ", "puts -nonewline x", "% "),
            ("1scheme@(guile-user)> ", "scheme@(guile-user)> ", "(display 1)", "scheme@(guile-user)> "),
            ("{\"ok\":true}root@abc:/# ", "root@abc:/# ", "curl http://x/", "root@abc:/# "),
            ("okroot@abc:/# ", "root@abc:/# ", "curl http://x/", "root@abc:/# "),
        ] {
            let behind = Behind { last, typed, same: true };
            assert_eq!(glued(line, behind), Some(prompt), "{line:?}");
        }
    }

    #[test]
    fn a_prompt_that_has_changed_is_one_of_its_own() {
        for (line, last, typed, same) in [
            ("$ ", "$ ", "true", true),
            ("octave:13> ", "octave:9> ", "1", true),
            ("12> ", "3> ", "1.", true),
            ("  $ ", "$ ", "printf '  '", true),
            (">> ", "> ", "for i = 1, 2 do", true),
            ("me@host:~$ ", "$ ", "exec bash", true),
            ("app=# ", "# ", "psql app", false),
            ("dir$ ", "$ ", "PS1='dir$ '", true),
            ("dir$ ", "$ ", "P=PS; export ${P}1='x'; . ./prompt", true),
            ("mydb=> ", "db=> ", "\\c mydb", true),
            ("/home/tmp$ ", "tmp$ ", "cd /home/tmp", true),
            ("hi% ", "$ ", "printf hi", true),
            ("Browse[1]> ", "> ", "browser()", true),
            ("Break 1 [5]> ", "[4]> ", "(car 1)", true),
            ("$ ", "", "", true),
        ] {
            assert_eq!(glued(line, Behind { last, typed, same }), None, "{line:?}");
        }
    }
}
