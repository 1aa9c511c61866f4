//! A database that belongs to one agent: it makes its own tables in it, whose names begin with `ai_`, under the guard.
//! All methods block. Calls for one file wait for each other, so that no two ever meet in it.

mod copies;
mod import;

pub use import::Imported;

use std::hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, OptionalExtension as _};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use steward_core::tables::Schema;

use super::Guard;
use super::catalog::{quoted, rows};
use super::change::{Answer, Changes, Snapshot};
use super::error::{SqlError, limit, syntax};
use super::open::{OpenMode, beside};
use super::policy::{Limits, Policy, Tables};
use super::query::Rows;
use super::schema_change::SchemaChange;

/// Names of the agent's tables and views begin with it.
pub const PREFIX: &str = "ai_";
/// Largest size of a file that nobody set, bytes.
pub const DEFAULT_BYTES: u64 = 64 << 20;
const PAGE_BYTES: u64 = 4096;
/// Calls that are remembered, so that a repeated one is recognised.
const KEPT_CALLS: i64 = 10_000;
/// Rows that one statement may change.
const MOST_CHANGES: u64 = 20_000;

/// What a statement came to.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    Rows(Rows),
    Changed(Box<Changes>),
    Schema(SchemaOutcome),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchemaOutcome {
    pub change: SchemaChange,
    pub undo: PrivateUndo,
}

/// What takes a statement back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum PrivateUndo {
    Rows {
        snapshot: Snapshot,
    },
    /// The copy of the file from before call number `call`, if nothing was written since.
    Copy {
        call: i64,
    },
}

/// Makes a note from the one before.
pub type MakeNote<'a> = &'a dyn Fn(Option<&str>) -> Option<String>;

/// How a call is recognised after a crash, and what is written down with it.
#[derive(Clone, Copy, Default)]
pub struct Mark<'a> {
    pub key: &'a str,
    /// Makes the note that [`PrivateDatabase::note`] returns from the one before; `None` leaves that.
    pub note: Option<MakeNote<'a>>,
}

/// How many calls may be at work on files at a time without meeting.
const LOCKS: usize = 64;
static AT_WORK: [Mutex<()>; LOCKS] = [const { Mutex::new(()) }; LOCKS];

#[derive(Debug, Clone)]
pub struct PrivateDatabase {
    path: PathBuf,
    bytes: u64,
    wall: Duration,
}

impl PrivateDatabase {
    /// At most `bytes` large. Nothing is made before the first statement.
    pub fn new(path: impl Into<PathBuf>, bytes: u64) -> Self {
        Self { path: path.into(), bytes, wall: Limits::default().wall }
    }

