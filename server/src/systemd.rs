//! What a service tells systemd, and the socket it may have from it.
//!
//! The protocol of `sd_notify(3)` is one datagram of `KEY=value` lines to the socket that `NOTIFY_SOCKET` names, and
//! nothing is said where that is not set.

use std::ffi::OsStr;
use std::io;
use std::os::fd::AsFd;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};

/// Tells the service manager something, such as `READY=1`.
///
/// # Errors
/// Where there is a service manager that cannot be told.
pub fn notify(socket: Option<&OsStr>, state: &str) -> io::Result<()> {
    let Some(name) = socket else { return Ok(()) };
    let address = match name.as_bytes().split_first() {
        // systemd writes a socket of the abstract kind with an @ in front.
        Some((b'@', rest)) => SocketAddr::from_abstract_name(rest)?,
        _ => SocketAddr::from_pathname(name)?,
    };
    UnixDatagram::unbound()?.send_to_addr(state.as_bytes(), &address).map(|_| ())
}

/// The listening socket that systemd opened for us, if it did.
///
/// # Errors
/// Where what was passed is no Unix socket, or none that listens.
pub fn passed_socket() -> io::Result<Option<UnixListener>> {
    let passed = listenfd::ListenFd::from_env().take_unix_listener(0)?;
    if passed.as_ref().is_some_and(|socket| !listens(socket)) {
        return Err(io::Error::other(
            "it does not listen; a .socket unit with `ListenStream=` and without `Accept=yes` passes one that does",
        ));
    }
    Ok(passed)
}

/// A socket that does not would refuse to give a connection, again and again.
fn listens(socket: &impl AsFd) -> bool {
    nix::sys::socket::getsockopt(socket, nix::sys::socket::sockopt::AcceptConn).unwrap_or(true)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

    use super::*;

    #[test]
    fn it_is_one_datagram_to_a_path_or_an_abstract_name() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("notify");
        let abstract_name = format!("dtmcp-test-{}", std::process::id());
        let ends = [
            (path.clone().into_os_string(), UnixDatagram::bind(&path).unwrap()),
            (
                format!("@{abstract_name}").into(),
                UnixDatagram::bind_addr(&SocketAddr::from_abstract_name(abstract_name.as_bytes()).unwrap()).unwrap(),
            ),
        ];
        for (name, end) in ends {
            notify(Some(&name), "READY=1\nSTATUS=serving").unwrap();
            let mut said = [0; 64];
            let length = end.recv(&mut said).unwrap();
            assert_eq!(said.get(..length), Some(&b"READY=1\nSTATUS=serving"[..]));
        }
    }

    #[test]
    fn a_socket_that_does_not_listen_is_told() {
        let dir = tempfile::tempdir().unwrap();
        assert!(listens(&UnixListener::bind(dir.path().join("listens")).unwrap()));
        let (connected, _) = std::os::unix::net::UnixStream::pair().unwrap();
        assert!(!listens(&connected));
    }

    #[test]
    fn nobody_to_tell_is_no_error_and_a_socket_that_is_gone_is() {
        notify(None, "READY=1").unwrap();
        assert!(notify(Some(OsStr::new("/nonexistent/notify")), "READY=1").is_err());
    }
}
