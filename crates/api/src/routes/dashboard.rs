use crate::dto::dashboard::{Dashboard, DashboardPeriod};
use crate::routes::prelude::*;

pub(super) fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::default().routes(routes!(dashboard))
}

/// How far back.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct Wanted {
    /// 24 hours if left out.
    #[param(nullable = false, inline)]
    period: Option<DashboardPeriod>,
}

/// What happened lately: runs, failures, questions that wait, what models took. Operators see everybody's, others their own.
#[utoipa::path(get, path = "/api/dashboard", tag = "usage", operation_id = "dashboard", params(Wanted),
    responses((status = 200, description = "Sums and the newest failures", body = Dashboard)))]
async fn dashboard(Call(state, caller): Call, Params(wanted): Params<Wanted>) -> Answer<Dashboard> {
    Ok(Json(state.app.dashboard(&caller, wanted.period.unwrap_or_default()).await?))
}
