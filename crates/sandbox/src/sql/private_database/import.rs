//! Takes over the tables `ai_…` of another program's SQLite file.

use std::path::Path;

use rusqlite::types::Value as SqlValue;
use rusqlite::{Connection, params_from_iter};

use super::{Mark, PREFIX, PrivateDatabase, SqlError, full};
use crate::sql::Guard;
use crate::sql::catalog::{quoted, rows};
use crate::sql::open::OpenMode;

/// Statements that made tables, indexes and views, and what could not be taken over.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Imported {
    pub tables: Vec<String>,
    pub rows: u64,
    /// With the reasons.
    pub left_out: Vec<String>,
}

struct Source {
    kind: String,
    name: String,
    sql: String,
}

impl PrivateDatabase {
    /// Replaces all that is in it by copies of the other file's tables, indexes and views; what was there is set aside.
    /// Nothing is changed by an error.
    pub fn import(&self, source: &Path) -> Result<Imported, SqlError> {
        let from = Guard::open(source.canonicalize().unwrap_or_else(|_| source.to_owned()), self.policy())?;
        let mut imported = Imported::default();
        let found = sources(&from.conn).map_err(SqlError::Sqlite)?;
        self.adopt(|fresh| {
            fresh.ensure()?;
            let made: Vec<&Source> = found
                .iter()
                .filter(|one| one.kind == "table")
                .filter(|table| fresh.make(table, &mut imported))
                .collect();
            fresh.copy_rows(&from, &made, &mut imported)?;
            for one in found.iter().filter(|one| one.kind != "table") {
                fresh.make(one, &mut imported);
            }
            imported.tables = made.iter().map(|table| table.name.clone()).collect();
            Ok(())
        })?;
        Ok(imported)
    }

    fn make(&self, one: &Source, imported: &mut Imported) -> bool {
        match self.run(&one.sql, Mark::default(), true, |_| Ok(())) {
            Ok(_) => true,
            Err(error) => {
                imported.left_out.push(format!("{} {}: {error}", one.kind, one.name));
                false
            }
        }
    }

    fn copy_rows(&self, from: &Guard, tables: &[&Source], imported: &mut Imported) -> Result<(), SqlError> {
        // Rows may refer to tables that come later.
        let to = self.open_for(OpenMode::PutBack)?;
        let copied = to.conn.execute_batch("BEGIN IMMEDIATE").and_then(|()| {
            for table in tables {
                imported.rows += copy(&from.conn, &to.conn, &table.name)?;
            }
            to.conn.execute_batch("COMMIT")
        });
        full(copied.map_err(SqlError::Sqlite))
    }
}

fn sources(conn: &Connection) -> rusqlite::Result<Vec<Source>> {
    let sql = "SELECT type, name, sql FROM main.sqlite_schema
               WHERE sql IS NOT NULL AND type IN ('table', 'index', 'view') AND lower(substr(tbl_name, 1, length(?1))) = ?1
               ORDER BY type = 'view', type = 'index', rowid";
    Ok(rows(conn, sql, [PREFIX])?.into_iter().map(|(kind, name, sql)| Source { kind, name, sql }).collect())
}

fn copy(from: &Connection, to: &Connection, table: &str) -> rusqlite::Result<u64> {
    // Generated columns follow from the others.
    let sql = "SELECT name FROM pragma_table_xinfo(?1) WHERE hidden = 0 ORDER BY cid";
    let names: Vec<String> = rows::<(String,)>(from, sql, [table])?.iter().map(|(name,)| quoted(name)).collect();
    let width = names.len();
    let (names, table) = (names.join(", "), quoted(table));
    let marks = vec!["?"; width].join(", ");
    let mut read = from.prepare(&format!("SELECT {names} FROM main.{table}"))?;
    let mut write = to.prepare(&format!("INSERT INTO main.{table} ({names}) VALUES ({marks})"))?;
    let (mut rows, mut count) = (read.query([])?, 0);
    while let Some(row) = rows.next()? {
        let values: Vec<SqlValue> = (0..width).map(|at| row.get(at)).collect::<rusqlite::Result<_>>()?;
        write.execute(params_from_iter(values))?;
        count += 1;
    }
    Ok(count)
}
