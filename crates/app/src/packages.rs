mod references;

use crate::app::{Action, App, AppError, AppResult, Caller, Resource, authorize};
use crate::dto::packages::{AcceptPackage, PackageDiff, PackageFileDiff};
use std::io::{self, Seek as _, Write as _};
use steward_core::package::{PackageState, Severity, SkillPackage};
use steward_core::{AgentId, ports};
use steward_tools::package::{Change, DangerousFindings, FileDiff, bundled, bundled_names};
use tokio::fs::File;

#[derive(Debug)]
pub enum PackageSource {
    Archive(Vec<u8>),
    /// The name of a package that comes with Steward.
    Bundled(String),
}

impl App {
    /// By name, the latest revision of each.
    pub async fn packages(
        &self,
        caller: &Caller,
        after: Option<&str>,
        limit: u32,
    ) -> AppResult<ports::Page<SkillPackage>> {
        authorize(caller, Action::Read, Resource::Packages)?;
        Ok(self.store.packages(self.tenant(), after, limit).await?)
    }

    pub fn bundled_packages(&self, caller: &Caller) -> AppResult<Vec<String>> {
        authorize(caller, Action::Read, Resource::Packages)?;
        Ok(bundled_names())
    }

    /// All revisions of a package, the latest first.
    pub async fn package_revisions(&self, caller: &Caller, name: &str) -> AppResult<Vec<SkillPackage>> {
        authorize(caller, Action::Read, Resource::Packages)?;
        Ok(self.packages.revisions(self.tenant(), name).await?)
    }

    /// Refuses who may not import; asked before an archive is read.
    pub fn may_import_package(&self, caller: &Caller) -> AppResult<()> {
        authorize(caller, Action::Write, Resource::Packages)
    }

    /// The same for an import that gives the skills to an agent.
    pub async fn may_import_package_for(&self, caller: &Caller, agent: AgentId) -> AppResult<()> {
        authorize(caller, Action::Write, Resource::Packages)?;
        self.live_agent(agent).await?;
        Ok(())
    }

    /// It stays in quarantine until accepted, unless `activate` is given and the scan finds nothing dangerous.
    pub async fn import_package(
        &self,
        caller: &Caller,
        source: PackageSource,
        activate: bool,
    ) -> AppResult<SkillPackage> {
        authorize(caller, Action::Write, Resource::Packages)?;
        self.require_disk_room()?;
        let bytes = match source {
            PackageSource::Archive(bytes) => bytes,
            PackageSource::Bundled(name) => bundled(&name).ok_or_else(|| {
                AppError::invalid(
                    "ready",
                    format!("no package `{name}` comes with Steward"),
                    format!("there are: {}", bundled_names().join(", ")),
                )
            })?,
        };
        let (tenant, by) = (self.tenant(), caller.by());
        let taken = self.packages.import(tenant, bytes, &by).await?;
        let dangerous = taken.findings.iter().any(|finding| finding.severity == Severity::Danger);
        if !activate || dangerous || taken.state == PackageState::Active {
            return Ok(taken);
        }
        let (name, hash) = (taken.name.clone(), taken.hash.clone());
        let accepted = self.packages.accept(tenant, &name, &hash, &by, DangerousFindings::Refuse).await?;
        self.follow_references(&name, Some(caller.user())).await?;
        Ok(accepted)
    }

    /// Imports, accepts and gives the skills to the agent; with dangerous findings it stays in quarantine.
    pub async fn import_package_for(
        &self,
        caller: &Caller,
        agent: AgentId,
        source: PackageSource,
    ) -> AppResult<SkillPackage> {
        self.may_import_package_for(caller, agent).await?;
        let taken = self.import_package(caller, source, true).await?;
        if taken.state != PackageState::Active {
            return Ok(taken);
        }
        self.attach_package(agent, &taken.name).await
    }

    async fn attach_package(&self, agent: AgentId, name: &str) -> AppResult<SkillPackage> {
        let package = self.packages.attach(self.tenant(), agent, name).await?;
        self.link_package(name, agent, true).await?;
        Ok(package)
    }

    /// Puts the revision with this hash to use. Also brings a removed one back, and goes back to an earlier one.
    pub async fn accept_package(&self, caller: &Caller, name: &str, wanted: &AcceptPackage) -> AppResult<SkillPackage> {
        authorize(caller, Action::Write, Resource::Packages)?;
        let dangers = if wanted.dangers {
            authorize(caller, Action::Administer, Resource::Packages)?;
            DangerousFindings::Accept
        } else {
            DangerousFindings::Refuse
        };
        if let Some(agent) = wanted.agent {
            self.live_agent(agent).await?;
        }
        let tenant = self.tenant();
        let package = self.packages.accept(tenant, name, &wanted.hash, &caller.by(), dangers).await?;
        self.follow_references(name, Some(caller.user())).await?;
        match wanted.agent {
            Some(agent) => self.attach_package(agent, name).await,
            None => Ok(package),
        }
    }

    /// Takes a package out of use: its skills and references are removed. Accepting it again brings them back.
    pub async fn remove_package(&self, caller: &Caller, name: &str) -> AppResult<()> {
        authorize(caller, Action::Write, Resource::Packages)?;
        self.packages.remove(self.tenant(), name).await?;
        self.follow_references(name, None).await
    }

    /// A revision as a `.skill` archive, with its length; `None`: the one in use. It is put into a file, so that it isn't in
    /// memory for as long as somebody downloads it.
    pub async fn export_package(&self, caller: &Caller, name: &str, revision: Option<u32>) -> AppResult<(File, u64)> {
        authorize(caller, Action::Read, Resource::Packages)?;
        let bytes = self.packages.export(self.tenant(), name, revision).await?;
        let length = bytes.len() as u64;
        let kept = tokio::task::spawn_blocking(move || {
            let mut file = tempfile::tempfile()?;
            file.write_all(&bytes)?;
            file.rewind()?;
            io::Result::Ok(file)
        });
        match kept.await {
            Ok(Ok(file)) => Ok((File::from_std(file), length)),
            Ok(Err(error)) => Err(AppError::unavailable(format!("the archive could not be written: {error}"))),
            Err(_) => Err(AppError::unavailable("the archive could not be written")),
        }
    }

    /// What differs between two revisions, file by file; left out: the one in use and the latest.
    pub async fn diff_package(
        &self,
        caller: &Caller,
        name: &str,
        from: Option<u32>,
        to: Option<u32>,
    ) -> AppResult<PackageDiff> {
        authorize(caller, Action::Read, Resource::Packages)?;
        let files = self.packages.diff(self.tenant(), name, from, to).await?;
        let shown = |FileDiff { path, change, diff }| {
            let change = match change {
                Change::Added => "added",
                Change::Removed => "removed",
                Change::Changed => "changed",
            };
            PackageFileDiff { path, change: change.to_owned(), diff }
        };
        Ok(PackageDiff { files: files.into_iter().map(shown).collect() })
    }
}
