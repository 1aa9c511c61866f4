use super::store_result::StoreResult;
use crate::{TenantId, Timestamp, UserId};
use async_trait::async_trait;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    pub id: UserId,
    /// Lower case.
    pub email: String,
    pub name: String,
    /// One of [`super::Role`], lower case.
    pub role: String,
    /// Argon2id, PHC format; `None`: no password login.
    pub password_hash: Option<String>,
    /// SHA-256 of the API key, hexadecimal.
    pub api_key_hash: Option<String>,
    pub created_at: Timestamp,
}

#[async_trait]
pub trait Users: Send + Sync {
    /// Makes or replaces by id; an email that another has is a conflict.
    async fn save_user(&self, tenant: TenantId, user: &User) -> StoreResult<()>;
    async fn user(&self, tenant: TenantId, id: UserId) -> StoreResult<Option<User>>;
    async fn user_by_email(&self, tenant: TenantId, email: &str) -> StoreResult<Option<User>>;
    async fn user_by_api_key(&self, tenant: TenantId, hash: &str) -> StoreResult<Option<User>>;
    async fn user_count(&self, tenant: TenantId) -> StoreResult<u64>;
    /// A number that has changed when a change of a user or a virtual key is acknowledged, so that what was looked up
    /// before can be used until then. `None`: others may change them too, so nothing can be.
    fn identities(&self) -> Option<u64> {
        None
    }
}

/// A login that can be prolonged: one per browser.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoginSession {
    pub id: uuid::Uuid,
    pub user: UserId,
    /// SHA-256 of the refresh token in force, hexadecimal.
    pub token_hash: String,
    /// That of the one before; it shows theft, but for a moment after a rotation.
    pub previous_hash: Option<String>,
    pub rotated_at: Timestamp,
    pub created_at: Timestamp,
    pub expires_at: Timestamp,
    /// What the browser calls itself.
    pub label: String,
}

#[async_trait]
pub trait LoginSessions: Send + Sync {
    async fn create_session(&self, tenant: TenantId, session: &LoginSession) -> StoreResult<()>;
    /// By a token's hash, in force or the one before.
    async fn session_by_token(&self, tenant: TenantId, hash: &str) -> StoreResult<Option<LoginSession>>;
    /// Replaces the token if `old` is still in force; `false` if it is not.
    async fn rotate_session(
        &self,
        tenant: TenantId,
        id: uuid::Uuid,
        old: &str,
        new: &str,
        at: Timestamp,
        expires_at: Timestamp,
    ) -> StoreResult<bool>;
    async fn end_session(&self, tenant: TenantId, id: uuid::Uuid) -> StoreResult<()>;
    /// Ends all of a user but `keep`; returns how many.
    async fn end_sessions(&self, tenant: TenantId, user: UserId, keep: Option<uuid::Uuid>) -> StoreResult<u64>;
    /// Those of a user that have not ended by `now`, newest first.
    async fn sessions(&self, tenant: TenantId, user: UserId, now: Timestamp) -> StoreResult<Vec<LoginSession>>;
}
