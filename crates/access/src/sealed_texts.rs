//! Texts that wait for who had them masked, sealed with a key of the one that signs logins.

use chacha20poly1305::aead::{Aead, Payload};
use chacha20poly1305::{KeyInit, XChaCha20Poly1305, XNonce};
use data_encoding::BASE64;
use steward_core::ports::LoginError;
use uuid::Uuid;

use super::{Access, secrets};

/// Of the texts; another purpose has another key.
const PURPOSE: &str = "masked texts";
const NONCE: usize = 24;

impl Access {
    /// Only [`Self::open_text`] with the same id opens it again.
    pub fn seal_text(&self, id: Uuid, text: &str) -> Result<String, LoginError> {
        let nonce: [u8; NONCE] = secrets::random(NONCE).try_into().map_err(|_| damaged())?;
        let payload = Payload { msg: text.as_bytes(), aad: &self.text_owner(id) };
        let sealed = self.text_cipher().encrypt(&XNonce::from(nonce), payload).map_err(|_| damaged())?;
        Ok(BASE64.encode(&[nonce.as_slice(), &sealed].concat()))
    }

    pub fn open_text(&self, id: Uuid, sealed: &str) -> Result<String, LoginError> {
        let sealed = BASE64.decode(sealed.as_bytes()).map_err(|_| damaged())?;
        let (nonce, rest) = sealed.split_first_chunk::<NONCE>().ok_or_else(damaged)?;
        let payload = Payload { msg: rest, aad: &self.text_owner(id) };
        let plain = self.text_cipher().decrypt(&XNonce::from(*nonce), payload).map_err(|_| damaged())?;
        String::from_utf8(plain).map_err(|_| damaged())
    }

    fn text_cipher(&self) -> XChaCha20Poly1305 {
        XChaCha20Poly1305::new((&*self.tokens.derive(PURPOSE)).into())
    }

    fn text_owner(&self, id: Uuid) -> Vec<u8> {
        [self.tenant.0.as_bytes().as_slice(), id.as_bytes()].concat()
    }
}

fn damaged() -> LoginError {
    LoginError::Unavailable("it can't be opened with the key that signs logins; have the text masked again".to_owned())
}
