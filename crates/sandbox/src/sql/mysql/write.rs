//! Records a write: in one transaction with a still clock, reads and locks the rows, writes, and reads them again.

use futures_util::TryStreamExt as _;
use sqlx::{AssertSqlSafe, MySqlConnection, Row as _};

use super::put_back::MySqlStore;
use super::table::{MySqlTable, read_table};
use super::values::{bound, cell, cells, reading, readings};
use super::{UTC, classify, executed_triggers, set_variable};
use crate::sql::change::{Cell, Changes, RowChange, SHOWN, Snapshot, Store as _, Table, lines, now, over};
use crate::sql::error::SqlError;
use crate::sql::policy::Limits;
use crate::sql::remote::Purpose;
use crate::sql::server_guard::{Checked, Matched, Verb, Write};
use crate::sql::server_tables::bind;

/// A write that may have to be rolled back is refused where a rollback would not undo everything.
pub(crate) async fn change(
    connection: &mut MySqlConnection,
    checked: &Checked,
    parameters: &[serde_json::Value],
    limits: &Limits,
    purpose: Purpose,
) -> Result<Changes, SqlError> {
    let preview = purpose == Purpose::Preview;
    let must_roll_back = purpose != Purpose::Commit;
    let mut session = WriteSession { connection, parameters, limits };
    let found = match &checked.write {
        Some(write) => session.table_of(write).await?.map(|table| (write, table)),
        None => None,
    };
    let Some((write, found)) = found else {
        let why = "which table it changes can't be told from the statement";
        if must_roll_back {
            return Err(SqlError::NoPreview(why.to_owned()));
        }
        return session.unrecorded(checked, why).await;
    };
    if let Some(why) = found.info.no_preview.clone().filter(|_| must_roll_back) {
        return Err(SqlError::NoPreview(why));
    }
    if let Some(engine) = &found.engine {
        return session.without_rollback(checked, write, engine).await;
    }
    let blind = !found.sees_triggers;
    let mut changes = match table_with_key(write, &found) {
        Err(why) if preview && blind => return Err(SqlError::NoPreview(why)),
        Err(why) => session.unrecorded(checked, &why).await?,
        Ok(table) => RecordedWrite { session, write, table, only_read: preview && blind, blind }.run(checked).await?,
    };
    changes.notes.extend(found.info.dependents_note());
    Ok(changes)
}

fn table_with_key(write: &Write, found: &MySqlTable) -> Result<Table, String> {
    if let Some(why) = &found.info.no_undo {
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
    let key = found.with_key(&write.assigned);
    key.ok_or_else(|| "it changes what names the rows".to_owned())
}

struct WriteSession<'c> {
    connection: &'c mut MySqlConnection,
    parameters: &'c [serde_json::Value],
    limits: &'c Limits,
}

