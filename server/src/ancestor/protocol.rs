//! What is asked over the ancestor's socket, and answered: one line each, which begins with the version.
//!
//! ```text
//! 1 PID START TID      in which call does this thread sleep?
//! 1 reads FD           it reads from a descriptor
//! 1 polls TIME FD...   it waits for any of these; TIME is `end` for without one, or SECONDS:NANOSECONDS
//! 1 epoll TIME FD      it waits for what a list holds
//! 1 ring, 1 other      it waits for a ring of requests; it is in another call, or in none
//! 1 unknown WHY        `gone`, `refused`, `undecoded`
//! 1 kept SCOPE         the system lets it read nobody's: Yama's scope, or `policy`
//! 1 stranger           no descendant
//! 1 what               not understood; the connection ends
//! ```
//!
//! Descriptor numbers and times are all that is ever told: never a byte of another program's memory. Whoever asks in
//! another version is answered in this one, and so knows.

use std::fmt::Write as _;
use std::time::Duration;

use dtmcp_core::inspect::{Call, Known, ProcessId, Refusal, Why};

/// The version of the protocol.
pub(super) const VERSION: u32 = 1;

/// A request has four numbers of at most 20 digits.
pub(super) const REQUEST_MAX: usize = 96;

/// An answer names at most the 4,096 descriptors of a poll that is read, each with ten digits and a blank.
pub(super) const ANSWER_MAX: usize = 48 * 1024;

/// Of which thread the call is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Request {
    pub(super) process: ProcessId,
    pub(super) tid: u32,
}

/// What the ancestor says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Answer {
    Call(Known<Call>),
    /// The system lets it read no call of anybody.
    Kept(Refusal),
    /// The process is none of its descendants.
    Stranger,
    /// The request made no sense.
    What,
}

/// Why a line is no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Odd {
    /// It is one of another version.
    Version(u32),
    Garbled,
}

impl Request {
    /// The line, its end included.
    pub(super) fn line(self) -> String {
        format!("{VERSION} {} {} {}\n", self.process.pid, self.process.start, self.tid)
    }

    pub(super) fn parse(line: &str) -> Option<Self> {
        let mut words = line.strip_prefix(&format!("{VERSION} "))?.split(' ');
        let process = ProcessId { pid: words.next()?.parse().ok()?, start: words.next()?.parse().ok()? };
        let tid = words.next()?.parse().ok()?;
        words.next().is_none().then_some(Self { process, tid })
    }
}

impl Answer {
    /// The line, its end included.
    pub(super) fn line(&self) -> String {
        let said = match self {
            Self::Call(Known::Known(call)) => spell(call),
            Self::Call(Known::Unknown(Why::Gone)) => "unknown gone".to_owned(),
            Self::Call(Known::Unknown(Why::Refused)) => "unknown refused".to_owned(),
            Self::Call(Known::Unknown(_)) => "unknown undecoded".to_owned(),
            Self::Kept(Refusal::Yama(scope)) => format!("kept {scope}"),
            Self::Kept(Refusal::Policy) => "kept policy".to_owned(),
            Self::Stranger => "stranger".to_owned(),
            Self::What => "what".to_owned(),
        };
        format!("{VERSION} {said}\n")
    }

    pub(super) fn parse(line: &str) -> Result<Self, Odd> {
        let (version, said) = line.split_once(' ').ok_or(Odd::Garbled)?;
        match version.parse() {
            Ok(VERSION) => said_in(said).ok_or(Odd::Garbled),
            Ok(other) => Err(Odd::Version(other)),
            Err(_) => Err(Odd::Garbled),
        }
    }
}

fn said_in(said: &str) -> Option<Answer> {
    let mut words = said.split(' ');
    let answer = match words.next()? {
        "reads" => known(Call::Reads(words.next()?.parse().ok()?)),
        "polls" => {
            let timeout = time(words.next()?)?;
            let fds: Option<Vec<i32>> = words.by_ref().map(|word| word.parse().ok()).collect();
            known(Call::Polls { fds: fds?, timeout })
        }
        "epoll" => known(Call::Epoll { timeout: time(words.next()?)?, fd: words.next()?.parse().ok()? }),
        "ring" => known(Call::Ring),
        "children" => known(Call::Children),
        "other" => known(Call::Other),
        "unknown" => Answer::Call(Known::Unknown(match words.next()? {
            "gone" => Why::Gone,
            "refused" => Why::Refused,
            "undecoded" => Why::NobodyLooks,
            _ => return None,
        })),
        "kept" => Answer::Kept(match words.next()? {
            "policy" => Refusal::Policy,
            scope => Refusal::Yama(scope.parse().ok()?),
        }),
        "stranger" => Answer::Stranger,
        "what" => Answer::What,
        _ => return None,
    };
    words.next().is_none().then_some(answer)
}

