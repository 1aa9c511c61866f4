use crate::app::{Action, App, AppError, AppResult, Caller, Resource, authorize};
use std::collections::HashMap;
use steward_core::AgentId;
use steward_core::agent::Agent;
use steward_core::ports::{Agents as _, StoreError, StoreResult};

/// Names by id, those of deleted agents too where something refers to them.
pub(crate) struct AgentNames(HashMap<AgentId, String>);

impl AgentNames {
    pub fn get(&self, id: AgentId) -> Option<String> {
        self.0.get(&id).cloned()
    }
}

impl App {
    pub(crate) async fn agent_names(&self, wanted: Vec<AgentId>) -> AppResult<AgentNames> {
        let mut names = HashMap::new();
        for id in wanted {
            if names.contains_key(&id) {
                continue;
            }
            match self.store.agent(self.tenant(), id).await {
                Ok(agent) => {
                    names.insert(id, agent.name);
                }
                Err(StoreError::NotFound(_)) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(AgentNames(names))
    }

    pub(crate) async fn live_agent(&self, id: AgentId) -> AppResult<Agent> {
        let agents = self.store.agents(self.tenant()).await?;
        agents.into_iter().find(|agent| agent.id == id).ok_or_else(|| AppError::not_found(format!("agent {id}")))
    }

    /// The agents that the caller may ask by name, in the store's order.
    pub async fn usable_agents(&self, caller: &Caller) -> StoreResult<Vec<Agent>> {
        let mut agents = self.store.agents(self.tenant()).await?;
        agents.retain(|agent| authorize(caller, Action::Read, of(agent)).is_ok());
        Ok(agents)
    }

    /// The agent of this name; `None`: there is none, or neither the caller's grants nor their key open it.
    pub async fn usable_agent(&self, caller: &Caller, name: &str) -> StoreResult<Option<Agent>> {
        let found = self.store.agent_by_name(self.tenant(), name).await?;
        Ok(found.filter(|agent| authorize(caller, Action::Read, of(agent)).is_ok()))
    }

    /// An agent that is not deleted, for this action.
    pub(crate) async fn agent_for(&self, caller: &Caller, action: Action, id: AgentId) -> AppResult<Agent> {
        let agent = self.live_agent(id).await?;
        authorize(caller, action, of(&agent))?;
        Ok(agent)
    }
}

pub(crate) fn of(agent: &Agent) -> Resource<'_> {
    Resource::Agent { id: agent.id, name: &agent.name }
}
