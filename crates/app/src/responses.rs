//! Answers under `/v1`: whose they are, which run or connection made them, and what becomes of a run when its client leaves.

mod attached;

use crate::app::{App, AppResult, Caller};
use crate::retention::hold_of;
use serde_json::Value;
use std::time::Duration;
use steward_core::audit::AuditEntry;
use steward_core::event::{Outcome, RequestedBy};
use steward_core::model::Connection;
use steward_core::ports::{DialectAnswer, RunRow, RunStatus, RunStore as _, StoreError, StoreResult};
use steward_core::retention::{DELETED, RetainedItem, RetainedKind};
use steward_core::run::RunState;
use steward_core::{AgentId, ConnectionId, RunId, Timestamp};
use steward_engine::EngineError;

pub use attached::{Attached, AwaitedStart, Starting};

/// How long the id of an answer leads to it.
const KEPT_FOR: Duration = Duration::from_hours(24 * 30);
/// How long the same request, sent again, joins the run that it began.
const JOINED_WITHIN: Duration = Duration::from_mins(5);
/// How long before its failure a run may have begun that a repeated request goes on with.
const LONGEST_RUN: Duration = Duration::from_hours(24);
/// How long a run that is not to be kept stays after its end: its last reader may still be reading.
const READ_WITHIN: Duration = Duration::from_secs(1);

/// What is noted of a request for an answer.
#[derive(Debug, Clone)]
pub struct AnswerRequest {
    /// What of it the answer repeats.
    pub repeated: Value,
    /// Of its path and body.
    pub hash: String,
    /// Whether the run is kept after its end.
    pub stored: bool,
}

impl App {
    /// Notes who may ask for an answer by its id: the key that asked for it.
    pub async fn note_answer(
        &self,
        caller: &Caller,
        id: String,
        (run, connection): (Option<RunId>, Option<ConnectionId>),
        request: &AnswerRequest,
    ) -> StoreResult<()> {
        let now = self.now();
        let answer = DialectAnswer {
            id,
            user: caller.user(),
            key: caller.principal.key.as_ref().map(|key| key.id),
            run,
            connection,
            request: request.repeated.clone(),
            request_hash: request.hash.clone(),
            stored: request.stored,
            at: now,
        };
        self.store.note_response(self.tenant(), &answer, before(now, KEPT_FOR)).await
    }

    /// `None`: there is none of this id, or another key asked for it.
    pub async fn own_answer(&self, caller: &Caller, id: &str) -> StoreResult<Option<DialectAnswer>> {
        let found = self.store.response(self.tenant(), id).await?;
        let key = caller.principal.key.as_ref().map(|key| key.id);
        Ok(found.filter(|answer| answer.user == caller.user() && answer.key == key))
    }

    /// The run that the same key began with the same request some minutes ago at most.
    pub async fn run_to_join(&self, caller: &Caller, request_hash: &str) -> StoreResult<Option<RunId>> {
        let key = caller.principal.key.as_ref().map(|key| key.id);
        let since = before(self.now(), JOINED_WITHIN);
        self.store.run_of_request(self.tenant(), (caller.user(), key), request_hash, since).await
    }

    /// In the place of a client of the same key that sent the same request to the same agent here and left before it was
    /// answered, some minutes ago at most: its run goes on, or has the answer.
    pub async fn attach_in_place_of_left(
        &self,
        caller: &Caller,
        request_hash: &str,
        agent: AgentId,
    ) -> Result<Option<Attached>, EngineError> {
        while let Some(mut attached) = Attached::in_place_of_left(self, caller, request_hash) {
            if let Some(row) = self.row_of(attached.run()).await? {
                let state = self.runs.state(attached.run()).await?;
                let stopped = matches!(row.outcome, Some(Outcome::Stopped { .. })) && !state.was_left();
                if is_for(&row, &state, agent) && !stopped {
                    return Ok(Some(attached));
                }
            }
            attached.let_go();
        }
        Ok(None)
    }

