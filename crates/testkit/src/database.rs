//! A database that breaks while it is used, or that somebody changes.

#![expect(clippy::expect_used, reason = "a test without its database has failed")]

use std::path::Path;

/// Takes a table out of the SQLite database in `dir`: whatever reads or writes it fails.
pub fn hide_table(dir: &Path, table: &str) {
    change(dir, &format!("ALTER TABLE {table} RENAME TO hidden_{table}"));
}

/// Puts it back.
pub fn show_table(dir: &Path, table: &str) {
    change(dir, &format!("ALTER TABLE hidden_{table} RENAME TO {table}"));
}

/// Changes it behind the program's back.
pub fn change(dir: &Path, sql: &str) {
    let database = rusqlite::Connection::open(dir.join("steward.db")).expect("the database opens");
    database.execute_batch(sql).expect("the statements work");
}
