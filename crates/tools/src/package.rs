//! Skill packages: `.skill` archives and Agent Skills folders. [`read`] and [`write`] are pure; [`Packages`] works over
//! the ports. Each revision stays; its files are blobs.

mod activate;
mod bundled;
mod diff;
mod error;
mod front_matter;
mod names;
mod permissions;
mod read;
mod references;
mod scan;
mod zip;

pub use bundled::{bundled, bundled_names};
pub use diff::{Change, FileDiff, diff};
pub use error::PackageError;
pub use front_matter::{FrontMatter, front_matter};
pub(crate) use names::{NAME_CHARS, is_name};
pub use permissions::undeclared;
pub use read::{Files, PackageContents, hash, parse_folder, read};
pub use references::{REFERENCE_TOOLS, ReferenceList, ReferenceRead, ReferenceSearch, with_references};
pub use scan::scan;
pub use zip::write;

use crate::work_pool::{PoolLimits, WorkPool};
use std::sync::{Arc, LazyLock};
use steward_core::package::{Finding, PackageFile, PackageState, Severity, SkillPackage};
use steward_core::ports::{Blobs, Clock, Ids, SkillPackages, Skills};
use steward_core::skill::Skill;
use steward_core::{AgentId, TenantId};
use tokio::sync::Mutex;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DangerousFindings {
    Refuse,
    /// An administrator has looked at the findings.
    Accept,
}

type Check = dyn Fn(&Skill) -> Result<(), String> + Send + Sync;

pub struct Packages {
    store: Arc<dyn SkillPackages>,
    skills: Arc<dyn Skills>,
    blobs: Arc<dyn Blobs>,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn Ids>,
    /// One change at a time, since a change reads first and writes afterwards.
    changing: Mutex<()>,
    check: Box<Check>,
}

impl Packages {
    /// `check`: whether a skill of a package may be saved, as `SkillRuntime::check` says.
    pub fn new(
        store: Arc<dyn SkillPackages>,
        skills: Arc<dyn Skills>,
        blobs: Arc<dyn Blobs>,
        clock: Arc<dyn Clock>,
        ids: Arc<dyn Ids>,
        check: impl Fn(&Skill) -> Result<(), String> + Send + Sync + 'static,
    ) -> Self {
        Self { store, skills, blobs, clock, ids, changing: Mutex::new(()), check: Box::new(check) }
    }

    /// Into quarantine, until [`Self::accept`]. Importing the latest revision again creates no new one.
    pub async fn import(&self, tenant: TenantId, bytes: Vec<u8>, by: &str) -> Result<SkillPackage, PackageError> {
        let (read, findings) = judged(tenant, move || read::read(&bytes)).await?;
        let _one = self.changing.lock().await;
        let latest = self.store.package(tenant, &read.front.name, None).await?;
        if let Some(mut same) = latest.clone().filter(|latest| latest.hash == read.hash) {
            if same.state == PackageState::Removed {
                same.state = PackageState::Quarantined;
            }
            same.findings = findings;
            self.store.save_package(tenant, &same).await?;
            return Ok(same);
        }
        let mut package = SkillPackage {
            name: read.front.name.clone(),
            revision: latest.map_or(1, |latest| latest.revision.saturating_add(1)),
            version: read.front.version.clone(),
            description: read.front.description.clone(),
            hash: read.hash.clone(),
            state: PackageState::Quarantined,
            permissions: read.front.permissions.clone(),
            findings,
            files: std::collections::BTreeMap::new(),
            skills: Vec::new(),
            at: self.clock.now(),
            by: by.to_owned(),
        };
        for (path, content) in read.files {
            let bytes = content.len() as u64;
            let hash = self.blobs.put(content).await?;
            package.files.insert(path, PackageFile { hash, bytes });
        }
        self.store.save_package(tenant, &package).await?;
        Ok(package)
    }

