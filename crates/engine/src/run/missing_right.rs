//! What of a run's agents and connections its user may not use.

use crate::deps::Deps;
use steward_core::UserId;
use steward_core::permission::{ResourceKind, ResourceRef};
use steward_core::ports::{Role, StoreResult};

/// Why `user` may not use all of these now, for people.
pub(crate) async fn missing_right(
    deps: &Deps,
    user: UserId,
    needed: impl IntoIterator<Item = ResourceRef>,
) -> StoreResult<Option<&'static str>> {
    let Some(user) = deps.store.user(deps.tenant, user).await? else {
        return Ok(Some("steward: the user is not there any more"));
    };
    if user.is_disabled() {
        return Ok(Some("steward: the user was disabled"));
    }
    if matches!(user.role, Role::Admin | Role::Operator) {
        return Ok(None);
    }
    let permissions = deps.store.permissions(deps.tenant, user.id).await?;
    let missing = needed.into_iter().find(|one| permissions.level(*one).is_none());
    Ok(missing.map(|one| match one.kind {
        ResourceKind::Connection => "steward: the user may not use this connection any more",
        _ => "steward: the user may not use this agent any more",
    }))
}
