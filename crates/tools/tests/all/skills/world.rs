//! Ports of skills in memory, and a dispatcher over them.

use crate::fakes::{Bench, call, scope};
use async_trait::async_trait;
use secrecy::SecretString;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use steward_core::agent::Agent;
use steward_core::credential::{Credential, CredentialKind, CredentialUse};
use steward_core::permission::Permissions;
use steward_core::ports::{
    Agents, Authorized, CredentialChange, NewCredential, OpenedCredential, Page, ResourceGrants, Role, RunUser,
    SkillFilter, Skills, StoreError, StoreResult, ToolScope, Tools as _, User, UserChange, UserChangeError, UserFilter,
    Users, Vault, VaultError,
};
use steward_core::skill::{CredentialWanted, Skill};
use steward_core::tool::{Preview, ToolError, ToolOutput, Undo};
use steward_core::{AgentId, CredentialId, SkillId, TenantId, Timestamp, UserId, hash};
use steward_tools::skills::Executor;
use steward_tools::{Dispatcher, SkillPorts, SkillRuntime};

pub fn id(number: u64) -> String {
    format!("00000000-0000-0000-0000-{number:012}")
}

pub const AGENT: u64 = 2;

/// What the ports hold.
#[derive(Default)]
pub struct Rows {
    /// All versions, in the order in which they were saved.
    pub skills: Mutex<Vec<Skill>>,
    pub agent: Mutex<Option<Agent>>,
    pub credentials: Mutex<Vec<(Credential, BTreeMap<String, String>)>>,
    pub uses: Mutex<Vec<CredentialUse>>,
    pub roles: Mutex<Vec<Option<Role>>>,
}

fn none<T>(what: &str) -> StoreResult<T> {
    Err(StoreError::NotFound(what.to_owned()))
}

#[async_trait]
impl Skills for Rows {
    async fn save_skill(&self, _: TenantId, _: &Skill) -> StoreResult<Skill> {
        unimplemented!()
    }
    async fn skill(&self, _: TenantId, id: SkillId) -> StoreResult<Skill> {
        let all = self.skills.lock().unwrap();
        all.iter().rfind(|one| one.id == id).cloned().map_or_else(|| none("skill"), Ok)
    }
    async fn skill_by_name(&self, _: TenantId, name: &str) -> StoreResult<Option<Skill>> {
        let all = self.skills.lock().unwrap();
        Ok(all.iter().rfind(|one| one.name == name).cloned())
    }
    async fn skill_version(&self, _: TenantId, id: SkillId, version: u32) -> StoreResult<Skill> {
        let all = self.skills.lock().unwrap();
        let found = all.iter().find(|one| one.id == id && one.version == version);
        found.cloned().map_or_else(|| none("version"), Ok)
    }
    async fn skills(&self, _: TenantId, _: &SkillFilter, _: Option<&str>, _: u32) -> StoreResult<Page<Skill>> {
        unimplemented!()
    }
    async fn remove_skill(&self, _: TenantId, _: SkillId) -> StoreResult<()> {
        unimplemented!()
    }
    async fn skills_of(&self, _: TenantId, _: AgentId) -> StoreResult<Vec<Skill>> {
        let mut current: Vec<Skill> = Vec::new();
        for skill in self.skills.lock().unwrap().iter() {
            match current.iter_mut().find(|one| one.id == skill.id) {
                Some(one) => *one = skill.clone(),
                None => current.push(skill.clone()),
            }
        }
        Ok(current)
    }
    async fn attach_skill(&self, _: TenantId, _: AgentId, _: SkillId, _: bool) -> StoreResult<()> {
        unimplemented!()
    }
    async fn create_and_attach(&self, _: TenantId, _: AgentId, _: &Skill) -> StoreResult<(Skill, bool)> {
        unimplemented!()
    }
}

#[async_trait]
impl Agents for Rows {
    async fn agent(&self, _: TenantId, _: AgentId) -> StoreResult<Agent> {
        self.agent.lock().unwrap().clone().map_or_else(|| none("agent"), Ok)
    }
    async fn is_deleted_agent(&self, _: TenantId, _: AgentId) -> StoreResult<bool> {
        unimplemented!()
    }
    async fn agent_by_name(&self, _: TenantId, _: &str) -> StoreResult<Option<Agent>> {
        unimplemented!()
    }
}

