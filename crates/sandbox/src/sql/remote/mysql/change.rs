//! A write with what it changes: the rows that its condition finds are read and locked, the write is done, and they are
//! read again, all in one transaction in which the time stands still.

use futures_util::TryStreamExt as _;
use sqlx::{AssertSqlSafe, MySqlConnection, Row as _};

use super::shape::{self, Shape, full};
use super::values::{bound, cell, cells, named, reading, readings};
use super::{Purpose, bind, classify};
use crate::sql::change::{Cell, Changes, RowChange, SHOWN, Snapshot, Table, lines, now, over};
use crate::sql::error::SqlError;
use crate::sql::parsed::{Checked, Matched, Verb, Write};
use crate::sql::policy::Limits;

/// Runs it in the open transaction. What is not to stay at once is not run where a rollback is not enough.
pub(super) async fn change(
    connection: &mut MySqlConnection,
    checked: &Checked,
    parameters: &[serde_json::Value],
    limits: &Limits,
    purpose: Purpose,
) -> Result<Changes, SqlError> {
    let look = purpose == Purpose::Look;
    let holds = purpose == Purpose::Hold;
    let mut work = Work { connection, parameters, limits };
    let shape = match &checked.write {
        Some(write) => work.shape(write).await?.map(|shape| (write, shape)),
        None => None,
    };
    let Some((write, shape)) = shape else {
        let why = "which table it changes can't be told from the statement";
        if look || holds {
            return Err(SqlError::Untold(why.to_owned()));
        }
        return work.plain(checked, why).await;
    };
    if let Some(why) = shape.untold.clone().filter(|_| look || holds) {
        return Err(SqlError::Untold(why));
    }
    if let Some(engine) = &shape.engine {
        if holds {
            return Err(SqlError::Untold(format!("{engine} tables roll nothing back")));
        }
        return work.at_once(checked, write, engine).await;
    }
    let mut changes = match table(write, &shape) {
        Err(why) if look && !shape.sees_triggers => return Err(SqlError::Untold(why)),
        Err(why) => work.plain(checked, &why).await?,
        Ok(table) => {
            let mut recorded =
                Recorded { work, write, table, look: look && !shape.sees_triggers, blind: !shape.sees_triggers };
            recorded.run(checked).await?
        }
    };
    if !shape.along.is_empty() {
        let along = shape.along.join(", ");
        changes.notes.push(format!("rows that refer to them go along: {along}"));
    }
    Ok(changes)
}

/// The table with its key, or why the rows can't be kept.
fn table(write: &Write, shape: &Shape) -> Result<Table, String> {
    if let Some(why) = &shape.lasting {
        return Err(why.clone());
    }
    if write.upsert || write.ignore {
        return Err("which rows were there already is not told".to_owned());
    }
    if let Some(why) = write.rows.as_ref().and_then(|rows| rows.unsteady.clone()) {
        return Err(why);
    }
    if write.verb != Verb::Insert && write.rows.is_none() {
        return Err("other tables decide which rows it changes".to_owned());
    }
    let key = shape.with_key(&write.assigned);
    key.ok_or_else(|| "it changes what names the rows".to_owned())
}

struct Work<'c> {
    connection: &'c mut MySqlConnection,
    parameters: &'c [serde_json::Value],
    limits: &'c Limits,
}

