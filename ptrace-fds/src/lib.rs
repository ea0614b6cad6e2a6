//! Which descriptors the call of a sleeping thread watches: its number and arguments from
//! `/proc/PID/task/TID/syscall`, and the sets they point to from `/proc/PID/mem`.
//!
//! Needs the right to trace the process (`PTRACE_MODE_ATTACH`), which a system may keep from its own users; nothing is
//! ever traced or stopped. Knows calls of x86_64, i386 and aarch64. Programs of anything else are declined: under a
//! wrong table one call's arguments read as another's.

#![forbid(unsafe_code)]

mod abi;
mod decode;

use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::sync::{Mutex, PoisonError};

use dtmcp_core::inspect::{Call, FdProbe, Known, ProcessId, Refusal, Why};
use dtmcp_core::waiting::channel::Meaning;

use abi::Abi;
use decode::{Asked, Line, decode};

/// How many processes that refused are remembered. The oldest go first, and would only be asked again.
const REMEMBERED_MAX: usize = 256;

/// The line of a call has nine numbers of at most 18 characters.
const LINE_MAX: usize = 256;

/// The module that lets only ancestors trace, and how strict it is told to be.
const YAMA: &str = "/proc/sys/kernel/yama/ptrace_scope";

/// The probe. Asks no process again that refused, and nobody once the system did: it writes each attempt to its log.
#[derive(Debug, Default)]
pub struct PtraceFds {
    refused: Mutex<Refused>,
}

#[derive(Debug, Default)]
struct Refused {
    system: Option<Refusal>,
    processes: BTreeSet<ProcessId>,
}

impl PtraceFds {
    /// One that has asked nobody yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn may_ask(&self, process: ProcessId) -> bool {
        let mut refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        // Whoever loosens the policy wants to see the effect.
        if let Some(Refusal::Yama(scope)) = refused.system
            && yama().is_some_and(|now| now < scope)
        {
            refused.system = None;
        }
        refused.system.is_none() && !refused.processes.contains(&process)
    }

    fn remember(&self, process: ProcessId, error: &Error) {
        let mut refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        match error {
            Error::System => {
                refused.system = Some(yama().filter(|scope| *scope > 0).map_or(Refusal::Policy, Refusal::Yama));
            }
            Error::Process => {
                if refused.processes.len() >= REMEMBERED_MAX {
                    refused.processes.pop_first();
                }
                refused.processes.insert(process);
            }
            Error::Gone => {}
        }
    }

    fn read(process: ProcessId, tid: u32) -> Result<Known<Call>, Error> {
        let place = format!("/proc/{}/task/{tid}", process.pid);
        let Some(line) = Line::parse(&syscall(&place)?) else { return Ok(Known::Known(Call::Other)) };
        let header = header(process.pid).map_err(|error| Error::opening(&error))?;
        let Some(abi) = Abi::of(&header) else { return Ok(Known::Unknown(Why::NobodyLooks)) };
        let polls = || {
            let channel = std::fs::read_to_string(format!("{place}/wchan")).unwrap_or_default();
            match channel.split('.').next().unwrap_or_default() {
                "" | "0" => None,
                name => Some(Meaning::of(name) == Meaning::Poll),
            }
        };
        let memory = |at: u64, length: usize| {
            let mut bytes = vec![0; length];
            let file = File::open(format!("/proc/{}/mem", process.pid)).ok()?;
            file.read_exact_at(&mut bytes, at).ok()?;
            Some(bytes)
        };
        let call = match decode(abi, &line, &polls, &memory) {
            Asked::Call(call) => call,
            // It went on while we looked, or points to what is not there.
            Asked::Unreadable => return Ok(Known::Unknown(Why::Gone)),
        };
        // What was read from the memory belongs to the call only if that is still the same.
        match call {
            Call::Polls { .. } | Call::Epoll { .. } if Line::parse(&syscall(&place)?) != Some(line) => {
                Ok(Known::Unknown(Why::Gone))
            }
            call => Ok(Known::Known(call)),
        }
    }
}

impl FdProbe for PtraceFds {
    fn refusal(&self) -> Option<Refusal> {
        self.refused.lock().unwrap_or_else(PoisonError::into_inner).system
    }

    fn call(&self, process: ProcessId, tid: u32) -> Known<Call> {
        if !self.may_ask(process) {
            return Known::Unknown(Why::Refused);
        }
        match Self::read(process, tid) {
            Ok(call) => call,
            Err(error) => {
                self.remember(process, &error);
                Known::Unknown(if matches!(error, Error::Gone) { Why::Gone } else { Why::Refused })
            }
        }
    }
}

/// Why a call could not be read.
enum Error {
    /// The system lets us read no call.
    System,
    /// This process's are not for us.
    Process,
    /// The thread is.
    Gone,
}

impl Error {
    fn opening(error: &io::Error) -> Self {
        if error.kind() == io::ErrorKind::PermissionDenied { Self::Process } else { Self::Gone }
    }
}

/// The line of a thread's call. Opening it fails for another user's process, reading it where a policy of the system
/// forbids: the two are told apart by when they come.
fn syscall(place: &str) -> Result<String, Error> {
    let mut file = File::open(format!("{place}/syscall")).map_err(|error| Error::opening(&error))?;
    // It is made anew at each read, and one gives all of it.
    let mut line = [0; LINE_MAX];
    match io::Read::read(&mut file, &mut line) {
        Ok(count) => Ok(String::from_utf8_lossy(line.get(..count).unwrap_or_default()).into_owned()),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Err(Error::System),
        Err(_) => Err(Error::Gone),
    }
}

/// The beginning of the program's file, which says for which processor it was made.
fn header(pid: u32) -> io::Result<[u8; abi::HEADER]> {
    let mut header = [0; abi::HEADER];
    File::open(format!("/proc/{pid}/exe"))?.read_exact_at(&mut header, 0)?;
    Ok(header)
}

fn yama() -> Option<u8> {
    std::fs::read_to_string(YAMA).ok()?.trim().parse().ok()
}
