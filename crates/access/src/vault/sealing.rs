//! Seals credentials, and replaces the key that they are sealed with.
//!
//! A sealed secret is a byte 1, a nonce of 24 bytes, the ciphertext and its tag. The plain text is the name and the
//! value of each field, each with its length before it. It is not JSON, whose reader would leave copies of secrets in
//! memory.
//!
//! Rotation keeps the new key beside the old one, seals all rows with the new key in one transaction, and then
//! forgets the old key. After a crash before the transaction both keys are there and the rows have the old one: the
//! next rotation takes the new key that is already there. After a crash behind it the rows have the new key:
//! [`SealedVault::check`] forgets the old one at the next start.

use std::collections::BTreeMap;

use secrecy::{ExposeSecret, SecretString};
use steward_core::credential::{Credential, CredentialKind};
use steward_core::locks::{read, write};
use steward_core::ports::{SealedCredential, StoreError, VaultError};
use steward_core::{CredentialId, TenantId};
use zeroize::Zeroizing;

use super::SealedVault;
use super::keys::VaultKey;
use crate::aead;

const FORM: u8 = 1;

/// By name.
pub(super) type Fields = BTreeMap<String, SecretString>;

/// Whose secret it is. With another owner it can't be opened.
#[derive(Debug, Clone, Copy)]
pub(super) struct Owner {
    pub tenant: TenantId,
    pub credential: CredentialId,
    pub kind: CredentialKind,
}

/// `None`: a field is longer than its length can say.
pub(super) fn seal(key: &VaultKey, owner: Owner, fields: &Fields) -> Option<Vec<u8>> {
    let sealed = aead::seal(key.bytes(), &bound_data(key, owner), &encode(fields)?)?;
    Some([&[FORM], sealed.as_slice()].concat())
}

/// `None`: the key or the owner is another, or a byte has changed.
pub(super) fn open(key: &VaultKey, owner: Owner, sealed: &[u8]) -> Option<Fields> {
    decode(&aead::open(key.bytes(), &bound_data(key, owner), sealed.strip_prefix(&[FORM])?)?)
}

/// Each part has a fixed length or stands last, so no two owners give the same bytes.
fn bound_data(key: &VaultKey, owner: Owner) -> Vec<u8> {
    let mut aad = b"steward vault 1".to_vec();
    aad.extend_from_slice(owner.tenant.0.as_bytes());
    aad.extend_from_slice(owner.credential.0.as_bytes());
    aad.extend_from_slice(key.id().as_bytes());
    aad.extend_from_slice(owner.kind.as_str().as_bytes());
    aad
}

fn encode(fields: &Fields) -> Option<Zeroizing<Vec<u8>>> {
    let parts = || fields.iter().flat_map(|(name, value)| [name.as_str(), value.expose_secret()]);
    // Room for everything at once: growing would leave copies behind.
    let size = parts().map(|part| part.len() + 4).sum();
    let mut plain = Zeroizing::new(Vec::with_capacity(size));
    for part in parts() {
        plain.extend_from_slice(&u32::try_from(part.len()).ok()?.to_be_bytes());
        plain.extend_from_slice(part.as_bytes());
    }
    Some(plain)
}

fn decode(mut plain: &[u8]) -> Option<Fields> {
    let mut fields = Fields::new();
    while !plain.is_empty() {
        let name = take_part(&mut plain)?;
        let value = take_part(&mut plain)?;
        fields.insert(name.to_owned(), SecretString::from(value));
    }
    Some(fields)
}

fn take_part<'a>(rest: &mut &'a [u8]) -> Option<&'a str> {
    let (length, after) = rest.split_first_chunk::<4>()?;
    let length = usize::try_from(u32::from_be_bytes(*length)).ok()?;
    let (part, after) = after.split_at_checked(length)?;
    *rest = after;
    str::from_utf8(part).ok()
}

fn sealed_row(
    tenant: TenantId,
    key: &VaultKey,
    credential: Credential,
    fields: &Fields,
) -> Result<SealedCredential, VaultError> {
    let sealed = seal(key, owner(tenant, &credential), fields)
        .ok_or_else(|| VaultError::Invalid("the fields are too long".to_owned()))?;
    Ok(SealedCredential { credential, key_id: key.id().to_owned(), sealed })
}

fn owner(tenant: TenantId, credential: &Credential) -> Owner {
    Owner { tenant, credential: credential.id, kind: credential.kind }
}

const PAGE: u32 = 500;
/// How often a rotation is tried while credentials are changed beside it.
const ATTEMPTS: u32 = 5;

impl SealedVault {
    async fn reload(&self) -> Result<Vec<VaultKey>, VaultError> {
        let keys = self.deps.source.keys().await?;
        write(&self.keyring).clone_from(&keys);
        Ok(keys)
    }

    fn known_key(&self, id: &str) -> Option<VaultKey> {
        let keys = read(&self.keyring);
        keys.iter().find(|key| key.id() == id).cloned()
    }

    /// The key with this id; the source is read again if it is not known.
    async fn key(&self, id: &str, what: &str) -> Result<VaultKey, VaultError> {
        if let Some(key) = self.known_key(id) {
            return Ok(key);
        }
        self.reload().await?;
        self.known_key(id).ok_or_else(|| VaultError::Sealed(what.to_owned()))
    }

