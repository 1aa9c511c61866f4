//! `/api/backups`: copies of the whole installation, for administrators of its own.

use crate::dto::backups::{BackupInput, BackupProgress, BackupRecord};
use crate::routes::prelude::*;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use futures::StreamExt as _;
use serde_json::json;
use std::convert::Infallible;
use steward_app::{Caller, ErasedPerson};

pub(super) fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::default().routes(routes!(list, create)).routes(routes!(erasures))
}

/// The last backups, the newest first.
#[utoipa::path(get, path = "/api/backups", tag = "backups", operation_id = "listBackups",
    params(Paging), responses((status = 200, description = "Newest first", body = Page<BackupRecord>)))]
async fn list(State(state): State<ApiState>, caller: Caller, paging: Paging) -> Listed<BackupRecord> {
    Page::cut(state.tenants.backups(&caller).await?, &paging)
}

/// Makes a backup
///
/// Answers with a line of JSON for each part of the way; the last one has the report, or why there is no backup. A
/// connection that is closed before stops it, and nothing of it stays.
#[utoipa::path(post, path = "/api/backups", tag = "backups", operation_id = "createBackup",
    request_body = BackupInput, responses(
        (status = 200, description = "How far it is, and what was made", body = BackupProgress,
            content_type = "application/jsonl"),
        (status = 409, description = "Another is being made, or the database is on PostgreSQL")))]
async fn create(
    State(state): State<ApiState>,
    caller: Caller,
    Body(input): Body<BackupInput>,
) -> Result<Response, Problem> {
    let lines = state.tenants.back_up(&caller, input).await?;
    let lines = lines.map(|line| Ok::<_, Infallible>(format!("{}\n", json!(line))));
    Ok(([(header::CONTENT_TYPE, "application/jsonl")], axum::body::Body::from_stream(lines)).into_response())
}

/// Ids of all who were erased: a restore of an older backup erases them again.
#[utoipa::path(get, path = "/api/backups/erasures", tag = "backups", operation_id = "listErasedPeople",
    params(Paging), responses((status = 200, description = "In no order", body = Page<ErasedPerson>)))]
async fn erasures(State(state): State<ApiState>, caller: Caller, paging: Paging) -> Listed<ErasedPerson> {
    Page::cut(state.tenants.erased_people(&caller).await?, &paging)
}
