//! The shared server: any number of clients and people on a Unix socket, and on a TCP port if asked.

mod answers;
mod connection;
pub mod guard;
mod listen;
mod room;
mod routes;
pub mod socket;
mod stalled;
pub mod token;

use std::sync::Arc;

use tokio::net::{TcpListener, UnixListener};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::hub::Hub;
use crate::mcp::handler::Shared;
use crate::mcp::numbers::Numbers;
use crate::mcp::web::Web;
use guard::Guard;
pub(crate) use routes::{BRIDGE_PATH, BRIDGE_PROTOCOL, CONNECTION_HEADER, TOOLS_HEADER};

/// The largest body of a request, in bytes. A call's longest text is 1,000,000 bytes, at most six times as long in JSON.
const BODY_MAX: usize = 8 * 1024 * 1024;

/// What every connection needs.
#[derive(Debug)]
pub(crate) struct Site {
    hub: Arc<Hub>,
    shared: Shared,
    web: Web,
    numbers: Arc<Numbers>,
    /// Drawn anew at every start.
    instance: String,
    /// Connections, each a task.
    tasks: TaskTracker,
}

/// A server that can be given listeners.
#[derive(Debug, Clone)]
pub struct Server {
    site: Arc<Site>,
}

impl Server {
    /// A server in front of a hub. `shared.stopping` ends it.
    #[must_use]
    pub fn new(hub: Arc<Hub>, shared: Shared) -> Self {
        let numbers = Numbers::open(hub.config.home.join("connections"));
        let web = Web::new(shared.clone(), BODY_MAX, Arc::clone(&numbers));
        let site = Site { hub, shared, web, numbers, instance: instance(), tasks: TaskTracker::new() };
        Self { site: Arc::new(site) }
    }

    /// Serves the user's own processes.
    pub fn serve_socket(&self, listener: UnixListener) {
        let site = Arc::clone(&self.site);
        self.site.tasks.spawn(listen::unix(listener, site));
    }

    /// Serves a port, behind a guard that asks for the token.
    pub fn serve_port(&self, listener: TcpListener, guard: Guard) {
        let site = Arc::clone(&self.site);
        self.site.tasks.spawn(listen::tcp(listener, Arc::new(guard), site));
    }

    /// The token whose firing ends the server.
    #[must_use]
    pub fn stopping(&self) -> &CancellationToken {
        &self.site.shared.stopping
    }

    /// Waits until every connection has come to its end; `stopping` has fired.
    pub async fn finish(&self) {
        self.site.tasks.close();
        self.site.web.finish().await;
        self.site.tasks.wait().await;
    }
}

/// A name that no other start has.
fn instance() -> String {
    let mut bytes = [0; 16];
    if getrandom::fill(&mut bytes).is_err() {
        // Without random numbers the process and its start tell it apart just as well.
        let ticks = crate::terminal::start_ticks(std::process::id()).unwrap_or_default();
        return format!("{}-{ticks}", std::process::id());
    }
    token::hex(&bytes)
}