    /// Activates the revision with this hash, in place of the active one: its prompt becomes an internal skill, its
    /// definitions callable ones. Also reverts a removal, or goes back to an earlier revision.
    pub async fn accept(
        &self,
        tenant: TenantId,
        name: &str,
        hash: &str,
        by: &str,
        dangers: DangerousFindings,
    ) -> Result<SkillPackage, PackageError> {
        let _one = self.changing.lock().await;
        let revisions = self.revisions(tenant, name).await?;
        let chosen = revisions.iter().find(|one| one.hash == hash);
        let mut package =
            chosen.cloned().ok_or_else(|| PackageError::OtherHash { name: name.to_owned(), hash: hash.to_owned() })?;
        let files = self.files(&package).await?;
        let folder = name.to_owned();
        let (read, findings) = judged(tenant, move || read::parse_folder(&folder, files)).await?;
        allowed(&read, &findings, dangers)?;
        package.findings = findings;
        package.skills = activate::activate_skills(self, tenant, &package, read, by).await?;
        package.state = PackageState::Active;
        for other in revisions.iter().filter(|one| one.state == PackageState::Active) {
            if other.revision != package.revision {
                let replaced = SkillPackage { state: PackageState::Replaced, ..other.clone() };
                self.store.save_package(tenant, &replaced).await?;
            }
        }
        self.store.save_package(tenant, &package).await?;
        Ok(package)
    }

    /// Deactivates a package and removes its skills. Its revisions stay, and [`Self::accept`] brings it back.
    pub async fn remove(&self, tenant: TenantId, name: &str) -> Result<SkillPackage, PackageError> {
        let _one = self.changing.lock().await;
        let revisions = self.revisions(tenant, name).await?;
        activate::remove_skills(self, tenant, name, &[]).await?;
        let mut removed = None;
        for mut one in revisions {
            let stands = matches!(one.state, PackageState::Active | PackageState::Quarantined);
            if stands || removed.is_none() {
                one.state = PackageState::Removed;
                one.skills.clear();
                self.store.save_package(tenant, &one).await?;
                removed.get_or_insert(one);
            }
        }
        removed.ok_or_else(|| unknown(name))
    }

    pub async fn attach(&self, tenant: TenantId, agent: AgentId, name: &str) -> Result<SkillPackage, PackageError> {
        let Some(package) = self.active(tenant, name).await? else {
            let revisions = self.revisions(tenant, name).await?;
            let hash = revisions.first().map_or("", |one| one.hash.as_str());
            return Err(PackageError::Unknown(format!(
                "the package `{name}` isn't in use; accept it first: `steward skill accept {name} {hash}`"
            )));
        };
        for skill in &package.skills {
            self.skills.attach_skill(tenant, agent, *skill, true).await?;
        }
        Ok(package)
    }

    pub async fn revisions(&self, tenant: TenantId, name: &str) -> Result<Vec<SkillPackage>, PackageError> {
        let latest = self.store.package(tenant, name, None).await?;
        let latest = latest.ok_or_else(|| unknown(name))?;
        let below = (1..latest.revision).rev();
        let mut all = vec![latest];
        for revision in below {
            all.extend(self.store.package(tenant, name, Some(revision)).await?);
        }
        Ok(all)
    }

    /// The revision in use and its files below `references/`; `None`: there is none in use.
    pub async fn references(
        &self,
        tenant: TenantId,
        name: &str,
    ) -> Result<Option<(SkillPackage, Files)>, PackageError> {
        let Some(package) = self.active(tenant, name).await? else {
            return Ok(None);
        };
        let mut files = self.files(&package).await?;
        files.retain(|path, _| activate::is_knowledge(path));
        Ok(Some((package, files)))
    }

    /// A revision as a `.skill` archive; by default the active one, else the latest.
    pub async fn export(&self, tenant: TenantId, name: &str, revision: Option<u32>) -> Result<Vec<u8>, PackageError> {
        let active = if revision.is_none() { self.active(tenant, name).await? } else { None };
        let package = match active {
            Some(active) => active,
            None => self.revision(tenant, name, revision).await?,
        };
        let (name, files) = (name.to_owned(), self.files(&package).await?);
        work_apart(tenant, move || Ok(write(&name, &files))).await
    }

