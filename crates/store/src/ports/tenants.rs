//! Tenants, and their end.

use crate::migrate::FIRST;
use crate::store::Store;
use crate::tx::{Row, Tx, args, locking};
use std::sync::LazyLock;
use steward_core::ports::{DeletedRows, StoreError, StoreResult, Tenant, TenantChange};
use steward_core::{TenantId, Timestamp};

/// All tables with a tenant, and what deletes its rows there. The last that was made comes first, so that a table stands
/// before those that it refers to.
static DELETIONS: LazyLock<Vec<(&str, &str)>> = LazyLock::new(|| {
    let tables = FIRST.split("create table ").skip(1).filter_map(|table| Some(table.split_once(" (")?.0));
    let deletion = |table| (table, &*format!("delete from {table} where tenant_id = $1").leak());
    let mut all: Vec<_> = tables.filter(|name| *name != "tenants").map(deletion).collect();
    all.reverse();
    all
});

/// Work that was at its end when the tenant was disabled may still add a row while others are deleted.
const MOST_PASSES: u32 = 10;

impl Store {
    /// A slug or id that another has is a conflict.
    pub async fn create_tenant(&self, tenant: &Tenant) -> StoreResult<()> {
        let sql = "insert into tenants (id, slug, name, created_at, disabled_at) values ($1, $2, $3, $4, $5)";
        let args = args![tenant.id, &tenant.slug, &tenant.name, tenant.created_at, tenant.disabled_at];
        self.write_unique(sql, args, || format!("there is a tenant {} already", tenant.slug)).await
    }

    /// Changes a tenant and returns it as it is then. Disabling ends all its logins in the same transaction.
    pub async fn change_tenant(&self, id: TenantId, change: &TenantChange) -> StoreResult<Tenant> {
        self.write((id, change.clone()), |(id, change), tx| Box::pin(update(tx, *id, change))).await
    }

    /// By slug.
    pub async fn tenants(&self) -> StoreResult<Vec<Tenant>> {
        self.all("select id, slug, name, created_at, disabled_at from tenants order by slug", args![], tenant_of).await
    }

    /// Deletes all rows of a tenant, then the tenant, and says how many there were in each table. A tenant that is not
    /// disabled is a conflict. What is interrupted goes on with the next call.
    pub async fn delete_tenant(&self, id: TenantId) -> StoreResult<Vec<DeletedRows>> {
        let row = self.row("select disabled_at from tenants where id = $1", args![id]).await?;
        if row.ok_or_else(|| unknown(id))?.opt_int(0)?.is_none() {
            return Err(StoreError::Conflict(format!("tenant {id} is not disabled")));
        }
        let mut deleted: Vec<DeletedRows> = DELETIONS.iter().map(|(table, _)| DeletedRows { table, rows: 0 }).collect();
        for _ in 0..MOST_PASSES {
            let mut found = 0;
            // Each in a transaction of its own, so that no other tenant's write waits for all of them.
            for ((_, sql), count) in DELETIONS.iter().zip(&mut deleted) {
                let rows = self.execute(sql, args![id]).await.map_err(StoreError::from)?;
                count.rows += rows;
                found += rows;
            }
            if found == 0 {
                self.execute("delete from tenants where id = $1", args![id]).await?;
                return Ok(deleted);
            }
        }
        Err(StoreError::Backend("the tenant still writes; delete it again in a moment".to_owned()))
    }
}

async fn update(tx: &mut Tx<'_>, id: TenantId, change: &TenantChange) -> StoreResult<Tenant> {
    let sql = locking!(tx, "select id, slug, name, created_at, disabled_at from tenants where id = $1", "for update");
    let row = tx.row(sql, args![id]).await?;
    let mut tenant = tenant_of(&row.ok_or_else(|| unknown(id))?)?;
    if let Some(name) = &change.name {
        tenant.name.clone_from(name);
    }
    if let Some(disabled_at) = change.disabled_at {
        tenant.disabled_at = disabled_at.map(|at| tenant.disabled_at.unwrap_or(at));
    }
    let sql = "update tenants set name = $2, disabled_at = $3 where id = $1";
    tx.execute(sql, args![id, &tenant.name, tenant.disabled_at]).await?;
    if tenant.disabled_at.is_some() {
        tx.execute("delete from login_sessions where tenant_id = $1", args![id]).await?;
    }
    Ok(tenant)
}

fn tenant_of(row: &Row) -> StoreResult<Tenant> {
    Ok(Tenant {
        id: TenantId(row.id(0)?),
        slug: row.text(1)?,
        name: row.text(2)?,
        created_at: row.time(3)?,
        disabled_at: row.opt_int(4)?.map(Timestamp),
    })
}

fn unknown(id: TenantId) -> StoreError {
    StoreError::NotFound(format!("tenant {id}"))
}

#[cfg(test)]
mod tests {
    use super::{DELETIONS, FIRST};

    #[test]
    fn every_table_has_a_tenant_and_stands_before_those_it_refers_to() {
        let place = |table: &str| DELETIONS.iter().position(|(name, _)| *name == table);
        assert!(DELETIONS.len() > 50 && place("runs").is_some() && place("audit_entries").is_some(), "{DELETIONS:?}");
        for table in FIRST.split("create table ").skip(1) {
            let (name, rest) = table.split_once(" (").expect("a name");
            let columns = rest.split_once(");").expect("an end").0;
            if name == "tenants" {
                continue;
            }
            assert!(columns.contains("tenant_id"), "{name} has no tenant");
            assert!(columns.contains("primary key (tenant_id"), "the key of {name} does not begin with its tenant");
            for parent in columns.split("references ").skip(1).filter_map(|text| text.split(' ').next()) {
                assert!(place(name) < place(parent), "{name} stands after {parent}");
            }
        }
    }

    #[test]
    fn every_index_begins_with_the_tenant() {
        for index in FIRST.split(" index ").skip(1) {
            let columns = index.split_once('(').expect("columns").1;
            let name = index.split(' ').next().unwrap_or_default();
            // Who calls a webhook names nothing but its id.
            let known = ["tenants_by_slug", "hooks_by_id"].contains(&name);
            assert!(columns.starts_with("tenant_id") || known, "{name}");
        }
    }
}
