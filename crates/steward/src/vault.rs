//! The vault of this installation: where its key is, and whether it opens what is there.

use crate::settings::Settings;
use anyhow::bail;
use secrecy::SecretString;
use std::path::PathBuf;
use std::sync::Arc;
use steward_access::{FileKeys, FixedKeys, KeySource, PassphraseKeys, SealedVault, VaultDeps};
use steward_core::ports::{Clock, CredentialRows, Ids};

#[derive(Debug, Clone, Default)]
pub enum VaultKeys {
    /// `vault.key` in the data directory, created for the first credential.
    #[default]
    DataDir,
    /// This file, created likewise.
    File(PathBuf),
    /// These keys, separated by commas, the newest last.
    Keys(SecretString),
    /// Derived from this passphrase.
    Passphrase(SecretString),
}

impl VaultKeys {
    /// From `STEWARD_VAULT_KEY_FILE`, `STEWARD_VAULT_KEY` or `STEWARD_VAULT_PASSPHRASE`.
    pub fn read(variable: &dyn Fn(&str) -> Option<String>) -> anyhow::Result<Self> {
        let file = variable("STEWARD_VAULT_KEY_FILE");
        let keys = variable("STEWARD_VAULT_KEY");
        let passphrase = variable("STEWARD_VAULT_PASSPHRASE");
        Ok(match (file, keys, passphrase) {
            (None, None, None) => Self::DataDir,
            (Some(path), None, None) => Self::File(path.into()),
            (None, Some(keys), None) => Self::Keys(keys.into()),
            (None, None, Some(passphrase)) => Self::Passphrase(passphrase.into()),
            _ => bail!(
                "set only one of STEWARD_VAULT_KEY_FILE, STEWARD_VAULT_KEY and \
                 STEWARD_VAULT_PASSPHRASE"
            ),
        })
    }
}

/// The vault over its rows. A malformed key ends the start; one that opens nothing does not, since everything else
/// works without it: see [`SealedVault::check`].
pub fn open(
    settings: &Settings,
    rows: Arc<dyn CredentialRows>,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn Ids>,
) -> anyhow::Result<SealedVault> {
    let source: Arc<dyn KeySource> = match &settings.vault {
        VaultKeys::DataDir => Arc::new(FileKeys::new(settings.data_dir.join("vault.key"))),
        VaultKeys::File(path) => Arc::new(FileKeys::new(path)),
        VaultKeys::Keys(keys) => Arc::new(FixedKeys::parse(keys, "STEWARD_VAULT_KEY")?),
        VaultKeys::Passphrase(text) => Arc::new(PassphraseKeys::new(Arc::clone(&rows), text.clone())),
    };
    Ok(SealedVault::new(VaultDeps { rows, source, clock, ids }))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::VaultKeys;

    fn read(set: &[&str]) -> anyhow::Result<VaultKeys> {
        VaultKeys::read(&|name| set.contains(&name).then(|| "a-quiet-word".to_owned()))
    }

    #[test]
    fn the_key_has_one_place() {
        assert!(matches!(read(&[]).unwrap(), VaultKeys::DataDir));
        let keys = read(&["STEWARD_VAULT_KEY"]).unwrap();
        assert!(matches!(keys, VaultKeys::Keys(_)));
        assert!(!format!("{keys:?}").contains("quiet"), "{keys:?}");
        assert!(matches!(read(&["STEWARD_VAULT_KEY_FILE"]).unwrap(), VaultKeys::File(_)));
        assert!(matches!(read(&["STEWARD_VAULT_PASSPHRASE"]).unwrap(), VaultKeys::Passphrase(_)));
        let two = read(&["STEWARD_VAULT_KEY", "STEWARD_VAULT_PASSPHRASE"]);
        assert!(two.unwrap_err().to_string().contains("only one"));
    }
}
