//! Branching a conversation off another one.

use super::conversations::{create, missing};
use crate::codec::status_of;
use crate::tx::{Tx, args, locking};
use steward_core::ports::{Conversation, RunStatus, StoreError, StoreResult};
use steward_core::{ConversationId, RunId, TenantId};

/// Begins `copy` with what was said in `from` before `before` said something.
pub(super) async fn fork(
    tx: &mut Tx<'_>,
    tenant: TenantId,
    from: ConversationId,
    before: Option<RunId>,
    copy: &Conversation,
) -> StoreResult<()> {
    let sql = locking!(tx, "select id from conversations where tenant_id = $1 and id = $2", "for update");
    tx.row(sql, args![tenant, from]).await?.ok_or_else(|| missing(from))?;
    let end = match before {
        Some(run) => end_before(tx, tenant, from, run).await?,
        None => i64::MAX,
    };
    create(tx, tenant, copy).await?;
    let copied = tx
        .execute(
            "insert into messages (tenant_id, conversation_id, seq, body, run_id, folded_text)
             select tenant_id, $3, seq, body, run_id, folded_text from messages
             where tenant_id = $1 and conversation_id = $2 and seq < $4",
            args![tenant, from, copy.id, end],
        )
        .await?;
    tx.execute(
        "update conversations set messages = $3 where tenant_id = $1 and id = $2",
        args![tenant, copy.id, copied],
    )
    .await?;
    Ok(())
}

/// The number of the first message that was not there before `run`. Runs of a conversation follow
/// each other and their ids grow, so that is the first one of this run or of a later one.
async fn end_before(tx: &mut Tx<'_>, tenant: TenantId, from: ConversationId, run: RunId) -> StoreResult<i64> {
    let found = tx
        .row(
            "select min(case when run_id >= $3 then seq end),
                    sum(case when run_id = $3 then 1 else 0 end),
                    sum(case when run_id is null then 1 else 0 end)
             from messages where tenant_id = $1 and conversation_id = $2",
            args![tenant, from, run],
        )
        .await?;
    let (end, own, untold) = match found {
        Some(row) => (row.opt_int(0)?, row.opt_int(1)?.unwrap_or(0), row.opt_int(2)?.unwrap_or(0)),
        None => (None, 0, 0),
    };
    if own == 0 {
        let row = tx
            .row(
                "select status from runs
                 where tenant_id = $1 and id = $2 and conversation_id = $3",
                args![tenant, run, from],
            )
            .await?
            .ok_or_else(|| StoreError::NotFound(format!("run {run} in conversation {from}")))?;
        if untold > 0 && status_of(&row.text(0)?)? == RunStatus::Finished {
            return Err(StoreError::Conflict(format!(
                "an older version did not note which messages of conversation {from} are those of \
                 run {run}; branch off after its newest message instead"
            )));
        }
    }
    Ok(end.unwrap_or(i64::MAX))
}
