//! Rows put back: each value by the text that the server itself wrote for it.

use sqlx::query::Query;
use sqlx::{AssertSqlSafe, PgConnection, Postgres, Row as _};

use super::table::{self, texts};
use crate::sql::catalog::quoted;
use crate::sql::change::{Cell, Snapshot, Store, Table, put_back};
use crate::sql::error::SqlError;
use crate::sql::server_tables::{Reference, Server, TableInfo, check_unaltered};

pub(crate) async fn restore(connection: &mut PgConnection, snapshot: &Snapshot) -> Result<u64, SqlError> {
    let mut store = PostgresStore(connection);
    check_unaltered(&mut store, snapshot).await?;
    put_back(&mut store, snapshot).await
}

pub(super) struct PostgresStore<'c>(&'c mut PgConnection);

/// Every value is a text, cast to its column's type by the server.
fn bound<'q, 'c>(
    sql: String,
    cells: impl IntoIterator<Item = &'c Cell>,
) -> Query<'q, Postgres, sqlx::postgres::PgArguments> {
    let query = sqlx::query(AssertSqlSafe(sql)).persistent(false);
    cells.into_iter().fold(query, |query, cell| match cell {
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
        let row = bound(sql, key).fetch_optional(&mut *self.0).await?;
        Ok(row.map(|row| row.try_get(0)).transpose()?.map(cells))
    }

    async fn execute(&mut self, sql: String, values: &[&Cell]) -> Result<u64, SqlError> {
        Ok(bound(sql, values.iter().copied()).execute(&mut *self.0).await?.rows_affected())
    }
}

/// The texts of a row.
pub(super) fn cells(texts: Vec<Option<String>>) -> Vec<Cell> {
    texts.into_iter().map(|text| text.map_or(Cell::Null, Cell::Text)).collect()
}

impl Server for PostgresStore<'_> {
    async fn table_info(&mut self, table: &Table) -> Result<Option<TableInfo>, SqlError> {
        Ok(table::read_table(self.0, &Self::full_name(table), "insert", &[]).await?)
    }

    async fn references(&mut self, table: &Table) -> Result<Vec<Reference>, SqlError> {
        Ok(table::references(self.0, &Self::full_name(table)).await?)
    }

    async fn finds(&mut self, sql: String, key: &[Cell]) -> Result<bool, SqlError> {
        Ok(bound(sql, key).fetch_optional(&mut *self.0).await?.is_some())
    }
}
