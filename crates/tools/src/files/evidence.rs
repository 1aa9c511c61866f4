//! Whether a write that a crash cut off has happened. The new content is written in full beside the file before the
//! call says what it is about to do, and only taking the file's place uses it up: while it is there, nothing has
//! happened, whoever changed the file since.

use super::access;
use super::snapshot::{self, State};
use crate::error::ToolsError;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use steward_core::hash;
use steward_core::ports::{Interrupted, ToolScope};
use steward_core::tool::Settled;
use steward_sandbox::files::FilesError;

/// What a write tells of itself.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Proof {
    pub path: String,
    /// Names what waits beside the file.
    pub tag: String,
    /// None: it was not there.
    pub before: Option<State>,
    pub after: State,
    /// It adds to whatever is there.
    pub adds: bool,
}

/// The name of what a call stages.
pub(super) fn tag(idempotency_key: &str) -> String {
    hash::sha256(idempotency_key.as_bytes()).chars().take(24).collect()
}

/// Looks at the file and beside it.
pub(super) async fn settle(call: Interrupted, scope: &ToolScope) -> Settled {
    let Some(staged) = call.staged else {
        return Settled::NotHappened("it had not begun to write".to_owned());
    };
    let scope = scope.clone();
    let looked = access::blocking(move || look(&staged.proof, &scope)).await;
    looked.unwrap_or_else(|error| Settled::Unknown(error.to_string()))
}

fn look(proof: &Value, scope: &ToolScope) -> Result<Settled, ToolsError> {
    let proof = Proof::deserialize(proof)
        .map_err(|error| ToolsError::Refused(format!("what it told can't be read: {error}")))?;
    let Proof { path, tag, .. } = &proof;
    let workspace = access::open(scope)?;
    let now = match snapshot::read_all(&workspace, path) {
        Ok(bytes) => Some(bytes),
        Err(FilesError::NotFound { .. }) => None,
        Err(error) => return Err(access::explain(error)),
    };
    let waiting = workspace.staged(path, tag).map_err(access::explain)?;
    Ok(match (waiting, now) {
        (Some(bytes), now) if State::of(&bytes) == proof.after => {
            if proof.adds || now.as_deref().map(State::of) == proof.before {
                return Ok(Settled::NotHappened(format!("what it was to hold still waits beside {path}")));
            }
            workspace.unstage(path, tag).map_err(access::explain)?;
            Settled::Unknown(format!("{path} was not written, but somebody else has changed it since"))
        }
        (Some(_), _) => Settled::Unknown(format!("what waits beside {path} is not what was written there")),
        (None, Some(bytes)) if proof.after.begins(&bytes) => {
            Settled::Happened(format!("{path} holds what this call wrote, sha256:{}", proof.after.sha256))
        }
        (None, Some(bytes)) if Some(State::of(&bytes)) == proof.before => {
            Settled::Unknown(format!("{path} is as it was before, but what was to take its place is gone"))
        }
        (None, Some(_)) => Settled::Unknown(format!("somebody else has changed {path} since")),
        (None, None) => Settled::Unknown(format!("somebody else has removed {path} since")),
    })
}
