//! What a backup says of itself.

use crate::dto::backups::LeftOut;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use steward_core::audit::Link;
use steward_core::{TenantId, Timestamp, UserId};
use steward_store::SchemaStep;

/// The first piece of a backup.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// The steps that made the database.
    pub schema: Vec<SchemaStep>,
    pub tenants: Vec<ManifestTenant>,
    /// Whether keys and files that may hold secrets are in it.
    pub keys: bool,
    /// Bytes of all files, as far as they were counted before: workspaces change meanwhile.
    pub bytes: u64,
    pub database_bytes: u64,
    /// Names of what isn't in it, though it lies in the data folder and can't be made again.
    pub left_out: Vec<LeftOut>,
    /// People who were erased before it was made: a restore of an older backup erases them again.
    pub erased: Vec<ErasedPerson>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ManifestTenant {
    pub id: TenantId,
    pub slug: String,
    /// The last entry of its audit trail; the chain of what is restored must have it.
    pub audit: Link,
}

/// Who was erased: an id, which says nothing about them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ErasedPerson {
    /// Their organisation.
    pub tenant: TenantId,
    /// Who it was.
    pub user: UserId,
    /// When it was asked for, milliseconds since 1970 UTC.
    pub asked_at: Timestamp,
}

/// A file of the data folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// In the data folder, with `/`.
    pub path: String,
    /// Of files in workspaces: what its owner, the group and others may do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<u32>,
}

/// What a backup says at its end.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Totals {
    pub files: u64,
    pub bytes: u64,
    /// SHA-256 of the list of all files: a line `SHA-256 BYTES PATH` for each.
    pub list: String,
}

impl Totals {
    pub(super) fn add(&mut self, list: &mut Sha256, path: &str, sha256: &str, bytes: u64) {
        self.files += 1;
        self.bytes += bytes;
        list.update(format!("{sha256} {bytes} {path}\n"));
    }
}
