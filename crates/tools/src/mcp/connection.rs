//! One connection to a server: its list of tools, calls, and notifications. What a server asks for (a model's answer, a
//! person's input, folders) is declined.

use super::accepted_tools::ListedTool;
use super::connect::{error_chain, last_words};
use super::error::McpError;
use crate::handler::Context;
use rmcp::ClientHandler;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResult, ClientCapabilities, ClientConfig, ClientRequest,
    Implementation, PaginatedRequestParams, ProgressNotificationParam, ProgressToken, ServerResult, Tool,
};
use rmcp::service::{
    NotificationContext, Peer, PeerRequestOptions, RequestHandle, RoleClient, RunningService, ServiceError,
};
use rmcp::transport::streamable_http_client::StreamableHttpError;
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use steward_core::mcp::McpServer;
use steward_sandbox::process::Session;

const POLL: Duration = Duration::from_millis(50);
/// Longest wait for sending a cancellation.
const CANCEL: Duration = Duration::from_secs(1);
/// Longest wait for the list of tools.
const LIST: Duration = Duration::from_secs(20);
/// Most pages of a list, and most tools.
const PAGES: usize = 50;
const TOOLS: usize = 500;
/// Largest schema and longest description that are accepted, bytes.
const SCHEMA: usize = 64 << 10;
const DESCRIPTION: usize = 16 << 10;
/// After this time a list is fetched again, since servers without sessions can't announce changes.
const FRESH: Duration = Duration::from_mins(1);

/// Why a request has no answer.
#[derive(Debug)]
pub(super) enum Fault {
    /// The connection is lost, and the server has not received the request.
    Gone(String),
    /// The connection broke after the server had received the request.
    Broke(String),
    Login,
    Error(McpError),
}

struct Listing {
    at: Instant,
    changes: u64,
    tools: Arc<Vec<ListedTool>>,
}

pub(super) struct Connection {
    server: String,
    peer: Peer<RoleClient>,
    heard: Arc<Notifications>,
    listing: tokio::sync::Mutex<Option<Listing>>,
    busy: AtomicUsize,
    used: Mutex<Instant>,
    program: tokio::sync::Mutex<Option<Session>>,
    _service: RunningService<RoleClient, ClientListener>,
}

/// Counts a use of the connection while it lives.
pub(super) struct UseGuard<'a>(&'a Connection);

impl Drop for UseGuard<'_> {
    fn drop(&mut self) {
        self.0.touch();
        self.0.busy.fetch_sub(1, Ordering::AcqRel);
    }
}

impl Connection {
    pub fn new(
        server: &McpServer,
        service: RunningService<RoleClient, ClientListener>,
        heard: Arc<Notifications>,
        program: Option<Session>,
    ) -> Self {
        Self {
            server: server.name.clone(),
            peer: service.peer().clone(),
            heard,
            listing: tokio::sync::Mutex::new(None),
            busy: AtomicUsize::new(0),
            used: Mutex::new(Instant::now()),
            program: tokio::sync::Mutex::new(program),
            _service: service,
        }
    }

    /// Whether the transport is closed.
    pub fn closed(&self) -> bool {
        self.peer.is_transport_closed()
    }

    pub fn idle(&self) -> Duration {
        if self.busy.load(Ordering::Acquire) > 0 {
            return Duration::ZERO;
        }
        self.used.lock().unwrap_or_else(PoisonError::into_inner).elapsed()
    }

    fn touch(&self) {
        *self.used.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    /// Keeps the connection from being closed as idle.
    pub fn begin(&self) -> UseGuard<'_> {
        self.busy.fetch_add(1, Ordering::AcqRel);
        UseGuard(self)
    }

    /// Its tools; fetched again with `anew`, or if they may have changed.
    pub async fn tools(&self, anew: bool) -> Result<Arc<Vec<ListedTool>>, Fault> {
        let mut listing = self.listing.lock().await;
        // Read before the list: a change in between shows at the next look.
        let changes = self.heard.changes();
        if let Some(known) = listing.as_ref()
            && !anew
            && known.changes == changes
            && known.at.elapsed() < FRESH
        {
            return Ok(Arc::clone(&known.tools));
        }
        *listing = None;
        let tools = match tokio::time::timeout(LIST, self.list()).await {
            Ok(tools) => Arc::new(tools?),
            Err(_) => {
                return Err(Fault::Error(McpError::Unreachable {
                    server: self.server.clone(),
                    reason: format!("it did not list its tools within {} s", LIST.as_secs()),
                }));
            }
        };
        *listing = Some(Listing { at: Instant::now(), changes, tools: Arc::clone(&tools) });
        Ok(tools)
    }

    async fn list(&self) -> Result<Vec<ListedTool>, Fault> {
        let mut tools: Vec<ListedTool> = Vec::new();
        let mut cursor = None;
        for _ in 0..PAGES {
            let mut page = PaginatedRequestParams::default();
            page.cursor = cursor;
            let answer = self.peer.list_tools(Some(page)).await;
            let answer = answer.map_err(|error| self.fault(error, false))?;
            for tool in answer.tools {
                let Some(tool) = self.listed(tool) else {
                    continue;
                };
                if tools.iter().any(|other| other.name == tool.name) {
                    return Err(self.refuse(format!("it lists two tools called `{}`", tool.name)));
                }
                tools.push(tool);
            }
            if tools.len() > TOOLS {
                break;
            }
            cursor = answer.next_cursor;
            if cursor.is_none() {
                return Ok(tools);
            }
        }
        Err(self.refuse(format!("it lists more than {TOOLS} tools or {PAGES} pages of them")))
    }

