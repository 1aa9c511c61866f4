//! Providers and the directory are made, changed and removed, with their secrets in the vault.

use secrecy::{ExposeSecret, SecretString};
use serde_json::{Value, json};
use steward_core::ports::StoreResult;
use steward_core::scim::SCIM_SOURCE;
use steward_core::sign_on::{DIRECTORY_SETTING, Directory, OidcProvider, PROVIDERS_SETTING};
use uuid::Uuid;

use super::directory::check_directory;
use super::external::DIRECTORY_SOURCE;
use super::oidc::{KnownProviders, check_issuer};
use super::saved::{SavedDirectory, SavedProvider, Tried};
use super::{Access, AccessError};

/// Most of an installation.
const MAX_PROVIDERS: usize = 20;
const MAX_NAME: usize = 40;
/// The name under which the directory's secret is kept.
const DIRECTORY: &str = "directory";

impl Access {
    /// What a provider with these settings says of itself, whether they are saved or not.
    pub async fn try_provider(&self, settings: &OidcProvider) -> Result<Tried, AccessError> {
        AccessError::refuse(settings.problem())?;
        check_issuer(settings)?;
        Ok(match KnownProviders::look(settings, self.clock.now()).await {
            Ok(found) => Tried { works: true, found },
            Err(why) => Tried::failed(why),
        })
    }

    /// Makes or replaces it; without a `secret` the one before stays, an empty one ends it.
    pub async fn save_provider(
        &self,
        name: &str,
        settings: OidcProvider,
        secret: Option<SecretString>,
    ) -> Result<SavedProvider, AccessError> {
        let letters = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        if name.is_empty() || name.len() > MAX_NAME || !name.chars().all(letters) {
            return Err(AccessError::invalid(
                "name",
                format!("`{name}` is no name for a provider; use 1 to {MAX_NAME} lower-case letters, digits and -"),
            ));
        }
        // Groups say by such a name who keeps them.
        if [SCIM_SOURCE, DIRECTORY_SOURCE].contains(&name) {
            return Err(AccessError::invalid(
                "name",
                format!("`{name}` is kept for what is no provider; take another name"),
            ));
        }
        AccessError::refuse(settings.problem())?;
        check_issuer(&settings)?;
        let _changing = self.changing_providers.lock().await;
        let mut all = self.providers().await?;
        let before = all.iter().position(|one| one.name == name);
        if before.is_none() && all.len() >= MAX_PROVIDERS {
            return Err(AccessError::invalid("name", format!("there are {MAX_PROVIDERS} providers already")));
        }
        let same_issuer = |one: &&SavedProvider| one.name != name && one.settings.issuer == settings.issuer;
        if let Some(other) = all.iter().find(same_issuer) {
            return Err(AccessError::invalid("issuer", format!("the provider {} has this issuer", other.name)));
        }
        let before = before.map(|at| all.remove(at));
        let id = before.as_ref().map_or_else(|| self.ids.next(), |one| one.id);
        let had = before.is_some_and(|one| one.has_secret);
        let has_secret = self.keep_secret(id, name, secret, had).await?;
        let saved = SavedProvider { id, name: name.to_owned(), settings, has_secret };
        all.push(saved.clone());
        all.sort_by(|one, other| one.name.cmp(&other.name));
        self.set_saved(PROVIDERS_SETTING, &json!(all)).await?;
        self.oidc.forget(&saved.settings.issuer);
        Ok(saved)
    }

    /// Accounts that came by it stay, but can't log in with it any more.
    pub async fn remove_provider(&self, name: &str) -> Result<(), AccessError> {
        let _changing = self.changing_providers.lock().await;
        let mut all = self.providers().await?;
        let Some(at) = all.iter().position(|one| one.name == name) else {
            return Err(AccessError::Unknown(format!("provider {name}")));
        };
        let removed = all.remove(at);
        self.set_saved(PROVIDERS_SETTING, &json!(all)).await?;
        self.oidc.forget(&removed.settings.issuer);
        Ok(self.login_secrets.remove_login_secret(self.tenant, removed.id).await?)
    }

    /// Without a `secret` the one before stays, an empty one ends it.
    pub async fn save_directory(
        &self,
        settings: Directory,
        secret: Option<SecretString>,
    ) -> Result<SavedDirectory, AccessError> {
        AccessError::refuse(settings.problem())?;
        check_directory(&settings)?;
        let _changing = self.changing_providers.lock().await;
        let before = self.directory().await?;
        let id = before.as_ref().map_or_else(|| self.ids.next(), |one| one.id);
        let had = before.is_some_and(|one| one.has_secret);
        let has_secret = self.keep_secret(id, DIRECTORY, secret, had).await?;
        if settings.bind_dn.is_some() && !has_secret {
            return Err(AccessError::invalid("secret", "the account that looks for people needs its password"));
        }
        let saved = SavedDirectory { id, settings, has_secret };
        self.set_saved(DIRECTORY_SETTING, &json!(saved)).await?;
        Ok(saved)
    }

    pub async fn remove_directory(&self) -> Result<(), AccessError> {
        let _changing = self.changing_providers.lock().await;
        let Some(removed) = self.directory().await? else {
            return Err(AccessError::Unknown("directory".to_owned()));
        };
        self.set_saved(DIRECTORY_SETTING, &Value::Null).await?;
        Ok(self.login_secrets.remove_login_secret(self.tenant, removed.id).await?)
    }

    /// Whether there is one afterwards.
    async fn keep_secret(
        &self,
        id: Uuid,
        name: &str,
        secret: Option<SecretString>,
        had: bool,
    ) -> Result<bool, AccessError> {
        match secret {
            None => Ok(had),
            Some(secret) if secret.expose_secret().is_empty() => {
                self.login_secrets.remove_login_secret(self.tenant, id).await?;
                Ok(false)
            }
            Some(secret) => {
                self.login_secrets.keep_login_secret(self.tenant, id, name, secret).await?;
                Ok(true)
            }
        }
    }

    async fn set_saved(&self, name: &str, value: &Value) -> StoreResult<()> {
        self.settings.set_setting(self.tenant, name, value).await
    }
}
