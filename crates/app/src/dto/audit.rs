use serde::{Deserialize, Serialize};
use steward_core::audit::{Break, Link};
use utoipa::ToSchema;

/// What a check of the chain of the audit trail found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct AuditReport {
    /// Whether every entry is as it was written, and all are there.
    pub ok: bool,
    /// How many entries were found right.
    pub checked: u64,
    /// The last entry that the retention deleted; its number is 0 if none was.
    pub anchor: Link,
    /// The last entry that was found right. Noted elsewhere, it proves later that nothing up to it was written anew.
    pub head: Link,
    /// Where the chain breaks first.
    #[schema(required)]
    pub broken: Option<Break>,
    /// How long it took, milliseconds.
    pub ms: u64,
}

/// How far a check has come. The last line has the report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct AuditProgress {
    /// Entries checked so far.
    pub checked: u64,
    /// How many there are.
    pub total: u64,
    /// What was found, once it is over.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub report: Option<AuditReport>,
}

/// What to check beside the chain itself.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AuditCheck {
    /// An entry that an earlier check named as `head`; it must be in the chain as it was.
    pub known: Option<Link>,
}

/// How long the audit trail is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AuditRetention {
    /// Days; null: for good.
    #[schema(required, minimum = 1, maximum = 36_500)]
    pub days: Option<u32>,
}
