//! `/api/mcp/servers/{id}`.

use crate::auth::Person;
use crate::dto::mcp::{McpServer, McpServerInput};
use crate::extract::{Body, PathId};
use crate::problem::Problem;
use crate::state::ApiState;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use steward_core::McpServerId;
use steward_core::ports::Role;
use steward_tools::mcp::McpHub;

/// One MCP server.
#[utoipa::path(get, path = "/api/mcp/servers/{id}", tag = "mcp", operation_id = "getMcpServer",
    params(("id" = Uuid, Path)), responses((status = 200, description = "Found", body = McpServer)))]
pub(crate) async fn get(
    State(state): State<ApiState>,
    _: Person,
    PathId(id): PathId<McpServerId>,
) -> Result<Json<McpServer>, Problem> {
    let tenant = state.runs.deps().tenant;
    Ok(Json(state.mcp.servers().mcp_server(tenant, id).await?.into()))
}

/// Changes a server's settings; what was accepted of its tools stays.
#[utoipa::path(put, path = "/api/mcp/servers/{id}", tag = "mcp", operation_id = "replaceMcpServer",
    params(("id" = Uuid, Path)), request_body = McpServerInput,
    responses((status = 200, description = "Changed", body = McpServer)))]
pub(crate) async fn replace(
    State(state): State<ApiState>,
    person: Person,
    PathId(id): PathId<McpServerId>,
    Body(input): Body<McpServerInput>,
) -> Result<Json<McpServer>, Problem> {
    person.may(Role::Operator)?;
    let tenant = state.runs.deps().tenant;
    let before = state.mcp.servers().mcp_server(tenant, id).await?;
    let server = input.with_id(id, Some(before));
    McpHub::validate(&server)?;
    state.mcp.servers().save_mcp_server(tenant, &server).await?;
    state.mcp.close(tenant, id);
    Ok(Json(server.into()))
}

/// Removes a server. Skills that stand for its tools are refused from then on.
#[utoipa::path(delete, path = "/api/mcp/servers/{id}", tag = "mcp", operation_id = "deleteMcpServer",
    params(("id" = Uuid, Path)), responses((status = 204, description = "Removed")))]
pub(crate) async fn remove(
    State(state): State<ApiState>,
    person: Person,
    PathId(id): PathId<McpServerId>,
) -> Result<StatusCode, Problem> {
    person.may(Role::Operator)?;
    let tenant = state.runs.deps().tenant;
    state.mcp.servers().remove_mcp_server(tenant, id).await?;
    state.mcp.close(tenant, id);
    Ok(StatusCode::NO_CONTENT)
}
