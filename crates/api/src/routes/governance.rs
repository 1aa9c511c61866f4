//! `/api/data-governance`: labels and policies over data, and the standards that they serve.

use super::retention::{Period, table};
use crate::dto::governance::{
    DataCheck, DataChecked, DataRulesInput, DataRulesView, MaskInput, MaskedText, PolicyReport, Standard, UnmaskInput,
    UnmaskedText,
};
use crate::routes::prelude::*;
use axum::response::{IntoResponse, Response};

pub(super) fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::default()
        .routes(routes!(read, replace))
        .routes(routes!(references))
        .routes(routes!(check))
        .routes(routes!(mask))
        .routes(routes!(unmask))
        .routes(routes!(report))
}

/// Where data of which classification is, and what follows for runs that have seen it.
#[utoipa::path(get, path = "/api/data-governance/policies", tag = "governance", operation_id = "readDataRules",
    responses((status = 200, description = "The rules", body = DataRulesView)))]
async fn read(Call(state, caller): Call) -> Answer<DataRulesView> {
    Ok(Json(state.data_rules(&caller).await?))
}

/// Replaces labels and policies; `version` is that of the rules that were changed. They hold for runs that begin from now
/// on.
#[utoipa::path(put, path = "/api/data-governance/policies", tag = "governance", operation_id = "replaceDataRules",
    request_body = DataRulesInput,
    responses((status = 200, description = "The rules with their new version", body = DataRulesView)))]
async fn replace(Call(state, caller): Call, Body(input): Body<DataRulesInput>) -> Answer<DataRulesView> {
    Ok(Json(state.set_data_rules(&caller, input).await?))
}

/// Standards whose clauses policies can refer to.
#[utoipa::path(get, path = "/api/data-governance/references", tag = "governance", operation_id = "listStandards",
    responses((status = 200, description = "By name", body = Vec<Standard>)))]
async fn references(Call(state, caller): Call) -> Answer<Vec<Standard>> {
    Ok(Json(state.standards(&caller)?))
}

/// Says what the rules make of something that a run would meet. Nothing is done.
#[utoipa::path(post, path = "/api/data-governance/check", tag = "governance", operation_id = "checkData",
    request_body = DataCheck, responses((status = 200, description = "What they say", body = DataChecked)))]
async fn check(Call(state, caller): Call, Body(input): Body<DataCheck>) -> Answer<DataChecked> {
    Ok(Json(state.check_data(&caller, input).await?))
}

/// Masks the personal data and secrets of a text, as far as they are found
///
/// Nothing of it is kept, unless it is to be reversible: then tokens stand in their place, and what they stand for is kept
/// sealed for a while.
#[utoipa::path(post, path = "/api/data-governance/mask", tag = "governance", operation_id = "maskText",
    request_body = MaskInput, responses((status = 200, description = "The text without them", body = MaskedText)))]
async fn mask(Call(state, caller): Call, Body(input): Body<MaskInput>) -> Answer<MaskedText> {
    Ok(Json(state.mask_text(&caller, input).await?))
}

/// Puts back what tokens stand for: for who had the text masked, and for administrators. Each time is an entry of the audit
/// trail.
#[utoipa::path(post, path = "/api/data-governance/unmask", tag = "governance", operation_id = "unmaskText",
    request_body = UnmaskInput, responses(
        (status = 200, description = "The text with the values", body = UnmaskedText),
        (status = 404, description = "There is no such list, it has ended, or is somebody else's")))]
async fn unmask(Call(state, caller): Call, Body(input): Body<UnmaskInput>) -> Answer<UnmaskedText> {
    Ok(Json(state.unmask_text(&caller, input).await?))
}

/// What a policy has done in a time, and which clauses it serves. Administrators only.
#[utoipa::path(get, path = "/api/data-governance/policies/{name}/report", tag = "governance",
    operation_id = "reportPolicy", params(("name" = String, Path), Period), responses(
        (status = 200, description = "Sums", content((PolicyReport = "application/json"), (String = "text/csv")))))]
async fn report(
    Call(state, caller): Call,
    PathName(name): PathName,
    Params(period): Params<Period>,
) -> Result<Response, Problem> {
    let (from, to) = period.times(state.now());
    let report = state.policy_report(&caller, &name, from, to).await?;
    if period.is_table() {
        return Ok(table(report.csv(), "attachment; filename=\"policy.csv\""));
    }
    Ok(Json(report).into_response())
}
