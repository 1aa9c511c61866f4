//! Statements that write: changes told before and after, kept for undo, and settled after a crash (decision 005).

use super::{
    Database, bind_style, blocking, database_of, database_text, file_and_policy, options, rows_output, statement,
    without_user,
};
use crate::error::{ToolsError, refused};
use crate::handler::Context;
use crate::skills::executor::SkillCall;
use crate::skills::template::{BindStyle, Values};
use crate::skills::undo::snapshot_of;
use futures::executor::block_on;
use secrecy::ExposeSecret as _;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::time::Duration;
use steward_core::ports::{Interrupted, ToolScope};
use steward_core::skill::{Skill, SqlSpec};
use steward_core::tool::{Preview, Receipt, Settled, Staged, ToolOutput, Undo};
use steward_sandbox::sql::change::{Answer, Changes, Snapshot, WriteState};
use steward_sandbox::sql::remote::{HeldWrite, Remote};
use steward_sandbox::sql::{Guard, SqlError};

pub(super) const DRY_RUN: Duration = Duration::from_secs(3);

pub(super) fn statement_of(spec: &SqlSpec, values: &Values<'_>) -> String {
    match statement(spec, BindStyle::Numbered, values) {
        Ok((sql, bound)) if bound.is_empty() => sql,
        Ok((sql, bound)) => format!("{sql}\nwith {}", Value::Array(bound)),
        Err(error) => error.to_string(),
    }
}

pub(super) fn preview(
    spec: &SqlSpec,
    statement: String,
    told: Result<(Result<Answer, SqlError>, String), ToolsError>,
) -> Preview {
    let place = database_text(spec);
    let most = spec.max_changes;
    let untold = |why: String| format!("changes rows of {place}, at most {most}; which ones cannot be told: {why}");
    let (summary, count, reversible, more) = match told {
        Ok((Ok(Answer::Rows(_)), _)) => {
            let summary = format!("asks {place}; changes nothing");
            (summary, None, true, Vec::new())
        }
        Ok((Ok(Answer::Changed(changes)), _)) => {
            let summary = format!("changes {} of {place}; {}", rows(changes.count), undo_text(&changes));
            let reversible = changes.undo.is_ok();
            (summary, Some(changes.count), reversible, lines(&changes))
        }
        Ok((Err(SqlError::NoPreview(why)), _)) => {
            let summary = format!("{}; cannot be undone", untold(why));
            (summary, None, false, Vec::new())
        }
        Ok((Err(error @ (SqlError::Busy | SqlError::Timeout { .. } | SqlError::Connect { .. })), _)) => {
            (untold(error.to_string()), None, false, Vec::new())
        }
        Ok((Err(error), _)) => (format!("would fail: {error}"), None, false, Vec::new()),
        Err(error) => (format!("would fail: {error}"), None, false, Vec::new()),
    };
    let mut detail = vec![statement];
    detail.extend(more);
    Preview { summary, detail: Some(detail.join("\n")), count, reversible }
}

fn lines(changes: &Changes) -> Vec<String> {
    let mut lines = vec![format!(
        "tried in a transaction that was rolled back, for at most {} s, of which at most 2 s for locks of others",
        DRY_RUN.as_secs()
    )];
    lines.extend(changes.notes.iter().cloned());
    lines.extend(changes.lines.iter().cloned());
    let shown = u64::try_from(changes.lines.len()).unwrap_or(u64::MAX);
    match changes.count.saturating_sub(shown) {
        0 => {}
        more if shown > 0 => lines.push(format!("and {more} more")),
        _ => lines.push("the rows themselves can't be shown".to_owned()),
    }
    lines
}

fn rows(count: u64) -> String {
    format!("{count} row{}", if count == 1 { "" } else { "s" })
}

fn undo_text(changes: &Changes) -> String {
    match &changes.undo {
        Ok(_) => "can be undone".to_owned(),
        Err(why) => format!("cannot be undone: {why}"),
    }
}

pub(super) fn output(spec: &SqlSpec, skill: &Skill, changes: Changes, sql: &str) -> ToolOutput {
    let told = undo_text(&changes);
    let count = rows(changes.count);
    let undo = match changes.undo {
        Ok(snapshot) => match serde_json::to_value(snapshot) {
            Ok(snapshot) => Undo::Snapshot { tool: skill.name.clone(), snapshot },
            Err(error) => Undo::Impossible { reason: error.to_string() },
        },
        Err(reason) => Undo::Impossible { reason },
    };
    let mut text = vec![format!("{count} changed; {told}")];
    text.extend(changes.notes);
    ToolOutput {
        data: Some(json!({"changed": changes.count, "sql": sql})),
        receipt: Some(Receipt::new("changed", format!("{count} of {}", database_text(spec)), Some(told))),
        undo: Some(undo),
        ..ToolOutput::text(text.join("\n"))
    }
}