impl Work<'_> {
    fn error(&self) -> impl Fn(sqlx::Error) -> SqlError + Copy + use<'_> {
        |error| classify(&error, self.limits)
    }

    async fn shape(&mut self, write: &Write) -> Result<Option<Shape>, SqlError> {
        let verbs: &[Verb] = if write.upsert { &[Verb::Insert, Verb::Update] } else { &[write.verb] };
        let limits = self.limits;
        shape::of(self.connection, &write.parts, verbs, &write.assigned).await.map_err(|e| classify(&e, limits))
    }

    async fn execute(&mut self, sql: &str) -> Result<u64, SqlError> {
        let query = bind(sqlx::query(AssertSqlSafe(sql.to_owned())), self.parameters)?;
        let done = query.execute(&mut *self.connection).await;
        Ok(done.map_err(self.error())?.rows_affected())
    }

    /// Without a record of the rows.
    async fn plain(&mut self, checked: &Checked, why: &str) -> Result<Changes, SqlError> {
        Ok(Changes {
            count: self.execute(&checked.sql).await?,
            lines: Vec::new(),
            notes: Vec::new(),
            undo: Err(why.to_owned()),
        })
    }

    /// On a table that rolls nothing back: too many rows are refused before.
    async fn at_once(&mut self, checked: &Checked, write: &Write, engine: &str) -> Result<Changes, SqlError> {
        let most = self.limits.changes.unwrap_or(u64::MAX);
        let Some(rows) = &write.rows else {
            let why = format!("how many rows it changes shows only after, and {engine} tables roll nothing back");
            if most != u64::MAX {
                return Err(SqlError::Untold(why));
            }
            return self.plain(checked, &why).await;
        };
        let sql = format!("SELECT COUNT(*), 0 FROM (SELECT 1 {}) AS q", rows.tail);
        let (count, _) = self.sizes(&sql, rows).await?;
        if count > most {
            return Err(over(Some(count), most));
        }
        self.plain(checked, &format!("{engine} tables roll nothing back")).await
    }

    /// Number of rows and bytes.
    async fn sizes(&mut self, sql: &str, rows: &Matched) -> Result<(u64, usize), SqlError> {
        let values = self.parameters.get(rows.skip..).unwrap_or_default();
        let query = bind(sqlx::query(AssertSqlSafe(sql.to_owned())), values)?;
        let row = query.fetch_one(&mut *self.connection).await;
        let row = row.map_err(self.error())?;
        let number = |at: usize| row.try_get_unchecked::<i64, _>(at).map_err(self.error());
        Ok((u64::try_from(number(0)?).unwrap_or_default(), usize::try_from(number(1)?).unwrap_or(usize::MAX)))
    }

    async fn set(&mut self, name: &'static str, value: Option<&str>) -> Result<(), SqlError> {
        let sql = format!("SET SESSION {name} = {}", value.unwrap_or("DEFAULT"));
        let done = sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut *self.connection).await;
        done.map(|_| ()).map_err(self.error())
    }

    /// How many triggers the session has run; none where the server does not say.
    async fn triggers(&mut self) -> Result<Option<u64>, SqlError> {
        let sql = "SHOW SESSION STATUS LIKE 'Executed_triggers'";
        let row = sqlx::raw_sql(sql).fetch_optional(&mut *self.connection).await;
        let row = row.map_err(self.error())?;
        Ok(row.and_then(|row| row.try_get_unchecked::<String, _>(1).ok()?.parse().ok()))
    }
}

struct Recorded<'c, 'w> {
    work: Work<'c>,
    write: &'w Write,
    table: Table,
    /// Only reads the rows, and does nothing to them.
    look: bool,
    /// Whether triggers run shows only from a counter.
    blind: bool,
}

/// Times are read as they are kept: without a zone, in which an hour may come twice.
const ZONE: &str = "'+00:00'";

impl Recorded<'_, '_> {
    async fn run(&mut self, checked: &Checked) -> Result<Changes, SqlError> {
        let zone = self.zone().await?;
        self.stop_clock().await?;
        let before = match &self.write.rows {
            Some(rows) => self.before(rows, &zone).await?,
            None => Ok(Vec::new()),
        };
        if self.look {
            return Ok(self.told_only(before));
        }
        let ran = self.work.triggers().await?;
        let mut done = match before {
            Ok(before) => self.recorded(checked, before, &zone).await?,
            Err((_, why)) => self.work.plain(checked, &why).await?,
        };
        self.work.set("timestamp", None).await?;
        if self.blind && done.undo.is_ok() {
            let after = self.work.triggers().await?;
            done.undo = match (ran, after) {
                (Some(before), Some(after)) if before == after => done.undo,
                (Some(_), Some(_)) => Err("triggers ran, which may have done anything".to_owned()),
                _ => Err("the database's user may not see whether triggers ran".to_owned()),
            };
        }
        Ok(done)
    }

