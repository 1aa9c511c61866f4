//! Users. Emails are kept and looked up in lower case.

use crate::error::on_duplicate;
use crate::store::Store;
use crate::tx::{Arg, Row, Tx, args};
use async_trait::async_trait;
use steward_core::ports::{StoreResult, User, Users};
use steward_core::{TenantId, UserId};

#[async_trait]
impl Users for Store {
    async fn save_user(&self, tenant: TenantId, user: &User) -> StoreResult<()> {
        self.write((tenant, user.clone()), |(tenant, user), tx| Box::pin(save(tx, *tenant, user))).await
    }

    fn identities(&self) -> Option<u64> {
        Store::identities(self)
    }

    async fn user(&self, tenant: TenantId, id: UserId) -> StoreResult<Option<User>> {
        let sql = "select id, email, name, role, password_hash, api_key_hash, created_at
                   from users where tenant_id = $1 and id = $2";
        find(self, sql, tenant, Arg::from(id)).await
    }

    async fn user_by_email(&self, tenant: TenantId, email: &str) -> StoreResult<Option<User>> {
        let sql = "select id, email, name, role, password_hash, api_key_hash, created_at
                   from users where tenant_id = $1 and email = $2";
        find(self, sql, tenant, Arg::from(email.to_lowercase())).await
    }

    async fn user_by_api_key(&self, tenant: TenantId, hash: &str) -> StoreResult<Option<User>> {
        let sql = "select id, email, name, role, password_hash, api_key_hash, created_at
                   from users where tenant_id = $1 and api_key_hash = $2";
        find(self, sql, tenant, Arg::from(hash)).await
    }

    async fn user_count(&self, tenant: TenantId) -> StoreResult<u64> {
        self.read(tenant, |tenant, tx| {
            Box::pin(async move {
                let sql = "select count(*) from users where tenant_id = $1";
                let row = tx.row(sql, args![*tenant]).await?;
                row.map_or(Ok(0), |row| row.count(0))
            })
        })
        .await
    }
}

async fn save(tx: &mut Tx<'_>, tenant: TenantId, user: &User) -> StoreResult<()> {
    tx.execute(
        "insert into users (tenant_id, id, email, name, role, password_hash, api_key_hash,
                            created_at)
         values ($1, $2, $3, $4, $5, $6, $7, $8)
         on conflict (tenant_id, id) do update set
             email = excluded.email, name = excluded.name, role = excluded.role,
             password_hash = excluded.password_hash, api_key_hash = excluded.api_key_hash",
        args![
            tenant,
            user.id,
            user.email.to_lowercase(),
            &user.name,
            &user.role,
            user.password_hash.as_deref(),
            user.api_key_hash.as_deref(),
            user.created_at
        ],
    )
    .await
    .map_err(|e| on_duplicate(e, || format!("another user has the email {} or the same key", user.email)))?;
    Ok(())
}

async fn find(store: &Store, sql: &'static str, tenant: TenantId, key: Arg) -> StoreResult<Option<User>> {
    store
        .read((sql, tenant, key), |(sql, tenant, key), tx| {
            Box::pin(async move {
                let row = tx.row(sql, args![*tenant, key.clone()]).await?;
                row.as_ref().map(user).transpose()
            })
        })
        .await
}

fn user(row: &Row) -> StoreResult<User> {
    Ok(User {
        id: UserId(row.id(0)?),
        email: row.text(1)?,
        name: row.text(2)?,
        role: row.text(3)?,
        password_hash: row.opt_text(4)?,
        api_key_hash: row.opt_text(5)?,
        created_at: row.time(6)?,
    })
}
