//! `reference_list`, `reference_read`, `reference_search`: what the packages of an agent say.

mod search;
mod tools;

use super::activate::readable;
use super::error::PackageError;
use super::packages::active;
use super::ready::comes_along;
use crate::dispatcher::DispatcherBuilder;
use std::collections::BTreeSet;
use std::sync::Arc;
use steward_core::ports::{Blobs, SkillPackages, Skills, ToolScope};

pub use tools::{ReferenceList, ReferenceRead, ReferenceSearch};

/// Names of these tools; an agent without packages has no use for them.
pub const REFERENCE_TOOLS: [&str; 3] = ["reference_list", "reference_read", "reference_search"];

/// Where the references of an agent come from.
#[derive(Clone)]
pub struct Library {
    pub skills: Arc<dyn Skills>,
    pub packages: Arc<dyn SkillPackages>,
    pub blobs: Arc<dyn Blobs>,
}

#[must_use]
pub fn with_references(builder: DispatcherBuilder, library: &Library) -> DispatcherBuilder {
    builder
        .with(ReferenceList(library.clone()))
        .with(ReferenceSearch(library.clone()))
        .with(ReferenceRead(library.clone()))
}

/// A file of a package in use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Reference {
    pub package: String,
    pub path: String,
    pub hash: String,
    pub bytes: u64,
    /// Whether somebody else wrote it: it is none of the packages that come with the program.
    pub foreign: bool,
}

impl Library {
    /// Files of the packages whose skills the agent has, by package and path.
    pub(super) async fn of(&self, scope: &ToolScope) -> Result<Vec<Reference>, PackageError> {
        let skills = self.skills.skills_of(scope.tenant, scope.agent).await?;
        let names: BTreeSet<String> =
            skills.into_iter().filter(|skill| skill.enabled).filter_map(|skill| skill.package).collect();
        let mut all = Vec::new();
        for name in names {
            let Some(package) = active(self.packages.as_ref(), scope.tenant, &name).await? else {
                continue;
            };
            let foreign = !comes_along(&name, &package.hash);
            let files = package.files.into_iter();
            all.extend(files.filter(|(path, _)| readable(path)).map(|(path, file)| Reference {
                package: name.clone(),
                path,
                hash: file.hash,
                bytes: file.bytes,
                foreign,
            }));
        }
        Ok(all)
    }

    /// The text of a file; `None` if it isn't text.
    pub(super) async fn text(&self, file: &Reference) -> Result<Option<String>, PackageError> {
        Ok(String::from_utf8(self.blobs.get(&file.hash).await?).ok())
    }
}

/// The first heading of a Markdown text, else its first line if that is short.
pub(super) fn heading(text: &str) -> Option<String> {
    const LONG: usize = 100;
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.clone().next()?;
    let title = lines.find_map(|line| line.strip_prefix("# ")).unwrap_or(first).trim();
    (title.chars().count() <= LONG && !title.starts_with("#!")).then(|| title.to_owned())
}
