use crate::codec::{from_json, to_json};
use crate::error::{on_duplicate, require_changed};
use crate::store::Store;
use crate::tx::{Row, args};
use async_trait::async_trait;
use steward_core::mcp::McpServer;
use steward_core::ports::{McpServers, StoreError, StoreResult};
use steward_core::{McpServerId, TenantId};

#[async_trait]
impl McpServers for Store {
    async fn save_mcp_server(&self, tenant: TenantId, server: &McpServer) -> StoreResult<()> {
        let sql = "insert into mcp_servers (tenant_id, id, name, body) values ($1, $2, $3, $4)
             on conflict (tenant_id, id) do update set name = excluded.name, body = excluded.body";
        self.execute(sql, args![tenant, server.id, &server.name, to_json(server)?]).await.map_err(|e| {
            on_duplicate(e, || format!("another MCP server has the name {:?}; choose another", server.name))
        })?;
        Ok(())
    }

    async fn mcp_server(&self, tenant: TenantId, id: McpServerId) -> StoreResult<McpServer> {
        let sql = "select body from mcp_servers where tenant_id = $1 and id = $2";
        let row = self.row(sql, args![tenant, id]).await?;
        server_of(&row.ok_or_else(|| StoreError::NotFound(format!("MCP server {id}")))?)
    }

    async fn mcp_server_by_name(&self, tenant: TenantId, name: &str) -> StoreResult<Option<McpServer>> {
        let sql = "select body from mcp_servers where tenant_id = $1 and name = $2";
        self.row(sql, args![tenant, name]).await?.as_ref().map(server_of).transpose()
    }

    async fn mcp_servers(&self, tenant: TenantId) -> StoreResult<Vec<McpServer>> {
        let rows = self.rows("select body from mcp_servers where tenant_id = $1", args![tenant]).await?;
        let mut servers: Vec<McpServer> = rows.iter().map(server_of).collect::<StoreResult<_>>()?;
        // Sorted here: the order of text in PostgreSQL depends on its locale.
        servers.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(servers)
    }

    async fn remove_mcp_server(&self, tenant: TenantId, id: McpServerId) -> StoreResult<()> {
        let sql = "delete from mcp_servers where tenant_id = $1 and id = $2";
        require_changed(self.execute(sql, args![tenant, id]).await?, || format!("MCP server {id}"))
    }
}

fn server_of(row: &Row) -> StoreResult<McpServer> {
    from_json("an MCP server", &row.text(0)?)
}
