mod change;
mod powers;
mod put_back;
mod row;
mod shape;
mod values;

use std::collections::HashSet;

use futures_util::TryStreamExt as _;
use serde_json::Value;
use sqlx::mysql::{MySqlArguments, MySqlConnectOptions, MySqlDatabaseError};
use sqlx::query::Query;
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _, Executor as _, MySql, MySqlConnection};

use super::json::Collector;
use super::{Answer, Purpose, RemoteOptions, no_connection, timeout, too_much_power, unbindable};
use crate::sql::change::{Found, Snapshot};
use crate::sql::error::{SqlError, told};
use crate::sql::parsed::{Checked, denied};
use crate::sql::policy::Limits;
use crate::sql::query::Truncated;

/// Functions of the connection's database that somebody has made.
const OWN: &str = "SELECT CAST(routine_name AS CHAR) FROM information_schema.routines \
    WHERE routine_type = 'FUNCTION' AND routine_schema = DATABASE()";

/// Settings of the session, beside the time limit. A backslash is a character like any other, as the guard has read it.
const SETTINGS: &str = "SET SESSION sql_mode = 'STRICT_TRANS_TABLES,ONLY_FULL_GROUP_BY,NO_BACKSLASH_ESCAPES,NO_ENGINE_SUBSTITUTION,ERROR_FOR_DIVISION_BY_ZERO', \
    SESSION lock_wait_timeout = 2, SESSION innodb_lock_wait_timeout = 2, SESSION net_write_timeout = 10, \
    SESSION group_concat_max_len = 1048576";

/// A connection that is made anew where the one before is of no more use.
pub(super) struct Connection {
    wanted: MySqlConnectOptions,
    limits: Limits,
    link: Option<Link>,
}

impl std::fmt::Debug for Connection {
    /// Without the password.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Connection").finish_non_exhaustive()
    }
}

impl Connection {
    pub async fn open(url: &str, options: &RemoteOptions) -> Result<Self, SqlError> {
        let wanted: MySqlConnectOptions = url.parse().map_err(|e| no_connection(&e))?;
        let wanted = wanted
            // Statements are not closed one by one: nothing answers that, and what follows would wait for it.
            .statement_cache_capacity(100)
            .disable_statement_logging();
        let link = Link::open(&wanted, &options.limits).await?;
        Ok(Self { wanted, limits: options.limits.clone(), link: Some(link) })
    }

    /// Taken out, so that it is gone if what is done with it is not finished.
    async fn link(&mut self) -> Result<Link, SqlError> {
        match self.link.take() {
            Some(link) => Ok(link),
            None => Link::open(&self.wanted, &self.limits).await,
        }
    }

    fn keep<T>(&mut self, link: Link, answer: Result<T, SqlError>) -> Result<T, SqlError> {
        let broken = matches!(answer, Err(SqlError::Connect { .. }));
        self.link = Some(link).filter(|link| !link.unread && !broken);
        answer
    }

    pub async fn run(
        &mut self,
        checked: &Checked,
        parameters: &[Value],
        limits: &Limits,
        purpose: Purpose,
    ) -> Result<Answer, SqlError> {
        let mut link = self.link().await?;
        let answer = link.run(checked, parameters, limits, purpose).await;
        self.keep(link, answer)
    }

    pub async fn commit(&mut self, limits: &Limits) -> Result<(), SqlError> {
        let mut link = self.link.take().ok_or_else(|| SqlError::Connect {
            reason: "the connection was lost before the commit; nothing was changed".to_owned(),
        })?;
        let answer = link.end(true, Ok(()), limits).await;
        self.keep(link, answer)
    }

    /// Whether the write that `snapshot` was recorded of is done.
    pub async fn settle(
        &mut self,
        snapshot: &Snapshot,
        later: &[Snapshot],
        limits: &Limits,
    ) -> Result<Found, SqlError> {
        let mut link = self.link().await?;
        let answer = link.settle(snapshot, later, limits).await;
        self.keep(link, answer)
    }

    /// Puts the rows of `snapshot` back.
    pub async fn put_back(&mut self, snapshot: &Snapshot, limits: &Limits) -> Result<u64, SqlError> {
        let mut link = self.link().await?;
        let answer = link.put_back(snapshot, limits).await;
        self.keep(link, answer)
    }

    pub async fn close(self) {
        if let Some(link) = self.link {
            let _ = link.connection.close().await;
        }
    }
}

struct Link {
    connection: MySqlConnection,
    /// Functions that the database defines by itself; servers call them where they lack one of that name.
    own: HashSet<String>,
    /// Whether it has written.
    written: bool,
    /// Whether rows were left that may be too many to read.
    unread: bool,
}

