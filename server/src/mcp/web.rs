//! MCP over HTTP: both life cycles at one address, each request's agent from its headers.

use std::convert::Infallible;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::Full;
use http_body_util::combinators::BoxBody;
use hyper::body::Bytes;
use hyper::{Request, Response};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio_util::sync::CancellationToken;

use super::agent::Agent;
use super::handler::{Front, Shared};
use super::numbers::{LaterNumber, Numbers};

/// How long a session of the older life cycle stays without a message either way. A call waits an hour at most, and
/// whoever is away longer than this begins a new session when told that the old one is unknown.
const SESSION_IDLE: Duration = Duration::from_secs(6 * 60 * 60);

/// Sessions of the older life cycle at a time. Some clients open one for each thing they are asked and never end it.
const SESSIONS_MAX: usize = 1000;

/// The header of a session.
const SESSION_HEADER: &str = "mcp-session-id";

/// Whatever answers a request.
pub type Answer = Response<BoxBody<Bytes, Infallible>>;

/// The MCP endpoint.
#[derive(Clone)]
pub struct Web {
    service: StreamableHttpService<Front, LocalSessionManager>,
    sessions: Arc<LocalSessionManager>,
    front: Front,
}

impl fmt::Debug for Web {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Web").field("front", &self.front).finish_non_exhaustive()
    }
}

impl Web {
    /// An endpoint for bodies of up to `body_max` bytes. Each session of the older life cycle gets a number of its own.
    pub fn new(shared: Shared, body_max: usize, numbers: Arc<Numbers>) -> Self {
        let gone = CancellationToken::new();
        let stopping = shared.stopping.clone();
        let front = Front::new(shared, Agent::Client, gone);
        let mut sessions = LocalSessionManager::default();
        sessions.session_config.keep_alive = Some(SESSION_IDLE);
        let sessions = Arc::new(sessions);
        // Host and Origin are looked at before a request comes here, for every address alike.
        let config = StreamableHttpServerConfig::default()
            .disable_allowed_hosts()
            .disable_allowed_origins()
            .with_max_request_body_bytes(body_max)
            .with_cancellation_token(stopping);
        let make = {
            let front = front.clone();
            move || Ok(front.for_agent(Agent::Http(Arc::new(LaterNumber::new(Arc::clone(&numbers))))))
        };
        let service = StreamableHttpService::new(make, Arc::clone(&sessions), config);
        Self { service, sessions, front }
    }

    /// Whether another session of the older life cycle may begin with this request, if it begins one.
    pub async fn has_room(&self, headers: &hyper::HeaderMap) -> bool {
        headers.contains_key(SESSION_HEADER) || self.sessions.sessions.read().await.len() < SESSIONS_MAX
    }

    /// Whether a request names a session of the older life cycle that there is not.
    pub async fn is_unknown(&self, headers: &hyper::HeaderMap) -> bool {
        let Some(id) = headers.get(SESSION_HEADER).and_then(|id| id.to_str().ok()) else { return false };
        !self.sessions.sessions.read().await.contains_key(id)
    }

    /// Answers one request, whose body has been read.
    pub async fn answer(&self, request: Request<Full<Bytes>>) -> Answer {
        self.service.handle(request).await
    }

    /// Waits until the desk has finished every call that came this way; the server is stopping.
    pub async fn finish(&self) {
        self.front.finish().await;
    }
}
