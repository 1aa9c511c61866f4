//! Settling.

use super::{record, row};
use crate::tx::{Tx, args};
use steward_core::ports::{SpentRecord, StoreResult};
use steward_core::{ReservationId, TenantId};

/// Ends a reservation, if there is one, and records what was spent.
pub(super) async fn settle(
    tx: &mut Tx<'_>,
    tenant: TenantId,
    id: Option<ReservationId>,
    spent: &SpentRecord,
) -> StoreResult<()> {
    let usage = &spent.usage;
    let tokens = usage
        .prompt_tokens
        .min(row::MOST)
        .saturating_add(usage.completion_tokens.min(row::MOST));
    // The limits first: while they are ours, nobody else counts what we are about to record.
    for limit in row::lock(tx, tenant, &spent.spender).await? {
        let (mut state, changed) = limit.spent(tx, tenant, spent.at).await?;
        // What ends after its period is over belongs to that one.
        let counts = state.limit.period.began(spent.at) >= state.since;
        if counts {
            state.tokens = state.tokens.saturating_add(tokens);
            state.cost_micros = state
                .cost_micros
                .saturating_add(usage.cost_micros.min(row::MOST));
        }
        if counts || changed {
            row::write_spent(tx, tenant, &state).await?;
        }
    }
    record::add(tx, tenant, spent).await?;
    if let Some(id) = id {
        tx.execute(
            "delete from reservations where tenant_id = $1 and id = $2",
            args![tenant, id],
        )
        .await?;
    }
    Ok(())
}
