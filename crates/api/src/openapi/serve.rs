//! `/api/openapi.json` and `/docs`.

use super::document;
use super::pages;
use crate::guard::no_such_method;
use crate::problem::Problem;
use crate::state::ApiState;
use axum::Router;
use axum::http::header;
use axum::response::{Html, IntoResponse};
use axum::routing::get;
use std::sync::LazyLock;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// The same for the life of the process.
static JSON: LazyLock<Result<String, String>> =
    LazyLock::new(|| document().to_json().map_err(|error| error.to_string()));
static PAGE: LazyLock<String> = LazyLock::new(|| pages::page(&document()));
const STYLE: &str = include_str!("pages/style.css");

/// The document as JSON.
pub(crate) fn document_routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::default().routes(routes!(json))
}

/// The document as a page.
pub(crate) fn docs_routes() -> Router<ApiState> {
    Router::new()
        .route("/docs", get(page).fallback(no_such_method))
        .route("/docs/style.css", get(style).fallback(no_such_method))
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
    ([(header::CACHE_CONTROL, "no-cache")], Html(PAGE.as_str()))
}

async fn style() -> impl IntoResponse {
    let headers = [(header::CONTENT_TYPE, "text/css; charset=utf-8"), (header::CACHE_CONTROL, "no-cache")];
    (headers, STYLE)
}
