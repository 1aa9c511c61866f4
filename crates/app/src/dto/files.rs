use serde::{Deserialize, Serialize};
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
