//! Prompts that can be told by their looks.
//!
//! Where a shell prints no markers, and for programs such as gdb or python, an unterminated last line that looks like
//! a prompt is taken for one. How much it takes to look like one depends on what is at stake: while a command of an
//! integrated shell runs, its end will be known for certain, so only whole lines of well-known shapes count.

mod glued;
mod looks;
mod shapes;

pub use glued::{Behind as Glued, glued};
pub use looks::{Looks, is_before, is_caret_echo, is_like, looks_like};

use crate::pattern::Pattern;
use shapes::{CONTINUATION, OF_PROGRAMS, OF_SHELLS, OF_WAITERS, ZSH_STATES, fits};

/// What is known about the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Setting {
    /// A command runs in an integrated shell.
    Integrated,
    /// A plain shell, or a program started without one.
    Plain,
    /// What a command of an integrated shell leads to on a far side: another shell as a rule, and what that runs.
    Far,
}

/// What a prompt asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// Something new.
    Primary,
    /// The rest of what was typed.
    Continuation,
}

/// The endings that make a line a prompt in a plain shell, and the prompts behind which `> ` is a shell's PS2.
const PLAIN: &[&str] = &["$ ", "# ", "% ", "> "];

/// Characters of a prompt that is told by its last one. Prompts with a path in them come to some fifty.
const WAITED_CHARS: usize = 80;

/// Whether an unterminated last line, up to the cursor and with its trailing blanks, is a prompt.
///
/// `pattern` is the session's or the call's own and counts anywhere in the line. `last` is the primary prompt that
/// this program showed last: a continuation prompt is one only after it.
#[must_use]
pub fn matches(line: &str, pattern: Option<&Pattern>, setting: Setting, last: Option<&str>) -> Option<Shape> {
    if last.is_some_and(|last| continues(line, last)) {
        return Some(Shape::Continuation);
    }
    // A pattern that runs out of steps has not matched; the caller that took it has told its author already.
    if pattern.is_some_and(|pattern| pattern.is_match(line).unwrap_or(false)) {
        return Some(Shape::Primary);
    }
    let ends = match setting {
        Setting::Integrated => false,
        Setting::Plain => PLAIN.iter().any(|ending| line.ends_with(ending)),
        Setting::Far => ends_a_far_prompt(line, last),
    };
    (ends || is_primary(line)).then_some(Shape::Primary)
}

/// Whether an unterminated last line is the prompt of a program that was seen to wait for input: then the last character
/// is enough, for it stands where shells and interpreters put one and questions do not.
#[must_use]
pub fn waits_behind(line: &str) -> bool {
    let bare = line.trim_end_matches(' ');
    let mut ends = bare.chars().rev();
    let marked = match ends.next() {
        Some('>' | '$' | '#') => true,
        // A share of something done is none.
        Some('%') => ends.next().is_some_and(|before| !before.is_ascii_digit() && before != ' '),
        _ => false,
    };
    marked && !bare.contains('?') && bare.chars().count() <= WAITED_CHARS
}

/// Whether a line is a prompt of a program that was seen to wait for input.
#[must_use]
pub fn is_waiters(line: &str) -> bool {
    waits_behind(line) || OF_WAITERS.iter().any(|shape| fits(shape, line))
}

/// How many blanks a program has put behind its continuation prompt by itself, to indent what is typed there.
///
/// `last` is the primary prompt that this program showed last.
#[must_use]
pub fn indented_by(line: &str, last: Option<&str>) -> Option<usize> {
    let bare = line.trim_end_matches(' ');
    let blanks = line.len() - bare.len();
    last.filter(|last| blanks > 1 && !continues_exactly(line, last) && continues(line, last)).map(|_| blanks - 1)
}

/// The primary prompt that a line begins with: what a program showed before the line was typed behind it.
#[must_use]
pub fn leading(line: &str) -> Option<&str> {
    let ends = line.match_indices(' ').map(|(at, blank)| at + blank.len());
    ends.filter_map(|end| line.get(..end)).find(|start| is_primary(start))
}

