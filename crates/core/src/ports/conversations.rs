use super::store_result::{Page, StoreResult};
use crate::message::Message;
use crate::prompt::Carried;
use crate::{AgentId, ConversationId, RunId, TenantId, Timestamp, UserId};
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
    async fn create_conversation(&self, tenant: TenantId, conversation: &Conversation) -> StoreResult<()>;
    async fn conversation(&self, tenant: TenantId, id: ConversationId) -> StoreResult<Conversation>;
    async fn carried(&self, _tenant: TenantId, _id: ConversationId) -> StoreResult<Carried> {
        Ok(Carried::default())
    }
    async fn messages(&self, tenant: TenantId, id: ConversationId) -> StoreResult<Vec<Message>>;
    async fn conversations(&self, tenant: TenantId, filter: ConversationFilter) -> StoreResult<Page<Conversation>>;
    async fn rename_conversation(
        &self,
        tenant: TenantId,
        id: ConversationId,
        title: &str,
        at: Timestamp,
    ) -> StoreResult<()>;
    /// Marks it deleted (`Some`) or takes that back (`None`). Nothing is lost.
    async fn mark_deleted(&self, tenant: TenantId, id: ConversationId, at: Option<Timestamp>) -> StoreResult<()>;
    /// Begins `copy` with the messages that `from` had when `before` was made (all: `None`).
    async fn fork_conversation(
        &self,
        tenant: TenantId,
        from: ConversationId,
        before: Option<RunId>,
        copy: &Conversation,
    ) -> StoreResult<()>;
}
