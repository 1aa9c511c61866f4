use super::store_result::StoreResult;
use crate::message::Message;
use crate::prompt::Carried;
use crate::{AgentId, ConversationId, TenantId, Timestamp, UserId};
use async_trait::async_trait;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Conversation {
    pub id: ConversationId,
    pub agent: AgentId,
    pub user: Option<UserId>,
    pub title: String,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub deleted_at: Option<Timestamp>,
    pub forked_from: Option<ConversationId>,
}

/// Which conversations; newest (by when they began) first.
#[derive(Debug, Clone, Default)]
pub struct ConversationFilter {
    pub user: Option<UserId>,
    /// Beside theirs, those of nobody: of the command line without a server.
    pub nobody: bool,
    pub agent: Option<AgentId>,
    /// Only with this text in the title or a message, whatever the case.
    pub text: Option<String>,
    /// Only deleted ones; else only others.
    pub deleted: bool,
    /// Only older than this one (cursor).
    pub before: Option<ConversationId>,
    pub limit: u32,
}

#[async_trait]
pub trait Conversations: Send + Sync {
    async fn carried(&self, tenant: TenantId, id: ConversationId) -> StoreResult<Carried>;
    async fn messages(&self, tenant: TenantId, id: ConversationId) -> StoreResult<Vec<Message>>;
}