    /// How long a statement may take.
    #[must_use]
    pub fn within(mut self, wall: Duration) -> Self {
        self.wall = wall;
        self
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn exists(&self) -> bool {
        self.path.metadata().is_ok_and(|meta| meta.len() > 0)
    }

    /// Bytes on disk.
    pub fn size(&self) -> u64 {
        self.path.metadata().map_or(0, |meta| meta.len())
    }

    pub fn most_bytes(&self) -> u64 {
        self.bytes
    }

    /// A statement that only reads.
    pub fn query(&self, sql: &str) -> Result<Rows, SqlError> {
        self.read(|guard| guard.query(sql))?.ok_or_else(empty)
    }

    /// What `work` reads, while nothing is written; `None`: there is no file yet.
    fn read<T>(&self, work: impl FnOnce(&Guard) -> Result<T, SqlError>) -> Result<Option<T>, SqlError> {
        let _alone = self.alone();
        self.settle()?;
        if !self.exists() {
            return Ok(None);
        }
        work(&Guard::open(self.real(), self.policy())?).map(Some)
    }

    /// One statement of the agent; without `keep` it is tried, told of and rolled back. `before_commit` gets the outcome
    /// of one that changes something, and its error rolls it back.
    pub fn run(
        &self,
        sql: &str,
        mark: Mark<'_>,
        keep: bool,
        before_commit: impl FnOnce(&Outcome) -> Result<(), SqlError>,
    ) -> Result<Outcome, SqlError> {
        if !keep && !self.exists() {
            // What is only tried leaves nothing behind.
            let folder = tempfile::tempdir().map_err(|error| self.failed(error))?;
            let trial = Self { path: folder.path().join("trial.db"), ..self.clone() };
            trial.ensure()?;
            return trial.run(sql, mark, keep, before_commit);
        }
        let _alone = self.alone();
        self.ensure()?;
        let guard = self.open()?;
        if let Some(change) = full(guard.change_schema(sql, false, |_| Ok(())))? {
            let call = guard.newest_call()? + 1;
            let outcome = Outcome::Schema(SchemaOutcome { change, undo: PrivateUndo::Copy { call } });
            drop(guard);
            if !keep {
                return Ok(outcome);
            }
            let copy = self.begin_copy()?;
            let guard = self.open()?;
            full(guard.change_schema(sql, true, |_| {
                guard.mark(mark)?;
                before_commit(&outcome)
            }))?;
            self.keep_copy(&copy)?;
            return Ok(outcome);
        }
        let answer = guard.change_with(sql, &[], keep, |changes| {
            guard.mark(mark)?;
            before_commit(&Outcome::Changed(Box::new(changes.clone())))
        });
        Ok(match full(answer)? {
            Answer::Rows(rows) => Outcome::Rows(rows),
            Answer::Changed(changes) => Outcome::Changed(changes),
        })
    }

    /// Whether the statement that was marked so is done.
    pub fn has_done(&self, key: &str) -> Result<bool, SqlError> {
        let found = self.read(|guard| {
            let found = rows::<(i64,)>(&guard.conn, "SELECT 1 FROM steward_calls WHERE key = ?1", [key]);
            found.map_err(SqlError::Sqlite)
        })?;
        Ok(found.is_some_and(|found| !found.is_empty()))
    }

    /// What the last [`Mark`] with a note wrote down.
    pub fn note(&self) -> Result<Option<String>, SqlError> {
        Ok(self.read(|guard| note(&guard.conn).map_err(SqlError::Sqlite))?.flatten())
    }

    /// [`SqlError::Conflict`] or [`SqlError::NoUndo`] if it can't be taken back; then nothing was changed.
    pub fn undo(&self, undo: &PrivateUndo) -> Result<String, SqlError> {
        let _alone = self.alone();
        self.settle()?;
        match undo {
            PrivateUndo::Rows { snapshot } => {
                let count = Guard::put_back(self.real(), self.policy(), snapshot)?;
                if count == 0 {
                    return Ok("the rows are as they were before already".to_owned());
                }
                let guard = self.open()?;
                guard.mark(Mark::default())?;
                Ok(format!("{count} changes of rows of the agent's database undone"))
            }
            PrivateUndo::Copy { call } => self.put_copy_back(*call),
        }
    }

    /// Tables and views with their columns.
    pub fn schema(&self) -> Result<Schema, SqlError> {
        Ok(self.read(Guard::schema)?.unwrap_or(Schema { tables: Vec::new() }))
    }

    /// `limit` rows of a table or a view, after the first `skip`.
    pub fn rows(&self, table: &str, skip: u64, limit: u32) -> Result<Rows, SqlError> {
        let found = self.read(|guard| {
            let name = guard.session(|session| session.table_named(table))?;
            let sql = format!("SELECT * FROM main.{} LIMIT ?1 OFFSET ?2", quoted(&name));
            guard.query_with(&sql, &[Value::from(limit), Value::from(skip)])
        })?;
        found.ok_or_else(empty)
    }

    fn policy(&self) -> Policy {
        let limits = Limits {
            rows: 500,
            bytes: 256 << 10,
            changes: Some(MOST_CHANGES),
            undo_rows: 2000,
            undo_bytes: 512 << 10,
            wall: self.wall,
            ..Limits::default()
        };
        Policy { tables: Tables::Prefix(PREFIX.to_owned()), limits, ..Policy::default() }
    }

    fn alone(&self) -> MutexGuard<'static, ()> {
        let hash = BuildHasherDefault::<DefaultHasher>::new().hash_one(&self.path);
        let at = usize::try_from(hash % LOCKS as u64).unwrap_or_default();
        AT_WORK[at].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends a write of ours that a crash cut off.
    fn settle(&self) -> Result<(), SqlError> {
        if self.exists() && beside(&self.path, "-journal").exists() {
            Guard::roll_back(self.real(), self.policy())?;
        }
        Ok(())
    }

    fn open(&self) -> Result<Guard, SqlError> {
        self.open_for(OpenMode::Write)
    }

    /// An administrator may have put a link in place of a folder above it.
    fn real(&self) -> PathBuf {
        self.path.canonicalize().unwrap_or_else(|_| self.path.clone())
    }

    fn open_for(&self, mode: OpenMode) -> Result<Guard, SqlError> {
        let guard = Guard::open_for(&self.real(), self.policy(), mode)?;
        let pages = i64::try_from(self.bytes / PAGE_BYTES).unwrap_or(i64::MAX);
        guard.conn.query_row(&format!("PRAGMA max_page_count = {pages}"), [], |_| Ok(())).map_err(SqlError::Sqlite)?;
        Ok(guard)
    }

    fn ensure(&self) -> Result<(), SqlError> {
        if self.exists() {
            return self.settle();
        }
        if let Some(folder) = self.path.parent() {
            std::fs::create_dir_all(folder).map_err(|error| self.failed(error))?;
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX
            | OpenFlags::SQLITE_OPEN_NOFOLLOW;
        let made = Connection::open_with_flags(&self.path, flags).and_then(|conn| {
            conn.execute_batch(&format!(
                "PRAGMA page_size = {PAGE_BYTES};
                 BEGIN IMMEDIATE;
                 CREATE TABLE steward_calls (number INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT UNIQUE);
                 CREATE TABLE steward_note (one INTEGER PRIMARY KEY CHECK (one = 1), text TEXT NOT NULL);
                 COMMIT;"
            ))
        });
        made.map_err(|error| self.failed(error))
    }

    #[expect(clippy::needless_pass_by_value, reason = "callers have an error that ends here")]
    fn failed(&self, error: impl ToString) -> SqlError {
        SqlError::Open { path: self.path.clone(), reason: error.to_string() }
    }
}

fn empty() -> SqlError {
    syntax("the database has no tables yet")
}

fn note(conn: &Connection) -> rusqlite::Result<Option<String>> {
    conn.query_row("SELECT text FROM steward_note", [], |row| row.get(0)).optional()
}

impl Guard {
    /// Inside the transaction of the call, or in one of its own.
    fn mark(&self, mark: Mark<'_>) -> Result<(), SqlError> {
        let key = Some(mark.key).filter(|key| !key.is_empty());
        let run = || {
            self.conn.execute("INSERT INTO steward_calls (key) VALUES (?1)", [key])?;
            self.conn.execute(
                "DELETE FROM steward_calls WHERE number <= (SELECT max(number) FROM steward_calls) - ?1",
                [KEPT_CALLS],
            )?;
            if let Some(make) = mark.note
                && let Some(note) = make(note(&self.conn)?.as_deref())
            {
                self.conn.execute("INSERT OR REPLACE INTO steward_note VALUES (1, ?1)", [note])?;
            }
            Ok(())
        };
        full(run().map_err(SqlError::Sqlite))
    }

    fn newest_call(&self) -> Result<i64, SqlError> {
        let sql = "SELECT coalesce(max(number), 0) FROM steward_calls";
        self.conn.query_row(sql, [], |row| row.get(0)).map_err(SqlError::Sqlite)
    }
}

/// Says of a full database what to do.
fn full<T>(done: Result<T, SqlError>) -> Result<T, SqlError> {
    done.map_err(|error| match error {
        SqlError::Sqlite(inner) if inner.sqlite_error_code() == Some(rusqlite::ErrorCode::DiskFull) => {
            limit("the database is full; delete rows that are no longer needed".to_owned())
        }
        other => other,
    })
}
