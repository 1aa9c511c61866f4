//! In-memory ports.

use async_trait::async_trait;
use secrecy::SecretString;
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use steward_core::agent::Agent;
use steward_core::credential::{Credential, CredentialKind, CredentialUse};
use steward_core::mcp::McpServer;
use steward_core::ports::{
    Clock, CredentialChange, Ids, McpServers, NewCredential, OpenedCredential, Page, RunUser, SkillFilter, Skills,
    StoreError, StoreResult, Vault, VaultError,
};
use steward_core::skill::{CredentialWanted, Skill};
use steward_core::{AgentId, CredentialId, McpServerId, SkillId, TenantId, Timestamp};
use uuid::Uuid;

/// A clock that is set by hand.
pub struct Now(pub AtomicI64);

impl Clock for Now {
    fn now(&self) -> Timestamp {
        Timestamp(self.0.load(Ordering::SeqCst))
    }
    fn utc_offset_minutes(&self, _: Timestamp) -> i32 {
        0
    }
}

#[derive(Default)]
pub struct Count(AtomicU64);

impl Ids for Count {
    fn next(&self) -> Uuid {
        Uuid::from_u128(u128::from(self.0.fetch_add(1, Ordering::SeqCst)) + 100)
    }
}

#[derive(Default)]
pub struct Servers(pub Mutex<BTreeMap<McpServerId, McpServer>>);

fn gone(what: &str) -> StoreError {
    StoreError::NotFound(what.to_owned())
}

#[async_trait]
impl McpServers for Servers {
    async fn save_mcp_server(&self, _: TenantId, server: &McpServer) -> StoreResult<()> {
        self.0.lock().unwrap().insert(server.id, server.clone());
        Ok(())
    }
    async fn mcp_server(&self, _: TenantId, id: McpServerId) -> StoreResult<McpServer> {
        let all = self.0.lock().unwrap();
        all.get(&id).cloned().ok_or_else(|| gone("server"))
    }
    async fn mcp_server_by_name(&self, _: TenantId, name: &str) -> StoreResult<Option<McpServer>> {
        let all = self.0.lock().unwrap();
        Ok(all.values().find(|one| one.name == name).cloned())
    }
    async fn mcp_servers(&self, _: TenantId) -> StoreResult<Vec<McpServer>> {
        Ok(self.0.lock().unwrap().values().cloned().collect())
    }
}

/// Skills, and who has which.
#[derive(Default)]
pub struct Kept {
    pub skills: Mutex<BTreeMap<SkillId, Skill>>,
    pub attached: Mutex<Vec<(AgentId, SkillId)>>,
}

#[async_trait]
impl Skills for Kept {
    async fn save_skill(&self, _: TenantId, skill: &Skill) -> StoreResult<Skill> {
        let mut skills = self.skills.lock().unwrap();
        let version = skills.get(&skill.id).map_or(1, |before| before.version + 1);
        let kept = Skill { version, ..skill.clone() };
        skills.insert(skill.id, kept.clone());
        Ok(kept)
    }
    async fn skill(&self, _: TenantId, id: SkillId) -> StoreResult<Skill> {
        let skills = self.skills.lock().unwrap();
        skills.get(&id).cloned().ok_or_else(|| gone("skill"))
    }
    async fn skill_by_name(&self, _: TenantId, name: &str) -> StoreResult<Option<Skill>> {
        let skills = self.skills.lock().unwrap();
        Ok(skills.values().find(|one| one.name == name).cloned())
    }
    async fn skill_version(&self, tenant: TenantId, id: SkillId, _: u32) -> StoreResult<Skill> {
        self.skill(tenant, id).await
    }
    async fn skills(&self, _: TenantId, filter: &SkillFilter, _: Option<&str>, _: u32) -> StoreResult<Page<Skill>> {
        let skills = self.skills.lock().unwrap();
        let fits = |one: &&Skill| filter.kind.is_none_or(|kind| one.kind() == kind);
        Ok(Page { items: skills.values().filter(fits).cloned().collect(), more: false })
    }
    async fn remove_skill(&self, _: TenantId, id: SkillId) -> StoreResult<()> {
        self.skills.lock().unwrap().remove(&id);
        Ok(())
    }
    async fn skills_of(&self, _: TenantId, agent: AgentId) -> StoreResult<Vec<Skill>> {
        let attached = self.attached.lock().unwrap().clone();
        let skills = self.skills.lock().unwrap();
        let own = attached.iter().filter(|(one, _)| *one == agent);
        Ok(own.filter_map(|(_, id)| skills.get(id).cloned()).collect())
    }
    async fn attach_skill(&self, _: TenantId, agent: AgentId, skill: SkillId, attached: bool) -> StoreResult<()> {
        let mut all = self.attached.lock().unwrap();
        all.retain(|one| *one != (agent, skill));
        if attached {
            all.push((agent, skill));
        }
        Ok(())
    }
    async fn create_and_attach(&self, tenant: TenantId, agent: AgentId, skill: &Skill) -> StoreResult<(Skill, bool)> {
        let kept = self.save_skill(tenant, skill).await?;
        self.attach_skill(tenant, agent, kept.id, true).await?;
        let made = kept.version == 1;
        Ok((kept, made))
    }
}

