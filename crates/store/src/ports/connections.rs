use crate::codec::{body, to_json};
use crate::error::require_changed;
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
        let taken = || format!("another connection has the name {:?}; choose another", connection.name);
        self.write_unique(sql, args, taken).await
    }

    /// All, by name.
    pub async fn connections(&self, tenant: TenantId) -> StoreResult<Vec<Connection>> {
        let sql = "select body from connections where tenant_id = $1";
        self.all_by_name(sql, args![tenant], body("a connection"), |one: &Connection| one.name.as_str()).await
    }

    pub async fn remove_connection(&self, tenant: TenantId, id: ConnectionId) -> StoreResult<()> {
        let sql = "delete from connections where tenant_id = $1 and id = $2";
        require_changed(self.execute(sql, args![tenant, id]).await?, || format!("connection {id}"))
    }

    /// Replaces an older report of the same endpoint and model.
    pub async fn save_report(&self, tenant: TenantId, report: &ExamReport) -> StoreResult<()> {
        let sql = "insert into exam_reports (tenant_id, endpoint, model, body) values ($1, $2, $3, $4)
             on conflict (tenant_id, endpoint, model) do update set body = excluded.body";
        self.run(sql, args![tenant, &report.endpoint, &report.model, to_json(report)?]).await
    }

    pub async fn reports(&self, tenant: TenantId) -> StoreResult<Vec<ExamReport>> {
        let mut reports: Vec<ExamReport> = self
            .all("select body from exam_reports where tenant_id = $1", args![tenant], body("an exam report"))
            .await?;
        // Sorted here: the order of text in PostgreSQL depends on its locale.
        reports.sort_by(|a, b| (&a.endpoint, &a.model).cmp(&(&b.endpoint, &b.model)));
        Ok(reports)
    }
}
