//! A vault over a store in a temporary folder and a file of keys.

use std::collections::BTreeMap;
use std::sync::Arc;

use secrecy::{ExposeSecret, SecretString};
use steward_core::credential::{Credential, CredentialKind, CredentialUse};
use steward_core::ports::{CredentialRows, NewCredential, OpenedCredential, Vault, VaultError};
use steward_core::{CredentialId, TenantId, Timestamp};
use steward_infra::FileBlobs;
use steward_store::{Store, StoreConfig};
use steward_testkit::{FakeClock, SeqIds};
use tempfile::TempDir;

use crate::vault::{FileKeys, KeySource, SealedVault, VaultDeps};

pub const TENANT: TenantId = TenantId::DEFAULT;

pub struct Bed {
    pub dir: TempDir,
    pub data: TempDir,
    pub rows: Arc<Store>,
    pub clock: Arc<FakeClock>,
    ids: Arc<SeqIds>,
}

impl Bed {
    pub async fn new() -> Self {
        let data = TempDir::new().unwrap();
        let blobs = Arc::new(FileBlobs::new(data.path()));
        let rows = Arc::new(Store::open(StoreConfig::sqlite(data.path()), blobs).await.unwrap());
        Self { dir: TempDir::new().unwrap(), data, rows, clock: Arc::default(), ids: Arc::default() }
    }

    /// So many seconds from now.
    pub fn clock_plus(&self, seconds: u64) -> Timestamp {
        let now = steward_core::ports::Clock::now(&*self.clock);
        now.plus(std::time::Duration::from_secs(seconds))
    }

    pub fn file(&self) -> FileKeys {
        FileKeys::new(self.dir.path().join("vault.key"))
    }

    /// The vault as a start of the program makes it.
    pub fn vault(&self) -> SealedVault {
        self.vault_of(Arc::new(self.file()), self.rows.clone())
    }

    pub fn vault_of(&self, source: Arc<dyn KeySource>, rows: Arc<dyn CredentialRows>) -> SealedVault {
        SealedVault::new(VaultDeps { rows, source, clock: self.clock.clone(), ids: self.ids.clone() })
    }
}

pub fn fields(fields: &[(&str, &str)]) -> BTreeMap<String, SecretString> {
    let pairs = fields.iter();
    pairs.map(|(name, value)| ((*name).to_owned(), SecretString::from(*value))).collect()
}

pub fn new(name: &str, kind: CredentialKind, of: &[(&str, &str)]) -> NewCredential {
    NewCredential {
        name: name.to_owned(),
        kind,
        description: String::new(),
        fields: fields(of),
        roles: Vec::new(),
        discoverable: false,
        hosts: Vec::new(),
        expires_at: None,
    }
}

pub fn token(name: &str, token: &str) -> NewCredential {
    new(name, CredentialKind::Token, &[("token", token)])
}

pub fn used(id: CredentialId) -> CredentialUse {
    CredentialUse { credential: id, run: None, agent: None, tool: "t".to_owned(), at: Timestamp(5) }
}

pub async fn open(vault: &impl Vault, credential: &Credential) -> Result<OpenedCredential, VaultError> {
    vault.open(TENANT, credential.id, used(credential.id)).await
}

/// The value of a field.
pub async fn secret(vault: &impl Vault, credential: &Credential, field: &str) -> String {
    let opened = open(vault, credential).await.unwrap();
    opened.fields[field].expose_secret().to_owned()
}
