//! Storage of everything that is not a run.

use super::store::{Page, StoreResult};
use crate::agent::Agent;
use crate::approval::Approval;
use crate::message::Message;
use crate::model::Connection;
use crate::{
    AgentId, ApprovalId, ConnectionId, ConversationId, RunId, TenantId, Timestamp, UserId,
};
use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Which inbox entries.
#[derive(Debug, Clone, Default)]
pub struct ApprovalFilter {
    /// Only unanswered ones.
    pub open: bool,
    /// Only of this run.
    pub run: Option<RunId>,
    /// At most so many.
    pub limit: u32,
}

/// The inbox.
#[async_trait]
pub trait Approvals: Send + Sync {
    /// Oldest first.
    async fn approvals(
        &self,
        tenant: TenantId,
        filter: ApprovalFilter,
    ) -> StoreResult<Vec<Approval>>;
    /// One entry.
    async fn approval(&self, tenant: TenantId, id: ApprovalId) -> StoreResult<Approval>;
}

/// Agents.
#[async_trait]
pub trait Agents: Send + Sync {
    /// Makes or replaces by id; a name that another has is a conflict.
    async fn save_agent(&self, tenant: TenantId, agent: &Agent) -> StoreResult<()>;
    /// One agent.
    async fn agent(&self, tenant: TenantId, id: AgentId) -> StoreResult<Agent>;
    /// By name.
    async fn agent_by_name(&self, tenant: TenantId, name: &str) -> StoreResult<Option<Agent>>;
    /// All, by name.
    async fn agents(&self, tenant: TenantId) -> StoreResult<Vec<Agent>>;
}

/// A conversation's header.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Conversation {
    /// Its id.
    pub id: ConversationId,
    /// With whom.
    pub agent: AgentId,
    /// Whose.
    pub user: Option<UserId>,
    /// What it is about.
    pub title: String,
    /// When it began.
    pub created_at: Timestamp,
}

/// Conversations.
#[async_trait]
pub trait Conversations: Send + Sync {
    /// Begins one.
    async fn create_conversation(
        &self,
        tenant: TenantId,
        conversation: &Conversation,
    ) -> StoreResult<()>;
    /// Its header.
    async fn conversation(&self, tenant: TenantId, id: ConversationId)
    -> StoreResult<Conversation>;
    /// Its messages, in order.
    async fn messages(&self, tenant: TenantId, id: ConversationId) -> StoreResult<Vec<Message>>;
    /// Newest first, at most `limit`, older than `before`.
    async fn conversations(
        &self,
        tenant: TenantId,
        before: Option<ConversationId>,
        limit: u32,
    ) -> StoreResult<Page<Conversation>>;
}

/// Settings: JSON values by name.
#[async_trait]
pub trait Settings: Send + Sync {
    /// A value.
    async fn setting(&self, tenant: TenantId, name: &str) -> StoreResult<Option<Value>>;
    /// Sets one.
    async fn set_setting(&self, tenant: TenantId, name: &str, value: &Value) -> StoreResult<()>;
}

/// Connections.
#[async_trait]
pub trait Connections: Send + Sync {
    /// Makes or replaces by id; a name that another has is a conflict.
    async fn save_connection(&self, tenant: TenantId, connection: &Connection) -> StoreResult<()>;
    /// All, by name.
    async fn connections(&self, tenant: TenantId) -> StoreResult<Vec<Connection>>;
    /// Removes one.
    async fn remove_connection(&self, tenant: TenantId, id: ConnectionId) -> StoreResult<()>;
}

/// A user. The password hash is in PHC string format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    /// Its id.
    pub id: UserId,
    /// Lower case.
    pub email: String,
    /// To show.
    pub name: String,
    /// One of [`super::Role`], lower case.
    pub role: String,
    /// Argon2id, PHC format; `None`: no password login.
    pub password_hash: Option<String>,
    /// SHA-256 of the API key, hexadecimal.
    pub api_key_hash: Option<String>,
    /// When it was made.
    pub created_at: Timestamp,
}

/// Users.
#[async_trait]
pub trait Users: Send + Sync {
    /// Makes or replaces by id; an email that another has is a conflict.
    async fn save_user(&self, tenant: TenantId, user: &User) -> StoreResult<()>;
    /// By id.
    async fn user(&self, tenant: TenantId, id: UserId) -> StoreResult<Option<User>>;
    /// By email.
    async fn user_by_email(&self, tenant: TenantId, email: &str) -> StoreResult<Option<User>>;
    /// By the hash of an API key.
    async fn user_by_api_key(&self, tenant: TenantId, hash: &str) -> StoreResult<Option<User>>;
    /// How many there are.
    async fn user_count(&self, tenant: TenantId) -> StoreResult<u64>;
}

/// A note of an agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Note {
    /// Unique per agent.
    pub title: String,
    /// Its text.
    pub text: String,
    /// When it last changed.
    pub updated_at: Timestamp,
}

/// A reminder.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reminder {
    /// Its id, `key` of the call that made it.
    pub id: String,
    /// When.
    pub at: Timestamp,
    /// What.
    pub text: String,
    /// Whether it is done.
    pub done: bool,
}

/// What agents keep for themselves: memory, notes, reminders, drafts.
#[async_trait]
pub trait Facts: Send + Sync {
    /// The memory text and its version (0: none yet).
    async fn memory(&self, tenant: TenantId, agent: AgentId) -> StoreResult<(String, u64)>;
    /// Replaces it if `version` is still the newest, else [`StoreError::Conflict`].
    async fn save_memory(
        &self,
        tenant: TenantId,
        agent: AgentId,
        text: &str,
        version: u64,
    ) -> StoreResult<()>;
    /// Makes or replaces a note; returns the one before.
    async fn save_note(
        &self,
        tenant: TenantId,
        agent: AgentId,
        note: &Note,
    ) -> StoreResult<Option<Note>>;
    /// Removes a note.
    async fn remove_note(&self, tenant: TenantId, agent: AgentId, title: &str) -> StoreResult<()>;
    /// Notes by title.
    async fn notes(&self, tenant: TenantId, agent: AgentId) -> StoreResult<Vec<Note>>;
    /// Makes or replaces a reminder by id.
    async fn save_reminder(
        &self,
        tenant: TenantId,
        agent: AgentId,
        reminder: &Reminder,
    ) -> StoreResult<()>;
    /// Removes a reminder.
    async fn remove_reminder(&self, tenant: TenantId, agent: AgentId, id: &str) -> StoreResult<()>;
    /// Reminders by time.
    async fn reminders(&self, tenant: TenantId, agent: AgentId) -> StoreResult<Vec<Reminder>>;
}
