mod called;
mod change;
mod powers;
mod put_back;
mod shape;
mod values;

use std::time::Duration;

use futures_util::TryStreamExt as _;
use serde_json::Value;
use sqlx::postgres::{PgArguments, PgConnectOptions, PgDatabaseError};
use sqlx::query::Query;
use sqlx::{
    AssertSqlSafe, Column as _, ConnectOptions as _, Connection as _, Executor as _, PgConnection, Postgres, Row as _,
    Statement as _,
};

use super::json::{Collector, first_row};
use super::{Answer, Purpose, no_connection, timeout, too_much_power, unbindable};
use crate::sql::change::{Found, Snapshot};
use crate::sql::error::{SqlError, told};
use crate::sql::parsed::Checked;
use crate::sql::policy::Limits;

/// Between two looks at a transaction, and how many there are.
const WAIT: Duration = Duration::from_millis(200);
const WAITS: u32 = 50;

#[derive(Debug)]
pub(super) struct Connection(PgConnection);

impl Connection {
    pub async fn open(url: &str) -> Result<Self, SqlError> {
        let wanted: PgConnectOptions = url.parse().map_err(|e| no_connection(&e))?;
        let mut connection = wanted
            .application_name("steward")
            .statement_cache_capacity(0)
            .disable_statement_logging()
            .connect()
            .await
            .map_err(|e| no_connection(&e))?;
        // Texts are read as they were checked; names mean what they mean to the server, not what the session says.
        let settings = "SET standard_conforming_strings = on; SET client_encoding = 'UTF8'; \
             SET search_path = \"$user\", public; SET lock_timeout = '2s'; SET idle_in_transaction_session_timeout = '60s'; \
             SET DateStyle = 'ISO, YMD'; SET IntervalStyle = 'iso_8601'; SET extra_float_digits = 3";
        let settings = format!("{settings}; {}", called::PREPARE);
        connection.execute(AssertSqlSafe(settings)).await.map_err(|e| no_connection(&e))?;
        let powers = powers::of(&mut connection).await.map_err(|e| no_connection(&e))?;
        if !powers.is_empty() {
            return Err(too_much_power(&powers));
        }
        Ok(Self(connection))
    }

    pub async fn run(
        &mut self,
        checked: &Checked,
        parameters: &[Value],
        limits: &Limits,
        purpose: Purpose,
    ) -> Result<Answer, SqlError> {
        let own = self.begin(checked.writes, limits, Some(checked)).await;
        let answer = match own {
            Ok(None) => self.inside(checked, parameters, limits, purpose).await,
            Ok(Some(function)) => Err(called::refused(&function)),
            Err(error) => Err(error),
        };
        if checked.writes && purpose == Purpose::Hold && answer.is_ok() {
            return answer;
        }
        self.end(checked.writes && purpose == Purpose::Keep, answer, limits).await
    }

    /// By what the server knows the open transaction; none in servers before 13.
    pub async fn transaction(&mut self, limits: &Limits) -> Result<Option<String>, SqlError> {
        let known: Option<bool> =
            sqlx::query_scalar("SELECT to_regprocedure('pg_catalog.pg_current_xact_id()') IS NOT NULL")
                .fetch_one(&mut self.0)
                .await
                .map_err(|e| classify(&e, limits))?;
        if known != Some(true) {
            return Ok(None);
        }
        let id = sqlx::query_scalar("SELECT pg_catalog.pg_current_xact_id()::text").fetch_one(&mut self.0).await;
        id.map(Some).map_err(|e| classify(&e, limits))
    }

    pub async fn commit(&mut self, limits: &Limits) -> Result<(), SqlError> {
        self.end(true, Ok(()), limits).await
    }

    /// What became of a transaction. One that the server still sees at work is waited for: its connection has ended.
    pub async fn became(&mut self, id: &str, limits: &Limits) -> Result<Option<Found>, SqlError> {
        for _ in 0..WAITS {
            let status: Option<String> = sqlx::query_scalar("SELECT pg_catalog.pg_xact_status($1::text::xid8)")
                .bind(id)
                .fetch_one(&mut self.0)
                .await
                .map_err(|e| classify(&e, limits))?;
            match status.as_deref() {
                Some("committed") => return Ok(Some(Found::Done)),
                Some("aborted") => return Ok(Some(Found::NotDone)),
                Some(_) => tokio::time::sleep(WAIT).await,
                None => return Ok(None),
            }
        }
        Ok(None)
    }

    /// Puts the rows of `snapshot` back.
    pub async fn put_back(&mut self, snapshot: &Snapshot, limits: &Limits) -> Result<u64, SqlError> {
        self.begin(true, limits, None).await?;
        let answer = put_back::restore(&mut self.0, snapshot, limits).await;
        self.end(true, answer, limits).await
    }

    /// Opens a transaction; a function of the database's own that the statement could call, if there is one.
    async fn begin(
        &mut self,
        write: bool,
        limits: &Limits,
        checked: Option<&Checked>,
    ) -> Result<Option<String>, SqlError> {
        // What was there before a write is read as of its beginning.
        let mode = if write { "ISOLATION LEVEL REPEATABLE READ READ WRITE" } else { "READ ONLY" };
        let ms = limits.wall.as_millis().clamp(1, 3_600_000);
        let own = checked.and_then(called::look_up).unwrap_or_default();
        let begin = format!("BEGIN TRANSACTION {mode}; SET LOCAL statement_timeout = {ms}; {own}");
        let query = sqlx::raw_sql(AssertSqlSafe(begin));
        let found = query.fetch_optional(&mut self.0).await;
        found.and_then(|row| row.map(|row| row.try_get(0)).transpose()).map_err(|e| classify(&e, limits))
    }