#[async_trait]
impl Users for Rows {
    async fn create_user(&self, _: TenantId, _: &User) -> StoreResult<()> {
        unimplemented!()
    }
    async fn change_user(&self, _: TenantId, _: UserId, _: &UserChange) -> Result<User, UserChangeError> {
        unimplemented!()
    }
    async fn accept_invitation(
        &self,
        _: TenantId,
        _: &str,
        _: &str,
        _: Option<&str>,
        _: Timestamp,
    ) -> StoreResult<Option<User>> {
        unimplemented!()
    }
    async fn note_login(&self, _: TenantId, _: UserId, _: Timestamp) -> StoreResult<()> {
        unimplemented!()
    }
    async fn remove_user(&self, _: TenantId, _: UserId) -> StoreResult<()> {
        unimplemented!()
    }
    async fn user(&self, _: TenantId, id: UserId) -> StoreResult<Option<User>> {
        Ok(Some(User::new(id, "o@example.org", "O", Role::Operator, Timestamp(0))))
    }
    async fn user_by_email(&self, _: TenantId, _: &str) -> StoreResult<Option<User>> {
        unimplemented!()
    }
    async fn user_by_api_key(&self, _: TenantId, _: &str) -> StoreResult<Option<User>> {
        unimplemented!()
    }
    async fn user_by_invitation(&self, _: TenantId, _: &str) -> StoreResult<Option<User>> {
        unimplemented!()
    }
    async fn users(&self, _: TenantId, _: &UserFilter, _: Option<&str>, _: u32) -> StoreResult<Page<User>> {
        unimplemented!()
    }
}

#[async_trait]
impl ResourceGrants for Rows {
    async fn permissions(&self, _: TenantId, _: UserId) -> StoreResult<Permissions> {
        Ok(Permissions::default())
    }
}

#[async_trait]
impl Vault for Rows {
    async fn keep(&self, _: TenantId, _: NewCredential) -> Result<Credential, VaultError> {
        unimplemented!()
    }
    async fn change(&self, _: TenantId, _: CredentialId, _: CredentialChange) -> Result<Credential, VaultError> {
        unimplemented!()
    }
    async fn remove(&self, _: TenantId, _: CredentialId) -> Result<(), VaultError> {
        unimplemented!()
    }
    async fn credential(&self, _: TenantId, _: CredentialId) -> Result<Credential, VaultError> {
        unimplemented!()
    }
    async fn credentials(&self, _: TenantId, after: Option<&str>, limit: u32) -> Result<Page<Credential>, VaultError> {
        let all = self.credentials.lock().unwrap();
        let mut items: Vec<Credential> = all.iter().map(|(one, _)| one.clone()).collect();
        items.sort_by(|a, b| a.name.cmp(&b.name));
        items.retain(|one| after.is_none_or(|after| one.name.as_str() > after));
        let more = items.len() > limit as usize;
        items.truncate(limit as usize);
        Ok(Page { items, more })
    }
    async fn uses(
        &self,
        _: TenantId,
        _: CredentialId,
        _: Option<Timestamp>,
        _: u32,
    ) -> Result<Page<CredentialUse>, VaultError> {
        unimplemented!()
    }
    async fn discover(
        &self,
        _: TenantId,
        agent: &Agent,
        user: Option<&RunUser>,
        skill: &str,
        kinds: &[CredentialKind],
        wanted: &CredentialWanted,
    ) -> Result<Option<Credential>, VaultError> {
        self.roles.lock().unwrap().push(user.map(|user| user.role));
        let all = self.credentials.lock().unwrap();
        let own = agent.credentials.get(skill);
        let found = all.iter().find(|(one, _)| {
            own.map_or_else(
                || kinds.contains(&one.kind) && wanted.name.as_ref().is_none_or(|n| *n == one.name),
                |id| one.id == *id,
            )
        });
        match found {
            Some((one, _)) => Ok(Some(one.clone())),
            None if wanted.optional => Ok(None),
            None => Err(VaultError::Missing(format!("no credential suits {skill}"))),
        }
    }
    async fn open(&self, _: TenantId, id: CredentialId, used: CredentialUse) -> Result<OpenedCredential, VaultError> {
        self.uses.lock().unwrap().push(used);
        let all = self.credentials.lock().unwrap();
        let (credential, fields) = all.iter().find(|(one, _)| one.id == id).unwrap();
        let fields = fields.iter();
        Ok(OpenedCredential {
            credential: credential.clone(),
            fields: fields.map(|(name, value)| (name.clone(), SecretString::from(value.as_str()))).collect(),
        })
    }
    async fn rotate(&self, _: TenantId) -> Result<u64, VaultError> {
        unimplemented!()
    }
}

