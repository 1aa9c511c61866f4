use crate::codec::status_of;
use crate::store::Store;
use crate::tx::args;
use steward_core::ports::{RunCount, StoreResult};
use steward_core::{TenantId, Timestamp, UserId};

const RUN_COUNTS: &str = "
select cast((created_at - $2) / $4 as bigint), status, ended_as, cast(count(*) as bigint)
from runs
where tenant_id = $1 and created_at >= $2 and created_at < $3 and ($5 is null or user_id = $5)
group by 1, 2, 3
order by 1, 2, 3";

const OPEN_APPROVALS: &str = "
select cast(count(*) as bigint)
from approvals a join runs r on r.tenant_id = a.tenant_id and r.id = a.run_id
where a.tenant_id = $1 and a.decided_at is null and ($2 is null or r.user_id = $2)";

impl Store {
    /// Runs that began from `from` on and before `to`, by steps of `step_ms`; of one user or of all.
    pub async fn run_counts(
        &self,
        tenant: TenantId,
        from: Timestamp,
        to: Timestamp,
        step_ms: i64,
        user: Option<UserId>,
    ) -> StoreResult<Vec<RunCount>> {
        self.all(RUN_COUNTS, args![tenant, from, to, step_ms.max(1), user], |row| {
            Ok(RunCount {
                step: row.int(0)?,
                status: status_of(&row.text(1)?)?,
                ended_as: row.opt_text(2)?,
                runs: row.count(3)?,
            })
        })
        .await
    }

    /// Questions that wait for a person, on runs of one user or of all.
    pub async fn open_approvals(&self, tenant: TenantId, user: Option<UserId>) -> StoreResult<u64> {
        self.count(OPEN_APPROVALS, args![tenant, user]).await
    }
}
