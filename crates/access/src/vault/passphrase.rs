//! Keys made of a passphrase. A key's id says its salt, and each row says its key's id: whoever knows
//! the passphrase can make the key of every row, and nothing else has to be kept.

use super::key::VaultKey;
use super::source::KeySource;
use async_trait::async_trait;
use rand::Rng;
use secrecy::SecretString;
use std::sync::Arc;
use steward_core::ports::{CredentialRows, VaultError};
use tokio::sync::Mutex;

/// Length of a salt, bytes.
const SALT: usize = 16;

/// Keys of a passphrase.
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
