//! SCIM 2.0 under `/scim/v2`: what providers send, and answers as they expect them. It is not in the OpenAPI document,
//! since its own `/Schemas` describe it, in other words.

mod answer;

use crate::ApiState;
use crate::headers::shown_path;
use answer::{Answered, Asked, Named, Provider, Sent, done, found, made};
use axum::Router;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::{any, get, post};
use steward_app::{ScimError, ScimQuery};

pub(crate) use answer::refused as refused_scim;

pub(crate) fn scim_routes() -> Router<ApiState> {
    Router::new()
        .route("/scim/v2/ServiceProviderConfig", get(config).fallback(no_such_method))
        .route("/scim/v2/ResourceTypes", get(resource_types).fallback(no_such_method))
        .route("/scim/v2/ResourceTypes/{id}", get(resource_type).fallback(no_such_method))
        .route("/scim/v2/Schemas", get(schemas).fallback(no_such_method))
        .route("/scim/v2/Schemas/{id}", get(schema).fallback(no_such_method))
        .route("/scim/v2/Users", get(list_users).post(create_user).fallback(no_such_method))
        .route(
            "/scim/v2/Users/{id}",
            get(read_user).put(replace_user).patch(patch_user).delete(remove_user).fallback(no_such_method),
        )
        .route("/scim/v2/Groups", get(list_groups).post(create_group).fallback(no_such_method))
        .route(
            "/scim/v2/Groups/{id}",
            get(read_group).put(replace_group).patch(patch_group).delete(remove_group).fallback(no_such_method),
        )
        .route("/scim/v2/.search", post(search).fallback(no_such_method))
        .route("/scim/v2/Users/.search", post(search_users).fallback(no_such_method))
        .route("/scim/v2/Groups/.search", post(search_groups).fallback(no_such_method))
        .route("/scim/v2/Bulk", any(not_made))
        .route("/scim/v2/Me", any(not_made))
        .route("/scim", any(nothing_here))
        .route("/scim/{*rest}", any(nothing_here))
        .route("/scim/v2/{*rest}", any(nothing_here))
}

async fn config(Provider(_, caller): Provider) -> Answered {
    Ok(found(&caller.service_provider_config()))
}

async fn resource_types(Provider(_, caller): Provider) -> Answered {
    Ok(found(&caller.resource_types()))
}

async fn resource_type(Provider(_, caller): Provider, Named(id): Named) -> Answered {
    Ok(found(&caller.resource_type(&id)?))
}

async fn schemas(Provider(_, caller): Provider) -> Answered {
    Ok(found(&caller.schemas()))
}

async fn schema(Provider(_, caller): Provider, Named(id): Named) -> Answered {
    Ok(found(&caller.schema(&id)?))
}

async fn list_users(Provider(state, caller): Provider, Asked(query): Asked) -> Answered {
    Ok(found(&state.scim_list_users(&caller, &query).await?))
}

async fn search(Provider(state, caller): Provider, Sent(body): Sent) -> Answered {
    Ok(found(&state.scim_search(&caller, &ScimQuery::read_search(&body)?).await?))
}

async fn search_users(Provider(state, caller): Provider, Sent(body): Sent) -> Answered {
    Ok(found(&state.scim_list_users(&caller, &ScimQuery::read_search(&body)?).await?))
}

async fn search_groups(Provider(state, caller): Provider, Sent(body): Sent) -> Answered {
    Ok(found(&state.scim_list_groups(&caller, &ScimQuery::read_search(&body)?).await?))
}

async fn create_user(Provider(state, caller): Provider, Asked(query): Asked, Sent(body): Sent) -> Answered {
    Ok(made(&state.scim_create_user(&caller, &body, &query).await?))
}

async fn read_user(Provider(state, caller): Provider, Named(id): Named, Asked(query): Asked) -> Answered {
    Ok(found(&state.scim_read_user(&caller, &id, &query).await?))
}

async fn replace_user(
    Provider(state, caller): Provider,
    Named(id): Named,
    Asked(query): Asked,
    Sent(body): Sent,
) -> Answered {
    Ok(found(&state.scim_replace_user(&caller, &id, &body, &query).await?))
}

async fn patch_user(
    Provider(state, caller): Provider,
    Named(id): Named,
    Asked(query): Asked,
    Sent(body): Sent,
) -> Answered {
    Ok(found(&state.scim_patch_user(&caller, &id, &body, &query).await?))
}

/// Disabled and in no group any more; a second time it is not there.
async fn remove_user(Provider(state, _): Provider, Named(id): Named) -> Answered {
    state.scim_remove_user(&id).await?;
    Ok(done())
}

async fn list_groups(Provider(state, caller): Provider, Asked(query): Asked) -> Answered {
    Ok(found(&state.scim_list_groups(&caller, &query).await?))
}

async fn create_group(Provider(state, caller): Provider, Asked(query): Asked, Sent(body): Sent) -> Answered {
    Ok(made(&state.scim_create_group(&caller, &body, &query).await?))
}

async fn read_group(Provider(state, caller): Provider, Named(id): Named, Asked(query): Asked) -> Answered {
    Ok(found(&state.scim_read_group(&caller, &id, &query).await?))
}

async fn replace_group(
    Provider(state, caller): Provider,
    Named(id): Named,
    Asked(query): Asked,
    Sent(body): Sent,
) -> Answered {
    Ok(found(&state.scim_replace_group(&caller, &id, &body, &query).await?))
}

/// Without the group, which may have thousands of members.
async fn patch_group(Provider(state, _): Provider, Named(id): Named, Sent(body): Sent) -> Answered {
    state.scim_patch_group(&id, &body).await?;
    Ok(done())
}

async fn remove_group(Provider(state, _): Provider, Named(id): Named) -> Answered {
    state.scim_remove_group(&id).await?;
    Ok(done())
}

async fn not_made(_: Provider) -> Response {
    answer::refused(&ScimError::new(501, "this part of SCIM is not offered; ServiceProviderConfig says what is"))
}

async fn nothing_here(request: Request) -> Response {
    let shown = shown_path(request.uri());
    answer::refused(&ScimError::new(
        StatusCode::NOT_FOUND.as_u16(),
        format!("there is nothing at {shown}; the base address ends with /scim/v2, and has Users and Groups"),
    ))
}

async fn no_such_method(request: Request) -> Response {
    let shown = shown_path(request.uri());
    let detail = format!("{shown} does not know {}", request.method());
    answer::refused(&ScimError::new(StatusCode::METHOD_NOT_ALLOWED.as_u16(), detail))
}
