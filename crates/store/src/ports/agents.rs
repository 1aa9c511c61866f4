//! Agents.

use crate::codec::{from_json, to_json};
use crate::error::clash;
use crate::store::Store;
use crate::tx::{Tx, args};
use async_trait::async_trait;
use steward_core::agent::Agent;
use steward_core::ports::{Agents, StoreError, StoreResult};
use steward_core::{AgentId, TenantId};

#[async_trait]
impl Agents for Store {
    async fn save_agent(&self, tenant: TenantId, agent: &Agent) -> StoreResult<()> {
        self.write((tenant, agent.clone()), |(tenant, agent), tx| {
            Box::pin(save(tx, *tenant, agent))
        })
        .await
    }

    async fn agent(&self, tenant: TenantId, id: AgentId) -> StoreResult<Agent> {
        let found = self
            .read((tenant, id), |(tenant, id), tx| {
                Box::pin(async move {
                    let sql = "select body from agents where tenant_id = $1 and id = $2";
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
                    let sql = "select body from agents where tenant_id = $1 and name = $2";
                    let row = tx.row(sql, args![*tenant, name]).await?;
                    row.map(|row| row.text(0)).transpose()
                })
            })
            .await?;
        found.map(|body| from_json("an agent", &body)).transpose()
    }

    async fn agents(&self, tenant: TenantId) -> StoreResult<Vec<Agent>> {
        self.read(tenant, |tenant, tx| Box::pin(all(tx, *tenant)))
            .await
    }
}

async fn save(tx: &mut Tx<'_>, tenant: TenantId, agent: &Agent) -> StoreResult<()> {
    tx.execute(
        "insert into agents (tenant_id, id, name, body) values ($1, $2, $3, $4)
         on conflict (tenant_id, id) do update set name = excluded.name, body = excluded.body",
        args![tenant, agent.id, &agent.name, to_json(agent)?],
    )
    .await
    .map_err(|e| {
        clash(e, || {
            format!(
                "another agent has the name {:?}; choose another",
                agent.name
            )
        })
    })?;
    Ok(())
}

async fn all(tx: &mut Tx<'_>, tenant: TenantId) -> StoreResult<Vec<Agent>> {
    let mut agents: Vec<Agent> = tx
        .rows(
            "select body from agents where tenant_id = $1",
            args![tenant],
        )
        .await?
        .iter()
        .map(|row| from_json("an agent", &row.text(0)?))
        .collect::<StoreResult<_>>()?;
    // Sorted here: the order of text in PostgreSQL depends on its locale.
    agents.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(agents)
}
