use super::{Client, encoded};
use serde::{Deserialize, Serialize};
use serde_json::json;
use steward_core::message::Role;
use steward_core::{AgentId, ConversationId, RunId, Timestamp};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conversation {
    pub id: ConversationId,
    pub agent_id: AgentId,
    pub title: String,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub deleted_at: Option<Timestamp>,
    pub forked_from: Option<ConversationId>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    pub role: Role,
    pub text: String,
}

#[derive(Deserialize)]
struct Detail {
    messages: Vec<Message>,
}

impl Client {
    /// Newest first, and whether there are more.
    pub async fn conversations(
        &self,
        text: Option<&str>,
        deleted: bool,
        limit: u32,
    ) -> anyhow::Result<(Vec<Conversation>, bool)> {
        let mut path = format!("/api/conversations?deleted={deleted}");
        if let Some(text) = text {
            path.push_str("&q=");
            path.push_str(&encoded(text));
        }
        self.list(&path, limit as usize).await
    }

    pub async fn messages(&self, id: ConversationId) -> anyhow::Result<Vec<Message>> {
        let detail: Detail = self.get(&format!("/api/conversations/{id}")).await?;
        Ok(detail.messages)
    }

    pub async fn fork_conversation(&self, id: ConversationId, before: Option<RunId>) -> anyhow::Result<ConversationId> {
        let body = match before {
            Some(run) => json!({"before_run": run}),
            None => json!({}),
        };
        let copy: Conversation = self.post(&format!("/api/conversations/{id}/fork"), &body).await?;
        Ok(copy.id)
    }
}
