//! Taking connections: who may connect, how many, and what to do when descriptors run out.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use nix::unistd::geteuid;
use tokio::net::{TcpListener, UnixListener, UnixStream};

use super::Site;
use super::connection::{self, Way};
use super::guard::Guard;
use super::room::{Place, Room};

/// Connections on the socket at a time, each a bridge or a request of the user's own.
const SOCKET_CONNECTIONS_MAX: usize = 512;

/// Connections on the port at a time, counted apart: strangers can fill the port, and must not fill the socket.
const PORT_CONNECTIONS_MAX: usize = 1024;

/// How long to wait where no connection can be taken, mostly for want of descriptors: the next try would fail as well.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// What whoever finds no place is told before the connection is closed.
const FULL: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n\
    {\"error\":\"the server has as many connections as it takes, and all are at work; try again when one has ended\"}\n";

pub(super) async fn unix(listener: UnixListener, site: Arc<Site>) {
    let room = Room::new(SOCKET_CONNECTIONS_MAX);
    let mut trouble = Trouble::default();
    while let Some(accepted) = or_stop(&site, listener.accept()).await {
        trouble.over(accepted.is_ok());
        match accepted {
            Ok((stream, _)) if may_connect(&stream) => match room.take() {
                Some(place) => start(&site, stream, Way::Socket, place),
                None => refused(&stream.try_write(FULL)),
            },
            Ok(_) => tracing::warn!("a connection of another user was closed"),
            Err(error) => trouble.pause(&error, &room).await,
        }
    }
}

pub(super) async fn tcp(listener: TcpListener, guard: Arc<Guard>, site: Arc<Site>) {
    let room = Room::new(PORT_CONNECTIONS_MAX);
    let mut trouble = Trouble::default();
    while let Some(accepted) = or_stop(&site, listener.accept()).await {
        trouble.over(accepted.is_ok());
        match accepted {
            Ok((stream, _)) => {
                // A small answer must not wait for the acknowledgement of the one before.
                drop(stream.set_nodelay(true));
                match room.take() {
                    Some(place) => start(&site, stream, Way::Port(Arc::clone(&guard)), place),
                    None => refused(&stream.try_write(FULL)),
                }
            }
            Err(error) => trouble.pause(&error, &room).await,
        }
    }
}

/// What could not be told to whoever found no place is only that they see no reason.
fn refused(told: &io::Result<usize>) {
    tracing::debug!(?told, "a connection found no place");
}

async fn or_stop<T>(site: &Site, accept: impl Future<Output = T>) -> Option<T> {
    tokio::select! {
        accepted = accept => Some(accepted),
        () = site.shared.stopping.cancelled() => None,
    }
}

fn start<S>(site: &Arc<Site>, stream: S, way: Way, place: Place)
where
    S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin + Send + 'static,
{
    let site_of_it = Arc::clone(site);
    site.tasks.spawn(async move {
        connection::serve(stream, way, site_of_it, place).await;
    });
}

/// The same user or root; the modes of socket and directory say so too, but not where a file system ignores them.
fn may_connect(stream: &UnixStream) -> bool {
    stream.peer_cred().is_ok_and(|peer| peer.uid() == geteuid().as_raw() || peer.uid() == 0)
}

/// Connections that cannot be taken: it is said when that begins and when it is over, not at each try.
#[derive(Debug, Default)]
struct Trouble {
    lasts: bool,
}

impl Trouble {
    /// Without descriptors, a connection that is idle has one to give.
    async fn pause(&mut self, error: &io::Error, room: &Room) {
        if !self.lasts {
            tracing::warn!(%error, "connections cannot be taken; it is tried again until they can");
        }
        self.lasts = true;
        room.make_way();
        tokio::time::sleep(ACCEPT_PAUSE).await;
    }

    fn over(&mut self, taken: bool) {
        if taken && self.lasts {
            tracing::info!("connections are taken again");
            self.lasts = false;
        }
    }
}
