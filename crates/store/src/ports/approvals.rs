//! The inbox.

use crate::codec::{from_json, page_size};
use crate::store::Store;
use crate::tx::{Row, Tx, args};
use async_trait::async_trait;
use steward_core::approval::Approval;
use steward_core::ports::{ApprovalFilter, Approvals, StoreError, StoreResult};
use steward_core::{ApprovalId, RunId, TenantId, Timestamp};

#[async_trait]
impl Approvals for Store {
    async fn approvals(
        &self,
        tenant: TenantId,
        filter: ApprovalFilter,
    ) -> StoreResult<Vec<Approval>> {
        self.read((tenant, filter), |(tenant, filter), tx| {
            Box::pin(list(tx, *tenant, filter))
        })
        .await
    }

    async fn approval(&self, tenant: TenantId, id: ApprovalId) -> StoreResult<Approval> {
        self.read((tenant, id), |(tenant, id), tx| {
            Box::pin(one(tx, *tenant, *id))
        })
        .await
    }
}

async fn list(
    tx: &mut Tx<'_>,
    tenant: TenantId,
    filter: &ApprovalFilter,
) -> StoreResult<Vec<Approval>> {
    let sql = if filter.open {
        "select id, run_id, subject, asked_at, answer, decided_by, decided_at from approvals
         where tenant_id = $1 and ($2 is null or run_id = $2) and decided_at is null
         order by asked_at, id limit $3"
    } else {
        "select id, run_id, subject, asked_at, answer, decided_by, decided_at from approvals
         where tenant_id = $1 and ($2 is null or run_id = $2)
         order by asked_at, id limit $3"
    };
    let rows = tx
        .rows(sql, args![tenant, filter.run, page_size(filter.limit)])
        .await?;
    rows.iter().map(approval).collect()
}

async fn one(tx: &mut Tx<'_>, tenant: TenantId, id: ApprovalId) -> StoreResult<Approval> {
    let row = tx
        .row(
            "select id, run_id, subject, asked_at, answer, decided_by, decided_at from approvals
             where tenant_id = $1 and id = $2",
            args![tenant, id],
        )
        .await?;
    approval(&row.ok_or_else(|| StoreError::NotFound(format!("approval {id}")))?)
}

fn approval(row: &Row) -> StoreResult<Approval> {
    let answer = row.opt_text(4)?;
    Ok(Approval {
        id: ApprovalId(row.id(0)?),
        run_id: RunId(row.id(1)?),
        subject: from_json("an approval", &row.text(2)?)?,
        asked_at: row.time(3)?,
        answer: answer
            .map(|text| from_json("an approval's answer", &text))
            .transpose()?,
        decided_by: row.opt_text(5)?,
        decided_at: row.opt_int(6)?.map(Timestamp),
    })
}
