//! Programs that the scripted bash can run: some with prompts that are known, some without, one that hides what is
//! typed, one that takes the whole screen.

use std::time::Duration;

use super::bash::Op;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Gdb,
    Python,
    /// A shell without markers whose prompt is like nothing else, and which wants the rest of a loop.
    Dash,
    /// Its line editor knows no key that clears the line, as an older reline.
    Irb,
    /// No prompt that anyone knows.
    Odd,
    Cat,
    /// A known prompt, and no echo.
    Vault,
    /// A hidden question, answered once.
    Passwd,
    /// Three questions, the last of which hides its answer.
    Quiz,
    Vi,
    /// Takes no key, ctrl+c among them.
    Deaf,
    /// A far shell whose prompt only ends as prompts do.
    Far,
    /// The same over a connection that takes what is typed and brings nothing back.
    Lost,
    /// One whose prompt is like nothing else.
    Star,
    /// The same with a line editor that asks for bracketed paste, and takes a block of lines for one text, as fish does.
    Edits,
}

/// A program that reads keys.
#[derive(Debug, Clone)]
pub(crate) struct Program {
    kind: Kind,
    line: String,
    block: bool,
    answers: Vec<String>,
}

/// What became of a key.
#[derive(Debug)]
pub(crate) struct Taken {
    pub(crate) echo: String,
    /// What the program does now, if it has something to do.
    pub(crate) ops: Option<Vec<Op>>,
    /// Whether it still reads keys.
    pub(crate) asks: bool,
}

impl Program {
    pub(crate) fn named(name: &str) -> Option<Self> {
        let kind = match name {
            "gdb" => Kind::Gdb,
            "python" => Kind::Python,
            "irb" => Kind::Irb,
            "dash" => Kind::Dash,
            "odd" => Kind::Odd,
            "cat" => Kind::Cat,
            "vault" => Kind::Vault,
            "passwd" => Kind::Passwd,
            "quiz" => Kind::Quiz,
            "vi" => Kind::Vi,
            "deaf" => Kind::Deaf,
            "far" => Kind::Far,
            "lost" => Kind::Lost,
            "star" => Kind::Star,
            "edits" => Kind::Edits,
            _ => return None,
        };
        Some(Self { kind, line: String::new(), block: false, answers: Vec::new() })
    }

    /// What it has been given of its next line.
    pub(crate) fn line_so_far(&self) -> &str {
        &self.line
    }

