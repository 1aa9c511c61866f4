//! Skills of an agent.

use super::one::live;
use crate::auth::Person;
use crate::dto::skill::{Attached, SkillInput};
use crate::extract::{PathId, PathIds, PublishedBody};
use crate::problem::Problem;
use crate::routes::skills::{checked, may_write, to_skill};
use crate::state::ApiState;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use steward_core::ports::Role;
use steward_core::{AgentId, SkillId};

/// Adds a skill to an agent; its next run has it.
#[utoipa::path(put, path = "/api/agents/{id}/skills/{skill}", tag = "agents", operation_id = "attachSkill",
    params(("id" = Uuid, Path), ("skill" = Uuid, Path)),
    responses((status = 204, description = "It has it")))]
pub(crate) async fn attach(
    State(state): State<ApiState>,
    person: Person,
    PathIds(agent, skill): PathIds<AgentId, SkillId>,
) -> Result<StatusCode, Problem> {
    set(&state, &person, agent, skill, true).await
}

/// Takes a skill from an agent.
#[utoipa::path(delete, path = "/api/agents/{id}/skills/{skill}", tag = "agents", operation_id = "detachSkill",
    params(("id" = Uuid, Path), ("skill" = Uuid, Path)),
    responses((status = 204, description = "It no longer has it")))]
pub(crate) async fn detach(
    State(state): State<ApiState>,
    person: Person,
    PathIds(agent, skill): PathIds<AgentId, SkillId>,
) -> Result<StatusCode, Problem> {
    set(&state, &person, agent, skill, false).await
}

async fn set(
    state: &ApiState,
    person: &Person,
    agent: AgentId,
    skill: SkillId,
    attached: bool,
) -> Result<StatusCode, Problem> {
    person.may(Role::Operator)?;
    live(state, agent).await?;
    let tenant = state.runs.deps().tenant;
    state.skills.attach_skill(tenant, agent, skill, attached).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Makes a skill, or changes the one of this name, and adds it to the agent: both or neither. Twice is the same
/// as once, and its next run has it.
#[utoipa::path(post, path = "/api/universal-agents/{id}/skills:create_and_attach", tag = "agents",
    operation_id = "createAndAttachSkill", params(("id" = Uuid, Path)), request_body = SkillInput,
    responses((status = 201, description = "Made and attached", body = Attached),
        (status = 200, description = "Changed, or the same already, and attached", body = Attached)))]
pub(crate) async fn create_and_attach(
    State(state): State<ApiState>,
    person: Person,
    PathId(agent): PathId<AgentId>,
    PublishedBody(input): PublishedBody<SkillInput>,
) -> Result<(StatusCode, Json<Attached>), Problem> {
    person.may(Role::Operator)?;
    live(&state, agent).await?;
    let deps = state.runs.deps();
    let there = state.skills.skill_by_name(deps.tenant, &input.name).await?;
    if let Some(there) = &there {
        may_write(&person, there.kind())?;
    }
    let id = there.map_or_else(|| SkillId(deps.ids.next()), |skill| skill.id);
    let skill = checked(&state, to_skill(&state, &person, id, input)?).await?;
    let (skill, created) = state.skills.create_and_attach(deps.tenant, agent, &skill).await?;
    let status = if created { StatusCode::CREATED } else { StatusCode::OK };
    Ok((status, Json(Attached { skill: skill.into(), created })))
}