/// The continuation prompt that a line begins with, behind which something stands; `last` is the primary prompt that
/// was shown last.
#[must_use]
pub fn continuing<'a>(line: &'a str, last: &str) -> Option<&'a str> {
    let ends = line.match_indices(' ').map(|(at, blank)| at + blank.len());
    ends.filter_map(|end| line.get(..end)).find(|start| continues_exactly(start, last))
}

/// Whether a line ends as the prompt of a far shell does. `% ` and `> ` stand in output as well, in progress and in
/// quotations, so they count only where the last prompt ended so, or none has been shown yet.
fn ends_a_far_prompt(line: &str, last: Option<&str>) -> bool {
    let Some(ending) = PLAIN.iter().find(|ending| line.ends_with(**ending)) else { return false };
    let before = line.trim_end_matches(*ending).rsplit(' ').next().unwrap_or_default();
    let number = before.ends_with(|c: char| c.is_ascii_digit()) && *ending == "% ";
    let usual = matches!(*ending, "$ " | "# ");
    usual || (!number && last.is_none_or(|last| last.ends_with(ending)))
}

fn is_primary(line: &str) -> bool {
    // A virtual environment puts its name before the prompt.
    let bare = line.strip_prefix('(').and_then(|rest| rest.split_once(") ")).map(|(_, rest)| rest);
    let all = || OF_SHELLS.iter().chain(OF_PROGRAMS);
    [Some(line), bare].into_iter().flatten().any(|line| all().any(|shape| fits(shape, line)))
}

/// Whether a prompt is one that programs show and shells mostly do not.
#[must_use]
pub fn is_programs(line: &str) -> bool {
    let any = |shapes: &[&str]| shapes.iter().any(|shape| fits(shape, line));
    any(OF_PROGRAMS) && !any(OF_SHELLS)
}

/// An editor that indents the next line by itself puts more blanks behind its continuation prompt.
fn continues(line: &str, last: &str) -> bool {
    continues_exactly(line, last)
        || line.ends_with("  ") && continues_exactly(&format!("{} ", line.trim_end_matches(' ')), last)
}

fn continues_exactly(line: &str, last: &str) -> bool {
    let after = |(primary, continuation): &(&[&str], &[&str])| {
        primary.iter().any(|shape| fits(shape, last)) && continuation.iter().any(|shape| fits(shape, line))
    };
    let signed = || looks_like(last) == Some(Looks::Prompt) && !last.ends_with("> ");
    let usual = last.ends_with("$ ") || last.ends_with("# ");
    let shell = line == "> " && last.len() > 1 && (usual || signed() && !is_programs(last));
    shell || continues_zsh(line) && !is_programs(last) || CONTINUATION.iter().any(after)
}

/// Whether a line is what shells mostly want the rest of a command behind, whatever their own prompt looks like.
#[must_use]
pub fn continues_any_shell(line: &str) -> bool {
    line == "> " || continues_zsh(line)
}

