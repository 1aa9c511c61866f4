//! Agents.

use crate::codec::{from_json, to_json};
use crate::error::{DbError, on_duplicate};
use crate::store::Store;
use crate::tx::{Tx, args, locking};
use async_trait::async_trait;
use steward_core::agent::Agent;
use steward_core::ports::{Agents, StoreError, StoreResult};
use steward_core::{AgentId, TenantId, Timestamp};

#[async_trait]
impl Agents for Store {
    async fn save_agent(&self, tenant: TenantId, agent: &Agent) -> StoreResult<()> {
        self.write((tenant, agent.clone()), |(tenant, agent), tx| Box::pin(save(tx, *tenant, agent))).await
    }

    async fn change_agent(&self, tenant: TenantId, before: &Agent, after: &Agent) -> StoreResult<bool> {
        self.write((tenant, before.clone(), after.clone()), |(tenant, before, after), tx| {
            Box::pin(change(tx, *tenant, before, after))
        })
        .await
    }

    async fn agent(&self, tenant: TenantId, id: AgentId) -> StoreResult<Agent> {
        let found = self
            .read((tenant, id), |(tenant, id), tx| {
                Box::pin(async move {
                    let sql = "select body from agents
                               where tenant_id = $1 and id = $2 and deleted_at is null";
                    let row = tx.row(sql, args![*tenant, *id]).await?;
                    row.map(|row| row.text(0)).transpose()
                })
            })
            .await?;
        let body = found.ok_or_else(|| StoreError::NotFound(format!("agent {id}")))?;
        from_json("an agent", &body)
    }

    async fn agent_by_name(&self, tenant: TenantId, name: &str) -> StoreResult<Option<Agent>> {
        let found = self
            .read((tenant, name.to_owned()), |(tenant, name), tx| {
                Box::pin(async move {
                    let sql = "select body from agents
                               where tenant_id = $1 and name = $2 and deleted_at is null";
                    let row = tx.row(sql, args![*tenant, name]).await?;
                    row.map(|row| row.text(0)).transpose()
                })
            })
            .await?;
        found.map(|body| from_json("an agent", &body)).transpose()
    }

    async fn agents(&self, tenant: TenantId) -> StoreResult<Vec<Agent>> {
        self.read(tenant, |tenant, tx| Box::pin(all(tx, *tenant, false))).await
    }

    async fn delete_agent(&self, tenant: TenantId, id: AgentId, at: Timestamp) -> StoreResult<()> {
        self.write((tenant, id, at), |(tenant, id, at), tx| Box::pin(delete(tx, *tenant, *id, *at))).await
    }

    async fn deleted_agents(&self, tenant: TenantId) -> StoreResult<Vec<Agent>> {
        self.read(tenant, |tenant, tx| Box::pin(all(tx, *tenant, true))).await
    }

    async fn restore_agent(&self, tenant: TenantId, id: AgentId) -> StoreResult<Agent> {
        self.write((tenant, id), |(tenant, id), tx| Box::pin(restore(tx, *tenant, *id))).await
    }
}

async fn save(tx: &mut Tx<'_>, tenant: TenantId, agent: &Agent) -> StoreResult<()> {
    let changed = tx
        .execute(
            "insert into agents (tenant_id, id, name, body) values ($1, $2, $3, $4)
             on conflict (tenant_id, id) do update set name = excluded.name, body = excluded.body
             where agents.deleted_at is null",
            args![tenant, agent.id, &agent.name, to_json(agent)?],
        )
        .await
        .map_err(|e| taken(e, &agent.name))?;
    if changed == 0 {
        return Err(StoreError::Conflict(format!("agent {} is deleted; restore it first", agent.id)));
    }
    Ok(())
}

async fn change(tx: &mut Tx<'_>, tenant: TenantId, before: &Agent, after: &Agent) -> StoreResult<bool> {
    let sql =
        locking!(tx, "select body from agents where tenant_id = $1 and id = $2 and deleted_at is null", "for update");
    let row = tx.row(sql, args![tenant, before.id]).await?;
    let row = row.ok_or_else(|| StoreError::NotFound(format!("agent {}", before.id)))?;
    let now: Agent = from_json("an agent", &row.text(0)?)?;
    if now != *before {
        return Ok(false);
    }
    tx.execute(
        "update agents set name = $3, body = $4 where tenant_id = $1 and id = $2",
        args![tenant, before.id, &after.name, to_json(after)?],
    )
    .await
    .map_err(|e| taken(e, &after.name))?;
    Ok(true)
}

fn taken(error: DbError, name: &str) -> StoreError {
    on_duplicate(error, || format!("another agent has the name {name:?}; choose another, or rename that one"))
}

async fn delete(tx: &mut Tx<'_>, tenant: TenantId, id: AgentId, at: Timestamp) -> StoreResult<()> {
    let changed = tx
        .execute(
            "update agents set deleted_at = $3
             where tenant_id = $1 and id = $2 and deleted_at is null",
            args![tenant, id, at],
        )
        .await?;
    if changed == 0 {
        return Err(StoreError::NotFound(format!("agent {id}")));
    }
    Ok(())
}

/// One that is not deleted stays as it is.
async fn restore(tx: &mut Tx<'_>, tenant: TenantId, id: AgentId) -> StoreResult<Agent> {
    let row = tx.row("select name, body from agents where tenant_id = $1 and id = $2", args![tenant, id]).await?;
    let row = row.ok_or_else(|| StoreError::NotFound(format!("agent {id}")))?;
    let name = row.text(0)?;
    tx.execute("update agents set deleted_at = null where tenant_id = $1 and id = $2", args![tenant, id])
        .await
        .map_err(|e| taken(e, &name))?;
    from_json("an agent", &row.text(1)?)
}

async fn all(tx: &mut Tx<'_>, tenant: TenantId, deleted: bool) -> StoreResult<Vec<Agent>> {
    let sql = if deleted {
        "select body from agents where tenant_id = $1 and deleted_at is not null"
    } else {
        "select body from agents where tenant_id = $1 and deleted_at is null"
    };
    let mut agents: Vec<Agent> = tx
        .rows(sql, args![tenant])
        .await?
        .iter()
        .map(|row| from_json("an agent", &row.text(0)?))
        .collect::<StoreResult<_>>()?;
    // Sorted here: the order of text in PostgreSQL depends on its locale.
    agents.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(agents)
}
