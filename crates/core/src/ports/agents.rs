use super::store_result::StoreResult;
use crate::agent::Agent;
use crate::governance::Classified;
use crate::{AgentId, TenantId, Timestamp, UserId};
use async_trait::async_trait;
use serde::{Deserialize, Serialize};

#[async_trait]
pub trait Agents: Send + Sync {
    async fn agent(&self, tenant: TenantId, id: AgentId) -> StoreResult<Agent>;
    async fn agent_by_name(&self, tenant: TenantId, name: &str) -> StoreResult<Option<Agent>>;
}

/// What an agent remembers in each of its runs.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Memory {
    pub text: String,
    /// 0: none yet.
    pub version: u64,
    /// The most confidential that runs had seen which wrote it.
    pub classified: Option<Classified>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Note {
    /// Unique per agent.
    pub title: String,
    pub text: String,
    pub updated_at: Timestamp,
    /// The most confidential that runs had seen which wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub classified: Option<Classified>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reminder {
    /// Its id, of the call that made it.
    pub id: String,
    pub at: Timestamp,
    pub text: String,
    pub done: bool,
    /// The most confidential that the run had seen which made it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub classified: Option<Classified>,
}

/// What agents keep for themselves: memory, notes, reminders, drafts.
#[async_trait]
pub trait Facts: Send + Sync {
    async fn memory(&self, tenant: TenantId, agent: AgentId) -> StoreResult<Memory>;
    /// Replaces it if `memory.version` is still the newest, else [`StoreError::Conflict`]. The saved one is the next.
    async fn save_memory(&self, tenant: TenantId, agent: AgentId, memory: &Memory) -> StoreResult<()>;
    /// What the agent has written down about the tables of its private database: of the one that all share, or of `user`'s.
    async fn database_doc(&self, tenant: TenantId, agent: AgentId, user: Option<UserId>) -> StoreResult<Memory>;
    /// As [`Self::save_memory`].
    async fn save_database_doc(
        &self,
        tenant: TenantId,
        agent: AgentId,
        user: Option<UserId>,
        doc: &Memory,
    ) -> StoreResult<()>;
    /// Makes or replaces a note; returns the one before.
    async fn save_note(&self, tenant: TenantId, agent: AgentId, note: &Note) -> StoreResult<Option<Note>>;
    async fn remove_note(&self, tenant: TenantId, agent: AgentId, title: &str) -> StoreResult<()>;
    /// Notes by title.
    async fn notes(&self, tenant: TenantId, agent: AgentId) -> StoreResult<Vec<Note>>;
    async fn save_reminder(&self, tenant: TenantId, agent: AgentId, reminder: &Reminder) -> StoreResult<()>;
    /// Removes a reminder; its row stays, marked.
    async fn remove_reminder(&self, tenant: TenantId, agent: AgentId, id: &str) -> StoreResult<()>;
    /// Reminders by time.
    async fn reminders(&self, tenant: TenantId, agent: AgentId) -> StoreResult<Vec<Reminder>>;
}
