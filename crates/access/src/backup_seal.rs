//! Seals backups piece by piece, by XChaCha20-Poly1305 with a key made of a passphrase by Argon2id. Each file has a salt
//! of its own, so no key seals two; a piece is bound to its number and to the head of its file, so that none can be left
//! out, moved, repeated or taken from another backup.

use argon2::{Algorithm, Argon2, Params, Version};
use chacha20poly1305::aead::{Aead, Payload};
use chacha20poly1305::{KeyInit, XChaCha20Poly1305, XNonce};
use rand::Rng;
use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq as _;
use zeroize::Zeroizing;

/// Memory in KiB, passes, lanes: a backup takes less than 50 MB. Another cost is another format of backups.
const COST: (u32, u32, u32) = (32 * 1024, 4, 1);
const SALT: usize = 16;
/// What tells a wrong passphrase from a damaged file, bytes.
const CHECK: usize = 16;
/// Fewest characters of a passphrase.
pub const SHORTEST_BACKUP_PASSPHRASE: usize = 12;

/// The key of one file.
pub struct BackupKey {
    bytes: Zeroizing<[u8; 32]>,
    salt: Vec<u8>,
}

impl BackupKey {
    /// With a new salt. Takes some tenths of a second. `None`: the passphrase is too short.
    pub fn make(passphrase: &SecretString) -> Option<Self> {
        if passphrase.expose_secret().chars().count() < SHORTEST_BACKUP_PASSPHRASE {
            return None;
        }
        let mut salt = vec![0; SALT];
        rand::rng().fill_bytes(&mut salt);
        Self::derive(passphrase, salt)
    }

    /// Of a file that has this salt and check; `None`: it is another passphrase.
    pub fn of(passphrase: &SecretString, salt: &str, check: &str) -> Option<Self> {
        let key = Self::derive(passphrase, hex::decode(salt).ok().filter(|salt| salt.len() == SALT)?)?;
        let same = key.check().as_bytes().ct_eq(check.as_bytes());
        bool::from(same).then_some(key)
    }

    fn derive(passphrase: &SecretString, salt: Vec<u8>) -> Option<Self> {
        let (memory, passes, lanes) = COST;
        let mut bytes = Zeroizing::new([0u8; 32]);
        let params = Params::new(memory, passes, lanes, Some(bytes.len())).ok()?;
        Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
            .hash_password_into(passphrase.expose_secret().as_bytes(), &salt, bytes.as_mut_slice())
            .ok()?;
        Some(Self { bytes, salt })
    }

    /// In hexadecimal.
    pub fn salt(&self) -> String {
        hex::encode(&self.salt)
    }

    /// Says whether a passphrase is the right one, and nothing else about it.
    pub fn check(&self) -> String {
        let mut hash = Sha256::new_with_prefix(b"steward backup check\0");
        hash.update(self.bytes.as_slice());
        hex::encode(&hash.finalize()[..CHECK])
    }

    /// Piece `number` of the file whose head has this hash. `None`: it is too long to be sealed.
    pub fn seal(&self, number: u64, head: &[u8], plain: &[u8]) -> Option<Vec<u8>> {
        let payload = Payload { msg: plain, aad: head };
        self.cipher().encrypt(&nonce(number), payload).ok()
    }

    /// `None`: a byte has changed, or it is another piece or of another file.
    pub fn open(&self, number: u64, head: &[u8], sealed: &[u8]) -> Option<Vec<u8>> {
        let payload = Payload { msg: sealed, aad: head };
        self.cipher().decrypt(&nonce(number), payload).ok()
    }

    fn cipher(&self) -> XChaCha20Poly1305 {
        XChaCha20Poly1305::new((&*self.bytes).into())
    }
}

/// No key seals two files, so the number of the piece is enough.
fn nonce(number: u64) -> XNonce {
    let mut nonce = [0; 24];
    nonce[16..].copy_from_slice(&number.to_be_bytes());
    XNonce::from(nonce)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::BackupKey;
    use secrecy::SecretString;

    #[test]
    fn only_the_same_piece_of_the_same_file_opens_with_the_same_passphrase() {
        let passphrase = SecretString::from("a heron in the reeds");
        let key = BackupKey::make(&passphrase).unwrap();
        let sealed = key.seal(3, b"head", b"some rows").unwrap();
        let again = BackupKey::of(&passphrase, &key.salt(), &key.check()).unwrap();
        assert_eq!(again.open(3, b"head", &sealed).unwrap(), b"some rows");
        assert!(again.open(4, b"head", &sealed).is_none() && again.open(3, b"other", &sealed).is_none());
        for at in 0..sealed.len() {
            let mut changed = sealed.clone();
            changed[at] ^= 1;
            assert!(again.open(3, b"head", &changed).is_none(), "{at}");
        }
        let other = SecretString::from("a heron in the weeds");
        assert!(BackupKey::of(&other, &key.salt(), &key.check()).is_none());
        assert!(BackupKey::of(&passphrase, "zz", &key.check()).is_none());
        assert!(BackupKey::make(&SecretString::from("short")).is_none());
        assert_ne!(BackupKey::make(&passphrase).unwrap().salt(), key.salt());
    }
}
