//! Skills and packages in memory.

use crate::fakes::{Fixed, MemoryBlobs};
use async_trait::async_trait;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use steward_core::package::SkillPackage;
use steward_core::ports::{Ids, Page, SkillFilter, SkillPackages, Skills, StoreError, StoreResult};
use steward_core::skill::Skill;
use steward_core::{AgentId, SkillId, TenantId};
use steward_tools::package::Packages;

#[derive(Default)]
pub struct Memory {
    /// All versions of each skill; and whether it was removed.
    skills: Mutex<BTreeMap<SkillId, (Vec<Skill>, bool)>>,
    attached: Mutex<Vec<(AgentId, SkillId)>>,
    packages: Mutex<BTreeMap<(String, u32), SkillPackage>>,
}

impl Memory {
    fn current(&self) -> Vec<Skill> {
        let all = self.skills.lock().unwrap();
        let mut current: Vec<Skill> =
            all.values().filter(|(_, removed)| !removed).filter_map(|(versions, _)| versions.last().cloned()).collect();
        current.sort_by(|a, b| a.name.cmp(&b.name));
        current
    }

    pub fn versions(&self, id: SkillId) -> Vec<Skill> {
        let all = self.skills.lock().unwrap();
        all.get(&id).map(|(versions, _)| versions.iter().rev().cloned().collect()).unwrap_or_default()
    }

    pub fn names(&self) -> Vec<String> {
        self.current().into_iter().map(|skill| skill.name).collect()
    }
}

#[async_trait]
impl Skills for Memory {
    async fn save_skill(&self, _: TenantId, skill: &Skill) -> StoreResult<Skill> {
        if self.current().iter().any(|one| one.name == skill.name && one.id != skill.id) {
            return Err(StoreError::Conflict(format!("{} is taken", skill.name)));
        }
        let mut all = self.skills.lock().unwrap();
        let (versions, removed) = all.entry(skill.id).or_default();
        *removed = false;
        let mut next = skill.clone();
        next.version = versions.last().map_or(1, |last| last.version + 1);
        if let Some(last) = versions.last() {
            let same = Skill { version: last.version, at: last.at, by: last.by.clone(), ..next.clone() };
            if same == *last {
                return Ok(same);
            }
        }
        versions.push(next.clone());
        Ok(next)
    }
    async fn skill(&self, _: TenantId, id: SkillId) -> StoreResult<Skill> {
        let found = self.current().into_iter().find(|one| one.id == id);
        found.ok_or_else(|| StoreError::NotFound(id.to_string()))
    }
    async fn skill_by_name(&self, _: TenantId, name: &str) -> StoreResult<Option<Skill>> {
        Ok(self.current().into_iter().find(|one| one.name == name))
    }
    async fn skill_version(&self, _: TenantId, id: SkillId, version: u32) -> StoreResult<Skill> {
        let found = self.versions(id).into_iter().find(|one| one.version == version);
        found.ok_or_else(|| StoreError::NotFound(id.to_string()))
    }
    async fn skills(
        &self,
        _: TenantId,
        filter: &SkillFilter,
        after: Option<&str>,
        limit: u32,
    ) -> StoreResult<Page<Skill>> {
        let mut items = self.current();
        items.retain(|one| filter.package.is_none() || one.package == filter.package);
        items.retain(|one| after.is_none_or(|after| one.name.as_str() > after));
        let more = items.len() > limit as usize;
        items.truncate(limit as usize);
        Ok(Page { items, more })
    }
    async fn remove_skill(&self, _: TenantId, id: SkillId) -> StoreResult<()> {
        self.skills.lock().unwrap().get_mut(&id).unwrap().1 = true;
        self.attached.lock().unwrap().retain(|(_, skill)| *skill != id);
        Ok(())
    }
    async fn skills_of(&self, _: TenantId, agent: AgentId) -> StoreResult<Vec<Skill>> {
        let attached = self.attached.lock().unwrap().clone();
        let current = self.current();
        let mine = attached.iter().filter(|(of, _)| *of == agent);
        Ok(mine.filter_map(|(_, id)| current.iter().find(|one| one.id == *id).cloned()).collect())
    }
    async fn attach_skill(&self, _: TenantId, agent: AgentId, skill: SkillId, on: bool) -> StoreResult<()> {
        let mut attached = self.attached.lock().unwrap();
        attached.retain(|one| *one != (agent, skill));
        if on {
            attached.push((agent, skill));
        }
        Ok(())
    }
    async fn create_and_attach(&self, tenant: TenantId, agent: AgentId, skill: &Skill) -> StoreResult<(Skill, bool)> {
        let saved = self.save_skill(tenant, skill).await?;
        self.attach_skill(tenant, agent, saved.id, true).await?;
        let made = saved.version == 1;
        Ok((saved, made))
    }
}

#[async_trait]
impl SkillPackages for Memory {
    async fn save_package(&self, _: TenantId, package: &SkillPackage) -> StoreResult<()> {
        let key = (package.name.clone(), package.revision);
        self.packages.lock().unwrap().insert(key, package.clone());
        Ok(())
    }
    async fn package(&self, _: TenantId, name: &str, revision: Option<u32>) -> StoreResult<Option<SkillPackage>> {
        let all = self.packages.lock().unwrap();
        let mut mine = all.values().filter(|one| one.name == name);
        Ok(match revision {
            None => mine.next_back().cloned(),
            Some(number) => mine.find(|one| one.revision == number).cloned(),
        })
    }
}

/// Numbers instead of random ids.
#[derive(Default)]
struct Counted(AtomicU64);

impl Ids for Counted {
    fn next(&self) -> uuid::Uuid {
        uuid::Uuid::from_u128(u128::from(self.0.fetch_add(1, Ordering::Relaxed)) + 1)
    }
}

/// Packages over memory.
pub struct Shelf {
    pub memory: Arc<Memory>,
    pub blobs: Arc<MemoryBlobs>,
    pub packages: Arc<Packages>,
}

impl Shelf {
    pub fn new() -> Self {
        Self::checking(|_| Ok(()))
    }

    pub fn checking(check: impl Fn(&Skill) -> Result<(), String> + Send + Sync + 'static) -> Self {
        let (memory, blobs) = (Arc::new(Memory::default()), Arc::new(MemoryBlobs::default()));
        let (clock, ids) = (Arc::new(Fixed), Arc::new(Counted::default()));
        let packages = Packages::new(memory.clone(), memory.clone(), blobs.clone(), clock, ids, check);
        Self { memory, blobs, packages: Arc::new(packages) }
    }
}