/// A skill from its JSON, with what tests don't care about filled in.
pub fn skill(number: u64, name: &str, rest: Value) -> Skill {
    let mut all = json!({
        "id": id(number), "name": name, "version": 1, "description": format!("Does {name}."),
        "parameters": {"type": "object", "properties": {}, "additionalProperties": false},
        "risk": "read", "effect": "read", "at": 0,
    });
    for (key, value) in rest.as_object().unwrap() {
        all[key] = value.clone();
    }
    serde_json::from_value(all).unwrap()
}

/// A dispatcher with skills.
pub struct World {
    /// Kept for its folder.
    _bench: Bench,
    pub rows: Arc<Rows>,
    pub runtime: Arc<SkillRuntime>,
    pub tools: Dispatcher,
    pub scope: ToolScope,
    calls: AtomicU64,
}

impl World {
    pub fn new(executors: Vec<Arc<dyn Executor>>) -> Self {
        let bench = Bench::new();
        let rows = Arc::new(Rows::default());
        *rows.agent.lock().unwrap() = Some(agent());
        let ports = SkillPorts {
            skills: rows.clone(),
            agents: rows.clone(),
            users: rows.clone(),
            grants: rows.clone(),
            vault: rows.clone(),
        };
        let runtime = executors.into_iter().fold(SkillRuntime::new(ports), SkillRuntime::with);
        let runtime = Arc::new(runtime);
        let tools = bench.builder().skills(runtime.clone()).build().unwrap();
        let mut scope = scope(bench.scope.workspace.clone());
        scope.user = Some(id(9).parse().unwrap());
        Self { _bench: bench, rows, runtime, tools, scope, calls: AtomicU64::new(0) }
    }

    /// Adds a skill after the runtime has found it fit to be saved.
    pub fn add(&self, skill: Skill) -> Skill {
        self.runtime.check(&skill).unwrap();
        self.rows.skills.lock().unwrap().push(skill.clone());
        skill
    }

    pub fn credential(&self, name: &str, kind: CredentialKind, fields: &[(&str, &str)]) {
        let mut all = self.rows.credentials.lock().unwrap();
        let number = 100 + all.len() as u64;
        let credential = json!({
            "id": id(number), "name": name, "kind": kind.as_str(), "description": "", "shown": {}, "secret": [],
            "roles": [], "discoverable": false, "created_at": 0, "changed_at": 0,
        });
        let fields = fields.iter();
        all.push((
            serde_json::from_value(credential).unwrap(),
            fields.map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect(),
        ));
    }

    pub fn scope_of(&self, skill: &Skill) -> ToolScope {
        ToolScope { skill: Some(skill.reference()), ..self.scope.clone() }
    }

    pub async fn call(&self, skill: &Skill, arguments: Value) -> Result<ToolOutput, ToolError> {
        self.call_in(skill, arguments, &self.scope_of(skill)).await
    }

    pub async fn call_in(&self, skill: &Skill, arguments: Value, scope: &ToolScope) -> Result<ToolOutput, ToolError> {
        let number = self.calls.fetch_add(1, Ordering::Relaxed);
        let call = Authorized {
            stage: None,
            args_hash: hash::of_json(&arguments),
            call: call(&skill.name, arguments),
            idempotency_key: format!("key-{number}"),
        };
        self.tools.run(call, scope).await
    }

    pub async fn ok(&self, skill: &Skill, arguments: Value) -> ToolOutput {
        match self.call(skill, arguments.clone()).await {
            Ok(output) => output,
            Err(error) => panic!("{} {arguments}: {error}", skill.name),
        }
    }

    pub async fn refused(&self, skill: &Skill, arguments: Value) -> String {
        match self.call(skill, arguments.clone()).await {
            Err(ToolError::RespondToModel(message)) => message,
            Ok(output) if output.failed => output.content,
            other => panic!("{} {arguments}: {other:?}", skill.name),
        }
    }

    pub async fn preview(&self, skill: &Skill, arguments: Value) -> Preview {
        let call = call(&skill.name, arguments);
        self.tools.preview(&call, &self.scope_of(skill)).await
    }

    pub async fn undo(&self, output: &ToolOutput) -> Result<String, ToolError> {
        let text = serde_json::to_string(output.undo.as_ref().unwrap()).unwrap();
        let undo: Undo = serde_json::from_str(&text).unwrap();
        self.tools.undo(&undo, &self.scope).await
    }

    pub fn workspace(&self) -> &Path {
        &self.scope.workspace
    }

    /// The arguments of a call that is stopped after the server or program has begun.
    pub fn stop(&self) {
        self.scope.cancellation.cancel();
    }
}

pub fn agent() -> Agent {
    serde_json::from_value(json!({"id": id(AGENT), "name": "a", "instructions": ""})).unwrap()
}