impl WriteSession<'_> {
    fn error(&self) -> impl Fn(sqlx::Error) -> SqlError + Copy + use<'_> {
        |error| classify(&error, self.limits)
    }

    async fn table_of(&mut self, write: &Write) -> Result<Option<MySqlTable>, SqlError> {
        let verbs: &[Verb] = if write.upsert { &[Verb::Insert, Verb::Update] } else { &[write.verb] };
        let limits = self.limits;
        read_table(self.connection, &write.parts, verbs, &write.assigned).await.map_err(|e| classify(&e, limits))
    }

    async fn execute(&mut self, sql: &str) -> Result<u64, SqlError> {
        let query = bind(sqlx::query(AssertSqlSafe(sql.to_owned())), self.parameters)?;
        let done = query.execute(&mut *self.connection).await;
        Ok(done.map_err(self.error())?.rows_affected())
    }

    async fn unrecorded(&mut self, checked: &Checked, why: &str) -> Result<Changes, SqlError> {
        Ok(Changes {
            count: self.execute(&checked.sql).await?,
            lines: Vec::new(),
            notes: Vec::new(),
            undo: Err(why.to_owned()),
        })
    }

    /// For tables without rollback: a write of too many rows is refused before it is done.
    async fn without_rollback(&mut self, checked: &Checked, write: &Write, engine: &str) -> Result<Changes, SqlError> {
        let most = self.limits.changes.unwrap_or(u64::MAX);
        let Some(rows) = &write.rows else {
            let why = format!("how many rows it changes shows only after, and {engine} tables roll nothing back");
            if most != u64::MAX {
                return Err(SqlError::NoPreview(why));
            }
            return self.unrecorded(checked, &why).await;
        };
        let sql = format!("SELECT COUNT(*), 0 FROM (SELECT 1 {}) AS q", rows.tail);
        let (count, _) = self.sizes(&sql, rows).await?;
        if count > most {
            return Err(over(Some(count), most));
        }
        self.unrecorded(checked, &format!("{engine} tables roll nothing back")).await
    }

    async fn sizes(&mut self, sql: &str, rows: &Matched) -> Result<(u64, usize), SqlError> {
        let values = self.parameters.get(rows.skip..).unwrap_or_default();
        let query = bind(sqlx::query(AssertSqlSafe(sql.to_owned())), values)?;
        let row = query.fetch_one(&mut *self.connection).await;
        let row = row.map_err(self.error())?;
        let number = |at: usize| row.try_get_unchecked::<i64, _>(at).map_err(self.error());
        Ok((u64::try_from(number(0)?).unwrap_or_default(), usize::try_from(number(1)?).unwrap_or(usize::MAX)))
    }

    async fn set(&mut self, name: &'static str, value: Option<&str>) -> Result<(), SqlError> {
        set_variable(self.connection, name, value, self.limits).await
    }

    async fn executed_triggers(&mut self) -> Result<Option<u64>, SqlError> {
        executed_triggers(self.connection, self.limits).await
    }
}

struct RecordedWrite<'c, 'w> {
    session: WriteSession<'c>,
    write: &'w Write,
    table: Table,
    only_read: bool,
    /// The user does not see triggers, so whether they run shows only in the server's counter.
    blind: bool,
}

