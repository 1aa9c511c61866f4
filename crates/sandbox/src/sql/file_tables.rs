//! Files of rows as tables of a database in memory, so that any query works on them.

use std::collections::HashSet;

use rusqlite::Connection;

use super::error::SqlError;
use super::open::{OpenMode, harden};
use super::policy::Policy;
use super::table_file::{Room, TableContent, TableFile, free, identifier};
use super::text_tables::Table;
use super::{Guard, exact_sums, parquet_tables};

impl Guard {
    /// Of a text, the first row names the columns, unless it holds numbers like those below it. A column is `INTEGER` or
    /// `REAL` only if no cell loses a digit, else `TEXT`; empty cells are null. [`SqlError::Limit`] for what is too large,
    /// [`SqlError::Open`] for what is no table.
    pub fn of_tables(files: &[TableFile<'_>], policy: Policy) -> Result<Self, SqlError> {
        let conn = Connection::open_in_memory().map_err(SqlError::Sqlite)?;
        let mut names = HashSet::new();
        let mut room = Room::default();
        for file in files {
            let name = free(&identifier(file.name), &mut names);
            conn.execute_batch("BEGIN").map_err(SqlError::Sqlite)?;
            match &file.content {
                TableContent::Text(text) => {
                    Table::read(file, text, &mut room)?.load(&conn, &name, file, text, &room)?;
                }
                TableContent::Parquet(bytes) => {
                    parquet_tables::load(&conn, &name, file, bytes.clone(), &mut room)?;
                }
            }
            conn.execute_batch("COMMIT").map_err(SqlError::Sqlite)?;
        }
        harden(&conn, OpenMode::Read).map_err(SqlError::Sqlite)?;
        exact_sums::register(&conn).map_err(SqlError::Sqlite)?;
        Self::over(conn, ":memory:".into(), policy, OpenMode::Read)
    }
}
