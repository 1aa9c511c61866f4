use crate::app::{Action, App, AppError, AppResult, Caller, Resource, authorize};
use crate::dto::named::NamedRef;
use std::collections::{BTreeSet, HashMap};
use steward_core::AgentId;
use steward_core::agent::Agent;
use steward_core::ports::{Agents as _, StoreError, StoreResult};

/// Names by id, without those of deleted agents.
pub(crate) struct AgentNames(HashMap<AgentId, String>);

impl AgentNames {
    pub fn get(&self, id: AgentId) -> Option<String> {
        self.0.get(&id).cloned()
    }

    pub fn refs(&self, ids: &[AgentId]) -> Vec<NamedRef> {
        ids.iter().map(|id| NamedRef { id: id.0, name: self.get(*id) }).collect()
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

    /// The agents that `words` name: by id, or by the name that one has now. `kept`: those that may stay though they were
    /// deleted meanwhile.
    pub(crate) async fn agents_meant(
        &self,
        field: &str,
        words: &[String],
        kept: &BTreeSet<AgentId>,
    ) -> AppResult<Vec<AgentId>> {
        if words.is_empty() {
            return Ok(Vec::new());
        }
        let agents = self.store.agents(self.tenant()).await?;
        let known = |id: &AgentId| kept.contains(id) || agents.iter().any(|agent| agent.id == *id);
        let mut found = Vec::with_capacity(words.len());
        for word in words.iter().map(|word| word.trim()) {
            let by_id = word.parse::<AgentId>().ok().filter(known);
            let by_name = || agents.iter().find(|agent| agent.name == word).map(|agent| agent.id);
            let id = by_id.or_else(by_name).ok_or_else(|| {
                AppError::invalid(
                    field,
                    format!("there is no agent `{word}`"),
                    "see GET /api/agents for their ids and names; leave the list empty for all",
                )
            })?;
            if !found.contains(&id) {
                found.push(id);
            }
        }
        Ok(found)
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
