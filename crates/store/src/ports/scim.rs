//! Users and groups as providers keep them by SCIM, and the tokens that they do it with.

use crate::codec::{fold, from_json, to_json};
use crate::error::require_changed;
use crate::ports::{groups, users};
use crate::store::Store;
use crate::tx::{Arg, Row, Tx, args};
use async_trait::async_trait;
use steward_core::ports::{
    Counted, Group, GroupChange, MemberChange, ScimDirectory, ScimGroupFilter, ScimRecord, ScimToken, ScimUser,
    ScimUserFilter, StoreResult, User, UserChange, UserChangeError,
};
use steward_core::{GroupId, TenantId, Timestamp, UserId};
use uuid::Uuid;

/// Most rows of a page.
const MOST: u32 = 1000;

/// A statement over users with what a provider keeps of them, by its columns and what follows the tables.
macro_rules! from_users {
    ($columns:expr, $rest:expr) => {
        concat!(
            "select ",
            $columns,
            " from users u left join scim_users s on s.tenant_id = u.tenant_id and s.user_id = u.id
             where u.tenant_id = $1 ",
            $rest
        )
    };
}

/// A user, then their record, as `scim_user` reads them.
macro_rules! columns {
    () => {
        "u.id, u.email, u.name, u.role, u.password_hash, u.api_key_hash, u.created_at, u.disabled_at, u.last_login_at,
         u.invitation_hash, u.invitation_expires_at, s.user_name, s.external_id, s.attributes, s.made, s.updated_at,
         s.removed_at"
    };
}

macro_rules! filter {
    ($rest:literal) => {
        concat!(
            "and (s.removed_at is null or u.disabled_at is null) and u.email <> $2
               and ($3 is null or u.id = $3)
               and ($4 is null or coalesce(s.folded_user_name, u.email) = $4)
               and ($5 is null or s.external_id = $5)
               and ($6 is null or u.email = $6)
               and ($7 is null or u.folded = u.email || $7)
               and ($8 is null or ($8 = 1) = (u.disabled_at is null))
               and ($9 = 0 or s.user_id is not null) ",
            $rest
        )
    };
}

macro_rules! select_token {
    ($rest:literal) => {
        concat!("select id, name, prefix, created_by, created_at, last_used_at from scim_tokens ", $rest)
    };
}

#[async_trait]
impl ScimDirectory for Store {
    async fn create_scim_user(&self, tenant: TenantId, user: &User, record: &ScimRecord) -> StoreResult<()> {
        self.write((tenant, user.clone(), record.clone()), |(tenant, user, record), tx| {
            Box::pin(async move {
                users::insert(tx, *tenant, user).await?;
                save(tx, *tenant, user.id, record).await
            })
        })
        .await
    }

    async fn change_scim_user(
        &self,
        tenant: TenantId,
        id: UserId,
        change: &UserChange,
        record: &ScimRecord,
    ) -> Result<User, UserChangeError> {
        let changed = self.write((tenant, id, change.clone(), record.clone()), |(tenant, id, change, record), tx| {
            Box::pin(async move {
                let Some(user) = users::update(tx, *tenant, *id, change).await? else {
                    return Ok(None);
                };
                save(tx, *tenant, *id, record).await?;
                if record.removed_at.is_some() {
                    let sql = "delete from group_members where tenant_id = $1 and user_id = $2";
                    tx.execute(sql, args![*tenant, *id]).await?;
                }
                Ok(Some(user))
            })
        });
        changed.await?.ok_or(UserChangeError::LastAdministrator)
    }

    async fn scim_user(&self, tenant: TenantId, id: UserId) -> StoreResult<Option<ScimUser>> {
        let sql = from_users!(columns!(), "and u.id = $2");
        self.first(sql, args![tenant, id], scim_user).await
    }

    async fn scim_user_by_name(&self, tenant: TenantId, email: &str, user_name: &str) -> StoreResult<Option<ScimUser>> {
        let sql = from_users!(columns!(), "and (u.email = $2 or s.folded_user_name = $3) order by u.id limit 1");
        let args = args![tenant, email.to_lowercase(), fold(user_name)];
        self.first(sql, args, scim_user).await
    }

    async fn scim_users(
        &self,
        tenant: TenantId,
        filter: &ScimUserFilter,
        offset: u64,
        limit: u32,
    ) -> StoreResult<Counted<ScimUser>> {
        let user_name = filter.user_name.as_deref().map(fold);
        let email = filter.email.as_deref().map(str::to_lowercase);
        let name = filter.name.as_deref().map(|name| format!("\n{}", fold(name)));
        let limit = limit.min(MOST);
        let args = args![
            tenant,
            &filter.but,
            filter.id,
            user_name,
            filter.external_id.as_deref(),
            email,
            name,
            filter.active.map(i64::from),
            filter.written,
            limit,
            offset
        ];
        let total = from_users!("count(*)", filter!(""));
        let sql = from_users!(columns!(), filter!("order by u.id limit $10 offset $11"));
        self.counted(total, sql, args, limit, scim_user).await
    }

