//! Takes over what MetatronOS keeps: its instruction, its memory, and the tables of its assistant.

use super::DatabaseError;
use super::update_schema::MAX_DOC_CHARS;
use crate::facts::MAX_MEMORY_CHARS;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use steward_core::locks::lock;
use steward_sandbox::sql::private_database::{Imported, PrivateDatabase};
use steward_sandbox::sql::{Guard, Policy, SqlError, Tables};

/// The row of its `settings` in which it keeps this.
const SETTING: &str = "SELECT value FROM settings WHERE key = 'system_instruction'";

/// Longest instructions of an agent, characters.
const MAX_CORE: usize = 100_000;

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Instruction {
    pub core_instruction: String,
    pub memory: String,
    /// Off: none of its three tools was offered.
    pub memory_enabled: bool,
    pub db_schema: String,
}

impl Default for Instruction {
    fn default() -> Self {
        Self { core_instruction: String::new(), memory: String::new(), memory_enabled: true, db_schema: String::new() }
    }
}

pub(super) fn import(database: &PrivateDatabase, file: &[u8]) -> Result<(Instruction, Imported), DatabaseError> {
    let _turn = Turn::take(database.path())?;
    let source = Source::write(database.path(), file)?;
    let instruction = read(&source.0)?;
    for (what, text, most) in [
        ("instruction", &instruction.core_instruction, MAX_CORE),
        ("memory", &instruction.memory, MAX_MEMORY_CHARS),
        ("documentation of the tables", &instruction.db_schema, MAX_DOC_CHARS),
    ] {
        let length = text.trim().chars().count();
        if length > most {
            return Err(DatabaseError::Refused(format!(
                "its {what} has {length} characters, at most {most} fit; shorten it there first. Nothing was imported"
            )));
        }
    }
    let imported = database.import(&source.0)?;
    Ok((instruction, imported))
}

fn read(file: &Path) -> Result<Instruction, DatabaseError> {
    let tables = Tables::Allow(["settings".to_owned()].into());
    let file = file.canonicalize().unwrap_or_else(|_| file.to_owned());
    let found = Guard::open(file, Policy { tables, ..Policy::default() }).and_then(|guard| guard.query(SETTING));
    let rows = found.map_err(|error| {
        DatabaseError::Refused(match error {
            SqlError::Open { reason, .. } | SqlError::Corrupt { reason, .. } => {
                format!("the file is no SQLite database: {reason}. Give the database file of MetatronOS")
            }
            SqlError::Syntax { message, .. } => format!(
                "the file is no database of MetatronOS ({message}); it has a table `settings` with the columns key and value"
            ),
            other => format!("the file can't be read: {other}"),
        })
    })?;
    match rows.rows.first().and_then(|row| row.first()) {
        None => Ok(Instruction::default()),
        Some(Value::String(text)) => serde_json::from_str(text).map_err(|error| {
            DatabaseError::Refused(format!("its setting system_instruction is not what MetatronOS writes: {error}"))
        }),
        Some(_) => Err(DatabaseError::Refused("its setting system_instruction is no text".to_owned())),
    }
}

/// The databases that are imported into now: what is beside them has fixed names.
static AT_WORK: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// The only import into a database.
struct Turn(PathBuf);

impl Turn {
    fn take(database: &Path) -> Result<Self, DatabaseError> {
        if lock(&AT_WORK).insert(database.to_owned()) {
            return Ok(Self(database.to_owned()));
        }
        Err(DatabaseError::Refused(
            "another import into this database is at work; wait for its end, and try again".to_owned(),
        ))
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        lock(&AT_WORK).remove(&self.0);
    }
}

/// The file while it is read, beside the database.
struct Source(PathBuf);

impl Source {
    fn write(database: &Path, file: &[u8]) -> Result<Self, DatabaseError> {
        let failed = |error: std::io::Error| DatabaseError::Failed(format!("the file can't be kept: {error}"));
        if let Some(folder) = database.parent() {
            fs::create_dir_all(folder).map_err(failed)?;
        }
        let mut name = database.as_os_str().to_owned();
        name.push(".source");
        let source = Self(name.into());
        fs::write(&source.0, file).map_err(failed)?;
        Ok(source)
    }
}

impl Drop for Source {
    fn drop(&mut self) {
        for suffix in ["", "-wal", "-shm", "-journal"] {
            let mut name = self.0.as_os_str().to_owned();
            name.push(suffix);
            // What is left is overwritten by the next import.
            let _ = fs::remove_file(name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Turn;
    use std::path::Path;

    #[test]
    fn one_import_into_a_database_at_a_time() {
        let (one, other) = (Path::new("/nowhere/one.db"), Path::new("/nowhere/other.db"));
        let first = Turn::take(one).unwrap();
        assert!(Turn::take(one).is_err());
        assert!(Turn::take(other).is_ok());
        drop(first);
        assert!(Turn::take(one).is_ok());
    }
}
