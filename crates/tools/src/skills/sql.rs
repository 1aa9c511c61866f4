mod write;

use super::template::{TemplateError, TemplateUse, Values, check_text, sql};
use super::{Executor, SkillCall};
use crate::error::ToolsError;
use crate::facts::snapshot as snapshot_as;
use crate::handler::Context;
use crate::skills::executor::spec_of;
use crate::sql::file_work::work_on_file;
use crate::sql::target::{DatabaseKind, SQLITE_PREFIX, Target, not_undone, server_url};
use crate::sql::{databases, show};
use async_trait::async_trait;
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::Value;
use std::time::Duration;
use steward_core::ports::{Interrupted, OpenedCredential, ToolScope};
use steward_core::provenance::Provenance;
use steward_core::skill::{Skill, SkillKind, SqlSpec};
use steward_core::tool::{Preview, Settled, ToolOutput};
use steward_sandbox::sql::remote::{Answer, OnBehalfOf, Remote, RemoteOptions};
use steward_sandbox::sql::{Guard, Limits, Policy, SqlError};
use url::Url;

/// Argument that holds the statement where the skill has none.
const STATEMENT_ARGUMENT: &str = "sql";

/// How often a database is asked for the outcome of a write, and how long to wait between.
const OUTCOME_CHECKS: u32 = 8;
const CHECK_INTERVAL: Duration = Duration::from_secs(1);

#[derive(Debug, Clone, Copy, Default)]
pub struct SqlExecutor;

spec_of!(Sql, SqlSpec, "sql");

impl From<TemplateError> for SqlError {
    fn from(error: TemplateError) -> Self {
        Self::Refused(error.to_string())
    }
}

fn statement(spec: &SqlSpec, kind: DatabaseKind, values: &Values<'_>) -> Result<(String, Vec<Value>), TemplateError> {
    if !spec.statement.trim().is_empty() {
        return sql(&spec.statement, kind, values);
    }
    let free = values.arguments[STATEMENT_ARGUMENT].as_str().unwrap_or_default();
    Ok((free.to_owned(), Vec::new()))
}

/// The file of the workspace that is the database.
fn files_of(spec: &SqlSpec) -> Vec<String> {
    spec.database.strip_prefix(SQLITE_PREFIX).map(str::to_owned).into_iter().collect()
}

fn answer_output(spec: &SqlSpec, skill: &Skill, answer: Answer, sql: &str) -> ToolOutput {
    match answer {
        Answer::Rows(rows) => {
            let words: Vec<String> = show::columns_with_words(&rows).map(str::to_owned).collect();
            // Numbers, times and ids say nothing, wherever they are from.
            let reads = if words.is_empty() { Vec::new() } else { files_of(spec) };
            let untrusted = words.iter().filter(|_| !spec.trusted);
            let provenance = untrusted.map(|column| format!("{}, {column}", database_text(spec))).collect();
            let output = show::output(&rows, usize::try_from(spec.max_rows).ok(), sql);
            ToolOutput { provenance, reads, ..output }
        }
        Answer::Changed(changes) => write::output(spec, skill, *changes, sql),
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
        Ok(write::preview(spec, statement, told.map(|(answer, _)| answer)))
    }

    async fn run(&self, job: SkillCall<'_>, context: &Context) -> Result<ToolOutput, ToolsError> {
        let spec = spec(job.skill)?;
        if !spec.readonly {
            return write::run_write(spec, job, context).await;
        }
        let work = carry_out(spec, job, &context.scope, context.left());
        let done = tokio::select! {
            done = work => done,
            // Dropping the connection ends the statement.
            () = context.halt() => return Err(ToolsError::refused("stopped")),
        };
        match done {
            Ok((answer, sql)) => Ok(answer_output(spec, job.skill, answer, &sql)),
            Err(error) if spec.trusted => Err(error.into()),
            // A database may quote a value that it can't work with.
            Err(error) => Ok(ToolOutput {
                failed: true,
                provenance: Provenance::from_outside(&database_text(spec)),
                ..ToolOutput::text(error.to_string())
            }),
        }
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
        let snapshot = snapshot_as(snapshot)?;
        let target = target(spec, job.secret, scope, Duration::from_millis(job.skill.limits.timeout_ms))?;
        let count = target.put_back(snapshot, &OnBehalfOf::default()).await.map_err(not_undone)?;
        if count == 0 {
            return Ok(format!("the rows of {} are as they were before already", database_text(spec)));
        }
        Ok(format!("{count} changes of rows of {} undone", database_text(spec)))
    }
}

