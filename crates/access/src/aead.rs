//! Sealing by XChaCha20-Poly1305: what is sealed begins with its random nonce and ends with its tag.

use chacha20poly1305::aead::{Aead, Payload};
use chacha20poly1305::{KeyInit, XChaCha20Poly1305, XNonce};
use data_encoding::BASE64;
use rand::Rng;
use uuid::Uuid;
use zeroize::Zeroizing;

use crate::Access;

const NONCE: usize = 24;

/// Only [`open`] with the same key and owner opens it again.
pub(crate) fn seal(key: &[u8; 32], owner: &[u8], plain: &[u8]) -> Option<Vec<u8>> {
    let mut nonce = [0; NONCE];
    rand::rng().fill_bytes(&mut nonce);
    let payload = Payload { msg: plain, aad: owner };
    let sealed = XChaCha20Poly1305::new(key.into()).encrypt(&XNonce::from(nonce), payload).ok()?;
    Some([nonce.as_slice(), &sealed].concat())
}

/// `None`: the key or the owner is another, or a byte has changed.
pub(crate) fn open(key: &[u8; 32], owner: &[u8], sealed: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
    let (nonce, rest) = sealed.split_first_chunk::<NONCE>()?;
    let payload = Payload { msg: rest, aad: owner };
    let plain = XChaCha20Poly1305::new(key.into()).decrypt(&XNonce::from(*nonce), payload).ok()?;
    Some(Zeroizing::new(plain))
}

/// With keys of the one that signs logins, another one for each purpose.
impl Access {
    /// In Base64.
    pub(crate) fn seal(&self, purpose: &str, id: Uuid, plain: &[u8]) -> Option<String> {
        seal(&self.tokens.derive(purpose), &self.owner(id), plain).map(|sealed| BASE64.encode(&sealed))
    }

    pub(crate) fn unseal(&self, purpose: &str, id: Uuid, sealed: &str) -> Option<Zeroizing<Vec<u8>>> {
        open(&self.tokens.derive(purpose), &self.owner(id), &BASE64.decode(sealed.as_bytes()).ok()?)
    }

    fn owner(&self, id: Uuid) -> Vec<u8> {
        [self.tenant.0.as_bytes().as_slice(), id.as_bytes()].concat()
    }
}
