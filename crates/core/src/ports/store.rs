//! Storage. One conformance suite runs over every implementation.

use super::SpentRecord;
use crate::approval::{Answer, Approval};
use crate::event::{Event, EventBody, Origin, Outcome};
use crate::message::Message;
use crate::prompt::Carried;
use crate::receipts::Verdict;
use crate::run::OutsideFile;
use crate::tool::Staged;
use crate::{AgentId, ApprovalId, ConversationId, ReservationId, RunId, TenantId, TimerId, Timestamp, UserId};
use async_trait::async_trait;
use serde::{Deserialize, Serialize};

/// Why a store refused or failed. What was acknowledged before stays.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// There is no such row.
    #[error("{0} was not found")]
    NotFound(String),
    /// A conversation has one run at a time.
    #[error("the conversation is busy: run {run} has not ended")]
    Busy {
        /// The run at work or waiting there.
        run: RunId,
    },
    /// A run can't end while something that was said to it is not taken in.
    #[error("run {run} has commands waiting")]
    CommandsWaiting { run: RunId },
    /// Unique name or version clash.
    #[error("{0}")]
    Conflict(String),
    /// The lease is held by another runner with a newer epoch; stop working on this run.
    #[error("run {run} was taken over by another runner (epoch {epoch} is no longer valid)")]
    Fenced { run: RunId, epoch: u64 },
    /// The data directory is used by another process.
    #[error("{path} is in use by another steward (pid {pid}); stop it, or choose another with --data-dir")]
    InUse {
        path: String,
        /// Process id, 0 if unknown.
        pid: u32,
    },
    /// The database was written by a newer program.
    #[error(
        "the database has schema version {found}, this program knows {known}; use the newer steward again, or restore a backup"
    )]
    Newer { found: i64, known: i64 },
    #[error("the database is damaged: {0}; nothing was changed: restore a backup, or move the file away to start anew")]
    Corrupt(String),
    #[error("the disk is full: nothing was saved; free space and try again ({0})")]
    Full(String),
    /// The database can't be reached or failed.
    #[error("the database failed: {0}")]
    Backend(String),
}

/// Result of a store call.
pub type StoreResult<T> = Result<T, StoreError>;

/// The right to append to a run, until it ends or is taken over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    pub tenant: TenantId,
    pub run: RunId,
    /// Fencing epoch; each claim has a higher one.
    pub epoch: u64,
    /// Sequence number of the last event at the time of the claim.
    pub last_seq: u64,
}

/// What is appended together, in one transaction (all or nothing, fsynced when it returns).
#[derive(Debug, Clone)]
pub struct Commit {
    pub tenant: TenantId,
    pub run: RunId,
    /// Epoch of our lease; checked in the same transaction.
    pub epoch: u64,
    /// Sequence number of the last event that we know; the first new one is this plus 1.
    /// Another value in the store is an [`StoreError::Fenced`].
    pub after: u64,
    pub at: Timestamp,
    /// The events; may be empty if there are side writes.
    pub events: Vec<EventBody>,
    pub side: Vec<SideWrite>,
}

/// Rows that change together with events.
#[derive(Debug, Clone)]
#[expect(clippy::large_enum_variant, reason = "few at a time, each written once")]
pub enum SideWrite {
    Approval(Approval),
    /// An answer to one; an answer already there stays.
    Decided {
        id: ApprovalId,
        answer: Answer,
        by: String,
    },
    /// Withdraws the open entries of this run (it was stopped).
    WithdrawApprovals,
    Timer {
        id: TimerId,
        at: Timestamp,
        purpose: String,
    },
    TimerDone(TimerId),
    /// Commands taken in by these events.
    Consumed(Vec<i64>),
    Status {
        status: RunStatus,
        /// How it ended, if it did.
        outcome: Option<Outcome>,
        answer: Option<String>,
        /// Tokens so far.
        tokens: u64,
        /// Cost so far, millionths of a dollar.
        cost_micros: u64,
        /// Whether its claims are proved, if it ended.
        verdict: Option<Verdict>,
    },
    /// What the answer of a run that has ended proves since one of its effects was undone.
    Verdict(Verdict),
    /// A command for another run; nothing if that one has ended.
    Enqueue(RunId, Command),
    /// A file of the workspace has content from outside from now on.
    FromOutside {
        workspace: String,
        file: OutsideFile,
    },
    /// What the prompts of the run's conversation begin with.
    Carried(ConversationId, Carried),
    /// Messages for the run's conversation.
    Messages(ConversationId, Vec<Message>),
    /// Ends a reservation, if there is one, and records what a model call took.
    Settle(Option<ReservationId>, SpentRecord),
}

