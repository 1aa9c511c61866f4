use crate::codec::{from_json, to_json};
use crate::error::require_changed;
use crate::store::Store;
use crate::tx::{Row, args};
use async_trait::async_trait;
use steward_core::policy::StandingGrant;
use steward_core::ports::{Grants, StoreResult};
use steward_core::{AgentId, TenantId, Timestamp};
use uuid::Uuid;

#[async_trait]
impl Grants for Store {
    async fn grants(
        &self,
        tenant: TenantId,
        agent: Option<AgentId>,
        now: Timestamp,
    ) -> StoreResult<Vec<StandingGrant>> {
        let sql = "select id, agent_id, body, given_by, created_at from grants
             where tenant_id = $1 and ($2 is null or agent_id = $2)
               and (ends_at is null or ends_at > $3)
             order by created_at desc, id desc";
        self.all(sql, args![tenant, agent, now], grant).await
    }
}

impl Store {
    pub async fn save_grant(&self, tenant: TenantId, it: &StandingGrant) -> StoreResult<()> {
        let sql = "insert into grants (tenant_id, id, agent_id, body, ends_at, given_by, created_at)
             values ($1, $2, $3, $4, $5, $6, $7)";
        let args = args![tenant, it.id, it.agent, to_json(&it.grant)?, it.grant.until, &it.by, it.created_at];
        self.write_unique(sql, args, || format!("grant {} exists already", it.id)).await
    }

    pub async fn revoke_grant(&self, tenant: TenantId, id: Uuid) -> StoreResult<()> {
        let sql = "delete from grants where tenant_id = $1 and id = $2";
        require_changed(self.execute(sql, args![tenant, id]).await?, || format!("grant {id}"))
    }
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
