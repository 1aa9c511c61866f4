//! The report.

use super::Labels;
use crate::auth::Person;
use crate::dto::spending::{UsageReport, UsageRow};
use crate::extract::Params;
use crate::problem::Problem;
use crate::state::ApiState;
use axum::Json;
use axum::extract::State;
use serde::Deserialize;
use steward_core::Timestamp;
use steward_core::ports::{self, UsageBy};
use utoipa::IntoParams;

/// Days that are reported where nothing is said.
const DAYS: i64 = 30;

/// Which usage.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Wanted {
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
pub(crate) async fn report(
    State(state): State<ApiState>,
    person: Person,
    Params(wanted): Params<Wanted>,
) -> Result<Json<UsageReport>, Problem> {
    let deps = state.runs.deps();
    let now = deps.clock.now();
    let to = wanted.to.map_or(Timestamp(now.0 + 1), Timestamp);
    let from = wanted.from.map_or_else(|| Timestamp::of_day(to.day().saturating_sub(DAYS - 1)), Timestamp);
    if from > to {
        return Err(Problem::invalid(
            "from",
            "`from` is after `to`",
            "give two times in order, in milliseconds since 1970 UTC",
        ));
    }
    let by = wanted.by.unwrap_or(UsageBy::Day);
    let user = (!person.sees_all()).then(|| person.user());
    let rows = deps.store.usage(deps.tenant, by, from, to, user).await?;
    let labels = Labels::of_groups(&state, by, &rows).await?;
    let mut total = ports::UsageRow::default();
    let mut items = Vec::with_capacity(rows.len());
    for sum in rows {
        let label = labels.group(by, &sum.group);
        add(&mut total, &sum);
        items.push(UsageRow { sum, label });
    }
    Ok(Json(UsageReport { items, unpriced_calls: total.unpriced, total }))
}

fn add(total: &mut ports::UsageRow, more: &ports::UsageRow) {
    total.calls += more.calls;
    total.failed += more.failed;
    total.unpriced += more.unpriced;
    total.prompt_tokens += more.prompt_tokens;
    total.cached_tokens += more.cached_tokens;
    total.completion_tokens += more.completion_tokens;
    total.cost_micros += more.cost_micros;
}
