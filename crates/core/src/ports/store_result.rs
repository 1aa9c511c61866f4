//! What every storage port answers.

use crate::RunId;

/// Why a store refused or failed. What was acknowledged before is not lost.
#[derive(Debug, Clone, thiserror::Error)]
pub enum StoreError {
    #[error("{0} was not found")]
    NotFound(String),
    /// A conversation has one run at a time.
    #[error("the conversation is busy: run {run} has not ended")]
    Busy {
        /// The run at work or waiting there.
        run: RunId,
    },
    /// A run can't end before it has taken in all that was said to it.
    #[error("run {run} has commands waiting")]
    CommandsWaiting { run: RunId },
    /// A unique name is taken, or a version clashes.
    #[error("{0}")]
    Conflict(String),
    /// The lease is held by another runner with a newer epoch; stop working on this run.
    #[error("run {run} was taken over by another runner (epoch {epoch} is no longer valid)")]
    Fenced { run: RunId, epoch: u64 },
    #[error("{path} is in use by another steward (pid {pid}); stop it, or choose another with --data-dir")]
    InUse {
        path: String,
        /// Process id, 0 if unknown.
        pid: u32,
    },
    #[error(
        "the database has schema version {found}, this program knows {known}; use the newer steward again, or restore a backup"
    )]
    Newer { found: i64, known: i64 },
    /// A step of the schema is not the one that this program would have run.
    #[error(
        "this data was written by {written_by}, and its database can't be used by this program (its step '{step}' is another one); nothing was changed: start with a new data folder (--data-dir or STEWARD_DATA; for PostgreSQL a new database), and use the old one with the program that wrote it. Data is kept across versions from 0.1.0 on"
    )]
    OtherSchema { written_by: String, step: String },
    #[error("the database is damaged: {0}; nothing was changed: restore a backup, or move the file away to start anew")]
    Corrupt(String),
    #[error("the disk is full: nothing was saved; free space and try again ({0})")]
    Full(String),
    #[error("the database failed: {0}")]
    Backend(String),
}

pub type StoreResult<T> = Result<T, StoreError>;

#[derive(Debug, Clone, PartialEq)]
pub struct Page<T> {
    pub items: Vec<T>,
    pub more: bool,
}

impl<T> Page<T> {
    /// Of what was read with one more than `limit`.
    pub fn cut(mut items: Vec<T>, limit: u32) -> Self {
        let more = items.len() > limit as usize;
        items.truncate(limit as usize);
        Self { items, more }
    }
}
