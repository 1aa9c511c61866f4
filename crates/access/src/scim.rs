//! Providers that keep users and groups here by SCIM: their tokens, and what an administrator sets for them.

mod groups;
mod users;

pub use users::ScimProfile;

use std::time::Duration;

use serde_json::Value;
use steward_core::hash::sha256;
use steward_core::ports::{LoginError, ScimToken, StoreError};
use steward_core::scim::{SCIM_SETTING, ScimSettings};
use uuid::Uuid;

use super::identity::SCIM;
use super::tenants::marked;
use super::users::checked_name;
use super::{Access, AccessError, secrets, unavailable};

/// How many of a token's random characters are kept in plain.
const SHOWN: usize = 6;
/// A token's last use is kept to the minute, since each one is a write.
const NOTED_EVERY: Duration = Duration::from_mins(1);
/// Most tokens of an installation.
const MAX_TOKENS: usize = 20;

impl Access {
    pub async fn scim_settings(&self) -> Result<ScimSettings, AccessError> {
        let kept = self.settings.setting(self.tenant, SCIM_SETTING).await?;
        match kept.filter(|kept| !kept.is_null()).map(serde_json::from_value) {
            None => Ok(ScimSettings::default()),
            Some(Ok(settings)) => Ok(settings),
            // As usual would be as a viewer, and so take roles away.
            Some(Err(error)) => Err(StoreError::Backend(format!("the settings of SCIM are damaged: {error}")).into()),
        }
    }

    /// In force at once, also for those who came before.
    pub async fn set_scim_settings(&self, wanted: &ScimSettings) -> Result<(), AccessError> {
        AccessError::refuse(wanted.problem())?;
        let _writing = self.writing_scim.lock().await;
        let value = serde_json::to_value(wanted).unwrap_or(Value::Null);
        self.settings.set_setting(self.tenant, SCIM_SETTING, &value).await?;
        self.reconcile_all_roles(wanted).await
    }

    /// By name.
    pub async fn scim_tokens(&self) -> Result<Vec<ScimToken>, AccessError> {
        Ok(self.scim.scim_tokens(self.tenant).await?)
    }

    /// Makes a token and returns its secret, which is not kept.
    pub async fn make_scim_token(&self, name: &str, by: &str) -> Result<(ScimToken, String), AccessError> {
        let name = checked_name(name)?.ok_or_else(|| AccessError::invalid("name", "a token needs a name"))?;
        if self.scim_tokens().await?.len() >= MAX_TOKENS {
            return Err(AccessError::invalid("name", format!("there are {MAX_TOKENS} tokens already; revoke one")));
        }
        let random = secrets::hexadecimal(24);
        let secret = format!("{SCIM}{}", marked(self.tenant, &random));
        let token = ScimToken {
            id: self.ids.next(),
            name: name.to_owned(),
            prefix: format!("{SCIM}{}", random.chars().take(SHOWN).collect::<String>()),
            created_by: by.to_owned(),
            created_at: self.clock.now(),
            last_used_at: None,
        };
        match self.scim.save_scim_token(self.tenant, &token, &sha256(secret.as_bytes())).await {
            Err(StoreError::Conflict(title)) => Err(AccessError::invalid("name", title)),
            done => Ok(done.map(|()| (token, secret))?),
        }
    }

    /// For good; in force at the next request.
    pub async fn remove_scim_token(&self, id: Uuid) -> Result<(), AccessError> {
        Ok(self.scim.remove_scim_token(self.tenant, id).await?)
    }

    /// The token that a provider comes with.
    pub async fn scim_token(&self, bearer: &str) -> Result<ScimToken, LoginError> {
        if !bearer.starts_with(SCIM) {
            return Err(LoginError::Token);
        }
        let found = self.scim.scim_token_by_hash(self.tenant, &sha256(bearer.as_bytes())).await;
        let token = found.map_err(unavailable)?.ok_or(LoginError::Token)?;
        let now = self.clock.now();
        if token.last_used_at.is_none_or(|last| now.since(last) >= NOTED_EVERY) {
            self.scim.note_scim_use(self.tenant, token.id, now).await.map_err(unavailable)?;
        }
        Ok(token)
    }
}
