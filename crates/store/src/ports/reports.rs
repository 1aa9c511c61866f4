//! Report cards of models.

use crate::codec::{from_json, to_json};
use crate::store::Store;
use crate::tx::args;
use async_trait::async_trait;
use steward_core::TenantId;
use steward_core::exam::ExamReport;
use steward_core::ports::{ExamReports, StoreResult};

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
                tx.execute(sql, args).await.map(drop)
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
