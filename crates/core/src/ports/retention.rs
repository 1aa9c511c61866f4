use crate::retention::RetainedKind;
use crate::{Timestamp, UserId};
use uuid::Uuid;

/// Which items, oldest first.
#[derive(Debug, Clone)]
pub struct RetainedFilter {
    pub kind: RetainedKind,
    /// Last changed before this time; `None`: whenever.
    pub before: Option<Timestamp>,
    pub user: Option<UserId>,
    /// Of conversations only those that were marked deleted.
    pub deleted_only: bool,
    /// Those after this one (cursor).
    pub after: Option<(Timestamp, String)>,
    pub limit: u32,
}

/// That somebody had a text masked so that it can be put back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MaskMapRow {
    pub id: Uuid,
    pub user: UserId,
    pub made_at: Timestamp,
    pub ends_at: Timestamp,
    /// What the tokens stand for.
    pub sealed: String,
}
