//! The vault: secrets sealed with XChaCha20-Poly1305 in the store, opened for executors only.
//!
//! * What is sealed is bound to its tenant, its credential and its key, so that rows can't be swapped.
//! * All secrets of a tenant are sealed with one key at any instant; [`SealedVault::rotate`] replaces it. A
//!   new key is kept beside the old one before anything is sealed with it, and the old one is forgotten
//!   after nothing is: no crash between can lose a secret.
//! * Keys come from a [`KeySource`]: a file, a list that somebody else keeps, or a passphrase.

mod check;
mod connection;
mod discover;
mod key_file;
mod keys;
mod sealing;

pub use key_file::FileKeys;
pub use keys::{FixedKeys, KeySource, PassphraseKeys, VaultKey};

use std::sync::{Arc, PoisonError, RwLock};

use async_trait::async_trait;
use secrecy::ExposeSecret;
use steward_core::agent::Agent;
use steward_core::credential::{Credential, CredentialKind, CredentialUse};
use steward_core::ports::{
    Clock, CredentialChange, CredentialRows, Ids, NewCredential, OpenedCredential, Page, Role, SealedCredential,
    StoreError, Vault, VaultError,
};
use steward_core::skill::CredentialWanted;
use steward_core::{CredentialId, TenantId, Timestamp};
use tokio::sync::Mutex;

use connection::of_nobody_else;
use discover::Search;
use sealing::{Fields, Owner};

// @doc vault/service.rs: The vault over its rows.
/// What [`SealedVault`] needs.
pub struct VaultDeps {
    pub rows: Arc<dyn CredentialRows>,
    pub source: Arc<dyn KeySource>,
    pub clock: Arc<dyn Clock>,
    pub ids: Arc<dyn Ids>,
}

pub struct SealedVault {
    pub(crate) rows: Arc<dyn CredentialRows>,
    pub(crate) source: Arc<dyn KeySource>,
    pub(crate) clock: Arc<dyn Clock>,
    ids: Arc<dyn Ids>,
    /// As last read from the source.
    pub(crate) held: RwLock<Vec<VaultKey>>,
    /// Held while secrets are written.
    pub(crate) writing: Mutex<()>,
}

impl SealedVault {
    /// A vault over these parts; see [`Self::check`].
    pub fn new(deps: VaultDeps) -> Self {
        Self {
            rows: deps.rows,
            source: deps.source,
            clock: deps.clock,
            ids: deps.ids,
            held: RwLock::default(),
            writing: Mutex::default(),
        }
    }

    /// Keys as they are now.
    async fn reload(&self) -> Result<Vec<VaultKey>, VaultError> {
        let keys = self.source.keys().await?;
        let mut held = self.held.write().unwrap_or_else(PoisonError::into_inner);
        held.clone_from(&keys);
        Ok(keys)
    }

    fn held(&self, id: &str) -> Option<VaultKey> {
        let held = self.held.read().unwrap_or_else(PoisonError::into_inner);
        held.iter().find(|key| key.id() == id).cloned()
    }

    /// The key of this id, read anew if it is not known.
    pub(crate) async fn key(&self, id: &str, what: &str) -> Result<VaultKey, VaultError> {
        if let Some(key) = self.held(id) {
            return Ok(key);
        }
        self.reload().await?;
        self.held(id).ok_or_else(|| VaultError::Sealed(what.to_owned()))
    }

    /// The key that a tenant's secrets are sealed with now; made if nothing was ever sealed.
    async fn sealing(&self, tenant: TenantId) -> Result<VaultKey, VaultError> {
        let first = self.rows.credential_rows(tenant, None, 1).await?;
        if let Some(row) = first.items.first() {
            return self.key(&row.key_id, "the credentials").await;
        }
        if let Some(newest) = self.reload().await?.pop() {
            return Ok(newest);
        }
        // A key that is missing is not one that was never made.
        if !self.rows.credential_keys().await?.is_empty() {
            return Err(VaultError::Sealed("the credentials".to_owned()));
        }
        let key = self.source.add().await?;
        self.reload().await?;
        Ok(key)
    }

    async fn fields(&self, tenant: TenantId, row: &SealedCredential) -> Result<Fields, VaultError> {
        let name = &row.credential.name;
        let key = self.key(&row.key_id, name).await?;
        let owner = owner(tenant, &row.credential);
        sealing::open(&key, owner, &row.sealed).ok_or_else(|| {
            VaultError::Invalid(format!(
                "the secret of {name} is damaged or was put there by somebody else; set its fields \
                 anew or restore a backup"
            ))
        })
    }

