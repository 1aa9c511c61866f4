use crate::dto::budgets::{BudgetChange, BudgetInput, BudgetState};
use crate::routes::prelude::*;
use steward_core::BudgetId;

pub(super) fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::default().routes(routes!(list, create)).routes(routes!(change, remove))
}

/// Budgets, with what is spent and set aside of each.
#[utoipa::path(get, path = "/api/budgets", tag = "budgets", operation_id = "listBudgets",
    params(Paging),
    responses((status = 200, description = "By scope and period", body = Page<BudgetState>)))]
async fn list(Call(state, caller): Call, paging: Paging) -> Listed<BudgetState> {
    Page::cut(state.budgets(&caller).await?, &paging)
}

/// Sets a budget. What was spent in its period so far counts.
#[utoipa::path(post, path = "/api/budgets", tag = "budgets", operation_id = "createBudget",
    request_body = BudgetInput, responses((status = 201, description = "Set", body = BudgetState)))]
async fn create(Call(state, caller): Call, Body(input): Body<BudgetInput>) -> Created<BudgetState> {
    created(state.create_budget(&caller, input).await?)
}

/// Changes how much a budget allows; its period and what is spent stay.
#[utoipa::path(put, path = "/api/budgets/{id}", tag = "budgets", operation_id = "changeBudget",
    params(("id" = Uuid, Path)), request_body = BudgetChange,
    responses((status = 200, description = "Changed", body = BudgetState)))]
async fn change(
    Call(state, caller): Call,
    PathId(id): PathId<BudgetId>,
    Body(input): Body<BudgetChange>,
) -> Answer<BudgetState> {
    Ok(Json(state.change_budget(&caller, id, input).await?))
}

/// Removes a budget; the record of usage stays.
#[utoipa::path(delete, path = "/api/budgets/{id}", tag = "budgets", operation_id = "removeBudget",
    params(("id" = Uuid, Path)), responses((status = 204, description = "Removed")))]
async fn remove(Call(state, caller): Call, PathId(id): PathId<BudgetId>) -> Done {
    done(state.remove_budget(&caller, id).await)
}
