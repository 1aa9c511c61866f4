use super::seconds;
use crate::cli::SandboxSql;
use anyhow::Context;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io::Read;
use std::time::Instant;
use steward_sandbox::sql::remote::{Answer, Remote, RemoteOptions};
use steward_sandbox::sql::{ColumnRef, Guard, Policy, SqlError, Tables, Truncated};

pub(super) async fn run(args: SandboxSql) -> anyhow::Result<Value> {
    let sql = if args.sql == "-" {
        let mut text = String::new();
        std::io::stdin().take(1 << 20).read_to_string(&mut text)?;
        text
    } else {
        args.sql.clone()
    };
    let policy = policy(&args)?;
    let started = Instant::now();
    let answer = if Remote::is_url(&args.database) {
        let options = RemoteOptions { limits: policy.limits, write: args.write };
        remote(&args.database, &sql, options).await
    } else {
        anyhow::ensure!(!args.write, "--write is for servers; a SQLite file is only read here");
        tokio::task::spawn_blocking(move || Guard::open(&args.database, policy).and_then(|guard| guard.query(&sql)))
            .await?
            .map(Answer::Rows)
    };
    let ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    Ok(shown(answer, ms))
}

async fn remote(url: &str, sql: &str, options: RemoteOptions) -> Result<Answer, SqlError> {
    let mut remote = Remote::connect(url, options).await?;
    let answer = remote.run(sql, &[]).await;
    remote.close().await;
    answer
}

fn policy(args: &SandboxSql) -> anyhow::Result<Policy> {
    let mut policy = Policy { deny_sensitive: !args.allow_sensitive, ..Policy::default() };
    let set = |names: &[String]| names.iter().cloned().collect::<BTreeSet<_>>();
    if !args.table.is_empty() {
        policy.tables = Tables::Allow(set(&args.table));
    } else if !args.deny_table.is_empty() {
        policy.tables = Tables::Deny(set(&args.deny_table));
    }
    for name in &args.deny_column {
        let (table, column) = name.split_once('.').context("--deny-column takes TABLE.COLUMN")?;
        policy.deny_columns.insert(ColumnRef { table: table.to_owned(), column: column.to_owned() });
    }
    policy.limits.wall = seconds(args.timeout)?;
    Ok(policy)
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