/// Where a run stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum RunStatus {
    /// At work, or to be resumed.
    Running,
    /// Waits for a person or an alarm.
    Parked,
    /// Ended.
    Finished,
}

/// One row of the list of runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunRow {
    pub id: RunId,
    pub tenant: TenantId,
    pub agent: AgentId,
    pub conversation: Option<ConversationId>,
    /// First line of the request.
    pub title: String,
    /// Where it stands.
    pub status: RunStatus,
    /// How it ended.
    pub outcome: Option<Outcome>,
    pub answer: Option<String>,
    /// Where it came from.
    pub origin: Origin,
    /// Whose it is; `None`: the command line's or a program's without a user.
    pub user: Option<UserId>,
    /// Name of the model that it started with.
    pub model: String,
    /// Whether its claims are proved; `None` until it ends.
    pub verdict: Option<Verdict>,
    /// The run whose first events it repeats.
    pub forked_from: Option<RunId>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub last_seq: u64,
    /// Tokens so far.
    pub tokens: u64,
    /// Cost so far, millionths of a dollar.
    pub cost_micros: u64,
}

/// Newest first.
#[derive(Debug, Clone, Default)]
pub struct RunFilter {
    /// Only of this status.
    pub status: Option<RunStatus>,
    /// Only of this conversation.
    pub conversation: Option<ConversationId>,
    /// Only of this agent.
    pub agent: Option<AgentId>,
    /// Only of this user.
    pub user: Option<UserId>,
    /// Only from there.
    pub origin: Option<Origin>,
    /// Only with this verdict.
    pub verdict: Option<Verdict>,
    /// Only ended like this: `status` of [`Outcome`], such as `failed`.
    pub outcome: Option<String>,
    /// Only with this text in title or answer, whatever the case.
    pub text: Option<String>,
    /// Only older than this one (cursor).
    pub before: Option<RunId>,
    /// At most so many.
    pub limit: u32,
}

/// One page of a list.
#[derive(Debug, Clone, PartialEq)]
pub struct Page<T> {
    pub items: Vec<T>,
    /// Whether more follow.
    pub more: bool,
}

#[derive(Debug, Clone)]
pub enum Claim {
    /// This run, if nobody holds a valid lease on it.
    Run(RunId),
    /// This run, which has ended, to take its effects back.
    Ended(RunId),
    /// Any run at work whose lease has ended, or a parked one with commands waiting.
    Any,
}

/// A word from outside to a run; durable until the run has taken it in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Command {
    Stop {
        by: String,
    },
    Steer {
        text: String,
        by: String,
    },
    /// An answer to an approval.
    Decide {
        id: ApprovalId,
        answer: Answer,
        by: String,
    },
    Timer {
        id: TimerId,
    },
    /// A run that it delegated to has ended.
    ChildEnded {
        run: RunId,
    },
}

/// A command and its place in the queue.
#[derive(Debug, Clone, PartialEq)]
pub struct QueuedCommand {
    /// For [`SideWrite::Consumed`].
    pub id: i64,
    pub command: Command,
}

/// An alarm that should ring.
#[derive(Debug, Clone, PartialEq)]
pub struct DueTimer {
    pub tenant: TenantId,
    pub run: RunId,
    pub id: TimerId,
}

