//! A person's login at an MCP server: begun here, finished where the browser comes back.

use super::page::page;
use crate::auth::{Client, Person};
use crate::dto::mcp::{McpLogin, McpLoginState, McpLoginStatus};
use crate::extract::{Params, PathId, PathName};
use crate::guard::serves;
use crate::problem::Problem;
use crate::state::ApiState;
use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use steward_core::McpServerId;
use steward_core::ports::Role;
use steward_tools::mcp::{LoginAnswer, LoginRequest, LoginStatus};
use utoipa::IntoParams;

/// Path that the browser comes back to.
const BACK: &str = "/api/mcp/callback";
/// Longest part of what comes back.
const MOST: usize = 8192;

/// How to come back.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Way {
    /// The address under which the browser reaches Steward, such as `https://steward.example.org`; left out: that of
    /// this request.
    #[param(nullable = false, max_length = 200)]
    origin: Option<String>,
}

/// What the browser brings back.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Answer {
    /// The login.
    #[param(nullable = false)]
    state: Option<String>,
    /// What is changed for tokens.
    #[param(nullable = false)]
    code: Option<String>,
    /// Who says so.
    #[param(nullable = false)]
    iss: Option<String>,
    /// Why there is no code.
    #[param(nullable = false)]
    error: Option<String>,
}

/// Begins a login at the login server of an MCP server: open `url` in a browser. Where each user has a token of their
/// own, it becomes that of who asks; else the server's, which is an operator's to set.
#[utoipa::path(post, path = "/api/mcp/servers/{id}/login", tag = "mcp", operation_id = "beginMcpLogin",
    params(("id" = Uuid, Path), Way),
    responses((status = 200, description = "Begun", body = McpLogin)))]
pub(crate) async fn begin(
    State(state): State<ApiState>,
    person: Person,
    client: Client,
    PathId(id): PathId<McpServerId>,
    Params(way): Params<Way>,
    headers: HeaderMap,
) -> Result<Json<McpLogin>, Problem> {
    person.may(Role::Developer)?;
    let tenant = state.runs.deps().tenant;
    let server = state.mcp.servers().mcp_server(tenant, id).await?;
    if !server.per_user {
        person.may(Role::Operator)?;
    }
    let origin = origin(&state, &client, way.origin, &headers)?;
    let request = LoginRequest {
        tenant,
        server: id,
        user: person.user(),
        redirect_uri: format!("{origin}{BACK}"),
        scopes: Vec::new(),
    };
    let begun = state.mcp.begin_login(request).await?;
    Ok(Json(McpLogin { url: begun.url, login: begun.id }))
}

/// Where the browser is: as it says itself, or as it must be to have come here.
fn origin(state: &ApiState, client: &Client, given: Option<String>, headers: &HeaderMap) -> Result<String, Problem> {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    let host = text(header::HOST);
    let scheme = if client.https { "https" } else { "http" };
    let origin = given
        .or_else(|| text(header::ORIGIN).map(str::to_owned))
        .or_else(|| host.map(|host| format!("{scheme}://{host}")))
        .unwrap_or_default();
    let origin = origin.trim_end_matches('/').to_owned();
    if serves(&state.hosts, host, &origin) {
        return Ok(origin);
    }
    Err(Problem::invalid(
        "origin",
        "this is no address of Steward",
        "write it as the browser shows it, such as http://127.0.0.1:8800, or start with --host NAME to add a name",
    ))
}

/// How a login that the caller began went; it is forgotten after ten minutes.
#[utoipa::path(get, path = "/api/mcp/logins/{login}", tag = "mcp", operation_id = "getMcpLogin",
    params(("login" = String, Path)),
    responses((status = 200, description = "How it went", body = McpLoginState)))]
pub(crate) async fn status(
    State(state): State<ApiState>,
    person: Person,
    PathName(login): PathName,
) -> Result<Json<McpLoginState>, Problem> {
    person.may(Role::Developer)?;
    let found = state.mcp.login_status(person.user(), &login);
    let (status, error) = match found.ok_or_else(|| Problem::not_found("login"))? {
        LoginStatus::Waiting => (McpLoginStatus::Waiting, None),
        LoginStatus::Done => (McpLoginStatus::Done, None),
        LoginStatus::Failed(why) => (McpLoginStatus::Failed, Some(why)),
    };
    Ok(Json(McpLoginState { status, error }))
}

/// Where the browser comes back to. Nobody need be logged in here: `state` is the proof, and good for one time.
#[utoipa::path(get, path = "/api/mcp/callback", tag = "mcp", operation_id = "finishMcpLogin", security(()),
    params(Answer), responses(
        (status = 200, description = "A page that says so", body = String, content_type = "text/html"),
        (status = 400, description = "A page that says why not", body = String, content_type = "text/html")))]
pub(crate) async fn callback(
    State(state): State<ApiState>,
    Params(answer): Params<Answer>,
) -> Result<Response, Problem> {
    let parts = [&answer.state, &answer.code, &answer.iss, &answer.error];
    let short = parts.into_iter().flatten().all(|part| part.len() <= MOST);
    let (Some(login), true) = (&answer.state, short) else {
        return Ok(failed("This is no answer of a login server."));
    };
    let answer = match (&answer.code, &answer.error) {
        (Some(code), None) => LoginAnswer::Code { code, issuer: answer.iss.as_deref() },
        (_, Some(error)) => LoginAnswer::Refused { error },
        (None, None) => return Ok(failed("The login server sent no code.")),
    };
    match state.mcp.complete_login(login, answer).await {
        Ok(server) => {
            let text = format!("Steward is logged in at the MCP server {}. You can close this page.", server.name);
            Ok(page("Logged in", &text).into_response())
        }
        Err(error) => {
            tracing::info!(%error, "a login at an MCP server failed");
            Ok(failed(&error.to_string()))
        }
    }
}

fn failed(why: &str) -> Response {
    (StatusCode::BAD_REQUEST, page("Not logged in", why)).into_response()
}