/// Runs a read-only statement, or makes a dry run of one that writes. Also returns the statement as it was sent.
async fn carry_out(
    spec: &SqlSpec,
    job: SkillCall<'_>,
    scope: &ToolScope,
    wall: Duration,
) -> Result<(Answer, String), SqlError> {
    let target = target(spec, job.secret, scope, wall)?;
    let (sql, bound) = statement(spec, target.kind(), &Values::of(job))?;
    let readonly = spec.readonly;
    let answer = match target {
        Target::File(path, policy) => {
            let (sql, file) = (sql.clone(), path.clone());
            let work = move || {
                if readonly {
                    Guard::open(&path, policy)?.query_with(&sql, &bound).map(Answer::Rows)
                } else {
                    Guard::open_for_writing(&path, policy)?.change(&sql, &bound, false)
                }
            };
            work_on_file(file, work).await?
        }
        Target::Server(url, options) => {
            let mut remote = Remote::connect(url.expose_secret(), options).await?;
            let answer = if readonly { remote.run(&sql, &bound).await } else { remote.preview(&sql, &bound).await };
            remote.close().await;
            answer?
        }
    };
    Ok((answer, sql))
}

/// The database of a call, with the skill's limits.
fn target(
    spec: &SqlSpec,
    secret: Option<&OpenedCredential>,
    scope: &ToolScope,
    wall: Duration,
) -> Result<Target, SqlError> {
    let limits = Limits {
        rows: usize::try_from(spec.max_rows).unwrap_or(usize::MAX),
        changes: Some(u64::from(spec.max_changes)),
        wall,
        ..Limits::default()
    };
    let address = address(spec, secret).map_err(SqlError::Refused)?;
    let Some(path) = address.expose_secret().strip_prefix(SQLITE_PREFIX) else {
        return Ok(Target::Server(address, RemoteOptions { limits, write: !spec.readonly }));
    };
    let file = databases::resolve(&scope.workspace, path).map_err(SqlError::Refused)?;
    scope.consulted.file(path);
    Ok(Target::File(file, Policy { limits, ..Policy::careful() }))
}

/// The skill's own database, with the credential's login if it has one, or the credential's.
fn address(spec: &SqlSpec, secret: Option<&OpenedCredential>) -> Result<SecretString, String> {
    if spec.database.starts_with(SQLITE_PREFIX) {
        return Ok(spec.database.as_str().into());
    }
    if !spec.database.is_empty() {
        return server_url(&spec.database, secret);
    }
    let field = |name: &str| secret?.fields.get(name).map(SecretString::expose_secret);
    if let Some(url) = field("url") {
        if url.starts_with(SQLITE_PREFIX) || Remote::is_url(url) {
            return Ok(url.into());
        }
        return Err(
            "the credential's `url` is none of sqlite:PATH, postgres://, mysql:// and mariadb://; correct the credential"
                .to_owned(),
        );
    }
    let need = |name: &str| {
        field(name).ok_or_else(|| {
            format!("neither the skill names a database nor the credential a `url` or `{name}`; name one")
        })
    };
    let port = field("port").map(|port| format!(":{port}")).unwrap_or_default();
    server_url(&format!("{}://{}{port}/{}", need("engine")?, need("host")?, need("database")?), secret)
}

fn without_user(url: &str) -> String {
    Url::parse(url).map_or_else(
        |_| String::new(),
        |mut url| {
            let _ = url.set_username("");
            let _ = url.set_password(None);
            url.to_string()
        },
    )
}

fn database_text(spec: &SqlSpec) -> String {
    if spec.database.is_empty() {
        return "the credential's database".to_owned();
    }
    match Url::parse(&spec.database) {
        Ok(url) if Remote::is_url(url.as_str()) => without_user(&spec.database),
        _ => spec.database.clone(),
    }
}
