use crate::codec::{body, to_json};
use crate::error::require_changed;
use crate::store::Store;
use crate::tx::args;
use async_trait::async_trait;
use steward_core::mcp::McpServer;
use steward_core::ports::{McpServers, StoreError, StoreResult};
use steward_core::{McpServerId, TenantId};

#[async_trait]
impl McpServers for Store {
    async fn save_mcp_server(&self, tenant: TenantId, server: &McpServer) -> StoreResult<()> {
        let sql = "insert into mcp_servers (tenant_id, id, name, body) values ($1, $2, $3, $4)
             on conflict (tenant_id, id) do update set name = excluded.name, body = excluded.body";
        let taken = || format!("another MCP server has the name {:?}; choose another", server.name);
        self.write_unique(sql, args![tenant, server.id, &server.name, to_json(server)?], taken).await
    }

    async fn mcp_server(&self, tenant: TenantId, id: McpServerId) -> StoreResult<McpServer> {
        let sql = "select body from mcp_servers where tenant_id = $1 and id = $2";
        let found = self.first(sql, args![tenant, id], body("an MCP server")).await?;
        found.ok_or_else(|| StoreError::NotFound(format!("MCP server {id}")))
    }

    async fn mcp_server_by_name(&self, tenant: TenantId, name: &str) -> StoreResult<Option<McpServer>> {
        let sql = "select body from mcp_servers where tenant_id = $1 and name = $2";
        self.first(sql, args![tenant, name], body("an MCP server")).await
    }

    async fn mcp_servers(&self, tenant: TenantId) -> StoreResult<Vec<McpServer>> {
        let sql = "select body from mcp_servers where tenant_id = $1";
        self.all_by_name(sql, args![tenant], body("an MCP server"), |one: &McpServer| one.name.as_str()).await
    }
}

impl Store {
    pub async fn remove_mcp_server(&self, tenant: TenantId, id: McpServerId) -> StoreResult<()> {
        let sql = "delete from mcp_servers where tenant_id = $1 and id = $2";
        require_changed(self.execute(sql, args![tenant, id]).await?, || format!("MCP server {id}"))
    }
}
