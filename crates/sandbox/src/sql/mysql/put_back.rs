use sqlx::MySqlConnection;

use super::table::{self, quoted};
use super::values::{bound, cells, mark, readings};
use super::{UTC, executed_triggers, set_variable};
use crate::sql::change::{Cell, Snapshot, Store, Table, WriteState, put_back, settle};
use crate::sql::error::SqlError;
use crate::sql::server_guard::Verb;
use crate::sql::server_tables::{Reference, Server, TableInfo, check_unaltered};

pub(crate) async fn restore(connection: &mut MySqlConnection, snapshot: &Snapshot) -> Result<u64, SqlError> {
    let mut store = MySqlStore::of_unaltered(connection, snapshot).await?;
    let before = executed_triggers(store.0).await?;
    let count = put_back(&mut store, snapshot).await?;
    if executed_triggers(store.0).await? != before {
        return Err(SqlError::NoUndo("triggers would run, which may do anything; nothing was changed".to_owned()));
    }
    Ok(count)
}

pub(crate) async fn settle_rows(
    connection: &mut MySqlConnection,
    snapshot: &Snapshot,
    later: &[Snapshot],
) -> Result<WriteState, SqlError> {
    settle(&mut MySqlStore::of_unaltered(connection, snapshot).await?, snapshot, later).await
}

pub(super) struct MySqlStore<'c>(pub &'c mut MySqlConnection);

impl<'c> MySqlStore<'c> {
    async fn of_unaltered(connection: &'c mut MySqlConnection, snapshot: &Snapshot) -> Result<Self, SqlError> {
        let mut store = Self(connection);
        check_unaltered(&mut store, snapshot).await?;
        set_variable(store.0, "time_zone", Some(UTC)).await?;
        Ok(store)
    }
}

impl Store for MySqlStore<'_> {
    fn quoted(name: &str) -> String {
        quoted(name)
    }

    fn mark(table: &Table, column: usize, _number: usize) -> String {
        mark(table, column).to_owned()
    }

    fn selected(table: &Table) -> String {
        readings(table, "")
    }

    async fn fetch(&mut self, sql: String, table: &Table, key: &[Cell]) -> Result<Option<Vec<Cell>>, SqlError> {
        let row = bound(sql, key).fetch_optional(&mut *self.0).await?;
        Ok(row.map(|row| cells(table, &row)).transpose()?)
    }

    async fn execute(&mut self, sql: String, values: &[&Cell]) -> Result<u64, SqlError> {
        Ok(bound(sql, values.iter().copied()).execute(&mut *self.0).await?.rows_affected())
    }
}

impl Server for MySqlStore<'_> {
    async fn table_info(&mut self, table: &Table) -> Result<Option<TableInfo>, SqlError> {
        let all = [Verb::Insert, Verb::Update, Verb::Delete];
        let found = table::read_table(self.0, &table.name, &all, &[]).await?;
        Ok(found.map(|found| found.info))
    }

    async fn references(&mut self, table: &Table) -> Result<Vec<Reference>, SqlError> {
        let links = table::deleting_links(self.0, table).await?;
        let reference = |link: table::Link| {
            let [schema, child] = link.child;
            let columns = link.columns.iter().map(|(theirs, ours)| (quoted(theirs), quoted(ours))).collect();
            Reference { child: format!("{}.{}", quoted(&schema), quoted(&child)), shown: child, columns }
        };
        Ok(links.into_iter().map(reference).collect())
    }

    async fn finds(&mut self, sql: String, key: &[Cell]) -> Result<bool, SqlError> {
        Ok(bound(sql, key).fetch_optional(&mut *self.0).await?.is_some())
    }
}
