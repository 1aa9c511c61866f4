//! Grants of single resources to users and groups.

use crate::codec::from_word;
use crate::error::require_changed;
use crate::store::Store;
use crate::tx::{Row, Tx, args};
use async_trait::async_trait;
use steward_core::permission::{
    AccessLevel, AccessList, Grantee, Permissions, ResourceGrant, ResourceKind, ResourceRef,
};
use steward_core::ports::{ResourceGrants, StoreError, StoreResult};
use steward_core::{GroupId, TenantId, UserId};
use uuid::Uuid;

#[async_trait]
impl ResourceGrants for Store {
    async fn permissions(&self, tenant: TenantId, user: UserId) -> StoreResult<Permissions> {
        let sql = "select kind, resource_id, null as level from restricted_resources where tenant_id = $1
                   union all
                   select kind, resource_id, level from resource_grants
                   where tenant_id = $1 and (grantee_id = $2 or grantee_id in (
                       select group_id from group_members where tenant_id = $1 and user_id = $2))";
        let mut permissions = Permissions::default();
        for row in self.rows(sql, args![tenant, user]).await? {
            let resource = resource(&row)?;
            match row.opt_text(2)? {
                Some(level) => permissions.grant(resource, level_of(level)?),
                None => {
                    permissions.restricted.insert(resource);
                }
            }
        }
        Ok(permissions)
    }
}

impl Store {
    pub async fn access_list(&self, tenant: TenantId, resource: ResourceRef) -> StoreResult<AccessList> {
        self.read((tenant, resource), |(tenant, resource), tx| Box::pin(list(tx, *tenant, *resource))).await
    }

    pub async fn set_restricted(&self, tenant: TenantId, resource: ResourceRef, restricted: bool) -> StoreResult<()> {
        let sql = if restricted {
            "insert into restricted_resources (tenant_id, kind, resource_id) values ($1, $2, $3)
             on conflict (tenant_id, kind, resource_id) do nothing"
        } else {
            "delete from restricted_resources where tenant_id = $1 and kind = $2 and resource_id = $3"
        };
        self.run(sql, args![tenant, resource.kind.as_str(), resource.id]).await
    }

    /// Adds a grant, or changes that of the same grantee.
    pub async fn give_grant(&self, tenant: TenantId, resource: ResourceRef, grant: &ResourceGrant) -> StoreResult<()> {
        let sql = "insert into resource_grants (tenant_id, kind, resource_id, grantee_kind, grantee_id, level,
                                                given_by, given_at)
                   values ($1, $2, $3, $4, $5, $6, $7, $8)
                   on conflict (tenant_id, kind, resource_id, grantee_kind, grantee_id) do update
                   set level = excluded.level, given_by = excluded.given_by, given_at = excluded.given_at";
        let args = args![
            tenant,
            resource.kind.as_str(),
            resource.id,
            grant.grantee.kind(),
            grant.grantee.id(),
            grant.level.as_str(),
            &grant.given_by,
            grant.given_at
        ];
        self.run(sql, args).await
    }

    /// Takes the grant of a user or group, by their id; [`StoreError::NotFound`](super::StoreError): they have none.
    pub async fn take_grant(&self, tenant: TenantId, resource: ResourceRef, grantee: Uuid) -> StoreResult<()> {
        let sql = "delete from resource_grants
                   where tenant_id = $1 and kind = $2 and resource_id = $3 and grantee_id = $4";
        let taken = self.execute(sql, args![tenant, resource.kind.as_str(), resource.id, grantee]).await?;
        require_changed(taken, || format!("a grant of {resource} to {grantee}"))
    }

    /// All grants of a user, and of the groups they are in.
    pub async fn grants_of(&self, tenant: TenantId, user: UserId) -> StoreResult<Vec<(ResourceRef, ResourceGrant)>> {
        let sql = "select kind, resource_id, grantee_kind, grantee_id, level, given_by, given_at from resource_grants
                   where tenant_id = $1 and (grantee_id = $2 or grantee_id in (
                       select group_id from group_members where tenant_id = $1 and user_id = $2))
                   order by kind, resource_id, grantee_kind, grantee_id";
        self.all(sql, args![tenant, user], |row| Ok((resource(row)?, grant(row, 2)?))).await
    }
}

async fn list(tx: &mut Tx<'_>, tenant: TenantId, resource: ResourceRef) -> StoreResult<AccessList> {
    let args = args![tenant, resource.kind.as_str(), resource.id];
    let sql = "select kind from restricted_resources where tenant_id = $1 and kind = $2 and resource_id = $3";
    let restricted = tx.row(sql, args).await?.is_some();
    let sql = "select grantee_kind, grantee_id, level, given_by, given_at from resource_grants
               where tenant_id = $1 and kind = $2 and resource_id = $3 order by given_at, grantee_id";
    let grants = tx.rows(sql, args).await?.iter().map(|row| grant(row, 0)).collect::<StoreResult<_>>()?;
    Ok(AccessList { restricted, grants })
}

fn resource(row: &Row) -> StoreResult<ResourceRef> {
    let kind: ResourceKind = from_word("the kind of a granted resource", row.text(0)?)?;
    Ok(ResourceRef { kind, id: row.id(1)? })
}

fn level_of(word: String) -> StoreResult<AccessLevel> {
    from_word("the level of a grant", word)
}

fn grant(row: &Row, first: usize) -> StoreResult<ResourceGrant> {
    let id = row.id(first + 1)?;
    let grantee = match row.text(first)?.as_str() {
        "user" => Grantee::User(UserId(id)),
        "group" => Grantee::Group(GroupId(id)),
        other => return Err(StoreError::Corrupt(format!("a grant is given to a {other:?}"))),
    };
    Ok(ResourceGrant {
        grantee,
        level: level_of(row.text(first + 2)?)?,
        given_by: row.text(first + 3)?,
        given_at: row.time(first + 4)?,
    })
}
