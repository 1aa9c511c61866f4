//! Statements that write: changes told before and after, kept for undo, and settled after a crash (decision 005).

use super::{answer_output, database_text, files_of, statement, target, without_user};
use crate::error::ToolsError;
use crate::facts::snapshot;
use crate::handler::Context;
use crate::skills::executor::SkillCall;
use crate::skills::template::Values;
use crate::skills::undo::snapshot_of;
use crate::sql::file_work::work_on_file;
use crate::sql::show::{row_count, undoable};
use crate::sql::target::{DatabaseKind, Target};
use futures::executor::block_on;
use secrecy::ExposeSecret as _;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::time::Duration;
use steward_core::ports::{Interrupted, ToolScope};
use steward_core::skill::{Skill, SqlSpec};
use steward_core::tool::{Preview, Receipt, Settled, Staged, ToolOutput, Undo};
use steward_sandbox::sql::change::{Answer, Changes, Snapshot, WriteState};
use steward_sandbox::sql::remote::{HeldWrite, Remote, RemoteOptions};
use steward_sandbox::sql::{Guard, Policy, SqlError};

pub(super) const DRY_RUN: Duration = Duration::from_secs(3);

pub(super) fn statement_of(spec: &SqlSpec, values: &Values<'_>) -> String {
    match statement(spec, DatabaseKind::Sqlite, values) {
        Ok((sql, bound)) if bound.is_empty() => sql,
        Ok((sql, bound)) => format!("{sql}\nwith {}", Value::Array(bound)),
        Err(error) => error.to_string(),
    }
}

pub(super) fn preview(spec: &SqlSpec, statement: String, told: Result<Answer, SqlError>) -> Preview {
    let place = database_text(spec);
    let most = spec.max_changes;
    let untold = |why: &str| format!("changes rows of {place}, at most {most}; which ones cannot be told: {why}");
    let mut preview = Preview { detail: Some(statement), ..Preview::default() };
    preview.summary = match told {
        Ok(Answer::Rows(_)) => {
            preview.reversible = true;
            format!("asks {place}; changes nothing")
        }
        Ok(Answer::Changed(changes)) => {
            preview.count = Some(changes.count);
            preview.reversible = changes.undo.is_ok();
            preview.detail = preview.detail.map(|statement| format!("{statement}\n{}", lines(&changes).join("\n")));
            format!("changes {} of {place}; {}", row_count(changes.count), undoable(&changes.undo))
        }
        Err(SqlError::NoPreview(why)) => format!("{}; cannot be undone", untold(&why)),
        Err(error @ (SqlError::Busy | SqlError::Timeout { .. } | SqlError::Connect { .. })) => {
            untold(&error.to_string())
        }
        Err(error) => format!("would fail: {error}"),
    };
    preview
}

fn lines(changes: &Changes) -> Vec<String> {
    let mut lines = vec![format!(
        "tried in a transaction that was rolled back, for at most {} s, of which at most 2 s for locks of others",
        DRY_RUN.as_secs()
    )];
    lines.extend(changes.notes.iter().chain(&changes.lines).cloned());
    let shown = u64::try_from(changes.lines.len()).unwrap_or(u64::MAX);
    match changes.count.saturating_sub(shown) {
        0 => {}
        more if shown > 0 => lines.push(format!("and {more} more")),
        _ => lines.push("the rows themselves can't be shown".to_owned()),
    }
    lines
}

pub(super) fn output(spec: &SqlSpec, skill: &Skill, changes: Changes, sql: &str) -> ToolOutput {
    let told = undoable(&changes.undo);
    let count = row_count(changes.count);
    let undo = match changes.undo {
        Ok(snapshot) => Undo::Snapshot { tool: skill.name.clone(), snapshot: json!(snapshot) },
        Err(reason) => Undo::Impossible { reason },
    };
    let mut text = vec![format!("{count} changed; {told}")];
    text.extend(changes.notes);
    ToolOutput {
        data: Some(json!({"changed": changes.count, "sql": sql})),
        receipt: Some(Receipt::new("changed", format!("{count} of {}", database_text(spec)), Some(told))),
        undo: Some(undo),
        writes: files_of(spec),
        ..ToolOutput::text(text.join("\n"))
    }
}

