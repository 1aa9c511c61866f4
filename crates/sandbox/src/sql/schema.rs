use rusqlite::{Params, Row};
use serde_json::Value;
use steward_core::tables::{Column, ForeignKey, Schema, Table};

use super::catalog::{quoted, rows};
use super::error::{SqlError, syntax};
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
            let table = session.table_named(table)?;
            let (t, c) = (quoted(&table), quoted(&session.column_named(&table, column)?));
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
        let mut all: Vec<(String, bool)> = self.rows(sql, [])?;
        all.retain(|(name, _)| self.guard.policy.allows_table(name));
        Ok(all)
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
        let policy = &self.guard.policy;
        let foreign_keys = self
            .rows(sql, [&name])?
            .into_iter()
            .map(|(column, table, references)| ForeignKey { column, table, references })
            .filter(|k| policy.allows_table(&k.table) && policy.allows_column(&name, &k.column))
            .collect();
        let row_estimate = if view { None } else { self.row_estimate(&name)? };
        Ok(Table { name, view, columns, foreign_keys, row_estimate })
    }

    fn columns(&self, table: &str) -> Result<Vec<Column>, SqlError> {
        let sql = "SELECT name, type, pk > 0, \"notnull\" FROM pragma_table_xinfo(?1) WHERE hidden <> 1 ORDER BY cid";
        let all = self.rows(sql, [table])?.into_iter();
        let all = all.map(|(name, kind, pk, not_null)| Column { name, kind, pk, not_null });
        let names = self.names().map_err(|e| self.classify(e))?;
        let closed = names.closed.get(&table.to_ascii_lowercase());
        let shown = |c: &Column| {
            self.guard.policy.allows_column(table, &c.name)
                && closed.is_none_or(|closed| !closed.contains(&c.name.to_ascii_lowercase()))
        };
        Ok(all.filter(shown).collect())
    }

    fn row_estimate(&self, table: &str) -> Result<Option<u64>, SqlError> {
        let has_statistics = "SELECT name FROM main.sqlite_schema WHERE name = 'sqlite_stat1'";
        if !self.rows::<(String,)>(has_statistics, [])?.is_empty() {
            let sql = "SELECT CAST(stat AS INTEGER) FROM main.sqlite_stat1 WHERE tbl = ?1 LIMIT 1";
            if let Some((rows,)) = self.rows::<(i64,)>(sql, [table])?.first() {
                return Ok(u64::try_from(*rows).ok());
            }
        }
        let sql = format!("SELECT count(*) FROM (SELECT 1 FROM main.{} LIMIT {COUNTED})", quoted(table));
        match self.rows::<(i64,)>(&sql, []) {
            Ok(counted) => Ok(counted.first().and_then(|(count,)| u64::try_from(*count).ok())),
            Err(SqlError::Timeout { .. } | SqlError::Limit { .. }) => Ok(None),
            Err(other) => Err(other),
        }
    }

    /// In the database's spelling, if it exists and may be read.
    pub(super) fn table_named(&self, table: &str) -> Result<String, SqlError> {
        let found = self.readable_tables()?.into_iter().find(|name| name.eq_ignore_ascii_case(table));
        found.ok_or_else(|| syntax(format!("no such table: {table}")))
    }

    fn column_named(&self, table: &str, column: &str) -> Result<String, SqlError> {
        let found = self.columns(table)?.into_iter().find(|one| one.name.eq_ignore_ascii_case(column));
        let found = found.ok_or_else(|| syntax(format!("no such column: {table}.{column}")))?;
        Ok(found.name)
    }

    fn rows<T>(&self, sql: &str, parameters: impl Params) -> Result<Vec<T>, SqlError>
    where
        T: for<'r> TryFrom<&'r Row<'r>, Error = rusqlite::Error>,
    {
        rows(&self.guard.conn, sql, parameters).map_err(|e| self.classify(e))
    }
}
