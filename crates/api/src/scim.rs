//! SCIM 2.0 under `/scim/v2`: what providers send, and answers as they expect them. It is not in the OpenAPI document,
//! since its own `/Schemas` describe it, in other words.

mod answer;
mod groups;
mod users;

use crate::ApiState;
use crate::headers::shown_path;
use answer::{Answered, Named, Provider, found};
use axum::Router;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::{any, get};
use steward_app::ScimError;

pub(crate) fn scim_routes() -> Router<ApiState> {
    Router::new()
        .route("/scim/v2/ServiceProviderConfig", get(config).fallback(no_such_method))
        .route("/scim/v2/ResourceTypes", get(resource_types).fallback(no_such_method))
        .route("/scim/v2/ResourceTypes/{id}", get(resource_type).fallback(no_such_method))
        .route("/scim/v2/Schemas", get(schemas).fallback(no_such_method))
        .route("/scim/v2/Schemas/{id}", get(schema).fallback(no_such_method))
        .route("/scim/v2/Users", get(users::list).post(users::create).fallback(no_such_method))
        .route(
            "/scim/v2/Users/{id}",
            get(users::read).put(users::replace).patch(users::patch).delete(users::remove).fallback(no_such_method),
        )
        .route("/scim/v2/Groups", get(groups::list).post(groups::create).fallback(no_such_method))
        .route(
            "/scim/v2/Groups/{id}",
            get(groups::read).put(groups::replace).patch(groups::patch).delete(groups::remove).fallback(no_such_method),
        )
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
