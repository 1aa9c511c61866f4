use crate::dto::policies::{ToolRulesInput, ToolRulesView};
use crate::routes::prelude::*;

pub(super) fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::default().routes(routes!(read, replace))
}

/// The rules of this installation over what its agents do, beside each agent's own policy.
#[utoipa::path(get, path = "/api/policies/tools", tag = "policies", operation_id = "readToolRules",
    responses((status = 200, description = "The rules", body = ToolRulesView)))]
async fn read(Call(state, caller): Call) -> Answer<ToolRulesView> {
    Ok(Json(state.tool_rules(&caller).await?))
}

/// Replaces the rules; `version` is that of the rules that were changed. They hold for runs that begin from now on.
#[utoipa::path(put, path = "/api/policies/tools", tag = "policies", operation_id = "replaceToolRules",
    request_body = ToolRulesInput,
    responses((status = 200, description = "The rules with their new version", body = ToolRulesView)))]
async fn replace(Call(state, caller): Call, Body(input): Body<ToolRulesInput>) -> Answer<ToolRulesView> {
    Ok(Json(state.set_tool_rules(&caller, input).await?))
}
