//! One statement, either engine: the only place that knows both drivers.

use crate::error::{self, DbError};
use rusqlite::types::{Value, ValueRef};
use sqlx::postgres::{PgArguments, PgRow};
use sqlx::query::Query;
use sqlx::{Executor, PgConnection, Postgres, Row as _};
use steward_core::Timestamp;
use steward_core::ports::{StoreError, StoreResult};
use uuid::Uuid;

pub(crate) enum Tx<'c> {
    /// SQLite; its futures are ready at once.
    Sqlite(&'c mut rusqlite::Connection),
    Postgres(PgTx<'c>),
}

pub(crate) struct PgTx<'c> {
    connection: &'c mut PgConnection,
    /// A statement clashed with another transaction.
    wants_retry: bool,
}
#[derive(Debug, Clone)]
pub(crate) enum Arg {
    Int(Option<i64>),
    Text(Option<String>),
    Id(Option<Uuid>),
    Bytes(Option<Vec<u8>>),
}
pub(crate) enum Row {
    Sqlite(Vec<Value>),
    Postgres(Box<PgRow>),
}

/// A statement's text, with its lock clause on the engine that has row locks.
macro_rules! locking {
    ($tx:expr, $sql:expr, $lock:literal) => {
        match $tx {
            $crate::tx::Tx::Sqlite(_) => $sql,
            $crate::tx::Tx::Postgres(_) => concat!($sql, " ", $lock),
        }
    };
}
/// Arguments of a statement, in the order of `$1`, `$2`, …
macro_rules! args {
    ($($arg:expr),* $(,)?) => { &[$($crate::tx::Arg::from($arg)),*] };
}
pub(crate) use {args, locking};

impl<'c> Tx<'c> {
    pub(crate) fn postgres(connection: &'c mut PgConnection) -> Self {
        Self::Postgres(PgTx { connection, wants_retry: false })
    }

    pub(crate) fn wants_retry(&self) -> bool {
        matches!(self, Self::Postgres(PgTx { wants_retry: true, .. }))
    }

    /// Has the transaction tried again, where the engine does that, once the caller returns this error.
    pub(crate) fn retry(&mut self) -> StoreError {
        if let Self::Postgres(pg) = self {
            pg.wants_retry = true;
        }
        error::clashed()
    }

    /// Runs a statement; returns how many rows it changed.
    pub(crate) async fn execute(&mut self, sql: &'static str, args: &[Arg]) -> Result<u64, DbError> {
        match self {
            Self::Sqlite(conn) => lite_execute(conn, sql, args).map_err(|e| DbError::sqlite(&e)),
            Self::Postgres(pg) => {
                let done = bound(sql, args).execute(&mut *pg.connection).await;
                pg.checked(done).map(|done| done.rows_affected())
            }
        }
    }

    /// Runs a statement whatever it changes.
    pub(crate) async fn run(&mut self, sql: &'static str, args: &[Arg]) -> StoreResult<()> {
        Ok(self.execute(sql, args).await.map(drop)?)
    }

    /// Writes a row; `taken` is the message where its key is another row's.
    pub(crate) async fn write_unique(
        &mut self,
        sql: &'static str,
        args: &[Arg],
        taken: impl FnOnce() -> String,
    ) -> StoreResult<()> {
        self.execute(sql, args).await.map(drop).map_err(|error| error::on_duplicate(error, taken))
    }

    pub(crate) async fn rows(&mut self, sql: &'static str, args: &[Arg]) -> Result<Vec<Row>, DbError> {
        match self {
            Self::Sqlite(conn) => lite_rows(conn, sql, args).map_err(|e| DbError::sqlite(&e)),
            Self::Postgres(pg) => {
                let found = bound(sql, args).fetch_all(&mut *pg.connection).await;
                Ok(pg.checked(found)?.into_iter().map(|row| Row::Postgres(Box::new(row))).collect())
            }
        }
    }
    pub(crate) async fn row(&mut self, sql: &'static str, args: &[Arg]) -> Result<Option<Row>, DbError> {
        Ok(self.rows(sql, args).await?.into_iter().next())
    }

    /// The number that a statement answers with; 0 where it finds no row.
    pub(crate) async fn count(&mut self, sql: &'static str, args: &[Arg]) -> StoreResult<u64> {
        self.row(sql, args).await?.map_or(Ok(0), |row| row.count(0))
    }

    /// Runs statements without arguments, one after the other.
    pub(crate) async fn script(&mut self, sql: &'static str) -> Result<(), DbError> {
        match self {
            Self::Sqlite(conn) => conn.execute_batch(sql).map_err(|e| DbError::sqlite(&e)),
            Self::Postgres(pg) => {
                let done = (&mut *pg.connection).execute(sqlx::raw_sql(sql)).await;
                pg.checked(done).map(drop)
            }
        }
    }
}

impl PgTx<'_> {
    fn checked<T>(&mut self, done: Result<T, sqlx::Error>) -> Result<T, DbError> {
        done.map_err(|error| {
            self.wants_retry |= error::is_retryable(&error);
            DbError::postgres(&error)
        })
    }
}

fn lite_bind(statement: &mut rusqlite::Statement<'_>, args: &[Arg]) -> rusqlite::Result<()> {
    for index in 1..=statement.parameter_count() {
        // SQLite numbers `$2` by where it first appears, PostgreSQL by its digits.
        let number =
            statement.parameter_name(index).and_then(|name| name.get(1..)?.parse::<usize>().ok()).unwrap_or(index);
        let arg = number.checked_sub(1).and_then(|at| args.get(at));
        match arg.ok_or(rusqlite::Error::InvalidParameterCount(args.len(), number))? {
            Arg::Int(value) => statement.raw_bind_parameter(index, value)?,
            Arg::Text(value) => statement.raw_bind_parameter(index, value)?,
            Arg::Id(value) => {
                statement.raw_bind_parameter(index, value.as_ref().map(Uuid::as_bytes))?;
            }
            Arg::Bytes(value) => statement.raw_bind_parameter(index, value)?,
        }
    }
    Ok(())
}

