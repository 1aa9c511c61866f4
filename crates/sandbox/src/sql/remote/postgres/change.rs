//! A write with what it changes: its own RETURNING gives the rows after, and the same statement reads the rows before,
//! since all its parts see the table as it was when it began.

use sqlx::{AssertSqlSafe, PgConnection};

use super::shape::{self, Shape, full, quoted, texts};
use super::{bind, classify};
use crate::sql::change::{Cell, Changes, RowChange, Snapshot, Table, lines};
use crate::sql::error::SqlError;
use crate::sql::parsed::{Checked, Verb, Write};
use crate::sql::policy::Limits;

/// Runs it in the open transaction. With `look` it will be rolled back, and is not run where that is not enough.
pub(super) async fn change(
    connection: &mut PgConnection,
    checked: &Checked,
    parameters: &[serde_json::Value],
    limits: &Limits,
    look: bool,
) -> Result<Changes, SqlError> {
    let shape = match &checked.write {
        Some(write) => {
            shape::of(connection, write).await.map_err(|e| classify(&e, limits))?.map(|shape| (write, shape))
        }
        None => None,
    };
    let Some((write, shape)) = shape else {
        let why = "its table can't be told from the statement";
        return plain(connection, checked, parameters, limits, why, Vec::new()).await;
    };
    if let Some(why) = shape.untold.clone().filter(|_| look) {
        return Err(SqlError::Untold(why));
    }
    let mut notes = Vec::new();
    if !shape.along.is_empty() {
        notes.push(format!("rows that refer to them go along: {}", shape.along.join(", ")));
    }
    if let Some(why) = &shape.lasting {
        return plain(connection, checked, parameters, limits, why, notes).await;
    }
    let Some(table) = shape.with_key(&write.assigned) else {
        let why = "it changes what names the rows";
        return plain(connection, checked, parameters, limits, why, notes).await;
    };
    let recorded = Recorded { write, shape: &shape, table };
    recorded.run(connection, parameters, limits).await
}

/// Without a record of the rows.
async fn plain(
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

struct Recorded<'w> {
    write: &'w Write,
    shape: &'w Shape,
    table: Table,
}

/// Number of changed rows, whether the rows fit, before, after.
type Row = (i64, bool, Option<Vec<Option<String>>>, Option<Vec<Option<String>>>);

impl Recorded<'_> {
    fn sql(&self, limits: &Limits) -> String {
        let (write, table) = (self.write, &self.table);
        let keys: Vec<String> = table.key.iter().map(|at| quoted(&table.columns[*at].name)).collect();
        let returned: Vec<String> =
            keys.iter().enumerate().map(|(n, key)| format!("{}.{key} AS k{n}", write.qualifier)).collect();
        let row = texts(table, &write.qualifier);
        let updates = write.verb == Verb::Update || write.upsert;
        let (before, join) = if write.verb == Verb::Delete {
            ("w.r".to_owned(), String::new())
        } else if updates {
            let same: Vec<String> = keys.iter().enumerate().map(|(n, key)| format!("o.{key} = w.k{n}")).collect();
            let join = format!("LEFT JOIN {} o ON {}", full(table), same.join(" AND "));
            // A row that is not there has no key.
            let absent = format!("o.{} IS NULL", keys[0]);
            (format!("CASE WHEN {absent} THEN NULL ELSE {} END", texts(table, "o")), join)
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
        let many = rows.len() > limits.undo_rows;
        // An UPDATE whose row was not there before has changed what names it.
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
            undo: if many {
                Err(format!("it changes more than {} rows", limits.undo_rows))
            } else if !fits {
                Err(format!("the rows take more than {} KB", limits.undo_bytes >> 10))
            } else if torn {
                Err(format!("it changes what names the rows of {}", self.shape.table.shown()))
            } else {
                Ok(snapshot)
            },
        })
    }
}
