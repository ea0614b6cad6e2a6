//! The shape of a command line: its commands and what joins them, as far as advice needs it.
//!
//! Quotes, comments, here-documents and `$(...)` are passed over, so that text which only looks like a pipe is none.
//! A line that is not read to its end without doubt (an open quote, a `case`) has no shape, and nothing is said of it.

use crate::prefix::{Bare, assigns, bare};

/// How a command is joined to the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Joint {
    /// It begins the line, or a part of it in brackets or after a keyword.
    Begin,
    /// `|` or `|&`.
    Pipe,
    /// `&&`.
    And,
    /// `||`.
    Or,
    /// `;`, a line break, or `&` before it.
    Then,
}

/// One simple command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Command {
    pub(super) joint: Joint,
    /// Its words without quotes, redirections and leading assignments; keywords of the shell come apart, and so does what
    /// stands before the program (`sudo`, `env`, `timeout 5`).
    pub(super) words: Vec<String>,
    /// What stands before the program, each with its options.
    pub(super) prefixes: Vec<String>,
    /// `&` follows.
    pub(super) background: bool,
    /// How many brackets and compound commands it is inside of.
    pub(super) depth: usize,
    /// How many of those are loops.
    pub(super) loops: usize,
    /// Whether one of those goes round until something is so: a `while` or `until` that reads no lines.
    pub(super) polls: bool,
}

impl Command {
    /// The program's name, without its folder.
    pub(super) fn name(&self) -> &str {
        let word = self.words.first().map_or("", String::as_str);
        word.rsplit('/').next().unwrap_or(word)
    }

    /// Whether one of these stands before the program.
    pub(super) fn is_behind(&self, names: &[&str]) -> bool {
        let name =
            |prefix: &String| prefix.split(' ').next().and_then(|first| first.rsplit('/').next().map(str::to_owned));
        self.prefixes.iter().filter_map(name).any(|name| names.contains(&name.as_str()))
    }

    /// Its arguments.
    pub(super) fn arguments(&self) -> impl Iterator<Item = &str> {
        self.words.iter().skip(1).map(String::as_str)
    }

    /// Whether it has one of these single letters among its options.
    pub(super) fn has_option(&self, letters: &[char]) -> bool {
        self.arguments().any(|word| word.starts_with('-') && !word.starts_with("--") && word.contains(letters))
    }
}

const OPENERS: &[&str] = &["if", "while", "until", "for", "select", "{"];
const CLOSERS: &[&str] = &["fi", "done", "}"];
const BETWEEN: &[&str] = &["then", "else", "elif", "do", "!", "time"];

/// The commands of a line; none where its shape is in doubt.
pub(super) fn commands(text: &str) -> Option<Vec<Command>> {
    let mut reader = Reader { rest: text.chars().collect(), at: 0, here: Vec::new() };
    let mut parts = Parts::default();
    while let Some(token) = reader.token()? {
        parts.take(token)?;
    }
    parts.end(Joint::Begin, false);
    parts.open.is_empty().then_some(parts.commands)
}

/// The last command of a line that a command is handed as a word (`script -c LINE`).
fn last(line: &str) -> Option<Bare> {
    let Command { prefixes, words, .. } = commands(line)?.pop()?;
    Some(Bare { prefixes, words })
}

/// What is open around a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Around {
    /// A bracket, or what is gone through once.
    Once,
    /// A loop over words or lines.
    Each,
    /// A loop until something is so.
    Until,
}

enum Token {
    Word(String),
    /// An operator that joins: what it makes of the next command, and whether the one before it runs beside it.
    Joint(Joint, bool),
    Open,
    Close,
}

#[derive(Default)]
struct Parts {
    commands: Vec<Command>,
    words: Vec<String>,
    joint: Option<Joint>,
    open: Vec<Around>,
    /// The words of a `for` up to its `do` are no command.
    names: bool,
    /// `time` stands before.
    timed: bool,
}

impl Parts {
    fn take(&mut self, token: Token) -> Option<()> {
        match token {
            Token::Word(word) => return self.word(word),
            Token::Joint(joint, background) => self.end(joint, background),
            Token::Open => {
                // A function's brackets, or an array's: not read any further.
                if !self.words.is_empty() {
                    return None;
                }
                self.open.push(Around::Once);
                self.joint = Some(Joint::Begin);
            }
            Token::Close => {
                self.end(Joint::Then, false);
                self.open.pop()?;
            }
        }
        Some(())
    }

    fn word(&mut self, word: String) -> Option<()> {
        if self.words.is_empty() {
            match word.as_str() {
                "case" | "function" | "[[" | "coproc" => return None,
                opener if OPENERS.contains(&opener) => {
                    self.open.push(match opener {
                        "while" | "until" => Around::Until,
                        "for" => Around::Each,
                        _ => Around::Once,
                    });
                    self.names = matches!(opener, "for" | "select");
                    self.joint = Some(Joint::Begin);
                    return Some(());
                }
                closer if CLOSERS.contains(&closer) => {
                    self.joint = Some(Joint::Then);
                    return self.open.pop().map(|_| ());
                }
                between if BETWEEN.contains(&between) => {
                    (self.names, self.timed) = (false, between == "time");
                    return Some(());
                }
                // The shell's own `time` takes this alone.
                "-p" if self.timed => return Some(()),
                assignment if assigns(assignment) => return Some(()),
                _ => {}
            }
        }
        // History expansion, also within double quotes: what it stands for is not known here.
        if word.len() > 1 && word.starts_with('!') && word != "!=" {
            return None;
        }
        self.words.push(word);
        Some(())
    }

