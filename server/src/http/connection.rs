//! One HTTP/1.1 connection, and what it becomes when a bridge takes it over.

use std::convert::Infallible;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};

use super::guard::Guard;
use super::room::Place;
use super::stalled::Unstalled;
use super::{Site, routes};

/// How long a request's head may take from its first byte to its last, and a connection may lie idle between two:
/// longer than the clients' pools keep one.
const HEAD_WAIT: Duration = Duration::from_secs(15);

/// The longest head of a request, in bytes. The buffer may take in somewhat more before it is found full, so
/// [`routes::answer`] measures once more.
pub(super) const HEAD_MAX: usize = 64 * 1024;

/// Lines in the head of a request, apart from its first: far more than any client sends.
const HEADERS_MAX: usize = 100;

/// How long the answers under way may take once the server stops.
const LAST_ANSWERS: Duration = Duration::from_secs(2);

/// How a client got here.
#[derive(Debug, Clone)]
pub(crate) enum Way {
    /// Through the socket: a process of the user's.
    Socket,
    /// Through a port: anyone.
    Port(Arc<Guard>),
}

/// Serves a connection until it closes, has to make way for another or the server stops; `place` is given up with it,
/// also where a bridge has taken it over.
pub(super) async fn serve<S>(stream: S, way: Way, site: Arc<Site>, place: Place)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let place = Arc::new(place);
    let service = service_fn(|request: Request<Incoming>| {
        let (site, way, place) = (Arc::clone(&site), way.clone(), Arc::clone(&place));
        async move { Ok::<Response<_>, Infallible>(routes::answer(request, &way, &site, &place).await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_WAIT)
        .max_buf_size(HEAD_MAX)
        .max_headers(HEADERS_MAX)
        .serve_connection(TokioIo::new(Unstalled::new(stream)), service)
        .with_upgrades();
    let mut connection = pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = place.to_leave() => return,
        () = site.shared.stopping.cancelled() => {
            connection.as_mut().graceful_shutdown();
            // A stream of events that a client listens to has no end of its own.
            tokio::time::timeout(LAST_ANSWERS, connection).await.unwrap_or(Ok(()))
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection broke off");
    }
}
