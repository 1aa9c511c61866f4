//! `/api/keys`.

use super::check::check;
use crate::auth::Person;
use crate::dto::spending::{KeyInput, NewVirtualKey};
use crate::extract::{Body, Page, Paging, PagingQuery};
use crate::guard::KeptAs;
use crate::problem::Problem;
use crate::routes::budgets::checked;
use crate::state::ApiState;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use steward_access::NewKey;
use steward_core::ports::{BudgetScope, Role, SpendLimit, VirtualKey};
use steward_core::{BudgetId, KeyId};
use uuid::Uuid;

/// Virtual keys, newest first: administrators see everybody's, others their own.
#[utoipa::path(get, path = "/api/keys", tag = "keys", operation_id = "listKeys", params(PagingQuery),
    responses((status = 200, description = "Newest first", body = Page<VirtualKey>)))]
pub(crate) async fn list(
    State(state): State<ApiState>,
    person: Person,
    paging: Paging,
) -> Result<Page<VirtualKey>, Problem> {
    let deps = state.runs.deps();
    let user = person.may(Role::Admin).is_err().then(|| person.user());
    let after = paging.after::<Uuid>()?.map(KeyId);
    let page = deps.store.keys(deps.tenant, user, after, paging.limit).await?;
    let next = page.items.last().filter(|_| page.more).map(|key| key.id);
    Ok(Page::new(page.items, next))
}

/// Makes a virtual key
///
/// It opens `/v1` and nothing else, within its limits. Its secret is shown this once.
#[utoipa::path(post, path = "/api/keys", tag = "keys", operation_id = "createKey",
    request_body = KeyInput, responses((status = 201, description = "Made", body = NewVirtualKey)))]
pub(crate) async fn create(
    State(state): State<ApiState>,
    person: Person,
    Body(input): Body<KeyInput>,
) -> Result<Response, Problem> {
    person.may(Role::Developer)?;
    let deps = state.runs.deps();
    let wanted = VirtualKey {
        id: KeyId(Uuid::nil()),
        name: input.name.trim().to_owned(),
        user: person.user(),
        prefix: String::new(),
        connections: input.connections,
        agents: input.agents,
        requests_per_minute: input.requests_per_minute,
        tokens_per_minute: input.tokens_per_minute,
        created_at: deps.clock.now(),
        expires_at: input.expires_at,
        revoked_at: None,
    };
    check(&state, &wanted).await?;
    // Looked at before the key is made: a key without its budget must not get about.
    let budget = input.budget.map(|budget| SpendLimit {
        id: BudgetId(deps.ids.next()),
        scope: BudgetScope::Installation,
        period: budget.period,
        tokens: budget.tokens,
        cost_micros: budget.cost_micros,
    });
    let budget = budget.map(checked).transpose()?;
    let new = NewKey {
        name: wanted.name,
        connections: wanted.connections,
        agents: wanted.agents,
        requests_per_minute: wanted.requests_per_minute,
        tokens_per_minute: wanted.tokens_per_minute,
        expires_at: wanted.expires_at,
    };
    let (key, secret) = state.access.make_virtual_key(person.user(), new).await?;
    if let Some(mut budget) = budget {
        budget.scope = BudgetScope::Key(key.id);
        let saved = deps.store.save_spend_limit(deps.tenant, &budget).await;
        if let Err(error) = saved {
            deps.store.revoke_key(deps.tenant, key.id, deps.clock.now()).await?;
            return Err(error.into());
        }
    }
    let mut made = NewVirtualKey { key, secret: None };
    // The secret is kept nowhere, so not with an idempotency key either.
    let kept = KeptAs(serde_json::json!(made).to_string());
    made.secret = Some(secret);
    Ok((StatusCode::CREATED, Extension(kept), Json(made)).into_response())
}
