//! Guards SQL that nobody has reviewed. SQLite: a read-only connection, an authorizer asked for every table, column and
//! function, one statement, and limits; SQLite's own parser decides, never our reading of the text. Servers:
//! [`postgres`] and [`mysql`] judge the parsed statement. Writes are recorded row by row ([`change`]), for previews and
//! undo.

mod authorizer;
mod bytecode_check;
mod catalog;
pub mod change;
mod error;
mod exact_sums;
mod functions;
mod json_tables;
pub mod mysql;
mod open;
mod parquet_tables;
mod pattern;
mod planned;
mod policy;
pub mod postgres;
pub mod private_database;
mod query;
pub mod remote;
mod schema;
mod schema_change;
mod server_error;
mod server_guard;
mod server_tables;
mod table_file;
mod text_tables;
mod write;

pub use error::SqlError;
pub use json_tables::begins_as_json_rows;
pub use policy::{ColumnRef, Limits, Policy, Tables};
pub use query::{Rows, Truncated};
pub use server_guard::Checked;
pub use table_file::{TableContent, TableFile};

use std::cell::RefCell;
use std::collections::HashSet;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rusqlite::Connection;
use rusqlite::hooks::{AuthContext, Authorization};

use authorizer::{Findings, Slot};
use catalog::Names;
use functions::Deadline;
use open::{OpenMode, Opened, harden};
use table_file::{Room, free, identifier};
use text_tables::Table;

/// Virtual machine instructions between two checks of the clock: some tens of microseconds.
const STEP: i32 = 2000;

/// All methods block; call them off the async threads.
#[derive(Debug)]
pub struct Guard {
    conn: Connection,
    /// In which SQLite finds the file and those beside it: closed after the connection. `None`: it is in memory.
    _folder: Option<OwnedFd>,
    path: PathBuf,
    policy: Arc<Policy>,
    purpose: OpenMode,
    /// By schema version, so that an unchanged schema is read once.
    names: RefCell<Option<(i64, Arc<Names>)>>,
    deadline: Arc<Deadline>,
}

impl Guard {
    /// Read-only. [`SqlError::Open`] for a missing or unreadable file, [`SqlError::Corrupt`] for no database.
    pub fn open(path: impl AsRef<Path>, policy: Policy) -> Result<Self, SqlError> {
        Self::open_for(path.as_ref(), policy, OpenMode::Read)
    }

    /// Also INSERT, UPDATE and DELETE, under the policy, which the database's own triggers and foreign keys obey too.
    pub fn open_for_writing(path: impl AsRef<Path>, policy: Policy) -> Result<Self, SqlError> {
        Self::open_for(path.as_ref(), policy, OpenMode::Write)
    }

    /// Files of rows, as tables of a database in memory. Of a text, the first row names the columns, unless it holds
    /// numbers like those below it. A column is `INTEGER` or `REAL` only if no cell loses a digit, else `TEXT`; empty cells
    /// are null. [`SqlError::Limit`] for what is too large, [`SqlError::Open`] for what is no table.
    pub fn of_tables(files: &[TableFile<'_>], policy: Policy) -> Result<Self, SqlError> {
        let conn = Connection::open_in_memory().map_err(SqlError::Sqlite)?;
        let mut names = HashSet::new();
        let mut room = Room::default();
        for file in files {
            let name = free(&identifier(file.name), &mut names);
            conn.execute_batch("BEGIN").map_err(SqlError::Sqlite)?;
            match &file.content {
                TableContent::Text(text) => {
                    Table::read(file, text, &mut room)?.load(&conn, &name, file, &room)?;
                }
                TableContent::Json(text) => json_tables::load(&conn, &name, file, text, &mut room)?,
                TableContent::Parquet(bytes) => {
                    parquet_tables::load(&conn, &name, file, bytes.clone(), &mut room)?;
                }
            }
            conn.execute_batch("COMMIT").map_err(SqlError::Sqlite)?;
        }
        harden(&conn, OpenMode::Read).map_err(SqlError::Sqlite)?;
        exact_sums::register(&conn).map_err(SqlError::Sqlite)?;
        Self::over(conn, None, ":memory:".into(), policy, OpenMode::Read)
    }

    fn open_for(path: &Path, policy: Policy, purpose: OpenMode) -> Result<Self, SqlError> {
        let Opened { conn, folder } = open::connection(path, purpose)?;
        Self::over(conn, Some(folder), path.to_owned(), policy, purpose)
    }

    /// The connection is already hardened.
    fn over(
        conn: Connection,
        folder: Option<OwnedFd>,
        path: PathBuf,
        policy: Policy,
        purpose: OpenMode,
    ) -> Result<Self, SqlError> {
        let deadline = Arc::<Deadline>::default();
        functions::register(&conn, &deadline, open::VALUE_BYTES).map_err(SqlError::Sqlite)?;
        Ok(Self { conn, _folder: folder, path, policy: Arc::new(policy), purpose, names: RefCell::new(None), deadline })
    }

    /// Without links.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// One transaction with a deadline; the authorizer of [`Session::enforce_policy`] is off afterwards in any case.
    fn session<T>(&self, work: impl FnOnce(&Session<'_>) -> Result<T, SqlError>) -> Result<T, SqlError> {
        let session = Session::begin(self)?;
        work(&session)
    }
}

/// Dropping it lifts the authorizer, the deadline and the transaction.
pub(crate) struct Session<'g> {
    pub guard: &'g Guard,
    slot: Slot,
}

impl<'g> Session<'g> {
    fn begin(guard: &'g Guard) -> Result<Self, SqlError> {
        let deadline = Arc::clone(&guard.deadline);
        deadline.set(guard.policy.limits.wall);
        guard.conn.progress_handler(STEP, Some(move || deadline.over())).map_err(SqlError::Sqlite)?;
        let session = Self { guard, slot: Slot::default() };
        // The snapshot makes sure that the schema that was checked is the one that is read.
        let begin = if guard.purpose == OpenMode::Read { "BEGIN" } else { "BEGIN IMMEDIATE" };
        let started = guard.conn.prepare_cached(begin).and_then(|mut statement| statement.execute([]));
        started.map_err(|e| session.classify(e))?;
        Ok(session)
    }

