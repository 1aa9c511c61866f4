mod memory;
mod notes;
mod reminders;

pub use memory::{MAX_MEMORY_CHARS, SaveMemory};
pub use notes::{NotesCreate, NotesList, NotesRead};
pub(crate) use reminders::parse_time;
pub use reminders::{Reminders, RemindersCreate, RemindersDone, RemindersList};

use crate::error::{ToolsError, refused};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::sync::Arc;
use steward_core::agent::KeptFor;
use steward_core::ports::{AgentEditors, Facts, ToolScope};
use steward_core::tool::Settled;

/// What agents keep, and who may have an agent keep something for all.
#[derive(Clone)]
pub struct Keeper {
    pub facts: Arc<dyn Facts>,
    pub editors: Arc<dyn AgentEditors>,
}

/// Whose that is which the agent keeps.
pub(crate) fn owner_of(scope: &ToolScope) -> Result<KeptFor, ToolsError> {
    scope.kept_for.ok_or_else(|| {
        ToolsError::refused(
            "an agent keeps things for its users, and no user in particular asked for this run, so there is nothing \
             kept and nothing can be; have a user ask",
        )
    })
}

/// The same where it is changed: what all share, only who may edit the agent changes.
pub(crate) async fn writable_owner_of(editors: &dyn AgentEditors, scope: &ToolScope) -> Result<KeptFor, ToolsError> {
    let of = owner_of(scope)?;
    let may_write = match (of, scope.user) {
        (KeptFor::User(_), _) => true,
        (KeptFor::Everybody, Some(user)) => editors.may_edit(scope.tenant, scope.agent, user).await?,
        (KeptFor::Everybody, None) => false,
    };
    if may_write {
        return Ok(of);
    }
    Err(refused!(
        "all users of this agent share what it keeps, so only somebody who may edit the agent has it keep or change \
         something, and the user of this run may not; nothing was changed"
    ))
}

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
