//! Keys of the vault.

use std::fmt;
use std::sync::Arc;

use argon2::{Algorithm, Argon2, Params, Version};
use async_trait::async_trait;
use base64::Engine as _;
use base64::alphabet::{STANDARD, URL_SAFE};
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use rand::Rng;
use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};
use steward_core::ports::{CredentialRows, VaultError};
use tokio::sync::Mutex;
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
    fn salt_of(id: &str) -> Option<Vec<u8>> {
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

// @doc vault/source.rs: Where keys come from.
#[async_trait]
pub trait KeySource: Send + Sync {
    /// All that are held, the newest last; none before the first use.
    async fn keys(&self) -> Result<Vec<VaultKey>, VaultError>;
    /// Makes a key and keeps it beside the others, as the newest. It is durable when this returns.
    async fn add(&self) -> Result<VaultKey, VaultError>;
    /// Forgets keys; those that this source doesn't keep itself stay.
    async fn retire(&self, ids: &[String]) -> Result<(), VaultError>;
    /// Where they are, for people: `file /…/vault.key`.
    fn place(&self) -> String;
}

// @doc vault/fixed.rs: Keys that somebody else keeps.
/// A list of keys, such as an environment variable holds.
#[derive(Debug)]
pub struct FixedKeys {
    keys: Vec<VaultKey>,
    place: String,
}

impl FixedKeys {
    /// Keys from `text`, separated by commas, the newest last. `place` is what people call it:
    /// `STEWARD_VAULT_KEY`.
    pub fn parse(text: &SecretString, place: &str) -> Result<Self, VaultError> {
        let keys = text.expose_secret().split(',');
        let keys = keys.map(|key| VaultKey::parse(key, place)).collect::<Result<_, _>>()?;
        Ok(Self { keys, place: place.to_owned() })
    }
}

#[async_trait]
impl KeySource for FixedKeys {
    async fn keys(&self) -> Result<Vec<VaultKey>, VaultError> {
        Ok(self.keys.clone())
    }

    async fn add(&self) -> Result<VaultKey, VaultError> {
        Err(VaultError::Key(format!(
            "the vault's key is in {0}, which Steward can't change: set {0} to the old key, a comma \
             and a new key, start Steward again, rotate, and take the old key out of {0} then",
            self.place
        )))
    }

    async fn retire(&self, _: &[String]) -> Result<(), VaultError> {
        Ok(())
    }

    fn place(&self) -> String {
        self.place.clone()
    }
}

// @doc vault/passphrase.rs: Keys made of a passphrase. A key's id says its salt, and each row says its key's id: whoever knows
// @doc vault/passphrase.rs: the passphrase can make the key of every row, and nothing else has to be kept.
/// Length of a salt, bytes.
const SALT: usize = 16;

pub struct PassphraseKeys {
    rows: Arc<dyn CredentialRows>,
    passphrase: SecretString,
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    /// Made already: each costs a tenth of a second.
    made: Vec<VaultKey>,
    /// Made here, perhaps not used in a row yet.
    newest: Option<VaultKey>,
}

impl PassphraseKeys {
    /// Keys of `passphrase`, with the salts that stand in `rows`.
    pub fn new(rows: Arc<dyn CredentialRows>, passphrase: SecretString) -> Self {
        Self { rows, passphrase, known: Mutex::default() }
    }

    async fn make(&self, salt: Vec<u8>) -> Result<VaultKey, VaultError> {
        let passphrase = self.passphrase.clone();
        tokio::task::spawn_blocking(move || VaultKey::from_passphrase(&passphrase, &salt))
            .await
            .map_err(|error| VaultError::Key(format!("cannot use the passphrase: {error}")))?
    }
}

#[async_trait]
impl KeySource for PassphraseKeys {
    async fn keys(&self) -> Result<Vec<VaultKey>, VaultError> {
        let mut known = self.known.lock().await;
        let mut keys = Vec::new();
        for id in self.rows.credential_keys().await? {
            if let Some(key) = known.made.iter().find(|key| key.id() == id) {
                keys.push(key.clone());
                continue;
            }
            // Other ids are of keys that no passphrase made.
            let Some(salt) = VaultKey::salt_of(&id) else {
                continue;
            };
            let key = self.make(salt).await?;
            if key.id() == id {
                known.made.push(key.clone());
                keys.push(key);
            }
        }
        if let Some(newest) = &known.newest {
            keys.retain(|key| key.id() != newest.id());
            keys.push(newest.clone());
        }
        Ok(keys)
    }

    async fn add(&self) -> Result<VaultKey, VaultError> {
        let mut salt = vec![0u8; SALT];
        rand::rng().fill_bytes(&mut salt);
        let key = self.make(salt).await?;
        let mut known = self.known.lock().await;
        known.made.push(key.clone());
        known.newest = Some(key.clone());
        Ok(key)
    }

    async fn retire(&self, ids: &[String]) -> Result<(), VaultError> {
        let mut known = self.known.lock().await;
        let retired = |key: &VaultKey| ids.iter().any(|id| id == key.id());
        known.made.retain(|key| !retired(key));
        known.newest = known.newest.take().filter(|key| !retired(key));
        Ok(())
    }

    fn place(&self) -> String {
        "STEWARD_VAULT_PASSPHRASE".to_owned()
    }
}