    /// From here on the policy judges every statement. `recorder`: prefix of our own triggers, for a write.
    fn enforce_policy(&self, recorder: Option<String>) -> Result<Arc<Names>, SqlError> {
        let names = self.names().map_err(|e| self.classify(e))?;
        let (policy, known) = (Arc::clone(&self.guard.policy), Arc::clone(&names));
        self.authorize(move |context, findings| {
            authorizer::judge(&policy, &known, recorder.as_deref(), context, findings)
        })?;
        Ok(names)
    }

    fn authorize(
        &self,
        decide: impl FnMut(&AuthContext<'_>, &mut Findings) -> Result<(), SqlError> + Send + 'static,
    ) -> Result<(), SqlError> {
        let callback = authorizer::callback(self.slot.clone(), decide);
        self.guard.conn.authorizer(Some(callback)).map_err(SqlError::Sqlite)
    }

    fn names(&self) -> rusqlite::Result<Arc<Names>> {
        let conn = &self.guard.conn;
        let version: i64 = conn.prepare_cached("PRAGMA schema_version")?.query_row([], |r| r.get(0))?;
        let mut cached = self.guard.names.borrow_mut();
        if let Some((at, names)) = cached.as_ref()
            && *at == version
        {
            return Ok(Arc::clone(names));
        }
        let names = Arc::new(Names::load(conn, &self.guard.policy)?);
        *cached = Some((version, Arc::clone(&names)));
        Ok(names)
    }

    pub fn lift_policy(&self) -> Result<(), SqlError> {
        let none: Option<fn(AuthContext<'_>) -> Authorization> = None;
        self.guard.conn.authorizer(none).map_err(SqlError::Sqlite)
    }

    fn end(&self, keep: bool) -> Result<(), SqlError> {
        let end = if keep { "COMMIT" } else { "ROLLBACK" };
        self.guard.conn.execute_batch(end).map_err(|e| self.classify(e))
    }

    pub fn timed_out(&self) -> bool {
        self.guard.deadline.over()
    }

    pub fn in_time(&self) -> Result<(), SqlError> {
        if self.timed_out() {
            return Err(error::timeout(&self.guard.policy.limits));
        }
        Ok(())
    }
}

impl Drop for Session<'_> {
    fn drop(&mut self) {
        let conn = &self.guard.conn;
        self.guard.deadline.lift();
        let no_progress: Option<fn() -> bool> = None;
        if let Err(error) = self.lift_policy() {
            tracing::warn!(%error, "a guarded session could not be lifted");
        }
        let lifted = conn
            .progress_handler(0, no_progress)
            .and_then(|()| if conn.is_autocommit() { Ok(()) } else { conn.execute_batch("ROLLBACK") });
        if let Err(error) = lifted {
            tracing::warn!(%error, "a guarded session could not be closed");
        }
    }
}
