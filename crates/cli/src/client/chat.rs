use super::Client;
use anyhow::bail;
use serde::Deserialize;
use serde_json::json;
use steward_core::event::Mode;
use steward_core::{AgentId, ConnectionId, ConversationId, RunId, Timestamp};

#[derive(Debug, Clone)]
pub struct Chat {
    pub agent: AgentId,
    pub message: String,
    /// `None` begins a new one.
    pub conversation: Option<ConversationId>,
    /// Whether to plan first.
    pub mode: Mode,
    /// Overrides the agent's connection.
    pub connection: Option<ConnectionId>,
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
        if let Some(id) = chat.connection {
            body["connection_id"] = json!(id);
        }
        self.post(&format!("/api/chat/{}", chat.agent), &body).await
    }

    pub async fn agent_of(&self, conversation: ConversationId) -> anyhow::Result<AgentId> {
        let header: Header = self.get(&format!("/api/conversations/{conversation}")).await?;
        if header.deleted_at.is_some() {
            bail!("conversation {conversation} is deleted; restore it in the studio, or begin a new one");
        }
        Ok(header.agent_id)
    }
}
