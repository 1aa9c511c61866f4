//! Whether a write that a crash cut off has happened: by what the server knows of its transaction, else by the rows that
//! were recorded of it before it was committed (decision 042).

use super::change::snapshot;
use super::place::{Target, place, without_user};
use super::{blocking, file, options};
use crate::error::ToolsError;
use crate::skills::executor::Job;
use crate::skills::undo::snapshot_of;
use secrecy::ExposeSecret as _;
use serde::{Deserialize, Serialize};
use std::time::Duration;
use steward_core::ports::{Interrupted, ToolScope};
use steward_core::skill::SqlSpec;
use steward_core::tool::{Settled, Staged};
use steward_sandbox::sql::change::{Snapshot, WriteState};
use steward_sandbox::sql::remote::Remote;
use steward_sandbox::sql::{Guard, SqlError};

/// What a write tells of itself; its rows stand in its undo record.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Proof {
    /// Which database, whoever asks.
    database: String,
    /// By what the server knows the transaction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transaction: Option<String>,
    /// Why nothing can be told of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub untold: Option<String>,
}

impl Proof {
    pub fn of(database: String) -> Self {
        Self { database, transaction: None, untold: None }
    }

    fn read(staged: &Staged) -> Option<Self> {
        Self::deserialize(&staged.proof).ok()
    }
}

/// Asks the database.
pub(super) async fn look(
    spec: &SqlSpec,
    job: Job<'_>,
    call: &Interrupted,
    scope: &ToolScope,
) -> Result<Settled, ToolsError> {
    let wall = Duration::from_millis(job.skill.limits.timeout_ms);
    let Some(staged) = &call.staged else {
        // Pages may have been written before the commit; what hinders that is told by the call itself.
        if let Target::File(path) = place(spec, job.secret)?
            && let Ok((real, policy)) = file(spec, &path, scope, wall)
        {
            let _ = blocking(move || Guard::roll_back(&real, policy)).await?;
        }
        return Ok(Settled::NotHappened("nothing had been committed".to_owned()));
    };
    let unknown = |why: &str| Ok(Settled::Unknown(why.to_owned()));
    let Some(proof) = Proof::read(staged) else {
        return unknown("what it told can't be read");
    };
    if let Some(why) = &proof.untold {
        return unknown(why);
    }
    let failed = |error: SqlError| ToolsError::Refused(error.to_string());
    let mut remote = None;
    let target = match place(spec, job.secret)? {
        Target::File(path) => {
            let (real, policy) = file(spec, &path, scope, wall)?;
            Ok((real, policy))
        }
        Target::Server(url) => Err(url),
    };
    let here = match &target {
        Ok((real, _)) => real.display().to_string(),
        Err(url) => {
            let open = Remote::connect(url.expose_secret(), options(spec, wall)).await;
            remote = Some(open.map_err(failed)?);
            without_user(url.expose_secret())
        }
    };
    if here != proof.database {
        return unknown("the skill or its credential names another database now");
    }
    if let (Some(id), Some(remote)) = (&proof.transaction, &mut remote) {
        return Ok(match remote.transaction(id).await.map_err(failed)? {
            Some(WriteState::Done) => Settled::Happened(format!("the server has committed its transaction {id}")),
            Some(WriteState::NotDone) => {
                Settled::NotHappened(format!("the server has rolled its transaction {id} back"))
            }
            _ => Settled::Unknown(format!("the server does not know any more what became of its transaction {id}")),
        });
    }
    let Some(rows) = rows_of(staged)? else {
        return unknown("the rows that it changes could not be kept");
    };
    let same =
        call.later.iter().filter(|later| Proof::read(later).is_some_and(|other| other.database == proof.database));
    let later: Option<Vec<Snapshot>> = same.map(rows_of).collect::<Result<_, _>>()?;
    let Some(later) = later else {
        return unknown("another call has changed rows since that could not be kept");
    };
    let found = match (target, remote) {
        (Ok((real, policy)), _) => {
            let looking = blocking(move || Guard::settle(&real, policy, &rows, &later));
            looking.await?.map_err(failed)?
        }
        (Err(_), Some(mut remote)) => {
            let runtime = tokio::runtime::Handle::current();
            // On one thread, as an undo.
            let looking = blocking(move || {
                runtime.block_on(async {
                    let found = remote.settle(&rows, &later).await;
                    remote.close().await;
                    found
                })
            });
            looking.await?.map_err(failed)?
        }
        (Err(_), None) => WriteState::Mixed,
    };
    Ok(match found {
        WriteState::Done => Settled::Happened("its rows are as this call leaves them".to_owned()),
        WriteState::NotDone => Settled::NotHappened("its rows are as they were before".to_owned()),
        WriteState::Mixed => Settled::Unknown(
            "its rows are neither as they were nor as this call leaves them: somebody else has changed them since"
                .to_owned(),
        ),
    })
}

fn rows_of(staged: &Staged) -> Result<Option<Snapshot>, ToolsError> {
    snapshot_of(&staged.output).as_ref().map(snapshot).transpose()
}
