//! Serves one client over a pair of byte streams, from its first line to its going.

use std::sync::Arc;
use std::time::Duration;

use rmcp::service::serve_server_with_ct;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;

use super::agent::Agent;
use super::desk::Desk;
use super::handler::{Front, Shared};
use super::lines::LineTransport;
use crate::calls::CallLog;

/// How long calls in flight may take to come to a sound end once the client is gone, and their answers to be written,
/// should it still read.
const LAST_CALLS: Duration = Duration::from_secs(2);

/// Serves the one client of a server until it closes its end or `stop` ends. The desk is released the moment the client
/// is gone.
pub async fn serve_client<R, W>(
    read: R,
    write: W,
    desk: Arc<dyn Desk>,
    log: CallLog,
    stop: impl Future<Output = ()> + Send + 'static,
) where
    R: AsyncRead + Unpin + Send + 'static,
    W: AsyncWrite + Unpin + Send + 'static,
{
    let gone = CancellationToken::new();
    let stopping = CancellationToken::new();
    let watch = tokio::spawn({
        let (gone, stopping, desk) = (gone.clone(), stopping.clone(), Arc::clone(&desk));
        async move {
            tokio::select! {
                () = gone.cancelled() => {}
                () = stop => stopping.cancel(),
            }
            // The next server may start this moment.
            desk.release();
        }
    });
    let shared = Shared { desk, log: Arc::new(log), stopping };
    converse(read, write, shared, Agent::Client, gone).await;
    drop(watch.await);
}

/// Serves a client that shares the server with others until it closes its end or the server stops.
pub async fn serve_connection<R, W>(read: R, write: W, shared: Shared, agent: Agent)
where
    R: AsyncRead + Unpin + Send + 'static,
    W: AsyncWrite + Unpin + Send + 'static,
{
    converse(read, write, shared, agent, CancellationToken::new()).await;
}

async fn converse<R, W>(read: R, write: W, shared: Shared, agent: Agent, gone: CancellationToken)
where
    R: AsyncRead + Unpin + Send + 'static,
    W: AsyncWrite + Unpin + Send + 'static,
{
    let service = CancellationToken::new();
    let stopping = shared.stopping.clone();
    let front = Front::new(shared, agent, gone.clone());
    let work = async {
        let transport = LineTransport::new(read, write, gone.clone());
        match serve_server_with_ct(front.clone(), transport, service.clone()).await {
            Ok(running) => {
                if let Err(error) = running.waiting().await {
                    tracing::error!(%error, "the service broke off");
                }
            }
            // A client that leaves before it says anything has done nothing wrong.
            Err(error) if gone.is_cancelled() || stopping.is_cancelled() => tracing::debug!(%error, "the client left"),
            Err(error) => tracing::error!(%error, "the client could not be served"),
        }
        gone.cancel();
        front.finish().await;
    };
    let late = async {
        tokio::select! {
            () = gone.cancelled() => {}
            // The calls that wait are answered before the client's end is closed.
            () = stopping.cancelled() => service.cancel(),
        }
        tokio::time::sleep(LAST_CALLS).await;
    };
    tokio::select! {
        () = work => {}
        () = late => tracing::warn!(?front, "calls did not end with their client"),
    }
    gone.cancel();
}
