//! Imported packages: each revision a row.

use crate::codec::{from_json, page_size, paged, sort_key, to_json};
use crate::store::Store;
use crate::tx::{Row, Tx, args};
use async_trait::async_trait;
use steward_core::TenantId;
use steward_core::package::SkillPackage;
use steward_core::ports::{Page, SkillPackages, StoreResult};

#[async_trait]
impl SkillPackages for Store {
    async fn save_package(&self, tenant: TenantId, package: &SkillPackage) -> StoreResult<()> {
        self.write((tenant, package.clone()), |(tenant, package), tx| Box::pin(save(tx, *tenant, package))).await
    }

    async fn package(&self, tenant: TenantId, name: &str, revision: Option<u32>) -> StoreResult<Option<SkillPackage>> {
        self.read((tenant, name.to_owned(), revision.map(i64::from)), |(tenant, name, revision), tx| {
            Box::pin(async move {
                let sql = "select body from skill_packages
                               where tenant_id = $1 and name = $2
                                 and ($3 is null or revision = $3)
                               order by revision desc limit 1";
                let row = tx.row(sql, args![*tenant, name, *revision]).await?;
                row.as_ref().map(package_of).transpose()
            })
        })
        .await
    }

    async fn packages(&self, tenant: TenantId, after: Option<&str>, limit: u32) -> StoreResult<Page<SkillPackage>> {
        self.read((tenant, after.map(sort_key), page_size(limit)), |(tenant, after, limit), tx| {
            Box::pin(async move {
                let sql = "select body from skill_packages p
                               where tenant_id = $1 and ($2 is null or sort_key > $2)
                                 and revision = (select max(revision) from skill_packages
                                                 where tenant_id = $1 and name = p.name)
                               order by sort_key limit $3";
                let args = args![*tenant, after.clone(), limit + 1];
                let rows = tx.rows(sql, args).await?;
                let packages = rows.iter().map(package_of).collect::<StoreResult<_>>()?;
                Ok(paged(packages, *limit))
            })
        })
        .await
    }
}

async fn save(tx: &mut Tx<'_>, tenant: TenantId, package: &SkillPackage) -> StoreResult<()> {
    tx.execute(
        "insert into skill_packages (tenant_id, name, sort_key, revision, body)
         values ($1, $2, $3, $4, $5)
         on conflict (tenant_id, name, revision) do update set body = excluded.body",
        args![tenant, &package.name, sort_key(&package.name), package.revision, to_json(package)?],
    )
    .await?;
    Ok(())
}

fn package_of(row: &Row) -> StoreResult<SkillPackage> {
    from_json("a package", &row.text(0)?)
}