/// An event as stored; `raw` is kept for events of newer programs.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredEvent {
    /// The event, [`EventBody::Unknown`] where it isn't understood.
    pub event: Event,
    /// The body's JSON text.
    pub raw: String,
}

#[async_trait]
pub trait RunStore: Send + Sync {
    /// Makes a run with its first events and a lease for `owner` until `lease_until`
    /// (epoch 1). One transaction. [`StoreError::Busy`] if its conversation has a run that has
    /// not ended.
    async fn create_run(
        &self,
        row: RunRow,
        first: Vec<EventBody>,
        side: Vec<SideWrite>,
        owner: &str,
        lease_until: Timestamp,
    ) -> StoreResult<Lease>;
    /// Appends. On success everything is fsynced. A commit that ends the run while commands wait is a
    /// [`StoreError::CommandsWaiting`] and changes nothing.
    async fn commit(&self, commit: Commit) -> StoreResult<Vec<Event>>;
    /// Events after `after`, in order.
    async fn events(&self, tenant: TenantId, run: RunId, after: u64, limit: u32) -> StoreResult<Vec<StoredEvent>>;
    /// What calls of other runs were about to do after `since`, oldest first.
    async fn staged_since(&self, tenant: TenantId, except: RunId, since: Timestamp) -> StoreResult<Vec<Staged>>;
    /// Takes a run over; `None` if there is nothing to take.
    async fn claim(
        &self,
        what: Claim,
        owner: &str,
        now: Timestamp,
        lease_until: Timestamp,
    ) -> StoreResult<Option<Lease>>;
    /// Prolongs a lease; [`StoreError::Fenced`] if it was lost.
    async fn renew(&self, lease: &Lease, lease_until: Timestamp) -> StoreResult<()>;
    /// Gives a lease back. A run with commands waiting stays claimable.
    async fn release(&self, lease: &Lease) -> StoreResult<()>;
    async fn run(&self, tenant: TenantId, run: RunId) -> StoreResult<RunRow>;
    /// Runs, newest first.
    async fn runs(&self, tenant: TenantId, filter: RunFilter) -> StoreResult<Page<RunRow>>;
    /// Queues a command; durable when it returns. [`StoreError::Conflict`] if the run has ended.
    async fn push_command(&self, tenant: TenantId, run: RunId, command: Command) -> StoreResult<()>;
    /// Commands waiting, oldest first.
    async fn commands(&self, tenant: TenantId, run: RunId) -> StoreResult<Vec<QueuedCommand>>;
    /// Alarms that should have rung by `now` and whose command is not queued yet.
    async fn due_timers(&self, now: Timestamp, limit: u32) -> StoreResult<Vec<DueTimer>>;
    /// Files of a workspace whose content came from outside.
    async fn outside_files(&self, _tenant: TenantId, _workspace: &str) -> StoreResult<Vec<OutsideFile>> {
        Ok(Vec::new())
    }
    /// Checks the whole database (`integrity_check` or the like).
    async fn check(&self) -> StoreResult<()>;
}

/// A run kept as a regression test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct KeptRun {
    /// Its name, unique.
    pub name: String,
    /// The run.
    #[serde(rename = "run_id")]
    pub run: RunId,
    /// Who kept it.
    pub by: String,
    /// When.
    pub created_at: Timestamp,
}

#[async_trait]
pub trait KeptRuns: Send + Sync {
    /// Keeps one; a name that another has is a conflict.
    async fn keep_run(&self, tenant: TenantId, kept: &KeptRun) -> StoreResult<()>;
    /// All, by name.
    async fn kept_runs(&self, tenant: TenantId) -> StoreResult<Vec<KeptRun>>;
    /// Lets go of one; the run stays.
    async fn drop_kept(&self, tenant: TenantId, name: &str) -> StoreResult<()>;
}
