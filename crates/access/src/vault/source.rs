//! Where keys come from.

use super::key::VaultKey;
use async_trait::async_trait;
use steward_core::ports::VaultError;

/// Keeps the vault's keys.
#[async_trait]
pub trait KeySource: Send + Sync {
    /// All that are held, the newest last; none before the first use.
    async fn keys(&self) -> Result<Vec<VaultKey>, VaultError>;
    /// Makes a key and keeps it beside the others, as the newest. It is durable when this returns.
    async fn add(&self) -> Result<VaultKey, VaultError>;
    /// Forgets keys; those that this source doesn't keep itself stay.
    async fn retire(&self, ids: &[String]) -> Result<(), VaultError>;
    /// Where they are, for people: `file /…/vault.key`.
    fn place(&self) -> String;
}