    /// The difference between two revisions; by default from the active one to the latest.
    pub async fn diff(
        &self,
        tenant: TenantId,
        name: &str,
        from: Option<u32>,
        to: Option<u32>,
    ) -> Result<Vec<FileDiff>, PackageError> {
        let new = self.revision(tenant, name, to).await?;
        let old = match from {
            Some(_) => Some(self.revision(tenant, name, from).await?),
            None => self.active(tenant, name).await?,
        };
        let before = match &old {
            Some(old) => self.files(old).await?,
            None => Files::new(),
        };
        let after = self.files(&new).await?;
        work_apart(tenant, move || Ok(diff(&before, &after))).await
    }

    async fn active(&self, tenant: TenantId, name: &str) -> Result<Option<SkillPackage>, PackageError> {
        let mut next = self.store.package(tenant, name, None).await?;
        while let Some(package) = next {
            if package.state == PackageState::Active {
                return Ok(Some(package));
            }
            next = match package.revision {
                0 | 1 => None,
                number => self.store.package(tenant, name, Some(number - 1)).await?,
            };
        }
        Ok(None)
    }

    async fn revision(
        &self,
        tenant: TenantId,
        name: &str,
        revision: Option<u32>,
    ) -> Result<SkillPackage, PackageError> {
        let found = self.store.package(tenant, name, revision).await?;
        found.ok_or_else(|| match revision {
            None => unknown(name),
            Some(number) => PackageError::Unknown(format!(
                "the package `{name}` has no revision {number}; `steward skill packages` shows what there is"
            )),
        })
    }

    /// A revision's files; an error if they aren't the imported ones.
    async fn files(&self, package: &SkillPackage) -> Result<Files, PackageError> {
        let mut files = Files::new();
        for (path, file) in &package.files {
            files.insert(path.clone(), self.blobs.get(&file.hash).await?);
        }
        if read::hash(&files) != package.hash {
            return Err(PackageError::Damaged { name: package.name.clone() });
        }
        Ok(files)
    }
}

fn unknown(name: &str) -> PackageError {
    PackageError::Unknown(format!("there is no package `{name}`; `steward skill packages` shows what there is"))
}

async fn judged(
    tenant: TenantId,
    work: impl FnOnce() -> Result<PackageContents, PackageError> + Send + 'static,
) -> Result<(PackageContents, Vec<Finding>), PackageError> {
    let both = move || {
        let read = work()?;
        let findings = scan(&read)?;
        Ok((read, findings))
    };
    work_apart(tenant, both).await
}

/// Packages that are unpacked, scanned or compared at once.
static AT_WORK: LazyLock<WorkPool<TenantId>> =
    LazyLock::new(|| WorkPool::new(PoolLimits { places: 2, places_each: 2, open_each: 16, open: 64 }));

async fn work_apart<T: Send + 'static>(
    tenant: TenantId,
    work: impl FnOnce() -> Result<T, PackageError> + Send + 'static,
) -> Result<T, PackageError> {
    AT_WORK.run(tenant, work).await?
}

fn allowed(read: &PackageContents, findings: &[Finding], dangers: DangerousFindings) -> Result<(), PackageError> {
    let missing = undeclared(read);
    if !missing.is_empty() {
        return Err(PackageError::Undeclared { name: read.front.name.clone(), missing });
    }
    let mut danger = findings.iter().filter(|one| one.severity == Severity::Danger);
    match danger.next() {
        Some(first) if dangers == DangerousFindings::Refuse => Err(PackageError::Dangerous {
            name: read.front.name.clone(),
            count: danger.count() + 1,
            first: format!("{}:{} ({})", first.file, first.line, first.message),
        }),
        _ => Ok(()),
    }
}
