use crate::ApiState;
use crate::auth::Call;
use crate::dto::dashboard::{Dashboard, DashboardPeriod};
use crate::extract::Params;
use crate::problem::Answer;
use axum::Json;
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(super) fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::default().routes(routes!(dashboard))
}

/// How far back.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Wanted {
    /// 24 hours if left out.
    #[param(nullable = false, inline)]
    period: Option<DashboardPeriod>,
}

/// What happened lately: runs, failures, questions that wait, what models took. Operators see everybody's, others their own.
#[utoipa::path(get, path = "/api/dashboard", tag = "usage", operation_id = "dashboard", params(Wanted),
    responses((status = 200, description = "Sums and the newest failures", body = Dashboard)))]
pub(crate) async fn dashboard(Call(state, caller): Call, Params(wanted): Params<Wanted>) -> Answer<Dashboard> {
    Ok(Json(state.app.dashboard(&caller, wanted.period.unwrap_or_default()).await?))
}
