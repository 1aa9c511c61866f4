//! Rows put back: each value by the text that the server itself wrote for it.

use sqlx::query::Query;
use sqlx::{AssertSqlSafe, PgConnection, Postgres, Row as _};

use super::classify;
use super::shape::{self, full, quoted, texts};
use crate::sql::change::{Cell, Snapshot, Store, Table, put_back};
use crate::sql::error::SqlError;
use crate::sql::policy::Limits;

/// Puts the rows of `snapshot` back in the open transaction.
pub(super) async fn restore(
    connection: &mut PgConnection,
    snapshot: &Snapshot,
    limits: &Limits,
) -> Result<u64, SqlError> {
    let mut server = Server { connection, limits };
    for (at, table) in snapshot.tables.iter().enumerate() {
        server.unaltered(at, table, snapshot).await?;
    }
    put_back(&mut server, snapshot).await
}

struct Server<'c> {
    connection: &'c mut PgConnection,
    limits: &'c Limits,
}

impl Server<'_> {
    async fn unaltered(&mut self, at: usize, table: &Table, snapshot: &Snapshot) -> Result<(), SqlError> {
        let found = shape::named(self.connection, &full(table), "insert", &[]).await;
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
        let dependents = shape.dependents(self.connection).await;
        let dependents = dependents.map_err(|e| classify(&e, self.limits))?;
        for row in going.filter_map(|row| row.after.as_ref()) {
            for (child, theirs, ours) in &dependents {
                let pairs = theirs.iter().zip(ours);
                let on: Vec<String> = pairs.map(|(a, b)| format!("c.{a} = t.{b}")).collect();
                let sql = format!(
                    "SELECT EXISTS (SELECT 1 FROM {child} c JOIN {} t ON {} WHERE {})",
                    full(table),
                    on.join(" AND "),
                    named(table, 1)
                );
                let key = table.key_of(row);
                let query = bound(&sql, &key.iter().collect::<Vec<_>>());
                let row = query.fetch_one(&mut *self.connection).await;
                let found = row.and_then(|row| row.try_get::<bool, _>(0));
                if found.map_err(|e| classify(&e, self.limits))? {
                    return no(format!(
                        "rows of {child} that were made since refer to what would go; nothing was changed"
                    ));
                }
            }
        }
        Ok(())
    }

    async fn execute(&mut self, sql: &str, cells: &[&Cell]) -> Result<(), SqlError> {
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

/// Every value is a text, cast to its column's type by the server.
fn bound<'q>(sql: &str, cells: &[&Cell]) -> Query<'q, Postgres, sqlx::postgres::PgArguments> {
    let query = sqlx::query(AssertSqlSafe(sql.to_owned())).persistent(false);
    cells.iter().fold(query, |query, cell| match cell {
        Cell::Text(text) => query.bind(Some(text.clone())),
        _ => query.bind(None::<String>),
    })
}

fn mark(table: &Table, column: usize, number: usize) -> String {
    format!("CAST(${number} AS {})", table.columns[column].kind)
}

/// The condition for a key whose values are bound from `first` on.
fn named(table: &Table, first: usize) -> String {
    let parts = table.key.iter().enumerate().map(|(n, at)| {
        let column = quoted(&table.columns[*at].name);
        format!("t.{column} = {}", mark(table, *at, first + n))
    });
    parts.collect::<Vec<_>>().join(" AND ")
}

impl Store for Server<'_> {
    async fn current(&mut self, table: &Table, key: &[Cell]) -> Result<Option<Vec<Cell>>, SqlError> {
        let sql = format!("SELECT {} FROM {} t WHERE {} FOR UPDATE", texts(table, "t"), full(table), named(table, 1));
        let query = bound(&sql, &key.iter().collect::<Vec<_>>());
        let found = query.fetch_optional(&mut *self.connection).await;
        let row = found.map_err(|e| refused(classify(&e, self.limits)))?;
        let Some(row) = row else {
            return Ok(None);
        };
        let texts: Vec<Option<String>> = row.try_get(0).map_err(|e| classify(&e, self.limits))?;
        let cells = texts.into_iter();
        Ok(Some(cells.map(|text| text.map_or(Cell::Null, Cell::Text)).collect()))
    }

    async fn insert(&mut self, table: &Table, row: &[Cell]) -> Result<(), SqlError> {
        let columns = table.columns.iter().map(|column| quoted(&column.name));
        let marks = (0..table.columns.len()).map(|at| mark(table, at, at + 1));
        let sql = format!(
            "INSERT INTO {} ({}) OVERRIDING SYSTEM VALUE VALUES ({})",
            full(table),
            columns.collect::<Vec<_>>().join(", "),
            marks.collect::<Vec<_>>().join(", ")
        );
        self.execute(&sql, &row.iter().collect::<Vec<_>>()).await
    }

    async fn update(&mut self, table: &Table, now: &[Cell], row: &[Cell]) -> Result<(), SqlError> {
        // Only what differs: some columns may not be set at all.
        let different: Vec<usize> = (0..table.columns.len()).filter(|at| now[*at] != row[*at]).collect();
        if different.is_empty() {
            return Ok(());
        }
        let set = different.iter().enumerate().map(|(n, at)| {
            let column = quoted(&table.columns[*at].name);
            format!("{column} = {}", mark(table, *at, n + 1))
        });
        let sql = format!(
            "UPDATE {} t SET {} WHERE {}",
            full(table),
            set.collect::<Vec<_>>().join(", "),
            named(table, different.len() + 1)
        );
        let key = table.key_of(now);
        let values = different.iter().map(|at| &row[*at]).chain(&key);
        self.execute(&sql, &values.collect::<Vec<_>>()).await
    }

    async fn delete(&mut self, table: &Table, key: &[Cell]) -> Result<(), SqlError> {
        let sql = format!("DELETE FROM {} t WHERE {}", full(table), named(table, 1));
        self.execute(&sql, &key.iter().collect::<Vec<_>>()).await
    }
}
