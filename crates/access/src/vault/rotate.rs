//! Another key, and what becomes of the old one.
//!
//! 1. The new key is kept beside the old one.
//! 2. All rows are sealed with it, in one transaction.
//! 3. The old key is forgotten.
//!
//! A crash after 1 leaves both keys and rows of the old one: the next rotation takes the new key that is
//! already there. A crash after 2 leaves both keys and rows of the new one: [`SealedVault::check`]
//! forgets the old one at the next start.

use super::key::VaultKey;
use super::service::{SealedVault, sealed};
use steward_core::TenantId;
use steward_core::ports::{SealedCredential, StoreError, VaultError};

/// Rows read together.
const PAGE: u32 = 500;
/// Times that it is begun anew because credentials were changed beside it.
const ATTEMPTS: u32 = 5;

impl SealedVault {
    /// At the start: whether the keys open what is there. Keys that nothing is sealed with any more are
    /// forgotten.
    pub async fn check(&self) -> Result<(), VaultError> {
        let used = self.rows.credential_keys().await?;
        if used.is_empty() {
            return Ok(());
        }
        let held = self.reload().await?;
        if used.iter().any(|id| !held.iter().any(|key| key.id() == id)) {
            return Err(VaultError::Key(format!(
                "the vault's key ({}) is not the one that the credentials were sealed with; start \
                 Steward with that key, or remove the credentials and add them again",
                self.source.place()
            )));
        }
        self.forget(&held, &used).await
    }

    /// Where the keys are.
    pub fn place(&self) -> String {
        self.source.place()
    }

    pub(super) async fn change_key(&self, tenant: TenantId) -> Result<u64, VaultError> {
        let _writing = self.writing.lock().await;
        for _ in 0..ATTEMPTS {
            match self.once(tenant).await {
                Err(VaultError::Store(StoreError::Conflict(_))) => {}
                done => return done,
            }
        }
        self.once(tenant).await
    }

    async fn once(&self, tenant: TenantId) -> Result<u64, VaultError> {
        let held = self.reload().await?;
        let rows = self.all(tenant).await?;
        // One key seals them all; with no rows there is nothing to lose.
        let current = rows.first().map(|row| row.key_id.clone());
        let waiting = held.last().filter(|newest| current.as_deref().is_some_and(|id| id != newest.id()));
        let new = match (waiting, &current) {
            (Some(newest), Some(current)) if held.iter().any(|key| key.id() == current) => newest.clone(),
            (_, Some(current)) if !held.iter().any(|key| key.id() == current) => {
                return Err(VaultError::Sealed("the credentials".to_owned()));
            }
            _ => self.source.add().await?,
        };
        self.reload().await?;
        let mut resealed = Vec::with_capacity(rows.len());
        for row in &rows {
            let fields = self.fields(tenant, row).await?;
            resealed.push(sealed(tenant, &new, row.credential.clone(), &fields)?);
        }
        let Some(current) = current else {
            // Somebody may be sealing the first one with the old key right now: it stays.
            return Ok(0);
        };
        self.rows.reseal(tenant, &current, &resealed).await?;
        let held = self.reload().await?;
        let mut used = self.rows.credential_keys().await?;
        used.push(new.id().to_owned());
        if let Err(error) = self.forget(&held, &used).await {
            // What matters is done; the next start tries it again.
            tracing::warn!(%error, "the vault's old key could not be forgotten");
        }
        Ok(resealed.len() as u64)
    }

    /// Forgets keys that are older than every one in use. A newer one waits for the next rotation.
    async fn forget(&self, held: &[VaultKey], used: &[String]) -> Result<(), VaultError> {
        let is_used = |key: &VaultKey| used.iter().any(|id| id == key.id());
        let old: Vec<_> = held.iter().take_while(|key| !is_used(key)).map(|key| key.id().to_owned()).collect();
        if old.is_empty() || old.len() == held.len() {
            return Ok(());
        }
        self.source.retire(&old).await?;
        self.reload().await?;
        Ok(())
    }

    async fn all(&self, tenant: TenantId) -> Result<Vec<SealedCredential>, VaultError> {
        let mut rows = Vec::new();
        loop {
            let after = rows.last().map(|row: &SealedCredential| row.credential.name.as_str());
            let page = self.rows.credential_rows(tenant, after, PAGE).await?;
            let ended = page.items.is_empty() || !page.more;
            rows.extend(page.items);
            if ended {
                return Ok(rows);
            }
        }
    }
}
