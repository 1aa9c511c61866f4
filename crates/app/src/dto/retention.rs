use serde::{Deserialize, Serialize};
use steward_core::retention::{LegalHold, RetainedKind, RetentionPolicy, RetentionRules};
use utoipa::ToSchema;
use uuid::Uuid;

/// The policies, and what the last turn of the deletion did.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct RetentionView {
    /// Counts changes from 0; a change names the version it was made from.
    pub version: u64,
    /// How long what is kept.
    pub policies: Vec<RetentionPolicy>,
    /// What is kept whatever the policies say.
    pub holds: Vec<LegalHold>,
    /// The last turn; null: there was none yet.
    #[schema(required)]
    pub last: Option<RetentionTurn>,
    /// What is not deleted until an administrator agrees.
    pub held_back: Vec<HeldBack>,
}

/// Why a deletion waits for an administrator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum HeldWhy {
    /// The clock is more than seven days after the last time that is known.
    ClockAhead,
    /// The clock is more than a day before the last time that is known.
    ClockBehind,
    /// More than a fifth of all things, and more than 50, would go at once.
    TooMuch,
}

/// A deletion by age that waits until an administrator agrees.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct HeldBack {
    /// What would delete: `retention` (the policies), `audit` (the retention of the audit trail) or `masks` (lists of tokens
    /// of masked texts).
    pub by: String,
    /// Why it waits.
    pub why: HeldWhy,
    /// The same in words.
    pub message: String,
    /// What to do.
    pub hint: String,
    /// Since when, milliseconds since 1970 UTC.
    pub since: i64,
    /// Confirms all that is held back; agreeing takes it.
    pub confirmation: String,
}

/// Agrees to what is held back.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct DeletionAgreement {
    /// `confirmation` of what is held back.
    #[schema(max_length = 100)]
    pub confirmation: String,
}

/// A turn of the deletion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RetentionTurn {
    /// When it began, milliseconds since 1970 UTC.
    pub began_at: i64,
    /// When it ended; null: it is at work.
    #[schema(required)]
    pub ended_at: Option<i64>,
    /// Items deleted so far.
    pub deleted: u64,
    /// Items that a hold kept.
    pub held: u64,
}

/// What a policy would delete now.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct WouldGo {
    /// Name of the policy.
    pub policy: String,
    /// What it is about.
    pub kind: RetainedKind,
    /// How many items.
    pub items: u64,
    /// How many of those it names are kept by a hold.
    pub held: u64,
    /// When the oldest last changed, milliseconds since 1970 UTC.
    #[schema(required)]
    pub oldest: Option<i64>,
    /// When the newest last changed.
    #[schema(required)]
    pub newest: Option<i64>,
    /// Whether counting ended early; there may be more.
    pub more: bool,
}

/// What rules would delete as soon as they are saved.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct RetentionPreview {
    /// By policy.
    pub would_go: Vec<WouldGo>,
    /// Confirms just these rules; saving them takes it.
    pub confirmation: String,
}

/// Rules to be saved, after their preview was seen.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RetentionInput {
    /// The rules.
    pub rules: RetentionRules,
    /// `confirmation` of the preview of just these rules.
    #[schema(max_length = 100)]
    pub confirmation: String,
}

/// A deletion, without what was deleted.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct DeletionProof {
    /// Its place in the audit trail.
    pub seq: u64,
    /// When, milliseconds since 1970 UTC.
    pub at: i64,
    /// What kind it was.
    pub kind: String,
    /// Id of what was deleted.
    pub id: String,
    /// Policy that asked for it; empty for an erasure.
    pub policy: String,
    /// Age in days, since it had last changed.
    #[schema(required)]
    pub age_days: Option<u64>,
    /// SHA-256 of what was deleted.
    pub sha256: String,
    /// Hash of the entry in the chain of the audit trail.
    pub hash: String,
}

/// What was deleted in a time, and where the audit trail stood then.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct DeletionCertificate {
    /// From this time on, milliseconds since 1970 UTC.
    pub from: i64,
    /// Before this time.
    pub to: i64,
    /// When it was made.
    pub made_at: i64,
    /// Who asked for it.
    pub made_by: String,
    /// The last entry of the audit trail then, as `NUMBER:HASH`.
    pub audit_head: String,
    /// The deletions, oldest first.
    pub deletions: Vec<DeletionProof>,
}

/// What there is of a person, and what becomes of it.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct ErasurePreview {
    /// What is deleted, by kind.
    pub goes: Vec<KindCount>,
    /// Where the person is named by others: a stand-in is put there.
    pub renamed: Vec<KindCount>,
    /// What stays, and is for people to look at.
    pub stays: Vec<KindCount>,
    /// Why nothing can be erased now; empty: it can.
    pub obstacles: Vec<String>,
    /// Confirms this erasure.
    pub confirmation: String,
}

/// How many of what.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct KindCount {
    /// What.
    pub kind: String,
    /// How many.
    pub count: u64,
}

/// What an erasure would do, and how far it is.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct ErasureView {
    /// What would go; null: the person is erased.
    #[schema(required)]
    pub preview: Option<ErasurePreview>,
    /// How far it is; null: nobody has asked for it.
    #[schema(required)]
    pub erasure: Option<Erasure>,
}

/// Asks for an erasure.
#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ErasureInput {
    /// `confirmation` of the preview.
    #[schema(max_length = 100)]
    pub confirmation: String,
}

/// How far an erasure is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Erasure {
    /// Id of the user who was or is erased.
    pub user_id: Uuid,
    /// What stands in the place of their name.
    pub stand_in: String,
    /// When it was asked for, milliseconds since 1970 UTC.
    pub asked_at: i64,
    /// Id of the administrator who asked.
    pub asked_by: Uuid,
    /// When it was done; null: it is at work.
    #[schema(required)]
    pub done_at: Option<i64>,
    /// Items deleted so far.
    pub deleted: u64,
    /// Rows in which a stand-in was put.
    pub renamed: u64,
    /// Why it does not go on, such as a hold; null: it does, or is done.
    #[serde(default)]
    #[schema(required)]
    pub waits_for: Option<String>,
}
