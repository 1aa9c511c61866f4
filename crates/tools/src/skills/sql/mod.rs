//! Skills of the type sql: one guarded statement on a file of the workspace or on a server.

mod change;
mod place;
mod settle;

use self::place::{Target, place, shown};
use super::template::{Mark, Place, Values, check_text, sql};
use super::{Executor, Job};
use crate::error::ToolsError;
use crate::handler::Context;
use crate::sql::{databases, show};
use async_trait::async_trait;
use secrecy::ExposeSecret as _;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::time::Duration;
use steward_core::ports::{Interrupted, ToolScope};
use steward_core::skill::{Skill, SkillKind, SkillSpec, SqlSpec};
use steward_core::tool::{Preview, Settled, ToolError, ToolOutput};
use steward_sandbox::sql::remote::{Answer, Remote, RemoteOptions};
use steward_sandbox::sql::{Guard, Limits, Policy, Rows, SqlError};
use url::Url;

/// Begins the name of a file in the workspace.
const FILE: &str = "sqlite:";
/// Name of the argument that holds the statement where the skill has none.
const STATEMENT: &str = "sql";

/// How often a database is asked what became of a write, and how long between.
const LOOKS: u32 = 8;
const BETWEEN_LOOKS: Duration = Duration::from_secs(1);

/// Runs statements. Each call has a connection of its own, under the guard of its database.
#[derive(Debug, Clone, Copy, Default)]
pub struct SqlExecutor;

fn spec(skill: &Skill) -> Result<&SqlSpec, ToolsError> {
    match &skill.spec {
        SkillSpec::Sql(spec) => Ok(spec),
        _ => Err(ToolsError::refused("this is no sql skill")),
    }
}

fn limits(spec: &SqlSpec, wall: Duration) -> Limits {
    Limits {
        rows: usize::try_from(spec.max_rows).unwrap_or(usize::MAX),
        changes: Some(u64::from(spec.max_changes)),
        wall,
        ..Limits::default()
    }
}

/// Statement and bound values.
fn statement(spec: &SqlSpec, mark: Mark, values: &Values<'_>) -> Result<(String, Vec<Value>), ToolsError> {
    if !spec.statement.trim().is_empty() {
        return sql(&spec.statement, mark, values).map_err(|error| ToolsError::Refused(error.to_string()));
    }
    let free = values.arguments[STATEMENT].as_str().unwrap_or_default();
    Ok((free.to_owned(), Vec::new()))
}

fn mark(url: &str) -> Mark {
    if url.starts_with("postgres") { Mark::Dollar } else { Mark::Plain }
}

fn told(rows: &Rows, limit: u32, sql: &str) -> ToolOutput {
    ToolOutput {
        content: show::rows(rows, usize::try_from(limit).ok()),
        data: Some(json!({
            "columns": rows.columns,
            "count": rows.rows.len(),
            "rows": rows.rows,
            "truncated": rows.truncated,
            "sql": sql,
        })),
        ..ToolOutput::default()
    }
}

#[async_trait]
impl Executor for SqlExecutor {
    fn kind(&self) -> SkillKind {
        SkillKind::Sql
    }

    fn check(&self, skill: &Skill) -> Result<(), String> {
        let spec = spec(skill).map_err(|error| error.to_string())?;
        let names_file = spec.database.starts_with(FILE);
        if !names_file && !spec.database.is_empty() {
            let url = Url::parse(&spec.database).ok().filter(|url| Remote::is_url(url.as_str())).ok_or(
                "config.database: write sqlite:PATH, postgres://HOST/NAME, mysql://HOST/NAME or mariadb://HOST/NAME",
            )?;
            if url.password().is_some() {
                return Err("config.database: keep the password in a credential, not in the skill".to_owned());
            }
        }
        if spec.database.is_empty() && skill.credential.is_none() {
            return Err("config.database: name a database, or a credential that has one".to_owned());
        }
        if spec.statement.trim().is_empty() {
            if !spec.readonly {
                return Err(
                    "config.statement: a skill that writes has a fixed statement with {{placeholders}}".to_owned()
                );
            }
            if skill.parameters["properties"][STATEMENT]["type"] != "string" {
                return Err("config.statement: write one, or give the skill an input `sql` of type string".to_owned());
            }
        }
        check_text(&spec.statement, Place::Sql, &skill.parameters)
            .map_err(|error| format!("config.statement: {error}"))?;
        if !spec.readonly && skill.risk == steward_core::policy::RiskClass::Read {
            return Err("risk: a statement that writes is `write` or `destructive`, not `read`".to_owned());
        }
        Ok(())
    }

    fn looks(&self, skill: &Skill) -> bool {
        spec(skill).is_ok_and(|spec| !spec.readonly)
    }

    async fn preview(&self, skill: &Skill, arguments: &Value, _: &ToolScope) -> Preview {
        let Ok(spec) = spec(skill) else {
            return Preview::default();
        };
        let values = Values::shown(skill, arguments);
        let place = shown(spec);
        Preview {
            summary: if spec.readonly {
                format!("asks {place}; changes nothing")
            } else {
                format!("changes rows of {place}, at most {}", spec.max_changes)
            },
            detail: Some(change::statement_of(spec, &values)),
            count: None,
            reversible: spec.readonly,
        }
    }

