//! Names of agents beside the ids in lists.

use crate::problem::Problem;
use crate::state::ApiState;
use std::collections::HashMap;
use steward_core::AgentId;
use steward_core::ports::StoreError;

/// Names by id, those of deleted agents too where something refers to them.
pub(crate) struct AgentNames(HashMap<AgentId, String>);

impl AgentNames {
    /// The names of `wanted`.
    pub async fn of(state: &ApiState, wanted: Vec<AgentId>) -> Result<Self, Problem> {
        let deps = state.runs.deps();
        let mut names = HashMap::new();
        for id in wanted {
            if names.contains_key(&id) {
                continue;
            }
            match deps.store.agent(deps.tenant, id).await {
                Ok(agent) => {
                    names.insert(id, agent.name);
                }
                Err(StoreError::NotFound(_)) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(Self(names))
    }

    /// One of them.
    pub fn get(&self, id: AgentId) -> Option<String> {
        self.0.get(&id).cloned()
    }
}
