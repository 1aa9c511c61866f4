//! `/mcp`: this Steward as an MCP server. Each agent is a tool, `ask_<agent>`; only this module uses rmcp.

mod ask;
mod handler;
mod names;
mod offered;

use crate::ApiState;
use crate::auth::{Client, identify};
use crate::guard::MAX_BODY;
use crate::headers::text;
use crate::openai::{OpenAiError, key_problem};
use axum::body::Body;
use axum::extract::{FromRequestParts as _, Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{any, get};
use axum::{Json, Router};
use handler::McpHandler;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use steward_core::UserId;
use steward_core::locks::lock;
use steward_core::ports::LoginError;

/// Where a browser comes back to after a login at an MCP server.
pub(crate) const BACK: &str = "/api/mcp/callback";
/// Who this Steward is as a client of other login servers.
const CLIENT: &str = "/.well-known/steward-mcp-client.json";
const SESSION: &str = "mcp-session-id";
/// A session that nothing was asked in for so long is ended.
const QUIET: Duration = Duration::from_hours(1);
/// Most sessions at a time, in all and of one user.
const SESSIONS: usize = 2000;
const OF_ONE: usize = 200;

struct Owner {
    user: UserId,
    used: Instant,
}

pub(crate) struct McpEndpoint {
    service: StreamableHttpService<McpHandler, LocalSessionManager>,
    owners: Mutex<HashMap<String, Owner>>,
}

/// `/mcp`, and what a client that comes without a key is told to read.
pub(crate) fn mcp_routes(state: &ApiState) -> Router<ApiState> {
    let handler = McpHandler { state: state.clone() };
    // `Host` and `Origin` are looked at for all of the API, before this.
    let config = StreamableHttpServerConfig::default()
        .disable_allowed_hosts()
        .disable_allowed_origins()
        .with_max_request_body_bytes(MAX_BODY);
    let mut sessions = LocalSessionManager::default();
    sessions.session_config.keep_alive = Some(QUIET);
    let endpoint = Arc::new(McpEndpoint {
        service: StreamableHttpService::new(move || Ok(handler.clone()), Arc::new(sessions), config),
        owners: Mutex::default(),
    });
    Router::new()
        .route(
            "/mcp",
            any(move |State(state): State<ApiState>, request: Request| {
                let endpoint = Arc::clone(&endpoint);
                async move { endpoint.enter(&state, request).await }
            }),
        )
        .route("/.well-known/oauth-protected-resource", get(resource))
        .route("/.well-known/oauth-protected-resource/mcp", get(resource))
        .route(CLIENT, get(client))
}

impl McpEndpoint {
    async fn enter(&self, state: &ApiState, request: Request) -> Response {
        let (mut parts, body) = request.into_parts();
        let (app, identity) = match identify(&mut parts, state).await {
            Ok(found) => found,
            Err(error) => {
                let base = base(&mut parts, state).await;
                return closed(&error, &parts.headers, &base);
            }
        };
        let user = identity.principal.user;
        if let Some(key) = &identity.principal.key
            && parts.method == Method::POST
        {
            let now = app.now();
            if let Err(too) = app.usage_writer.limiter().admit(key, now) {
                return OpenAiError::too_many(too.message, too.wait_s).into_response();
            }
        }
        let session = text(&parts.headers, SESSION).map(str::to_owned);
        if let Some(id) = &session
            && !self.owns(id, user)
        {
            // As if it weren't there, so that the client begins anew.
            return (StatusCode::NOT_FOUND, "there is no such session; initialize anew").into_response();
        }
        if session.is_none() && self.full(user) {
            let full = "too many sessions are open; close some, or wait";
            return (StatusCode::SERVICE_UNAVAILABLE, full).into_response();
        }
        let ends = parts.method == Method::DELETE;
        let answer = self.service.handle(Request::from_parts(parts, body)).await;
        match (text(answer.headers(), SESSION), session) {
            (Some(made), None) => self.keep(made.to_owned(), user),
            (_, Some(id)) if ends || answer.status() == StatusCode::NOT_FOUND => self.forget(&id),
            _ => {}
        }
        answer.map(Body::new)
    }

    fn owns(&self, session: &str, user: UserId) -> bool {
        let mut owners = lock(&self.owners);
        let own = owners.get_mut(session).filter(|owner| owner.user == user);
        own.map(|owner| owner.used = Instant::now()).is_some()
    }

    fn full(&self, user: UserId) -> bool {
        let mut owners = lock(&self.owners);
        owners.retain(|_, owner| owner.used.elapsed() < QUIET * 2);
        owners.len() >= SESSIONS || owners.values().filter(|owner| owner.user == user).count() >= OF_ONE
    }

    fn keep(&self, session: String, user: UserId) {
        let owner = Owner { user, used: Instant::now() };
        lock(&self.owners).insert(session, owner);
    }

    fn forget(&self, session: &str) {
        lock(&self.owners).remove(session);
    }
}

/// Address of this Steward as the client knows it.
async fn base(parts: &mut axum::http::request::Parts, state: &ApiState) -> String {
    let https = Client::from_request_parts(parts, state).await.is_ok_and(|client| client.https);
    let host = text(&parts.headers, header::HOST).unwrap_or("localhost");
    // What comes back in a header and in JSON is a name and a port, whatever was sent.
    let fine = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '.' | ':' | '-' | '[' | ']');
    let host: String = host.chars().filter(fine).collect();
    format!("http{}://{host}", if https { "s" } else { "" })
}

fn closed(error: &LoginError, headers: &HeaderMap, base: &str) -> Response {
    let status = match error {
        LoginError::Unavailable(_) => StatusCode::SERVICE_UNAVAILABLE,
        _ => StatusCode::UNAUTHORIZED,
    };
    let message = key_problem(error, headers);
    let body = json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32001, "message": message}});
    let mut answer = (status, Json(body)).into_response();
    let challenge =
        format!("Bearer realm=\"steward\", resource_metadata=\"{base}/.well-known/oauth-protected-resource/mcp\"");
    if status == StatusCode::UNAUTHORIZED
        && let Ok(value) = HeaderValue::try_from(challenge)
    {
        answer.headers_mut().insert(header::WWW_AUTHENTICATE, value);
    }
    answer
}

/// RFC 9728. No authorization server is named: keys are made in the studio or by the command line.
async fn resource(State(state): State<ApiState>, request: Request) -> Json<Value> {
    let (mut parts, _) = request.into_parts();
    let base = base(&mut parts, &state).await;
    Json(json!({
        "resource": format!("{base}/mcp"),
        "resource_name": "Steward",
        "bearer_methods_supported": ["header"],
        "resource_documentation": format!("{base}/docs"),
    }))
}

/// The address of what says who the Steward at this origin is as a client.
pub(crate) fn client_url(origin: &str) -> String {
    format!("{origin}{CLIENT}")
}

/// A Client ID Metadata Document: login servers of MCP servers that don't register clients look it up.
async fn client(State(state): State<ApiState>, request: Request) -> Json<Value> {
    let (mut parts, _) = request.into_parts();
    let base = base(&mut parts, &state).await;
    Json(json!({
        "client_id": client_url(&base),
        "client_name": "Steward",
        "client_uri": base,
        "redirect_uris": [format!("{base}{BACK}")],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": "none",
        "application_type": "web",
    }))
}
