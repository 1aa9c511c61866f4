//! Connections to models, and the exam reports of their models.

use crate::codec::{from_json, to_json};
use crate::error::on_duplicate;
use crate::store::Store;
use crate::tx::{Tx, args};
use async_trait::async_trait;
use steward_core::exam::ExamReport;
use steward_core::model::Connection;
use steward_core::ports::{Connections, ExamReports, StoreError, StoreResult};
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
    .map_err(|e| {
        on_duplicate(e, || format!("another connection has the name {:?}; choose another", connection.name))
    })?;
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

#[async_trait]
impl ExamReports for Store {
    async fn save_report(&self, tenant: TenantId, report: &ExamReport) -> StoreResult<()> {
        self.write((tenant, report.clone()), |(tenant, report), tx| {
            Box::pin(async move {
                let sql = "insert into exam_reports (tenant_id, endpoint, model, body)
                           values ($1, $2, $3, $4)
                           on conflict (tenant_id, endpoint, model) do update set
                               body = excluded.body";
                let body = to_json(report)?;
                let args = args![*tenant, &report.endpoint, &report.model, body];
                tx.execute(sql, args).await?;
                Ok(())
            })
        })
        .await
    }

    async fn reports(&self, tenant: TenantId) -> StoreResult<Vec<ExamReport>> {
        let mut reports: Vec<ExamReport> = self
            .read(tenant, |tenant, tx| {
                Box::pin(async move {
                    let sql = "select body from exam_reports where tenant_id = $1";
                    let rows = tx.rows(sql, args![*tenant]).await?;
                    rows.iter().map(|row| from_json("an exam report", &row.text(0)?)).collect()
                })
            })
            .await?;
        // Sorted here: the order of text in PostgreSQL depends on its locale.
        reports.sort_by(|a, b| (&a.endpoint, &a.model).cmp(&(&b.endpoint, &b.model)));
        Ok(reports)
    }
}
