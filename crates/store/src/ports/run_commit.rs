//! Appending under a lease, with rows beside the events: one transaction.

use super::tool_sets::ToolSet;
use super::{side_writes, tool_sets};
use crate::append::{AppendBatch, LogHead, insert_events};
use crate::codec::{fold, to_json, to_word};
use crate::tx::{Tx, args, locking};
use steward_core::ports::{RunRow, StoreError, StoreResult};
use steward_core::{ConversationId, RunId, TenantId, Timestamp};

/// A new run, leased to `owner`.
pub(super) async fn create(
    tx: &mut Tx<'_>,
    row: &RunRow,
    batch: &AppendBatch,
    tool_set: Option<&ToolSet>,
    owner: &str,
    until: Timestamp,
) -> StoreResult<()> {
    if let Some(conversation) = row.conversation {
        check_conversation(tx, row, conversation).await?;
    }
    let outcome = row.outcome.as_ref().map(to_json).transpose()?;
    let verdict = row.verdict.as_ref().map(to_word).transpose()?;
    tx.write_unique(
        "insert into runs (tenant_id, id, agent_id, conversation_id, title, status, outcome, answer,
                           created_at, updated_at, tokens, cost_micros, owner, epoch, lease_until,
                           commands, origin, user_id, model, verdict, forked_from, ended_as,
                           folded_title, folded_answer, tool_set)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, 1, $14, 0, $15, $16, $17,
                 $18, $19, $20, $21, $22, $23)",
        args![
            row.tenant,
            row.id,
            row.agent,
            row.conversation,
            &row.title,
            <&'static str>::from(row.status),
            outcome,
            row.answer.as_deref(),
            row.created_at,
            row.updated_at,
            row.tokens,
            row.cost_micros,
            owner,
            until,
            to_word(&row.origin)?,
            row.user,
            &row.model,
            verdict,
            row.forked_from,
            row.outcome.as_ref().map(<&'static str>::from),
            fold(&row.title),
            fold(row.answer.as_deref().unwrap_or_default()),
            tool_set.map(|set| set.hash.as_str())
        ],
        || format!("run {} exists already", row.id),
    )
    .await?;
    if let Some(set) = tool_set {
        tool_sets::save(tx, row.tenant, set).await?;
    }
    insert_events(tx, batch).await?;
    side_writes::write(tx, batch).await
}

/// The conversation's lock makes two that begin at once, or a deletion, wait for each other.
async fn check_conversation(tx: &mut Tx<'_>, row: &RunRow, conversation: ConversationId) -> StoreResult<()> {
    let sql = locking!(tx, "select deleted_at from conversations where tenant_id = $1 and id = $2", "for update");
    let header = tx.row(sql, args![row.tenant, conversation]).await?;
    let header = header.ok_or_else(|| StoreError::NotFound(format!("conversation {conversation}")))?;
    if header.opt_int(0)?.is_some() {
        return Err(StoreError::Conflict(format!("conversation {conversation} is deleted; restore it first")));
    }
    // The same run again is a clash of ids, not a busy conversation.
    match open_run(tx, row.tenant, conversation).await? {
        Some(run) if run != row.id => Err(StoreError::Busy { run }),
        _ => Ok(()),
    }
}

/// The run of a conversation that has not ended.
pub(super) async fn open_run(
    tx: &mut Tx<'_>,
    tenant: TenantId,
    conversation: ConversationId,
) -> StoreResult<Option<RunId>> {
    let sql = "select id from runs
             where tenant_id = $1 and conversation_id = $2 and status <> 'finished'
             order by id limit 1";
    let found = tx.row(sql, args![tenant, conversation]).await?;
    found.map(|row| row.id(0).map(RunId)).transpose()
}

/// Events and rows of a run, if the lease holds and nothing was appended meanwhile.
pub(super) async fn commit(tx: &mut Tx<'_>, batch: &AppendBatch) -> StoreResult<()> {
    LogHead::lock(tx, batch.tenant, batch.run).await?.check(batch)?;
    insert_events(tx, batch).await?;
    side_writes::write(tx, batch).await
}