    async fn row(&self, tenant: TenantId, id: CredentialId) -> Result<SealedCredential, VaultError> {
        let row = self.rows.credential_row(tenant, id).await;
        row.map_err(|error| known(error, id))
    }
}

/// Seals the fields of a credential.
fn sealed(
    tenant: TenantId,
    key: &VaultKey,
    credential: Credential,
    fields: &Fields,
) -> Result<SealedCredential, VaultError> {
    let sealed = sealing::seal(key, owner(tenant, &credential), fields)
        .ok_or_else(|| VaultError::Invalid("the fields are too long".to_owned()))?;
    Ok(SealedCredential { credential, key_id: key.id().to_owned(), sealed })
}

fn owner(tenant: TenantId, credential: &Credential) -> Owner {
    Owner { tenant, credential: credential.id, kind: credential.kind }
}

fn known(error: StoreError, id: CredentialId) -> VaultError {
    match error {
        StoreError::NotFound(_) => VaultError::Unknown(id.to_string()),
        other => other.into(),
    }
}

/// What may be shown of the fields, and the names of the rest.
fn show(credential: &mut Credential, fields: &Fields) {
    let kind = credential.kind;
    let (shown, secret): (Vec<_>, Vec<_>) = fields.iter().partition(|(name, _)| kind.shows(name));
    credential.shown =
        shown.into_iter().map(|(name, value)| (name.clone(), value.expose_secret().to_owned())).collect();
    credential.secret = secret.into_iter().map(|(name, _)| name.clone()).collect();
}

/// An optional field that is empty is none.
fn without_empty(mut fields: Fields) -> Fields {
    fields.retain(|_, value| !value.expose_secret().is_empty());
    fields
}

#[async_trait]
impl Vault for SealedVault {
    async fn keep(&self, tenant: TenantId, new: NewCredential) -> Result<Credential, VaultError> {
        let now = self.clock.now();
        let fields = without_empty(new.fields);
        check::name(&new.name)?;
        check::description(&new.description)?;
        check::ends(new.expires_at, now)?;
        check::fields(new.kind, &fields)?;
        let mut credential = Credential {
            id: CredentialId(self.ids.next()),
            name: new.name,
            kind: new.kind,
            description: new.description,
            shown: std::collections::BTreeMap::new(),
            secret: Vec::new(),
            roles: new.roles,
            discoverable: new.discoverable,
            connection: None,
            created_at: now,
            changed_at: now,
            used_at: None,
            expires_at: new.expires_at,
        };
        show(&mut credential, &fields);
        let _writing = self.writing.lock().await;
        self.save(tenant, credential, &fields).await
    }

    async fn change(
        &self,
        tenant: TenantId,
        id: CredentialId,
        change: CredentialChange,
    ) -> Result<Credential, VaultError> {
        let now = self.clock.now();
        let _writing = self.writing.lock().await;
        let mut row = self.row(tenant, id).await?;
        of_nobody_else(&row.credential)?;
        let credential = &mut row.credential;
        if let Some(name) = change.name {
            check::name(&name)?;
            credential.name = name;
        }
        if let Some(text) = change.description {
            check::description(&text)?;
            credential.description = text;
        }
        if let Some(at) = change.expires_at {
            check::ends(at, now)?;
            credential.expires_at = at;
        }
        credential.roles = change.roles.unwrap_or(credential.roles.clone());
        credential.discoverable = change.discoverable.unwrap_or(credential.discoverable);
        if !change.fields.is_empty() {
            let mut fields = self.fields_to_change(tenant, &row, &change.fields).await?;
            fields.extend(change.fields);
            let fields = without_empty(fields);
            check::fields(row.credential.kind, &fields)?;
            show(&mut row.credential, &fields);
            // Never the same twice: a rotation tells by it whether it read what is there.
            row.credential.changed_at = now.max(Timestamp(row.credential.changed_at.0 + 1));
            return self.save(tenant, row.credential, &fields).await;
        }
        self.rows.save_credential(tenant, &row).await?;
        Ok(row.credential)
    }

