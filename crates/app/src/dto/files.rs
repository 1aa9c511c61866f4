use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use steward_core::Timestamp;
use steward_core::governance::Classified;
use steward_core::ports::FileProvenanceEntry;
use steward_core::run::FileProvenance;
use steward_core::upload::UploadedFile;
use steward_tools::sample::Change;
use utoipa::ToSchema;

/// A file that was taken in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Uploaded {
    /// Where it is in the workspace.
    pub path: String,
    /// Its length.
    pub bytes: u64,
}

/// A file in the workspace that somebody has sent. It may have been changed or removed there since.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SentFile {
    #[serde(flatten)]
    pub file: UploadedFile,
    /// The e-mail of who sent it; null: they were removed.
    #[schema(required)]
    pub by: Option<String>,
}

/// Where a file, or all that lies in a folder, may come from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct FileOrigin {
    /// Its path in the workspace; empty: the whole workspace.
    pub path: String,
    /// Addresses, senders and files outside.
    pub origins: BTreeSet<String>,
    /// The most confidential that it may hold, by which label; left out if it isn't.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub level: Option<Classified>,
    /// When that changed last.
    pub at: Timestamp,
}

impl FileOrigin {
    pub(crate) fn of(entry: FileProvenanceEntry) -> Self {
        let FileProvenance { path, provenance } = entry.file;
        Self { path, origins: provenance.origins, level: provenance.level, at: entry.at }
    }
}

/// What a new conversation offers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Start {
    /// Whether the workspace holds no files.
    pub empty: bool,
    /// Whether the sample lies in it.
    pub sample: bool,
    /// Requests that work here, even with the built-in model.
    pub tries: Vec<String>,
}

/// What became of the sample's files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SampleChange {
    /// Files that were added or removed.
    pub done: Vec<String>,
    /// Files that were left as they are: others of the same name, or changed ones.
    pub left: Vec<String>,
}

impl From<Change> for SampleChange {
    fn from(change: Change) -> Self {
        Self { done: change.done, left: change.left }
    }
}
