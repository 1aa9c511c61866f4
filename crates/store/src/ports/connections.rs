use crate::codec::{from_json, to_json};
use crate::error::{on_duplicate, require_changed};
use crate::store::Store;
use crate::tx::args;
use steward_core::exam::ExamReport;
use steward_core::model::Connection;
use steward_core::ports::StoreResult;
use steward_core::{ConnectionId, TenantId};

impl Store {
    /// Makes or replaces by id; a name that another has is a conflict.
    pub async fn save_connection(&self, tenant: TenantId, connection: &Connection) -> StoreResult<()> {
        let sql = "insert into connections (tenant_id, id, name, body) values ($1, $2, $3, $4)
             on conflict (tenant_id, id) do update set name = excluded.name, body = excluded.body";
        let args = args![tenant, connection.id, &connection.name, to_json(connection)?];
        self.execute(sql, args).await.map_err(|e| {
            on_duplicate(e, || format!("another connection has the name {:?}; choose another", connection.name))
        })?;
        Ok(())
    }

    /// All, by name.
    pub async fn connections(&self, tenant: TenantId) -> StoreResult<Vec<Connection>> {
        let rows = self.rows("select body from connections where tenant_id = $1", args![tenant]).await?;
        let mut connections: Vec<Connection> =
            rows.iter().map(|row| from_json("a connection", &row.text(0)?)).collect::<StoreResult<_>>()?;
        connections.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(connections)
    }

    pub async fn remove_connection(&self, tenant: TenantId, id: ConnectionId) -> StoreResult<()> {
        let sql = "delete from connections where tenant_id = $1 and id = $2";
        require_changed(self.execute(sql, args![tenant, id]).await?, || format!("connection {id}"))
    }
}

impl Store {
    /// Replaces an older report of the same endpoint and model.
    pub async fn save_report(&self, tenant: TenantId, report: &ExamReport) -> StoreResult<()> {
        let sql = "insert into exam_reports (tenant_id, endpoint, model, body) values ($1, $2, $3, $4)
             on conflict (tenant_id, endpoint, model) do update set body = excluded.body";
        self.execute(sql, args![tenant, &report.endpoint, &report.model, to_json(report)?]).await?;
        Ok(())
    }

    pub async fn reports(&self, tenant: TenantId) -> StoreResult<Vec<ExamReport>> {
        let rows = self.rows("select body from exam_reports where tenant_id = $1", args![tenant]).await?;
        let mut reports: Vec<ExamReport> =
            rows.iter().map(|row| from_json("an exam report", &row.text(0)?)).collect::<StoreResult<_>>()?;
        // Sorted here: the order of text in PostgreSQL depends on its locale.
        reports.sort_by(|a, b| (&a.endpoint, &a.model).cmp(&(&b.endpoint, &b.model)));
        Ok(reports)
    }
}