    pub(crate) fn greeting(&self) -> &'static str {
        match self.kind {
            Kind::Gdb => "GNU gdb 13\r\n",
            Kind::Python => "Python 3.11\r\n",
            Kind::Irb | Kind::Dash => "",
            Kind::Odd => "odd is ready\r\n",
            Kind::Cat | Kind::Vault | Kind::Passwd | Kind::Quiz | Kind::Deaf => "",
            Kind::Far | Kind::Lost | Kind::Star | Kind::Edits => "Last login: today\r\n",
            Kind::Vi => "\x1b[?1049h\x1b[2J\x1b[H~\r\n~\r\nvi",
        }
    }

    pub(crate) fn prompt(&self) -> String {
        match self.kind {
            Kind::Gdb => "(gdb) ",
            Kind::Python if self.block => "... ",
            Kind::Python => ">>> ",
            Kind::Irb => "irb(main):001:0> ",
            Kind::Dash if self.block => "> ",
            Kind::Dash => "[t] ",
            Kind::Odd => "now what",
            Kind::Far | Kind::Lost => "far 2 $ ",
            Kind::Star => "far *",
            Kind::Edits if self.block => "      ",
            Kind::Edits => "\x1b[?2004hfar *",
            Kind::Vault => "vault> ",
            Kind::Passwd => "Password: ",
            Kind::Quiz => ["Name? ", "Sure? ", "Pin: "].get(self.answers.len()).copied().unwrap_or_default(),
            Kind::Cat | Kind::Vi | Kind::Deaf => "",
        }
        .to_owned()
    }

    pub(crate) fn hides(&self) -> bool {
        matches!(self.kind, Kind::Vault | Kind::Passwd) || (self.kind == Kind::Quiz && self.answers.len() == 2)
    }

    pub(crate) fn key(&mut self, key: u8) -> Taken {
        if self.kind == Kind::Vi {
            return match key {
                b'q' => does("\x1b[?1049l".to_owned(), vec![Op::Status(0)]),
                _ => reads(format!("\x1b[H{}", char::from(key))),
            };
        }
        match key {
            _ if self.kind == Kind::Lost => reads(String::new()),
            _ if self.kind == Kind::Deaf => reads(if key == 3 { "^C\r\n".to_owned() } else { String::new() }),
            3 => does("^C\r\n".to_owned(), vec![Op::Status(130)]),
            4 if self.line.is_empty() => does(String::new(), vec![Op::Status(0)]),
            b'\r' => {
                let line = std::mem::take(&mut self.line);
                // A line break is echoed no more than the rest; who hides a line and goes on at once shows none.
                let echoed = if self.kind == Kind::Passwd { "" } else { "\r\n" };
                does(echoed.to_owned(), self.line(&line))
            }
            0x7f => {
                let shown = self.line.pop().filter(|_| !self.hides());
                reads(shown.map_or_else(String::new, |_| "\x08\x1b[K".to_owned()))
            }
            0x15 if self.kind == Kind::Irb => reads(String::new()),
            0x15 => {
                let shown = if self.hides() { 0 } else { self.line.chars().count() };
                self.line.clear();
                reads(format!("{}\x1b[K", "\x08".repeat(shown)))
            }
            _ if key < 0x20 => reads(String::new()),
            _ => {
                self.line.push(char::from(key));
                reads(if self.hides() { String::new() } else { char::from(key).to_string() })
            }
        }
    }

    fn line(&mut self, line: &str) -> Vec<Op> {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        let slow = Op::Sleep(Duration::from_secs_f64(if word == "slow" { rest.parse().unwrap_or(1.0) } else { 0.0 }));
        match self.kind {
            Kind::Quiz => {
                self.answers.push(line.to_owned());
                let [name, sure, pin] = self.answers.as_slice() else { return vec![Op::Ask] };
                vec![Op::Print(format!("{name} {sure} {}\r\n", pin.len())), Op::Status(0)]
            }
            Kind::Passwd => vec![Op::Print("changed\r\n".to_owned()), Op::Status(0)],
            Kind::Vault => match word {
                "quit" => vec![Op::Status(0)],
                _ => vec![Op::Print("kept\r\n".to_owned()), Op::Ask],
            },
            Kind::Cat => vec![Op::Print(format!("{line}\r\n")), Op::Ask],
            Kind::Python => {
                self.block = line.ends_with(':') || (self.block && !line.is_empty());
                match word {
                    "quit()" => vec![Op::Status(0)],
                    _ if self.block || line.is_empty() => vec![Op::Ask],
                    _ => vec![slow, Op::Print(format!("did {line}\r\n")), Op::Ask],
                }
            }
            Kind::Dash => {
                self.block = word == "for" || (self.block && word != "done");
                match word {
                    "quit" => vec![Op::Status(0)],
                    _ if self.block => vec![Op::Ask],
                    _ => vec![Op::Print(format!("did {line}\r\n")), Op::Ask],
                }
            }
            Kind::Edits => {
                self.block = word == "for" || (self.block && word != "end");
                match word {
                    _ if self.block => vec![Op::Ask],
                    "quit" => vec![Op::Print("\x1b[?2004l".to_owned()), Op::Status(0)],
                    "noise" => {
                        let later = Duration::from_secs_f64(rest.parse().unwrap_or(1.0));
                        vec![Op::Print("\x1b[?2004l".to_owned()), Op::Later(later, "noise\r\n".to_owned()), Op::Ask]
                    }
                    "ask" => {
                        vec![Op::Print("\x1b[?2004l\x1b[?2004hGo on? ".to_owned()), Op::Sleep(Duration::from_secs(9))]
                    }
                    _ => vec![Op::Print("\x1b[?2004l".to_owned()), slow, Op::Print(format!("did {line}\r\n")), Op::Ask],
                }
            }
            Kind::Gdb | Kind::Irb | Kind::Odd | Kind::Vi | Kind::Deaf | Kind::Far | Kind::Lost | Kind::Star => {
                match word {
                    "quit" => vec![Op::Status(0)],
                    "quotes" => vec![
                        Op::Print("On Monday\r\nyou wrote > ".to_owned()),
                        Op::Sleep(Duration::from_millis(500)),
                        Op::Print("it works\r\n".to_owned()),
                        Op::Ask,
                    ],
                    // Output that no line end follows: the next prompt stands behind it.
                    "joined" => vec![slow, Op::Print(rest.to_owned()), Op::Ask],
                    "twice" => vec![
                        Op::Print("half an ans".to_owned()),
                        Op::Sleep(Duration::from_millis(500)),
                        Op::Print("wer\r\n".to_owned()),
                        Op::Ask,
                    ],
                    _ => vec![slow, Op::Print(format!("did {line}\r\n")), Op::Ask],
                }
            }
        }
    }
}

fn reads(echo: String) -> Taken {
    Taken { echo, ops: None, asks: true }
}

fn does(echo: String, ops: Vec<Op>) -> Taken {
    Taken { echo, ops: Some(ops), asks: false }
}