type Fields = BTreeMap<String, SecretString>;

/// Credentials in the open, and their uses.
#[derive(Default)]
pub struct Safe {
    pub kept: Mutex<BTreeMap<CredentialId, (Credential, Fields)>>,
    pub uses: Mutex<Vec<CredentialUse>>,
    next: AtomicU64,
}

impl Safe {
    fn stamp(&self) -> u64 {
        self.next.fetch_add(1, Ordering::SeqCst) + 1
    }

    pub async fn put(&self, name: &str, kind: CredentialKind, fields: &[(&str, &str)]) {
        let new = NewCredential {
            name: name.to_owned(),
            kind,
            description: String::new(),
            fields: fields.iter().map(|(key, value)| ((*key).to_owned(), SecretString::from(*value))).collect(),
            roles: Vec::new(),
            discoverable: false,
            hosts: Vec::new(),
            expires_at: None,
        };
        self.keep(TenantId::DEFAULT, new).await.unwrap();
    }
}

#[async_trait]
impl Vault for Safe {
    async fn keep(&self, _: TenantId, new: NewCredential) -> Result<Credential, VaultError> {
        let stamp = self.stamp();
        let credential = Credential {
            id: CredentialId(Uuid::from_u128(u128::from(stamp))),
            name: new.name,
            kind: new.kind,
            description: new.description,
            shown: BTreeMap::new(),
            secret: new.fields.keys().cloned().collect(),
            roles: new.roles,
            discoverable: new.discoverable,
            hosts: Vec::new(),
            connection: None,
            created_at: Timestamp(0),
            changed_at: Timestamp(i64::try_from(stamp).unwrap()),
            used_at: None,
            expires_at: None,
        };
        let mut kept = self.kept.lock().unwrap();
        kept.insert(credential.id, (credential.clone(), new.fields));
        Ok(credential)
    }
    async fn change(&self, _: TenantId, id: CredentialId, change: CredentialChange) -> Result<Credential, VaultError> {
        let stamp = self.stamp();
        let mut kept = self.kept.lock().unwrap();
        let (credential, fields) = kept.get_mut(&id).ok_or_else(|| VaultError::Unknown(id.to_string()))?;
        fields.extend(change.fields);
        credential.changed_at = Timestamp(i64::try_from(stamp).unwrap());
        Ok(credential.clone())
    }
    async fn remove(&self, _: TenantId, id: CredentialId) -> Result<(), VaultError> {
        self.kept.lock().unwrap().remove(&id);
        Ok(())
    }
    async fn credential(&self, _: TenantId, id: CredentialId) -> Result<Credential, VaultError> {
        let kept = self.kept.lock().unwrap();
        let found = kept.get(&id).map(|(credential, _)| credential.clone());
        found.ok_or_else(|| VaultError::Unknown(id.to_string()))
    }
    async fn credentials(&self, _: TenantId, _: Option<&str>, _: u32) -> Result<Page<Credential>, VaultError> {
        let kept = self.kept.lock().unwrap();
        Ok(Page { items: kept.values().map(|(credential, _)| credential.clone()).collect(), more: false })
    }
    async fn uses(
        &self,
        _: TenantId,
        _: CredentialId,
        _: Option<Timestamp>,
        _: u32,
    ) -> Result<Page<CredentialUse>, VaultError> {
        Ok(Page { items: self.uses.lock().unwrap().clone(), more: false })
    }
    async fn discover(
        &self,
        _: TenantId,
        _: &Agent,
        _: Option<&RunUser>,
        _: &str,
        _: &[CredentialKind],
        _: &CredentialWanted,
    ) -> Result<Option<Credential>, VaultError> {
        Ok(None)
    }
    async fn open(&self, _: TenantId, id: CredentialId, used: CredentialUse) -> Result<OpenedCredential, VaultError> {
        self.uses.lock().unwrap().push(used);
        let kept = self.kept.lock().unwrap();
        let (credential, fields) = kept.get(&id).ok_or_else(|| VaultError::Unknown(id.to_string()))?;
        Ok(OpenedCredential { credential: credential.clone(), fields: fields.clone() })
    }
    async fn rotate(&self, _: TenantId) -> Result<u64, VaultError> {
        Ok(0)
    }
}
