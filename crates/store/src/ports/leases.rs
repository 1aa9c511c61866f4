use crate::append::last_seq;
use crate::tx::{Tx, args, locking};
use steward_core::ports::{Claim, Lease, StoreError, StoreResult};
use steward_core::{RunId, TenantId, Timestamp, UserId};
use uuid::Uuid;

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
        Claim::Any | Claim::OfIdleUser => {
            let sql = locking!(
                tx,
                "with at_work as (
                     select coalesce(user_id, $4) as worker, count(*) as runs from runs
                     where tenant_id = $1 and status <> 'finished' and lease_until >= $2
                     group by coalesce(user_id, $4))
                 select r.id, coalesce(r.user_id, $4) from runs r
                 left join at_work w on w.worker = coalesce(r.user_id, $4)
                 left join run_turns t on t.tenant_id = r.tenant_id and t.user_id = coalesce(r.user_id, $4)
                 where r.tenant_id = $1 and r.status <> 'finished'
                   and (r.lease_until is null or r.lease_until < $2)
                   and (r.status = 'running' or exists (
                       select 1 from run_inbox q
                       where q.tenant_id = r.tenant_id and q.run_id = r.id))
                   and ($3 = 0 or w.runs is null)
                 order by coalesce(w.runs, 0), coalesce(t.turn, 0), r.id limit 1",
                "for update of r skip locked"
            );
            let idle_only = matches!(what, Claim::OfIdleUser);
            tx.row(sql, args![tenant, now, idle_only, UserId(Uuid::nil())]).await?
        }
    };
    let Some(found) = found else {
        return Ok(None);
    };
    let run = RunId(found.id(0)?);
    if matches!(what, Claim::Any | Claim::OfIdleUser) {
        let turn = "insert into run_turns (tenant_id, user_id, turn)
             select $1, $2, coalesce(max(turn), 0) + 1 from run_turns where tenant_id = $1
             on conflict (tenant_id, user_id) do update set turn = excluded.turn";
        tx.run(turn, args![tenant, found.id(1)?]).await?;
    }
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
