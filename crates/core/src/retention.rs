//! How long runs, conversations and figures are kept, who stops that, and the proof that something was deleted.

use crate::governance::Classification;
use crate::{ConversationId, Timestamp, UserId};
use serde::{Deserialize, Serialize};
use strum::IntoStaticStr;
use uuid::Uuid;

/// Where the policies and holds are kept among the settings.
pub const RETENTION_SETTING: &str = "governance.retention";

/// Action of the audit entry that proves a deletion.
pub const DELETED: &str = "data.deleted";

/// What is deleted as a whole.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, utoipa::ToSchema, IntoStaticStr,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum RetainedKind {
    /// A conversation with its messages and runs.
    Conversations,
    /// A run outside of conversations, with its log and its questions.
    Runs,
    /// The figures of what a day's calls of models took.
    Usage,
}

impl RetainedKind {
    /// Its name, as stored.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// How long something is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RetentionPolicy {
    /// Its name, unique; it stands in each proof.
    #[schema(min_length = 1, max_length = 80)]
    pub name: String,
    /// What.
    pub kind: RetainedKind,
    /// Days since it last changed, or since it was deleted where only such conversations are meant.
    #[schema(minimum = 1, maximum = 36_500)]
    pub days: u32,
    /// Only what has seen data of this classification or above; all if left out. Figures have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub from: Option<Classification>,
    /// Of conversations only those that were deleted by who had them.
    #[serde(default)]
    pub deleted_only: bool,
}

/// What a hold keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case", tag = "kind", content = "id")]
pub enum HoldOn {
    /// A conversation with its runs.
    Conversation(Uuid),
    /// All conversations and runs of a user.
    User(Uuid),
}

/// Something that nothing deletes for as long as it stands, since a court or an authority may want it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct LegalHold {
    /// What is kept.
    pub on: HoldOn,
    /// Why.
    #[schema(min_length = 1, max_length = 500)]
    pub reason: String,
}

/// The policies and holds of an installation. `version` counts their changes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RetentionRules {
    /// Counts changes from 0; a change names the version it was made from.
    pub version: u64,
    /// How long what is kept.
    #[serde(default)]
    #[schema(max_items = 50)]
    pub policies: Vec<RetentionPolicy>,
    /// What is kept whatever the policies say.
    #[serde(default)]
    #[schema(max_items = 1000)]
    pub holds: Vec<LegalHold>,
}

impl RetentionRules {
    /// The hold that keeps something of this user and conversation.
    pub fn hold(&self, user: Option<UserId>, conversation: Option<ConversationId>) -> Option<&LegalHold> {
        self.holds.iter().find(|hold| match hold.on {
            HoldOn::Conversation(id) => conversation == Some(ConversationId(id)),
            HoldOn::User(id) => user == Some(UserId(id)),
        })
    }
}

/// Something that could be deleted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RetainedItem {
    pub kind: RetainedKind,
    /// A UUID, or a day as days since 1970-01-01.
    pub id: String,
    /// When it last changed, or was deleted.
    pub at: Timestamp,
    /// Whether `at` is when who had it deleted it: it goes only as long as that stands.
    pub deleted_only: bool,
    pub user: Option<UserId>,
    pub conversation: Option<ConversationId>,
}

/// What was deleted: the proof without its contents.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DeletedItem {
    /// SHA-256 over all rows that were deleted, in their order.
    pub sha256: String,
    pub runs: u64,
    pub events: u64,
    pub messages: u64,
}
