//! `/api/audit`: who did what. Administrators only.

use crate::dto::audit::{AuditCheck, AuditProgress, AuditRetention};
use crate::response::saved;
use crate::routes::prelude::*;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use futures::{StreamExt as _, TryStreamExt as _};
use serde_json::json;
use steward_app::AuditFormat;
use steward_core::audit::{AuditResult, SealedEntry};
use steward_core::ports::AuditFilter;
use steward_core::{RunId, Timestamp};
use uuid::Uuid;

pub(super) fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::default()
        .routes(routes!(list))
        .routes(routes!(export))
        .routes(routes!(verify))
        .routes(routes!(get_retention, set_retention))
        .routes(routes!(get))
}

/// Which entries. All that is given must fit.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct Wanted {
    /// Of this actor.
    #[param(nullable = false)]
    actor: Option<String>,
    /// Of this action, or of those that begin with it: `auth` has `auth.login` too.
    #[param(nullable = false)]
    action: Option<String>,
    /// To this target.
    #[param(nullable = false)]
    target: Option<String>,
    /// That ended so.
    #[param(nullable = false, inline)]
    result: Option<AuditResult>,
    /// Of this run.
    #[param(nullable = false)]
    run: Option<Uuid>,
    /// From this time on, milliseconds since 1970 UTC.
    #[param(nullable = false)]
    from: Option<i64>,
    /// Before this time.
    #[param(nullable = false)]
    to: Option<i64>,
    /// Whose actor, action, target, address or details hold this.
    #[param(nullable = false, max_length = 200)]
    text: Option<String>,
}

impl From<Wanted> for AuditFilter {
    fn from(wanted: Wanted) -> Self {
        let given = |text: Option<String>| text.filter(|text| !text.is_empty());
        Self {
            actor: given(wanted.actor),
            action: given(wanted.action),
            target: given(wanted.target),
            result: wanted.result,
            run: wanted.run.map(RunId),
            from: wanted.from.map(Timestamp),
            to: wanted.to.map(Timestamp),
            text: given(wanted.text),
        }
    }
}

/// Entries of the audit trail, newest first.
#[utoipa::path(get, path = "/api/audit", tag = "audit", operation_id = "listAudit", params(Wanted, Paging),
    responses((status = 200, description = "Newest first", body = Page<SealedEntry>)))]
async fn list(Call(state, caller): Call, Params(wanted): Params<Wanted>, paging: Paging) -> Listed<SealedEntry> {
    let before = paging.after::<u64>()?;
    let page = state.audit(&caller, &wanted.into(), before, paging.limit()).await?;
    Ok(Page::after_last(page, |entry| entry.seq))
}

/// One entry, by its place in the chain.
#[utoipa::path(get, path = "/api/audit/{seq}", tag = "audit", operation_id = "getAuditEntry",
    params(("seq" = u64, Path)), responses((status = 200, description = "Found", body = SealedEntry)))]
async fn get(Call(state, caller): Call, PathId(seq): PathId<u64>) -> Answer<SealedEntry> {
    Ok(Json(state.audit_entry(&caller, seq).await?))
}

/// How the file is written.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct Written {
    /// JSON Lines if left out.
    #[param(nullable = false, inline)]
    format: Option<AuditFormat>,
}

/// Downloads the entries that fit, oldest first. The download is itself an entry.
#[utoipa::path(get, path = "/api/audit/export", tag = "audit", operation_id = "exportAudit",
    params(Written, Wanted), responses((status = 200, description = "The file",
        content((String = "application/jsonl"), (String = "text/csv")))))]
async fn export(
    Call(state, caller): Call,
    Params(written): Params<Written>,
    Params(wanted): Params<Wanted>,
) -> Result<Response, Problem> {
    let format = written.format.unwrap_or(AuditFormat::Jsonl);
    let entries = state.export_audit(&caller, wanted.into(), format).await?;
    let (kind, name) = match format {
        AuditFormat::Jsonl => ("application/jsonl", "attachment; filename=\"audit.jsonl\""),
        AuditFormat::Csv => ("text/csv; charset=utf-8", "attachment; filename=\"audit.csv\""),
    };
    Ok(saved(kind, HeaderValue::from_static(name), axum::body::Body::from_stream(entries)))
}

/// Checks the whole chain
///
/// Answers with a line of JSON for each part of the way; the last one has the report. The check is itself an entry.
#[utoipa::path(post, path = "/api/audit/verify", tag = "audit", operation_id = "verifyAudit",
    request_body = AuditCheck, responses((status = 200, description = "How far it is, and what was found",
        body = AuditProgress, content_type = "application/jsonl")))]
async fn verify(Call(state, caller): Call, Body(check): Body<AuditCheck>) -> Result<Response, Problem> {
    let steps = state.verify_audit(&caller, check.known).await?;
    let lines = steps.map_ok(|step| format!("{}\n", json!(step))).inspect(|step| {
        if let Err(error) = step {
            tracing::error!(%error, "a check of the audit trail was cut off");
        }
    });
    Ok(([(header::CONTENT_TYPE, "application/jsonl")], axum::body::Body::from_stream(lines)).into_response())
}

/// How long entries are kept.
#[utoipa::path(get, path = "/api/audit/retention", tag = "audit", operation_id = "getAuditRetention",
    responses((status = 200, description = "As it is set", body = AuditRetention)))]
async fn get_retention(Call(state, caller): Call) -> Answer<AuditRetention> {
    Ok(Json(state.audit_retention(&caller).await?))
}

/// Sets how long entries are kept
///
/// Older ones are deleted from the beginning of the chain within minutes; the rest can still be checked, and the deletion
/// is itself an entry.
#[utoipa::path(put, path = "/api/audit/retention", tag = "audit", operation_id = "setAuditRetention",
    request_body = AuditRetention, responses((status = 200, description = "Set", body = AuditRetention)))]
async fn set_retention(Call(state, caller): Call, Body(wanted): Body<AuditRetention>) -> Answer<AuditRetention> {
    Ok(Json(state.set_audit_retention(&caller, wanted).await?))
}
