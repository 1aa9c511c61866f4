use super::store_result::StoreResult;
use crate::agent::{Agent, KeptFor};
use crate::provenance::Provenance;
use crate::{AgentId, TenantId, Timestamp, UserId};
use async_trait::async_trait;
use serde::{Deserialize, Serialize};

#[async_trait]
pub trait Agents: Send + Sync {
    async fn agent(&self, tenant: TenantId, id: AgentId) -> StoreResult<Agent>;
    /// `false` as well for one that never was.
    async fn is_deleted_agent(&self, tenant: TenantId, id: AgentId) -> StoreResult<bool>;
    async fn agent_by_name(&self, tenant: TenantId, name: &str) -> StoreResult<Option<Agent>>;
}

/// A text that an agent has in each of its runs: what it remembers, or what it has written down about its tables.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Memory {
    pub text: String,
    /// 0: none yet.
    pub version: u64,
    /// That of the runs which wrote it.
    pub provenance: Provenance,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Note {
    /// Unique per agent and user.
    pub title: String,
    pub text: String,
    pub updated_at: Timestamp,
    /// That of the runs which wrote it.
    #[serde(default, skip_serializing_if = "Provenance::is_empty")]
    pub provenance: Provenance,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reminder {
    /// Its id, of the call that made it.
    pub id: String,
    pub at: Timestamp,
    pub text: String,
    pub done: bool,
    /// That of the run which made it.
    #[serde(default, skip_serializing_if = "Provenance::is_empty")]
    pub provenance: Provenance,
}

/// What agents keep for their users: memory, notes, reminders, and the documentation of their databases.
#[async_trait]
pub trait Facts: Send + Sync {
    async fn memory(&self, tenant: TenantId, agent: AgentId, of: KeptFor) -> StoreResult<Memory>;
    /// Replaces it if `memory.version` is still the newest, else `StoreError::Conflict`. The saved one is the next.
    async fn save_memory(&self, tenant: TenantId, agent: AgentId, of: KeptFor, memory: &Memory) -> StoreResult<()>;
    /// What the agent has written down about the tables of its private database.
    async fn database_doc(&self, tenant: TenantId, agent: AgentId, of: KeptFor) -> StoreResult<Memory>;
    /// As [`Self::save_memory`].
    async fn save_database_doc(&self, tenant: TenantId, agent: AgentId, of: KeptFor, doc: &Memory) -> StoreResult<()>;
    /// Makes or replaces a note; returns the one before.
    async fn save_note(&self, tenant: TenantId, agent: AgentId, of: KeptFor, note: &Note) -> StoreResult<Option<Note>>;
    async fn remove_note(&self, tenant: TenantId, agent: AgentId, of: KeptFor, title: &str) -> StoreResult<()>;
    /// Notes by title.
    async fn notes(&self, tenant: TenantId, agent: AgentId, of: KeptFor) -> StoreResult<Vec<Note>>;
    async fn save_reminder(
        &self,
        tenant: TenantId,
        agent: AgentId,
        of: KeptFor,
        reminder: &Reminder,
    ) -> StoreResult<()>;
    async fn remove_reminder(&self, tenant: TenantId, agent: AgentId, of: KeptFor, id: &str) -> StoreResult<()>;
    /// Reminders by time.
    async fn reminders(&self, tenant: TenantId, agent: AgentId, of: KeptFor) -> StoreResult<Vec<Reminder>>;
}

/// Who may change an agent. Asked whenever an agent is to keep something for all of its users, since a right may be
/// taken away while a run goes on.
#[async_trait]
pub trait AgentEditors: Send + Sync {
    async fn may_edit(&self, tenant: TenantId, agent: AgentId, user: UserId) -> StoreResult<bool>;
}
