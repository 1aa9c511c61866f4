//! `GET` and `POST /api/agents`.

use super::check::check;
use crate::auth::Person;
use crate::dto::agent::AgentInput;
use crate::dto::published::NewAgent;
use crate::extract::{Page, Paging, PagingQuery, Params, PublishedBody};
use crate::problem::Problem;
use crate::state::ApiState;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::Deserialize;
use steward_core::AgentId;
use steward_core::agent::Agent;
use steward_core::ports::Role;
use utoipa::IntoParams;

/// Which agents.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Search {
    /// Only with this text in name or instructions.
    #[param(nullable = false)]
    q: Option<String>,
    /// Those that were deleted instead, which can be restored.
    #[serde(default)]
    deleted: bool,
}

/// All agents, by name.
#[utoipa::path(get, path = "/api/agents", tag = "agents", operation_id = "listAgents",
    params(PagingQuery, Search), responses((status = 200, description = "Found", body = Page<Agent>)))]
pub(crate) async fn list(
    State(state): State<ApiState>,
    _: Person,
    paging: Paging,
    Params(search): Params<Search>,
) -> Result<Page<Agent>, Problem> {
    let deps = state.runs.deps();
    let wanted = search.q.unwrap_or_default().trim().to_lowercase();
    let mut agents = if search.deleted {
        deps.store.deleted_agents(deps.tenant).await?
    } else {
        deps.store.agents(deps.tenant).await?
    };
    agents.retain(|agent| {
        agent.name.to_lowercase().contains(&wanted) || agent.instructions.to_lowercase().contains(&wanted)
    });
    Page::cut(agents, &paging)
}

/// Makes an agent; what is left out but the name is as usual. The names of AOS such as `system_prompt` and
/// `llm_routing` are taken too.
#[utoipa::path(post, path = "/api/agents", tag = "agents", operation_id = "createAgent",
    request_body = AgentInput, responses((status = 201, description = "Made", body = Agent)))]
pub(crate) async fn create(
    State(state): State<ApiState>,
    person: Person,
    PublishedBody(NewAgent(input)): PublishedBody<NewAgent>,
) -> Result<(StatusCode, Json<Agent>), Problem> {
    person.may(Role::Operator)?;
    check(&state, &input).await?;
    let deps = state.runs.deps();
    let agent = input.with_id(AgentId(deps.ids.next()), None);
    deps.store.save_agent(deps.tenant, &agent).await?;
    Ok((StatusCode::CREATED, Json(agent)))
}
