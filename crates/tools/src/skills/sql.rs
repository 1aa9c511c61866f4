//! Skills of the type sql: one guarded statement on a file of the workspace or on a server (SAFE-3).

use super::template::{Mark, Place, Values, check_text, sql};
use super::{Executor, Job};
use crate::error::ToolsError;
use crate::handler::Context;
use crate::sql::{databases, show};
use async_trait::async_trait;
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::{Value, json};
use std::time::Duration;
use steward_core::ports::{OpenedCredential, ToolScope};
use steward_core::skill::{Skill, SkillKind, SkillSpec, SqlSpec};
use steward_core::tool::{Preview, Receipt, ToolError, ToolOutput, Undo};
use steward_sandbox::sql::remote::{Answer, Remote, RemoteOptions};
use steward_sandbox::sql::{Guard, Limits, Policy, Rows};
use url::Url;

/// Begins the name of a file in the workspace.
const FILE: &str = "sqlite:";
/// Name of the argument that holds the statement where the skill has none.
const STATEMENT: &str = "sql";

/// Runs statements. Each call has a connection of its own, under the guard of its database.
#[derive(Debug, Clone, Copy, Default)]
pub struct SqlExecutor;

/// What a statement runs on.
enum Target {
    File(String),
    Server(SecretString),
}

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
fn statement(
    spec: &SqlSpec,
    mark: Mark,
    values: &Values<'_>,
) -> Result<(String, Vec<Value>), ToolsError> {
    if !spec.statement.trim().is_empty() {
        return sql(&spec.statement, mark, values)
            .map_err(|error| ToolsError::Refused(error.to_string()));
    }
    let free = values.arguments[STATEMENT].as_str().unwrap_or_default();
    Ok((free.to_owned(), Vec::new()))
}

fn mark(url: &str) -> Mark {
    if url.starts_with("postgres") {
        Mark::Dollar
    } else {
        Mark::Plain
    }
}

/// Where a call goes: the skill's own database, with the credential's name and password where it has them, or the
/// credential's.
fn place(spec: &SqlSpec, secret: Option<&OpenedCredential>) -> Result<Target, ToolsError> {
    if let Some(path) = spec.database.strip_prefix(FILE) {
        return Ok(Target::File(path.to_owned()));
    }
    let field = |name: &str| {
        let fields = &secret?.fields;
        fields
            .get(name)
            .map(|value| value.expose_secret().to_owned())
    };
    if spec.database.is_empty()
        && let Some(url) = field("url")
    {
        if !Remote::is_url(&url) {
            return Err(ToolsError::refused(
                "the credential's `url` is none of postgres://, mysql:// and mariadb://; correct the credential",
            ));
        }
        return Ok(Target::Server(url.into()));
    }
    let text = if spec.database.is_empty() {
        let need = |name: &str| {
            field(name).ok_or_else(|| {
                ToolsError::Refused(format!(
                    "neither the skill names a database nor the credential a `url` or `{name}`; name one"
                ))
            })
        };
        let port = field("port")
            .map(|port| format!(":{port}"))
            .unwrap_or_default();
        format!(
            "{}://{}{port}/{}",
            need("engine")?,
            need("host")?,
            need("database")?
        )
    } else {
        spec.database.clone()
    };
    let bad = || {
        ToolsError::Refused(
            "the database is none of sqlite:PATH, postgres://…, mysql://… and mariadb://…; correct the skill"
                .to_owned(),
        )
    };
    let mut url = Url::parse(&text).map_err(|_| bad())?;
    if !Remote::is_url(url.as_str()) {
        return Err(bad());
    }
    if let Some(name) = field("username") {
        url.set_username(&name).map_err(|()| bad())?;
    }
    if let Some(password) = field("password") {
        url.set_password(Some(&password)).map_err(|()| bad())?;
    }
    Ok(Target::Server(url.to_string().into()))
}

