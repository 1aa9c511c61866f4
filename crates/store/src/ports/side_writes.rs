//! Rows that change together with events.

use super::file_provenance;
use super::hooks;
use super::reservations::settle;
use super::run_inbox::enqueue;
use super::schedules;
use super::usage::UsageSum;
use crate::append::AppendBatch;
use crate::codec::{fold, to_json, to_word};
use crate::tx::{Tx, args};
use steward_core::approval::{Answer, Approval};
use steward_core::event::Outcome;
use steward_core::message::{Message, Role};
use steward_core::ports::{RunStatus, SideWrite, StartedBy, StoreError, StoreResult};
use steward_core::receipts::Verdict;
use steward_core::{ApprovalId, ConversationId};

/// Writes the rows that go with a batch of events, in order.
pub(super) async fn write(tx: &mut Tx<'_>, batch: &AppendBatch) -> StoreResult<()> {
    for side in &batch.side {
        match side {
            SideWrite::Approval(approval) => insert_approval(tx, batch, approval).await?,
            SideWrite::Decided { id, answer, by } => record_decision(tx, batch, *id, answer, by).await?,
            SideWrite::WithdrawApprovals => {
                let sql = "update approvals set decided_at = $3
                     where tenant_id = $1 and run_id = $2 and decided_at is null";
                tx.execute(sql, args![batch.tenant, batch.run, batch.at]).await?;
            }
            SideWrite::Timer { id, at, purpose } => {
                let sql = "insert into timers (tenant_id, run_id, id, at, purpose, done)
                     values ($1, $2, $3, $4, $5, 0)";
                let args = args![batch.tenant, batch.run, *id, *at, purpose];
                tx.write_unique(sql, args, || format!("timer {id} exists already")).await?;
            }
            SideWrite::TimerDone(id) => {
                let sql = "update timers set done = 1 where tenant_id = $1 and run_id = $2 and id = $3";
                tx.execute(sql, args![batch.tenant, batch.run, *id]).await?;
            }
            SideWrite::Consumed(ids) => {
                for id in ids {
                    let sql = "delete from run_inbox where tenant_id = $1 and run_id = $2 and id = $3";
                    tx.execute(sql, args![batch.tenant, batch.run, *id]).await?;
                }
            }
            SideWrite::Status { status, outcome, answer, tokens, cost_micros, verdict } => {
                let update = StatusUpdate {
                    status: *status,
                    outcome: outcome.as_ref(),
                    answer: answer.as_deref(),
                    tokens: *tokens,
                    cost_micros: *cost_micros,
                    verdict: *verdict,
                };
                update.write(tx, batch).await?;
            }
            SideWrite::Verdict(verdict) => {
                let sql = "update runs set verdict = $3 where tenant_id = $1 and id = $2";
                tx.execute(sql, args![batch.tenant, batch.run, to_word(verdict)?]).await?;
            }
            SideWrite::Enqueue(run, command) => {
                enqueue(tx, batch.tenant, *run, command).await?;
            }
            SideWrite::FileProvenance { workspace, file } => {
                file_provenance::join(tx, batch.tenant, workspace, file, batch.at).await?;
            }
            SideWrite::Carried(conversation, carried) => {
                let sql = "update conversations set carried = $3 where tenant_id = $1 and id = $2";
                tx.execute(sql, args![batch.tenant, *conversation, to_json(carried)?]).await?;
            }
            SideWrite::Messages(conversation, messages) => {
                append_messages(tx, batch, *conversation, messages).await?;
            }
            SideWrite::StartedBy(StartedBy::Occurrence(key)) => schedules::start(tx, batch, *key).await?,
            SideWrite::StartedBy(StartedBy::Delivery(key)) => hooks::start(tx, batch, *key).await?,
            // These go along with the events.
            SideWrite::Audit(_) => {}
            SideWrite::Settle(reservation, spent) => {
                let ids: Vec<_> = reservation.iter().copied().collect();
                if let Some(sum) = UsageSum::of(std::slice::from_ref(spent)) {
                    settle(tx, batch.tenant, &ids, &sum).await?;
                }
            }
        }
    }
    Ok(())
}

async fn insert_approval(tx: &mut Tx<'_>, batch: &AppendBatch, approval: &Approval) -> StoreResult<()> {
    let answer = approval.answer.as_ref().map(to_json).transpose()?;
    tx.write_unique(
        "insert into approvals (tenant_id, id, run_id, subject, asked_at, answer, decided_by,
                                decided_at, about)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
        args![
            batch.tenant,
            approval.id,
            approval.run_id,
            to_json(&approval.subject)?,
            approval.asked_at,
            answer,
            approval.decided_by.as_deref(),
            approval.decided_at,
            to_json(&approval.about)?
        ],
        || format!("approval {} exists already", approval.id),
    )
    .await
}

