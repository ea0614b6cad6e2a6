//! A person at a terminal: a tmux client attached from a pty of its own.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use nix::pty::{Winsize, openpty};

use crate::client::World;

/// What has not been seen by then never will.
const PATIENCE: Duration = Duration::from_secs(60);

/// A tmux server that has not gone by itself this long after it was told to is killed.
const GOING: Duration = Duration::from_secs(5);

/// A person attached to a session.
#[derive(Debug)]
pub struct Person {
    child: Child,
    keyboard: File,
    seen: Arc<Mutex<Vec<u8>>>,
}

impl Person {
    /// Attaches to a session from a terminal of this size.
    ///
    /// # Errors
    /// Where no pty is to be had, or tmux cannot be started.
    pub fn attach(world: &World, session: &str, cols: u16, rows: u16) -> Result<Self, String> {
        let size = Winsize { ws_row: rows, ws_col: cols, ws_xpixel: 0, ws_ypixel: 0 };
        let pty = openpty(&size, None).map_err(|error| error.to_string())?;
        let stdio = |fd: &OwnedFd| fd.try_clone().map(Stdio::from).map_err(|error| error.to_string());
        // setsid makes the pty the client's controlling terminal.
        let child = world
            .command("setsid")
            .args(["--ctty", "--wait", "tmux", "-L", "world", "attach", "-t", session])
            .stdin(stdio(&pty.slave)?)
            .stdout(stdio(&pty.slave)?)
            .stderr(stdio(&pty.slave)?)
            .spawn()
            .map_err(|error| error.to_string())?;
        let seen = Arc::new(Mutex::new(Vec::new()));
        let keyboard = File::from(pty.master);
        let mut screen = keyboard.try_clone().map_err(|error| error.to_string())?;
        let into = Arc::clone(&seen);
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(read) = screen.read(&mut buffer) {
                if read == 0 {
                    break;
                }
                into.lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .extend_from_slice(buffer.get(..read).unwrap_or_default());
            }
        });
        let person = Self { child, keyboard, seen };
        let clients =
            || world.tmux(&["list-clients", "-t", session, "-F", "#{client_control_mode}"]).unwrap_or_default();
        wait_until("the person is attached", || clients().contains('0'))?;
        Ok(person)
    }

    /// Types.
    ///
    /// # Errors
    /// Where the terminal is gone.
    pub fn types(&mut self, text: &str) -> Result<(), String> {
        self.keyboard.write_all(text.as_bytes()).map_err(|error| error.to_string())
    }

    /// Waits until the person has seen a text.
    ///
    /// # Errors
    /// Where it does not come.
    pub fn sees(&self, text: &str) -> Result<(), String> {
        let has = || {
            memchr::memmem::find(&self.seen.lock().unwrap_or_else(PoisonError::into_inner), text.as_bytes()).is_some()
        };
        wait_until(text, has)
    }

    /// The terminal's file descriptor, to change its size by.
    #[must_use]
    pub fn terminal(&self) -> i32 {
        self.keyboard.as_raw_fd()
    }
}

impl Drop for Person {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Waits for a state.
///
/// # Errors
/// Where it does not come.
pub fn wait_until(what: &str, holds: impl FnMut() -> bool) -> Result<(), String> {
    if comes_within(PATIENCE, holds) { Ok(()) } else { Err(format!("never came: {what}")) }
}

fn comes_within(patience: Duration, mut holds: impl FnMut() -> bool) -> bool {
    let begin = Instant::now();
    while !holds() {
        if begin.elapsed() > patience {
            return false;
        }
        // The interval at which a state is looked at.
        std::thread::sleep(Duration::from_millis(5));
    }
    true
}

/// Ends a test's own tmux server for good, given a way to ask it things. One whose control client was killed just before,
/// with something left to be written to it, waits for that client for ever (tmux 3.3a).
pub fn end_tmux(tmux: impl Fn(&[&str]) -> Option<String>) {
    let server = tmux(&["display-message", "-p", "#{pid}"]).and_then(|pid| pid.trim().parse::<i32>().ok());
    drop(tmux(&["kill-server"]));
    let Some(server) = server else { return };
    let stat = std::path::PathBuf::from(format!("/proc/{server}/stat"));
    let is_there = || std::fs::read_to_string(&stat).is_ok_and(|stat| !stat.contains(") Z "));
    if !comes_within(GOING, || !is_there()) {
        // It may have gone this very moment.
        let _ = nix::sys::signal::kill(nix::unistd::Pid::from_raw(server), nix::sys::signal::Signal::SIGKILL);
    }
}

/// Removes a test's directory for good: the processes of panes that were just killed still write the last of their
/// records into it, and a removal that such a file gets in the way of stops half done.
pub fn remove(dir: &std::path::Path) {
    // What cannot be removed is no reason to fail a test that has passed.
    drop(wait_until("the directory is gone", || match std::fs::remove_dir_all(dir) {
        Ok(()) => true,
        Err(error) => error.kind() == std::io::ErrorKind::NotFound && !dir.exists(),
    }));
}
