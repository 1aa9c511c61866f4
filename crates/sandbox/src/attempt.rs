//! `steward sandbox`: one file or statement, run exactly as a skill runs it, so that any attempt can be tried by hand.

use std::collections::BTreeSet;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::{Args, Subcommand};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::process::Helper;
use crate::python::{PythonConfig, PythonLimits, PythonPool};
use crate::sql::remote::{Answer, Remote, RemoteOptions};
use crate::sql::{ColumnRef, Guard, Policy, SqlError, Tables, Truncated};

/// What to run.
#[derive(Debug, Clone, Subcommand)]
pub enum Attempt {
    /// Call `run(payload)` of a file of Python.
    Python(SandboxPython),
    /// Run one statement on a database.
    Sql(SandboxSql),
}

/// `sandbox python`.
#[derive(Debug, Clone, Args)]
pub struct SandboxPython {
    /// File with `def run(payload)`; `-` reads standard input.
    file: PathBuf,
    /// What `run` is given, as JSON.
    #[arg(long, value_name = "JSON", default_value = "{}", allow_hyphen_values = true)]
    payload: String,
    /// Wall time in seconds, after which it is killed.
    #[arg(long, value_name = "SECONDS", default_value_t = 5.0)]
    timeout: f64,
    /// Memory cap in MiB.
    #[arg(long, value_name = "MIB", default_value_t = 128)]
    memory: u64,
}

/// `sandbox sql`.
#[derive(Debug, Clone, Args)]
pub struct SandboxSql {
    /// SQLite file, or a postgres:// or mysql:// URL.
    #[arg(value_name = "DATABASE")]
    source: String,
    /// One statement; `-` reads standard input.
    #[arg(allow_hyphen_values = true)]
    sql: String,
    /// Allow INSERT, UPDATE and DELETE as well.
    #[arg(long)]
    write: bool,
    /// Wall time in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 2.0)]
    timeout: f64,
    /// Only this table or view may be used; may be given often (SQLite).
    #[arg(long, value_name = "TABLE")]
    table: Vec<String>,
    /// This table or view is closed; may be given often (SQLite).
    #[arg(long, value_name = "TABLE", conflicts_with = "table")]
    deny_table: Vec<String>,
    /// This column is closed; may be given often (SQLite).
    #[arg(long, value_name = "TABLE.COLUMN")]
    deny_column: Vec<String>,
    /// Open tables and columns in spite of names such as `tokens` or `password` (SQLite).
    #[arg(long)]
    allow_sensitive: bool,
}

impl Attempt {
    /// Answers with one JSON object, whatever was asked for.
    pub async fn run(self, helper: Helper, python: PythonConfig) -> Value {
        let answer = match self {
            Self::Python(args) => args.run(PythonPool::new(helper, python)).await,
            Self::Sql(args) => args.run().await,
        };
        answer.unwrap_or_else(|why| {
            let error = json!({"kind": "input", "message": why});
            json!({"ok": false, "error": error, "outcome": "error"})
        })
    }
}

/// The whole file, or at most 1 MiB of standard input.
fn read(file: &Path) -> Result<String, String> {
    let bytes = if file == Path::new("-") {
        let mut bytes = Vec::new();
        std::io::stdin().take(1 << 20).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
        bytes
    } else {
        std::fs::read(file).map_err(|error| format!("cannot read {}: {error}", file.display()))?
    };
    String::from_utf8(bytes).map_err(|error| format!("{} is no UTF-8 text: {error}", file.display()))
}

fn seconds(given: f64) -> Result<Duration, String> {
    Duration::try_from_secs_f64(given)
        .ok()
        .filter(|wall| !wall.is_zero() && *wall <= Duration::from_hours(1))
        .ok_or_else(|| "--timeout must be above 0 and at most 3600 seconds".to_owned())
}

