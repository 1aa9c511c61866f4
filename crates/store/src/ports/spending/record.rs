//! Days of usage: what one call adds, and what a scope has spent since a day.

use super::row::MOST;
use crate::tx::{Tx, args};
use steward_core::ports::{BudgetScope, SpentRecord, StoreResult};
use steward_core::{TenantId, Timestamp};
use uuid::Uuid;

/// Longest model name that is kept, characters: it is part of a key.
const MODEL: usize = 200;

/// Adds one call to its day.
pub(super) async fn add(tx: &mut Tx<'_>, tenant: TenantId, spent: &SpentRecord) -> StoreResult<()> {
    let (who, usage) = (&spent.spender, &spent.usage);
    let model: String = spent.model.chars().take(MODEL).collect();
    tx.execute(
        "insert into usage_days (tenant_id, day, user_id, agent_id, connection_id, key_id, model,
                                 calls, failed, unpriced, prompt_tokens, cached_tokens,
                                 completion_tokens, cost_micros)
         values ($1, $2, $3, $4, $5, $6, $7, 1, $8, $9, $10, $11, $12, $13)
         on conflict (tenant_id, day, user_id, agent_id, connection_id, key_id, model) do update set
             calls = usage_days.calls + 1,
             failed = usage_days.failed + excluded.failed,
             unpriced = usage_days.unpriced + excluded.unpriced,
             prompt_tokens = usage_days.prompt_tokens + excluded.prompt_tokens,
             cached_tokens = usage_days.cached_tokens + excluded.cached_tokens,
             completion_tokens = usage_days.completion_tokens + excluded.completion_tokens,
             cost_micros = usage_days.cost_micros + excluded.cost_micros",
        args![
            tenant,
            spent.at.day(),
            who.user.map_or(Uuid::nil(), |id| id.0),
            who.agent.map_or(Uuid::nil(), |id| id.0),
            who.connection.map_or(Uuid::nil(), |id| id.0),
            who.key.map_or(Uuid::nil(), |id| id.0),
            model,
            spent.failed,
            // A call that took nothing needs no price.
            !spent.priced && usage.prompt_tokens + usage.completion_tokens > 0,
            usage.prompt_tokens.min(MOST),
            usage.cached_tokens.min(MOST),
            usage.completion_tokens.min(MOST),
            usage.cost_micros.min(MOST)
        ],
    )
    .await?;
    Ok(())
}

/// Tokens and cost of a scope from the day of `from` on.
pub(super) async fn since(
    tx: &mut Tx<'_>,
    tenant: TenantId,
    scope: BudgetScope,
    from: Timestamp,
) -> StoreResult<(u64, u64)> {
    macro_rules! sum {
        ($and:literal) => {
            concat!(
                "select cast(coalesce(sum(prompt_tokens + completion_tokens), 0) as bigint),
                        cast(coalesce(sum(cost_micros), 0) as bigint)
                 from usage_days where tenant_id = $1 and day >= $2",
                $and
            )
        };
    }
    let day = from.day();
    let row = match scope {
        BudgetScope::Installation => tx.row(sum!(""), args![tenant, day]).await,
        BudgetScope::User(id) => {
            tx.row(sum!(" and user_id = $3"), args![tenant, day, id])
                .await
        }
        BudgetScope::Agent(id) => {
            tx.row(sum!(" and agent_id = $3"), args![tenant, day, id])
                .await
        }
        BudgetScope::Connection(id) => {
            tx.row(sum!(" and connection_id = $3"), args![tenant, day, id])
                .await
        }
        BudgetScope::Key(id) => {
            tx.row(sum!(" and key_id = $3"), args![tenant, day, id])
                .await
        }
    }?;
    row.map_or(Ok((0, 0)), |row| Ok((row.count(0)?, row.count(1)?)))
}
