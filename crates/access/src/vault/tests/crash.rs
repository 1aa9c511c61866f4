//! Rotation, cut off at each of its steps. After each, the program starts again and every secret opens.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use async_trait::async_trait;
use steward_core::credential::{Credential, CredentialUse};
use steward_core::ports::{CredentialRows, Page, SealedCredential, StoreError, StoreResult, Vault, VaultError};
use steward_core::{CredentialId, TenantId, Timestamp};
use steward_store::Store;
use uuid::Uuid;

use super::bed::{Bed, TENANT, secret, token};
use crate::vault::{FileKeys, KeySource, VaultKey};

/// Lets so many steps happen; from then on nothing does, as after a kill.
struct Fuse(AtomicU32);

impl Fuse {
    fn new(steps: u32) -> Arc<Self> {
        Arc::new(Self(AtomicU32::new(steps)))
    }

    /// Whether this step still happens.
    fn step(&self) -> bool {
        let left = |left: u32| left.checked_sub(1);
        self.0.fetch_update(Ordering::SeqCst, Ordering::SeqCst, left).is_ok()
    }
}

struct Keys(FileKeys, Arc<Fuse>);

fn dead() -> VaultError {
    VaultError::Key("killed".to_owned())
}

#[async_trait]
impl KeySource for Keys {
    async fn keys(&self) -> Result<Vec<VaultKey>, VaultError> {
        if !self.1.step() {
            return Err(dead());
        }
        self.0.keys().await
    }

    async fn add(&self) -> Result<VaultKey, VaultError> {
        if !self.1.step() {
            return Err(dead());
        }
        let key = self.0.add().await;
        if self.1.step() { key } else { Err(dead()) }
    }

    async fn retire(&self, ids: &[String]) -> Result<(), VaultError> {
        if !self.1.step() {
            return Err(dead());
        }
        let done = self.0.retire(ids).await;
        if self.1.step() { done } else { Err(dead()) }
    }

    fn place(&self) -> String {
        self.0.place()
    }
}

struct Rows(Arc<Store>, Arc<Fuse>);

fn cut() -> StoreError {
    StoreError::Backend("killed".to_owned())
}

#[async_trait]
impl CredentialRows for Rows {
    async fn save_credential(&self, tenant: TenantId, row: &SealedCredential) -> StoreResult<()> {
        self.0.save_credential(tenant, row).await
    }

    async fn credential_row(&self, tenant: TenantId, id: CredentialId) -> StoreResult<SealedCredential> {
        self.0.credential_row(tenant, id).await
    }

    async fn credential_rows(
        &self,
        tenant: TenantId,
        after: Option<&str>,
        limit: u32,
    ) -> StoreResult<Page<SealedCredential>> {
        if !self.1.step() {
            return Err(cut());
        }
        self.0.credential_rows(tenant, after, limit).await
    }

    async fn credential_keys(&self) -> StoreResult<Vec<String>> {
        if !self.1.step() {
            return Err(cut());
        }
        self.0.credential_keys().await
    }

    async fn reseal(&self, tenant: TenantId, from: &str, rows: &[SealedCredential]) -> StoreResult<()> {
        if !self.1.step() {
            return Err(cut());
        }
        let done = self.0.reseal(tenant, from, rows).await;
        if self.1.step() { done } else { Err(cut()) }
    }

    async fn remove_credential(&self, tenant: TenantId, id: CredentialId) -> StoreResult<()> {
        self.0.remove_credential(tenant, id).await
    }

    async fn credential_used(&self, tenant: TenantId, used: &CredentialUse, entry: Uuid) -> StoreResult<()> {
        self.0.credential_used(tenant, used, entry).await
    }

    async fn credential_uses(
        &self,
        tenant: TenantId,
        id: CredentialId,
        before: Option<Timestamp>,
        limit: u32,
    ) -> StoreResult<Page<CredentialUse>> {
        self.0.credential_uses(tenant, id, before, limit).await
    }
}