    async fn look(&self, job: Job<'_>, scope: &ToolScope) -> Preview {
        let Ok(spec) = spec(job.skill) else {
            return Preview::default();
        };
        let statement = change::statement_of(spec, &Values::shown(job.skill, job.arguments));
        let wall = change::TRY.min(Duration::from_millis(job.skill.limits.timeout_ms));
        let told = carry_out(spec, job, scope, wall).await;
        change::preview(spec, statement, told)
    }

    async fn run(&self, job: Job<'_>, context: &Context) -> Result<ToolOutput, ToolError> {
        let spec = spec(job.skill)?;
        if !spec.readonly {
            return Ok(change::make(spec, job, context).await?);
        }
        let work = carry_out(spec, job, &context.scope, context.left());
        let (answer, sql) = tokio::select! {
            answer = work => answer?,
            // Dropping the connection ends the statement.
            () = context.halt() => return Err(ToolsError::refused("stopped").into()),
        };
        let answer = answer.map_err(|error| ToolsError::Refused(error.to_string()))?;
        Ok(match answer {
            Answer::Rows(rows) => told(&rows, spec.max_rows, &sql),
            Answer::Changed(changes) => change::output(spec, job.skill, *changes, &sql),
        })
    }

    async fn settle(&self, job: Job<'_>, call: &Interrupted, scope: &ToolScope) -> Settled {
        let spec = match spec(job.skill) {
            Ok(spec) => spec,
            Err(error) => return Settled::Unknown(error.to_string()),
        };
        let mut tries = 1;
        loop {
            match settle::look(spec, job, call, scope).await {
                Ok(settled) => return settled,
                // Others may hold a lock, and a server may come up after us.
                Err(_) if tries < LOOKS => tries += 1,
                Err(error) => return Settled::Unknown(error.to_string()),
            }
            tokio::time::sleep(BETWEEN_LOOKS).await;
        }
    }

    async fn undo(&self, job: Job<'_>, snapshot: &Value, scope: &ToolScope) -> Result<String, ToolError> {
        let spec = spec(job.skill)?;
        let snapshot = change::snapshot(snapshot)?;
        let wall = Duration::from_millis(job.skill.limits.timeout_ms);
        let done = match place(spec, job.secret)? {
            Target::File(path) => {
                let (real, policy) = file(spec, &path, scope, wall)?;
                blocking(move || Guard::put_back(&real, policy, &snapshot)).await?
            }
            Target::Server(url) => {
                let options = options(spec, wall);
                // The work stays on one thread: it is written once for files and servers, and a file can't change
                // threads.
                let runtime = tokio::runtime::Handle::current();
                let work = move || {
                    runtime.block_on(async {
                        let mut remote = Remote::connect(url.expose_secret(), options).await?;
                        let done = remote.put_back(&snapshot).await;
                        remote.close().await;
                        done
                    })
                };
                blocking(work).await?
            }
        };
        let count = done.map_err(change::not_undone)?;
        if count == 0 {
            let place = shown(spec);
            return Ok(format!("the rows of {place} are as they were before already"));
        }
        Ok(format!("{count} changes of rows of {} undone", shown(spec)))
    }
}

fn options(spec: &SqlSpec, wall: Duration) -> RemoteOptions {
    RemoteOptions { limits: limits(spec, wall), write: !spec.readonly }
}

/// The real path of a file, and what may be done with it.
fn file(spec: &SqlSpec, path: &str, scope: &ToolScope, wall: Duration) -> Result<(PathBuf, Policy), ToolsError> {
    let real = databases::resolve(&scope.workspace, path).map_err(ToolsError::Refused)?;
    let policy = Policy { limits: limits(spec, wall), ..Policy::careful() };
    Ok((real, policy))
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, SqlError> + Send + 'static,
) -> Result<Result<T, SqlError>, ToolsError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|error| ToolsError::Refused(format!("the statement broke off: {error}")))
}

/// Runs the statement of a call that only reads, or tries one that writes; with the statement as it was sent.
async fn carry_out(
    spec: &SqlSpec,
    job: Job<'_>,
    scope: &ToolScope,
    wall: Duration,
) -> Result<(Result<Answer, SqlError>, String), ToolsError> {
    let values = Values::of(job);
    let url = match place(spec, job.secret)? {
        Target::File(path) => {
            let (sql, bound) = statement(spec, Mark::Numbered, &values)?;
            let (real, policy) = file(spec, &path, scope, wall)?;
            let (asked, writes) = (sql.clone(), !spec.readonly);
            let answer = blocking(move || {
                if writes {
                    Guard::open_for_writing(&real, policy)?.change(&asked, &bound, false)
                } else {
                    let guard = Guard::open(&real, policy)?;
                    guard.query_with(&asked, &bound).map(Answer::Rows)
                }
            });
            return Ok((answer.await?, sql));
        }
        Target::Server(url) => url,
    };
    let (sql, bound) = statement(spec, mark(url.expose_secret()), &values)?;
    let work = async {
        let mut remote = Remote::connect(url.expose_secret(), options(spec, wall)).await?;
        let answer = if spec.readonly { remote.run(&sql, &bound).await } else { remote.preview(&sql, &bound).await };
        remote.close().await;
        answer
    };
    let answer = work.await;
    Ok((answer, sql))
}