    async fn recorded(&mut self, checked: &Checked, before: Vec<Vec<Cell>>, zone: &str) -> Result<Changes, SqlError> {
        let (count, rows) = match self.write.verb {
            Verb::Insert => {
                let Some(rows) = self.inserted(zone).await? else {
                    let why = "this server does not say which rows an INSERT made";
                    return self.work.plain(checked, why).await;
                };
                (u64::try_from(rows.len()).unwrap_or(u64::MAX), rows)
            }
            _ => self.changed(checked, before, zone).await?,
        };
        let snapshot = Snapshot { tables: vec![self.table.clone()], rows };
        let limits = self.work.limits;
        let bytes: usize = snapshot.rows.iter().map(RowChange::size).sum();
        Ok(Changes {
            count,
            lines: lines(&snapshot),
            notes: Vec::new(),
            undo: if snapshot.rows.len() > limits.undo_rows {
                Err(format!("it changes more than {} rows", limits.undo_rows))
            } else if bytes > limits.undo_bytes {
                Err(format!("the rows take more than {} KB", limits.undo_bytes >> 10))
            } else {
                Ok(snapshot)
            },
        })
    }

    fn told_only(&self, before: Result<Vec<Vec<Cell>>, (u64, String)>) -> Changes {
        let unseen = "the database's user may not see whether triggers run along; if none do, it can be";
        let (count, rows, why) = match before {
            Ok(rows) => (rows.len() as u64, rows, unseen.to_owned()),
            Err((count, why)) => (count, Vec::new(), why),
        };
        let rows = rows.iter().take(SHOWN);
        Changes {
            count,
            lines: rows.map(|row| now(&self.table, row)).collect(),
            notes: vec!["it was not tried: the database's user may not see what triggers would do".to_owned()],
            undo: Err(why),
        }
    }

    async fn zone(&mut self) -> Result<String, SqlError> {
        let row = sqlx::raw_sql("SELECT QUOTE(@@session.time_zone)").fetch_one(&mut *self.work.connection).await;
        let zone = row.and_then(|row| row.try_get_unchecked::<String, _>(0));
        zone.map_err(self.work.error())
    }

    /// So that a condition on the time finds the same rows each time.
    async fn stop_clock(&mut self) -> Result<(), SqlError> {
        self.work.set("timestamp", None).await?;
        let row =
            sqlx::raw_sql("SELECT CAST(UNIX_TIMESTAMP(NOW(6)) AS CHAR)").fetch_one(&mut *self.work.connection).await;
        let now = row.and_then(|row| row.try_get_unchecked::<String, _>(0));
        let now = now.map_err(self.work.error())?;
        self.work.set("timestamp", Some(&now)).await
    }

    /// The rows that the condition finds, locked; or how many, and why they are not kept.
    async fn before(&mut self, rows: &Matched, zone: &str) -> Result<Result<Vec<Vec<Cell>>, (u64, String)>, SqlError> {
        let limits = self.work.limits;
        let row = format!("{}.", self.write.qualifier);
        let sizes = (0..self.table.columns.len())
            .map(|at| format!("COALESCE(OCTET_LENGTH({}), 0)", reading(&self.table, at, &row)));
        let sql = format!(
            "SELECT COUNT(*), CAST(COALESCE(SUM(n), 0) AS SIGNED) FROM (SELECT {} AS n {} FOR UPDATE) AS q",
            sizes.collect::<Vec<_>>().join(" + "),
            rows.tail
        );
        let (count, bytes) = self.work.sizes(&sql, rows).await?;
        if let Some(most) = limits.changes.filter(|most| count > *most) {
            return Err(over(Some(count), most));
        }
        if usize::try_from(count).unwrap_or(usize::MAX) > limits.undo_rows {
            let why = format!("it changes more than {} rows", limits.undo_rows);
            return Ok(Err((count, why)));
        }
        if bytes > limits.undo_bytes {
            let why = format!("the rows take more than {} KB", limits.undo_bytes >> 10);
            return Ok(Err((count, why)));
        }
        let limit = if rows.limited { String::new() } else { format!(" LIMIT {}", limits.undo_rows) };
        let sql = format!("SELECT {} {}{limit} FOR UPDATE", readings(&self.table, &row), rows.tail);
        let values = self.work.parameters.get(rows.skip..).unwrap_or_default();
        self.work.set("time_zone", Some(ZONE)).await?;
        let query = bind(sqlx::query(AssertSqlSafe(sql)), values)?;
        let found = query.fetch_all(&mut *self.work.connection).await;
        let found = found.map_err(self.work.error())?;
        self.work.set("time_zone", Some(zone)).await?;
        let found = found.iter().map(|row| cells(&self.table, row));
        let found: Result<Vec<_>, _> = found.collect();
        Ok(Ok(found.map_err(self.work.error())?))
    }

