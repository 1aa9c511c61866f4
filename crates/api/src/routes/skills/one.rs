//! `/api/skills/{id}`.

use super::check::{checked, may_write, to_skill};
use crate::auth::Person;
use crate::dto::skill::{Skill, SkillDetail, SkillInput};
use crate::extract::{PathId, PublishedBody};
use crate::problem::Problem;
use crate::state::ApiState;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use steward_core::SkillId;

/// One skill, and which agents have it.
#[utoipa::path(get, path = "/api/skills/{id}", tag = "skills", operation_id = "getSkill",
    params(("id" = Uuid, Path)), responses((status = 200, description = "Found", body = SkillDetail)))]
pub(crate) async fn get(
    State(state): State<ApiState>,
    _: Person,
    PathId(id): PathId<SkillId>,
) -> Result<Json<SkillDetail>, Problem> {
    let tenant = state.runs.deps().tenant;
    let skill = state.skills.skill(tenant, id).await?;
    let agents = state.skills.agents_with(tenant, id).await?;
    Ok(Json(SkillDetail { skill: skill.into(), agents }))
}

/// Changes a skill: its next version. Runs at work keep the version they began with.
#[utoipa::path(put, path = "/api/skills/{id}", tag = "skills", operation_id = "replaceSkill",
    params(("id" = Uuid, Path)), request_body = SkillInput,
    responses((status = 200, description = "Changed", body = Skill)))]
pub(crate) async fn replace(
    State(state): State<ApiState>,
    person: Person,
    PathId(id): PathId<SkillId>,
    PublishedBody(input): PublishedBody<SkillInput>,
) -> Result<Json<Skill>, Problem> {
    let tenant = state.runs.deps().tenant;
    let before = state.skills.skill(tenant, id).await?;
    may_write(&person, before.kind())?;
    let mut skill = to_skill(&state, &person, id, input)?;
    skill.package = before.package;
    let skill = checked(&state, skill).await?;
    Ok(Json(state.skills.save_skill(tenant, &skill).await?.into()))
}

/// Removes a skill and takes it from all agents; its versions stay readable for the runs that used it.
#[utoipa::path(delete, path = "/api/skills/{id}", tag = "skills", operation_id = "deleteSkill",
    params(("id" = Uuid, Path)), responses((status = 204, description = "Removed")))]
pub(crate) async fn remove(
    State(state): State<ApiState>,
    person: Person,
    PathId(id): PathId<SkillId>,
) -> Result<StatusCode, Problem> {
    let tenant = state.runs.deps().tenant;
    let skill = state.skills.skill(tenant, id).await?;
    may_write(&person, skill.kind())?;
    state.skills.remove_skill(tenant, id).await?;
    Ok(StatusCode::NO_CONTENT)
}