/// The first answer stays, and so does a withdrawal.
async fn record_decision(
    tx: &mut Tx<'_>,
    batch: &AppendBatch,
    id: ApprovalId,
    answer: &Answer,
    by: &str,
) -> StoreResult<()> {
    let sql = "update approvals set answer = $4, decided_by = $5, decided_at = $6
             where tenant_id = $1 and id = $2 and run_id = $3 and decided_at is null";
    let changed = tx.execute(sql, args![batch.tenant, id, batch.run, to_json(answer)?, by, batch.at]).await?;
    if changed > 0 {
        return Ok(());
    }
    let sql = "select run_id from approvals where tenant_id = $1 and id = $2 and run_id = $3";
    let known = tx.row(sql, args![batch.tenant, id, batch.run]).await?;
    known.map(drop).ok_or_else(|| StoreError::NotFound(format!("approval {id}")))
}

struct StatusUpdate<'a> {
    status: RunStatus,
    outcome: Option<&'a Outcome>,
    answer: Option<&'a str>,
    tokens: u64,
    cost_micros: u64,
    verdict: Option<Verdict>,
}

impl StatusUpdate<'_> {
    /// A run that waits or has ended gives its lease back with this commit, so whoever wakes it need not wait.
    async fn write(&self, tx: &mut Tx<'_>, batch: &AppendBatch) -> StoreResult<()> {
        let sql = if self.status == RunStatus::Running {
            "update runs set status = $3, outcome = $4, ended_as = $5, answer = $6,
                             folded_answer = $7, tokens = $8, cost_micros = $9, verdict = $10,
                             updated_at = $11
             where tenant_id = $1 and id = $2"
        } else {
            "update runs set status = $3, outcome = $4, ended_as = $5, answer = $6,
                             folded_answer = $7, tokens = $8, cost_micros = $9, verdict = $10,
                             updated_at = $11, owner = null, lease_until = null
             where tenant_id = $1 and id = $2"
        };
        let args = args![
            batch.tenant,
            batch.run,
            <&'static str>::from(self.status),
            self.outcome.map(to_json).transpose()?,
            self.outcome.map(<&'static str>::from),
            self.answer,
            fold(self.answer.unwrap_or_default()),
            self.tokens,
            self.cost_micros,
            self.verdict.as_ref().map(to_word).transpose()?,
            batch.at
        ];
        tx.execute(sql, args).await?;
        if self.status == RunStatus::Finished {
            // Whoever queues a command counts it on the run's row, so none can slip in between.
            let sql = "select id from run_inbox where tenant_id = $1 and run_id = $2 limit 1";
            let waiting = tx.row(sql, args![batch.tenant, batch.run]).await?;
            if waiting.is_some() {
                return Err(StoreError::CommandsWaiting { run: batch.run });
            }
            let sql = "update timers set done = 1 where tenant_id = $1 and run_id = $2 and done = 0";
            tx.execute(sql, args![batch.tenant, batch.run]).await?;
        }
        Ok(())
    }
}

async fn append_messages(
    tx: &mut Tx<'_>,
    batch: &AppendBatch,
    conversation: ConversationId,
    messages: &[Message],
) -> StoreResult<()> {
    // Counting on the header's row lets writers of one conversation wait for each other.
    let count = tx
        .row(
            "update conversations set messages = messages + $3,
                    updated_at = case when updated_at < $4 then $4 else updated_at end
             where tenant_id = $1 and id = $2 returning messages",
            args![batch.tenant, conversation, messages.len() as u64, batch.at],
        )
        .await?
        .ok_or_else(|| StoreError::NotFound(format!("conversation {conversation}")))?
        .count(0)?;
    let first = count.saturating_sub(messages.len() as u64) + 1;
    for (seq, message) in (first..).zip(messages) {
        let sql = "insert into messages (tenant_id, conversation_id, seq, body, run_id, folded_text)
             values ($1, $2, $3, $4, $5, $6)";
        tx.execute(sql, args![batch.tenant, conversation, seq, to_json(message)?, batch.run, searchable_text(message)])
            .await?;
    }
    Ok(())
}

fn searchable_text(message: &Message) -> String {
    match message.role {
        Role::User | Role::Assistant => fold(&message.text),
        Role::System | Role::Tool => String::new(),
    }
}
