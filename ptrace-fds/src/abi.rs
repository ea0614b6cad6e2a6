//! Which numbers a program's calls have, by the header of its file.
//!
//! Numbers: the kernel's `syscall_64.tbl`, `syscall_32.tbl` and `asm-generic/unistd.h`.

/// How much of the file says so: `e_ident`, `e_type`, `e_machine` of an ELF header.
pub(crate) const HEADER: usize = 20;

/// Calls with the numbers, and words of the size, that a program was made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Abi {
    X8664,
    I386,
    Aarch64,
}

/// What a call waits for, and where its arguments say it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The descriptor in this argument.
    Reads(usize),
    Poll(Time),
    Select(Time),
    /// `select` of i386's first days: one argument, which points to the five.
    OldSelect,
    /// `socketcall` of i386: a number, and a pointer to the arguments of that call.
    Socket,
    Epoll(Time),
    Ring,
    Children,
    /// A call that was stopped and goes on: which, only the wait channel tells.
    Restart,
    Other,
}

/// How a call is told how long to wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Time {
    /// Milliseconds; negative ones without end.
    Milliseconds,
    /// A pointer to seconds and parts of one, of this many bytes each; the parts are this long, in nanoseconds.
    Pointer { word: usize, unit: u64 },
}

const MICROSECONDS: u64 = 1000;
const NANOSECONDS: u64 = 1;

const fn pointer(word: usize, unit: u64) -> Time {
    Time::Pointer { word, unit }
}

impl Abi {
    /// The one that a header stands for; none where it is another.
    pub(crate) fn of(header: &[u8; HEADER]) -> Option<Self> {
        let [0x7f, b'E', b'L', b'F', class, 1, ..] = *header else { return None };
        let [.., low, high] = *header;
        // What runs on this machine: the same numbers mean other calls on another.
        let here = |arch: &str| std::env::consts::ARCH == arch || cfg!(test);
        match (class, u16::from_le_bytes([low, high])) {
            (2, 62) if here("x86_64") => Some(Self::X8664),
            (1, 3) if here("x86_64") => Some(Self::I386),
            (2, 183) if here("aarch64") => Some(Self::Aarch64),
            _ => None,
        }
    }

    /// The size of a pointer, and of a word of a set of descriptors.
    pub(crate) const fn word(self) -> usize {
        match self {
            Self::X8664 | Self::Aarch64 => 8,
            Self::I386 => 4,
        }
    }

    pub(crate) const fn kind(self, number: u64) -> Kind {
        match self {
            Self::X8664 => x86_64(number),
            Self::I386 => i386(number),
            Self::Aarch64 => aarch64(number),
        }
    }
}

const fn x86_64(number: u64) -> Kind {
    match number {
        // read, readv, pread64, recvfrom, recvmsg, splice, tee, preadv, recvmmsg, preadv2
        0 | 19 | 17 | 45 | 47 | 275 | 276 | 295 | 299 | 327 => Kind::Reads(0),
        // sendfile
        40 => Kind::Reads(1),
        7 => Kind::Poll(Time::Milliseconds),
        271 => Kind::Poll(pointer(8, NANOSECONDS)),
        23 => Kind::Select(pointer(8, MICROSECONDS)),
        270 => Kind::Select(pointer(8, NANOSECONDS)),
        // epoll_wait, epoll_pwait; epoll_pwait2
        232 | 281 => Kind::Epoll(Time::Milliseconds),
        441 => Kind::Epoll(pointer(8, NANOSECONDS)),
        426 => Kind::Ring,
        // wait4, waitid
        61 | 247 => Kind::Children,
        219 => Kind::Restart,
        _ => Kind::Other,
    }
}

const fn i386(number: u64) -> Kind {
    match number {
        // read, readv, pread64, splice, tee, preadv, recvmmsg, recvfrom, recvmsg, preadv2
        3 | 145 | 180 | 313 | 315 | 333 | 337 | 371 | 372 | 378 => Kind::Reads(0),
        // sendfile, sendfile64
        187 | 239 => Kind::Reads(1),
        168 => Kind::Poll(Time::Milliseconds),
        309 => Kind::Poll(pointer(4, NANOSECONDS)),
        414 => Kind::Poll(pointer(8, NANOSECONDS)),
        82 => Kind::OldSelect,
        142 => Kind::Select(pointer(4, MICROSECONDS)),
        308 => Kind::Select(pointer(4, NANOSECONDS)),
        413 => Kind::Select(pointer(8, NANOSECONDS)),
        102 => Kind::Socket,
        256 | 319 => Kind::Epoll(Time::Milliseconds),
        441 => Kind::Epoll(pointer(8, NANOSECONDS)),
        426 => Kind::Ring,
        // waitpid, wait4, waitid
        7 | 114 | 284 => Kind::Children,
        0 => Kind::Restart,
        _ => Kind::Other,
    }
}

const fn aarch64(number: u64) -> Kind {
    match number {
        // read, readv, pread64, preadv, splice, tee, recvfrom, recvmsg, recvmmsg, preadv2
        63 | 65 | 67 | 69 | 76 | 77 | 207 | 212 | 243 | 286 => Kind::Reads(0),
        71 => Kind::Reads(1),
        72 => Kind::Select(pointer(8, NANOSECONDS)),
        73 => Kind::Poll(pointer(8, NANOSECONDS)),
        22 => Kind::Epoll(Time::Milliseconds),
        441 => Kind::Epoll(pointer(8, NANOSECONDS)),
        426 => Kind::Ring,
        // waitid, wait4
        95 | 260 => Kind::Children,
        128 => Kind::Restart,
        _ => Kind::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(class: u8, order: u8, machine: u16) -> [u8; HEADER] {
        let mut header = [0; HEADER];
        header[..6].copy_from_slice(&[0x7f, b'E', b'L', b'F', class, order]);
        header[18..].copy_from_slice(&machine.to_le_bytes());
        header
    }

    #[test]
    fn other_machines_are_declined() {
        assert_eq!(Abi::of(&header(2, 1, 62)), Some(Abi::X8664));
        assert_eq!(Abi::of(&header(1, 1, 3)), Some(Abi::I386));
        assert_eq!(Abi::of(&header(2, 1, 183)), Some(Abi::Aarch64));
        // x32, arm, riscv, a big-endian one, a script.
        for declined in [header(1, 1, 62), header(1, 1, 40), header(2, 1, 243), header(2, 2, 183), [b'#'; HEADER]] {
            assert_eq!(Abi::of(&declined), None);
        }
    }

    #[test]
    fn a_number_means_something_else_elsewhere() {
        assert_eq!(Abi::X8664.kind(0), Kind::Reads(0));
        assert_eq!(Abi::I386.kind(0), Kind::Restart);
        assert_eq!(Abi::I386.kind(3), Kind::Reads(0));
        assert_eq!(Abi::X8664.kind(3), Kind::Other);
        assert_eq!(Abi::Aarch64.kind(63), Kind::Reads(0));
    }
}
