//! What a migration can't say in SQL that both engines understand: columns worked out from old rows.
//! All of it happens in the migration's transaction; a page of rows is in memory at a time.

use crate::codec::{fold, outcome_word};
use crate::ports::seen;
use crate::tx::{Row, Tx, args};
use futures::future::BoxFuture;
use steward_core::event::Outcome;
use steward_core::message::{Message, Role};
use steward_core::ports::StoreResult;
use uuid::Uuid;

/// Fills columns after the SQL of a migration.
pub(crate) type Backfill = for<'a, 'c> fn(&'a mut Tx<'c>) -> BoxFuture<'a, StoreResult<()>>;

/// Rows looked at together.
const PAGE: u32 = 200;

/// The search columns, how runs ended, and whose messages are whose.
pub(crate) fn studio<'a>(tx: &'a mut Tx<'_>) -> BoxFuture<'a, StoreResult<()>> {
    Box::pin(async move {
        runs(tx).await?;
        conversations(tx).await
    })
}

async fn runs(tx: &mut Tx<'_>) -> StoreResult<()> {
    let mut last = (Uuid::nil(), Uuid::nil());
    loop {
        let rows = tx
            .rows(
                "select tenant_id, id, title, answer, outcome from runs
                 where (tenant_id, id) > ($1, $2) order by tenant_id, id limit $3",
                args![last.0, last.1, PAGE],
            )
            .await?;
        for row in &rows {
            last = (row.id(0)?, row.id(1)?);
            let outcome = row.opt_text(4)?;
            let outcome = outcome.and_then(|text| serde_json::from_str::<Outcome>(&text).ok());
            tx.execute(
                "update runs set folded_title = $3, folded_answer = $4, ended_as = $5
                 where tenant_id = $1 and id = $2",
                args![
                    last.0,
                    last.1,
                    fold(&row.text(2)?),
                    fold(&row.opt_text(3)?.unwrap_or_default()),
                    outcome.as_ref().map(outcome_word)
                ],
            )
            .await?;
        }
        if rows.is_empty() {
            return Ok(());
        }
    }
}

async fn conversations(tx: &mut Tx<'_>) -> StoreResult<()> {
    let mut last = (Uuid::nil(), Uuid::nil());
    loop {
        let rows = tx
            .rows(
                "select tenant_id, id, title from conversations
                 where (tenant_id, id) > ($1, $2) order by tenant_id, id limit $3",
                args![last.0, last.1, PAGE],
            )
            .await?;
        for row in &rows {
            last = (row.id(0)?, row.id(1)?);
            tx.execute(
                "update conversations set folded_title = $3 where tenant_id = $1 and id = $2",
                args![last.0, last.1, fold(&row.text(2)?)],
            )
            .await?;
            messages(tx, last.0, last.1).await?;
        }
        if rows.is_empty() {
            return Ok(());
        }
    }
}

async fn messages(tx: &mut Tx<'_>, tenant: Uuid, conversation: Uuid) -> StoreResult<()> {
    let rows = tx
        .rows(
            "select seq, body from messages where tenant_id = $1 and conversation_id = $2
             order by seq",
            args![tenant, conversation],
        )
        .await?;
    let said: Vec<Option<Message>> =
        rows.iter().map(|row| Ok(serde_json::from_str(&row.text(1)?).ok())).collect::<StoreResult<_>>()?;
    let runs = tx
        .rows(
            "select id, answer from runs
             where tenant_id = $1 and conversation_id = $2 and status = 'finished' order by id",
            args![tenant, conversation],
        )
        .await?;
    let speakers = speakers(&said, &runs)?;
    for ((row, message), speaker) in rows.iter().zip(&said).zip(speakers) {
        tx.execute(
            "update messages set folded_text = $4, run_id = $5
             where tenant_id = $1 and conversation_id = $2 and seq = $3",
            args![tenant, conversation, row.int(0)?, message.as_ref().map(seen).unwrap_or_default(), speaker],
        )
        .await?;
    }
    Ok(())
}

/// The run of each message. Until then a run ended by adding its request and, unless that was
/// empty, its answer; where the rows are not like that, nobody can tell from there on.
fn speakers(said: &[Option<Message>], runs: &[Row]) -> StoreResult<Vec<Option<Uuid>>> {
    let mut speakers = vec![None; said.len()];
    let is = |at: usize, role: Role| {
        let message: Option<&Message> = said.get(at).and_then(Option::as_ref);
        message.filter(|message| message.role == role)
    };
    let mut at = 0;
    for run in runs {
        let id = run.id(0)?;
        let answer = run.opt_text(1)?.unwrap_or_default();
        if is(at, Role::User).is_none() {
            break;
        }
        let mut next = at + 1;
        if !answer.is_empty() {
            if is(next, Role::Assistant).is_none_or(|message| message.text != answer) {
                break;
            }
            next += 1;
        }
        for speaker in &mut speakers[at..next] {
            *speaker = Some(id);
        }
        at = next;
    }
    Ok(speakers)
}
