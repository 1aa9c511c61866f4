//! Imported packages: each revision a row.

use crate::codec::{body, page_size, sort_key, to_json};
use crate::store::Store;
use crate::tx::args;
use async_trait::async_trait;
use steward_core::TenantId;
use steward_core::package::SkillPackage;
use steward_core::ports::{Page, SkillPackages, StoreResult};

#[async_trait]
impl SkillPackages for Store {
    async fn save_package(&self, tenant: TenantId, package: &SkillPackage) -> StoreResult<()> {
        let sql = "insert into skill_packages (tenant_id, name, sort_key, revision, body)
             values ($1, $2, $3, $4, $5)
             on conflict (tenant_id, name, revision) do update set body = excluded.body";
        let args = args![tenant, &package.name, sort_key(&package.name), package.revision, to_json(package)?];
        self.run(sql, args).await
    }

    async fn package(&self, tenant: TenantId, name: &str, revision: Option<u32>) -> StoreResult<Option<SkillPackage>> {
        let sql = "select body from skill_packages
             where tenant_id = $1 and name = $2 and ($3 is null or revision = $3)
             order by revision desc limit 1";
        self.first(sql, args![tenant, name, revision], body("a package")).await
    }

    async fn packages(&self, tenant: TenantId, after: Option<&str>, limit: u32) -> StoreResult<Page<SkillPackage>> {
        let sql = "select body from skill_packages p
             where tenant_id = $1 and ($2 is null or sort_key > $2)
               and revision = (select max(revision) from skill_packages
                               where tenant_id = $1 and name = p.name)
             order by sort_key limit $3";
        let limit = page_size(limit);
        self.page(sql, args![tenant, after.map(sort_key), limit + 1], limit, body("a package")).await
    }
}
