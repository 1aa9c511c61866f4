//! What nearly every file of operations needs.

pub(super) use crate::ApiState;
pub(super) use crate::auth::Call;
pub(super) use crate::extract::{Body, Listed, Page, Paging, Params, PathId, PathIds, PathName};
pub(super) use crate::operations::routes;
pub(super) use crate::problem::{Answer, Created, Done, Problem, accepted, created, done};
pub(super) use axum::Json;
pub(super) use axum::http::StatusCode;
pub(super) use serde::Deserialize;
pub(super) use utoipa::IntoParams;
pub(super) use utoipa_axum::router::OpenApiRouter;
