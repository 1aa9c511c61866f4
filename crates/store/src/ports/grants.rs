//! Standing permissions.

use crate::codec::{from_json, to_json};
use crate::error::on_duplicate;
use crate::store::Store;
use crate::tx::{Row, Tx, args};
use async_trait::async_trait;
use steward_core::ports::{Grants, StandingGrant, StoreError, StoreResult};
use steward_core::{AgentId, TenantId, Timestamp};
use uuid::Uuid;

#[async_trait]
impl Grants for Store {
    async fn save_grant(&self, tenant: TenantId, grant: &StandingGrant) -> StoreResult<()> {
        self.write((tenant, grant.clone()), |(tenant, grant), tx| Box::pin(save(tx, *tenant, grant))).await
    }

    async fn grants(
        &self,
        tenant: TenantId,
        agent: Option<AgentId>,
        now: Timestamp,
    ) -> StoreResult<Vec<StandingGrant>> {
        self.read((tenant, agent, now), |(tenant, agent, now), tx| Box::pin(list(tx, *tenant, *agent, *now))).await
    }

    async fn revoke_grant(&self, tenant: TenantId, id: Uuid) -> StoreResult<()> {
        self.write((tenant, id), |(tenant, id), tx| Box::pin(revoke(tx, *tenant, *id))).await
    }
}

async fn save(tx: &mut Tx<'_>, tenant: TenantId, it: &StandingGrant) -> StoreResult<()> {
    tx.execute(
        "insert into grants (tenant_id, id, agent_id, body, ends_at, given_by, created_at)
         values ($1, $2, $3, $4, $5, $6, $7)",
        args![tenant, it.id, it.agent, to_json(&it.grant)?, it.grant.until, &it.by, it.created_at],
    )
    .await
    .map_err(|e| on_duplicate(e, || format!("grant {} exists already", it.id)))?;
    Ok(())
}

async fn list(
    tx: &mut Tx<'_>,
    tenant: TenantId,
    agent: Option<AgentId>,
    now: Timestamp,
) -> StoreResult<Vec<StandingGrant>> {
    let rows = tx
        .rows(
            "select id, agent_id, body, given_by, created_at from grants
             where tenant_id = $1 and ($2 is null or agent_id = $2)
               and (ends_at is null or ends_at > $3)
             order by created_at desc, id desc",
            args![tenant, agent, now],
        )
        .await?;
    rows.iter().map(grant).collect()
}

async fn revoke(tx: &mut Tx<'_>, tenant: TenantId, id: Uuid) -> StoreResult<()> {
    let removed = tx.execute("delete from grants where tenant_id = $1 and id = $2", args![tenant, id]).await?;
    if removed == 0 {
        return Err(StoreError::NotFound(format!("grant {id}")));
    }
    Ok(())
}

fn grant(row: &Row) -> StoreResult<StandingGrant> {
    Ok(StandingGrant {
        id: row.id(0)?,
        agent: AgentId(row.id(1)?),
        grant: from_json("a grant", &row.text(2)?)?,
        by: row.text(3)?,
        created_at: row.time(4)?,
    })
}
