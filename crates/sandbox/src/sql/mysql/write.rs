//! Records a write: in one transaction with a still clock, reads and locks the rows, writes, and reads them again.

use futures_util::TryStreamExt as _;
use sqlx::mysql::MySqlRow;
use sqlx::{AssertSqlSafe, MySqlConnection, Row as _};

use super::put_back::MySqlStore;
use super::table::{MySqlTable, read_table};
use super::values::{cell, cells, reading, readings};
use super::{UTC, executed_triggers, set_variable};
use crate::sql::change::{Cell, Changes, RowChange, SHOWN, Snapshot, Store as _, Table, lines, now, over};
use crate::sql::error::SqlError;
use crate::sql::policy::Limits;
use crate::sql::remote::{Job, Purpose};
use crate::sql::server_guard::{Matched, Verb, Write};
use crate::sql::server_tables::bind;

/// A write that may have to be rolled back is refused where a rollback would not undo everything.
pub(crate) async fn change(
    connection: &mut MySqlConnection,
    job: Job<'_>,
    limits: &Limits,
    mariadb: bool,
) -> Result<Changes, SqlError> {
    let must_roll_back = job.purpose != Purpose::Commit;
    let mut session = WriteSession { connection, job, limits };
    let found = match &job.checked.write {
        Some(write) => session.table_of(write).await?.map(|table| (write, table)),
        None => None,
    };
    let Some((write, found)) = found else {
        let why = "which table it changes can't be told from the statement";
        if must_roll_back {
            return Err(SqlError::NoPreview(why.to_owned()));
        }
        return session.unrecorded(why).await;
    };
    if let Some(why) = found.info.no_preview.clone().filter(|_| must_roll_back) {
        return Err(SqlError::NoPreview(why));
    }
    if let Some(engine) = &found.engine {
        return session.without_rollback(write, engine).await;
    }
    let blind = !found.sees_triggers;
    let only_read = blind && job.purpose == Purpose::Preview;
    let mut changes = match table_with_key(write, &found) {
        Err(why) if only_read => return Err(SqlError::NoPreview(why)),
        Err(why) => session.unrecorded(&why).await?,
        Ok(table) => RecordedWrite { session, write, table, only_read, blind, mariadb }.run().await?,
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
    job: Job<'c>,
    limits: &'c Limits,
}

impl WriteSession<'_> {
    async fn table_of(&mut self, write: &Write) -> Result<Option<MySqlTable>, SqlError> {
        let verbs: &[Verb] = if write.upsert { &[Verb::Insert, Verb::Update] } else { &[write.verb] };
        Ok(read_table(self.connection, &write.parts, verbs, &write.assigned).await?)
    }

    async fn execute(&mut self) -> Result<u64, SqlError> {
        let query = bind(sqlx::query(AssertSqlSafe(self.job.checked.sql.clone())), self.job.parameters)?;
        Ok(query.execute(&mut *self.connection).await?.rows_affected())
    }

    async fn unrecorded(&mut self, why: &str) -> Result<Changes, SqlError> {
        Ok(Changes::unrecorded(self.execute().await?, why))
    }

    /// For tables without rollback: a write of too many rows is refused before it is done.
    async fn without_rollback(&mut self, write: &Write, engine: &str) -> Result<Changes, SqlError> {
        let Some(rows) = &write.rows else {
            let why = format!("how many rows it changes shows only after, and {engine} tables roll nothing back");
            if self.limits.changes.is_some() {
                return Err(SqlError::NoPreview(why));
            }
            return self.unrecorded(&why).await;
        };
        let (count, _) = self.sizes(format!("SELECT COUNT(*), 0 FROM (SELECT 1 {}) AS q", rows.tail), rows).await?;
        if let Some(most) = self.limits.changes.filter(|most| count > *most) {
            return Err(over(Some(count), most));
        }
        self.unrecorded(&format!("{engine} tables roll nothing back")).await
    }

    /// What a query finds that ends as `matched` does.
    async fn rows(&mut self, sql: String, matched: &Matched) -> Result<Vec<MySqlRow>, SqlError> {
        let values = self.job.parameters.get(matched.skip..).unwrap_or_default();
        Ok(bind(sqlx::query(AssertSqlSafe(sql)), values)?.fetch_all(&mut *self.connection).await?)
    }

    async fn sizes(&mut self, sql: String, matched: &Matched) -> Result<(u64, usize), SqlError> {
        let rows = self.rows(sql, matched).await?;
        let row = rows.first().ok_or(sqlx::Error::RowNotFound)?;
        let (count, bytes): (i64, i64) = (row.try_get_unchecked(0)?, row.try_get_unchecked(1)?);
        Ok((u64::try_from(count).unwrap_or_default(), usize::try_from(bytes).unwrap_or(usize::MAX)))
    }

    async fn text(&mut self, sql: &'static str) -> Result<String, SqlError> {
        Ok(sqlx::raw_sql(sql).fetch_one(&mut *self.connection).await?.try_get_unchecked(0)?)
    }

    async fn set(&mut self, name: &'static str, value: Option<&str>) -> Result<(), SqlError> {
        set_variable(self.connection, name, value).await
    }
}

