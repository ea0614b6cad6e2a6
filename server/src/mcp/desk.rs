//! What the front hands its calls to.

use std::sync::Arc;

use async_trait::async_trait;
use dtmcp_core::call::Request;
use dtmcp_core::reply::Reply;
use dtmcp_core::resource::Address;
use tokio_util::sync::CancellationToken;

use crate::updates::Updates;

/// What can be read, as it is listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// Where it is.
    pub address: Address,
    /// What it is called: a command line.
    pub title: String,
    /// How it stands, in a few words.
    pub description: String,
}

/// A page of a list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Page {
    /// In the order of the list.
    pub entries: Vec<Listed>,
    /// Whether more follow behind the last.
    pub more: bool,
}

/// Why something cannot be read, in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unreadable {
    /// There is no such session or region.
    Unknown(String),
    /// There is, and something went wrong.
    Trouble(String),
}

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

    /// One page of the open sessions and their newest regions, behind an address.
    async fn resources(&self, after: Option<&Address>) -> Page;

    /// What a session or a region looks like, as a reply would show it. Nobody's news are taken by it.
    async fn resource(&self, address: &Address) -> Result<Reply, Unreadable>;

    /// Whether there is such a session or region; if not, what there is, in words.
    async fn knows(&self, address: &Address) -> Result<(), String>;

    /// Who is told of changes.
    fn updates(&self) -> Arc<Updates>;

    /// The client is gone, and every `cancel` has fired: no more calls come, and the lock on the state directory is
    /// to be given up at once, for the next server. Called once, and must not block.
    fn release(&self) {}
}