impl Link {
    async fn open(wanted: &MySqlConnectOptions, limits: &Limits) -> Result<Self, SqlError> {
        let failed = |e| no_connection(&e);
        let mut connection = wanted.connect().await.map_err(failed)?;
        connection.execute(SETTINGS).await.map_err(failed)?;
        let (version, database): (String, Option<String>) =
            sqlx::query_as("SELECT version(), DATABASE()").fetch_one(&mut connection).await.map_err(failed)?;
        if let Some(name) = database.filter(|name| closed(name)) {
            return Err(SqlError::Connect {
                reason: format!(
                    "its URL names {name}, a database of the server's own; name the one that has your tables"
                ),
            });
        }
        let mariadb = version.to_lowercase().contains("mariadb");
        let powers = powers::of(&mut connection, mariadb).await.map_err(failed)?;
        if !powers.is_empty() {
            return Err(too_much_power(&powers));
        }
        let wall = limits.wall;
        let limit = if mariadb {
            format!("SET SESSION max_statement_time = {}", wall.as_secs_f64())
        } else {
            format!("SET SESSION max_execution_time = {}", wall.as_millis())
        };
        let limit = format!("{limit}, SESSION sql_select_limit = {}", limits.rows + 1);
        connection.execute(AssertSqlSafe(limit)).await.map_err(failed)?;
        let own: Vec<String> = sqlx::query_scalar(OWN).fetch_all(&mut connection).await.map_err(failed)?;
        Ok(Self {
            connection,
            own: own.into_iter().map(|name| name.to_lowercase()).collect(),
            written: false,
            unread: false,
        })
    }

    async fn run(
        &mut self,
        checked: &Checked,
        parameters: &[Value],
        limits: &Limits,
        purpose: Purpose,
    ) -> Result<Answer, SqlError> {
        if let Some(name) = checked.calls.iter().find(|name| self.own.contains(*name)) {
            return Err(denied(
                &format!("the function {name}, which this database has by itself"),
                "Use the server's own functions.",
            ));
        }
        self.begin(checked.writes, limits).await?;
        let answer = self.inside(checked, parameters, limits, purpose).await;
        let held = checked.writes && purpose == Purpose::Hold && answer.is_ok();
        if self.unread || held {
            return answer;
        }
        self.end(checked.writes && purpose == Purpose::Keep, answer, limits).await
    }

    async fn put_back(&mut self, snapshot: &Snapshot, limits: &Limits) -> Result<u64, SqlError> {
        self.begin(true, limits).await?;
        let answer = put_back::restore(&mut self.connection, snapshot, limits).await;
        self.end(true, answer, limits).await
    }

    async fn settle(&mut self, snapshot: &Snapshot, later: &[Snapshot], limits: &Limits) -> Result<Found, SqlError> {
        self.begin(true, limits).await?;
        let answer = put_back::settle_rows(&mut self.connection, snapshot, later, limits).await;
        self.end(false, answer, limits).await
    }

    async fn begin(&mut self, write: bool, limits: &Limits) -> Result<(), SqlError> {
        if write && std::mem::replace(&mut self.written, true) {
            // Servers have trouble with some statements that are run a second time.
            let cleared = self.connection.clear_cached_statements().await;
            cleared.map_err(|e| classify(&e, limits))?;
        }
        // What a write's condition has found stays what it finds.
        let level = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ";
        let begin: &[&'static str] =
            if write { &[level, "START TRANSACTION READ WRITE"] } else { &["START TRANSACTION READ ONLY"] };
        // By the text protocol: servers do not prepare these.
        for sql in begin.iter().copied() {
            let done = sqlx::raw_sql(sql).execute(&mut self.connection).await;
            done.map_err(|e| classify(&e, limits))?;
        }
        Ok(())
    }

    /// Commits what worked, if it is to be kept.
    async fn end<T>(&mut self, keep: bool, answer: Result<T, SqlError>, limits: &Limits) -> Result<T, SqlError> {
        let end = if keep && answer.is_ok() { "COMMIT" } else { "ROLLBACK" };
        let ended = sqlx::raw_sql(end).execute(&mut self.connection).await;
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
        if checked.writes {
            let changes = change::change(&mut self.connection, checked, parameters, limits, purpose).await?;
            return Ok(Answer::Changed(Box::new(changes.within(limits)?)));
        }
        let sql = AssertSqlSafe(checked.sql.clone());
        let query = bind(sqlx::query(sql), parameters)?;
        let mut collector = Collector::new(Vec::new(), limits);
        let mut rows = query.fetch(&mut self.connection);
        while let Some(row) = rows.try_next().await.map_err(|e| classify(&e, limits))? {
            if collector.rows.columns.is_empty() {
                collector.rows.columns = row::columns(&row);
            }
            let taken = row::values(&row)
                .map_err(|e| classify(&e, limits))
                .and_then(|(values, bytes)| collector.take(values, bytes));
            if matches!(taken, Ok(true)) {
                continue;
            }
            // A LIMIT of the statement's own may be beyond the session's, and rows may be large.
            let rows_only = collector.rows.truncated == Some(Truncated::Rows);
            self.unread = !(rows_only && matches!(rows.try_next().await, Ok(None)));
            taken?;
            break;
        }
        drop(rows);
        Ok(Answer::Rows(collector.rows))
    }
}

/// Whether tables of the database are closed by its name.
fn closed(database: &str) -> bool {
    let table = format!("SELECT 1 FROM {}.x", shape::quoted(database));
    matches!(crate::sql::mysql::check(&table, false), Err(SqlError::Denied { .. }))
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
    let number = server.try_downcast_ref::<MySqlDatabaseError>().map_or(0, MySqlDatabaseError::number);
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
        1046..=1066 | 1103 | 1109..=1112 | 1146..=1149 | 1222 | 1241..=1248 | 1305 | 1582 | 1690 => {
            SqlError::Syntax { message, hint: None }
        }
        _ => SqlError::Server(message),
    }
}