    /// To the run that a request goes on with though it doesn't say that it is a repeated one: that of a client who has left
    /// before it was answered, or one that its model failed in passing, some minutes ago at most.
    pub async fn attach_to_repeated(
        &self,
        caller: &Caller,
        request_hash: &str,
        agent: AgentId,
    ) -> Result<Option<Attached>, EngineError> {
        if let Some(attached) = self.attach_in_place_of_left(caller, request_hash, agent).await? {
            return Ok(Some(attached));
        }
        let key = caller.principal.key.as_ref().map(|key| key.id);
        let (since, ended) = (before(self.now(), LONGEST_RUN), before(self.now(), JOINED_WITHIN));
        let run = self.store.run_of_request(self.tenant(), (caller.user(), key), request_hash, since).await?;
        let Some(run) = run else { return Ok(None) };
        let Some(row) = self.row_of(run).await? else { return Ok(None) };
        let cut = matches!(row.outcome, Some(Outcome::Failed { .. } | Outcome::Stopped { .. }));
        if row.status == RunStatus::Finished && !(cut && row.updated_at >= ended) {
            return Ok(None);
        }
        let state = self.runs.state(run).await?;
        if !is_for(&row, &state, agent) {
            return Ok(None);
        }
        if state.was_left() {
            // At another node, or before this program was started; or another client goes on with it just now.
            return Ok(Attached::alone(self, caller, run, request_hash));
        }
        let goes_on = !state.is_finished() && state.asked_again;
        let attach = || Attached::new(self, caller, run, Some(request_hash));
        Ok((goes_on || state.failed_in_passing()).then(attach))
    }

    async fn row_of(&self, run: RunId) -> StoreResult<Option<RunRow>> {
        match self.store.run(self.tenant(), run).await {
            Ok(row) => Ok(Some(row)),
            Err(StoreError::NotFound(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The connection that made an answer, if it is there and the caller may use it.
    pub async fn connection_of_answer(&self, caller: &Caller, id: ConnectionId) -> Option<Connection> {
        let known = self.readable_connections(caller).await;
        known.into_iter().map(|one| one.connection).find(|one| one.id == id)
    }

    pub async fn forget_answer(&self, id: &str) -> StoreResult<()> {
        self.store.forget_response(self.tenant(), id).await
    }

    /// The client of a run has closed its connection: the run stops within a second, unless it waits for a person.
    pub(crate) async fn leave_run(&self, caller: &Caller, run: RunId) -> Result<(), EngineError> {
        let name = "steward: the client closed the connection".to_owned();
        self.runs.leave(run, RequestedBy { name, source: Some(caller.source()) }).await
    }

    /// Goes on with a run from its log that was stopped since its client had left, or that its model failed in passing;
    /// `false`: it ended for another reason.
    pub async fn go_on_with_run(&self, run: RunId) -> Result<bool, EngineError> {
        self.runs.go_on(run).await
    }

    /// Deletes the run of an answer with all that was said in it, as its key asks. `false`: it has not ended, or is held.
    pub async fn delete_run_of_answer(&self, caller: &Caller, run: RunId) -> AppResult<bool> {
        let entry = self.audit_entry_of(caller, DELETED).with("kind", "runs");
        self.delete_ended_run(run, entry).await
    }

    /// Deletes what clients wanted not to be kept, soon after its end; a run that may go on, once nobody can join it any more.
    pub(crate) async fn delete_runs_not_stored(&self) -> AppResult<()> {
        let now = self.now();
        let (ended, stopped) = (before(now, READ_WITHIN), before(now, JOINED_WITHIN));
        for run in self.store.runs_not_stored(self.tenant(), ended, stopped).await? {
            if attached::is_missed(self, run) {
                continue;
            }
            let entry = self.audit_fact(DELETED).with("kind", "runs").with("policy", "not stored");
            self.delete_ended_run(run, entry).await?;
        }
        Ok(())
    }

    async fn delete_ended_run(&self, run: RunId, entry: AuditEntry) -> AppResult<bool> {
        let Some(row) = self.row_of(run).await? else { return Ok(true) };
        if row.status != RunStatus::Finished {
            return Ok(false);
        }
        let item = RetainedItem {
            kind: RetainedKind::Runs,
            id: run.to_string(),
            at: row.updated_at,
            deleted_only: false,
            user: row.user,
            conversation: row.conversation,
        };
        if hold_of(&self.kept_retention().await?, &item).is_some() {
            return Ok(false);
        }
        let entry = entry.on(item.id.as_str());
        let deleted = self.store.delete_retained(self.tenant(), &item, &entry).await?.is_some();
        if deleted {
            self.store.remove_unused_blobs(self.tenant()).await?;
        }
        Ok(deleted)
    }
}

/// Whether a run is of this agent. A request may have gone to another one than the one that was asked.
fn is_for(row: &RunRow, state: &RunState, agent: AgentId) -> bool {
    let redirected = state.setup.as_deref().and_then(|setup| setup.redirected.as_ref());
    row.agent == agent || redirected.is_some_and(|redirected| redirected.from.is_some())
}

fn before(now: Timestamp, time: Duration) -> Timestamp {
    let ms = i64::try_from(time.as_millis()).unwrap_or(i64::MAX);
    Timestamp(now.0.saturating_sub(ms))
}
