//! When a schedule rests.

use serde::{Deserialize, Serialize};
use steward_core::Timestamp;

use crate::error::TimingError;

/// The longest note, in characters.
pub const MAX_NOTE: usize = 500;

/// A schedule that rests, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pause {
    pub since: Timestamp,
    pub reason: PauseReason,
    /// What a person wrote; empty: nothing.
    pub note: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum PauseReason {
    /// A person paused it.
    Person,
    /// So many runs failed one after the other.
    Failures { count: u32 },
    /// Its owner is gone or lost a right that it needs.
    Owner,
    /// No run can be started; the note says why.
    CannotStart,
}

/// How a run of a schedule ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    Succeeded,
    Failed,
    /// It says nothing about the schedule.
    Cancelled,
}

impl Pause {
    /// A pause by a person. Fails for a note that is too long.
    pub fn by_person(since: Timestamp, note: &str) -> Result<Self, TimingError> {
        let length = note.chars().count();
        if length > MAX_NOTE {
            return Err(TimingError::new(
                "note",
                format!("it has {length} characters"),
                format!("Write at most {MAX_NOTE} characters"),
            ));
        }
        Ok(Self { since, reason: PauseReason::Person, note: note.trim().to_owned() })
    }
}

/// Runs that failed one after the other, from `outcomes` with the latest first. A cancelled run neither counts nor ends the row.
pub fn count_failures(outcomes: impl IntoIterator<Item = Outcome>) -> u32 {
    let decided = outcomes.into_iter().filter(|outcome| *outcome != Outcome::Cancelled);
    let failed = decided.take_while(|outcome| *outcome == Outcome::Failed).count();
    u32::try_from(failed).unwrap_or(u32::MAX)
}

/// Whether the failures so far pause a schedule that rests after `limit` of them; `None`: it never does.
///
/// `outcomes` are those since it was last resumed, the latest first.
pub fn pause_for_failures(
    limit: Option<u32>,
    outcomes: impl IntoIterator<Item = Outcome>,
    now: Timestamp,
) -> Option<Pause> {
    let limit = limit.filter(|limit| *limit > 0)?;
    let count = count_failures(outcomes);
    (count >= limit).then(|| Pause { since: now, reason: PauseReason::Failures { count }, note: String::new() })
}
