//! Users. Emails are kept and looked up in lower case.

use crate::error::on_duplicate;
use crate::store::Store;
use crate::tx::{Row, args};
use async_trait::async_trait;
use steward_core::ports::{StoreResult, User, Users};
use steward_core::{TenantId, UserId};

#[async_trait]
impl Users for Store {
    async fn save_user(&self, tenant: TenantId, user: &User) -> StoreResult<()> {
        let sql = "insert into users (tenant_id, id, email, name, role, password_hash, api_key_hash, created_at)
             values ($1, $2, $3, $4, $5, $6, $7, $8)
             on conflict (tenant_id, id) do update set
              email = excluded.email, name = excluded.name, role = excluded.role,
              password_hash = excluded.password_hash, api_key_hash = excluded.api_key_hash";
        let args = args![
            tenant,
            user.id,
            user.email.to_lowercase(),
            &user.name,
            &user.role,
            user.password_hash.as_deref(),
            user.api_key_hash.as_deref(),
            user.created_at
        ];
        self.execute(sql, args)
            .await
            .map_err(|e| on_duplicate(e, || format!("another user has the email {} or the same key", user.email)))?;
        Ok(())
    }

    fn identities(&self) -> Option<u64> {
        Store::identities(self)
    }

    async fn user(&self, tenant: TenantId, id: UserId) -> StoreResult<Option<User>> {
        let sql = "select id, email, name, role, password_hash, api_key_hash, created_at
             from users where tenant_id = $1 and id = $2";
        self.row(sql, args![tenant, id]).await?.as_ref().map(user).transpose()
    }

    async fn user_by_email(&self, tenant: TenantId, email: &str) -> StoreResult<Option<User>> {
        let sql = "select id, email, name, role, password_hash, api_key_hash, created_at
             from users where tenant_id = $1 and email = $2";
        self.row(sql, args![tenant, email.to_lowercase()]).await?.as_ref().map(user).transpose()
    }

    async fn user_by_api_key(&self, tenant: TenantId, hash: &str) -> StoreResult<Option<User>> {
        let sql = "select id, email, name, role, password_hash, api_key_hash, created_at
             from users where tenant_id = $1 and api_key_hash = $2";
        self.row(sql, args![tenant, hash]).await?.as_ref().map(user).transpose()
    }

    async fn user_count(&self, tenant: TenantId) -> StoreResult<u64> {
        let row = self.row("select count(*) from users where tenant_id = $1", args![tenant]).await?;
        row.map_or(Ok(0), |row| row.count(0))
    }
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
