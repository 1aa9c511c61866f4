//! `/api/agents`, `/api/tools`, and where their requests would go: `/api/routing/preview`.

use crate::dto::agents::{AgentInput, PreviewRequest, Tool};
use crate::dto::routing::{RoutingPreview, RoutingPreviewRequest};
use crate::dto::skills::{Attached, SkillInput};
use crate::extract::PublishedBody;
use crate::published::{AgentPatch, NewAgent};
use crate::routes::prelude::*;
use steward_core::agent::Agent;
use steward_core::prompt::PromptPreview;
use steward_core::{AgentId, SkillId};

pub(super) fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::default()
        .routes(routes!(list, create))
        .routes(routes!(get, replace, remove))
        .routes(routes!(restore))
        .routes(routes!(patch))
        .routes(routes!(attach, detach))
        .routes(routes!(create_and_attach))
        .routes(routes!(preview))
        .routes(routes!(list_tools))
}

/// Which agents.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct Search {
    /// Only with this text in name or instructions.
    #[param(nullable = false)]
    q: Option<String>,
    /// Those that were deleted instead, which can be restored.
    #[serde(default)]
    deleted: bool,
}

/// All agents, by name.
#[utoipa::path(get, path = "/api/agents", tag = "agents", operation_id = "listAgents",
    params(Paging, Search), responses((status = 200, description = "Found", body = Page<Agent>)))]
async fn list(Call(state, caller): Call, paging: Paging, Params(search): Params<Search>) -> Listed<Agent> {
    let agents = state.agents(&caller, search.q.as_deref(), search.deleted).await?;
    Page::cut(agents, &paging)
}

/// Makes an agent; what is left out but the name is as usual. The names of AOS such as `system_prompt` and
/// `llm_routing` are taken too.
#[utoipa::path(post, path = "/api/agents", tag = "agents", operation_id = "createAgent",
    request_body = AgentInput, responses((status = 201, description = "Made", body = Agent)))]
async fn create(Call(state, caller): Call, PublishedBody(NewAgent(input)): PublishedBody<NewAgent>) -> Created<Agent> {
    created(state.create_agent(&caller, input).await?)
}

/// One agent.
#[utoipa::path(get, path = "/api/agents/{id}", tag = "agents", operation_id = "getAgent",
    params(("id" = Uuid, Path)), responses((status = 200, description = "Found", body = Agent)))]
async fn get(Call(state, caller): Call, PathId(id): PathId<AgentId>) -> Answer<Agent> {
    Ok(Json(state.agent(&caller, id).await?))
}

/// Replaces an agent; runs at work keep the one they started with.
#[utoipa::path(put, path = "/api/agents/{id}", tag = "agents", operation_id = "replaceAgent",
    params(("id" = Uuid, Path)), request_body = AgentInput,
    responses((status = 200, description = "Found", body = Agent)))]
async fn replace(
    Call(state, caller): Call,
    PathId(id): PathId<AgentId>,
    PublishedBody(input): PublishedBody<AgentInput>,
) -> Answer<Agent> {
    Ok(Json(state.replace_agent(&caller, id, &input).await?))
}

/// Deletes an agent; its runs stay, and it can be restored.
#[utoipa::path(delete, path = "/api/agents/{id}", tag = "agents", operation_id = "deleteAgent",
    params(("id" = Uuid, Path)), responses((status = 204, description = "Done")))]
async fn remove(Call(state, caller): Call, PathId(id): PathId<AgentId>) -> Done {
    done(state.delete_agent(&caller, id).await)
}

/// Takes a deletion back.
#[utoipa::path(post, path = "/api/agents/{id}/restore", tag = "agents", operation_id = "restoreAgent",
    params(("id" = Uuid, Path)), responses((status = 200, description = "Found", body = Agent)))]
async fn restore(Call(state, caller): Call, PathId(id): PathId<AgentId>) -> Answer<Agent> {
    Ok(Json(state.restore_agent(&caller, id).await?))
}

