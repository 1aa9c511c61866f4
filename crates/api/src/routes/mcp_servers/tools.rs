//! Tools of an MCP server: look, accept, attach.

use crate::auth::Person;
use crate::dto::mcp::{AcceptTool, AttachTools, McpServer};
use crate::dto::skill::Skill;
use crate::extract::{Body, PathId};
use crate::problem::Problem;
use crate::routes::agents::live;
use crate::state::ApiState;
use axum::Json;
use axum::extract::State;
use steward_core::McpServerId;
use steward_core::ports::Role;

/// Asks a server for its tools. One that can't be asked keeps what was known, with the reason in `error`.
#[utoipa::path(post, path = "/api/mcp/servers/{id}/check", tag = "mcp", operation_id = "checkMcpServer",
    params(("id" = Uuid, Path)),
    responses((status = 200, description = "As seen now", body = McpServer)))]
pub(crate) async fn check(
    State(state): State<ApiState>,
    person: Person,
    PathId(id): PathId<McpServerId>,
) -> Result<Json<McpServer>, Problem> {
    person.may(Role::Operator)?;
    let tenant = state.runs.deps().tenant;
    let seen = state.mcp.check(tenant, id, Some(person.user())).await?;
    Ok(Json(seen.into()))
}

/// Accepts a tool as it was looked at: `hash` is that of what was shown. A later change of it is refused until it
/// is accepted anew.
#[utoipa::path(post, path = "/api/mcp/servers/{id}/accept", tag = "mcp", operation_id = "acceptMcpTool",
    params(("id" = Uuid, Path)), request_body = AcceptTool,
    responses((status = 200, description = "Accepted", body = McpServer)))]
pub(crate) async fn accept(
    State(state): State<ApiState>,
    person: Person,
    PathId(id): PathId<McpServerId>,
    Body(wanted): Body<AcceptTool>,
) -> Result<Json<McpServer>, Problem> {
    person.may(Role::Operator)?;
    let tenant = state.runs.deps().tenant;
    let server = state.mcp.accept(tenant, id, &wanted.tool, &wanted.hash, &person.by()).await?;
    Ok(Json(server.into()))
}

/// Makes skills of accepted tools and gives them to an agent, if one is named. Twice is the same as once.
#[utoipa::path(post, path = "/api/mcp/servers/{id}/attach", tag = "mcp", operation_id = "attachMcpTools",
    params(("id" = Uuid, Path)), request_body = AttachTools,
    responses((status = 200, description = "The skills", body = Vec<Skill>)))]
pub(crate) async fn attach(
    State(state): State<ApiState>,
    person: Person,
    PathId(id): PathId<McpServerId>,
    Body(wanted): Body<AttachTools>,
) -> Result<Json<Vec<Skill>>, Problem> {
    person.may(Role::Operator)?;
    if let Some(agent) = wanted.agent {
        live(&state, agent).await?;
    }
    let tenant = state.runs.deps().tenant;
    let skills = state.mcp.attach(tenant, id, wanted.agent, &wanted.tools, &person.by()).await?;
    Ok(Json(skills.into_iter().map(Skill::from).collect()))
}