async fn keep(bed: &Bed, count: usize) -> Vec<Credential> {
    let vault = bed.vault();
    let mut kept = Vec::new();
    for number in 0..count {
        let new = token(&format!("c{number}"), &format!("s3cret {number}"));
        kept.push(vault.keep(TENANT, new).await.unwrap());
    }
    kept
}

async fn all_open(bed: &Bed, kept: &[Credential]) {
    let vault = bed.vault();
    vault.check().await.unwrap();
    for (number, credential) in kept.iter().enumerate() {
        assert_eq!(secret(&vault, credential, "token").await, format!("s3cret {number}"));
    }
}

#[tokio::test]
async fn no_crash_loses_a_secret() {
    let mut seen = std::collections::BTreeSet::new();
    for steps in 0.. {
        let bed = Bed::new().await;
        let kept = keep(&bed, 3).await;
        let old = bed.rows.credential_keys().await.unwrap();
        let fuse = Fuse::new(steps);
        let keys = Keys(bed.file(), fuse.clone());
        let rows = Rows(bed.rows.clone(), fuse.clone());
        let rotated = bed.vault_of(Arc::new(keys), Arc::new(rows)).rotate(TENANT).await;
        let resealed = bed.rows.credential_keys().await.unwrap() != old;
        let held = bed.file().keys().await.unwrap().len();
        seen.insert((resealed, held));
        all_open(&bed, &kept).await;
        if resealed {
            // The start has tidied up after it.
            let keys = bed.file().keys().await.unwrap();
            assert!(keys.iter().all(|key| key.id() != old[0]), "after {steps} steps");
        }
        // The next one ends what this one began, or is another one.
        assert_eq!(bed.vault().rotate(TENANT).await.unwrap(), 3);
        all_open(&bed, &kept).await;
        assert_eq!(bed.file().keys().await.unwrap().len(), 1);
        assert_ne!(bed.rows.credential_keys().await.unwrap(), old);
        if rotated.is_ok() && fuse.step() {
            break;
        }
    }
    // Each state that there is between was met.
    let states = [(false, 1), (false, 2), (true, 1), (true, 2)];
    assert!(seen.into_iter().eq(states));
}

#[tokio::test]
async fn the_old_key_opens_nothing_after_a_rotation() {
    let bed = Bed::new().await;
    let kept = keep(&bed, 2).await;
    let before = std::fs::read(bed.dir.path().join("vault.key")).unwrap();
    assert_eq!(bed.vault().rotate(TENANT).await.unwrap(), 2);
    all_open(&bed, &kept).await;
    std::fs::write(bed.dir.path().join("vault.key"), before).unwrap();
    let old = bed.vault();
    assert!(matches!(old.check().await, Err(VaultError::Key(_))));
    for credential in &kept {
        let refused = super::bed::open(&old, credential).await;
        assert!(matches!(refused, Err(VaultError::Sealed(_))));
    }
}

#[tokio::test]
async fn a_vault_at_work_goes_on_over_a_rotation() {
    let bed = Bed::new().await;
    let kept = keep(&bed, 2).await;
    let (vault, other) = (bed.vault(), bed.vault());
    assert_eq!(secret(&other, &kept[0], "token").await, "s3cret 0");
    vault.rotate(TENANT).await.unwrap();
    assert_eq!(secret(&other, &kept[0], "token").await, "s3cret 0");
    let third = other.keep(TENANT, token("c2", "s3cret 2")).await.unwrap();
    let kept = [kept, vec![third]].concat();
    all_open(&bed, &kept).await;
    // With nothing to seal, a rotation still changes the key.
    for credential in &kept {
        vault.remove(TENANT, credential.id).await.unwrap();
    }
    let before = bed.file().keys().await.unwrap()[0].id().to_owned();
    assert_eq!(vault.rotate(TENANT).await.unwrap(), 0);
    let after = bed.file().keys().await.unwrap();
    assert!(after[0].id() == before && after[1].id() != before);
    let last = vault.keep(TENANT, token("c", "s3cret 0")).await.unwrap();
    let used = bed.rows.credential_keys().await.unwrap();
    assert_eq!(used, [after[1].id()]);
    all_open(&bed, &[last]).await;
    assert_eq!(bed.file().keys().await.unwrap().len(), 1);
}
