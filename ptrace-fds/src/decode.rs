//! From a call's number and arguments to the descriptors it waits for.

use std::time::Duration;

use dtmcp_core::inspect::Call;

use crate::abi::{Abi, Kind, Time};

/// A poll of more descriptors is not read. Terminals stand among few.
const DESCRIPTORS_MAX: u64 = 4096;

/// `POLLIN`, `POLLPRI`, `POLLRDNORM` of `poll.h`.
const INPUT: u16 = 0x1 | 0x2 | 0x40;

/// Calls of i386's `socketcall` that receive: `SYS_RECV`, `SYS_RECVFROM`, `SYS_RECVMSG`, `SYS_RECVMMSG` of `net.h`.
const RECEIVE: [u64; 4] = [10, 12, 17, 19];

/// What `/proc/PID/task/TID/syscall` says of a thread in a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Line {
    number: u64,
    arguments: [u64; 6],
}

impl Line {
    /// Reads it; none for a thread that runs, or that sleeps outside of any call.
    pub(crate) fn parse(line: &str) -> Option<Self> {
        let mut words = line.split_whitespace();
        let number = words.next()?.parse().ok()?;
        let mut arguments = [0; 6];
        for argument in &mut arguments {
            *argument = u64::from_str_radix(words.next()?.strip_prefix("0x")?, 16).ok()?;
        }
        Some(Self { number, arguments })
    }
}

/// What a call came to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    Call(Call),
    /// What it points to could not be read, or which call it is.
    Unreadable,
}

/// The memory of a process: this many bytes at an address.
type Memory<'a> = &'a dyn Fn(u64, usize) -> Option<Vec<u8>>;

/// Decodes a call. `polls` says, of one that goes on after it was stopped, whether that is a poll; none where it
/// cannot be told.
pub(crate) fn decode(abi: Abi, line: &Line, polls: &dyn Fn() -> Option<bool>, memory: Memory<'_>) -> Asked {
    let found = match abi.kind(line.number) {
        Kind::Restart => match polls() {
            // The registers still hold the arguments of the poll. Other calls that go on like this only sleep.
            Some(true) => poll(line, Time::Milliseconds, memory),
            Some(false) => Some(Call::Other),
            None => None,
        },
        Kind::Reads(at) => Some(Call::Reads(integer(line, at))),
        Kind::Poll(time) => poll(line, time, memory),
        Kind::Select(time) => select(abi, &line.arguments, time, memory),
        Kind::OldSelect => old_select(abi, line, memory),
        Kind::Socket => socket(line, memory),
        Kind::Epoll(time) => {
            timeout(time, line, 3, memory).map(|timeout| Call::Epoll { fd: integer(line, 0), timeout })
        }
        Kind::Ring => Some(Call::Ring),
        Kind::Children => Some(Call::Children),
        Kind::Other => Some(Call::Other),
    };
    found.map_or(Asked::Unreadable, Asked::Call)
}

fn argument(line: &Line, at: usize) -> u64 {
    line.arguments.get(at).copied().unwrap_or(0)
}

/// An argument that is an `int`: the upper half of the register may hold anything.
fn integer(line: &Line, at: usize) -> i32 {
    low(argument(line, at))
}

fn low(value: u64) -> i32 {
    let [a, b, c, d, ..] = value.to_le_bytes();
    i32::from_le_bytes([a, b, c, d])
}

fn poll(line: &Line, time: Time, memory: Memory<'_>) -> Option<Call> {
    let timeout = timeout(time, line, 2, memory)?;
    let count = argument(line, 1) & u64::from(u32::MAX);
    if count == 0 {
        return Some(Call::Polls { fds: Vec::new(), timeout });
    }
    let length = usize::try_from(count).ok().filter(|_| count <= DESCRIPTORS_MAX)?.checked_mul(8)?;
    let entries = memory(argument(line, 0), length)?;
    let watched = entries.chunks_exact(8).filter_map(|entry| {
        let [a, b, c, d, low, high, ..] = *entry else { return None };
        let fd = i32::from_le_bytes([a, b, c, d]);
        (fd >= 0 && u16::from_le_bytes([low, high]) & INPUT != 0).then_some(fd)
    });
    Some(Call::Polls { fds: watched.collect(), timeout })
}