/// Where it goes, for people: no name, no password.
fn shown(spec: &SqlSpec) -> String {
    if spec.database.is_empty() {
        return "the credential's database".to_owned();
    }
    match Url::parse(&spec.database) {
        Ok(mut url) if Remote::is_url(url.as_str()) => {
            let _ = url.set_username("");
            let _ = url.set_password(None);
            url.to_string()
        }
        _ => spec.database.clone(),
    }
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
            let url = Url::parse(&spec.database)
                .ok()
                .filter(|url| Remote::is_url(url.as_str()))
                .ok_or("config.database: write sqlite:PATH, postgres://HOST/NAME, mysql://HOST/NAME or mariadb://HOST/NAME")?;
            if url.password().is_some() {
                return Err(
                    "config.database: keep the password in a credential, not in the skill"
                        .to_owned(),
                );
            }
        }
        if spec.database.is_empty() && skill.credential.is_none() {
            return Err(
                "config.database: name a database, or a credential that has one".to_owned(),
            );
        }
        if names_file && !spec.readonly {
            return Err(
                "config.readonly: skills only read SQLite files; use PostgreSQL or MariaDB for one that writes"
                    .to_owned(),
            );
        }
        if spec.statement.trim().is_empty() {
            if !spec.readonly {
                return Err(
                    "config.statement: a skill that writes has a fixed statement with {{placeholders}}".to_owned(),
                );
            }
            if skill.parameters["properties"][STATEMENT]["type"] != "string" {
                return Err(
                    "config.statement: write one, or give the skill an input `sql` of type string"
                        .to_owned(),
                );
            }
        }
        check_text(&spec.statement, Place::Sql, &skill.parameters)
            .map_err(|error| format!("config.statement: {error}"))?;
        if !spec.readonly && skill.risk == steward_core::policy::RiskClass::Read {
            return Err(
                "risk: a statement that writes is `write` or `destructive`, not `read`".to_owned(),
            );
        }
        Ok(())
    }

    async fn preview(&self, skill: &Skill, arguments: &Value, _: &ToolScope) -> Preview {
        let Ok(spec) = spec(skill) else {
            return Preview::default();
        };
        let values = Values::shown(skill, arguments);
        let detail = match statement(spec, Mark::Numbered, &values) {
            Ok((sql, bound)) if bound.is_empty() => sql,
            Ok((sql, bound)) => format!("{sql}\nwith {}", Value::Array(bound)),
            Err(error) => error.to_string(),
        };
        let place = shown(spec);
        Preview {
            summary: if spec.readonly {
                format!("asks {place}; changes nothing")
            } else {
                format!(
                    "changes rows of {place}, at most {}; cannot be undone by Steward",
                    spec.max_changes
                )
            },
            detail: Some(detail),
            count: None,
            reversible: spec.readonly,
        }
    }

    async fn run(&self, job: Job<'_>, context: &Context) -> Result<ToolOutput, ToolError> {
        let spec = spec(job.skill)?;
        let values = Values::of(job);
        let wall = context.left();
        let url = match place(spec, job.secret)? {
            Target::File(path) => return in_file(spec, &values, &path, context).await,
            Target::Server(url) => url,
        };
        let (sql, bound) = statement(spec, mark(url.expose_secret()), &values)?;
        let options = RemoteOptions {
            limits: limits(spec, wall),
            write: !spec.readonly,
        };
        let work = async {
            let mut remote = Remote::connect(url.expose_secret(), options).await?;
            let answer = remote.run(&sql, &bound).await;
            remote.close().await;
            answer
        };
        let answer = tokio::select! {
            answer = work => answer,
            // Dropping the connection ends the statement: its transaction is not committed.
            () = context.halt() => return Err(ToolsError::refused("stopped; nothing was committed").into()),
        };
        match answer.map_err(|error| ToolsError::Refused(error.to_string()))? {
            Answer::Rows(rows) => Ok(told(&rows, spec.max_rows, &sql)),
            Answer::Changed(count) => Ok(ToolOutput {
                data: Some(json!({"changed": count, "sql": sql})),
                receipt: Some(Receipt {
                    action: "changed".to_owned(),
                    object: format!("{count} rows of {}", shown(spec)),
                    evidence: None,
                }),
                undo: Some(Undo::Impossible {
                    reason: "no copy of the rows was kept".to_owned(),
                }),
                ..ToolOutput::text(format!("{count} rows changed"))
            }),
        }
    }
}

async fn in_file(
    spec: &SqlSpec,
    values: &Values<'_>,
    path: &str,
    context: &Context,
) -> Result<ToolOutput, ToolError> {
    let (sql, bound) = statement(spec, Mark::Numbered, values)?;
    let real = databases::resolve(&context.scope.workspace, path).map_err(ToolsError::Refused)?;
    let policy = Policy {
        limits: limits(spec, context.left()),
        ..Policy::careful()
    };
    let asked = sql.clone();
    let rows = tokio::task::spawn_blocking(move || {
        Guard::open(&real, policy).and_then(|guard| guard.query_with(&asked, &bound))
    })
    .await
    .map_err(|error| ToolsError::Refused(format!("the query broke off: {error}")))?
    .map_err(|error| ToolsError::Refused(error.to_string()))?;
    Ok(told(&rows, spec.max_rows, &sql))
}
