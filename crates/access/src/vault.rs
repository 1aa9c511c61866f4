//! The vault: secrets sealed with XChaCha20-Poly1305 in the store, and opened for executors only.
//! A sealed secret is bound to its tenant, its credential and its key, so that rows can't be swapped.

mod connection;
mod discover;
mod key_file;
mod key_place;
mod keys;
mod sealing;

pub use key_file::FileKeys;
pub use key_place::VaultKeyPlace;
pub use keys::{FixedKeys, KeySource, PassphraseKeys, VaultKey};

use std::sync::{Arc, RwLock};

use async_trait::async_trait;
use secrecy::ExposeSecret;
use steward_core::agent::Agent;
use steward_core::credential::{Credential, CredentialKind, CredentialUse, is_host_pattern};
use steward_core::ports::{
    Clock, CredentialChange, CredentialRows, Ids, NewCredential, OpenedCredential, Page, RunUser, SealedCredential,
    StoreError, Vault, VaultError,
};
use steward_core::skill::CredentialWanted;
use steward_core::{CredentialId, TenantId, Timestamp};
use tokio::sync::Mutex;

use connection::check_no_connection;
use discover::CredentialQuery;
use sealing::Fields;

pub struct VaultDeps {
    pub rows: Arc<dyn CredentialRows>,
    pub source: Arc<dyn KeySource>,
    pub clock: Arc<dyn Clock>,
    pub ids: Arc<dyn Ids>,
}

pub struct SealedVault {
    deps: VaultDeps,
    keyring: RwLock<Vec<VaultKey>>,
    /// Held while secrets are written.
    writing: Mutex<()>,
}

impl SealedVault {
    /// Call [`Self::check`] next.
    pub fn new(deps: VaultDeps) -> Self {
        Self { deps, keyring: RwLock::default(), writing: Mutex::default() }
    }
}

/// Sets what may be shown of the fields, and the names of the others.
fn show(credential: &mut Credential, fields: &Fields) {
    let kind = credential.kind;
    let (shown, secret): (Vec<_>, Vec<_>) = fields.iter().partition(|(name, _)| kind.shows(name));
    credential.shown =
        shown.into_iter().map(|(name, value)| (name.clone(), value.expose_secret().to_owned())).collect();
    credential.secret = secret.into_iter().map(|(name, _)| name.clone()).collect();
}

/// Leaves out empty fields, which are optional ones not given.
fn without_empty(mut fields: Fields) -> Fields {
    fields.retain(|_, value| !value.expose_secret().is_empty());
    fields
}

