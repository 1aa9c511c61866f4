//! What schedules and webhooks have in common: runs that begin without a person, with the rights that their owner has then.

use crate::app::{Action, App, AppError, AppResult, Caller, ErrorKind, Resource, authorize};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::collections::HashMap;
use steward_core::policy::Origin;
use steward_core::ports::{LoginError, StartedBy, VaultError};
use steward_core::provenance::Provenance;
use steward_core::{AgentId, RunId, UserId};
use steward_engine::StartRun;
use steward_schedule::{Outcome, PauseReason};

/// Longest request, characters.
pub(crate) const MAX_REQUEST: usize = 20_000;
pub(crate) const MAX_FAILURES: u32 = 1_000;

/// Why no run was started.
pub(crate) enum NotStarted {
    /// Another node started it, or a person changed what starts it.
    Settled,
    /// It may be possible in a moment.
    Passing(AppError),
    Refused(PauseReason, AppError),
}

/// A run to start without a person.
pub(crate) struct Unattended {
    pub agent: AgentId,
    pub request: String,
    pub by: StartedBy,
    /// Where the request comes from.
    pub outside: Provenance,
}

impl App {
    /// Who starts what `owner` set up, with the rights that they have now.
    pub(crate) async fn unattended_owner(&self, owner: UserId, origin: Origin) -> Result<Caller, NotStarted> {
        match self.access.identify_owner(owner).await {
            Ok(identity) => Ok(Caller { origin, ..Caller::new(identity, false) }),
            Err(LoginError::Token) => {
                let error = AppError::forbidden("its owner is gone or disabled", "make it anew as somebody else");
                Err(NotStarted::Refused(PauseReason::Owner, error))
            }
            Err(error) => Err(NotStarted::Passing(error.into())),
        }
    }

    pub(crate) async fn start_unattended(&self, owner: &Caller, wanted: Unattended) -> AppResult<RunId> {
        authorize(owner, Action::Ask, Resource::Agents)?;
        self.require_disk_room()?;
        let agent = self.agent_for(owner, Action::Ask, wanted.agent).await?;
        self.check_connection(owner, &agent, None).await?;
        let start = StartRun {
            started_by: Some(wanted.by),
            outside: wanted.outside,
            ..self.run_of_agent(owner, agent, wanted.request)
        };
        Ok(self.runs.start(start).await?)
    }

    pub(crate) async fn owner_name(&self, owner: UserId, known: &mut OwnerNames) -> AppResult<Option<String>> {
        if let Some(name) = known.0.get(&owner) {
            return Ok(name.clone());
        }
        let name = self.access.email(owner).await?;
        known.0.insert(owner, name.clone());
        Ok(name)
    }
}

impl NotStarted {
    pub fn of(error: AppError) -> Self {
        match error.kind {
            ErrorKind::Exhausted | ErrorKind::Unavailable | ErrorKind::StorageFull => Self::Passing(error),
            ErrorKind::Forbidden | ErrorKind::Unauthorized => Self::Refused(PauseReason::Owner, error),
            // It has its fate: the row that the run would have changed isn't open.
            ErrorKind::Conflict if error.detail.code.is_none_or(|code| code == "conflict") => Self::Settled,
            ErrorKind::Conflict | ErrorKind::NotFound | ErrorKind::Invalid | ErrorKind::Internal => {
                Self::Refused(PauseReason::CannotStart, error)
            }
        }
    }
}

/// Email addresses that were looked up.
#[derive(Default)]
pub(crate) struct OwnerNames(HashMap<UserId, Option<String>>);

/// What is kept as JSON, read.
pub(crate) fn read_kept<T: DeserializeOwned>(kept: &Value) -> AppResult<T> {
    T::deserialize(kept).map_err(|error| {
        let title = format!("what is kept of it can't be read: {error}");
        AppError::new(ErrorKind::Internal, title, "set it anew, or delete it")
    })
}

/// As JSON that [`read_kept`] reads back.
pub(crate) fn to_kept(value: &impl Serialize) -> Value {
    json!(value)
}

/// `word`: the `status` of a run's outcome.
pub(crate) fn outcome_of(word: &str) -> Outcome {
    match word {
        "completed" => Outcome::Succeeded,
        "failed" | "limited" => Outcome::Failed,
        _ => Outcome::Cancelled,
    }
}

pub(crate) fn from_vault(error: VaultError) -> AppError {
    AppError::from(error)
}
