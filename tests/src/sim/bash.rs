//! A scripted bash: takes keys, echoes them as readline does, runs a handful of commands, and prints the markers that
//! the integration prints. Time is handed in.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use dtmcp_core::time::Now;
use dtmcp_core::vt::marker::{Kind as Mark, Marker, Nonce};

use super::keys::Keys;
use super::program::{Program, Taken};

/// From a key to what it makes the terminal print.
const LATENCY: Duration = Duration::from_micros(300);

/// The nonce of every scripted session.
pub const NONCE: &str = "5eed5eed5eed5eed";

/// What a session starts with.
#[derive(Debug, Clone)]
pub enum Start {
    /// bash with the integration, whose startup files take this long.
    Bash(Duration),
    /// bash with the integration, one of whose startup files runs this.
    Startup(String),
    /// A shell without markers.
    Plain,
    /// A program, in place of a shell.
    Program(String),
}

/// What a command does next.
#[derive(Debug, Clone)]
pub(crate) enum Op {
    Print(String),
    Sleep(Duration),
    Status(i32),
    Program(Program),
    /// The program shows its prompt and takes keys.
    Ask,
    Nested,
    /// Prints the text that much later, from the background.
    Later(Duration, String),
    Exit,
    /// Asks the terminal, whose answer is typed that much later.
    Query(Duration),
    /// Loads the integration, if the file is there.
    Load,
}

#[derive(Debug, Clone)]
struct Job {
    id: u32,
    ops: VecDeque<Op>,
    status: i32,
    program: Option<Program>,
    asks: bool,
}

#[derive(Debug, Clone)]
struct Shell {
    pid: u32,
    marks: bool,
    seq: u64,
    told: bool,
    status: i32,
    line: String,
    /// The lines before a continuation.
    before: String,
    job: Option<Job>,
}

#[derive(Debug, Clone)]
enum Due {
    Keys(Vec<u8>),
    Go(u32),
    Print(String),
    Prompt,
    Paint,
    Ahead,
    End,
}

/// The scripted terminal.
#[derive(Debug, Clone)]
pub struct Bash {
    nonce: Option<Nonce>,
    shells: Vec<Shell>,
    next: u32,
    due: BTreeMap<(Now, u64), Due>,
    order: u64,
    /// Keys typed while nothing reads them.
    pub(super) ahead: Vec<u8>,
    out: Vec<u8>,
    now: Now,
    ended: bool,
    escape: Escape,
    /// Every line that a shell or a program has taken, in order.
    pub taken: Vec<String>,
    /// Whether the files of the integration are there.
    pub installed: bool,
    /// The host that shells say they are on.
    pub host: String,
    /// How long its prompt commands take.
    pub prompts: Duration,
    /// They run: the terminal echoes what is typed meanwhile.
    painting: bool,
    /// How long after its prompt the line editor, or a program, reads what was typed ahead.
    pub editor: Duration,
    /// It has not yet.
    unread: bool,
    /// What its line editor takes keys for.
    pub keys_are: Keys,
}

/// Where in an escape sequence the keys are: readline knows the arrows, and so nothing of them is text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Escape {
    No,
    Begun,
    Inside,
}

impl Bash {
    /// Starts what the session runs.
    #[must_use]
    pub fn start(now: Now, start: &Start) -> Self {
        Self::with_nonce(now, start, NONCE)
    }

    /// As [`Self::start`], with the nonce of a session that has one of its own.
    #[must_use]
    pub fn with_nonce(now: Now, start: &Start, nonce: &str) -> Self {
        let mut bash = Self {
            nonce: Nonce::new(nonce),
            shells: Vec::new(),
            next: 100,
            due: BTreeMap::new(),
            order: 0,
            ahead: Vec::new(),
            out: Vec::new(),
            now,
            ended: false,
            escape: Escape::No,
            taken: Vec::new(),
            installed: false,
            host: "vm".to_owned(),
            prompts: Duration::ZERO,
            painting: false,
            editor: Duration::ZERO,
            unread: false,
            keys_are: Keys::Text,
        };
        bash.push_shell(matches!(start, Start::Bash(_) | Start::Startup(_)));
        match start {
            Start::Bash(startup) => bash.at(now + *startup, Due::Prompt),
            Start::Plain => bash.at(now + LATENCY, Due::Prompt),
            Start::Startup(name) | Start::Program(name) => {
                bash.begin(VecDeque::from(parse(name)));
            }
        }
        bash
    }

    /// Whether its outermost program has ended.
    #[must_use]
    pub fn ended(&self) -> bool {
        self.ended
    }