#[async_trait]
impl Vault for SealedVault {
    async fn keep(&self, tenant: TenantId, new: NewCredential) -> Result<Credential, VaultError> {
        let now = self.deps.clock.now();
        let fields = without_empty(new.fields);
        check_name(&new.name)?;
        check_description(&new.description)?;
        check_expiry(new.expires_at, now)?;
        check_fields(new.kind, &fields)?;
        let mut credential = Credential {
            id: CredentialId(self.deps.ids.next()),
            name: new.name,
            kind: new.kind,
            description: new.description,
            shown: std::collections::BTreeMap::new(),
            secret: Vec::new(),
            roles: new.roles,
            discoverable: new.discoverable,
            hosts: known_hosts(new.hosts)?,
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
        let now = self.deps.clock.now();
        let _writing = self.writing.lock().await;
        let mut row = self.row(tenant, id).await?;
        check_no_connection(&row.credential)?;
        let credential = &mut row.credential;
        if let Some(name) = change.name {
            check_name(&name)?;
            credential.name = name;
        }
        if let Some(text) = change.description {
            check_description(&text)?;
            credential.description = text;
        }
        if let Some(at) = change.expires_at {
            check_expiry(at, now)?;
            credential.expires_at = at;
        }
        credential.roles = change.roles.unwrap_or(credential.roles.clone());
        credential.discoverable = change.discoverable.unwrap_or(credential.discoverable);
        if let Some(hosts) = change.hosts {
            credential.hosts = known_hosts(hosts)?;
        }
        if !change.fields.is_empty() {
            let mut fields = self.fields_to_change(tenant, &row, &change.fields).await?;
            fields.extend(change.fields);
            let fields = without_empty(fields);
            check_fields(row.credential.kind, &fields)?;
            show(&mut row.credential, &fields);
            // Never the same twice: by it a rotation sees whether what it read is still there.
            row.credential.changed_at = now.max(Timestamp(row.credential.changed_at.0 + 1));
            return self.save(tenant, row.credential, &fields).await;
        }
        self.deps.rows.save_credential(tenant, &row).await?;
        Ok(row.credential)
    }

    async fn remove(&self, tenant: TenantId, id: CredentialId) -> Result<(), VaultError> {
        let _writing = self.writing.lock().await;
        check_no_connection(&self.row(tenant, id).await?.credential)?;
        let removed = self.deps.rows.remove_credential(tenant, id).await;
        removed.map_err(|error| not_found(error, id))
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
        let page = self.deps.rows.credential_rows(tenant, after, limit).await?;
        Ok(Page { items: page.items.into_iter().map(|row| row.credential).collect(), more: page.more })
    }

    async fn uses(
        &self,
        tenant: TenantId,
        id: CredentialId,
        before: Option<Timestamp>,
        limit: u32,
    ) -> Result<Page<CredentialUse>, VaultError> {
        let uses = self.deps.rows.credential_uses(tenant, id, before, limit);
        Ok(uses.await?)
    }

    async fn discover(
        &self,
        tenant: TenantId,
        agent: &Agent,
        user: Option<&RunUser>,
        skill: &str,
        kinds: &[CredentialKind],
        wanted: &CredentialWanted,
    ) -> Result<Option<Credential>, VaultError> {
        self.search(CredentialQuery { tenant, agent, user, skill, kinds, wanted }).await
    }

    async fn open(
        &self,
        tenant: TenantId,
        id: CredentialId,
        used: CredentialUse,
    ) -> Result<OpenedCredential, VaultError> {
        let row = self.row(tenant, id).await?;
        check_no_connection(&row.credential)?;
        let used = CredentialUse { credential: id, ..used };
        self.open_row(tenant, row, used).await
    }

    async fn rotate(&self, tenant: TenantId) -> Result<u64, VaultError> {
        self.rotate_key(tenant).await
    }
}

impl SealedVault {
    async fn row(&self, tenant: TenantId, id: CredentialId) -> Result<SealedCredential, VaultError> {
        let row = self.deps.rows.credential_row(tenant, id).await;
        row.map_err(|error| not_found(error, id))
    }

    /// Opens a row, after its use is recorded.
    async fn open_row(
        &self,
        tenant: TenantId,
        row: SealedCredential,
        used: CredentialUse,
    ) -> Result<OpenedCredential, VaultError> {
        let id = row.credential.id;
        let credential = &row.credential;
        if let Some(at) = credential.expires_at.filter(|at| *at <= self.deps.clock.now()) {
            return Err(VaultError::Invalid(format!(
                "the credential {:?} ended at {}; give it new fields and another expires_at",
                credential.name,
                at.rfc3339()
            )));
        }
        let written = self.deps.rows.credential_used(tenant, &used, self.deps.ids.next()).await;
        written.map_err(|error| not_found(error, id))?;
        match self.fields(tenant, &row).await {
            // Perhaps it was sealed anew since the row was read.
            Err(VaultError::Sealed(_)) => {
                let row = self.row(tenant, id).await?;
                let fields = self.fields(tenant, &row).await?;
                Ok(OpenedCredential { credential: row.credential, fields })
            }
            fields => Ok(OpenedCredential { fields: fields?, credential: row.credential }),
        }
    }

