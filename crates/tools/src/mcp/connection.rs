//! One connection to a server. What a server asks for (a model's answer, a person's input, folders) is declined.

use super::error::McpError;
use super::failure::{Failure, challenge_params, read_request_failure, stderr_text};
use crate::handler::Context;
use rmcp::ClientHandler;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResult, ClientCapabilities, ClientConfig, ClientRequest, ErrorCode,
    Implementation, InputRequest, InputRequiredResult, InputResponses, PaginatedRequestParams,
    ProgressNotificationParam, ProgressToken, ProtocolVersion, ServerResult, SubscriptionFilter, Tool,
};
use rmcp::service::{
    ClientCacheConfig, NotificationContext, Peer, PeerRequestOptions, RequestHandle, RoleClient, RunningService,
    ServiceError,
};
use serde_json::{Map, Value, json};
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::time::{Duration, Instant};
use steward_core::locks::lock;
use steward_core::mcp::{McpServer, McpTool};
use steward_core::schema;
use steward_sandbox::process::Session;

const CANCEL_TIMEOUT: Duration = Duration::from_secs(1);
/// Times that a server may ask for more before a call has a result.
const MAX_ROUNDS: usize = 10;
const LIST_TIMEOUT: Duration = Duration::from_secs(20);
/// As many as tools, for a page may hold one.
const MAX_PAGES: usize = MAX_TOOLS;
const MAX_TOOLS: usize = 500;
/// Largest schema and longest description that are accepted, bytes.
const MAX_SCHEMA_BYTES: usize = 64 << 10;
const MAX_DESCRIPTION_BYTES: usize = 16 << 10;
/// After this time a list is fetched again, since not all servers announce changes.
const LIST_LIFETIME: Duration = Duration::from_mins(1);
/// The same where nothing would tell that another server answers: without a session, and without a stream of changes.
const UNTOLD_LIFETIME: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub(super) enum RequestFault {
    /// The connection is lost, and the server has not received the request.
    Gone(String),
    /// The connection broke after the server had received the request.
    Broke(String),
    /// With its `WWW-Authenticate`.
    Login(Option<String>),
    Error(McpError),
}

struct Listing {
    at: Instant,
    changes: u64,
    tools: Arc<Vec<McpTool>>,
}

pub(super) struct Connection {
    server: String,
    peer: Peer<RoleClient>,
    notifications: Arc<Notifications>,
    listing: tokio::sync::Mutex<Option<Listing>>,
    busy: AtomicUsize,
    used: Mutex<Instant>,
    program: tokio::sync::Mutex<Option<Session>>,
    _service: McpService,
}

pub(super) type McpService = RunningService<RoleClient, Arc<Notifications>>;

pub(super) struct UseGuard<'a>(&'a Connection);

impl Drop for UseGuard<'_> {
    fn drop(&mut self) {
        *lock(&self.0.used) = Instant::now();
        self.0.busy.fetch_sub(1, Ordering::AcqRel);
    }
}

/// Key in a tool's metadata, put there while it is read: why it can't be used.
pub(super) const UNUSABLE: &str = "steward/unusable";
pub(super) const ONLY_AS_TASK: &str = "it runs as a task only (`taskSupport: required`), which Steward doesn't support";

impl Connection {
    pub async fn new(server: &McpServer, service: McpService, program: Option<Session>) -> Self {
        // How long a list counts is decided here, not by the server.
        service.peer().set_response_cache_config(ClientCacheConfig::disabled()).await;
        tokio::spawn(watch_changes(service.peer().clone(), Arc::downgrade(service.service())));
        Self {
            server: server.name.clone(),
            peer: service.peer().clone(),
            notifications: Arc::clone(service.service()),
            listing: tokio::sync::Mutex::new(None),
            busy: AtomicUsize::new(0),
            used: Mutex::new(Instant::now()),
            program: tokio::sync::Mutex::new(program),
            _service: service,
        }
    }

    pub fn closed(&self) -> bool {
        self.peer.is_transport_closed()
    }

    pub fn idle(&self) -> Duration {
        if self.busy.load(Ordering::Acquire) > 0 {
            return Duration::ZERO;
        }
        lock(&self.used).elapsed()
    }

