use crate::store::Store;
use crate::tx::{Row, Tx, args};
use async_trait::async_trait;
use steward_core::ports::{LoginSession, LoginSessions, StoreResult};
use steward_core::{TenantId, Timestamp, UserId};
use uuid::Uuid;

#[async_trait]
impl LoginSessions for Store {
    async fn create_session(&self, tenant: TenantId, session: &LoginSession) -> StoreResult<()> {
        self.write((tenant, session.clone()), |(tenant, session), tx| Box::pin(create(tx, *tenant, session))).await
    }

    async fn session_by_token(&self, tenant: TenantId, hash: &str) -> StoreResult<Option<LoginSession>> {
        // Two statements: for an `or` of both columns SQLite would read all logins.
        let in_force = "select id, user_id, token_hash, previous_hash, rotated_at, created_at, expires_at, label
             from login_sessions where tenant_id = $1 and token_hash = $2";
        let before = "select id, user_id, token_hash, previous_hash, rotated_at, created_at, expires_at, label
             from login_sessions where tenant_id = $1 and previous_hash = $2
             order by rotated_at desc limit 1";
        for sql in [in_force, before] {
            if let Some(row) = self.row(sql, args![tenant, hash]).await? {
                return session(&row).map(Some);
            }
        }
        Ok(None)
    }

    async fn rotate_session(
        &self,
        tenant: TenantId,
        id: Uuid,
        old: &str,
        new: &str,
        at: Timestamp,
        expires_at: Timestamp,
    ) -> StoreResult<bool> {
        let sql = "update login_sessions set previous_hash = token_hash, token_hash = $4,
               rotated_at = $5, expires_at = $6
             where tenant_id = $1 and id = $2 and token_hash = $3";
        Ok(self.execute(sql, args![tenant, id, old, new, at, expires_at]).await? > 0)
    }

    /// One that has ended already is no error: what is asked for is so.
    async fn end_session(&self, tenant: TenantId, id: Uuid) -> StoreResult<()> {
        self.run("delete from login_sessions where tenant_id = $1 and id = $2", args![tenant, id]).await
    }

    async fn end_sessions(&self, tenant: TenantId, user: UserId, keep: Option<Uuid>) -> StoreResult<u64> {
        let sql = "delete from login_sessions where tenant_id = $1 and user_id = $2 and ($3 is null or id <> $3)";
        Ok(self.execute(sql, args![tenant, user, keep]).await?)
    }

    async fn sessions(&self, tenant: TenantId, user: UserId, now: Timestamp) -> StoreResult<Vec<LoginSession>> {
        let sql = "select id, user_id, token_hash, previous_hash, rotated_at, created_at, expires_at, label
             from login_sessions
             where tenant_id = $1 and user_id = $2 and expires_at > $3
             order by created_at desc, id desc";
        self.all(sql, args![tenant, user, now], session).await
    }
}

async fn create(tx: &mut Tx<'_>, tenant: TenantId, it: &LoginSession) -> StoreResult<()> {
    // Those that nobody can use any more go with the next login, so that they don't pile up.
    let sql = "delete from login_sessions where tenant_id = $1 and user_id = $2 and expires_at <= $3";
    tx.execute(sql, args![tenant, it.user, it.created_at]).await?;
    tx.write_unique(
        "insert into login_sessions (tenant_id, id, user_id, token_hash, previous_hash, rotated_at,
                                     created_at, expires_at, label)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
        args![
            tenant,
            it.id,
            it.user,
            &it.token_hash,
            it.previous_hash.as_deref(),
            it.rotated_at,
            it.created_at,
            it.expires_at,
            &it.label
        ],
        || format!("login {} or its token exists already", it.id),
    )
    .await
}

fn session(row: &Row) -> StoreResult<LoginSession> {
    Ok(LoginSession {
        id: row.id(0)?,
        user: UserId(row.id(1)?),
        token_hash: row.text(2)?,
        previous_hash: row.opt_text(3)?,
        rotated_at: row.time(4)?,
        created_at: row.time(5)?,
        expires_at: row.time(6)?,
        label: row.text(7)?,
    })
}