impl RecordedWrite<'_, '_> {
    async fn run(&mut self, checked: &Checked) -> Result<Changes, SqlError> {
        let zone = self.zone().await?;
        self.stop_clock().await?;
        let before = match &self.write.rows {
            Some(rows) => self.before(rows, &zone).await?,
            None => Ok(Vec::new()),
        };
        if self.only_read {
            return Ok(self.read_rows(before));
        }
        let ran = self.session.executed_triggers().await?;
        let mut done = match before {
            Ok(before) => self.recorded(checked, before, &zone).await?,
            Err((_, why)) => self.session.unrecorded(checked, &why).await?,
        };
        self.session.set("timestamp", None).await?;
        if self.blind && done.undo.is_ok() {
            let after = self.session.executed_triggers().await?;
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
                    return self.session.unrecorded(checked, why).await;
                };
                (u64::try_from(rows.len()).unwrap_or(u64::MAX), rows)
            }
            _ => self.changed(checked, before, zone).await?,
        };
        let snapshot = Snapshot { tables: vec![self.table.clone()], rows };
        let limits = self.session.limits;
        let bytes: usize = snapshot.rows.iter().map(RowChange::size).sum();
        Ok(Changes {
            count,
            lines: lines(&snapshot),
            notes: Vec::new(),
            undo: limits.undo_refusal(snapshot.rows.len(), bytes).map_or(Ok(snapshot), Err),
        })
    }

    fn read_rows(&self, before: Result<Vec<Vec<Cell>>, (u64, String)>) -> Changes {
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
        let row = sqlx::raw_sql("SELECT QUOTE(@@session.time_zone)").fetch_one(&mut *self.session.connection).await;
        let zone = row.and_then(|row| row.try_get_unchecked::<String, _>(0));
        zone.map_err(self.session.error())
    }

    /// Stops the session's clock, so that a condition on the time finds the same rows each time.
    async fn stop_clock(&mut self) -> Result<(), SqlError> {
        self.session.set("timestamp", None).await?;
        let row =
            sqlx::raw_sql("SELECT CAST(UNIX_TIMESTAMP(NOW(6)) AS CHAR)").fetch_one(&mut *self.session.connection).await;
        let now = row.and_then(|row| row.try_get_unchecked::<String, _>(0));
        let now = now.map_err(self.session.error())?;
        self.session.set("timestamp", Some(&now)).await
    }

    /// The inner error: how many rows there are, and why they are not kept.
    async fn before(&mut self, rows: &Matched, zone: &str) -> Result<Result<Vec<Vec<Cell>>, (u64, String)>, SqlError> {
        let limits = self.session.limits;
        let row = format!("{}.", self.write.qualifier);
        let sizes = (0..self.table.columns.len())
            .map(|at| format!("COALESCE(OCTET_LENGTH({}), 0)", reading(&self.table, at, &row)));
        let sql = format!(
            "SELECT COUNT(*), CAST(COALESCE(SUM(n), 0) AS SIGNED) FROM (SELECT {} AS n {} FOR UPDATE) AS q",
            sizes.collect::<Vec<_>>().join(" + "),
            rows.tail
        );
        let (count, bytes) = self.session.sizes(&sql, rows).await?;
        if let Some(most) = limits.changes.filter(|most| count > *most) {
            return Err(over(Some(count), most));
        }
        if let Some(why) = limits.undo_refusal(usize::try_from(count).unwrap_or(usize::MAX), bytes) {
            return Ok(Err((count, why)));
        }
        let limit = if rows.limited { String::new() } else { format!(" LIMIT {}", limits.undo_rows) };
        let sql = format!("SELECT {} {}{limit} FOR UPDATE", readings(&self.table, &row), rows.tail);
        let values = self.session.parameters.get(rows.skip..).unwrap_or_default();
        self.session.set("time_zone", Some(UTC)).await?;
        let query = bind(sqlx::query(AssertSqlSafe(sql)), values)?;
        let found = query.fetch_all(&mut *self.session.connection).await;
        let found = found.map_err(self.session.error())?;
        self.session.set("time_zone", Some(zone)).await?;
        let found = found.iter().map(|row| cells(&self.table, row));
        let found: Result<Vec<_>, _> = found.collect();
        Ok(Ok(found.map_err(self.session.error())?))
    }

    async fn changed(
        &mut self,
        checked: &Checked,
        before: Vec<Vec<Cell>>,
        zone: &str,
    ) -> Result<(u64, Vec<RowChange>), SqlError> {
        let count = self.session.execute(&checked.sql).await?;
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

    /// `None`: the server does not say which rows an INSERT made.
    async fn inserted(&mut self, zone: &str) -> Result<Option<Vec<RowChange>>, SqlError> {
        let version: Result<String, _> =
            sqlx::query_scalar("SELECT version()").fetch_one(&mut *self.session.connection).await;
        let version = version.map_err(self.session.error())?;
        if !version.to_lowercase().contains("mariadb") {
            return Ok(None);
        }
        let limits = self.session.limits;
        let key = self.table.key.clone();
        let columns = key.iter().map(|at| reading(&self.table, *at, ""));
        let columns = columns.collect::<Vec<_>>().join(", ");
        let sql = format!("{} RETURNING {columns}", self.write.body);
        let query = bind(sqlx::query(AssertSqlSafe(sql)), self.session.parameters)?;
        let mut made = query.fetch(&mut *self.session.connection);
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

    async fn after(&mut self, keys: &[Vec<Cell>], zone: &str) -> Result<Vec<Option<Vec<Cell>>>, SqlError> {
        let sql = format!(
            "SELECT {} FROM {} WHERE {}",
            readings(&self.table, ""),
            MySqlStore::full_name(&self.table),
            MySqlStore::key_condition(&self.table, "", 1)
        );
        self.session.set("time_zone", Some(UTC)).await?;
        let mut rows = Vec::with_capacity(keys.len());
        for key in keys {
            let query = bound(sql.clone(), &key.iter().collect::<Vec<_>>());
            let row = query.fetch_optional(&mut *self.session.connection).await;
            let row = row.map_err(self.session.error())?;
            let row = row.map(|row| cells(&self.table, &row)).transpose();
            rows.push(row.map_err(self.session.error())?);
        }
        self.session.set("time_zone", Some(zone)).await?;
        Ok(rows)
    }
}