    /// The key that a tenant's secrets are sealed with; created if nothing was ever sealed.
    async fn current_key(&self, tenant: TenantId) -> Result<VaultKey, VaultError> {
        let first = self.deps.rows.credential_rows(tenant, None, 1).await?;
        if let Some(row) = first.items.first() {
            return self.key(&row.key_id, "the credentials").await;
        }
        if let Some(newest) = self.reload().await?.pop() {
            return Ok(newest);
        }
        // Something was sealed with a key that is missing: do not create another.
        if !self.deps.rows.credential_keys().await?.is_empty() {
            return Err(VaultError::Sealed("the credentials".to_owned()));
        }
        let key = self.deps.source.add().await?;
        self.reload().await?;
        Ok(key)
    }

    pub(super) async fn fields(&self, tenant: TenantId, row: &SealedCredential) -> Result<Fields, VaultError> {
        let name = &row.credential.name;
        let key = self.key(&row.key_id, name).await?;
        let owner = owner(tenant, &row.credential);
        open(&key, owner, &row.sealed).ok_or_else(|| {
            VaultError::Invalid(format!(
                "the secret of {name} is damaged or was put there by somebody else; set its fields \
                 anew or restore a backup"
            ))
        })
    }

    pub(super) async fn save(
        &self,
        tenant: TenantId,
        credential: Credential,
        fields: &Fields,
    ) -> Result<Credential, VaultError> {
        let key = self.current_key(tenant).await?;
        let row = sealed_row(tenant, &key, credential, fields)?;
        match self.deps.rows.save_credential(tenant, &row).await {
            Ok(()) => Ok(row.credential),
            Err(error @ StoreError::Conflict(_)) => {
                // Another process may have created or rotated the key meanwhile.
                let now = self.current_key(tenant).await?;
                if now.id() == key.id() {
                    return Err(error.into());
                }
                let row = sealed_row(tenant, &now, row.credential, fields)?;
                self.deps.rows.save_credential(tenant, &row).await?;
                Ok(row.credential)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Called at the start: checks that the keys open what is there, and forgets keys that seal nothing any more.
    pub async fn check(&self) -> Result<(), VaultError> {
        let used = self.deps.rows.credential_keys().await?;
        if used.is_empty() {
            return Ok(());
        }
        let keys = self.reload().await?;
        if used.iter().any(|id| !keys.iter().any(|key| key.id() == id)) {
            return Err(VaultError::Key(format!(
                "the vault's key ({}) is not the one that the credentials were sealed with; start \
                 Steward with that key, or remove the credentials and add them again",
                self.deps.source.place()
            )));
        }
        self.retire_unused(&keys, &used).await
    }

    pub fn place(&self) -> String {
        self.deps.source.place()
    }

    pub(super) async fn rotate_key(&self, tenant: TenantId) -> Result<u64, VaultError> {
        let _writing = self.writing.lock().await;
        for _ in 0..ATTEMPTS {
            match self.rotate_once(tenant).await {
                Err(VaultError::Store(StoreError::Conflict(_))) => {}
                done => return done,
            }
        }
        self.rotate_once(tenant).await
    }

    async fn rotate_once(&self, tenant: TenantId) -> Result<u64, VaultError> {
        let keys = self.reload().await?;
        let rows = self.all_rows(tenant).await?;
        // All rows have the same key. Without rows nothing can be lost.
        let current = rows.first().map(|row| row.key_id.clone());
        let waiting = keys.last().filter(|newest| current.as_deref().is_some_and(|id| id != newest.id()));
        let new = match (waiting, &current) {
            (Some(newest), Some(current)) if keys.iter().any(|key| key.id() == current) => newest.clone(),
            (_, Some(current)) if !keys.iter().any(|key| key.id() == current) => {
                return Err(VaultError::Sealed("the credentials".to_owned()));
            }
            _ => self.deps.source.add().await?,
        };
        self.reload().await?;
        let mut resealed = Vec::with_capacity(rows.len());
        for row in &rows {
            let fields = self.fields(tenant, row).await?;
            resealed.push(sealed_row(tenant, &new, row.credential.clone(), &fields)?);
        }
        let Some(current) = current else {
            // The old key stays: somebody may be sealing the first row with it right now.
            return Ok(0);
        };
        self.deps.rows.reseal(tenant, &current, &resealed).await?;
        let keys = self.reload().await?;
        let mut used = self.deps.rows.credential_keys().await?;
        used.push(new.id().to_owned());
        if let Err(error) = self.retire_unused(&keys, &used).await {
            // The rotation is done; the next start tries this again.
            tracing::warn!(%error, "the vault's old key could not be forgotten");
        }
        Ok(resealed.len() as u64)
    }

    /// Forgets keys that are older than every key in use. A newer one waits for the next rotation.
    async fn retire_unused(&self, keys: &[VaultKey], used: &[String]) -> Result<(), VaultError> {
        let is_used = |key: &VaultKey| used.iter().any(|id| id == key.id());
        let old: Vec<_> = keys.iter().take_while(|key| !is_used(key)).map(|key| key.id().to_owned()).collect();
        if old.is_empty() || old.len() == keys.len() {
            return Ok(());
        }
        self.deps.source.retire(&old).await?;
        self.reload().await?;
        Ok(())
    }

    async fn all_rows(&self, tenant: TenantId) -> Result<Vec<SealedCredential>, VaultError> {
        let mut rows = Vec::new();
        loop {
            let after = rows.last().map(|row: &SealedCredential| row.credential.name.as_str());
            let page = self.deps.rows.credential_rows(tenant, after, PAGE).await?;
            let ended = page.items.is_empty() || !page.more;
            rows.extend(page.items);
            if ended {
                return Ok(rows);
            }
        }
    }
}