pub(super) async fn run_write(spec: &SqlSpec, job: SkillCall<'_>, context: &Context) -> Result<ToolOutput, ToolsError> {
    let work = async {
        match database_of(spec, job.secret)? {
            Database::File(path) => write_in_file(spec, job, context, &path).await,
            Database::Server(url) => write_on_server(spec, job, context, url.expose_secret()).await,
        }
    };
    tokio::select! {
        done = work => done,
        // Dropping the connection ends the statement: its transaction is not committed.
        () = context.halt() => Err(ToolsError::refused("stopped; nothing was committed")),
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it is what map_err hands over")]
fn refused(error: impl ToString) -> ToolsError {
    ToolsError::Refused(error.to_string())
}

async fn write_in_file(
    spec: &SqlSpec,
    job: SkillCall<'_>,
    context: &Context,
    path: &str,
) -> Result<ToolOutput, ToolsError> {
    let (sql, bound) = statement(spec, BindStyle::Numbered, &Values::of(job))?;
    let (real, policy) = file_and_policy(spec, path, &context.scope, context.left())?;
    let proof = json!(WriteProof::of(real.display().to_string()));
    let (spec, skill, context) = (spec.clone(), job.skill.clone(), context.clone());
    let done = blocking(move || {
        let tell = |changes: &Changes| {
            let output = output(&spec, &skill, changes.clone(), &sql);
            let told = block_on(context.stage(&output, proof));
            told.map_err(|error| SqlError::Refused(error.to_string()))
        };
        let guard = Guard::open_for_writing(&real, policy)?;
        let answer = guard.change_with(&sql, &bound, true, tell)?;
        Ok(match answer {
            Answer::Rows(rows) => rows_output(&rows, spec.max_rows, &sql),
            Answer::Changed(changes) => output(&spec, &skill, *changes, &sql),
        })
    });
    done.await?.map_err(refused)
}

async fn write_on_server(
    spec: &SqlSpec,
    job: SkillCall<'_>,
    context: &Context,
    url: &str,
) -> Result<ToolOutput, ToolsError> {
    let (sql, bound) = statement(spec, bind_style(url), &Values::of(job))?;
    let options = options(spec, context.left());
    let mut remote = Remote::connect(url, options).await.map_err(refused)?;
    let mut proof = WriteProof::of(without_user(url));
    let stage = async |output: &ToolOutput, proof: &WriteProof| {
        let told = context.stage(output, json!(proof)).await;
        told.map_err(refused)
    };
    let answer = match remote.hold(&sql, &bound).await {
        Ok(HeldWrite { answer: Answer::Changed(changes), transaction }) => {
            proof.transaction = transaction;
            let output = output(spec, job.skill, *changes, &sql);
            stage(&output, &proof).await?;
            remote.commit().await.map_err(refused)?;
            remote.close().await;
            return Ok(output);
        }
        Ok(held) => held.answer,
        // It can't run in a transaction, so after a crash only a person can find out whether it happened.
        Err(SqlError::NoPreview(why)) => {
            proof.untold = Some(why);
            stage(&ToolOutput::default(), &proof).await?;
            remote.run(&sql, &bound).await.map_err(refused)?
        }
        Err(error) => return Err(refused(error)),
    };
    remote.close().await;
    Ok(match answer {
        Answer::Rows(rows) => rows_output(&rows, spec.max_rows, &sql),
        Answer::Changed(changes) => output(spec, job.skill, *changes, &sql),
    })
}

pub(super) fn snapshot(kept: &Value) -> Result<Snapshot, ToolsError> {
    Snapshot::deserialize(kept).map_err(|error| ToolsError::NoUndo(format!("the snapshot can't be read: {error}")))
}

pub(super) fn not_undone(error: SqlError) -> ToolsError {
    match error {
        SqlError::Conflict { rows } => {
            ToolsError::ChangedSince { what: rows, hint: "compare with the run's trace and change it by hand" }
        }
        SqlError::NoUndo(why) => ToolsError::NoUndo(why),
        other => refused!("not undone: {other}"),
    }
}

/// What tells after a crash whether a write has happened; its rows are in the undo record.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct WriteProof {
    database: String,
    /// The server's id of the transaction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transaction: Option<String>,
    /// Why the outcome can't be found out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub untold: Option<String>,
}

impl WriteProof {
    pub fn of(database: String) -> Self {
        Self { database, transaction: None, untold: None }
    }

    fn read(staged: &Staged) -> Option<Self> {
        Self::deserialize(&staged.proof).ok()
    }
}

pub(super) async fn find_outcome(
    spec: &SqlSpec,
    job: SkillCall<'_>,
    call: &Interrupted,
    scope: &ToolScope,
) -> Result<Settled, ToolsError> {
    let wall = Duration::from_millis(job.skill.limits.timeout_ms);
    let Some(staged) = &call.staged else {
        // Pages may have been written before the commit. An error is ignored here: the next call reports it.
        if let Database::File(path) = database_of(spec, job.secret)?
            && let Ok((real, policy)) = file_and_policy(spec, &path, scope, wall)
        {
            let _ = blocking(move || Guard::roll_back(&real, policy)).await?;
        }
        return Ok(Settled::NotHappened("nothing had been committed".to_owned()));
    };
    let unknown = |why: &str| Ok(Settled::Unknown(why.to_owned()));
    let Some(proof) = WriteProof::read(staged) else {
        return unknown("what it told can't be read");
    };
    if let Some(why) = &proof.untold {
        return unknown(why);
    }
    let failed = |error: SqlError| ToolsError::Refused(error.to_string());
    let mut remote = None;
    let target = match database_of(spec, job.secret)? {
        Database::File(path) => {
            let (real, policy) = file_and_policy(spec, &path, scope, wall)?;
            Ok((real, policy))
        }
        Database::Server(url) => Err(url),
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
        call.later.iter().filter(|later| WriteProof::read(later).is_some_and(|other| other.database == proof.database));
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
            // On one thread, as for undo.
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
