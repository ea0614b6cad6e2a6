//! What a line looks like behind which the output rests, where nobody sees who waits.

use super::waits_behind;

/// What an unterminated last line looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Looks {
    /// A prompt.
    Prompt,
    /// A question.
    Question,
    /// A question whose answer is a secret.
    Secret,
}

/// Words of questions for a secret.
const SECRETS: &[&str] =
    &["password", "passphrase", "passcode", "passwort", "mot de passe", "contraseña", "pin", "secret", "token"];

/// Characters of a question. sshd's and apt's with paths in them come to some two hundred.
const ASKED_CHARS: usize = 300;

/// What a line looks like behind which the output has rested for long, where nobody sees who waits: by its end, where
/// shells put a sign and questions a mark, a colon or the answers there are.
#[must_use]
pub fn looks_like(line: &str) -> Option<Looks> {
    let bare = line.trim_end();
    let last = bare.chars().next_back()?;
    if bare.chars().count() > ASKED_CHARS || bare.ends_with("...") {
        return None;
    }
    if matches!(last, '?' | ':') || offers_answers(bare) {
        let text = bare.to_lowercase();
        let mut words = text.split(|c: char| !c.is_alphanumeric());
        let secret =
            |secret: &&str| if secret.len() > 3 { text.contains(*secret) } else { words.any(|word| word == *secret) };
        return Some(if SECRETS.iter().any(secret) { Looks::Secret } else { Looks::Question });
    }
    // Lines, blocks and dots are what progress is drawn of.
    let drawn = matches!(last, '…' | '\u{2500}'..='\u{259f}' | '\u{2800}'..='\u{28ff}');
    let sign = matches!(last, '~' | '»') || !last.is_ascii() && !drawn;
    let share = || bare.trim_end_matches([' ', '%']).ends_with(|c: char| c.is_ascii_digit());
    let marked = waits_behind(bare) || last == '%' && !share();
    (marked || sign && bare.len() < line.len()).then_some(Looks::Prompt)
}

/// Whether a line holds nothing but what the terminal shows for keys that are no text: `^C`.
#[must_use]
pub fn is_caret_echo(line: &str) -> bool {
    let mut keys = line.trim().split('^');
    let is_key = |key: &str| matches!(key.as_bytes(), [b'?'..=b'_']);
    keys.next() == Some("") && !line.trim().is_empty() && keys.all(is_key)
}

/// Whether a line is a prompt that was shown before, numbers aside: a clock, a count, the status of the last command.
#[must_use]
pub fn is_like(shown: &str, line: &str) -> bool {
    let words = |text| str::split(text, |c: char| c.is_ascii_digit()).filter(|word| !word.is_empty());
    shown == line || words(shown).eq(words(line)) && words(line).next().is_some()
}

/// Whether a line begins with a program's prompt: the one that it showed last, which may count its lines.
#[must_use]
pub fn is_before(line: &str, last: &str) -> bool {
    let is_digit = |c: &char| c.is_ascii_digit();
    // What a line ends in has lost its blanks.
    let mut line = line.chars().chain([' ']).peekable();
    let mut last = last.chars().peekable();
    while let Some(wanted) = last.next() {
        match line.next() {
            Some(found) if is_digit(&wanted) && is_digit(&found) => {
                while last.next_if(is_digit).is_some() {}
                while line.next_if(is_digit).is_some() {}
            }
            Some(found) if found == wanted => {}
            _ => return false,
        }
    }
    true
}

/// Whether a line ends in a bracket with the answers that it takes: `[Y/n]`, `(yes/no/[fingerprint])`, `(y)`.
fn offers_answers(bare: &str) -> bool {
    let inside = match bare.chars().next_back() {
        Some(']') => bare.strip_suffix(']').and_then(|rest| rest.rsplit_once('[')),
        Some(')') => bare.strip_suffix(')').and_then(|rest| rest.rsplit_once('(')),
        _ => None,
    };
    let Some((_, inside)) = inside else { return false };
    let answers: Vec<&str> = inside.split('/').map(|answer| answer.trim_matches(['[', ']', ' '])).collect();
    let is_word = |answer: &&str| !answer.is_empty() && answer.chars().all(char::is_alphabetic);
    let lone = matches!(inside.to_lowercase().as_str(), "y" | "n" | "yes" | "no");
    lone || answers.len() > 1 && answers.iter().all(is_word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_is_the_same_with_other_numbers() {
        for (shown, line) in [("❯ ", "❯ "), ("15:07 $ ", "9:12 $ "), ("[127] ~ > ", "[0] ~ > "), ("x ", "x ")] {
            assert!(is_like(shown, line), "{shown:?} {line:?}");
        }
        for (shown, line) in [("❯ ", "> "), ("15:07 $ ", "15:07 # "), ("12", "13"), ("", "1"), ("~ $ ", "/tmp $ ")] {
            assert!(!is_like(shown, line), "{shown:?} {line:?}");
        }
    }

    #[test]
    fn a_line_that_rests_looks_like_what_it_ends_in() {
        for line in ["odd $ ", "build 7 dir> ", "❯ ", "➜  ~ ", "λ ", "dbg>", "[t] # ", "deep %", "~/x main ✗ "] {
            assert_eq!(looks_like(line), Some(Looks::Prompt), "{line:?}");
        }
        for line in [
            "Q? ",
            "Your name: ",
            "Go on? [Y/n] ",
            "continue connecting (yes/no/[fingerprint])? ",
            "Remove it (y/N) ",
            "Sure (y)",
            "login:",
            "Shipping address: ",
        ] {
            assert_eq!(looks_like(line), Some(Looks::Question), "{line:?}");
        }
        for line in
            ["[sudo] password for me: ", "me@deep's password: ", "Enter PIN:", "Passphrase for key '/x': ", "Token? "]
        {
            assert_eq!(looks_like(line), Some(Looks::Secret), "{line:?}");
        }
        for line in [
            "",
            "  ",
            "collecting ... ",
            "checking for gcc...",
            "50% ",
            "(3/10) ",
            "[12/40]",
            "working",
            "█████░░ ",
            "⠋ ",
            "/-",
        ] {
            assert_eq!(looks_like(line), None, "{line:?}");
        }
    }

    #[test]
    fn keys_that_are_no_text_ask_nothing() {
        for (line, is) in [("^C", true), ("^C^C ", true), ("^Z", true), ("^\\", true), ("^", false), ("^c", false)] {
            assert_eq!(is_caret_echo(line), is, "{line:?}");
        }
        for line in ["", "Name? ^C", "^C$ ", "C"] {
            assert!(!is_caret_echo(line), "{line:?}");
        }
    }

    #[test]
    fn a_line_begins_with_the_prompt_of_its_program() {
        for (line, last) in [
            ("> later", "> "),
            (">", "> "),
            ("(gdb) tick", "(gdb) "),
            ("irb(main):012:0> late", "irb(main):009:0> "),
            ("In [10]: x", "In [9]: "),
        ] {
            assert!(is_before(line, last), "{line} {last}");
        }
        for (line, last) in
            [("later", "> "), (">x", "> "), ("(gd", "(gdb) "), ("irb(main):x> late", "irb(main):009:0> ")]
        {
            assert!(!is_before(line, last), "{line} {last}");
        }
    }
}