    fn end(&mut self, joint: Joint, background: bool) {
        let words = std::mem::take(&mut self.words);
        self.timed = false;
        let before = self.joint.replace(joint).unwrap_or(Joint::Begin);
        if words.is_empty() || std::mem::take(&mut self.names) {
            if let Some(last) = self.commands.last_mut().filter(|_| background) {
                last.background = true;
            }
            return;
        }
        let reads = words.first().is_some_and(|word| word == "read");
        if let Some(around) = self.open.last_mut().filter(|around| **around == Around::Until && reads) {
            *around = Around::Each;
        }
        let loops = self.open.iter().filter(|around| **around != Around::Once).count();
        let polls = self.open.contains(&Around::Until);
        let Bare { prefixes, words } = bare(&words, &last);
        let depth = self.open.len();
        self.commands.push(Command { joint: before, words, prefixes, background, depth, loops, polls });
    }
}

struct Reader {
    rest: Vec<char>,
    at: usize,
    /// The ends of the here-documents that begin after this line, and whether tabs before them count for nothing.
    here: Vec<(String, bool)>,
}

impl Reader {
    fn peek(&self, ahead: usize) -> Option<char> {
        self.rest.get(self.at + ahead).copied()
    }

    fn follows(&self, text: &str) -> bool {
        text.chars().enumerate().all(|(ahead, c)| self.peek(ahead) == Some(c))
    }

    fn joint(&mut self, length: usize, joint: Joint, background: bool) -> Token {
        self.at += length;
        Token::Joint(joint, background)
    }

    /// The next token; nothing at the end, and no answer where the line is in doubt.
    fn token(&mut self) -> Option<Option<Token>> {
        loop {
            let Some(c) = self.peek(0) else { return Some(None) };
            let token = match c {
                ' ' | '\t' => {
                    self.at += 1;
                    continue;
                }
                '\n' => {
                    self.at += 1;
                    self.skip_here()?;
                    Token::Joint(Joint::Then, false)
                }
                '#' => {
                    while self.peek(0).is_some_and(|c| c != '\n') {
                        self.at += 1;
                    }
                    continue;
                }
                '&' if self.follows("&>") => {
                    self.redirect()?;
                    continue;
                }
                '<' | '>' if self.peek(1) != Some('(') => {
                    self.redirect()?;
                    continue;
                }
                '&' if self.follows("&&") => self.joint(2, Joint::And, false),
                '&' => self.joint(1, Joint::Then, true),
                '|' if self.follows("||") => self.joint(2, Joint::Or, false),
                '|' if self.follows("|&") => self.joint(2, Joint::Pipe, false),
                '|' => self.joint(1, Joint::Pipe, false),
                ';' if self.follows(";;") => return None,
                ';' => self.joint(1, Joint::Then, false),
                '(' | ')' => {
                    self.at += 1;
                    if c == '(' { Token::Open } else { Token::Close }
                }
                _ => {
                    let word = self.word()?;
                    // The number before a redirection is no word.
                    let number = !word.is_empty() && word.chars().all(|c| c.is_ascii_digit());
                    if number && matches!(self.peek(0), Some('<' | '>')) {
                        continue;
                    }
                    Token::Word(word)
                }
            };
            return Some(Some(token));
        }
    }

    /// Passes over a redirection and its target.
    fn redirect(&mut self) -> Option<()> {
        let here = self.follows("<<") && self.peek(2) != Some('<');
        let tabs = self.follows("<<-");
        while matches!(self.peek(0), Some('<' | '>' | '&' | '|')) || (tabs && self.peek(0) == Some('-')) {
            self.at += 1;
        }
        while matches!(self.peek(0), Some(' ' | '\t')) {
            self.at += 1;
        }
        let target = self.word()?;
        if here {
            self.here.push((target, tabs));
        }
        Some(())
    }

    fn skip_here(&mut self) -> Option<()> {
        for (end, tabs) in std::mem::take(&mut self.here) {
            loop {
                self.peek(0)?;
                let from = self.at;
                while self.peek(0).is_some_and(|c| c != '\n') {
                    self.at += 1;
                }
                let line: String = self.rest.get(from..self.at)?.iter().collect();
                self.at += 1;
                if line == end || (tabs && line.trim_start_matches('\t') == end) {
                    break;
                }
            }
        }
        Some(())
    }

