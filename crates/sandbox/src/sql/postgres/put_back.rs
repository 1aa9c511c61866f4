//! Rows put back: each value by the text that the server itself wrote for it.

use sqlx::query::Query;
use sqlx::{AssertSqlSafe, PgConnection, Postgres, Row as _};

use super::classify;
use super::table::{self, quoted, texts};
use crate::sql::change::{Cell, Snapshot, Store, Table, put_back};
use crate::sql::error::SqlError;
use crate::sql::policy::Limits;
use crate::sql::server_tables::{Reference, Server, TableInfo, check_unaltered};

pub(crate) async fn restore(
    connection: &mut PgConnection,
    snapshot: &Snapshot,
    limits: &Limits,
) -> Result<u64, SqlError> {
    let mut store = PostgresStore { connection, limits };
    check_unaltered(&mut store, snapshot).await?;
    put_back(&mut store, snapshot).await
}

pub(super) struct PostgresStore<'c> {
    connection: &'c mut PgConnection,
    limits: &'c Limits,
}

/// Every value is a text, cast to its column's type by the server.
fn bound<'q>(sql: String, cells: &[&Cell]) -> Query<'q, Postgres, sqlx::postgres::PgArguments> {
    let query = sqlx::query(AssertSqlSafe(sql)).persistent(false);
    cells.iter().fold(query, |query, cell| match cell {
        Cell::Text(text) => query.bind(Some(text.clone())),
        _ => query.bind(None::<String>),
    })
}

impl Store for PostgresStore<'_> {
    const OVERRIDE: &'static str = " OVERRIDING SYSTEM VALUE";

    fn quoted(name: &str) -> String {
        quoted(name)
    }

    fn mark(table: &Table, column: usize, number: usize) -> String {
        format!("CAST(${number} AS {})", table.columns[column].kind)
    }

    fn selected(table: &Table) -> String {
        texts(table, "")
    }

    /// Only what differs: some columns may not be set at all.
    fn columns_to_set(table: &Table, now: &[Cell], row: &[Cell]) -> Vec<usize> {
        (0..table.columns.len()).filter(|at| now[*at] != row[*at]).collect()
    }

    async fn fetch(&mut self, sql: String, _table: &Table, key: &[Cell]) -> Result<Option<Vec<Cell>>, SqlError> {
        let query = bound(sql, &key.iter().collect::<Vec<_>>());
        let row = query.fetch_optional(&mut *self.connection).await;
        let texts: Result<Option<Vec<Option<String>>>, _> =
            row.and_then(|row| row.map(|row| row.try_get(0)).transpose());
        let texts = texts.map_err(|e| classify(&e, self.limits))?;
        let cell = |text: Option<String>| text.map_or(Cell::Null, Cell::Text);
        Ok(texts.map(|texts| texts.into_iter().map(cell).collect()))
    }

    async fn execute(&mut self, sql: String, values: &[&Cell]) -> Result<u64, SqlError> {
        let done = bound(sql, values).execute(&mut *self.connection).await;
        Ok(done.map_err(|e| classify(&e, self.limits))?.rows_affected())
    }
}

impl Server for PostgresStore<'_> {
    async fn table_info(&mut self, table: &Table) -> Result<Option<TableInfo>, SqlError> {
        let found = table::read_table(self.connection, &Self::full_name(table), "insert", &[]).await;
        found.map_err(|e| classify(&e, self.limits))
    }

    async fn references(&mut self, table: &Table) -> Result<Vec<Reference>, SqlError> {
        let found = table::references(self.connection, &Self::full_name(table)).await;
        found.map_err(|e| classify(&e, self.limits))
    }

    async fn finds(&mut self, sql: String, key: &[Cell]) -> Result<bool, SqlError> {
        let query = bound(sql, &key.iter().collect::<Vec<_>>());
        let found = query.fetch_optional(&mut *self.connection).await;
        Ok(found.map_err(|e| classify(&e, self.limits))?.is_some())
    }
}
