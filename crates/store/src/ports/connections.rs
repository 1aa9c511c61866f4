//! Connections to models.

use crate::codec::{from_json, to_json};
use crate::error::clash;
use crate::store::Store;
use crate::tx::{Tx, args};
use async_trait::async_trait;
use steward_core::model::Connection;
use steward_core::ports::{Connections, StoreError, StoreResult};
use steward_core::{ConnectionId, TenantId};

#[async_trait]
impl Connections for Store {
    async fn save_connection(&self, tenant: TenantId, connection: &Connection) -> StoreResult<()> {
        self.write((tenant, connection.clone()), |(tenant, connection), tx| Box::pin(save(tx, *tenant, connection)))
            .await
    }

    async fn connections(&self, tenant: TenantId) -> StoreResult<Vec<Connection>> {
        self.read(tenant, |tenant, tx| Box::pin(all(tx, *tenant))).await
    }

    async fn remove_connection(&self, tenant: TenantId, id: ConnectionId) -> StoreResult<()> {
        self.write((tenant, id), |(tenant, id), tx| Box::pin(remove(tx, *tenant, *id))).await
    }
}

async fn save(tx: &mut Tx<'_>, tenant: TenantId, connection: &Connection) -> StoreResult<()> {
    tx.execute(
        "insert into connections (tenant_id, id, name, body) values ($1, $2, $3, $4)
         on conflict (tenant_id, id) do update set name = excluded.name, body = excluded.body",
        args![tenant, connection.id, &connection.name, to_json(connection)?],
    )
    .await
    .map_err(|e| clash(e, || format!("another connection has the name {:?}; choose another", connection.name)))?;
    Ok(())
}

async fn all(tx: &mut Tx<'_>, tenant: TenantId) -> StoreResult<Vec<Connection>> {
    let mut connections: Vec<Connection> = tx
        .rows("select body from connections where tenant_id = $1", args![tenant])
        .await?
        .iter()
        .map(|row| from_json("a connection", &row.text(0)?))
        .collect::<StoreResult<_>>()?;
    connections.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(connections)
}

async fn remove(tx: &mut Tx<'_>, tenant: TenantId, id: ConnectionId) -> StoreResult<()> {
    let removed = tx.execute("delete from connections where tenant_id = $1 and id = $2", args![tenant, id]).await?;
    if removed == 0 {
        return Err(StoreError::NotFound(format!("connection {id}")));
    }
    Ok(())
}