fn select(abi: Abi, arguments: &[u64; 6], time: Time, memory: Memory<'_>) -> Option<Call> {
    let [count, set, _, _, wait, _] = *arguments;
    let timeout = pointed(time, wait, memory)?;
    let count = u64::try_from(low(count)).ok().filter(|count| *count <= DESCRIPTORS_MAX)?;
    if set == 0 || count == 0 {
        return Some(Call::Polls { fds: Vec::new(), timeout });
    }
    let bits = u64::try_from(abi.word()).ok()?.checked_mul(8)?;
    let length = usize::try_from(count.div_ceil(bits)).ok()?.checked_mul(abi.word())?;
    let bytes = memory(set, length)?;
    let mut fds = Vec::new();
    for (fd, (byte, bit)) in (0_i32..).zip(bytes.iter().flat_map(|byte| (0..8).map(move |bit| (byte, bit)))) {
        if u64::try_from(fd).is_ok_and(|fd| fd < count) && byte >> bit & 1 == 1 {
            fds.push(fd);
        }
    }
    Some(Call::Polls { fds, timeout })
}

/// The five arguments of `select`, four bytes each, where the one argument points to.
fn old_select(abi: Abi, line: &Line, memory: Memory<'_>) -> Option<Call> {
    let bytes = memory(argument(line, 0), 20)?;
    let mut arguments = [0; 6];
    for (argument, word) in arguments.iter_mut().zip(bytes.chunks_exact(4)) {
        *argument = number(word)?.cast_unsigned();
    }
    select(abi, &arguments, Time::Pointer { word: 4, unit: 1000 }, memory)
}

fn socket(line: &Line, memory: Memory<'_>) -> Option<Call> {
    if !RECEIVE.contains(&argument(line, 0)) {
        return Some(Call::Other);
    }
    let first = memory(argument(line, 1), 4)?;
    Some(Call::Reads(i32::try_from(number(&first)?).ok()?))
}

fn timeout(time: Time, line: &Line, at: usize, memory: Memory<'_>) -> Option<Option<Duration>> {
    match time {
        Time::Milliseconds => Some(u64::try_from(integer(line, at)).ok().map(Duration::from_millis)),
        Time::Pointer { .. } => pointed(time, argument(line, at), memory),
    }
}

/// How long a call waits whose argument points to that; no end where it points nowhere.
fn pointed(time: Time, at: u64, memory: Memory<'_>) -> Option<Option<Duration>> {
    let Time::Pointer { word, unit } = time else { return None };
    if at == 0 {
        return Some(None);
    }
    let bytes = memory(at, word.checked_mul(2)?)?;
    let seconds = u64::try_from(number(bytes.get(..word)?)?).ok()?;
    let parts = u64::try_from(number(bytes.get(word..)?)?).ok()?;
    Some(Some(Duration::from_secs(seconds).saturating_add(Duration::from_nanos(parts.saturating_mul(unit)))))
}

