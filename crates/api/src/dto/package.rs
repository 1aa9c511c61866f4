//! Skill packages.

use super::names::{FindingSeverity, PackageState};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use steward_core::package;
use utoipa::ToSchema;
use uuid::Uuid;

/// What a package says that it needs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub(crate) struct PackagePermissions {
    /// Hosts it may reach.
    pub network: Vec<String>,
    /// Built-in tools its prompt may ask for.
    pub tools: Vec<String>,
    /// Kinds of credential.
    pub credentials: Vec<String>,
    /// Whether its scripts run.
    pub scripts: bool,
}

/// Something that the scan of a package found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub(crate) struct PackageFinding {
    /// How bad.
    pub severity: FindingSeverity,
    /// Which file.
    pub file: String,
    /// Line from 1; 0 for the file as a whole.
    pub line: u32,
    /// Which rule.
    pub rule: String,
    /// What it is and what to do.
    pub message: String,
}

/// A skill package, one revision of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub(crate) struct SkillPackage {
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
    pub permissions: PackagePermissions,
    /// What the scan found.
    pub findings: Vec<PackageFinding>,
    /// Its files and their sizes in bytes.
    pub files: BTreeMap<String, u64>,
    /// Ids of the skills made from it.
    pub skills: Vec<Uuid>,
    /// When it was imported, ms since 1970 UTC.
    pub at: i64,
    /// Who imported it.
    pub by: String,
}

/// Which content is accepted.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AcceptPackage {
    /// The hash that was looked at.
    pub hash: String,
    /// Whether dangerous findings were looked at and are accepted: administrators only.
    #[serde(default)]
    pub dangers: bool,
    /// The agent that gets its skills.
    #[serde(default)]
    pub agent: Option<Uuid>,
}

/// What differs of one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub(crate) struct PackageFileDiff {
    /// Path in the package.
    pub path: String,
    /// `added`, `removed` or `changed`.
    pub change: String,
    /// Unified diff; empty for what is no text.
    pub diff: String,
}

/// What differs between two revisions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub(crate) struct PackageDiff {
    /// File by file.
    pub files: Vec<PackageFileDiff>,
}

impl From<package::SkillPackage> for SkillPackage {
    fn from(one: package::SkillPackage) -> Self {
        Self {
            name: one.name,
            revision: one.revision,
            version: one.version,
            description: one.description,
            hash: one.hash,
            state: one.state.into(),
            permissions: PackagePermissions {
                network: one.permissions.network,
                tools: one.permissions.tools,
                credentials: one.permissions.credentials,
                scripts: one.permissions.scripts,
            },
            findings: one
                .findings
                .into_iter()
                .map(|finding| PackageFinding {
                    severity: finding.severity.into(),
                    file: finding.file,
                    line: finding.line,
                    rule: finding.rule,
                    message: finding.message,
                })
                .collect(),
            files: one.files.into_iter().map(|(path, file)| (path, file.bytes)).collect(),
            skills: one.skills.into_iter().map(|id| id.0).collect(),
            at: one.at.0,
            by: one.by,
        }
    }
}
