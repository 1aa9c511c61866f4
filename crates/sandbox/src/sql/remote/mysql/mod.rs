mod change;
mod put_back;
mod shape;
mod values;

use futures_util::TryStreamExt as _;
use serde_json::{Value, json};
use sqlx::mysql::{MySqlArguments, MySqlConnectOptions, MySqlDatabaseError, MySqlRow};
use sqlx::query::Query;
use sqlx::{
    AssertSqlSafe, Column as _, ConnectOptions as _, Connection as _, Executor as _, MySql,
    MySqlConnection, Row as _, TypeInfo as _, ValueRef as _,
};

use super::json::Collector;
use super::{Answer, Purpose, RemoteOptions, no_connection, timeout, too_much_power, unbindable};
use crate::sql::change::Snapshot;
use crate::sql::error::{SqlError, told};
use crate::sql::parsed::Checked;
use crate::sql::policy::Limits;

/// Rights that reach beyond the tables.
const POWERS: &str = "SELECT count(*) FROM information_schema.user_privileges WHERE privilege_type NOT IN \
    ('USAGE', 'SELECT', 'INSERT', 'UPDATE', 'DELETE', 'SHOW VIEW', 'SHOW DATABASES', 'EXECUTE')";

/// Settings of the session, beside the time limit. A backslash is a character like any other, as the guard has read it.
const SETTINGS: &str = "SET SESSION sql_mode = 'STRICT_TRANS_TABLES,ONLY_FULL_GROUP_BY,NO_BACKSLASH_ESCAPES,NO_ENGINE_SUBSTITUTION,ERROR_FOR_DIVISION_BY_ZERO', \
    SESSION lock_wait_timeout = 2, SESSION innodb_lock_wait_timeout = 2, SESSION net_write_timeout = 10, \
    SESSION group_concat_max_len = 1048576";

#[derive(Debug)]
pub(super) struct Connection(
    MySqlConnection,
    /// Whether it has written.
    bool,
);

impl Connection {
    pub async fn open(url: &str, options: &RemoteOptions) -> Result<Self, SqlError> {
        let wanted: MySqlConnectOptions = url.parse().map_err(|e| no_connection(&e))?;
        let mut connection = wanted
            // Statements are not closed one by one: nothing answers that, and what follows would wait for it.
            .statement_cache_capacity(100)
            .disable_statement_logging()
            .connect()
            .await
            .map_err(|e| no_connection(&e))?;
        let failed = |e| no_connection(&e);
        connection.execute(SETTINGS).await.map_err(failed)?;
        let powers: i64 = sqlx::query_scalar(POWERS)
            .fetch_one(&mut connection)
            .await
            .map_err(failed)?;
        if powers > 0 {
            return Err(too_much_power("has rights on the whole server"));
        }
        let version: String = sqlx::query_scalar("SELECT version()")
            .fetch_one(&mut connection)
            .await
            .map_err(failed)?;
        let wall = options.limits.wall;
        let limit = if version.to_lowercase().contains("mariadb") {
            format!("SET SESSION max_statement_time = {}", wall.as_secs_f64())
        } else {
            format!("SET SESSION max_execution_time = {}", wall.as_millis())
        };
        let rows = options.limits.rows + 1;
        let limit = format!("{limit}, SESSION sql_select_limit = {rows}");
        connection
            .execute(AssertSqlSafe(limit))
            .await
            .map_err(failed)?;
        Ok(Self(connection, false))
    }

    pub async fn run(
        &mut self,
        checked: &Checked,
        parameters: &[Value],
        limits: &Limits,
        purpose: Purpose,
    ) -> Result<Answer, SqlError> {
        self.begin(checked.writes, limits).await?;
        let answer = self.inside(checked, parameters, limits, purpose).await;
        self.end(checked.writes && purpose == Purpose::Keep, answer, limits)
            .await
    }

    /// Puts the rows of `snapshot` back.
    pub async fn put_back(
        &mut self,
        snapshot: &Snapshot,
        limits: &Limits,
    ) -> Result<u64, SqlError> {
        self.begin(true, limits).await?;
        let answer = put_back::restore(&mut self.0, snapshot, limits).await;
        self.end(true, answer, limits).await
    }

    async fn begin(&mut self, write: bool, limits: &Limits) -> Result<(), SqlError> {
        if write && std::mem::replace(&mut self.1, true) {
            // Servers have trouble with some statements that are run a second time.
            let cleared = self.0.clear_cached_statements().await;
            cleared.map_err(|e| classify(&e, limits))?;
        }
        // What a write's condition has found stays what it finds.
        let level = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ";
        let begin: &[&'static str] = if write {
            &[level, "START TRANSACTION READ WRITE"]
        } else {
            &["START TRANSACTION READ ONLY"]
        };
        // By the text protocol: servers do not prepare these.
        for sql in begin.iter().copied() {
            let done = sqlx::raw_sql(sql).execute(&mut self.0).await;
            done.map_err(|e| classify(&e, limits))?;
        }
        Ok(())
    }

    /// Commits what worked, if it is to be kept.
    async fn end<T>(
        &mut self,
        keep: bool,
        answer: Result<T, SqlError>,
        limits: &Limits,
    ) -> Result<T, SqlError> {
        let end = if keep && answer.is_ok() {
            "COMMIT"
        } else {
            "ROLLBACK"
        };
        let ended = sqlx::raw_sql(end).execute(&mut self.0).await;
        let ended = ended.map_err(|e| classify(&e, limits));
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
            return Ok(Answer::Changed(Box::new(changes.within(limits)?)));
        }
        let sql = AssertSqlSafe(checked.sql.clone());
        let query = bind(sqlx::query(sql), parameters)?;
        let mut rows = query.fetch(&mut self.0);
        let mut collector: Option<Collector<'_>> = None;
        while let Some(row) = rows.try_next().await.map_err(error)? {
            let into = collector.get_or_insert_with(|| Collector::new(columns(&row), limits));
            let (values, bytes) = values(&row).map_err(error)?;
            if !into.take(values, bytes)? {
                break;
            }
        }
        drop(rows);
        Ok(Answer::Rows(match collector {
            Some(collector) => collector.rows,
            None => Collector::new(Vec::new(), limits).rows,
        }))
    }

    pub async fn close(self) {
        let _ = self.0.close().await;
    }
}

