//! Standard input and output without a thread a read, wherever they allow it.
//!
//! Clients connect a server by pipes (Python, Rust) or by sockets (Node). Both can be waited for; only a terminal or a
//! file needs tokio's blocking threads, which cost about 40 µs a message and cannot be stopped while they read.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::FileTypeExt as _;
use std::os::unix::net::UnixStream as StdUnixStream;

use rmcp::transport::stdio_pipes;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::UnixStream;

/// What a client's lines come from.
pub(super) type Input = Box<dyn AsyncRead + Send + Unpin>;
/// What a client's answers go to.
pub(super) type Output = Box<dyn AsyncWrite + Send + Unpin>;

/// Standard input and output. To be called inside the runtime, once.
pub(super) fn standard() -> (Input, Output) {
    if let (Some(input), Some(output)) = (socket(io::stdin()), socket(io::stdout())) {
        return (Box::new(input), Box::new(output));
    }
    let (input, output) = stdio_pipes();
    (Box::new(input), Box::new(output))
}

/// A socket as tokio waits for it; none where it is something else. Only ends of a connection to the client are made
/// non-blocking by this: what we start gets streams of its own.
fn socket(stream: impl AsFd) -> Option<UnixStream> {
    let file = File::from(stream.as_fd().try_clone_to_owned().ok()?);
    if !file.metadata().ok()?.file_type().is_socket() {
        return None;
    }
    let socket = StdUnixStream::from(OwnedFd::from(file));
    // A socket of another family, as inetd passes them, is left to the blocking way.
    socket.local_addr().ok()?;
    socket.set_nonblocking(true).ok()?;
    UnixStream::from_std(socket).ok()
}
