use crate::app::{Action, App, AppError, AppResult, Caller, Resource, authorize};
use crate::dto::budgets::{BudgetChange, BudgetInput, BudgetState};
use crate::usage::Labels;
use steward_core::BudgetId;
use steward_core::ports::{BudgetScope, SpendLimit};
use steward_core::spending::limit_problem;

impl App {
    /// All, with what is gone of them; by scope and period.
    pub async fn budgets(&self, caller: &Caller) -> AppResult<Vec<BudgetState>> {
        authorize(caller, Action::Read, Resource::Budgets)?;
        self.all_budgets().await
    }

    /// What was spent in its period so far counts.
    pub async fn create_budget(&self, caller: &Caller, input: BudgetInput) -> AppResult<BudgetState> {
        authorize(caller, Action::Write, Resource::Budgets)?;
        let limit = checked_limit(SpendLimit {
            id: BudgetId(self.new_id()),
            scope: input.scope,
            period: input.period,
            tokens: input.tokens,
            cost_micros: input.cost_micros,
        })?;
        self.check_scope(limit.scope).await?;
        self.store.save_spend_limit(self.tenant(), &limit).await?;
        self.budget(limit.id).await
    }

    /// Changes how much a budget allows; its period and what is spent stay.
    pub async fn change_budget(&self, caller: &Caller, id: BudgetId, input: BudgetChange) -> AppResult<BudgetState> {
        authorize(caller, Action::Write, Resource::Budgets)?;
        let before = self.budget(id).await?.limit;
        let limit = checked_limit(SpendLimit { tokens: input.tokens, cost_micros: input.cost_micros, ..before })?;
        self.store.save_spend_limit(self.tenant(), &limit).await?;
        self.budget(id).await
    }

    /// The record of usage stays.
    pub async fn remove_budget(&self, caller: &Caller, id: BudgetId) -> AppResult<()> {
        authorize(caller, Action::Write, Resource::Budgets)?;
        Ok(self.store.remove_spend_limit(self.tenant(), id).await?)
    }

    async fn all_budgets(&self) -> AppResult<Vec<BudgetState>> {
        let states = self.store.spend_limits(self.tenant(), self.now()).await?;
        let labels = Labels::of(self, states.iter().map(|state| state.limit.scope)).await?;
        Ok(states.into_iter().map(|state| BudgetState::named(labels.scope(state.limit.scope), state)).collect())
    }

    async fn budget(&self, id: BudgetId) -> AppResult<BudgetState> {
        let all = self.all_budgets().await?;
        all.into_iter().find(|one| one.limit.id == id).ok_or_else(|| AppError::not_found(format!("budget {id}")))
    }

    async fn check_scope(&self, scope: BudgetScope) -> AppResult<()> {
        let labels = Labels::of(self, std::iter::once(scope)).await?;
        if labels.knows(scope) {
            return Ok(());
        }
        let what = scope.whose().trim_start_matches("the ");
        Err(AppError::invalid(
            "scope",
            format!("there is no {what} of this id"),
            format!("take the id of {} from the list of them", scope.whose()),
        ))
    }
}

pub(crate) fn checked_limit(limit: SpendLimit) -> AppResult<SpendLimit> {
    match limit_problem(&limit) {
        None => Ok(limit),
        Some(problem) => Err(AppError::invalid(problem.field, problem.what, problem.hint)),
    }
}
