//! Sealing by XChaCha20-Poly1305: what is sealed begins with its random nonce and ends with its tag.

use chacha20poly1305::aead::{Aead, Payload};
use chacha20poly1305::{KeyInit, XChaCha20Poly1305, XNonce};
use data_encoding::BASE64;
use rand::Rng;
use steward_core::ports::LoginError;
use uuid::Uuid;
use zeroize::Zeroizing;

use crate::Access;

const NONCE: usize = 24;
/// A purpose, which has a key of its own.
const MASKED_TEXTS: &str = "masked texts";

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

    /// A text that waits for who had it masked. Only [`Self::open_text`] with the same id opens it again.
    pub fn seal_text(&self, id: Uuid, text: &str) -> Result<String, LoginError> {
        self.seal(MASKED_TEXTS, id, text.as_bytes()).ok_or_else(damaged)
    }

    pub fn open_text(&self, id: Uuid, sealed: &str) -> Result<String, LoginError> {
        let plain = self.unseal(MASKED_TEXTS, id, sealed).ok_or_else(damaged)?;
        str::from_utf8(&plain).map(str::to_owned).map_err(|_| damaged())
    }

    fn owner(&self, id: Uuid) -> Vec<u8> {
        [self.tenant.0.as_bytes().as_slice(), id.as_bytes()].concat()
    }
}

fn damaged() -> LoginError {
    LoginError::Unavailable("it can't be opened with the key that signs logins; have the text masked again".to_owned())
}