fn lite_execute(conn: &rusqlite::Connection, sql: &str, args: &[Arg]) -> rusqlite::Result<u64> {
    let mut statement = conn.prepare_cached(sql)?;
    lite_bind(&mut statement, args)?;
    statement.raw_execute().map(|changed| changed as u64)
}

fn lite_rows(conn: &rusqlite::Connection, sql: &str, args: &[Arg]) -> rusqlite::Result<Vec<Row>> {
    let mut statement = conn.prepare_cached(sql)?;
    lite_bind(&mut statement, args)?;
    let columns = statement.column_count();
    let mut found = Vec::new();
    let mut rows = statement.raw_query();
    while let Some(row) = rows.next()? {
        let mut values = Vec::with_capacity(columns);
        for index in 0..columns {
            values.push(match row.get_ref(index)? {
                ValueRef::Null => Value::Null,
                ValueRef::Integer(value) => Value::Integer(value),
                ValueRef::Real(value) => Value::Real(value),
                ValueRef::Text(value) => Value::Text(String::from_utf8_lossy(value).into_owned()),
                ValueRef::Blob(value) => Value::Blob(value.to_vec()),
            });
        }
        found.push(Row::Sqlite(values));
    }
    Ok(found)
}

fn bound<'q>(sql: &'static str, args: &[Arg]) -> Query<'q, Postgres, PgArguments> {
    let mut query = sqlx::query(sql);
    for arg in args {
        query = match arg.clone() {
            Arg::Int(value) => query.bind(value),
            Arg::Text(value) => query.bind(value.map(without_nul)),
            Arg::Id(value) => query.bind(value),
            Arg::Bytes(value) => query.bind(value),
        };
    }
    query
}

/// PostgreSQL's text cannot hold U+0000.
pub(crate) fn without_nul(text: String) -> String {
    if text.contains('\0') { text.replace('\0', "\u{fffd}") } else { text }
}

macro_rules! column {
    ($name:ident, $optional:ident, $type:ty, $value:ident => $from:expr) => {
        pub(crate) fn $optional(&self, index: usize) -> StoreResult<Option<$type>> {
            match self {
                Self::Sqlite(values) => match values.get(index) {
                    Some(Value::Null) => Ok(None),
                    Some($value) => {
                        Some($from).map(|found: Option<$type>| found.ok_or_else(|| mismatch(index))).transpose()
                    }
                    None => Err(mismatch(index)),
                },
                Self::Postgres(row) => row.try_get(index).map_err(|e| error::postgres(&e)),
            }
        }
        pub(crate) fn $name(&self, index: usize) -> StoreResult<$type> {
            self.$optional(index)?.ok_or_else(|| mismatch(index))
        }
    };
}

impl Row {
    column!(int, opt_int, i64, value => match value {
        Value::Integer(number) => Some(*number),
        _ => None,
    });
    column!(text, opt_text, String, value => match value {
        Value::Text(text) => Some(text.clone()),
        _ => None,
    });
    column!(id, opt_id, Uuid, value => match value {
        Value::Blob(bytes) => Uuid::from_slice(bytes).ok(),
        _ => None,
    });

    column!(bytes, opt_bytes, Vec<u8>, value => match value {
        Value::Blob(bytes) => Some(bytes.clone()),
        _ => None,
    });

    pub(crate) fn count(&self, index: usize) -> StoreResult<u64> {
        u64::try_from(self.int(index)?).map_err(|_| mismatch(index))
    }

    pub(crate) fn time(&self, index: usize) -> StoreResult<Timestamp> {
        self.int(index).map(Timestamp)
    }
}

fn mismatch(index: usize) -> StoreError {
    StoreError::Corrupt(format!("column {index} of a row has another type than it was given"))
}

/// A type that statements take, or take as null.
pub(crate) trait ArgValue: Sized {
    fn arg(value: Option<Self>) -> Arg;
}

impl<T: ArgValue> From<T> for Arg {
    fn from(value: T) -> Self {
        T::arg(Some(value))
    }
}

impl<T: ArgValue> From<Option<T>> for Arg {
    fn from(value: Option<T>) -> Self {
        T::arg(value)
    }
}

macro_rules! arg_values {
    ($($type:ty => $arg:ident, $value:ident => $from:expr;)+) => {$(
        impl ArgValue for $type {
            fn arg(value: Option<Self>) -> Arg {
                Arg::$arg(value.map(|$value| $from))
            }
        }
    )+};
}

arg_values! {
    i64 => Int, value => value;
    u64 => Int, value => i64::try_from(value).unwrap_or(i64::MAX);
    u32 => Int, value => value.into();
    bool => Int, value => value.into();
    Timestamp => Int, at => at.0;
    &str => Text, text => text.to_owned();
    &String => Text, text => text.clone();
    String => Text, text => text;
    Vec<u8> => Bytes, bytes => bytes;
    Uuid => Id, id => id;
}

macro_rules! id_arg_values {
    ($($id:ident)+) => {
        arg_values! { $(steward_core::$id => Id, id => id.0;)+ }
    };
}

steward_core::for_each_id!(id_arg_values);
