use super::answer::{Answered, Asked, Named, Provider, Sent, done, found, made};

pub(super) async fn list(Provider(state, caller): Provider, Asked(query): Asked) -> Answered {
    Ok(found(&state.scim_list_users(&caller, &query).await?))
}

pub(super) async fn create(Provider(state, caller): Provider, Asked(query): Asked, Sent(body): Sent) -> Answered {
    Ok(made(&state.scim_create_user(&caller, &body, &query).await?))
}

pub(super) async fn read(Provider(state, caller): Provider, Named(id): Named, Asked(query): Asked) -> Answered {
    Ok(found(&state.scim_read_user(&caller, &id, &query).await?))
}

pub(super) async fn replace(
    Provider(state, caller): Provider,
    Named(id): Named,
    Asked(query): Asked,
    Sent(body): Sent,
) -> Answered {
    Ok(found(&state.scim_replace_user(&caller, &id, &body, &query).await?))
}

pub(super) async fn patch(
    Provider(state, caller): Provider,
    Named(id): Named,
    Asked(query): Asked,
    Sent(body): Sent,
) -> Answered {
    Ok(found(&state.scim_patch_user(&caller, &id, &body, &query).await?))
}

/// Disabled and in no group any more; a second time it is not there.
pub(super) async fn remove(Provider(state, _): Provider, Named(id): Named) -> Answered {
    state.scim_remove_user(&id).await?;
    Ok(done())
}