pub(super) async fn run_write(spec: &SqlSpec, job: SkillCall<'_>, context: &Context) -> Result<ToolOutput, ToolsError> {
    let work = async {
        let target = target(spec, job.secret, &context.scope, context.left())?;
        let (sql, bound) = statement(spec, target.kind(), &Values::of(job))?;
        let proof = WriteProof { database: place(&target), transaction: None, untold: None };
        let write = Write { spec: spec.clone(), skill: job.skill.clone(), context: context.clone(), sql, bound, proof };
        match target {
            Target::File(path, policy) => work_on_file(path.clone(), move || write.in_file(path, policy)).await,
            Target::Server(url, options) => write.on_server(url.expose_secret(), options).await,
        }
    };
    tokio::select! {
        done = work => Ok(done?),
        // Dropping the connection ends the statement: its transaction is not committed.
        () = context.halt() => Err(ToolsError::refused("stopped; nothing was committed")),
    }
}

/// One statement with what it is announced by before it is committed.
struct Write {
    spec: SqlSpec,
    skill: Skill,
    context: Context,
    sql: String,
    bound: Vec<Value>,
    proof: WriteProof,
}

impl Write {
    fn in_file(self, path: PathBuf, policy: Policy) -> Result<ToolOutput, SqlError> {
        let tell = |changes: &Changes| block_on(self.stage(&self.output(changes.clone())));
        let guard = Guard::open_for_writing(path, policy)?;
        let answer = guard.change_with(&self.sql, &self.bound, true, tell)?;
        Ok(answer_output(&self.spec, &self.skill, answer, &self.sql))
    }

    async fn on_server(mut self, url: &str, options: RemoteOptions) -> Result<ToolOutput, SqlError> {
        let mut remote = Remote::connect(url, options).await?;
        let answer = match remote.hold(&self.sql, &self.bound).await {
            Ok(HeldWrite { answer: Answer::Changed(changes), transaction }) => {
                self.proof.transaction = transaction;
                let output = self.output(*changes);
                self.stage(&output).await?;
                remote.commit().await?;
                remote.close().await;
                return Ok(output);
            }
            Ok(held) => held.answer,
            // It can't run in a transaction, so after a crash only a person can find out whether it happened.
            Err(SqlError::NoPreview(why)) => {
                self.proof.untold = Some(why);
                self.stage(&ToolOutput::default()).await?;
                remote.run(&self.sql, &self.bound).await?
            }
            Err(error) => return Err(error),
        };
        remote.close().await;
        Ok(answer_output(&self.spec, &self.skill, answer, &self.sql))
    }

    fn output(&self, changes: Changes) -> ToolOutput {
        output(&self.spec, &self.skill, changes, &self.sql)
    }

    async fn stage(&self, output: &ToolOutput) -> Result<(), SqlError> {
        let staged = self.context.stage(output, json!(self.proof)).await;
        staged.map_err(|error| SqlError::Refused(error.to_string()))
    }
}

/// What tells after a crash whether a write has happened; its rows are in the undo record.
#[derive(Debug, Serialize, Deserialize)]
struct WriteProof {
    database: String,
    /// The server's id of the transaction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    transaction: Option<String>,
    /// Why the outcome can't be found out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    untold: Option<String>,
}

impl WriteProof {
    fn read(staged: &Staged) -> Option<Self> {
        Self::deserialize(&staged.proof).ok()
    }
}

/// What a proof calls a database: its file, or its server without the login.
fn place(target: &Target) -> String {
    match target {
        Target::File(path, _) => path.display().to_string(),
        Target::Server(url, _) => without_user(url.expose_secret()),
    }
}

pub(super) async fn find_outcome(
    spec: &SqlSpec,
    job: SkillCall<'_>,
    call: &Interrupted,
    scope: &ToolScope,
) -> Result<Settled, ToolsError> {
    let target = target(spec, job.secret, scope, Duration::from_millis(job.skill.limits.timeout_ms));
    let Some(staged) = &call.staged else {
        // Pages may have been written before the commit. An error is ignored here: the next call reports it.
        if let Ok(Target::File(path, policy)) = target {
            let _ = work_on_file(path.clone(), move || Guard::roll_back(path, policy)).await;
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
    let target = target?;
    if place(&target) != proof.database {
        return unknown("the skill or its credential names another database now");
    }
    if let Some(id) = &proof.transaction {
        return Ok(match target.transaction(id).await? {
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
    Ok(match target.settle(rows, later).await? {
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
