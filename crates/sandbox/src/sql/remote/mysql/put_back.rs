//! Rows put back: each value by a text that the server reads as the same value.

use sqlx::{MySqlConnection, Row as _};

use super::classify;
use super::shape::{self, full, quoted};
use super::values::{bound, cells, mark, named, readings};
use crate::sql::change::{Cell, Found, Snapshot, Store, Table, put_back, settle};
use crate::sql::error::SqlError;
use crate::sql::parsed::Verb;
use crate::sql::policy::Limits;

/// Puts the rows of `snapshot` back in the open transaction.
pub(super) async fn restore(
    connection: &mut MySqlConnection,
    snapshot: &Snapshot,
    limits: &Limits,
) -> Result<u64, SqlError> {
    let mut server = Server { connection, limits };
    for (at, table) in snapshot.tables.iter().enumerate() {
        server.unaltered(at, table, snapshot).await?;
    }
    server.plainly("SET SESSION time_zone = '+00:00'").await?;
    let before = server.triggers().await?;
    let count = put_back(&mut server, snapshot).await?;
    if server.triggers().await? != before {
        return Err(SqlError::NoUndo("triggers would run, which may do anything; nothing was changed".to_owned()));
    }
    Ok(count)
}

/// Whether the write that `snapshot` was recorded of is done, in the open transaction.
pub(super) async fn settle_rows(
    connection: &mut MySqlConnection,
    snapshot: &Snapshot,
    later: &[Snapshot],
    limits: &Limits,
) -> Result<Found, SqlError> {
    let mut server = Server { connection, limits };
    for (at, table) in snapshot.tables.iter().enumerate() {
        server.unaltered(at, table, snapshot).await?;
    }
    server.plainly("SET SESSION time_zone = '+00:00'").await?;
    settle(&mut server, snapshot, later).await
}

struct Server<'c> {
    connection: &'c mut MySqlConnection,
    limits: &'c Limits,
}

impl Server<'_> {
    async fn plainly(&mut self, sql: &'static str) -> Result<(), SqlError> {
        let done = sqlx::raw_sql(sql).execute(&mut *self.connection).await;
        done.map(|_| ()).map_err(|e| classify(&e, self.limits))
    }

    async fn triggers(&mut self) -> Result<Option<String>, SqlError> {
        let sql = "SHOW SESSION STATUS LIKE 'Executed_triggers'";
        let row = sqlx::raw_sql(sql).fetch_optional(&mut *self.connection).await;
        let row = row.map_err(|e| classify(&e, self.limits))?;
        Ok(row.and_then(|row| row.try_get_unchecked(1).ok()))
    }

    async fn unaltered(&mut self, at: usize, table: &Table, snapshot: &Snapshot) -> Result<(), SqlError> {
        let all = [Verb::Insert, Verb::Update, Verb::Delete];
        let found = shape::of(self.connection, &table.name, &all, &[]).await;
        let found = found.map_err(|e| classify(&e, self.limits))?;
        let no = |why: String| Err(SqlError::NoUndo(why));
        let name = table.shown();
        let Some(shape) = found else {
            return no(format!("there is no table {name} any more"));
        };
        if let Some(why) = &shape.untold {
            return no(why.clone());
        }
        let names = table.key.iter().map(|at| Some(&table.columns.get(*at)?.name));
        let key: Option<Vec<&String>> = names.collect();
        let known = key.is_some_and(|key| shape.keys.iter().any(|one| one.iter().eq(key.iter().copied())));
        if shape.table.columns != table.columns || !known {
            return no(format!("the columns of {name} are not what they were"));
        }
        let going = snapshot.rows.iter().filter(|row| row.table == at);
        let mut going = going.filter(|row| row.before.is_none()).peekable();
        if going.peek().is_none() {
            return Ok(());
        }
        // A row that goes would take these along.
        let links = shape::dependents(self.connection, table).await;
        let links = links.map_err(|e| classify(&e, self.limits))?;
        for row in going.filter_map(|row| row.after.as_ref()) {
            for link in &links {
                let [schema, child] = &link.child;
                let pairs = link.columns.iter();
                let on = pairs.map(|(a, b)| format!("c.{} = t.{}", quoted(a), quoted(b)));
                let sql = format!(
                    "SELECT EXISTS (SELECT 1 FROM {}.{} AS c JOIN {} AS t ON {} WHERE {})",
                    quoted(schema),
                    quoted(child),
                    full(table),
                    on.collect::<Vec<_>>().join(" AND "),
                    named(table, "t.")
                );
                let key = table.key_of(row);
                let query = bound(sql, &key.iter().collect::<Vec<_>>());
                let row = query.fetch_one(&mut *self.connection).await;
                let found = row.and_then(|row| row.try_get_unchecked::<i64, _>(0));
                if found.map_err(|e| classify(&e, self.limits))? != 0 {
                    return no(format!(
                        "rows of {child} that were made since refer to what would go; nothing was changed"
                    ));
                }
            }
        }
        Ok(())
    }

    async fn execute(&mut self, sql: String, cells: &[&Cell]) -> Result<(), SqlError> {
        let done = bound(sql, cells).execute(&mut *self.connection).await;
        match done.map_err(|e| refused(classify(&e, self.limits)))?.rows_affected() {
            1 => Ok(()),
            _ => Err(SqlError::NoUndo("a row is not there".to_owned())),
        }
    }
}

fn refused(error: SqlError) -> SqlError {
    match error {
        SqlError::Server(message) => SqlError::NoUndo(format!("{message}; nothing was changed")),
        other => other,
    }
}

impl Store for Server<'_> {
    async fn current(&mut self, table: &Table, key: &[Cell]) -> Result<Option<Vec<Cell>>, SqlError> {
        let sql = format!(
            "SELECT {} FROM {} AS t WHERE {} FOR UPDATE",
            readings(table, "t."),
            full(table),
            named(table, "t.")
        );
        let query = bound(sql, &key.iter().collect::<Vec<_>>());
        let found = query.fetch_optional(&mut *self.connection).await;
        let row = found.map_err(|e| refused(classify(&e, self.limits)))?;
        let row = row.map(|row| cells(table, &row)).transpose();
        row.map_err(|e| classify(&e, self.limits))
    }

    async fn insert(&mut self, table: &Table, row: &[Cell]) -> Result<(), SqlError> {
        let columns = table.columns.iter().map(|column| quoted(&column.name));
        let marks = (0..table.columns.len()).map(|at| mark(table, at));
        let sql = format!(
            "INSERT INTO {} ({}) VALUES ({})",
            full(table),
            columns.collect::<Vec<_>>().join(", "),
            marks.collect::<Vec<_>>().join(", ")
        );
        self.execute(sql, &row.iter().collect::<Vec<_>>()).await
    }

    async fn update(&mut self, table: &Table, now: &[Cell], row: &[Cell]) -> Result<(), SqlError> {
        // All of them: a column that sets itself to the time of a change does not when it is named.
        let set = (0..table.columns.len()).map(|at| {
            let column = quoted(&table.columns[at].name);
            format!("{column} = {}", mark(table, at))
        });
        let sql =
            format!("UPDATE {} SET {} WHERE {}", full(table), set.collect::<Vec<_>>().join(", "), named(table, ""));
        let key = table.key_of(now);
        self.execute(sql, &row.iter().chain(&key).collect::<Vec<_>>()).await
    }

    async fn delete(&mut self, table: &Table, key: &[Cell]) -> Result<(), SqlError> {
        let sql = format!("DELETE FROM {} WHERE {}", full(table), named(table, ""));
        self.execute(sql, &key.iter().collect::<Vec<_>>()).await
    }
}
