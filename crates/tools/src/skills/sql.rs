mod write;

use super::template::{BindStyle, TemplateUse, Values, check_text, sql};
use super::{Executor, SkillCall};
use crate::error::{ToolsError, refused};
use crate::handler::Context;
use crate::skills::executor::spec_of;
use crate::sql::{databases, server_url, show};
use async_trait::async_trait;
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::time::Duration;
use steward_core::ports::{Interrupted, OpenedCredential, ToolScope};
use steward_core::skill::{Skill, SkillKind, SqlSpec};
use steward_core::tool::{Preview, Settled, ToolOutput};
use steward_sandbox::sql::remote::{Answer, Remote, RemoteOptions};
use steward_sandbox::sql::{Guard, Limits, Policy, Rows, SqlError};
use url::Url;

const SQLITE_PREFIX: &str = "sqlite:";
/// Argument that holds the statement where the skill has none.
const STATEMENT_ARGUMENT: &str = "sql";

/// How often a database is asked for the outcome of a write, and how long to wait between.
const OUTCOME_CHECKS: u32 = 8;
const CHECK_INTERVAL: Duration = Duration::from_secs(1);

#[derive(Debug, Clone, Copy, Default)]
pub struct SqlExecutor;

spec_of!(Sql, SqlSpec, "sql");

fn limits(spec: &SqlSpec, wall: Duration) -> Limits {
    Limits {
        rows: usize::try_from(spec.max_rows).unwrap_or(usize::MAX),
        changes: Some(u64::from(spec.max_changes)),
        wall,
        ..Limits::default()
    }
}

fn statement(spec: &SqlSpec, mark: BindStyle, values: &Values<'_>) -> Result<(String, Vec<Value>), ToolsError> {
    if !spec.statement.trim().is_empty() {
        return sql(&spec.statement, mark, values).map_err(|error| ToolsError::Refused(error.to_string()));
    }
    let free = values.arguments[STATEMENT_ARGUMENT].as_str().unwrap_or_default();
    Ok((free.to_owned(), Vec::new()))
}

fn bind_style(url: &str) -> BindStyle {
    if url.starts_with("postgres") { BindStyle::Dollar } else { BindStyle::Plain }
}

fn rows_output(rows: &Rows, limit: u32, sql: &str) -> ToolOutput {
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
        let names_file = spec.database.starts_with(SQLITE_PREFIX);
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
            if skill.parameters["properties"][STATEMENT_ARGUMENT]["type"] != "string" {
                return Err("config.statement: write one, or give the skill an input `sql` of type string".to_owned());
            }
        }
        check_text(&spec.statement, TemplateUse::Sql, &skill.parameters)
            .map_err(|error| format!("config.statement: {error}"))?;
        if !spec.readonly && skill.risk == steward_core::policy::RiskClass::Read {
            return Err("risk: a statement that writes is `write` or `destructive`, not `read`".to_owned());
        }
        Ok(())
    }

    fn has_dry_run(&self, skill: &Skill) -> bool {
        spec(skill).is_ok_and(|spec| !spec.readonly)
    }

    async fn preview(&self, skill: &Skill, arguments: &Value, _: &ToolScope) -> Result<Preview, ToolsError> {
        let spec = spec(skill)?;
        let values = Values::shown(skill, arguments);
        let place = database_text(spec);
        Ok(Preview {
            summary: if spec.readonly {
                format!("asks {place}; changes nothing")
            } else {
                format!("changes rows of {place}, at most {}", spec.max_changes)
            },
            detail: Some(write::statement_of(spec, &values)),
            count: None,
            reversible: spec.readonly,
        })
    }

    async fn dry_run(&self, job: SkillCall<'_>, scope: &ToolScope) -> Result<Preview, ToolsError> {
        let spec = spec(job.skill)?;
        let statement = write::statement_of(spec, &Values::shown(job.skill, job.arguments));
        let wall = write::DRY_RUN.min(Duration::from_millis(job.skill.limits.timeout_ms));
        let told = carry_out(spec, job, scope, wall).await;
        Ok(write::preview(spec, statement, told))
    }

    async fn run(&self, job: SkillCall<'_>, context: &Context) -> Result<ToolOutput, ToolsError> {
        let spec = spec(job.skill)?;
        if !spec.readonly {
            return write::run_write(spec, job, context).await;
        }
        let work = carry_out(spec, job, &context.scope, context.left());
        let (answer, sql) = tokio::select! {
            answer = work => answer?,
            // Dropping the connection ends the statement.
            () = context.halt() => return Err(ToolsError::refused("stopped")),
        };
        let answer = answer.map_err(|error| ToolsError::Refused(error.to_string()))?;
        Ok(match answer {
            Answer::Rows(rows) => rows_output(&rows, spec.max_rows, &sql),
            Answer::Changed(changes) => write::output(spec, job.skill, *changes, &sql),
        })
    }

    async fn settle(&self, job: SkillCall<'_>, call: &Interrupted, scope: &ToolScope) -> Settled {
        let spec = match spec(job.skill) {
            Ok(spec) => spec,
            Err(error) => return Settled::Unknown(error.to_string()),
        };
        let mut tries = 1;
        loop {
            match write::find_outcome(spec, job, call, scope).await {
                Ok(settled) => return settled,
                // Others may hold a lock, and a server may start later than we do.
                Err(_) if tries < OUTCOME_CHECKS => tries += 1,
                Err(error) => return Settled::Unknown(error.to_string()),
            }
            tokio::time::sleep(CHECK_INTERVAL).await;
        }
    }

    async fn undo(&self, job: SkillCall<'_>, snapshot: &Value, scope: &ToolScope) -> Result<String, ToolsError> {
        let spec = spec(job.skill)?;
        let snapshot = write::snapshot(snapshot)?;
        let wall = Duration::from_millis(job.skill.limits.timeout_ms);
        let done = match database_of(spec, job.secret)? {
            Database::File(path) => {
                let (real, policy) = file_and_policy(spec, &path, scope, wall)?;
                blocking(move || Guard::put_back(&real, policy, &snapshot)).await?
            }
            Database::Server(url) => {
                let options = options(spec, wall);
                // On one thread: the work is written once for files and servers, and a file can't change threads.
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
        let count = done.map_err(write::not_undone)?;
        if count == 0 {
            let place = database_text(spec);
            return Ok(format!("the rows of {place} are as they were before already"));
        }
        Ok(format!("{count} changes of rows of {} undone", database_text(spec)))
    }
}

fn options(spec: &SqlSpec, wall: Duration) -> RemoteOptions {
    RemoteOptions { limits: limits(spec, wall), write: !spec.readonly }
}

fn file_and_policy(
    spec: &SqlSpec,
    path: &str,
    scope: &ToolScope,
    wall: Duration,
) -> Result<(PathBuf, Policy), ToolsError> {
    let real = databases::resolve(&scope.workspace, path).map_err(ToolsError::Refused)?;
    let policy = Policy { limits: limits(spec, wall), ..Policy::careful() };
    Ok((real, policy))
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, SqlError> + Send + 'static,
) -> Result<Result<T, SqlError>, ToolsError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|error| refused!("the statement broke off: {error}"))
}

