use crate::append::last_seq;
use crate::tx::{Tx, args, locking};
use steward_core::ports::{Claim, Lease, StoreError, StoreResult};
use steward_core::{RunId, TenantId, Timestamp};

/// Takes a run whose lease is free. One that has ended is taken only where that is asked for.
pub(super) async fn claim(
    tx: &mut Tx<'_>,
    tenant: TenantId,
    what: &Claim,
    owner: &str,
    now: Timestamp,
    until: Timestamp,
) -> StoreResult<Option<Lease>> {
    let found = match what {
        Claim::Run(run) | Claim::Ended(run) => {
            let sql = locking!(
                tx,
                "select id from runs
                 where tenant_id = $1 and id = $2 and (status = 'finished') = ($4 = 1)
                   and (lease_until is null or lease_until < $3)",
                "for update"
            );
            tx.row(sql, args![tenant, *run, now, matches!(what, Claim::Ended(_))]).await?
        }
        Claim::Any => {
            let sql = locking!(
                tx,
                "select r.id from runs r
                 where r.tenant_id = $1 and r.status <> 'finished'
                   and (r.lease_until is null or r.lease_until < $2)
                   and (r.status = 'running' or exists (
                       select 1 from run_inbox q
                       where q.tenant_id = r.tenant_id and q.run_id = r.id))
                 order by r.id limit 1",
                "for update of r skip locked"
            );
            tx.row(sql, args![tenant, now]).await?
        }
    };
    let Some(found) = found else {
        return Ok(None);
    };
    let run = RunId(found.id(0)?);
    let epoch = tx
        .row(
            "update runs set owner = $3, lease_until = $4, epoch = epoch + 1
             where tenant_id = $1 and id = $2 returning epoch",
            args![tenant, run, owner, until],
        )
        .await?
        .ok_or_else(|| StoreError::NotFound(format!("run {run}")))?
        .count(0)?;
    // A statement of its own: it must see what the one before us appended while we waited.
    let last_seq = last_seq(tx, tenant, run).await?;
    Ok(Some(Lease { tenant, run, epoch, last_seq }))
}