/// A signed number of four or eight bytes.
fn number(bytes: &[u8]) -> Option<i64> {
    match *bytes {
        [a, b, c, d] => Some(i64::from(i32::from_le_bytes([a, b, c, d]))),
        [a, b, c, d, e, f, g, h] => Some(i64::from_le_bytes([a, b, c, d, e, f, g, h])),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    /// Memory that begins at 0x1000.
    fn at(bytes: &[u8]) -> impl Fn(u64, usize) -> Option<Vec<u8>> {
        move |from, length| {
            let from = usize::try_from(from.checked_sub(0x1000)?).ok()?;
            bytes.get(from..from.checked_add(length)?).map(<[u8]>::to_vec)
        }
    }

    fn of(abi: Abi, line: &str, polls: Option<bool>, bytes: &[u8]) -> Asked {
        decode(abi, &Line::parse(line).unwrap(), &|| polls, &at(bytes))
    }

    fn polls(fds: &[i32], timeout: Option<Duration>) -> Asked {
        Asked::Call(Call::Polls { fds: fds.to_vec(), timeout })
    }

    /// Entry by entry: descriptor, events.
    fn entries(all: &[(i32, u16)]) -> Vec<u8> {
        let entry = |(fd, events): &(i32, u16)| {
            let mut bytes = fd.to_le_bytes().to_vec();
            bytes.extend(events.to_le_bytes());
            bytes.extend([0, 0]);
            bytes
        };
        all.iter().flat_map(entry).collect()
    }

    #[test]
    fn lines_of_threads_outside_calls() {
        for line in ["running\n", "-1 0x7ffe 0x7f00\n", ""] {
            assert_eq!(Line::parse(line), None, "{line}");
        }
    }

    #[test]
    fn entries_that_are_none_or_want_no_input() {
        let bytes = entries(&[(0, 0), (-1, 1), (5, 4), (6, 1), (7, 0x40)]);
        let line = "7 0x1000 0x5 0xffffffff 0x0 0x0 0x0 0x1 0x2";
        assert_eq!(of(Abi::X8664, line, None, &bytes), polls(&[6, 7], None));
        let timed = "7 0x1000 0x5 0x64 0x0 0x0 0x0 0x1 0x2";
        assert_eq!(of(Abi::X8664, timed, None, &bytes), polls(&[6, 7], Some(Duration::from_millis(100))));
        assert_eq!(of(Abi::X8664, "7 0x9000 0x5 0x0 0x0 0x0 0x0 0x1 0x2", None, &bytes), Asked::Unreadable);
    }

    #[test]
    fn a_high_descriptor_of_a_set() {
        let mut set = vec![0_u8; 128];
        set[112] = 1 << 5;
        set[127] = 0xff;
        let line = "270 0x386 0x1000 0x0 0x0 0x0 0x0 0x1 0x2";
        assert_eq!(of(Abi::X8664, line, None, &set), polls(&[901], None));
        let old: Vec<u8> = [1_u32, 0x1014, 0, 0, 0, 1].iter().flat_map(|word| word.to_le_bytes()).collect();
        assert_eq!(of(Abi::I386, "82 0x1000 0x0 0x0 0x0 0x0 0x0 0x1 0x2", None, &old), polls(&[0], None));
    }

    #[test]
    fn a_call_that_goes_on() {
        let bytes = entries(&[(0, 1)]);
        let line = "219 0x1000 0x1 0xffffffff 0x0 0x0 0x0 0x1 0x2";
        assert_eq!(of(Abi::X8664, line, Some(true), &bytes), polls(&[0], None));
        assert_eq!(of(Abi::X8664, line, Some(false), &bytes), Asked::Call(Call::Other));
        assert_eq!(of(Abi::X8664, line, None, &bytes), Asked::Unreadable);
    }

    #[test]
    fn reads_and_lists() {
        let read = "0 0xffffffff00000003 0x1 0x2 0x3 0x4 0x5 0x6 0x7";
        assert_eq!(of(Abi::X8664, read, None, &[]), Asked::Call(Call::Reads(3)));
        let list = "22 0x4 0x1 0x2 0xffffffffffffffff 0x4 0x5 0x6 0x7";
        assert_eq!(of(Abi::Aarch64, list, None, &[]), Asked::Call(Call::Epoll { fd: 4, timeout: None }));
        let receive = "102 0xa 0x1000 0x0 0x0 0x0 0x0 0x1 0x2";
        assert_eq!(of(Abi::I386, receive, None, &9_u32.to_le_bytes()), Asked::Call(Call::Reads(9)));
        let children = "61 0xffffffff 0x1 0x2 0x0 0x4 0x5 0x6 0x7";
        assert_eq!(of(Abi::X8664, children, None, &[]), Asked::Call(Call::Children));
        assert_eq!(of(Abi::X8664, "35 0x1 0x2 0x3 0x4 0x5 0x6 0x7 0x8", None, &[]), Asked::Call(Call::Other));
    }
}
