use super::Client;
use anyhow::Context;
use steward_core::AgentId;
use steward_core::agent::Agent;

pub const DEFAULT_AGENT: &str = "steward";

impl Client {
    pub async fn agents(&self) -> anyhow::Result<Vec<Agent>> {
        self.all("/api/agents").await
    }

    /// `None` means the agent that every installation has.
    pub async fn agent_named(&self, name: Option<&str>) -> anyhow::Result<Agent> {
        let name = name.unwrap_or(DEFAULT_AGENT);
        self.agent_where(|agent| agent.name == name)
            .await?
            .with_context(|| format!("there is no agent `{name}`; `steward agents` lists them"))
    }
    pub async fn agent(&self, id: AgentId) -> anyhow::Result<Agent> {
        self.agent_where(|agent| agent.id == id)
            .await?
            .with_context(|| format!("agent {id} is deleted; `steward agents` lists those there are"))
    }

    async fn agent_where(&self, wanted: impl Fn(&Agent) -> bool) -> anyhow::Result<Option<Agent>> {
        Ok(self.agents().await?.into_iter().find(|agent| wanted(agent)))
    }
}
