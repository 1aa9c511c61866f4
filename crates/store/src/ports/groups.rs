//! Groups of users. Those of one source have names of their own, whatever the case; a group of another source may have the
//! same name, and is another group.

use crate::codec::{fold, page_size, pattern, sort_key};
use crate::error::require_changed;
use crate::ports::users;
use crate::store::Store;
use crate::tx::{Row, Tx, args, locking};
use async_trait::async_trait;
use steward_core::ports::{
    ExternalGroups, Group, GroupChange, Groups, MemberChange, Page, StoreError, StoreResult, User,
};
use steward_core::{GroupId, TenantId, UserId};

/// A statement that reads whole groups, by what follows `from user_groups`.
macro_rules! select_group {
    ($rest:expr) => {
        concat!(
            "select id, name, description, source, external_id, created_at,
                    (select count(*) from group_members m where m.tenant_id = user_groups.tenant_id
                                                            and m.group_id = user_groups.id)
             from user_groups ",
            $rest
        )
    };
}

pub(crate) use select_group;

const ADD_MEMBER: &str = "insert into group_members (tenant_id, group_id, user_id, source) values ($1, $2, $3, $4)
                          on conflict (tenant_id, group_id, user_id) do nothing";

#[async_trait]
impl Groups for Store {
    async fn create_group(&self, tenant: TenantId, group: &Group) -> StoreResult<()> {
        self.write((tenant, group.clone()), |(tenant, group), tx| Box::pin(insert(tx, *tenant, group))).await
    }

    async fn change_group(&self, tenant: TenantId, id: GroupId, change: &GroupChange) -> StoreResult<Group> {
        self.write((tenant, id, change.clone()), |(tenant, id, change), tx| Box::pin(update(tx, *tenant, *id, change)))
            .await
    }

    async fn remove_group(&self, tenant: TenantId, id: GroupId) -> StoreResult<()> {
        self.write((tenant, id), |(tenant, id), tx| Box::pin(remove(tx, *tenant, *id))).await
    }

    async fn group(&self, tenant: TenantId, id: GroupId) -> StoreResult<Option<Group>> {
        let sql = select_group!("where tenant_id = $1 and id = $2");
        self.first(sql, args![tenant, id], group).await
    }

    async fn group_by_name(&self, tenant: TenantId, name: &str) -> StoreResult<Option<Group>> {
        let sql = select_group!("where tenant_id = $1 and folded_name = $2 order by source");
        let mut found: Vec<Group> = self.all(sql, args![tenant, fold(name)], group).await?;
        if found.len() == 1 || found.first().is_some_and(|first| first.source.is_empty()) {
            return Ok(Some(found.swap_remove(0)));
        }
        match name.split_once('/').filter(|_| found.is_empty()) {
            Some((source, name)) => self.group_of_source(tenant, source, name).await,
            None => Ok(None),
        }
    }

    async fn group_of_source(&self, tenant: TenantId, source: &str, name: &str) -> StoreResult<Option<Group>> {
        let sql = select_group!("where tenant_id = $1 and folded_name = $2 and source = $3");
        self.first(sql, args![tenant, fold(name), source], group).await
    }

    async fn groups(
        &self,
        tenant: TenantId,
        text: Option<&str>,
        after: Option<&str>,
        limit: u32,
    ) -> StoreResult<Page<Group>> {
        let limit = page_size(limit);
        let sql = select_group!(
            r"where tenant_id = $1 and ($2 is null or sort_key > $2) and ($3 is null or folded like $3 escape '\')
              order by sort_key limit $4"
        );
        let args = args![tenant, after.map(|name| sort_key(&fold(name))), pattern(text)?, limit + 1];
        self.page(sql, args, limit, group).await
    }

    async fn groups_of(&self, tenant: TenantId, user: UserId) -> StoreResult<Vec<Group>> {
        let sql = select_group!(
            "where tenant_id = $1 and id in (select group_id from group_members where tenant_id = $1 and user_id = $2)
             order by sort_key"
        );
        self.all(sql, args![tenant, user], group).await
    }

    async fn group_members(
        &self,
        tenant: TenantId,
        id: GroupId,
        after: Option<&str>,
        limit: u32,
    ) -> StoreResult<Page<User>> {
        let limit = page_size(limit);
        let sql = users::select!(
            "where tenant_id = $1 and ($3 is null or sort_key > $3)
               and id in (select user_id from group_members where tenant_id = $1 and group_id = $2)
             order by sort_key limit $4"
        );
        self.page(sql, args![tenant, id, after.map(sort_key), limit + 1], limit, users::user).await
    }

    async fn set_member(&self, tenant: TenantId, id: GroupId, user: UserId, member: bool) -> StoreResult<()> {
        self.write((tenant, id, user, member), |(tenant, id, user, member), tx| {
            Box::pin(async move {
                lock(tx, *tenant, *id).await?;
                if *member {
                    exists(tx, *tenant, *user).await?;
                    tx.execute(ADD_MEMBER, args![*tenant, *id, *user, ""]).await?;
                } else {
                    let sql = "delete from group_members where tenant_id = $1 and group_id = $2 and user_id = $3";
                    tx.execute(sql, args![*tenant, *id, *user]).await?;
                }
                Ok(())
            })
        })
        .await
    }

    async fn sync_memberships(
        &self,
        tenant: TenantId,
        user: UserId,
        groups: &ExternalGroups,
        new: &[Group],
    ) -> StoreResult<()> {
        self.write((tenant, user, groups.clone(), new.to_vec()), |(tenant, user, groups, new), tx| {
            Box::pin(sync(tx, *tenant, *user, groups, new))
        })
        .await
    }
}

