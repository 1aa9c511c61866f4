//! `/api/budgets/{id}`.

use super::several::{all, checked};
use crate::auth::Person;
use crate::dto::spending::{BudgetChange, BudgetState};
use crate::extract::{Body, PathId};
use crate::problem::Problem;
use crate::state::ApiState;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use steward_core::BudgetId;
use steward_core::ports::{Role, SpendLimit};

/// The budget of this id.
pub(super) async fn known(state: &ApiState, id: BudgetId) -> Result<BudgetState, Problem> {
    let all = all(state).await?;
    all.into_iter().find(|one| one.limit.id == id).ok_or_else(|| Problem::not_found(format!("budget {id}")))
}

/// Changes how much a budget allows; its period and what is spent stay.
#[utoipa::path(put, path = "/api/budgets/{id}", tag = "budgets", operation_id = "changeBudget",
    params(("id" = Uuid, Path)), request_body = BudgetChange,
    responses((status = 200, description = "Changed", body = BudgetState)))]
pub(crate) async fn change(
    State(state): State<ApiState>,
    person: Person,
    PathId(id): PathId<BudgetId>,
    Body(input): Body<BudgetChange>,
) -> Result<Json<BudgetState>, Problem> {
    person.may(Role::Operator)?;
    let before = known(&state, id).await?.limit;
    let limit = checked(SpendLimit { tokens: input.tokens, cost_micros: input.cost_micros, ..before })?;
    let deps = state.runs.deps();
    deps.store.save_spend_limit(deps.tenant, &limit).await?;
    Ok(Json(known(&state, id).await?))
}

/// Removes a budget; the record of usage stays.
#[utoipa::path(delete, path = "/api/budgets/{id}", tag = "budgets", operation_id = "removeBudget",
    params(("id" = Uuid, Path)), responses((status = 204, description = "Removed")))]
pub(crate) async fn remove(
    State(state): State<ApiState>,
    person: Person,
    PathId(id): PathId<BudgetId>,
) -> Result<StatusCode, Problem> {
    person.may(Role::Operator)?;
    let deps = state.runs.deps();
    deps.store.remove_spend_limit(deps.tenant, id).await?;
    Ok(StatusCode::NO_CONTENT)
}
