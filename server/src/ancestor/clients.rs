//! Those who ask the ancestor: how many, how much and how often, so that none of them can hold up the others.

use std::io::{self, ErrorKind, Read as _, Write as _};
use std::os::fd::{AsFd as _, BorrowedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::time::{Duration, Instant};

use nix::sys::socket::{getsockopt, sockopt};
use nix::unistd::geteuid;

use super::protocol::{Answer, REQUEST_MAX, Request};

/// Who may be connected at once. A server needs one connection, and there is one server at a time; beyond that the one
/// that was silent for the longest makes room.
const CLIENTS_MAX: usize = 8;

/// How many requests one may make in a row, and how soon it may make another after that: two hundred sessions that are
/// looked at four times a second need less. A request costs some 30 microseconds.
const BURST: u32 = 500;
const STEP: Duration = Duration::from_micros(500);

/// Everybody who is connected.
#[derive(Debug, Default)]
pub(super) struct Clients {
    all: Vec<Client>,
}

#[derive(Debug)]
struct Client {
    stream: UnixStream,
    /// What has been read and not answered; never longer than a request.
    buffer: Vec<u8>,
    /// How many requests it may make now, as of then.
    allowance: u32,
    counted: Instant,
    heard: Instant,
}

impl Clients {
    /// Takes in those who want to connect and are of our user.
    ///
    /// # Errors
    /// Where somebody waits and cannot be taken in, for want of descriptors.
    pub(super) fn accept(&mut self, listener: &UnixListener, now: Instant) -> io::Result<()> {
        // As many as may be connected, so that a crowd at the door does not keep the others waiting.
        for _ in 0..CLIENTS_MAX {
            let stream = match listener.accept() {
                Ok((stream, _)) => stream,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            };
            if !is_ours(&stream) || stream.set_nonblocking(true).is_err() {
                continue;
            }
            if self.all.len() >= CLIENTS_MAX
                && let Some((at, _)) = self.all.iter().enumerate().min_by_key(|(_, client)| client.heard)
            {
                self.all.swap_remove(at);
            }
            self.all.push(Client { stream, buffer: Vec::new(), allowance: BURST, counted: now, heard: now });
        }
        Ok(())
    }

    /// The connections of those who may ask now.
    pub(super) fn listened_to(&mut self, now: Instant) -> Vec<BorrowedFd<'_>> {
        for client in &mut self.all {
            client.refill(now);
        }
        self.all.iter().filter(|client| client.allowance > 0).map(|client| client.stream.as_fd()).collect()
    }

    /// How long to wait for news at most: not at all where a request lies here, a step where somebody has to wait for
    /// the next.
    pub(super) fn patience(&self) -> Option<Duration> {
        let waits = |client: &Client| {
            if client.allowance == 0 { Some(STEP) } else { client.has_request().then_some(Duration::ZERO) }
        };
        self.all.iter().filter_map(waits).min()
    }

    /// Answers at most one request of each.
    pub(super) fn serve(&mut self, now: Instant, mut answer: impl FnMut(Request) -> Answer) {
        self.all.retain_mut(|client| client.allowance == 0 || client.serve(now, &mut answer));
    }
}

impl Client {
    fn refill(&mut self, now: Instant) {
        let steps = now.saturating_duration_since(self.counted).as_micros() / STEP.as_micros();
        let steps = u32::try_from(steps).unwrap_or(u32::MAX);
        self.allowance = self.allowance.saturating_add(steps).min(BURST);
        if steps > 0 {
            self.counted = now;
        }
    }

    fn has_request(&self) -> bool {
        self.buffer.contains(&b'\n')
    }

    /// Answers one request, if there is one; false where the connection is over.
    fn serve(&mut self, now: Instant, answer: &mut impl FnMut(Request) -> Answer) -> bool {
        if !self.has_request() {
            let mut room = [0; REQUEST_MAX];
            let room = room.get_mut(..REQUEST_MAX.saturating_sub(self.buffer.len())).unwrap_or_default();
            match self.stream.read(room) {
                Ok(0) => return false,
                Ok(count) => {
                    self.buffer.extend_from_slice(room.get(..count).unwrap_or_default());
                    self.heard = now;
                }
                Err(error) => return matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted),
            }
        }
        let Some(end) = self.buffer.iter().position(|byte| *byte == b'\n') else {
            // A line that is longer than any request.
            return self.buffer.len() < REQUEST_MAX;
        };
        let line: Vec<u8> = self.buffer.drain(..=end).collect();
        let request = line.strip_suffix(b"\n").and_then(|line| Request::parse(std::str::from_utf8(line).ok()?));
        let said = request.map_or(Answer::What, answer);
        self.allowance = self.allowance.saturating_sub(1);
        // One that does not read what it asked for is not waited for.
        self.stream.write_all(said.line().as_bytes()).is_ok() && said != Answer::What
    }
}

/// Whether it is a program of our own user that has connected. The socket's mode says so too, but a directory may be
/// opened to others by mistake.
fn is_ours(stream: &UnixStream) -> bool {
    getsockopt(stream, sockopt::PeerCredentials).is_ok_and(|peer| peer.uid() == geteuid().as_raw())
}
