mod memory;
mod notes;
mod reminders;

pub use memory::{MAX_MEMORY_CHARS, SaveMemory};
pub use notes::{NotesCreate, NotesList, NotesRead};
pub(crate) use reminders::parse_time;
pub use reminders::{Reminders, RemindersCreate, RemindersDone, RemindersList};

use crate::error::ToolsError;
use serde::de::DeserializeOwned;
use serde_json::Value;
use steward_core::tool::Settled;

pub(crate) fn snapshot<T: DeserializeOwned>(value: &Value) -> Result<T, ToolsError> {
    T::deserialize(value).map_err(|error| ToolsError::NoUndo(format!("the snapshot can't be read: {error}")))
}

/// Whether a call that was to replace `before` by `after` has done so. `None`: there is no such text.
pub(crate) fn settle_text(what: &str, now: Option<&str>, before: Option<&str>, after: &str) -> Settled {
    // First, since a text that stays the same may be written again.
    if now == before {
        Settled::NotHappened(format!("{what} is as it was before"))
    } else if now == Some(after) {
        Settled::Happened(format!("{what} is as this call leaves it"))
    } else {
        Settled::Unknown(format!("somebody else has changed {what} since"))
    }
}
