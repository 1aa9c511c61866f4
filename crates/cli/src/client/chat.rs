use super::Client;
use anyhow::{Context, bail};
use serde::Deserialize;
use serde_json::json;
use steward_core::agent::Agent;
use steward_core::event::Mode;
use steward_core::{AgentId, ConnectionId, ConversationId, RunId, Timestamp};

pub const DEFAULT_AGENT: &str = "steward";

impl Client {
    pub async fn agents(&self) -> anyhow::Result<Vec<Agent>> {
        self.all("/api/agents").await
    }

    /// `None` means the agent that every installation has.
    pub async fn agent_named(&self, name: Option<&str>) -> anyhow::Result<Agent> {
        let name = name.unwrap_or(DEFAULT_AGENT);
        let mut agents = self.agents().await?.into_iter();
        agents
            .find(|agent| agent.name == name)
            .with_context(|| format!("there is no agent `{name}`; `steward agents` lists them"))
    }
}

#[derive(Debug, Clone)]
pub struct Chat {
    pub agent: AgentId,
    pub message: String,
    /// `None` begins a new one.
    pub conversation: Option<ConversationId>,
    pub mode: Mode,
    pub connection: Option<ConnectionId>,
    /// For its plans alone, and for all but these; before `connection`.
    pub planner: Option<ConnectionId>,
    pub executor: Option<ConnectionId>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
pub struct Started {
    #[serde(rename = "run_id")]
    pub run: RunId,
    #[serde(rename = "conversation_id")]
    pub conversation: Option<ConversationId>,
}

#[derive(Deserialize)]
struct Header {
    agent_id: AgentId,
    deleted_at: Option<Timestamp>,
}

impl Client {
    /// The request is durable when this returns.
    pub async fn chat(&self, chat: &Chat) -> anyhow::Result<Started> {
        let mut body = json!({"message": chat.message, "mode": chat.mode});
        if let Some(id) = chat.conversation {
            body["conversation_id"] = json!(id);
        }
        let named = [
            ("connection_id", chat.connection),
            ("planner_connection_id", chat.planner),
            ("executor_connection_id", chat.executor),
        ];
        for (field, id) in named.into_iter().filter_map(|(field, id)| Some((field, id?))) {
            body[field] = json!(id);
        }
        self.post(&format!("/api/chat/{}", chat.agent), &body).await
    }

    pub async fn agent_of(&self, conversation: ConversationId) -> anyhow::Result<Agent> {
        let Header { agent_id, deleted_at } = self.get(&format!("/api/conversations/{conversation}")).await?;
        if deleted_at.is_some() {
            bail!("conversation {conversation} is deleted; restore it in the studio, or begin a new one");
        }
        let mut agents = self.agents().await?.into_iter();
        agents
            .find(|agent| agent.id == agent_id)
            .with_context(|| format!("agent {agent_id} is deleted; `steward agents` lists those there are"))
    }
}
