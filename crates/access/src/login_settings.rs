use serde_json::Value;
use steward_core::sign_on::{LOGIN_SETTING, LoginSettings};

use super::{Access, AccessError};

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
        if let Some((field, title)) = wanted.problem() {
            return Err(AccessError::invalid(field, title));
        }
        let value = serde_json::to_value(wanted).unwrap_or(Value::Null);
        Ok(self.settings.set_setting(self.tenant, LOGIN_SETTING, &value).await?)
    }
}
