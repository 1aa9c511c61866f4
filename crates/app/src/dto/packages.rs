use super::documents::AddedDocument;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use steward_core::package::{self, Finding, PackageState, Permissions};
use steward_core::{AgentId, SkillId, Timestamp};
use utoipa::ToSchema;

/// A skill package, one revision of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct SkillPackage {
    /// Its name.
    pub name: String,
    /// Counts imports of this name from 1.
    pub revision: u32,
    /// What its author calls this version.
    #[schema(required)]
    pub version: Option<String>,
    /// What it is for.
    pub description: String,
    /// Hash over its files; send it to accept just this content.
    pub hash: String,
    /// Where it stands.
    pub state: PackageState,
    /// What it says that it needs.
    pub permissions: Permissions,
    /// What the scan found.
    pub findings: Vec<Finding>,
    /// Its files and their sizes in bytes.
    pub files: BTreeMap<String, u64>,
    /// How many of them, those below `references/`, are documents while it is in use.
    pub references: u32,
    /// Ids of the skills made from it.
    pub skills: Vec<SkillId>,
    /// When it was imported, ms since 1970 UTC.
    pub at: Timestamp,
    /// Who imported it.
    pub by: String,
}

/// What an agent was given.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct ImportedSkillPack {
    /// Skill packages; the agent has the skills of those that are active.
    pub packages: Vec<SkillPackage>,
    /// Other files: documents that are linked to the agent.
    pub documents: Vec<AddedDocument>,
}

/// Which content is accepted.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AcceptPackage {
    /// The hash that was looked at.
    pub hash: String,
    /// Whether dangerous findings were looked at and are accepted: administrators only.
    #[serde(default)]
    pub dangers: bool,
    /// The agent that gets its skills.
    pub agent: Option<AgentId>,
}

/// What differs of one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PackageFileDiff {
    /// Path in the package.
    pub path: String,
    /// `added`, `removed` or `changed`.
    pub change: String,
    /// Unified diff; empty for what is no text.
    pub diff: String,
}

/// What differs between two revisions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PackageDiff {
    /// File by file.
    pub files: Vec<PackageFileDiff>,
}

impl From<package::SkillPackage> for SkillPackage {
    fn from(one: package::SkillPackage) -> Self {
        let references = one.files.keys().filter(|path| path.starts_with("references/")).count();
        Self {
            name: one.name,
            revision: one.revision,
            version: one.version,
            description: one.description,
            hash: one.hash,
            state: one.state,
            permissions: one.permissions,
            findings: one.findings,
            files: one.files.into_iter().map(|(path, file)| (path, file.bytes)).collect(),
            references: u32::try_from(references).unwrap_or(u32::MAX),
            skills: one.skills,
            at: one.at,
            by: one.by,
        }
    }
}
