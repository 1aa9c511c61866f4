//! Settling.

use super::record::{self, Sum};
use super::row;
use crate::tx::{Tx, args};
use steward_core::ports::StoreResult;
use steward_core::{ReservationId, TenantId};

/// Ends reservations, if there are any, and records what was spent.
pub(in crate::ports) async fn settle(
    tx: &mut Tx<'_>,
    tenant: TenantId,
    ids: &[ReservationId],
    spent: &Sum,
) -> StoreResult<()> {
    // The limits first: while they are ours, nobody else counts what we are about to record.
    for limit in row::lock(tx, tenant, &spent.spender, &[]).await? {
        let (mut state, changed) = limit.spent(tx, tenant, spent.at).await?;
        // What ends after its period is over belongs to that one.
        let counts = state.limit.period.began(spent.at) >= state.since;
        if counts {
            state.tokens = state.tokens.saturating_add(spent.tokens());
            state.cost_micros = state.cost_micros.saturating_add(spent.cost_micros);
        }
        if counts || changed {
            row::write_spent(tx, tenant, &state).await?;
        }
    }
    record::add(tx, tenant, spent).await?;
    for id in ids {
        tx.execute("delete from reservations where tenant_id = $1 and id = $2", args![tenant, *id]).await?;
    }
    Ok(())
}
