use serde::{Deserialize, Serialize};
use steward_core::{AgentId, Timestamp, ports};
use utoipa::ToSchema;

/// A reminder. Due: its time has come and it is not done; that it is shown then is all there is to it,
/// so a reminder that came up while nothing ran is due at the next look.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Reminder {
    /// Its id.
    pub id: String,
    /// The agent that made it.
    pub agent_id: AgentId,
    /// The agent's name; null: it is gone.
    #[schema(required)]
    pub agent: Option<String>,
    /// When, ms since 1970 UTC.
    pub at: Timestamp,
    /// What.
    pub text: String,
    /// Whether it is done.
    pub done: bool,
    /// Whether its time has come and it is not done.
    pub due: bool,
    /// Whether the caller may change it: their own, or one that all users of an agent share which they may edit.
    pub may_change: bool,
}

/// What changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ReminderChange {
    /// Whether it is done.
    pub done: Option<bool>,
    /// Its new time, ms since 1970 UTC: later, to be reminded again.
    pub at: Option<Timestamp>,
}

impl Reminder {
    /// `agent`: its id and, unless it is gone, its name.
    pub fn of(one: ports::Reminder, agent: (AgentId, Option<String>), may_change: bool, now: Timestamp) -> Self {
        let ports::Reminder { id, at, text, done, .. } = one;
        Self { id, agent_id: agent.0, agent: agent.1, at, text, done, due: !done && at <= now, may_change }
    }
}
