//! `/api/mcp/servers`.

use crate::auth::Person;
use crate::dto::mcp::{McpServer, McpServerInput};
use crate::extract::{Body, Page, Paging, PagingQuery};
use crate::problem::Problem;
use crate::state::ApiState;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use steward_core::McpServerId;
use steward_core::ports::Role;
use steward_tools::mcp::McpHub;

/// MCP servers by name, with their tools as last seen.
#[utoipa::path(get, path = "/api/mcp/servers", tag = "mcp", operation_id = "listMcpServers",
    params(PagingQuery), responses((status = 200, description = "By name", body = Page<McpServer>)))]
pub(crate) async fn list(State(state): State<ApiState>, _: Person, paging: Paging) -> Result<Page<McpServer>, Problem> {
    let tenant = state.runs.deps().tenant;
    let all = state.mcp.servers().mcp_servers(tenant).await?;
    Page::cut(all.into_iter().map(McpServer::from).collect(), &paging)
}

/// Adds an MCP server. Nothing of it can be called before its tools are looked at and accepted.
#[utoipa::path(post, path = "/api/mcp/servers", tag = "mcp", operation_id = "createMcpServer",
    request_body = McpServerInput,
    responses((status = 201, description = "Added", body = McpServer)))]
pub(crate) async fn create(
    State(state): State<ApiState>,
    person: Person,
    Body(input): Body<McpServerInput>,
) -> Result<(StatusCode, Json<McpServer>), Problem> {
    person.may(Role::Operator)?;
    let deps = state.runs.deps();
    let server = input.with_id(McpServerId(deps.ids.next()), None);
    McpHub::validate(&server)?;
    state.mcp.servers().save_mcp_server(deps.tenant, &server).await?;
    Ok((StatusCode::CREATED, Json(server.into())))
}
