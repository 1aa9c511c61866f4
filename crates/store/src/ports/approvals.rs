use crate::codec::{from_json, page_size};
use crate::store::Store;
use crate::tx::{Row, args};
use async_trait::async_trait;
use steward_core::approval::Approval;
use steward_core::ports::{ApprovalFilter, Approvals, Page, StoreError, StoreResult};
use steward_core::{ApprovalId, RunId, TenantId, Timestamp};

/// Open ones, oldest first.
macro_rules! open {
    ($narrow:literal) => {
        concat!(
            "select id, run_id, subject, asked_at, answer, decided_by, decided_at, about
             from approvals where tenant_id = $1 ",
            $narrow,
            " and ($2 is null or run_id = $2) and decided_at is null and $3 = 0
              and ($4 is null or asked_at > $4 or (asked_at = $4 and id > $5))
              order by asked_at, id limit $6"
        )
    };
}

/// Newest first.
macro_rules! newest {
    ($narrow:literal) => {
        concat!(
            "select id, run_id, subject, asked_at, answer, decided_by, decided_at, about
             from approvals where tenant_id = $1 ",
            $narrow,
            " and ($2 is null or run_id = $2) and ($3 = 0 or decided_at is not null)
              and ($4 is null or asked_at < $4 or (asked_at = $4 and id < $5))
              order by asked_at desc, id desc limit $6"
        )
    };
}

#[async_trait]
impl Approvals for Store {
    async fn approval(&self, tenant: TenantId, id: ApprovalId) -> StoreResult<Approval> {
        let sql = "select id, run_id, subject, asked_at, answer, decided_by, decided_at, about from approvals
             where tenant_id = $1 and id = $2";
        let found = self.first(sql, args![tenant, id], approval).await?;
        found.ok_or_else(|| StoreError::NotFound(format!("approval {id}")))
    }
}

impl Store {
    /// Open ones oldest first, else newest first.
    pub async fn approvals(&self, tenant: TenantId, filter: ApprovalFilter) -> StoreResult<Page<Approval>> {
        // As for runs: what the filter surely holds is said without an `or`, for the index.
        let sql = match (filter.open, filter.run) {
            (true, None) => open!(""),
            (true, Some(_)) => open!("and run_id = $2"),
            (false, None) => newest!(""),
            (false, Some(_)) => newest!("and run_id = $2"),
        };
        let after = match filter.after {
            Some(id) => Some(self.approval(tenant, id).await?.asked_at),
            None => None,
        };
        let limit = page_size(filter.limit);
        let args = args![tenant, filter.run, filter.closed, after, filter.after, limit + 1];
        self.page(sql, args, limit, approval).await
    }
}

fn approval(row: &Row) -> StoreResult<Approval> {
    let answer = row.opt_text(4)?;
    Ok(Approval {
        id: ApprovalId(row.id(0)?),
        run_id: RunId(row.id(1)?),
        subject: from_json("an approval", &row.text(2)?)?,
        about: from_json("an approval's grounds", &row.text(7)?)?,
        asked_at: row.time(3)?,
        answer: answer.map(|text| from_json("an approval's answer", &text)).transpose()?,
        decided_by: row.opt_text(5)?,
        decided_at: row.opt_int(6)?.map(Timestamp),
    })
}
