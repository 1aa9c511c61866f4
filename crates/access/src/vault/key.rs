//! Keys of the vault.

use argon2::{Algorithm, Argon2, Params, Version};
use base64::Engine as _;
use base64::alphabet::{STANDARD, URL_SAFE};
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use rand::Rng;
use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};
use std::fmt;
use std::sync::Arc;
use steward_core::ports::VaultError;
use zeroize::Zeroizing;

/// Length of a key, bytes.
const LENGTH: usize = 32;
/// Shortest passphrase, characters.
const SHORTEST: usize = 12;
/// What Argon2id takes: memory in KiB, passes, lanes. Changing it changes every key made of a
/// passphrase, so another cost needs another [`MADE`].
const COST: (u32, u32, u32) = (64 * 1024, 3, 1);
/// Beginning of the id of a key that was made of a passphrase; the salt and the hash follow.
const MADE: &str = "argon2id1";

/// A key: 32 bytes, wiped when dropped, and never printed.
#[derive(Clone)]
pub struct VaultKey {
    bytes: Arc<Zeroizing<[u8; LENGTH]>>,
    id: String,
}

impl VaultKey {
    /// A key of these bytes.
    pub fn new(bytes: [u8; LENGTH]) -> Self {
        let bytes = Zeroizing::new(bytes);
        Self { id: fingerprint(&bytes), bytes: Arc::new(bytes) }
    }

    /// A new random key.
    pub fn random() -> Self {
        let mut bytes = [0u8; LENGTH];
        rand::rng().fill_bytes(&mut bytes);
        Self::new(bytes)
    }

    /// A key from 32 bytes as hexadecimal or base64; `place` names where it stood, for the error.
    pub fn parse(text: &str, place: &str) -> Result<Self, VaultError> {
        let text = text.trim();
        let bytes = Zeroizing::new(decoded(text).unwrap_or_default());
        let bytes = <[u8; LENGTH]>::try_from(bytes.as_slice()).map_err(|_| {
            VaultError::Key(format!(
                "{place} holds no key: 32 bytes are needed, as 64 hexadecimal digits or in base64; \
                 `openssl rand -hex 32` makes one"
            ))
        })?;
        Ok(Self::new(bytes))
    }

    /// The key of a passphrase: Argon2id, about a tenth of a second and 64 MiB.
    pub fn from_passphrase(passphrase: &SecretString, salt: &[u8]) -> Result<Self, VaultError> {
        let text = passphrase.expose_secret();
        let length = text.chars().count();
        if length < SHORTEST {
            return Err(VaultError::Key(format!(
                "the vault's passphrase has {length} characters; choose {SHORTEST} or more"
            )));
        }
        let failed = |error: argon2::Error| VaultError::Key(format!("cannot use the passphrase: {error}"));
        let (memory, passes, lanes) = COST;
        let params = Params::new(memory, passes, lanes, Some(LENGTH)).map_err(failed)?;
        let mut bytes = Zeroizing::new([0u8; LENGTH]);
        Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
            .hash_password_into(text.as_bytes(), salt, bytes.as_mut_slice())
            .map_err(failed)?;
        Ok(Self { id: format!("{MADE}.{}.{}", hex::encode(salt), fingerprint(&bytes)), bytes: Arc::new(bytes) })
    }

    /// The salt of the key of this id, if a passphrase made it.
    pub(super) fn salt_of(id: &str) -> Option<Vec<u8>> {
        let (salt, _) = id.strip_prefix(MADE)?.strip_prefix('.')?.split_once('.')?;
        hex::decode(salt).ok()
    }

    /// Its name: a hash, which tells nothing else about it.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The bytes.
    pub(super) fn bytes(&self) -> &[u8; LENGTH] {
        &self.bytes
    }

    /// As kept in a file.
    pub(super) fn hexadecimal(&self) -> Zeroizing<String> {
        Zeroizing::new(hex::encode(self.bytes.as_slice()))
    }
}

impl fmt::Debug for VaultKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "VaultKey({})", self.id)
    }
}

fn fingerprint(bytes: &[u8; LENGTH]) -> String {
    let mut hash = Sha256::new_with_prefix(b"steward vault key id\0");
    hash.update(bytes);
    hex::encode(&hash.finalize()[..16])
}

fn decoded(text: &str) -> Option<Vec<u8>> {
    if let Ok(bytes) = hex::decode(text) {
        return Some(bytes);
    }
    let any = GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
    [STANDARD, URL_SAFE].iter().find_map(|alphabet| GeneralPurpose::new(alphabet, any).decode(text).ok())
}
