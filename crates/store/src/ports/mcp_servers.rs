//! MCP servers.

use crate::codec::{from_json, to_json};
use crate::error::on_duplicate;
use crate::store::Store;
use crate::tx::{Row, Tx, args};
use async_trait::async_trait;
use steward_core::mcp::McpServer;
use steward_core::ports::{McpServers, StoreError, StoreResult};
use steward_core::{McpServerId, TenantId};

#[async_trait]
impl McpServers for Store {
    async fn save_mcp_server(&self, tenant: TenantId, server: &McpServer) -> StoreResult<()> {
        self.write((tenant, server.clone()), |(tenant, server), tx| Box::pin(save(tx, *tenant, server))).await
    }

    async fn mcp_server(&self, tenant: TenantId, id: McpServerId) -> StoreResult<McpServer> {
        self.read((tenant, id), |(tenant, id), tx| {
            Box::pin(async move {
                let sql = "select body from mcp_servers where tenant_id = $1 and id = $2";
                let row = tx.row(sql, args![*tenant, *id]).await?;
                server_of(&row.ok_or_else(|| unknown(*id))?)
            })
        })
        .await
    }

    async fn mcp_server_by_name(&self, tenant: TenantId, name: &str) -> StoreResult<Option<McpServer>> {
        self.read((tenant, name.to_owned()), |(tenant, name), tx| {
            Box::pin(async move {
                let sql = "select body from mcp_servers where tenant_id = $1 and name = $2";
                let row = tx.row(sql, args![*tenant, name]).await?;
                row.as_ref().map(server_of).transpose()
            })
        })
        .await
    }

    async fn mcp_servers(&self, tenant: TenantId) -> StoreResult<Vec<McpServer>> {
        let mut servers: Vec<McpServer> = self
            .read(tenant, |tenant, tx| {
                Box::pin(async move {
                    let sql = "select body from mcp_servers where tenant_id = $1";
                    let rows = tx.rows(sql, args![*tenant]).await?;
                    rows.iter().map(server_of).collect()
                })
            })
            .await?;
        // Sorted here: the order of text in PostgreSQL depends on its locale.
        servers.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(servers)
    }

    async fn remove_mcp_server(&self, tenant: TenantId, id: McpServerId) -> StoreResult<()> {
        self.write((tenant, id), |(tenant, id), tx| {
            Box::pin(async move {
                let sql = "delete from mcp_servers where tenant_id = $1 and id = $2";
                match tx.execute(sql, args![*tenant, *id]).await? {
                    0 => Err(unknown(*id)),
                    _ => Ok(()),
                }
            })
        })
        .await
    }
}

async fn save(tx: &mut Tx<'_>, tenant: TenantId, server: &McpServer) -> StoreResult<()> {
    tx.execute(
        "insert into mcp_servers (tenant_id, id, name, body) values ($1, $2, $3, $4)
         on conflict (tenant_id, id) do update set name = excluded.name, body = excluded.body",
        args![tenant, server.id, &server.name, to_json(server)?],
    )
    .await
    .map_err(|e| on_duplicate(e, || format!("another MCP server has the name {:?}; choose another", server.name)))?;
    Ok(())
}

fn server_of(row: &Row) -> StoreResult<McpServer> {
    from_json("an MCP server", &row.text(0)?)
}

fn unknown(id: McpServerId) -> StoreError {
    StoreError::NotFound(format!("MCP server {id}"))
}