    /// Keeps the connection from being closed as idle.
    pub fn begin(&self) -> UseGuard<'_> {
        self.busy.fetch_add(1, Ordering::AcqRel);
        UseGuard(self)
    }

    /// Its tools; fetched again with `anew`, or if they may have changed.
    pub async fn tools(&self, anew: bool) -> Result<Arc<Vec<McpTool>>, RequestFault> {
        let mut listing = self.listing.lock().await;
        // Read before the list, so that a change in between is noticed next time.
        let changes = self.notifications.changes.load(Ordering::Acquire);
        if let Some(known) = listing.as_ref()
            && !anew
            && known.changes == changes
            && known.at.elapsed() < self.list_lifetime()
        {
            return Ok(Arc::clone(&known.tools));
        }
        *listing = None;
        let tools = tokio::time::timeout(LIST_TIMEOUT, self.list()).await.unwrap_or_else(|_| {
            Err(self.refuse(format!("it did not list its tools within {} s", LIST_TIMEOUT.as_secs())))
        });
        let tools = Arc::new(tools?);
        *listing = Some(Listing { at: Instant::now(), changes, tools: Arc::clone(&tools) });
        Ok(tools)
    }

    fn list_lifetime(&self) -> Duration {
        let sessionless = self.peer.peer_info().is_some_and(|info| !info.protocol_version.has_initialize());
        if sessionless && !self.notifications.announced.load(Ordering::Acquire) {
            UNTOLD_LIFETIME
        } else {
            LIST_LIFETIME
        }
    }

    /// Paging ends with the tools that are there once a page brings nothing new, or its cursor comes a second time.
    async fn list(&self) -> Result<Vec<McpTool>, RequestFault> {
        let mut tools: Vec<McpTool> = Vec::new();
        let (mut names, mut cursors): (HashSet<String>, HashSet<String>) = Default::default();
        let mut cursor = None;
        for _ in 0..MAX_PAGES {
            let mut page = PaginatedRequestParams::default();
            page.cursor = cursor;
            let answer = self.peer.list_tools(Some(page)).await;
            let answer = answer.map_err(|error| self.fault(&error, false))?;
            let empty = answer.tools.is_empty();
            let mut new = false;
            for tool in answer.tools {
                new |= names.insert(tool.name.to_string());
                if let Some(tool) = self.listed(tool) {
                    add_listed(&mut tools, tool);
                }
            }
            if tools.len() > MAX_TOOLS {
                return Err(self.refuse(format!("it lists more than {MAX_TOOLS} tools; offer fewer of them")));
            }
            cursor = answer.next_cursor;
            let Some(next) = &cursor else { return Ok(tools) };
            if !(new || empty) || !cursors.insert(next.clone()) {
                tracing::warn!(
                    server = self.server,
                    "an MCP server pages its tools without end; those listed so far count"
                );
                return Ok(tools);
            }
        }
        Err(self.refuse(format!("it lists its tools in more than {MAX_PAGES} pages")))
    }

    fn refuse(&self, reason: String) -> RequestFault {
        RequestFault::Error(McpError::Unreachable { server: self.server.clone(), reason })
    }

    fn listed(&self, tool: Tool) -> Option<McpTool> {
        let description = tool.description.unwrap_or_default().into_owned();
        let parameters = Value::Object(tool.input_schema.as_ref().clone());
        if description.len() > MAX_DESCRIPTION_BYTES || parameters.to_string().len() > MAX_SCHEMA_BYTES {
            tracing::warn!(server = self.server, tool = %tool.name, "an MCP tool with too long a description or schema is left out");
            return None;
        }
        let read_only = tool.annotations.and_then(|hints| hints.read_only_hint) == Some(true);
        let name = tool.name.into_owned();
        let marked = tool.meta.as_ref().and_then(|meta| meta.get(UNUSABLE)?.as_str());
        let unusable = marked.map(str::to_owned).or_else(|| schema::check(&parameters).err());
        Some(McpTool {
            name,
            description,
            parameters,
            read_only,
            accepted: None,
            withdrawn: false,
            gone: false,
            unusable,
        })
    }

    /// Calls a tool. When `context` is halted, the server is told to cancel.
    pub async fn call(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
        context: &Context,
    ) -> Result<CallToolResult, RequestFault> {
        let mut params = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        for _ in 0..MAX_ROUNDS {
            match self.send_call(tool, params.clone(), context).await? {
                ServerResult::CallToolResult(result) => return Ok(result),
                ServerResult::InputRequiredResult(wanted) => {
                    params.request_state.clone_from(&wanted.request_state);
                    params.input_responses = decline_inputs(wanted).map_err(|wanted| self.said(wanted))?;
                }
                ServerResult::CreateTaskResult(_) => return Err(self.said(ONLY_AS_TASK)),
                _ => return Err(self.said("it answered the call with something that is no result of a tool")),
            }
        }
        Err(self.said("it asked for further input again and again, which nobody gives it"))
    }

    async fn send_call(
        &self,
        tool: &str,
        params: CallToolRequestParams,
        context: &Context,
    ) -> Result<ServerResult, RequestFault> {
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
        let sent = self.peer.send_cancellable_request(request, PeerRequestOptions::no_options());
        let handle = sent.await.map_err(|error| self.fault(&error, false))?;
        let token = handle.progress_token.clone();
        lock(&self.notifications.progress).insert(token.clone(), String::new());
        let mut flight = PendingCall(Some(handle));
        let answer = match flight.0.as_mut() {
            Some(handle) => tokio::select! {
                answer = &mut handle.rx => Some(answer),
                () = context.halt() => None,
            },
            None => None,
        };
        let progress = self.notifications.stop_progress(&token);
        let Some(answer) = answer else {
            // Sends a cancellation without waiting for it.
            drop(flight);
            return Err(RequestFault::Error(self.halted(tool, context, progress)));
        };
        flight.0 = None;
        match answer.unwrap_or(Err(ServiceError::TransportClosed)) {
            Ok(result) => Ok(result),
            // Of a tool that it lists: it isn't called this way.
            Err(ServiceError::McpError(error)) if error.code == ErrorCode::METHOD_NOT_FOUND => {
                let why = "it doesn't answer plain calls of this tool; perhaps it runs as a task only, which Steward doesn't support";
                Err(self.said(format!("{} ({why})", error.message)))
            }
            Err(error) => Err(self.broken(self.fault(&error, true)).await),
        }
    }

    fn said(&self, message: impl Into<String>) -> RequestFault {
        RequestFault::Error(McpError::Said { server: self.server.clone(), message: message.into() })
    }

    fn halted(&self, tool: &str, context: &Context, progress: String) -> McpError {
        let (server, tool) = (self.server.clone(), tool.to_owned());
        if context.scope.stopped() {
            McpError::Stopped { server, tool, progress }
        } else {
            McpError::TimedOut { server, tool, progress }
        }
    }

    async fn broken(&self, fault: RequestFault) -> RequestFault {
        let RequestFault::Broke(reason) = fault else {
            return fault;
        };
        match self.program.lock().await.take() {
            Some(mut program) => RequestFault::Broke(format!("{reason}{}", stderr_text(&mut program).await)),
            None => RequestFault::Broke(reason),
        }
    }

    fn fault(&self, error: &ServiceError, sent: bool) -> RequestFault {
        if let ServiceError::McpError(error) = error {
            return self.said(error.message.chars().take(2000).collect::<String>());
        }
        match read_request_failure(error) {
            Failure::Login(challenge) => RequestFault::Login(challenge),
            Failure::Scope(challenge) => RequestFault::Error(scope_error(&self.server, challenge)),
            Failure::Refused(reason) | Failure::Other(reason) if sent => RequestFault::Broke(reason),
            Failure::NotReached(reason) | Failure::Refused(reason) | Failure::Other(reason) => {
                RequestFault::Gone(reason)
            }
        }
    }
}