    /// Whether a program reads keys and shows none of them.
    #[must_use]
    pub fn hides(&self) -> bool {
        let job = self.shells.last().and_then(|shell| shell.job.as_ref()).filter(|job| job.asks);
        job.and_then(|job| job.program.as_ref()).is_some_and(Program::hides)
    }

    /// What has been typed and not submitted, whether anything reads it yet or not.
    #[must_use]
    pub fn unsubmitted(&self) -> String {
        let line = self.shells.last().map_or("", |shell| {
            shell.job.as_ref().map_or(&*shell.line, |job| job.program.as_ref().map_or("", Program::line_so_far))
        });
        format!("{line}{}", String::from_utf8_lossy(&self.ahead))
    }

    /// Types: keys of whoever it may be.
    pub fn keys(&mut self, now: Now, keys: &[u8]) {
        self.at(now + LATENCY, Due::Keys(keys.to_vec()));
    }

    /// Prints something at that time, whoever prints it.
    pub fn prints(&mut self, at: Now, text: &str) {
        self.at(at, Due::Print(text.to_owned()));
    }

    /// When it prints or does something next.
    #[must_use]
    pub fn next(&self) -> Option<Now> {
        self.due.keys().next().map(|(at, _)| *at)
    }

    /// Hangs up: whatever runs ends.
    pub fn hang_up(&mut self, now: Now) {
        self.shells.truncate(1);
        if let Some(shell) = self.shells.last_mut() {
            shell.status = 129;
        }
        self.due.clear();
        self.at(now, Due::End);
    }

    /// Does what is due by now, one thing of it; gives what that prints.
    pub fn step(&mut self, now: Now) -> Vec<u8> {
        self.now = now;
        if let Some((key, _)) = self.due.first_key_value().filter(|((at, _), _)| *at <= now) {
            let key = *key;
            match self.due.remove(&key) {
                Some(Due::Keys(keys)) => keys.into_iter().for_each(|key| self.key(key)),
                Some(Due::Go(id)) => self.go_on(id),
                Some(Due::Print(text)) => self.print(&text),
                Some(Due::Prompt) => self.prompt(),
                Some(Due::Paint) => self.paint(),
                Some(Due::Ahead) => self.read_ahead(),
                Some(Due::End) => self.exit(),
                None => {}
            }
        }
        std::mem::take(&mut self.out)
    }

    fn at(&mut self, at: Now, due: Due) {
        self.order += 1;
        self.due.insert((at, self.order), due);
    }

    fn push_shell(&mut self, marks: bool) {
        self.next += 1;
        self.shells.push(Shell {
            pid: self.next,
            marks,
            seq: 0,
            told: false,
            status: 0,
            line: String::new(),
            before: String::new(),
            job: None,
        });
    }

    fn print(&mut self, text: &str) {
        self.out.extend_from_slice(text.as_bytes());
    }

    fn mark(&mut self, kind: Mark, fill: impl FnOnce(&mut Marker)) {
        let (Some(shell), Some(nonce)) = (self.shells.last_mut(), &self.nonce) else { return };
        let host = self.host.clone();
        if !shell.marks {
            return;
        }
        let mut marker = Marker::new(kind);
        marker.pid = shell.pid;
        marker.instance = format!("i{}", shell.pid);
        if matches!(kind, Mark::Prompt | Mark::Output | Mark::End) {
            shell.seq += 1;
            marker.seq = Some(shell.seq);
            (marker.host, marker.user) = (Some(host), Some("me".to_owned()));
        }
        fill(&mut marker);
        let text = format!("\x1b]133;{}\x1b\\", marker.payload(nonce));
        self.print(&text);
    }

    /// The end of what ran, if anything did, and the prompt.
    fn prompt(&mut self) {
        self.prompt_after(false);
    }

    fn prompt_after(&mut self, idle: bool) {
        let Some(shell) = self.shells.last_mut() else { return };
        let (status, told) = (shell.status, std::mem::replace(&mut shell.told, true));
        (shell.line, shell.before) = (String::new(), String::new());
        self.mark(Mark::End, |marker| {
            marker.status = told.then_some(status);
            marker.new_shell = (!told).then(|| "bash-5.2.15".to_owned());
            marker.idle = told && idle;
        });
        self.painting = !self.prompts.is_zero();
        if self.painting {
            return self.at(self.now + self.prompts, Due::Paint);
        }
        self.paint();
    }

