//! `/api/budgets`.

use crate::auth::Person;
use crate::dto::spending::{BudgetInput, BudgetState};
use crate::extract::{Body, Page, Paging, PagingQuery};
use crate::problem::Problem;
use crate::routes::usage::Labels;
use crate::state::ApiState;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use steward_core::BudgetId;
use steward_core::ports::{BudgetScope, Role, SpendLimit};
use steward_core::spending::limit_problem;

/// All, with what is gone of them; by scope and period.
pub(super) async fn all(state: &ApiState) -> Result<Vec<BudgetState>, Problem> {
    let deps = state.runs.deps();
    let states = deps.store.spend_limits(deps.tenant, deps.clock.now()).await?;
    let labels = Labels::of(state, states.iter().map(|state| state.limit.scope)).await?;
    Ok(states
        .into_iter()
        .map(|state| {
            let label = labels.scope(state.limit.scope);
            BudgetState::named(state, label)
        })
        .collect())
}

/// A limit that can be kept.
pub(crate) fn checked(limit: SpendLimit) -> Result<SpendLimit, Problem> {
    match limit_problem(&limit) {
        None => Ok(limit),
        Some(problem) => Err(Problem::invalid(problem.field, problem.what, problem.hint)),
    }
}

/// Budgets, with what is spent and set aside of each.
#[utoipa::path(get, path = "/api/budgets", tag = "budgets", operation_id = "listBudgets",
    params(PagingQuery),
    responses((status = 200, description = "By scope and period", body = Page<BudgetState>)))]
pub(crate) async fn list(
    State(state): State<ApiState>,
    _: Person,
    paging: Paging,
) -> Result<Page<BudgetState>, Problem> {
    Page::cut(all(&state).await?, &paging)
}

/// Sets a budget. What was spent in its period so far counts.
#[utoipa::path(post, path = "/api/budgets", tag = "budgets", operation_id = "createBudget",
    request_body = BudgetInput, responses((status = 201, description = "Set", body = BudgetState)))]
pub(crate) async fn create(
    State(state): State<ApiState>,
    person: Person,
    Body(input): Body<BudgetInput>,
) -> Result<(StatusCode, Json<BudgetState>), Problem> {
    person.may(Role::Operator)?;
    let deps = state.runs.deps();
    let limit = checked(SpendLimit {
        id: BudgetId(deps.ids.next()),
        scope: input.scope,
        period: input.period,
        tokens: input.tokens,
        cost_micros: input.cost_micros,
    })?;
    known(&state, limit.scope).await?;
    deps.store.save_spend_limit(deps.tenant, &limit).await?;
    let made = super::one::known(&state, limit.id).await?;
    Ok((StatusCode::CREATED, Json(made)))
}

/// Refuses a budget for what isn't there.
async fn known(state: &ApiState, scope: BudgetScope) -> Result<(), Problem> {
    let labels = Labels::of(state, std::iter::once(scope)).await?;
    if labels.knows(scope) {
        return Ok(());
    }
    let what = scope.whose().trim_start_matches("the ");
    Err(Problem::invalid(
        "scope",
        format!("there is no {what} of this id"),
        format!("take the id of {} from the list of them", scope.whose()),
    ))
}
