//! Whether a run may still go on: its agent is there, and its user may use it. What is taken away ends at the next call.

use crate::run::missing_right::missing_right;
use crate::run::{RunContext, delegation};
use steward_core::AgentId;
use steward_core::event::{EventBody, RequestedBy};
use steward_core::permission::ResourceRef;
use steward_core::ports::StoreResult;
use steward_core::run::Effect;

impl RunContext<'_> {
    /// Stops the run before its next call if its agent is gone or its user lost it; `true`: it was stopped.
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
        delegation::stop_child(self, RequestedBy { name: why.to_owned(), source: None }, false).await?;
        self.journal.append(EventBody::StopRequested { by: why.to_owned(), source: None, client_left: false }).await?;
        Ok(true)
    }

    async fn why_not(&self) -> StoreResult<Option<&'static str>> {
        let deps = self.deps;
        let Some(setup) = self.journal.state.setup.as_deref() else {
            return Ok(None);
        };
        let above = setup.above.iter().filter(|_| setup.parent.is_some());
        let agents: Vec<AgentId> = above.copied().chain([setup.agent.id]).collect();
        for agent in &agents {
            if deps.store.is_deleted_agent(deps.tenant, *agent).await? {
                return Ok(Some("steward: the agent was deleted"));
            }
        }
        let Some(user) = setup.user else {
            return Ok(None);
        };
        let named = setup.names_connection.then_some(setup.connection);
        let planner = setup.planner.as_deref().filter(|planner| planner.named).map(|planner| planner.connection);
        let named = named.into_iter().chain(planner).map(ResourceRef::from);
        let needed = agents.into_iter().map(ResourceRef::from).chain(named);
        missing_right(deps, user, needed).await
    }
}

fn is_call(effect: &Effect) -> bool {
    matches!(
        effect,
        Effect::CallModel(_)
            | Effect::SearchForPlan
            | Effect::MakePlan
            | Effect::Fill { .. }
            | Effect::DeepPlan { .. }
            | Effect::RunTool { .. }
            | Effect::Delegate { .. }
    )
}
