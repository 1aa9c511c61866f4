//! `/api/keys/{id}`.

use super::check::check;
use crate::auth::Person;
use crate::dto::spending::KeyChange;
use crate::extract::{Body, PathId};
use crate::problem::Problem;
use crate::state::ApiState;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use steward_core::KeyId;
use steward_core::ports::{Role, VirtualKey};

/// A key that `person` may change: their own, or any as an administrator.
async fn own(state: &ApiState, person: &Person, id: KeyId) -> Result<VirtualKey, Problem> {
    person.may(Role::Developer)?;
    let deps = state.runs.deps();
    let key = deps.store.key(deps.tenant, id).await?;
    if key.user == person.user() || person.may(Role::Admin).is_ok() {
        return Ok(key);
    }
    Err(Problem::not_found(format!("key {id}")))
}

/// Changes name, reach and limits of a key; in force at the next request.
#[utoipa::path(patch, path = "/api/keys/{id}", tag = "keys", operation_id = "changeKey",
    params(("id" = Uuid, Path)), request_body = KeyChange,
    responses((status = 200, description = "Changed", body = VirtualKey)))]
pub(crate) async fn change(
    State(state): State<ApiState>,
    person: Person,
    PathId(id): PathId<KeyId>,
    Body(change): Body<KeyChange>,
) -> Result<Json<VirtualKey>, Problem> {
    let mut key = own(&state, &person, id).await?;
    if key.revoked_at.is_some() {
        return Err(Problem::conflict("key_revoked", "the key is revoked, which is for good", "make a new one"));
    }
    if let Some(name) = change.name {
        name.trim().clone_into(&mut key.name);
    }
    if let Some(connections) = change.connections {
        key.connections = connections;
    }
    if let Some(agents) = change.agents {
        key.agents = agents;
    }
    if let Some(limit) = change.requests_per_minute {
        key.requests_per_minute = limit;
    }
    if let Some(limit) = change.tokens_per_minute {
        key.tokens_per_minute = limit;
    }
    if let Some(at) = change.expires_at {
        key.expires_at = at;
    }
    check(&state, &key).await?;
    let deps = state.runs.deps();
    deps.store.save_key(deps.tenant, &key, None).await?;
    Ok(Json(deps.store.key(deps.tenant, id).await?))
}

/// Revokes a key for good; in force at the next request.
#[utoipa::path(delete, path = "/api/keys/{id}", tag = "keys", operation_id = "revokeKey",
    params(("id" = Uuid, Path)), responses((status = 204, description = "Revoked")))]
pub(crate) async fn revoke(
    State(state): State<ApiState>,
    person: Person,
    PathId(id): PathId<KeyId>,
) -> Result<StatusCode, Problem> {
    let key = own(&state, &person, id).await?;
    let deps = state.runs.deps();
    deps.store.revoke_key(deps.tenant, key.id, deps.clock.now()).await?;
    Ok(StatusCode::NO_CONTENT)
}