    async fn scim_groups(
        &self,
        tenant: TenantId,
        source: &str,
        filter: &ScimGroupFilter,
        offset: u64,
        limit: u32,
    ) -> StoreResult<Counted<Group>> {
        macro_rules! wanted {
            ($rest:literal) => {
                concat!(
                    "where tenant_id = $1 and source = $2 and ($3 is null or id = $3)
                       and ($4 is null or folded_name = $4) and ($5 is null or external_id = $5)
                       and ($6 is null
                            or id in (select group_id from group_members where tenant_id = $1 and user_id = $6)) ",
                    $rest
                )
            };
        }
        let name = filter.name.as_deref().map(fold);
        let limit = limit.min(MOST);
        let args = args![tenant, source, filter.id, name, filter.external_id.as_deref(), filter.member, limit, offset];
        let total = concat!("select count(*) from user_groups ", wanted!(""));
        let sql = groups::select_group!(wanted!("order by id limit $7 offset $8"));
        self.counted(total, sql, args, limit, groups::group).await
    }

    async fn change_scim_group(
        &self,
        tenant: TenantId,
        id: GroupId,
        change: &GroupChange,
        members: &MemberChange,
    ) -> StoreResult<Group> {
        self.write((tenant, id, change.clone(), members.clone()), |(tenant, id, change, members), tx| {
            Box::pin(async move {
                let group = groups::update(tx, *tenant, *id, change).await?;
                groups::change_members(tx, *tenant, *id, members).await?;
                Ok(group)
            })
        })
        .await
    }

    async fn save_scim_token(&self, tenant: TenantId, token: &ScimToken, secret_hash: &str) -> StoreResult<()> {
        let sql =
            "insert into scim_tokens (tenant_id, id, name, folded_name, prefix, secret_hash, created_by, created_at,
                                            last_used_at)
             values ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
        let args = args![
            tenant,
            token.id,
            &token.name,
            fold(&token.name),
            &token.prefix,
            secret_hash,
            &token.created_by,
            token.created_at,
            token.last_used_at
        ];
        self.write_unique(sql, args, || format!("another token has the name {}", token.name)).await
    }

    async fn scim_tokens(&self, tenant: TenantId) -> StoreResult<Vec<ScimToken>> {
        let sql = select_token!("where tenant_id = $1 order by folded_name");
        self.all(sql, args![tenant], token).await
    }

    async fn scim_token_by_hash(&self, tenant: TenantId, hash: &str) -> StoreResult<Option<ScimToken>> {
        let sql = select_token!("where tenant_id = $1 and secret_hash = $2");
        self.first(sql, args![tenant, hash], token).await
    }

    async fn note_scim_use(&self, tenant: TenantId, id: Uuid, at: Timestamp) -> StoreResult<()> {
        let sql = "update scim_tokens set last_used_at = $3 where tenant_id = $1 and id = $2";
        self.run(sql, args![tenant, id, at]).await
    }

    async fn remove_scim_token(&self, tenant: TenantId, id: Uuid) -> StoreResult<()> {
        let sql = "delete from scim_tokens where tenant_id = $1 and id = $2";
        require_changed(self.execute(sql, args![tenant, id]).await?, || format!("SCIM token {id}"))
    }
}

impl Store {
    /// The rows of a page, none with `limit` 0, and how many there are in all. `args` end with limit and offset, which
    /// `total` does not take.
    async fn counted<T>(
        &self,
        total: &'static str,
        sql: &'static str,
        args: &[Arg],
        limit: u32,
        read: impl Fn(&Row) -> StoreResult<T>,
    ) -> StoreResult<Counted<T>> {
        let total = self.count(total, &args[..args.len() - 2]).await?;
        let items = if limit == 0 { Vec::new() } else { self.all(sql, args, read).await? };
        Ok(Counted { items, total })
    }
}

async fn save(tx: &mut Tx<'_>, tenant: TenantId, user: UserId, record: &ScimRecord) -> StoreResult<()> {
    let sql = "insert into scim_users (tenant_id, user_id, user_name, folded_user_name, external_id, attributes, made,
                                       updated_at, removed_at)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
         on conflict (tenant_id, user_id) do update set user_name = excluded.user_name,
            folded_user_name = excluded.folded_user_name, external_id = excluded.external_id,
            attributes = excluded.attributes, made = excluded.made, updated_at = excluded.updated_at,
            removed_at = excluded.removed_at";
    let args = args![
        tenant,
        user,
        &record.user_name,
        fold(&record.user_name),
        record.external_id.as_deref(),
        to_json(&record.attributes)?,
        record.made,
        record.updated_at,
        record.removed_at
    ];
    tx.write_unique(sql, args, || format!("another user has the user name {}", record.user_name)).await
}

fn scim_user(row: &Row) -> StoreResult<ScimUser> {
    let record = match row.opt_text(11)? {
        None => None,
        Some(user_name) => Some(ScimRecord {
            user_name,
            external_id: row.opt_text(12)?,
            attributes: from_json("the attributes of a user", &row.text(13)?)?,
            made: row.int(14)? != 0,
            updated_at: row.time(15)?,
            removed_at: row.opt_int(16)?.map(Timestamp),
        }),
    };
    Ok(ScimUser { user: users::user(row)?, record })
}

fn token(row: &Row) -> StoreResult<ScimToken> {
    Ok(ScimToken {
        id: row.id(0)?,
        name: row.text(1)?,
        prefix: row.text(2)?,
        created_by: row.text(3)?,
        created_at: row.time(4)?,
        last_used_at: row.opt_int(5)?.map(Timestamp),
    })
}
