use super::store_result::{Page, StoreResult};
use crate::mcp::McpServer;
use crate::package::SkillPackage;
use crate::skill::{Skill, SkillKind};
use crate::{AgentId, McpServerId, SkillId, TenantId};
use async_trait::async_trait;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SkillFilter {
    pub kind: Option<SkillKind>,
    /// Case-insensitive text of the name or description.
    pub text: Option<String>,
    pub agent: Option<AgentId>,
    pub package: Option<String>,
    pub category: Option<String>,
}

#[async_trait]
pub trait Skills: Send + Sync {
    /// Stores a skill as its next version (1 if its id is new) and returns it; if only number, time and author differ
    /// from the current version, none is made. [`super::StoreError::Conflict`] if another skill has its name.
    async fn save_skill(&self, tenant: TenantId, skill: &Skill) -> StoreResult<Skill>;
    async fn skill(&self, tenant: TenantId, id: SkillId) -> StoreResult<Skill>;
    async fn skill_by_name(&self, tenant: TenantId, name: &str) -> StoreResult<Option<Skill>>;
    /// One version; versions outlive the removal of their skill.
    async fn skill_version(&self, tenant: TenantId, id: SkillId, version: u32) -> StoreResult<Skill>;
    /// Current versions by name.
    async fn skills(
        &self,
        tenant: TenantId,
        filter: &SkillFilter,
        after: Option<&str>,
        limit: u32,
    ) -> StoreResult<Page<Skill>>;
    /// Removes a skill, also from all agents.
    async fn remove_skill(&self, tenant: TenantId, id: SkillId) -> StoreResult<()>;
    /// Current versions of an agent's skills, in its order; removed ones are left out.
    async fn skills_of(&self, tenant: TenantId, agent: AgentId) -> StoreResult<Vec<Skill>>;
    /// Adds a skill to an agent or removes it; idempotent.
    async fn attach_skill(&self, tenant: TenantId, agent: AgentId, skill: SkillId, attached: bool) -> StoreResult<()>;
    /// [`Self::save_skill`] and [`Self::attach_skill`] in one transaction. A skill of this name is changed instead of
    /// made twice; returns whether one was made.
    async fn create_and_attach(&self, tenant: TenantId, agent: AgentId, skill: &Skill) -> StoreResult<(Skill, bool)>;
}

/// Imported packages; each revision is a row.
#[async_trait]
pub trait SkillPackages: Send + Sync {
    /// Its name and revision are its key.
    async fn save_package(&self, tenant: TenantId, package: &SkillPackage) -> StoreResult<()>;
    /// The latest revision for `None`.
    async fn package(&self, tenant: TenantId, name: &str, revision: Option<u32>) -> StoreResult<Option<SkillPackage>>;
}

#[async_trait]
pub trait McpServers: Send + Sync {
    /// [`super::StoreError::Conflict`] if another one has its name.
    async fn save_mcp_server(&self, tenant: TenantId, server: &McpServer) -> StoreResult<()>;
    async fn mcp_server(&self, tenant: TenantId, id: McpServerId) -> StoreResult<McpServer>;
    async fn mcp_server_by_name(&self, tenant: TenantId, name: &str) -> StoreResult<Option<McpServer>>;
    /// Sorted by name.
    async fn mcp_servers(&self, tenant: TenantId) -> StoreResult<Vec<McpServer>>;
}
