//! Who is told of what happens, where they are told, and each telling as it is kept.

use super::HookSecret;
use crate::{DispatchId, SubscriptionId, Timestamp, UserId};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// An address that is told of what happens.
#[derive(Debug, Clone, PartialEq)]
pub struct SubscriptionRow {
    pub id: SubscriptionId,
    /// What they may see is told.
    pub owner: UserId,
    pub body: SubscriptionBody,
    /// Rises with each write, so that of two that change at once one is taken.
    pub revision: u64,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub deleted_at: Option<Timestamp>,
}

/// What people set of a subscription. Its address, which often holds a secret, and its secrets are in the vault.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SubscriptionBody {
    pub name: String,
    /// A `MessageForm`.
    pub form: Value,
    /// Scheme, host and port of the address.
    pub place: String,
    /// Kinds of happenings; empty: all.
    pub kinds: Vec<String>,
    /// Also of what isn't the owner's, if they may see it.
    pub all: bool,
    /// Of the messages' texts: `en` or `de`.
    pub language: String,
    /// A `Pause`, while it rests.
    pub pause: Option<Value>,
    /// The address of this server as readers know it, for links.
    #[serde(default)]
    pub link_base: Option<String>,
    /// What may be shown of its signing secrets.
    pub secrets: Vec<HookSecret>,
}

/// Which subscriptions a list holds, newest first.
#[derive(Debug, Clone, Default)]
pub struct SubscriptionFilter {
    pub owner: Option<UserId>,
    /// Those that were deleted, in the place of the others.
    pub deleted: bool,
    /// Only older ones than this one (cursor).
    pub before: Option<SubscriptionId>,
    pub limit: u32,
}

/// One happening on its way to one address.
#[derive(Debug, Clone, PartialEq)]
pub struct DispatchRow {
    pub id: DispatchId,
    pub subscription: SubscriptionId,
    /// Number of the entry of the audit trail that it tells of; 0: a test.
    pub seq: u64,
    pub kind: String,
    /// What it is about; what is told of one thing arrives in its order.
    pub subject: String,
    /// A `Happening`.
    pub body: Value,
    pub made_at: Timestamp,
    /// When it is tried next; `None`: it arrived, or is given up.
    pub next_at: Option<Timestamp>,
    pub tries: u32,
    pub sent_at: Option<Timestamp>,
    /// What the last try came to.
    pub last: Option<String>,
}

/// A dispatch to make.
#[derive(Debug, Clone, PartialEq)]
pub struct NewDispatch {
    pub id: DispatchId,
    pub subscription: SubscriptionId,
    pub seq: u64,
    pub kind: String,
    pub subject: String,
    pub body: Value,
}

/// How a try ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DispatchTry {
    /// What it came to, for people.
    pub told: String,
    pub outcome: DispatchOutcome,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DispatchOutcome {
    Sent,
    TryAgain(Timestamp),
    GivenUp,
}
