use serde::{Deserialize, Serialize};
use steward_core::{CredentialId, Timestamp};
use utoipa::ToSchema;

/// What a backup is to be, and where.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct BackupInput {
    /// An absolute path on the server that isn't there yet and ends with `.backup`.
    #[schema(examples("/srv/backups/monday.backup"), max_length = 4096)]
    pub path: String,
    /// Seals all of it, keys included; 12 characters or more. Without one, keys and what may hold secrets are left out.
    #[schema(min_length = 12, max_length = 1024)]
    pub passphrase: Option<String>,
    /// The passphrase is the secret of this credential of the vault instead.
    pub passphrase_credential: Option<CredentialId>,
    /// Whether the files of workspaces in the data folder are in it.
    #[serde(default = "super::yes")]
    pub workspaces: bool,
}

/// What is being done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum BackupStage {
    /// The database is copied.
    Database,
    /// Files are written.
    Files,
}

/// How far a backup has come. The last line has the report, or why there is no backup.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct BackupProgress {
    /// What is being done.
    pub stage: BackupStage,
    /// Bytes of it that are done.
    pub done: u64,
    /// Of so many.
    pub total: u64,
    /// What was made, once it is over.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub report: Option<BackupReport>,
    /// Why there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub failure: Option<BackupFailure>,
}

impl BackupProgress {
    pub(crate) fn of(stage: BackupStage, done: u64, total: u64) -> Self {
        Self { stage, done, total, report: None, failure: None }
    }
}

/// A backup that was made.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct BackupReport {
    /// Where it is.
    pub path: String,
    /// Its length.
    pub bytes: u64,
    /// How many files of the data folder are in it.
    pub files: u64,
    /// Their length together.
    pub content_bytes: u64,
    /// SHA-256 of the list of all of them, with their hashes.
    pub sha256: String,
    /// Whether it is sealed with a passphrase, and so has the keys.
    pub sealed: bool,
    /// How long it took, milliseconds.
    pub ms: u64,
    /// What isn't in it, though it can't be made again.
    pub left_out: Vec<LeftOut>,
}

/// Something of the data folder that isn't in a backup.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = BackupLeftOut)]
pub struct LeftOut {
    /// In the data folder.
    pub path: String,
    /// Why it isn't in the backup.
    pub why: String,
}

/// Why there is no backup.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct BackupFailure {
    /// What happened.
    pub title: String,
    /// What to do.
    pub hint: String,
}

/// A backup that was made or tried.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BackupRecord {
    /// When it ended, milliseconds since 1970 UTC.
    pub at: Timestamp,
    /// Where it is.
    pub path: String,
    /// Its length.
    pub bytes: u64,
    /// Whether it is sealed.
    pub sealed: bool,
    /// How long it took, milliseconds.
    pub ms: u64,
    /// Why it failed.
    #[schema(required)]
    pub error: Option<String>,
}