/// Runs a read-only statement, or makes a dry run of one that writes. Also returns the statement as it was sent.
async fn carry_out(
    spec: &SqlSpec,
    job: SkillCall<'_>,
    scope: &ToolScope,
    wall: Duration,
) -> Result<(Result<Answer, SqlError>, String), ToolsError> {
    let values = Values::of(job);
    let url = match database_of(spec, job.secret)? {
        Database::File(path) => {
            let (sql, bound) = statement(spec, BindStyle::Numbered, &values)?;
            let (real, policy) = file_and_policy(spec, &path, scope, wall)?;
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
        Database::Server(url) => url,
    };
    let (sql, bound) = statement(spec, bind_style(url.expose_secret()), &values)?;
    let work = async {
        let mut remote = Remote::connect(url.expose_secret(), options(spec, wall)).await?;
        let answer = if spec.readonly { remote.run(&sql, &bound).await } else { remote.preview(&sql, &bound).await };
        remote.close().await;
        answer
    };
    let answer = work.await;
    Ok((answer, sql))
}

pub(super) enum Database {
    File(String),
    Server(SecretString),
}

/// The database of a call: the skill's own, with the credential's login if it has one, or the credential's.
pub(super) fn database_of(spec: &SqlSpec, secret: Option<&OpenedCredential>) -> Result<Database, ToolsError> {
    if let Some(path) = spec.database.strip_prefix(SQLITE_PREFIX) {
        return Ok(Database::File(path.to_owned()));
    }
    let field = |name: &str| {
        let fields = &secret?.fields;
        fields.get(name).map(|value| value.expose_secret().to_owned())
    };
    if spec.database.is_empty()
        && let Some(url) = field("url")
    {
        if let Some(path) = url.strip_prefix(SQLITE_PREFIX) {
            return Ok(Database::File(path.to_owned()));
        }
        if !Remote::is_url(&url) {
            return Err(ToolsError::refused(
                "the credential's `url` is none of sqlite:PATH, postgres://, mysql:// and mariadb://; correct the credential",
            ));
        }
        return Ok(Database::Server(url.into()));
    }
    let text = if spec.database.is_empty() {
        let need = |name: &str| {
            field(name).ok_or_else(|| {
                refused!("neither the skill names a database nor the credential a `url` or `{name}`; name one")
            })
        };
        let port = field("port").map(|port| format!(":{port}")).unwrap_or_default();
        format!("{}://{}{port}/{}", need("engine")?, need("host")?, need("database")?)
    } else {
        spec.database.clone()
    };
    server_url(&text, secret).map(Database::Server).map_err(ToolsError::Refused)
}

pub(super) fn without_user(url: &str) -> String {
    Url::parse(url).map_or_else(
        |_| String::new(),
        |mut url| {
            let _ = url.set_username("");
            let _ = url.set_password(None);
            url.to_string()
        },
    )
}

pub(super) fn database_text(spec: &SqlSpec) -> String {
    if spec.database.is_empty() {
        return "the credential's database".to_owned();
    }
    match Url::parse(&spec.database) {
        Ok(url) if Remote::is_url(url.as_str()) => without_user(&spec.database),
        _ => spec.database.clone(),
    }
}