    /// The fields that `set` is added to. None are read if all are set, so that a damaged secret can be replaced.
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

fn not_found(error: StoreError, id: CredentialId) -> VaultError {
    match error {
        StoreError::NotFound(_) => VaultError::Unknown(id.to_string()),
        other => other.into(),
    }
}

/// In characters.
const LONGEST_NAME: usize = 128;
/// In characters.
const LONGEST_DESCRIPTION: usize = 2000;
const MOST_FIELDS: usize = 32;
/// In bytes.
const LARGEST_VALUE: usize = 64 * 1024;

fn invalid<T>(message: String) -> Result<T, VaultError> {
    Err(VaultError::Invalid(message))
}

fn check_name(name: &str) -> Result<(), VaultError> {
    let length = name.chars().count();
    if length == 0 || length > LONGEST_NAME || name.trim() != name || name.chars().any(char::is_control) {
        return invalid(format!(
            "{name:?} is no name for a credential; choose 1 to {LONGEST_NAME} characters on one line, with no \
             space at the ends"
        ));
    }
    Ok(())
}

fn check_description(text: &str) -> Result<(), VaultError> {
    let length = text.chars().count();
    if length > LONGEST_DESCRIPTION {
        return invalid(format!("the description has {length} characters; {LONGEST_DESCRIPTION} are the most"));
    }
    Ok(())
}

fn check_expiry(at: Option<Timestamp>, now: Timestamp) -> Result<(), VaultError> {
    match at {
        Some(at) if at <= now => {
            invalid(format!("expires_at is {}, which is over; choose a later time, or leave it out", at.rfc3339()))
        }
        _ => Ok(()),
    }
}

const MOST_HOSTS: usize = 50;

/// In lower case, each once.
fn known_hosts(hosts: Vec<String>) -> Result<Vec<String>, VaultError> {
    let mut known: Vec<String> = hosts.into_iter().map(|host| host.trim().to_lowercase()).collect();
    known.sort();
    known.dedup();
    if known.len() > MOST_HOSTS {
        return invalid(format!("a credential names {MOST_HOSTS} hosts at most; use *.example.org for all below one"));
    }
    match known.iter().find(|host| !is_host_pattern(host)) {
        Some(host) => invalid(format!(
            "{host:?} is no host; write api.example.org, *.example.org or 10.0.0.5:5432, without https:// and path"
        )),
        None => Ok(known),
    }
}

fn check_fields(kind: CredentialKind, fields: &Fields) -> Result<(), VaultError> {
    let word = kind.as_str();
    if fields.len() > MOST_FIELDS {
        return invalid(format!("a credential has {MOST_FIELDS} fields at most"));
    }
    for (name, value) in fields {
        let known = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_';
        if name.is_empty() || name.len() > 64 || !name.bytes().all(known) {
            return invalid(format!("{name:?} is no name for a field; use a to z, 0 to 9 and _, 64 at most"));
        }
        let size = value.expose_secret().len();
        if size > LARGEST_VALUE {
            return invalid(format!("the field {name} has {size} bytes; {LARGEST_VALUE} are the most"));
        }
    }
    for field in kind.fields().iter().filter(|field| field.required) {
        if text_field(fields, field.name).is_none() {
            let all: Vec<_> = kind.fields().iter().map(|field| field.name).collect();
            return invalid(format!(
                "a credential of kind {word} needs the field {}; its fields are {}",
                field.name,
                all.join(", ")
            ));
        }
    }
    check_form(kind, fields)
}

fn text_field<'a>(fields: &'a Fields, name: &str) -> Option<&'a str> {
    let value = fields.get(name)?.expose_secret();
    (!value.trim().is_empty()).then_some(value)
}

fn check_form(kind: CredentialKind, fields: &Fields) -> Result<(), VaultError> {
    let pem = |name: &str, label: &str| match text_field(fields, name) {
        Some(value) if !(value.contains("-----BEGIN ") && value.contains(label)) => {
            invalid(format!("the field {name} is not PEM: it begins with -----BEGIN … {label}"))
        }
        _ => Ok(()),
    };
    match kind {
        CredentialKind::SshKey => pem("private_key", "PRIVATE KEY-----"),
        CredentialKind::Certificate => {
            pem("certificate", "CERTIFICATE-----")?;
            pem("private_key", "PRIVATE KEY-----")
        }
        CredentialKind::ApiKey => check_header(fields),
        CredentialKind::Oauth2 => match text_field(fields, "token_url") {
            Some(url) if !url.starts_with("https://") && !url.starts_with("http://") => {
                invalid("the field token_url is no address; it begins with https://".to_owned())
            }
            _ => Ok(()),
        },
        CredentialKind::Database => check_database(fields),
        CredentialKind::Password | CredentialKind::Token => Ok(()),
    }
}

fn check_header(fields: &Fields) -> Result<(), VaultError> {
    let token = |b: u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b);
    match text_field(fields, "header") {
        Some(name) if !name.bytes().all(token) => {
            invalid(format!("{name:?} is no name of an HTTP header; an example is X-Api-Key"))
        }
        _ => Ok(()),
    }
}

fn check_database(fields: &Fields) -> Result<(), VaultError> {
    if text_field(fields, "url").is_some() {
        return Ok(());
    }
    let Some(engine) = text_field(fields, "engine") else {
        return invalid("a credential of kind database needs the field url, or engine, host and database".to_owned());
    };
    if engine != "sqlite" && text_field(fields, "host").is_none() {
        return invalid(format!("a database credential for {engine} needs the field host"));
    }
    match text_field(fields, "port") {
        Some(port) if port.parse::<u16>().is_ok_and(|port| port > 0) => Ok(()),
        None => Ok(()),
        Some(_) => invalid("the field port is no number from 1 to 65535".to_owned()),
    }
}

#[cfg(test)]
mod tests;
