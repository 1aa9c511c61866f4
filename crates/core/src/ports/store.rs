//! Storage. One conformance suite runs over every implementation.

use super::spending::SpentRecord;
use super::store_result::StoreResult;
use crate::approval::{Answer, Approval};
use crate::audit::AuditEntry;
use crate::event::{Event, EventBody, Origin, Outcome, RequestSource};
use crate::message::Message;
use crate::policy::StandingGrant;
use crate::prompt::Carried;
use crate::receipts::Verdict;
use crate::run::FileProvenance;
use crate::started_by::StartedBy;
use crate::tool::Staged;
use crate::{AgentId, ApprovalId, ConversationId, ReservationId, RunId, TenantId, TimerId, Timestamp, UserId};
use async_trait::async_trait;
use serde::{Deserialize, Serialize};

/// The right to append to a run, until it ends or is taken over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    pub tenant: TenantId,
    pub run: RunId,
    /// Fencing epoch; each claim has a higher one.
    pub epoch: u64,
    /// Sequence number of the last event when the run was claimed.
    pub last_seq: u64,
}

/// What is appended in one transaction: all or nothing, fsynced on return.
#[derive(Debug, Clone)]
pub struct Commit {
    pub tenant: TenantId,
    pub run: RunId,
    /// Epoch of our lease; checked in the same transaction.
    pub epoch: u64,
    /// Sequence number of the last event that we know; the first new one is this plus 1. If the store has another one,
    /// the commit fails with [`super::StoreError::Fenced`].
    pub after: u64,
    pub at: Timestamp,
    /// May be empty if there are side writes.
    pub events: Vec<EventBody>,
    pub side: Vec<SideWrite>,
}

#[derive(Debug, Clone)]
#[expect(clippy::large_enum_variant, reason = "few at a time, each written once")]
pub enum SideWrite {
    Approval(Approval),
    /// An answer to an approval; an earlier answer stays.
    Decided {
        id: ApprovalId,
        answer: Answer,
        by: String,
    },
    /// Withdraws the open approvals of this run, since it was stopped.
    WithdrawApprovals,
    Timer {
        id: TimerId,
        at: Timestamp,
        purpose: String,
    },
    TimerDone(TimerId),
    Consumed(Vec<i64>),
    Status {
        status: RunStatus,
        outcome: Option<Outcome>,
        answer: Option<String>,
        tokens: u64,
        /// Millionths of a dollar so far.
        cost_micros: u64,
        /// Whether its claims are proved; `None` until it ends.
        verdict: Option<Verdict>,
    },
    /// The new verdict of an ended run after one of its effects was undone.
    Verdict(Verdict),
    /// A command for another run; ignored if that one has ended.
    Enqueue(RunId, Command),
    /// Where the content of a file of the workspace may now come from besides what is recorded of it.
    FileProvenance {
        workspace: String,
        file: FileProvenance,
    },
    /// What the prompts of the run's conversation begin with.
    Carried(ConversationId, Carried),
    Messages(ConversationId, Vec<Message>),
    /// The run is that of what started it. Fails with [`super::StoreError::Conflict`] if that has its fate.
    StartedBy(StartedBy),
    /// An entry of the audit trail.
    Audit(AuditEntry),
    /// Ends a reservation, if there is one, and records what a model call used.
    Settle(Option<ReservationId>, SpentRecord),
}

/// Where a run stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, utoipa::ToSchema, strum::IntoStaticStr)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum RunStatus {
    /// At work, or to be resumed.
    Running,
    /// Waits for a person or an alarm.
    Parked,
    /// Ended.
    Finished,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunRow {
    pub id: RunId,
    pub tenant: TenantId,
    pub agent: AgentId,
    pub conversation: Option<ConversationId>,
    /// First line of the request.
    pub title: String,
    pub status: RunStatus,
    pub outcome: Option<Outcome>,
    pub answer: Option<String>,
    pub origin: Origin,
    /// `None` for runs of the command line or of a program without a user.
    pub user: Option<UserId>,
    pub model: String,
    /// `None` until it ends.
    pub verdict: Option<Verdict>,
    /// The run whose first events it repeats.
    pub forked_from: Option<RunId>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub last_seq: u64,
    pub tokens: u64,
    pub cost_micros: u64,
}

/// Filter for a list of runs, newest first.
#[derive(Debug, Clone, Default)]
pub struct RunFilter {
    pub status: Option<RunStatus>,
    pub conversation: Option<ConversationId>,
    pub agent: Option<AgentId>,
    pub user: Option<UserId>,
    pub origin: Option<Origin>,
    pub verdict: Option<Verdict>,
    /// The `status` of an [`Outcome`], such as `failed`.
    pub outcome: Option<String>,
    /// Case-insensitive text in title or answer.
    pub text: Option<String>,
    /// Only runs older than this one (cursor).
    pub before: Option<RunId>,
    pub limit: u32,
}

#[derive(Debug, Clone)]
pub enum Claim {
    /// This run, if nobody holds a valid lease on it.
    Run(RunId),
    /// This run, which has ended, to undo its effects.
    Ended(RunId),
    /// An active run whose lease has expired, or a parked one with commands waiting: of the user who has the fewest at
    /// work, of several such that of the one whose last turn is longest ago, their oldest.
    Any,
    /// Like [`Claim::Any`], but only of a user who has none at work.
    OfIdleUser,
}