/// Whether a line is zsh's continuation prompt: it tells what is open, from the outermost in.
fn continues_zsh(line: &str) -> bool {
    line.strip_suffix("> ").is_some_and(|open| open.split(' ').all(|state| ZSH_STATES.contains(&state)))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::Setting::{Far, Integrated, Plain};
    use super::*;

    #[test]
    fn programs_prompts_are_told_from_shells() {
        for line in ["(gdb) ", ">>> ", "In [12]: ", "sqlite> ", "app=# ", "MariaDB [(none)]> "] {
            assert!(is_programs(line), "{line}");
        }
        for line in ["$ ", "# ", "> ", "me@box:~$ ", "me@box ~> ", "/tmp # ", "bash-5.2$ ", "❯ ", ""] {
            assert!(!is_programs(line), "{line}");
        }
    }

    #[test]
    fn knows_whole_prompts() {
        for line in [
            "$ ",
            "# ",
            "> ",
            "(gdb) ",
            "(arm-none-eabi-gdb) ",
            ">>> ",
            "In [12]: ",
            "sqlite> ",
            "mysql> ",
            "MariaDB [(none)]> ",
            "app=> ",
            "app=# ",
            "app=*# ",
            "app=!> ",
            "irb(main):001:0> ",
            "irb(main):001> ",
            "[1] pry(main)> ",
            "iex(1)> ",
            "1> ",
            "php > ",
            "ftp> ",
            "127.0.0.1:6379> ",
            "root@vm:~# ",
            "me@host:/tmp/a b$ ",
            "[me@host dir]$ ",
            "(venv) me@host:~$ ",
            "me@host:~/x (main)$ ",
            "bash-5.2$ ",
            "sh-5.1# ",
            "/ # ",
            "/etc # ",
            "vm% ",
            "me@host ~> ",
            "(Pdb) ",
            "ghci> ",
            "php > ",
            "?- ",
            "  DB<12> ",
            "scheme@(guile-user)> ",
            "scheme@(guile-user) [1]> ",
            "redis /run/redis.sock> ",
            "127.0.0.1:6379(TX)> ",
            "Command (m for help): ",
            "Browse[1]> ",
        ] {
            assert_eq!(matches(line, None, Integrated, None), Some(Shape::Primary), "{line:?}");
        }
    }

    #[test]
    fn leaves_output_alone() {
        for line in [
            "collecting ... ",
            "50% ",
            " 50% ",
            "Really? ",
            "",
            " ",
            "...",
            "[y/N] ",
            "Password: ",
            "$",
            "total: 5 $ ",
            "see #",
            "12 > ",
            "a -> b> ",
            "<b> ",
            "(y/n) ",
            "(gdb)",
            "user me@host wrote $ ",
            "... ",
            "continue? (yes) ",
            "cost 5$ ",
        ] {
            assert_eq!(matches(line, None, Integrated, None), None, "{line:?}");
        }
    }

    #[test]
    fn a_plain_shell_needs_less() {
        for line in ["total: 5 $ ", "50% ", "a -> b> ", "host dir # "] {
            assert_eq!(matches(line, None, Plain, None), Some(Shape::Primary), "{line:?}");
        }
        for line in ["collecting ... ", "Really? ", "$", "", "50%"] {
            assert_eq!(matches(line, None, Plain, None), None, "{line:?}");
        }
    }

    #[test]
    fn a_far_shell_keeps_to_its_prompt() {
        for (last, line, is) in [
            (None, "build7 dir % ", true),
            (None, "dir> ", true),
            (Some("dir $ "), "other dir $ ", true),
            (Some("dir $ "), "dir # ", true),
            (Some("dir % "), "other dir % ", true),
            (Some("dir $ "), "fetching 50 % ", false),
            (Some("dir $ "), "on Monday X wrote:> ", false),
            (Some("dir % "), "fetching 50% ", false),
            (Some("dir $ "), "me@build7 ~> ", true),
            (None, "Really? ", false),
            (None, "Last login: today", false),
        ] {
            assert_eq!(matches(line, None, Far, last), is.then_some(Shape::Primary), "{last:?} {line:?}");
        }
    }

    #[test]
    fn continuations_need_their_primary() {
        for (last, line) in [
            (">>> ", "... "),
            ("In [3]: ", "   ...: "),
            ("sqlite> ", "   ...> "),
            ("mysql> ", "    -> "),
            ("MariaDB [(none)]> ", "   /*> "),
            ("app=> ", "app-> "),
            ("app=# ", "app(# "),
            ("app=# ", "app@# "),
            ("app=*# ", "app-*# "),
            ("app=!> ", "app'!> "),
            ("app=*> ", ">> "),
            ("(gdb) ", ">"),
            ("irb(main):001:0> ", "irb(main):002:1* "),
            ("> ", "... "),
            ("$ ", "> "),
            ("root@vm:~# ", "> "),
            ("vm% ", "dquote> "),
            ("~ ➜ ", "for if> "),
            ("me@vm ~> ", "heredoc> "),
            ("❯ ", "> "),
            ("odd $ ", "> "),
            (">>> ", "...     "),
            ("In [3]: ", "   ...:         "),
            ("irb(main):001:0> ", "irb(main):002:1*   "),
            ("[2] pry(main)> ", "[2] pry(main)*   "),
            ("gnuplot> ", ">"),
            ("(lldb) ", "  1: "),
            ("php > ", "php { "),
            ("?- ", "|    "),
            ("ghci> ", "ghci| "),
            ("(Pdb) ", "(com) "),
            ("octave:3> ", "> "),
        ] {
            for setting in [Integrated, Plain] {
                assert_eq!(matches(line, None, setting, Some(last)), Some(Shape::Continuation), "{last:?} {line:?}");
            }
        }
        for (last, line) in [
            ("(gdb) ", "... "),
            (">>> ", "   ...> "),
            ("sqlite> ", "quote> me> "),
            ("sqlite> ", "... "),
            ("(gdb) ", "50% "),
        ] {
            assert_eq!(matches(line, None, Integrated, Some(last)), None, "{last:?} {line:?}");
        }
    }

    #[test]
    fn finds_the_continuation_before_a_line() {
        assert_eq!(continuing("> abc def", "me@vm:~$ "), Some("> "));
        assert_eq!(continuing("quote> abc", "❯ "), Some("quote> "));
        assert_eq!(continuing("    -> from", "mysql> "), Some("    -> "));
        for line in ["", ">", "a > b", "me@vm:~$ ls"] {
            assert_eq!(continuing(line, "me@vm:~$ "), None, "{line:?}");
        }
    }

    #[test]
    fn who_waits_shows_a_prompt_by_its_last_character() {
        for line in ["gdb>>", "db postgres =# ", "[t] $ ", "vm%", "redis /a b.sock> ", "λ> "] {
            assert!(waits_behind(line), "{line:?}");
        }
        for line in ["* ", "0] ", "main[1] ", "? "] {
            assert!(!waits_behind(line) && is_waiters(line), "{line:?}");
        }
        for line in ["Sure? ", "n? ", "** ", "[1/2] ", "a [y] ", "1]", "How many [4] "] {
            assert!(!is_waiters(line), "{line:?}");
        }
        for line in ["", "Sure? ", "name: ", "[y/N] ", "Go on? (y) > ", "50% ", "50 % ", "my dbg: ", "~~~"] {
            assert!(!waits_behind(line), "{line:?}");
        }
    }

    #[test]
    fn tells_the_blanks_that_an_editor_adds() {
        for (last, line, blanks) in [
            (Some(">>> "), "...     ", Some(4)),
            (Some(">>> "), "... ", None),
            (Some("In [3]: "), "   ...:     ", Some(4)),
            (Some("sqlite> "), "   ...> ", None),
            (Some("?- "), "|    ", None),
            (Some("(gdb) "), "...     ", None),
            (None, "...     ", None),
        ] {
            assert_eq!(indented_by(line, last), blanks, "{last:?} {line:?}");
        }
    }

    #[test]
    fn finds_the_prompt_before_a_line() {
        for (line, prompt) in [
            (">>> if x:", Some(">>> ")),
            ("(gdb) print 1 > 0", Some("(gdb) ")),
            ("me@host:~/a b$ ls", Some("me@host:~/a b$ ")),
            ("... y", None),
            ("", None),
        ] {
            assert_eq!(leading(line), prompt, "{line:?}");
        }
    }

    #[test]
    fn takes_the_given_pattern() {
        let pattern = Pattern::new(r"^acme \d+\? $").unwrap();
        assert_eq!(matches("acme 7? ", Some(&pattern), Integrated, None), Some(Shape::Primary));
        assert_eq!(matches("acme? ", Some(&pattern), Integrated, None), None);
        assert_eq!(matches(">>> ", Some(&pattern), Integrated, None), Some(Shape::Primary));
    }
}
