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

pub(crate) fn snapshot<T: DeserializeOwned>(value: &Value) -> Result<T, ToolsError> {
    T::deserialize(value).map_err(|error| ToolsError::NoUndo(format!("the snapshot can't be read: {error}")))
}
