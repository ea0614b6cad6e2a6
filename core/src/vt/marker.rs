//! OSC 133 payloads and the markers they stand for; `shell/MARKERS.md` is the vocabulary.

use std::fmt::Write as _;

/// The most pipeline stages that are read; bash itself has no limit, and nobody reads more.
const STAGES_MAX: usize = 256;

/// The value that tells a session's own markers from text that looks like one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Nonce(String);

impl Nonce {
    /// A nonce of 8 to 64 ASCII letters and digits; `None` for anything else. The lower limit keeps
    /// [`mask`](crate::text::mask) from blotting out ordinary words.
    #[must_use]
    pub fn new(text: &str) -> Option<Self> {
        let fits = (8..=64).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_alphanumeric());
        fits.then(|| Self(text.to_owned()))
    }

    /// The text that markers carry.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// What a marker marks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// `A`: a prompt starts.
    Prompt,
    /// `B`: a prompt ends, and typing starts.
    Input,
    /// `P;k=s`: a continuation prompt starts.
    Continuation,
    /// `P;k=m`: the line was submitted and is not complete. The shell shows no prompt for the rest, and all of it can
    /// still be edited.
    Unfinished,
    /// `P` with another `k`: a prompt that asks for nothing, such as zsh's right one.
    SidePrompt,
    /// `C`: a command's output starts.
    Output,
    /// `D`: a command has ended, or a shell has started.
    End,
    /// `E`: the session's program has ended.
    ProgramEnd,
}

/// A marker with the right nonce. Fields that its kind does not have are empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Marker {
    /// What it marks.
    pub kind: Kind,
    /// The shell's process id; 0 in `E`, which no shell prints.
    pub pid: u32,
    /// Drawn by each shell at its start: tells it from another with the same process id.
    pub instance: String,
    /// The host the shell runs on, as it says.
    pub host: Option<String>,
    /// The user it runs as, as it says.
    pub user: Option<String>,
    /// The shell's counter; grows from marker to marker.
    pub seq: Option<u64>,
    /// The exit status: of the command that ended, of the program, or `$?` at the prompt.
    pub status: Option<i32>,
    /// Every stage's status; empty for a single command.
    pub pipestatus: Vec<i32>,
    /// The working directory.
    pub cwd: Option<String>,
    /// The command line, where the shell knows it.
    pub cmd: Option<String>,
    /// Whether `cmd` was shortened.
    pub cut: bool,
    /// The status of what ran before this command, without a marker of its own.
    pub prev: Option<i32>,
    /// The output ends here, but the status comes with a later marker.
    pub early: bool,
    /// No command ran since the last prompt.
    pub idle: bool,
    /// Whether an end marker is printed before this prompt; unknown where the shell does not say.
    pub hooked: Option<bool>,
    /// A shell has started: its name and version.
    pub new_shell: Option<String>,
}

impl Marker {
    /// A marker of the kind, with nothing else in it.
    #[must_use]
    pub fn new(kind: Kind) -> Self {
        Self {
            kind,
            pid: 0,
            instance: String::new(),
            host: None,
            user: None,
            seq: None,
            status: None,
            pipestatus: Vec::new(),
            cwd: None,
            cmd: None,
            cut: false,
            prev: None,
            early: false,
            idle: false,
            hooked: None,
            new_shell: None,
        }
    }

    /// Reads the payload of an OSC 133 string, the bytes behind `133;`. `None` for anything that is no marker of
    /// this nonce: another program's semantic prompt, a marker of another session, a field that makes no sense.
    #[must_use]
    pub fn parse(payload: &[u8], nonce: &Nonce) -> Option<Self> {
        let mut fields = payload.split(|&byte| byte == b';').peekable();
        let letter = fields.next()?;
        let mut marker = Self::new(match letter {
            b"A" => Kind::Prompt,
            b"B" => Kind::Input,
            b"P" => Kind::SidePrompt,
            b"C" => Kind::Output,
            b"D" => Kind::End,
            b"E" => Kind::ProgramEnd,
            _ => return None,
        });
        if matches!(marker.kind, Kind::End | Kind::ProgramEnd) {
            let status = fields.next_if(|field| !field.contains(&b'='))?;
            marker.status = if status.is_empty() { None } else { Some(number(status)?) };
        }
        let mut ours = false;
        for field in fields {
            let Some(equals) = memchr::memchr(b'=', field) else { continue };
            let (name, value) = (field.get(..equals)?, field.get(equals + 1..)?);
            if name == b"dt" {
                ours = value == nonce.as_str().as_bytes();
                if !ours {
                    return None;
                }
            } else {
                marker.set(name, value)?;
            }
        }
        let whose = marker.kind == Kind::ProgramEnd || marker.pid != 0;
        (ours && whose).then_some(marker)
    }