    fn paint(&mut self) {
        self.painting = false;
        let status = self.shells.last().map_or(0, |shell| shell.status);
        self.mark(Mark::Prompt, |marker| {
            (marker.status, marker.hooked) = (Some(status), Some(true));
            marker.cwd = Some("/w".to_owned());
        });
        self.print("$ ");
        self.mark(Mark::Input, |_| {});
        self.begin_editing();
    }

    /// What was typed ahead is read, now or once the line editor has come to it.
    fn begin_editing(&mut self) {
        self.unread = !self.editor.is_zero();
        if self.unread {
            return self.at(self.now + self.editor, Due::Ahead);
        }
        self.read_ahead();
    }

    fn read_ahead(&mut self) {
        self.unread = false;
        let ahead = std::mem::take(&mut self.ahead);
        ahead.into_iter().for_each(|key| self.key(key));
    }

    fn key(&mut self, key: u8) {
        if !self.unread && !self.painting && self.keys_are.command(key) {
            return self.escape = Escape::No;
        }
        if self.unread || self.painting {
            if self.painting {
                let echo = if key == b'\r' { "\r\n".to_owned() } else { char::from(key).to_string() };
                self.print(&echo);
            }
            return self.ahead.push(key);
        }
        self.escape = match (self.escape, key) {
            (_, 0x1b) => Escape::Begun,
            (Escape::Begun, b'[' | b'O') => Escape::Inside,
            (Escape::Inside, b'0'..=b';') => Escape::Inside,
            (Escape::No, _) => return self.plain_key(key),
            _ => Escape::No,
        };
    }

    fn plain_key(&mut self, key: u8) {
        let Some(shell) = self.shells.last_mut() else { return };
        if let Some(job) = &mut shell.job {
            match (&mut job.program, job.asks) {
                (Some(program), true) => {
                    if key == b'\r' {
                        self.taken.push(program.line_so_far().to_owned());
                    }
                    let Taken { echo, ops, asks } = program.key(key);
                    job.asks = asks;
                    let id = job.id;
                    if let Some(ops) = ops {
                        job.ops.extend(ops);
                        self.at(self.now + LATENCY, Due::Go(id));
                    }
                    self.print(&echo);
                }
                _ if key == 3 => {
                    self.print("^C\r\n");
                    self.finish(130);
                }
                _ => {
                    self.ahead.push(key);
                    let echo = if key == b'\r' { "\r\n".to_owned() } else { char::from(key).to_string() };
                    self.print(&echo);
                }
            }
            return;
        }
        match key {
            b'\r' => self.submit(),
            3 => {
                self.print("^C\r\n");
                self.prompt_after(true);
            }
            4 if shell.line.is_empty() => {
                self.print("exit\r\n");
                self.exit();
            }
            // Clears the line: the rub-outs that readline prints.
            0x15 => {
                let length = shell.line.chars().count();
                shell.line.clear();
                let text = format!("{}\x1b[K", "\x08".repeat(length));
                self.print(&text);
            }
            _ if key < 0x20 => {}
            _ => {
                shell.line.push(char::from(key));
                self.print(&char::from(key).to_string());
            }
        }
    }

    fn submit(&mut self) {
        let Some(shell) = self.shells.last_mut() else { return };
        let line = std::mem::take(&mut shell.line);
        self.taken.push(line.clone());
        let whole = std::mem::take(&mut shell.before) + &line;
        self.print("\r\n");
        if whole.matches('"').count() % 2 == 1 {
            if let Some(shell) = self.shells.last_mut() {
                shell.before = whole + "\n";
            }
            self.mark(Mark::Continuation, |_| {});
            self.print("> ");
            return self.mark(Mark::Input, |_| {});
        }
        let text = whole.trim();
        if text.is_empty() || text.starts_with('#') {
            return self.prompt_after(true);
        }
        if text == ")" {
            self.print("bash: syntax error near unexpected token `)'\r\n");
            if let Some(shell) = self.shells.last_mut() {
                shell.status = 2;
            }
            return self.prompt_after(true);
        }
        self.mark(Mark::Output, |_| {});
        self.begin(VecDeque::from(parse(text)));
    }

    fn begin(&mut self, ops: VecDeque<Op>) {
        self.next += 1;
        let id = self.next;
        if let Some(shell) = self.shells.last_mut() {
            shell.job = Some(Job { id, ops, status: 0, program: None, asks: false });
        }
        self.at(self.now + LATENCY, Due::Go(id));
    }

