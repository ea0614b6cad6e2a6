//! What the front hands its calls to.

use async_trait::async_trait;
use dtmcp_core::call::Request;
use dtmcp_core::reply::Reply;
use tokio_util::sync::CancellationToken;

/// Carries out calls: the sessions behind the front.
#[async_trait]
pub trait Desk: Send + Sync {
    /// Returns once calls can be taken. Calls are begun in the order in which they came, each after this has returned,
    /// so what all calls have to wait for is waited for here.
    async fn ready(&self) {}

    /// Carries out one call of the agent `actor` and gives its reply, an error as a reply too.
    ///
    /// `cancel` fires when the client has cancelled the call or is gone. The future is not dropped then, so that it
    /// never stops half-way through typing: it stops waiting and returns soon, with any reply. What was typed stays
    /// typed, and the command goes on.
    ///
    /// The next call is begun when this future has been polled once: where calls are to be taken first come, first
    /// served, it has to queue up before it waits for anything.
    async fn call(&self, actor: &str, request: Request, cancel: CancellationToken) -> Reply;

    /// The client is gone, and every `cancel` has fired: no more calls come, and the lock on the state directory is
    /// to be given up at once, for the next server. Called once, and must not block.
    fn release(&self) {}
}
