use super::store_result::StoreResult;
use super::vault::VaultError;
use crate::{TenantId, Timestamp, UserId};
use async_trait::async_trait;
use secrecy::SecretString;
use uuid::Uuid;

/// Somebody as another program knows them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExternalAccount {
    /// Which program: the issuer of its tokens, or a directory.
    pub issuer: String,
    /// Its own id of them, which stays.
    pub subject: String,
    pub user: UserId,
    pub linked_at: Timestamp,
}

#[async_trait]
pub trait ExternalAccounts: Send + Sync {
    async fn external_user(&self, tenant: TenantId, issuer: &str, subject: &str) -> StoreResult<Option<UserId>>;
    /// A conflict if the account is linked already.
    async fn link_external(&self, tenant: TenantId, account: &ExternalAccount) -> StoreResult<()>;
}

/// What shows codes to a user: the secret that the codes are computed from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecondFactor {
    /// The secret, sealed.
    pub sealed: String,
    /// `None`: its user has not shown a code of it yet, so it is not asked for.
    pub confirmed_at: Option<Timestamp>,
    /// The time step of the last code that was used; no older one is good.
    pub last_step: i64,
}

#[async_trait]
pub trait SecondFactors: Send + Sync {
    async fn second_factor(&self, tenant: TenantId, user: UserId) -> StoreResult<Option<SecondFactor>>;
    /// In the place of the one before, unless that is confirmed: then a conflict.
    async fn begin_second_factor(&self, tenant: TenantId, user: UserId, sealed: &str) -> StoreResult<()>;
    /// With the first code and the hashes of new recovery codes; `false`: it is confirmed already, or the step is used.
    async fn confirm_second_factor(
        &self,
        tenant: TenantId,
        user: UserId,
        step: i64,
        recovery: &[String],
        now: Timestamp,
    ) -> StoreResult<bool>;
    /// Uses a time step up, once; `false`: it or a later one was used.
    async fn use_step(&self, tenant: TenantId, user: UserId, step: i64) -> StoreResult<bool>;
    /// In the place of those before.
    async fn set_recovery_codes(&self, tenant: TenantId, user: UserId, hashes: &[String]) -> StoreResult<()>;
    /// Uses a recovery code up, once; `false`: there is no such code.
    async fn use_recovery_code(&self, tenant: TenantId, user: UserId, hash: &str) -> StoreResult<bool>;
    async fn recovery_codes_left(&self, tenant: TenantId, user: UserId) -> StoreResult<u64>;
    /// With the recovery codes; `false`: there was none.
    async fn remove_second_factor(&self, tenant: TenantId, user: UserId) -> StoreResult<bool>;
}

/// Secrets by which Steward proves itself to providers and directories. They are in the vault; only logins open them.
#[async_trait]
pub trait LoginSecrets: Send + Sync {
    async fn keep_login_secret(
        &self,
        tenant: TenantId,
        id: Uuid,
        name: &str,
        secret: SecretString,
    ) -> Result<(), VaultError>;
    /// `None`: none is kept.
    async fn login_secret(&self, tenant: TenantId, id: Uuid) -> Result<Option<SecretString>, VaultError>;
    async fn remove_login_secret(&self, tenant: TenantId, id: Uuid) -> Result<(), VaultError>;
}
