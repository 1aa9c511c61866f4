//! `GET /api/credentials/{id}/uses`.

use crate::auth::Person;
use crate::dto::credential::CredentialUse;
use crate::extract::{Page, Paging, PagingQuery, PathId};
use crate::problem::Problem;
use crate::routes::agent_names::AgentNames;
use crate::state::ApiState;
use axum::extract::State;
use steward_core::ports::Role;
use steward_core::{CredentialId, Timestamp};

/// Which runs used a credential, the latest first.
#[utoipa::path(get, path = "/api/credentials/{id}/uses", tag = "credentials",
    operation_id = "listCredentialUses", params(("id" = Uuid, Path), PagingQuery),
    responses((status = 200, description = "Latest first", body = Page<CredentialUse>)))]
pub(crate) async fn uses(
    State(state): State<ApiState>,
    person: Person,
    PathId(id): PathId<CredentialId>,
    paging: Paging,
) -> Result<Page<CredentialUse>, Problem> {
    person.may(Role::Operator)?;
    let tenant = state.runs.deps().tenant;
    state.vault.credential(tenant, id).await?;
    let before = paging.after::<i64>()?.map(Timestamp);
    let page = state.vault.uses(tenant, id, before, paging.limit).await?;
    let agents = page.items.iter().filter_map(|one| one.agent).collect();
    let names = AgentNames::of(&state, agents).await?;
    let next = page.items.last().filter(|_| page.more).map(|one| one.at.0);
    let items = page
        .items
        .into_iter()
        .map(|one| CredentialUse {
            run: one.run,
            agent: one.agent,
            agent_name: one.agent.and_then(|id| names.get(id)),
            tool: one.tool,
            at: one.at,
        })
        .collect();
    Ok(Page::new(items, next))
}
