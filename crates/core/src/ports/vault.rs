//! The vault stores credentials and hands out handles; only the executor that uses a secret gets it.

use super::Role;
use super::store_result::{Page, StoreError, StoreResult};
use crate::agent::Agent;
use crate::credential::{Credential, CredentialKind, CredentialUse};
use crate::permission::Permissions;
use crate::skill::CredentialWanted;
use crate::{ConnectionId, CredentialId, TenantId, Timestamp};
use async_trait::async_trait;
use secrecy::SecretString;
use serde::{Deserialize, Deserializer};
use std::collections::BTreeMap;
use uuid::Uuid;

#[derive(Debug, thiserror::Error)]
pub enum VaultError {
    #[error("there is no credential {0}; see `steward credential list`")]
    Unknown(String),
    /// Several would do and nothing says which.
    #[error("several credentials suit ({0}); name one in the skill or in the agent")]
    Ambiguous(String),
    #[error("{0}")]
    Missing(String),
    #[error("{0}")]
    Invalid(String),
    #[error("the vault's key can't open {0}; start Steward with the key that it was kept with")]
    Sealed(String),
    #[error("{0}")]
    Key(String),
    #[error(
        "{0} belongs to a connection, a login or a webhook: nothing else can use it, and it is changed and removed with that"
    )]
    OfConnection(String),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A credential to keep.
#[derive(Debug, Clone, Deserialize, utoipa::ToSchema)]
#[schema(as = CredentialInput)]
#[serde(deny_unknown_fields)]
pub struct NewCredential {
    /// Its name, unique.
    #[schema(min_length = 1, max_length = 128)]
    pub name: String,
    /// What it is.
    pub kind: CredentialKind,
    /// For people.
    #[serde(default)]
    #[schema(max_length = 2000)]
    pub description: String,
    /// Its fields; those that are secret are never shown again.
    #[schema(value_type = BTreeMap<String, String>)]
    pub fields: BTreeMap<String, SecretString>,
    /// Roles whose runs may use it.
    #[serde(default)]
    pub roles: Vec<Role>,
    /// Whether skills may find it by kind and name alone.
    #[serde(default)]
    pub discoverable: bool,
    /// Hosts that it may be sent to, `*.example.org` for all below; empty: wherever an operator's skill sends it.
    #[serde(default)]
    #[schema(max_items = 50)]
    pub hosts: Vec<String>,
    /// When it ends, milliseconds since 1970 UTC.
    #[serde(default)]
    pub expires_at: Option<Timestamp>,
}

/// What is changed of a credential; what is left out stays.
#[derive(Debug, Clone, Default, Deserialize, utoipa::ToSchema)]
#[schema(as = CredentialPatch)]
#[serde(deny_unknown_fields)]
pub struct CredentialChange {
    /// Its name.
    #[serde(default)]
    #[schema(min_length = 1, max_length = 128)]
    pub name: Option<String>,
    /// For people.
    #[serde(default)]
    #[schema(max_length = 2000)]
    pub description: Option<String>,
    /// Fields to set; the others stay.
    #[serde(default)]
    #[schema(value_type = BTreeMap<String, String>)]
    pub fields: BTreeMap<String, SecretString>,
    /// Roles whose runs may use it.
    #[serde(default)]
    pub roles: Option<Vec<Role>>,
    /// Whether skills may find it by kind and name alone.
    #[serde(default)]
    pub discoverable: Option<bool>,
    /// Hosts that it may be sent to.
    #[serde(default)]
    #[schema(max_items = 50)]
    pub hosts: Option<Vec<String>>,
    /// When it ends, milliseconds since 1970 UTC; null: never.
    #[serde(default, deserialize_with = "given")]
    pub expires_at: Option<Option<Timestamp>>,
}

/// Tells a field that is present but null from an absent one.
pub fn given<'de, T: Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Option<T>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

/// An opened credential. It has no `Debug` of its fields and is wiped when dropped.
#[derive(Debug)]
pub struct Opened {
    pub credential: Credential,
    pub fields: BTreeMap<String, SecretString>,
}