fn known(call: Call) -> Answer {
    Answer::Call(Known::Known(call))
}

fn spell(call: &Call) -> String {
    match call {
        Call::Reads(fd) => format!("reads {fd}"),
        Call::Polls { fds, timeout } => fds.iter().fold(format!("polls {}", spell_time(*timeout)), |mut said, fd| {
            // Writing to a string cannot fail.
            let _ = write!(said, " {fd}");
            said
        }),
        Call::Epoll { fd, timeout } => format!("epoll {} {fd}", spell_time(*timeout)),
        Call::Ring => "ring".to_owned(),
        Call::Children => "children".to_owned(),
        Call::Other => "other".to_owned(),
    }
}

fn spell_time(time: Option<Duration>) -> String {
    time.map_or_else(|| "end".to_owned(), |time| format!("{}:{}", time.as_secs(), time.subsec_nanos()))
}

#[allow(clippy::option_option, reason = "no time that can be read, and no end")]
fn time(word: &str) -> Option<Option<Duration>> {
    if word == "end" {
        return Some(None);
    }
    let (seconds, parts) = word.split_once(':')?;
    let parts = parts.parse().ok().filter(|parts| *parts < 1_000_000_000)?;
    Some(Some(Duration::new(seconds.parse().ok()?, parts)))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn what_is_said_is_what_is_heard() {
        let timed = Some(Duration::new(u64::MAX, 999_999_999));
        let calls = [
            Call::Reads(-1),
            Call::Polls { fds: Vec::new(), timeout: None },
            Call::Polls { fds: vec![0, 3, i32::MAX], timeout: timed },
            Call::Epoll { fd: 4, timeout: Some(Duration::from_millis(100)) },
            Call::Ring,
            Call::Children,
            Call::Other,
        ];
        let whys = [Why::Gone, Why::Refused, Why::NobodyLooks].map(|why| Answer::Call(Known::Unknown(why)));
        let refusals = [Refusal::Yama(3), Refusal::Policy].map(Answer::Kept);
        let calls = calls.map(|call| Answer::Call(Known::Known(call)));
        for answer in calls.into_iter().chain(whys).chain(refusals).chain([Answer::Stranger, Answer::What]) {
            let line = answer.line();
            assert_eq!(Answer::parse(line.strip_suffix('\n').unwrap()), Ok(answer), "{line}");
        }
        let request = Request { process: ProcessId { pid: u32::MAX, start: u64::MAX }, tid: u32::MAX };
        let line = request.line();
        assert!(line.len() <= REQUEST_MAX);
        assert_eq!(Request::parse(line.strip_suffix('\n').unwrap()), Some(request));
    }

    #[test]
    fn the_longest_answer_fits() {
        let call = Call::Polls { fds: vec![i32::MAX; 4096], timeout: Some(Duration::MAX) };
        assert!(Answer::Call(Known::Known(call)).line().len() <= ANSWER_MAX);
    }

    #[test]
    fn other_versions_and_nonsense_are_told_apart() {
        assert_eq!(Answer::parse("2 reads 0"), Err(Odd::Version(2)));
        for line in ["", "1", "1 ", "1 reads", "1 reads x", "1 reads 0 0", "1 polls 1:1000000000", "x ring", "1 kept"] {
            assert_eq!(Answer::parse(line), Err(Odd::Garbled), "{line:?}");
        }
        for line in ["", "1", "1 1 2", "1 1 2 3 4", "2 1 2 3", "1 -1 2 3", "1 1 2 3 ", "01 1 2 3", "1  1 2 3"] {
            assert_eq!(Request::parse(line), None, "{line:?}");
        }
    }
}
