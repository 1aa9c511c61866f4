//! Records a write in one statement: RETURNING gives the rows after it, and another part those before.

use sqlx::{AssertSqlSafe, PgConnection};

use super::classify;
use super::put_back::PostgresStore;
use super::table::{quoted, table_of, texts};
use crate::sql::change::{Cell, Changes, RowChange, Snapshot, Store as _, Table, lines};
use crate::sql::error::SqlError;
use crate::sql::policy::Limits;
use crate::sql::server_guard::{Checked, Verb, Write};
use crate::sql::server_tables::bind;

/// Runs the write in the open transaction. A write to `preview` is refused where a rollback would not undo everything.
pub(crate) async fn change(
    connection: &mut PgConnection,
    checked: &Checked,
    parameters: &[serde_json::Value],
    limits: &Limits,
    preview: bool,
) -> Result<Changes, SqlError> {
    let found = match &checked.write {
        Some(write) => {
            let info = table_of(connection, write).await.map_err(|e| classify(&e, limits))?;
            info.map(|info| (write, info))
        }
        None => None,
    };
    let Some((write, info)) = found else {
        let why = "its table can't be told from the statement";
        return unrecorded(connection, checked, parameters, limits, why, Vec::new()).await;
    };
    if let Some(why) = info.no_preview.clone().filter(|_| preview) {
        return Err(SqlError::NoPreview(why));
    }
    let notes = info.dependents_note().into_iter().collect();
    if let Some(why) = &info.no_undo {
        return unrecorded(connection, checked, parameters, limits, why, notes).await;
    }
    let Some(table) = info.with_key(|column| !write.assigned.contains(&column.name)) else {
        let why = "it changes what names the rows";
        return unrecorded(connection, checked, parameters, limits, why, notes).await;
    };
    RecordedWrite { write, table }.run(connection, parameters, limits).await
}

async fn unrecorded(
    connection: &mut PgConnection,
    checked: &Checked,
    parameters: &[serde_json::Value],
    limits: &Limits,
    why: &str,
    notes: Vec<String>,
) -> Result<Changes, SqlError> {
    let query = bind(sqlx::query(AssertSqlSafe(checked.sql.clone())), parameters)?;
    let done = query.execute(connection).await;
    Ok(Changes {
        count: done.map_err(|e| classify(&e, limits))?.rows_affected(),
        lines: Vec::new(),
        notes,
        undo: Err(why.to_owned()),
    })
}

struct RecordedWrite<'w> {
    write: &'w Write,
    table: Table,
}

/// Number of changed rows, whether the rows so far fit, before, after.
type Row = (i64, bool, Option<Vec<Option<String>>>, Option<Vec<Option<String>>>);

impl RecordedWrite<'_> {
    fn sql(&self, limits: &Limits) -> String {
        let (write, table) = (self.write, &self.table);
        let keys: Vec<String> = table.key.iter().map(|at| quoted(&table.columns[*at].name)).collect();
        let returned: Vec<String> =
            keys.iter().enumerate().map(|(n, key)| format!("{}.{key} AS k{n}", write.qualifier)).collect();
        let row = texts(table, &format!("{}.", write.qualifier));
        let updates = write.verb == Verb::Update || write.upsert;
        let (before, join) = if write.verb == Verb::Delete {
            ("w.r".to_owned(), String::new())
        } else if updates {
            let same: Vec<String> = keys.iter().enumerate().map(|(n, key)| format!("o.{key} = w.k{n}")).collect();
            let join = format!("LEFT JOIN {} o ON {}", PostgresStore::full_name(table), same.join(" AND "));
            // An absent row has no key.
            let absent = format!("o.{} IS NULL", keys[0]);
            (format!("CASE WHEN {absent} THEN NULL ELSE {} END", texts(table, "o.")), join)
        } else {
            ("NULL::text[]".to_owned(), String::new())
        };
        let after = if write.verb == Verb::Delete { "NULL::text[]" } else { "w.r" };
        format!(
            "WITH steward_changed AS ({} RETURNING {}, {row} AS r), \
             numbered AS (SELECT row_number() OVER () AS n, * FROM steward_changed), \
             rows AS (SELECT w.n, {before} AS before, {after} AS after FROM numbered w {join}), \
             sized AS (SELECT *, sum(coalesce(octet_length(before::text), 0) + coalesce(octet_length(after::text), 0)) \
               OVER (ORDER BY n) AS size FROM rows) \
             SELECT (SELECT count(*) FROM steward_changed), size <= {bytes}, \
               CASE WHEN size <= {bytes} THEN before END, CASE WHEN size <= {bytes} THEN after END \
             FROM sized ORDER BY n LIMIT {}",
            write.body,
            returned.join(", "),
            limits.undo_rows + 1,
            bytes = limits.undo_bytes,
        )
    }

    async fn run(
        &self,
        connection: &mut PgConnection,
        parameters: &[serde_json::Value],
        limits: &Limits,
    ) -> Result<Changes, SqlError> {
        let sql = AssertSqlSafe(self.sql(limits));
        let query = bind(sqlx::query(sql), parameters)?.persistent(false);
        let rows = query.fetch_all(connection).await;
        let rows = rows.map_err(|e| classify(&e, limits))?;
        let rows: Vec<Row> = rows
            .iter()
            .map(<Row as sqlx::FromRow<_>>::from_row)
            .collect::<Result<_, _>>()
            .map_err(|e| classify(&e, limits))?;
        let count = rows.first().map_or(0, |row| row.0);
        let fits = rows.iter().all(|row| row.1);
        let refusal = limits.undo_refusal(rows.len(), if fits { 0 } else { usize::MAX });
        // An UPDATE whose row was not there before has changed the row's key.
        let torn = self.write.verb == Verb::Update && rows.iter().any(|row| row.1 && row.2.is_none());
        let cells = |row: Vec<Option<String>>| -> Vec<Cell> {
            row.into_iter().map(|text| text.map_or(Cell::Null, Cell::Text)).collect()
        };
        let changed = rows.into_iter().filter(|row| row.1);
        let snapshot = Snapshot {
            tables: vec![self.table.clone()],
            rows: changed
                .map(|(.., before, after)| RowChange { table: 0, before: before.map(cells), after: after.map(cells) })
                .collect(),
        };
        Ok(Changes {
            count: u64::try_from(count).unwrap_or_default(),
            lines: lines(&snapshot),
            notes: Vec::new(),
            undo: match refusal {
                Some(why) => Err(why),
                None if torn => Err(format!("it changes what names the rows of {}", self.table.shown())),
                None => Ok(snapshot),
            },
        })
    }
}
