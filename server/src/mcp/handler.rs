//! The MCP server: lists the tools, checks arguments, hands calls to the desk, and turns replies into results.

use std::borrow::Cow;
use std::sync::{Arc, LazyLock};
use std::task::Poll;
use std::time::{Duration, Instant};

use dtmcp_core::guide::{self, tools::Effect};
use dtmcp_core::reply::Reply;
use dtmcp_core::text::visible::{quoted, spell_out};
use rmcp::ErrorData;
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, CustomRequest, CustomResult, ErrorCode,
    Implementation, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, MetaObject,
    PaginatedRequestParams, ProgressNotificationParam, ProtocolVersion, ReadResourceRequestParams,
    ReadResourceResponse, ServerCapabilities, ServerConfig, SubscribeRequestParams, SubscriptionFilter, Tool,
    ToolAnnotations, UnsubscribeRequestParams,
};
use rmcp::service::{RequestContext, RoleServer, SubscriptionContext};
use serde_json::{Map, Value, json};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::agent::Agent;
use super::desk::Desk;
use super::resources::{Client, Resources};
use super::schema::input_schema;
use super::tools::{self, Call};
use super::turns::{Ticket, Turn};
use crate::calls::{CallLog, Entry};

/// How often a waiting call reports progress. The contract says every 5 s at least.
const PROGRESS_EVERY: Duration = Duration::from_secs(4);

/// What a call that still waits is told when the server stops. The session goes on without it.
const STOPPED: &str = "dtmcp is stopping, and this call no longer waits. What was typed stays typed and is not typed \
    again, and the command goes on. Once the server is back, regions shows whether it began, and wait picks it up";

/// Calls that may be in flight at once. A client has a handful; the rest of a flood is refused before it costs memory.
const CALLS_MAX: usize = 256;

/// What the clients of one server share.
#[derive(Clone)]
pub struct Shared {
    /// Who carries calls out.
    pub desk: Arc<dyn Desk>,
    /// Where calls are written down.
    pub log: Arc<CallLog>,
    /// Fires when the server is to stop: calls that wait are answered with that.
    pub stopping: CancellationToken,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared").field("stopping", &self.stopping.is_cancelled()).finish_non_exhaustive()
    }
}

/// One client's server.
#[derive(Clone)]
pub struct Front {
    shared: Shared,
    /// Whose calls these are.
    agent: Agent,
    /// Fires when the client is gone.
    gone: CancellationToken,
    /// The calls that the desk has not finished.
    calls: TaskTracker,
    resources: Arc<Resources>,
}

impl std::fmt::Debug for Front {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Front").field("calls", &self.calls.len()).finish_non_exhaustive()
    }
}

/// How a call ended for the client.
enum Ended {
    Reply(Reply),
    /// The client no longer waits; rmcp throws away whatever is answered.
    Cancelled,
    /// The server is about to stop.
    Stopped,
}

impl Front {
    /// A front for a client; `gone` fires when it leaves.
    #[must_use]
    pub fn new(shared: Shared, agent: Agent, gone: CancellationToken) -> Self {
        Self { shared, agent, gone, calls: TaskTracker::new(), resources: Arc::new(Resources::new()) }
    }

    /// The same calls for another client, of another agent: one limit holds for both, and [`Self::finish`] waits for
    /// both.
    #[must_use]
    pub fn for_agent(&self, agent: Agent) -> Self {
        Self { agent, resources: Arc::new(Resources::new()), ..self.clone() }
    }

    /// Waits until the desk has finished every call. To be called when the client is gone: each call's `cancel` has
    /// fired then.
    pub async fn finish(&self) {
        self.calls.close();
        self.calls.wait().await;
    }

    /// Where this client is told of what it subscribed to.
    fn client(&self, context: &RequestContext<RoleServer>) -> Client {
        Client { peer: context.peer.clone(), gone: self.gone.clone() }
    }

