mod memory;
mod notes;
mod reminders;

pub use memory::{MAX_MEMORY_CHARS, SaveMemory};
pub use notes::{NotesCreate, NotesList, NotesRead};
pub(crate) use reminders::parse_time;
pub use reminders::{Reminders, RemindersCreate, RemindersDone, RemindersList};