    /// A word, its quotes taken off.
    fn word(&mut self) -> Option<String> {
        let mut word = String::new();
        while let Some(c) = self.peek(0) {
            match c {
                ' ' | '\t' | '\n' | '|' | '&' | ';' | ')' => break,
                '<' | '>' if self.peek(1) != Some('(') || !word.is_empty() => break,
                '(' if word.ends_with('=') => return None,
                '(' => break,
                '<' | '>' => self.substitution(&mut word, 1)?,
                '$' if self.peek(1) == Some('(') => self.substitution(&mut word, 1)?,
                '`' => self.backquoted(&mut word)?,
                '\\' => {
                    word.extend(self.peek(1).filter(|c| *c != '\n'));
                    self.at += 2;
                }
                '\'' => {
                    self.at += 1;
                    while self.peek(0)? != '\'' {
                        word.extend(self.peek(0));
                        self.at += 1;
                    }
                    self.at += 1;
                }
                '"' => self.quoted(&mut word)?,
                c => {
                    word.push(c);
                    self.at += 1;
                }
            }
        }
        Some(word)
    }

    fn quoted(&mut self, word: &mut String) -> Option<()> {
        self.at += 1;
        loop {
            match self.peek(0)? {
                '"' => break,
                '\\' => {
                    word.extend(self.peek(1));
                    self.at += 2;
                }
                '$' if self.peek(1) == Some('(') => self.substitution(word, 1)?,
                '`' => self.backquoted(word)?,
                c => {
                    word.push(c);
                    self.at += 1;
                }
            }
        }
        self.at += 1;
        Some(())
    }

    /// Takes a `$(...)` or `<(...)` as it stands.
    fn substitution(&mut self, word: &mut String, before: usize) -> Option<()> {
        let from = self.at;
        self.at += before + 1;
        let mut depth = 1;
        while depth > 0 {
            match self.peek(0)? {
                '(' => depth += 1,
                ')' => depth -= 1,
                '\\' => self.at += 1,
                '\'' => {
                    self.at += 1;
                    while self.peek(0)? != '\'' {
                        self.at += 1;
                    }
                }
                '"' => {
                    self.quoted(&mut String::new())?;
                    continue;
                }
                _ => {}
            }
            self.at += 1;
        }
        word.extend(self.rest.get(from..self.at)?);
        Some(())
    }

    fn backquoted(&mut self, word: &mut String) -> Option<()> {
        word.push('`');
        self.at += 1;
        while self.peek(0)? != '`' {
            let escaped = self.peek(0) == Some('\\');
            word.extend(self.peek(0));
            self.at += 1 + usize::from(escaped);
        }
        word.push('`');
        self.at += 1;
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(text: &str) -> String {
        let Some(commands) = commands(text) else { return "?".to_owned() };
        let mut shown = String::new();
        for command in &commands {
            shown += match command.joint {
                Joint::Begin => "",
                Joint::Pipe => " | ",
                Joint::And => " && ",
                Joint::Or => " || ",
                Joint::Then => " ; ",
            };
            shown.push_str(&"(".repeat(command.depth));
            shown.push_str(&command.prefixes.iter().map(|prefix| format!("{prefix}>")).collect::<String>());
            shown.push_str(&command.words.join("_"));
            shown += if command.background { " &" } else { "" };
        }
        shown
    }

    #[test]
    fn lines_and_their_shapes() {
        for (text, want) in [
            ("make 2>&1 | tail -5", "make | tail_-5"),
            ("echo \"a | tail\"", "echo_a | tail"),
            ("echo 'a | tail' # | head", "echo_a | tail"),
            ("a\\|b | c", "a|b | c"),
            ("X=1 Y=$(a | b) make &> log", "make"),
            ("cat <<EOF | wc\na | tail\nEOF\nls", "cat | wc ; ls"),
            ("cat <<-'E'\n\tx | tail\n\tE", "cat"),
            ("cat <<< \"x | y\" | z", "cat | z"),
            ("a && b || true", "a && b || true"),
            ("sleep 1 & b &", "sleep_1 & ; b &"),
            ("(a; b) | c", "(a ; (b | c"),
            ("until [ -z \"$(pgrep -f x)\" ]; do sleep 1; done", "([_-z_$(pgrep -f x)_] ; (sleep_1"),
            ("for i in 1 2; do echo $i | tail; done", " ; (echo_$i | (tail"),
            ("if a; then b; else c; fi; d", "(a ; (b ; (c ; d"),
            ("diff <(a | b) <(c)", "diff_<(a | b)_<(c)"),
            ("echo `a | b` \"`c | d`\"", "echo_`a | b`_`c | d`"),
            ("echo \"open | tail", "?"),
            ("case x in a|b) ;; esac", "?"),
            ("f() { a | tail; }", "?"),
            ("cat <<EOF\nno end | tail", "?"),
            ("echo $((1 | 2))", "echo_$((1 | 2))"),
            ("time -p make; time (a | b)", "make(a | (b"),
            ("sudo -u ann X=1 vim f | nice -n 5 tail -3", "sudo -u ann X=1>vim_f | nice -n 5>tail_-3"),
            ("script -qc 'cd x && \"python3\" -q' log", "script>python3_-q"),
            ("", ""),
        ] {
            assert_eq!(shape(text), want, "{text}");
        }
    }
}