    fn refuse(&self, reason: String) -> Fault {
        Fault::Error(McpError::Unreachable { server: self.server.clone(), reason })
    }

    fn listed(&self, tool: Tool) -> Option<ListedTool> {
        let description = tool.description.unwrap_or_default().into_owned();
        let parameters = Value::Object(tool.input_schema.as_ref().clone());
        if description.len() > DESCRIPTION || parameters.to_string().len() > SCHEMA {
            tracing::warn!(server = self.server, tool = %tool.name, "an MCP tool with too long a description or schema is left out");
            return None;
        }
        let hint = tool.annotations.and_then(|hints| hints.read_only_hint);
        Some(ListedTool { name: tool.name.into_owned(), description, parameters, read_only: hint == Some(true) })
    }

    /// Calls a tool. When `context` is halted, the server is told to cancel.
    pub async fn call(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
        context: &Context,
    ) -> Result<CallToolResult, Fault> {
        let params = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
        let sent = self.peer.send_cancellable_request(request, PeerRequestOptions::no_options());
        let handle = sent.await.map_err(|error| self.fault(error, false))?;
        let token = handle.progress_token.clone();
        self.heard.follow(&token);
        let mut flight = PendingCall(Some(handle));
        let answer = loop {
            let Some(handle) = flight.0.as_mut() else {
                break None;
            };
            tokio::select! {
                answer = &mut handle.rx => break Some(answer),
                () = tokio::time::sleep(POLL) => if context.halted() { break None },
            }
        };
        let progress = self.heard.leave(&token);
        let Some(answer) = answer else {
            // The server is told without waiting for it: whoever halted has little patience.
            drop(flight);
            return Err(Fault::Error(self.halted(tool, context, progress)));
        };
        flight.0 = None;
        match answer.unwrap_or(Err(ServiceError::TransportClosed)) {
            Ok(ServerResult::CallToolResult(result)) => Ok(result),
            Ok(_) => Err(Fault::Error(McpError::Said {
                server: self.server.clone(),
                message: "it answered the call with something that is no result of a tool".to_owned(),
            })),
            Err(error) => Err(self.broken(self.fault(error, true)).await),
        }
    }

    fn halted(&self, tool: &str, context: &Context, progress: String) -> McpError {
        let (server, tool) = (self.server.clone(), tool.to_owned());
        if context.scope.stopped() {
            McpError::Stopped { server, tool, progress }
        } else {
            McpError::TimedOut { server, tool, progress }
        }
    }

    /// Adds the last words of a program that ended.
    async fn broken(&self, fault: Fault) -> Fault {
        let Fault::Broke(reason) = fault else {
            return fault;
        };
        match self.program.lock().await.take() {
            Some(mut program) => Fault::Broke(format!("{reason}{}", last_words(&mut program).await)),
            None => Fault::Broke(reason),
        }
    }

    fn fault(&self, error: ServiceError, sent: bool) -> Fault {
        let lost = |reason: String| {
            if sent { Fault::Broke(reason) } else { Fault::Gone(reason) }
        };
        match error {
            ServiceError::McpError(error) => Fault::Error(McpError::Said {
                server: self.server.clone(),
                message: error.message.chars().take(2000).collect(),
            }),
            ServiceError::TransportSend(error) => {
                match error.error.downcast_ref::<StreamableHttpError<reqwest::Error>>() {
                    Some(StreamableHttpError::AuthRequired(_)) => Fault::Login,
                    // The server says that it knows nothing of this session: it did nothing.
                    Some(StreamableHttpError::SessionExpired) => Fault::Gone("its session ended".to_owned()),
                    Some(StreamableHttpError::Client(inner)) if inner.is_connect() => Fault::Gone(error_chain(inner)),
                    _ => lost(error_chain(&error)),
                }
            }
            other => lost(error_chain(&other)),
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
            runtime.spawn(tokio::time::timeout(CANCEL, handle.cancel(Some("no longer wanted".to_owned()))));
        }
    }
}

/// Longest progress message that is kept.
const PROGRESS_CHARS: usize = 120;

/// Notifications of a server.
#[derive(Debug, Default)]
pub(super) struct Notifications {
    changes: AtomicU64,
    progress: Mutex<HashMap<ProgressToken, String>>,
}

impl Notifications {
    /// How often the list of tools has changed.
    pub fn changes(&self) -> u64 {
        self.changes.load(Ordering::Acquire)
    }

    fn words(&self) -> std::sync::MutexGuard<'_, HashMap<ProgressToken, String>> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts recording a call's progress.
    pub fn follow(&self, token: &ProgressToken) {
        self.words().insert(token.clone(), String::new());
    }

    /// Stops recording; returns how far the call got, for an error.
    pub fn leave(&self, token: &ProgressToken) -> String {
        match self.words().remove(token) {
            Some(word) if !word.is_empty() => format!(" (it had got to {word})"),
            _ => String::new(),
        }
    }
}

#[derive(Debug, Clone, Default)]
pub(super) struct ClientListener {
    pub heard: Arc<Notifications>,
}

impl ClientHandler for ClientListener {
    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.heard.changes.fetch_add(1, Ordering::AcqRel);
    }

    async fn on_progress(&self, params: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        if let Some(word) = self.heard.words().get_mut(&params.progress_token) {
            *word = progress_text(&params);
        }
    }

    fn get_info(&self) -> ClientConfig {
        let us = Implementation::new("steward", env!("CARGO_PKG_VERSION"));
        ClientConfig::new(ClientCapabilities::default(), us)
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
