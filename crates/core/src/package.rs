use crate::{SkillId, Timestamp};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SkillPackage {
    /// Unique in its tenant: `[a-z0-9-]{1,64}`.
    pub name: String,
    /// Counts imports of this name from 1.
    pub revision: u32,
    /// What its author calls this version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    pub description: String,
    /// Hash over the names and contents of its files, by which it is pinned.
    pub hash: String,
    pub state: PackageState,
    /// Declared by the author.
    pub permissions: Permissions,
    #[serde(default)]
    pub findings: Vec<Finding>,
    /// By path in the package.
    pub files: BTreeMap<String, PackageFile>,
    #[serde(default)]
    pub skills: Vec<SkillId>,
    pub at: Timestamp,
    pub by: String,
}

/// Where a skill package stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum PackageState {
    /// Imported; nothing of it is used until a person has looked.
    Quarantined,
    /// In use.
    Active,
    /// A later import took its place.
    Replaced,
    /// Refused or taken out of use.
    Removed,
}

/// What a package says that it needs; anything else is refused.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[schema(as = PackagePermissions)]
pub struct Permissions {
    /// Hosts it may reach.
    #[serde(default)]
    #[schema(required)]
    pub network: Vec<String>,
    /// Built-in tools its prompt may ask for; empty: none is taken away.
    #[serde(default)]
    #[schema(required)]
    pub tools: Vec<String>,
    /// Kinds of credential.
    #[serde(default)]
    #[schema(required)]
    pub credentials: Vec<String>,
    /// Whether its scripts run.
    #[serde(default)]
    #[schema(required)]
    pub scripts: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PackageFile {
    /// Hash of its content, which is also its blob's key.
    pub hash: String,
    pub bytes: u64,
}

/// Something that the scan of a package found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[schema(as = PackageFinding)]
pub struct Finding {
    /// How bad.
    pub severity: Severity,
    /// Which file.
    pub file: String,
    /// Line from 1; 0 for the file as a whole.
    #[serde(default)]
    #[schema(required)]
    pub line: u32,
    /// Which rule, such as `hidden_text`.
    pub rule: String,
    /// For a person: what it is and what to do.
    pub message: String,
}

/// How bad something is that the scan of a package found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, utoipa::ToSchema)]
#[schema(as = FindingSeverity)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// To know.
    Info,
    /// To look at.
    Warning,
    /// Stays in quarantine unless an administrator says otherwise.
    Danger,
}
