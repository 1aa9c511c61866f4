//! Users. Emails are kept and looked up in lower case.

use super::facts::forget_kept_of;
use crate::codec::{fold, from_word, page_size, pattern, sort_key};
use crate::store::Store;
use crate::tx::{Row, Tx, args, locking};
use async_trait::async_trait;
use steward_core::ports::{
    Invitation, Page, StoreError, StoreResult, User, UserChange, UserChangeError, UserFilter, UserState, Users,
};
use steward_core::{TenantId, Timestamp, UserId};

/// A statement that reads whole users, by what follows `from users`.
macro_rules! select {
    ($rest:literal) => {
        concat!(
            "select id, email, name, role, password_hash, api_key_hash, created_at, disabled_at, last_login_at,
                    invitation_hash, invitation_expires_at
             from users ",
            $rest
        )
    };
}
pub(crate) use select;

#[async_trait]
impl Users for Store {
    async fn create_user(&self, tenant: TenantId, user: &User) -> StoreResult<()> {
        self.write((tenant, user.clone()), |(tenant, user), tx| Box::pin(insert(tx, *tenant, user))).await
    }

    async fn change_user(&self, tenant: TenantId, id: UserId, change: &UserChange) -> Result<User, UserChangeError> {
        let changed = self
            .write((tenant, id, change.clone()), |(tenant, id, change), tx| Box::pin(update(tx, *tenant, *id, change)));
        changed.await?.ok_or(UserChangeError::LastAdministrator)
    }

    async fn accept_invitation(
        &self,
        tenant: TenantId,
        token_hash: &str,
        password_hash: &str,
        name: Option<&str>,
        now: Timestamp,
    ) -> StoreResult<Option<User>> {
        let args = (tenant, token_hash.to_owned(), password_hash.to_owned(), name.map(str::to_owned), now);
        self.write(args, |(tenant, token_hash, password_hash, name, now), tx| {
            Box::pin(accept(tx, *tenant, token_hash, password_hash, name.as_deref(), *now))
        })
        .await
    }

    async fn note_login(&self, tenant: TenantId, id: UserId, at: Timestamp) -> StoreResult<()> {
        let sql = "update users set last_login_at = $3 where tenant_id = $1 and id = $2";
        self.run(sql, args![tenant, id, at]).await
    }

    async fn remove_user(&self, tenant: TenantId, id: UserId) -> StoreResult<()> {
        self.write((tenant, id), |(tenant, id), tx| Box::pin(remove(tx, *tenant, *id))).await
    }

    fn identities(&self) -> Option<u64> {
        Store::identities(self)
    }

    async fn user(&self, tenant: TenantId, id: UserId) -> StoreResult<Option<User>> {
        let sql = select!("where tenant_id = $1 and id = $2");
        self.first(sql, args![tenant, id], user).await
    }

    async fn user_by_email(&self, tenant: TenantId, email: &str) -> StoreResult<Option<User>> {
        let sql = select!("where tenant_id = $1 and email = $2");
        self.first(sql, args![tenant, email.to_lowercase()], user).await
    }

    async fn user_by_api_key(&self, tenant: TenantId, hash: &str) -> StoreResult<Option<User>> {
        let sql = select!("where tenant_id = $1 and api_key_hash = $2");
        self.first(sql, args![tenant, hash], user).await
    }

    async fn user_by_invitation(&self, tenant: TenantId, token_hash: &str) -> StoreResult<Option<User>> {
        let sql = select!("where tenant_id = $1 and invitation_hash = $2");
        self.first(sql, args![tenant, token_hash], user).await
    }

