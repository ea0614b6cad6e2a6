//! A program that waits in one way: each mode is a case of what an inspection has to tell apart. The modes that end by
//! themselves do so when something is typed.
#![allow(clippy::print_stdout, reason = "a program at a terminal prints")]

use std::io::{IoSliceMut, Write as _};
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use nix::sys::select::{FdSet, pselect, select};
use nix::sys::signal::{SigSet, Signal, raise};
use nix::sys::socket::{AddressFamily, SockFlag, SockType, socketpair};
use nix::sys::termios::{LocalFlags, SetArg, SpecialCharacterIndices, Termios, tcgetattr, tcsetattr};
use nix::unistd::{dup, pause, read, ttyname};

/// Everything here fails only where the test is wrong.
type Waited = Result<(), Errno>;

/// A mode, and how it waits.
type Mode = (&'static str, fn() -> Waited);

const MODES: &[Mode] = &[
    ("read", || reads(std::io::stdin().as_fd())),
    ("readv", || {
        let mut buffer = [0; 256];
        nix::sys::uio::readv(std::io::stdin(), &mut [IoSliceMut::new(&mut buffer)]).map(drop)
    }),
    ("poll", || polls(&[std::io::stdin().as_fd()])),
    ("poll2", polls_both),
    ("pollsock", || polls(&[sockets()?.0.as_fd()])),
    ("pollneg", || bare::poll_nothing_and(sockets()?.0.as_fd())),
    ("pollhup", || {
        let sockets = sockets()?;
        let stdin = std::io::stdin();
        let terminal = PollFd::new(stdin.as_fd(), PollFlags::empty());
        poll(&mut [terminal, PollFd::new(sockets.0.as_fd(), PollFlags::POLLIN)], PollTimeout::NONE).map(drop)
    }),
    ("select", || selects(std::io::stdin().as_fd())),
    ("pselect", || {
        let stdin = std::io::stdin();
        let mut set = FdSet::new();
        set.insert(stdin.as_fd());
        pselect(None, &mut set, None, None, None, None).map(drop)
    }),
    ("selecthi", || {
        let mut copies = vec![dup(std::io::stdin())?];
        while copies.last().is_some_and(|copy| copy.as_raw_fd() < 900) {
            copies.push(dup(std::io::stdin())?);
        }
        let highest = copies.pop().ok_or(Errno::EMFILE)?;
        drop(copies);
        selects(highest.as_fd())
    }),
    ("selectw", || selects(sockets()?.0.as_fd())),
    ("epoll", || epolls(std::io::stdin().as_fd())),
    ("epollsock", || epolls(sockets()?.0.as_fd())),
    ("epollpw2", || bare::epoll_pwait2(list(std::io::stdin().as_fd())?.0.as_fd())),
    ("epollnest", || {
        let epoll = list(std::io::stdin().as_fd())?;
        poll(&mut [PollFd::new(epoll.0.as_fd(), PollFlags::POLLIN)], PollTimeout::NONE).map(drop)
    }),
    // An editor of lines asks behind its prompt; then the program takes keys, somewhere else, and asks for one once.
    ("epollonce", || {
        let old = change(|modes| modes.local_flags.remove(LocalFlags::ICANON | LocalFlags::ECHO))?;
        print!("key> ");
        flush();
        let stdin = std::io::stdin();
        reads(stdin.as_fd())?;
        println!("once");
        let epoll = Epoll::new(EpollCreateFlags::empty())?;
        epoll.add(stdin.as_fd(), EpollEvent::new(EpollFlags::EPOLLIN | EpollFlags::EPOLLONESHOT, 0))?;
        std::thread::spawn(sleeps);
        epoll.wait(&mut [EpollEvent::empty()], EpollTimeout::NONE)?;
        tcsetattr(&stdin, SetArg::TCSANOW, &old)
    }),
    ("spin50", || {
        for turn in 0_usize.. {
            print!("\r{} working {turn}", ["|", "/", "-", "\\"].get(turn % 4).unwrap_or(&""));
            flush();
            if typed(50)? {
                break;
            }
        }
        Ok(())
    }),
    ("spinwork", || {
        while !typed(5)? {
            let begin = Instant::now();
            while begin.elapsed() < Duration::from_millis(45) {
                std::hint::spin_loop();
            }
        }
        Ok(())
    }),
    ("quietpoll50", || {
        while !typed(50)? {}
        Ok(())
    }),
    ("nbspin", || {
        let stdin = std::io::stdin();
        fcntl(&stdin, FcntlArg::F_SETFL(OFlag::O_NONBLOCK))?;
        while reads(stdin.as_fd()) == Err(Errno::EAGAIN) {
            poll(&mut [], 20_u8)?;
        }
        Ok(())
    }),
    ("devtty", || reads(open("/dev/tty")?.as_fd())),
    ("dup", || {
        let terminal = dup(std::io::stdout())?;
        nix::unistd::close(0)?;
        reads(terminal.as_fd())
    }),
    ("byname", || {
        let name = ttyname(std::io::stdin())?;
        let terminal = open(&name.to_string_lossy())?;
        nix::unistd::close(0)?;
        reads(terminal.as_fd())
    }),
    ("stop", || raise(Signal::SIGSTOP)),
    ("hidden", hidden),
    // What a script does between two questions: it does not ask, it works.
    ("hiddenwork", || {
        change(|modes| modes.local_flags.remove(LocalFlags::ECHO))?;
        sleeps()
    }),
    ("threads", || {
        for _ in 0..30 {
            std::thread::spawn(|| {
                loop {
                    std::thread::park();
                }
            });
        }
        reads(std::io::stdin().as_fd())
    }),
    ("thread", || {
        let reader = std::thread::spawn(|| reads(std::io::stdin().as_fd()));
        reader.join().unwrap_or(Err(Errno::EINTR))
    }),
    ("vtime", || {
        change(|modes| {
            modes.local_flags.remove(LocalFlags::ICANON);
            if let Some(least) = modes.control_chars.get_mut(SpecialCharacterIndices::VMIN as usize) {
                *least = 0;
            }
            if let Some(tenths) = modes.control_chars.get_mut(SpecialCharacterIndices::VTIME as usize) {
                *tenths = 2;
            }
        })?;
        let mut buffer = [0; 256];
        while read(std::io::stdin(), &mut buffer)? == 0 {}
        Ok(())
    }),
    ("rawpoll", || {
        change(|modes| modes.local_flags.remove(LocalFlags::ICANON | LocalFlags::ECHO))?;
        polls_both()
    }),
    ("fork", || again("read", None)),
    ("forkpg", || again("read", Some(0))),
    ("recv", || reads(sockets()?.0.as_fd())),
    ("pause", || {
        pause();
        Ok(())
    }),
    ("sigwait", || {
        let mut set = SigSet::empty();
        set.add(Signal::SIGUSR1);
        set.thread_block()?;
        set.wait().map(drop)
    }),
    ("sleep", sleeps),
    ("compute", || {
        loop {
            std::hint::spin_loop();
        }
    }),
];

fn main() -> ExitCode {
    let mode = std::env::args().nth(1).unwrap_or_default();
    let Some((_, run)) = MODES.iter().find(|(name, _)| *name == mode) else {
        for (name, _) in MODES {
            println!("{name}");
        }
        return ExitCode::from(2);
    };
    println!("ready");
    flush();
    let waited = run();
    println!("done: {waited:?}");
    if waited.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn flush() {
    // Where the terminal is gone there is nobody to tell.
    drop(std::io::stdout().flush());
}

fn open(path: &str) -> Result<std::fs::File, Errno> {
    let opened = std::fs::OpenOptions::new().read(true).write(true).custom_flags(libc::O_NOCTTY).open(path);
    opened.map_err(|error| Errno::from_raw(error.raw_os_error().unwrap_or(0)))
}

fn reads(from: BorrowedFd<'_>) -> Waited {
    read(from, &mut [0; 256]).map(drop)
}

fn sockets() -> Result<(OwnedFd, OwnedFd), Errno> {
    socketpair(AddressFamily::Unix, SockType::Stream, None, SockFlag::empty())
}

fn polls(fds: &[BorrowedFd<'_>]) -> Waited {
    let mut entries: Vec<PollFd<'_>> = fds.iter().map(|fd| PollFd::new(*fd, PollFlags::POLLIN)).collect();
    poll(&mut entries, PollTimeout::NONE).map(drop)
}

fn polls_both() -> Waited {
    polls(&[std::io::stdin().as_fd(), sockets()?.0.as_fd()])
}

fn selects(fd: BorrowedFd<'_>) -> Waited {
    let mut set = FdSet::new();
    set.insert(fd);
    select(None, &mut set, None, None, None).map(drop)
}

fn list(fd: BorrowedFd<'_>) -> Result<Epoll, Errno> {
    let epoll = Epoll::new(EpollCreateFlags::empty())?;
    epoll.add(fd, EpollEvent::new(EpollFlags::EPOLLIN, 0))?;
    Ok(epoll)
}

fn epolls(fd: BorrowedFd<'_>) -> Waited {
    list(fd)?.wait(&mut [EpollEvent::empty()], EpollTimeout::NONE).map(drop)
}

/// Whether something is typed within a number of milliseconds.
fn typed(milliseconds: u16) -> Result<bool, Errno> {
    let stdin = std::io::stdin();
    Ok(poll(&mut [PollFd::new(stdin.as_fd(), PollFlags::POLLIN)], milliseconds)? > 0)
}

fn change(how: impl FnOnce(&mut Termios)) -> Result<Termios, Errno> {
    let stdin = std::io::stdin();
    let old = tcgetattr(&stdin)?;
    let mut new = old.clone();
    how(&mut new);
    tcsetattr(&stdin, SetArg::TCSANOW, &new)?;
    Ok(old)
}

fn hidden() -> Waited {
    let old = change(|modes| modes.local_flags.remove(LocalFlags::ECHO))?;
    print!("Secret: ");
    flush();
    let stdin = std::io::stdin();
    reads(stdin.as_fd())?;
    tcsetattr(&stdin, SetArg::TCSANOW, &old)
}

fn sleeps() -> Waited {
    nix::unistd::sleep(3600);
    Ok(())
}

/// Runs another mode in a child, in a process group of its own or in ours.
fn again(mode: &str, group: Option<i32>) -> Waited {
    let own = std::env::current_exe().map_err(|_| Errno::ENOENT)?;
    let mut command = Command::new(own);
    command.arg(mode);
    if let Some(group) = group {
        command.process_group(group);
    }
    command.status().map(drop).map_err(|_| Errno::ECHILD)
}

/// Calls that no safe interface lets through: an entry that is no descriptor, and a call that is too new for one.
mod bare {
    #![allow(unsafe_code, reason = "the cases are about what programs in C pass to the kernel")]

    use std::os::fd::{AsRawFd as _, BorrowedFd};

    use nix::errno::Errno;
    use nix::libc;

    use super::Waited;

    pub(super) fn poll_nothing_and(other: BorrowedFd<'_>) -> Waited {
        let entry = |fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
        let mut entries = [entry(-1), entry(other.as_raw_fd())];
        // SAFETY: the pointer and the count describe the array, which outlives the call.
        Errno::result(unsafe { libc::poll(entries.as_mut_ptr(), 2, -1) }).map(drop)
    }

    pub(super) fn epoll_pwait2(list: BorrowedFd<'_>) -> Waited {
        let mut event = libc::epoll_event { events: 0, u64: 0 };
        let timeout = libc::timespec { tv_sec: 1000, tv_nsec: 0 };
        let mask = std::ptr::null::<libc::sigset_t>();
        // SAFETY: room for the one event asked for, a time that outlives the call, and no mask.
        let waited = unsafe {
            libc::syscall(libc::SYS_epoll_pwait2, list.as_raw_fd(), &raw mut event, 1, &raw const timeout, mask, 0)
        };
        Errno::result(waited).map(drop)
    }
}
