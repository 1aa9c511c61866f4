use rusqlite::types::Value as SqlValue;
use serde_json::Value;
use steward_core::tables::{Column, ForeignKey, Schema, Table};

use super::error::SqlError;
use super::{Guard, Session, query};

/// Most rows counted one by one, if the database has no statistics.
const COUNTED: i64 = 100_000;

impl Guard {
    pub fn schema(&self) -> Result<Schema, SqlError> {
        self.session(|session| {
            let names = session.readable_objects()?;
            let mut tables = Vec::with_capacity(names.len());
            for (name, view) in names {
                tables.push(session.table(name, view)?);
            }
            Ok(Schema { tables })
        })
    }

    /// Up to `limit` different values of a column that are not null, in no order.
    pub fn distinct_values(&self, table: &str, column: &str, limit: usize) -> Result<Vec<Value>, SqlError> {
        self.session(|session| {
            let (table, column) = session.resolve(table, column)?;
            let (t, c) = (quoted(&table), quoted(&column));
            let sql = format!("SELECT DISTINCT {c} FROM main.{t} WHERE {c} IS NOT NULL LIMIT ?1");
            let wrap = |e| session.classify(e);
            // A view, or a computed column, may show what is closed under another name.
            let names = session.enforce_policy(None)?;
            let mut statement = session.single(&sql)?;
            session.check_program(&sql, &statement, &names)?;
            let limit = i64::try_from(limit).unwrap_or(i64::MAX);
            let mut rows = statement.query([limit]).map_err(wrap)?;
            let (mut out, mut bytes) = (Vec::new(), 0usize);
            while let Some(row) = rows.next().map_err(wrap)? {
                let cell = row.get_ref(0).map_err(wrap)?;
                bytes = bytes.saturating_add(query::size(cell));
                if bytes > self.policy.limits.bytes {
                    break;
                }
                out.push(query::to_json(cell));
            }
            Ok(out)
        })
    }
}

impl Session<'_> {
    fn readable_objects(&self) -> Result<Vec<(String, bool)>, SqlError> {
        // Virtual tables are closed, as are the "shadow" tables in which they store their rows.
        let sql = "SELECT name, type = 'view' FROM pragma_table_list \
                   WHERE schema = 'main' AND type IN ('table', 'view') ORDER BY name";
        let all = self.rows(sql, &[], |r| Ok((r.get::<_, String>(0)?, r.get::<_, bool>(1)?)))?;
        Ok(all.into_iter().filter(|(name, _)| self.guard.policy.allows_table(name)).collect())
    }

    pub(super) fn readable_tables(&self) -> Result<Vec<String>, SqlError> {
        Ok(self.readable_objects()?.into_iter().map(|(name, _)| name).collect())
    }

    /// Of all tables that may be read, each name once.
    pub(super) fn readable_columns(&self) -> Result<Vec<String>, SqlError> {
        let mut names = Vec::new();
        for table in self.readable_tables()? {
            names.extend(self.columns(&table)?.into_iter().map(|c| c.name));
        }
        names.sort();
        names.dedup();
        Ok(names)
    }

    fn table(&self, name: String, view: bool) -> Result<Table, SqlError> {
        let columns = self.columns(&name)?;
        let sql = "SELECT \"from\", \"table\", coalesce(\"to\", '') FROM pragma_foreign_key_list(?1) ORDER BY id, seq";
        let keys = self
            .rows(sql, &[&name], |r| Ok(ForeignKey { column: r.get(0)?, table: r.get(1)?, references: r.get(2)? }))?;
        let policy = &self.guard.policy;
        let foreign_keys = keys
            .into_iter()
            .filter(|k| policy.allows_table(&k.table) && policy.allows_column(&name, &k.column))
            .collect();
        let row_estimate = if view { None } else { self.row_estimate(&name)? };
        Ok(Table { name, view, columns, foreign_keys, row_estimate })
    }

    fn columns(&self, table: &str) -> Result<Vec<Column>, SqlError> {
        let sql = "SELECT name, type, pk > 0, \"notnull\" FROM pragma_table_xinfo(?1) WHERE hidden <> 1 ORDER BY cid";
        let all = self.rows(sql, &[table], |r| {
            Ok(Column { name: r.get(0)?, kind: r.get(1)?, pk: r.get(2)?, not_null: r.get(3)? })
        })?;
        let names = self.names().map_err(|e| self.classify(e))?;
        let closed = names.closed.get(&table.to_ascii_lowercase());
        let shown = |c: &Column| {
            self.guard.policy.allows_column(table, &c.name)
                && closed.is_none_or(|closed| !closed.contains(&c.name.to_ascii_lowercase()))
        };
        Ok(all.into_iter().filter(shown).collect())
    }

    fn row_estimate(&self, table: &str) -> Result<Option<u64>, SqlError> {
        let has_statistics = "SELECT name FROM main.sqlite_schema WHERE name = 'sqlite_stat1'";
        if !self.rows(has_statistics, &[], |r| r.get::<_, String>(0))?.is_empty() {
            let sql = "SELECT CAST(stat AS INTEGER) FROM main.sqlite_stat1 WHERE tbl = ?1 LIMIT 1";
            if let Some(rows) = self.rows(sql, &[table], |r| r.get::<_, i64>(0))?.first() {
                return Ok(u64::try_from(*rows).ok());
            }
        }
        let sql = format!("SELECT count(*) FROM (SELECT 1 FROM main.{} LIMIT {COUNTED})", quoted(table));
        match self.rows(&sql, &[], |r| r.get::<_, i64>(0)) {
            Ok(counted) => Ok(counted.first().and_then(|n| u64::try_from(*n).ok())),
            Err(SqlError::Timeout { .. } | SqlError::Limit { .. }) => Ok(None),
            Err(other) => Err(other),
        }
    }

    /// The names in the database's spelling, if they exist and may be read.
    fn resolve(&self, table: &str, column: &str) -> Result<(String, String), SqlError> {
        let tables = self.readable_tables()?;
        let missing = |what: String| SqlError::Syntax { message: what, hint: None };
        let found = tables
            .into_iter()
            .find(|t| t.eq_ignore_ascii_case(table))
            .ok_or_else(|| missing(format!("no such table: {table}")))?;
        let column = self
            .columns(&found)?
            .into_iter()
            .map(|c| c.name)
            .find(|c| c.eq_ignore_ascii_case(column))
            .ok_or_else(|| missing(format!("no such column: {found}.{column}")))?;
        Ok((found, column))
    }

    fn rows<T>(
        &self,
        sql: &str,
        parameters: &[&str],
        read: impl FnMut(&rusqlite::Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, SqlError> {
        let bound = parameters.iter().map(|p| SqlValue::Text((*p).to_owned()));
        let mut statement = self.guard.conn.prepare_cached(sql).map_err(|e| self.classify(e))?;
        let rows = statement.query_map(rusqlite::params_from_iter(bound), read).map_err(|e| self.classify(e))?;
        rows.collect::<rusqlite::Result<Vec<T>>>().map_err(|e| self.classify(e))
    }
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