    /// Does an UPDATE or DELETE.
    async fn changed(
        &mut self,
        checked: &Checked,
        before: Vec<Vec<Cell>>,
        zone: &str,
    ) -> Result<(u64, Vec<RowChange>), SqlError> {
        let count = self.work.execute(&checked.sql).await?;
        if usize::try_from(count).unwrap_or(usize::MAX) != before.len() {
            return Err(SqlError::Busy);
        }
        let keys: Vec<Vec<Cell>> = before.iter().map(|row| self.table.key_of(row)).collect();
        let after = self.after(&keys, zone).await?;
        let deletes = self.write.verb == Verb::Delete;
        if after.iter().any(|row| row.is_none() != deletes) {
            return Err(SqlError::Busy);
        }
        let pairs = before.into_iter().zip(after);
        let rows = pairs.map(|(before, after)| RowChange { table: 0, before: Some(before), after });
        Ok((count, rows.collect()))
    }

    /// Does an INSERT, where the server says which rows that were.
    async fn inserted(&mut self, zone: &str) -> Result<Option<Vec<RowChange>>, SqlError> {
        let version: Result<String, _> =
            sqlx::query_scalar("SELECT version()").fetch_one(&mut *self.work.connection).await;
        let version = version.map_err(self.work.error())?;
        if !version.to_lowercase().contains("mariadb") {
            return Ok(None);
        }
        let limits = self.work.limits;
        let key = self.table.key.clone();
        let columns = key.iter().map(|at| reading(&self.table, *at, ""));
        let columns = columns.collect::<Vec<_>>().join(", ");
        let sql = format!("{} RETURNING {columns}", self.write.body);
        let query = bind(sqlx::query(AssertSqlSafe(sql)), self.work.parameters)?;
        let mut made = query.fetch(&mut *self.work.connection);
        let mut keys: Vec<Vec<Cell>> = Vec::new();
        let error = |e: sqlx::Error| classify(&e, limits);
        while let Some(row) = made.try_next().await.map_err(error)? {
            let most = limits.changes.unwrap_or(u64::MAX);
            if keys.len() as u64 >= most {
                return Err(over(None, most));
            }
            let cells = key.iter().enumerate().map(|(n, at)| {
                let text = row.try_get_unchecked::<Option<String>, _>(n)?;
                Ok(cell(&self.table, *at, text))
            });
            keys.push(cells.collect::<Result<_, _>>().map_err(error)?);
        }
        drop(made);
        let rows = self.after(&keys, zone).await?.into_iter();
        Ok(Some(rows.map(|after| RowChange { table: 0, before: None, after }).collect()))
    }

    /// The rows of these keys as they are now.
    async fn after(&mut self, keys: &[Vec<Cell>], zone: &str) -> Result<Vec<Option<Vec<Cell>>>, SqlError> {
        let sql = format!(
            "SELECT {} FROM {} AS t WHERE {}",
            readings(&self.table, "t."),
            full(&self.table),
            named(&self.table, "t.")
        );
        self.work.set("time_zone", Some(ZONE)).await?;
        let mut rows = Vec::with_capacity(keys.len());
        for key in keys {
            let query = bound(sql.clone(), &key.iter().collect::<Vec<_>>());
            let row = query.fetch_optional(&mut *self.work.connection).await;
            let row = row.map_err(self.work.error())?;
            let row = row.map(|row| cells(&self.table, &row)).transpose();
            rows.push(row.map_err(self.work.error())?);
        }
        self.work.set("time_zone", Some(zone)).await?;
        Ok(rows)
    }
}
