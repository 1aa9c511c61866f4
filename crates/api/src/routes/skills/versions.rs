//! `/api/skills/{id}/versions` and `/rollback`.

use super::check::{checked, may_write};
use crate::auth::Person;
use crate::dto::skill::{Rollback, Skill};
use crate::extract::{Body, Page, Paging, PagingQuery, PathId};
use crate::problem::Problem;
use crate::state::ApiState;
use axum::Json;
use axum::extract::State;
use steward_core::SkillId;

/// All versions of a skill, the latest first; those of a removed one too.
#[utoipa::path(get, path = "/api/skills/{id}/versions", tag = "skills", operation_id = "listSkillVersions",
    params(("id" = Uuid, Path), PagingQuery),
    responses((status = 200, description = "Latest first", body = Page<Skill>)))]
pub(crate) async fn list(
    State(state): State<ApiState>,
    _: Person,
    PathId(id): PathId<SkillId>,
    paging: Paging,
) -> Result<Page<Skill>, Problem> {
    let tenant = state.runs.deps().tenant;
    let all = state.skills.skill_versions(tenant, id).await?;
    if all.is_empty() {
        return Err(Problem::not_found(format!("skill {id}")));
    }
    Page::cut(all.into_iter().map(Skill::from).collect(), &paging)
}

/// Makes an earlier version the next one.
#[utoipa::path(post, path = "/api/skills/{id}/rollback", tag = "skills", operation_id = "rollbackSkill",
    params(("id" = Uuid, Path)), request_body = Rollback,
    responses((status = 200, description = "The new version", body = Skill)))]
pub(crate) async fn rollback(
    State(state): State<ApiState>,
    person: Person,
    PathId(id): PathId<SkillId>,
    Body(wanted): Body<Rollback>,
) -> Result<Json<Skill>, Problem> {
    let deps = state.runs.deps();
    let now = state.skills.skill(deps.tenant, id).await?;
    let mut skill = state.skills.skill_version(deps.tenant, id, wanted.version).await?;
    may_write(&person, skill.kind())?;
    may_write(&person, now.kind())?;
    skill.at = deps.clock.now();
    skill.by = person.by();
    let skill = checked(&state, skill).await?;
    Ok(Json(state.skills.save_skill(deps.tenant, &skill).await?.into()))
}