    fn set(&mut self, name: &[u8], value: &[u8]) -> Option<()> {
        match name {
            b"pid" => self.pid = number(value)?,
            b"i" => self.instance = decode(value),
            b"host" => self.host = Some(decode(value)),
            b"user" => self.user = Some(decode(value)),
            b"q" => self.seq = Some(number(value)?),
            b"st" if self.kind == Kind::Prompt => self.status = Some(number(value)?),
            b"ps" => {
                let stages = value.split(|&byte| byte == b',').take(STAGES_MAX);
                self.pipestatus = stages.map(number).collect::<Option<_>>()?;
            }
            b"cwd" => self.cwd = Some(decode(value)),
            b"cmd" => self.cmd = Some(decode(value)),
            b"cut" => self.cut = value == b"1",
            b"prev" => self.prev = Some(number(value)?),
            b"e" => self.early = value == b"1",
            b"x" => self.idle = value == b"0",
            b"h" => self.hooked = (value != b"2").then_some(value == b"1"),
            b"new" => self.new_shell = Some(decode(value)),
            b"k" if self.kind == Kind::SidePrompt && value == b"s" => self.kind = Kind::Continuation,
            b"k" if self.kind == Kind::SidePrompt && value == b"m" => self.kind = Kind::Unfinished,
            _ => {}
        }
        Some(())
    }

    /// The payload as a shell prints it: what [`Self::parse`] reads back.
    #[must_use]
    pub fn payload(&self, nonce: &Nonce) -> String {
        let mut text = String::from(match self.kind {
            Kind::Prompt => "A",
            Kind::Input => "B",
            Kind::Continuation => "P;k=s",
            Kind::Unfinished => "P;k=m",
            Kind::SidePrompt => "P;k=r",
            Kind::Output => "C",
            Kind::End => "D;",
            Kind::ProgramEnd => "E;",
        });
        let status = self.status.map(|status| status.to_string());
        if matches!(self.kind, Kind::End | Kind::ProgramEnd) {
            text += status.as_deref().unwrap_or_default();
        }
        let mut field = |name: &str, value: Option<String>| {
            if let Some(value) = value {
                text.push(';');
                text += name;
                text.push('=');
                encode(&value, &mut text);
            }
        };
        field("dt", Some(nonce.as_str().to_owned()));
        field("pid", (self.pid != 0).then(|| self.pid.to_string()));
        field("i", (!self.instance.is_empty()).then(|| self.instance.clone()));
        field("host", self.host.clone());
        field("user", self.user.clone());
        field("q", self.seq.map(|seq| seq.to_string()));
        field("st", status.filter(|_| self.kind == Kind::Prompt));
        let stages: Vec<String> = self.pipestatus.iter().map(ToString::to_string).collect();
        field("ps", (!stages.is_empty()).then(|| stages.join(",")));
        field("cwd", self.cwd.clone());
        field("cmd", self.cmd.clone());
        field("cut", self.cut.then(|| "1".to_owned()));
        field("prev", self.prev.map(|prev| prev.to_string()));
        field("e", self.early.then(|| "1".to_owned()));
        field("x", self.idle.then(|| "0".to_owned()));
        field("h", self.hooked.map(|hooked| u8::from(hooked).to_string()));
        field("new", self.new_shell.clone());
        text
    }
}

fn number<T: std::str::FromStr>(digits: &[u8]) -> Option<T> {
    std::str::from_utf8(digits).ok()?.parse().ok()
}

