use crate::codec::{from_json, to_json};
use crate::error::{DbError, on_duplicate, require_changed};
use crate::store::Store;
use crate::tx::{Row, Tx, args, locking};
use async_trait::async_trait;
use steward_core::agent::Agent;
use steward_core::ports::{Agents, StoreError, StoreResult};
use steward_core::{AgentId, TenantId, Timestamp};

#[async_trait]
impl Agents for Store {
    async fn agent(&self, tenant: TenantId, id: AgentId) -> StoreResult<Agent> {
        let sql = "select body from agents where tenant_id = $1 and id = $2 and deleted_at is null";
        let found = self.first(sql, args![tenant, id], agent_of).await?;
        found.ok_or_else(|| StoreError::NotFound(format!("agent {id}")))
    }

    async fn is_deleted_agent(&self, tenant: TenantId, id: AgentId) -> StoreResult<bool> {
        let sql = "select 1 from agents where tenant_id = $1 and id = $2 and deleted_at is not null";
        Ok(self.row(sql, args![tenant, id]).await?.is_some())
    }

    async fn agent_by_name(&self, tenant: TenantId, name: &str) -> StoreResult<Option<Agent>> {
        let sql = "select body from agents where tenant_id = $1 and name = $2 and deleted_at is null";
        self.first(sql, args![tenant, name], agent_of).await
    }
}

impl Store {
    /// Makes or replaces by id; a name that another has is a conflict.
    pub async fn save_agent(&self, tenant: TenantId, agent: &Agent) -> StoreResult<()> {
        let sql = "insert into agents (tenant_id, id, name, body) values ($1, $2, $3, $4)
             on conflict (tenant_id, id) do update set name = excluded.name, body = excluded.body
             where agents.deleted_at is null";
        let args = args![tenant, agent.id, &agent.name, to_json(agent)?];
        let changed = self.execute(sql, args).await.map_err(|e| taken(e, &agent.name))?;
        if changed == 0 {
            return Err(StoreError::Conflict(format!("agent {} is deleted; restore it first", agent.id)));
        }
        Ok(())
    }

    /// `false` if the agent is no longer as `before`; [`StoreError::NotFound`] if it is gone.
    pub async fn change_agent(&self, tenant: TenantId, before: &Agent, after: &Agent) -> StoreResult<bool> {
        self.write((tenant, before.clone(), after.clone()), |(tenant, before, after), tx| {
            Box::pin(change(tx, *tenant, before, after))
        })
        .await
    }

    /// All that are not deleted, by name.
    pub async fn agents(&self, tenant: TenantId) -> StoreResult<Vec<Agent>> {
        let sql = "select body from agents where tenant_id = $1 and deleted_at is null";
        self.all_by_name(sql, args![tenant], agent_of, |agent| agent.name.as_str()).await
    }

    /// Marks it deleted: no list shows it and its name is free. Its runs stay.
    pub async fn delete_agent(&self, tenant: TenantId, id: AgentId, at: Timestamp) -> StoreResult<()> {
        let sql = "update agents set deleted_at = $3 where tenant_id = $1 and id = $2 and deleted_at is null";
        require_changed(self.execute(sql, args![tenant, id, at]).await?, || format!("agent {id}"))
    }

    /// Those that are deleted, by name.
    pub async fn deleted_agents(&self, tenant: TenantId) -> StoreResult<Vec<Agent>> {
        let sql = "select body from agents where tenant_id = $1 and deleted_at is not null";
        self.all_by_name(sql, args![tenant], agent_of, |agent| agent.name.as_str()).await
    }

    /// Takes a deletion back; [`StoreError::Conflict`] if its name was taken meanwhile.
    pub async fn restore_agent(&self, tenant: TenantId, id: AgentId) -> StoreResult<Agent> {
        self.write((tenant, id), |(tenant, id), tx| Box::pin(restore(tx, *tenant, *id))).await
    }
}

fn agent_of(row: &Row) -> StoreResult<Agent> {
    from_json("an agent", &row.text(0)?)
}

async fn change(tx: &mut Tx<'_>, tenant: TenantId, before: &Agent, after: &Agent) -> StoreResult<bool> {
    let sql =
        locking!(tx, "select body from agents where tenant_id = $1 and id = $2 and deleted_at is null", "for update");
    let row = tx.row(sql, args![tenant, before.id]).await?;
    let now = agent_of(&row.ok_or_else(|| StoreError::NotFound(format!("agent {}", before.id)))?)?;
    if now != *before {
        return Ok(false);
    }
    let sql = "update agents set name = $3, body = $4 where tenant_id = $1 and id = $2";
    tx.execute(sql, args![tenant, before.id, &after.name, to_json(after)?]).await.map_err(|e| taken(e, &after.name))?;
    Ok(true)
}

fn taken(error: DbError, name: &str) -> StoreError {
    on_duplicate(error, || format!("another agent has the name {name:?}; choose another, or rename that one"))
}

/// One that is not deleted stays as it is.
async fn restore(tx: &mut Tx<'_>, tenant: TenantId, id: AgentId) -> StoreResult<Agent> {
    let row = tx.row("select body, name from agents where tenant_id = $1 and id = $2", args![tenant, id]).await?;
    let row = row.ok_or_else(|| StoreError::NotFound(format!("agent {id}")))?;
    let name = row.text(1)?;
    tx.execute("update agents set deleted_at = null where tenant_id = $1 and id = $2", args![tenant, id])
        .await
        .map_err(|e| taken(e, &name))?;
    agent_of(&row)
}
