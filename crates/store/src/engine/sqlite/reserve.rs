//! Room that the database keeps within its own files, where no other program can take it: a log that has its blocks already, and
//! a row of nothing whose pages become free once the disk is full to its end. What people must be able to write then (logins,
//! deletions, the disabling of a user) goes there; the content of runs and documents is refused until there is room again.

use rusqlite::Connection;
use rustix::fs::{FallocateFlags, fallocate, statvfs};
use std::fs::OpenOptions;
use std::io;
use std::path::{Path, PathBuf};

/// Blocks that the log has behind its end, bytes: once half of them are used, it gets the next.
const LOG: u64 = 8 << 20;
/// Pages of the row are so many bytes.
const ROW: u32 = 1 << 20;
/// With less than this free nothing is kept, bytes: a small disk is not filled with what is kept of it.
const NEEDED: u64 = 32 << 20;
/// With less than this free the disk counts as full, bytes.
const LOW: u64 = 1 << 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// There was never room for it.
    Missing,
    Kept,
    /// Its pages are free for what people write.
    Given,
}

pub(super) struct Reserve {
    database: PathBuf,
    state: State,
    low: bool,
    /// The end of the log when it got its blocks.
    log_end: Option<u64>,
}

impl Reserve {
    pub fn new(connection: &Connection, database: PathBuf) -> Self {
        let mut reserve = Self { database, state: State::Missing, low: false, log_end: None };
        reserve.look(connection);
        reserve
    }

    /// Looks at the disk before each commit, which takes far longer; takes the reserve back once there is room for it.
    pub fn look(&mut self, connection: &Connection) {
        let free = self.database.parent().and_then(|folder| free_bytes(folder).ok());
        self.low = free.is_some_and(|free| free < LOW);
        if free.is_none_or(|free| free < NEEDED) {
            return;
        }
        let is_first = self.state == State::Missing && self.log_end.is_none();
        if is_first || self.state == State::Given {
            match fill(connection) {
                Ok(()) => self.state = State::Kept,
                Err(error) => tracing::debug!(%error, "no room was kept in the database"),
            }
        }
        if let Err(error) = self.extend_log() {
            tracing::debug!(%error, "no room was kept for the log of the database");
        }
    }

    fn extend_log(&mut self) -> io::Result<()> {
        let mut log = self.database.clone().into_os_string();
        log.push("-wal");
        let end = std::fs::metadata(&log)?.len();
        if self.log_end.is_some_and(|before| (before.saturating_sub(LOG)..before + LOG / 2).contains(&end)) {
            return Ok(());
        }
        // SQLite keeps no lock on this file that closing it would drop.
        let file = OpenOptions::new().write(true).open(&log)?;
        // Asked for once, also where the file system can't.
        self.log_end = Some(end);
        Ok(fallocate(&file, FallocateFlags::KEEP_SIZE, end, LOG)?)
    }

    /// Whether the disk is so full that the log is emptied at once: then it needs no more than its own blocks.
    pub fn is_low(&self) -> bool {
        self.low
    }

    /// Whether what is left is for people only.
    pub fn is_for_people(&self) -> bool {
        self.low && self.state != State::Missing
    }

    /// Gives the pages away; `false`: there are none.
    pub fn give(&mut self, connection: &Connection) -> bool {
        if self.state != State::Kept {
            return false;
        }
        if let Err(error) = connection.execute_batch("delete from steward_reserve") {
            tracing::error!(%error, "the disk is full, and the room that was kept can't be used");
            return false;
        }
        tracing::warn!("the disk is full: logins and deletions use the room that was kept for them");
        self.state = State::Given;
        true
    }
}

fn fill(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch("create table if not exists steward_reserve (body blob not null)")?;
    let kept: i64 = connection.query_row("select count(*) from steward_reserve", [], |row| row.get(0))?;
    if kept > 0 {
        return Ok(());
    }
    // Zeros would take no blocks on a disk that compresses.
    connection.execute("insert into steward_reserve (body) values (randomblob(?1))", [ROW])?;
    // The pages get their blocks as they come into the database.
    connection.query_row("pragma wal_checkpoint(passive)", [], |_| Ok(()))
}

fn free_bytes(folder: &Path) -> io::Result<u64> {
    let found = statvfs(folder)?;
    Ok(found.f_bavail.saturating_mul(found.f_frsize))
}