    async fn users(
        &self,
        tenant: TenantId,
        filter: &UserFilter,
        after: Option<&str>,
        limit: u32,
    ) -> StoreResult<Page<User>> {
        let limit = page_size(limit);
        // The states are those of `User::state`.
        let sql = select!(
            r"where tenant_id = $1 and ($2 is null or sort_key > $2) and ($3 is null or role = $3)
                and ($4 is null or folded like $4 escape '\')
                and ($5 is null
                     or ($5 = 'disabled' and disabled_at is not null)
                     or ($5 = 'invited' and disabled_at is null
                         and password_hash is null and invitation_hash is not null)
                     or ($5 = 'active' and disabled_at is null
                         and (password_hash is not null or invitation_hash is null)))
              order by sort_key limit $6"
        );
        let args = args![
            tenant,
            after.map(sort_key),
            filter.role.map(steward_core::ports::Role::as_str),
            pattern(filter.text.as_deref())?,
            filter.state.map(UserState::as_str),
            limit + 1
        ];
        self.page(sql, args, limit, user).await
    }
}

impl Store {
    /// Whether a change that ends this administrator would be refused: nobody else can log in and administer.
    pub async fn is_last_administrator(&self, tenant: TenantId, id: UserId) -> StoreResult<bool> {
        self.read((tenant, id), |(tenant, id), tx| Box::pin(is_last_administrator(tx, *tenant, *id))).await
    }
}

pub(crate) async fn insert(tx: &mut Tx<'_>, tenant: TenantId, user: &User) -> StoreResult<()> {
    let sql = "insert into users (tenant_id, id, email, sort_key, name, folded, role, password_hash, api_key_hash,
                                  created_at, disabled_at, last_login_at, invitation_hash, invitation_expires_at)
               values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)";
    let email = user.email.to_lowercase();
    let invitation = user.invitation.as_ref();
    let args = args![
        tenant,
        user.id,
        &email,
        sort_key(&email),
        &user.name,
        search_text(&email, &user.name),
        user.role.as_str(),
        user.password_hash.as_deref(),
        user.api_key_hash.as_deref(),
        user.created_at,
        user.disabled_at,
        user.last_login_at,
        invitation.map(|invitation| invitation.token_hash.as_str()),
        invitation.map(|invitation| invitation.expires_at)
    ];
    tx.write_unique(sql, args, || format!("another user has the email {} or the same key", user.email)).await
}

/// `None`: nothing was changed, since this is the last administrator who can log in.
pub(crate) async fn update(
    tx: &mut Tx<'_>,
    tenant: TenantId,
    id: UserId,
    change: &UserChange,
) -> StoreResult<Option<User>> {
    if change.ends_administrator() && is_last_administrator(tx, tenant, id).await? {
        return Ok(None);
    }
    let before = locked(tx, tenant, id).await?;
    let after = changed(&before, change);
    save(tx, tenant, &after).await?;
    if before.is_disabled() != after.is_disabled() {
        end_sessions(tx, tenant, id).await?;
    }
    Ok(Some(after))
}

/// Whether nobody else could log in and administer. The rows are locked by all who end an administrator, so that two can't
/// end each other's at the same time.
async fn is_last_administrator(tx: &mut Tx<'_>, tenant: TenantId, id: UserId) -> StoreResult<bool> {
    let sql = locking!(
        tx,
        "select id from users where tenant_id = $1 and role = 'admin'
            and disabled_at is null and password_hash is not null order by id",
        "for update"
    );
    let rows = tx.rows(sql, args![tenant]).await?;
    if let [last] = &rows[..] {
        return Ok(last.id(0)? == id.0);
    }
    Ok(false)
}

fn changed(before: &User, change: &UserChange) -> User {
    let mut user = before.clone();
    if let Some(email) = &change.email {
        user.email = email.to_lowercase();
    }
    if let Some(name) = &change.name {
        user.name.clone_from(name);
    }
    if let Some(role) = change.role {
        user.role = role;
    }
    if let Some(disabled_at) = change.disabled_at {
        user.disabled_at = disabled_at.map(|at| before.disabled_at.unwrap_or(at));
    }
    if change.password_hash.is_some() {
        user.password_hash.clone_from(&change.password_hash);
    }
    if let Some(hash) = &change.api_key_hash {
        user.api_key_hash.clone_from(hash);
    }
    if change.invitation.is_some() {
        user.invitation.clone_from(&change.invitation);
    }
    user
}

/// Writes what can change of a user.
async fn save(tx: &mut Tx<'_>, tenant: TenantId, user: &User) -> StoreResult<()> {
    let invitation = user.invitation.as_ref();
    tx.write_unique(
        "update users set name = $3, folded = $4, role = $5, password_hash = $6, api_key_hash = $7,
            disabled_at = $8, invitation_hash = $9, invitation_expires_at = $10, email = $11, sort_key = $12
         where tenant_id = $1 and id = $2",
        args![
            tenant,
            user.id,
            &user.name,
            search_text(&user.email, &user.name),
            user.role.as_str(),
            user.password_hash.as_deref(),
            user.api_key_hash.as_deref(),
            user.disabled_at,
            invitation.map(|invitation| invitation.token_hash.as_str()),
            invitation.map(|invitation| invitation.expires_at),
            &user.email,
            sort_key(&user.email)
        ],
        || "another user has the same email or key".to_owned(),
    )
    .await
}

