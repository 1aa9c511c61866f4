use crate::app::{Action, App, AppError, AppResult, Caller, Resource, authorize, listed_owner};
use crate::dto::budgets::{BudgetChange, BudgetInput, BudgetState};
use crate::usage::Labels;
use steward_core::BudgetId;
use steward_core::ports::{BudgetScope, SpendLimit, VirtualKeys as _};
use steward_core::spending::limit_problem;

impl App {
    /// By scope and period, with what is gone of them: who may set them sees all, others those of themselves and their keys.
    pub async fn budgets(&self, caller: &Caller) -> AppResult<Vec<BudgetState>> {
        authorize(caller, Action::Read, Resource::Budgets)?;
        let all = self.all_budgets().await?;
        let Some(user) = listed_owner(caller, Resource::Budgets) else {
            return Ok(all);
        };
        let mut own = Vec::new();
        for one in all {
            let is_own = match one.limit.scope {
                BudgetScope::User(id) => id == user,
                BudgetScope::Key(id) => self.store.key(self.tenant(), id).await.is_ok_and(|key| key.user == user),
                BudgetScope::Installation | BudgetScope::Agent(_) | BudgetScope::Connection(_) => false,
            };
            own.extend(is_own.then_some(one));
        }
        Ok(own)
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
