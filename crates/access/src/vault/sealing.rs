//! Sealing. The form of what is sealed: a byte 1, a nonce of 24 bytes, ciphertext and tag. The plain form:
//! the kind, then each field as name and value, all of them with their length before them. No JSON:
//! its reader would leave copies of secrets in memory.

use std::collections::BTreeMap;

use chacha20poly1305::aead::{Aead, Payload};
use chacha20poly1305::{KeyInit, XChaCha20Poly1305, XNonce};
use rand::Rng;
use secrecy::{ExposeSecret, SecretString};
use steward_core::credential::CredentialKind;
use steward_core::ports::{SealedCredential, StoreError, VaultError};
use steward_core::{CredentialId, TenantId};
use zeroize::Zeroizing;

use super::keys::VaultKey;
use super::{SealedVault, sealed};

const FORM: u8 = 1;
const NONCE: usize = 24;

/// All fields of a credential, by name.
pub(super) type Fields = BTreeMap<String, SecretString>;

/// Whose secret it is; a change of any part makes it unreadable.
#[derive(Debug, Clone, Copy)]
pub(super) struct Owner {
    pub tenant: TenantId,
    pub credential: CredentialId,
    pub kind: CredentialKind,
}

/// Seals `fields`. `None` only where a field is longer than a length can say.
pub(super) fn seal(key: &VaultKey, owner: Owner, fields: &Fields) -> Option<Vec<u8>> {
    let plain = encode(fields)?;
    let mut nonce = [0u8; NONCE];
    rand::rng().fill_bytes(&mut nonce);
    let aad = bound(key, owner);
    let sealed = cipher(key).encrypt(&XNonce::from(nonce), Payload { msg: &plain, aad: &aad });
    let mut out = vec![FORM];
    out.extend_from_slice(&nonce);
    out.extend_from_slice(&sealed.ok()?);
    Some(out)
}

/// The fields again; `None` if the key or the owner is another, or a byte has changed.
pub(super) fn open(key: &VaultKey, owner: Owner, sealed: &[u8]) -> Option<Fields> {
    let rest = sealed.strip_prefix(&[FORM])?;
    let (nonce, rest) = rest.split_first_chunk::<NONCE>()?;
    let aad = bound(key, owner);
    let plain = cipher(key).decrypt(&XNonce::from(*nonce), Payload { msg: rest, aad: &aad });
    decode(&Zeroizing::new(plain.ok()?))
}

fn cipher(key: &VaultKey) -> XChaCha20Poly1305 {
    XChaCha20Poly1305::new(key.bytes().into())
}

/// Each part has a fixed length or stands last.
fn bound(key: &VaultKey, owner: Owner) -> Vec<u8> {
    let mut aad = b"steward vault 1".to_vec();
    aad.extend_from_slice(owner.tenant.0.as_bytes());
    aad.extend_from_slice(owner.credential.0.as_bytes());
    aad.extend_from_slice(key.id().as_bytes());
    aad.extend_from_slice(owner.kind.as_str().as_bytes());
    aad
}

fn encode(fields: &Fields) -> Option<Zeroizing<Vec<u8>>> {
    let parts = || fields.iter().flat_map(|(name, value)| [name.as_str(), value.expose_secret()]);
    // Room for all at once: growing would leave copies behind.
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
        let name = take(&mut plain)?;
        let value = take(&mut plain)?;
        fields.insert(name.to_owned(), SecretString::from(value));
    }
    Some(fields)
}

fn take<'a>(rest: &mut &'a [u8]) -> Option<&'a str> {
    let (length, after) = rest.split_first_chunk::<4>()?;
    let length = usize::try_from(u32::from_be_bytes(*length)).ok()?;
    let (part, after) = after.split_at_checked(length)?;
    *rest = after;
    str::from_utf8(part).ok()
}

// @doc vault/rotate.rs: Another key, and what becomes of the old one.
// @doc vault/rotate.rs:
// @doc vault/rotate.rs: 1. The new key is kept beside the old one.
// @doc vault/rotate.rs: 2. All rows are sealed with it, in one transaction.
// @doc vault/rotate.rs: 3. The old key is forgotten.
// @doc vault/rotate.rs:
// @doc vault/rotate.rs: A crash after 1 leaves both keys and rows of the old one: the next rotation takes the new key that is
// @doc vault/rotate.rs: already there. A crash after 2 leaves both keys and rows of the new one: [`SealedVault::check`]
// @doc vault/rotate.rs: forgets the old one at the next start.
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
