//! Files that people have sent into the workspace.

use crate::{Timestamp, UserId};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A file in the workspace that somebody has sent. It may have been changed or removed there since.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct UploadedFile {
    /// Where it is in the workspace.
    pub path: String,
    /// Whose it is.
    pub user_id: UserId,
    /// Its length when it was sent.
    pub bytes: u64,
    /// When it was sent, milliseconds since 1970 UTC.
    pub at: Timestamp,
}

/// Bytes that were sent and are kept: files in the workspace and documents.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct UploadedBytes {
    pub of_user: u64,
    pub of_organisation: u64,
}
