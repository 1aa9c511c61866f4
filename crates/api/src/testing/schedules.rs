//! A schedule to try things on.

use serde_json::json;
use steward_core::ports::{ScheduleBody, ScheduleRow};
use steward_core::{AgentId, ScheduleId, Timestamp, UserId};

/// Once a year; `text` is its name and its request.
pub(super) fn row(id: ScheduleId, owner: UserId, agent: AgentId, text: &str) -> ScheduleRow {
    ScheduleRow {
        id,
        owner,
        agent,
        body: ScheduleBody {
            name: text.to_owned(),
            request: text.to_owned(),
            time: json!({"timing": {"kind": "cron", "expression": "0 8 1 1 *"}, "zone": "UTC", "jitter_seconds": 0}),
            policy: json!({"missed": {"kind": "once"}, "overlap": "skip", "grace_seconds": 60}),
            pause_after_failures: None,
            pause: None,
        },
        planned_until: Timestamp(0),
        wake_at: None,
        resumed_at: Timestamp(0),
        revision: 1,
        created_at: Timestamp(0),
        updated_at: Timestamp(0),
        deleted_at: None,
    }
}