    /// Carries out one `tools/call`.
    async fn answer(
        &self,
        name: &str,
        arguments: Map<String, Value>,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResult, ErrorData> {
        // Dropped by every way out of here that does not lead to the desk.
        let turn = context.extensions.get::<Ticket>().and_then(Ticket::redeem);
        let actor = self.agent.name(context);
        let started = Instant::now();
        let named = arguments.get("session").and_then(Value::as_str).map(str::to_owned);
        let call = tools::call(name, arguments).ok_or_else(|| unknown_tool(name))?;
        let entry = Entry { agent: actor.clone(), tool: name.to_owned(), session: named, started };
        let reply = match call {
            Ok(Call::Request(_)) if self.calls.len() >= CALLS_MAX => {
                refusal(&format!("{CALLS_MAX} calls are in flight already; wait until some have ended"))
            }
            Ok(Call::Request(request)) => {
                return match self.at_the_desk(turn, actor, *request, entry, context).await {
                    Ended::Reply(reply) => Ok(result(reply)),
                    Ended::Cancelled => Ok(result(refusal("the call was cancelled; what was typed stays typed"))),
                    Ended::Stopped => Ok(result(refusal(STOPPED))),
                };
            }
            Ok(Call::Guide(topic)) => Reply {
                text: topic.map_or_else(guide::contents, |topic| topic.text.to_owned()),
                meta: status("ok"),
                is_error: false,
            },
            Err(error) => refusal(&error.to_string()),
        };
        self.shared.log.write(&entry, &reply);
        Ok(result(reply))
    }

    /// Hands a call to the desk and waits for the reply, telling the client that it still works.
    ///
    /// The call runs in a task of its own: when the client cancels, this returns at once, while the desk comes to a
    /// sound end in its own time.
    async fn at_the_desk(
        &self,
        turn: Option<Turn>,
        actor: String,
        request: dtmcp_core::call::Request,
        entry: Entry,
        context: &RequestContext<RoleServer>,
    ) -> Ended {
        let cancel = self.gone.child_token();
        let (desk, log, token) = (Arc::clone(&self.shared.desk), Arc::clone(&self.shared.log), cancel.clone());
        let (done, reply) = oneshot::channel();
        drop(self.calls.spawn(async move {
            let reply = in_turn(&*desk, turn, &actor, request, token).await;
            log.write(&entry, &reply);
            // Nobody waits for the reply of a cancelled call.
            drop(done.send(reply));
        }));
        tokio::select! {
            biased;
            reply = reply => match reply {
                Ok(reply) => Ended::Reply(reply),
                // The task is gone without a reply: it panicked.
                Err(_) => Ended::Reply(refusal("dtmcp failed at this call; the session goes on, and `read` shows its state")),
            },
            () = self.shared.stopping.cancelled() => { cancel.cancel(); Ended::Stopped }
            () = context.ct.cancelled() => { cancel.cancel(); Ended::Cancelled }
            () = cancel.cancelled() => Ended::Cancelled,
            never = report_progress(context) => match never {},
        }
    }
}

/// Begins a call when its turn comes, and lets the next go once the desk has taken it in.
///
/// The turn is held while the desk gets ready, which every call waits for, and while the call is polled once; never
/// while it waits. Two calls that wait for different things before they queue up may still overtake each other.
async fn in_turn(
    desk: &dyn Desk,
    turn: Option<Turn>,
    actor: &str,
    request: dtmcp_core::call::Request,
    cancel: CancellationToken,
) -> Reply {
    if let Some(turn) = &turn {
        turn.comes().await;
    }
    desk.ready().await;
    if cancel.is_cancelled() {
        return refusal("the call was cancelled before it was begun; nothing was typed");
    }
    let mut call = desk.call(actor, request, cancel);
    let first = std::future::poll_fn(|context| Poll::Ready(call.as_mut().poll(context))).await;
    drop(turn);
    match first {
        Poll::Ready(reply) => reply,
        Poll::Pending => call.await,
    }
}

/// Sends progress for as long as it is polled, where the client gave a token.
async fn report_progress(context: &RequestContext<RoleServer>) -> std::convert::Infallible {
    let Some(token) = context.meta.get_progress_token() else { return std::future::pending().await };
    let mut seconds = 0.0;
    loop {
        tokio::time::sleep(PROGRESS_EVERY).await;
        seconds += PROGRESS_EVERY.as_secs_f64();
        let progress = ProgressNotificationParam::new(token.clone(), seconds).with_message(format!("{seconds} s"));
        if let Err(error) = context.peer.notify_progress(progress).await {
            tracing::debug!(%error, "progress was not sent");
        }
    }
}

/// The error for a request that none of those is that there are, or one of them with parameters that it does not take;
/// `newest`: in the life cycle without `initialize`.
fn unknown_request(method: &str, newest: bool) -> ErrorData {
    // Not those that the revision without `initialize` has taken away (SEP-2575): there they are to be unknown.
    const KNOWN: [&str; 6] =
        ["ping", "server/discover", "tools/list", "tools/call", "resources/list", "resources/read"];
    let short: String = method.chars().take(64).collect();
    if method == "tools/call" {
        return ErrorData::invalid_params(
            "no tool was called: `name` is missing or no text. tools/call takes {\"name\": \"run\", \"arguments\": {\"line\": \"ls\"}}",
            None,
        );
    }
    if newest && method == "subscriptions/listen" {
        return ErrorData::invalid_params(
            "nothing is listened to: `notifications` is missing or no object. subscriptions/listen takes {\"notifications\": {\"resourceSubscriptions\": [\"dtmcp://t1\"], \"resourcesListChanged\": true}}",
            None,
        );
    }
    if KNOWN.contains(&method) {
        return ErrorData::invalid_params(format!("the parameters are not those of {short}"), None);
    }
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, format!("there is no method {short}", short = quoted(&short)), None)
}

fn unknown_tool(name: &str) -> ErrorData {
    let names: Vec<&str> = guide::tools::TOOLS.iter().map(|tool| tool.name).collect();
    let short: String = name.chars().take(64).collect();
    ErrorData::invalid_params(
        format!("unknown tool {short}; there are {}", names.join(", "), short = quoted(&short)),
        None,
    )
}

/// An error that the front itself gives.
fn refusal(why: &str) -> Reply {
    Reply { text: format!("error: {why}"), meta: status("error"), is_error: true }
}

