use sqlx::MySqlConnection;

use super::table::{self, quoted};
use super::values::{bound, cells, mark, readings};
use super::{UTC, classify, executed_triggers, set_variable};
use crate::sql::change::{Cell, Snapshot, Store, Table, WriteState, put_back, settle};
use crate::sql::error::SqlError;
use crate::sql::policy::Limits;
use crate::sql::server_guard::Verb;
use crate::sql::server_tables::{Reference, Server, TableInfo, check_unaltered};

pub(crate) async fn restore(
    connection: &mut MySqlConnection,
    snapshot: &Snapshot,
    limits: &Limits,
) -> Result<u64, SqlError> {
    let mut store = MySqlStore { connection, limits };
    check_unaltered(&mut store, snapshot).await?;
    set_variable(store.connection, "time_zone", Some(UTC), limits).await?;
    let before = executed_triggers(store.connection, limits).await?;
    let count = put_back(&mut store, snapshot).await?;
    if executed_triggers(store.connection, limits).await? != before {
        return Err(SqlError::NoUndo("triggers would run, which may do anything; nothing was changed".to_owned()));
    }
    Ok(count)
}

pub(crate) async fn settle_rows(
    connection: &mut MySqlConnection,
    snapshot: &Snapshot,
    later: &[Snapshot],
    limits: &Limits,
) -> Result<WriteState, SqlError> {
    let mut store = MySqlStore { connection, limits };
    check_unaltered(&mut store, snapshot).await?;
    set_variable(store.connection, "time_zone", Some(UTC), limits).await?;
    settle(&mut store, snapshot, later).await
}

pub(super) struct MySqlStore<'c> {
    connection: &'c mut MySqlConnection,
    limits: &'c Limits,
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
        let query = bound(sql, &key.iter().collect::<Vec<_>>());
        let row = query.fetch_optional(&mut *self.connection).await;
        let row = row.and_then(|row| row.map(|row| cells(table, &row)).transpose());
        row.map_err(|e| classify(&e, self.limits))
    }

    async fn execute(&mut self, sql: String, values: &[&Cell]) -> Result<u64, SqlError> {
        let done = bound(sql, values).execute(&mut *self.connection).await;
        Ok(done.map_err(|e| classify(&e, self.limits))?.rows_affected())
    }
}

impl Server for MySqlStore<'_> {
    async fn table_info(&mut self, table: &Table) -> Result<Option<TableInfo>, SqlError> {
        let all = [Verb::Insert, Verb::Update, Verb::Delete];
        let found = table::read_table(self.connection, &table.name, &all, &[]).await;
        Ok(found.map_err(|e| classify(&e, self.limits))?.map(|found| found.info))
    }

    async fn references(&mut self, table: &Table) -> Result<Vec<Reference>, SqlError> {
        let links = table::deleting_links(self.connection, table).await.map_err(|e| classify(&e, self.limits))?;
        let reference = |link: table::Link| {
            let [schema, child] = link.child;
            let columns = link.columns.iter().map(|(theirs, ours)| (quoted(theirs), quoted(ours))).collect();
            Reference { child: format!("{}.{}", quoted(&schema), quoted(&child)), shown: child, columns }
        };
        Ok(links.into_iter().map(reference).collect())
    }

    async fn finds(&mut self, sql: String, key: &[Cell]) -> Result<bool, SqlError> {
        let query = bound(sql, &key.iter().collect::<Vec<_>>());
        let found = query.fetch_optional(&mut *self.connection).await;
        Ok(found.map_err(|e| classify(&e, self.limits))?.is_some())
    }
}