/// A value with its `%XX` undone. A `%` that begins no such group stands for itself, and bytes that are no UTF-8
/// become U+FFFD: a directory may have any name.
fn decode(value: &[u8]) -> String {
    let mut bytes = Vec::with_capacity(value.len());
    let mut rest = value;
    while let Some((&first, tail)) = rest.split_first() {
        let pair = tail.first_chunk::<2>().and_then(|pair| Some((hex(pair[0])? << 4) | hex(pair[1])?));
        match pair.filter(|_| first == b'%') {
            Some(byte) => {
                bytes.push(byte);
                rest = tail.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(first);
                rest = tail;
            }
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok())
}

fn encode(value: &str, out: &mut String) {
    for one in value.chars() {
        if matches!(one, '%' | ';' | '\0'..='\x1f' | '\x7f') {
            // Writing to a String cannot fail.
            let _ = write!(out, "%{:02X}", u32::from(one));
        } else {
            out.push(one);
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

    use proptest::prelude::*;

    use super::*;

    fn nonce() -> Nonce {
        Nonce::new("abcd1234").unwrap()
    }

    #[test]
    fn reads_what_bash_prints() {
        let printed = b"D;3;dt=abcd1234;pid=7;i=99;host=h;user=u;q=12;ps=1,0,3";
        let marker = Marker::parse(printed, &nonce()).unwrap();
        assert_eq!((marker.kind, marker.status, marker.pid), (Kind::End, Some(3), 7));
        assert_eq!((marker.seq, marker.pipestatus), (Some(12), vec![1, 0, 3]));
        let first = Marker::parse(b"D;;dt=abcd1234;pid=7;i=9;q=1;new=bash-5.2.15;v=1", &nonce()).unwrap();
        assert_eq!((first.status, first.new_shell.as_deref()), (None, Some("bash-5.2.15")));
        let prompt =
            Marker::parse(b"A;dt=abcd1234;pid=7;i=9;cwd=/a%3Bb %25c%09\xc3\xa9;st=130;h=0;q=2", &nonce()).unwrap();
        assert_eq!((prompt.cwd.as_deref(), prompt.status), (Some("/a;b %c\té"), Some(130)));
        assert_eq!(prompt.hooked, Some(false));
        let end = Marker::parse(b"E;143;dt=abcd1234", &nonce()).unwrap();
        assert_eq!((end.kind, end.status), (Kind::ProgramEnd, Some(143)));
    }

    #[test]
    fn refuses_what_is_not_ours() {
        for other in [
            &b""[..],
            b"A",
            b"D",
            b"D;0",
            b"D;0;aid=7",
            b"C;dt=;pid=1",
            b"C;dt=abcd123;pid=1",
            b"C;dt=abcd12345;pid=1",
            b"C;dt=abcd1234",
            b"C;pid=1",
            b"Z;dt=abcd1234;pid=1",
            b"D;x;dt=abcd1234;pid=1",
            b"D;dt=abcd1234;pid=1",
            b"C;dt=abcd1234;pid=-1",
            b"C;dt=abcd1234;pid=1;q=x",
            b"C;dt=abcd1234;pid=1;dt=0000",
            b"D;0;dt=abcd1234;pid=1;ps=1,,0",
            b"D;99999999999;dt=abcd1234;pid=1",
        ] {
            assert_eq!(Marker::parse(other, &nonce()), None, "{}", String::from_utf8_lossy(other));
        }
    }

    #[test]
    fn takes_odd_values_as_they_are() {
        let odd = Marker::parse(b"C;dt=abcd1234;pid=1;cmd=a=b%%zz%4;later=1;=x;y", &nonce()).unwrap();
        assert_eq!(odd.cmd.as_deref(), Some("a=b%%zz%4"));
        let broken = Marker::parse(b"C;dt=abcd1234;pid=1;cmd=\xff%FF", &nonce()).unwrap();
        assert_eq!(broken.cmd.as_deref(), Some("\u{fffd}\u{fffd}"));
    }

    #[test]
    fn a_nonce_is_long_and_plain() {
        assert_eq!(Nonce::new("short"), None);
        assert_eq!(Nonce::new("has space 1"), None);
    }

    fn any_kind() -> impl Strategy<Value = Kind> {
        use Kind::{Continuation, End, Input, Output, ProgramEnd, Prompt, SidePrompt, Unfinished};
        proptest::sample::select(vec![Prompt, Input, Continuation, Unfinished, SidePrompt, Output, End, ProgramEnd])
    }

    prop_compose! {
        fn any_marker()(
            kind in any_kind(),
            pid in 1..u32::MAX,
            texts in proptest::collection::vec(proptest::option::of(any::<String>()), 5),
            status in any::<Option<i32>>(),
            numbers in (any::<Option<u64>>(), any::<Option<i32>>(), proptest::collection::vec(any::<i32>(), 0..5)),
            flags in any::<[bool; 3]>(),
            hooked in any::<Option<bool>>(),
        ) -> Marker {
            let mut texts = texts.into_iter();
            let mut text = || texts.next().unwrap();
            let status = status.filter(|_| matches!(kind, Kind::Prompt | Kind::End | Kind::ProgramEnd));
            Marker {
                kind, pid, instance: "i1".to_owned(), host: text(), user: text(), seq: numbers.0, status,
                pipestatus: numbers.2, cwd: text(), cmd: text(), cut: flags[0], prev: numbers.1, early: flags[1],
                idle: flags[2], hooked, new_shell: text(),
            }
        }
    }

    proptest! {
        #[test]
        fn reads_back_what_it_writes(marker in any_marker()) {
            let payload = marker.payload(&nonce());
            prop_assert!(!payload.bytes().any(|byte| byte < b' ' || byte == 0x7f));
            prop_assert_eq!(Marker::parse(payload.as_bytes(), &nonce()), Some(marker));
        }

        #[test]
        fn never_takes_a_wrong_nonce(marker in any_marker(), other in "[0-9a-f]{16}") {
            let payload = marker.payload(&Nonce::new(&other).unwrap());
            prop_assert_eq!(Marker::parse(payload.as_bytes(), &nonce()), None);
        }

        #[test]
        fn survives_any_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..200), tail in "[;=%a-zA-Z0-9,]{0,80}") {
            drop(Marker::parse(&bytes, &nonce()));
            let close = format!("D;1;dt=abcd1234;pid=3;{tail}");
            drop(Marker::parse(close.as_bytes(), &nonce()));
        }
    }
}