impl SandboxPython {
    async fn run(self, pool: PythonPool) -> Result<Value, String> {
        let code = read(&self.file)?;
        let payload: Value =
            serde_json::from_str(&self.payload).map_err(|error| format!("the payload is no JSON: {error}"))?;
        let limits = PythonLimits {
            wall: seconds(self.timeout)?,
            memory_bytes: self.memory.clamp(1, 64 << 10) << 20,
            ..PythonLimits::default()
        };
        let outcome = match pool.run(&code, &payload, &limits, &CancellationToken::new()).await {
            Ok(outcome) => outcome,
            Err(error) => {
                let error = json!({"kind": "unavailable", "message": error.to_string()});
                return Ok(json!({"ok": false, "outcome": "unavailable", "error": error}));
            }
        };
        let mut answer = json!({
            "ok": outcome.result.is_ok(),
            "outcome": outcome.word(),
            "stdout": outcome.stdout,
            "stderr": outcome.stderr,
            "truncated": outcome.truncated,
            "ms": outcome.ms,
            "tier": outcome.tier,
        });
        match outcome.result {
            Ok(result) => answer["result"] = result,
            Err(fault) => answer["error"] = json!(fault),
        }
        Ok(answer)
    }
}

impl SandboxSql {
    async fn run(self) -> Result<Value, String> {
        let sql = if self.sql == "-" { read(Path::new("-"))? } else { self.sql.clone() };
        let policy = self.policy()?;
        let started = Instant::now();
        let answer = if Remote::is_url(&self.source) {
            let options = RemoteOptions { limits: policy.limits, write: self.write };
            remote(&self.source, &sql, options).await
        } else if self.write {
            return Err("--write is for servers; a SQLite file is only read here".to_owned());
        } else {
            let given = PathBuf::from(&self.source);
            let file = given.canonicalize().unwrap_or(given);
            let query = move || Guard::open(&file, policy).and_then(|guard| guard.query(&sql));
            tokio::task::spawn_blocking(query).await.map_err(|error| error.to_string())?.map(Answer::Rows)
        };
        let ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        Ok(shown(answer, ms))
    }

    fn policy(&self) -> Result<Policy, String> {
        let mut policy = Policy { deny_sensitive: !self.allow_sensitive, ..Policy::default() };
        let set = |names: &[String]| names.iter().cloned().collect::<BTreeSet<_>>();
        if !self.table.is_empty() {
            policy.tables = Tables::Allow(set(&self.table));
        } else if !self.deny_table.is_empty() {
            policy.tables = Tables::Deny(set(&self.deny_table));
        }
        for name in &self.deny_column {
            let (table, column) = name.split_once('.').ok_or("--deny-column takes TABLE.COLUMN")?;
            policy.deny_columns.insert(ColumnRef { table: table.to_owned(), column: column.to_owned() });
        }
        policy.limits.wall = seconds(self.timeout)?;
        Ok(policy)
    }
}

async fn remote(url: &str, sql: &str, options: RemoteOptions) -> Result<Answer, SqlError> {
    let mut remote = Remote::connect(url, options).await?;
    let answer = remote.run(sql, &[]).await;
    remote.close().await;
    answer
}

fn shown(answer: Result<Answer, SqlError>, ms: u64) -> Value {
    match answer {
        Ok(Answer::Changed(changes)) => {
            let result = json!({"changed": changes.count, "rows": changes.lines});
            json!({"ok": true, "result": result, "outcome": "ok", "ms": ms})
        }
        Ok(Answer::Rows(rows)) => {
            let outcome = match rows.truncated {
                None => "ok",
                Some(Truncated::Rows) => "rowcap",
                Some(Truncated::Bytes) => "bytecap",
            };
            json!({"ok": true, "result": rows, "outcome": outcome, "ms": ms})
        }
        Err(error) => {
            let outcome = match &error {
                SqlError::Denied { .. } => "deny",
                SqlError::Timeout { .. } => "timeout",
                SqlError::Limit { .. } => "limit",
                _ => "error",
            };
            let error = json!({"kind": error.code(), "message": error.to_string()});
            json!({"ok": false, "error": error, "outcome": outcome, "ms": ms})
        }
    }
}
