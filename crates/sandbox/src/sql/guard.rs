use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rusqlite::Connection;
use rusqlite::hooks::{AuthContext, Authorization};

use super::authorizer::{self, Slot};
use super::deadline::Deadline;
use super::error::SqlError;
use super::functions;
use super::known::Names;
use super::open::{self, Use};
use super::policy::Policy;

/// Virtual machine instructions between two looks at the clock: some tens of microseconds.
const STEP: u16 = 2000;

/// A database open for guarded queries. Its methods block; call them off the async threads.
#[derive(Debug)]
pub struct Guard {
    pub(super) conn: Connection,
    pub(super) path: PathBuf,
    pub(super) policy: Arc<Policy>,
    pub(super) purpose: Use,
    /// Names as of a schema version, so that an unchanged schema is read once.
    names: RefCell<Option<(i64, Arc<Names>)>>,
    /// Of the session that is under way.
    deadline: Arc<Deadline>,
}

impl Guard {
    /// Opens an existing database read-only under `policy`.
    ///
    /// Fails with [`SqlError::Open`] for a missing or unreadable file, with [`SqlError::Corrupt`] for one that is
    /// no database.
    pub fn open(path: impl AsRef<Path>, policy: Policy) -> Result<Self, SqlError> {
        Self::open_for(path.as_ref(), policy, Use::Read)
    }

    /// Opens an existing database for statements that change rows too: INSERT, UPDATE and DELETE. Whatever the policy
    /// closes is neither read nor changed; the database's own triggers and foreign keys are in force, and under the
    /// same policy.
    ///
    /// Fails as [`Guard::open`] does.
    pub fn open_for_writing(path: impl AsRef<Path>, policy: Policy) -> Result<Self, SqlError> {
        Self::open_for(path.as_ref(), policy, Use::Write)
    }

    pub(super) fn open_for(path: &Path, policy: Policy, purpose: Use) -> Result<Self, SqlError> {
        let (conn, path) = open::connection(path, &policy.limits, purpose)?;
        Self::over(conn, path, policy, purpose)
    }

    /// Over a connection that is hardened already.
    pub(super) fn over(conn: Connection, path: PathBuf, policy: Policy, purpose: Use) -> Result<Self, SqlError> {
        let deadline = Arc::<Deadline>::default();
        functions::register(&conn, &deadline, policy.limits.value_bytes).map_err(SqlError::Sqlite)?;
        Ok(Self { conn, path, policy: Arc::new(policy), purpose, names: RefCell::new(None), deadline })
    }

    /// The policy it was opened under.
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// The real path of the database.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Version of the `SQLite` in use, such as `3.51.3`.
    pub fn sqlite_version() -> &'static str {
        rusqlite::version()
    }

    /// Runs `work` inside one read transaction with a deadline. Inside, [`Session::confine`] turns the authorizer
    /// on; it is off again afterwards, whatever happened.
    pub(super) fn session<T>(&self, work: impl FnOnce(&Session<'_>) -> Result<T, SqlError>) -> Result<T, SqlError> {
        let session = Session::begin(self)?;
        work(&session)
    }
}

/// One guarded piece of work; dropping it lifts the authorizer, the deadline and the transaction.
pub(super) struct Session<'g> {
    pub guard: &'g Guard,
    exhausted: Arc<AtomicBool>,
    slot: Slot,
}

impl<'g> Session<'g> {
    fn begin(guard: &'g Guard) -> Result<Self, SqlError> {
        let limits = &guard.policy.limits;
        let exhausted = Arc::new(AtomicBool::new(false));
        let deadline = Arc::clone(&guard.deadline);
        deadline.set(limits.wall);
        let mut budget = limits.steps;
        let empty = Arc::clone(&exhausted);
        let progress = move || {
            if let Some(left) = budget.as_mut() {
                *left = left.saturating_sub(u64::from(STEP));
                if *left == 0 {
                    empty.store(true, Ordering::Relaxed);
                    return true;
                }
            }
            deadline.over()
        };
        guard.conn.progress_handler(i32::from(STEP), Some(progress)).map_err(SqlError::Sqlite)?;
        let session = Self { guard, exhausted, slot: Slot::default() };
        // The snapshot keeps the schema that was checked and the schema that is read the same one.
        guard
            .conn
            .prepare_cached(if guard.purpose == Use::Read { "BEGIN" } else { "BEGIN IMMEDIATE" })
            .and_then(|mut s| s.execute([]))
            .map_err(|e| session.classify(e))?;
        Ok(session)
    }

    /// From here on every statement is judged by the policy.
    pub fn confine(&self) -> Result<Arc<Names>, SqlError> {
        self.confine_with(None)
    }

    /// Likewise; with `recorder`, the beginning of the names of our own triggers, for a statement that writes.
    pub fn confine_with(&self, recorder: Option<String>) -> Result<Arc<Names>, SqlError> {
        let names = self.names().map_err(|e| self.classify(e))?;
        let policy = Arc::clone(&self.guard.policy);
        let slot = Arc::clone(&self.slot);
        let callback = authorizer::callback(policy, Arc::clone(&names), slot, recorder);
        self.guard.conn.authorizer(Some(callback)).map_err(SqlError::Sqlite)?;
        Ok(names)
    }

    /// The names that were read for [`Self::confine`].
    pub fn known(&self) -> Option<Arc<Names>> {
        let names = self.guard.names.borrow();
        names.as_ref().map(|(_, names)| Arc::clone(names))
    }

    pub(super) fn names(&self) -> rusqlite::Result<Arc<Names>> {
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

    /// How many different virtual tables the authorizer allowed.
    pub fn virtual_reads(&self) -> usize {
        authorizer::virtual_reads(&self.slot)
    }

    /// Lifts the authorizer for statements of our own.
    pub fn lift(&self) -> Result<(), SqlError> {
        let none: Option<fn(AuthContext<'_>) -> Authorization> = None;
        self.guard.conn.authorizer(none).map_err(SqlError::Sqlite)
    }

    /// The refusal of the last statement, if the authorizer had one.
    pub fn refusal(&self) -> Option<SqlError> {
        authorizer::take(&self.slot).map(|r| SqlError::Denied { what: r.what, hint: r.hint })
    }

    pub fn timed_out(&self) -> bool {
        self.guard.deadline.over()
    }

    /// Nothing that comes too late is an answer, though no step in between took long.
    pub fn in_time(&self) -> Result<(), SqlError> {
        if self.timed_out() {
            return Err(SqlError::Timeout {
                ms: u64::try_from(self.guard.policy.limits.wall.as_millis()).unwrap_or(u64::MAX),
            });
        }
        Ok(())
    }

    pub fn out_of_steps(&self) -> bool {
        self.exhausted.load(Ordering::Relaxed)
    }
}

impl Drop for Session<'_> {
    fn drop(&mut self) {
        let conn = &self.guard.conn;
        self.guard.deadline.lift();
        let no_progress: Option<fn() -> bool> = None;
        if let Err(error) = self.lift() {
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