/// `challenge`: the server's `WWW-Authenticate`.
pub(super) fn scope_error(server: &str, challenge: String) -> McpError {
    let scope = challenge_params(&challenge).and_then(|params| params.scope);
    let rights = scope.map(|scope| format!(" (scope {})", scope.chars().take(200).collect::<String>()));
    McpError::Scope { server: server.to_owned(), rights: rights.unwrap_or_default(), challenge }
}

/// The same tool twice is one; two of one name can't be told apart, and neither is used.
fn add_listed(tools: &mut Vec<McpTool>, tool: McpTool) {
    match tools.iter_mut().find(|other| other.name == tool.name) {
        None => tools.push(tool),
        Some(other) if other.hash() == tool.hash() => {}
        Some(other) => other.unusable = Some("the server lists several different tools of this name".to_owned()),
    }
}

/// The answers to a server's questions: a person's input is declined. What can't be declined fails the call.
fn decline_inputs(wanted: InputRequiredResult) -> Result<Option<InputResponses>, &'static str> {
    let mut answers = InputResponses::new();
    for (key, request) in wanted.input_requests.unwrap_or_default() {
        match request {
            InputRequest::Elicitation(_) => answers.insert(key, json!({"action": "decline"})),
            InputRequest::CreateMessage(_) => return Err("it wants an answer of a model, which Steward doesn't give"),
            _ => return Err("it wants to know folders, which Steward doesn't tell; name them in its settings"),
        };
    }
    Ok((!answers.is_empty()).then_some(answers))
}

