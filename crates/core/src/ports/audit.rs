use crate::audit::{AuditResult, Link};
use crate::{RunId, Timestamp};

/// Filter for the audit trail. All that is given must fit.
#[derive(Debug, Clone, Default)]
pub struct AuditFilter {
    /// The very actor.
    pub actor: Option<String>,
    /// The action, or what it begins with up to a dot: `auth` is also `auth.login`.
    pub action: Option<String>,
    /// The very target.
    pub target: Option<String>,
    pub result: Option<AuditResult>,
    pub run: Option<RunId>,
    /// From this time on.
    pub from: Option<Timestamp>,
    /// Before this time.
    pub to: Option<Timestamp>,
    /// Case-insensitive text in actor, action, target, address or details.
    pub text: Option<String>,
}

/// Which way a list of entries goes, and from where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AuditOrder {
    /// Newest first: those before this entry, or all.
    NewestBefore(Option<u64>),
    /// Oldest first: those after this entry; 0 for all.
    OldestAfter(u64),
}

/// What the chain begins after and where it ends.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChainEnds {
    /// The last entry that the retention deleted.
    pub anchor: Link,
    /// The last entry there is.
    pub head: Link,
}

/// What one step of the retention deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pruned {
    pub first: u64,
    pub last: u64,
}
