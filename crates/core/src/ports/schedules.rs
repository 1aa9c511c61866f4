//! Schedules and their occurrences as they are kept. When something is due, and what becomes of it, is said by the room
//! `schedule`, whose types are JSON here.

use crate::{AgentId, RunId, ScheduleId, Timestamp, UserId};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What starts runs of an agent by itself.
#[derive(Debug, Clone, PartialEq)]
pub struct ScheduleRow {
    pub id: ScheduleId,
    /// With whose rights its runs work.
    pub owner: UserId,
    pub agent: AgentId,
    pub body: ScheduleBody,
    /// Each occurrence up to this instant has its row.
    pub planned_until: Timestamp,
    /// When it is next decided on; `None`: nothing is due any more.
    pub wake_at: Option<Timestamp>,
    /// Runs that failed before don't count.
    pub resumed_at: Timestamp,
    /// Rises with each write, so that of two that decide at once one is taken.
    pub revision: u64,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub deleted_at: Option<Timestamp>,
}

/// What people set of a schedule.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ScheduleBody {
    pub name: String,
    /// What the agent is asked.
    pub request: String,
    /// A `ScheduleTime`.
    pub time: Value,
    /// A `Policy` of occurrences.
    pub policy: Value,
    /// It rests after so many runs that failed one after the other; `None`: never.
    pub pause_after_failures: Option<u32>,
    /// A `Pause`, while it rests.
    pub pause: Option<Value>,
}

/// Which schedules a list holds, newest first.
#[derive(Debug, Clone, Default)]
pub struct ScheduleFilter {
    pub owner: Option<UserId>,
    pub agent: Option<AgentId>,
    /// Those that were deleted, in the place of the others.
    pub deleted: bool,
    /// Only older ones than this one (cursor).
    pub before: Option<ScheduleId>,
    pub limit: u32,
}

/// One time at which a schedule is, or was, due.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OccurrenceRow {
    /// The instant that the timing says; of one by hand, when it was asked for.
    pub nominal: Timestamp,
    /// When it starts.
    pub due: Timestamp,
    /// It was due and waits for a run to end.
    pub queued: bool,
    /// A person asked for it.
    pub by_hand: bool,
    pub settled: Option<SettledFate>,
    pub settled_at: Option<Timestamp>,
    pub run: Option<RunId>,
    /// How its run ended, the `status` of an outcome; `None`: it works, or there is none.
    pub outcome: Option<String>,
}

/// How an occurrence ended: `ran`, `joined`, `skipped` or `missed`, and more about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettledFate {
    pub word: String,
    /// Why it was skipped or missed.
    pub reason: Option<String>,
    /// The occurrence that it joined.
    pub into: Option<Timestamp>,
}

/// The fate of an occurrence for which a run was started; only [`crate::started_by::StartedBy::Occurrence`] writes it.
pub const FATE_RAN: &str = "ran";

/// A run that a schedule started and that has not been seen to end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StartedOccurrence {
    pub nominal: Timestamp,
    pub run: RunId,
    /// How it ended; `None`: it works.
    pub ended_as: Option<String>,
}

/// What a decision on a schedule writes, in one transaction, apart from runs that it starts.
#[derive(Debug, Clone, Default)]
pub struct Settlement {
    /// Nominal and due instants of new rows.
    pub make: Vec<(Timestamp, Timestamp)>,
    pub queue: Vec<Timestamp>,
    pub settle: Vec<(Timestamp, SettledFate)>,
    /// Occurrences whose runs have ended, and how.
    pub ended: Vec<(Timestamp, String)>,
    pub planned_until: Timestamp,
    pub wake_at: Option<Timestamp>,
    /// What the schedule itself becomes, where it pauses.
    pub body: Option<ScheduleBody>,
    /// So many ended occurrences are kept, the latest.
    pub keep: Option<u32>,
}
