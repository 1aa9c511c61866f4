//! One connection to a server. What a server asks for (a model's answer, a person's input, folders) is declined.

use super::connect::{error_chain, stderr_text};
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
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use steward_core::locks::lock;
use steward_core::mcp::{McpServer, McpTool};
use steward_core::schema;
use steward_sandbox::process::Session;

const CANCEL_TIMEOUT: Duration = Duration::from_secs(1);
const LIST_TIMEOUT: Duration = Duration::from_secs(20);
const MAX_PAGES: usize = 50;
const MAX_TOOLS: usize = 500;
/// Largest schema and longest description that are accepted, bytes.
const MAX_SCHEMA_BYTES: usize = 64 << 10;
const MAX_DESCRIPTION_BYTES: usize = 16 << 10;
/// After this time a list is fetched again, since servers without sessions can't announce changes.
const LIST_LIFETIME: Duration = Duration::from_mins(1);

#[derive(Debug)]
pub(super) enum RequestFault {
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

impl Connection {
    pub fn new(server: &McpServer, service: McpService, program: Option<Session>) -> Self {
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
            && known.at.elapsed() < LIST_LIFETIME
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

    async fn list(&self) -> Result<Vec<McpTool>, RequestFault> {
        let mut tools: Vec<McpTool> = Vec::new();
        let mut cursor = None;
        for _ in 0..MAX_PAGES {
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
            if tools.len() > MAX_TOOLS {
                break;
            }
            cursor = answer.next_cursor;
            if cursor.is_none() {
                return Ok(tools);
            }
        }
        Err(self.refuse(format!("it lists more than {MAX_TOOLS} tools or {MAX_PAGES} pages of them")))
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
        let unusable = schema::check(&parameters).err();
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
        let params = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
        let sent = self.peer.send_cancellable_request(request, PeerRequestOptions::no_options());
        let handle = sent.await.map_err(|error| self.fault(error, false))?;
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
            Ok(ServerResult::CallToolResult(result)) => Ok(result),
            Ok(_) => Err(RequestFault::Error(McpError::Said {
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

    async fn broken(&self, fault: RequestFault) -> RequestFault {
        let RequestFault::Broke(reason) = fault else {
            return fault;
        };
        match self.program.lock().await.take() {
            Some(mut program) => RequestFault::Broke(format!("{reason}{}", stderr_text(&mut program).await)),
            None => RequestFault::Broke(reason),
        }
    }

    fn fault(&self, error: ServiceError, sent: bool) -> RequestFault {
        let lost = |reason: String| {
            if sent { RequestFault::Broke(reason) } else { RequestFault::Gone(reason) }
        };
        match error {
            ServiceError::McpError(error) => RequestFault::Error(McpError::Said {
                server: self.server.clone(),
                message: error.message.chars().take(2000).collect(),
            }),
            ServiceError::TransportSend(error) => {
                match error.error.downcast_ref::<StreamableHttpError<reqwest::Error>>() {
                    Some(StreamableHttpError::AuthRequired(_)) => RequestFault::Login,
                    // The server doesn't know the session any more, so it did nothing.
                    Some(StreamableHttpError::SessionExpired) => RequestFault::Gone("its session ended".to_owned()),
                    Some(StreamableHttpError::Client(inner)) if inner.is_connect() => {
                        RequestFault::Gone(error_chain(inner))
                    }
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
            runtime.spawn(tokio::time::timeout(CANCEL_TIMEOUT, handle.cancel(Some("no longer wanted".to_owned()))));
        }
    }
}

const PROGRESS_CHARS: usize = 120;

#[derive(Debug, Default)]
pub(super) struct Notifications {
    changes: AtomicU64,
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