    async fn remove(&self, tenant: TenantId, id: CredentialId) -> Result<(), VaultError> {
        let _writing = self.writing.lock().await;
        of_nobody_else(&self.row(tenant, id).await?.credential)?;
        let removed = self.rows.remove_credential(tenant, id).await;
        removed.map_err(|error| known(error, id))
    }

    async fn credential(&self, tenant: TenantId, id: CredentialId) -> Result<Credential, VaultError> {
        Ok(self.row(tenant, id).await?.credential)
    }

    async fn credentials(
        &self,
        tenant: TenantId,
        after: Option<&str>,
        limit: u32,
    ) -> Result<Page<Credential>, VaultError> {
        let page = self.rows.credential_rows(tenant, after, limit).await?;
        Ok(Page { items: page.items.into_iter().map(|row| row.credential).collect(), more: page.more })
    }

    async fn uses(
        &self,
        tenant: TenantId,
        id: CredentialId,
        before: Option<Timestamp>,
        limit: u32,
    ) -> Result<Page<CredentialUse>, VaultError> {
        let uses = self.rows.credential_uses(tenant, id, before, limit);
        Ok(uses.await?)
    }

    async fn discover(
        &self,
        tenant: TenantId,
        agent: &Agent,
        role: Option<Role>,
        skill: &str,
        kinds: &[CredentialKind],
        wanted: &CredentialWanted,
    ) -> Result<Option<Credential>, VaultError> {
        self.search(Search { tenant, agent, role, skill, kinds, wanted }).await
    }

    async fn open(
        &self,
        tenant: TenantId,
        id: CredentialId,
        used: CredentialUse,
    ) -> Result<OpenedCredential, VaultError> {
        let row = self.row(tenant, id).await?;
        of_nobody_else(&row.credential)?;
        let used = CredentialUse { credential: id, ..used };
        self.opened(tenant, row, used).await
    }

    async fn rotate(&self, tenant: TenantId) -> Result<u64, VaultError> {
        self.change_key(tenant).await
    }
}

fn opened(row: SealedCredential, fields: Fields) -> OpenedCredential {
    OpenedCredential { credential: row.credential, fields }
}

impl SealedVault {
    /// Opens a row, after its use is written down.
    pub(crate) async fn opened(
        &self,
        tenant: TenantId,
        row: SealedCredential,
        used: CredentialUse,
    ) -> Result<OpenedCredential, VaultError> {
        let id = row.credential.id;
        let credential = &row.credential;
        if let Some(at) = credential.expires_at.filter(|at| *at <= self.clock.now()) {
            return Err(VaultError::Invalid(format!(
                "the credential {:?} ended at {}; give it new fields and another expires_at",
                credential.name,
                at.rfc3339()
            )));
        }
        let written = self.rows.credential_used(tenant, &used).await;
        written.map_err(|error| known(error, id))?;
        match self.fields(tenant, &row).await {
            // Perhaps it was sealed anew since the row was read.
            Err(VaultError::Sealed(_)) => {
                let row = self.row(tenant, id).await?;
                let fields = self.fields(tenant, &row).await?;
                Ok(opened(row, fields))
            }
            fields => Ok(opened(row, fields?)),
        }
    }

    async fn save(&self, tenant: TenantId, credential: Credential, fields: &Fields) -> Result<Credential, VaultError> {
        let key = self.sealing(tenant).await?;
        let row = sealed(tenant, &key, credential, fields)?;
        match self.rows.save_credential(tenant, &row).await {
            Ok(()) => Ok(row.credential),
            Err(error @ StoreError::Conflict(_)) => {
                // Another process may have begun or rotated meanwhile.
                let now = self.sealing(tenant).await?;
                if now.id() == key.id() {
                    return Err(error.into());
                }
                let row = sealed(tenant, &now, row.credential, fields)?;
                self.rows.save_credential(tenant, &row).await?;
                Ok(row.credential)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// What the fields to be set are added to: nothing if all are named anyway, so that a damaged
    /// secret can be set anew.
    async fn fields_to_change(
        &self,
        tenant: TenantId,
        row: &SealedCredential,
        set: &Fields,
    ) -> Result<Fields, VaultError> {
        let credential = &row.credential;
        let mut names = credential.shown.keys().chain(&credential.secret);
        if names.all(|name| set.contains_key(name)) {
            return Ok(Fields::new());
        }
        self.fields(tenant, row).await
    }
}

#[cfg(test)]
mod tests;
