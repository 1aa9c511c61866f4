use super::{FileKeys, FixedKeys, KeySource, PassphraseKeys};
use secrecy::SecretString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use steward_core::ports::{CredentialRows, VaultError};

#[derive(Debug, Clone, Default)]
pub enum VaultKeyPlace {
    /// `vault.key` in the data directory, made when the first credential is kept.
    #[default]
    DataDir,
    /// This file, made likewise.
    File(PathBuf),
    /// These keys, separated by commas, the newest last.
    Keys(SecretString),
    /// Made of this passphrase.
    Passphrase(SecretString),
}

impl VaultKeyPlace {
    /// Fails if more than one of `STEWARD_VAULT_KEY_FILE`, `STEWARD_VAULT_KEY` and `STEWARD_VAULT_PASSPHRASE` is set.
    pub fn read(variable: &dyn Fn(&str) -> Option<String>) -> Result<Self, String> {
        let file = variable("STEWARD_VAULT_KEY_FILE");
        let keys = variable("STEWARD_VAULT_KEY");
        let passphrase = variable("STEWARD_VAULT_PASSPHRASE");
        Ok(match (file, keys, passphrase) {
            (None, None, None) => Self::DataDir,
            (Some(path), None, None) => Self::File(path.into()),
            (None, Some(keys), None) => Self::Keys(keys.into()),
            (None, None, Some(passphrase)) => Self::Passphrase(passphrase.into()),
            _ => {
                return Err(
                    "set only one of STEWARD_VAULT_KEY_FILE, STEWARD_VAULT_KEY and STEWARD_VAULT_PASSPHRASE".to_owned()
                );
            }
        })
    }

    /// Fails if a key that stands in the settings is none.
    pub fn source(&self, data_dir: &Path, rows: &Arc<dyn CredentialRows>) -> Result<Arc<dyn KeySource>, VaultError> {
        Ok(match self {
            Self::DataDir => Arc::new(FileKeys::new(data_dir.join("vault.key"))),
            Self::File(path) => Arc::new(FileKeys::new(path)),
            Self::Keys(keys) => Arc::new(FixedKeys::parse(keys, "STEWARD_VAULT_KEY")?),
            Self::Passphrase(text) => Arc::new(PassphraseKeys::new(Arc::clone(rows), text.clone())),
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::VaultKeyPlace;

    fn read(set: &[&str]) -> Result<VaultKeyPlace, String> {
        VaultKeyPlace::read(&|name| set.contains(&name).then(|| "a-quiet-word".to_owned()))
    }

    #[test]
    fn the_key_has_one_place() {
        assert!(matches!(read(&[]).unwrap(), VaultKeyPlace::DataDir));
        let keys = read(&["STEWARD_VAULT_KEY"]).unwrap();
        assert!(matches!(keys, VaultKeyPlace::Keys(_)));
        assert!(!format!("{keys:?}").contains("quiet"), "{keys:?}");
        assert!(matches!(read(&["STEWARD_VAULT_KEY_FILE"]).unwrap(), VaultKeyPlace::File(_)));
        assert!(matches!(read(&["STEWARD_VAULT_PASSPHRASE"]).unwrap(), VaultKeyPlace::Passphrase(_)));
        let two = read(&["STEWARD_VAULT_KEY", "STEWARD_VAULT_PASSPHRASE"]);
        assert!(two.unwrap_err().contains("only one"));
    }
}
