//! `/api/data-governance/retention`: how long what is kept, and proofs of what was deleted. Administrators only.

use crate::dto::retention::{
    DeletionAgreement, DeletionCertificate, Erasure, ErasureInput, ErasureView, RetentionInput, RetentionPreview,
    RetentionView,
};
use crate::response::saved;
use crate::routes::prelude::*;
use axum::http::HeaderValue;
use axum::response::{IntoResponse, Response};
use steward_core::retention::RetentionRules;
use steward_core::{Timestamp, UserId};
use utoipa::ToSchema;

pub(super) fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::default()
        .routes(routes!(read, replace))
        .routes(routes!(preview))
        .routes(routes!(agree))
        .routes(routes!(certificate))
        .routes(routes!(erasure, erase))
        .routes(routes!(export))
}

/// How long conversations, runs and figures are kept, what is kept whatever happens, and what the last turn deleted.
#[utoipa::path(get, path = "/api/data-governance/retention", tag = "governance", operation_id = "readRetention",
    responses((status = 200, description = "The rules", body = RetentionView)))]
async fn read(Call(state, caller): Call) -> Answer<RetentionView> {
    Ok(Json(state.retention_rules(&caller).await?))
}

/// Says what rules would delete as soon as they are saved. Nothing is done.
#[utoipa::path(post, path = "/api/data-governance/retention/preview", tag = "governance",
    operation_id = "previewRetention", request_body = RetentionRules,
    responses((status = 200, description = "What would go", body = RetentionPreview)))]
async fn preview(Call(state, caller): Call, Body(rules): Body<RetentionRules>) -> Answer<RetentionPreview> {
    Ok(Json(state.preview_retention(&caller, &rules).await?))
}

/// Replaces policies and holds
///
/// In force within minutes. What is deleted can't be taken back: the `confirmation` of the preview of just these rules is
/// asked for. Each deletion is an entry of the audit trail with the hash of what was deleted.
#[utoipa::path(put, path = "/api/data-governance/retention", tag = "governance", operation_id = "replaceRetention",
    request_body = RetentionInput, responses(
        (status = 200, description = "The rules with their new version", body = RetentionView),
        (status = 409, description = "They were not previewed, or somebody else has changed them")))]
async fn replace(Call(state, caller): Call, Body(input): Body<RetentionInput>) -> Answer<RetentionView> {
    Ok(Json(state.set_retention_rules(&caller, input).await?))
}

/// Has deletions go on that are held back
///
/// After a jump of the clock, or where more than a fifth of all things (and more than 50) would go at once, nothing is deleted
/// by age until an administrator has looked at it. The `confirmation` of what is held back is asked for.
#[utoipa::path(post, path = "/api/data-governance/retention/agree", tag = "governance",
    operation_id = "agreeToDeletions", request_body = DeletionAgreement, responses(
        (status = 200, description = "They go on", body = RetentionView),
        (status = 409, description = "Nothing is held back, or something else than was confirmed")))]
async fn agree(Call(state, caller): Call, Body(input): Body<DeletionAgreement>) -> Answer<RetentionView> {
    Ok(Json(state.agree_to_deletions(&caller, &input.confirmation).await?))
}

/// How a report is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum ReportFormat {
    /// One JSON object.
    Json,
    /// Comma-separated, with a header, for spreadsheets.
    Csv,
}

/// Of which time.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct Period {
    /// From this time on, milliseconds since 1970 UTC; from the beginning if left out.
    #[param(nullable = false)]
    from: Option<i64>,
    /// Before this time; until now if left out.
    #[param(nullable = false)]
    to: Option<i64>,
    /// JSON if left out.
    #[param(nullable = false, inline)]
    format: Option<ReportFormat>,
}

impl Period {
    pub fn times(&self, now: Timestamp) -> (Timestamp, Timestamp) {
        (Timestamp(self.from.unwrap_or(0)), self.to.map_or_else(|| Timestamp(now.0.saturating_add(1)), Timestamp))
    }

    pub fn is_table(&self) -> bool {
        self.format == Some(ReportFormat::Csv)
    }
}

/// A table as a file.
pub(super) fn table(text: String, name: &'static str) -> Response {
    saved("text/csv; charset=utf-8", HeaderValue::from_static(name), text)
}

/// The proofs of what was deleted in a time, with the end of the audit trail that they stand in.
#[utoipa::path(get, path = "/api/data-governance/retention/certificate", tag = "governance",
    operation_id = "certifyDeletions", params(Period), responses((status = 200, description = "The deletions",
        content((DeletionCertificate = "application/json"), (String = "text/csv")))))]
async fn certificate(Call(state, caller): Call, Params(period): Params<Period>) -> Result<Response, Problem> {
    let (from, to) = period.times(state.now());
    let certificate = state.deletion_certificate(&caller, from, to).await?;
    if period.is_table() {
        return Ok(table(certificate.csv(), "attachment; filename=\"deletions.csv\""));
    }
    Ok(Json(certificate).into_response())
}

/// What erasing a person would do, and how far an erasure is.
#[utoipa::path(get, path = "/api/users/{id}/erasure", tag = "users", operation_id = "getErasure",
    params(("id" = Uuid, Path)), responses((status = 200, description = "Found", body = ErasureView)))]
async fn erasure(Call(state, caller): Call, PathId(id): PathId<UserId>) -> Answer<ErasureView> {
    Ok(Json(state.erasure(&caller, id).await?))
}

/// Erases a person for good
///
/// Their account, conversations and runs are deleted in the background, and a stand-in is put where others named them.
/// The audit trail stays. The `confirmation` of the preview is asked for.
#[utoipa::path(post, path = "/api/users/{id}/erasure", tag = "users", operation_id = "eraseUser",
    params(("id" = Uuid, Path)), request_body = ErasureInput, responses(
        (status = 202, description = "Begun", body = Erasure),
        (status = 409, description = "It is not confirmed, or something stands against it")))]
async fn erase(
    Call(state, caller): Call,
    PathId(id): PathId<UserId>,
    Body(input): Body<ErasureInput>,
) -> Created<Erasure> {
    accepted(state.erase_user(&caller, id, &input).await?)
}

/// Downloads all that is kept of a person, for who asks what that is. The download is an entry of the audit trail.
#[utoipa::path(get, path = "/api/users/{id}/export", tag = "users", operation_id = "exportUser",
    params(("id" = Uuid, Path)), responses((status = 200, description = "A JSON object a line",
        body = String, content_type = "application/jsonl")))]
async fn export(Call(state, caller): Call, PathId(id): PathId<UserId>) -> Result<Response, Problem> {
    let lines = state.export_user(&caller, id).await?;
    let name = HeaderValue::from_static("attachment; filename=\"person.jsonl\"");
    Ok(saved("application/jsonl", name, axum::body::Body::from_stream(lines)))
}
