//! The files below `references/` of packages in use as documents, found by the agents that have their skills.
//!
//! Each package has a collection of its own: its files may be those of another package too, which would be one document in
//! one collection, and who may use its skills may be others.

use crate::app::{App, AppError, AppResult};
use crate::document_service::{KeepError, Target, reserved_id};
use futures::TryStreamExt as _;
use std::collections::{BTreeMap, BTreeSet};
use steward_core::document::{Document, DocumentOrigin};
use steward_core::package::SkillPackage;
use steward_core::permission::{AccessLevel, ResourceGrant};
use steward_core::ports::{Added, DocumentFilter, Skills as _, StoreError};
use steward_core::{AgentId, CollectionId, SkillId, UserId};
use tokio::sync::Mutex;

const PAGE: u32 = 500;

/// Held while the documents of a package are made to be its files.
static FOLLOWING: Mutex<()> = Mutex::const_new(());

impl App {
    /// Makes the documents of a package those that it has now, none if it is not in use. New ones are linked to the agents
    /// that have a skill of it.
    pub(crate) async fn follow_references(&self, name: &str, by: Option<UserId>) -> AppResult<()> {
        let _one = FOLLOWING.lock().await;
        let found = self.packages.references(self.tenant(), name).await?;
        let known = self.documents_of_package(name).await?;
        let mut wanted = BTreeSet::new();
        if let Some((package, files)) = found.filter(|(_, files)| !files.is_empty()) {
            let collection = match known.first() {
                Some(document) => document.collection,
                None => self.collection_of_package(&package).await?,
            };
            let mut agents = BTreeSet::new();
            for skill in &package.skills {
                agents.extend(self.store.agents_with(self.tenant(), *skill).await?);
            }
            for (path, content) in files {
                let source = source_of(name, &path);
                if let Added::New(document) | Added::Duplicate(document) =
                    self.add_reference(collection, &source, content, by).await?
                {
                    for agent in &agents {
                        self.store.link_document(self.tenant(), document.id, *agent, true).await?;
                    }
                }
                wanted.insert(source);
            }
        }
        for document in known.iter().filter(|one| !wanted.contains(&one.source)) {
            match self.documents.remove(document.id).await {
                Ok(()) | Err(StoreError::NotFound(_)) => {}
                Err(error) => return Err(error.into()),
            }
        }
        if let Some(collection) = known.first().filter(|_| wanted.is_empty()).map(|one| one.collection) {
            self.drop_emptied(collection).await?;
        }
        self.documents.work().await?;
        Ok(())
    }

    /// Links the documents of a package to an agent that has got its skills, or takes the links away.
    pub(crate) async fn link_package(&self, name: &str, agent: AgentId, linked: bool) -> AppResult<()> {
        for document in self.documents_of_package(name).await? {
            self.store.link_document(self.tenant(), document.id, agent, linked).await?;
        }
        Ok(())
    }

    /// Follows a change of the skills that an agent has.
    pub(crate) async fn follow_skills(&self, agent: AgentId, before: &[SkillId], after: &[SkillId]) -> AppResult<()> {
        if before == after {
            return Ok(());
        }
        let mut packages: BTreeMap<String, (bool, bool)> = BTreeMap::new();
        for id in before.iter().chain(after) {
            match self.store.skill(self.tenant(), *id).await {
                Ok(skill) => {
                    if let Some(name) = skill.package {
                        let (had, has) = packages.entry(name).or_default();
                        *had |= before.contains(id);
                        *has |= after.contains(id);
                    }
                }
                Err(StoreError::NotFound(_)) => {}
                Err(error) => return Err(error.into()),
            }
        }
        for (name, (had, has)) in packages {
            if had != has {
                self.link_package(&name, agent, has).await?;
            }
        }
        Ok(())
    }

    /// Names of the packages that the agent's skills are of; of all agents, if none is given.
    pub(crate) async fn packages_of(&self, agent: Option<AgentId>) -> AppResult<BTreeSet<String>> {
        let mut names = BTreeSet::new();
        for one in self.store.agents(self.tenant()).await? {
            if agent.is_none_or(|agent| agent == one.id) {
                let skills = self.store.skills_of(self.tenant(), one.id).await?;
                names.extend(skills.into_iter().filter_map(|skill| skill.package));
            }
        }
        Ok(names)
    }

    async fn documents_of_package(&self, name: &str) -> AppResult<Vec<Document>> {
        let begin = source_of(name, "");
        let filter = DocumentFilter {
            origin: Some(DocumentOrigin::Package),
            text: Some(begin.clone()),
            limit: PAGE,
            ..DocumentFilter::default()
        };
        let mut all = self.documents.document_pages(filter).try_concat().await?;
        all.retain(|one| one.source.starts_with(&begin));
        Ok(all)
    }

    async fn add_reference(
        &self,
        collection: CollectionId,
        source: &str,
        content: Vec<u8>,
        by: Option<UserId>,
    ) -> AppResult<Added> {
        let mut incoming = self.documents.originals.begin().await.map_err(|error| not_kept(&error))?;
        incoming.write(&content.into()).await.map_err(|error| not_kept(&error))?;
        let received = incoming.finish().await.map_err(|error| not_kept(&error))?;
        let name = source.rsplit('/').next().unwrap_or(source).to_owned();
        let target = Target { collection, origin: DocumentOrigin::Package, job: None, agent: None, user: by };
        let kept = self.documents.keep(received, name, Some(source.to_owned()), &target).await;
        kept.map_err(|error| match error {
            KeepError::File(error) => not_kept(&error),
            KeepError::Store(error) => error.into(),
        })
    }

    /// Open to those who may use the package's skills.
    async fn collection_of_package(&self, package: &SkillPackage) -> AppResult<CollectionId> {
        let id = reserved_id(&format!("package {}", package.name));
        if self.store.collection(self.tenant(), id).await?.is_none() {
            // Before it is there, so that nobody else sees it.
            self.share_like_skills(package, id).await?;
        }
        let name = format!("References of {}", package.name);
        let description = format!("What the skill package {} brings along to read.", package.name);
        if self.documents.make_reserved(id, &name, &description).await? {
            return Ok(id);
        }
        Err(AppError::conflict(
            "collection_taken",
            format!("there are collections with all names for the references of {}", package.name),
            "rename one of them, and accept the package again",
        ))
    }

    async fn share_like_skills(&self, package: &SkillPackage, collection: CollectionId) -> AppResult<()> {
        for skill in &package.skills {
            let list = self.store.access_list(self.tenant(), (*skill).into()).await?;
            if list.restricted {
                self.store.set_restricted(self.tenant(), collection.into(), true).await?;
                for grant in list.grants {
                    let grant = ResourceGrant { level: AccessLevel::Use, ..grant };
                    self.store.give_grant(self.tenant(), collection.into(), &grant).await?;
                }
            }
        }
        Ok(())
    }

    async fn drop_emptied(&self, id: CollectionId) -> AppResult<()> {
        let collection = self.store.collection(self.tenant(), id).await?;
        if collection.is_none_or(|one| one.created_by.is_some() || one.documents > 0) {
            return Ok(());
        }
        match self.store.remove_collection(self.tenant(), id).await {
            // Somebody has put another document into it.
            Ok(()) | Err(StoreError::NotFound(_) | StoreError::Conflict(_)) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

/// What a file of a package is as a document.
fn source_of(package: &str, path: &str) -> String {
    format!("{package}/{path}")
}

fn not_kept(error: &std::io::Error) -> AppError {
    tracing::error!(%error, "a reference file could not be kept");
    AppError::unavailable("the reference files could not be kept")
}