/// Counts changes that a server without sessions announces, as long as the connection is used.
async fn watch_changes(peer: Peer<RoleClient>, notifications: Weak<Notifications>) {
    let announces = peer.peer_info().is_some_and(|info| {
        let tools = info.capabilities.tools.as_ref();
        !info.protocol_version.has_initialize() && tools.is_some_and(|tools| tools.list_changed == Some(true))
    });
    if !announces {
        return;
    }
    let mut filter = SubscriptionFilter::default();
    filter.tools_list_changed = Some(true);
    // A server that does not tell of changes has its list compared at intervals.
    let Ok(mut subscription) = peer.listen(filter).await else { return };
    if let Some(notifications) = notifications.upgrade() {
        notifications.announced.store(true, Ordering::Release);
    }
    drop(peer);
    loop {
        let open = matches!(subscription.next().await, Ok(Some(_)));
        let Some(notifications) = notifications.upgrade() else { return };
        notifications.announced.store(open, Ordering::Release);
        notifications.changes.fetch_add(1, Ordering::AcqRel);
        if !open {
            return;
        }
    }
}

/// A call in flight. If dropped before its answer, it sends a cancellation.
struct PendingCall(Option<RequestHandle<RoleClient>>);

impl Drop for PendingCall {
    fn drop(&mut self) {
        if let Some(handle) = self.0.take()
            && let Ok(runtime) = tokio::runtime::Handle::try_current()
        {
            runtime.spawn(tokio::time::timeout(CANCEL_TIMEOUT, handle.cancel(Some("no longer wanted".to_owned()))));
        }
    }
}

const PROGRESS_CHARS: usize = 120;

#[derive(Debug, Default)]
pub(super) struct Notifications {
    changes: AtomicU64,
    /// Whether a stream of changes is open.
    announced: AtomicBool,
    progress: Mutex<HashMap<ProgressToken, String>>,
}

impl Notifications {
    /// Stops recording; returns how far the call got, for an error.
    fn stop_progress(&self, token: &ProgressToken) -> String {
        match lock(&self.progress).remove(token) {
            Some(word) if !word.is_empty() => format!(" (it had got to {word})"),
            _ => String::new(),
        }
    }
}

impl ClientHandler for Notifications {
    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.changes.fetch_add(1, Ordering::AcqRel);
    }

    async fn on_progress(&self, params: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        if let Some(word) = lock(&self.progress).get_mut(&params.progress_token) {
            *word = progress_text(&params);
        }
    }

    fn get_info(&self) -> ClientConfig {
        let us = Implementation::new("steward", env!("CARGO_PKG_VERSION"));
        // The newest that begins with a handshake; how the newer ones begin is up to `connect`.
        ClientConfig::new(ClientCapabilities::default(), us).with_protocol_version(ProtocolVersion::V_2025_11_25)
    }
}

fn progress_text(params: &ProgressNotificationParam) -> String {
    let mut word = params.progress.to_string();
    if let Some(total) = params.total {
        word = format!("{word} of {total}");
    }
    if let Some(message) = &params.message {
        word = format!("{word}: {message}");
    }
    word.chars().take(PROGRESS_CHARS).collect()
}
