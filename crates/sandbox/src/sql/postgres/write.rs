//! Records a write in one statement: RETURNING gives the rows after it, and another part those before.

use sqlx::{AssertSqlSafe, PgConnection};

use super::put_back::{PostgresStore, cells};
use super::table::{table_of, texts};
use crate::sql::catalog::quoted;
use crate::sql::change::{Changes, RowChange, Snapshot, Store as _, Table, lines};
use crate::sql::error::SqlError;
use crate::sql::policy::Limits;
use crate::sql::remote::{Job, Purpose};
use crate::sql::server_guard::{Verb, Write};
use crate::sql::server_tables::bind;

/// Runs the write in the open transaction. One to preview is refused where a rollback would not undo everything.
pub(crate) async fn change(connection: &mut PgConnection, job: Job<'_>, limits: &Limits) -> Result<Changes, SqlError> {
    let found = match &job.checked.write {
        Some(write) => table_of(connection, write).await?.map(|info| (write, info)),
        None => None,
    };
    let Some((write, info)) = found else {
        return unrecorded(connection, job, "its table can't be told from the statement").await;
    };
    if let Some(why) = info.no_preview.clone().filter(|_| job.purpose == Purpose::Preview) {
        return Err(SqlError::NoPreview(why));
    }
    let mut changes = match (&info.no_undo, info.with_key(|column| !write.assigned.contains(&column.name))) {
        (Some(why), _) => unrecorded(connection, job, why).await?,
        (None, None) => unrecorded(connection, job, "it changes what names the rows").await?,
        (None, Some(table)) => RecordedWrite { write, table }.run(connection, job.parameters, limits).await?,
    };
    changes.notes.extend(info.dependents_note());
    Ok(changes)
}

async fn unrecorded(connection: &mut PgConnection, job: Job<'_>, why: &str) -> Result<Changes, SqlError> {
    let query = bind(sqlx::query(AssertSqlSafe(job.checked.sql.clone())), job.parameters)?;
    Ok(Changes::unrecorded(query.execute(connection).await?.rows_affected(), why))
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
        let query = bind(sqlx::query(AssertSqlSafe(self.sql(limits))), parameters)?.persistent(false);
        let rows = query.fetch_all(connection).await?;
        let rows: Vec<Row> = rows.iter().map(<Row as sqlx::FromRow<_>>::from_row).collect::<Result<_, _>>()?;
        let count = rows.first().map_or(0, |row| row.0);
        let fits = rows.iter().all(|row| row.1);
        let refusal = limits.undo_refusal(rows.len(), if fits { 0 } else { usize::MAX });
        // An UPDATE whose row was not there before has changed the row's key.
        let torn = self.write.verb == Verb::Update && rows.iter().any(|row| row.1 && row.2.is_none());
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