struct RecordedWrite<'c, 'w> {
    session: WriteSession<'c>,
    write: &'w Write,
    table: Table,
    only_read: bool,
    /// The user does not see triggers, so whether they run shows only in the server's counter.
    blind: bool,
    mariadb: bool,
}

impl RecordedWrite<'_, '_> {
    async fn run(&mut self) -> Result<Changes, SqlError> {
        let zone = self.session.text("SELECT QUOTE(@@session.time_zone)").await?;
        // The session's clock stands still, so that a condition on the time finds the same rows each time.
        self.session.set("timestamp", None).await?;
        let now = self.session.text("SELECT CAST(UNIX_TIMESTAMP(NOW(6)) AS CHAR)").await?;
        self.session.set("timestamp", Some(&now)).await?;
        let before = match &self.write.rows {
            Some(rows) => self.before(rows, &zone).await?,
            None => Ok(Vec::new()),
        };
        if self.only_read {
            return Ok(self.read_rows(before));
        }
        let ran = executed_triggers(self.session.connection).await?;
        let mut done = match before {
            Ok(before) => self.recorded(before, &zone).await?,
            Err((_, why)) => self.session.unrecorded(&why).await?,
        };
        self.session.set("timestamp", None).await?;
        if self.blind && done.undo.is_ok() {
            let after = executed_triggers(self.session.connection).await?;
            done.undo = match (ran, after) {
                (Some(before), Some(after)) if before == after => done.undo,
                (Some(_), Some(_)) => Err("triggers ran, which may have done anything".to_owned()),
                _ => Err("the database's user may not see whether triggers ran".to_owned()),
            };
        }
        Ok(done)
    }

    async fn recorded(&mut self, before: Vec<Vec<Cell>>, zone: &str) -> Result<Changes, SqlError> {
        let (count, rows) = match self.write.verb {
            // MySQL does not say which rows an INSERT made.
            Verb::Insert if !self.mariadb => {
                return self.session.unrecorded("this server does not say which rows an INSERT made").await;
            }
            Verb::Insert => {
                let rows = self.inserted(zone).await?;
                (u64::try_from(rows.len()).unwrap_or(u64::MAX), rows)
            }
            _ => self.changed(before, zone).await?,
        };
        let snapshot = Snapshot { tables: vec![self.table.clone()], rows };
        let bytes: usize = snapshot.rows.iter().map(RowChange::size).sum();
        let refusal = self.session.limits.undo_refusal(snapshot.rows.len(), bytes);
        Ok(Changes { count, lines: lines(&snapshot), notes: Vec::new(), undo: refusal.map_or(Ok(snapshot), Err) })
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
        let (count, bytes) = self.session.sizes(sql, rows).await?;
        if let Some(most) = limits.changes.filter(|most| count > *most) {
            return Err(over(Some(count), most));
        }
        if let Some(why) = limits.undo_refusal(usize::try_from(count).unwrap_or(usize::MAX), bytes) {
            return Ok(Err((count, why)));
        }
        let limit = if rows.limited { String::new() } else { format!(" LIMIT {}", limits.undo_rows) };
        let sql = format!("SELECT {} {}{limit} FOR UPDATE", readings(&self.table, &row), rows.tail);
        self.session.set("time_zone", Some(UTC)).await?;
        let found = self.session.rows(sql, rows).await?;
        self.session.set("time_zone", Some(zone)).await?;
        Ok(Ok(found.iter().map(|row| cells(&self.table, row)).collect::<Result<_, _>>()?))
    }

    async fn changed(&mut self, before: Vec<Vec<Cell>>, zone: &str) -> Result<(u64, Vec<RowChange>), SqlError> {
        let count = self.session.execute().await?;
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

    async fn inserted(&mut self, zone: &str) -> Result<Vec<RowChange>, SqlError> {
        let (job, most) = (self.session.job, self.session.limits.changes.unwrap_or(u64::MAX));
        let columns: Vec<String> = self.table.key.iter().map(|at| reading(&self.table, *at, "")).collect();
        let sql = format!("{} RETURNING {}", self.write.body, columns.join(", "));
        let query = bind(sqlx::query(AssertSqlSafe(sql)), job.parameters)?;
        let mut made = query.fetch(&mut *self.session.connection);
        let mut keys: Vec<Vec<Cell>> = Vec::new();
        while let Some(row) = made.try_next().await? {
            if keys.len() as u64 >= most {
                return Err(over(None, most));
            }
            let key = self.table.key.iter().enumerate();
            let key = key.map(|(n, at)| Ok(cell(&self.table, *at, row.try_get_unchecked(n)?)));
            keys.push(key.collect::<Result<_, sqlx::Error>>()?);
        }
        drop(made);
        let rows = self.after(&keys, zone).await?.into_iter();
        Ok(rows.map(|after| RowChange { table: 0, before: None, after }).collect())
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
            rows.push(MySqlStore(self.session.connection).fetch(sql.clone(), &self.table, key).await?);
        }
        self.session.set("time_zone", Some(zone)).await?;
        Ok(rows)
    }
}