    /// Commits what worked, if it is to be kept.
    async fn end<T>(&mut self, keep: bool, answer: Result<T, SqlError>, limits: &Limits) -> Result<T, SqlError> {
        let end = if keep && answer.is_ok() { "COMMIT" } else { "ROLLBACK" };
        let ended = self.0.execute(end).await.map_err(|e| classify(&e, limits));
        answer.and_then(|answer| ended.map(|_| answer))
    }

    async fn inside(
        &mut self,
        checked: &Checked,
        parameters: &[Value],
        limits: &Limits,
        purpose: Purpose,
    ) -> Result<Answer, SqlError> {
        let error = |e| classify(&e, limits);
        if checked.writes {
            let look = purpose == Purpose::Look;
            let changes = change::change(&mut self.0, checked, parameters, limits, look).await?;
            if look {
                // What would be found only at the end.
                let all = self.0.execute("SET CONSTRAINTS ALL IMMEDIATE").await;
                all.map_err(error)?;
            }
            return Ok(Answer::Changed(Box::new(changes.within(limits)?)));
        }
        let sql = sqlx::SqlSafeStr::into_sql_str(AssertSqlSafe(checked.sql.clone()));
        let prepared = (&mut self.0).prepare(sql).await.map_err(error)?;
        let columns: Vec<String> = prepared.columns().iter().map(|c| c.name().to_owned()).collect();
        if columns.is_empty() {
            return Err(SqlError::Syntax { message: "the query has no columns".to_owned(), hint: None });
        }
        // The server makes the JSON, whatever the types, and says so instead where a row is too large to send. An
        // object, since a function takes no more than 100 arguments; its members' names are not counted.
        let names: Vec<String> = (1..=columns.len()).map(|i| format!("c{i}")).collect();
        let names = names.join(", ");
        let wrapped = format!(
            "SELECT CASE WHEN pg_catalog.octet_length(j) <= {} THEN j END \
             FROM (SELECT pg_catalog.row_to_json(q)::text AS j FROM ({}) AS q({names})) AS r LIMIT {}",
            limits.bytes + names.len() + 4 * columns.len(),
            checked.sql,
            limits.rows + 1
        );
        let query = bind(sqlx::query(AssertSqlSafe(wrapped)), parameters)?.persistent(false);
        let mut rows = query.fetch(&mut self.0);
        let mut collector = Collector::new(columns, limits);
        while let Some(row) = rows.try_next().await.map_err(error)? {
            let text: Option<String> = row.try_get(0).map_err(error)?;
            let text = text.ok_or_else(|| first_row(limits))?;
            let (values, bytes) = values::row(&text).map_err(|e| SqlError::Server(e.to_string()))?;
            if !collector.take(values, bytes)? {
                break;
            }
        }
        Ok(Answer::Rows(collector.rows))
    }

    pub async fn close(self) {
        let _ = self.0.close().await;
    }
}

fn bind<'q>(
    mut query: Query<'q, Postgres, PgArguments>,
    parameters: &[Value],
) -> Result<Query<'q, Postgres, PgArguments>, SqlError> {
    for (at, value) in parameters.iter().enumerate() {
        query = match value {
            Value::Null => query.bind(None::<String>),
            Value::Bool(b) => query.bind(*b),
            Value::String(s) => query.bind(s.clone()),
            Value::Number(n) => match (n.as_i64(), n.as_f64()) {
                (Some(i), _) => query.bind(i),
                (None, Some(f)) => query.bind(f),
                (None, None) => return Err(unbindable(at + 1)),
            },
            Value::Array(_) | Value::Object(_) => return Err(unbindable(at + 1)),
        };
    }
    Ok(query)
}

/// By the classes of SQLSTATE.
fn classify(error: &sqlx::Error, limits: &Limits) -> SqlError {
    let sqlx::Error::Database(server) = error else {
        return no_connection(error);
    };
    let said = server.try_downcast_ref::<PgDatabaseError>();
    let code = said.map_or("", PgDatabaseError::code);
    let message = told(server.message());
    match code {
        "57014" => timeout(limits),
        "42501" | "25006" => SqlError::Denied {
            what: message,
            hint: "Ask for something else, or have it allowed in the database.".to_owned(),
        },
        _ if code.starts_with("54") || code.starts_with("53") => SqlError::Limit { what: message },
        "22003" | "22012" | "22P02" | "22007" | "22008" => SqlError::Syntax { message, hint: None },
        _ if code.starts_with("42") || code.starts_with("22") || code.starts_with("0A") => {
            SqlError::Syntax { hint: said.and_then(PgDatabaseError::hint).map(str::to_owned), message }
        }
        // A lock that was not had in time; another transaction that was first, twice.
        "55P03" | "40001" | "40P01" => SqlError::Busy,
        _ => SqlError::Server(message),
    }
}
