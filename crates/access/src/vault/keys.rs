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

/// In bytes.
const LENGTH: usize = 32;
/// In characters.
const SHORTEST: usize = 12;
/// Memory in KiB, passes and lanes of Argon2id. Another cost derives other keys, so it needs another [`MADE`].
const COST: (u32, u32, u32) = (64 * 1024, 3, 1);
/// Begins the id of a key made from a passphrase; the salt and the hash follow.
const MADE: &str = "argon2id1";

/// 32 bytes, wiped when dropped and never printed.
#[derive(Clone)]
pub struct VaultKey {
    bytes: Arc<Zeroizing<[u8; LENGTH]>>,
    id: String,
}

impl VaultKey {
    pub fn new(bytes: [u8; LENGTH]) -> Self {
        let bytes = Zeroizing::new(bytes);
        Self { id: fingerprint(&bytes), bytes: Arc::new(bytes) }
    }

    pub fn random() -> Self {
        let mut bytes = [0u8; LENGTH];
        rand::rng().fill_bytes(&mut bytes);
        Self::new(bytes)
    }

    /// Reads 32 bytes in hexadecimal or base64. `place` says in errors where the text stood.
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

    /// Derives the key by Argon2id, which takes about a tenth of a second and 64 MiB.
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

    /// The salt in the id of a key, if the key was made from a passphrase.
    fn salt_of(id: &str) -> Option<Vec<u8>> {
        let (salt, _) = id.strip_prefix(MADE)?.strip_prefix('.')?.split_once('.')?;
        hex::decode(salt).ok()
    }

    /// A hash, which tells nothing else about the key.
    pub fn id(&self) -> &str {
        &self.id
    }

    pub(super) fn bytes(&self) -> &[u8; LENGTH] {
        &self.bytes
    }

    /// The form in which it is kept in a file.
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

#[async_trait]
pub trait KeySource: Send + Sync {
    /// All keys, the newest last; none before the first use.
    async fn keys(&self) -> Result<Vec<VaultKey>, VaultError>;
    /// Creates a key and keeps it beside the others, as the newest. It is durable when this returns.
    async fn add(&self) -> Result<VaultKey, VaultError>;
    /// Forgets keys; a source that does not keep its keys itself does nothing.
    async fn retire(&self, ids: &[String]) -> Result<(), VaultError>;
    /// Where the keys are, for people: `file /…/vault.key`.
    fn place(&self) -> String;
}

/// Keys that somebody else keeps, such as in an environment variable.
#[derive(Debug)]
pub struct FixedKeys {
    keys: Vec<VaultKey>,
    place: String,
}

impl FixedKeys {
    /// Reads keys separated by commas, the newest last. `place` is their name for people, such as `STEWARD_VAULT_KEY`.
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

/// In bytes.
const SALT: usize = 16;

pub struct PassphraseKeys {
    rows: Arc<dyn CredentialRows>,
    passphrase: SecretString,
    cache: Mutex<MadeKeys>,
}

#[derive(Default)]
struct MadeKeys {
    /// Keys that were derived before, since each takes a tenth of a second.
    made: Vec<VaultKey>,
    /// Created here, and perhaps not used in a row yet.
    newest: Option<VaultKey>,
}

impl PassphraseKeys {
    /// The salts are in the ids of the keys of `rows`, so nothing but the passphrase has to be kept.
    pub fn new(rows: Arc<dyn CredentialRows>, passphrase: SecretString) -> Self {
        Self { rows, passphrase, cache: Mutex::default() }
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
        let mut cache = self.cache.lock().await;
        let mut keys = Vec::new();
        for id in self.rows.credential_keys().await? {
            if let Some(key) = cache.made.iter().find(|key| key.id() == id) {
                keys.push(key.clone());
                continue;
            }
            // Other ids are of keys that no passphrase made.
            let Some(salt) = VaultKey::salt_of(&id) else {
                continue;
            };
            let key = self.make(salt).await?;
            if key.id() == id {
                cache.made.push(key.clone());
                keys.push(key);
            }
        }
        if let Some(newest) = &cache.newest {
            keys.retain(|key| key.id() != newest.id());
            keys.push(newest.clone());
        }
        Ok(keys)
    }

    async fn add(&self) -> Result<VaultKey, VaultError> {
        let mut salt = vec![0u8; SALT];
        rand::rng().fill_bytes(&mut salt);
        let key = self.make(salt).await?;
        let mut cache = self.cache.lock().await;
        cache.made.push(key.clone());
        cache.newest = Some(key.clone());
        Ok(key)
    }

    async fn retire(&self, ids: &[String]) -> Result<(), VaultError> {
        let mut cache = self.cache.lock().await;
        let retired = |key: &VaultKey| ids.iter().any(|id| id == key.id());
        cache.made.retain(|key| !retired(key));
        cache.newest = cache.newest.take().filter(|key| !retired(key));
        Ok(())
    }

    fn place(&self) -> String {
        "STEWARD_VAULT_PASSPHRASE".to_owned()
    }
}
