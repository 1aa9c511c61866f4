//! Sealing. The form of what is sealed: a byte 1, a nonce of 24 bytes, ciphertext and tag. The plain form:
//! the kind, then each field as name and value, all of them with their length before them. No JSON:
//! its reader would leave copies of secrets in memory.

use super::key::VaultKey;
use chacha20poly1305::aead::{Aead, Payload};
use chacha20poly1305::{KeyInit, XChaCha20Poly1305, XNonce};
use rand::Rng;
use secrecy::{ExposeSecret, SecretString};
use std::collections::BTreeMap;
use steward_core::credential::CredentialKind;
use steward_core::{CredentialId, TenantId};
use zeroize::Zeroizing;

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
