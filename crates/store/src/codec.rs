//! JSON columns, and the words of enumerations.

use serde::Serialize;
use serde::de::DeserializeOwned;
use steward_core::ports::{RunStatus, StoreError, StoreResult};

/// `value` as JSON text.
pub(crate) fn to_json<T: Serialize>(value: &T) -> StoreResult<String> {
    serde_json::to_string(value)
        .map_err(|e| StoreError::Backend(format!("a value cannot be written as JSON: {e}")))
}

/// The value of a JSON column; `what` names the row in the error.
pub(crate) fn from_json<T: DeserializeOwned>(what: &str, text: &str) -> StoreResult<T> {
    serde_json::from_str(text)
        .map_err(|e| StoreError::Corrupt(format!("{what} holds JSON that is not understood: {e}")))
}

/// The word of a status column.
pub(crate) fn status_word(status: RunStatus) -> &'static str {
    match status {
        RunStatus::Running => "running",
        RunStatus::Parked => "parked",
        RunStatus::Finished => "finished",
    }
}

/// The status of a word.
pub(crate) fn status_of(word: &str) -> StoreResult<RunStatus> {
    match word {
        "running" => Ok(RunStatus::Running),
        "parked" => Ok(RunStatus::Parked),
        "finished" => Ok(RunStatus::Finished),
        other => Err(StoreError::Corrupt(format!(
            "a run has the status {other:?}"
        ))),
    }
}

/// Rows of a page that asked for `limit`: 0 means 100, and 1,000 is the most.
pub(crate) fn page_size(limit: u32) -> u32 {
    if limit == 0 { 100 } else { limit.min(1000) }
}
