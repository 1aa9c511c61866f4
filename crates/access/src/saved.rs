//! What administrators have set for logins: their rules, providers and the directory, whose secrets are in the vault.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use steward_core::ports::{StoreError, StoreResult};
use steward_core::sign_on::{
    DIRECTORY_SETTING, Directory, LOGIN_SETTING, LoginSettings, OidcProvider, PROVIDERS_SETTING,
};
use uuid::Uuid;

use super::{Access, AccessError};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedProvider {
    pub id: Uuid,
    /// Stands in the address that the browser comes back to.
    pub name: String,
    pub settings: OidcProvider,
    pub has_secret: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedDirectory {
    pub id: Uuid,
    pub settings: Directory,
    pub has_secret: bool,
}

/// What came of trying settings that may not be saved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tried {
    pub works: bool,
    /// What was found, else why it does not work.
    pub found: Vec<String>,
}

impl Tried {
    pub(crate) fn failed(why: impl Into<String>) -> Self {
        Self { works: false, found: vec![why.into()] }
    }
}

impl Access {
    /// Read at each login, so that a change needs no restart. Those that can't be read count as not set.
    pub async fn login_settings(&self) -> LoginSettings {
        let kept = match self.settings.setting(self.tenant, LOGIN_SETTING).await {
            Ok(kept) => kept,
            Err(error) => {
                tracing::warn!(%error, "the settings of logins can't be read; the usual ones are used");
                None
            }
        };
        let read = kept.filter(|kept| !kept.is_null()).map(serde_json::from_value::<LoginSettings>);
        match read {
            None => LoginSettings::default(),
            Some(Ok(settings)) if settings.problem().is_none() => settings,
            Some(_) => {
                tracing::warn!(setting = LOGIN_SETTING, "the settings of logins are damaged; the usual ones are used");
                LoginSettings::default()
            }
        }
    }

    /// In force at the next login, refresh or invitation.
    pub async fn set_login_settings(&self, wanted: &LoginSettings) -> Result<(), AccessError> {
        AccessError::refuse(wanted.problem())?;
        let value = serde_json::to_value(wanted).unwrap_or(Value::Null);
        Ok(self.settings.set_setting(self.tenant, LOGIN_SETTING, &value).await?)
    }

    /// By name.
    pub async fn providers(&self) -> Result<Vec<SavedProvider>, AccessError> {
        Ok(self.saved(PROVIDERS_SETTING).await?.unwrap_or_default())
    }

    /// `None`: there is none of this name.
    pub async fn provider(&self, name: &str) -> Result<Option<SavedProvider>, AccessError> {
        Ok(self.providers().await?.into_iter().find(|one| one.name == name))
    }

    pub async fn directory(&self) -> Result<Option<SavedDirectory>, AccessError> {
        Ok(self.saved(DIRECTORY_SETTING).await?)
    }

    async fn saved<T: DeserializeOwned>(&self, name: &str) -> StoreResult<Option<T>> {
        match self.settings.setting(self.tenant, name).await? {
            None | Some(Value::Null) => Ok(None),
            Some(kept) => serde_json::from_value(kept)
                .map(Some)
                .map_err(|error| StoreError::Backend(format!("the setting {name} is damaged: {error}"))),
        }
    }
}
