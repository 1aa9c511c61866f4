//! Webhooks that come in, and their deliveries as they are kept. How a sender signs, which deliveries count and what is
//! filled into a request is said by the room `hooks`, whose types are JSON here.

use crate::{AgentId, DeliveryId, HookId, RunId, Timestamp, UserId};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

/// What starts runs of an agent when somebody else's program calls.
#[derive(Debug, Clone, PartialEq)]
pub struct HookRow {
    pub id: HookId,
    /// With whose rights its runs work.
    pub owner: UserId,
    pub agent: AgentId,
    pub body: HookBody,
    /// Runs that failed before don't count.
    pub resumed_at: Timestamp,
    /// Rises with each write, so that of two that change at once one is taken.
    pub revision: u64,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub deleted_at: Option<Timestamp>,
}

/// What people set of a webhook.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HookBody {
    pub name: String,
    /// What the agent is asked: a template.
    pub request: String,
    /// A `Signing`.
    pub signing: Value,
    /// How old, or how far ahead, a signed time may be, seconds.
    pub window_seconds: u32,
    /// A `Place` where the sender's own id of a delivery stands; `None`: where the signing says.
    pub event_id: Option<Value>,
    /// `Filter`s.
    pub filters: Vec<Value>,
    /// It rests after so many runs that failed one after the other; `None`: never.
    pub pause_after_failures: Option<u32>,
    /// A `Pause`, while it rests.
    pub pause: Option<Value>,
    /// What may be shown of its secrets; they themselves are in the vault.
    pub secrets: Vec<HookSecret>,
}

/// What is shown of a secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct HookSecret {
    /// Its id.
    pub id: Uuid,
    /// Its last four characters.
    pub hint: String,
    /// When it was added.
    pub created_at: Timestamp,
}

/// Which webhooks a list holds, newest first.
#[derive(Debug, Clone, Default)]
pub struct HookFilter {
    pub owner: Option<UserId>,
    pub agent: Option<AgentId>,
    /// Those that were deleted, in the place of the others.
    pub deleted: bool,
    /// Only older ones than this one (cursor).
    pub before: Option<HookId>,
    pub limit: u32,
}

/// One call of a webhook.
#[derive(Debug, Clone, PartialEq)]
pub struct DeliveryRow {
    pub id: DeliveryId,
    pub hook: HookId,
    /// What the sender calls it; the same event has one row.
    pub event: String,
    pub received_at: Timestamp,
    /// `None`: it waits for its run.
    pub fate: Option<DeliveryFate>,
    pub settled_at: Option<Timestamp>,
    pub run: Option<RunId>,
    /// How its run ended, the `status` of an outcome; `None`: it works, or there is none.
    pub outcome: Option<String>,
    /// How often it came again.
    pub repeats: u64,
    /// Bytes of its body.
    pub bytes: u64,
    /// What was sent; `None`: it isn't kept any more, or wasn't asked for.
    pub content: Option<DeliveryContent>,
}

/// What a sender sent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeliveryContent {
    /// Lower-case names, without those that hold secrets or signatures.
    pub headers: Vec<(String, String)>,
    pub body: String,
}

/// What became of a delivery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryFate {
    /// `started`, `skipped` or `failed`.
    pub word: String,
    /// Why it was skipped, or couldn't be started.
    pub reason: Option<String>,
}

/// The fate of a delivery whose run was started; only [`crate::started_by::StartedBy::Delivery`] writes it.
pub const FATE_STARTED: &str = "started";

/// A delivery as it comes in.
#[derive(Debug, Clone)]
pub struct NewDelivery {
    pub id: DeliveryId,
    pub hook: HookId,
    pub event: String,
    pub received_at: Timestamp,
    pub bytes: u64,
    pub content: DeliveryContent,
    /// It has its fate already, such as one that a filter left out.
    pub fate: Option<DeliveryFate>,
    /// More than so many that wait are refused.
    pub most_waiting: u64,
}

/// What became of a new delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Accepted {
    /// It is kept.
    Kept,
    /// The event was known, as this delivery.
    Repeated(DeliveryId),
    /// Too many wait already.
    Full,
}
