//! `/api/data-governance`: labels and policies over data, and the standards that they serve.

use crate::ApiState;
use crate::auth::Call;
use crate::dto::governance::{DataCheck, DataChecked, DataRulesView, MaskInput, MaskedText, Standard};
use crate::extract::Body;
use crate::problem::Answer;
use axum::Json;
use steward_core::governance::DataRules;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(super) fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::default()
        .routes(routes!(read, replace))
        .routes(routes!(references))
        .routes(routes!(check))
        .routes(routes!(mask))
}

/// Where data of which classification is, and what follows for runs that have seen it.
#[utoipa::path(get, path = "/api/data-governance/policies", tag = "governance", operation_id = "readDataRules",
    responses((status = 200, description = "The rules", body = DataRulesView)))]
pub(crate) async fn read(Call(state, caller): Call) -> Answer<DataRulesView> {
    Ok(Json(state.data_rules(&caller).await?))
}

/// Replaces labels and policies; `version` is that of the rules that were changed. They hold for runs that begin from now
/// on.
#[utoipa::path(put, path = "/api/data-governance/policies", tag = "governance", operation_id = "replaceDataRules",
    request_body = DataRules,
    responses((status = 200, description = "The rules with their new version", body = DataRulesView)))]
pub(crate) async fn replace(Call(state, caller): Call, Body(input): Body<DataRules>) -> Answer<DataRulesView> {
    Ok(Json(state.set_data_rules(&caller, input).await?))
}

/// Standards whose clauses policies can refer to.
#[utoipa::path(get, path = "/api/data-governance/references", tag = "governance", operation_id = "listStandards",
    responses((status = 200, description = "By name", body = Vec<Standard>)))]
pub(crate) async fn references(Call(state, caller): Call) -> Answer<Vec<Standard>> {
    Ok(Json(state.standards(&caller)?))
}

/// Says what the rules make of something that a run would meet. Nothing is done.
#[utoipa::path(post, path = "/api/data-governance/check", tag = "governance", operation_id = "checkData",
    request_body = DataCheck, responses((status = 200, description = "What they say", body = DataChecked)))]
pub(crate) async fn check(Call(state, caller): Call, Body(input): Body<DataCheck>) -> Answer<DataChecked> {
    Ok(Json(state.check_data(&caller, input).await?))
}

/// Masks the personal data and secrets of a text, as far as they are found. Nothing of it is kept.
#[utoipa::path(post, path = "/api/data-governance/mask", tag = "governance", operation_id = "maskText",
    request_body = MaskInput, responses((status = 200, description = "The text without them", body = MaskedText)))]
pub(crate) async fn mask(Call(state, caller): Call, Body(input): Body<MaskInput>) -> Answer<MaskedText> {
    Ok(Json(state.mask_text(&caller, &input)?))
}
