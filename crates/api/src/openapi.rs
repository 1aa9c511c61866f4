mod corrections;
mod error_responses;
mod pages;

use crate::ApiState;
use crate::guard::no_such_method;
use crate::operations::routes;
use crate::problem::Problem;
use crate::routes::TAGS;
use crate::{auth, routes};
use axum::Router;
use axum::http::header;
use axum::response::IntoResponse;
use axum::routing::get;
use corrections::correct;
use error_responses::complete;
use std::sync::LazyLock;
use steward_core::event::EventBody;
use utoipa::openapi::schema::Schema;
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme};
use utoipa::openapi::tag::TagBuilder;
use utoipa::openapi::{ComponentsBuilder, InfoBuilder, LicenseBuilder, OpenApi, OpenApiBuilder, RefOr, Server, Tag};
use utoipa::{PartialSchema, ToSchema};
use utoipa_axum::router::OpenApiRouter;

pub(crate) use pages::escape;

pub fn document() -> OpenApi {
    let mut document = documented().into_openapi();
    add_events(&mut document);
    complete(&mut document);
    correct(&mut document);
    document
}

/// The operations that the OpenAPI document holds.
pub(crate) fn documented() -> OpenApiRouter<ApiState> {
    OpenApiRouter::with_openapi(base()).merge(auth::auth_routes()).merge(routes::routes()).merge(document_routes())
}

/// What each type of event holds. `Event` itself stays open, since a newer server may send further types.
fn add_events(document: &mut OpenApi) {
    let mut body = EventBody::schema();
    if let RefOr::T(Schema::OneOf(types)) = &mut body {
        // The last one stands for types of newer programs.
        types.items.pop();
    }
    let mut schemas = vec![(EventBody::name().into_owned(), body)];
    EventBody::schemas(&mut schemas);
    if let Some(components) = &mut document.components {
        components.schemas.extend(schemas);
    }
}

const ABOUT: &str = "Everything that the studio does is an operation here.\n\n\
    Times are milliseconds since 1970 UTC, ids are UUIDs. Errors are `application/problem+json` with a `hint`. \
    Lists come in pages: pass `next_cursor` of one page as `cursor` of the next. \
    A write with the header `Idempotency-Key` happens once, however often it is sent within 24 hours.";

pub(crate) fn base() -> OpenApi {
    let bearer = HttpBuilder::new()
        .scheme(HttpAuthScheme::Bearer)
        .description(Some("An access token of POST /api/auth/login, or an API key that begins with sk-steward-."))
        .build();
    OpenApiBuilder::new()
        .info(
            InfoBuilder::new()
                .title("Steward")
                .version(env!("CARGO_PKG_VERSION"))
                .description(Some(ABOUT))
                .license(Some(LicenseBuilder::new().name("Apache-2.0").identifier(Some("Apache-2.0")).build()))
                .build(),
        )
        .servers(Some([Server::new("/")]))
        .tags(Some(TAGS.iter().copied().map(tag)))
        .components(Some(ComponentsBuilder::new().security_scheme("bearer", SecurityScheme::Http(bearer)).build()))
        .security(Some([SecurityRequirement::new("bearer", Vec::<String>::new())]))
        .build()
}

fn tag((name, description): (&str, &str)) -> Tag {
    TagBuilder::new().name(name).description(Some(description)).build()
}

static JSON: LazyLock<Result<String, String>> =
    LazyLock::new(|| document().to_json().map_err(|error| error.to_string()));
static PAGE: LazyLock<String> = LazyLock::new(|| pages::page(&document()));
const STYLE: &str = include_str!("openapi/pages/style.css");
const TRY: &str = include_str!("openapi/pages/try.js");

pub(crate) fn document_routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::default().routes(routes!(json))
}

pub(crate) fn docs_routes() -> Router<ApiState> {
    Router::new()
        .route("/docs", get(page).fallback(no_such_method))
        .route("/docs/style.css", get(style).fallback(no_such_method))
        .route("/docs/try.js", get(script).fallback(no_such_method))
}

/// This document
#[utoipa::path(
    get, path = "/api/openapi.json", tag = "about", operation_id = "openapi", security(()),
    responses((status = 200, description = "OpenAPI 3.1", body = serde_json::Value))
)]
async fn json() -> Result<impl IntoResponse, Problem> {
    let text = JSON.as_deref().map_err(|error| Problem::unavailable(error.clone()))?;
    let headers = [(header::CONTENT_TYPE, "application/json"), (header::CACHE_CONTROL, "no-cache")];
    Ok((headers, text))
}

async fn page() -> impl IntoResponse {
    ([(header::CACHE_CONTROL, "no-cache")], axum::response::Html(PAGE.as_str()))
}

async fn style() -> impl IntoResponse {
    let headers = [(header::CONTENT_TYPE, "text/css; charset=utf-8"), (header::CACHE_CONTROL, "no-cache")];
    (headers, STYLE)
}

async fn script() -> impl IntoResponse {
    let headers = [(header::CONTENT_TYPE, "text/javascript; charset=utf-8"), (header::CACHE_CONTROL, "no-cache")];
    (headers, TRY)
}
