//! `/api/skills`.

use super::check::{checked, to_skill};
use crate::auth::Person;
use crate::dto::skill::{Skill, SkillInput};
use crate::extract::{Page, Paging, PagingQuery, Params, PublishedBody};
use crate::problem::Problem;
use crate::state::ApiState;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::Deserialize;
use steward_core::ports::{Role, SkillFilter, StoreError};
use steward_core::skill::SkillKind;
use steward_core::{AgentId, SkillId};
use utoipa::IntoParams;
use uuid::Uuid;

/// Which skills.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Wanted {
    /// Of this type.
    kind: Option<SkillKind>,
    /// Whose name or description holds this.
    #[param(max_length = 200)]
    text: Option<String>,
    /// Attached to this agent.
    agent: Option<Uuid>,
    /// Of this package.
    package: Option<String>,
    /// Of this category.
    category: Option<String>,
}

/// What to do where a skill of this name is there.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Upsert {
    /// Change it instead of refusing.
    #[serde(default)]
    upsert: bool,
}

/// Skills by name.
#[utoipa::path(get, path = "/api/skills", tag = "skills", operation_id = "listSkills",
    params(Wanted, PagingQuery), responses((status = 200, description = "By name", body = Page<Skill>)))]
pub(crate) async fn list(
    State(state): State<ApiState>,
    _: Person,
    Params(wanted): Params<Wanted>,
    paging: Paging,
) -> Result<Page<Skill>, Problem> {
    let tenant = state.runs.deps().tenant;
    if let Some(agent) = wanted.agent {
        let known = state.runs.deps().store.agent(tenant, AgentId(agent)).await;
        if matches!(known, Err(StoreError::NotFound(_))) {
            return Err(Problem::invalid("agent", format!("there is no agent {agent}"), "see GET /api/agents"));
        }
    }
    let filter = SkillFilter {
        kind: wanted.kind,
        text: wanted.text,
        agent: wanted.agent.map(AgentId),
        package: wanted.package,
        category: wanted.category,
    };
    let after = paging.after::<String>()?;
    let page = state.skills.skills(tenant, &filter, after.as_deref(), paging.limit).await?;
    let next = page.items.last().filter(|_| page.more).map(|skill| skill.name.clone());
    let items = page.items.into_iter().map(Skill::from).collect();
    Ok(Page::new(items, next))
}

/// Makes a skill. With `upsert` one of this name becomes its next version; the same content makes none.
#[utoipa::path(post, path = "/api/skills", tag = "skills", operation_id = "createSkill",
    params(Upsert), request_body = SkillInput, responses(
        (status = 201, description = "Made", body = Skill),
        (status = 200, description = "Changed, or the same already", body = Skill)))]
pub(crate) async fn create(
    State(state): State<ApiState>,
    person: Person,
    Params(query): Params<Upsert>,
    PublishedBody(input): PublishedBody<SkillInput>,
) -> Result<(StatusCode, Json<Skill>), Problem> {
    person.may(Role::Developer)?;
    let deps = state.runs.deps();
    let there = state.skills.skill_by_name(deps.tenant, &input.name).await?;
    let (status, id) = match there {
        None => (StatusCode::CREATED, SkillId(deps.ids.next())),
        Some(there) if query.upsert => (StatusCode::OK, there.id),
        Some(there) => {
            return Err(Problem::conflict(
                "skill_exists",
                format!("there is a skill `{}`", there.name),
                "choose another name, or send it with ?upsert=true to change that one",
            ));
        }
    };
    let skill = checked(&state, to_skill(&state, &person, id, input)?).await?;
    let saved = state.skills.save_skill(deps.tenant, &skill).await?;
    Ok((status, Json(saved.into())))
}
