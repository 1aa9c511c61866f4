//! Skills, their versions, and which agents have them.

mod attach;
mod read;
mod remove;
mod save;

use crate::store::Store;
use crate::tx::Row;
use async_trait::async_trait;
use steward_core::ports::{Page, SkillFilter, Skills, StoreError, StoreResult};
use steward_core::skill::Skill;
use steward_core::{AgentId, SkillId, TenantId};

#[async_trait]
impl Skills for Store {
    async fn save_skill(&self, tenant: TenantId, skill: &Skill) -> StoreResult<Skill> {
        self.write((tenant, skill.clone()), |(tenant, skill), tx| Box::pin(save::save(tx, *tenant, skill))).await
    }

    async fn skill(&self, tenant: TenantId, id: SkillId) -> StoreResult<Skill> {
        let found = self.read((tenant, id), |(tenant, id), tx| Box::pin(read::one(tx, *tenant, *id))).await?;
        found.ok_or_else(|| unknown(id))
    }

    async fn skill_by_name(&self, tenant: TenantId, name: &str) -> StoreResult<Option<Skill>> {
        self.read((tenant, name.to_owned()), |(tenant, name), tx| Box::pin(read::by_name(tx, *tenant, name))).await
    }

    async fn skill_version(&self, tenant: TenantId, id: SkillId, version: u32) -> StoreResult<Skill> {
        self.read((tenant, id, version), |(tenant, id, version), tx| {
            Box::pin(read::version(tx, *tenant, *id, *version))
        })
        .await
    }

    async fn skill_versions(&self, tenant: TenantId, id: SkillId) -> StoreResult<Vec<Skill>> {
        self.read((tenant, id), |(tenant, id), tx| Box::pin(read::versions(tx, *tenant, *id))).await
    }

    async fn skills(
        &self,
        tenant: TenantId,
        filter: &SkillFilter,
        after: Option<&str>,
        limit: u32,
    ) -> StoreResult<Page<Skill>> {
        self.read((tenant, filter.clone(), after.map(str::to_owned), limit), |(tenant, filter, after, limit), tx| {
            Box::pin(read::page(tx, *tenant, filter, after.as_deref(), *limit))
        })
        .await
    }

    async fn remove_skill(&self, tenant: TenantId, id: SkillId) -> StoreResult<()> {
        self.write((tenant, id), |(tenant, id), tx| Box::pin(remove::remove(tx, *tenant, *id))).await
    }

    async fn skills_of(&self, tenant: TenantId, agent: AgentId) -> StoreResult<Vec<Skill>> {
        self.read((tenant, agent), |(tenant, agent), tx| Box::pin(read::of_agent(tx, *tenant, *agent))).await
    }

    async fn attach_skill(&self, tenant: TenantId, agent: AgentId, skill: SkillId, attached: bool) -> StoreResult<()> {
        self.write((tenant, agent, skill, attached), |(tenant, agent, skill, attached), tx| {
            Box::pin(attach::attach(tx, *tenant, *agent, *skill, *attached))
        })
        .await
    }

    async fn create_and_attach(&self, tenant: TenantId, agent: AgentId, skill: &Skill) -> StoreResult<(Skill, bool)> {
        self.write((tenant, agent, skill.clone()), |(tenant, agent, skill), tx| {
            Box::pin(attach::create_and_attach(tx, *tenant, *agent, skill))
        })
        .await
    }

    async fn agents_with(&self, tenant: TenantId, id: SkillId) -> StoreResult<Vec<AgentId>> {
        self.read((tenant, id), |(tenant, id), tx| Box::pin(read::agents_with(tx, *tenant, *id))).await
    }
}

fn skill_of(row: &Row) -> StoreResult<Skill> {
    crate::codec::from_json("a skill", &row.text(0)?)
}

fn unknown(id: SkillId) -> StoreError {
    StoreError::NotFound(format!("skill {id}"))
}

fn unknown_agent(id: AgentId) -> StoreError {
    StoreError::NotFound(format!("agent {id}"))
}
