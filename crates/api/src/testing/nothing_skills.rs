//! Skills and a vault that have nothing and refuse everything.

use super::nothing::Nothing;
use async_trait::async_trait;
use steward_core::agent::Agent;
use steward_core::credential::{Credential, CredentialKind, CredentialUse};
use steward_core::mcp::McpServer;
use steward_core::package::SkillPackage;
use steward_core::ports::{
    BlobError, Blobs, CredentialChange, McpServers, NewCredential, OpenedCredential, Page, Role, SkillFilter,
    SkillPackages, Skills, StoreError, StoreResult, Vault, VaultError,
};
use steward_core::skill::{CredentialWanted, Skill};
use steward_core::{AgentId, CredentialId, McpServerId, SkillId, TenantId, Timestamp};

fn gone() -> StoreError {
    StoreError::Backend("there is no store in this test".to_owned())
}

#[async_trait]
impl Skills for Nothing {
    async fn save_skill(&self, _: TenantId, _: &Skill) -> StoreResult<Skill> {
        Err(gone())
    }
    async fn skill(&self, _: TenantId, _: SkillId) -> StoreResult<Skill> {
        Err(gone())
    }
    async fn skill_by_name(&self, _: TenantId, _: &str) -> StoreResult<Option<Skill>> {
        Err(gone())
    }
    async fn skill_version(&self, _: TenantId, _: SkillId, _: u32) -> StoreResult<Skill> {
        Err(gone())
    }
    async fn skill_versions(&self, _: TenantId, _: SkillId) -> StoreResult<Vec<Skill>> {
        Err(gone())
    }
    async fn skills(&self, _: TenantId, _: &SkillFilter, _: Option<&str>, _: u32) -> StoreResult<Page<Skill>> {
        Err(gone())
    }
    async fn remove_skill(&self, _: TenantId, _: SkillId) -> StoreResult<()> {
        Err(gone())
    }
    async fn skills_of(&self, _: TenantId, _: AgentId) -> StoreResult<Vec<Skill>> {
        Err(gone())
    }
    async fn attach_skill(&self, _: TenantId, _: AgentId, _: SkillId, _: bool) -> StoreResult<()> {
        Err(gone())
    }
    async fn create_and_attach(&self, _: TenantId, _: AgentId, _: &Skill) -> StoreResult<(Skill, bool)> {
        Err(gone())
    }
    async fn agents_with(&self, _: TenantId, _: SkillId) -> StoreResult<Vec<AgentId>> {
        Err(gone())
    }
}

#[async_trait]
impl Vault for Nothing {
    async fn keep(&self, _: TenantId, _: NewCredential) -> Result<Credential, VaultError> {
        Err(gone().into())
    }
    async fn change(&self, _: TenantId, _: CredentialId, _: CredentialChange) -> Result<Credential, VaultError> {
        Err(gone().into())
    }
    async fn remove(&self, _: TenantId, _: CredentialId) -> Result<(), VaultError> {
        Err(gone().into())
    }
    async fn credential(&self, _: TenantId, _: CredentialId) -> Result<Credential, VaultError> {
        Err(gone().into())
    }
    async fn credentials(&self, _: TenantId, _: Option<&str>, _: u32) -> Result<Page<Credential>, VaultError> {
        Err(gone().into())
    }
    async fn uses(
        &self,
        _: TenantId,
        _: CredentialId,
        _: Option<Timestamp>,
        _: u32,
    ) -> Result<Page<CredentialUse>, VaultError> {
        Err(gone().into())
    }
    async fn discover(
        &self,
        _: TenantId,
        _: &Agent,
        _: Option<Role>,
        _: &str,
        _: &[CredentialKind],
        _: &CredentialWanted,
    ) -> Result<Option<Credential>, VaultError> {
        Err(gone().into())
    }
    async fn open(&self, _: TenantId, _: CredentialId, _: CredentialUse) -> Result<OpenedCredential, VaultError> {
        Err(gone().into())
    }
    async fn rotate(&self, _: TenantId) -> Result<u64, VaultError> {
        Err(gone().into())
    }
}

#[async_trait]
impl SkillPackages for Nothing {
    async fn save_package(&self, _: TenantId, _: &SkillPackage) -> StoreResult<()> {
        Err(gone())
    }
    async fn package(&self, _: TenantId, _: &str, _: Option<u32>) -> StoreResult<Option<SkillPackage>> {
        Err(gone())
    }
    async fn packages(&self, _: TenantId, _: Option<&str>, _: u32) -> StoreResult<Page<SkillPackage>> {
        Err(gone())
    }
}

#[async_trait]
impl McpServers for Nothing {
    async fn save_mcp_server(&self, _: TenantId, _: &McpServer) -> StoreResult<()> {
        Err(gone())
    }
    async fn mcp_server(&self, _: TenantId, _: McpServerId) -> StoreResult<McpServer> {
        Err(gone())
    }
    async fn mcp_server_by_name(&self, _: TenantId, _: &str) -> StoreResult<Option<McpServer>> {
        Err(gone())
    }
    async fn mcp_servers(&self, _: TenantId) -> StoreResult<Vec<McpServer>> {
        Err(gone())
    }
    async fn remove_mcp_server(&self, _: TenantId, _: McpServerId) -> StoreResult<()> {
        Err(gone())
    }
}

#[async_trait]
impl Blobs for Nothing {
    async fn put(&self, _: Vec<u8>) -> Result<String, BlobError> {
        Err(BlobError::Missing("anything".to_owned()))
    }
    async fn get(&self, hash: &str) -> Result<Vec<u8>, BlobError> {
        Err(BlobError::Missing(hash.to_owned()))
    }
}