#[async_trait]
pub trait Vault: Send + Sync {
    /// A name that is taken is [`StoreError::Conflict`].
    async fn keep(&self, tenant: TenantId, new: NewCredential) -> Result<Credential, VaultError>;
    async fn change(
        &self,
        tenant: TenantId,
        id: CredentialId,
        change: CredentialChange,
    ) -> Result<Credential, VaultError>;
    async fn remove(&self, tenant: TenantId, id: CredentialId) -> Result<(), VaultError>;
    /// Without its secrets.
    async fn credential(&self, tenant: TenantId, id: CredentialId) -> Result<Credential, VaultError>;
    /// Sorted by name, without their secrets.
    async fn credentials(
        &self,
        tenant: TenantId,
        after: Option<&str>,
        limit: u32,
    ) -> Result<Page<Credential>, VaultError>;
    /// Latest first.
    async fn uses(
        &self,
        tenant: TenantId,
        id: CredentialId,
        before: Option<Timestamp>,
        limit: u32,
    ) -> Result<Page<CredentialUse>, VaultError>;
    /// The credential for `skill` of `agent`: the agent's own setting, then those bound to the user's role or granted to
    /// them, then by kind and name. `Ok(None)` only if it is optional.
    async fn discover(
        &self,
        tenant: TenantId,
        agent: &Agent,
        user: Option<&RunUser>,
        skill: &str,
        kinds: &[CredentialKind],
        wanted: &CredentialWanted,
    ) -> Result<Option<Credential>, VaultError>;
    /// Opens a credential for an executor, after the use is recorded.
    async fn open(&self, tenant: TenantId, id: CredentialId, used: CredentialUse) -> Result<Opened, VaultError>;
    /// Seals all with a new key and returns how many. The old key opens nothing afterwards.
    async fn rotate(&self, tenant: TenantId) -> Result<u64, VaultError>;
}

/// Keys of connections. They are in the vault, and only the models room opens them.
#[async_trait]
pub trait ConnectionKeys: Send + Sync {
    /// Stores the key under the connection's id. Empty `fields` leave it unchanged.
    async fn keep_key(
        &self,
        tenant: TenantId,
        connection: ConnectionId,
        name: &str,
        fields: BTreeMap<String, SecretString>,
    ) -> Result<(), VaultError>;
    /// Opens the key for one request, after the use is recorded.
    async fn open_key(&self, tenant: TenantId, connection: ConnectionId) -> Result<Opened, VaultError>;
    async fn remove_key(&self, tenant: TenantId, connection: ConnectionId) -> Result<(), VaultError>;
}

/// Secrets of webhooks and subscriptions, all of one together. They are in the vault, and only what they belong to opens them.
#[async_trait]
pub trait AutomationSecrets: Send + Sync {
    /// `what`: what it belongs to, as the list of credentials names it.
    async fn keep_secrets(
        &self,
        tenant: TenantId,
        id: Uuid,
        what: &str,
        secrets: SecretString,
    ) -> Result<(), VaultError>;
    /// `None`: none are kept.
    async fn kept_secrets(&self, tenant: TenantId, id: Uuid) -> Result<Option<SecretString>, VaultError>;
    async fn remove_secrets(&self, tenant: TenantId, id: Uuid) -> Result<(), VaultError>;
}

/// A credential as stored: readable data beside sealed bytes.
#[derive(Debug, Clone)]
pub struct SealedCredential {
    pub credential: Credential,
    pub key_id: String,
    /// Nonce and ciphertext.
    pub sealed: Vec<u8>,
}

/// The user behind a run, as far as it matters for credentials.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunUser {
    pub role: Role,
    pub permissions: Permissions,
}

#[async_trait]
pub trait CredentialRows: Send + Sync {
    /// [`StoreError::Conflict`] if another has its name, or its key is not the one that seals all the tenant's rows.
    async fn save_credential(&self, tenant: TenantId, row: &SealedCredential) -> StoreResult<()>;
    async fn credential_row(&self, tenant: TenantId, id: CredentialId) -> StoreResult<SealedCredential>;
    /// Sorted by name.
    async fn credential_rows(
        &self,
        tenant: TenantId,
        after: Option<&str>,
        limit: u32,
    ) -> StoreResult<Page<SealedCredential>>;
    /// Ids of the keys that have sealed anything, over all tenants.
    async fn credential_keys(&self) -> StoreResult<Vec<String>>;
    /// In one transaction; [`StoreError::Conflict`] unless these are all of the tenant's rows as sealed by `from`.
    async fn reseal(&self, tenant: TenantId, from: &str, rows: &[SealedCredential]) -> StoreResult<()>;
    async fn remove_credential(&self, tenant: TenantId, id: CredentialId) -> StoreResult<()>;
    /// Records a use, with its entry of the audit trail, which gets the id `entry`.
    async fn credential_used(&self, tenant: TenantId, used: &CredentialUse, entry: Uuid) -> StoreResult<()>;
    /// Latest first.
    async fn credential_uses(
        &self,
        tenant: TenantId,
        id: CredentialId,
        before: Option<Timestamp>,
        limit: u32,
    ) -> StoreResult<Page<CredentialUse>>;
}