async fn accept(
    tx: &mut Tx<'_>,
    tenant: TenantId,
    token_hash: &str,
    password_hash: &str,
    name: Option<&str>,
    now: Timestamp,
) -> StoreResult<Option<User>> {
    let sql = locking!(
        tx,
        select!("where tenant_id = $1 and invitation_hash = $2 and invitation_expires_at > $3 and disabled_at is null"),
        "for update"
    );
    let Some(row) = tx.row(sql, args![tenant, token_hash, now]).await? else {
        return Ok(None);
    };
    let mut user = user(&row)?;
    user.password_hash = Some(password_hash.to_owned());
    user.invitation = None;
    if let Some(name) = name {
        name.clone_into(&mut user.name);
    }
    save(tx, tenant, &user).await?;
    end_sessions(tx, tenant, user.id).await?;
    Ok(Some(user))
}

async fn remove(tx: &mut Tx<'_>, tenant: TenantId, id: UserId) -> StoreResult<()> {
    let user = locked(tx, tenant, id).await?;
    if user.state() == UserState::Active {
        return Err(StoreError::Conflict(format!("user {id} is active")));
    }
    end_sessions(tx, tenant, id).await?;
    forget_kept_of(tx, tenant, id).await?;
    for sql in [
        "delete from spend_limits where tenant_id = $1 and scope = 'key'
            and owner_id in (select id from virtual_keys where tenant_id = $1 and user_id = $2)",
        "delete from spend_limits where tenant_id = $1 and scope = 'user' and owner_id = $2",
        "delete from virtual_keys where tenant_id = $1 and user_id = $2",
        "delete from run_turns where tenant_id = $1 and user_id = $2",
        "delete from group_members where tenant_id = $1 and user_id = $2",
        "delete from resource_grants where tenant_id = $1 and grantee_kind = 'user' and grantee_id = $2",
        "delete from external_accounts where tenant_id = $1 and user_id = $2",
        "delete from scim_users where tenant_id = $1 and user_id = $2",
        "delete from recovery_codes where tenant_id = $1 and user_id = $2",
        "delete from second_factors where tenant_id = $1 and user_id = $2",
        "delete from users where tenant_id = $1 and id = $2",
    ] {
        tx.execute(sql, args![tenant, id]).await?;
    }
    Ok(())
}

async fn end_sessions(tx: &mut Tx<'_>, tenant: TenantId, id: UserId) -> StoreResult<()> {
    tx.run("delete from login_sessions where tenant_id = $1 and user_id = $2", args![tenant, id]).await
}

fn search_text(email: &str, name: &str) -> String {
    fold(&format!("{email}\n{name}"))
}

/// The user, whom nobody else changes until the transaction is over.
async fn locked(tx: &mut Tx<'_>, tenant: TenantId, id: UserId) -> StoreResult<User> {
    let sql = locking!(tx, select!("where tenant_id = $1 and id = $2"), "for update");
    let row = tx.row(sql, args![tenant, id]).await?;
    user(&row.ok_or_else(|| StoreError::NotFound(format!("user {id}")))?)
}

pub(crate) fn user(row: &Row) -> StoreResult<User> {
    let invitation = match (row.opt_text(9)?, row.opt_int(10)?) {
        (Some(token_hash), Some(expires_at)) => Some(Invitation { token_hash, expires_at: Timestamp(expires_at) }),
        _ => None,
    };
    Ok(User {
        id: UserId(row.id(0)?),
        email: row.text(1)?,
        name: row.text(2)?,
        role: from_word("the role of a user", row.text(3)?)?,
        password_hash: row.opt_text(4)?,
        api_key_hash: row.opt_text(5)?,
        created_at: row.time(6)?,
        disabled_at: row.opt_int(7)?.map(Timestamp),
        last_login_at: row.opt_int(8)?.map(Timestamp),
        invitation,
    })
}