fn status(word: &str) -> Map<String, Value> {
    let mut meta = Map::new();
    meta.insert("status".to_owned(), json!(word));
    meta.insert("notes".to_owned(), json!([]));
    meta
}

/// A reply as an MCP result: text content, and the fields for programs under `_meta`. Structured content is never
/// given: two clients show a model nothing else when it is there.
fn result(reply: Reply) -> CallToolResult {
    let content = vec![ContentBlock::text(spell_out(&reply.text))];
    let mut result = if reply.is_error { CallToolResult::error(content) } else { CallToolResult::success(content) };
    let mut meta = Map::new();
    meta.insert("dtmcp/reply".to_owned(), visible(Value::Object(reply.meta)));
    result.meta = Some(MetaObject(meta));
    result
}

/// The last guard of the rule that no reply holds a control character: what programs printed is in these fields too.
pub(super) fn visible(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(spell_out(&text).into_owned()),
        Value::Array(items) => items.into_iter().map(visible).collect(),
        Value::Object(map) => Value::Object(map.into_iter().map(|(key, value)| (key, visible(value))).collect()),
        Value::Null | Value::Bool(_) | Value::Number(_) => value,
    }
}

/// Tells this list of tools from another version's: an FNV-1a hash of what a client sees of it. Not a secret and not
/// checked, so a collision costs no more than a client that learns of new tools late.
#[must_use]
pub fn tools_mark() -> u64 {
    let listed = serde_json::to_vec(&*TOOLS).unwrap_or_default();
    listed.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

/// The tools as clients list them, made once.
static TOOLS: LazyLock<Vec<Tool>> = LazyLock::new(|| guide::tools::TOOLS.iter().map(listed).collect());

fn listed(tool: &guide::tools::Tool) -> Tool {
    let hints = match tool.effect {
        Effect::Reads => ToolAnnotations::with_title(tool.title).read_only(true),
        Effect::Arranges => ToolAnnotations::with_title(tool.title).destructive(false).open_world(false),
        Effect::Acts => ToolAnnotations::with_title(tool.title).destructive(true),
    };
    let mut meta = Map::new();
    // Keeps the tools out of the deferred ones of Claude Code's tool search.
    meta.insert("anthropic/alwaysLoad".to_owned(), json!(true));
    Tool::new(tool.name, tool.description, input_schema(tool))
        .with_title(tool.title)
        .with_annotations(hints)
        .with_meta(MetaObject(meta))
}

impl ServerHandler for Front {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_tool_list_changed()
            .enable_resources()
            .enable_resources_subscribe()
            .enable_resources_list_changed()
            .build();
        let server = Implementation::new("docent-terminal-mcp", env!("CARGO_PKG_VERSION"))
            .with_title("docent-terminal-mcp: terminal sessions");
        ServerConfig::new(capabilities).with_server_info(server).with_instructions(guide::INSTRUCTIONS)
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(ProtocolVersion::KNOWN_VERSIONS)
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(TOOLS.clone()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        self.answer(&request.name, arguments, &context).await.map(CallToolResponse::Complete)
    }

    /// A `tools/call` whose arguments are no object arrives here. Some models send them as a JSON text.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let params = request.params.unwrap_or_default();
        let name = params.get("name").and_then(Value::as_str);
        let (true, Some(name)) = (request.method == "tools/call", name) else {
            return Err(unknown_request(&request.method, context.meta.protocol_version().is_some()));
        };
        let arguments = match params.get("arguments") {
            Some(Value::String(text)) if text.trim().is_empty() => Some(Map::new()),
            Some(Value::String(text)) => serde_json::from_str(text).ok(),
            Some(Value::Null) | None => Some(Map::new()),
            Some(_) => None,
        };
        let result = match arguments {
            Some(arguments) => self.answer(name, arguments, &context).await?,
            None if guide::tools::tool(name).is_none() => return Err(unknown_tool(name)),
            None => result(refusal("the arguments are no object; give them by name, such as {\"session\": \"t1\"}")),
        };
        serde_json::to_value(result)
            .map(CustomResult::new)
            .map_err(|error| ErrorData::internal_error(error.to_string(), None))
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        if context.meta.protocol_version().is_none() {
            // In the older life cycle. A list that goes stale without a word is still a list.
            drop(self.resources.subscriber(&*self.shared.desk, self.client(&context)));
        }
        self.resources.list(&*self.shared.desk, request).await
    }

    async fn list_resource_templates(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(Resources::templates())
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        self.resources.read(&*self.shared.desk, &request.uri).await.map(ReadResourceResponse::Complete)
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.resources.subscribe(&*self.shared.desk, &request.uri, self.client(&context)).await
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.resources.unsubscribe(&request.uri)
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(self.resources.accept(&*self.shared.desk, requested))
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        // rmcp waits for every handler when the client is gone, so a subscription has to notice by itself.
        tokio::select! {
            told = self.resources.listen(&context) => told,
            () = context.cancelled() => Ok(()),
            () = self.gone.cancelled() => Ok(()),
            () = self.shared.stopping.cancelled() => Ok(()),
        }
    }
}
