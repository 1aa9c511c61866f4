//! What starts runs without a person.

use crate::{DeliveryId, HookId, ScheduleId, Timestamp};
use serde::{Deserialize, Serialize};

/// What started a run without a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum StartedBy {
    /// An occurrence of a schedule.
    #[schema(title = "occurrence")]
    Occurrence(OccurrenceKey),
    /// A delivery of a webhook.
    #[schema(title = "delivery")]
    Delivery(DeliveryKey),
}

/// The occurrence that a run is started for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct OccurrenceKey {
    /// The schedule.
    pub schedule: ScheduleId,
    /// The time that it says, ms since 1970 UTC.
    pub nominal: Timestamp,
    /// It has no row yet: a person asked for it.
    pub by_hand: bool,
}

/// The delivery that a run is started for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct DeliveryKey {
    /// The webhook.
    pub hook: HookId,
    /// The delivery.
    pub delivery: DeliveryId,
}
