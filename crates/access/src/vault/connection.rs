//! Keys of connections, and the secrets of logins and webhooks: credentials under the ids of what they belong to, which are
//! opened for that only.

use std::collections::BTreeMap;

use async_trait::async_trait;
use secrecy::SecretString;
use steward_core::credential::{Credential, CredentialKind, CredentialUse};
use steward_core::model::KEY_FIELD;
use steward_core::ports::{
    AutomationSecrets, ConnectionKeys, LoginSecrets, OpenedCredential, SealedCredential, StoreError, VaultError,
};
use steward_core::{ConnectionId, CredentialId, TenantId, Timestamp};

use uuid::Uuid;

use super::sealing::Fields;
use super::{SealedVault, check_fields, check_name, show, without_empty};

/// Named in the list of uses.
const TOOL: &str = "model";
const LOGIN_TOOL: &str = "login";
const AUTOMATION_TOOL: &str = "webhook";

impl SealedVault {
    /// `None`: no key is kept for the connection.
    async fn key_row(
        &self,
        tenant: TenantId,
        connection: ConnectionId,
    ) -> Result<Option<SealedCredential>, VaultError> {
        match self.deps.rows.credential_row(tenant, CredentialId(connection.0)).await {
            Ok(row) => Ok(Some(row).filter(|row| row.credential.connection == Some(connection))),
            Err(StoreError::NotFound(_)) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Empty `fields` leave the key unchanged.
    async fn keep_under(
        &self,
        tenant: TenantId,
        owner: ConnectionId,
        name: String,
        fields: Fields,
    ) -> Result<(), VaultError> {
        let now = self.deps.clock.now();
        check_name(&name)?;
        let _writing = self.writing.lock().await;
        let before = self.key_row(tenant, owner).await?;
        if fields.is_empty() {
            if let Some(mut row) = before.filter(|row| row.credential.name != name) {
                row.credential.name = name;
                self.deps.rows.save_credential(tenant, &row).await?;
            }
            return Ok(());
        }
        let fields = without_empty(fields);
        check_fields(CredentialKind::ApiKey, &fields)?;
        let before = before.map(|row| row.credential);
        let made = before.as_ref().map_or(now, |one| one.created_at);
        // Never the same twice: by it a rotation sees whether what it read is still there.
        let changed = before.as_ref().map_or(now, |one| now.max(Timestamp(one.changed_at.0 + 1)));
        let mut credential = Credential {
            id: CredentialId(owner.0),
            name,
            kind: CredentialKind::ApiKey,
            description: String::new(),
            shown: BTreeMap::new(),
            secret: Vec::new(),
            roles: Vec::new(),
            discoverable: false,
            hosts: Vec::new(),
            connection: Some(owner),
            created_at: made,
            changed_at: changed,
            used_at: before.and_then(|one| one.used_at),
            expires_at: None,
        };
        show(&mut credential, &fields);
        self.save(tenant, credential, &fields).await?;
        Ok(())
    }

    /// Outside of a run.
    async fn open_under(
        &self,
        tenant: TenantId,
        row: SealedCredential,
        tool: &str,
    ) -> Result<OpenedCredential, VaultError> {
        let (credential, at) = (row.credential.id, self.deps.clock.now());
        let used = CredentialUse { credential, run: None, agent: None, tool: tool.to_owned(), at };
        self.open_row(tenant, row, used).await
    }

    async fn remove_under(&self, tenant: TenantId, owner: ConnectionId) -> Result<(), VaultError> {
        let _writing = self.writing.lock().await;
        match self.key_row(tenant, owner).await? {
            Some(row) => Ok(self.deps.rows.remove_credential(tenant, row.credential.id).await?),
            None => Ok(()),
        }
    }
}

/// Refuses the key of a connection, which only [`ConnectionKeys`] opens and changes.
pub(super) fn check_no_connection(credential: &Credential) -> Result<(), VaultError> {
    match credential.connection {
        Some(_) => Err(VaultError::OfConnection(format!("{:?}", credential.name))),
        None => Ok(()),
    }
}

#[async_trait]
impl ConnectionKeys for SealedVault {
    async fn keep_key(
        &self,
        tenant: TenantId,
        connection: ConnectionId,
        name: &str,
        fields: Fields,
    ) -> Result<(), VaultError> {
        self.keep_under(tenant, connection, format!("connection {name}"), fields).await
    }

    async fn open_key(&self, tenant: TenantId, connection: ConnectionId) -> Result<OpenedCredential, VaultError> {
        let row = self.key_row(tenant, connection).await?;
        let row =
            row.ok_or_else(|| VaultError::Missing("no key is kept for this connection; give it one".to_owned()))?;
        self.open_under(tenant, row, TOOL).await
    }

    async fn remove_key(&self, tenant: TenantId, connection: ConnectionId) -> Result<(), VaultError> {
        self.remove_under(tenant, connection).await
    }
}

#[async_trait]
impl AutomationSecrets for SealedVault {
    async fn keep_secrets(
        &self,
        tenant: TenantId,
        id: Uuid,
        what: &str,
        secrets: SecretString,
    ) -> Result<(), VaultError> {
        let fields = Fields::from([(KEY_FIELD.to_owned(), secrets)]);
        self.keep_under(tenant, ConnectionId(id), format!("{what} {id}"), fields).await
    }

    async fn kept_secrets(&self, tenant: TenantId, id: Uuid) -> Result<Option<SecretString>, VaultError> {
        let Some(row) = self.key_row(tenant, ConnectionId(id)).await? else {
            return Ok(None);
        };
        Ok(self.open_under(tenant, row, AUTOMATION_TOOL).await?.fields.remove(KEY_FIELD))
    }

    async fn remove_secrets(&self, tenant: TenantId, id: Uuid) -> Result<(), VaultError> {
        self.remove_under(tenant, ConnectionId(id)).await
    }
}

#[async_trait]
impl LoginSecrets for SealedVault {
    async fn keep_login_secret(
        &self,
        tenant: TenantId,
        id: Uuid,
        name: &str,
        secret: SecretString,
    ) -> Result<(), VaultError> {
        let fields = Fields::from([(KEY_FIELD.to_owned(), secret)]);
        self.keep_under(tenant, ConnectionId(id), format!("login {name}"), fields).await
    }

    async fn login_secret(&self, tenant: TenantId, id: Uuid) -> Result<Option<SecretString>, VaultError> {
        let Some(row) = self.key_row(tenant, ConnectionId(id)).await? else {
            return Ok(None);
        };
        Ok(self.open_under(tenant, row, LOGIN_TOOL).await?.fields.remove(KEY_FIELD))
    }

    async fn remove_login_secret(&self, tenant: TenantId, id: Uuid) -> Result<(), VaultError> {
        self.remove_under(tenant, ConnectionId(id)).await
    }
}
