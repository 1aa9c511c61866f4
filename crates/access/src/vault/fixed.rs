//! Keys that somebody else keeps.

use super::key::VaultKey;
use super::source::KeySource;
use async_trait::async_trait;
use secrecy::{ExposeSecret, SecretString};
use steward_core::ports::VaultError;

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
