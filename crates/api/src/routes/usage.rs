use crate::dto::budgets::UsageReport;
use crate::dto::dashboard::{Dashboard, DashboardPeriod};
use crate::routes::prelude::*;
use steward_core::Timestamp;
use steward_core::ports::UsageBy;

pub(super) fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::default().routes(routes!(report)).routes(routes!(dashboard))
}

/// Which usage.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct Wanted {
    /// What it is summed up by; days if left out.
    #[param(nullable = false, inline)]
    by: Option<UsageBy>,
    /// From the day of this time on; 30 days if left out.
    #[param(nullable = false)]
    from: Option<i64>,
    /// Up to this time, which is not part of it; its day counts whole. Now if left out.
    #[param(nullable = false)]
    to: Option<i64>,
}

/// What calls of models took. Kept by days of UTC. Operators see everybody's, others their own.
#[utoipa::path(get, path = "/api/usage", tag = "usage", operation_id = "usage", params(Wanted),
    responses((status = 200, description = "Sums", body = UsageReport)))]
async fn report(Call(state, caller): Call, Params(wanted): Params<Wanted>) -> Answer<UsageReport> {
    let by = wanted.by.unwrap_or(UsageBy::Day);
    let report = state.usage(&caller, by, wanted.from.map(Timestamp), wanted.to.map(Timestamp)).await?;
    Ok(Json(report))
}

/// How far back.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct DashboardWanted {
    /// 24 hours if left out.
    #[param(nullable = false, inline)]
    period: Option<DashboardPeriod>,
}

/// What happened lately: runs, failures, questions that wait, what models took. Operators see everybody's, others their own.
#[utoipa::path(get, path = "/api/dashboard", tag = "usage", operation_id = "dashboard", params(DashboardWanted),
    responses((status = 200, description = "Sums and the newest failures", body = Dashboard)))]
async fn dashboard(Call(state, caller): Call, Params(wanted): Params<DashboardWanted>) -> Answer<Dashboard> {
    Ok(Json(state.app.dashboard(&caller, wanted.period.unwrap_or_default()).await?))
}