/// The runs of one user that have not ended, apart from those that wait for an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OpenRuns {
    /// Somebody holds a valid lease on them.
    pub at_work: u64,
    /// They could be at work, but nobody has taken them.
    pub waiting: u64,
}

/// A message from outside to a run; durable until the run has taken it in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Command {
    Stop {
        by: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        source: Option<Box<RequestSource>>,
    },
    /// The program that asked for the run has closed its connection: the run stops, unless it waits for a person.
    ClientLeft {
        by: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        source: Option<Box<RequestSource>>,
    },
    Steer {
        text: String,
        by: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        source: Option<Box<RequestSource>>,
    },
    Decide {
        id: ApprovalId,
        answer: Answer,
        by: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        source: Option<Box<RequestSource>>,
    },
    Timer {
        id: TimerId,
    },
    ChildEnded {
        run: RunId,
    },
}

#[derive(Debug, Clone, PartialEq)]
pub struct QueuedCommand {
    /// For [`SideWrite::Consumed`].
    pub id: i64,
    pub command: Command,
}

#[derive(Debug, Clone, PartialEq)]
pub struct DueTimer {
    pub run: RunId,
    pub id: TimerId,
}

#[derive(Debug, Clone, PartialEq)]
pub struct StoredEvent {
    /// [`EventBody::Unknown`] if it isn't understood.
    pub event: Event,
    /// The body's JSON text, kept for events of newer programs.
    pub raw: String,
}

#[async_trait]
pub trait RunStore: Send + Sync {
    /// Makes a run with its first events and a lease for `owner` until `lease_until` (epoch 1). One transaction.
    /// [`super::StoreError::Busy`] if its conversation has a run that has not ended.
    async fn create_run(
        &self,
        row: RunRow,
        first: Vec<EventBody>,
        side: Vec<SideWrite>,
        owner: &str,
        lease_until: Timestamp,
    ) -> StoreResult<Lease>;
    /// On success everything is fsynced. A commit that ends the run while commands wait fails with
    /// [`super::StoreError::CommandsWaiting`] and changes nothing.
    async fn commit(&self, commit: Commit) -> StoreResult<Vec<Event>>;
    async fn events(&self, tenant: TenantId, run: RunId, after: u64, limit: u32) -> StoreResult<Vec<StoredEvent>>;
    /// What calls of other runs staged after `since`, oldest first.
    async fn staged_since(&self, tenant: TenantId, except: RunId, since: Timestamp) -> StoreResult<Vec<Staged>>;
    /// Takes a run of this tenant over; `None` if there is nothing to take.
    async fn claim(
        &self,
        tenant: TenantId,
        what: Claim,
        owner: &str,
        now: Timestamp,
        lease_until: Timestamp,
    ) -> StoreResult<Option<Lease>>;
    /// Of `None`: those that no user asked for.
    async fn open_runs(&self, tenant: TenantId, user: Option<UserId>, now: Timestamp) -> StoreResult<OpenRuns>;
    /// Extends a lease; [`super::StoreError::Fenced`] if it was lost.
    async fn renew(&self, lease: &Lease, lease_until: Timestamp) -> StoreResult<()>;
    /// A run with commands waiting stays claimable.
    async fn release(&self, lease: &Lease) -> StoreResult<()>;
    async fn run(&self, tenant: TenantId, run: RunId) -> StoreResult<RunRow>;
    /// Durable when it returns. [`super::StoreError::Conflict`] if the run has ended.
    async fn push_command(&self, tenant: TenantId, run: RunId, command: Command) -> StoreResult<()>;
    /// Waiting commands, oldest first.
    async fn commands(&self, tenant: TenantId, run: RunId) -> StoreResult<Vec<QueuedCommand>>;
    /// Timers that were due by `now` and whose command is not queued yet.
    async fn due_timers(&self, tenant: TenantId, now: Timestamp, limit: u32) -> StoreResult<Vec<DueTimer>>;
    /// What is recorded of the files of a workspace, by path; at most
    /// [`MAX_FILE_ENTRIES`](crate::run::MAX_FILE_ENTRIES).
    async fn file_provenance(&self, tenant: TenantId, workspace: &str) -> StoreResult<Vec<FileProvenance>>;
}

/// What is recorded of a file of a workspace, and when that changed last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileProvenanceEntry {
    pub file: FileProvenance,
    pub at: Timestamp,
}

/// A run kept as a regression test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
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

#[derive(Debug, Clone, Default)]
pub struct ApprovalFilter {
    pub open: bool,
    /// Only answered or withdrawn ones.
    pub closed: bool,
    pub run: Option<RunId>,
    /// Only those after this one in the order of the list (cursor).
    pub after: Option<ApprovalId>,
    pub limit: u32,
}

#[async_trait]
pub trait Approvals: Send + Sync {
    async fn approval(&self, tenant: TenantId, id: ApprovalId) -> StoreResult<Approval>;
}

#[async_trait]
pub trait Grants: Send + Sync {
    /// Those in force at `now`, of one agent or of all, newest first.
    async fn grants(&self, tenant: TenantId, agent: Option<AgentId>, now: Timestamp)
    -> StoreResult<Vec<StandingGrant>>;
}

/// Runs that began within the same step of time and went the same way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunCount {
    /// Which step, from 0.
    pub step: i64,
    pub status: RunStatus,
    /// The `status` of an [`crate::event::Outcome`], once it has ended.
    pub ended_as: Option<String>,
    pub runs: u64,
}