async fn insert(tx: &mut Tx<'_>, tenant: TenantId, group: &Group) -> StoreResult<()> {
    let sql = "insert into user_groups (tenant_id, id, name, folded_name, sort_key, folded, description, source,
                                        external_id, created_at)
               values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)";
    let folded = fold(&group.name);
    let args = args![
        tenant,
        group.id,
        &group.name,
        &folded,
        order_key(group),
        search_text(group),
        &group.description,
        &group.source,
        group.external_id.as_deref(),
        group.created_at
    ];
    tx.write_unique(sql, args, || taken(&group.name)).await
}

pub(crate) async fn update(tx: &mut Tx<'_>, tenant: TenantId, id: GroupId, change: &GroupChange) -> StoreResult<Group> {
    let mut group = lock(tx, tenant, id).await?;
    if let Some(name) = &change.name {
        group.name.clone_from(name);
    }
    if let Some(description) = &change.description {
        group.description.clone_from(description);
    }
    if let Some(external_id) = &change.external_id {
        group.external_id.clone_from(external_id);
    }
    let folded = fold(&group.name);
    let sql = "update user_groups set name = $3, folded_name = $4, sort_key = $5, folded = $6, description = $7,
                                      external_id = $8
               where tenant_id = $1 and id = $2";
    let args = args![
        tenant,
        id,
        &group.name,
        &folded,
        order_key(&group),
        search_text(&group),
        &group.description,
        group.external_id.as_deref()
    ];
    tx.write_unique(sql, args, || taken(&group.name)).await?;
    Ok(group)
}

/// The members are of the group's own source.
pub(crate) async fn change_members(
    tx: &mut Tx<'_>,
    tenant: TenantId,
    id: GroupId,
    change: &MemberChange,
) -> StoreResult<()> {
    let source = lock(tx, tenant, id).await?.source;
    let add = match change {
        MemberChange::Only(users) => {
            let sql = "delete from group_members where tenant_id = $1 and group_id = $2";
            tx.execute(sql, args![tenant, id]).await?;
            users
        }
        MemberChange::Some { add, remove } => {
            for user in remove {
                let sql = "delete from group_members where tenant_id = $1 and group_id = $2 and user_id = $3";
                tx.execute(sql, args![tenant, id, *user]).await?;
            }
            add
        }
    };
    for user in add {
        exists(tx, tenant, *user).await?;
        tx.execute(ADD_MEMBER, args![tenant, id, *user, &source]).await?;
    }
    Ok(())
}

async fn remove(tx: &mut Tx<'_>, tenant: TenantId, id: GroupId) -> StoreResult<()> {
    for sql in [
        "delete from group_members where tenant_id = $1 and group_id = $2",
        "delete from resource_grants where tenant_id = $1 and grantee_kind = 'group' and grantee_id = $2",
    ] {
        tx.execute(sql, args![tenant, id]).await?;
    }
    let sql = "delete from user_groups where tenant_id = $1 and id = $2";
    require_changed(tx.execute(sql, args![tenant, id]).await?, || format!("group {id}"))
}

async fn sync(
    tx: &mut Tx<'_>,
    tenant: TenantId,
    user: UserId,
    groups: &ExternalGroups,
    new: &[Group],
) -> StoreResult<()> {
    let sql = "delete from group_members where tenant_id = $1 and user_id = $2 and source = $3";
    tx.execute(sql, args![tenant, user, &groups.source]).await?;
    for name in &groups.names {
        // A group of the same name that is kept here, or by another, is another group.
        let sql = "select id from user_groups where tenant_id = $1 and folded_name = $2 and source = $3";
        let there = tx.row(sql, args![tenant, fold(name), &groups.source]).await?;
        let id = match (there, new.iter().find(|group| fold(&group.name) == fold(name))) {
            (Some(row), _) => GroupId(row.id(0)?),
            (None, Some(group)) => {
                insert(tx, tenant, group).await?;
                group.id
            }
            (None, None) => continue,
        };
        tx.execute(ADD_MEMBER, args![tenant, id, user, &groups.source]).await?;
    }
    Ok(())
}

/// The group, which nobody else changes until the transaction is over.
async fn lock(tx: &mut Tx<'_>, tenant: TenantId, id: GroupId) -> StoreResult<Group> {
    let sql = locking!(tx, select_group!("where tenant_id = $1 and id = $2"), "for update");
    let row = tx.row(sql, args![tenant, id]).await?;
    group(&row.ok_or_else(|| StoreError::NotFound(format!("group {id}")))?)
}

async fn exists(tx: &mut Tx<'_>, tenant: TenantId, user: UserId) -> StoreResult<()> {
    let found = tx.row("select id from users where tenant_id = $1 and id = $2", args![tenant, user]).await?;
    found.map(drop).ok_or_else(|| StoreError::NotFound(format!("user {user}")))
}

/// Unique, unlike the name: an external group comes right behind the one of its name that is kept here.
fn order_key(group: &Group) -> String {
    sort_key(&fold(&group.cursor()))
}

fn search_text(group: &Group) -> String {
    fold(&format!("{}\n{}", group.name, group.description))
}

fn taken(name: &str) -> String {
    format!("another group has the name {name}")
}

pub(crate) fn group(row: &Row) -> StoreResult<Group> {
    Ok(Group {
        id: GroupId(row.id(0)?),
        name: row.text(1)?,
        description: row.text(2)?,
        source: row.text(3)?,
        external_id: row.opt_text(4)?,
        created_at: row.time(5)?,
        members: row.count(6)?,
    })
}