fn columns(row: &MySqlRow) -> Vec<String> {
    row.columns().iter().map(|c| c.name().to_owned()).collect()
}

fn values(row: &MySqlRow) -> Result<(Vec<Value>, usize), sqlx::Error> {
    let mut bytes = 0;
    let mut values = Vec::with_capacity(row.len());
    for at in 0..row.len() {
        let raw = row.try_get_raw(at)?;
        if raw.is_null() {
            values.push(Value::Null);
            bytes += 4;
            continue;
        }
        let kind = raw.type_info().name().to_owned();
        let value = value(row, at, &kind)?;
        bytes += match &value {
            Value::String(text) => text.len(),
            _ => 8,
        };
        values.push(value);
    }
    Ok((values, bytes))
}

fn value(row: &MySqlRow, at: usize, kind: &str) -> Result<Value, sqlx::Error> {
    let bytes = || row.try_get_unchecked::<&[u8], _>(at);
    Ok(match kind {
        "BOOLEAN" | "TINYINT" | "SMALLINT" | "MEDIUMINT" | "INT" | "BIGINT" => {
            json!(row.try_get_unchecked::<i64, _>(at)?)
        }
        kind if kind.ends_with("UNSIGNED") || kind == "YEAR" || kind == "BIT" => {
            json!(row.try_get_unchecked::<u64, _>(at)?)
        }
        "FLOAT" => number(f64::from(row.try_get_unchecked::<f32, _>(at)?)),
        "DOUBLE" => number(row.try_get_unchecked::<f64, _>(at)?),
        "DATE" | "DATETIME" | "TIMESTAMP" => json!(moment(bytes()?, kind == "DATE")),
        "TIME" => json!(span(bytes()?)),
        "BINARY" | "VARBINARY" | "TINYBLOB" | "BLOB" | "MEDIUMBLOB" | "LONGBLOB" | "GEOMETRY" => {
            crate::sql::value::blob(bytes()?)
        }
        _ => json!(String::from_utf8_lossy(bytes()?)),
    })
}

fn number(value: f64) -> Value {
    serde_json::Number::from_f64(value).map_or_else(|| json!(value.to_string()), Value::Number)
}

/// The binary protocol: a length, then year (2 bytes), month, day, hour, minute, second, microseconds (4 bytes), as
/// far as they are not zero.
fn moment(bytes: &[u8], date_only: bool) -> String {
    let at = |i: usize| bytes.get(i).copied().unwrap_or(0);
    let year = u16::from_le_bytes([at(1), at(2)]);
    let date = format!("{year:04}-{:02}-{:02}", at(3), at(4));
    if date_only {
        return date;
    }
    let micros = u32::from_le_bytes([at(8), at(9), at(10), at(11)]);
    let time = format!("{date}T{:02}:{:02}:{:02}", at(5), at(6), at(7));
    if micros == 0 {
        time
    } else {
        format!("{time}.{micros:06}")
    }
}

/// Likewise: a length, a sign, days (4 bytes), hours, minutes, seconds, microseconds (4 bytes).
fn span(bytes: &[u8]) -> String {
    let at = |i: usize| bytes.get(i).copied().unwrap_or(0);
    let days = u32::from_le_bytes([at(2), at(3), at(4), at(5)]);
    let hours = u64::from(days) * 24 + u64::from(at(6));
    let sign = if at(1) == 1 { "-" } else { "" };
    format!("{sign}{hours:02}:{:02}:{:02}", at(7), at(8))
}

fn bind<'q>(
    mut query: Query<'q, MySql, MySqlArguments>,
    parameters: &[Value],
) -> Result<Query<'q, MySql, MySqlArguments>, SqlError> {
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

/// By the server's error numbers.
fn classify(error: &sqlx::Error, limits: &Limits) -> SqlError {
    let sqlx::Error::Database(server) = error else {
        return no_connection(error);
    };
    let number = server
        .try_downcast_ref::<MySqlDatabaseError>()
        .map_or(0, MySqlDatabaseError::number);
    let message = told(server.message());
    match number {
        // max_statement_time, max_execution_time, KILL QUERY
        1969 | 3024 | 1317 => timeout(limits),
        // no right to: a database, a table, a column, a routine, an operation; a read-only transaction
        1044 | 1142 | 1143 | 1227 | 1290 | 1370 | 1792 | 1836 => SqlError::Denied {
            what: message,
            hint: "Ask for something else, or have it allowed in the database.".to_owned(),
        },
        // stack, packet, memory, nesting, table or row size
        1037 | 1038 | 1041 | 1104 | 1114 | 1118 | 1153 | 1301 | 1436 | 4041 | 1116 | 1117 => {
            SqlError::Limit { what: message }
        }
        1020 | 1205 | 1213 => SqlError::Busy,
        1046..=1066
        | 1103
        | 1109..=1112
        | 1146..=1149
        | 1222
        | 1241..=1248
        | 1305
        | 1582
        | 1690 => SqlError::Syntax {
            message,
            hint: None,
        },
        _ => SqlError::Server(message),
    }
}
