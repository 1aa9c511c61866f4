use super::{OwnDatabases, result};
use crate::error::ToolsError;
use crate::facts::{owner_of, snapshot, writable_owner_of};
use crate::handler::{Context, ToolHandler};
use crate::sql::file_work::work_on_own_database;
use crate::sql::show::{row_count, undoable};
use crate::sql::target::not_undone;
use futures::executor::block_on;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use steward_core::agent::KeptFor;
use steward_core::ports::{AgentEditors, Interrupted, ToolScope};
use steward_core::provenance::Provenance;
use steward_core::tool::{DB_QUERY, Preview, Receipt, Settled, ToolOutput, Undo, is_judged_as_reading, truncate};
use steward_sandbox::sql::SqlError;
use steward_sandbox::sql::change::Changes;
use steward_sandbox::sql::private_database::{Mark, Outcome, PrivateDatabase, PrivateUndo};

/// Longest statement.
const WALL: Duration = Duration::from_secs(5);
/// Characters of a statement that a receipt quotes.
const QUOTED: usize = 300;

/// Runs SQL in the agent's private database.
pub struct DbQuery {
    pub databases: OwnDatabases,
    pub editors: Arc<dyn AgentEditors>,
}

#[derive(Debug, Clone, Deserialize)]
pub struct QueryArgs {
    sql: String,
}

#[derive(Debug, Serialize, Deserialize)]
struct Kept {
    /// Whose database it was done in.
    of: KeptFor,
    undo: PrivateUndo,
}

impl DbQuery {
    /// For a statement that only reads, or by who may write.
    async fn database(&self, sql: &str, scope: &ToolScope) -> Result<(KeptFor, PrivateDatabase), ToolsError> {
        let of =
            if is_judged_as_reading(sql) { owner_of(scope)? } else { writable_owner_of(&*self.editors, scope).await? };
        Ok((of, self.databases.of(scope.agent, of)))
    }
}

impl ToolHandler for DbQuery {
    type Args = QueryArgs;
    const NAME: &'static str = DB_QUERY;

    async fn preview(&self, args: QueryArgs, scope: &ToolScope) -> Result<Preview, ToolsError> {
        let (_, database) = self.database(&args.sql, scope).await?;
        let sql = args.sql.clone();
        let tried = work_on_own_database(database.path().to_owned(), move || {
            told(&database, |database| look_or(database, &sql, Mark::default(), false, |_| Ok(())))
        });
        Ok(match tried.await? {
            Outcome::Rows(_) => Preview {
                summary: "asks its own database; changes nothing".to_owned(),
                detail: Some(args.sql),
                count: None,
                reversible: true,
            },
            Outcome::Changed(changes) => Preview {
                summary: format!(
                    "changes {} of its own database; {}",
                    row_count(changes.count),
                    undoable(&changes.undo)
                ),
                detail: Some([vec![args.sql], changes.lines].concat().join("\n")),
                count: Some(changes.count),
                reversible: changes.undo.is_ok(),
            },
            Outcome::Schema(schema) => Preview {
                summary: format!(
                    "{} in its own database; can be undone until it is written to again",
                    schema.change.what
                ),
                detail: Some(args.sql),
                count: Some(1),
                reversible: true,
            },
        })
    }

    async fn run(&self, args: QueryArgs, context: &Context) -> Result<ToolOutput, ToolsError> {
        let (of, database) = self.database(&args.sql, &context.scope).await?;
        let database = database.within(context.left().min(WALL));
        let context = context.clone();
        let done = work_on_own_database(database.path().to_owned(), move || {
            let seen = context.scope.provenance.clone();
            let note = |before: Option<&str>| joined(seen.clone(), before);
            let mark = Mark { key: &context.idempotency_key, note: Some(&note) };
            let stage = |outcome: &Outcome| {
                let output = output(outcome, of, &args.sql);
                let proof = json!({"key": context.idempotency_key});
                block_on(context.stage(&output, proof)).map_err(|error| SqlError::Refused(error.to_string()))
            };
            let done = told(&database, |database| look_or(database, &args.sql, mark, true, stage));
            let error = match done {
                Ok(outcome) => {
                    let mut output = output(&outcome, of, &args.sql);
                    if matches!(outcome, Outcome::Rows(_)) {
                        output.provenance = provenance_of(&database)?;
                    }
                    return Ok(output);
                }
                Err(error) => error,
            };
            // Its words name the tables and columns there are, which may have been made after a text from outside.
            match provenance_of(&database) {
                Ok(provenance) if !provenance.is_empty() => {
                    Ok(ToolOutput { failed: true, provenance, ..ToolOutput::text(error.to_string()) })
                }
                _ => Err(error),
            }
        });
        Ok(done.await?)
    }