/// Changes the named fields of an agent; null takes a field back to its default. Objects such as `metadata` are
/// merged key by key. The names of AOS such as `system_prompt` are taken too.
#[utoipa::path(patch, path = "/api/universal-agents/{id}", tag = "agents", operation_id = "patchAgent",
    params(("id" = Uuid, Path)), request_body(content = Object, description = "Fields of AgentInput"),
    responses((status = 200, description = "Changed", body = Agent)))]
async fn patch(
    Call(state, caller): Call,
    PathId(id): PathId<AgentId>,
    PublishedBody(AgentPatch(patch)): PublishedBody<AgentPatch>,
) -> Answer<Agent> {
    Ok(Json(state.patch_agent(&caller, id, &patch).await?))
}

/// The prompt that an agent, saved or not, would begin with. Nothing is sent.
#[utoipa::path(post, path = "/api/agents/preview", tag = "agents", operation_id = "previewAgent",
    request_body = PreviewRequest, responses((status = 200, description = "Found", body = PromptPreview)))]
async fn preview(Call(state, caller): Call, Body(request): Body<PreviewRequest>) -> Answer<PromptPreview> {
    let preview = state.preview_agent(&caller, request.agent, request.input.as_deref()).await?;
    Ok(Json(preview))
}

/// Adds a skill to an agent; its next run has it.
#[utoipa::path(put, path = "/api/agents/{id}/skills/{skill}", tag = "agents", operation_id = "attachSkill",
    params(("id" = Uuid, Path), ("skill" = Uuid, Path)),
    responses((status = 204, description = "It has it")))]
async fn attach(Call(state, caller): Call, PathIds(agent, skill): PathIds<AgentId, SkillId>) -> Done {
    done(state.attach_skill(&caller, agent, skill, true).await)
}

/// Takes a skill from an agent.
#[utoipa::path(delete, path = "/api/agents/{id}/skills/{skill}", tag = "agents", operation_id = "detachSkill",
    params(("id" = Uuid, Path), ("skill" = Uuid, Path)),
    responses((status = 204, description = "It no longer has it")))]
async fn detach(Call(state, caller): Call, PathIds(agent, skill): PathIds<AgentId, SkillId>) -> Done {
    done(state.attach_skill(&caller, agent, skill, false).await)
}

/// Makes a skill, or changes the one of this name, and adds it to the agent: both or neither. Twice is the same
/// as once, and its next run has it.
#[utoipa::path(post, path = "/api/universal-agents/{id}/skills:create_and_attach", tag = "agents",
    operation_id = "createAndAttachSkill", params(("id" = Uuid, Path)), request_body = SkillInput,
    responses((status = 201, description = "Made and attached", body = Attached),
        (status = 200, description = "Changed, or the same already, and attached", body = Attached)))]
async fn create_and_attach(
    Call(state, caller): Call,
    PathId(agent): PathId<AgentId>,
    PublishedBody(input): PublishedBody<SkillInput>,
) -> Result<(StatusCode, Json<Attached>), Problem> {
    let (skill, created) = state.create_and_attach_skill(&caller, agent, input).await?;
    let status = if created { StatusCode::CREATED } else { StatusCode::OK };
    Ok((status, Json(Attached { skill: skill.into(), created })))
}

/// What agents can be given.
#[utoipa::path(get, path = "/api/tools", tag = "agents", operation_id = "listTools",
    params(Paging), responses((status = 200, description = "Found", body = Page<Tool>)))]
async fn list_tools(Call(state, caller): Call, paging: Paging) -> Listed<Tool> {
    let tools = state.tools(&caller)?;
    Page::cut(tools.into_iter().map(Tool::from).collect(), &paging)
}

/// Where a message to an agent, saved or not, would go. Nothing is sent.
#[utoipa::path(post, path = "/api/routing/preview", tag = "agents", operation_id = "previewRouting",
    request_body = RoutingPreviewRequest,
    responses((status = 200, description = "Found", body = RoutingPreview)))]
pub(super) async fn preview_routing(
    Call(state, caller): Call,
    Body(request): Body<RoutingPreviewRequest>,
) -> Answer<RoutingPreview> {
    Ok(Json(state.preview_routing(&caller, request).await?))
}