    fn go_on(&mut self, id: u32) {
        loop {
            let Some(job) = self.shells.last_mut().and_then(|shell| shell.job.as_mut()).filter(|job| job.id == id)
            else {
                return;
            };
            match job.ops.pop_front() {
                Some(Op::Print(text)) => self.print(&text),
                Some(Op::Sleep(length)) => return self.at(self.now + length, Due::Go(id)),
                Some(Op::Status(status)) => job.status = status,
                Some(Op::Program(program)) => job.program = Some(program),
                Some(Op::Ask) => return self.ask(),
                Some(Op::Nested) => {
                    self.push_shell(true);
                    return self.at(self.now + LATENCY, Due::Prompt);
                }
                Some(Op::Later(length, text)) => self.at(self.now + length, Due::Print(text)),
                Some(Op::Load) => self.load(),
                Some(Op::Exit) => return self.exit(),
                Some(Op::Query(after)) => {
                    self.print("\x1b[c\x1b[6n");
                    self.at(self.now + after, Due::Keys(b"1;2c".to_vec()));
                    self.at(self.now + after, Due::Keys(b"1R".to_vec()));
                }
                None => {
                    let status = job.status;
                    return self.finish(status);
                }
            }
        }
    }

    fn load(&mut self) {
        if !self.installed {
            return self.print("bash: v1/integration.bash: No such file or directory\r\n");
        }
        if let Some(shell) = self.shells.last_mut() {
            (shell.marks, shell.told) = (true, false);
        }
    }

    fn ask(&mut self) {
        let Some(job) = self.shells.last_mut().and_then(|shell| shell.job.as_mut()) else { return };
        job.asks = true;
        let prompt = job.program.as_ref().map(Program::prompt).unwrap_or_default();
        self.print(&prompt);
        self.begin_editing();
    }

    fn finish(&mut self, status: i32) {
        let Some(shell) = self.shells.last_mut() else { return };
        shell.job = None;
        shell.status = status;
        if shell.marks || shell.told {
            return self.prompt();
        }
        self.exit();
    }

    /// The innermost shell ends; the one around it ends the command that it was.
    fn exit(&mut self) {
        let status = self.shells.pop().map_or(0, |shell| shell.status);
        if self.shells.is_empty() {
            self.ended = true;
            self.due.clear();
            if let Some(nonce) = &self.nonce {
                let mut marker = Marker::new(Mark::ProgramEnd);
                marker.status = Some(status);
                let text = format!("\x1b]133;{}\x1b\\", marker.payload(nonce));
                self.print(&text);
            }
            return;
        }
        self.finish(status);
    }
}

/// The commands there are, one or several with `;` between.
fn parse(line: &str) -> Vec<Op> {
    line.split(';').flat_map(|one| command(one.trim())).collect()
}

fn command(text: &str) -> Vec<Op> {
    let (name, rest) = text.split_once([' ', '\n']).unwrap_or((text, ""));
    let seconds = |text: &str| Duration::from_secs_f64(text.parse().unwrap_or(0.0));
    match name {
        "echo" => vec![Op::Print(format!("{}\r\n", rest.trim_matches('"').replace('\n', "\r\n")))],
        "printf" => vec![Op::Print(rest.replace("\\n", "\r\n").replace("\\s", " "))],
        "sleep" => vec![Op::Sleep(seconds(rest))],
        "true" | "" => vec![Op::Status(0)],
        "false" => vec![Op::Status(1)],
        "status" => vec![Op::Status(rest.parse().unwrap_or(0))],
        "flood" => {
            let lines: u32 = rest.parse().unwrap_or(0);
            vec![Op::Print((1..=lines).map(|line| format!("{line}\r\n")).collect())]
        }
        "bash" => vec![Op::Nested],
        // The question which shell it is, and the line that loads the integration.
        "eval" => vec![Op::Print("dtmcp: me@far bash=5.2.15(1)-release zsh= -bash\r\n".to_owned())],
        "." => vec![Op::Load],
        "exit" => vec![Op::Print("exit\r\n".to_owned()), Op::Exit],
        "die" => vec![Op::Exit],
        "query" => vec![Op::Query(seconds(rest))],
        "later" => {
            let (after, text) = rest.split_once(' ').unwrap_or((rest, "noise"));
            vec![Op::Print("[1] 4711\r\n".to_owned()), Op::Later(seconds(after), text.to_owned())]
        }
        _ => match Program::named(name) {
            Some(program) => {
                let greeting = program.greeting().to_owned();
                vec![Op::Program(program), Op::Print(greeting), Op::Ask]
            }
            None => vec![Op::Print(format!("bash: {name}: command not found\r\n")), Op::Status(127)],
        },
    }
}