    async fn settle(&self, call: Interrupted, scope: &ToolScope) -> Settled {
        if call.staged.is_none() {
            return Settled::NotHappened("nothing had been committed".to_owned());
        }
        let database = match owner_of(scope) {
            Ok(of) => self.databases.of(scope.agent, of),
            Err(error) => return Settled::Unknown(error.to_string()),
        };
        match work_on_own_database(database.path().to_owned(), move || database.has_done(&call.idempotency_key)).await {
            Ok(true) => Settled::Happened("the database has noted this call with the change".to_owned()),
            Ok(false) => Settled::NotHappened("the database has not noted this call".to_owned()),
            Err(error) => Settled::Unknown(error.to_string()),
        }
    }

    async fn undo(&self, value: &Value, scope: &ToolScope) -> Result<String, ToolsError> {
        let kept: Kept = snapshot(value)?;
        if writable_owner_of(&*self.editors, scope).await? != kept.of {
            return Err(ToolsError::NoUndo("it was done in the database of another user".to_owned()));
        }
        let database = self.databases.of(scope.agent, kept.of);
        work_on_own_database(database.path().to_owned(), move || database.undo(&kept.undo)).await.map_err(not_undone)
    }
}

/// What was judged as reading is run where nothing can be written.
fn look_or(
    database: &PrivateDatabase,
    sql: &str,
    mark: Mark<'_>,
    keep: bool,
    before_commit: impl FnOnce(&Outcome) -> Result<(), SqlError>,
) -> Result<Outcome, SqlError> {
    if is_judged_as_reading(sql) {
        database.query(sql).map(Outcome::Rows)
    } else {
        database.run(sql, mark, keep, before_commit)
    }
}

fn output(outcome: &Outcome, of: KeptFor, sql: &str) -> ToolOutput {
    let data = result::of(outcome);
    let output = ToolOutput { data: Some(data.clone()), ..ToolOutput::text(data.to_string()) };
    let (action, what, undo) = match outcome {
        Outcome::Rows(_) => return output,
        Outcome::Changed(changes) => {
            let undo = changes.undo.clone().map(|snapshot| PrivateUndo::Rows { snapshot });
            (done_to_rows(changes), format!("{} of the agent's own database", row_count(changes.count)), undo)
        }
        Outcome::Schema(schema) => {
            let what = &schema.change.what;
            (done_to_tables(what), format!("the agent's own database: {what}"), Ok(schema.undo.clone()))
        }
    };
    let undo = match undo {
        Ok(undo) => Undo::Snapshot { tool: DB_QUERY.to_owned(), snapshot: json!(Kept { of, undo }) },
        Err(reason) => Undo::Impossible { reason },
    };
    let quoted = truncate(sql.trim(), QUOTED).0;
    ToolOutput { receipt: Some(Receipt::new(action, what, Some(quoted))), undo: Some(undo), ..output }
}

/// The word by which a claim of the answer is compared with what was done.
fn done_to_rows(changes: &Changes) -> &'static str {
    let Ok(snapshot) = &changes.undo else { return "updated" };
    if snapshot.rows.iter().all(|row| row.before.is_none()) {
        "inserted"
    } else if snapshot.rows.iter().all(|row| row.after.is_none()) {
        "deleted"
    } else {
        "updated"
    }
}

fn done_to_tables(what: &str) -> &'static str {
    match what.split(' ').next() {
        Some("creates") => "created",
        Some("drops") => "dropped",
        _ => "updated",
    }
}

/// That of all runs which wrote to the database: as it is a whole, so is its provenance.
fn joined(mut seen: Provenance, before: Option<&str>) -> Option<String> {
    seen.join(&before.map(read_note).unwrap_or_default());
    (!seen.is_empty()).then(|| json!(seen).to_string())
}

pub(super) fn provenance_of(database: &PrivateDatabase) -> Result<Provenance, SqlError> {
    Ok(database.note()?.as_deref().map(read_note).unwrap_or_default())
}

/// A note that can't be read has been written by nobody else than us, so what it stands for isn't known: from outside.
fn read_note(note: &str) -> Provenance {
    serde_json::from_str(note).unwrap_or_else(|_| Provenance::from_outside("the agent's own database"))
}

/// Errors in words for the model.
fn told<T>(
    database: &PrivateDatabase,
    work: impl FnOnce(&PrivateDatabase) -> Result<T, SqlError>,
) -> Result<T, SqlError> {
    work(database).map_err(|error| match database.schema() {
        Ok(schema) => SqlError::Refused(result::error_text(&error, &schema)),
        Err(_) => error,
    })
}
