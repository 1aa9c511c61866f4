use serde_json::Value;
use sqlx::query::Query;
use sqlx::{Database, Encode, Type};

use super::change::{Cell, Column, Snapshot, Store, Table};
use super::error::SqlError;

pub(crate) fn bind<'q, DB: Database>(
    mut query: Query<'q, DB, DB::Arguments>,
    parameters: &[Value],
) -> Result<Query<'q, DB, DB::Arguments>, SqlError>
where
    for<'t> Option<String>: Encode<'t, DB> + Type<DB>,
    for<'t> String: Encode<'t, DB> + Type<DB>,
    for<'t> bool: Encode<'t, DB> + Type<DB>,
    for<'t> i64: Encode<'t, DB> + Type<DB>,
    for<'t> f64: Encode<'t, DB> + Type<DB>,
{
    for (at, value) in parameters.iter().enumerate() {
        query = match value {
            Value::Null => query.bind(None::<String>),
            Value::Bool(b) => query.bind(*b),
            Value::String(s) => query.bind(s.clone()),
            Value::Number(n) => match (n.as_i64(), n.as_f64()) {
                (Some(i), _) => query.bind(i),
                (None, Some(f)) => query.bind(f),
                (None, None) => return Err(unbindable(at + 1)),
            },
            Value::Array(_) | Value::Object(_) => return Err(unbindable(at + 1)),
        };
    }
    Ok(query)
}

fn unbindable(index: usize) -> SqlError {
    SqlError::Parameter { index, reason: "use a text, number, boolean or null".to_owned() }
}

#[derive(Debug, Clone)]
pub(crate) struct TableInfo {
    pub table: Table,
    /// Sets of columns that identify a row, the primary key first.
    pub keys: Vec<Vec<String>>,
    /// Why a write can't be tried without consequences, if it can't.
    pub no_preview: Option<String>,
    pub no_undo: Option<String>,
    /// Tables whose rows a write changes too, through their foreign keys.
    pub dependents: Vec<String>,
}

/// The first reason that holds.
pub(crate) fn first<const N: usize>(reasons: [Option<String>; N]) -> Option<String> {
    reasons.into_iter().flatten().next()
}

impl TableInfo {
    /// The table with its first key whose columns are all `usable`.
    pub fn with_key(&self, usable: impl Fn(&Column) -> bool) -> Option<Table> {
        let place = |name: &String| self.table.columns.iter().position(|column| column.name == *name && usable(column));
        let key = self.keys.iter().find_map(|key| key.iter().map(place).collect::<Option<Vec<_>>>())?;
        Some(Table { key, ..self.table.clone() })
    }

    pub fn dependents_note(&self) -> Option<String> {
        let names = self.dependents.join(", ");
        (!names.is_empty()).then(|| format!("rows that refer to them go along: {names}"))
    }
}

pub(crate) struct Reference {
    pub child: String,
    pub shown: String,
    /// Its columns and those that they refer to, as SQL text.
    pub columns: Vec<(String, String)>,
}

pub(crate) trait Server: Store {
    async fn table_info(&mut self, table: &Table) -> Result<Option<TableInfo>, SqlError>;
    /// The foreign keys whose rows would go, or lose their link, together with a row of the table.
    async fn references(&mut self, table: &Table) -> Result<Vec<Reference>, SqlError>;
    async fn finds(&mut self, sql: String, key: &[Cell]) -> Result<bool, SqlError>;
}

/// Checks that the tables of `snapshot` are as they were, and that no rows made since would go along.
pub(crate) async fn check_unaltered<S: Server>(server: &mut S, snapshot: &Snapshot) -> Result<(), SqlError> {
    for (at, table) in snapshot.tables.iter().enumerate() {
        check_columns(server.table_info(table).await?, table)?;
        let inserted = snapshot.rows.iter().filter(|row| row.table == at && row.before.is_none());
        let inserted: Vec<&Vec<Cell>> = inserted.filter_map(|row| row.after.as_ref()).collect();
        if !inserted.is_empty() {
            check_references(server, table, &inserted).await?;
        }
    }
    Ok(())
}

fn check_columns(info: Option<TableInfo>, table: &Table) -> Result<(), SqlError> {
    let name = table.shown();
    let Some(info) = info else {
        return Err(SqlError::NoUndo(format!("there is no table {name} any more")));
    };
    if let Some(why) = info.no_preview {
        return Err(SqlError::NoUndo(why));
    }
    let names = table.key.iter().map(|at| Some(&table.columns.get(*at)?.name));
    let key: Option<Vec<&String>> = names.collect();
    let known = key.is_some_and(|key| info.keys.iter().any(|one| one.iter().eq(key.iter().copied())));
    if info.table.columns != table.columns || !known {
        return Err(SqlError::NoUndo(format!("the columns of {name} are not what they were")));
    }
    Ok(())
}

async fn check_references<S: Server>(server: &mut S, table: &Table, rows: &[&Vec<Cell>]) -> Result<(), SqlError> {
    let references = server.references(table).await?;
    for row in rows {
        for Reference { child, shown, columns } in &references {
            let on: Vec<String> = columns.iter().map(|(theirs, ours)| format!("c.{theirs} = t.{ours}")).collect();
            let sql = format!(
                "SELECT 1 FROM {child} AS c JOIN {} AS t ON {} WHERE {} LIMIT 1",
                S::full_name(table),
                on.join(" AND "),
                S::key_condition(table, "t.", 1)
            );
            if server.finds(sql, &table.key_of(row)).await? {
                return Err(SqlError::NoUndo(format!(
                    "rows of {shown} that were made since refer to what would go; nothing was changed"
                )));
            }
        }
    }
    Ok(())
}
