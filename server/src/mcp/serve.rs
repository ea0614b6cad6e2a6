//! Serves one client over a pair of byte streams, from its first line to its going.

use std::sync::Arc;
use std::time::Duration;

use rmcp::service::serve_server_with_ct;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;

use super::desk::Desk;
use super::handler::Front;
use super::lines::LineTransport;
use crate::calls::CallLog;

/// How long calls in flight may take to come to a sound end once the client is gone, and their answers to be written,
/// should it still read.
const LAST_CALLS: Duration = Duration::from_secs(2);

/// Serves the client at the other end of two streams until it closes them or `stop` ends.
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
    let front = Front::new(Arc::clone(&desk), Arc::new(log), gone.clone());
    let service = CancellationToken::new();
    let watch = tokio::spawn({
        let (gone, service) = (gone.clone(), service.clone());
        async move {
            tokio::select! {
                () = gone.cancelled() => {}
                () = stop => { gone.cancel(); service.cancel(); }
            }
            // The next server may start this moment.
            desk.release();
        }
    });
    let work = async {
        let transport = LineTransport::new(read, write, gone.clone());
        match serve_server_with_ct(front.clone(), transport, service).await {
            Ok(running) => {
                if let Err(error) = running.waiting().await {
                    tracing::error!(%error, "the service broke off");
                }
            }
            // A client that leaves before it says anything has done nothing wrong.
            Err(error) if gone.is_cancelled() => tracing::debug!(%error, "the client left"),
            Err(error) => tracing::error!(%error, "the client could not be served"),
        }
        gone.cancel();
        front.finish().await;
    };
    let late = async {
        gone.cancelled().await;
        tokio::time::sleep(LAST_CALLS).await;
    };
    tokio::select! {
        () = work => {}
        () = late => tracing::warn!(?front, "calls did not end with their client"),
    }
    drop(watch.await);
}
