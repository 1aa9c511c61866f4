use super::answer::{Answered, Asked, Named, Provider, Sent, done, found, made};

pub(super) async fn list(Provider(state, caller): Provider, Asked(query): Asked) -> Answered {
    Ok(found(&state.scim_list_groups(&caller, &query).await?))
}

pub(super) async fn create(Provider(state, caller): Provider, Asked(query): Asked, Sent(body): Sent) -> Answered {
    Ok(made(&state.scim_create_group(&caller, &body, &query).await?))
}

pub(super) async fn read(Provider(state, caller): Provider, Named(id): Named, Asked(query): Asked) -> Answered {
    Ok(found(&state.scim_read_group(&caller, &id, &query).await?))
}

pub(super) async fn replace(
    Provider(state, caller): Provider,
    Named(id): Named,
    Asked(query): Asked,
    Sent(body): Sent,
) -> Answered {
    Ok(found(&state.scim_replace_group(&caller, &id, &body, &query).await?))
}

/// Without the group, which may have thousands of members.
pub(super) async fn patch(Provider(state, _): Provider, Named(id): Named, Sent(body): Sent) -> Answered {
    state.scim_patch_group(&id, &body).await?;
    Ok(done())
}

pub(super) async fn remove(Provider(state, _): Provider, Named(id): Named) -> Answered {
    state.scim_remove_group(&id).await?;
    Ok(done())
}
