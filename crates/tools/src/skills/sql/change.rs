//! What a write changes, told before and after, and kept for its undo.

use super::place::{Target, place, shown, without_user};
use super::settle::Proof;
use super::{blocking, file, mark, options, statement, told};
use crate::error::ToolsError;
use crate::handler::Context;
use crate::skills::executor::Job;
use crate::skills::template::{Mark, Values};
use futures::executor::block_on;
use secrecy::ExposeSecret as _;
use serde::Deserialize as _;
use serde_json::{Value, json};
use std::time::Duration;
use steward_core::skill::{Skill, SqlSpec};
use steward_core::tool::{Preview, Receipt, ToolOutput, Undo};
use steward_sandbox::sql::change::{Answer, Changes, Snapshot};
use steward_sandbox::sql::remote::{HeldWrite, Remote};
use steward_sandbox::sql::{Guard, SqlError};

/// Longest trial of a statement.
pub(super) const TRY: Duration = Duration::from_secs(3);

/// The statement and its values, for people.
pub(super) fn statement_of(spec: &SqlSpec, values: &Values<'_>) -> String {
    match statement(spec, Mark::Numbered, values) {
        Ok((sql, bound)) if bound.is_empty() => sql,
        Ok((sql, bound)) => format!("{sql}\nwith {}", Value::Array(bound)),
        Err(error) => error.to_string(),
    }
}

/// What the trial found.
pub(super) fn preview(
    spec: &SqlSpec,
    statement: String,
    told: Result<(Result<Answer, SqlError>, String), ToolsError>,
) -> Preview {
    let place = shown(spec);
    let most = spec.max_changes;
    let untold = |why: String| format!("changes rows of {place}, at most {most}; which ones cannot be told: {why}");
    let (summary, count, reversible, more) = match told {
        Ok((Ok(Answer::Rows(_)), _)) => {
            let summary = format!("asks {place}; changes nothing");
            (summary, None, true, Vec::new())
        }
        Ok((Ok(Answer::Changed(changes)), _)) => {
            let summary = format!("changes {} of {place}; {}", rows(changes.count), undoing(&changes));
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
        TRY.as_secs()
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

fn undoing(changes: &Changes) -> String {
    match &changes.undo {
        Ok(_) => "can be undone".to_owned(),
        Err(why) => format!("cannot be undone: {why}"),
    }
}

/// The result of a write.
pub(super) fn output(spec: &SqlSpec, skill: &Skill, changes: Changes, sql: &str) -> ToolOutput {
    let told = undoing(&changes);
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
        receipt: Some(Receipt {
            action: "changed".to_owned(),
            object: format!("{count} of {}", shown(spec)),
            evidence: Some(told),
        }),
        undo: Some(undo),
        ..ToolOutput::text(text.join("\n"))
    }
}

/// Runs a statement that writes. What it changes is told before it is committed.
pub(super) async fn make(spec: &SqlSpec, job: Job<'_>, context: &Context) -> Result<ToolOutput, ToolsError> {
    let work = async {
        match place(spec, job.secret)? {
            Target::File(path) => make_in_file(spec, job, context, &path).await,
            Target::Server(url) => make_on_server(spec, job, context, url.expose_secret()).await,
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

async fn make_in_file(spec: &SqlSpec, job: Job<'_>, context: &Context, path: &str) -> Result<ToolOutput, ToolsError> {
    let (sql, bound) = statement(spec, Mark::Numbered, &Values::of(job))?;
    let (real, policy) = file(spec, path, &context.scope, context.left())?;
    let proof = json!(Proof::of(real.display().to_string()));
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
            Answer::Rows(rows) => told(&rows, spec.max_rows, &sql),
            Answer::Changed(changes) => output(&spec, &skill, *changes, &sql),
        })
    });
    done.await?.map_err(refused)
}

async fn make_on_server(spec: &SqlSpec, job: Job<'_>, context: &Context, url: &str) -> Result<ToolOutput, ToolsError> {
    let (sql, bound) = statement(spec, mark(url), &Values::of(job))?;
    let options = options(spec, context.left());
    let mut remote = Remote::connect(url, options).await.map_err(refused)?;
    let mut proof = Proof::of(without_user(url));
    let stage = async |output: &ToolOutput, proof: &Proof| {
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
        // It can't be held back, so nothing but a person can tell after a crash.
        Err(SqlError::NoPreview(why)) => {
            proof.untold = Some(why);
            stage(&ToolOutput::default(), &proof).await?;
            remote.run(&sql, &bound).await.map_err(refused)?
        }
        Err(error) => return Err(refused(error)),
    };
    remote.close().await;
    Ok(match answer {
        Answer::Rows(rows) => told(&rows, spec.max_rows, &sql),
        Answer::Changed(changes) => output(spec, job.skill, *changes, &sql),
    })
}

/// The snapshot of [`output`].
pub(super) fn snapshot(kept: &Value) -> Result<Snapshot, ToolsError> {
    Snapshot::deserialize(kept).map_err(|error| ToolsError::NoUndo(format!("the snapshot can't be read: {error}")))
}

pub(super) fn not_undone(error: SqlError) -> ToolsError {
    match error {
        SqlError::Conflict { rows } => {
            ToolsError::ChangedSince { what: rows, hint: "compare with the run's trace and change it by hand" }
        }
        SqlError::NoUndo(why) => ToolsError::NoUndo(why),
        other => ToolsError::Refused(format!("not undone: {other}")),
    }
}
