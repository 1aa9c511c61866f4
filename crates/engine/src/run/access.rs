//! Whether the user of a run may still use its agent: a grant that is taken away ends at the next call.

use crate::run::{RunContext, delegation};
use steward_core::event::{EventBody, RequestedBy};
use steward_core::ports::{Role, StoreResult};
use steward_core::run::Effect;

impl RunContext<'_> {
    /// Stops the run before its next call if its user lost the agent; `true`: it was stopped.
    pub(super) async fn access_revoked(&mut self, effects: &[Effect]) -> StoreResult<bool> {
        if !effects.iter().any(is_call) {
            return Ok(false);
        }
        let store = &self.deps.store;
        // Read first, so that a change made meanwhile is seen the next time.
        let identities = store.identities();
        if identities.is_some() && self.access_checked == identities {
            return Ok(false);
        }
        let Some(why) = self.why_not().await? else {
            self.access_checked = identities;
            return Ok(false);
        };
        tracing::info!(run = %self.journal.state.run_id, why, "run stopped");
        delegation::stop_child(self, RequestedBy { name: why.to_owned(), source: None }).await?;
        self.journal.append(EventBody::StopRequested { by: why.to_owned(), source: None }).await?;
        Ok(true)
    }

    async fn why_not(&self) -> StoreResult<Option<&'static str>> {
        let (deps, state) = (self.deps, &self.journal.state);
        let Some((user, setup)) = state.setup.as_deref().and_then(|setup| Some((setup.user?, setup))) else {
            return Ok(None);
        };
        let Some(user) = deps.store.user(deps.tenant, user).await? else {
            return Ok(Some("steward: the user is not there any more"));
        };
        if user.is_disabled() {
            return Ok(Some("steward: the user was disabled"));
        }
        if matches!(user.role, Role::Admin | Role::Operator) {
            return Ok(None);
        }
        // The operator who gave an agent its delegations opened those to whoever may use the agent.
        let agent = setup.asked_agent.unwrap_or(setup.agent.id);
        let permissions = deps.store.permissions(deps.tenant, user.id).await?;
        let allowed = permissions.level(agent.into()).is_some();
        Ok((!allowed).then_some("steward: the user may not use this agent any more"))
    }
}

fn is_call(effect: &Effect) -> bool {
    matches!(
        effect,
        Effect::CallModel(_)
            | Effect::MakePlan
            | Effect::Fill { .. }
            | Effect::DeepPlan { .. }
            | Effect::RunTool { .. }
            | Effect::Delegate { .. }
    )
}
